"""One request and its answer, whatever the transport, and the findings about it."""
