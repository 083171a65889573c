"""Recordings through the chain, offline."""
