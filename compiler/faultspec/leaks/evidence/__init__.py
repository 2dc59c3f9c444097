"""Second checks on a match: whether it is a leak or only looks like one."""
