"""What a person sees: findings, plans, progress. Colour only where a person looks."""
