"""A first taxonomy of a service that has none, from what it answers."""
