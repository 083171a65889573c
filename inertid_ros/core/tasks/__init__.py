"""What can be identified: the load on a wrist sensor; the links of an arm, or what it carries, by efforts."""
