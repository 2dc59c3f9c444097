/**
 * Errors of aria2's RPC interface in TypeScript: a union of the errors, the
 * envelope, retries. Nothing to install.
 *
 * The types of details are in `details`.
 */

// Generated from examples/aria2/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/aria2/taxonomy.yaml

export {
  type Phase,
  type Plan,
  type Policy,
  type State,
  plan,
  start,
  succeed,
} from "./_runtime/retry.js";
export { factsOf } from "./catalog.js";
export * from "./codes.js";
export type * as details from "./details.js";
export * from "./errors.js";
export * from "./retry.js";
export * from "./wire.js";
