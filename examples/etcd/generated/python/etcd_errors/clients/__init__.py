"""Clients of etcd errors: one module for each library, which it imports. Nothing
here is imported by the package itself.
"""

# Generated from examples/etcd/taxonomy.yaml; do not edit. Regenerate: faultspec compile
# examples/etcd/taxonomy.yaml
