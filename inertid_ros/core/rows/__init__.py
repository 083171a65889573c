"""From synchronised samples to rows of the equations."""
