/**
 * The errors of Theodosia refusals: an interface for each code, distinguished
 * by `code`, and by `operation` where operations have codes of their own.
 */

// Generated from examples/theodosia/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/theodosia/taxonomy.yaml

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
  readonly requested: string | null;
  readonly validNextActions: readonly string[] | null;
  readonly errorType: string | null;
  readonly knownActions: readonly string[] | null;
}

/**
 * The action exists and cannot be reached from the current state.
 *
 * From graph; clients read again before they retry.
 */
export interface InvalidTransition extends Common {
  readonly code: "invalid_transition";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The graph has no such action.
 *
 * From graph; clients do not retry.
 */
export interface UnknownAction extends Common {
  readonly code: "unknown_action";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The action can be reached and its inputs were refused.
 *
 * From validator; clients do not retry.
 */
export interface ValidationFailed extends Common {
  readonly code: "validation_failed";
  readonly known: true;
  readonly operation: null;
  readonly details: d.ValidationFailedDetails;
}

/**
 * The action ran longer than its budget.
 *
 * From body; clients do not retry. The operation may have taken effect.
 */
export interface ActionTimeout extends Common {
  readonly code: "action_timeout";
  readonly known: true;
  readonly operation: null;
  readonly details: d.ActionTimeoutDetails;
}

/**
 * The action ran and its body raised.
 *
 * From body; clients do not retry. The operation may have taken effect.
 */
export interface ActionError extends Common {
  readonly code: "action_error";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/** The errors by the names of their interfaces. */
export interface Errors {
  readonly InvalidTransition: InvalidTransition;
  readonly UnknownAction: UnknownAction;
  readonly ValidationFailed: ValidationFailed;
  readonly ActionTimeout: ActionTimeout;
  readonly ActionError: ActionError;
}

/** The errors of each code: one interface, or one for each operation that has the code. */
// prettier-ignore
export interface ErrorsOfCode {
  readonly invalid_transition: InvalidTransition;
  readonly unknown_action: UnknownAction;
  readonly validation_failed: ValidationFailed;
  readonly action_timeout: ActionTimeout;
  readonly action_error: ActionError;
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
