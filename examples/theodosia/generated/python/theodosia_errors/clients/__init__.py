"""Clients of Theodosia refusals: one module for each library, which it imports.
Nothing here is imported by the package itself.
"""

# Generated from examples/theodosia/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/theodosia/taxonomy.yaml
