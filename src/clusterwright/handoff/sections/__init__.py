"""The sections of a hand-off document, as they are published."""
