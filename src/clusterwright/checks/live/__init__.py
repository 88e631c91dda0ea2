"""Checks that need credentials: rules on what a cloud told about the account that asks.

What was seen is data, gathered by providers; the rules on it are as pure as those on a description.
"""
