/**
 * Typed errors and retries for `fetch`.
 *
 *     const send = withRetries(fetch);
 *     const answer = await send("https://shop.example/orders/o-1");
 *
 * `send` takes what `fetch` takes, sends again as the policies of errors say, and throws
 * the exception of the last answer. A mebibyte of the body of an error is read; the error
 * of a longer one is unknown.
 */

// Generated from examples/etcd/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/etcd/taxonomy.yaml

import type { FieldSource } from "../_runtime/fields.js";
import {
  type BodyStream,
  type OwnStream,
  discard,
  readText,
} from "../_runtime/streams.js";
import type { AnyError } from "../errors.js";
import { exceptionOf } from "../exceptions.js";
import {
  Retries,
  type Signal,
  type Sleep,
  errorOf,
  mayBeError,
  missingKey,
  sleepUntilAborted,
} from "../retrying.js";

/** An answer of `fetch`. */
export interface FetchedResponse {
  readonly status: number;
  readonly headers: FieldSource;
  readonly body?: OwnStream | null | undefined;
  clone(): {
    readonly body?: BodyStream | null | undefined;
    text(): Promise<string>;
  };
}

/* eslint-disable @typescript-eslint/no-explicit-any */
/** `fetch`, or a function that takes and gives the same. */
export type Fetch = (input: any, init?: any) => Promise<FetchedResponse>;
/* eslint-enable @typescript-eslint/no-explicit-any */

/**
 * `retries`: those that several clients share. `throws`: whether the error of the last
 * answer is thrown; if not, the answer is returned.
 */
export interface FetchOptions {
  readonly retries?: Retries;
  readonly sleep?: Sleep;
  readonly throws?: boolean;
}

/** The parts of a request that `fetch` has in its options or in a `Request`. */
interface RequestParts {
  readonly method?: string;
  readonly headers?: unknown;
  readonly body?: unknown;
  readonly signal?: Signal | null;
  clone?(): unknown;
}

declare class Headers {
  constructor(init?: unknown);
  set(name: string, value: string): void;
  forEach(each: (value: string, name: string) => void): void;
}

/**
 * A function like `fetch` that sends a request again as the policy of its error says, and
 * throws the exception of the last answer.
 *
 * A write that an idempotency key makes safe gets one, if the key is a header. A body that
 * can be read only once is sent once. An aborted signal ends the wait, and `fetch` rejects
 * with its reason.
 */
export function withRetries<F extends Fetch>(
  send: F,
  {
    retries = new Retries(),
    sleep = sleepUntilAborted,
    throws = true,
  }: FetchOptions = {},
): F {
  const sending: Fetch = async (input: unknown, init?: RequestParts) => {
    const request = isRequest(input) ? input : null;
    const method = init?.method ?? request?.method ?? "GET";
    const headers = new Headers(init?.headers ?? request?.headers);
    const signal = init?.signal ?? request?.signal ?? null;
    const key = missingKey(method, headers);
    if (key !== null) headers.set(key.name, key.value);
    const repeatable = isRepeatable(init?.body);
    const call = retries.begin();
    for (;;) {
      const again = request?.clone === undefined ? input : request.clone();
      const response = await send(again, { ...init, headers });
      const error = await errorIn(response);
      const delay = call.delay(error, method, headers, repeatable);
      if (delay === null) {
        if (error === null || !throws) return response;
        discard(response.body);
        throw exceptionOf(error);
      }
      discard(response.body);
      await sleep(delay, signal);
    }
  };
  return sending as F;
}

/** The answer, unless it has an error, whose exception is thrown. */
export async function throwForError<R extends FetchedResponse>(
  response: R,
): Promise<R> {
  const error = await errorIn(response);
  if (error !== null) throw exceptionOf(error);
  return response;
}

async function errorIn(response: FetchedResponse): Promise<AnyError | null> {
  const { status, headers } = response;
  if (!mayBeError(status, headers)) return null;
  const copy = response.clone();
  const text = copy.body ? await readText(copy.body) : await copy.text();
  return errorOf(status, headers, text ?? "");
}

function isRequest(input: unknown): input is RequestParts {
  return typeof input === "object" && input !== null && "clone" in input;
}

/** Whether a body can be sent again: a stream, or what is read as one, cannot. */
function isRepeatable(body: unknown): boolean {
  return (
    typeof body !== "object" ||
    body === null ||
    !(
      Symbol.asyncIterator in body ||
      "getReader" in body ||
      (Symbol.iterator in body && "next" in body)
    )
  );
}
