/**
 * Requests and responses of Node's HTTP server, for the frameworks that hand them to
 * middleware.
 */

// Generated from taxonomy.yaml; do not edit. Regenerate: faultspec compile
// taxonomy.yaml

import type { FieldSource, Fields } from "../_runtime/fields.js";
import { LARGEST_BODY } from "../_runtime/streams.js";
import {
  type Answer,
  type Boundary,
  CORRELATION,
  type Exchange,
} from "../boundary.js";

/** A request of Node. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: FieldSource;
}

/** A response of Node. */
export interface NodeResponse {
  statusCode: number;
  statusMessage?: string;
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  getHeaders(): object;
  setHeader(name: string, value: string | readonly string[]): unknown;
  removeHeader(name: string): void;
  destroy(): unknown;
  // The overloads of Node are many, and each argument is passed on as it is.
  /* eslint-disable @typescript-eslint/no-explicit-any */
  write: (...given: any[]) => any;
  end: (...given: any[]) => any;
  writeHead: (...given: any[]) => any;
  /* eslint-enable @typescript-eslint/no-explicit-any */
}

/** Headers of a body that an error does not have. */
const OF_BODY = new Set([
  "accept-ranges",
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-length",
  "content-location",
  "content-range",
  "content-type",
  "etag",
  "expires",
  "last-modified",
  "location",
  "trailer",
  "transfer-encoding",
]);

/** Node refuses greater statuses. */
const LAST_STATUS = 999;

const EXCHANGES = new WeakMap<object, Exchange>();
const ANSWERED = new WeakSet<object>();

/** The exchange of a response, which a first call opens. */
export function exchangeOf(
  boundary: Boundary,
  request: NodeRequest & { readonly originalUrl?: string | undefined },
  response: object,
): Exchange {
  const known = EXCHANGES.get(response);
  if (known !== undefined) return known;
  const [path = "/"] = (request.originalUrl ?? request.url ?? "/").split("?");
  const method = request.method ?? "GET";
  const opened = boundary.open({ method, path, headers: request.headers });
  EXCHANGES.set(response, opened);
  return opened;
}

/** Answer with an error. A response that has begun is cut. `sent` is called at the end. */
export function sendAnswer(
  response: NodeResponse,
  answer: Answer,
  sent?: () => void,
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  for (const name of Object.keys(response.getHeaders())) {
    if (OF_BODY.has(name.toLowerCase())) response.removeHeader(name);
  }
  for (const [name, values] of grouped(answer.headers)) {
    response.setHeader(name, values.length === 1 ? (values[0] ?? "") : values);
  }
  ANSWERED.add(response);
  response.statusCode = answer.status;
  response.statusMessage = ""; // Node's own: one of the handler may be refused
  response.end(answer.body, sent);
}

/**
 * Give every response the correlation id, and hold those from 400 on until they are whole:
 * one that is not in the envelope is answered anew. One that is longer than an envelope may
 * be is answered without its rest.
 */
export function holdErrors(exchange: Exchange, response: NodeResponse): void {
  const { write, end, writeHead } = response;
  let parts: unknown[] | null = null;
  let size = 0;
  const isHeld = (): boolean =>
    parts !== null ||
    (!response.headersSent &&
      !ANSWERED.has(response) &&
      !("content-encoding" in response.getHeaders()) &&
      exchange.isHeld(response.statusCode));
  const passing = (): void => {
    response.write = write;
    response.end = end;
    response.writeHead = writeHead;
  };
  response.setHeader(CORRELATION.header, exchange.correlationId);
  response.writeHead = (status: number, ...given: unknown[]) => {
    response.statusCode = status;
    if (!isHeld() || status > LAST_STATUS) {
      writeHead.call(response, status, ...given); // which may throw
      passing();
      return response;
    }
    setHeaders(response, given.find((each) => typeof each === "object") ?? {});
    parts ??= [];
    return response;
  };
  response.write = (...given: unknown[]) => {
    if (!isHeld()) {
      passing();
      return response.write(...given);
    }
    const [part] = given;
    (parts ??= []).push(part);
    size += lengthOf(part);
    const written = calledIn(given);
    if (written !== undefined) void Promise.resolve().then(written);
    if (size <= LARGEST_BODY) return true;
    response.end();
    response.write = () => false;
    response.end = () => response;
    return false;
  };
  response.end = (...given: unknown[]) => {
    const isError = isHeld();
    passing();
    if (!isError) return response.end(...given);
    const last = typeof given[0] === "function" ? undefined : given[0];
    const body = textOf([...(parts ?? []), last]);
    const { statusCode } = response;
    const headers = response.getHeaders() as FieldSource;
    const answer = exchange.settle(statusCode, headers, body);
    const ended = calledIn(given);
    if (answer !== null) {
      sendAnswer(response, answer, ended);
      return response;
    }
    ANSWERED.add(response);
    response.setHeader("cache-control", "no-store");
    return response.end(body, ended);
  };
}

/** Set the headers of `writeHead`. Throws for one that Node refuses, as its own does. */
function setHeaders(response: NodeResponse, given: object): void {
  const fields = Array.isArray(given) ? pairsOf(given) : Object.entries(given);
  for (const [name, value] of fields) {
    response.setHeader(name, value as string | readonly string[]);
  }
}

/** The fields of a list of names and values in turn; several values of a name are a list. */
function pairsOf(list: readonly unknown[]): ReadonlyMap<string, unknown> {
  if (list.length % 2 > 0) throw new TypeError("a header has no value");
  const found = new Map<string, unknown>();
  for (let index = 0; index < list.length; index += 2) {
    const name = String(list[index]).toLowerCase();
    const value = list[index + 1];
    found.set(name, found.has(name) ? [found.get(name), value].flat() : value);
  }
  return found;
}

/** The function among the arguments of `write` or `end`. */
function calledIn(given: readonly unknown[]): (() => void) | undefined {
  return given.find((each) => typeof each === "function") as
    (() => void) | undefined;
}

/** The characters of a text, or the bytes of others. */
function lengthOf(part: unknown): number {
  if (typeof part === "string") return part.length;
  return ArrayBuffer.isView(part) ? part.byteLength : 0;
}

/** The values of each field. */
function grouped(fields: Fields): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const [name, value] of fields) {
    found.set(name, [...(found.get(name) ?? []), value]);
  }
  return found;
}

declare class TextDecoder {
  decode(bytes?: object, options?: { readonly stream: boolean }): string;
}

/** The text of parts that are texts or bytes. */
function textOf(parts: readonly unknown[]): string {
  const decoder = new TextDecoder();
  return parts
    .map((part) => {
      if (typeof part === "string") return part;
      return typeof part === "object" && part !== null
        ? decoder.decode(part, { stream: true })
        : "";
    })
    .join("");
}
