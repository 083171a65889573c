"""`inertid view`: a page in the browser with robot, load, wrenches, plots and what is known, live or of a recording."""
