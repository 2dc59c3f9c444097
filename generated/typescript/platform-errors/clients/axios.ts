/**
 * Typed errors and retries for axios, from version 1.5 on.
 *
 *     const client = axios.create();
 *     client.defaults.adapter = withRetries(axios.getAdapter(client.defaults.adapter));
 *
 * The client sends again as the policies of errors say, and rejects with the exception of
 * the last answer. The error of a body of more than a mebibyte is unknown. axios has read
 * it before: its `maxContentLength` bounds that.
 */

// Generated from taxonomy.yaml; do not edit. Regenerate: faultspec compile
// taxonomy.yaml

import { type FieldSource, fieldsOf } from "../_runtime/fields.js";
import { LARGEST_BODY } from "../_runtime/streams.js";
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

/* eslint-disable @typescript-eslint/no-explicit-any */
/** An adapter of axios. */
export type AxiosAdapter = (config: any) => Promise<any>;
/* eslint-enable @typescript-eslint/no-explicit-any */

/** `retries`: those that several clients share. */
export interface AxiosOptions {
  readonly retries?: Retries;
  readonly sleep?: Sleep;
}

/** The request of an adapter. Its headers have `set`, and are a plain object otherwise. */
interface Config {
  readonly method?: string;
  readonly data?: unknown;
  readonly signal?: Signal | null;
  readonly headers: {
    set(name: string, value: string): unknown;
    toJSON(): FieldSource;
  };
}

/** The answer of an adapter, before axios reads its body. */
interface AxiosAnswer {
  readonly status: number;
  readonly headers: { toJSON?(): FieldSource };
  readonly data: unknown;
}

/**
 * The adapter that sends a request again as the policy of its error says, and rejects with
 * the exception of the last answer.
 *
 * A write that an idempotency key makes safe gets one, if the key is a header. A body that
 * can be read only once is sent once. An aborted signal ends the wait, and axios cancels
 * the call. The body of an error that is asked for as a stream is not read.
 */
export function withRetries<A extends AxiosAdapter>(
  adapter: A,
  { retries = new Retries(), sleep = sleepUntilAborted }: AxiosOptions = {},
): A {
  const sending = async (config: Config): Promise<unknown> => {
    const method = config.method ?? "GET";
    const key = missingKey(method, config.headers.toJSON());
    if (key !== null) config.headers.set(key.name, key.value);
    const call = retries.begin();
    for (;;) {
      const { answer, give } = await answerOf(adapter(config));
      if (answer === null) return give();
      const error = errorIn(answer);
      const own = config.headers.toJSON();
      const repeatable = isRepeatable(config.data);
      const delay = call.delay(error, method, own, repeatable);
      if (delay === null) {
        if (error !== null) throw exceptionOf(error);
        return give();
      }
      await sleep(delay, config.signal);
    }
  };
  return sending as unknown as A;
}

/**
 * The answer in what an adapter gives, null if there is none; and how to give it on: axios
 * rejects answers by their status.
 */
async function answerOf(sent: Promise<unknown>): Promise<{
  readonly answer: AxiosAnswer | null;
  readonly give: () => unknown;
}> {
  try {
    const answer = (await sent) as AxiosAnswer;
    return { answer, give: () => answer };
  } catch (failure) {
    const { response = null } = (failure ?? {}) as {
      readonly response?: AxiosAnswer | null;
    };
    return {
      answer: response,
      give: () => {
        throw failure;
      },
    };
  }
}

function errorIn(answer: AxiosAnswer): AnyError | null {
  const { status, data } = answer;
  const headers = headersOf(answer);
  if (!mayBeError(status, headers)) return null;
  return errorOf(status, headers, textOf(data));
}

function headersOf({ headers }: AxiosAnswer): FieldSource {
  const plain = headers.toJSON === undefined ? headers : headers.toJSON();
  return fieldsOf(plain as FieldSource);
}

declare class TextDecoder {
  decode(bytes: object): string;
}

/** The text of a body; that of a stream, and of too many bytes, is not read. */
function textOf(data: unknown): string {
  if (typeof data === "string") return data;
  const isBytes = data instanceof ArrayBuffer || ArrayBuffer.isView(data);
  return isBytes && data.byteLength <= LARGEST_BODY
    ? new TextDecoder().decode(data)
    : "";
}

/** Whether a body can be sent again: a stream cannot. */
function isRepeatable(data: unknown): boolean {
  return (
    typeof data !== "object" ||
    data === null ||
    !("pipe" in data || "getReader" in data || Symbol.asyncIterator in data)
  );
}
