/** Errors as text, for readers without an envelope. */

// Generated from examples/aileron/taxonomy.yaml; do not edit. Regenerate: faultspec
// compile examples/aileron/taxonomy.yaml

import {
  type Json,
  type Parameters,
  fill,
  memberOf,
} from "./_runtime/renderings.js";
import type { Picture } from "./_runtime/shape.js";
import { factsOf } from "./catalog.js";
import type { AnyError } from "./errors.js";

/** The values that each rendering needs and the error does not know. */
export interface Given {
  /** The result of a tool call in a chat completion. */
  readonly tool_message: {
    /** The call that failed. */
    readonly tool_call_id: string;
    /** The name of the action. */
    readonly action: string;
  };
  /** The same for an API that has a block for it. */
  readonly tool_result: {
    /** The call that failed. */
    readonly tool_use_id: string;
  };
}

// prettier-ignore
const PICTURES: { readonly [N in keyof Given]: Picture } = {
  tool_message: {
    tool_call_id: "$tool_call_id",
    role: "tool",
    content: "Action '${action}' failed: ${code} (${message}).\n${details.suggestion}\naudit_id: ${audit_id}",
  },
  tool_result: {
    type: "tool_result",
    tool_use_id: "$tool_use_id",
    is_error: true,
    content: "${code}: ${message}\n${details.suggestion}\naudit_id: ${audit_id}",
  },
};

/** The member of errors for each slot. */
// prettier-ignore
const SLOTS: Readonly<Record<string, string>> = {
  audit_id: "auditId",
  request_id: "requestId",
};

/** An error as a rendering; a line of text that lacks a value is left out. */
export function rendering<N extends keyof Given>(
  name: N,
  error: AnyError,
  given: Given[N],
): Json {
  return fill(PICTURES[name], parameters(error, given));
}

function parameters(error: AnyError, given: object): Parameters {
  const facts = factsOf(error);
  const own: Readonly<Record<string, unknown>> = {
    code: error.known ? facts.wire : (error.originalCode ?? error.code),
    message: error.message,
    summary: facts.summary,
    status: error.status,
    retriable: error.retriable,
    boundary: error.boundary,
    domain: facts.domain,
    details: error.details,
    actions: facts.actions,
  };
  return (name) =>
    memberOf(given, name) ??
    memberOf(error, String(memberOf(SLOTS, name))) ??
    memberOf(own, name) ??
    (name.startsWith("details.")
      ? memberOf(error.details, name.slice("details.".length))
      : undefined);
}
