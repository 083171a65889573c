"""Online identification of what a robot carries and of what it is made of."""

__version__ = "0.1.0"
