/**
 * Every error of an Express application leaves in the envelope.
 *
 *     const errors = errorBoundary();
 *     app.use(errors.first);
 *     // everything else
 *     app.use(errors.last);
 *
 * An exception of this package leaves as itself, an error of Express or of `http-errors`
 * by its status, and any other as the internal error. Express 4 does not see what an
 * asynchronous handler throws: pass it to `next` there.
 */

// Generated from examples/kinto/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/kinto/taxonomy.yaml

import { Boundary, type BoundaryOptions } from "../boundary.js";
import {
  type NodeRequest,
  type NodeResponse,
  exchangeOf,
  holdErrors,
  sendAnswer,
} from "./node.js";
import { type Reply, checkReplies, testedError } from "./self-test.js";

/** A request of Express. */
export interface ExpressRequest extends NodeRequest {
  readonly originalUrl?: string | undefined;
}

type Next = (error?: unknown) => void;

/** The middleware of an application. */
export interface ExpressBoundary {
  /** The first middleware: it gives responses their id, and sees bare statuses. */
  readonly first: (
    request: ExpressRequest,
    response: NodeResponse,
    next: Next,
  ) => void;
  /**
   * The last middleware: it answers unknown routes and errors. OPTIONS of a path has
   * Express's own answer, with the methods of the path.
   */
  readonly last: [
    (request: ExpressRequest, response: NodeResponse, next: Next) => void,
    (
      error: unknown,
      request: ExpressRequest,
      response: NodeResponse,
      next: Next,
    ) => void,
  ];
}

/** The middleware with these options. Throws RangeError as `Boundary` does. */
export function errorBoundary(options: BoundaryOptions = {}): ExpressBoundary {
  const boundary = new Boundary(options);
  return {
    first: (request, response, next) => {
      holdErrors(exchangeOf(boundary, request, response), response);
      next(testedError(request.headers));
    },
    last: [
      (request, response, next) => {
        if (request.method === "OPTIONS") {
          // Express names the methods of a path, or answers 404, which `first` sees
          next();
          return;
        }
        const exchange = exchangeOf(boundary, request, response);
        const headers = response.getHeaders() as NodeRequest["headers"];
        sendAnswer(response, exchange.answerStatus(404, headers));
      },
      (error, request, response, _) => {
        const exchange = exchangeOf(boundary, request, response);
        if (response.headersSent) {
          if (!response.destroyed) {
            exchange.log("failed after its headers", error, "error");
          }
          response.destroy();
          return;
        }
        const headers = response.getHeaders() as NodeRequest["headers"];
        sendAnswer(response, exchange.answerError(error, headers));
      },
    ],
  };
}

/** An application of Express, as far as a self-test needs it. */
export interface ExpressApplication {
  listen(port: number, host: string): LoopbackServer;
}

interface LoopbackServer {
  once(event: "listening", listener: () => void): unknown;
  address(): { readonly port: number } | string | null;
  close(): unknown;
}

declare function fetch(
  url: string,
  init: { readonly method: string; readonly headers: Record<string, string> },
): Promise<Reply>;

/**
 * The parts of the boundary that are not wired, in plain words. The application listens on
 * a free port of 127.0.0.1 meanwhile.
 */
export async function check(app: ExpressApplication): Promise<string[]> {
  const server = app.listen(0, "127.0.0.1");
  await new Promise<void>((resolve) => server.once("listening", resolve));
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const base = `http://127.0.0.1:${String(port)}`;
  try {
    return await checkReplies((method, path, headers) =>
      fetch(`${base}${path}`, { method, headers }),
    );
  } finally {
    server.close();
  }
}
