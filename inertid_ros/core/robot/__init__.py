"""The robot as the URDF describes it."""
