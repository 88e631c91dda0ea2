"""Machines that boot over the network of their controller."""
