"""Clients of Registry errors: one module for each library, which it imports. Nothing
here is imported by the package itself.
"""

# Generated from examples/registry/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/registry/taxonomy.yaml
