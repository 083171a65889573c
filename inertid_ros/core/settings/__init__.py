"""The parameters: what they mean, and which belong together."""
