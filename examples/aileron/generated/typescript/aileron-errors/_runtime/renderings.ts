/** Errors as text: a picture with parameters in it, and their values. */

import { type Picture, has, scalarText } from "./shape.js";

/** A value as JSON has it. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [member: string]: Json };

/** The value of a parameter such as `code` or `details.hint`. */
export type Parameters = (name: string) => unknown;

const PARAMETER = /\$\$|\$\{([A-Za-z_][\w.]*)\}|\$([A-Za-z_]\w*)/g;

/**
 * The picture with its parameters filled in. A text that is a parameter alone is
 * its value, null where it is missing; elsewhere a line of text whose parameter is
 * missing is left out.
 */
export function fill(picture: Picture, value: Parameters): Json {
  if (typeof picture === "string") {
    const alone = /^\$(?:\{([A-Za-z_][\w.]*)\}|([A-Za-z_]\w*))$/.exec(picture);
    const name = alone?.[1] ?? alone?.[2];
    return name === undefined
      ? lines(picture, value)
      : ((value(name) as Json | undefined) ?? null);
  }
  if (picture === null || typeof picture !== "object") {
    return picture;
  }
  if (Array.isArray(picture)) {
    return picture.map((each: Picture) => fill(each, value));
  }
  return Object.fromEntries(
    Object.entries(picture).map(([name, each]) => [name, fill(each, value)]),
  );
}

/** A member of an object itself, by name. */
export function memberOf(value: object, name: string): unknown {
  return has(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function lines(text: string, value: Parameters): string {
  return text
    .split("\n")
    .map((line) => filled(line, value))
    .filter((line) => line !== null)
    .join("\n");
}

function filled(line: string, value: Parameters): string | null {
  let whole = true;
  const text = line.replace(
    PARAMETER,
    (found, braced?: string, plain?: string) => {
      const name = braced ?? plain;
      if (name === undefined) {
        return found.slice(1);
      }
      const known = value(name) ?? null;
      whole &&= known !== null;
      return scalarText(known) ?? JSON.stringify(known);
    },
  );
  return whole ? text : null;
}
