/**
 * The types of the details of each code of Aileron failures, as the contract
 * promises them. The details of an answer are not checked.
 */

// Generated from examples/aileron/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/aileron/taxonomy.yaml

/** Details without declared members. */
export type Details = Readonly<Record<string, unknown>>;

/** Details of `CapabilityDenied`. */
// prettier-ignore
export interface CapabilityDeniedDetails {
  /** The host that was denied. */
  readonly host?: string;
  /** The credential scope that did not match. */
  readonly scope?: string;
  /** What the user can do about it. */
  readonly suggestion?: string;
}

/** Details of `BindingRequired`. */
// prettier-ignore
export interface BindingRequiredDetails {
  /** The binding that was used, such as oauth2/slack/work. */
  readonly binding?: string;
  /** The credential scope that did not match. */
  readonly scope?: string;
  /** What the user can do about it. */
  readonly suggestion?: string;
}

/** Details of `BindingFailed`. */
// prettier-ignore
export interface BindingFailedDetails {
  /** The binding that was used, such as oauth2/slack/work. */
  readonly binding?: string;
  /** The credential scope that did not match. */
  readonly scope?: string;
  /** What the user can do about it. */
  readonly suggestion?: string;
}

/** Details of `ResourceLimitExceeded`. */
// prettier-ignore
export interface ResourceLimitExceededDetails {
  /** What the user can do about it. */
  readonly suggestion?: string;
}

/** Details of `ConnectorRuntimeError`. */
// prettier-ignore
export interface ConnectorRuntimeErrorDetails {
  /** What the user can do about it. */
  readonly suggestion?: string;
}

/** Details of `NetworkError`. */
// prettier-ignore
export interface NetworkErrorDetails {
  /** How often the runtime retried before it gave up. */
  readonly retried?: number;
  /** What the user can do about it. */
  readonly suggestion?: string;
}

/** Details of `ExternalApiError`. */
// prettier-ignore
export interface ExternalApiErrorDetails {
  /** The status the upstream service answered with. */
  readonly status: number;
  /** The binding that was used, such as oauth2/slack/work. */
  readonly binding?: string;
  /** How often the runtime retried before it gave up. */
  readonly retried?: number;
  /** What the user can do about it. */
  readonly suggestion?: string;
}

/** Details of `HashMismatch`. */
// prettier-ignore
export interface HashMismatchDetails {
  /** What the user can do about it. */
  readonly suggestion?: string;
}

/** Details of `SignatureFailure`. */
// prettier-ignore
export interface SignatureFailureDetails {
  /** What the user can do about it. */
  readonly suggestion?: string;
}
