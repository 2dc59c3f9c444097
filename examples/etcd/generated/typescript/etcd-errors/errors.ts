/**
 * The errors of etcd errors: an interface for each code, distinguished by
 * `code`, and by `operation` where operations have codes of their own.
 */

// Generated from examples/etcd/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/etcd/taxonomy.yaml

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
  readonly repeated: string | null;
}

/**
 * The operation was cancelled, typically by the caller.
 *
 * HTTP 408; clients do not retry. The operation may have taken effect.
 */
export interface Cancelled extends Common {
  readonly code: "CANCELLED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * An error from another address space, or without enough information.
 *
 * HTTP 500; clients do not retry. The operation may have taken effect.
 */
export interface Unknown extends Common {
  readonly code: "UNKNOWN";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The client specified an invalid argument.
 *
 * HTTP 400; clients do not retry.
 */
export interface InvalidArgument extends Common {
  readonly code: "INVALID_ARGUMENT";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The deadline expired before the operation could complete.
 *
 * HTTP 504; clients do not retry. The operation may have taken effect.
 */
export interface DeadlineExceeded extends Common {
  readonly code: "DEADLINE_EXCEEDED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * A requested entity was not found.
 *
 * HTTP 404; clients do not retry.
 */
export interface NotFound extends Common {
  readonly code: "NOT_FOUND";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The entity that a client attempted to create already exists.
 *
 * HTTP 409; clients do not retry.
 */
export interface AlreadyExists extends Common {
  readonly code: "ALREADY_EXISTS";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The caller does not have permission to execute the operation.
 *
 * HTTP 403; clients do not retry.
 */
export interface PermissionDenied extends Common {
  readonly code: "PERMISSION_DENIED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * A quota or the space of the file system is exhausted.
 *
 * HTTP 429; clients do not retry.
 */
export interface ResourceExhausted extends Common {
  readonly code: "RESOURCE_EXHAUSTED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The system is not in a state that the operation requires.
 *
 * HTTP 400; clients do not retry.
 */
export interface FailedPrecondition extends Common {
  readonly code: "FAILED_PRECONDITION";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The operation was aborted, typically due to a concurrency issue.
 *
 * HTTP 409; clients do not retry.
 */
export interface Aborted extends Common {
  readonly code: "ABORTED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The operation was attempted past the valid range.
 *
 * HTTP 400; clients do not retry.
 */
export interface OutOfRange extends Common {
  readonly code: "OUT_OF_RANGE";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The operation is not implemented or not enabled.
 *
 * HTTP 501; clients do not retry. The operation may have taken effect.
 */
export interface Unimplemented extends Common {
  readonly code: "UNIMPLEMENTED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * An invariant of the system is broken.
 *
 * HTTP 500; clients do not retry. The operation may have taken effect.
 */
export interface Internal extends Common {
  readonly code: "INTERNAL";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The service is currently unavailable; the client may retry.
 *
 * HTTP 503; clients retry. The operation may have taken effect.
 */
export interface Unavailable extends Common {
  readonly code: "UNAVAILABLE";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * Unrecoverable data loss or corruption.
 *
 * HTTP 500; clients do not retry. The operation may have taken effect.
 */
export interface DataLoss extends Common {
  readonly code: "DATA_LOSS";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The request has no valid authentication credentials.
 *
 * HTTP 401; clients do not retry.
 */
export interface Unauthenticated extends Common {
  readonly code: "UNAUTHENTICATED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/** The errors by the names of their interfaces. */
export interface Errors {
  readonly Cancelled: Cancelled;
  readonly Unknown: Unknown;
  readonly InvalidArgument: InvalidArgument;
  readonly DeadlineExceeded: DeadlineExceeded;
  readonly NotFound: NotFound;
  readonly AlreadyExists: AlreadyExists;
  readonly PermissionDenied: PermissionDenied;
  readonly ResourceExhausted: ResourceExhausted;
  readonly FailedPrecondition: FailedPrecondition;
  readonly Aborted: Aborted;
  readonly OutOfRange: OutOfRange;
  readonly Unimplemented: Unimplemented;
  readonly Internal: Internal;
  readonly Unavailable: Unavailable;
  readonly DataLoss: DataLoss;
  readonly Unauthenticated: Unauthenticated;
}

/** The errors of each code: one interface, or one for each operation that has the code. */
// prettier-ignore
export interface ErrorsOfCode {
  readonly CANCELLED: Cancelled;
  readonly UNKNOWN: Unknown;
  readonly INVALID_ARGUMENT: InvalidArgument;
  readonly DEADLINE_EXCEEDED: DeadlineExceeded;
  readonly NOT_FOUND: NotFound;
  readonly ALREADY_EXISTS: AlreadyExists;
  readonly PERMISSION_DENIED: PermissionDenied;
  readonly RESOURCE_EXHAUSTED: ResourceExhausted;
  readonly FAILED_PRECONDITION: FailedPrecondition;
  readonly ABORTED: Aborted;
  readonly OUT_OF_RANGE: OutOfRange;
  readonly UNIMPLEMENTED: Unimplemented;
  readonly INTERNAL: Internal;
  readonly UNAVAILABLE: Unavailable;
  readonly DATA_LOSS: DataLoss;
  readonly UNAUTHENTICATED: Unauthenticated;
}

/** The errors of each domain. */
// prettier-ignore
export interface ErrorsOfDomain {
  readonly access: PermissionDenied | Unauthenticated;
  readonly request: InvalidArgument | OutOfRange;
  readonly state: NotFound | AlreadyExists | FailedPrecondition | Aborted;
  readonly service: Cancelled | Unknown | DeadlineExceeded | ResourceExhausted | Unimplemented | Internal | Unavailable | DataLoss;
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

/** Whether an error is a declared one of this domain. */
export function hasDomain<D extends keyof ErrorsOfDomain>(
  error: AnyError,
  domain: D,
): error is ErrorsOfDomain[D] {
  return error.known && factsOf(error).domain === domain;
}
