"""Numbers and parameters as people read them."""
