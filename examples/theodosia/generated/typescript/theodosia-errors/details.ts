/**
 * The details of each code of Theodosia refusals: what stands in the envelope
 * beside the message. They are what the contract promises; what a service sends
 * is not checked.
 */

// Generated from examples/theodosia/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/theodosia/taxonomy.yaml

/** Details of which nothing is declared. */
export type Details = Readonly<Record<string, unknown>>;

/** Details of `ValidationFailed`. */
export interface ValidationFailedDetails {
  /** The input that was refused. */
  readonly field?: string;
  /** What it was. */
  readonly got?:
    | string
    | number
    | boolean
    | Details
    | readonly unknown[]
    | null;
}

/** Details of `ActionTimeout`. */
export interface ActionTimeoutDetails {
  /** The budget of the action. */
  readonly timeout_seconds: number;
}
