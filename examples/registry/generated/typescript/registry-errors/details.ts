/**
 * The types of the details of each code of Registry errors, as the contract
 * promises them. The details of an answer are not checked.
 */

// Generated from examples/registry/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/registry/taxonomy.yaml

/** Details without declared members. */
export type Details = Readonly<Record<string, unknown>>;
