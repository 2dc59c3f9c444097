/** The codes of Theodosia refusals, and the facts of each. */

// Generated from examples/theodosia/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/theodosia/taxonomy.yaml

/** Every code a service may answer with. */
// prettier-ignore
export const ErrorCode = {
  /** The action exists and cannot be reached from the current state. */
  INVALID_TRANSITION: "invalid_transition",
  /** The graph has no such action. */
  UNKNOWN_ACTION: "unknown_action",
  /** The action can be reached and its inputs were refused. */
  VALIDATION_FAILED: "validation_failed",
  /** The action ran longer than its budget. */
  ACTION_TIMEOUT: "action_timeout",
  /** The action ran and its body raised. */
  ACTION_ERROR: "action_error",
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
  /** The action exists and cannot be reached from the current state. */
  invalid_transition: never;
  /** The graph has no such action. */
  unknown_action: never;
  /** The action can be reached and its inputs were refused. */
  validation_failed: never;
  /** The action ran longer than its budget. */
  action_timeout: never;
  /** The action ran and its body raised. */
  action_error: never;
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
  invalid_transition: {
    wire: "invalid_transition",
    status: null,
    statuses: [],
    retriable: "none",
    clientAction: "refetch",
    effect: "none",
    domain: null,
    boundaries: [
      "graph",
    ],
    retry: null,
    until: null,
    actions: [
      "pick_valid_action",
    ],
    rules: [],
    deprecated: false,
    summary: "The action exists and cannot be reached from the current state.",
    message: "The action cannot be reached from the current state",
  },
  unknown_action: {
    wire: "unknown_action",
    status: null,
    statuses: [],
    retriable: "none",
    clientAction: "none",
    effect: "none",
    domain: null,
    boundaries: [
      "graph",
    ],
    retry: null,
    until: null,
    actions: [
      "pick_valid_action",
    ],
    rules: [],
    deprecated: false,
    summary: "The graph has no such action.",
    message: "The graph has no such action",
  },
  validation_failed: {
    wire: "validation_failed",
    status: null,
    statuses: [],
    retriable: "none",
    clientAction: "none",
    effect: "none",
    domain: null,
    boundaries: [
      "validator",
    ],
    retry: null,
    until: null,
    actions: [
      "fix_inputs",
    ],
    rules: [],
    deprecated: false,
    summary: "The action can be reached and its inputs were refused.",
    message: "The inputs were refused",
  },
  action_timeout: {
    wire: "action_timeout",
    status: null,
    statuses: [],
    retriable: "none",
    clientAction: "none",
    effect: "unknown",
    domain: null,
    boundaries: [
      "body",
    ],
    retry: null,
    until: null,
    actions: [
      "pick_valid_action",
    ],
    rules: [],
    deprecated: false,
    summary: "The action ran longer than its budget.",
    message: "The action exceeded its timeout",
  },
  action_error: {
    wire: "action_error",
    status: null,
    statuses: [],
    retriable: "none",
    clientAction: "none",
    effect: "possible",
    domain: null,
    boundaries: [
      "body",
    ],
    retry: null,
    until: null,
    actions: [
      "read_error",
    ],
    rules: [],
    deprecated: false,
    summary: "The action ran and its body raised.",
    message: "The action failed",
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
