// Copied from faultspec; do not edit
/**
 * The retry planner: whether to try again after a failure, and how long to wait
 * first. Pure, and it explains itself.
 *
 *     let state = start(policy);
 *     for (;;) {
 *       // try; on success: state = succeed(policy, state); on failure:
 *       const now = Date.now() / 1000;
 *       const decision = plan(policy, state, failure, { now, random: Math.random });
 *       if (!decision.retry) break; // give up, for decision.reason
 *       await sleep(decision.delay); // seconds
 *       state = decision.state;
 *     }
 *
 * Counting. `maxAttempts` counts tries, the first included. The delay before the
 * n-th retry of a phase has index n - 1: exponential `base * factor ** index`,
 * linear `base + step * index`, constant `base`; never above the phase's `max`.
 *
 * Phases follow each other by time since the first try: a phase with `forSeconds`
 * ends when they are over, the last phase never does, and the index starts again
 * with each. That time is the sum of the delays; a caller with a clock may put the
 * true figure into `State.elapsed` before it plans.
 *
 * Order. The computed delay is: phase, then `max`, then jitter. A readable
 * `Retry-After` is applied after that. Whether to retry at all is asked in this
 * order: is the failure retriable, is it eligible, is it safe to send again, are
 * there attempts left, does the budget cover it, does the delay end within
 * `maxElapsed`.
 *
 * A delay that reaches 2^31 s, asked for or computed, ends in `time_exhausted`:
 * nobody waits that long, and a client that only seems to wait is worse than one
 * that gave up.
 *
 * Safe to send again means: the operation is idempotent, or the failure is known
 * to have had no effect.
 */

import * as durations from "./durations.js";
import * as retryAfter from "./retry-after.js";
import { CEILING } from "./retry-after.js";

export type Reason =
  | "retry"
  | "not_retriable"
  | "not_eligible"
  | "not_idempotent"
  | "attempts_exhausted"
  | "budget_exhausted"
  | "time_exhausted";

/** One stretch of a backoff. Times in seconds. */
export interface Phase {
  readonly kind: "exponential" | "linear" | "constant";
  readonly base: number;
  readonly factor: number;
  readonly step: number;
  readonly max: number | null;
  readonly forSeconds: number | null;
}

/**
 * How chance spreads a delay d.
 *
 * full: [0, d]; equal: [d/2, d]; additive: [d, d(1 + ratio)]; ratio:
 * [d(1 - ratio), d(1 + ratio)].
 */
export interface Jitter {
  readonly kind: "none" | "full" | "equal" | "additive" | "ratio";
  readonly ratio: number;
}

/**
 * The settings of one kind of failure: the price of a retry, and the base of
 * every phase.
 */
export interface Kind {
  readonly cost: number | null;
  readonly base: number | null;
}

/**
 * A bucket of tokens that pays for retries, across the calls that share it.
 *
 * A success gives back what the last retry cost (if `refund` says so), or
 * `idleRefund` if there was none; never more than `tokens`.
 */
export interface Budget {
  readonly tokens: number;
  readonly cost: number;
  readonly refund: "last_cost" | "none";
  readonly idleRefund: number;
}

/**
 * The effect of a readable `Retry-After` on the computed delay; one that can't be read
 * is ignored.
 *
 * `max`: a longer hint is cut to it (`clamp` "cap") or ignored. `over`: the hint is
 * cut to this much above the computed delay. `minIsComputed`: the delay is never
 * below the computed one; otherwise the hint replaces it. Seconds.
 */
export interface RetryAfterRule {
  readonly honor: boolean;
  readonly max: number | null;
  readonly clamp: "cap" | "ignore";
  readonly minIsComputed: boolean;
  readonly over: number | null;
}

/**
 * How a client retries. No phases: at once. `maxAttempts` null: as long as the
 * budget and `maxElapsed` last.
 *
 * Which codes a policy is for is decided elsewhere and arrives in
 * `Failure.eligible`.
 */
export interface Policy {
  readonly name: string;
  readonly maxAttempts: number | null;
  readonly phases: readonly Phase[];
  readonly jitter: Jitter;
  readonly retryAfter: RetryAfterRule;
  readonly budget: Budget | null;
  readonly maxElapsed: number | null;
  readonly kinds: Readonly<Record<string, Kind>>;
}

/**
 * Where a call stands. `attempt` counts the tries made, `elapsed` the seconds
 * since the first one.
 *
 * `tokens` are what is left of the budget; share them between calls by passing
 * them to `start`. `lastCost` is what the last retry cost. `taken` counts the
 * delays taken in the phase with the number `phase`.
 */
export interface State {
  readonly attempt: number;
  readonly elapsed: number;
  readonly tokens: number;
  readonly lastCost: number;
  readonly phase: number;
  readonly taken: number;
}

/**
 * A failed try, as far as it is known. `kind` picks a `Kind` of the policy; `retryAfter`
 * is the header's value, or the seconds where they are known. `pushback`: the service
 * asks not to try again. Left out, the operation is idempotent, the failure eligible,
 * and its effect unknown.
 */
export interface Failure {
  readonly retriable: boolean;
  readonly kind?: string | null;
  readonly retryAfter?: string | number | null;
  readonly idempotent?: boolean;
  readonly eligible?: boolean;
  readonly effect?: "none" | "possible" | "unknown";
  readonly pushback?: boolean;
}

/** A retry after `delay` seconds. */
export interface Retry {
  readonly retry: true;
  readonly delay: number;
  readonly reason: "retry";
  readonly state: State;
  /** The delay before `Retry-After`. */
  readonly computed: number;
  /** The least and the greatest delay that chance could have given. */
  readonly jitterBand: readonly [low: number, high: number];
  /** The decision in sentences. */
  readonly explain: readonly string[];
}

/** No retry, for a reason. The state is as it was. */
export interface Refusal {
  readonly retry: false;
  readonly delay: null;
  readonly reason: Exclude<Reason, "retry">;
  readonly state: State;
  readonly computed: null;
  readonly jitterBand: null;
  /** The decision in sentences. */
  readonly explain: readonly string[];
}

/** The next step. */
export type Plan = Retry | Refusal;

/**
 * The state after the first try, with a full budget or with the tokens that other
 * calls have left.
 */
export function start(policy: Policy, tokens?: number): State {
  return {
    attempt: 1,
    elapsed: 0,
    tokens: tokens ?? policy.budget?.tokens ?? 0,
    lastCost: 0,
    phase: 0,
    taken: 0,
  };
}

/**
 * The policy with all delays multiplied, for tests that save time. `Retry-After` is not
 * scaled: it counts seconds of the server.
 */
export function scalePolicy(policy: Policy, scale: number): Policy {
  const times = (seconds: number | null): number | null =>
    seconds === null ? null : seconds * scale;
  return {
    ...policy,
    phases: policy.phases.map((phase) => ({
      ...phase,
      base: phase.base * scale,
      step: phase.step * scale,
      max: times(phase.max),
      forSeconds: times(phase.forSeconds),
    })),
    maxElapsed: times(policy.maxElapsed),
    kinds: Object.fromEntries(
      Object.entries(policy.kinds).map(([name, kind]) => [
        name,
        { ...kind, base: times(kind.base) },
      ]),
    ),
  };
}

/**
 * Decide on a retry after `failure`.
 *
 * @param now - seconds since 1970, for a `Retry-After` date
 * @param random - a number in [0, 1]
 */
export function plan(
  policy: Policy,
  state: State,
  failure: Failure,
  { now, random }: { readonly now: number; readonly random: () => number },
): Plan {
  const { maxAttempts } = policy;
  const limit = maxAttempts === null ? "" : ` of ${maxAttempts}`;
  const tries = `try ${state.attempt}${limit} failed`;
  const refused = refusal(policy, state, failure);
  if (refused !== null) {
    return giveUp(refused[0], state, [tries, refused[1]]);
  }
  const kind = failure.kind ?? null;
  const [phase, base] = nextDelay(policy, state, kind);
  const [low, high] = spread(policy.jitter, base);
  const computed = low + (high - low) * random();
  const [hint, reasons] = hinted(policy.retryAfter, failure.retryAfter, now);
  const delay = apply(policy.retryAfter, hint, computed);
  const price = cost(policy, kind);
  const explain = [
    tries,
    ...explainPhase(policy, phase, base, computed),
    ...reasons,
  ];
  if (hint !== null) {
    explain.push(`the delay is ${s(delay)}`);
  }
  if (policy.budget !== null) {
    explain.push(`the retry costs ${g(price)} of ${g(state.tokens)} tokens`);
  }
  if (delay >= CEILING) {
    explain.push("a wait of 2^31 s, which is 68 years, is none");
    return giveUp("time_exhausted", state, explain);
  }
  const { maxElapsed } = policy;
  if (maxElapsed !== null && state.elapsed + delay > maxElapsed) {
    explain.push(
      `${s(delay)} after ${s(state.elapsed)} ` +
        `would exceed the limit of ${s(maxElapsed)}`,
    );
    return giveUp("time_exhausted", state, explain);
  }
  return {
    retry: true,
    delay,
    reason: "retry",
    state: {
      ...advance(policy, state, delay),
      tokens: state.tokens - price,
      lastCost: price,
    },
    computed,
    jitterBand: [
      apply(policy.retryAfter, hint, low),
      apply(policy.retryAfter, hint, high),
    ],
    explain,
  };
}

/**
 * The state for the next call after a try that succeeded: the budget refunded, the
 * counts begun again.
 */
export function succeed(policy: Policy, state: State): State {
  const { budget } = policy;
  if (budget === null) {
    return start(policy);
  }
  const last = budget.refund === "last_cost" ? state.lastCost : 0;
  const refund = state.attempt > 1 ? last : budget.idleRefund;
  return start(policy, Math.min(budget.tokens, state.tokens + refund));
}

/**
 * The least and greatest computed delay, in seconds, before the next try, leaving
 * `Retry-After` aside.
 */
export function bounds(
  policy: Policy,
  state: State,
  kind: string | null = null,
): readonly [low: number, high: number] {
  return spread(policy.jitter, nextDelay(policy, state, kind)[1]);
}

/**
 * The state after waiting `delay` seconds and trying once more: what an observer
 * of a client follows it with.
 */
export function advance(policy: Policy, state: State, delay: number): State {
  const phase = phaseAt(policy, state);
  return {
    ...state,
    attempt: state.attempt + 1,
    elapsed: state.elapsed + delay,
    phase,
    taken: indexIn(state, phase) + 1,
  };
}

function giveUp(
  reason: Refusal["reason"],
  state: State,
  explain: readonly string[],
): Refusal {
  const nothing = { delay: null, computed: null, jitterBand: null };
  return { retry: false, reason, state, explain, ...nothing };
}

function refusal(
  policy: Policy,
  state: State,
  failure: Failure,
): [Refusal["reason"], string] | null {
  if (failure.pushback ?? false) {
    return ["not_retriable", "the service asks not to try again"];
  }
  if (!failure.retriable) {
    return ["not_retriable", "the failure is not retriable"];
  }
  if (!(failure.eligible ?? true)) {
    const whose = `the policy ${policy.name} is not for it`;
    return ["not_eligible", `the failure is retriable, but ${whose}`];
  }
  if (!(failure.idempotent ?? true) && failure.effect !== "none") {
    const unsafe = "the operation is not idempotent and may have taken effect";
    return ["not_idempotent", unsafe];
  }
  if (policy.maxAttempts !== null && state.attempt >= policy.maxAttempts) {
    return ["attempts_exhausted", "no attempts are left"];
  }
  const price = cost(policy, failure.kind ?? null);
  if (policy.budget !== null && state.tokens < price) {
    const short = `a retry costs ${g(price)} tokens, and ${g(state.tokens)} are left`;
    return ["budget_exhausted", short];
  }
  return null;
}

function cost(policy: Policy, kind: string | null): number {
  if (policy.budget === null) {
    return 0;
  }
  return kindOf(policy, kind)?.cost ?? policy.budget.cost;
}

function kindOf(policy: Policy, kind: string | null): Kind | undefined {
  // An own member: every object has a `constructor`, which is not a kind of failure
  const known =
    kind !== null && Object.prototype.hasOwnProperty.call(policy.kinds, kind);
  return known ? policy.kinds[kind] : undefined;
}

/** The phase that the elapsed time falls into; the last one has no end. */
function phaseAt(policy: Policy, state: State): number {
  const last = Math.max(0, policy.phases.length - 1);
  let end = 0;
  for (const [number, phase] of policy.phases.slice(0, -1).entries()) {
    end += phase.forSeconds ?? CEILING;
    if (state.elapsed < end) {
      return number;
    }
  }
  return last;
}

function indexIn(state: State, phase: number): number {
  return state.phase === phase ? state.taken : 0;
}

/** The phase of the next delay, and that delay in seconds before jitter. */
function nextDelay(
  policy: Policy,
  state: State,
  kind: string | null,
): [phase: number, delay: number] {
  const number = phaseAt(policy, state);
  const phase = policy.phases[number];
  if (phase === undefined) {
    return [number, 0];
  }
  const index = indexIn(state, number);
  const base = kindOf(policy, kind)?.base ?? phase.base;
  let delay = base;
  if (phase.kind === "exponential") {
    const grown = phase.factor ** index;
    delay = Number.isFinite(grown) ? base * grown : CEILING;
  } else if (phase.kind === "linear") {
    delay = base + phase.step * index;
  }
  return [number, Math.min(Math.max(0, delay), phase.max ?? CEILING)];
}

function spread(
  jitter: Jitter,
  delay: number,
): readonly [low: number, high: number] {
  switch (jitter.kind) {
    case "none":
      return [delay, delay];
    case "full":
      return [0, delay];
    case "equal":
      return [delay / 2, delay];
    case "additive":
      return [delay, delay * (1 + jitter.ratio)];
    case "ratio":
      return [delay * (1 - jitter.ratio), delay * (1 + jitter.ratio)];
  }
}

/**
 * The seconds that `Retry-After` asks for, as far as the rule lets it, and the
 * sentence about it.
 */
function hinted(
  rule: RetryAfterRule,
  value: string | number | null | undefined,
  now: number,
): [hint: number | null, reasons: string[]] {
  if (value === null || value === undefined) {
    return [null, []];
  }
  const ignored = (why: string): [null, string[]] => [
    null,
    [`Retry-After is ignored: ${why}`],
  ];
  if (!rule.honor) {
    return ignored("the policy doesn't honor it");
  }
  let seconds: number;
  if (typeof value === "string") {
    const read = retryAfter.parse(value, { now, lenient: true });
    if (read.seconds === null) {
      return ignored(read.problem ?? "");
    }
    if (read.form === "http-date" && read.seconds === 0) {
      return ignored("that moment has passed");
    }
    seconds = read.seconds;
  } else if (value >= 0) {
    seconds = Math.min(value, CEILING);
  } else {
    return ignored("it is negative");
  }
  if (rule.max === null || seconds <= rule.max) {
    return [seconds, [`Retry-After asks for ${s(seconds)}`]];
  }
  if (rule.clamp === "ignore") {
    return ignored(`${s(seconds)} is more than ${s(rule.max)}`);
  }
  const cut = `and gets at most ${s(rule.max)}`;
  return [rule.max, [`Retry-After asks for ${s(seconds)}, ${cut}`]];
}

function apply(
  rule: RetryAfterRule,
  hint: number | null,
  computed: number,
): number {
  if (hint === null) {
    return computed;
  }
  const asked =
    rule.over === null ? hint : Math.min(hint, computed + rule.over);
  return rule.minIsComputed ? Math.max(computed, asked) : asked;
}

function explainPhase(
  policy: Policy,
  number: number,
  base: number,
  computed: number,
): string[] {
  const phase = policy.phases[number];
  if (phase === undefined) {
    return ["no backoff is declared"];
  }
  const several = policy.phases.length > 1;
  const which = ` (phase ${number + 1} of ${policy.phases.length})`;
  const name = `${phase.kind} backoff${several ? which : ""}`;
  if (policy.jitter.kind === "none") {
    return [`${name} gives ${s(base)}`];
  }
  const [low, high] = spread(policy.jitter, base);
  const band = `${policy.jitter.kind} jitter makes that ${s(low)} to ${s(high)}`;
  return [`${name} gives ${s(base)}`, `${band}, and chose ${s(computed)}`];
}

function s(seconds: number): string {
  return durations.render(seconds);
}

function g(quantity: number): string {
  return durations.quantity(quantity);
}
