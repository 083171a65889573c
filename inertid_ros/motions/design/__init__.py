"""Design of informative motions: periodic multisines within limits, D-optimal for a load or for the links."""
