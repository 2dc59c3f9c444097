/**
 * The errors of Errors of aria2's RPC interface: an interface for each code,
 * distinguished by `code`, and by `operation` where operations have codes of
 * their own.
 */

// Generated from examples/aria2/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/aria2/taxonomy.yaml

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
  readonly requestId: string | number | null;
}

/**
 * The body is not JSON.
 *
 * Clients do not retry. The operation may have taken effect.
 */
export interface ParseError extends Common {
  readonly code: "parse_error";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * It is JSON, and no request.
 *
 * Clients do not retry. The operation may have taken effect.
 */
export interface InvalidRequest extends Common {
  readonly code: "invalid_request";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * There is no such method.
 *
 * Clients do not retry. The operation may have taken effect.
 */
export interface MethodNotFound extends Common {
  readonly code: "method_not_found";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The parameters do not fit.
 *
 * Clients do not retry. The operation may have taken effect.
 */
export interface InvalidParams extends Common {
  readonly code: "invalid_params";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The call failed; the message says why.
 *
 * Clients do not retry. The operation may have taken effect.
 */
export interface Failed extends Common {
  readonly code: "failed";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/** The errors by the names of their interfaces. */
export interface Errors {
  readonly ParseError: ParseError;
  readonly InvalidRequest: InvalidRequest;
  readonly MethodNotFound: MethodNotFound;
  readonly InvalidParams: InvalidParams;
  readonly Failed: Failed;
}

/** The errors of each code: one interface, or one for each operation that has the code. */
// prettier-ignore
export interface ErrorsOfCode {
  readonly parse_error: ParseError;
  readonly invalid_request: InvalidRequest;
  readonly method_not_found: MethodNotFound;
  readonly invalid_params: InvalidParams;
  readonly failed: Failed;
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
