"""One run of the suite, from the first request to the report."""
