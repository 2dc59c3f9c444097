/**
 * The types of the details of each code of Aileron failures, as the contract
 * promises them. The details of an answer are not checked.
 */

// Generated from examples/aileron/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/aileron/taxonomy.yaml

/** Details without declared members. */
export type Details = Readonly<Record<string, unknown>>;

/** Details of `CapabilityDenied`. */
export interface CapabilityDeniedDetails {
  /** The host that was denied. */
  readonly host?: string;
  /** The credential scope that did not match. */
  readonly scope?: string;
  /** What the user can do about it. */
  readonly suggestion?: string;
}

/** Details of `BindingRequired`. */
export interface BindingRequiredDetails {
  /** The binding that was used, such as oauth2/slack/work. */
  readonly binding?: string;
  /** The credential scope that did not match. */
  readonly scope?: string;
  /** What the user can do about it. */
  readonly suggestion?: string;
}

/** Details of `BindingFailed`. */
export interface BindingFailedDetails {
  /** The binding that was used, such as oauth2/slack/work. */
  readonly binding?: string;
  /** The credential scope that did not match. */
  readonly scope?: string;
  /** What the user can do about it. */
  readonly suggestion?: string;
}

/** Details of `ResourceLimitExceeded`. */
export interface ResourceLimitExceededDetails {
  /** What the user can do about it. */
  readonly suggestion?: string;
}

/** Details of `ConnectorRuntimeError`. */
export interface ConnectorRuntimeErrorDetails {
  /** What the user can do about it. */
  readonly suggestion?: string;
}

/** Details of `NetworkError`. */
export interface NetworkErrorDetails {
  /** How often the runtime retried before it gave up. */
  readonly retried?: number;
  /** What the user can do about it. */
  readonly suggestion?: string;
}

/** Details of `ExternalApiError`. */
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
export interface HashMismatchDetails {
  /** What the user can do about it. */
  readonly suggestion?: string;
}

/** Details of `SignatureFailure`. */
export interface SignatureFailureDetails {
  /** What the user can do about it. */
  readonly suggestion?: string;
}
