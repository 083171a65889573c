"""A person led through an identification, and a motion that is watched: procedures without ROS and without a clock."""
