/** The declared error for a value of the code slot and an operation. */

// Generated from examples/etcd/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/etcd/taxonomy.yaml

import { has } from "./_runtime/shape.js";
import {
  type ErrorCode,
  FACTS,
  type Facts,
  type RetriableRule,
  type Wire,
} from "./codes.js";

/** A declared error; `flagKey` is the details key that is its retry flag. */
export interface Entry {
  readonly code: ErrorCode;
  readonly operation: string | null;
  readonly facts: Facts;
  readonly flagKey: string | null;
}

/** A row of `ENTRIES`: bare object literals would each have a type, compared in pairs by tsc. */
function entry(row: Entry): Entry {
  return row;
}

// prettier-ignore
const ENTRIES: readonly Entry[] = [
  entry({
    code: "CANCELLED",
    operation: null,
    facts: FACTS.CANCELLED,
    flagKey: null,
  }),
  entry({
    code: "UNKNOWN",
    operation: null,
    facts: FACTS.UNKNOWN,
    flagKey: null,
  }),
  entry({
    code: "INVALID_ARGUMENT",
    operation: null,
    facts: FACTS.INVALID_ARGUMENT,
    flagKey: null,
  }),
  entry({
    code: "DEADLINE_EXCEEDED",
    operation: null,
    facts: FACTS.DEADLINE_EXCEEDED,
    flagKey: null,
  }),
  entry({
    code: "NOT_FOUND",
    operation: null,
    facts: FACTS.NOT_FOUND,
    flagKey: null,
  }),
  entry({
    code: "ALREADY_EXISTS",
    operation: null,
    facts: FACTS.ALREADY_EXISTS,
    flagKey: null,
  }),
  entry({
    code: "PERMISSION_DENIED",
    operation: null,
    facts: FACTS.PERMISSION_DENIED,
    flagKey: null,
  }),
  entry({
    code: "RESOURCE_EXHAUSTED",
    operation: null,
    facts: FACTS.RESOURCE_EXHAUSTED,
    flagKey: null,
  }),
  entry({
    code: "FAILED_PRECONDITION",
    operation: null,
    facts: FACTS.FAILED_PRECONDITION,
    flagKey: null,
  }),
  entry({
    code: "ABORTED",
    operation: null,
    facts: FACTS.ABORTED,
    flagKey: null,
  }),
  entry({
    code: "OUT_OF_RANGE",
    operation: null,
    facts: FACTS.OUT_OF_RANGE,
    flagKey: null,
  }),
  entry({
    code: "UNIMPLEMENTED",
    operation: null,
    facts: FACTS.UNIMPLEMENTED,
    flagKey: null,
  }),
  entry({
    code: "INTERNAL",
    operation: null,
    facts: FACTS.INTERNAL,
    flagKey: null,
  }),
  entry({
    code: "UNAVAILABLE",
    operation: null,
    facts: FACTS.UNAVAILABLE,
    flagKey: null,
  }),
  entry({
    code: "DATA_LOSS",
    operation: null,
    facts: FACTS.DATA_LOSS,
    flagKey: null,
  }),
  entry({
    code: "UNAUTHENTICATED",
    operation: null,
    facts: FACTS.UNAUTHENTICATED,
    flagKey: null,
  }),
];

/** A removed code, and the one that replaces it. */
interface RemovedEntry {
  readonly operation: string | null;
  readonly wire: Wire;
  readonly replacedBy: ErrorCode | null;
}

// prettier-ignore
const REMOVED: readonly RemovedEntry[] = [];

/** The operation of each tool, method or route. */
// prettier-ignore
const OPERATIONS: Readonly<Record<string, string>> = {};

/** The facts of an answer that is not a declared error. */
// prettier-ignore
const UNKNOWN: Facts = {
  wire: "unknown",
  status: null,
  statuses: [],
  retriable: "never",
  clientAction: "none",
  effect: "unknown",
  domain: null,
  boundaries: [],
  retry: null,
  until: null,
  actions: [],
  rules: [],
  deprecated: false,
  summary: "The answer is not a known error",
  message: "The answer is not a known error",
};

const BY_WIRE = new Map(
  ENTRIES.map((entry) => [key(entry.operation, entry.facts.wire), entry]),
);
const REPLACEMENTS = new Map(
  REMOVED.map((entry) => [key(entry.operation, entry.wire), entry.replacedBy]),
);
const DECLARED = new Set([
  ...ENTRIES.map((entry) => String(entry.facts.wire)),
  ...REMOVED.map((entry) => String(entry.wire)),
]);
const BY_CODE = new Map(
  ENTRIES.map((entry) => [key(entry.operation, entry.code), entry]),
);

/**
 * The error for a value of the code slot: the operation's own, else the shared one.
 */
export function entryOf(
  wire: Wire,
  operation: string | null,
): Entry | undefined {
  const called = calledOperation(operation);
  return BY_WIRE.get(key(called, wire)) ?? BY_WIRE.get(key(null, wire));
}

/** The error with a code: of this operation, or null for a shared one. */
export function entryOfCode(
  code: ErrorCode,
  operation: string | null,
): Entry | undefined {
  return BY_CODE.get(key(operation, code));
}

/** Every error for a value of the code slot, of any operation; the shared one first. */
export function entriesOf(wire: Wire | null): readonly Entry[] {
  return wire === null
    ? []
    : ENTRIES.filter(({ facts }) => String(facts.wire) === String(wire));
}

/** The code that replaces a removed one of the operation, else a shared one. */
export function replacementOf(
  wire: Wire,
  operation: string | null,
): ErrorCode | null {
  const own = REPLACEMENTS.get(key(calledOperation(operation), wire));
  return (own === undefined ? REPLACEMENTS.get(key(null, wire)) : own) ?? null;
}

function calledOperation(operation: string | null): string | null {
  return operation !== null &&
    Object.prototype.hasOwnProperty.call(OPERATIONS, operation)
    ? (OPERATIONS[operation] ?? null)
    : operation;
}

/**
 * Whether an error of any operation has this value in the code slot, or a removed
 * code had it.
 */
export function isDeclared(wire: unknown): boolean {
  return (
    (typeof wire === "string" || typeof wire === "number") &&
    DECLARED.has(String(wire))
  );
}

/** The facts of an error's code. */
export function factsOf(error: {
  readonly code: string | null;
  readonly operation: string | null;
  readonly known: boolean;
}): Facts {
  const entry = BY_CODE.get(key(error.operation, error.code ?? ""));
  return error.known && entry !== undefined ? entry.facts : UNKNOWN;
}

/**
 * The result of the first rule that holds, undefined if none does; `facts` are those
 * beside the details.
 */
export function decided(
  rules: readonly RetriableRule[],
  details: object,
  facts: object,
): boolean | undefined {
  const known = (fact: string): unknown => {
    const key = fact.replace(/^details\./, "");
    const found = Object.entries(key === fact ? facts : details);
    return new Map<string, unknown>(found).get(key) ?? null;
  };
  const first = rules.find((rule) =>
    rule.when.every(({ fact, values }) => values.includes(known(fact))),
  );
  return first?.then;
}

/**
 * Whether the code allows to send the request again, for an answer without a flag;
 * `known` are the facts beside the details.
 */
export function retriable(
  facts: Facts,
  details: object,
  known: object,
): boolean {
  switch (facts.retriable) {
    case "always":
      return true;
    case "never":
      return false;
    case "conditional":
      return decided(facts.rules, details, known) ?? false;
    default:
      return facts.clientAction === "retry";
  }
}

/**
 * The default message with each `${key}` replaced by that detail, and `$$` by a
 * dollar; the summary if a detail is missing.
 */
export function defaultMessage(
  facts: Facts,
  details: Readonly<Record<string, unknown>>,
): string {
  let whole = true;
  const parameter = /\$\$|\$\{([^}]+)\}/g;
  const message = facts.message.replace(parameter, (_, key?: string) => {
    if (key === undefined) return "$";
    const value = has(details, key) ? (details[key] ?? null) : null;
    whole &&= value !== null;
    return typeof value === "string" ? value : JSON.stringify(value);
  });
  return whole ? message : facts.summary;
}

function key(operation: string | null, code: Wire): string {
  return JSON.stringify([operation, String(code)]);
}
