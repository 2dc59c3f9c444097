/**
 * The errors of alknet call errors: an interface for each code, distinguished
 * by `code`, and by `operation` where operations have codes of their own.
 */

// Generated from examples/alknet/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/alknet/taxonomy.yaml

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
  readonly requestId: string | null;
}

/**
 * The operation is not registered, or is internal and was called from outside.
 *
 * HTTP 404; from registry; clients do not retry.
 */
export interface NotFound extends Common {
  readonly code: "NOT_FOUND";
  readonly known: true;
  readonly operation: null;
  readonly details: d.NotFoundDetails;
}

/**
 * The caller lacks a scope, or is nobody that is known.
 *
 * HTTP 401, 403; from registry or acl; a person has to act.
 */
export interface Forbidden extends Common {
  readonly code: "FORBIDDEN";
  readonly known: true;
  readonly operation: null;
  readonly details: d.ForbiddenDetails;
}

/**
 * The input does not fit the operation's input schema.
 *
 * HTTP 422; from registry; clients do not retry.
 */
export interface InvalidInput extends Common {
  readonly code: "INVALID_INPUT";
  readonly known: true;
  readonly operation: null;
  readonly details: d.InvalidInputDetails;
}

/**
 * The wrong way to call an operation of this type, such as invoke on a
 * subscription.
 *
 * HTTP 500; from registry or operation_env; clients do not retry.
 */
export interface InvalidOperationType extends Common {
  readonly code: "INVALID_OPERATION_TYPE";
  readonly known: true;
  readonly operation: null;
  readonly details: d.InvalidOperationTypeDetails;
}

/**
 * A handler panicked or failed in a way it did not declare, or the connection
 * broke.
 *
 * HTTP 500; from registry or adapter; clients do not retry. The operation may
 * have taken effect.
 */
export interface Internal extends Common {
  readonly code: "INTERNAL";
  readonly known: true;
  readonly operation: null;
  readonly details: d.InternalDetails;
}

/**
 * The request timed out.
 *
 * HTTP 504; from adapter; clients retry. The operation may have taken effect.
 */
export interface Timeout extends Common {
  readonly code: "TIMEOUT";
  readonly known: true;
  readonly operation: null;
  readonly details: d.TimeoutDetails;
}

/**
 * The file does not exist
 *
 * From handler; clients do not retry. The operation may have taken effect.
 */
export interface ReadFileFileNotFound extends Common {
  readonly code: "FILE_NOT_FOUND";
  readonly known: true;
  readonly operation: "readFile";
  readonly details: d.ReadFileFileNotFoundDetails;
}

/**
 * OS-level read permission denied
 *
 * From handler; clients do not retry. The operation may have taken effect.
 */
export interface ReadFilePermissionDenied extends Common {
  readonly code: "PERMISSION_DENIED";
  readonly known: true;
  readonly operation: "readFile";
  readonly details: d.ReadFilePermissionDeniedDetails;
}

/**
 * The account cannot pay for the machine.
 *
 * From handler; a person has to act. The operation may have taken effect.
 */
export interface CreateMachineInsufficientCredits extends Common {
  readonly code: "INSUFFICIENT_CREDITS";
  readonly known: true;
  readonly operation: "createMachine";
  readonly details: d.Details;
}

/**
 * The upstream API limits the rate.
 *
 * HTTP 429; from handler; clients retry.
 */
export interface CreateMachineRateLimited extends Common {
  readonly code: "RATE_LIMITED";
  readonly known: true;
  readonly operation: "createMachine";
  readonly details: d.CreateMachineRateLimitedDetails;
}

/**
 * The context window overflowed.
 *
 * From handler; clients do not retry. The operation may have taken effect.
 */
export interface ChatContextOverflow extends Common {
  readonly code: "CONTEXT_OVERFLOW";
  readonly known: true;
  readonly operation: "chat";
  readonly details: d.Details;
}

/** The errors by the names of their interfaces. */
export interface Errors {
  readonly NotFound: NotFound;
  readonly Forbidden: Forbidden;
  readonly InvalidInput: InvalidInput;
  readonly InvalidOperationType: InvalidOperationType;
  readonly Internal: Internal;
  readonly Timeout: Timeout;
  readonly ReadFileFileNotFound: ReadFileFileNotFound;
  readonly ReadFilePermissionDenied: ReadFilePermissionDenied;
  readonly CreateMachineInsufficientCredits: CreateMachineInsufficientCredits;
  readonly CreateMachineRateLimited: CreateMachineRateLimited;
  readonly ChatContextOverflow: ChatContextOverflow;
}

/** The errors of each code: one interface, or one for each operation that has the code. */
// prettier-ignore
export interface ErrorsOfCode {
  readonly NOT_FOUND: NotFound;
  readonly FORBIDDEN: Forbidden;
  readonly INVALID_INPUT: InvalidInput;
  readonly INVALID_OPERATION_TYPE: InvalidOperationType;
  readonly INTERNAL: Internal;
  readonly TIMEOUT: Timeout;
  readonly FILE_NOT_FOUND: ReadFileFileNotFound;
  readonly PERMISSION_DENIED: ReadFilePermissionDenied;
  readonly INSUFFICIENT_CREDITS: CreateMachineInsufficientCredits;
  readonly RATE_LIMITED: CreateMachineRateLimited;
  readonly CONTEXT_OVERFLOW: ChatContextOverflow;
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
  readonly code: "INTERNAL";
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
