"""A service that fails as it is told: what a taxonomy declares, sent on request, so that a caller can be watched.

`script` says when it fails and how, `replies` what that looks like on the wire, `server` serves it.
"""
