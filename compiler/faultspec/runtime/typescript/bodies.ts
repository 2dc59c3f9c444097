/**
 * Bodies by media type: from text to a JSON-like value.
 *
 * | format     | media types                         | value                         |
 * | ---------- | ----------------------------------- | ----------------------------- |
 * | JSON       | `application/json`, `+json`         | itself                        |
 * | JSON lines | `application/x-ndjson`, `…/jsonl`   | a value in each line          |
 * | form       | `application/x-www-form-urlencoded` | one object of texts           |
 * | text       | `text/plain`                        | a string                      |
 * | XML, CBOR  | `+xml`, `text/xml`, `+cbor`         | not read: no parser is at hand |
 */

import { type Shape, has, isObject } from "./shape.js";

/** The types that a text may stand for; none: any. */
export interface TextType {
  readonly types: readonly string[];
  readonly members?: Readonly<Record<string, TextType>>;
  readonly items?: TextType;
}

/** A value that a body may have in an envelope; `typed`: numbers are not texts. */
export interface BodyValue {
  readonly envelope: string;
  readonly value: unknown;
  readonly typed: boolean;
}

/** The values of a body, or why it has none. */
export interface BodyValues {
  readonly values: readonly BodyValue[];
  readonly unreadable: string | null;
}

type Format = "JSON" | "JSON lines" | "XML" | "CBOR" | "form" | "text";

/** More values than these are not read, as in the other bindings. */
const MOST = 250_000;

const TYPES: Readonly<Record<string, Format>> = {
  "application/x-ndjson": "JSON lines",
  "application/ndjson": "JSON lines",
  "application/jsonl": "JSON lines",
  "application/json-lines": "JSON lines",
  "application/x-www-form-urlencoded": "form",
  "text/plain": "text",
};

const SUFFIXES: Readonly<Record<string, Format>> = {
  json: "JSON",
  xml: "XML",
  cbor: "CBOR",
};

/** A media type in lower case, without its parameters. */
export function mediaEssence(contentType: string | null): string {
  return (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

function formatOf(essence: string): Format | null {
  const suffix = essence.includes("+")
    ? essence.slice(essence.lastIndexOf("+") + 1)
    : essence.slice(essence.indexOf("/") + 1);
  if (has(TYPES, essence)) return TYPES[essence] ?? null;
  if (has(SUFFIXES, suffix)) return SUFFIXES[suffix] ?? null;
  const vendors = /^application\/x-[A-Za-z0-9_.]+-json-[0-9]+(?:\.[0-9]+)*$/;
  return vendors.test(essence) ? "JSON" : null;
}

/**
 * The values that a body may have in each envelope; a body that was read already stands
 * for itself.
 *
 * `envelopes`: their media types. An envelope of the media type of the answer is meant;
 * without one, any whose format the body has.
 */
export function bodyValues(
  body: unknown,
  contentType: string | null,
  envelopes: Readonly<Record<string, readonly string[]>>,
): BodyValues {
  const essence = mediaEssence(contentType);
  const all = Object.entries(envelopes);
  const meant = all.filter(([, types]) => types.includes(essence));
  const values: BodyValue[] = [];
  const problems = new Set<string>();
  for (const [envelope, types] of meant.length > 0 ? meant : all) {
    const named = meant.length > 0 ? [essence] : types;
    for (const format of new Set(named.map(formatOf))) {
      if (typeof body !== "string") {
        values.push({ envelope, value: body, typed: true });
        continue;
      }
      const found = decode(format, body);
      if (typeof found === "string") {
        problems.add(found);
        continue;
      }
      const typed = format === "JSON" || format === "JSON lines";
      values.push(...found.map((value) => ({ envelope, value, typed })));
    }
  }
  const reasons = [...problems].join("; ");
  return { values, unreadable: values.length > 0 ? null : reasons };
}

/** The values in a text, or why it has none. */
function decode(
  format: Format | null,
  text: string,
): readonly unknown[] | string {
  switch (format) {
    case "JSON":
      return json(text);
    case "JSON lines":
      return jsonLines(text);
    case "form":
      return form(text);
    case "text":
      return [text.replace(/\r?\n?$/, "")];
    case null:
      return "no format is known for the media type";
    default:
      return `${format} is not read in TypeScript`;
  }
}

function json(text: string): readonly unknown[] | string {
  try {
    return [JSON.parse(text) as unknown];
  } catch {
    return "the body is not JSON";
  }
}

function jsonLines(text: string): readonly unknown[] | string {
  const values: unknown[] = [];
  const lines = text.split("\n", MOST + 2);
  if (lines.length > MOST + 1) return "the body has too many lines";
  for (const [index, line] of lines.entries()) {
    if (/^[ \t\r\v\f]*$/.test(line)) continue;
    const found = json(line);
    if (typeof found === "string") {
      return `the body is not JSON in line ${String(index + 1)}`;
    }
    values.push(...found);
  }
  return values;
}

function form(text: string): readonly unknown[] | string {
  const none = "the body is not a form";
  // eslint-disable-next-line no-control-regex -- ASCII has control characters
  if (!/^[\x00-\x7f]*$/.test(text)) return none;
  const pairs = text.trim().split("&", MOST + 1);
  if (pairs.length > MOST) return "the body has too many values";
  const found = new Map<string, string>();
  for (const pair of pairs) {
    const equals = pair.indexOf("=");
    if (equals < 0) return none;
    try {
      const name = unescaped(pair.slice(0, equals));
      if (found.has(name)) return "the form repeats a name";
      found.set(name, unescaped(pair.slice(equals + 1)));
    } catch {
      return none; // not UTF-8
    }
  }
  // An own property even if it is called `__proto__`.
  return [Object.fromEntries(found)];
}

function unescaped(text: string): string {
  return text
    .replace(/\+/g, " ")
    .replace(/(?:%[0-9A-Fa-f]{2})+/g, decodeURIComponent);
}

const ANY: TextType = { types: [] };

/**
 * A value of texts as the shape has it: a text becomes the constant whose JSON text it
 * is, one element a list of one, and the value of a slot what its type says. What does
 * not fit stays as it is.
 */
export function fitTexts(
  shape: Shape,
  value: unknown,
  types: Readonly<Record<string, TextType>>,
): unknown {
  switch (shape.kind) {
    case "slot":
      return convertText(value, typeIn(types, shape.name));
    case "literal":
      return typeof shape.value !== "string" &&
        value === JSON.stringify(shape.value)
        ? shape.value
        : value;
    case "array": {
      const items: readonly unknown[] = Array.isArray(value) ? value : [value];
      return items.map((each) => fitTexts(shape.item, each, types));
    }
    case "object": {
      const own = typeof value === "string" && value.trim() === "" ? {} : value;
      if (!isObject(own)) return own;
      const spread = typeIn(types, shape.spread ?? "");
      return Object.fromEntries(
        Object.entries(own).map(([name, each]) => {
          const member = shape.members.find((one) => one.name === name);
          const fitted =
            member === undefined
              ? convertText(each, typeIn(spread.members ?? {}, name))
              : fitTexts(member.shape, each, types);
          return [name, fitted];
        }),
      );
    }
    default:
      return value;
  }
}

function typeIn(
  types: Readonly<Record<string, TextType>>,
  name: string,
): TextType {
  return has(types, name) ? (types[name] ?? ANY) : ANY;
}

/** A text as the number, boolean, list or object of its type; itself if it is none. */
export function convertText(value: unknown, type: TextType): unknown {
  const { types } = type;
  let given = value;
  if (types.includes("array") && !Array.isArray(given)) {
    given = given === "" ? [] : [given];
  }
  if (Array.isArray(given)) {
    const item = type.items ?? (types.includes("array") ? ANY : type);
    return given.map((each: unknown) => convertText(each, item));
  }
  if (given === "" && types.includes("object") && !types.includes("string")) {
    return {};
  }
  if (isObject(given)) {
    return Object.fromEntries(
      Object.entries(given).map(([name, each]) => [
        name,
        convertText(each, typeIn(type.members ?? {}, name)),
      ]),
    );
  }
  return typeof given === "string" ? scalar(given, types) : given;
}

function scalar(text: string, types: readonly string[]): unknown {
  const plain = text.trim();
  if (types.length === 0 || types.includes("string")) return text;
  if (types.includes("boolean") && (plain === "true" || plain === "false")) {
    return plain === "true";
  }
  const whole = types.includes("integer") || types.includes("number");
  if (whole && /^-?[0-9]{1,300}$/.test(plain)) return Number(plain);
  const decimal = /^-?[0-9]{1,300}(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,3})?$/;
  if (types.includes("number") && decimal.test(plain)) return Number(plain);
  return types.includes("null") && ["", "null"].includes(plain) ? null : text;
}
