"""The taxonomy language: its grammar, the frozen model it resolves to, and the way from one to the other."""
