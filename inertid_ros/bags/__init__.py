"""Recordings: reading, salvaging and writing bags."""
