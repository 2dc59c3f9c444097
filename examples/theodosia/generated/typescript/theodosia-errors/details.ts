/**
 * The types of the details of each code of Theodosia refusals, as the contract
 * promises them. The details of an answer are not checked.
 */

// Generated from examples/theodosia/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/theodosia/taxonomy.yaml

/** Details without declared members. */
export type Details = Readonly<Record<string, unknown>>;

/** Details of `ValidationFailed`. */
// prettier-ignore
export interface ValidationFailedDetails {
  /** The input that was refused. */
  readonly field?: string;
  /** What it was. */
  readonly got?: string | number | boolean | Details | readonly unknown[] | null;
}

/** Details of `ActionTimeout`. */
// prettier-ignore
export interface ActionTimeoutDetails {
  /** The budget of the action. */
  readonly timeout_seconds: number;
}
