/** The codes of etcd errors, and the facts of each. */

// Generated from examples/etcd/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/etcd/taxonomy.yaml

/** Every code a service may answer with. */
// prettier-ignore
export const ErrorCode = {
  /** The operation was cancelled, typically by the caller. */
  CANCELLED: "CANCELLED",
  /** An error from another address space, or without enough information. */
  UNKNOWN: "UNKNOWN",
  /** The client specified an invalid argument. */
  INVALID_ARGUMENT: "INVALID_ARGUMENT",
  /** The deadline expired before the operation could complete. */
  DEADLINE_EXCEEDED: "DEADLINE_EXCEEDED",
  /** A requested entity was not found. */
  NOT_FOUND: "NOT_FOUND",
  /** The entity that a client attempted to create already exists. */
  ALREADY_EXISTS: "ALREADY_EXISTS",
  /** The caller does not have permission to execute the operation. */
  PERMISSION_DENIED: "PERMISSION_DENIED",
  /** A quota or the space of the file system is exhausted. */
  RESOURCE_EXHAUSTED: "RESOURCE_EXHAUSTED",
  /** The system is not in a state that the operation requires. */
  FAILED_PRECONDITION: "FAILED_PRECONDITION",
  /** The operation was aborted, typically due to a concurrency issue. */
  ABORTED: "ABORTED",
  /** The operation was attempted past the valid range. */
  OUT_OF_RANGE: "OUT_OF_RANGE",
  /** The operation is not implemented or not enabled. */
  UNIMPLEMENTED: "UNIMPLEMENTED",
  /** An invariant of the system is broken. */
  INTERNAL: "INTERNAL",
  /** The service is currently unavailable; the client may retry. */
  UNAVAILABLE: "UNAVAILABLE",
  /** Unrecoverable data loss or corruption. */
  DATA_LOSS: "DATA_LOSS",
  /** The request has no valid authentication credentials. */
  UNAUTHENTICATED: "UNAUTHENTICATED",
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
  /** The operation was cancelled, typically by the caller. */
  1: never;
  /** An error from another address space, or without enough information. */
  2: never;
  /** The client specified an invalid argument. */
  3: never;
  /** The deadline expired before the operation could complete. */
  4: never;
  /** A requested entity was not found. */
  5: never;
  /** The entity that a client attempted to create already exists. */
  6: never;
  /** The caller does not have permission to execute the operation. */
  7: never;
  /** A quota or the space of the file system is exhausted. */
  8: never;
  /** The system is not in a state that the operation requires. */
  9: never;
  /** The operation was aborted, typically due to a concurrency issue. */
  10: never;
  /** The operation was attempted past the valid range. */
  11: never;
  /** The operation is not implemented or not enabled. */
  12: never;
  /** An invariant of the system is broken. */
  13: never;
  /** The service is currently unavailable; the client may retry. */
  14: never;
  /** Unrecoverable data loss or corruption. */
  15: never;
  /** The request has no valid authentication credentials. */
  16: never;
};

/** The names of the retry policies. */
export type PolicyName = string;

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
  CANCELLED: {
    wire: 1,
    status: 408,
    statuses: [
      408,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "unknown",
    domain: "service",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The operation was cancelled, typically by the caller.",
    message: "The operation was cancelled, typically by the caller.",
  },
  UNKNOWN: {
    wire: 2,
    status: 500,
    statuses: [
      500,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "unknown",
    domain: "service",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "An error from another address space, or without enough information.",
    message: "An error from another address space, or without enough information.",
  },
  INVALID_ARGUMENT: {
    wire: 3,
    status: 400,
    statuses: [
      400,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "request",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The client specified an invalid argument.",
    message: "The client specified an invalid argument.",
  },
  DEADLINE_EXCEEDED: {
    wire: 4,
    status: 504,
    statuses: [
      504,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "unknown",
    domain: "service",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The deadline expired before the operation could complete.",
    message: "The deadline expired before the operation could complete.",
  },
  NOT_FOUND: {
    wire: 5,
    status: 404,
    statuses: [
      404,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "state",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "A requested entity was not found.",
    message: "A requested entity was not found.",
  },
  ALREADY_EXISTS: {
    wire: 6,
    status: 409,
    statuses: [
      409,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "state",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The entity that a client attempted to create already exists.",
    message: "The entity that a client attempted to create already exists.",
  },
  PERMISSION_DENIED: {
    wire: 7,
    status: 403,
    statuses: [
      403,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "access",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The caller does not have permission to execute the operation.",
    message: "The caller does not have permission to execute the operation.",
  },
  RESOURCE_EXHAUSTED: {
    wire: 8,
    status: 429,
    statuses: [
      429,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "service",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "A quota or the space of the file system is exhausted.",
    message: "A quota or the space of the file system is exhausted.",
  },
  FAILED_PRECONDITION: {
    wire: 9,
    status: 400,
    statuses: [
      400,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "state",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The system is not in a state that the operation requires.",
    message: "The system is not in a state that the operation requires.",
  },
  ABORTED: {
    wire: 10,
    status: 409,
    statuses: [
      409,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "state",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The operation was aborted, typically due to a concurrency issue.",
    message: "The operation was aborted, typically due to a concurrency issue.",
  },
  OUT_OF_RANGE: {
    wire: 11,
    status: 400,
    statuses: [
      400,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "request",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The operation was attempted past the valid range.",
    message: "The operation was attempted past the valid range.",
  },
  UNIMPLEMENTED: {
    wire: 12,
    status: 501,
    statuses: [
      501,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "unknown",
    domain: "service",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The operation is not implemented or not enabled.",
    message: "The operation is not implemented or not enabled.",
  },
  INTERNAL: {
    wire: 13,
    status: 500,
    statuses: [
      500,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "unknown",
    domain: "service",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "An invariant of the system is broken.",
    message: "An invariant of the system is broken.",
  },
  UNAVAILABLE: {
    wire: 14,
    status: 503,
    statuses: [
      503,
    ],
    retriable: "always",
    clientAction: "retry",
    effect: "unknown",
    domain: "service",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The service is currently unavailable; the client may retry.",
    message: "The service is currently unavailable; the client may retry.",
  },
  DATA_LOSS: {
    wire: 15,
    status: 500,
    statuses: [
      500,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "unknown",
    domain: "service",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "Unrecoverable data loss or corruption.",
    message: "Unrecoverable data loss or corruption.",
  },
  UNAUTHENTICATED: {
    wire: 16,
    status: 401,
    statuses: [
      401,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "access",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The request has no valid authentication credentials.",
    message: "The request has no valid authentication credentials.",
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
