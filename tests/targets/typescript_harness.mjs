// Answers questions about compiled TypeScript: JSON on standard input, JSON on standard output.
//
// A question is {module, ask, …}; `module` is a file below the folder that is this process's first argument.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const questions = JSON.parse(readFileSync(0, "utf8"));

// An error as text, but for its body, and for what `fetch` makes of the names of headers.
function plain(error) {
  const headers = Object.entries(error.headers).map(([name, value]) => [name.toLowerCase(), value]);
  return JSON.stringify({ ...error, raw: 0, headers: headers.sort() });
}

// Whether a body was kept: its JSON, or the body itself if it is none.
function sameBody(raw, body) {
  try {
    return JSON.stringify(raw) === JSON.stringify(typeof body === "string" ? JSON.parse(body) : body);
  } catch {
    return raw === body;
  }
}

const ASKED = {
  // A function of plain values; what it throws is told as such.
  call: (module, { name, args }) => {
    try {
      return module[name](...args);
    } catch (error) {
      return { thrown: error.name };
    }
  },
  value: (module, { name }) => module[name],
  // What a picture reads from a body.
  extract: (module, { picture, body }) => {
    const { slots, fits } = module.extract(module.compileShape(picture), body);
    return { slots: Object.fromEntries(slots), fits };
  },
  plan: (module, { policy, state, failure, now, chance }) =>
    module.plan(policy, state, failure, { now, random: () => chance }),
  // A client's whole way through a policy: what came of each step, and the tokens after it.
  walk: (module, { policy, tokens, steps }) => {
    const chosen = module.POLICIES[policy];
    let state = module.start(chosen, tokens);
    return steps.map((failure) => {
      if (failure === null) {
        state = module.succeed(chosen, state);
        return ["success", state.tokens, null];
      }
      const decision = module.plan(chosen, state, failure, { now: 0, random: () => 1 });
      state = decision.state;
      return [decision.reason, state.tokens, decision.delay];
    });
  },
  // An answer, and what a client makes of it.
  answer: (module, { body, answer, idempotent, given }) => {
    const error = module.parse(body, answer);
    const fetched = module.parse(body, { ...answer, headers: answer.headers && new Headers(answer.headers) });
    const options = { idempotent, now: 0, random: () => 0.5 };
    return {
      error,
      same: plain(error) === plain(fetched),
      kept: sameBody(error.raw, body),
      envelope: module.isEnvelope(body),
      guards: [module.isKnown(error), module.isUnknown(error), module.hasCode(error, error.code)],
      facts: module.factsOf(error),
      plan: module.planRetry(error, module.startRetry(error), options),
      text: given === undefined ? null : Object.entries(given).map(([name, each]) => module.rendering(name, error, each)),
    };
  },
  // An answer of a taxonomy's vectors: what is read in it, and every step of its retries.
  vector: (module, { body, answer, plans, now, chance }) => {
    const error = module.parse(body, answer);
    const steps = plans.map(({ idempotent, steps }) => {
      let state = module.startRetry(error);
      return steps.map(() => {
        const { retry, reason, delay, jitterBand, state: next } = module.planRetry(error, state, {
          idempotent,
          now,
          random: () => chance,
        });
        const attempt = state.attempt;
        state = next;
        return { attempt, retry, reason, delay, band: jitterBand };
      });
    });
    return { error, steps };
  },
};

const answers = [];
for (const { module, ask, ...question } of questions) {
  answers.push(ASKED[ask](await import(pathToFileURL(`${folder}/${module}`).href), question));
}
process.stdout.write(JSON.stringify(answers, (_, value) => (value === undefined ? null : value)));
