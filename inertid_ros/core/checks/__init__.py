"""What the data say against the configuration."""
