"""Packages that vendors hand out as files: fetched once, verified, and only then opened."""
