/**
 * Every error of a Nest application on Express leaves in the envelope.
 *
 *     const app = await NestFactory.create(AppModule);
 *     install(app);
 *
 * An exception of this package leaves as itself, an `HttpException` by its status, and any
 * other as the internal error. `refuse` is the `exceptionFactory` of a `ValidationPipe`.
 */

// Generated from examples/theodosia/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/theodosia/taxonomy.yaml

import {
  type Answer,
  Boundary,
  type BoundaryOptions,
  type Exchange,
  type InvalidInput,
  invalidInput,
} from "../boundary.js";
// prettier-ignore
import type { TheodosiaError as ServiceError } from "../exceptions.js";
import type { FieldSource } from "../_runtime/fields.js";
import {
  type NodeRequest,
  type NodeResponse,
  exchangeOf,
  holdErrors,
  sendAnswer,
} from "./node.js";
import { type Reply, checkReplies, testedError } from "./self-test.js";

/** The arguments of a handler, as Nest gives them to a filter. */
export interface NestHost {
  getType(): string;
  switchToHttp(): { getRequest(): unknown; getResponse(): unknown };
}

/* eslint-disable @typescript-eslint/no-explicit-any */
/** An application of Nest on Express. */
export interface NestApplication {
  use(...middleware: any[]): unknown;
  useGlobalFilters(...filters: any[]): unknown;
}
/* eslint-enable @typescript-eslint/no-explicit-any */

/** Put the boundary around an application. Throws RangeError as `Boundary` does. */
export function install(
  app: NestApplication,
  options: BoundaryOptions = {},
): void {
  const boundary = new Boundary(options);
  app.use(
    (
      request: NodeRequest,
      response: NodeResponse,
      next: (error?: unknown) => void,
    ) => {
      holdErrors(exchangeOf(boundary, request, response), response);
      next(testedError(request.headers));
    },
  );
  app.useGlobalFilters(new ErrorFilter(boundary));
}

/**
 * The exception filter of a boundary. Nest gives a filter without `@Catch` every
 * exception; those of other transports than HTTP are thrown again.
 */
export class ErrorFilter {
  constructor(readonly boundary: Boundary) {}

  catch(error: unknown, host: NestHost): void {
    if (host.getType() !== "http") throw error;
    const http = host.switchToHttp();
    const request = http.getRequest() as NodeRequest;
    const response = http.getResponse() as NodeResponse;
    const exchange = exchangeOf(this.boundary, request, response);
    if (response.headersSent) {
      if (!response.destroyed) {
        exchange.log("failed after its headers", error, "error");
      }
      response.destroy();
      return;
    }
    sendAnswer(response, answerOf(exchange, error, response));
  }
}

function answerOf(
  exchange: Exchange,
  error: unknown,
  response: NodeResponse,
): Answer {
  const headers = response.getHeaders() as FieldSource;
  const status = statusOf(error);
  if (status === null) return exchange.answerError(error, headers);
  if (status >= 500) exchange.log("failed", error, "error");
  return exchange.answerStatus(status, headers);
}

/** The status of an `HttpException`, null for any other error. */
function statusOf(error: unknown): number | null {
  if (typeof error !== "object" || error === null) return null;
  if (!("getStatus" in error)) return null;
  const { getStatus } = error as { getStatus(): unknown };
  const status = getStatus.call(error);
  return typeof status === "number" && status >= 400 && status < 600
    ? status
    : null;
}

/** An error of `class-validator`. */
export interface NestValidationError {
  readonly property: string;
  readonly children?: readonly NestValidationError[] | undefined;
  readonly constraints?: Readonly<Record<string, string>> | undefined;
}

/** The error of input that a `ValidationPipe` refuses. */
export function refuse(errors: readonly NestValidationError[]): ServiceError {
  return invalidInput(failuresOf(errors, ["body"]));
}

function failuresOf(
  errors: readonly NestValidationError[],
  above: readonly string[],
): readonly InvalidInput[] {
  return errors.flatMap(({ property, children = [], constraints }) => {
    const place = [...above, property];
    const inner = failuresOf(children, place);
    const [reason] = Object.values(constraints ?? {});
    return reason === undefined ? inner : [{ place, reason }, ...inner];
  });
}

/** An application of Nest, as far as a self-test needs it. */
export interface ListeningApplication {
  listen(port: number, host: string): Promise<unknown>;
  getUrl(): Promise<string>;
  close(): Promise<unknown>;
}

declare function fetch(
  url: string,
  init: { readonly method: string; readonly headers: Record<string, string> },
): Promise<Reply>;

/**
 * The parts of the boundary that are not wired, in plain words. The application listens on
 * a free port of 127.0.0.1 meanwhile, and is closed.
 */
export async function check(app: ListeningApplication): Promise<string[]> {
  await app.listen(0, "127.0.0.1");
  const base = await app.getUrl();
  try {
    return await checkReplies((method, path, headers) =>
      fetch(`${base}${path}`, { method, headers }),
    );
  } finally {
    await app.close();
  }
}
