"""Clients of Kinto errors: one module for each library, which it imports. Nothing
here is imported by the package itself.
"""

# Generated from examples/kinto/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/kinto/taxonomy.yaml
