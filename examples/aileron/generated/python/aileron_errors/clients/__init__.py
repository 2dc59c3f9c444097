"""Clients of Aileron failures: one module for each library, which it imports.
Nothing here is imported by the package itself.
"""

# Generated from examples/aileron/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/aileron/taxonomy.yaml
