"""Base reactions at rest (West et al. 1989)."""
