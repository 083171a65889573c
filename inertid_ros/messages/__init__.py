"""Serialised messages to blocks of samples, for the node and for recordings alike, without ROS."""
