"""What exists in the world: typed loaders over data rows that each carry a source and a date."""
