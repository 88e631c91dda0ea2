"""What a node is held against. Python 3.9 and its standard library only."""
