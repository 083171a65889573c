"""The equations of motion, linear in the unknowns."""
