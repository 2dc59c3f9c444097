/**
 * Sends requests again, as the policies of their errors say.
 *
 *     const retries = new Retries();
 *     const order = await retries.run(() => orders.get("o-1"));
 *
 * `orders.get` throws the exception of an answer: the modules in `clients` do. A call that
 * may have taken effect is not sent twice, unless it is idempotent.
 */

// Generated from examples/registry/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/registry/taxonomy.yaml

import {
  type FieldSource,
  type Span,
  fieldsOf,
  isIn,
  valuesOf,
} from "./_runtime/fields.js";
import { newId } from "./_runtime/ids.js";
import { type Mark, hasMark } from "./_runtime/marks.js";
import { type Plan, type State, start, succeed } from "./_runtime/retry.js";
import { LARGEST_BODY } from "./_runtime/streams.js";
import type { AnyError } from "./errors.js";
import { isRegistryError as isException } from "./exceptions.js";
import { POLICIES, planRetry, policyFor } from "./retry.js";
import { parse } from "./wire.js";

/** The statuses of errors. */
// prettier-ignore
export const ERROR_STATUSES: readonly Span[] = [
  [
    400,
    599,
  ],
];

/** The members of bodies that mark an error under any other status. */
// prettier-ignore
export const MARKS: readonly Mark[] = [];

/** The methods whose requests may be sent twice (RFC 9110 section 9.2.2). */
export const IDEMPOTENT_METHODS: ReadonlySet<string> = new Set([
  "DELETE",
  "GET",
  "HEAD",
  "OPTIONS",
  "PUT",
  "TRACE",
]);

/** The methods of writes that an idempotency key in a header makes safe to repeat. */
// prettier-ignore
export const KEYED_METHODS: ReadonlySet<string> = new Set<string>([]);

/** The name of the header with the idempotency key, null if the key stands elsewhere. */
const KEY_HEADER: string | null = null;

/** Whether a status makes any answer an error. */
export function isErrorStatus(status: number): boolean {
  return isIn(status, ERROR_STATUSES);
}

/**
 * Whether an answer is an error, or its body decides that. The body of any other need not
 * be read.
 */
export function mayBeError(status: number, headers: FieldSource): boolean {
  if (isErrorStatus(status)) return true;
  const [type = ""] = valuesOf(fieldsOf(headers), "content-type");
  return MARKS.length > 0 && type.includes("json");
}

/**
 * The error in an answer: by its status, or by members of its body; else null. A body
 * longer than `LARGEST_BODY` is not parsed, and its error is unknown.
 */
export function errorOf(
  status: number,
  headers: FieldSource,
  body: string,
): AnyError | null {
  const text = body.length > LARGEST_BODY ? "" : body;
  if (!isErrorStatus(status) && !isMarked(text)) return null;
  const named = Object.fromEntries(fieldsOf(headers));
  return parse(text, { status, headers: named });
}

function isMarked(body: string): boolean {
  try {
    return hasMark(JSON.parse(body), MARKS);
  } catch {
    return false;
  }
}

/**
 * Whether a request may be sent twice: by its method, or because it carries an
 * idempotency key.
 */
export function isIdempotent(method: string, headers: FieldSource): boolean {
  return hasKey(headers) || IDEMPOTENT_METHODS.has(method.toUpperCase());
}

/**
 * The header with a new idempotency key, for a write that needs one and has none; else
 * null. Every try of the write has the same key.
 */
export function missingKey(
  method: string,
  headers: FieldSource,
): { readonly name: string; readonly value: string } | null {
  return KEY_HEADER === null ||
    hasKey(headers) ||
    !KEYED_METHODS.has(method.toUpperCase())
    ? null
    : { name: KEY_HEADER, value: newId("uuid4") };
}

function hasKey(headers: FieldSource): boolean {
  return (
    KEY_HEADER !== null && valuesOf(fieldsOf(headers), KEY_HEADER).length > 0
  );
}

/** The signal of an `AbortController`. */
export interface Signal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** Waits; ends at once if the signal is aborted. */
export type Sleep = (seconds: number, signal?: Signal | null) => Promise<void>;

declare function setTimeout(done: () => void, milliseconds: number): unknown;
declare function clearTimeout(timer: unknown): void;

/** A timer counts up to 2^31 - 1 milliseconds; a longer one ends at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Wait with timers, until a signal is aborted. */
export const sleepUntilAborted: Sleep = async (seconds, signal) => {
  for (let left = seconds * 1000; left > 0; left -= LONGEST_TIMER) {
    if (signal?.aborted === true) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, Math.min(left, LONGEST_TIMER));
      signal?.addEventListener("abort", end);
    });
  }
};

/**
 * Calls that share the budgets of the policies. `scale`: a factor of the delays of the
 * policies, for tests. `clock`: seconds since 1970. `random`: in [0, 1).
 */
export class Retries {
  readonly scale: number;
  readonly clock: () => number;
  readonly random: () => number;
  /** The tokens that are left of each budget. */
  readonly tokens: Map<string, number>;

  constructor({
    scale = 1,
    clock = () => Date.now() / 1000,
    random = Math.random,
  }: {
    readonly scale?: number;
    readonly clock?: () => number;
    readonly random?: () => number;
  } = {}) {
    this.scale = scale;
    this.clock = clock;
    this.random = random;
    this.tokens = new Map(
      Object.values(POLICIES).flatMap(({ name, budget }) =>
        budget === null ? [] : [[name, budget.tokens] as const],
      ),
    );
  }

  /** A new call, before its first try. */
  begin(): Call {
    return new Call(this);
  }

  /**
   * The result of `send`, which is called again while its exceptions allow that. Throws
   * the last one. `idempotent`: two calls have the effect of one.
   */
  async run<T>(
    send: () => Promise<T>,
    {
      idempotent = false,
      sleep = sleepUntilAborted,
      signal = null,
    }: {
      readonly idempotent?: boolean;
      readonly sleep?: Sleep;
      readonly signal?: Signal | null;
    } = {},
  ): Promise<T> {
    const call = this.begin();
    for (;;) {
      try {
        const result = await send();
        call.succeed();
        return result;
      } catch (error) {
        if (!isException(error)) throw error;
        const { delay } = call.fail(error, idempotent);
        if (delay === null) throw error;
        await sleep(delay, signal);
        if (signal?.aborted === true) throw error;
      }
    }
  }
}

/** One call and its tries, as they are counted. */
export class Call {
  readonly #retries: Retries;
  readonly #began: number;
  #state: State | null = null;
  #policy: string | null = null;

  constructor(retries: Retries) {
    this.#retries = retries;
    this.#began = retries.clock();
  }

  /** The plan after a try that failed. Its `delay` is null if the call ends. */
  fail(error: AnyError, idempotent: boolean): Plan {
    const { tokens, clock, random, scale } = this.#retries;
    const policy = policyFor(error);
    const now = clock();
    const left = tokens.get(policy.name);
    const known = this.#state;
    let state = known ?? start(policy);
    if (policy.name !== this.#policy) {
      // another policy counts its phases anew, and goes on with the tries
      state = { ...start(policy), attempt: known?.attempt ?? 1 };
      this.#policy = policy.name;
    }
    state = {
      ...state,
      elapsed: Math.max(0, now - this.#began),
      tokens: left ?? state.tokens,
    };
    const options = { idempotent, scale, now, random };
    const plan = planRetry(error, state, options);
    this.#state = plan.state;
    if (left !== undefined) tokens.set(policy.name, plan.state.tokens);
    return plan;
  }

  /**
   * The seconds to wait before a request is sent again; null if it is not.
   *
   * `error`: of its answer, null for a success. `repeatable`: its body can be sent once
   * more.
   */
  delay(
    error: AnyError | null,
    method: string,
    headers: FieldSource,
    repeatable: boolean,
  ): number | null {
    if (error === null) {
      this.succeed();
      return null;
    }
    return repeatable
      ? this.fail(error, isIdempotent(method, headers)).delay
      : null;
  }

  /** Give back to the budgets what a try that succeeded gives back. */
  succeed(): void {
    const { tokens } = this.#retries;
    for (const policy of Object.values(POLICIES)) {
      const left = tokens.get(policy.name);
      if (left === undefined) continue;
      const own = policy.name === this.#policy ? this.#state : null;
      const state = { ...(own ?? start(policy)), tokens: left };
      tokens.set(policy.name, succeed(policy, state).tokens);
    }
  }
}
