/** The codes of Aileron failures, and the facts of each. */

// Generated from examples/aileron/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/aileron/taxonomy.yaml

import { range } from "./_runtime/ranges.js";

/** Every code a service may answer with. */
// prettier-ignore
export const ErrorCode = {
  /** A capability check refused the operation. */
  CAPABILITY_DENIED: "capability_denied",
  /** No credential is bound for a required capability. */
  BINDING_REQUIRED: "binding_required",
  /** An existing binding refused: token expired, key revoked, scope changed. */
  BINDING_FAILED: "binding_failed",
  /** The connector hit a limit: memory, wall time or fuel. */
  RESOURCE_LIMIT_EXCEEDED: "resource_limit_exceeded",
  /**
   * The connector's own code failed: it panicked, threw, or answered in an
   * unexpected shape.
   */
  CONNECTOR_RUNTIME_ERROR: "connector_runtime_error",
  /** The outbound call failed before it reached a server. */
  NETWORK_ERROR: "network_error",
  /** The upstream service answered with an error. */
  EXTERNAL_API_ERROR: "external_api_error",
  /**
   * The bytes of a connector or an action on disk are not those that were
   * declared.
   */
  HASH_MISMATCH: "hash_mismatch",
  /** The signature of a binary does not verify. */
  SIGNATURE_FAILURE: "signature_failure",
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
  /** A capability check refused the operation. */
  capability_denied: never;
  /** No credential is bound for a required capability. */
  binding_required: never;
  /** An existing binding refused: token expired, key revoked, scope changed. */
  binding_failed: never;
  /** The connector hit a limit: memory, wall time or fuel. */
  resource_limit_exceeded: never;
  /**
   * The connector's own code failed: it panicked, threw, or answered in an
   * unexpected shape.
   */
  connector_runtime_error: never;
  /** The outbound call failed before it reached a server. */
  network_error: never;
  /** The upstream service answered with an error. */
  external_api_error: never;
  /**
   * The bytes of a connector or an action on disk are not those that were
   * declared.
   */
  hash_mismatch: never;
  /** The signature of a binary does not verify. */
  signature_failure: never;
};

/** The names of the retry policies. */
export type PolicyName = keyof {
  runtime: never;
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
  capability_denied: {
    wire: "capability_denied",
    status: 403,
    statuses: [
      403,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: null,
    boundaries: [
      "sandbox",
      "connector_manifest",
      "action",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "A capability check refused the operation.",
    message: "The operation is not allowed",
  },
  binding_required: {
    wire: "binding_required",
    status: 412,
    statuses: [
      412,
    ],
    retriable: "never",
    clientAction: "user",
    effect: "none",
    domain: null,
    boundaries: [
      "runtime",
    ],
    retry: null,
    until: "bind_credential",
    actions: [
      "bind_credential",
    ],
    rules: [],
    deprecated: false,
    summary: "No credential is bound for a required capability.",
    message: "A credential must be bound first",
  },
  binding_failed: {
    wire: "binding_failed",
    status: 412,
    statuses: [
      412,
    ],
    retriable: "caller",
    clientAction: "user",
    effect: "none",
    domain: null,
    boundaries: [
      "runtime",
    ],
    retry: null,
    until: null,
    actions: [
      "rebind_credential",
    ],
    rules: [],
    deprecated: false,
    summary: "An existing binding refused: token expired, key revoked, scope changed.",
    message: "The bound credential was refused",
  },
  resource_limit_exceeded: {
    wire: "resource_limit_exceeded",
    status: 507,
    statuses: [
      507,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "possible",
    domain: null,
    boundaries: [
      "sandbox",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The connector hit a limit: memory, wall time or fuel.",
    message: "The connector exceeded a resource limit",
  },
  connector_runtime_error: {
    wire: "connector_runtime_error",
    status: 500,
    statuses: [
      500,
    ],
    retriable: "caller",
    clientAction: "none",
    effect: "possible",
    domain: null,
    boundaries: [
      "sandbox",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The connector's own code failed: it panicked, threw, or answered in an unexpected shape.",
    message: "The connector failed",
  },
  network_error: {
    wire: "network_error",
    status: 502,
    statuses: [
      502,
    ],
    retriable: "conditional",
    clientAction: "retry",
    effect: "possible",
    domain: null,
    boundaries: [
      "external",
    ],
    retry: "runtime",
    until: null,
    actions: [],
    rules: [
      {
        then: false,
        when: [
          {
            fact: "operation.idempotent",
            values: [
              false,
            ],
          },
        ],
      },
      {
        then: true,
        when: [],
      },
    ],
    deprecated: false,
    summary: "The outbound call failed before it reached a server.",
    message: "The service could not be reached",
  },
  external_api_error: {
    wire: "external_api_error",
    status: 502,
    statuses: [
      502,
    ],
    retriable: "conditional",
    clientAction: "retry",
    effect: "possible",
    domain: null,
    boundaries: [
      "external",
    ],
    retry: "runtime",
    until: null,
    actions: [],
    rules: [
      {
        then: false,
        when: [
          {
            fact: "operation.idempotent",
            values: [
              false,
            ],
          },
        ],
      },
      {
        then: true,
        when: [
          {
            fact: "details.status",
            values: [
              429,
              ...range(500, 599),
            ],
          },
        ],
      },
      {
        then: false,
        when: [],
      },
    ],
    deprecated: false,
    summary: "The upstream service answered with an error.",
    message: "The service answered with an error",
  },
  hash_mismatch: {
    wire: "hash_mismatch",
    status: 422,
    statuses: [
      422,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: null,
    boundaries: [
      "runtime",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The bytes of a connector or an action on disk are not those that were declared.",
    message: "The installed bytes are not the declared ones",
  },
  signature_failure: {
    wire: "signature_failure",
    status: 422,
    statuses: [
      422,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: null,
    boundaries: [
      "runtime",
    ],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The signature of a binary does not verify.",
    message: "The signature does not verify",
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
