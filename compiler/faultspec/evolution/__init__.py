"""The evolution of a taxonomy: what a change breaks, for whom, and which version it is due."""
