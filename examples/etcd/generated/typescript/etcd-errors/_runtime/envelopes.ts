// Copied from faultspec; do not edit
/** A body in an envelope, from the values of its slots. */

import { type Shape, has, isObject, scalarText } from "./shape.js";

/** The values of slots; null is null on the wire, and undefined is left out. */
export type Slots = Readonly<Record<string, unknown>>;

/**
 * The body with the slots filled in. `others` are the slots of further errors, which
 * have a place if the shape has a list of errors.
 *
 * An optional member is left out when its slots are all absent or null, or, for a
 * string, when any of them is. Throws TypeError for a required slot without a value, and
 * for a value that cannot stand where its slot does.
 */
export function fillShape(
  shape: Shape,
  slots: Slots,
  others: readonly Slots[] = [],
): unknown {
  switch (shape.kind) {
    case "slot":
      return value(shape.name, slots);
    case "literal":
      return shape.value;
    case "template":
      return shape.texts
        .map((text, index) => {
          const before = index === 0 ? undefined : shape.slots[index - 1];
          return before === undefined ? text : textOf(before, slots) + text;
        })
        .join("");
    case "array": {
      const further = listsErrors(shape) ? others : [];
      return [slots, ...further].map((each) => fillShape(shape.item, each));
    }
    case "object": {
      const members = shape.members
        .filter((each) => !(each.optional && isVacant(each.shape, slots)))
        .map((each): [string, unknown] => [
          each.name,
          fillShape(each.shape, slots, others),
        ]);
      return Object.fromEntries([...members, ...spread(shape, slots)]);
    }
  }
}

function spread(
  shape: Extract<Shape, { kind: "object" }>,
  slots: Slots,
): [string, unknown][] {
  const name = shape.spread;
  const extra = name === null ? null : (known(name, slots) ?? null);
  if (extra === null) return [];
  if (!isObject(extra))
    throw new TypeError(`the slot ${name} has to be an object`);
  const taken = shape.members.find((each) => has(extra, each.name));
  if (taken !== undefined) {
    throw new TypeError(
      `the slot ${name} has a member that stands beside it: ${taken.name}`,
    );
  }
  return Object.entries(extra);
}

/** Whether each item of a list is an error. */
function listsErrors(shape: Shape): boolean {
  return (
    shape.kind === "array" &&
    places(shape.item).some((names) =>
      names.some((name) => name === "code" || name === "message"),
    )
  );
}

/** The slots of each place that has any, here and further down. */
function places(shape: Shape): readonly (readonly string[])[] {
  switch (shape.kind) {
    case "slot":
      return [[shape.name]];
    case "template":
      return shape.slots.length > 0 ? [shape.slots] : [];
    case "array":
      return places(shape.item);
    case "object": {
      const inner = shape.members.flatMap((each) => places(each.shape));
      return shape.spread === null ? inner : [...inner, [shape.spread]];
    }
    case "literal":
      return [];
  }
}

/** Whether there are slots here or further down, and no place for them can be filled. */
function isVacant(shape: Shape, slots: Slots): boolean {
  const found = places(shape);
  return (
    found.length > 0 &&
    found.every((names) =>
      names.some((name) => (known(name, slots) ?? null) === null),
    )
  );
}

function value(name: string, slots: Slots): unknown {
  const found = known(name, slots);
  if (found === undefined) throw new TypeError(`no value for the slot ${name}`);
  return found;
}

function textOf(name: string, slots: Slots): string {
  const text = scalarText(value(name, slots));
  if (text === null) throw new TypeError(`the slot ${name} has to be a scalar`);
  return text;
}

/** The value of a slot itself, and not of the prototype. */
function known(name: string, slots: Slots): unknown {
  return has(slots, name) ? slots[name] : undefined;
}
