"""Diagnostics as values, and the printers that show them."""
