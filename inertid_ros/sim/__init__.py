"""A robot arm with sensors and a load, simulated exactly and without ROS."""
