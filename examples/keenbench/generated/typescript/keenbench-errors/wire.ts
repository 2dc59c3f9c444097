/** The envelope: what is on the wire, and the error that an answer says. */

// Generated from examples/keenbench/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/keenbench/taxonomy.yaml

import * as retryAfter from "./_runtime/retry-after.js";
import {
  type Extraction,
  type Picture,
  compileShape,
  extract,
  has,
  isObject,
} from "./_runtime/shape.js";
import {
  type Entry,
  entryOf,
  factsOf,
  isDeclared,
  retriable,
} from "./catalog.js";
import type { Facts, Wire } from "./codes.js";
import type * as d from "./details.js";
import type { AnyError, UnknownError } from "./errors.js";

/** ErrorInfo: what the interface branches on. */
export type ErrorInfoEnvelope = d.Details & {
  readonly error_code: Wire;
  readonly phase: d.PhaseSlot;
  readonly subphase?: d.SubphaseSlot;
  readonly retryable: boolean;
  readonly actions: readonly string[];
};

/** The answer to a request that failed in the application. */
export interface RpcEnvelope {
  readonly jsonrpc: "2.0";
  readonly id: string | number;
  readonly error: {
    readonly code: -32000;
    readonly message: string;
    readonly data: d.Details & {
      readonly error_code: Wire;
      readonly phase: d.PhaseSlot;
      readonly subphase?: d.SubphaseSlot;
      readonly retryable: boolean;
      readonly actions: readonly string[];
    };
  };
}

/** The answer to what is no request of the engine's. */
export interface RpcProtocolEnvelope {
  readonly jsonrpc: "2.0";
  readonly id: string | number;
  readonly error: {
    readonly code: Wire;
    readonly message: string;
    readonly data?: d.Details;
  };
}

/** Whatever an error looks like on the wire. */
export type Envelope = ErrorInfoEnvelope | RpcEnvelope | RpcProtocolEnvelope;

const PICTURES: Readonly<Record<string, Picture>> = {
  error_info: {
    error_code: "$code",
    phase: "$phase",
    "subphase?": "$subphase",
    retryable: "$retriable",
    actions: "$actions",
    "...": "$details",
  },
  rpc: {
    jsonrpc: "2.0",
    id: "$request_id",
    error: {
      code: -32000,
      message: "$message",
      data: {
        error_code: "$code",
        phase: "$phase",
        "subphase?": "$subphase",
        retryable: "$retriable",
        actions: "$actions",
        "...": "$details",
      },
    },
  },
  rpc_protocol: {
    jsonrpc: "2.0",
    id: "$request_id",
    error: {
      code: "$code",
      message: "$message",
      "data?": "$details",
    },
  },
};

const SHAPES = Object.values(PICTURES).map(compileShape);

/**
 * Headers, in lower case, that say what to do about an error; the others belong to
 * the one answer it came with.
 */
const CARRIED: Readonly<Record<string, true>> = {
  "retry-after": true,
};

/**
 * Where a member of errors stands on the wire: the slot of the envelope, the type
 * of its values if they have one, and the header that repeats it.
 */
interface Place {
  readonly member: string;
  readonly slot: string;
  readonly type: string | null;
  readonly header: string | null;
}

const PLACES: readonly Place[] = [
  {
    member: "phase",
    slot: "phase",
    type: "string",
    header: null,
  },
  {
    member: "subphase",
    slot: "subphase",
    type: "string",
    header: null,
  },
  {
    member: "actions",
    slot: "actions",
    type: "array",
    header: null,
  },
  {
    member: "requestId",
    slot: "request_id",
    type: null,
    header: null,
  },
];

/** The headers of an answer: those of `fetch`, those of Node, or a plain object. */
export type HeaderSource =
  | { forEach(each: (value: string, name: string) => void): void }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * What is known of an answer beside its body. `operation` is the one that was asked
 * for, where operations have codes of their own: its name, or the tool, method or
 * route that it is called by, as the taxonomy writes it.
 */
export interface Answer {
  readonly status?: number | null | undefined;
  readonly headers?: HeaderSource | null | undefined;
  readonly operation?: string | null | undefined;
}

/**
 * The error that an answer says; never throws, whatever the body.
 *
 * What is not declared comes back as an `UnknownError`, which keeps the body.
 * Whether the details are what the contract promises is not checked.
 *
 * @param body - JSON text, or the value that was read from it
 */
export function parse(body: unknown, answer: Answer = {}): AnyError {
  const headers = namedHeaders(answer.headers);
  const slots = read(body)?.slots ?? new Map<string, unknown>();
  const wire = slots.get("code");
  const code =
    typeof wire === "string" || typeof wire === "number" ? wire : null;
  const entry =
    code === null ? undefined : entryOf(code, answer.operation ?? null);
  const details = detailsIn(slots.get("details"));
  const sent = answer.status ?? typed(slots.get("status"), "integer");
  const message = typed(slots.get("message"), "string");
  const common: Record<string, unknown> = {
    boundary: typed(slots.get("boundary"), "string"),
    headers: Object.fromEntries(
      headers.filter(([name]) => has(CARRIED, name.toLowerCase())),
    ),
    retryAfter: wait(headers),
  };
  for (const { member, slot, type, header } of PLACES) {
    const value = typed(slots.get(slot), type);
    const repeated = header !== null && type === "string" && !value;
    common[member] = repeated ? headerOf(headers, header) : value;
  }
  if (entry === undefined) {
    const unknown: Omit<UnknownError, keyof typeof common> = {
      known: false,
      code: null,
      operation: null,
      message: "",
      status: sent as number | null,
      retriable: false,
      flag: null,
      details,
      originalCode: code,
      raw: body,
    };
    const facts = factsOf({ ...common, ...unknown } as UnknownError);
    const said = message ?? defaultMessage(facts, details);
    return { ...common, ...unknown, message: said } as UnknownError;
  }
  const { facts } = entry;
  const flag = flagIn(entry, slots.get("retriable"), details);
  const status = (sent as number | null) ?? facts.status;
  return {
    ...common,
    known: true,
    code: entry.code,
    operation: entry.operation,
    message: message ?? defaultMessage(facts, details),
    status,
    retriable: flag ?? retriable(facts, details, { status }),
    flag,
    details,
  } as unknown as AnyError;
}

/** Whether a body is an envelope of these with a declared code in it. */
export function isEnvelope(body: unknown): body is Envelope {
  const found = read(body);
  const wire = found?.fits === true ? found.slots.get("code") : null;
  return (
    (typeof wire === "string" || typeof wire === "number") &&
    entryOf(wire, null) !== undefined
  );
}

/**
 * What the body says through an envelope that fits, else through one in which a
 * code can be found: the first whose code is declared, else the first.
 */
function read(body: unknown): Extraction | undefined {
  let data = body;
  if (typeof body === "string") {
    try {
      data = JSON.parse(body);
    } catch {
      return undefined;
    }
  }
  const readings = SHAPES.map((shape) => extract(shape, data));
  const fitting = readings.filter((each) => each.fits);
  const coded = readings.filter((each) => each.slots.has("code"));
  const likely = fitting.length > 0 ? fitting : coded;
  return likely.find((each) => isDeclared(each.slots.get("code"))) ?? likely[0];
}

function detailsIn(value: unknown): d.Details {
  const one: unknown =
    Array.isArray(value) && value.length === 1 ? value[0] : value;
  return isObject(one) ? one : {};
}

/**
 * The default message with each `${key}` replaced by that detail; the summary where
 * one is missing.
 */
function defaultMessage(facts: Facts, details: d.Details): string {
  let whole = true;
  const message = facts.message.replace(/\$\{(\w+)\}/g, (_, key: string) => {
    const value = has(details, key) ? (details[key] ?? null) : null;
    whole &&= value !== null;
    return typeof value === "string" ? value : JSON.stringify(value);
  });
  return whole ? message : facts.summary;
}

/** Whether this request may be sent again, as the answer says, if it does. */
function flagIn(
  { flagKey }: Entry,
  slot: unknown,
  details: d.Details,
): boolean | null {
  const inside =
    flagKey !== null && has(details, flagKey) ? details[flagKey] : null;
  const said = typeof slot === "boolean" ? slot : inside;
  return typeof said === "boolean" ? said : null;
}

/** The value where it is of the type; else null, as a body may hold anything. */
function typed(value: unknown, type: string | null): unknown {
  switch (type) {
    case null:
      return value ?? null;
    case "integer":
      return Number.isInteger(value) ? value : null;
    case "array":
      return Array.isArray(value) ? value : null;
    case "object":
      return isObject(value) ? value : null;
    default:
      return typeof value === type ? value : null;
  }
}

function namedHeaders(
  headers: HeaderSource | null | undefined,
): [name: string, value: string][] {
  const found: [name: string, value: string][] = [];
  if (headers === null || headers === undefined) {
    return found;
  }
  if (typeof headers.forEach === "function") {
    headers.forEach((value, name) => found.push([name, value]));
    return found;
  }
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === "string") {
      found.push([name, value]);
    } else if (Array.isArray(value)) {
      found.push([name, value.join(", ")]);
    }
  }
  return found;
}

function headerOf(
  headers: readonly [name: string, value: string][],
  name: string,
): string | null {
  const wanted = name.toLowerCase();
  const found = headers.find(([each]) => each.toLowerCase() === wanted);
  return found?.[1] ?? null;
}

function wait(
  headers: readonly [name: string, value: string][],
): number | null {
  const value = headerOf(headers, "Retry-After");
  const now = Date.now() / 1000;
  return value === null
    ? null
    : retryAfter.parse(value, { now, lenient: true }).seconds;
}
