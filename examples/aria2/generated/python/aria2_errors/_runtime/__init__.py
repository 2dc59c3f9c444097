# Copied from faultspec; do not edit
"""The library of every binding: identifiers, durations, Retry-After, retries,
envelopes, the ASGI boundary.

Standard library only. The package is copied as it stands into the Python target, so its
modules import each other relatively and nothing else of this project; import the one
you want: importing the package itself costs nothing.
"""
