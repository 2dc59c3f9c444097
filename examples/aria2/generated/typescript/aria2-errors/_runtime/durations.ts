// Copied from faultspec; do not edit
/**
 * Durations as people write them.
 *
 * Read: a number with one unit (`250ms`, `2.5s`, `5m`, `24h`, `7d`), a plain
 * number of seconds, or an ISO 8601 duration of weeks, days, hours, minutes and
 * seconds (`PT24H`, `P1DT12H`). Months and years are refused: they have no fixed
 * length. Written: the shortest of these.
 */

const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
  ["s", 1],
] as const;

/** Seconds; what is longer is a mistake, or infinite. */
const LONGEST = 2 ** 63;

const NUMBER = "[0-9]+(?:\\.[0-9]+)?";
const PLAIN = new RegExp(`^(${NUMBER})(ms|[smhd])?$`);
const ISO = new RegExp(
  `^P(?=[0-9T])(?:(${NUMBER})W)?(?:(${NUMBER})D)?` +
    `(?:T(?=[0-9])(?:(${NUMBER})H)?(?:(${NUMBER})M)?(?:(${NUMBER})S)?)?$`,
);
const ISO_SECONDS = [7 * 86_400, 86_400, 3_600, 60, 1];

/**
 * The duration in seconds, finite and not negative; throws a RangeError for
 * anything else.
 */
export function seconds(text: string | number): number {
  const value = typeof text === "string" ? read(text) : text;
  if (!(value >= 0 && value <= LONGEST)) {
    throw new RangeError(`a duration is finite and not negative: ${text}`);
  }
  return value;
}

/**
 * The shortest way to write a duration, to the nanosecond: `1.5s`, `90s`, `36h`;
 * `seconds` reads it back.
 */
export function render(seconds: number): string {
  for (const [unit, length] of UNITS) {
    if (seconds % length === 0 && (seconds >= length || unit === "s")) {
      return `${BigInt(Math.floor(seconds / length))}${unit}`;
    }
  }
  const milliseconds = Number(fixed(seconds * 1000, 6));
  const inSeconds = `${trimmed(fixed(seconds, 9))}s`;
  if (Number.isInteger(milliseconds)) {
    const short = `${BigInt(milliseconds)}ms`;
    return short.length <= inSeconds.length ? short : inSeconds;
  }
  return inSeconds;
}

/** A quantity in six significant digits, as `%g` writes it in other languages. */
export function quantity(value: number): string {
  const [digits = "0", power = "0"] = value.toExponential(5).split("e");
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) {
    return trimmed(fixed(value, 5 - exponent));
  }
  const sign = exponent < 0 ? "-" : "+";
  return `${trimmed(digits)}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** `toFixed`, which takes the greater of two as near, but with the even one. */
function fixed(value: number, digits: number): string {
  const nearest = value.toFixed(digits);
  const exact = value.toFixed(Math.min(100, digits + 25));
  const cut = exact.slice(0, nearest.length);
  const tie = /^\.?50*$/.test(exact.slice(nearest.length));
  return tie && /[02468]\.?$/.test(cut) ? cut : nearest;
}

function trimmed(decimal: string): string {
  return decimal.includes(".") ? decimal.replace(/\.?0+$/, "") : decimal;
}

function read(text: string): number {
  const plain = PLAIN.exec(text);
  if (plain) {
    const number = Number(plain[1]);
    if (plain[2] === "ms") {
      return number / 1000;
    }
    const unit = UNITS.find(([name]) => name === (plain[2] ?? "s"));
    return number * (unit?.[1] ?? 1);
  }
  const iso = ISO.exec(text);
  if (iso) {
    return ISO_SECONDS.reduce(
      (sum, length, index) => sum + Number(iso[index + 1] ?? 0) * length,
      0,
    );
  }
  throw new RangeError(
    `${JSON.stringify(text)} is not a duration (write 250ms, 2.5s, 5m, 24h, ` +
      "7d or PT24H)",
  );
}
