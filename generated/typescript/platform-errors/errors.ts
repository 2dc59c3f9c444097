/**
 * The errors of Core Platform errors: an interface for each code, distinguished
 * by `code`, and by `operation` where operations have codes of their own.
 */

// Generated from taxonomy.yaml; do not edit. Regenerate: faultspec compile
// taxonomy.yaml

import { factsOf } from "./catalog.js";
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
  readonly correlationId: string | null;
}

/**
 * The request cannot be understood.
 *
 * HTTP 400; from service or gateway; clients do not retry.
 */
export interface InvalidRequest extends Common {
  readonly code: "invalid_request";
  readonly known: true;
  readonly operation: null;
  readonly details: d.InvalidRequestDetails;
}

/**
 * The request is understood and a value in it is not allowed.
 *
 * HTTP 400; from service; clients do not retry.
 */
export interface ValidationFailed extends Common {
  readonly code: "validation_failed";
  readonly known: true;
  readonly operation: null;
  readonly details: d.ValidationFailedDetails;
}

/**
 * The body is in a format the service does not read.
 *
 * HTTP 415; from gateway or service; clients do not retry.
 */
export interface UnsupportedMediaType extends Common {
  readonly code: "unsupported_media_type";
  readonly known: true;
  readonly operation: null;
  readonly details: d.UnsupportedMediaTypeDetails;
}

/**
 * The caller is not known.
 *
 * HTTP 401; from gateway; a person has to act.
 */
export interface Unauthenticated extends Common {
  readonly code: "unauthenticated";
  readonly known: true;
  readonly operation: null;
  readonly details: d.UnauthenticatedDetails;
}

/**
 * The caller is known and may not do this.
 *
 * HTTP 403; from service or gateway; a person has to act.
 */
export interface Forbidden extends Common {
  readonly code: "forbidden";
  readonly known: true;
  readonly operation: null;
  readonly details: d.ForbiddenDetails;
}

/**
 * The caller's token lacks a scope.
 *
 * HTTP 403; from gateway or service; a person has to act.
 */
export interface ScopeInsufficient extends Common {
  readonly code: "scope_insufficient";
  readonly known: true;
  readonly operation: null;
  readonly details: d.ScopeInsufficientDetails;
}

/**
 * There is no such resource, or none the caller may know of.
 *
 * HTTP 404; from service or gateway; clients do not retry.
 */
export interface NotFound extends Common {
  readonly code: "not_found";
  readonly known: true;
  readonly operation: null;
  readonly details: d.NotFoundDetails;
}

/**
 * The request contradicts the state of a resource.
 *
 * HTTP 409; from service; clients do not retry.
 */
export interface Conflict extends Common {
  readonly code: "conflict";
  readonly known: true;
  readonly operation: null;
  readonly details: d.ConflictDetails;
}

/**
 * What was to be created is there already.
 *
 * HTTP 409; from service; clients do not retry.
 */
export interface AlreadyExists extends Common {
  readonly code: "already_exists";
  readonly known: true;
  readonly operation: null;
  readonly details: d.AlreadyExistsDetails;
}

/**
 * The caller exceeded its rate.
 *
 * HTTP 429; from gateway; clients retry (exponential_jitter).
 */
export interface RateLimited extends Common {
  readonly code: "rate_limited";
  readonly known: true;
  readonly operation: null;
  readonly details: d.RateLimitedDetails;
}

/**
 * The work was not done in time.
 *
 * HTTP 504, 502, 503; from service or dependency or gateway; clients retry
 * (exponential_jitter). The operation may have taken effect.
 */
export interface Timeout extends Common {
  readonly code: "timeout";
  readonly known: true;
  readonly operation: null;
  readonly details: d.TimeoutDetails;
}

/**
 * Something the service needs cannot be reached.
 *
 * HTTP 503, 502, 504; from dependency; clients retry (linear_then_exponential).
 * The operation may have taken effect.
 */
export interface DependencyUnavailable extends Common {
  readonly code: "dependency_unavailable";
  readonly known: true;
  readonly operation: null;
  readonly details: d.DependencyUnavailableDetails;
}

/**
 * The platform failed in a way it did not expect.
 *
 * HTTP 500; from service; clients do not retry. The operation may have taken
 * effect.
 */
export interface InternalError extends Common {
  readonly code: "internal_error";
  readonly known: true;
  readonly operation: null;
  readonly details: d.InternalErrorDetails;
}

/**
 * The change would break an invariant of the data.
 *
 * HTTP 422; from service; clients do not retry.
 */
export interface ConstraintViolation extends Common {
  readonly code: "constraint_violation";
  readonly known: true;
  readonly operation: null;
  readonly details: d.ConstraintViolationDetails;
}

/**
 * A concurrent transaction won.
 *
 * HTTP 503; from service; clients retry (serializable).
 */
export interface SerializationFailure extends Common {
  readonly code: "serialization_failure";
  readonly known: true;
  readonly operation: null;
  readonly details: d.SerializationFailureDetails;
}

/**
 * The resource changed since the client read it.
 *
 * HTTP 412; from service; clients read again before they retry.
 */
export interface StaleRead extends Common {
  readonly code: "stale_read";
  readonly known: true;
  readonly operation: null;
  readonly details: d.StaleReadDetails;
}

/** The errors by the names of their interfaces. */
export interface Errors {
  readonly InvalidRequest: InvalidRequest;
  readonly ValidationFailed: ValidationFailed;
  readonly UnsupportedMediaType: UnsupportedMediaType;
  readonly Unauthenticated: Unauthenticated;
  readonly Forbidden: Forbidden;
  readonly ScopeInsufficient: ScopeInsufficient;
  readonly NotFound: NotFound;
  readonly Conflict: Conflict;
  readonly AlreadyExists: AlreadyExists;
  readonly RateLimited: RateLimited;
  readonly Timeout: Timeout;
  readonly DependencyUnavailable: DependencyUnavailable;
  readonly InternalError: InternalError;
  readonly ConstraintViolation: ConstraintViolation;
  readonly SerializationFailure: SerializationFailure;
  readonly StaleRead: StaleRead;
}

/** The errors of each code: one interface, or one for each operation that has the code. */
// prettier-ignore
export interface ErrorsOfCode {
  readonly invalid_request: InvalidRequest;
  readonly validation_failed: ValidationFailed;
  readonly unsupported_media_type: UnsupportedMediaType;
  readonly unauthenticated: Unauthenticated;
  readonly forbidden: Forbidden;
  readonly scope_insufficient: ScopeInsufficient;
  readonly not_found: NotFound;
  readonly conflict: Conflict;
  readonly already_exists: AlreadyExists;
  readonly rate_limited: RateLimited;
  readonly timeout: Timeout;
  readonly dependency_unavailable: DependencyUnavailable;
  readonly internal_error: InternalError;
  readonly constraint_violation: ConstraintViolation;
  readonly serialization_failure: SerializationFailure;
  readonly stale_read: StaleRead;
}

/** The errors of each domain. */
// prettier-ignore
export interface ErrorsOfDomain {
  readonly request: InvalidRequest | ValidationFailed | UnsupportedMediaType;
  readonly auth: Unauthenticated | Forbidden | ScopeInsufficient;
  readonly resource: NotFound | Conflict | AlreadyExists;
  readonly rate: RateLimited;
  readonly runtime: Timeout | DependencyUnavailable | InternalError;
  readonly data: ConstraintViolation | SerializationFailure | StaleRead;
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
  readonly code: "internal_error";
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

/** Whether an error is a declared one of this domain. */
export function hasDomain<D extends keyof ErrorsOfDomain>(
  error: AnyError,
  domain: D,
): error is ErrorsOfDomain[D] {
  return error.known && factsOf(error).domain === domain;
}
