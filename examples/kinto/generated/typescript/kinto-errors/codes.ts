/** The codes of Kinto errors, and the facts of each. */

// Generated from examples/kinto/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/kinto/taxonomy.yaml

/** Every code a service may answer with. */
// prettier-ignore
export const ErrorCode = {
  /** Missing Authorization Token */
  MISSING_AUTH_TOKEN: "MISSING_AUTH_TOKEN",
  /** Invalid Authorization Token */
  INVALID_AUTH_TOKEN: "INVALID_AUTH_TOKEN",
  /** The request body was not valid JSON */
  BADJSON: "BADJSON",
  /** Invalid request parameter */
  INVALID_PARAMETERS: "INVALID_PARAMETERS",
  /** Missing request parameter */
  MISSING_PARAMETERS: "MISSING_PARAMETERS",
  /** Invalid posted data */
  INVALID_POSTED_DATA: "INVALID_POSTED_DATA",
  /** Invalid Token / id */
  INVALID_RESOURCE_ID: "INVALID_RESOURCE_ID",
  /** Missing Token / id */
  MISSING_RESOURCE: "MISSING_RESOURCE",
  /** Content-Length header was not provided */
  MISSING_CONTENT_LENGTH: "MISSING_CONTENT_LENGTH",
  /** Request body too large */
  REQUEST_TOO_LARGE: "REQUEST_TOO_LARGE",
  /** Resource was modified meanwhile */
  MODIFIED_MEANWHILE: "MODIFIED_MEANWHILE",
  /** Method not allowed on this end point */
  METHOD_NOT_ALLOWED: "METHOD_NOT_ALLOWED",
  /** Requested version not available on this server */
  VERSION_NOT_AVAILABLE: "VERSION_NOT_AVAILABLE",
  /** Client has sent too many requests */
  CLIENT_REACHED_CAPACITY: "CLIENT_REACHED_CAPACITY",
  /** Resource's access forbidden for this user */
  FORBIDDEN: "FORBIDDEN",
  /** Another resource violates constraint */
  CONSTRAINT_VIOLATED: "CONSTRAINT_VIOLATED",
  /** Service temporarily unavailable due to high load */
  BACKEND: "BACKEND",
  /** Service deprecated */
  SERVICE_DEPRECATED: "SERVICE_DEPRECATED",
  /** Internal Server Error */
  UNDEFINED: "UNDEFINED",
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
  /** Missing Authorization Token */
  104: never;
  /** Invalid Authorization Token */
  105: never;
  /** The request body was not valid JSON */
  106: never;
  /** Invalid request parameter */
  107: never;
  /** Missing request parameter */
  108: never;
  /** Invalid posted data */
  109: never;
  /** Invalid Token / id */
  110: never;
  /** Missing Token / id */
  111: never;
  /** Content-Length header was not provided */
  112: never;
  /** Request body too large */
  113: never;
  /** Resource was modified meanwhile */
  114: never;
  /** Method not allowed on this end point */
  115: never;
  /** Requested version not available on this server */
  116: never;
  /** Client has sent too many requests */
  117: never;
  /** Resource's access forbidden for this user */
  121: never;
  /** Another resource violates constraint */
  122: never;
  /** Service temporarily unavailable due to high load */
  201: never;
  /** Service deprecated */
  202: never;
  /** Internal Server Error */
  999: never;
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
  MISSING_AUTH_TOKEN: {
    wire: 104,
    status: 401,
    statuses: [
      401,
    ],
    retriable: "none",
    clientAction: "user",
    effect: "none",
    domain: "authentication",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "Missing Authorization Token",
    message: "Missing Authorization Token",
  },
  INVALID_AUTH_TOKEN: {
    wire: 105,
    status: 401,
    statuses: [
      401,
    ],
    retriable: "none",
    clientAction: "user",
    effect: "none",
    domain: "authentication",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "Invalid Authorization Token",
    message: "Invalid Authorization Token",
  },
  BADJSON: {
    wire: 106,
    status: 400,
    statuses: [
      400,
    ],
    retriable: "none",
    clientAction: "none",
    effect: "none",
    domain: "request",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The request body was not valid JSON",
    message: "The request body was not valid JSON",
  },
  INVALID_PARAMETERS: {
    wire: 107,
    status: 400,
    statuses: [
      400,
    ],
    retriable: "none",
    clientAction: "none",
    effect: "none",
    domain: "request",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "Invalid request parameter",
    message: "Invalid request parameter",
  },
  MISSING_PARAMETERS: {
    wire: 108,
    status: 400,
    statuses: [
      400,
    ],
    retriable: "none",
    clientAction: "none",
    effect: "none",
    domain: "request",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "Missing request parameter",
    message: "Missing request parameter",
  },
  INVALID_POSTED_DATA: {
    wire: 109,
    status: 400,
    statuses: [
      400,
    ],
    retriable: "none",
    clientAction: "none",
    effect: "none",
    domain: "request",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "Invalid posted data",
    message: "Invalid posted data",
  },
  INVALID_RESOURCE_ID: {
    wire: 110,
    status: 404,
    statuses: [
      404,
    ],
    retriable: "none",
    clientAction: "none",
    effect: "none",
    domain: "resource",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "Invalid Token / id",
    message: "Invalid Token / id",
  },
  MISSING_RESOURCE: {
    wire: 111,
    status: 404,
    statuses: [
      404,
    ],
    retriable: "none",
    clientAction: "none",
    effect: "none",
    domain: "resource",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "Missing Token / id",
    message: "Missing Token / id",
  },
  MISSING_CONTENT_LENGTH: {
    wire: 112,
    status: 411,
    statuses: [
      411,
    ],
    retriable: "none",
    clientAction: "none",
    effect: "none",
    domain: "request",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "Content-Length header was not provided",
    message: "Content-Length header was not provided",
  },
  REQUEST_TOO_LARGE: {
    wire: 113,
    status: 413,
    statuses: [
      413,
    ],
    retriable: "none",
    clientAction: "none",
    effect: "none",
    domain: "request",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "Request body too large",
    message: "Request body too large",
  },
  MODIFIED_MEANWHILE: {
    wire: 114,
    status: 412,
    statuses: [
      412,
    ],
    retriable: "none",
    clientAction: "refetch",
    effect: "none",
    domain: "resource",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "Resource was modified meanwhile",
    message: "Resource was modified meanwhile",
  },
  METHOD_NOT_ALLOWED: {
    wire: 115,
    status: 405,
    statuses: [
      405,
    ],
    retriable: "none",
    clientAction: "none",
    effect: "none",
    domain: "request",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "Method not allowed on this end point",
    message: "Method not allowed on this end point",
  },
  VERSION_NOT_AVAILABLE: {
    wire: 116,
    status: 404,
    statuses: [
      404,
    ],
    retriable: "none",
    clientAction: "none",
    effect: "none",
    domain: "request",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "Requested version not available on this server",
    message: "Requested version not available on this server",
  },
  CLIENT_REACHED_CAPACITY: {
    wire: 117,
    status: 429,
    statuses: [
      429,
    ],
    retriable: "none",
    clientAction: "retry",
    effect: "none",
    domain: "service",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "Client has sent too many requests",
    message: "Client has sent too many requests",
  },
  FORBIDDEN: {
    wire: 121,
    status: 403,
    statuses: [
      403,
    ],
    retriable: "none",
    clientAction: "user",
    effect: "none",
    domain: "permission",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "Resource's access forbidden for this user",
    message: "Resource's access forbidden for this user",
  },
  CONSTRAINT_VIOLATED: {
    wire: 122,
    status: 409,
    statuses: [
      409,
    ],
    retriable: "none",
    clientAction: "retry",
    effect: "none",
    domain: "resource",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "Another resource violates constraint",
    message: "Another resource violates constraint",
  },
  BACKEND: {
    wire: 201,
    status: 503,
    statuses: [
      503,
    ],
    retriable: "none",
    clientAction: "retry",
    effect: "none",
    domain: "service",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "Service temporarily unavailable due to high load",
    message: "Service temporarily unavailable due to high load",
  },
  SERVICE_DEPRECATED: {
    wire: 202,
    status: 410,
    statuses: [
      410,
    ],
    retriable: "none",
    clientAction: "none",
    effect: "none",
    domain: "service",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "Service deprecated",
    message: "Service deprecated",
  },
  UNDEFINED: {
    wire: 999,
    status: 500,
    statuses: [
      500,
    ],
    retriable: "none",
    clientAction: "retry",
    effect: "unknown",
    domain: "service",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "Internal Server Error",
    message: "Internal Server Error",
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
