// Copied from faultspec; do not edit
/**
 * `Retry-After` (RFC 9110 section 10.2.3): judged strictly, or read as a client
 * had better read it.
 *
 * Strict, for what a service sends:
 *
 * - `delta-seconds` is one or more ASCII digits and nothing else: no sign, point,
 *   exponent, unit, list or white space. More than 2^31 is refused: RFC 9111
 *   section 1.2.2 lets recipients overflow there.
 * - or an HTTP-date that a sender may write (see `http-dates`). One in the past is
 *   valid and means 0 s.
 *
 * Lenient, for a client, which would rather wait too long than too short, but does
 * not guess. What it ignores leaves the delay to the policy's own backoff:
 *
 * - `120`, `007`: so many seconds; spaces and tabs around a value are dropped (RFC
 *   9110 section 5.5)
 * - `5.5`: rounded up to 6 s, since the service meant at least that
 * - `120, 60`: the longer of the two, which obeys both; that is how a proxy joins
 *   two headers
 * - `-1`, `+5`: ignored, no number of seconds has a sign; 0 s in place of -1 would
 *   be the one reading that a service in trouble cannot have meant
 * - `1e9`, `nan`, `inf`, `0x10`, `1_000`, `8 s` and whatever else: ignored
 * - an HTTP-date of any of the three forms: the seconds until then
 * - a date in the past: 0 s, which the planner takes for no hint
 * - a date that never was, such as 30 February: ignored
 * - more than 2^31 s: 2^31 s, which the planner cuts to the policy's `max`, and
 *   without one takes for the end of retrying
 */

import * as httpDates from "./http-dates.js";

/**
 * Seconds: no delay is longer, whatever a service asks (RFC 9111 section 1.2.2 has
 * recipients stop counting here).
 */
export const CEILING = 2 ** 31;

const DECIMAL = "[0-9]+(?:\\.[0-9]+)?";
const STRICT = /^[0-9]+$/;
const LENIENT = new RegExp(`^${DECIMAL}(?:[ \\t]*,[ \\t]*${DECIMAL})*$`);
const SIGNED = new RegExp(`^[+-]${DECIMAL}$`);

/**
 * A `Retry-After` that was read: `seconds` from now if `ok`, and otherwise the
 * `problem`.
 */
export interface RetryAfter {
  readonly ok: boolean;
  readonly seconds: number | null;
  readonly form: "delta-seconds" | "http-date" | null;
  readonly problem: string | null;
}

/**
 * Read the value of one `Retry-After` header.
 *
 * @param now - seconds since 1970
 */
export function parse(
  value: string,
  { now, lenient }: { readonly now: number; readonly lenient: boolean },
): RetryAfter {
  const text = lenient ? withoutBlanks(value) : value;
  if ((lenient ? LENIENT : STRICT).test(text)) {
    // A run of digits too long for a number is infinity, without an error
    const numbers = text.split(",").map(Number);
    const longest = numbers.reduce((one, other) => Math.max(one, other));
    const seconds = Math.ceil(longest);
    if (seconds > CEILING && !lenient) {
      const problem = "more than 2^31 s, where recipients may overflow";
      return { ok: false, seconds: null, form: "delta-seconds", problem };
    }
    return read(Math.min(seconds, CEILING), "delta-seconds");
  }
  const date = httpDates.parse(text, { now, lenient });
  if (date === null) {
    const problem = SIGNED.test(text)
      ? "a number of seconds has no sign"
      : "neither a whole number of seconds in ASCII digits nor an HTTP-date";
    return { ok: false, seconds: null, form: null, problem };
  }
  if (date.seconds === null) {
    const { problem } = date;
    return { ok: false, seconds: null, form: "http-date", problem };
  }
  return read(Math.min(Math.max(0, date.seconds - now), CEILING), "http-date");
}

/**
 * A delay as delta-seconds, rounded up, so that who waits that long has waited
 * long enough.
 */
export function render(seconds: number): string {
  return String(Math.max(0, Math.ceil(Math.min(seconds, CEILING))));
}

function read(
  seconds: number,
  form: "delta-seconds" | "http-date",
): RetryAfter {
  return { ok: true, seconds, form, problem: null };
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  m: 60,
  h: 3600,
};
const DURATION = new RegExp(`^(-?${DECIMAL})(ms|s|m|h)$`);
const MOMENT =
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;

/**
 * The seconds that a value in a body asks to wait; negative if it asks not to try
 * again, and null if it cannot be read.
 *
 * A number counts `unit`, `s` or `ms`. A text is a moment (RFC 3339), which is now if
 * it has passed, or a duration such as `1.5s` or `-1s` (ProtoJSON).
 *
 * @param now - seconds since 1970
 */
export function hintSeconds(
  value: unknown,
  unit: string,
  now: number,
): number | null {
  if (typeof value === "number") {
    const seconds = unit === "ms" ? value / 1000 : value;
    return Number.isFinite(seconds) ? Math.min(seconds, CEILING) : null;
  }
  if (typeof value !== "string") return null;
  const [, number, name] = DURATION.exec(value) ?? [];
  if (number !== undefined && name !== undefined) {
    return Math.min(Number(number) * (UNITS[name] ?? 1), CEILING);
  }
  const moment = MOMENT.test(value) ? Date.parse(value.toUpperCase()) : NaN;
  if (Number.isNaN(moment)) return null;
  return Math.min(Math.max(0, moment / 1000 - now), CEILING);
}

/** A text without the spaces and tabs around it, in linear time. */
function withoutBlanks(text: string): string {
  const isBlank = (place: number): boolean =>
    " \t".includes(text.charAt(place));
  let begin = 0;
  let end = text.length;
  while (begin < end && isBlank(begin)) begin += 1;
  while (end > begin && isBlank(end - 1)) end -= 1;
  return text.slice(begin, end);
}
