/**
 * The errors of Registry errors as exceptions: a class for each code, which
 * services throw and clients catch.
 *
 * A class has the members of the interface of the same name in `errors`, so
 * that everything that takes an error of `parse` takes an exception too.
 */

// Generated from examples/registry/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/registry/taxonomy.yaml

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
  errors: never;
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
  readonly others?: readonly e.AnyError[] | undefined;
  readonly detail?: unknown | undefined;
}

/**
 * Any error of Registry errors. Each code has a subclass, and only those are
 * thrown.
 */
// prettier-ignore
export abstract class RegistryError extends Error implements e.Common {
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
  declare readonly others: readonly e.AnyError[];
  declare readonly detail: unknown;
}

/** An error with a declared code. */
// prettier-ignore
class Declared<
  C extends ErrorCode, O extends string | null, D extends object
> extends RegistryError {
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
export class UnknownError extends RegistryError implements e.UnknownError {
  declare readonly code: "UNKNOWN";
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
 * A code that the client does not know stands for this one.
 *
 * HTTP 400-428; clients do not retry. The operation may have taken effect.
 */
// prettier-ignore
export class Unknown extends Declared<
  "UNKNOWN", null, d.Details
> {
  static readonly kind: Kind = {
    name: "Unknown",
    code: "UNKNOWN",
    operation: null,
    envelope: "errors",
    headers: [
      {
        name: "WWW-Authenticate",
        on: [
          [
            401,
            401,
          ],
        ],
      },
    ],
  };

  constructor(details: d.Details = {}, options: Options = {}) {
    super(Unknown.kind, details, options);
  }
}

/**
 * The repository does not have this blob.
 *
 * HTTP 400, 404; clients do not retry.
 */
// prettier-ignore
export class BlobUnknown extends Declared<
  "BLOB_UNKNOWN", null, d.Details
> {
  static readonly kind: Kind = {
    name: "BlobUnknown",
    code: "BLOB_UNKNOWN",
    operation: null,
    envelope: "errors",
  };

  constructor(details: d.Details = {}, options: Options = {}) {
    super(BlobUnknown.kind, details, options);
  }
}

/**
 * The upload encountered an error and can no longer proceed.
 *
 * HTTP 400; clients do not retry.
 */
// prettier-ignore
export class BlobUploadInvalid extends Declared<
  "BLOB_UPLOAD_INVALID", null, d.Details
> {
  static readonly kind: Kind = {
    name: "BlobUploadInvalid",
    code: "BLOB_UPLOAD_INVALID",
    operation: null,
    envelope: "errors",
  };

  constructor(details: d.Details = {}, options: Options = {}) {
    super(BlobUploadInvalid.kind, details, options);
  }
}

/**
 * The upload was cancelled or never started.
 *
 * HTTP 404; clients do not retry.
 */
// prettier-ignore
export class BlobUploadUnknown extends Declared<
  "BLOB_UPLOAD_UNKNOWN", null, d.Details
> {
  static readonly kind: Kind = {
    name: "BlobUploadUnknown",
    code: "BLOB_UPLOAD_UNKNOWN",
    operation: null,
    envelope: "errors",
  };

  constructor(details: d.Details = {}, options: Options = {}) {
    super(BlobUploadUnknown.kind, details, options);
  }
}

/**
 * The digest does not match the content, or is not a digest.
 *
 * HTTP 400; clients do not retry.
 */
// prettier-ignore
export class DigestInvalid extends Declared<
  "DIGEST_INVALID", null, d.Details
> {
  static readonly kind: Kind = {
    name: "DigestInvalid",
    code: "DIGEST_INVALID",
    operation: null,
    envelope: "errors",
  };

  constructor(details: d.Details = {}, options: Options = {}) {
    super(DigestInvalid.kind, details, options);
  }
}

/**
 * The manifest refers to a blob that the registry does not have.
 *
 * HTTP 400; clients do not retry.
 */
// prettier-ignore
export class ManifestBlobUnknown extends Declared<
  "MANIFEST_BLOB_UNKNOWN", null, d.Details
> {
  static readonly kind: Kind = {
    name: "ManifestBlobUnknown",
    code: "MANIFEST_BLOB_UNKNOWN",
    operation: null,
    envelope: "errors",
  };

  constructor(details: d.Details = {}, options: Options = {}) {
    super(ManifestBlobUnknown.kind, details, options);
  }
}

/**
 * The manifest is not valid.
 *
 * HTTP 400; clients do not retry.
 */
// prettier-ignore
export class ManifestInvalid extends Declared<
  "MANIFEST_INVALID", null, d.Details
> {
  static readonly kind: Kind = {
    name: "ManifestInvalid",
    code: "MANIFEST_INVALID",
    operation: null,
    envelope: "errors",
  };

  constructor(details: d.Details = {}, options: Options = {}) {
    super(ManifestInvalid.kind, details, options);
  }
}

/**
 * The repository does not have this manifest.
 *
 * HTTP 404; clients do not retry.
 */
// prettier-ignore
export class ManifestUnknown extends Declared<
  "MANIFEST_UNKNOWN", null, d.Details
> {
  static readonly kind: Kind = {
    name: "ManifestUnknown",
    code: "MANIFEST_UNKNOWN",
    operation: null,
    envelope: "errors",
  };

  constructor(details: d.Details = {}, options: Options = {}) {
    super(ManifestUnknown.kind, details, options);
  }
}

/**
 * The signature of the manifest could not be verified.
 *
 * HTTP 400; clients do not retry.
 */
// prettier-ignore
export class ManifestUnverified extends Declared<
  "MANIFEST_UNVERIFIED", null, d.Details
> {
  static readonly kind: Kind = {
    name: "ManifestUnverified",
    code: "MANIFEST_UNVERIFIED",
    operation: null,
    envelope: "errors",
  };

  constructor(details: d.Details = {}, options: Options = {}) {
    super(ManifestUnverified.kind, details, options);
  }
}

/**
 * The name is not that of a repository.
 *
 * HTTP 400; clients do not retry.
 */
// prettier-ignore
export class NameInvalid extends Declared<
  "NAME_INVALID", null, d.Details
> {
  static readonly kind: Kind = {
    name: "NameInvalid",
    code: "NAME_INVALID",
    operation: null,
    envelope: "errors",
  };

  constructor(details: d.Details = {}, options: Options = {}) {
    super(NameInvalid.kind, details, options);
  }
}

/**
 * The registry does not have this repository.
 *
 * HTTP 404; clients do not retry.
 */
// prettier-ignore
export class NameUnknown extends Declared<
  "NAME_UNKNOWN", null, d.Details
> {
  static readonly kind: Kind = {
    name: "NameUnknown",
    code: "NAME_UNKNOWN",
    operation: null,
    envelope: "errors",
  };

  constructor(details: d.Details = {}, options: Options = {}) {
    super(NameUnknown.kind, details, options);
  }
}

/**
 * The size of the upload differs from the size that the client gave.
 *
 * HTTP 400; clients do not retry.
 */
// prettier-ignore
export class SizeInvalid extends Declared<
  "SIZE_INVALID", null, d.Details
> {
  static readonly kind: Kind = {
    name: "SizeInvalid",
    code: "SIZE_INVALID",
    operation: null,
    envelope: "errors",
  };

  constructor(details: d.Details = {}, options: Options = {}) {
    super(SizeInvalid.kind, details, options);
  }
}

/**
 * The tag of the manifest differs from the tag in the path.
 *
 * HTTP 400; clients do not retry.
 */
// prettier-ignore
export class TagInvalid extends Declared<
  "TAG_INVALID", null, d.Details
> {
  static readonly kind: Kind = {
    name: "TagInvalid",
    code: "TAG_INVALID",
    operation: null,
    envelope: "errors",
  };

  constructor(details: d.Details = {}, options: Options = {}) {
    super(TagInvalid.kind, details, options);
  }
}

/**
 * The registry could not authenticate the client.
 *
 * HTTP 401; clients do not retry.
 */
// prettier-ignore
export class Unauthorized extends Declared<
  "UNAUTHORIZED", null, d.Details
> {
  static readonly kind: Kind = {
    name: "Unauthorized",
    code: "UNAUTHORIZED",
    operation: null,
    envelope: "errors",
    headers: [
      {
        name: "WWW-Authenticate",
        on: [
          [
            401,
            401,
          ],
        ],
      },
    ],
  };

  constructor(details: d.Details = {}, options: Options & { readonly headers: Readonly<Record<string, string>> & { readonly "WWW-Authenticate": string; }; }) {
    super(Unauthorized.kind, details, options);
  }
}

/**
 * The client may not do this.
 *
 * HTTP 403; clients do not retry.
 */
// prettier-ignore
export class Denied extends Declared<
  "DENIED", null, d.Details
> {
  static readonly kind: Kind = {
    name: "Denied",
    code: "DENIED",
    operation: null,
    envelope: "errors",
  };

  constructor(details: d.Details = {}, options: Options = {}) {
    super(Denied.kind, details, options);
  }
}

/**
 * The registry does not offer this operation, or not with these parameters.
 *
 * HTTP 400, 405; clients do not retry.
 */
// prettier-ignore
export class Unsupported extends Declared<
  "UNSUPPORTED", null, d.Details
> {
  static readonly kind: Kind = {
    name: "Unsupported",
    code: "UNSUPPORTED",
    operation: null,
    envelope: "errors",
  };

  constructor(details: d.Details = {}, options: Options = {}) {
    super(Unsupported.kind, details, options);
  }
}

/**
 * The client sent too many requests within a time interval.
 *
 * HTTP 429; clients retry.
 */
// prettier-ignore
export class Toomanyrequests extends Declared<
  "TOOMANYREQUESTS", null, d.Details
> {
  static readonly kind: Kind = {
    name: "Toomanyrequests",
    code: "TOOMANYREQUESTS",
    operation: null,
    envelope: "errors",
  };

  constructor(details: d.Details = {}, options: Options = {}) {
    super(Toomanyrequests.kind, details, options);
  }
}

/** Any exception of this package. */
// prettier-ignore
export type AnyException =
  | Unknown
  | BlobUnknown
  | BlobUploadInvalid
  | BlobUploadUnknown
  | DigestInvalid
  | ManifestBlobUnknown
  | ManifestInvalid
  | ManifestUnknown
  | ManifestUnverified
  | NameInvalid
  | NameUnknown
  | SizeInvalid
  | TagInvalid
  | Unauthorized
  | Denied
  | Unsupported
  | Toomanyrequests
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
  listed(Unknown),
  listed(BlobUnknown),
  listed(BlobUploadInvalid),
  listed(BlobUploadUnknown),
  listed(DigestInvalid),
  listed(ManifestBlobUnknown),
  listed(ManifestInvalid),
  listed(ManifestUnknown),
  listed(ManifestUnverified),
  listed(NameInvalid),
  listed(NameUnknown),
  listed(SizeInvalid),
  listed(TagInvalid),
  listed(Unauthorized),
  listed(Denied),
  listed(Unsupported),
  listed(Toomanyrequests),
];

const BY_CODE = new Map(
  CLASSES.map((each) => [key(each.kind.operation, each.kind.code), each]),
);

/** Whether a value is an exception of this package; `code` tells which. */
// prettier-ignore
export function isRegistryError(value: unknown): value is AnyException {
  return value instanceof RegistryError;
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
    others: [],
    detail: null,
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
