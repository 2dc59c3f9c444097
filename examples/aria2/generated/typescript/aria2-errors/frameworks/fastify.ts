/**
 * Every error of a Fastify application leaves in the envelope.
 *
 *     const app = fastify({ frameworkErrors: frameworkErrors() });
 *     install(app); // before the routes
 *
 * An exception of this package leaves as itself, an error of Fastify by its status, input
 * that Fastify refuses as `invalidInput` says, and any other as the internal error.
 */

// Generated from examples/aria2/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/aria2/taxonomy.yaml

import {
  type FieldSource,
  accepted,
  fieldsOf,
  valuesOf,
} from "../_runtime/fields.js";
import { LARGEST_BODY } from "../_runtime/streams.js";
import {
  type Answer,
  Boundary,
  type BoundaryOptions,
  CORRELATION,
  type Exchange,
  type InvalidInput,
  invalidInput,
} from "../boundary.js";
// prettier-ignore
import type { Aria2Error as ServiceError } from "../exceptions.js";
import { type Reply, checkReplies, testedError } from "./self-test.js";

/** `refuse` chooses the error of input that Fastify refuses. */
export interface FastifyOptions extends BoundaryOptions {
  readonly refuse?: (failures: readonly InvalidInput[]) => ServiceError;
}

interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers: FieldSource;
}

interface FastifyAnswer {
  readonly statusCode: number;
  readonly raw: {
    readonly headersSent: boolean;
    statusCode: number;
    setHeader(name: string, value: unknown): unknown;
    end(body: string): unknown;
    destroy(): unknown;
  };
  code(status: number): unknown;
  hijack(): unknown;
  serializer(serialize: (body: string) => string): unknown;
  header(name: string, value: unknown): unknown;
  getHeaders(): object;
  removeHeader(name: string): unknown;
  send(body: string): unknown;
}

/* eslint-disable @typescript-eslint/no-explicit-any */
/** An application of Fastify. Its own types of requests depend on its routes. */
export interface FastifyApplication {
  addHook(name: any, hook: any): unknown;
  setErrorHandler(handler: any): unknown;
  setNotFoundHandler(handler: any): unknown;
}
/* eslint-enable @typescript-eslint/no-explicit-any */

/** Headers of a body that an error does not have. */
const OF_BODY = ["cache-control", "content-encoding", "content-length", "etag"];

/**
 * Put the boundary around an application, before its routes. Throws RangeError as
 * `Boundary` does.
 */
export function install(
  app: FastifyApplication,
  { refuse = invalidInput, ...options }: FastifyOptions = {},
): void {
  const boundary = new Boundary(options);
  const exchanges = new WeakMap<object, Exchange>();
  const answers = new WeakMap<object, Answer>();
  const sent = new WeakSet<object>();
  const reading = new WeakSet<object>();
  const exchangeOf = (request: Request): Exchange => {
    const known = exchanges.get(request);
    if (known !== undefined) return known;
    const opened = open(boundary, request);
    exchanges.set(request, opened);
    return opened;
  };
  const put = (reply: FastifyAnswer, answer: Answer): void => {
    for (const name of OF_BODY) reply.removeHeader(name);
    reply.code(answer.status);
    for (const [name, value] of answer.headers) {
      // Fastify adds a cookie to those that are there
      if (name !== "set-cookie") reply.header(name, value);
    }
  };
  const send = (
    request: Request,
    reply: FastifyAnswer,
    answer: Answer,
  ): unknown => {
    answers.set(request, answer);
    put(reply, answer);
    // A route's own serializer may be what threw
    reply.serializer((body) => body);
    reply.send(answer.body);
    return reply;
  };
  app.addHook("onRequest", async (request: Request, reply: FastifyAnswer) => {
    reply.header(CORRELATION.header, exchangeOf(request).correlationId);
    const tested = testedError(request.headers);
    if (tested !== undefined) throw tested as Error;
  });
  app.addHook(
    "onSend",
    (
      request: Request,
      reply: FastifyAnswer,
      payload: unknown,
      done: (error: null, payload: unknown) => void,
    ): Promise<unknown> | undefined => {
      if (reading.has(request)) return undefined; // Fastify sends the first answer only
      const exchange = exchangeOf(request);
      const error = answers.get(request);
      if (error !== undefined && sent.has(request)) {
        // A hook threw at the error, and Fastify would send what it threw
        exchange.log("a hook failed at an error", payload, "error");
        write(reply, error);
        return undefined;
      }
      const refused = refusedNames(reply.getHeaders() as FieldSource);
      for (const name of refused) reply.removeHeader(name);
      if (error === undefined && refused.length > 0) {
        // Node would throw at the end of this hook, where Fastify may not catch it
        const names = refused.join(", ");
        const failure = new TypeError(`Node refuses the header ${names}`);
        const headers = reply.getHeaders() as FieldSource;
        const answer = exchange.answerError(failure, headers);
        answers.set(request, answer);
        sent.add(request);
        put(reply, answer);
        (payload as { destroy?(): unknown } | null)?.destroy?.();
        done(null, answer.body);
        return undefined;
      }
      const made = isResponse(payload) ? payload : null;
      const status = made?.status ?? reply.statusCode;
      if (error !== undefined || !exchange.isHeld(status)) {
        if (error !== undefined) sent.add(request);
        done(null, payload);
        return undefined;
      }
      const settle = (body: string | null): string | null => {
        for (const [name, value] of made === null
          ? []
          : accepted(fieldsOf(made.headers))) {
          reply.header(name, value);
        }
        const headers = reply.getHeaders() as FieldSource;
        const answer =
          body === null
            ? exchange.answerStatus(status, headers)
            : exchange.settle(status, headers, body);
        if (answer === null) {
          reply.code(status);
          return body;
        }
        put(reply, answer);
        return answer.body;
      };
      const source = made === null ? payload : made.body;
      const text = wholeText(source);
      if (text !== null) {
        // At once: a second answer comes too late, as it does without a hook
        done(null, settle(text));
        return undefined;
      }
      reading.add(request);
      return streamedText(source).then((body) => {
        reading.delete(request);
        return settle(body);
      });
    },
  );
  app.setNotFoundHandler((request: Request, reply: FastifyAnswer) => {
    const headers = reply.getHeaders() as FieldSource;
    const exchange = exchangeOf(request);
    return send(request, reply, exchange.answerStatus(404, headers));
  });
  app.setErrorHandler(
    (error: unknown, request: Request, reply: FastifyAnswer) => {
      const exchange = exchangeOf(request);
      const headers = reply.getHeaders() as FieldSource;
      if (reply.raw.headersSent) {
        exchange.log("failed after its headers", error, "error");
        reply.raw.destroy();
        return reply;
      }
      const failures = refusedBy(error);
      const status = failures === null ? statusOf(error) : null;
      const answer =
        status === null
          ? exchange.answerError(
              failures === null ? error : refuse(failures),
              headers,
            )
          : exchange.answerStatus(status, headers);
      return send(request, reply, answer);
    },
  );
}

/* eslint-disable @typescript-eslint/no-explicit-any */
/**
 * The option of Fastify of this name: the answer to requests that it refuses before any
 * hook, such as a path that cannot be decoded. Takes the options that `install` has.
 * Throws RangeError as `Boundary` does.
 */
export function frameworkErrors(
  options: BoundaryOptions = {},
): (error: any, request: any, reply: any) => void {
  const boundary = new Boundary(options);
  return (error: unknown, request: Request, reply: FastifyAnswer) => {
    const exchange = open(boundary, request);
    const status = statusOf(error);
    write(
      reply,
      status === null
        ? exchange.answerError(error)
        : exchange.answerStatus(status),
    );
  };
}
/* eslint-enable @typescript-eslint/no-explicit-any */

function open(boundary: Boundary, request: Request): Exchange {
  const { method, url, headers } = request;
  const [path = "/"] = url.split("?");
  return boundary.open({ method, path, headers });
}

/** The names of headers that Node refuses. */
function refusedNames(headers: FieldSource): readonly string[] {
  return fieldsOf(headers)
    .filter((field) => accepted([field])[0]?.[1] !== field[1])
    .map(([name]) => name);
}

/** The input that Fastify refused, null if the error is another. */
function refusedBy(error: unknown): readonly InvalidInput[] | null {
  const { validation, validationContext = "body" } = (error ?? {}) as {
    readonly validation?: readonly {
      readonly instancePath?: string;
      readonly message?: string;
      readonly params?: { readonly missingProperty?: string };
    }[];
    readonly validationContext?: string;
  };
  if (!Array.isArray(validation)) return null;
  return validation.map(({ instancePath = "", message, params }) => {
    const missing = params?.missingProperty;
    const steps = instancePath
      .split("/")
      .slice(1)
      .map((step: string) => step.replace(/~1/g, "/").replace(/~0/g, "~"));
    return {
      place: [
        validationContext,
        ...steps,
        ...(missing === undefined ? [] : [missing]),
      ],
      reason: message,
    };
  });
}

/**
 * The status of an error of Fastify or of its plugins: `statusCode`, by their convention.
 * An error that carries the answer of another service has not this one's status.
 */
function statusOf(error: unknown): number | null {
  if (typeof error !== "object" || error === null) return null;
  const { statusCode, response, known } = error as Record<string, unknown>;
  return typeof statusCode === "number" &&
    statusCode >= 400 &&
    statusCode < 500 &&
    response === undefined &&
    known === undefined
    ? statusCode
    : null;
}

declare class TextDecoder {
  decode(bytes?: object, options?: { readonly stream: boolean }): string;
}

/** An answer of the Fetch standard, whose status Fastify takes over. */
function isResponse(payload: unknown): payload is {
  readonly status: number;
  readonly headers: FieldSource;
  readonly body: unknown;
} {
  return Object.prototype.toString.call(payload) === "[object Response]";
}

/** Write an answer without the hooks of the application. */
function write(reply: FastifyAnswer, answer: Answer): void {
  reply.hijack();
  reply.raw.statusCode = answer.status;
  const left = [...OF_BODY, ...refusedNames(reply.getHeaders() as FieldSource)];
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (!left.includes(name)) reply.raw.setHeader(name, value);
  }
  for (const [name, value] of answer.headers) {
    if (name !== "set-cookie") reply.raw.setHeader(name, value);
  }
  reply.raw.end(answer.body);
}

/** The text of a payload; null if it is a stream. */
function wholeText(payload: unknown): string | null {
  if (payload === undefined || payload === null) return "";
  if (typeof payload === "string") return payload;
  if (ArrayBuffer.isView(payload)) return new TextDecoder().decode(payload);
  return null;
}

/** The text of a stream; null if it breaks off or is longer than an envelope may be. */
async function streamedText(payload: unknown): Promise<string | null> {
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  try {
    for await (const part of payload as AsyncIterable<string | Uint8Array>) {
      size += part.length;
      if (size > LARGEST_BODY) return null;
      text +=
        typeof part === "string"
          ? part
          : decoder.decode(part, { stream: true });
    }
  } catch {
    return null;
  }
  return text + decoder.decode();
}

/** An application of Fastify, as far as a self-test needs it. */
export interface InjectableApplication {
  inject(request: {
    readonly method: "GET" | "HEAD";
    readonly url: string;
    readonly headers: Record<string, string>;
  }): Promise<{
    readonly statusCode: number;
    readonly headers: object;
    readonly body: string;
  }>;
}

/**
 * The parts of the boundary that are not wired, in plain words. Requests are sent in
 * process.
 */
export async function check(app: InjectableApplication): Promise<string[]> {
  const ask = async (
    name: string,
    url: string,
    headers: Record<string, string>,
  ): Promise<Reply> => {
    const method = name === "HEAD" ? "HEAD" : "GET";
    const found = await app.inject({ method, url, headers });
    return {
      status: found.statusCode,
      headers: found.headers as FieldSource,
      text: async () => found.body,
    };
  };
  const problems = await checkReplies(ask);
  const { headers } = await ask("GET", "/%zz", {});
  const [id] = valuesOf(fieldsOf(headers), CORRELATION.header);
  if (problems.length === 0 && id === undefined) {
    problems.push(
      "a path that cannot be decoded is answered by Fastify: pass `frameworkErrors`",
    );
  }
  return problems;
}
