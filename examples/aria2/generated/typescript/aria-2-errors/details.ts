/**
 * The details of each code of Errors of aria2's RPC interface: what stands in
 * the envelope beside the message. They are what the contract promises; what a
 * service sends is not checked.
 */

// Generated from examples/aria2/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/aria2/taxonomy.yaml

/** Details of which nothing is declared. */
export type Details = Readonly<Record<string, unknown>>;
