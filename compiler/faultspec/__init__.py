"""The compiler of error taxonomies: the language, the targets, the lint, the judge. Nothing here
needs a network.
"""
