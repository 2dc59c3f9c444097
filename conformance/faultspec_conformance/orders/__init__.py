"""The reference service: orders of two tenants. It behaves, or has one named defect (a sin).

``platform_errors`` and ``fragments`` beside this file are links into ``generated/``. A wheel has
the files.
"""
