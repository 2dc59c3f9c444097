"""Clients of KeenBench errors: one module for each library, which it imports.
Nothing here is imported by the package itself.
"""

# Generated from examples/keenbench/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/keenbench/taxonomy.yaml
