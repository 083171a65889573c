"""Motions for excitation: shapes, files and design."""
