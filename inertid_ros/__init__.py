"""Online identification of what a robot carries and of what it is made of."""

import os

# The matrices are small: more than one thread makes them a hundred times slower. Must come before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

__version__ = "0.1.0"
