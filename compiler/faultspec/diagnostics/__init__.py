"""Diagnostics as values, their printers, and format writers that reports use too."""
