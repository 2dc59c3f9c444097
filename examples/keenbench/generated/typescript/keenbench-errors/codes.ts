/** The codes of KeenBench errors, and the facts of each. */

// Generated from examples/keenbench/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/keenbench/taxonomy.yaml

/** Every code a service may answer with. */
// prettier-ignore
export const ErrorCode = {
  /** The user has not agreed that this content leaves the machine. */
  EGRESS_CONSENT_REQUIRED: "EGRESS_CONSENT_REQUIRED",
  /** A policy forbids that this content leaves the machine. */
  EGRESS_BLOCKED_BY_POLICY: "EGRESS_BLOCKED_BY_POLICY",
  /** The provider has no key, or is not enabled. */
  PROVIDER_NOT_CONFIGURED: "PROVIDER_NOT_CONFIGURED",
  /** The provider refused the key. */
  PROVIDER_AUTH_FAILED: "PROVIDER_AUTH_FAILED",
  /** The provider limits the rate. */
  PROVIDER_RATE_LIMITED: "PROVIDER_RATE_LIMITED",
  /** The provider answers with errors, or not in time. */
  PROVIDER_UNAVAILABLE: "PROVIDER_UNAVAILABLE",
  /** There is no network. */
  NETWORK_UNAVAILABLE: "NETWORK_UNAVAILABLE",
  /** The sandbox refused what a tool tried to do. */
  SANDBOX_VIOLATION: "SANDBOX_VIOLATION",
  /** What was asked for, or what the model made, is not valid. */
  VALIDATION_FAILED: "VALIDATION_FAILED",
  /** The conversation is longer than the model takes. */
  CONTEXT_EXHAUSTED: "CONTEXT_EXHAUSTED",
  /** The disk is full. */
  DISK_FULL: "DISK_FULL",
  /** A file cannot be read. */
  FILE_READ_FAILED: "FILE_READ_FAILED",
  /** A file cannot be written. */
  FILE_WRITE_FAILED: "FILE_WRITE_FAILED",
  /** A checkpoint could not be made. */
  CHECKPOINT_CREATE_FAILED: "CHECKPOINT_CREATE_FAILED",
  /** A checkpoint could not be restored. */
  CHECKPOINT_RESTORE_FAILED: "CHECKPOINT_RESTORE_FAILED",
  /** The budget of the job is spent. */
  BUDGET_CAP_REACHED: "BUDGET_CAP_REACHED",
  /** What is published changed since the draft was made. */
  CONFLICT_PUBLISHED_CHANGED: "CONFLICT_PUBLISHED_CHANGED",
  /** The user stopped it. */
  USER_CANCELED: "USER_CANCELED",
} as const;

export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode];

/**
 * What a client does: send the same request again, read the resource again first,
 * ask a person, or give up.
 */
export type ClientAction = "retry" | "refetch" | "user" | "none";

/** Whether the operation may have taken effect although the error was returned. */
export type Effect = "none" | "possible" | "unknown";

/**
 * Whether the same request may be sent again; `caller`: each error decides; `none`:
 * errors have no such flag; `conditional`: the first of the code's rules that holds
 * decides.
 */
export type Retriability = keyof {
  always: never;
  never: never;
  caller: never;
  none: never;
  conditional: never;
};

/** A value of the code slot. */
export type Wire = string | number;

/** The values of the code slot of declared errors. */
// prettier-ignore
export type CodeValue = keyof {
  /** The user has not agreed that this content leaves the machine. */
  EGRESS_CONSENT_REQUIRED: never;
  /** A policy forbids that this content leaves the machine. */
  EGRESS_BLOCKED_BY_POLICY: never;
  /** The provider has no key, or is not enabled. */
  PROVIDER_NOT_CONFIGURED: never;
  /** The provider refused the key. */
  PROVIDER_AUTH_FAILED: never;
  /** The provider limits the rate. */
  PROVIDER_RATE_LIMITED: never;
  /** The provider answers with errors, or not in time. */
  PROVIDER_UNAVAILABLE: never;
  /** There is no network. */
  NETWORK_UNAVAILABLE: never;
  /** The sandbox refused what a tool tried to do. */
  SANDBOX_VIOLATION: never;
  /** What was asked for, or what the model made, is not valid. */
  VALIDATION_FAILED: never;
  /** The conversation is longer than the model takes. */
  CONTEXT_EXHAUSTED: never;
  /** The disk is full. */
  DISK_FULL: never;
  /** A file cannot be read. */
  FILE_READ_FAILED: never;
  /** A file cannot be written. */
  FILE_WRITE_FAILED: never;
  /** A checkpoint could not be made. */
  CHECKPOINT_CREATE_FAILED: never;
  /** A checkpoint could not be restored. */
  CHECKPOINT_RESTORE_FAILED: never;
  /** The budget of the job is spent. */
  BUDGET_CAP_REACHED: never;
  /** What is published changed since the draft was made. */
  CONFLICT_PUBLISHED_CHANGED: never;
  /** The user stopped it. */
  USER_CANCELED: never;
};

/** The names of the retry policies. */
export type PolicyName = keyof {
  automatic: never;
};

/** A fact, such as `status` or `details.reason`, and the values it may have. */
export interface Condition {
  readonly fact: string;
  readonly values: readonly unknown[];
}

/** `then` is the result if every condition holds. */
export interface RetriableRule {
  readonly then: boolean;
  readonly when: readonly Condition[];
}

/**
 * The facts of a code.
 *
 * `wire` stands in the envelope. `status` is the default, null for a code that
 * never travels over HTTP; `statuses` are all that it may have. The first of
 * `boundaries` is the default. `retry` names a policy. `until` is the action after
 * which the request may be sent again. `message` is the default one, with `${key}`
 * in the place of a detail.
 */
export interface Facts {
  readonly wire: Wire;
  readonly status: number | null;
  readonly statuses: readonly number[];
  readonly retriable: Retriability;
  readonly clientAction: ClientAction;
  readonly effect: Effect;
  readonly domain: string | null;
  readonly boundaries: readonly string[];
  readonly retry: PolicyName | null;
  readonly until: string | null;
  readonly actions: readonly string[];
  readonly rules: readonly RetriableRule[];
  readonly deprecated: boolean;
  readonly summary: string;
  readonly message: string;
}

// prettier-ignore
export const FACTS: Readonly<Record<ErrorCode, Facts>> = {
  EGRESS_CONSENT_REQUIRED: {
    wire: "EGRESS_CONSENT_REQUIRED",
    status: null,
    statuses: [],
    retriable: "never",
    clientAction: "user",
    effect: "none",
    domain: "egress",
    boundaries: [],
    retry: null,
    until: null,
    actions: [
      "retry",
      "switch_model",
    ],
    rules: [],
    deprecated: false,
    summary: "The user has not agreed that this content leaves the machine.",
    message: "Your consent is needed before anything is sent to the provider",
  },
  EGRESS_BLOCKED_BY_POLICY: {
    wire: "EGRESS_BLOCKED_BY_POLICY",
    status: null,
    statuses: [],
    retriable: "never",
    clientAction: "user",
    effect: "none",
    domain: "egress",
    boundaries: [],
    retry: null,
    until: null,
    actions: [
      "switch_model",
      "open_settings",
    ],
    rules: [],
    deprecated: false,
    summary: "A policy forbids that this content leaves the machine.",
    message: "A policy does not allow sending this",
  },
  PROVIDER_NOT_CONFIGURED: {
    wire: "PROVIDER_NOT_CONFIGURED",
    status: null,
    statuses: [],
    retriable: "never",
    clientAction: "user",
    effect: "none",
    domain: "provider",
    boundaries: [],
    retry: null,
    until: null,
    actions: [
      "open_settings",
      "switch_model",
    ],
    rules: [],
    deprecated: false,
    summary: "The provider has no key, or is not enabled.",
    message: "The provider is not set up",
  },
  PROVIDER_AUTH_FAILED: {
    wire: "PROVIDER_AUTH_FAILED",
    status: null,
    statuses: [],
    retriable: "never",
    clientAction: "user",
    effect: "unknown",
    domain: "provider",
    boundaries: [],
    retry: null,
    until: null,
    actions: [
      "open_settings",
      "switch_model",
    ],
    rules: [],
    deprecated: false,
    summary: "The provider refused the key.",
    message: "The provider refused the key",
  },
  PROVIDER_RATE_LIMITED: {
    wire: "PROVIDER_RATE_LIMITED",
    status: null,
    statuses: [],
    retriable: "always",
    clientAction: "retry",
    effect: "unknown",
    domain: "provider",
    boundaries: [],
    retry: "automatic",
    until: null,
    actions: [
      "retry",
      "resume",
      "switch_model",
    ],
    rules: [],
    deprecated: false,
    summary: "The provider limits the rate.",
    message: "The provider is busy with your other requests",
  },
  PROVIDER_UNAVAILABLE: {
    wire: "PROVIDER_UNAVAILABLE",
    status: null,
    statuses: [],
    retriable: "always",
    clientAction: "retry",
    effect: "unknown",
    domain: "provider",
    boundaries: [],
    retry: "automatic",
    until: null,
    actions: [
      "retry",
      "resume",
      "switch_model",
    ],
    rules: [],
    deprecated: false,
    summary: "The provider answers with errors, or not in time.",
    message: "The provider is not available",
  },
  NETWORK_UNAVAILABLE: {
    wire: "NETWORK_UNAVAILABLE",
    status: null,
    statuses: [],
    retriable: "always",
    clientAction: "retry",
    effect: "unknown",
    domain: "provider",
    boundaries: [],
    retry: "automatic",
    until: null,
    actions: [
      "retry",
      "resume",
    ],
    rules: [],
    deprecated: false,
    summary: "There is no network.",
    message: "There is no connection to the network",
  },
  SANDBOX_VIOLATION: {
    wire: "SANDBOX_VIOLATION",
    status: null,
    statuses: [],
    retriable: "never",
    clientAction: "none",
    effect: "unknown",
    domain: "sandbox",
    boundaries: [],
    retry: null,
    until: null,
    actions: [
      "view_report",
      "discard_draft",
    ],
    rules: [],
    deprecated: false,
    summary: "The sandbox refused what a tool tried to do.",
    message: "A tool tried something it may not do",
  },
  VALIDATION_FAILED: {
    wire: "VALIDATION_FAILED",
    status: null,
    statuses: [],
    retriable: "caller",
    clientAction: "none",
    effect: "unknown",
    domain: "sandbox",
    boundaries: [],
    retry: null,
    until: null,
    actions: [
      "retry",
      "review_draft",
      "view_report",
    ],
    rules: [],
    deprecated: false,
    summary: "What was asked for, or what the model made, is not valid.",
    message: "The result is not valid",
  },
  CONTEXT_EXHAUSTED: {
    wire: "CONTEXT_EXHAUSTED",
    status: null,
    statuses: [],
    retriable: "never",
    clientAction: "user",
    effect: "unknown",
    domain: "sandbox",
    boundaries: [],
    retry: null,
    until: null,
    actions: [
      "switch_model",
    ],
    rules: [],
    deprecated: false,
    summary: "The conversation is longer than the model takes.",
    message: "The conversation is too long for this model",
  },
  DISK_FULL: {
    wire: "DISK_FULL",
    status: null,
    statuses: [],
    retriable: "never",
    clientAction: "user",
    effect: "unknown",
    domain: "storage",
    boundaries: [],
    retry: null,
    until: null,
    actions: [
      "free_disk_space",
      "retry",
    ],
    rules: [],
    deprecated: false,
    summary: "The disk is full.",
    message: "The disk is full",
  },
  FILE_READ_FAILED: {
    wire: "FILE_READ_FAILED",
    status: null,
    statuses: [],
    retriable: "caller",
    clientAction: "none",
    effect: "unknown",
    domain: "storage",
    boundaries: [],
    retry: null,
    until: null,
    actions: [
      "retry",
    ],
    rules: [],
    deprecated: false,
    summary: "A file cannot be read.",
    message: "A file could not be read",
  },
  FILE_WRITE_FAILED: {
    wire: "FILE_WRITE_FAILED",
    status: null,
    statuses: [],
    retriable: "caller",
    clientAction: "none",
    effect: "possible",
    domain: "storage",
    boundaries: [],
    retry: null,
    until: null,
    actions: [
      "retry",
      "free_disk_space",
    ],
    rules: [],
    deprecated: false,
    summary: "A file cannot be written.",
    message: "A file could not be written",
  },
  CHECKPOINT_CREATE_FAILED: {
    wire: "CHECKPOINT_CREATE_FAILED",
    status: null,
    statuses: [],
    retriable: "caller",
    clientAction: "none",
    effect: "unknown",
    domain: "storage",
    boundaries: [],
    retry: null,
    until: null,
    actions: [
      "retry",
      "free_disk_space",
    ],
    rules: [],
    deprecated: false,
    summary: "A checkpoint could not be made.",
    message: "The checkpoint could not be made",
  },
  CHECKPOINT_RESTORE_FAILED: {
    wire: "CHECKPOINT_RESTORE_FAILED",
    status: null,
    statuses: [],
    retriable: "caller",
    clientAction: "none",
    effect: "possible",
    domain: "storage",
    boundaries: [],
    retry: null,
    until: null,
    actions: [
      "retry",
      "restore_checkpoint",
    ],
    rules: [],
    deprecated: false,
    summary: "A checkpoint could not be restored.",
    message: "The checkpoint could not be restored",
  },
  BUDGET_CAP_REACHED: {
    wire: "BUDGET_CAP_REACHED",
    status: null,
    statuses: [],
    retriable: "never",
    clientAction: "user",
    effect: "unknown",
    domain: "workflow",
    boundaries: [],
    retry: null,
    until: null,
    actions: [
      "open_settings",
      "resume",
    ],
    rules: [],
    deprecated: false,
    summary: "The budget of the job is spent.",
    message: "The budget is spent",
  },
  CONFLICT_PUBLISHED_CHANGED: {
    wire: "CONFLICT_PUBLISHED_CHANGED",
    status: null,
    statuses: [],
    retriable: "never",
    clientAction: "refetch",
    effect: "unknown",
    domain: "workflow",
    boundaries: [],
    retry: null,
    until: null,
    actions: [
      "review_draft",
      "discard_draft",
    ],
    rules: [],
    deprecated: false,
    summary: "What is published changed since the draft was made.",
    message: "The published version has changed",
  },
  USER_CANCELED: {
    wire: "USER_CANCELED",
    status: null,
    statuses: [],
    retriable: "never",
    clientAction: "user",
    effect: "possible",
    domain: "workflow",
    boundaries: [],
    retry: null,
    until: null,
    actions: [
      "resume",
      "discard_draft",
    ],
    rules: [],
    deprecated: false,
    summary: "The user stopped it.",
    message: "You stopped this",
  },
};

/**
 * What a client does about an undeclared code, such as one of a later version, by the
 * taxonomy's rule for them; nothing if it has none.
 */
export const UNKNOWN_ACTION: ClientAction = "none";

/** Whether a value is the name of a declared code. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return (
    typeof value === "string" &&
    Object.prototype.hasOwnProperty.call(FACTS, value)
  );
}

/**
 * Whether the client action is `retry`: to send the same request again. Any name
 * that is not a member of `ErrorCode`, or null, is an undeclared code, and has
 * `UNKNOWN_ACTION`.
 */
export function isRetryable(code: string | null): boolean {
  return clientAction(code) === "retry";
}

/** What a client does about a code; `UNKNOWN_ACTION` for an undeclared one. */
export function clientAction(code: string | null): ClientAction {
  return isErrorCode(code) ? FACTS[code].clientAction : UNKNOWN_ACTION;
}
