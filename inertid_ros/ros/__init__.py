"""The ROS 2 shell: nodes that convert messages at the border and leave the maths to the core."""
