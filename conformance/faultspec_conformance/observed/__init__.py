"""Traffic that the suite did not send: recordings, logs, tests and middleware."""
