"""The conformance suite: whatever judges a running system against a taxonomy."""
