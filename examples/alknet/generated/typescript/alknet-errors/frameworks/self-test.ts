/**
 * The self-test of an application: requests that have to fail, and the faults of their
 * answers in plain words.
 */

// Generated from examples/alknet/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/alknet/taxonomy.yaml

import { type FieldSource, fieldsOf, valuesOf } from "../_runtime/fields.js";
import {
  Boundary,
  CORRELATION,
  SelfTestCrash,
  statusCode,
} from "../boundary.js";
import { type ErrorCode, FACTS, type Facts } from "../codes.js";
import { type SentError, bare, lacking } from "../exceptions.js";

/** An answer, such as that of `fetch`. */
export interface Reply {
  readonly status: number;
  readonly headers: FieldSource;
  text(): Promise<string>;
}

/** Sends a request in process, or to a loopback address. */
export type Ask = (
  method: string,
  path: string,
  headers: Record<string, string>,
) => Promise<Reply>;

const HEADER = "x-error-boundary-self-test";
const UNKNOWN = "/error-boundary-self-test/unknown";

/** The tokens of the self-tests that run: no request from outside can name one. */
const TOKENS = new Map<string, unknown>();

/** The error that a self-test asks a request to fail with, undefined for other requests. */
export function testedError(headers: FieldSource): unknown {
  if (TOKENS.size === 0) return undefined;
  const [token] = valuesOf(fieldsOf(headers), HEADER);
  return token === undefined ? undefined : TOKENS.get(token);
}

/** The faults of an application, none if its boundary is wired. */
export async function checkReplies(ask: Ask): Promise<string[]> {
  const unknown = await ask("GET", UNKNOWN, {});
  const problems = await faultsOf("an unknown route", unknown);
  if (unknown.status >= 500 && problems.length === 0) {
    problems.push(
      `an unknown route is answered with ${unknown.status}: the code of its status ` +
        "or of the fallback has details that a framework cannot supply",
    );
  }
  if (problems.length === 0) {
    const reply = await ask("HEAD", UNKNOWN, {});
    problems.push(...(await faultsOf("HEAD of an unknown route", reply, true)));
  }
  const raised = raisedError();
  const thrown = await failing(ask, raised);
  const code = raised.code ?? "error";
  const faults = await faultsOf(
    `a thrown ${code}`,
    thrown.reply,
    false,
    thrown.body,
  );
  problems.push(...faults);
  if (faults.length === 0 && !thrown.body.includes(wireOf(raised))) {
    const under = `under ${String(thrown.reply.status)}`;
    problems.push(
      `a thrown ${code} leaves as another error ${under}: no handler of errors`,
    );
  }
  const bug = await failing(
    ask,
    new SelfTestCrash("a self-test of the error boundary"),
  );
  problems.push(...(await faultsOf("a bug", bug.reply, false, bug.body)));
  if (bug.body.includes("self-test of the error boundary")) {
    problems.push("the answer to a bug shows its message");
  }
  return problems;
}

async function failing(
  ask: Ask,
  error: unknown,
): Promise<{ readonly reply: Reply; readonly body: string }> {
  const token = `${String(Math.random())}${String(Date.now())}`;
  TOKENS.set(token, error);
  try {
    const reply = await ask("GET", UNKNOWN, { [HEADER]: token });
    return { reply, body: await reply.text() };
  } finally {
    TOKENS.delete(token);
  }
}

/** An error that no bare status stands for, if there is any. */
function raisedError(): SentError {
  const codes = Object.entries<Facts>(FACTS).filter(([, { status }]) => status);
  const refused = codes.find(
    ([code, { status }]) =>
      status !== null &&
      statusCode(status) !== code &&
      lacking(bare(code as ErrorCode)).length === 0,
  );
  const [code] = refused ?? codes[0] ?? [];
  if (code === undefined) throw new RangeError("no code is on HTTP");
  return bare(code as ErrorCode);
}

function wireOf(error: SentError): string {
  return error.code === null ? "" : String(FACTS[error.code].wire);
}

async function faultsOf(
  what: string,
  reply: Reply,
  isHead = false,
  text?: string,
): Promise<string[]> {
  const body = text ?? (await reply.text());
  const found: string[] = [];
  const method = isHead ? "HEAD" : "GET";
  const fields = fieldsOf(reply.headers);
  const [id] = valuesOf(fields, CORRELATION.header);
  const own = { [CORRELATION.header]: id };
  const exchange = new Boundary({
    choose: () => null,
  }).open({ method, path: UNKNOWN, headers: own });
  if (reply.status < 400) {
    found.push(`${what} is answered with ${String(reply.status)}`);
  } else if (!exchange.isEnvelope(reply.status, fields, body)) {
    const answered = `${what} is answered with ${String(reply.status)}`;
    found.push(
      `${answered}, not in the envelope: the boundary is not installed`,
    );
  } else if (isHead && body !== "") {
    found.push(`${what} has a body`);
  }
  if (id === undefined) {
    found.push(`${what} is answered without ${CORRELATION.header}`);
  }
  return found;
}
