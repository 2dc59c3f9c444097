/**
 * The errors of KeenBench errors: an interface for each code, distinguished by
 * `code`, and by `operation` where operations have codes of their own.
 */

// Generated from examples/keenbench/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/keenbench/taxonomy.yaml

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
  readonly phase: d.PhaseSlot | null;
  readonly subphase: d.SubphaseSlot | null;
  readonly actions: readonly string[] | null;
  readonly requestId: string | number | null;
}

/**
 * The user has not agreed that this content leaves the machine.
 *
 * A person has to act.
 */
export interface EgressConsentRequired extends Common {
  readonly code: "EGRESS_CONSENT_REQUIRED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.EgressConsentRequiredDetails;
}

/**
 * A policy forbids that this content leaves the machine.
 *
 * A person has to act.
 */
export interface EgressBlockedByPolicy extends Common {
  readonly code: "EGRESS_BLOCKED_BY_POLICY";
  readonly known: true;
  readonly operation: null;
  readonly details: d.EgressBlockedByPolicyDetails;
}

/**
 * The provider has no key, or is not enabled.
 *
 * A person has to act.
 */
export interface ProviderNotConfigured extends Common {
  readonly code: "PROVIDER_NOT_CONFIGURED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.ProviderNotConfiguredDetails;
}

/**
 * The provider refused the key.
 *
 * A person has to act. The operation may have taken effect.
 */
export interface ProviderAuthFailed extends Common {
  readonly code: "PROVIDER_AUTH_FAILED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.ProviderAuthFailedDetails;
}

/**
 * The provider limits the rate.
 *
 * Clients retry (automatic). The operation may have taken effect.
 */
export interface ProviderRateLimited extends Common {
  readonly code: "PROVIDER_RATE_LIMITED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.ProviderRateLimitedDetails;
}

/**
 * The provider answers with errors, or not in time.
 *
 * Clients retry (automatic). The operation may have taken effect.
 */
export interface ProviderUnavailable extends Common {
  readonly code: "PROVIDER_UNAVAILABLE";
  readonly known: true;
  readonly operation: null;
  readonly details: d.ProviderUnavailableDetails;
}

/**
 * There is no network.
 *
 * Clients retry (automatic). The operation may have taken effect.
 */
export interface NetworkUnavailable extends Common {
  readonly code: "NETWORK_UNAVAILABLE";
  readonly known: true;
  readonly operation: null;
  readonly details: d.NetworkUnavailableDetails;
}

/**
 * The sandbox refused what a tool tried to do.
 *
 * Clients do not retry. The operation may have taken effect.
 */
export interface SandboxViolation extends Common {
  readonly code: "SANDBOX_VIOLATION";
  readonly known: true;
  readonly operation: null;
  readonly details: d.SandboxViolationDetails;
}

/**
 * What was asked for, or what the model made, is not valid.
 *
 * Clients retry if the error allows it. The operation may have taken effect.
 */
export interface ValidationFailed extends Common {
  readonly code: "VALIDATION_FAILED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.ValidationFailedDetails;
}

/**
 * The conversation is longer than the model takes.
 *
 * A person has to act. The operation may have taken effect.
 */
export interface ContextExhausted extends Common {
  readonly code: "CONTEXT_EXHAUSTED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.ContextExhaustedDetails;
}

/**
 * The disk is full.
 *
 * A person has to act. The operation may have taken effect.
 */
export interface DiskFull extends Common {
  readonly code: "DISK_FULL";
  readonly known: true;
  readonly operation: null;
  readonly details: d.DiskFullDetails;
}

/**
 * A file cannot be read.
 *
 * Clients retry if the error allows it. The operation may have taken effect.
 */
export interface FileReadFailed extends Common {
  readonly code: "FILE_READ_FAILED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.FileReadFailedDetails;
}

/**
 * A file cannot be written.
 *
 * Clients retry if the error allows it. The operation may have taken effect.
 */
export interface FileWriteFailed extends Common {
  readonly code: "FILE_WRITE_FAILED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.FileWriteFailedDetails;
}

/**
 * A checkpoint could not be made.
 *
 * Clients retry if the error allows it. The operation may have taken effect.
 */
export interface CheckpointCreateFailed extends Common {
  readonly code: "CHECKPOINT_CREATE_FAILED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.CheckpointCreateFailedDetails;
}

/**
 * A checkpoint could not be restored.
 *
 * Clients retry if the error allows it. The operation may have taken effect.
 */
export interface CheckpointRestoreFailed extends Common {
  readonly code: "CHECKPOINT_RESTORE_FAILED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.CheckpointRestoreFailedDetails;
}

/**
 * The budget of the job is spent.
 *
 * A person has to act. The operation may have taken effect.
 */
export interface BudgetCapReached extends Common {
  readonly code: "BUDGET_CAP_REACHED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.BudgetCapReachedDetails;
}

/**
 * What is published changed since the draft was made.
 *
 * Clients read again before they retry. The operation may have taken effect.
 */
export interface ConflictPublishedChanged extends Common {
  readonly code: "CONFLICT_PUBLISHED_CHANGED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.ConflictPublishedChangedDetails;
}

/**
 * The user stopped it.
 *
 * A person has to act. The operation may have taken effect.
 */
export interface UserCanceled extends Common {
  readonly code: "USER_CANCELED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.UserCanceledDetails;
}

/** The errors by the names of their interfaces. */
export interface Errors {
  readonly EgressConsentRequired: EgressConsentRequired;
  readonly EgressBlockedByPolicy: EgressBlockedByPolicy;
  readonly ProviderNotConfigured: ProviderNotConfigured;
  readonly ProviderAuthFailed: ProviderAuthFailed;
  readonly ProviderRateLimited: ProviderRateLimited;
  readonly ProviderUnavailable: ProviderUnavailable;
  readonly NetworkUnavailable: NetworkUnavailable;
  readonly SandboxViolation: SandboxViolation;
  readonly ValidationFailed: ValidationFailed;
  readonly ContextExhausted: ContextExhausted;
  readonly DiskFull: DiskFull;
  readonly FileReadFailed: FileReadFailed;
  readonly FileWriteFailed: FileWriteFailed;
  readonly CheckpointCreateFailed: CheckpointCreateFailed;
  readonly CheckpointRestoreFailed: CheckpointRestoreFailed;
  readonly BudgetCapReached: BudgetCapReached;
  readonly ConflictPublishedChanged: ConflictPublishedChanged;
  readonly UserCanceled: UserCanceled;
}

/** The errors of each code: one interface, or one for each operation that has the code. */
// prettier-ignore
export interface ErrorsOfCode {
  readonly EGRESS_CONSENT_REQUIRED: EgressConsentRequired;
  readonly EGRESS_BLOCKED_BY_POLICY: EgressBlockedByPolicy;
  readonly PROVIDER_NOT_CONFIGURED: ProviderNotConfigured;
  readonly PROVIDER_AUTH_FAILED: ProviderAuthFailed;
  readonly PROVIDER_RATE_LIMITED: ProviderRateLimited;
  readonly PROVIDER_UNAVAILABLE: ProviderUnavailable;
  readonly NETWORK_UNAVAILABLE: NetworkUnavailable;
  readonly SANDBOX_VIOLATION: SandboxViolation;
  readonly VALIDATION_FAILED: ValidationFailed;
  readonly CONTEXT_EXHAUSTED: ContextExhausted;
  readonly DISK_FULL: DiskFull;
  readonly FILE_READ_FAILED: FileReadFailed;
  readonly FILE_WRITE_FAILED: FileWriteFailed;
  readonly CHECKPOINT_CREATE_FAILED: CheckpointCreateFailed;
  readonly CHECKPOINT_RESTORE_FAILED: CheckpointRestoreFailed;
  readonly BUDGET_CAP_REACHED: BudgetCapReached;
  readonly CONFLICT_PUBLISHED_CHANGED: ConflictPublishedChanged;
  readonly USER_CANCELED: UserCanceled;
}

/** The errors of each domain. */
// prettier-ignore
export interface ErrorsOfDomain {
  readonly egress: EgressConsentRequired | EgressBlockedByPolicy;
  readonly provider: ProviderNotConfigured | ProviderAuthFailed | ProviderRateLimited | ProviderUnavailable | NetworkUnavailable;
  readonly sandbox: SandboxViolation | ValidationFailed | ContextExhausted;
  readonly storage: DiskFull | FileReadFailed | FileWriteFailed | CheckpointCreateFailed | CheckpointRestoreFailed;
  readonly workflow: BudgetCapReached | ConflictPublishedChanged | UserCanceled;
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
