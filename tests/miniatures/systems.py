"""Mistakes with the contracts of the other systems, one at a time, as changes of requests and
answers.

A sin gets the request and the answer as JSON and gives another answer, whatever carried the two: a
body of HTTP, a line of standard streams, a result of MCP. D1 to D23 are deviations that public
implementations have from their own documents.
"""

import copy
import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .wire import Answer, Asked, Wrapper, rewriting

NOTHING: Any = ...  # which a copy of is the same
"""No answer at all; where a request was one that has none, that is right."""

Change = Callable[[Any, Any], Any]
"""The request and the answer, as JSON, to the answer that is given."""


@dataclass(frozen=True, slots=True)
class Lapse:
    """A sin of a system. ``deviation``: the public one that it is taken from. ``status``: another
    status, on HTTP.
    """

    name: str
    system: str
    sentence: str
    change: Change
    deviation: str = ""
    status: Mapping[int, int] | None = None


LAPSES: dict[str, Lapse] = {}


def lapse(
    system: str,
    name: str,
    sentence: str,
    change: Change = lambda asked, answer: answer,
    *,
    deviation: str = "",
    status: Mapping[int, int] | None = None,
) -> None:
    """List a sin."""
    LAPSES[name] = Lapse(name, system, sentence, change, deviation, status)


def error_of(body: Any) -> Any:
    """The object with the code in it, in any of the envelopes; None where there is none."""
    if not isinstance(body, dict):
        return None
    error = body.get("error")
    if isinstance(error, dict):
        return error.get("data") if isinstance(error.get("data"), dict) else error
    content = (
        body.get("result", {}).get("structuredContent")
        if isinstance(body.get("result"), dict)
        else None
    )
    if isinstance(content, dict) and "error" in content:
        return content
    if isinstance(body.get("params"), dict) and isinstance(body["params"].get("error"), dict):
        return body["params"]["error"]
    return body if "code" in body and "message" in body else None


def code_of(error: Any) -> Any:
    """The code, under whichever name."""
    found = [error[each] for each in ("error_code", "class", "code", "error") if each in error]
    return found[0] if found else None


def errors(edit: Callable[[Any], None], *codes: object) -> Change:
    """Edit the errors in answers; with ``codes``, only the errors with one of them."""

    def change(asked: Any, answer: Any) -> Any:
        if isinstance(answer, list):
            return [change(asked, each) for each in answer]
        copied = copy.deepcopy(answer)
        error = error_of(copied)
        if error is not None and (not codes or code_of(error) in codes):
            edit(error)
        return copied

    return change


def sets(**members: Any) -> Callable[[Any], None]:
    """Set members."""
    return lambda error: error.update(members)


def drops(*names: str) -> Callable[[Any], None]:
    """Drop members."""

    def edit(error: Any) -> None:
        for each in names:
            error.pop(each, None)

    return edit


def numbered(number: int, edit: Callable[[Any], Any]) -> Change:
    """Edit the whole answer where it is an error of the protocol with the number."""

    def change(asked: Any, answer: Any) -> Any:
        error = answer.get("error") if isinstance(answer, dict) else None
        hit = isinstance(error, dict) and error.get("code") == number
        return edit(copy.deepcopy(answer)) if hit else answer

    return change


def renumbered(number: int, other: int) -> Change:
    """Another number for an error of the protocol."""
    return numbered(number, lambda answer: {**answer, "error": {**answer["error"], "code": other}})


def succeeded(answer: Any) -> Any:
    """A result in place of an error."""
    return {"jsonrpc": "2.0", "id": answer["id"], "result": {}}


def answers(edit: Callable[[Any], Any]) -> Change:
    """Edit every single answer to a request that has an id."""

    def change(asked: Any, answer: Any) -> Any:
        return (
            edit(dict(answer))
            if isinstance(answer, dict) and "id" in answer and isinstance(asked, dict)
            else answer
        )

    return change


# ---- KeenBench: JSON-RPC

_K = "keenbench"


def _batch(edit: Callable[[list[Any]], Any]) -> Change:
    return lambda asked, answer: edit(list(answer)) if isinstance(answer, list) else answer


def _empty_batch(asked: Any, answer: Any) -> Any:
    return [] if asked == [] else answer


def _answered_all(asked: Any, answer: Any) -> Any:
    if answer is NOTHING and isinstance(asked, dict):
        return {"jsonrpc": "2.0", "id": None, "result": None}
    return answer


def retold(answer: Any, message: str) -> Any:
    """The error with another message."""
    return {**answer, "error": {**answer["error"], "message": message}}


def _echoing(asked: Any, answer: Any) -> Any:
    params = asked.get("params") if isinstance(asked, dict) else None
    if (
        isinstance(answer, dict)
        and isinstance(answer.get("error"), dict)
        and isinstance(params, dict)
    ):
        return retold(answer, f"No such method ({json.dumps(params)})"[:190])
    return answer


lapse(
    _K,
    "rpc-version-left-out",
    "answers say nothing of the version",
    answers(lambda a: {k: v for k, v in a.items() if k != "jsonrpc"}),
)
lapse(
    _K,
    "rpc-result-beside-error",
    "an error has a result of null beside it",
    answers(lambda a: {**a, "result": None} if "error" in a else a),
)
lapse(
    _K,
    "rpc-error-as-text",
    "an error of the protocol is a text",
    numbered(-32601, lambda a: {**a, "error": "no such method"}),
)
lapse(
    _K,
    "rpc-id-as-text",
    "the id comes back as a text",
    answers(lambda a: {**a, "id": str(a["id"])} if a["id"] is not None else a),
)
lapse(
    _K,
    "rpc-id-lost-on-errors",
    "an unknown method is refused under the id null",
    numbered(-32601, lambda a: {**a, "id": None}),
)
lapse(
    _K,
    "rpc-text-id-lost-on-errors",
    "an unknown method is refused under the id null where the id is a text",
    lambda asked, answer: (
        numbered(-32601, lambda a: {**a, "id": None})(asked, answer)
        if isinstance(asked, dict) and isinstance(asked.get("id"), str)
        else answer
    ),
)
lapse(
    _K,
    "rpc-text-id-lost-on-failures",
    "a failure is answered under the id 0 where the id is a text",
    lambda asked, answer: (
        {**answer, "id": 0}
        if isinstance(asked, dict)
        and isinstance(asked.get("id"), str)
        and "id" in answer
        and error_of(answer) is not None
        and "error_code" in error_of(answer)
        else answer
    ),
)
lapse(
    _K,
    "rpc-id-zero-lost-on-errors",
    "an unknown method is refused under the id null where the id is 0",
    lambda asked, answer: (
        numbered(-32601, lambda a: {**a, "id": a["id"] or None})(asked, answer)
        if isinstance(asked, dict)
        else answer
    ),
)
lapse(
    _K,
    "rpc-unknown-method-internal",
    "an unknown method is an internal error",
    renumbered(-32601, -32603),
)
lapse(
    _K,
    "rpc-unknown-method-application",
    "an unknown method is -32000 without ErrorInfo",
    renumbered(-32601, -32000),
    deviation="D22",
)
lapse(
    _K,
    "rpc-unknown-method-succeeds",
    "an unknown method is answered with a result",
    numbered(-32601, succeeded),
)
lapse(
    _K,
    "rpc-parse-error-as-invalid",
    "a body that is not JSON is answered as an invalid request",
    renumbered(-32700, -32600),
)
lapse(
    _K,
    "rpc-invalid-request-as-params",
    "JSON that is not a request is answered as invalid params",
    renumbered(-32600, -32602),
)
lapse(
    _K,
    "rpc-invalid-params-internal",
    "params that do not fit are an internal error",
    renumbered(-32602, -32603),
)
lapse(
    _K,
    "rpc-invalid-params-accepted",
    "params that do not fit are answered with a result",
    numbered(-32602, succeeded),
)
lapse(
    _K, "rpc-batch-first-only", "of a batch the first request is answered", _batch(lambda a: a[:1])
)
lapse(
    _K,
    "rpc-batch-twice",
    "of a batch the first request is answered twice",
    _batch(lambda a: [a[0], *a]),
)
lapse(
    _K,
    "rpc-batch-strangers",
    "a batch has an answer to nothing",
    _batch(lambda a: [*a, {"jsonrpc": "2.0", "id": 77, "result": 1}]),
)
lapse(_K, "rpc-batch-empty-list", "an empty batch is answered with an empty list", _empty_batch)
lapse(_K, "rpc-notification-answered", "a notification is answered", _answered_all)
lapse(_K, "rpc-params-in-message", "the message of an unknown method repeats the params", _echoing)
lapse(
    _K,
    "undeclared-code",
    "a missing tool is reported by a code that is not declared",
    errors(sets(error_code="TOOL_WORKER_UNAVAILABLE"), "SANDBOX_VIOLATION"),
    deviation="D20",
)
lapse(
    _K,
    "undeclared-subphase",
    "a subphase is not declared",
    errors(sets(subphase="rpi_plan"), "SANDBOX_VIOLATION"),
    deviation="D20",
)
lapse(
    _K,
    "undeclared-scope-hash",
    "ErrorInfo has a member more",
    errors(sets(scope_hash="9f2c"), "EGRESS_CONSENT_REQUIRED"),
    deviation="D20",
)
lapse(
    _K,
    "phase-left-out",
    "the phase is left out",
    errors(drops("phase"), "DISK_FULL"),
    deviation="D20",
)
lapse(
    _K,
    "actions-left-out",
    "actions are left out where there are none",
    errors(drops("actions"), "FILE_READ_FAILED"),
    deviation="D20",
)
lapse(
    _K,
    "nothing-tries-again",
    "what is retryable suggests nothing that tries it again",
    errors(sets(actions=["open_settings"]), "PROVIDER_UNAVAILABLE"),
)


def _notified(edit: Callable[[Any], Any], *codes: object) -> Change:
    """Edit the notifications of errors, of those with one of the codes where any are given."""

    def change(asked: Any, answer: Any) -> Any:
        hit = isinstance(answer, dict) and "method" in answer and error_of(answer) is not None
        return (
            edit(copy.deepcopy(answer))
            if hit and (not codes or code_of(error_of(answer)) in codes)
            else answer
        )

    return change


def _with_error(**members: Any) -> Callable[[Any], Any]:
    return lambda answer: {**answer, "params": {"error": {**answer["params"]["error"], **members}}}


lapse(_K, "nothing-notified", "no failure is notified", _notified(lambda _: NOTHING))
lapse(
    _K,
    "one-code-not-notified",
    "one failure is not notified",
    _notified(lambda _: NOTHING, "DISK_FULL"),
)
lapse(
    _K,
    "notified-as-another",
    "the notification of a failure has another code",
    _notified(_with_error(error_code="USER_CANCELED", actions=[]), "DISK_FULL"),
)
lapse(
    _K,
    "notified-in-another-phase",
    "the notification of a failure has another phase",
    _notified(_with_error(phase="settings"), "DISK_FULL"),
)
lapse(
    _K,
    "notified-of-another-workbench",
    "the notification of a failure has a detail of another",
    _notified(_with_error(workbench_id="wb-0"), "DISK_FULL"),
)
lapse(
    _K,
    "another-codes-way-out",
    "a full disk suggests what does not help",
    errors(sets(actions=["retry", "open_settings"]), "DISK_FULL"),
)
lapse(
    _K,
    "a-report-that-is-not-there",
    "an error names a report that nobody wrote",
    errors(sets(detail_ref="meta/reports/none.json"), "DISK_FULL"),
)
lapse(
    _K,
    "a-way-out-dropped",
    "a full disk does not suggest to make room",
    errors(sets(actions=["retry"]), "DISK_FULL"),
)
lapse(
    _K,
    "rate-limit-as-unavailable",
    "a rate limit is reported as an outage",
    errors(sets(error_code="PROVIDER_UNAVAILABLE"), "PROVIDER_RATE_LIMITED"),
    deviation="D21",
)
lapse(
    _K,
    "raw-provider-error",
    "the words of a provider are passed on",
    errors(sets(detail="dial https://admin:hunter2@10.0.0.7/v1: refused"), "PROVIDER_UNAVAILABLE"),
    deviation="D21",
)
lapse(
    _K,
    "restore-as-write-failure",
    "a checkpoint that was not restored is reported as a file",
    errors(sets(error_code="FILE_WRITE_FAILED"), "CHECKPOINT_RESTORE_FAILED"),
    deviation="D21",
)
lapse(
    _K,
    "message-of-a-page",
    "a message is as long as a page",
    lambda asked, answer: (
        {**answer, "error": {**answer["error"], "message": "no " * 100}}
        if isinstance(answer, dict) and isinstance(error_of(answer), dict) and "error" in answer
        else answer
    ),
    deviation="D22",
)
lapse(
    _K,
    "consent-retryable",
    "what waits for consent is retryable",
    errors(sets(retryable=True), "EGRESS_CONSENT_REQUIRED"),
    deviation="D22",
)


# ---- Theodosia: MCP

_T = "theodosia"


def _result(edit: Callable[[Any], None], *codes: object) -> Change:
    """Edit a whole result, of refusals with one of the codes."""

    def change(asked: Any, answer: Any) -> Any:
        error = error_of(answer)
        if error is None or code_of(error) not in codes:
            return answer
        copied = copy.deepcopy(answer)
        edit(copied["result"])
        return copied

    return change


def _as_exception(result: Any) -> None:
    kept_from = result["structuredContent"]
    kept = {each: kept_from[each] for each in ("requested", "valid_next_actions")}
    result["structuredContent"] = {
        "error": "action_error",
        "error_type": "ValueError",
        "error_message": "bad",
        **kept,
    }
    result["isError"] = True


def _as_text(answer: Any, marked: bool) -> Any:
    content = [{"type": "text", "text": answer["error"]["message"]}]
    return {"jsonrpc": "2.0", "id": answer["id"], "result": {"content": content, "isError": marked}}


def _wordless(answer: Any) -> Any:
    return {**answer, "result": {"content": [{"type": "text", "text": " "}], "isError": True}}


def _tool(name: str | None, marked: bool) -> Change:
    """The refusals of the protocol, of the tool `step` or of others, as a result."""

    def change(asked: Any, answer: Any) -> Any:
        if (
            not isinstance(asked, dict)
            or asked.get("method") != "tools/call"
            or "error" not in answer
        ):
            return answer
        return (
            _as_text(answer, marked)
            if (asked["params"]["name"] == "step") == (name == "step")
            else answer
        )

    return change


#: The texts of a crash in a service that passes its exceptions on.
_TRACE = "Traceback (most recent call last):\n  File \"/srv/desk/a.py\", line 3, in step\nKeyError: 'action'"


def _refusal(name: str | None, edit: Callable[[Any, Any], Any]) -> Change:
    """Edit what the protocol refused, of the tool `step` or of others; the edit gets the arguments
    and the answer.
    """

    def change(asked: Any, answer: Any) -> Any:
        if (
            not isinstance(asked, dict)
            or asked.get("method") != "tools/call"
            or "error" not in answer
        ):
            return answer
        if (asked["params"]["name"] == "step") != (name == "step"):
            return answer
        return edit(asked["params"].get("arguments"), copy.deepcopy(answer))

    return change


def _refused_as(number: int, message: str) -> Callable[[Any, Any], Any]:
    return lambda _, answer: {**answer, "error": {"code": number, "message": message}}


def _successes(edit: Callable[[Any], None]) -> Change:
    def change(asked: Any, answer: Any) -> Any:
        result = answer.get("result") if isinstance(answer, dict) else None
        content = result.get("structuredContent") if isinstance(result, dict) else None
        if not isinstance(content, dict) or "error" in content:
            return answer
        copied = copy.deepcopy(answer)
        edit(copied["result"]["structuredContent"])
        return copied

    return change


def _resource(uri: str, edit: Callable[[Any], Any]) -> Change:
    def change(asked: Any, answer: Any) -> Any:
        if (
            not isinstance(asked, dict)
            or asked.get("params", {}).get("uri") != uri
            or "result" not in answer
        ):
            return answer
        copied = copy.deepcopy(answer)
        for each in copied["result"]["contents"]:
            each["text"] = json.dumps(edit(json.loads(each["text"])))
        return copied

    return change


def _never_paid(asked: Any, answer: Any) -> Any:
    """`fulfill` and `cancel` are refused although they are offered."""
    given = asked.get("params", {}).get("arguments", {}) if isinstance(asked, dict) else {}
    result = answer.get("result") if isinstance(answer, dict) else None
    content = result.get("structuredContent") if isinstance(result, dict) else None
    if (
        given.get("action") not in ("add_modifier", "pay", "cancel")
        or not isinstance(content, dict)
        or "error" in content
    ):
        return answer
    refused = {
        "error": "invalid_transition",
        "requested": given["action"],
        "message": "not now",
        "valid_next_actions": content["valid_next_actions"],
    }
    return {**answer, "result": {**result, "structuredContent": refused}}


lapse(
    _T,
    "strict-marks-unknown",
    "an unknown action is marked as an error",
    _result(sets(isError=True), "unknown_action"),
    deviation="D15",
)
lapse(
    _T,
    "mark-lost",
    "an action that raised is not marked as an error",
    _result(sets(isError=False), "action_error"),
)
lapse(_T, "unknown-tool-result", "an unknown tool is answered with a result", _tool(None, False))
lapse(
    _T,
    "unknown-tool-marked",
    "an unknown tool is answered with a marked result",
    _tool(None, True),
    deviation="D16",
)
lapse(
    _T,
    "arguments-as-text",
    "arguments that do not fit are refused with a text",
    _tool("step", True),
    deviation="D16",
)
lapse(
    _T,
    "arguments-as-crash",
    "arguments that do not fit are an internal error",
    _refusal("step", _refused_as(-32603, "Internal error")),
    deviation="D16",
)
lapse(
    _T,
    "arguments-refused-by-another-number",
    "arguments that do not fit are an invalid request",
    _refusal("step", _refused_as(-32600, "The arguments do not fit")),
)
lapse(
    _T,
    "trace-for-arguments",
    "arguments that do not fit are refused with a stack trace",
    _refusal("step", _refused_as(-32602, _TRACE)),
    deviation="D16",
)
lapse(
    _T,
    "trace-for-arguments-as-text",
    "arguments that do not fit are answered with a text that is a stack trace",
    _refusal("step", lambda _, answer: _as_text(_refused_as(-32602, _TRACE)(_, answer), True)),
    deviation="D16",
)
lapse(
    _T,
    "token-for-arguments",
    "arguments that do not fit are refused with a token",
    _refusal("step", _refused_as(-32602, "refused for AKIAIOSFODNN7EXAMPLQ")),
)
lapse(
    _T,
    "unknown-tool-as-crash",
    "an unknown tool is an internal error",
    _refusal(None, _refused_as(-32603, "Internal error")),
    deviation="D16",
)
lapse(
    _T,
    "trace-for-unknown-tool",
    "an unknown tool is refused with a stack trace",
    _refusal(None, _refused_as(-32602, _TRACE)),
    deviation="D16",
)
lapse(
    _T,
    "unknown-tool-echoes",
    "the refusal of an unknown tool repeats the arguments",
    _refusal(None, lambda given, answer: retold(answer, f"No such tool ({json.dumps(given)})")),
)
lapse(
    _T,
    "trace-for-resource",
    "the published actions cannot be read, and the answer shows the crash",
    lambda asked, answer: (
        _refused_as(-32603, _TRACE)(None, {"jsonrpc": "2.0", "id": answer["id"]})
        if isinstance(asked, dict)
        and asked.get("params", {}).get("uri") == "theodosia://next"
        and "result" in answer
        else answer
    ),
)
lapse(
    _T,
    "arguments-accepted",
    "arguments that do not fit are answered with a result",
    lambda asked, answer: (
        {
            "jsonrpc": "2.0",
            "id": answer["id"],
            "result": {
                "content": [],
                "structuredContent": {"valid_next_actions": []},
                "isError": False,
            },
        }
        if isinstance(asked, dict)
        and asked.get("method") == "tools/call"
        and "error" in answer
        and asked["params"]["name"] == "step"
        else answer
    ),
)


def _texted(text: str | None) -> Change:
    """Refusals with another text."""

    def change(asked: Any, answer: Any) -> Any:
        if error_of(answer) is None or "result" not in answer:
            return answer
        result = {**error_of(answer), "valid_next_actions": []}
        content = [{"type": "text", "text": json.dumps(result) if text is None else text}]
        return {**answer, "result": {**answer["result"], "content": content}}

    return change


lapse(
    _T,
    "text-of-another-refusal",
    "the text of a refusal offers nothing, its structured content does",
    _texted(None),
)
lapse(
    _T,
    "text-of-success",
    "the text of a refusal says that all went well",
    _texted("All went well."),
)
lapse(
    _T,
    "arguments-refused-without-words",
    "arguments that do not fit are refused with a result that says nothing",
    _refusal("step", lambda _, answer: _wordless(_as_text(answer, True))),
)
lapse(
    _T,
    "state-as-number",
    "the state of a success is a number, and the schema of the tool has a text",
    _successes(sets(state=1)),
)
lapse(
    _T,
    "inputs-told-as-exception",
    "refused inputs are reported as an exception",
    _result(_as_exception, "validation_failed"),
    deviation="D17",
)
lapse(
    _T,
    "success-offers-nothing",
    "a success does not say what may follow",
    _successes(drops("valid_next_actions")),
    deviation="D18",
)
lapse(
    _T,
    "budget-as-text",
    "the budget is a text",
    errors(sets(timeout_seconds="0.3s"), "action_timeout"),
    deviation="D19",
)
lapse(
    _T,
    "budget-not-kept",
    "the reported budget is not the one that ran out",
    errors(sets(timeout_seconds=30), "action_timeout"),
)
lapse(
    _T,
    "unknown-offers-nothing",
    "an unknown action is refused without what may follow",
    errors(drops("valid_next_actions"), "unknown_action"),
)
lapse(
    _T,
    "sixth-refusal",
    "a refusal that is not documented",
    errors(sets(error="rate_limited"), "invalid_transition"),
)
lapse(
    _T,
    "token-in-exception",
    "the text of an exception has a key in it",
    errors(sets(error_message="denied for AKIAIOSFODNN7EXAMPLQ"), "action_error"),
)
lapse(_T, "offered-and-refused", "what is offered is refused as out of reach", _never_paid)
lapse(
    _T,
    "unoffered-as-unknown",
    "an action that is not offered is reported as unknown",
    errors(sets(error="unknown_action", known_actions=["pay"]), "invalid_transition"),
)
lapse(
    _T,
    "unoffered-succeeds",
    "the graph is not looked at",
    lambda asked, answer: (
        {
            **answer,
            "result": {
                "content": [],
                "isError": False,
                "structuredContent": {"valid_next_actions": error_of(answer)["valid_next_actions"]},
            },
        }
        if error_of(answer) is not None and code_of(error_of(answer)) == "invalid_transition"
        else answer
    ),
)
lapse(
    _T,
    "history-without-refusals",
    "the history has only what succeeded",
    _resource("theodosia://history", lambda h: [each for each in h if not each["refused"]]),
)
lapse(
    _T,
    "history-without-reason",
    "the history does not say why",
    _resource(
        "theodosia://history",
        lambda h: [
            {**each, **({"refusal_reason": "refused"} if each["refused"] else {})} for each in h
        ],
    ),
)
lapse(
    _T,
    "next-is-stale",
    "the published actions are those of the beginning",
    _resource("theodosia://next", lambda _: ["brew"]),
)


# ---- alknet: HTTP

_A = "alknet"


def _schemas(edit: Callable[[Any], Any]) -> Change:
    return lambda asked, answer: (
        {**answer, "error_schemas": edit(answer["error_schemas"])}
        if isinstance(answer, dict) and "error_schemas" in answer
        else answer
    )


lapse(
    _A,
    "second-status-dropped",
    "of the published errors only the first is there",
    _schemas(lambda s: s[:1]),
    deviation="D9",
)
lapse(
    _A,
    "schemas-of-status-500",
    "every published error has the status 500",
    _schemas(lambda s: [{**each, "http_status": 500} for each in s]),
    deviation="D11",
)
lapse(
    _A,
    "unauthorized-instead",
    "a caller that is nobody is UNAUTHORIZED",
    errors(sets(code="UNAUTHORIZED"), "FORBIDDEN"),
    deviation="D10",
)
lapse(_A, "rate-limit-as-500", "a rate limit is a 500", status={429: 500}, deviation="D11")
lapse(_A, "call-timeout-as-500", "a timeout is a 500", status={504: 500}, deviation="D11")
lapse(
    _A,
    "undeclared-passed-on",
    "an undeclared code is passed on",
    errors(lambda e: e.update(code=e.get("details", {}).get("code", e["code"])), "INTERNAL"),
    deviation="D13",
)
lapse(
    _A,
    "declared-as-undeclared",
    "a declared code is reported as an undeclared one",
    errors(sets(details={"code": "INVALID_INPUT"}), "INTERNAL"),
)
lapse(
    _A,
    "details-unchecked",
    "details are not checked against their schema",
    errors(sets(details={"retry_after": "soon"}), "RATE_LIMITED"),
    deviation="D13",
)
lapse(
    _A,
    "infrastructure-codes",
    "codes are those of another implementation",
    errors(sets(code="VALIDATION_ERROR"), "INVALID_INPUT"),
    deviation="D14",
)
lapse(
    _A,
    "raw-error-as-details",
    "details are a text",
    errors(sets(details="Error: cursor closed"), "INTERNAL"),
    deviation="D14",
)
lapse(
    _A,
    "absent-details-null",
    "absent details are null",
    errors(sets(details=None), "INVALID_INPUT"),
)
lapse(
    _A,
    "crash-told",
    "the answer shows the exception of a handler",
    errors(sets(message="cursor closed: postgres://alknet:hunter2@10.0.0.7/calls"), "INTERNAL"),
)
lapse(
    _A,
    "timeout-not-retryable",
    "a timeout is not retryable",
    errors(sets(retryable=False), "TIMEOUT"),
)
lapse(
    _A,
    "missing-file-instead",
    "a missing operation is reported as a missing file",
    errors(sets(code="FILE_NOT_FOUND"), "NOT_FOUND"),
)


# ---- Aileron: HTTP, two envelopes

_L = "aileron"


def _failures(edit: Callable[[Any], Any], *classes: str) -> Change:
    """Edit whole bodies of failures."""

    def change(asked: Any, answer: Any) -> Any:
        error = error_of(answer)
        hit = (
            isinstance(error, dict)
            and "class" in error
            and (not classes or error["class"] in classes)
        )
        return edit(copy.deepcopy(answer)) if hit else answer

    return change


def _events(edit: Callable[[Any], Any]) -> Change:
    return lambda asked, answer: (
        {"events": edit(answer["events"])}
        if isinstance(answer, dict) and "events" in answer
        else answer
    )


lapse(
    _L,
    "always-retriable",
    "an upstream's error is always retriable",
    errors(sets(retriable=True), "external_api_error"),
    deviation="D1",
)
lapse(
    _L,
    "any-boundary",
    "a class has a boundary of another",
    errors(sets(boundary="external"), "hash_mismatch"),
    deviation="D2",
)
lapse(
    _L,
    "any-class",
    "a class is not one of the nine",
    errors(sets(**{"class": "teapot_error"}), "hash_mismatch"),
    deviation="D2",
)
lapse(
    _L, "status-of-no-class", "a failure of the network is a 503", status={502: 503}, deviation="D3"
)
lapse(
    _L,
    "audit-id-optional",
    "a failure has no audit id",
    errors(drops("audit_id"), "network_error"),
    deviation="D4",
)
lapse(
    _L, "audit-not-written", "failures are not in the audit", _events(lambda e: []), deviation="D5"
)
lapse(
    _L,
    "audit-keys-renamed",
    "the audit has other keys",
    _events(
        lambda e: [
            {
                "aileron.failure.class": each["class"],
                **{k: v for k, v in each.items() if k != "class"},
            }
            for each in e
        ]
    ),
    deviation="D5",
)
lapse(
    _L,
    "retried-beyond",
    "the answer counts more retries than the policy allows",
    errors(
        lambda e: e.update(details={**e.get("details", {}), "retried": 4}), "external_api_error"
    ),
    deviation="D6",
)
lapse(
    _L,
    "details-as-list",
    "details of a failure are a list",
    errors(sets(details=[{"at": "x"}]), "capability_denied"),
    deviation="D8",
)
lapse(
    _L,
    "error-as-text",
    "a failure is a bare text",
    _failures(lambda a: {"error": a["error"]["message"]}, "hash_mismatch"),
)
lapse(
    _L,
    "error-wrapped",
    "a failure is wrapped in another",
    _failures(lambda a: {"error": {"error": a["error"]}}, "signature_failure"),
)
lapse(
    _L,
    "crud-envelope-on-install",
    "installing answers with the other envelope",
    _failures(
        lambda a: {"error": {"code": a["error"]["class"], "message": a["error"]["message"]}},
        "signature_failure",
    ),
)
lapse(
    _L,
    "approval-denied",
    "a reserved class is sent",
    errors(sets(**{"class": "approval_denied"}), "capability_denied"),
)
lapse(
    _L,
    "key-in-message",
    "a message has a key in it",
    errors(sets(message="refused for AKIAIOSFODNN7EXAMPLQ"), "binding_failed"),
)


def _wrapped_in_message(answer: Any) -> Any:
    inner = json.dumps({"error": answer["error"]})
    return {"error": {**answer["error"], "message": f"connector said: {inner}"}}


lapse(
    _L,
    "error-in-message",
    "the gateway puts a failure into the message of another",
    _failures(_wrapped_in_message, "hash_mismatch"),
)
lapse(
    _L,
    "error-in-details",
    "the gateway puts a failure into the details of another",
    _failures(
        lambda a: {"error": {**a["error"], "details": {"cause": a}}}, "resource_limit_exceeded"
    ),
)


def _tool_messages(edit: Callable[[Any], Any]) -> Change:
    """Edit the messages of tools in answers of the chat."""

    def change(asked: Any, answer: Any) -> Any:
        copied = copy.deepcopy(answer)
        for choice in copied.get("choices", ()) if isinstance(copied, dict) else ():
            if choice["message"].get("role") == "tool":
                edit(choice["message"])
        return copied

    return change


def _reworded(old: str, new: str) -> Change:
    return _tool_messages(lambda m: m.update(content=re.sub(old, new, m["content"])))


lapse(_L, "tool-text-without-id", "the message of a tool lacks the id", _reworded(r"\n.*$", ""))
lapse(
    _L,
    "tool-text-of-no-class",
    "the message of a tool names a class that does not exist",
    _reworded("external_api_error", "upstream_error"),
)
lapse(
    _L,
    "tool-text-in-prose",
    "the message of a tool has no form",
    _reworded("(?s).+", "Something failed, sorry."),
)
lapse(
    _L,
    "tool-text-by-assistant",
    "the message of a tool is that of the assistant",
    _tool_messages(sets(role="assistant")),
)
lapse(
    _L,
    "tool-text-not-audited",
    "what a tool failed with is in the audit under another id",
    _reworded("audit-", "audit-0"),
)


# ---- carriers


def over_http(sin: str) -> Wrapper:
    """The sin on an ASGI application that answers with JSON."""
    found = LAPSES[sin]

    def change(asked: Asked, answer: Answer) -> Answer:
        before = answer.json()
        request = _parsed(asked.body)
        # What says nothing to be changed is left as it came, with its bytes.
        after = before if before is None else _mirrored(before, found.change(request, before))
        changed = answer if after == before else answer.with_json(after)
        status = (found.status or {}).get(answer.status, answer.status)
        return Answer(status, changed.headers, changed.body)

    return rewriting(change)


def _mirrored(before: Any, after: Any) -> Any:
    """A result of MCP whose text was its structured content, and is again."""
    result = after.get("result") if isinstance(after, dict) else None
    if not isinstance(result, dict) or "structuredContent" not in result or after == before:
        return after
    old = before.get("result", {})
    content = [
        {**each, "text": json.dumps(result["structuredContent"])}
        if each in old.get("content", ())
        and _parsed(each["text"].encode()) == old.get("structuredContent")
        else each
        for each in result["content"]
    ]
    return {**after, "result": {**result, "content": content}}


def over_streams(sin: str, command: list[str]) -> None:
    """The sin between our standard streams and those of a command that answers each line before it
    reads the next.
    """
    found = LAPSES[sin]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as peer:
        assert peer.stdin is not None
        assert peer.stdout is not None
        for line in sys.stdin.buffer:
            # A marker after each line tells where its answers end; it is not a request, so it is
            # answered under its id or null.
            peer.stdin.write(
                line + b'{"jsonrpc": "2.0", "id": "marker", "method": "marker", "params": {}}\n'
            )
            peer.stdin.flush()
            asked, answered = _parsed(line), False
            while (message := json.loads(peer.stdout.readline())) and not (
                isinstance(message, dict) and message.get("id") == "marker"
            ):
                event = isinstance(message, dict) and "method" in message
                answered = answered or not event
                _say(found.change(asked, message))
            if not answered:
                _say(found.change(asked, NOTHING))


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _say(value: object) -> None:
    if value is not NOTHING:
        sys.stdout.write(json.dumps(value) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    over_streams(sys.argv[1], sys.argv[2:])
