"""Offline tools over recordings: replay, report, validation, excitation. They know no ROS."""
