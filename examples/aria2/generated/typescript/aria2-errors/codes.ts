/** The codes of Errors of aria2's RPC interface, and the facts of each. */

// Generated from examples/aria2/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/aria2/taxonomy.yaml

/** Every code a service may answer with. */
// prettier-ignore
export const ErrorCode = {
  /** The body is not JSON. */
  PARSE_ERROR: "parse_error",
  /** It is JSON, and no request. */
  INVALID_REQUEST: "invalid_request",
  /** There is no such method. */
  METHOD_NOT_FOUND: "method_not_found",
  /** The parameters do not fit. */
  INVALID_PARAMS: "invalid_params",
  /** The call failed; the message says why. */
  FAILED: "failed",
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
  /** The body is not JSON. */
  [-32700]: never;
  /** It is JSON, and no request. */
  [-32600]: never;
  /** There is no such method. */
  [-32601]: never;
  /** The parameters do not fit. */
  [-32602]: never;
  /** The call failed; the message says why. */
  1: never;
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
  parse_error: {
    wire: -32700,
    status: null,
    statuses: [],
    retriable: "none",
    clientAction: "none",
    effect: "unknown",
    domain: null,
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The body is not JSON.",
    message: "The body is not JSON.",
  },
  invalid_request: {
    wire: -32600,
    status: null,
    statuses: [],
    retriable: "none",
    clientAction: "none",
    effect: "unknown",
    domain: null,
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "It is JSON, and no request.",
    message: "It is JSON, and no request.",
  },
  method_not_found: {
    wire: -32601,
    status: null,
    statuses: [],
    retriable: "none",
    clientAction: "none",
    effect: "unknown",
    domain: null,
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "There is no such method.",
    message: "There is no such method.",
  },
  invalid_params: {
    wire: -32602,
    status: null,
    statuses: [],
    retriable: "none",
    clientAction: "none",
    effect: "unknown",
    domain: null,
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The parameters do not fit.",
    message: "The parameters do not fit.",
  },
  failed: {
    wire: 1,
    status: null,
    statuses: [],
    retriable: "none",
    clientAction: "none",
    effect: "unknown",
    domain: null,
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The call failed; the message says why.",
    message: "The call failed",
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
