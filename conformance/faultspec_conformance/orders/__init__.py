"""The reference service: orders of two tenants, behaving, or committing a named sin.

``platform_errors`` and ``fragments`` beside this file are links into ``generated/``; a wheel carries the files themselves.
"""
