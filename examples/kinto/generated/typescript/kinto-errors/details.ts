/**
 * The details of each code of Kinto errors: what stands in the envelope beside
 * the message. They are what the contract promises; what a service sends is not
 * checked.
 */

// Generated from examples/kinto/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/kinto/taxonomy.yaml

/** Details of which nothing is declared. */
export type Details = Readonly<Record<string, unknown>>;

/** Details of `InvalidResourceId`. */
export interface InvalidResourceIdDetails {
  /** The id that was not found. */
  readonly id?: string;
  /** What kind of object was not found. */
  readonly resource_name?: string;
}

/** Details of `MissingResource`. */
export interface MissingResourceDetails {
  /** The id that was not found. */
  readonly id?: string;
  /** What kind of object was not found. */
  readonly resource_name?: string;
}

/** Details of `ModifiedMeanwhile`. */
export interface ModifiedMeanwhileDetails {
  /** The object as the server has it now. */
  readonly existing?: {
    /** The id that was not found. */
    readonly id: string;
    readonly last_modified: number;
  };
}
