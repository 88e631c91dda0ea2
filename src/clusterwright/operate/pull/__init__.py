"""Nodes that converge themselves: a signed bundle in a store, and reports that come back."""
