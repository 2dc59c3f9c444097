"""Coverage-guided fuzzing of what reads untrusted bytes: `make fuzz`."""
