"""Motions that tell: periodic multisines within limits, with as much information on the load as can be had."""
