// Copied from faultspec; do not edit
/** Errors as text: a picture with parameters in it, and their values. */

import { type Picture, has } from "./shape.js";

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

const WHOLE = /^\$([a-z_][a-z0-9_]*)$/;
const PARAMETER = /\$\$|\$\{([a-z_][a-z0-9_.]*)\}|\$([a-z_][a-z0-9_]*)/g;

/**
 * The picture with its parameters filled in. `"$code"` is the value whatever its
 * type, `"${code}: …"` a text with it inside. A line of text goes when one of its
 * parameters is missing, and a member `hint?` when all that it says is.
 */
export function fill(picture: Picture, value: Parameters): Json {
  if (typeof picture === "string") {
    const name = WHOLE.exec(picture)?.[1];
    return name === undefined
      ? lines(picture, value).join("\n")
      : ((value(name) as Json | undefined) ?? null);
  }
  if (picture === null || typeof picture !== "object") {
    return picture;
  }
  if (Array.isArray(picture)) {
    return picture.map((each: Picture) => fill(each, value));
  }
  const members = Object.entries(picture).filter(
    ([name, each]) => !(name.endsWith("?") && isMissing(each, value)),
  );
  return Object.fromEntries(
    members.map(([name, each]) => [name.replace(/\?$/, ""), fill(each, value)]),
  );
}

/** A member of an object itself, by name. */
export function memberOf(value: object, name: string): unknown {
  return has(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function isMissing(picture: Picture, value: Parameters): boolean {
  return typeof picture === "string" && lines(picture, value).length === 0;
}

function lines(text: string, value: Parameters): string[] {
  return text
    .split("\n")
    .map((line) => filled(line, value))
    .filter((line): line is string => line !== null);
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
      return typeof known === "string" ? known : JSON.stringify(known);
    },
  );
  return whole ? text : null;
}
