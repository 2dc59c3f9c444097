/**
 * The errors of Kinto errors as exceptions: a class for each code, which
 * services throw and clients catch.
 *
 * A class has the members of the interface of the same name in `errors`, so
 * that everything that takes an error of `parse` takes an exception too.
 */

// Generated from examples/kinto/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/kinto/taxonomy.yaml

import {
  type Span,
  isIn,
  sendable,
  valuesOf,
  withField,
} from "./_runtime/fields.js";
import * as retryAfter from "./_runtime/retry-after.js";
import { decided, defaultMessage, entryOfCode, retriable } from "./catalog.js";
import { type Condition, type ErrorCode, FACTS, type Facts } from "./codes.js";
import type * as d from "./details.js";
import type * as e from "./errors.js";

/** The names of the envelopes. */
// prettier-ignore
export type EnvelopeName = keyof {
  error: never;
};

/** A header with one value under these statuses; null if the header is not there. */
export interface ConstantField {
  readonly name: string;
  readonly value: string | null;
  readonly on: readonly Span[];
}

/** A header that repeats a detail. */
interface DerivedField {
  readonly header: string;
  readonly key: string;
  readonly as: "text" | "tag" | "wait";
}

/** The facts of a code that only its sender needs. */
export interface Kind {
  readonly name: string;
  readonly code: ErrorCode;
  readonly operation: string | null;
  readonly envelope: EnvelopeName;
  readonly defaults?: Readonly<Record<string, unknown>>;
  readonly headers?: readonly {
    readonly name: string;
    readonly on: readonly Span[];
  }[];
  readonly constants?: readonly ConstantField[];
  readonly statusRules?: readonly {
    readonly then: number;
    readonly when: readonly Condition[];
  }[];
  readonly derived?: readonly DerivedField[];
}

/**
 * The facts of an error that a service may give beside the details. `retryAfter` in
 * seconds. `cause` never travels.
 */
// prettier-ignore
export interface Options {
  readonly message?: string | undefined;
  readonly status?: number | undefined;
  readonly boundary?: string | undefined;
  readonly retriable?: boolean | undefined;
  readonly retryAfter?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly cause?: unknown;
  readonly error?: string | null | undefined;
  readonly info?: string | null | undefined;
}

/**
 * Any error of Kinto errors. Each code has a subclass, and only those are
 * thrown.
 */
// prettier-ignore
export abstract class KintoError extends Error implements e.Common {
  declare readonly code: ErrorCode | null;
  declare readonly known: boolean;
  declare readonly operation: string | null;
  declare readonly details: d.Details;
  declare readonly status: number | null;
  declare readonly retriable: boolean;
  declare readonly flag: boolean | null;
  declare readonly retryAfter: number | null;
  declare readonly boundary: string | null;
  declare readonly headers: Readonly<Record<string, string>>;
  declare readonly raw: unknown;
  declare readonly error: string | null;
  declare readonly info: string | null;
}

/** An error with a declared code. */
// prettier-ignore
class Declared<
  C extends ErrorCode, O extends string | null, D extends object
> extends KintoError {
  declare readonly code: C;
  declare readonly known: true;
  declare readonly operation: O;
  declare readonly details: D & d.Details;

  /**
   * Throws RangeError for a status or a boundary that the code does not have, and for a
   * header that it needs and lacks.
   */
  constructor(kind: Kind, details: object, options: Options) {
    const state = stateOf(kind, details as d.Details, options);
    super(state.message);
    settle(this, kind.name, state);
    if (options.cause !== undefined) hide(this, "cause", options.cause);
    for (const name of lacking(this)) {
      throw new RangeError(`${kind.code} under ${String(state.status)} needs the header ${name}`);
    }
  }
}

/**
 * An answer that is not a declared error: an unknown code, another shape, or not JSON.
 * Neither `raw` nor `originalCode` is safe to show.
 */
// prettier-ignore
export class UnknownError extends KintoError implements e.UnknownError {
  declare readonly code: "UNDEFINED";
  declare readonly known: false;
  declare readonly operation: null;
  declare readonly originalCode: string | number | null;
  declare readonly replacedBy: ErrorCode | null;

  constructor(error: e.UnknownError) {
    super(error.message);
    settle(this, "UnknownError", error);
  }
}

/**
 * Missing Authorization Token
 *
 * HTTP 401; a person has to act.
 */
// prettier-ignore
export class MissingAuthToken extends Declared<
  "MISSING_AUTH_TOKEN", null, d.Details
> {
  static readonly kind: Kind = {
    name: "MissingAuthToken",
    code: "MISSING_AUTH_TOKEN",
    operation: null,
    envelope: "error",
  };

  constructor(details: d.Details = {}, options: Options & { readonly error: NonNullable<e.Common["error"]>; }) {
    super(MissingAuthToken.kind, details, options);
  }
}

/**
 * Invalid Authorization Token
 *
 * HTTP 401; a person has to act.
 */
// prettier-ignore
export class InvalidAuthToken extends Declared<
  "INVALID_AUTH_TOKEN", null, d.Details
> {
  static readonly kind: Kind = {
    name: "InvalidAuthToken",
    code: "INVALID_AUTH_TOKEN",
    operation: null,
    envelope: "error",
  };

  constructor(details: d.Details = {}, options: Options & { readonly error: NonNullable<e.Common["error"]>; }) {
    super(InvalidAuthToken.kind, details, options);
  }
}

/**
 * The request body was not valid JSON
 *
 * HTTP 400; clients do not retry.
 */
// prettier-ignore
export class Badjson extends Declared<
  "BADJSON", null, d.Details
> {
  static readonly kind: Kind = {
    name: "Badjson",
    code: "BADJSON",
    operation: null,
    envelope: "error",
  };

  constructor(details: d.Details = {}, options: Options & { readonly error: NonNullable<e.Common["error"]>; }) {
    super(Badjson.kind, details, options);
  }
}

/**
 * Invalid request parameter
 *
 * The first problem is the message; all of them are in the details.
 *
 * HTTP 400; clients do not retry.
 */
// prettier-ignore
export class InvalidParameters extends Declared<
  "INVALID_PARAMETERS", null, d.Details
> {
  static readonly kind: Kind = {
    name: "InvalidParameters",
    code: "INVALID_PARAMETERS",
    operation: null,
    envelope: "error",
  };

  constructor(details: d.Details = {}, options: Options & { readonly error: NonNullable<e.Common["error"]>; }) {
    super(InvalidParameters.kind, details, options);
  }
}

/**
 * Missing request parameter
 *
 * HTTP 400; clients do not retry.
 */
// prettier-ignore
export class MissingParameters extends Declared<
  "MISSING_PARAMETERS", null, d.Details
> {
  static readonly kind: Kind = {
    name: "MissingParameters",
    code: "MISSING_PARAMETERS",
    operation: null,
    envelope: "error",
  };

  constructor(details: d.Details = {}, options: Options & { readonly error: NonNullable<e.Common["error"]>; }) {
    super(MissingParameters.kind, details, options);
  }
}

/**
 * Invalid posted data
 *
 * The first problem is the message; all of them are in the details.
 *
 * HTTP 400; clients do not retry.
 */
// prettier-ignore
export class InvalidPostedData extends Declared<
  "INVALID_POSTED_DATA", null, d.Details
> {
  static readonly kind: Kind = {
    name: "InvalidPostedData",
    code: "INVALID_POSTED_DATA",
    operation: null,
    envelope: "error",
  };

  constructor(details: d.Details = {}, options: Options & { readonly error: NonNullable<e.Common["error"]>; }) {
    super(InvalidPostedData.kind, details, options);
  }
}

/**
 * Invalid Token / id
 *
 * Answered only to who may write to the parent; others get FORBIDDEN whether
 * the object is there or not.
 *
 * HTTP 404; clients do not retry.
 */
// prettier-ignore
export class InvalidResourceId extends Declared<
  "INVALID_RESOURCE_ID", null, d.InvalidResourceIdDetails
> {
  static readonly kind: Kind = {
    name: "InvalidResourceId",
    code: "INVALID_RESOURCE_ID",
    operation: null,
    envelope: "error",
  };

  constructor(details: d.InvalidResourceIdDetails = {}, options: Options & { readonly error: NonNullable<e.Common["error"]>; }) {
    super(InvalidResourceId.kind, details, options);
  }
}

/**
 * Missing Token / id
 *
 * HTTP 404; clients do not retry.
 */
// prettier-ignore
export class MissingResource extends Declared<
  "MISSING_RESOURCE", null, d.MissingResourceDetails
> {
  static readonly kind: Kind = {
    name: "MissingResource",
    code: "MISSING_RESOURCE",
    operation: null,
    envelope: "error",
  };

  constructor(details: d.MissingResourceDetails = {}, options: Options & { readonly error: NonNullable<e.Common["error"]>; }) {
    super(MissingResource.kind, details, options);
  }
}

/**
 * Content-Length header was not provided
 *
 * HTTP 411; clients do not retry.
 */
// prettier-ignore
export class MissingContentLength extends Declared<
  "MISSING_CONTENT_LENGTH", null, d.Details
> {
  static readonly kind: Kind = {
    name: "MissingContentLength",
    code: "MISSING_CONTENT_LENGTH",
    operation: null,
    envelope: "error",
  };

  constructor(details: d.Details = {}, options: Options & { readonly error: NonNullable<e.Common["error"]>; }) {
    super(MissingContentLength.kind, details, options);
  }
}

/**
 * Request body too large
 *
 * HTTP 413; clients do not retry.
 */
// prettier-ignore
export class RequestTooLarge extends Declared<
  "REQUEST_TOO_LARGE", null, d.Details
> {
  static readonly kind: Kind = {
    name: "RequestTooLarge",
    code: "REQUEST_TOO_LARGE",
    operation: null,
    envelope: "error",
  };

  constructor(details: d.Details = {}, options: Options & { readonly error: NonNullable<e.Common["error"]>; }) {
    super(RequestTooLarge.kind, details, options);
  }
}

/**
 * Resource was modified meanwhile
 *
 * The client overwrites by repeating the request without a precondition, or
 * fetches, merges and repeats it.
 *
 * HTTP 412; clients read again before they retry.
 */
// prettier-ignore
export class ModifiedMeanwhile extends Declared<
  "MODIFIED_MEANWHILE", null, d.ModifiedMeanwhileDetails
> {
  static readonly kind: Kind = {
    name: "ModifiedMeanwhile",
    code: "MODIFIED_MEANWHILE",
    operation: null,
    envelope: "error",
  };

  constructor(details: d.ModifiedMeanwhileDetails = {}, options: Options & { readonly error: NonNullable<e.Common["error"]>; }) {
    super(ModifiedMeanwhile.kind, details, options);
  }
}

/**
 * Method not allowed on this end point
 *
 * Also every write on a server whose setting `kinto.readonly` is true.
 *
 * HTTP 405; clients do not retry.
 */
// prettier-ignore
export class MethodNotAllowed extends Declared<
  "METHOD_NOT_ALLOWED", null, d.Details
> {
  static readonly kind: Kind = {
    name: "MethodNotAllowed",
    code: "METHOD_NOT_ALLOWED",
    operation: null,
    envelope: "error",
  };

  constructor(details: d.Details = {}, options: Options & { readonly error: NonNullable<e.Common["error"]>; }) {
    super(MethodNotAllowed.kind, details, options);
  }
}

/**
 * Requested version not available on this server
 *
 * HTTP 404; clients do not retry.
 */
// prettier-ignore
export class VersionNotAvailable extends Declared<
  "VERSION_NOT_AVAILABLE", null, d.Details
> {
  static readonly kind: Kind = {
    name: "VersionNotAvailable",
    code: "VERSION_NOT_AVAILABLE",
    operation: null,
    envelope: "error",
  };

  constructor(details: d.Details = {}, options: Options & { readonly error: NonNullable<e.Common["error"]>; }) {
    super(VersionNotAvailable.kind, details, options);
  }
}

/**
 * Client has sent too many requests
 *
 * HTTP 429; clients retry.
 */
// prettier-ignore
export class ClientReachedCapacity extends Declared<
  "CLIENT_REACHED_CAPACITY", null, d.Details
> {
  static readonly kind: Kind = {
    name: "ClientReachedCapacity",
    code: "CLIENT_REACHED_CAPACITY",
    operation: null,
    envelope: "error",
  };

  constructor(details: d.Details = {}, options: Options & { readonly error: NonNullable<e.Common["error"]>; }) {
    super(ClientReachedCapacity.kind, details, options);
  }
}

/**
 * Resource's access forbidden for this user
 *
 * HTTP 403; a person has to act.
 */
// prettier-ignore
export class Forbidden extends Declared<
  "FORBIDDEN", null, d.Details
> {
  static readonly kind: Kind = {
    name: "Forbidden",
    code: "FORBIDDEN",
    operation: null,
    envelope: "error",
  };

  constructor(details: d.Details = {}, options: Options & { readonly error: NonNullable<e.Common["error"]>; }) {
    super(Forbidden.kind, details, options);
  }
}

/**
 * Another resource violates constraint
 *
 * Transactions of concurrent requests overlapped. Retrying the same request
 * will usually be enough.
 *
 * HTTP 409; clients retry.
 */
// prettier-ignore
export class ConstraintViolated extends Declared<
  "CONSTRAINT_VIOLATED", null, d.Details
> {
  static readonly kind: Kind = {
    name: "ConstraintViolated",
    code: "CONSTRAINT_VIOLATED",
    operation: null,
    envelope: "error",
  };

  constructor(details: d.Details = {}, options: Options & { readonly error: NonNullable<e.Common["error"]>; }) {
    super(ConstraintViolated.kind, details, options);
  }
}

/**
 * Service temporarily unavailable due to high load
 *
 * HTTP 503; clients retry.
 */
// prettier-ignore
export class Backend extends Declared<
  "BACKEND", null, d.Details
> {
  static readonly kind: Kind = {
    name: "Backend",
    code: "BACKEND",
    operation: null,
    envelope: "error",
    headers: [
      {
        name: "Retry-After",
        on: [
          [
            503,
            503,
          ],
        ],
      },
    ],
  };

  constructor(details: d.Details = {}, options: Options & { readonly retryAfter: number; readonly error: NonNullable<e.Common["error"]>; }) {
    super(Backend.kind, details, options);
  }
}

/**
 * Service deprecated
 *
 * The client is too old, or another service took the place of this one. An
 * Alert header may say more.
 *
 * HTTP 410; clients do not retry.
 */
// prettier-ignore
export class ServiceDeprecated extends Declared<
  "SERVICE_DEPRECATED", null, d.Details
> {
  static readonly kind: Kind = {
    name: "ServiceDeprecated",
    code: "SERVICE_DEPRECATED",
    operation: null,
    envelope: "error",
  };

  constructor(details: d.Details = {}, options: Options & { readonly error: NonNullable<e.Common["error"]>; }) {
    super(ServiceDeprecated.kind, details, options);
  }
}

/**
 * Internal Server Error
 *
 * HTTP 500; clients retry. The operation may have taken effect.
 */
// prettier-ignore
export class Undefined extends Declared<
  "UNDEFINED", null, d.Details
> {
  static readonly kind: Kind = {
    name: "Undefined",
    code: "UNDEFINED",
    operation: null,
    envelope: "error",
    headers: [
      {
        name: "Retry-After",
        on: [
          [
            500,
            500,
          ],
        ],
      },
    ],
  };

  constructor(details: d.Details = {}, options: Options & { readonly retryAfter: number; readonly error: NonNullable<e.Common["error"]>; }) {
    super(Undefined.kind, details, options);
  }
}

/** Any exception of this package. */
// prettier-ignore
export type AnyException =
  | MissingAuthToken
  | InvalidAuthToken
  | Badjson
  | InvalidParameters
  | MissingParameters
  | InvalidPostedData
  | InvalidResourceId
  | MissingResource
  | MissingContentLength
  | RequestTooLarge
  | ModifiedMeanwhile
  | MethodNotAllowed
  | VersionNotAvailable
  | ClientReachedCapacity
  | Forbidden
  | ConstraintViolated
  | Backend
  | ServiceDeprecated
  | Undefined
  | UnknownError;

/** A class of this package, whose constructor decides what it takes. */
interface ExceptionClass {
  readonly kind: Kind;
  readonly prototype: Declared<ErrorCode, string | null, object>;
}

/** A class: those of a list would each have a type, compared in pairs by tsc. */
function listed(each: ExceptionClass): ExceptionClass {
  return each;
}

// prettier-ignore
const CLASSES: readonly ExceptionClass[] = [
  listed(MissingAuthToken),
  listed(InvalidAuthToken),
  listed(Badjson),
  listed(InvalidParameters),
  listed(MissingParameters),
  listed(InvalidPostedData),
  listed(InvalidResourceId),
  listed(MissingResource),
  listed(MissingContentLength),
  listed(RequestTooLarge),
  listed(ModifiedMeanwhile),
  listed(MethodNotAllowed),
  listed(VersionNotAvailable),
  listed(ClientReachedCapacity),
  listed(Forbidden),
  listed(ConstraintViolated),
  listed(Backend),
  listed(ServiceDeprecated),
  listed(Undefined),
];

const BY_CODE = new Map(
  CLASSES.map((each) => [key(each.kind.operation, each.kind.code), each]),
);

/** Whether a value is an exception of this package; `code` tells which. */
// prettier-ignore
export function isKintoError(value: unknown): value is AnyException {
  return value instanceof KintoError;
}

/** The exception for an error that was read from an answer. */
export function exceptionOf(error: e.AnyError): AnyException {
  const found = BY_CODE.get(key(error.operation, error.code ?? ""));
  if (error.known && found !== undefined) return restored(found, error);
  return new UnknownError(error as e.UnknownError);
}

/** The kind of a code that is shared by all operations. */
export function kindOfCode(code: ErrorCode): Kind | undefined {
  return BY_CODE.get(key(null, code))?.kind;
}

/** An error as its sender sees it: an exception, or what `parse` returns. */
export interface SentError extends e.Common {
  readonly code: ErrorCode | null;
  readonly known: boolean;
  readonly operation: string | null;
  readonly details: object;
}

/** The kind of an error, undefined if its code is not declared. */
export function kindOf(error: SentError): Kind | undefined {
  return BY_CODE.get(key(error.operation, error.code ?? ""))?.kind;
}

/**
 * An error with its default message, made without the details and the headers that it
 * needs.
 */
export function bare(
  code: ErrorCode,
  status: number | null = null,
  details: d.Details = {},
  headers: Readonly<Record<string, string>> = {},
): AnyException {
  const found = BY_CODE.get(key(null, code));
  if (found === undefined) throw new RangeError(`${code} is not shared`);
  const facts = FACTS[code];
  const plain = { ...rest(found.kind), ...found.kind.defaults };
  return restored(found, {
    ...withFlag(found.kind, facts, details, null, status ?? facts.status),
    ...plain,
    headers,
  });
}

/** The headers that an error needs under its status and lacks. */
export function lacking(error: SentError): readonly string[] {
  const given = Object.entries(error.headers);
  const needed = (error.known ? kindOf(error)?.headers : undefined) ?? [];
  return needed
    .filter(({ name, on }) => {
      const waits =
        name.toLowerCase() === "retry-after" && error.retryAfter !== null;
      return (
        !waits && isIn(error.status, on) && valuesOf(given, name).length === 0
      );
    })
    .map(({ name }) => name);
}

type State = Omit<e.Common, "message"> & { readonly message: string };

function stateOf(kind: Kind, details: d.Details, options: Options): State {
  const facts = factsOfKind(kind);
  const status = allowedStatus(kind, facts, options.status, details);
  const [first = null] = facts.boundaries;
  const { boundary = first } = options;
  if (boundary !== first && !facts.boundaries.includes(boundary ?? "")) {
    throw new RangeError(`${kind.code} does not come from ${String(boundary)}`);
  }
  const given = Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  );
  delete given["cause"];
  const known = Object.fromEntries(
    Object.entries(details).filter(([, value]) => value !== undefined),
  );
  const { retriable: flag = null } = options;
  const flagged = withFlag(kind, facts, known, flag, status);
  return {
    ...flagged,
    ...rest(kind),
    ...kind.defaults,
    ...given,
    retriable: flagged.retriable,
    message: options.message ?? flagged.message,
    boundary,
    status,
    retryAfter: options.retryAfter ?? derivedWait(kind, known),
    headers: sendable({ ...derivedHeaders(kind, known), ...options.headers }),
  };
}

function factsOfKind(kind: Kind): Facts {
  return entryOfCode(kind.code, kind.operation)?.facts ?? FACTS[kind.code];
}

/** The members of an error of which nothing is known. */
function rest(kind: Kind): Omit<State, keyof ReturnType<typeof withFlag>> {
  return {
    boundary: factsOfKind(kind).boundaries[0] ?? null,
    headers: {},
    raw: null,
    retryAfter: null,
    error: null,
    info: null,
  };
}

/** The members that follow from the details and the flag. */
function withFlag(
  kind: Kind,
  facts: Facts,
  details: d.Details,
  flag: boolean | null,
  status: number | null,
) {
  const own = entryOfCode(kind.code, kind.operation)?.flagKey ?? null;
  const sent = flag ?? retriable(facts, details, { status });
  const decides = flag !== null || facts.retriable === "conditional";
  const shown = decides ? sent : facts.clientAction === "retry";
  const all = own === null ? details : { ...details, [own]: shown };
  return {
    code: kind.code,
    known: true,
    operation: kind.operation,
    details: all,
    message: defaultMessage(facts, all),
    status,
    retriable: sent,
    flag: own === null ? flag : shown,
  };
}

/**
 * The given status if the code may have it. Without one, the status that the rules
 * decide by the details, or the default if several remain.
 */
function allowedStatus(
  kind: Kind,
  facts: Facts,
  status: number | undefined,
  details: d.Details,
): number | null {
  const possible = outcomes(kind, details);
  const last = possible[possible.length - 1];
  if (status === undefined) {
    const isOpen = facts.status !== null && possible.includes(facts.status);
    return last === undefined || isOpen ? facts.status : last;
  }
  const isAllowed =
    last === undefined
      ? facts.statuses.includes(status) || codesFor(status).includes(kind.code)
      : possible.includes(status);
  if (!isAllowed) {
    const text = `${kind.code} does not travel under ${String(status)}`;
    throw new RangeError(text);
  }
  return status;
}

/** The possible results of the rules; an unknown fact leaves both ways open. */
function outcomes(kind: Kind, details: d.Details): readonly number[] {
  const found: number[] = [];
  for (const { then, when } of kind.statusRules ?? []) {
    const known = when.filter(({ fact }) => isKnown(fact, details));
    const holds = decided([{ then: true, when: known }], details, {}) ?? false;
    if (!holds) continue;
    if (!found.includes(then)) found.push(then);
    if (known.length === when.length) break;
  }
  return found;
}

function isKnown(fact: string, details: d.Details): boolean {
  const prefix = "details.";
  return (
    fact.startsWith(prefix) &&
    Object.keys(details).includes(fact.slice(prefix.length))
  );
}

/** A fallback for the statuses that no code claims, the narrowest range first. */
interface Fallback {
  readonly low: number;
  readonly high: number;
  readonly code: ErrorCode | null;
}

// prettier-ignore
export const FALLBACKS: readonly Fallback[] = [];

/** The codes that may travel under a status; the fallback if no code claims it. */
export function codesFor(status: number): readonly ErrorCode[] {
  const claimed = Object.entries<Facts>(FACTS)
    .filter(([, facts]) => facts.statuses.includes(status))
    .map(([code]) => code as ErrorCode);
  if (claimed.length > 0) return claimed;
  const fallback = FALLBACKS.find(
    ({ low, high }) => low <= status && status <= high,
  );
  return fallback?.code == null ? [] : [fallback.code];
}

function derivedHeaders(
  kind: Kind,
  details: d.Details,
): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { header, key: name, as } of kind.derived ?? []) {
    const value = details[name];
    if (typeof value === "string" && as !== "wait") {
      found[header] = as === "tag" ? entityTag(value) : value;
    }
  }
  return found;
}

function derivedWait(kind: Kind, details: d.Details): number | null {
  const own = (kind.derived ?? []).find(({ as }) => as === "wait");
  const value = own === undefined ? null : details[own.key];
  return typeof value === "number" ? value : null;
}

/**
 * A validator in the form of the header `ETag`: in quotes, after its mark of weakness
 * (RFC 9110 section 8.8.3).
 */
export function entityTag(value: string): string {
  return /^(W\/)?"[^"]*"$/.test(value) ? value : `"${value}"`;
}

/** An error with this state, unchecked. */
function restored(kind: ExceptionClass, state: object): AnyException {
  const made: unknown = Reflect.construct(
    Error,
    [(state as State).message],
    kind as unknown as new () => Error,
  );
  settle(made as Error, kind.kind.name, state);
  return made as AnyException;
}

function settle(error: Error, name: string, state: object): void {
  const { message: _, ...members } = state as State;
  Object.assign(error, members);
  hide(error, "name", name);
}

/** Set a member that is not listed among those of the envelope. */
function hide(error: Error, name: string, value: unknown): void {
  const property = { value, configurable: true, writable: true };
  Object.defineProperty(error, name, property);
}

/** The value of `Retry-After` for a wait in seconds. */
export const wait = retryAfter.render;

function key(operation: string | null, code: string): string {
  return JSON.stringify([operation, code]);
}

/** The fields with those that a code always has under a status. */
export function withConstants(
  fields: Parameters<typeof withField>[0],
  constants: readonly ConstantField[],
  status: number,
): Parameters<typeof withField>[0] {
  return constants
    .filter(({ on }) => isIn(status, on))
    .reduce((all, { name, value }) => withField(all, name, value), fields);
}
