"""Motions for excitation: shapes, files, and the design of informative ones, D-optimal for a load or for the links."""
