"""Errors as text in answers: what has the form of a rendering, and what only resembles one."""

import json
from typing import Any

import pytest

from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read

TAXONOMY = """
faultspec: 1
taxonomy: {name: t, version: 1.0.0}
boundaries: {door: The door., kitchen: The kitchen.}
detail_keys: {hint: {type: string, everywhere: true}, size: {type: integer}}
envelopes:
  error:
    shape: {code: $code, message: $message, boundary: $boundary, id: $id, details?: $details}
    fields: {id: {type: string, pattern: ^e-}}
surfaces:
  api: {transport: http, envelope: error, codes: closed}
  tools: {transport: mcp, error_when: {present: /structuredContent/code}, at: /structuredContent, envelope: error}
codes:
  shut: {summary: It is shut., http: 403, retriable: false, boundary: door}
  full: {summary: It is full., http: 409, retriable: false, boundary: kitchen, details: {size: {}}}
  gone: {summary: It was used once., http: 410, lifecycle: removed}
renderings:
  chat:
    given: {call: The call.}
    shape: {call: $call, role: tool, content: "Failed with ${code} (${message}).\\n${details.hint}\\nid: ${id}"}
  block: {shape: {type: result, is_error: true, text: "${code}: ${message}\\n${boundary}\\n${details.size}"}}
"""

GOOD = "Failed with shut (Come back (later)).\nid: e-1"


@pytest.fixture(scope="module")
def rules() -> Contract:
    """The contract of the taxonomy."""
    loaded = read(TAXONOMY, "t.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return build_contract(loaded.taxonomy)


def chat(content: str, **members: object) -> dict[str, object]:
    """A message of the rendering `chat`."""
    return {"call": "7", "role": "tool", "content": content, **members}


def block(text: str, **members: object) -> dict[str, object]:
    """A block of the rendering `block`."""
    return {"type": "result", "is_error": True, "text": text, **members}


def judged(
    rules: Contract, body: object, *, transport: Any = "http", status: int | None = 200
) -> Judgement:
    """The judgement of an answer with a JSON body."""
    head = (("Content-Type", "application/json"),)
    answer = Response(status, head, json.dumps(body).encode())
    return judge(rules, Exchange(Request("POST", "/chat"), answer, transport))


def problems(judgement: Judgement) -> list[str]:
    """The messages about renderings."""
    return [one.message for one in judgement.findings if one.clause == "rendering/form"]


SOUND = [
    chat(GOOD),
    chat("Failed with shut (A\nlong\nmessage).\nTry the back door.\nid: e-1"),
    chat(GOOD, more="a member of the carrier"),
    block("full: No seat\nkitchen\n3"),
    block("shut: Locked\ndoor"),
]


@pytest.mark.parametrize("message", SOUND)
def test_a_rendering_with_its_form_passes(rules: Contract, message: object) -> None:
    """It is found anywhere in an answer, also in JSON inside a text, and no problem is seen."""
    for body in (message, {"choices": [{"message": message}]}, {"body": json.dumps(message)}):
        found = judged(rules, body)
        assert "rendering/form" in found.exercised
        assert not problems(found)


BROKEN = [
    (chat("Failed with shut (Come back).\nTry the back door."), "/content"),
    (chat("Failed with shut (Come back).\nid: 17"), "`id`"),
    (chat("Failed with shut: Come back\nid: e-1"), "/content"),
    (chat("Failed with gone (Come back).\nid: e-1"), "not a live code"),
    (chat("Failed with other_thing (Come back).\nid: e-1"), "not a live code"),
    (chat(GOOD, role="assistant"), "/role"),
    ({"role": "tool", "content": GOOD}, "`call`"),
    (block("full: No seat\nkitchen"), "/text"),
    (block("full: No seat\ndoor\n3"), "`boundary`"),
    (block("full: No seat\nkitchen\nmany"), "`details.size`"),
]


@pytest.mark.parametrize(("message", "place"), BROKEN)
def test_a_broken_rendering_is_one_finding(rules: Contract, message: object, place: str) -> None:
    """A line, a member or a constant that differs, and a value that the taxonomy forbids, are
    reported at their place.
    """
    (found,) = problems(judged(rules, {"choices": [{"message": message}]}))
    assert place in found


RESEMBLING = [
    chat("The door is shut."),
    chat("It failed with shut doors; see the log."),
    {"role": "assistant", "content": GOOD},
    {"role": "assistant", "content": f"The tool answered: {GOOD}"},
    block("full: 3 of 3 seats", is_error=False),
    block("fully booked: 3"),
    {"type": "result", "text": "full: No seat"},
    GOOD,
    {"call": "7", "role": "tool", "content": None},
    {"call": "7", "role": "tool", "content": ["Failed with shut"]},
]


@pytest.mark.parametrize("message", RESEMBLING)
def test_text_that_resembles_a_rendering_is_left_alone(rules: Contract, message: object) -> None:
    """Results of tools, quotations and other members have words in common with errors."""
    assert not problems(judged(rules, {"choices": [{"message": message}]}))


def test_a_text_agrees_with_the_error_beside_it(rules: Contract) -> None:
    """In a tool result the text has the code and the id of the structured content."""
    error = {"code": "shut", "message": "Locked", "boundary": "door", "id": "e-1"}

    def result(text: str) -> list[str]:
        body = {"structuredContent": error, "content": [chat(text), {"text": json.dumps(error)}]}
        return problems(judged(rules, body, transport="mcp", status=None))

    assert not result("Failed with shut (Locked).\nid: e-1")
    assert "`id`" in result("Failed with shut (Locked).\nid: e-2")[0]
    assert "`message`" in result("Failed with shut (Open).\nid: e-1")[0]
    assert "`code`" in result("Failed with full (Locked).\nid: e-1")[0]


def test_events_of_a_stream_are_searched(rules: Contract) -> None:
    """A conversation that is streamed has its tool messages in events."""
    lines = [json.dumps({"delta": "Hello"}), json.dumps({"delta": chat("Failed with shut (X).")})]
    body = "".join(f"data: {line}\n\n" for line in lines).encode()
    answer = Response(200, (("Content-Type", "text/event-stream; charset=utf-8"),), body)
    found = judge(rules, Exchange(Request("POST", "/chat"), answer, "http"))
    assert len(problems(found)) == 1


def test_a_long_text_is_compared_in_little_time(rules: Contract) -> None:
    """A text of the largest size with many near matches does not take seconds."""
    text = "Failed with shut (" + "(x).\n" * 1500
    assert len(problems(judged(rules, {"message": chat(text)}))) == 1
