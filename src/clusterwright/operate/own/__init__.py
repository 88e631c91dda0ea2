"""Machines of one's own: first contact, what is on them already, and how they are reached afterwards."""
