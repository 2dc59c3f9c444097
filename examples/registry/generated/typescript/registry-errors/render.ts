/** From an error to a whole answer: status, headers and body. */

// Generated from examples/registry/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/registry/taxonomy.yaml

import { type Slots, fillShape } from "./_runtime/envelopes.js";
import { type Fields, withField } from "./_runtime/fields.js";
import * as retryAfter from "./_runtime/retry-after.js";
import { type Picture, compileShape, scalarText } from "./_runtime/shape.js";
import { factsOf } from "./catalog.js";
import {
  type ConstantField,
  type EnvelopeName,
  type SentError,
  kindOf,
  withConstants,
} from "./exceptions.js";

/**
 * An envelope as it is sent. `listed`: its details are a list. `shown`: they are there
 * even if they are empty. `spelled`: its status is a text. `headers` carry slots too.
 */
interface SentEnvelope {
  readonly mediaType: string;
  readonly picture: Picture;
  readonly listed: boolean;
  readonly shown: boolean;
  readonly spelled: boolean;
  readonly headers: readonly {
    readonly slot: string;
    readonly name: string;
    readonly pattern: string | null;
  }[];
}

// prettier-ignore
const ENVELOPES: Readonly<Record<EnvelopeName, SentEnvelope>> = {
  errors: {
    mediaType: "application/json",
    picture: {
      errors: [
        {
          code: "$code",
          message: "$message",
          "detail?": "$detail",
        },
      ],
    },
    listed: false,
    shown: false,
    spelled: false,
    headers: [],
  },
};

/** Headers that every answer under these statuses has, with any code. */
// prettier-ignore
const CONSTANTS: readonly ConstantField[] = [
  {
    name: "Docker-Distribution-API-Version",
    value: "registry/2.0",
    on: [
      [
        401,
        401,
      ],
    ],
  },
];

/** The member of errors for each slot, and the header that repeats it. */
// prettier-ignore
const PLACES: readonly {
  readonly member: string;
  readonly slot: string;
  readonly header: string | null;
}[] = [
  {
    member: "detail",
    slot: "detail",
    header: null,
  },
];

/** The member of errors for each slot that is never null where an envelope needs it. */
// prettier-ignore
export const NEEDED: Readonly<Record<string, string>> = {};

/** An answer, ready to send. `headers` have Content-Type, not Content-Length. */
export interface Rendered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * How an error is written. `slots` are values for slots that the error does not know.
 */
export interface Rendering {
  readonly envelope?: EnvelopeName | undefined;
  readonly slots?: Slots | undefined;
}

/** The media type of an envelope. */
export function mediaTypeOf(envelope: EnvelopeName): string {
  return ENVELOPES[envelope].mediaType;
}

/**
 * The body of an error, as JSON data. Throws TypeError if the envelope needs a value that
 * was not given.
 */
export function toEnvelope(error: SentError, how: Rendering = {}): unknown {
  return written(error, how).content;
}

/** The whole answer. A code without an HTTP status is sent as 500. */
export function render(error: SentError, how: Rendering = {}): Rendered {
  const { name, content, values } = written(error, how);
  const several = [...[...error.others].reverse(), error];
  const status = commonStatus(several.map((each) => each.status ?? 500));
  const { mediaType, headers } = ENVELOPES[name];
  let fields: Fields = [["Content-Type", mediaType]];
  fields = withConstants(fields, CONSTANTS, status);
  for (const each of several) {
    const constants = kindOf(each)?.constants ?? [];
    fields = withConstants(fields, constants, each.status ?? 500);
    for (const [field, value] of Object.entries(each.headers)) {
      fields = withField(fields, field, value);
    }
  }
  const waits = several.flatMap(({ retryAfter: wait }) =>
    wait === null ? [] : [wait],
  );
  if (waits.length > 0) {
    const longest = retryAfter.render(Math.max(...waits));
    fields = withField(fields, "Retry-After", longest);
  }
  for (const { slot, header } of PLACES) {
    const text = scalarText(values[slot]);
    if (header !== null && text !== null) {
      fields = withField(fields, header, text);
    }
  }
  for (const { slot, name: field, pattern } of headers) {
    const text = scalarText(values[slot]);
    if (text !== null && isReadBack(text, pattern)) {
      fields = withField(fields, field, text);
    }
  }
  return {
    status,
    headers: Object.fromEntries(fields),
    body: JSON.stringify(content),
  };
}

/** An error as an envelope has it, and the values of its slots. */
function written(
  error: SentError,
  how: Rendering,
): {
  readonly name: EnvelopeName;
  readonly content: unknown;
  readonly values: Slots;
} {
  const otherwise = "errors";
  const name = how.envelope ?? kindOf(error)?.envelope ?? otherwise;
  const shape = compileShape(ENVELOPES[name].picture);
  const values: Record<string, unknown> = {
    ...slotValues(error, name),
    ...how.slots,
  };
  const others = error.others.map((other) => {
    const known = Object.entries(slotValues(other, name)).filter(
      ([, value]) => (value ?? null) !== null,
    );
    const spare = { ...how.slots } as Record<string, unknown>;
    return {
      ...slotValues(other, name),
      ...spare,
      ...Object.fromEntries(known),
    };
  });
  return { name, content: fillShape(shape, values, others), values };
}

/** The value of each slot of an error, null if it has none. */
function slotValues(
  error: SentError,
  name: EnvelopeName,
): Record<string, unknown> {
  const facts = factsOf(error);
  const { listed, shown, spelled } = ENVELOPES[name];
  const isEmpty = Object.keys(error.details).length === 0;
  const details = isEmpty && !shown ? null : error.details;
  const { status } = error;
  const { wire } = facts;
  const members = error as object as Readonly<Record<string, unknown>>;
  const values: Record<string, unknown> = {
    code: wire,
    message: error.message,
    summary: facts.summary,
    status: spelled && status !== null ? String(status) : status,
    retriable: error.retriable,
    boundary: error.boundary,
    domain: facts.domain,
    details: listed && details !== null ? [details] : details,
  };
  for (const { member, slot } of PLACES) {
    const value = members[member] ?? null;
    const isLacking = value === null && slot in NEEDED;
    values[slot] = isLacking ? undefined : value;
  }
  return values;
}

/** The status of an answer with several errors (JSON:API 1.1). */
function commonStatus(statuses: readonly number[]): number {
  const [first = 500] = statuses;
  if (statuses.every((each) => each === first)) return first;
  return statuses.every((each) => each < 500) ? 400 : 500;
}

/** Whether a header from which a slot is read by a pattern gives the same text. */
function isReadBack(text: string, pattern: string | null): boolean {
  return pattern === null || new RegExp(pattern, "u").exec(text)?.[1] === text;
}
