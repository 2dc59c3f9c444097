// Copied from faultspec; do not edit
/**
 * An envelope is a picture of the wire with slots in it; this reads a body through
 * one.
 *
 * | written                 | means                                              |
 * | ----------------------- | -------------------------------------------------- |
 * | `"$code"`               | the value of the slot `code`, whatever its type    |
 * | `"https://e/${code}"`   | a string with the slot's text inside it            |
 * | `"$$"`                  | a dollar, anywhere in a string                     |
 * | `{"details?": …}`       | a member that may be left out                      |
 * | `{"...": "$details"}`   | the members of the slot's value, in the object     |
 * | `[{"code": "$code"}]`   | a list of at least one item of that shape          |
 * | any other scalar        | itself                                             |
 */

export type Picture =
  | string
  | number
  | boolean
  | null
  | readonly [Picture]
  | { readonly [member: string]: Picture };

/** A picture read once: what stands at a place of the body. */
export type Shape =
  | { readonly kind: "slot"; readonly name: string }
  | { readonly kind: "literal"; readonly value: unknown }
  | {
      readonly kind: "template";
      readonly texts: readonly string[];
      readonly slots: readonly string[];
    }
  | { readonly kind: "array"; readonly item: Shape }
  | {
      readonly kind: "object";
      readonly members: readonly Member[];
      readonly spread: string | null;
    };

interface Member {
  readonly name: string;
  readonly shape: Shape;
  readonly optional: boolean;
}

/**
 * A body that was read through a shape: the values of the slots that were found,
 * and whether all that the shape asks for is there. `others` has the slots of each
 * further error of a list: its own, and those that stand beside the list.
 */
export interface Extraction {
  readonly slots: ReadonlyMap<string, unknown>;
  readonly fits: boolean;
  readonly others: readonly ReadonlyMap<string, unknown>[];
}

/** The shape that a picture draws; pictures are written by the compiler. */
export function compileShape(picture: Picture): Shape {
  if (typeof picture === "string") {
    return compileString(picture);
  }
  if (isList(picture)) {
    return { kind: "array", item: compileShape(picture[0]) };
  }
  if (picture === null || typeof picture !== "object") {
    return { kind: "literal", value: picture };
  }
  let spread: string | null = null;
  const members: Member[] = [];
  for (const [key, value] of Object.entries(picture)) {
    const shape = compileShape(value);
    if (key === "..." && shape.kind === "slot") {
      spread = shape.name;
    } else {
      const optional = key.endsWith("?");
      const name = optional ? key.slice(0, -1) : key;
      members.push({ name, shape, optional });
    }
  }
  return { kind: "object", members, spread };
}

/**
 * Read whatever of `body` can be read through the shape; never throws, whatever
 * the body.
 *
 * Of a list the first item with a code counts, or the first if none has one, and of
 * a list of errors all. In a string the code takes as little as lets the rest match,
 * and then each other slot from the left. Where a slot stands in a string
 * and also on its own, the value is the latter's. A spread slot is absent if
 * nothing is left to spread.
 */
export function extract(shape: Shape, body: unknown): Extraction {
  const reading = new Reading();
  const first = new Found();
  reading.read(shape, body, first, "");
  const others = reading.further
    .filter(({ values }) => values.has("code") || values.has("message"))
    .map((item) => new Map([...beside(first, item), ...item.values]));
  return { slots: first.values, fits: reading.fits, others };
}

/** The slots that are in no item of the list of an item. */
function beside(first: Found, item: Found): [string, unknown][] {
  const items = item.at.slice(0, item.at.lastIndexOf("/") + 1);
  return [...first.values].filter(
    ([slot]) => !(first.where.get(slot) ?? "").startsWith(items),
  );
}

/** A scalar as it stands inside a string, or null if `value` can't stand there. */
export function scalarText(value: unknown): string | null {
  const scalar =
    typeof value === "string" ||
    typeof value === "number" ||
    typeof value === "boolean";
  return scalar ? String(value) : null;
}

/** Whether a value is an object as JSON has it. */
export function isObject(
  value: unknown,
): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** Whether an object has a member itself, and not from its prototype. */
export function has(value: object, name: string): boolean {
  return Object.prototype.hasOwnProperty.call(value, name);
}

function isList(picture: Picture): picture is readonly [Picture] {
  return Array.isArray(picture);
}

function compileString(text: string): Shape {
  const whole = /^\$([a-z_][a-z0-9_]*)$/.exec(text);
  if (whole?.[1] !== undefined) {
    return { kind: "slot", name: whole[1] };
  }
  const texts: string[] = [""];
  const slots: string[] = [];
  for (const [piece, name] of text.matchAll(
    /\$\$|\$\{([a-z_][a-z0-9_]*)\}|[^$]+/g,
  )) {
    if (name === undefined) {
      texts.push((texts.pop() ?? "") + (piece === "$$" ? "$" : piece));
    } else {
      slots.push(name);
      texts.push("");
    }
  }
  return slots.length > 0
    ? { kind: "template", texts, slots }
    : { kind: "literal", value: texts[0] };
}

/** The slots found in one item of a list, or outside of all. */
class Found {
  readonly values = new Map<string, unknown>();
  /** The place of each. */
  readonly where = new Map<string, string>();
  /** Slots read from inside a string so far. */
  readonly fromTemplate = new Set<string>();

  /** `at`: the place of the item, empty outside of all. */
  constructor(readonly at = "") {}
}

/** The index of the item that counts: the first with a code, or the first of all. */
function indexOfMain(item: Shape, values: readonly unknown[]): number {
  const index =
    values.length > 1 && readsCode(item)
      ? values.findIndex(
          (value) => (extract(item, value).slots.get("code") ?? null) !== null,
        )
      : 0;
  return Math.max(index, 0);
}

function readsCode(shape: Shape): boolean {
  switch (shape.kind) {
    case "slot":
      return shape.name === "code";
    case "template":
      return shape.slots.includes("code");
    case "array":
      return readsCode(shape.item);
    case "object":
      return shape.members.some((member) => readsCode(member.shape));
    case "literal":
      return false;
  }
}

/** One `extract` under way. */
class Reading {
  fits = true;
  /** The other items of lists. */
  readonly further: Found[] = [];

  read(shape: Shape, value: unknown, found: Found, path: string): void {
    switch (shape.kind) {
      case "slot":
        return this.readSlot(shape.name, value, found, path);
      case "literal":
        this.fits &&= shape.value === value;
        return;
      case "template": {
        const texts = matched(shape, value);
        if (texts === null) {
          this.fits = false;
        } else {
          shape.slots.forEach((name, index) =>
            this.readText(name, texts[index] ?? "", found, path),
          );
        }
        return;
      }
      case "array":
        if (Array.isArray(value) && value.length > 0) {
          const main = indexOfMain(shape.item, value);
          value.forEach((each: unknown, index) => {
            const here = `${path}/${String(index)}`;
            const item = index === main ? found : new Found(here);
            if (index !== main) this.further.push(item);
            this.read(shape.item, each, item, here);
          });
        } else {
          this.fits = false;
        }
        return;
      case "object":
        if (isObject(value)) {
          this.readObject(shape.members, shape.spread, value, found, path);
        } else {
          this.fits = false;
        }
    }
  }

  private readObject(
    members: readonly Member[],
    spread: string | null,
    value: Readonly<Record<string, unknown>>,
    found: Found,
    path: string,
  ): void {
    for (const { name, shape, optional } of members) {
      if (has(value, name)) {
        this.read(shape, value[name], found, `${path}/${name}`);
      } else {
        this.fits &&= optional;
      }
    }
    if (spread !== null) {
      const named = new Set(members.map((each) => each.name));
      const rest = Object.entries(value).filter(([key]) => !named.has(key));
      if (rest.length > 0) {
        this.readSlot(spread, Object.fromEntries(rest), found, path);
      }
    }
  }

  private readSlot(
    name: string,
    value: unknown,
    found: Found,
    path: string,
  ): void {
    const { values, fromTemplate } = found;
    if (values.has(name)) {
      if (!fromTemplate.has(name)) {
        this.fits &&= equal(values.get(name), value);
        return;
      }
      this.fits &&= scalarText(value) === values.get(name);
    }
    fromTemplate.delete(name);
    values.set(name, value);
    found.where.set(name, path);
  }

  private readText(
    name: string,
    text: string,
    found: Found,
    path: string,
  ): void {
    if (found.values.has(name)) {
      this.fits &&= scalarText(found.values.get(name)) === text;
    } else {
      this.readSlot(name, text, found, path);
      found.fromTemplate.add(name);
    }
  }
}

/**
 * The texts of the slots, or null. The code is as short as lets the rest match, and
 * so are the slots behind it and those of a string without a code: a message before
 * the code may have the separator in it.
 */
function matched(
  {
    texts,
    slots,
  }: { readonly texts: readonly string[]; readonly slots: readonly string[] },
  value: unknown,
): string[] | null {
  const [first = ""] = texts;
  const last = texts[texts.length - 1] ?? "";
  if (typeof value !== "string") {
    return null;
  }
  const end = value.length - last.length;
  if (end < first.length || !value.startsWith(first) || !value.endsWith(last)) {
    return null;
  }
  const text = value.slice(0, end);
  const before = Math.max(slots.indexOf("code"), 0);
  const front = split(text, texts.slice(1, before), first.length);
  if (front === null || before === 0) {
    return front && splitRest(text, texts.slice(1, -1), front.at);
  }
  const code = findCode(text, texts.slice(before, -1), front.at);
  const behind = code && splitRest(text, texts.slice(before + 1, -1), code.end);
  return (
    behind && [...front.found, text.slice(front.at, code.begin), ...behind]
  );
}

/**
 * Where the separator before the shortest code begins and ends, or null. Behind the
 * code come the other separators. Each step goes on behind the last one, so that the
 * time is linear in the text.
 */
function findCode(
  text: string,
  [before = "", ...behind]: readonly string[],
  from: number,
): { begin: number; end: number } | null {
  const [next] = behind;
  if (next === undefined) {
    const begin = text.lastIndexOf(before);
    return begin < from ? null : { begin, end: begin + before.length };
  }
  const latest = lastPlace(text, behind);
  let found: { begin: number; end: number } | null = null;
  let shortest = text.length + 1;
  let begin = text.indexOf(before, from);
  while (begin >= 0) {
    const stop = text.indexOf(next, begin + before.length);
    if (stop < 0 || stop > latest) {
      break;
    }
    begin = text.lastIndexOf(before, stop - before.length);
    if (stop - begin < shortest) {
      found = { begin, end: begin + before.length };
      shortest = stop - begin;
    }
    begin = text.indexOf(before, Math.max(begin + 1, stop - before.length + 1));
  }
  return found;
}

/** The last place of the first separator that leaves room for the others. */
function lastPlace(text: string, separators: readonly string[]): number {
  let end = text.length;
  for (const separator of [...separators].reverse()) {
    end =
      end < separator.length
        ? -1
        : text.lastIndexOf(separator, end - separator.length);
  }
  return end;
}

/** The texts between the separators, with the one behind the last separator. */
function splitRest(
  text: string,
  separators: readonly string[],
  from: number,
): string[] | null {
  const parts = split(text, separators, from);
  return parts && [...parts.found, text.slice(parts.at)];
}

/** The text before each separator, as short as can be, and the place behind them. */
function split(
  text: string,
  separators: readonly string[],
  from: number,
): { found: string[]; at: number } | null {
  const found: string[] = [];
  let at = from;
  for (const separator of separators) {
    const next = text.indexOf(separator, at);
    if (next < 0) {
      return null;
    }
    found.push(text.slice(at, next));
    at = next + separator.length;
  }
  return { found, at };
}

/** Equality as JSON has it; what nests too deep to compare counts as different. */
function equal(a: unknown, b: unknown): boolean {
  try {
    return same(a, b);
  } catch (error) {
    if (error instanceof RangeError) {
      return false;
    }
    throw error;
  }
}

function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((each, at) => same(each, b[at]));
  }
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a);
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => has(b, key) && same(a[key], b[key]))
    );
  }
  return a === b;
}
