"""Clients of Errors of aria2's RPC interface: one module for each library, which it
imports. Nothing here is imported by the package itself.
"""

# Generated from examples/aria2/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/aria2/taxonomy.yaml
