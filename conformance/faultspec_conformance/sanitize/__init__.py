"""Masking of secrets in everything that is reported."""
