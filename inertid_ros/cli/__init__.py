"""The command `inertid`."""
