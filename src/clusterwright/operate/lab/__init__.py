"""The lab's machines as `operate` sees them."""
