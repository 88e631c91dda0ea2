"""Management controllers of own machines: what they tell, and what they switch."""
