"""`inertid demo`: simulated driver and estimator as two ROS 2 processes, watched and judged from outside."""
