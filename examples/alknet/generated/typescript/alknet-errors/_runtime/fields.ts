// Copied from faultspec; do not edit
/** Header fields: by name, of any case, and without what would begin another field. */

/** Statuses from a low to a high one, both included. */
export type Span = readonly [low: number, high: number];

/** Names and values of fields, in order. */
export type Fields = readonly (readonly [name: string, value: string])[];

/** The headers of a message: pairs, those of `fetch`, those of Node, or an object. */
export type FieldSource =
  | Fields
  | { forEach(each: (value: string, name: string) => void): void }
  | Readonly<Record<string, string | number | readonly string[] | undefined>>;

// RFC 9110 section 5.6.2
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Whether a status is in one of the spans. */
export function isIn(status: number | null, spans: readonly Span[]): boolean {
  return (
    status !== null &&
    spans.some(([low, high]) => low <= status && status <= high)
  );
}

/** The fields of a message; a field that Node has several of is several. */
export function fieldsOf(source: FieldSource | null | undefined): Fields {
  const found: [string, string][] = [];
  if (source === null || source === undefined) return found;
  if (isList(source)) return source;
  if (typeof source.forEach === "function") {
    source.forEach((value, name) => found.push([name, value]));
    return found;
  }
  for (const [name, value] of Object.entries(source)) {
    if (Array.isArray(value)) {
      value.forEach((each) => found.push([name, String(each)]));
    } else if (typeof value === "string" || typeof value === "number") {
      found.push([name, String(value)]);
    }
  }
  return found;
}

function isList(source: FieldSource): source is Fields {
  return Array.isArray(source);
}

/** The values of a field, in order. */
export function valuesOf(fields: Fields, name: string): readonly string[] {
  const wanted = name.toLowerCase();
  return fields
    .filter(([each]) => each.toLowerCase() === wanted)
    .map(([, value]) => value);
}

/**
 * The fields with one value for a name, or without it for null. A line end in a value
 * would begin another field (RFC 9110 section 5.5).
 */
export function withField(
  fields: Fields,
  name: string,
  value: string | null,
): Fields {
  const wanted = name.toLowerCase();
  const rest = fields.filter(([each]) => each.toLowerCase() !== wanted);
  return value === null
    ? rest
    : [...rest, [name, value.replace(/[\r\n\0]/g, " ")]];
}

/** Fields that servers take: names that are not tokens are left out, control characters and
 * characters of more than a byte are spaces. */
export function accepted(fields: Fields): Fields {
  return fields
    .filter(([name]) => TOKEN.test(name))
    .map(([name, value]) => [
      name,
      value.replace(/[^\t\x20-\x7e\x80-\xff]/g, " "),
    ]);
}

/** The fields that are given; throws TypeError for a name that is not a token. */
export function sendable(
  given: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  let found: Fields = [];
  for (const [name, value] of Object.entries(given)) {
    if (!TOKEN.test(name)) {
      throw new TypeError(
        `${JSON.stringify(name)} is not the name of a header`,
      );
    }
    if (value !== undefined) found = withField(found, name, value);
  }
  return Object.fromEntries(found);
}
