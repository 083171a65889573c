"""What is held: objects identified before, recognised by their inertial parameters, and how they are gripped."""
