/** The envelopes on the wire, and the error in an answer. */

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
  defaultMessage,
  entryOf,
  factsOf,
  isDeclared,
  replacementOf,
  retriable,
} from "./catalog.js";
import type { CodeValue, Wire } from "./codes.js";
import type * as d from "./details.js";
import type { AnyError, UnknownError } from "./errors.js";

/** ErrorInfo: what the interface branches on. */
// prettier-ignore
export type ErrorInfoEnvelope = d.Details & {
  readonly error_code: CodeValue;
  readonly phase: d.PhaseSlot;
  readonly subphase?: d.SubphaseSlot;
  readonly retryable: boolean;
  readonly actions: readonly string[];
};

/** The answer to a request that failed in the application. */
// prettier-ignore
export interface RpcEnvelope {
  readonly jsonrpc: "2.0";
  readonly id: string | number;
  readonly error: {
    readonly code: -32000;
    readonly message: string;
    readonly data: d.Details & {
      readonly error_code: CodeValue;
      readonly phase: d.PhaseSlot;
      readonly subphase?: d.SubphaseSlot;
      readonly retryable: boolean;
      readonly actions: readonly string[];
    };
  };
}

/** The answer to a line that is not a request of the engine's. */
// prettier-ignore
export interface RpcProtocolEnvelope {
  readonly jsonrpc: "2.0";
  readonly id: string | number;
  readonly error: {
    readonly code: CodeValue;
    readonly message: string;
    readonly data?: d.Details;
  };
}

/** Any envelope on the wire. */
export type Envelope = Envelopes[keyof Envelopes];

/** The envelopes by name. */
interface Envelopes {
  readonly error_info: ErrorInfoEnvelope;
  readonly rpc: RpcEnvelope;
  readonly rpc_protocol: RpcProtocolEnvelope;
}

// prettier-ignore
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
 * Headers, in lower case, that are kept with an error; the others belong to the one
 * answer it came with.
 */
const CARRIED: Readonly<Record<string, true>> = {
  "retry-after": true,
};

/**
 * The place of a member of errors on the wire: the slot of the envelope, the type of
 * its values or null for any, and the header that repeats it.
 */
interface Place {
  readonly member: string;
  readonly slot: string;
  readonly type: string | null;
  readonly header: string | null;
}

// prettier-ignore
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
 * The facts of an answer beside its body. `operation` matters if operations have
 * codes of their own: its name, or its tool, method or route as the taxonomy writes
 * it.
 */
export interface Answer {
  readonly status?: number | null | undefined;
  readonly headers?: HeaderSource | null | undefined;
  readonly operation?: string | null | undefined;
}

/**
 * The error in an answer; never throws, whatever the body.
 *
 * An undeclared error becomes an `UnknownError`, which keeps the body and names the
 * replacement of a removed code. The details are not checked against the contract.
 *
 * @param body - JSON text, or the value that was read from it
 */
export function parse(body: unknown, answer: Answer = {}): AnyError {
  const headers = namedHeaders(answer.headers);
  const data = decoded(body);
  const raw = data === undefined ? body : data;
  const slots = read(data)?.slots ?? new Map<string, unknown>();
  const code = wireIn(slots.get("code"));
  const operation = answer.operation ?? null;
  const entry = code === null ? undefined : entryOf(code, operation);
  const details = detailsIn(slots.get("details"));
  const sent = answer.status ?? typed(slots.get("status"), "integer");
  const message = typed(slots.get("message"), "string");
  const common: Record<string, unknown> = {
    boundary: typed(slots.get("boundary"), "string"),
    headers: Object.fromEntries(
      headers.filter(([name]) => has(CARRIED, name.toLowerCase())),
    ),
    raw,
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
      replacedBy: code === null ? null : replacementOf(code, operation),
    };
    const facts = factsOf({ ...common, ...unknown } as UnknownError);
    const text = message ?? defaultMessage(facts, details);
    return { ...common, ...unknown, message: text } as UnknownError;
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

/** Whether a body is one of these envelopes with a declared code. */
export function isEnvelope(body: unknown): body is Envelope {
  const wire = fittingCode(body);
  return wire !== null && entryOf(wire, null) !== undefined;
}

/** The value of the code slot of a body that fits an envelope, null for any other. */
export function fittingCode(body: unknown, _answer: Answer = {}): Wire | null {
  const found = read(decoded(body));
  return found?.fits === true ? wireIn(found.slots.get("code")) : null;
}

/** The value of a JSON text, undefined if it is not JSON; any other value as it is. */
function decoded(body: unknown): unknown {
  if (typeof body !== "string") return body;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/**
 * The content of the body by an envelope that fits, else by one that finds a code:
 * the first whose code is declared, else the first.
 */
function read(data: unknown): Extraction | undefined {
  if (data === undefined) return undefined;
  const readings = SHAPES.map((shape) => extract(shape, data));
  const fitting = readings.filter(({ fits }) => fits);
  const coded = readings.filter(({ slots }) => slots.has("code"));
  const likely = fitting.length > 0 ? fitting : coded;
  return likely.find(({ slots }) => isDeclared(slots.get("code"))) ?? likely[0];
}

/** The value if it may be that of a code: a text, or a whole number. */
function wireIn(value: unknown): Wire | null {
  if (typeof value === "string") return value;
  return typeof value === "number" && Number.isInteger(value) ? value : null;
}

function detailsIn(value: unknown): d.Details {
  const one: unknown =
    Array.isArray(value) && value.length === 1 ? value[0] : value;
  return isObject(one) ? one : {};
}

/** The retry flag of the answer, null if it has none. */
function flagIn(
  { flagKey }: Entry,
  slot: unknown,
  details: d.Details,
): boolean | null {
  const inside =
    flagKey !== null && has(details, flagKey) ? details[flagKey] : null;
  const flag = typeof slot === "boolean" ? slot : inside;
  return typeof flag === "boolean" ? flag : null;
}

/** The value if it is of the type; else null, as a body may hold anything. */
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
  const found = headers.find(([key]) => key.toLowerCase() === wanted);
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
