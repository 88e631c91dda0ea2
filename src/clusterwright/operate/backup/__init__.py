"""Backups of what only the controller has: seen, taken and restored from here."""
