"""Laws of shared codes that an operation has in a form of its own."""

import importlib
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read
from faultspec.render import render, write
from faultspec.targets import SHIPPED

TAXONOMY = """
faultspec: 1
taxonomy: {name: t, version: 1.0.0}
detail_keys: {path: {type: string}, size: {type: integer}}
actions: {fix: Fix it., ask: Ask.}
envelopes:
  error:
    shape: {code: $code, title: $title, message: $message, actions: $actions, details?: $details}
    fields: {title: {type: string}}
  rpc:
    shape:
      jsonrpc: "2.0"
      id: $request_id
      error: {code: -32000, message: $message, data: {code: $code, title: $title, actions: $actions, details?: $details}}
    fields: {title: {type: string}}
surfaces:
  rpc: {transport: jsonrpc, error_when: {present: /error}, envelope: rpc}
  tools: {transport: mcp, error_when: {present: /structuredContent/code}, at: /structuredContent, envelope: error}
  log: {transport: log, error_when: {present: /code}, envelope: error, sink: x.log}
  event: {transport: event, error_when: {present: /code}, envelope: error}
  stream: {transport: stream, error_when: {present: /code}, envelope: error}
  api: {transport: http, envelope: error}
codes:
  bad:
    {summary: It is bad., http: 400, retriable: false, actions: {exactly: []}, details: {path?: {}},
    facts: {title: General}}
operations:
  put:
    match: {routes: [PUT /files]}
    codes: {bad: {actions: {exactly: [fix]}, details: {path: {}, size: {}}, facts: {title: Of put}}}
"""


def _contract(text: str) -> Contract:
    known = read(text, "t.yaml").taxonomy
    assert known is not None
    return build_contract(known)


BY_ROUTE = _contract(TAXONOMY)
BY_NAME = _contract(TAXONOMY.replace("match: {routes: [PUT /files]}", "summary: It puts."))

GENERAL: Mapping[str, object] = {"title": "General", "actions": []}
OF_PUT: Mapping[str, object] = {
    "title": "Of put",
    "actions": ["fix"],
    "details": {"path": "p", "size": 1},
}

#: What the one form breaks where the other is due.
BROKEN = {"put": ["actions/agree", "boundary/allowed", "details/required"]}
BROKEN["other"] = ["actions/agree", "boundary/allowed"]


def _judged(transport: str, operation: str, error: Mapping[str, object]) -> Judgement:
    fields = {"code": "bad", "message": "m", **error}
    body: object = fields
    if transport == "jsonrpc":
        shown = {key: value for key, value in fields.items() if key != "message"}
        body = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "m", "data": shown}}
    elif transport == "mcp":
        body = {"structuredContent": fields, "content": []}
    name = "x.log" if transport == "log" and operation != "put" else operation
    request = Request("POST", name)
    if transport == "http":
        name = f"{'PUT' if operation == 'put' else 'GET'} /files"
        request = Request(name.partition(" ")[0], "/files")
    response = Response(
        400 if transport == "http" else None,
        (("Content-Type", "application/json"),),
        json.dumps(body).encode(),
    )
    exchange = Exchange(request, response, transport, operation=name)  # type: ignore[arg-type]  # one of the transports
    return judge(BY_ROUTE if transport == "http" else BY_NAME, exchange)


def _clauses(found: Judgement) -> list[str]:
    return sorted({finding.clause for finding in found.findings})


@pytest.mark.parametrize("transport", ["http", "jsonrpc", "mcp"])
def test_answers_are_judged_by_the_form_of_their_operation(transport: str) -> None:
    """Facts, required details and actions of a shared code are those of the operation that
    answers, and no other operation may have them."""
    assert _clauses(_judged(transport, "put", OF_PUT)) == []
    assert _clauses(_judged(transport, "put", GENERAL)) == BROKEN["put"]
    assert _clauses(_judged(transport, "other", GENERAL)) == []
    found = _clauses(_judged(transport, "other", OF_PUT))
    assert [clause for clause in found if clause != "details/registered"] == BROKEN["other"]


@pytest.mark.parametrize("transport", ["event", "stream", "log"])
def test_messages_about_calls_have_any_form(transport: str) -> None:
    """A notification or a line of a log does not say which call failed: its error has one of the
    forms as a whole; a mixture of two is a failure."""
    assert _clauses(_judged(transport, "failed", GENERAL)) == []
    assert _clauses(_judged(transport, "failed", OF_PUT)) == []
    mixed = _judged(transport, "failed", {**OF_PUT, "title": "General"})
    assert len(_clauses(mixed)) == 1
    if transport != "log":  # a log is known by its file alone
        assert _clauses(_judged(transport, "put", GENERAL)) == BROKEN["put"]


def test_bindings_have_the_actions_of_a_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The class of a code as an operation has it suggests the actions of the operation."""
    known = read(TAXONOMY.replace("name: t,", "name: formed,"), "t.yaml").taxonomy
    assert known is not None
    write(render(known, [SHIPPED["python"]], "t.yaml"), tmp_path, ["python"])
    monkeypatch.syspath_prepend(str(tmp_path / "python"))
    package = importlib.import_module("formed_errors")
    shared, own = package.Bad(title="General"), package.PutBad(path="p", size=1, title="Of put")
    assert (shared.facts.actions, own.facts.actions) == ((), ("fix",))
    with pytest.raises(ValueError, match="exactly"):
        package.PutBad(path="p", size=1, title="Of put", actions=[])
