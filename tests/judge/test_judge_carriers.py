"""Carriers of envelopes: the place in a body, the mark of an error, and the carrier's own rules."""

import json
from typing import Any

import pytest

from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read

HEAD = """
faultspec: 1
taxonomy: {name: t, version: 1.0.0}
"""


def made(text: str) -> Contract:
    """The contract of a taxonomy without errors."""
    loaded = read(HEAD + text, "t.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return build_contract(loaded.taxonomy)


def judged(
    rules: Contract,
    transport: Any,
    body: object,
    *,
    target: str = "step",
    request: object = None,
    elapsed: float = 0.0,
) -> Judgement:
    """The judgement of one body."""
    asked = b"" if request is None else json.dumps(request).encode()
    answer = Response(None, (), json.dumps(body).encode(), elapsed)
    return judge(rules, Exchange(Request("POST", target, (), asked), answer, transport))


def clauses(found: Judgement) -> list[str]:
    """The clauses found broken, in the order of the findings."""
    return [each.clause for each in found.findings]


QUALIFIED = """
envelopes:
  qualified: {shape: {__type: "${namespace}#${code}", message: $message}, fields: {namespace: {type: string}}}
  error: {shape: {__type: $code, message: $message}}
surfaces: {api: {transport: event, error_when: {present: /__type}, envelope: [error, qualified], codes: closed}}
codes:
  gone: {summary: Gone., http: null, http_reason: Not over HTTP.}
  lost: {summary: Lost., http: null, http_reason: Not over HTTP.}
"""


@pytest.mark.parametrize("order", ["[error, qualified]", "[qualified, error]"])
@pytest.mark.parametrize(
    ("wire", "declared"), [("gone", True), ("a.b#lost", True), ("a.b#else", False), ("else", False)]
)
def test_a_code_inside_a_text_is_a_code(order: str, wire: str, declared: bool) -> None:
    """A code is read bare and inside a text (`namespace#Code`); an undeclared one is a finding."""
    rules = made(QUALIFIED.replace("[error, qualified]", order))
    found = judged(rules, "event", {"__type": wire, "message": "m"})
    assert clauses(found) == ([] if declared else ["code/declared"])


TOOL = """
detail_keys: {seconds: {type: number}}
envelopes:
  refusal: {shape: {error: $code, message: $message, "...": $details}}
  failure: {shape: {error: $code, reason: $message, "...": $details}}
surfaces:
  step:
    transport: mcp
    match: {tools: [step]}
    error_when: {present: /structuredContent/error}
    at: /structuredContent
    envelope: [refusal, failure]
    success: {require: {/structuredContent/next: {type: array, items: {type: string}}}, source: S1}
codes:
  refused: {summary: No., envelope: refusal, retriable: none, on: {mcp: {is_error: false}}}
  broken: {summary: It broke., envelope: failure, retriable: none, on: {mcp: {is_error: true, strict: true}}}
  flexible: {summary: It depends., envelope: refusal, retriable: none, on: {mcp: {is_error: false, strict: true}}}
  late:
    summary: Too late.
    envelope: refusal
    retriable: none
    details: {seconds: {}}
    deadline: {equals: details.seconds, late_by: 500ms, source: S2}
"""


def result(*, marked: bool | None = None, **content: Any) -> dict[str, object]:
    """A tool's result."""
    return {
        "content": [],
        "structuredContent": content,
        **({} if marked is None else {"isError": marked}),
    }


@pytest.mark.parametrize(
    ("body", "broken"),
    [
        (result(error="refused", message="no", marked=False), []),
        (result(error="refused", message="no"), []),
        (result(error="refused", message="no", marked=True), ["mcp/is-error"]),
        (result(error="broken", reason="no", marked=True), []),
        (result(error="broken", reason="no"), ["mcp/is-error"]),
        (result(error="flexible", message="no", marked=True), []),
        (result(error="flexible", message="no", marked=False), []),
        (result(error="refused", reason="no"), ["details/registered", "envelope/shape"]),
        (
            result(error="broken", message="no", marked=True),
            ["details/registered", "envelope/shape"],
        ),
        (result(error="other", message="no"), ["code/declared"]),
    ],
)
def test_a_tool_result_is_judged_where_its_envelope_stands(body: object, broken: list[str]) -> None:
    """The code's envelope is read at its place, and `isError` must be what the code requires."""
    assert clauses(judged(made(TOOL), "mcp", body)) == broken


@pytest.mark.parametrize(
    ("content", "structured", "wordless"),
    [
        ([], None, True),
        (None, None, True),
        ([{"type": "text", "text": " \n"}], None, True),
        ([{"type": "text"}], {}, True),
        ([{"type": "text", "text": " "}, {"type": "text", "text": "No."}], None, False),
        ([{"type": "image", "data": "AA==", "mimeType": "image/png"}], None, False),
        ([], {"error": "refused"}, False),
    ],
)
def test_an_error_of_a_tool_says_something(
    content: object, structured: object, wordless: bool
) -> None:
    """A result that is marked as an error has a text, another block or structured content, whether
    or not a surface claims it. A result without the mark, and another transport, need none.
    """
    body = {"content": content, "structuredContent": structured}
    rules = made(UNCODED)
    for tool in ("step", "other"):
        found = judged(rules, "mcp", {**body, "isError": True}, target=tool)
        assert ("mcp/error-text" in clauses(found)) is wordless
        assert "mcp/error-text" in found.exercised
        for transport, marked in (("mcp", False), ("jsonrpc", True)):
            other = judged(rules, transport, {**body, "isError": marked}, target=tool)
            assert "mcp/error-text" not in other.exercised


UNCODED = """
envelopes:
  text:
    shape: {isError: true, content: [{type: text, text: $message}]}
    fields: {code: {places: [envelope]}, message: {type: string}}
  missing:
    shape: {isError: true, content: [{type: text, text: "No such file: ${path}"}]}
    fields: {code: {places: [envelope]}, path: {type: string}}
surfaces:
  tools:
    transport: mcp
    match: {tools: [step]}
    error_when: {equals: {/isError: true}}
    envelope: [missing, text]
    codes: closed
    reason: A tool may answer with an image.
codes:
  no_file: {summary: There is no such file., envelope: missing, http: null, http_reason: Not over HTTP.}
  failed: {summary: The tool failed., envelope: text, http: null, http_reason: Not over HTTP.}
"""


@pytest.mark.parametrize(
    ("text", "code"), [("No such file: a.txt", "no_file"), ("It is full.", "failed")]
)
def test_the_text_of_an_error_decides_its_code(text: str, code: str) -> None:
    """Where no member has a code, the form of the text decides it."""
    body = {"content": [{"type": "text", "text": text}], "isError": True}
    found = judged(made(UNCODED), "mcp", body)
    assert (found.code, clauses(found)) == (code, [])


def test_places_are_places_of_the_whole_body() -> None:
    """A pointer in a finding starts at the root of the body, not of the envelope."""
    (found,) = judged(made(TOOL), "mcp", result(error="refused", message=7)).findings
    assert (found.clause, found.pointer) == ("envelope/types", "/structuredContent/message")


@pytest.mark.parametrize(
    ("content", "broken"),
    [
        ({"next": []}, []),
        ({"next": ["pay"]}, []),
        ({}, ["success/requires"]),
        ({"next": [1]}, ["success/requires"]),
    ],
)
def test_a_success_owes_its_members(content: dict[str, Any], broken: list[str]) -> None:
    """A success lacks a required member or has it with another type: both break the clause."""
    found = judged(made(TOOL), "mcp", result(**content))
    assert (clauses(found), found.is_error) == (broken, False)
    assert "success/requires" in found.exercised
    assert {each.level for each in found.findings} <= {"error"}
    assert [each.statements for each in found.findings] == [("S1",)] * len(broken)


PASSED_ON = """
detail_keys: {trace: {type: string}}
privacy: {detectors: [stack-trace]}
envelopes: {refusal: {shape: {error: $code, message: $message, "...": $details}}}
surfaces:
  step: {transport: mcp, error_when: {present: /structuredContent/error}, at: /structuredContent, envelope: refusal}
codes:
  broken: {summary: It broke., retriable: none, details: {trace: {}}, passthrough: [trace]}
"""


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ('{"trace": "KeyError: 1", "error": "broken", "message": "no"}', []),
        ('{"trace": "KeyError: 1", "error": "broken"}', ["leaks/stack-trace", "mcp/text"]),
        ("KeyError: 1", ["leaks/stack-trace", "mcp/text"]),
    ],
)
def test_repeated_content_is_searched_once(text: str, broken: list[str]) -> None:
    """A text that repeats the structured content is not searched again; any other text is."""
    content = {"error": "broken", "message": "no", "trace": "KeyError: 1"}
    body = {
        "content": [{"type": "text", "text": text}],
        "structuredContent": content,
        "isError": True,
    }
    assert clauses(judged(made(PASSED_ON), "mcp", body)) == broken


@pytest.mark.parametrize(
    ("elapsed", "kept"), [(0.9, False), (1.0, True), (1.4, True), (1.6, False)]
)
def test_a_deadline_is_kept_from_both_sides(elapsed: float, kept: bool) -> None:
    """An error about a budget of one second comes after one second, not much later."""
    found = judged(
        made(TOOL), "mcp", result(error="late", message="no", seconds=1.0), elapsed=elapsed
    )
    assert clauses(found) == ([] if kept else ["deadline/kept"])


RPC = """
envelopes:
  info: {shape: {kind: $code}}
  rpc: {shape: {id: $request_id, error: {code: -32000, message: $message, data: {use: info}}}}
  bare: {shape: {id: $request_id, error: {code: $code, message: $message}}}
surfaces:
  api:
    transport: jsonrpc
    error_when: {present: /error}
    envelope: rpc
    protocol: {envelope: bare, codes: {-32601: No such method., -32099..-32001: The server's own.}, source: S1}
  events: {transport: event, error_when: {equals: {/type: failed}}, at: /payload, envelope: info, repeats: api}
  first: {transport: log, error_when: {present: /error}, at: /error, envelope: info, sink: first.jsonl}
  second: {transport: log, error_when: {present: /failure}, at: /failure, envelope: info, sink: second.jsonl}
codes: {full: {summary: It is full., retriable: none}}
"""


def rpc(code: object, message: object = "x", **data: object) -> dict[str, object]:
    """A JSON-RPC error."""
    return {
        "id": 1,
        "error": {"code": code, "message": message, **({"data": data} if data else {})},
    }


@pytest.mark.parametrize(
    ("body", "broken", "code"),
    [
        (rpc(-32000, kind="full"), [], "full"),
        (rpc(-32601), [], None),
        (rpc(-32050), [], None),
        (rpc(-32602), ["code/declared"], None),
        (rpc(-32601, 7), ["envelope/types"], None),
        (rpc(-32000), ["envelope/shape"], None),
        (rpc(-32000, kind="empty"), ["code/declared"], None),
    ],
)
def test_errors_of_the_protocol_are_distinguished_from_declared_ones(
    body: object, broken: list[str], code: str | None
) -> None:
    """The protocol's numbers come in its own envelope; any other undeclared number is a finding."""
    found = judged(made(RPC), "jsonrpc", body, target="files.list")
    assert (clauses(found), found.code) == (broken, code)


def test_an_event_is_an_error_by_its_value() -> None:
    """A payload is an error only if the member has the declared value."""
    rules = made(RPC)
    assert clauses(judged(rules, "event", {"type": "failed", "payload": {"kind": "empty"}})) == [
        "code/declared"
    ]
    other = judged(rules, "event", {"type": "done", "payload": {"kind": "empty"}})
    assert (other.is_error, other.findings) == (False, ())


def test_a_log_is_known_by_where_it_is_written() -> None:
    """Two logs keep the envelope under different members; each has its own surface."""
    rules = made(RPC)
    for target, member, surface in (
        ("first.jsonl", "error", "first"),
        ("second.jsonl", "failure", "second"),
    ):
        found = judged(rules, "log", {member: {"kind": "full"}}, target=target)
        assert (found.surface, found.code, found.findings) == (surface, "full", ())


OPERATIONS = """
envelopes: {error: {shape: {code: $code}}}
surfaces: {call: {transport: event, error_when: {present: /code}, envelope: error}}
codes: {lost: {summary: Lost., retriable: none}}
operations:
  read: {wire: fs/read, match: {request: {/operation: [fs/read, fs/readAll]}}, errors: {missing: {summary: Missing., retriable: none}}}
  write: {match: {request: {/operation: write, /version: 2}}, errors: {full: {summary: Full., retriable: none}}}
"""


@pytest.mark.parametrize(
    ("target", "request_body", "code", "broken"),
    [
        ("call", {"operation": "fs/readAll"}, "missing", []),
        ("fs/read", None, "missing", []),
        ("call", {"operation": "write", "version": 2}, "missing", ["code/operation"]),
        ("call", {"operation": "write", "version": 2.0}, "full", []),
        ("call", {"operation": "write", "version": True}, "full", ["code/operation"]),
        ("call", {"operation": "write", "version": 2}, "lost", []),
    ],
)
def test_an_operation_is_known_by_what_was_asked(
    target: str, request_body: object, code: str, broken: list[str]
) -> None:
    """An operation is known by its name on the wire, or by all declared members of the request."""
    found = judged(made(OPERATIONS), "event", {"code": code}, target=target, request=request_body)
    assert clauses(found) == broken


REPEATED_TEXT = """
envelopes: {refusal: {shape: {error: $code, message: $message, "...": $details}, additional: allow}}
surfaces: {step: {transport: mcp, error_when: {present: /structuredContent/error}, at: /structuredContent, envelope: refusal, codes: closed}}
codes: {denied: {summary: No., http: null, http_reason: Not over HTTP.}}
"""


@pytest.mark.parametrize(
    ("structured", "texts", "repeated"),
    [
        ({"error": "denied", "message": "No"}, ['{"message": "No", "error": "denied"}'], True),
        (
            {"error": "denied", "message": "No"},
            ["In words: no.", '{"error":"denied","message":"No"}'],
            True,
        ),
        ({"error": "denied", "message": "No"}, ['{"error": "denied", "message": "Yes"}'], False),
        ({"error": "denied", "message": "No"}, ["In words: yes."], False),
        ({"state": "open"}, ['{"state": "shut"}'], False),
        ({"state": "open"}, [], True),
        ({"result": [1, 2]}, ["1", "2"], True),
        (None, ["In words."], True),
    ],
)
def test_the_text_of_a_result_is_its_structured_content(
    structured: object, texts: list[str], repeated: bool
) -> None:
    """A result whose texts all differ from its structured content is a warning.

    It is not one without texts, without structured content, or with content wrapped into `result`.
    """
    content = [{"type": "text", "text": each} for each in texts]
    body = {
        "content": content,
        "isError": False,
        **({} if structured is None else {"structuredContent": structured}),
    }
    found = judged(made(REPEATED_TEXT), "mcp", body)
    assert [(each.clause, each.level) for each in found.findings] == (
        [] if repeated else [("mcp/text", "warning")]
    )
    assert ("mcp/text" in found.exercised) == (
        bool(texts) and structured not in (None, {"result": [1, 2]})
    )


NAMESPACES = """
faultspec: 1
taxonomy: {name: spaces, version: 1.0.0}
envelopes: {error: {shape: {code: $code}}}
surfaces:
  api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: {closed: shop.*}}
codes:
  bad: {summary: Bad., wire: shop.bad, http: 400}
"""


@pytest.mark.parametrize(
    ("wire", "wanted"), [("shop.bad", []), ("shop.new", ["code/declared"]), ("pay.new", [])]
)
def test_a_closed_namespace_has_only_its_declared_codes(wire: str, wanted: list[str]) -> None:
    """On the same surface, codes of other namespaces may be any."""
    loaded = read(NAMESPACES, "spaces.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    response = Response(
        400, (("Content-Type", "application/json"),), b'{"code": "%s"}' % wire.encode()
    )
    found = judge(build_contract(loaded.taxonomy), Exchange(Request("GET", "/x"), response))
    assert [finding.clause for finding in found.findings] == wanted
    assert ("code/declared" in found.exercised) is wire.startswith("shop.")


RESULTS = """
envelopes:
  whole: {shape: {isError: true, kind: $code}, additional: forbid}
  inner: {shape: {kind: $code}, additional: forbid}
surfaces:
  whole: {transport: mcp, match: {tools: [whole]}, error_when: {present: /isError}, envelope: whole, codes: closed}
  inner:
    transport: mcp
    match: {tools: [inner]}
    error_when: {present: /isError}
    at: /structuredContent
    envelope: inner
    codes: closed
codes:
  gone: {summary: Gone., retriable: none, on: {mcp: {is_error: true}}}
"""

OF_RESULTS = {"_meta": {"a": 1}, "resultType": "complete"}


@pytest.mark.parametrize(
    ("tool", "body", "broken"),
    [
        ("whole", {"kind": "gone", **OF_RESULTS}, []),
        ("whole", {"kind": "gone", "more": 1}, ["envelope/additional"]),
        ("inner", {"structuredContent": {"kind": "gone"}, **OF_RESULTS}, []),
        ("inner", {"structuredContent": {"kind": "gone", **OF_RESULTS}}, ["envelope/additional"]),
    ],
)
def test_members_of_any_result_of_mcp_are_not_those_of_an_envelope(
    tool: str, body: dict[str, object], broken: list[str]
) -> None:
    """`_meta` and `resultType` of the result itself may stand beside an envelope."""
    found = clauses(judged(made(RESULTS), "mcp", {"isError": True, **body}, target=tool))
    assert [clause for clause in found if clause.startswith("envelope/")] == broken
