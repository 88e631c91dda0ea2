"""Ethernet's cables as lldpd tells them, on nodes and on switches that run it."""
