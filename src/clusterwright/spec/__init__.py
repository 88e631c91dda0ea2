"""The description: one file per noun, closed models, every field documented."""
