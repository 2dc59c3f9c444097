/** The codes of Core Platform errors, and the facts of each. */

// Generated from taxonomy.yaml; do not edit. Regenerate: faultspec compile
// taxonomy.yaml

/** Every code a service may answer with. */
// prettier-ignore
export const ErrorCode = {
  /** The request cannot be understood. */
  INVALID_REQUEST: "invalid_request",
  /** The request is understood and a value in it is not allowed. */
  VALIDATION_FAILED: "validation_failed",
  /** The body is in a format the service does not read. */
  UNSUPPORTED_MEDIA_TYPE: "unsupported_media_type",
  /** The caller is not known. */
  UNAUTHENTICATED: "unauthenticated",
  /** The caller is known and may not do this. */
  FORBIDDEN: "forbidden",
  /** The caller's token lacks a scope. */
  SCOPE_INSUFFICIENT: "scope_insufficient",
  /** There is no such resource, or none the caller may know of. */
  NOT_FOUND: "not_found",
  /** The request contradicts the state of a resource. */
  CONFLICT: "conflict",
  /** What was to be created is there already. */
  ALREADY_EXISTS: "already_exists",
  /** The caller exceeded its rate. */
  RATE_LIMITED: "rate_limited",
  /** The work was not done in time. */
  TIMEOUT: "timeout",
  /** Something the service needs cannot be reached. */
  DEPENDENCY_UNAVAILABLE: "dependency_unavailable",
  /** The platform failed in a way it did not expect. */
  INTERNAL_ERROR: "internal_error",
  /** The change would break an invariant of the data. */
  CONSTRAINT_VIOLATION: "constraint_violation",
  /** A concurrent transaction won. */
  SERIALIZATION_FAILURE: "serialization_failure",
  /** The resource changed since the client read it. */
  STALE_READ: "stale_read",
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
  /** The request cannot be understood. */
  invalid_request: never;
  /** The request is understood and a value in it is not allowed. */
  validation_failed: never;
  /** The body is in a format the service does not read. */
  unsupported_media_type: never;
  /** The caller is not known. */
  unauthenticated: never;
  /** The caller is known and may not do this. */
  forbidden: never;
  /** The caller's token lacks a scope. */
  scope_insufficient: never;
  /** There is no such resource, or none the caller may know of. */
  not_found: never;
  /** The request contradicts the state of a resource. */
  conflict: never;
  /** What was to be created is there already. */
  already_exists: never;
  /** The caller exceeded its rate. */
  rate_limited: never;
  /** The work was not done in time. */
  timeout: never;
  /** Something the service needs cannot be reached. */
  dependency_unavailable: never;
  /** The platform failed in a way it did not expect. */
  internal_error: never;
  /** The change would break an invariant of the data. */
  constraint_violation: never;
  /** A concurrent transaction won. */
  serialization_failure: never;
  /** The resource changed since the client read it. */
  stale_read: never;
};

/** The names of the retry policies. */
export type PolicyName = keyof {
  exponential_jitter: never;
  linear_then_exponential: never;
  serializable: never;
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
  invalid_request: {
    wire: "invalid_request",
    status: 400,
    statuses: [
      400,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "request",
    boundaries: [
      "service",
      "gateway",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The request cannot be understood.",
    message: "The request is not valid",
  },
  validation_failed: {
    wire: "validation_failed",
    status: 400,
    statuses: [
      400,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "request",
    boundaries: [
      "service",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The request is understood and a value in it is not allowed.",
    message: "The request failed validation",
  },
  unsupported_media_type: {
    wire: "unsupported_media_type",
    status: 415,
    statuses: [
      415,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "request",
    boundaries: [
      "gateway",
      "service",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The body is in a format the service does not read.",
    message: "The media type of the body is not supported",
  },
  unauthenticated: {
    wire: "unauthenticated",
    status: 401,
    statuses: [
      401,
    ],
    retriable: "never",
    clientAction: "user",
    effect: "none",
    domain: "auth",
    boundaries: [
      "gateway",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The caller is not known.",
    message: "Authentication is required",
  },
  forbidden: {
    wire: "forbidden",
    status: 403,
    statuses: [
      403,
    ],
    retriable: "never",
    clientAction: "user",
    effect: "none",
    domain: "auth",
    boundaries: [
      "service",
      "gateway",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The caller is known and may not do this.",
    message: "This is not allowed",
  },
  scope_insufficient: {
    wire: "scope_insufficient",
    status: 403,
    statuses: [
      403,
    ],
    retriable: "never",
    clientAction: "user",
    effect: "none",
    domain: "auth",
    boundaries: [
      "gateway",
      "service",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The caller's token lacks a scope.",
    message: "The token lacks a required scope",
  },
  not_found: {
    wire: "not_found",
    status: 404,
    statuses: [
      404,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "resource",
    boundaries: [
      "service",
      "gateway",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "There is no such resource, or none the caller may know of.",
    message: "There is no such resource",
  },
  conflict: {
    wire: "conflict",
    status: 409,
    statuses: [
      409,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "resource",
    boundaries: [
      "service",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The request contradicts the state of a resource.",
    message: "The request conflicts with the state of a resource",
  },
  already_exists: {
    wire: "already_exists",
    status: 409,
    statuses: [
      409,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "resource",
    boundaries: [
      "service",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "What was to be created is there already.",
    message: "The resource exists already",
  },
  rate_limited: {
    wire: "rate_limited",
    status: 429,
    statuses: [
      429,
    ],
    retriable: "always",
    clientAction: "retry",
    effect: "none",
    domain: "rate",
    boundaries: [
      "gateway",
    ],
    retry: "exponential_jitter",
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The caller exceeded its rate.",
    message: "Too many requests",
  },
  timeout: {
    wire: "timeout",
    status: 504,
    statuses: [
      504,
      502,
      503,
    ],
    retriable: "always",
    clientAction: "retry",
    effect: "unknown",
    domain: "runtime",
    boundaries: [
      "service",
      "dependency",
      "gateway",
    ],
    retry: "exponential_jitter",
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The work was not done in time.",
    message: "The request timed out",
  },
  dependency_unavailable: {
    wire: "dependency_unavailable",
    status: 503,
    statuses: [
      503,
      502,
      504,
    ],
    retriable: "always",
    clientAction: "retry",
    effect: "possible",
    domain: "runtime",
    boundaries: [
      "dependency",
    ],
    retry: "linear_then_exponential",
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "Something the service needs cannot be reached.",
    message: "The service is temporarily unavailable",
  },
  internal_error: {
    wire: "internal_error",
    status: 500,
    statuses: [
      500,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "unknown",
    domain: "runtime",
    boundaries: [
      "service",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The platform failed in a way it did not expect.",
    message: "Something went wrong on our side",
  },
  constraint_violation: {
    wire: "constraint_violation",
    status: 422,
    statuses: [
      422,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "data",
    boundaries: [
      "service",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The change would break an invariant of the data.",
    message: "The change would violate a constraint",
  },
  serialization_failure: {
    wire: "serialization_failure",
    status: 503,
    statuses: [
      503,
    ],
    retriable: "always",
    clientAction: "retry",
    effect: "none",
    domain: "data",
    boundaries: [
      "service",
    ],
    retry: "serializable",
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "A concurrent transaction won.",
    message: "A concurrent change interfered",
  },
  stale_read: {
    wire: "stale_read",
    status: 412,
    statuses: [
      412,
    ],
    retriable: "caller",
    clientAction: "refetch",
    effect: "none",
    domain: "data",
    boundaries: [
      "service",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The resource changed since the client read it.",
    message: "Resource changed; GET latest and retry",
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
