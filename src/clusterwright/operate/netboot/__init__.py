"""Images that own machines boot over their network: built here, and served by the controller."""
