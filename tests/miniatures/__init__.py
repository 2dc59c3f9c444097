"""Small services, written by hand from a document, that keep its contract or break one rule of it.

Nothing here imports what the project generates or judges with: a misreading of the document must
not agree with itself.
"""
