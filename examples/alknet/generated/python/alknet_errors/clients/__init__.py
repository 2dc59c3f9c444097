"""Clients of alknet call errors: one module for each library, which it imports.
Nothing here is imported by the package itself.
"""

# Generated from examples/alknet/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/alknet/taxonomy.yaml
