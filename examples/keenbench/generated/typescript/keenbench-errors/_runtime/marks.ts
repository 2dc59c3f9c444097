// Copied from faultspec; do not edit
/** The marks of an error in an answer: members of its body. */

import { has, isObject } from "./shape.js";

/**
 * Members of a JSON body that together make an answer an error, by JSON Pointer (RFC
 * 6901): those that are `present`, and those that `equal` a value.
 */
export interface Mark {
  readonly present: readonly string[];
  readonly equal: Readonly<Record<string, unknown>>;
}

/** Whether a body has all members of one of the marks. */
export function hasMark(body: unknown, marks: readonly Mark[]): boolean {
  return marks.some(
    ({ present, equal }) =>
      present.every((pointer) => found(body, pointer).length > 0) &&
      Object.entries(equal).every(([pointer, value]) => {
        const [own] = found(body, pointer);
        return JSON.stringify(own) === JSON.stringify(value);
      }),
  );
}

/** The value at a pointer, in a list; an empty list if there is none. */
function found(body: unknown, pointer: string): readonly unknown[] {
  let value = body;
  for (const step of pointer.split("/").slice(1)) {
    const name = step.replace(/~1/g, "/").replace(/~0/g, "~");
    const isThere = Array.isArray(value)
      ? /^(0|[1-9][0-9]*)$/.test(name) && has(value, name)
      : isObject(value) && has(value, name);
    if (!isThere) return [];
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return [value];
}
