/** The codes of Registry errors, and the facts of each. */

// Generated from examples/registry/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/registry/taxonomy.yaml

import { range } from "./_runtime/ranges.js";

/** Every code a service may answer with. */
// prettier-ignore
export const ErrorCode = {
  /** A code that the client does not know stands for this one. */
  UNKNOWN: "UNKNOWN",
  /** The repository does not have this blob. */
  BLOB_UNKNOWN: "BLOB_UNKNOWN",
  /** The upload encountered an error and can no longer proceed. */
  BLOB_UPLOAD_INVALID: "BLOB_UPLOAD_INVALID",
  /** The upload was cancelled or never started. */
  BLOB_UPLOAD_UNKNOWN: "BLOB_UPLOAD_UNKNOWN",
  /** The digest does not match the content, or is not a digest. */
  DIGEST_INVALID: "DIGEST_INVALID",
  /** The manifest refers to a blob that the registry does not have. */
  MANIFEST_BLOB_UNKNOWN: "MANIFEST_BLOB_UNKNOWN",
  /** The manifest is not valid. */
  MANIFEST_INVALID: "MANIFEST_INVALID",
  /** The repository does not have this manifest. */
  MANIFEST_UNKNOWN: "MANIFEST_UNKNOWN",
  /** The signature of the manifest could not be verified. */
  MANIFEST_UNVERIFIED: "MANIFEST_UNVERIFIED",
  /** The name is not that of a repository. */
  NAME_INVALID: "NAME_INVALID",
  /** The registry does not have this repository. */
  NAME_UNKNOWN: "NAME_UNKNOWN",
  /** The size of the upload differs from the size that the client gave. */
  SIZE_INVALID: "SIZE_INVALID",
  /** The tag of the manifest differs from the tag in the path. */
  TAG_INVALID: "TAG_INVALID",
  /** The registry could not authenticate the client. */
  UNAUTHORIZED: "UNAUTHORIZED",
  /** The client may not do this. */
  DENIED: "DENIED",
  /**
   * The registry does not offer this operation, or not with these parameters.
   */
  UNSUPPORTED: "UNSUPPORTED",
  /** The client sent too many requests within a time interval. */
  TOOMANYREQUESTS: "TOOMANYREQUESTS",
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
  /** A code that the client does not know stands for this one. */
  UNKNOWN: never;
  /** The repository does not have this blob. */
  BLOB_UNKNOWN: never;
  /** The upload encountered an error and can no longer proceed. */
  BLOB_UPLOAD_INVALID: never;
  /** The upload was cancelled or never started. */
  BLOB_UPLOAD_UNKNOWN: never;
  /** The digest does not match the content, or is not a digest. */
  DIGEST_INVALID: never;
  /** The manifest refers to a blob that the registry does not have. */
  MANIFEST_BLOB_UNKNOWN: never;
  /** The manifest is not valid. */
  MANIFEST_INVALID: never;
  /** The repository does not have this manifest. */
  MANIFEST_UNKNOWN: never;
  /** The signature of the manifest could not be verified. */
  MANIFEST_UNVERIFIED: never;
  /** The name is not that of a repository. */
  NAME_INVALID: never;
  /** The registry does not have this repository. */
  NAME_UNKNOWN: never;
  /** The size of the upload differs from the size that the client gave. */
  SIZE_INVALID: never;
  /** The tag of the manifest differs from the tag in the path. */
  TAG_INVALID: never;
  /** The registry could not authenticate the client. */
  UNAUTHORIZED: never;
  /** The client may not do this. */
  DENIED: never;
  /**
   * The registry does not offer this operation, or not with these parameters.
   */
  UNSUPPORTED: never;
  /** The client sent too many requests within a time interval. */
  TOOMANYREQUESTS: never;
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
  UNKNOWN: {
    wire: "UNKNOWN",
    status: 400,
    statuses: range(400, 428),
    retriable: "never",
    clientAction: "none",
    effect: "unknown",
    domain: "capability",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "A code that the client does not know stands for this one.",
    message: "unknown error",
  },
  BLOB_UNKNOWN: {
    wire: "BLOB_UNKNOWN",
    status: 400,
    statuses: [
      400,
      404,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "content",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The repository does not have this blob.",
    message: "blob unknown to registry",
  },
  BLOB_UPLOAD_INVALID: {
    wire: "BLOB_UPLOAD_INVALID",
    status: 400,
    statuses: [
      400,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "upload",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The upload encountered an error and can no longer proceed.",
    message: "blob upload invalid",
  },
  BLOB_UPLOAD_UNKNOWN: {
    wire: "BLOB_UPLOAD_UNKNOWN",
    status: 404,
    statuses: [
      404,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "upload",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The upload was cancelled or never started.",
    message: "blob upload unknown to registry",
  },
  DIGEST_INVALID: {
    wire: "DIGEST_INVALID",
    status: 400,
    statuses: [
      400,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "content",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The digest does not match the content, or is not a digest.",
    message: "provided digest did not match uploaded content",
  },
  MANIFEST_BLOB_UNKNOWN: {
    wire: "MANIFEST_BLOB_UNKNOWN",
    status: 400,
    statuses: [
      400,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "content",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The manifest refers to a blob that the registry does not have.",
    message: "blob unknown to registry",
  },
  MANIFEST_INVALID: {
    wire: "MANIFEST_INVALID",
    status: 400,
    statuses: [
      400,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "content",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The manifest is not valid.",
    message: "manifest invalid",
  },
  MANIFEST_UNKNOWN: {
    wire: "MANIFEST_UNKNOWN",
    status: 404,
    statuses: [
      404,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "content",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The repository does not have this manifest.",
    message: "manifest unknown",
  },
  MANIFEST_UNVERIFIED: {
    wire: "MANIFEST_UNVERIFIED",
    status: 400,
    statuses: [
      400,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "content",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The signature of the manifest could not be verified.",
    message: "manifest failed signature verification",
  },
  NAME_INVALID: {
    wire: "NAME_INVALID",
    status: 400,
    statuses: [
      400,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "name",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The name is not that of a repository.",
    message: "invalid repository name",
  },
  NAME_UNKNOWN: {
    wire: "NAME_UNKNOWN",
    status: 404,
    statuses: [
      404,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "name",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The registry does not have this repository.",
    message: "repository name not known to registry",
  },
  SIZE_INVALID: {
    wire: "SIZE_INVALID",
    status: 400,
    statuses: [
      400,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "upload",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The size of the upload differs from the size that the client gave.",
    message: "provided length did not match content length",
  },
  TAG_INVALID: {
    wire: "TAG_INVALID",
    status: 400,
    statuses: [
      400,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "name",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The tag of the manifest differs from the tag in the path.",
    message: "manifest tag did not match URI",
  },
  UNAUTHORIZED: {
    wire: "UNAUTHORIZED",
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
    summary: "The registry could not authenticate the client.",
    message: "authentication required",
  },
  DENIED: {
    wire: "DENIED",
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
    summary: "The client may not do this.",
    message: "requested access to the resource is denied",
  },
  UNSUPPORTED: {
    wire: "UNSUPPORTED",
    status: 400,
    statuses: [
      400,
      405,
    ],
    retriable: "never",
    clientAction: "none",
    effect: "none",
    domain: "capability",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The registry does not offer this operation, or not with these parameters.",
    message: "The operation is unsupported.",
  },
  TOOMANYREQUESTS: {
    wire: "TOOMANYREQUESTS",
    status: 429,
    statuses: [
      429,
    ],
    retriable: "always",
    clientAction: "retry",
    effect: "none",
    domain: "capability",
    boundaries: [],
    retry: null,
    until: null,
    actions: [],
    rules: [],
    deprecated: false,
    summary: "The client sent too many requests within a time interval.",
    message: "too many requests",
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
