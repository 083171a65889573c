"""The identified arm at work: what a motion takes, controllers, learning by practice."""
