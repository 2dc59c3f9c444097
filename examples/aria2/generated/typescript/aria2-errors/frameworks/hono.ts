/**
 * Every error of a Hono application leaves in the envelope.
 *
 *     const app = new Hono();
 *     install(app); // before the routes
 *
 * An exception of this package leaves as itself, an `HTTPException` by its status, JSON
 * that `context.req.json()` cannot read as a bare 400, and any other as the internal error.
 */

// Generated from examples/aria2/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/aria2/taxonomy.yaml

import { type FieldSource, fieldsOf } from "../_runtime/fields.js";
import {
  type BodyStream,
  type OwnStream,
  discard,
  readText,
} from "../_runtime/streams.js";
import {
  type Answer,
  Boundary,
  type BoundaryOptions,
  type Exchange,
} from "../boundary.js";
import { type Reply, checkReplies, testedError } from "./self-test.js";

/** An answer of the Fetch standard. */
interface WebResponse {
  readonly status: number;
  readonly headers: WebHeaders;
  readonly body: OwnStream | null;
  clone(): { readonly body: BodyStream | null };
}

interface WebHeaders {
  append(name: string, value: string): void;
  delete(name: string): void;
  set(name: string, value: string): void;
  get(name: string): string | null;
  forEach(each: (value: string, name: string) => void): void;
}

interface Context {
  readonly req: {
    readonly method: string;
    readonly path: string;
    readonly raw: { readonly headers: FieldSource };
    json(): Promise<unknown>;
  };
  res: WebResponse;
  body(body: string, status: number): WebResponse;
}

/** Headers of a body that an error does not have. */
const OF_BODY = ["content-length", "content-encoding", "etag"];

/* eslint-disable @typescript-eslint/no-explicit-any */
/** An application of Hono. Its own types of contexts depend on its routes. */
export interface HonoApplication {
  use(path: string, middleware: any): unknown;
  onError(handler: any): unknown;
  notFound(handler: any): unknown;
}
/* eslint-enable @typescript-eslint/no-explicit-any */

/**
 * Put the boundary around an application, before its routes. Throws RangeError as
 * `Boundary` does.
 */
export function install(
  app: HonoApplication,
  options: BoundaryOptions = {},
): void {
  const boundary = new Boundary(options);
  const exchanges = new WeakMap<object, Exchange>();
  const answered = new WeakSet<object>();
  const unread = new WeakSet<object>();
  const exchangeOf = (context: Context): Exchange => {
    const known = exchanges.get(context);
    if (known !== undefined) return known;
    const { method, path, raw } = context.req;
    const opened = boundary.open({ method, path, headers: raw.headers });
    exchanges.set(context, opened);
    return opened;
  };
  const respond = (context: Context, answer: Answer): WebResponse => {
    answered.add(context);
    // `body` takes over the headers that middleware has set
    const response = context.body(answer.body, answer.status);
    for (const name of OF_BODY) response.headers.delete(name);
    for (const [name, value] of answer.headers) {
      response.headers.set(name, value);
    }
    return response;
  };
  app.use("*", async (context: Context, next: () => Promise<void>) => {
    const exchange = exchangeOf(context);
    noteUnread(context, unread);
    const tested = testedError(context.req.raw.headers);
    if (tested !== undefined) throw tested as Error;
    try {
      await next();
    } catch (error) {
      // Hono gives `onError` no other value
      if (error instanceof Error) throw error;
      context.res = respond(context, exchange.answerError(error));
    }
    const { status, headers } = context.res;
    if (!answered.has(context) && exchange.isHeld(status)) {
      const text = await textOf(context.res);
      const kept = fieldsOf(headers).filter(([name]) => name !== "set-cookie");
      const answer =
        text === null
          ? exchange.answerStatus(status, kept)
          : exchange.settle(status, kept, text);
      if (answer !== null) {
        const { body } = context.res;
        replace(context, respond(context, answer));
        discard(body);
      }
    }
    for (const [name, value] of exchange.withId(
      fieldsOf(context.res.headers),
    )) {
      if (context.res.headers.get(name) === null) {
        context.res.headers.set(name, value);
      }
    }
  });
  app.notFound((context: Context) =>
    respond(context, exchangeOf(context).answerStatus(404)),
  );
  app.onError((error: unknown, context: Context) => {
    const exchange = exchangeOf(context);
    const isUnread = unread.has(Object(error) as object);
    const made = isUnread ? { status: 400, headers: {} } : madeBy(error);
    return respond(
      context,
      made === null
        ? exchange.answerError(error)
        : exchange.answerStatus(made.status, made.headers),
    );
  });
}

/** Note the errors of `context.req.json()` for JSON that is malformed. */
function noteUnread({ req }: Context, unread: WeakSet<object>): void {
  const { json } = req;
  req.json = async () => {
    try {
      return await json.call(req);
    } catch (error) {
      if (error instanceof SyntaxError) unread.add(error);
      throw error;
    }
  };
}

/** The text of a response; null if it is longer than an envelope may be. */
async function textOf(response: WebResponse): Promise<string | null> {
  const { body } = response.clone();
  return body === null ? "" : await readText(body);
}

/** Put a response in the place of another, whose headers of its body do not stay. */
function replace(context: Context, response: WebResponse): void {
  const fields = fieldsOf(response.headers);
  for (const name of OF_BODY) context.res.headers.delete(name);
  // The headers of the other are copied over those of the response
  context.res = response;
  for (const [name, value] of fields) {
    if (name !== "set-cookie") context.res.headers.set(name, value);
  }
}

/** The status and the headers of an `HTTPException`, null for any other error. */
function madeBy(
  error: unknown,
): { readonly status: number; readonly headers: FieldSource } | null {
  if (typeof error !== "object" || error === null) return null;
  if (!("getResponse" in error) || !("status" in error)) return null;
  const { getResponse } = error as { getResponse(): WebResponse };
  const { status, headers } = getResponse.call(error);
  return status >= 400 && status < 500 ? { status, headers } : null;
}

/** An application of Hono, as far as a self-test needs it. */
export interface RequestableApplication {
  request(
    path: string,
    init: { readonly method: string; readonly headers: Record<string, string> },
  ): Reply | Promise<Reply>;
}

/**
 * The parts of the boundary that are not wired, in plain words. Requests are sent in
 * process.
 */
export async function check(app: RequestableApplication): Promise<string[]> {
  return await checkReplies(async (method, path, headers) =>
    app.request(path, { method, headers }),
  );
}
