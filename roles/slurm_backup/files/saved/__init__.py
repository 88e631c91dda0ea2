"""What only the controller has, saved and brought back. Standard library only, from Python 3.9 on."""
