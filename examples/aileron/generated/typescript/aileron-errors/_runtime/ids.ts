// Copied from faultspec; do not edit
/**
 * Formats of identifiers: whether a string is one, and how to make a new one. The
 * formats are those of `ids` in Python.
 */

const HEX = "[0-9a-fA-F]";
const TRACE_ID = "(?!0{32})[0-9a-f]{32}";
const SPAN_ID = "(?!0{16})[0-9a-f]{16}";
const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const KSUID_EPOCH = 1_400_000_000; // seconds; a KSUID counts its time from here

/** A format by the name that the taxonomy has for it. */
export type IdFormat = keyof typeof PATTERNS;

const PATTERNS = {
  uuid: `(?:${uuid("[1-8]")}|${alike("0")}|${alike("[fF]")})`,
  uuid4: uuid("4"),
  uuid7: uuid("7"),
  ulid: "[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}",
  ksuid: "[0-9A-Za-z]{27}",
  traceparent: `00-${TRACE_ID}-${SPAN_ID}-[0-9a-f]{2}`,
  trace_id: TRACE_ID,
  span_id: SPAN_ID,
  token: "[!#$%&'*+.^_`|~0-9A-Za-z-]+",
};

/** Seconds since 1970, and random bytes. */
export interface Draw {
  readonly now: number;
  readonly random: (count: number) => Uint8Array;
}

declare const globalThis: {
  readonly crypto: { getRandomValues(bytes: Uint8Array): Uint8Array };
};

/** Whether a value has one of the formats. */
export function matches(formats: readonly IdFormat[], value: string): boolean {
  return formats.some((each) => new RegExp(`^${PATTERNS[each]}$`).test(value));
}

/**
 * A new identifier of the format. Those that begin with the time sort by it, to the
 * millisecond (`ksuid`: to the second), in no order within.
 */
export function newId(
  format: IdFormat,
  draw: Draw = { now: Date.now() / 1000, random: randomBytes },
): string {
  switch (format) {
    case "uuid7":
      return uuidText(7, [...timeBytes(draw), ...draw.random(10)]);
    case "ulid":
      return digits([...timeBytes(draw), ...draw.random(10)], CROCKFORD, 26);
    case "ksuid": {
      const seconds = Math.floor(draw.now) - KSUID_EPOCH;
      return digits([...bytesOf(seconds, 4), ...draw.random(16)], BASE62, 27);
    }
    case "traceparent":
      // 01: sampled
      return `00-${hexId(16, draw)}-${hexId(8, draw)}-01`;
    case "trace_id":
      return hexId(16, draw);
    case "span_id":
      return hexId(8, draw);
    default:
      return uuidText(4, [...draw.random(16)]);
  }
}

function uuid(version: string): string {
  return `${HEX}{8}-${HEX}{4}-${version}${HEX}{3}-[89abAB]${HEX}{3}-${HEX}{12}`;
}

function alike(digit: string): string {
  return `${digit}{8}(?:-${digit}{4}){3}-${digit}{12}`;
}

function randomBytes(count: number): Uint8Array {
  return globalThis.crypto.getRandomValues(new Uint8Array(count));
}

function timeBytes(draw: Draw): number[] {
  return bytesOf(Math.floor(draw.now * 1000), 6);
}

/** The big-endian bytes of a number, which may have more than 32 bits. */
function bytesOf(number: number, length: number): number[] {
  return Array.from(
    { length },
    (_, index) => Math.floor(number / 256 ** (length - 1 - index)) % 256,
  );
}

function hex(bytes: readonly number[]): string {
  return bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function uuidText(version: number, raw: readonly number[]): string {
  const bits = raw.map((byte, index) => {
    if (index === 6) return (byte & 0x0f) | (version << 4);
    return index === 8 ? (byte & 0x3f) | 0x80 : byte;
  });
  const text = hex(bits);
  const cuts = [0, 8, 12, 16, 20, 32];
  return cuts
    .slice(1)
    .map((end, index) => text.slice(cuts[index], end))
    .join("-");
}

/** The number that the bytes are, written with the digits of an alphabet. */
function digits(
  bytes: readonly number[],
  alphabet: string,
  length: number,
): string {
  const base = alphabet.length;
  let rest = [...bytes];
  let text = "";
  for (let place = 0; place < length; place += 1) {
    let carry = 0;
    rest = rest.map((byte) => {
      const value = carry * 256 + byte;
      carry = value % base;
      return Math.floor(value / base);
    });
    text = alphabet.charAt(carry) + text;
  }
  return text;
}

function hexId(size: number, draw: Draw): string {
  const raw = [...draw.random(size)];
  // The last byte is made odd: an id of zeros only is not one.
  const last = (raw.pop() ?? 0) | 1;
  return hex([...raw, last]);
}
