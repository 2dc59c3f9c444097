/**
 * The types of the details of each code of Kinto errors, as the contract
 * promises them. The details of an answer are not checked.
 */

// Generated from examples/kinto/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/kinto/taxonomy.yaml

/** Details without declared members. */
export type Details = Readonly<Record<string, unknown>>;

/** Details of `InvalidResourceId`. */
// prettier-ignore
export interface InvalidResourceIdDetails {
  /** The id that was not found. */
  readonly id?: string;
  /** What kind of object was not found. */
  readonly resource_name?: string;
}

/** Details of `MissingResource`. */
// prettier-ignore
export interface MissingResourceDetails {
  /** The id that was not found. */
  readonly id?: string;
  /** What kind of object was not found. */
  readonly resource_name?: string;
}

/** Details of `ModifiedMeanwhile`. */
// prettier-ignore
export interface ModifiedMeanwhileDetails {
  /** The object as the server has it now. */
  readonly existing?: {
    /** The id that was not found. */
    readonly id: string;
    readonly last_modified: number;
  };
}
