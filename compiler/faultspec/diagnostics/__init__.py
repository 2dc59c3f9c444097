"""Diagnostics as values, their printers, and the writers of the formats that they share with reports."""
