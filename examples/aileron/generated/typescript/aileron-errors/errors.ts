/**
 * The errors of Aileron failures: an interface for each code, distinguished by
 * `code`, and by `operation` where operations have codes of their own.
 */

// Generated from examples/aileron/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/aileron/taxonomy.yaml

import type { ErrorCode } from "./codes.js";
import type * as d from "./details.js";

/**
 * The members of every error. `message` is safe to show to the sender of the request.
 * `status` is that of the answer, else the code's own. `retriable` is whether this
 * request may be sent again; `flag` is the answer's own flag, null if it has none.
 * `retryAfter` is the wait in seconds that the answer demands. `headers` are those
 * that are kept with an error. `raw` is the body that it was read from, as JSON if it is
 * JSON; it is not safe to show.
 */
// prettier-ignore
export interface Common {
  readonly message: string;
  readonly status: number | null;
  readonly retriable: boolean;
  readonly flag: boolean | null;
  readonly retryAfter: number | null;
  readonly boundary: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly raw: unknown;
  readonly auditId: string | null;
  readonly requestId: string | null;
}

/**
 * A capability check refused the operation.
 *
 * HTTP 403; from sandbox or connector_manifest or action; clients do not retry.
 */
export interface CapabilityDenied extends Common {
  readonly code: "capability_denied";
  readonly known: true;
  readonly operation: null;
  readonly details: d.CapabilityDeniedDetails;
}

/**
 * No credential is bound for a required capability.
 *
 * HTTP 412; from runtime; a person has to act.
 */
export interface BindingRequired extends Common {
  readonly code: "binding_required";
  readonly known: true;
  readonly operation: null;
  readonly details: d.BindingRequiredDetails;
}

/**
 * An existing binding refused: token expired, key revoked, scope changed.
 *
 * HTTP 412; from runtime; a person has to act.
 */
export interface BindingFailed extends Common {
  readonly code: "binding_failed";
  readonly known: true;
  readonly operation: null;
  readonly details: d.BindingFailedDetails;
}

/**
 * The connector hit a limit: memory, wall time or fuel.
 *
 * HTTP 507; from sandbox; clients do not retry. The operation may have taken
 * effect.
 */
export interface ResourceLimitExceeded extends Common {
  readonly code: "resource_limit_exceeded";
  readonly known: true;
  readonly operation: null;
  readonly details: d.ResourceLimitExceededDetails;
}

/**
 * The connector's own code failed: it panicked, threw, or answered in an
 * unexpected shape.
 *
 * HTTP 500; from sandbox; clients retry if the error allows it. The operation
 * may have taken effect.
 */
export interface ConnectorRuntimeError extends Common {
  readonly code: "connector_runtime_error";
  readonly known: true;
  readonly operation: null;
  readonly details: d.ConnectorRuntimeErrorDetails;
}

/**
 * The outbound call failed before it reached a server.
 *
 * HTTP 502; from external; clients retry (runtime). The operation may have
 * taken effect.
 */
export interface NetworkError extends Common {
  readonly code: "network_error";
  readonly known: true;
  readonly operation: null;
  readonly details: d.NetworkErrorDetails;
}

/**
 * The upstream service answered with an error.
 *
 * HTTP 502; from external; clients retry (runtime). The operation may have
 * taken effect.
 */
export interface ExternalApiError extends Common {
  readonly code: "external_api_error";
  readonly known: true;
  readonly operation: null;
  readonly details: d.ExternalApiErrorDetails;
}

/**
 * The bytes of a connector or an action on disk are not those that were
 * declared.
 *
 * HTTP 422; from runtime; clients do not retry.
 */
export interface HashMismatch extends Common {
  readonly code: "hash_mismatch";
  readonly known: true;
  readonly operation: null;
  readonly details: d.HashMismatchDetails;
}

/**
 * The signature of a binary does not verify.
 *
 * HTTP 422; from runtime; clients do not retry.
 */
export interface SignatureFailure extends Common {
  readonly code: "signature_failure";
  readonly known: true;
  readonly operation: null;
  readonly details: d.SignatureFailureDetails;
}

/** The errors by the names of their interfaces. */
export interface Errors {
  readonly CapabilityDenied: CapabilityDenied;
  readonly BindingRequired: BindingRequired;
  readonly BindingFailed: BindingFailed;
  readonly ResourceLimitExceeded: ResourceLimitExceeded;
  readonly ConnectorRuntimeError: ConnectorRuntimeError;
  readonly NetworkError: NetworkError;
  readonly ExternalApiError: ExternalApiError;
  readonly HashMismatch: HashMismatch;
  readonly SignatureFailure: SignatureFailure;
}

/** The errors of each code: one interface, or one for each operation that has the code. */
// prettier-ignore
export interface ErrorsOfCode {
  readonly capability_denied: CapabilityDenied;
  readonly binding_required: BindingRequired;
  readonly binding_failed: BindingFailed;
  readonly resource_limit_exceeded: ResourceLimitExceeded;
  readonly connector_runtime_error: ConnectorRuntimeError;
  readonly network_error: NetworkError;
  readonly external_api_error: ExternalApiError;
  readonly hash_mismatch: HashMismatch;
  readonly signature_failure: SignatureFailure;
}

/** Any declared error. */
export type KnownError = Errors[keyof Errors];

/**
 * An answer that is not a declared error: an unknown code, another shape, or not
 * JSON. `originalCode` is the value of the code slot, or null; it is not safe to show.
 * `replacedBy` is the code that replaces a removed one.
 * `code` is the one that the taxonomy declares for unknown errors, or null.
 */
export interface UnknownError extends Common {
  readonly code: null;
  readonly known: false;
  readonly operation: null;
  readonly details: d.Details;
  readonly originalCode: string | number | null;
  readonly replacedBy: ErrorCode | null;
}

/** Any error that an answer may be. */
export type AnyError = KnownError | UnknownError;

/** Whether an error is a declared one. */
export function isKnown(error: AnyError): error is KnownError {
  return error.known;
}

/** Whether an error is not a declared one. */
export function isUnknown(error: AnyError): error is UnknownError {
  return !error.known;
}

/** Whether an error is a declared one with this code. */
export function hasCode<C extends ErrorCode>(
  error: AnyError,
  code: C,
): error is ErrorsOfCode[C] {
  return error.known && (error.code as string) === code;
}
