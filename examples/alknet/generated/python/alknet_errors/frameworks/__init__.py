"""One module for each framework, which wires the error boundary into its applications.
A module needs its framework, and nothing else.
"""

# Generated from examples/alknet/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/alknet/taxonomy.yaml
