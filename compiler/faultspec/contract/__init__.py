"""The contract of a taxonomy: its clauses, which of them apply, and what an error may look like."""
