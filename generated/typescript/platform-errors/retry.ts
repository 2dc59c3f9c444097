/**
 * Whether a client tries again, and how long it waits first.
 *
 *     let state = startRetry(error);
 *     for (;;) {
 *       const decision = planRetry(error, state);
 *       if (!decision.retry) break;
 *       await sleep(decision.delay); // seconds
 *       state = decision.state;
 *       // once more, with the same idempotency key; on success leave,
 *       // on failure `error` is the new one
 *     }
 *
 * Nothing here waits or sends.
 */

// Generated from taxonomy.yaml; do not edit. Regenerate: faultspec compile
// taxonomy.yaml

import { type KeyPlace, putKey } from "./_runtime/keys.js";
import {
  type Plan,
  type Policy,
  type State,
  plan,
  scalePolicy,
  start,
} from "./_runtime/retry.js";
import { decided, factsOf, retriable } from "./catalog.js";
import type { ErrorCode, PolicyName, RetriableRule } from "./codes.js";
import type { AnyError } from "./errors.js";

// prettier-ignore
export const POLICIES: Readonly<Record<PolicyName, Policy>> = {
  /** Exponential with jitter, the server's Retry-After first. */
  exponential_jitter: {
    name: "exponential_jitter",
    maxAttempts: 5,
    phases: [
      {
        kind: "exponential",
        base: 0.5,
        factor: 2,
        step: 0,
        max: 30,
        forSeconds: null,
      },
    ],
    jitter: {
      kind: "full",
      ratio: 0,
    },
    retryAfter: {
      honor: true,
      max: 300,
      clamp: "cap",
      minIsComputed: true,
      over: null,
    },
    budget: null,
    maxElapsed: 600,
    kinds: {},
  },
  /** Linear for 30 s, then exponential. */
  linear_then_exponential: {
    name: "linear_then_exponential",
    maxAttempts: 12,
    phases: [
      {
        kind: "linear",
        base: 2,
        factor: 2,
        step: 2,
        max: null,
        forSeconds: 30,
      },
      {
        kind: "exponential",
        base: 5,
        factor: 2,
        step: 0,
        max: 60,
        forSeconds: null,
      },
    ],
    jitter: {
      kind: "ratio",
      ratio: 0.1,
    },
    retryAfter: {
      honor: true,
      max: 300,
      clamp: "cap",
      minIsComputed: true,
      over: null,
    },
    budget: null,
    maxElapsed: 600,
    kinds: {},
  },
  /** Up to three attempts at SERIALIZABLE. */
  serializable: {
    name: "serializable",
    maxAttempts: 3,
    phases: [
      {
        kind: "exponential",
        base: 0.05,
        factor: 2,
        step: 0,
        max: 1,
        forSeconds: null,
      },
    ],
    jitter: {
      kind: "full",
      ratio: 0,
    },
    retryAfter: {
      honor: false,
      max: null,
      clamp: "cap",
      minIsComputed: false,
      over: null,
    },
    budget: null,
    maxElapsed: null,
    kinds: {},
  },
};

/** The codes of a policy, null if it is for every retriable one. */
// prettier-ignore
export const ELIGIBLE: Readonly<
  Record<PolicyName, ReadonlySet<ErrorCode> | null>
> = {
  exponential_jitter: null,
  linear_then_exponential: null,
  serializable: null,
};

/**
 * The rules that decide whether a policy is for an error of its codes: the first that
 * holds, and if none does, it is.
 */
// prettier-ignore
export const ELIGIBLE_WHEN: Readonly<
  Record<PolicyName, readonly RetriableRule[]>
> = {
  exponential_jitter: [],
  linear_then_exponential: [],
  serializable: [],
};

/** The kind of a code's failures, if the policy has one: a key of `kinds`. */
// prettier-ignore
export const KIND_OF: Readonly<
  Record<PolicyName, ReadonlyMap<ErrorCode, string>>
> = {
  exponential_jitter: new Map<ErrorCode, string>(),
  linear_then_exponential: new Map<ErrorCode, string>(),
  serializable: new Map<ErrorCode, string>(),
};

/** The policy of a code that has none. */
export const NEVER: Policy = {
  name: "never",
  maxAttempts: 1,
  phases: [],
  jitter: { kind: "none", ratio: 0 },
  retryAfter: {
    honor: true,
    max: null,
    clamp: "cap",
    minIsComputed: true,
    over: null,
  },
  budget: null,
  maxElapsed: null,
  kinds: {},
};

/**
 * The request header that makes a write safe to repeat; every retry of the write has
 * the same value.
 */
export const IDEMPOTENCY_HEADER = "Idempotency-Key";

/** The place of the key that makes a write safe to repeat. */
export const IDEMPOTENCY_KEY_PLACE: KeyPlace = {
  kind: "header",
  at: "Idempotency-Key",
};

/** A copy of the headers of a request, with the key of the write. */
export function putIdempotencyKey(
  part: Readonly<Record<string, unknown>>,
  key: string,
): Record<string, unknown> {
  return putKey(IDEMPOTENCY_KEY_PLACE, part, key);
}

/**
 * Facts of the request. `idempotent`: sending it twice has the effect of sending it
 * once, by its method or by an idempotency key. `kind` selects a special case of the
 * policy, by default that of the code. `scale`: a factor of the delays of the policy,
 * for tests. `now`: seconds since 1970. `random`: a number in [0, 1].
 */
export interface PlanOptions {
  readonly idempotent?: boolean;
  readonly kind?: string | null;
  readonly scale?: number;
  readonly now?: number;
  readonly random?: () => number;
}

/** The policy of the error's code. */
export function policyFor(error: AnyError): Policy {
  const { retry } = factsOf(error);
  return (retry === null ? null : POLICIES[retry]) ?? NEVER;
}

/**
 * The state after the first try failed with `error`; `tokens` are those left in a
 * shared budget.
 */
export function startRetry(error: AnyError, tokens?: number): State {
  return start(policyFor(error), tokens);
}

/** Whether to send the request again, after how many seconds, and why. */
export function planRetry(
  error: AnyError,
  state: State,
  {
    idempotent = true,
    kind,
    scale = 1,
    now = Date.now() / 1000,
    random = Math.random,
  }: PlanOptions = {},
): Plan {
  const own = policyFor(error);
  const policy = scale === 1 ? own : scalePolicy(own, scale);
  const facts = factsOf(error);
  const sent = Object.entries(error.headers).find(
    ([name]) => name.toLowerCase() === "retry-after",
  );
  const eligible = facts.retry === null ? null : ELIGIBLE[facts.retry];
  const rules = facts.retry === null ? undefined : ELIGIBLE_WHEN[facts.retry];
  const kinds = facts.retry === null ? undefined : KIND_OF[facts.retry];
  const ofCode = error.code === null ? undefined : kinds?.get(error.code);
  const asked = {
    status: error.status,
    "operation.idempotent": idempotent,
  };
  const failure = {
    retriable:
      (error.known
        ? (error.flag ?? retriable(facts, error.details, asked))
        : error.retriable) &&
      (facts.clientAction === "retry" || facts.clientAction === "none"),
    kind: kind ?? ofCode ?? null,
    retryAfter: sent?.[1] ?? error.retryAfter,
    idempotent,
    eligible:
      (!eligible || (error.code !== null && eligible.has(error.code))) &&
      (decided(rules ?? [], error.details, asked) ?? true),
    effect: facts.effect,
  };
  return plan(policy, state, failure, { now, random });
}
