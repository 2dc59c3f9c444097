/** The codes of alknet call errors, and the facts of each. */

// Generated from examples/alknet/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/alknet/taxonomy.yaml

/** Every code a service may answer with. */
// prettier-ignore
export const ErrorCode = {
  /**
   * The operation is not registered, or is internal and was called from
   * outside.
   */
  NOT_FOUND: "NOT_FOUND",
  /** The caller lacks a scope, or is nobody that is known. */
  FORBIDDEN: "FORBIDDEN",
  /** The input does not fit the operation's input schema. */
  INVALID_INPUT: "INVALID_INPUT",
  /**
   * The wrong way to call an operation of this type, such as invoke on a
   * subscription.
   */
  INVALID_OPERATION_TYPE: "INVALID_OPERATION_TYPE",
  /**
   * A handler panicked or failed in a way it did not declare, or the connection
   * broke.
   */
  INTERNAL: "INTERNAL",
  /** The request timed out. */
  TIMEOUT: "TIMEOUT",
  /** The file does not exist */
  FILE_NOT_FOUND: "FILE_NOT_FOUND",
  /** OS-level read permission denied */
  PERMISSION_DENIED: "PERMISSION_DENIED",
  /** The account cannot pay for the machine. */
  INSUFFICIENT_CREDITS: "INSUFFICIENT_CREDITS",
  /** The upstream API limits the rate. */
  RATE_LIMITED: "RATE_LIMITED",
  /** The context window overflowed. */
  CONTEXT_OVERFLOW: "CONTEXT_OVERFLOW",
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
  /**
   * The operation is not registered, or is internal and was called from
   * outside.
   */
  NOT_FOUND: never;
  /** The caller lacks a scope, or is nobody that is known. */
  FORBIDDEN: never;
  /** The input does not fit the operation's input schema. */
  INVALID_INPUT: never;
  /**
   * The wrong way to call an operation of this type, such as invoke on a
   * subscription.
   */
  INVALID_OPERATION_TYPE: never;
  /**
   * A handler panicked or failed in a way it did not declare, or the connection
   * broke.
   */
  INTERNAL: never;
  /** The request timed out. */
  TIMEOUT: never;
  /** The file does not exist */
  FILE_NOT_FOUND: never;
  /** OS-level read permission denied */
  PERMISSION_DENIED: never;
  /** The account cannot pay for the machine. */
  INSUFFICIENT_CREDITS: never;
  /** The upstream API limits the rate. */
  RATE_LIMITED: never;
  /** The context window overflowed. */
  CONTEXT_OVERFLOW: never;
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
  NOT_FOUND: {
    wire: "NOT_FOUND",
    status: 404,
    statuses: [
      404,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: null,
    boundaries: [
      "registry",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The operation is not registered, or is internal and was called from outside.",
    message: "There is no such operation",
  },
  FORBIDDEN: {
    wire: "FORBIDDEN",
    status: 401,
    statuses: [
      401,
      403,
    ],
    retriable: "never",
    clientAction: "user",
    effect: "none",
    domain: null,
    boundaries: [
      "registry",
      "acl",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The caller lacks a scope, or is nobody that is known.",
    message: "The call is not allowed",
  },
  INVALID_INPUT: {
    wire: "INVALID_INPUT",
    status: 422,
    statuses: [
      422,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: null,
    boundaries: [
      "registry",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The input does not fit the operation's input schema.",
    message: "The input does not fit the schema of the operation",
  },
  INVALID_OPERATION_TYPE: {
    wire: "INVALID_OPERATION_TYPE",
    status: 500,
    statuses: [
      500,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: null,
    boundaries: [
      "registry",
      "operation_env",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The wrong way to call an operation of this type, such as invoke on a subscription.",
    message: "The operation cannot be called this way",
  },
  INTERNAL: {
    wire: "INTERNAL",
    status: 500,
    statuses: [
      500,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "unknown",
    domain: null,
    boundaries: [
      "registry",
      "adapter",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "A handler panicked or failed in a way it did not declare, or the connection broke.",
    message: "Something went wrong",
  },
  TIMEOUT: {
    wire: "TIMEOUT",
    status: 504,
    statuses: [
      504,
    ],
    retriable: "always",
    clientAction: "retry",
    effect: "unknown",
    domain: null,
    boundaries: [
      "adapter",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The request timed out.",
    message: "The request timed out",
  },
  FILE_NOT_FOUND: {
    wire: "FILE_NOT_FOUND",
    status: 500,
    statuses: [],
    retriable: "never",
    clientAction: "none",
    effect: "unknown",
    domain: null,
    boundaries: [
      "handler",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The file does not exist",
    message: "The file does not exist",
  },
  PERMISSION_DENIED: {
    wire: "PERMISSION_DENIED",
    status: 500,
    statuses: [],
    retriable: "never",
    clientAction: "none",
    effect: "unknown",
    domain: null,
    boundaries: [
      "handler",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "OS-level read permission denied",
    message: "The file may not be read",
  },
  INSUFFICIENT_CREDITS: {
    wire: "INSUFFICIENT_CREDITS",
    status: 500,
    statuses: [],
    retriable: "never",
    clientAction: "user",
    effect: "unknown",
    domain: null,
    boundaries: [
      "handler",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The account cannot pay for the machine.",
    message: "The account has not enough credits",
  },
  RATE_LIMITED: {
    wire: "RATE_LIMITED",
    status: 429,
    statuses: [
      429,
    ],
    retriable: "always",
    clientAction: "retry",
    effect: "none",
    domain: null,
    boundaries: [
      "handler",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The upstream API limits the rate.",
    message: "Too many requests",
  },
  CONTEXT_OVERFLOW: {
    wire: "CONTEXT_OVERFLOW",
    status: 500,
    statuses: [],
    retriable: "never",
    clientAction: "none",
    effect: "unknown",
    domain: null,
    boundaries: [
      "handler",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The context window overflowed.",
    message: "The conversation is too long for the model",
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
