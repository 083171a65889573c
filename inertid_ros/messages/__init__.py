"""Serialised messages to blocks of samples and back, for the node and for recordings alike. No ROS in it."""
