/**
 * The errors of Kinto errors: an interface for each code, distinguished by
 * `code`, and by `operation` where operations have codes of their own.
 */

// Generated from examples/kinto/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/kinto/taxonomy.yaml

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
  readonly error: string | null;
  readonly info: string | null;
}

/**
 * Missing Authorization Token
 *
 * HTTP 401; a person has to act.
 */
export interface MissingAuthToken extends Common {
  readonly code: "MISSING_AUTH_TOKEN";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * Invalid Authorization Token
 *
 * HTTP 401; a person has to act.
 */
export interface InvalidAuthToken extends Common {
  readonly code: "INVALID_AUTH_TOKEN";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The request body was not valid JSON
 *
 * HTTP 400; clients do not retry.
 */
export interface Badjson extends Common {
  readonly code: "BADJSON";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * Invalid request parameter
 *
 * The first problem is the message; all of them are in the details.
 *
 * HTTP 400; clients do not retry.
 */
export interface InvalidParameters extends Common {
  readonly code: "INVALID_PARAMETERS";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * Missing request parameter
 *
 * HTTP 400; clients do not retry.
 */
export interface MissingParameters extends Common {
  readonly code: "MISSING_PARAMETERS";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * Invalid posted data
 *
 * The first problem is the message; all of them are in the details.
 *
 * HTTP 400; clients do not retry.
 */
export interface InvalidPostedData extends Common {
  readonly code: "INVALID_POSTED_DATA";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * Invalid Token / id
 *
 * Answered only to who may write to the parent; others get FORBIDDEN whether
 * the object is there or not.
 *
 * HTTP 404; clients do not retry.
 */
export interface InvalidResourceId extends Common {
  readonly code: "INVALID_RESOURCE_ID";
  readonly known: true;
  readonly operation: null;
  readonly details: d.InvalidResourceIdDetails;
}

/**
 * Missing Token / id
 *
 * HTTP 404; clients do not retry.
 */
export interface MissingResource extends Common {
  readonly code: "MISSING_RESOURCE";
  readonly known: true;
  readonly operation: null;
  readonly details: d.MissingResourceDetails;
}

/**
 * Content-Length header was not provided
 *
 * HTTP 411; clients do not retry.
 */
export interface MissingContentLength extends Common {
  readonly code: "MISSING_CONTENT_LENGTH";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * Request body too large
 *
 * HTTP 413; clients do not retry.
 */
export interface RequestTooLarge extends Common {
  readonly code: "REQUEST_TOO_LARGE";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * Resource was modified meanwhile
 *
 * The client overwrites by repeating the request without a precondition, or
 * fetches, merges and repeats it.
 *
 * HTTP 412; clients read again before they retry.
 */
export interface ModifiedMeanwhile extends Common {
  readonly code: "MODIFIED_MEANWHILE";
  readonly known: true;
  readonly operation: null;
  readonly details: d.ModifiedMeanwhileDetails;
}

/**
 * Method not allowed on this end point
 *
 * Also every write on a server whose setting `kinto.readonly` is true.
 *
 * HTTP 405; clients do not retry.
 */
export interface MethodNotAllowed extends Common {
  readonly code: "METHOD_NOT_ALLOWED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * Requested version not available on this server
 *
 * HTTP 404; clients do not retry.
 */
export interface VersionNotAvailable extends Common {
  readonly code: "VERSION_NOT_AVAILABLE";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * Client has sent too many requests
 *
 * HTTP 429; clients retry.
 */
export interface ClientReachedCapacity extends Common {
  readonly code: "CLIENT_REACHED_CAPACITY";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * Resource's access forbidden for this user
 *
 * HTTP 403; a person has to act.
 */
export interface Forbidden extends Common {
  readonly code: "FORBIDDEN";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * Another resource violates constraint
 *
 * Transactions of concurrent requests overlapped. Retrying the same request
 * will usually be enough.
 *
 * HTTP 409; clients retry.
 */
export interface ConstraintViolated extends Common {
  readonly code: "CONSTRAINT_VIOLATED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * Service temporarily unavailable due to high load
 *
 * HTTP 503; clients retry.
 */
export interface Backend extends Common {
  readonly code: "BACKEND";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * Service deprecated
 *
 * The client is too old, or another service took the place of this one. An
 * Alert header may say more.
 *
 * HTTP 410; clients do not retry.
 */
export interface ServiceDeprecated extends Common {
  readonly code: "SERVICE_DEPRECATED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * Internal Server Error
 *
 * HTTP 500; clients retry. The operation may have taken effect.
 */
export interface Undefined extends Common {
  readonly code: "UNDEFINED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/** The errors by the names of their interfaces. */
export interface Errors {
  readonly MissingAuthToken: MissingAuthToken;
  readonly InvalidAuthToken: InvalidAuthToken;
  readonly Badjson: Badjson;
  readonly InvalidParameters: InvalidParameters;
  readonly MissingParameters: MissingParameters;
  readonly InvalidPostedData: InvalidPostedData;
  readonly InvalidResourceId: InvalidResourceId;
  readonly MissingResource: MissingResource;
  readonly MissingContentLength: MissingContentLength;
  readonly RequestTooLarge: RequestTooLarge;
  readonly ModifiedMeanwhile: ModifiedMeanwhile;
  readonly MethodNotAllowed: MethodNotAllowed;
  readonly VersionNotAvailable: VersionNotAvailable;
  readonly ClientReachedCapacity: ClientReachedCapacity;
  readonly Forbidden: Forbidden;
  readonly ConstraintViolated: ConstraintViolated;
  readonly Backend: Backend;
  readonly ServiceDeprecated: ServiceDeprecated;
  readonly Undefined: Undefined;
}

/** The errors of each code: one interface, or one for each operation that has the code. */
// prettier-ignore
export interface ErrorsOfCode {
  readonly MISSING_AUTH_TOKEN: MissingAuthToken;
  readonly INVALID_AUTH_TOKEN: InvalidAuthToken;
  readonly BADJSON: Badjson;
  readonly INVALID_PARAMETERS: InvalidParameters;
  readonly MISSING_PARAMETERS: MissingParameters;
  readonly INVALID_POSTED_DATA: InvalidPostedData;
  readonly INVALID_RESOURCE_ID: InvalidResourceId;
  readonly MISSING_RESOURCE: MissingResource;
  readonly MISSING_CONTENT_LENGTH: MissingContentLength;
  readonly REQUEST_TOO_LARGE: RequestTooLarge;
  readonly MODIFIED_MEANWHILE: ModifiedMeanwhile;
  readonly METHOD_NOT_ALLOWED: MethodNotAllowed;
  readonly VERSION_NOT_AVAILABLE: VersionNotAvailable;
  readonly CLIENT_REACHED_CAPACITY: ClientReachedCapacity;
  readonly FORBIDDEN: Forbidden;
  readonly CONSTRAINT_VIOLATED: ConstraintViolated;
  readonly BACKEND: Backend;
  readonly SERVICE_DEPRECATED: ServiceDeprecated;
  readonly UNDEFINED: Undefined;
}

/** The errors of each domain. */
// prettier-ignore
export interface ErrorsOfDomain {
  readonly authentication: MissingAuthToken | InvalidAuthToken;
  readonly permission: Forbidden;
  readonly request: Badjson | InvalidParameters | MissingParameters | InvalidPostedData | MissingContentLength | RequestTooLarge | MethodNotAllowed | VersionNotAvailable;
  readonly resource: InvalidResourceId | MissingResource | ModifiedMeanwhile | ConstraintViolated;
  readonly service: ClientReachedCapacity | Backend | ServiceDeprecated | Undefined;
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
  readonly code: "UNDEFINED";
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
