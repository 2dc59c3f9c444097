/**
 * Typed errors and retries for `fetch`.
 *
 *     const send = withRetries(fetch);
 *     const answer = await send("https://shop.example/orders/o-1");
 *
 * `send` takes what `fetch` takes, sends again as the policies of errors say, and throws
 * the exception of the last answer. A mebibyte of the body of an error is read, for ten
 * seconds; the error of a longer one is unknown.
 */

// Generated from examples/keenbench/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/keenbench/taxonomy.yaml

import type { FieldSource } from "../_runtime/fields.js";
import {
  type BodyStream,
  LONGEST_READING,
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
  isErrorStatus,
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

declare class Response {
  constructor(body: ReadableStream, init: Response);
  readonly body: (BodyStream & OwnStream) | null;
}

declare class ReadableStream {
  constructor(
    source: {
      pull(controller: StreamController): Promise<void>;
      cancel(): Promise<void>;
    },
    strategy: { readonly highWaterMark: number },
  );
}

interface StreamController {
  enqueue(part: object): void;
  close(): void;
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
      const { error, isCut } = await judge(response);
      const delay = call.delay(error, method, headers, repeatable);
      if (delay === null) {
        if (error === null || !throws) return isCut ? hold(response) : response;
        discard(response.body);
        throw exceptionOf(error);
      }
      discard(response.body);
      await sleep(delay, signal);
    }
  };
  return sending as F;
}

/**
 * The answer, unless it has an error, whose exception is thrown. The rest of a longer body
 * is discarded then.
 */
export async function throwForError<R extends FetchedResponse>(
  response: R,
): Promise<R> {
  const { error, isCut } = await judge(response);
  if (error === null) return isCut ? hold(response) : response;
  if (isCut) discard(response.body);
  throw exceptionOf(error);
}

/** The error in an answer. `isCut`: whether its body was not read to the end. */
async function judge(
  response: FetchedResponse,
): Promise<{ readonly error: AnyError | null; readonly isCut: boolean }> {
  const { status, headers } = response;
  if (!mayBeError(status, headers)) return { error: null, isCut: false };
  const copy = response.clone();
  const longest = isErrorStatus(status) ? LONGEST_READING : null;
  const text = copy.body
    ? await readText(copy.body, longest)
    : await copy.text();
  return { error: errorOf(status, headers, text ?? ""), isCut: text === null };
}

/** The members of an answer that a new `Response` does not take. */
const OWN = ["url", "redirected", "type"];

/** An answer whose copy was given up, with its body under a lock. */
function hold<R extends FetchedResponse>(response: R): R {
  if (typeof Response !== "function" || !(response instanceof Response)) {
    return response;
  }
  const isMade = response.status >= 200 && response.status < 600;
  const reader = isMade ? response.body?.getReader() : undefined;
  if (reader === undefined) return response;
  const rest = new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done || value === undefined) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => reader.cancel(),
    },
    { highWaterMark: 0 },
  );
  const held = new Response(rest, response);
  for (const name of OWN) {
    const value: unknown = Reflect.get(response, name);
    Object.defineProperty(held, name, { value });
  }
  return held as Response & R;
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
