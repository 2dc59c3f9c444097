/**
 * The types of the details of each code of alknet call errors, as the contract
 * promises them. The details of an answer are not checked.
 */

// Generated from examples/alknet/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/alknet/taxonomy.yaml

/** Details without declared members. */
export type Details = Readonly<Record<string, unknown>>;

/** Details of `NotFound`. */
// prettier-ignore
export interface NotFoundDetails {
  /** The operation that was asked for. */
  readonly operation?: string;
}

/** Details of `Forbidden`. */
// prettier-ignore
export interface ForbiddenDetails {
  /** The operation that was asked for. */
  readonly operation?: string;
}

/** Details of `InvalidInput`. */
// prettier-ignore
export interface InvalidInputDetails {
  /** The operation that was asked for. */
  readonly operation?: string;
}

/** Details of `InvalidOperationType`. */
// prettier-ignore
export interface InvalidOperationTypeDetails {
  /** The operation that was asked for. */
  readonly operation?: string;
}

/** Details of `Internal`. */
// prettier-ignore
export interface InternalDetails {
  /** The code of an error that the operation did not declare. */
  readonly code?: string;
}

/** Details of `Timeout`. */
// prettier-ignore
export interface TimeoutDetails {
  /** The operation that was asked for. */
  readonly operation?: string;
}

/** Details of `ReadFileFileNotFound`. */
// prettier-ignore
export interface ReadFileFileNotFoundDetails {
  /** The path that was asked for. */
  readonly path?: string;
  /** What the operating system called it. */
  readonly errno?: number;
}

/** Details of `ReadFilePermissionDenied`. */
// prettier-ignore
export interface ReadFilePermissionDeniedDetails {
  /** The path that was asked for. */
  readonly path?: string;
  /** What the operating system called it. */
  readonly errno?: number;
}

/** Details of `CreateMachineRateLimited`. */
// prettier-ignore
export interface CreateMachineRateLimitedDetails {
  /** Seconds to wait. */
  readonly retry_after?: number;
}
