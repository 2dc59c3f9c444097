/**
 * The errors of Registry errors: an interface for each code, distinguished by
 * `code`, and by `operation` where operations have codes of their own.
 */

// Generated from examples/registry/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/registry/taxonomy.yaml

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
 * `others` are the further errors of its answer, if the envelope has a list of errors.
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
  readonly others: readonly AnyError[];
  readonly detail: unknown;
}

/**
 * A code that the client does not know stands for this one.
 *
 * HTTP 400-428; clients do not retry. The operation may have taken effect.
 */
export interface Unknown extends Common {
  readonly code: "UNKNOWN";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The repository does not have this blob.
 *
 * HTTP 400, 404; clients do not retry.
 */
export interface BlobUnknown extends Common {
  readonly code: "BLOB_UNKNOWN";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The upload encountered an error and can no longer proceed.
 *
 * HTTP 400; clients do not retry.
 */
export interface BlobUploadInvalid extends Common {
  readonly code: "BLOB_UPLOAD_INVALID";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The upload was cancelled or never started.
 *
 * HTTP 404; clients do not retry.
 */
export interface BlobUploadUnknown extends Common {
  readonly code: "BLOB_UPLOAD_UNKNOWN";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The digest does not match the content, or is not a digest.
 *
 * HTTP 400; clients do not retry.
 */
export interface DigestInvalid extends Common {
  readonly code: "DIGEST_INVALID";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The manifest refers to a blob that the registry does not have.
 *
 * HTTP 400; clients do not retry.
 */
export interface ManifestBlobUnknown extends Common {
  readonly code: "MANIFEST_BLOB_UNKNOWN";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The manifest is not valid.
 *
 * HTTP 400; clients do not retry.
 */
export interface ManifestInvalid extends Common {
  readonly code: "MANIFEST_INVALID";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The repository does not have this manifest.
 *
 * HTTP 404; clients do not retry.
 */
export interface ManifestUnknown extends Common {
  readonly code: "MANIFEST_UNKNOWN";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The signature of the manifest could not be verified.
 *
 * HTTP 400; clients do not retry.
 */
export interface ManifestUnverified extends Common {
  readonly code: "MANIFEST_UNVERIFIED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The name is not that of a repository.
 *
 * HTTP 400; clients do not retry.
 */
export interface NameInvalid extends Common {
  readonly code: "NAME_INVALID";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The registry does not have this repository.
 *
 * HTTP 404; clients do not retry.
 */
export interface NameUnknown extends Common {
  readonly code: "NAME_UNKNOWN";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The size of the upload differs from the size that the client gave.
 *
 * HTTP 400; clients do not retry.
 */
export interface SizeInvalid extends Common {
  readonly code: "SIZE_INVALID";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The tag of the manifest differs from the tag in the path.
 *
 * HTTP 400; clients do not retry.
 */
export interface TagInvalid extends Common {
  readonly code: "TAG_INVALID";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The registry could not authenticate the client.
 *
 * HTTP 401; clients do not retry.
 */
export interface Unauthorized extends Common {
  readonly code: "UNAUTHORIZED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The client may not do this.
 *
 * HTTP 403; clients do not retry.
 */
export interface Denied extends Common {
  readonly code: "DENIED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The registry does not offer this operation, or not with these parameters.
 *
 * HTTP 400, 405; clients do not retry.
 */
export interface Unsupported extends Common {
  readonly code: "UNSUPPORTED";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/**
 * The client sent too many requests within a time interval.
 *
 * HTTP 429; clients retry.
 */
export interface Toomanyrequests extends Common {
  readonly code: "TOOMANYREQUESTS";
  readonly known: true;
  readonly operation: null;
  readonly details: d.Details;
}

/** The errors by the names of their interfaces. */
export interface Errors {
  readonly Unknown: Unknown;
  readonly BlobUnknown: BlobUnknown;
  readonly BlobUploadInvalid: BlobUploadInvalid;
  readonly BlobUploadUnknown: BlobUploadUnknown;
  readonly DigestInvalid: DigestInvalid;
  readonly ManifestBlobUnknown: ManifestBlobUnknown;
  readonly ManifestInvalid: ManifestInvalid;
  readonly ManifestUnknown: ManifestUnknown;
  readonly ManifestUnverified: ManifestUnverified;
  readonly NameInvalid: NameInvalid;
  readonly NameUnknown: NameUnknown;
  readonly SizeInvalid: SizeInvalid;
  readonly TagInvalid: TagInvalid;
  readonly Unauthorized: Unauthorized;
  readonly Denied: Denied;
  readonly Unsupported: Unsupported;
  readonly Toomanyrequests: Toomanyrequests;
}

/** The errors of each code: one interface, or one for each operation that has the code. */
// prettier-ignore
export interface ErrorsOfCode {
  readonly UNKNOWN: Unknown;
  readonly BLOB_UNKNOWN: BlobUnknown;
  readonly BLOB_UPLOAD_INVALID: BlobUploadInvalid;
  readonly BLOB_UPLOAD_UNKNOWN: BlobUploadUnknown;
  readonly DIGEST_INVALID: DigestInvalid;
  readonly MANIFEST_BLOB_UNKNOWN: ManifestBlobUnknown;
  readonly MANIFEST_INVALID: ManifestInvalid;
  readonly MANIFEST_UNKNOWN: ManifestUnknown;
  readonly MANIFEST_UNVERIFIED: ManifestUnverified;
  readonly NAME_INVALID: NameInvalid;
  readonly NAME_UNKNOWN: NameUnknown;
  readonly SIZE_INVALID: SizeInvalid;
  readonly TAG_INVALID: TagInvalid;
  readonly UNAUTHORIZED: Unauthorized;
  readonly DENIED: Denied;
  readonly UNSUPPORTED: Unsupported;
  readonly TOOMANYREQUESTS: Toomanyrequests;
}

/** The errors of each domain. */
// prettier-ignore
export interface ErrorsOfDomain {
  readonly access: Unauthorized | Denied;
  readonly name: NameInvalid | NameUnknown | TagInvalid;
  readonly content: BlobUnknown | DigestInvalid | ManifestBlobUnknown | ManifestInvalid | ManifestUnknown | ManifestUnverified;
  readonly upload: BlobUploadInvalid | BlobUploadUnknown | SizeInvalid;
  readonly capability: Unknown | Unsupported | Toomanyrequests;
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
  readonly code: "UNKNOWN";
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
