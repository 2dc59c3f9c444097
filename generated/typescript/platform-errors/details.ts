/**
 * The types of the details of each code of Core Platform errors, as the
 * contract promises them. The details of an answer are not checked.
 */

// Generated from taxonomy.yaml; do not edit. Regenerate: faultspec compile
// taxonomy.yaml

/** Details without declared members. */
export type Details = Readonly<Record<string, unknown>>;

/** Details of `InvalidRequest`. */
// prettier-ignore
export interface InvalidRequestDetails {
  /** The items of a batch that failed. */
  readonly bad_items?: readonly unknown[];
  /** The failing input field. */
  readonly field?: string;
  /** A hint for backoff logic. */
  readonly retryable?: boolean;
  /** Guidance for a human. */
  readonly hint?: string;
}

/** Details of `ValidationFailed`. */
// prettier-ignore
export interface ValidationFailedDetails {
  /** The items of a batch that failed. */
  readonly bad_items?: readonly unknown[];
  /** The failing input field. */
  readonly field?: string;
  /** A hint for backoff logic. */
  readonly retryable?: boolean;
  /** Guidance for a human. */
  readonly hint?: string;
}

/** Details of `UnsupportedMediaType`. */
// prettier-ignore
export interface UnsupportedMediaTypeDetails {
  /** The failing input field. */
  readonly field?: string;
  /** A hint for backoff logic. */
  readonly retryable?: boolean;
  /** Guidance for a human. */
  readonly hint?: string;
}

/** Details of `Unauthenticated`. */
// prettier-ignore
export interface UnauthenticatedDetails {
  /** The failing input field. */
  readonly field?: string;
  /** A hint for backoff logic. */
  readonly retryable?: boolean;
  /** Guidance for a human. */
  readonly hint?: string;
}

/** Details of `Forbidden`. */
// prettier-ignore
export interface ForbiddenDetails {
  /** The failing input field. */
  readonly field?: string;
  /** A hint for backoff logic. */
  readonly retryable?: boolean;
  /** Guidance for a human. */
  readonly hint?: string;
}

/** Details of `ScopeInsufficient`. */
// prettier-ignore
export interface ScopeInsufficientDetails {
  /** The failing input field. */
  readonly field?: string;
  /** A hint for backoff logic. */
  readonly retryable?: boolean;
  /** Guidance for a human. */
  readonly hint?: string;
}

/** Details of `NotFound`. */
// prettier-ignore
export interface NotFoundDetails {
  /** The failing input field. */
  readonly field?: string;
  /** A hint for backoff logic. */
  readonly retryable?: boolean;
  /** Guidance for a human. */
  readonly hint?: string;
}

/** Details of `Conflict`. */
// prettier-ignore
export interface ConflictDetails {
  /** The id of the resource that is there already. */
  readonly existing_id: string | number;
  /** The failing input field. */
  readonly field?: string;
  /** A hint for backoff logic. */
  readonly retryable?: boolean;
  /** Guidance for a human. */
  readonly hint?: string;
}

/** Details of `AlreadyExists`. */
// prettier-ignore
export interface AlreadyExistsDetails {
  /** The id of the resource that is there already. */
  readonly existing_id: string | number;
  /** The failing input field. */
  readonly field?: string;
  /** A hint for backoff logic. */
  readonly retryable?: boolean;
  /** Guidance for a human. */
  readonly hint?: string;
}

/** Details of `RateLimited`. */
// prettier-ignore
export interface RateLimitedDetails {
  /** Requests allowed in the window. */
  readonly limit?: number;
  /** The length of the window in seconds. */
  readonly window_sec?: number;
  /** The failing input field. */
  readonly field?: string;
  /** A hint for backoff logic. */
  readonly retryable?: boolean;
  /** Guidance for a human. */
  readonly hint?: string;
}

/** Details of `Timeout`. */
// prettier-ignore
export interface TimeoutDetails {
  /** How far a stream had come. */
  readonly offset?: number | string;
  /** The failing input field. */
  readonly field?: string;
  /** A hint for backoff logic. */
  readonly retryable?: boolean;
  /** Guidance for a human. */
  readonly hint?: string;
}

/** Details of `DependencyUnavailable`. */
// prettier-ignore
export interface DependencyUnavailableDetails {
  /** How far a stream had come. */
  readonly offset?: number | string;
  /** The failing input field. */
  readonly field?: string;
  /** A hint for backoff logic. */
  readonly retryable?: boolean;
  /** Guidance for a human. */
  readonly hint?: string;
}

/** Details of `InternalError`. */
// prettier-ignore
export interface InternalErrorDetails {
  /** How far a stream had come. */
  readonly offset?: number | string;
  /** The failing input field. */
  readonly field?: string;
  /** A hint for backoff logic. */
  readonly retryable?: boolean;
  /** Guidance for a human. */
  readonly hint?: string;
}

/** Details of `ConstraintViolation`. */
// prettier-ignore
export interface ConstraintViolationDetails {
  /** The failing input field. */
  readonly field?: string;
  /** A hint for backoff logic. */
  readonly retryable?: boolean;
  /** Guidance for a human. */
  readonly hint?: string;
}

/** Details of `SerializationFailure`. */
// prettier-ignore
export interface SerializationFailureDetails {
  /** The failing input field. */
  readonly field?: string;
  /** A hint for backoff logic. */
  readonly retryable?: boolean;
  /** Guidance for a human. */
  readonly hint?: string;
}

/** Details of `StaleRead`. */
// prettier-ignore
export interface StaleReadDetails {
  /** The validator the resource has now. */
  readonly expected_etag: string;
  /** The failing input field. */
  readonly field?: string;
  /** A hint for backoff logic. */
  readonly retryable?: boolean;
  /** Guidance for a human. */
  readonly hint?: string;
}
