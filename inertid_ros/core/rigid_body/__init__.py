"""One rigid body: its ten parameters, and whether they are physically consistent."""
