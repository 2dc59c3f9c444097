"""The fault server: a service that answers with declared errors on request, to observe its callers.

`script` decides when it fails and with which error, `replies` renders the answers, `server` serves
them. `retry_observer` judges the retries that a server observes.
"""
