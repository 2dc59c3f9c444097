// Copied from faultspec; do not edit
/**
 * The decisions of an error boundary, without any I/O: the headers that stay, the
 * correlation id of an exchange, whether an error needs an envelope.
 */

import {
  type Fields,
  type Span,
  accepted,
  isIn,
  valuesOf,
  withField,
} from "./fields.js";
import { type IdFormat, matches, newId } from "./ids.js";
import * as retryAfter from "./retry-after.js";

/**
 * Headers of an answer that outlive its body: they say what to do about the error, not
 * what the body was.
 */
const KEPT = new Set([
  "allow",
  "retry-after",
  "www-authenticate",
  "proxy-authenticate",
  "etag",
  "vary",
  "accept",
  "accept-patch",
  "set-cookie",
]);

const REPEATED = new Set([
  "set-cookie",
  "vary",
  "allow",
  "accept",
  "accept-patch",
  "www-authenticate",
  "proxy-authenticate",
]);

/** A longer id would fill every log, whatever the format allows. */
const LONGEST_ID = 128;

/** Which header carries the correlation id, and the formats that one may have. */
export interface Correlation {
  readonly header: string;
  readonly formats: readonly IdFormat[];
}

/**
 * Exchanges, and whether errors in them are `enveloped`; an empty list is any. `routes`:
 * a method, or null for any, and an expression of the whole path.
 */
export interface BoundarySurface {
  readonly enveloped: boolean;
  readonly methods: readonly string[];
  readonly routes: readonly (readonly [method: string | null, path: string])[];
  readonly statuses: readonly Span[];
}

/**
 * The correlation id of an exchange: the one that the request has, if it has one that is
 * well formed, and otherwise a new one.
 */
export function correlationId(
  correlation: Correlation,
  request: Fields,
): string {
  return idIn(correlation, request) ?? newId(correlation.formats[0] ?? "token");
}

/** The id that the fields have, if it is well formed and the only one; else null. */
export function idIn(
  { header, formats }: Correlation,
  fields: Fields,
): string | null {
  const [value, ...more] = valuesOf(fields, header);
  // Nothing may split a header
  const isOne =
    value !== undefined &&
    more.length === 0 &&
    /^[\x20-\x7e]+$/.test(value) &&
    value.length <= LONGEST_ID &&
    matches(formats, value);
  return isOne ? value : null;
}

/** The fields of a replaced answer that stay. */
export function keptFields(fields: Fields): Fields {
  const lower = accepted(fields).map(([name, value]) => [
    name.toLowerCase(),
    value.replace(/\t/g, " "),
  ]) as Fields;
  const seen = new Set<string>();
  return lower.filter(([name, value]) => {
    const isKept = KEPT.has(name) || name.startsWith("access-control-");
    const isAlone =
      REPEATED.has(name) ||
      valuesOf(lower, name).every((each) => each === value);
    const isNew = !seen.has(`${name}:${value}`);
    seen.add(`${name}:${value}`);
    return (
      isKept &&
      isAlone &&
      isNew &&
      value.trim() !== "" &&
      (name !== "retry-after" || isHint(value))
    );
  });
}

/** The fields with `Cache-Control: no-store`, unless they say so already. */
export function notStored(fields: Fields): Fields {
  const directives = valuesOf(fields, "cache-control")
    .join(",")
    .split(",")
    .map((each) => each.trim().toLowerCase());
  return directives.includes("no-store")
    ? fields
    : withField(fields, "cache-control", "no-store");
}

/** Whether an error of an exchange is answered in an envelope. */
export function isEnveloped(
  surfaces: readonly BoundarySurface[],
  method: string,
  path: string,
  status: number,
): boolean {
  const own = surfaces.find(
    (surface) =>
      (surface.methods.length === 0 || surface.methods.includes(method)) &&
      (surface.statuses.length === 0 || isIn(status, surface.statuses)) &&
      (surface.routes.length === 0 ||
        surface.routes.some(
          ([on, route]) =>
            (on === null || on === method) &&
            new RegExp(`^(?:${route})$`, "s").test(path),
        )),
  );
  return own === undefined || own.enveloped;
}

/** Whether a `Retry-After` is one that a service may send. */
function isHint(value: string): boolean {
  const now = Date.now() / 1000;
  const { ok, form, seconds } = retryAfter.parse(value, {
    now,
    lenient: false,
  });
  return ok && (form === "delta-seconds" || Boolean(seconds));
}
