"""The maths: numpy, scipy and pinocchio only; no ROS, no clock, no logging."""
