"""Clients of Core Platform errors: one module for each library, which it imports.
Nothing here is imported by the package itself.
"""

# Generated from taxonomy.yaml; do not edit. Regenerate: faultspec compile taxonomy.yaml
