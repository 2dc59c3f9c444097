/**
 * The answers of an error boundary: to an exception, to a bare status, to input that a
 * framework refuses. Nothing is sent here; `frameworks` has a module for each framework.
 *
 * A framework knows no details. If the code of its status requires some, or several codes
 * claim the status, the service chooses the answer:
 *
 *     const choose = (problem: Problem) =>
 *       problem.status === 409 ? new SomeError() : null; // the boundary decides
 */

// Generated from taxonomy.yaml; do not edit. Regenerate: faultspec compile
// taxonomy.yaml

import {
  type Correlation,
  correlationId,
  idIn,
  keptFields,
  notStored,
} from "./_runtime/boundary.js";
import {
  type FieldSource,
  type Fields,
  accepted,
  fieldsOf,
  isIn,
  valuesOf,
  withField,
} from "./_runtime/fields.js";
import { LARGEST_BODY } from "./_runtime/streams.js";
import { entriesOf } from "./catalog.js";
import { type ErrorCode, FACTS, type Facts } from "./codes.js";
import {
  type EnvelopeName,
  FALLBACKS,
  type Kind,
  bare,
  codesFor,
  exceptionOf,
  PlatformError as ServiceError,
  kindOfCode,
  lacking,
  wait,
} from "./exceptions.js";
import { NEEDED, mediaTypeOf, render } from "./render.js";
import { fittingCode, parse } from "./wire.js";

/** The request that an error answers. `path` has no query. */
export interface BoundaryRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: FieldSource | null | undefined;
}

/**
 * A failure that is not an exception of this package. `status` is the one that the
 * framework chose, 500 for an exception. `headers` are those that will be kept, in lower
 * case. `body` is what the application answered, which may hold anything; `answered` are
 * all headers of that answer.
 */
export interface Problem {
  readonly status: number;
  readonly correlationId: string;
  readonly error: unknown;
  readonly headers: Fields;
  readonly body: string;
  readonly answered?: Fields | undefined;
}

/** A whole answer. A header may be there several times. */
export interface Answer {
  readonly status: number;
  readonly headers: Fields;
  readonly body: string;
}

/** The bug that a self-test makes. No log has it: it would look like a failure. */
export class SelfTestCrash extends Error {}

/** A line for the log. `error` has the trace; neither is safe to show to a caller. */
export interface LogLine {
  readonly level: "error" | "warn" | "info";
  readonly message: string;
  readonly correlationId: string;
  readonly error: unknown;
}

/**
 * The options of every boundary.
 *
 * `retryAfter` (seconds) and `challenge` are the values of `Retry-After` and
 * `WWW-Authenticate` in answers that require these headers and lack them, as when a
 * framework answers 429 or 401. With null, such an answer becomes another.
 *
 * `choose` chooses the answer to a framework's status or an exception; null leaves it to
 * the boundary. `log` writes a line; by default the console has errors and warnings.
 */
export interface BoundaryOptions {
  readonly envelope?: EnvelopeName | undefined;
  readonly choose?:
    ((problem: Problem) => ServiceError | null | undefined) | undefined;
  readonly retryAfter?: number | null | undefined;
  readonly challenge?: string | null | undefined;
  readonly log?: ((line: LogLine) => void) | undefined;
}

// prettier-ignore
export const CORRELATION: Correlation = {
  header: "X-Correlation-Id",
  formats: [
    "uuid7",
    "ulid",
  ],
};

/** The code of the answer to an exception, null if the taxonomy declares none. */
const INTERNAL: ErrorCode | null = "internal_error";

/** The codes that each envelope can carry without details. */
// prettier-ignore
const BARE: Readonly<Record<EnvelopeName, readonly ErrorCode[]>> = {
  error: [
    "invalid_request",
    "validation_failed",
    "unsupported_media_type",
    "unauthenticated",
    "forbidden",
    "scope_insufficient",
    "not_found",
    "rate_limited",
    "timeout",
    "dependency_unavailable",
    "internal_error",
    "constraint_violation",
    "serialization_failure",
  ],
};

/** Of the statuses that several codes claim, those that one of the codes stands for. */
// prettier-ignore
const GENERAL: ReadonlyMap<number, ErrorCode> = new Map<number, ErrorCode>([
  [
    400,
    "invalid_request",
  ],
  [
    403,
    "forbidden",
  ],
  [
    409,
    "conflict",
  ],
  [
    503,
    "dependency_unavailable",
  ],
]);

/** A name that a client made up could be as long as its request; in characters. */
const LONGEST_FIELD = 200;

declare const console: Record<"error" | "warn", (...parts: unknown[]) => void>;

/**
 * The answer to an exception: an error of this package leaves as itself, an error of a
 * framework that has a status (the convention of `http-errors`) by its status, and any
 * other as the internal error, with nothing of it.
 */
export function answerError(
  error: unknown,
  request: BoundaryRequest,
  options: BoundaryOptions = {},
): Answer {
  return new Boundary(options).open(request).answerError(error);
}

/** How a service answers errors. Throws RangeError if a status needs `choose`. */
export class Boundary {
  readonly envelope: EnvelopeName;
  readonly #supplied: Readonly<Record<string, string>>;
  readonly #warned = new Set<string>();

  constructor(readonly options: BoundaryOptions = {}) {
    this.envelope = options.envelope ?? "error";
    const { retryAfter = 1, challenge = "Bearer" } = options;
    this.#supplied = {
      ...(retryAfter === null ? {} : { "retry-after": wait(retryAfter) }),
      ...(challenge === null ? {} : { "www-authenticate": challenge }),
    };
    if (options.choose === undefined) {
      const lost = Array.from({ length: 200 }, (_, index) => 400 + index).find(
        (status) => this.#chosen(status, []) === null,
      );
      if (lost !== undefined) {
        throw new RangeError(
          `no answer to a bare ${String(lost)}: name codes for 4xx and 5xx under ` +
            "`fallback` of the taxonomy, such as `5xx: {code: internal_error, reason: " +
            "What breaks}`, with bodies that need no details; or pass `choose`",
        );
      }
    }
  }

  /** A request, before its answer. */
  open(request: BoundaryRequest): Exchange {
    return new Exchange(this, request);
  }

  /** The answer to a problem, as `Exchange` completes it. */
  answer(problem: Problem): Answer {
    const given = problem.headers.map(([name]) => name);
    const own = this.#own(problem);
    const error =
      own ?? this.options.choose?.(problem) ?? this.#byItself(problem, given);
    return this.#written(error, problem.correlationId, given, {});
  }

  /**
   * The answer if making one fails, as when `choose` throws: the internal error with
   * only the values that the taxonomy fixes.
   */
  lastResort(id: string): Answer {
    const found = this.#chosen(500, []);
    const code = found?.code ?? INTERNAL ?? firstCode();
    return this.#written(bare(code, found?.status ?? 500), id, [], {});
  }

  /**
   * The error of a bare status. `given` are the lower-case names of the headers that
   * come with it.
   *
   * The code of a status fits if it needs no details, and no other headers. If it does
   * not fit, or several codes claim the status, the log has a warning, once for each
   * status. The answer is then, under its own status, the first that fits of the declared
   * fallback, the codes of 400 or 500, and the internal error.
   */
  forStatus(
    status: number,
    given: readonly string[],
    id: string,
  ): ServiceError {
    const found = this.#chosen(status, given);
    if (found === null) {
      throw new RangeError(`no answer to a bare ${String(status)}`);
    }
    if (found.code !== statusCode(status)) this.#warn(status, found, id);
    return bare(found.code, found.status);
  }

  /** Write a line of the log. If that fails, the answer stays what it is. */
  log(line: LogLine): void {
    try {
      this.#write(line);
    } catch {
      console.error(`${line.message}, and the log failed at it`);
    }
  }

  #write(line: LogLine): void {
    if (this.options.log !== undefined) {
      this.options.log(line);
    } else if (line.level !== "info") {
      const trace = line.error === undefined ? [] : [line.error];
      console[line.level](line.message, ...trace);
    }
  }

  #own(problem: Problem): ServiceError | null {
    const { error, status, body, answered = problem.headers } = problem;
    if (error instanceof ServiceError) return error.known ? error : null;
    return error === undefined ? ownError(body, status, answered) : null;
  }

  #byItself(problem: Problem, given: readonly string[]): ServiceError {
    const { error, status, correlationId: id } = problem;
    const isInternal =
      error !== undefined &&
      INTERNAL !== null &&
      this.#isAnswerable(INTERNAL, FACTS[INTERNAL].status, given);
    if (!isInternal) return this.forStatus(status, given, id);
    return bare(INTERNAL);
  }

  #written(
    error: ServiceError,
    id: string,
    given: readonly string[],
    completed: Readonly<Record<string, unknown>>,
  ): Answer {
    const absent = Object.entries(NEEDED)
      .filter(([, name]) => memberOf(error, name) === null)
      .map(([slot]) => [slot, null]);
    const slots = {
      ...Object.fromEntries(absent),
      ...completed,
      ...idSlot(id),
    };
    const { envelope } = this;
    const { status, headers, body } = render(error, { envelope, slots });
    const missing = lacking(error)
      .map((name) => name.toLowerCase())
      .filter((name) => !given.includes(name));
    const fields = missing.reduce<Fields>((all, name) => {
      const value = this.#supplied[name];
      return value === undefined ? all : withField(all, name, value);
    }, Object.entries(headers));
    return { status, headers: fields, body };
  }

  #chosen(
    status: number,
    given: readonly string[],
  ): { readonly code: ErrorCode; readonly status: number } | null {
    const own = statusCode(status);
    if (own !== null && this.#isAnswerable(own, status, given)) {
      return { code: own, status };
    }
    const whole = status - (status % 100);
    const others = [
      ...FALLBACKS.filter(
        ({ low, high }) => low <= status && status <= high,
      ).map(({ code }) => code),
      statusCode(whole),
      ...codesFor(whole),
      INTERNAL,
    ];
    for (const code of others) {
      if (code === null) continue;
      const listed = codesFor(status).includes(code) ? [status] : [];
      for (const under of [...listed, FACTS[code].status]) {
        if (under && this.#isAnswerable(code, under, given)) {
          return { code, status: under };
        }
      }
    }
    // Without any of these, an answer by its status alone is still better than none.
    const able = codesFor(status).find((code) =>
      this.#isAnswerable(code, status, given),
    );
    return able === undefined ? null : { code: able, status };
  }

  /** Whether the code needs no details, and no header beside the known ones. */
  #isAnswerable(
    code: ErrorCode,
    status: number | null,
    given: readonly string[],
  ): boolean {
    const known = [...given, ...Object.keys(this.#supplied)];
    const needed: Kind["headers"] = kindOfCode(code)?.headers ?? [];
    return (
      BARE[this.envelope].includes(code) &&
      needed.every(
        ({ name, on }) =>
          known.includes(name.toLowerCase()) || !isIn(status, on),
      )
    );
  }

  #warn(
    status: number,
    found: { readonly code: ErrorCode; readonly status: number },
    id: string,
  ): void {
    const many = codesFor(status).length > 1 && statusCode(status) === null;
    const why = many
      ? "several codes claim it"
      : "its code needs details or headers that only a handler knows";
    const bareStatus = `a bare ${String(status)}`;
    const under = `${found.code} under ${String(found.status)}`;
    const message = `${bareStatus} is answered as ${under}: ${why}; pass \`choose\``;
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.log({ level: "warn", message, correlationId: id, error: undefined });
  }
}

/** One request, and the error that answers it. */
export class Exchange {
  readonly correlationId: string;

  constructor(
    readonly boundary: Boundary,
    readonly request: BoundaryRequest,
  ) {
    const fields = fieldsOf(request.headers);
    this.correlationId = correlationId(CORRELATION, fields);
  }

  /** The answer to an exception; `kept` are headers that outlive an answer. */
  answerError(error: unknown, kept: FieldSource = {}): Answer {
    const made = error instanceof ServiceError ? null : madeBy(error);
    if (made === null) {
      return this.#answer(500, error ?? new Error("nothing was thrown"), kept);
    }
    if (made.status >= 500) this.log("failed", error, "error");
    return this.answerStatus(made.status, made.headers);
  }

  /** The answer to a status that has no code. `body` is what was to be sent. */
  answerStatus(
    status: number,
    headers: FieldSource = {},
    body: string = "",
  ): Answer {
    return this.#answer(status, undefined, headers, body);
  }

  /**
   * The answer in place of one that the application sends by itself; null if it may leave
   * as it is.
   */
  settle(status: number, headers: FieldSource, body: string): Answer | null {
    if (!this.isHeld(status)) return null;
    return this.isEnvelope(status, headers, body)
      ? null
      : this.answerStatus(status, headers, body);
  }

  /** Whether an answer is an envelope of this package, and sound. */
  isEnvelope(status: number, headers: FieldSource, body: string): boolean {
    const fields = fieldsOf(headers);
    const [type = ""] = valuesOf(fields, "content-type");
    const essence = type.split(";")[0]?.trim().toLowerCase();
    if (essence !== mediaTypeOf(this.boundary.envelope)) return false;
    if (this.request.method === "HEAD" && body === "") return true;
    if (body.length > LARGEST_BODY) return false;
    const error = ownError(body, status, fields);
    if (error === null) return false;
    const id = idIn(CORRELATION, fields) ?? this.correlationId;
    const own: string | null = memberOf(error, "correlationId");
    if (own !== id && true) return false;
    return lacking(error).every((name) => valuesOf(fields, name).length > 0);
  }

  /** Whether an answer under the status has to be seen whole before it leaves. */
  isHeld(status: number): boolean {
    return status >= 400;
  }

  /** The headers of any answer: with the correlation id. */
  withId(headers: Fields): Fields {
    return idIn(CORRELATION, headers) === null
      ? withField(headers, CORRELATION.header, this.correlationId)
      : headers;
  }

  #answer(
    status: number,
    error: unknown,
    headers: FieldSource,
    body: string = "",
  ): Answer {
    const answered = fieldsOf(headers);
    const kept = keptFields(answered);
    const id = this.correlationId;
    let answer: Answer;
    try {
      answer = this.boundary.answer({
        status,
        correlationId: id,
        error,
        headers: kept,
        body: body.length > LARGEST_BODY ? "" : body,
        answered,
      });
    } catch (failure) {
      this.log("could not be answered", failure, "error");
      answer = this.boundary.lastResort(id);
    }
    if (error !== undefined) {
      this.log("failed", error, answer.status >= 500 ? "error" : "info");
    }
    const settled = new Set(["content-length", ...kept.map(([name]) => name)]);
    const rendered = accepted(answer.headers)
      .map(([name, value]): [string, string] => [name.toLowerCase(), value])
      .filter(([name]) => !settled.has(name));
    const fields = notStored(this.withId([...kept, ...rendered]));
    return { status: answer.status, headers: fields, body: answer.body };
  }

  /** Write a line about an exception. A path may hold line ends, and what turns a text. */
  log(what: string, error: unknown, level: LogLine["level"]): void {
    if (error instanceof SelfTestCrash) return;
    const { method, path } = this.request;
    const where = JSON.stringify(path)
      .slice(1, -1)
      .replace(/[\u007f-\uffff]/g, escapeUnit);
    const id = this.correlationId;
    const message = `${method} ${where} ${what} (correlation id ${id})`;
    this.boundary.log({ level, message, correlationId: id, error });
  }
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * The code that a bare status means: the one that `GENERAL` names, else the one whose
 * default is nearest; null if there are several.
 */
export function statusCode(status: number): ErrorCode | null {
  const general = GENERAL.get(status);
  if (general !== undefined) return general;
  const claims = codesFor(status).map((code) => ({
    code,
    distance: Math.abs((FACTS[code].status ?? 0) - status),
  }));
  const least = Math.min(...claims.map(({ distance }) => distance));
  const nearest = claims.filter(({ distance }) => distance === least);
  return nearest.length === 1 ? (nearest[0]?.code ?? null) : null;
}

/**
 * A value of a request that was refused: its place, such as `["body", "items", 0,
 * "sku"]`, and the reason. The value itself is not kept.
 */
export interface InvalidInput {
  readonly place: readonly (string | number)[];
  readonly reason?: string | undefined;
}

/** The place within the part of the request, `items.0.sku`. */
export function fieldOf({ place }: InvalidInput): string {
  return place.slice(1).join(".").slice(0, LONGEST_FIELD);
}

/**
 * The error of refused input: `validation_failed`.
 *
 * @param _status - that of the framework
 */
export function invalidInput(
  failures: readonly InvalidInput[],
  _status = 422,
): ServiceError {
  const found = failures.map(fieldOf).find((field) => field !== "");
  // prettier-ignore
  const details = found === undefined ? {} : { field: found };
  return bare("validation_failed", null, details);
}

/**
 * The status and the headers of an error that a framework made, by the convention of
 * `http-errors`: a `status` from 400 on, and `expose`. The router of Express gives a path
 * that it cannot decode the status alone. An error that carries the answer of another
 * service is not one: its status is not this service's.
 */
function madeBy(
  error: unknown,
): { readonly status: number; readonly headers: FieldSource } | null {
  if (typeof error !== "object" || error === null) return null;
  const { status, expose, headers } = error as Record<string, unknown>;
  const isOfFramework =
    typeof expose === "boolean" || error instanceof URIError;
  if (typeof status !== "number" || !isOfFramework) return null;
  if (!Number.isInteger(status) || status < 400 || status > 599) return null;
  return { status, headers: (headers ?? {}) as FieldSource };
}

/** The error in an envelope that a service filled itself, null for anything else. */
function ownError(
  body: string,
  status: number,
  headers: Fields,
): ServiceError | null {
  const answer = { status, headers: Object.fromEntries(headers) };
  const wire = fittingCode(body, answer);
  const own = entriesOf(wire).find(({ facts }) => mayHave(facts, status));
  if (own === undefined) return null;
  const found = parse(body, { ...answer, operation: own.operation });
  if (!found.known) return null;
  return exceptionOf(found);
}

/**
 * Whether a code may travel under a status: one of its own, or one that no code claims
 * and that it stands for. A code without statuses is sent as 500.
 */
function mayHave({ statuses, wire }: Facts, status: number): boolean {
  if (statuses.length === 0) return status === 500;
  return (
    statuses.includes(status) ||
    codesFor(status).some((code) => FACTS[code].wire === wire)
  );
}

/** The slot that repeats the correlation id. */
function idSlot(id: string): Record<string, unknown> {
  // prettier-ignore
  return { correlation_id: id };
}

function memberOf<T>(error: ServiceError, name: string): T | null {
  return (error as object as Record<string, T | null>)[name] ?? null;
}

function firstCode(): ErrorCode {
  const [first] = Object.keys(FACTS);
  return first as ErrorCode;
}
