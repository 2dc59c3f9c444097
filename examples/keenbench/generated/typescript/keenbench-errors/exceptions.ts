/**
 * The errors of KeenBench errors as exceptions: a class for each code, which
 * services throw and clients catch.
 *
 * A class has the members of the interface of the same name in `errors`, so
 * that everything that takes an error of `parse` takes an exception too.
 */

// Generated from examples/keenbench/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/keenbench/taxonomy.yaml

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
  error_info: never;
  rpc: never;
  rpc_protocol: never;
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
  readonly phase?: d.PhaseSlot | null | undefined;
  readonly subphase?: d.SubphaseSlot | null | undefined;
  readonly actions?: readonly string[] | null | undefined;
  readonly requestId?: string | number | null | undefined;
}

/**
 * Any error of KeenBench errors. Each code has a subclass, and only those are
 * thrown.
 */
// prettier-ignore
export abstract class KeenbenchError extends Error implements e.Common {
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
  declare readonly phase: d.PhaseSlot | null;
  declare readonly subphase: d.SubphaseSlot | null;
  declare readonly actions: readonly string[] | null;
  declare readonly requestId: string | number | null;
}

/** An error with a declared code. */
// prettier-ignore
class Declared<
  C extends ErrorCode, O extends string | null, D extends object
> extends KeenbenchError {
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
export class UnknownError extends KeenbenchError implements e.UnknownError {
  declare readonly code: null;
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
 * The user has not agreed that this content leaves the machine.
 *
 * A person has to act.
 */
// prettier-ignore
export class EgressConsentRequired extends Declared<
  "EGRESS_CONSENT_REQUIRED", null, d.EgressConsentRequiredDetails
> {
  static readonly kind: Kind = {
    name: "EgressConsentRequired",
    code: "EGRESS_CONSENT_REQUIRED",
    operation: null,
    envelope: "rpc",
  };

  constructor(details: d.EgressConsentRequiredDetails = {}, options: Options & { readonly phase: NonNullable<e.Common["phase"]>; }) {
    super(EgressConsentRequired.kind, details, options);
  }
}

/**
 * A policy forbids that this content leaves the machine.
 *
 * A person has to act.
 */
// prettier-ignore
export class EgressBlockedByPolicy extends Declared<
  "EGRESS_BLOCKED_BY_POLICY", null, d.EgressBlockedByPolicyDetails
> {
  static readonly kind: Kind = {
    name: "EgressBlockedByPolicy",
    code: "EGRESS_BLOCKED_BY_POLICY",
    operation: null,
    envelope: "rpc",
  };

  constructor(details: d.EgressBlockedByPolicyDetails = {}, options: Options & { readonly phase: NonNullable<e.Common["phase"]>; }) {
    super(EgressBlockedByPolicy.kind, details, options);
  }
}

/**
 * The provider has no key, or is not enabled.
 *
 * A person has to act.
 */
// prettier-ignore
export class ProviderNotConfigured extends Declared<
  "PROVIDER_NOT_CONFIGURED", null, d.ProviderNotConfiguredDetails
> {
  static readonly kind: Kind = {
    name: "ProviderNotConfigured",
    code: "PROVIDER_NOT_CONFIGURED",
    operation: null,
    envelope: "rpc",
  };

  constructor(details: d.ProviderNotConfiguredDetails = {}, options: Options & { readonly phase: NonNullable<e.Common["phase"]>; }) {
    super(ProviderNotConfigured.kind, details, options);
  }
}

/**
 * The provider refused the key.
 *
 * A person has to act. The operation may have taken effect.
 */
// prettier-ignore
export class ProviderAuthFailed extends Declared<
  "PROVIDER_AUTH_FAILED", null, d.ProviderAuthFailedDetails
> {
  static readonly kind: Kind = {
    name: "ProviderAuthFailed",
    code: "PROVIDER_AUTH_FAILED",
    operation: null,
    envelope: "rpc",
  };

  constructor(details: d.ProviderAuthFailedDetails = {}, options: Options & { readonly phase: NonNullable<e.Common["phase"]>; }) {
    super(ProviderAuthFailed.kind, details, options);
  }
}

/**
 * The provider limits the rate.
 *
 * Clients retry (automatic). The operation may have taken effect.
 */
// prettier-ignore
export class ProviderRateLimited extends Declared<
  "PROVIDER_RATE_LIMITED", null, d.ProviderRateLimitedDetails
> {
  static readonly kind: Kind = {
    name: "ProviderRateLimited",
    code: "PROVIDER_RATE_LIMITED",
    operation: null,
    envelope: "rpc",
  };

  constructor(details: d.ProviderRateLimitedDetails = {}, options: Options & { readonly phase: NonNullable<e.Common["phase"]>; }) {
    super(ProviderRateLimited.kind, details, options);
  }
}

/**
 * The provider answers with errors, or not in time.
 *
 * Clients retry (automatic). The operation may have taken effect.
 */
// prettier-ignore
export class ProviderUnavailable extends Declared<
  "PROVIDER_UNAVAILABLE", null, d.ProviderUnavailableDetails
> {
  static readonly kind: Kind = {
    name: "ProviderUnavailable",
    code: "PROVIDER_UNAVAILABLE",
    operation: null,
    envelope: "rpc",
  };

  constructor(details: d.ProviderUnavailableDetails = {}, options: Options & { readonly phase: NonNullable<e.Common["phase"]>; }) {
    super(ProviderUnavailable.kind, details, options);
  }
}

/**
 * There is no network.
 *
 * Clients retry (automatic). The operation may have taken effect.
 */
// prettier-ignore
export class NetworkUnavailable extends Declared<
  "NETWORK_UNAVAILABLE", null, d.NetworkUnavailableDetails
> {
  static readonly kind: Kind = {
    name: "NetworkUnavailable",
    code: "NETWORK_UNAVAILABLE",
    operation: null,
    envelope: "rpc",
  };

  constructor(details: d.NetworkUnavailableDetails = {}, options: Options & { readonly phase: NonNullable<e.Common["phase"]>; }) {
    super(NetworkUnavailable.kind, details, options);
  }
}

/**
 * The sandbox refused what a tool tried to do.
 *
 * Clients do not retry. The operation may have taken effect.
 */
// prettier-ignore
export class SandboxViolation extends Declared<
  "SANDBOX_VIOLATION", null, d.SandboxViolationDetails
> {
  static readonly kind: Kind = {
    name: "SandboxViolation",
    code: "SANDBOX_VIOLATION",
    operation: null,
    envelope: "rpc",
  };

  constructor(details: d.SandboxViolationDetails = {}, options: Options & { readonly phase: NonNullable<e.Common["phase"]>; }) {
    super(SandboxViolation.kind, details, options);
  }
}

/**
 * What was asked for, or what the model made, is not valid.
 *
 * Clients retry if the error allows it. The operation may have taken effect.
 */
// prettier-ignore
export class ValidationFailed extends Declared<
  "VALIDATION_FAILED", null, d.ValidationFailedDetails
> {
  static readonly kind: Kind = {
    name: "ValidationFailed",
    code: "VALIDATION_FAILED",
    operation: null,
    envelope: "rpc",
  };

  constructor(details: d.ValidationFailedDetails = {}, options: Options & { readonly retriable: boolean; readonly phase: NonNullable<e.Common["phase"]>; }) {
    super(ValidationFailed.kind, details, options);
  }
}

/**
 * The conversation is longer than the model takes.
 *
 * A person has to act. The operation may have taken effect.
 */
// prettier-ignore
export class ContextExhausted extends Declared<
  "CONTEXT_EXHAUSTED", null, d.ContextExhaustedDetails
> {
  static readonly kind: Kind = {
    name: "ContextExhausted",
    code: "CONTEXT_EXHAUSTED",
    operation: null,
    envelope: "rpc",
  };

  constructor(details: d.ContextExhaustedDetails = {}, options: Options & { readonly phase: NonNullable<e.Common["phase"]>; }) {
    super(ContextExhausted.kind, details, options);
  }
}

/**
 * The disk is full.
 *
 * A person has to act. The operation may have taken effect.
 */
// prettier-ignore
export class DiskFull extends Declared<
  "DISK_FULL", null, d.DiskFullDetails
> {
  static readonly kind: Kind = {
    name: "DiskFull",
    code: "DISK_FULL",
    operation: null,
    envelope: "rpc",
  };

  constructor(details: d.DiskFullDetails = {}, options: Options & { readonly phase: NonNullable<e.Common["phase"]>; }) {
    super(DiskFull.kind, details, options);
  }
}

/**
 * A file cannot be read.
 *
 * Clients retry if the error allows it. The operation may have taken effect.
 */
// prettier-ignore
export class FileReadFailed extends Declared<
  "FILE_READ_FAILED", null, d.FileReadFailedDetails
> {
  static readonly kind: Kind = {
    name: "FileReadFailed",
    code: "FILE_READ_FAILED",
    operation: null,
    envelope: "rpc",
  };

  constructor(details: d.FileReadFailedDetails = {}, options: Options & { readonly retriable: boolean; readonly phase: NonNullable<e.Common["phase"]>; }) {
    super(FileReadFailed.kind, details, options);
  }
}

/**
 * A file cannot be written.
 *
 * Clients retry if the error allows it. The operation may have taken effect.
 */
// prettier-ignore
export class FileWriteFailed extends Declared<
  "FILE_WRITE_FAILED", null, d.FileWriteFailedDetails
> {
  static readonly kind: Kind = {
    name: "FileWriteFailed",
    code: "FILE_WRITE_FAILED",
    operation: null,
    envelope: "rpc",
  };

  constructor(details: d.FileWriteFailedDetails = {}, options: Options & { readonly retriable: boolean; readonly phase: NonNullable<e.Common["phase"]>; }) {
    super(FileWriteFailed.kind, details, options);
  }
}

/**
 * A checkpoint could not be made.
 *
 * Clients retry if the error allows it. The operation may have taken effect.
 */
// prettier-ignore
export class CheckpointCreateFailed extends Declared<
  "CHECKPOINT_CREATE_FAILED", null, d.CheckpointCreateFailedDetails
> {
  static readonly kind: Kind = {
    name: "CheckpointCreateFailed",
    code: "CHECKPOINT_CREATE_FAILED",
    operation: null,
    envelope: "rpc",
  };

  constructor(details: d.CheckpointCreateFailedDetails = {}, options: Options & { readonly retriable: boolean; readonly phase: NonNullable<e.Common["phase"]>; }) {
    super(CheckpointCreateFailed.kind, details, options);
  }
}

/**
 * A checkpoint could not be restored.
 *
 * Clients retry if the error allows it. The operation may have taken effect.
 */
// prettier-ignore
export class CheckpointRestoreFailed extends Declared<
  "CHECKPOINT_RESTORE_FAILED", null, d.CheckpointRestoreFailedDetails
> {
  static readonly kind: Kind = {
    name: "CheckpointRestoreFailed",
    code: "CHECKPOINT_RESTORE_FAILED",
    operation: null,
    envelope: "rpc",
  };

  constructor(details: d.CheckpointRestoreFailedDetails = {}, options: Options & { readonly retriable: boolean; readonly phase: NonNullable<e.Common["phase"]>; }) {
    super(CheckpointRestoreFailed.kind, details, options);
  }
}

/**
 * The budget of the job is spent.
 *
 * A person has to act. The operation may have taken effect.
 */
// prettier-ignore
export class BudgetCapReached extends Declared<
  "BUDGET_CAP_REACHED", null, d.BudgetCapReachedDetails
> {
  static readonly kind: Kind = {
    name: "BudgetCapReached",
    code: "BUDGET_CAP_REACHED",
    operation: null,
    envelope: "rpc",
  };

  constructor(details: d.BudgetCapReachedDetails = {}, options: Options & { readonly phase: NonNullable<e.Common["phase"]>; }) {
    super(BudgetCapReached.kind, details, options);
  }
}

/**
 * What is published changed since the draft was made.
 *
 * Clients read again before they retry. The operation may have taken effect.
 */
// prettier-ignore
export class ConflictPublishedChanged extends Declared<
  "CONFLICT_PUBLISHED_CHANGED", null, d.ConflictPublishedChangedDetails
> {
  static readonly kind: Kind = {
    name: "ConflictPublishedChanged",
    code: "CONFLICT_PUBLISHED_CHANGED",
    operation: null,
    envelope: "rpc",
  };

  constructor(details: d.ConflictPublishedChangedDetails = {}, options: Options & { readonly phase: NonNullable<e.Common["phase"]>; }) {
    super(ConflictPublishedChanged.kind, details, options);
  }
}

/**
 * The user stopped it.
 *
 * A person has to act. The operation may have taken effect.
 */
// prettier-ignore
export class UserCanceled extends Declared<
  "USER_CANCELED", null, d.UserCanceledDetails
> {
  static readonly kind: Kind = {
    name: "UserCanceled",
    code: "USER_CANCELED",
    operation: null,
    envelope: "rpc",
  };

  constructor(details: d.UserCanceledDetails = {}, options: Options & { readonly phase: NonNullable<e.Common["phase"]>; }) {
    super(UserCanceled.kind, details, options);
  }
}

/** Any exception of this package. */
// prettier-ignore
export type AnyException =
  | EgressConsentRequired
  | EgressBlockedByPolicy
  | ProviderNotConfigured
  | ProviderAuthFailed
  | ProviderRateLimited
  | ProviderUnavailable
  | NetworkUnavailable
  | SandboxViolation
  | ValidationFailed
  | ContextExhausted
  | DiskFull
  | FileReadFailed
  | FileWriteFailed
  | CheckpointCreateFailed
  | CheckpointRestoreFailed
  | BudgetCapReached
  | ConflictPublishedChanged
  | UserCanceled
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
  listed(EgressConsentRequired),
  listed(EgressBlockedByPolicy),
  listed(ProviderNotConfigured),
  listed(ProviderAuthFailed),
  listed(ProviderRateLimited),
  listed(ProviderUnavailable),
  listed(NetworkUnavailable),
  listed(SandboxViolation),
  listed(ValidationFailed),
  listed(ContextExhausted),
  listed(DiskFull),
  listed(FileReadFailed),
  listed(FileWriteFailed),
  listed(CheckpointCreateFailed),
  listed(CheckpointRestoreFailed),
  listed(BudgetCapReached),
  listed(ConflictPublishedChanged),
  listed(UserCanceled),
];

const BY_CODE = new Map(
  CLASSES.map((each) => [key(each.kind.operation, each.kind.code), each]),
);

/** Whether a value is an exception of this package; `code` tells which. */
// prettier-ignore
export function isKeenbenchError(value: unknown): value is AnyException {
  return value instanceof KeenbenchError;
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
    phase: null,
    subphase: null,
    actions: null,
    requestId: null,
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
