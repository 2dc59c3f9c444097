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

// Generated from examples/theodosia/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/theodosia/taxonomy.yaml

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
export const POLICIES: Readonly<Record<PolicyName, Policy>> = {};

/** The codes of a policy, null if it is for every retriable one. */
// prettier-ignore
export const ELIGIBLE: Readonly<
  Record<PolicyName, ReadonlySet<ErrorCode> | null>
> = {};

/**
 * The rules that decide whether a policy is for an error of its codes: the first that
 * holds, and if none does, it is.
 */
// prettier-ignore
export const ELIGIBLE_WHEN: Readonly<
  Record<PolicyName, readonly RetriableRule[]>
> = {};

/** The kind of a code's failures, if the policy has one: a key of `kinds`. */
// prettier-ignore
export const KIND_OF: Readonly<
  Record<PolicyName, ReadonlyMap<ErrorCode, string>>
> = {};

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
