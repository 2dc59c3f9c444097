/**
 * The types of the details of each code of Errors of aria2's RPC interface, as
 * the contract promises them. The details of an answer are not checked.
 */

// Generated from examples/aria2/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/aria2/taxonomy.yaml

/** Details without declared members. */
export type Details = Readonly<Record<string, unknown>>;
