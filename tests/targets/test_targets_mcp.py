"""The output schema of a tool: whatever tells an error, refusals are held to their codes and
successes are not refusals.
"""

import copy
import json
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import jsonschema_rs
import pytest
from jsonschema import Draft202012Validator

from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read
from faultspec.render import render
from faultspec.targets import SHIPPED
from support.bodies import places

DOCUMENT = """
faultspec: 1
taxonomy: {name: tools, version: 1.0.0}
detail_keys: {size: {type: integer, summary: Bytes}}
envelopes: {refusal: {shape: %(shape)s, additional: forbid}}
surfaces:
  tools:
    transport: mcp
    match: {tools: [work]}
    %(when)s
    at: %(at)s
    envelope: refusal
    codes: closed
codes:
  plain: {summary: Plain., on: {mcp: {is_error: %(plain)s}}, retriable: false}
  sized: {summary: Sized., on: {mcp: {is_error: true}}, retriable: true, effect: none, details: {size: {}}}
"""

FLAT = '{code: $code, text: $message, again: $retriable, "...": $details}'
DEEP = '{ok: false, error: {code: $code, text: $message, again: $retriable, "...": $details}}'
ODD = '{a/b: {"m~n": {code: $code, text: $message, again: $retriable, details?: $details}}}'
LISTED = (
    "{errors: [{code: $code, text: $message, again: $retriable, details?: $details}], level: 2}"
)
TEXT = '{type: "urn:${code}", title: $message, details?: $details}'


class Form(NamedTuple):
    """A way to tell errors. ``successes``: contents that are none; ``plain``: whether the result
    says it of the plain code.
    """

    when: str
    shape: str
    successes: tuple[dict[str, Any], ...]
    at: str = "/structuredContent"
    plain: bool = True

    def text(self) -> str:
        """A taxonomy that tells errors so."""
        when = f"error_when: {self.when}" if self.when else ""
        return DOCUMENT % {**self._asdict(), "when": when, "plain": str(self.plain).lower()}


OTHER: tuple[dict[str, Any], ...] = ({}, {"rows": []}, {"text": "plain", "again": True})

#: What content alone shows.
SHOWN = {
    "present": Form("{present: /structuredContent/code}", FLAT, OTHER, plain=False),
    "present-below": Form(
        "{present: /structuredContent/error/code}",
        DEEP,
        (*OTHER, {"error": {"rows": []}}),
        plain=False,
    ),
    "present-odd": Form(
        "{present: /structuredContent/a~1b/m~0n}", ODD, (*OTHER, {"a/b": {"m": 1}}), plain=False
    ),
    "present-item": Form(
        "{present: /structuredContent/errors/0}", LISTED, (*OTHER, {"errors": []}), plain=False
    ),
    "equals": Form(
        "{equals: {/structuredContent/ok: false}}",
        DEEP,
        (*OTHER, {"ok": True}, {"ok": 0}),
        plain=False,
    ),
    "either": Form(
        "{present: /structuredContent/error, equals: {/structuredContent/ok: false}}",
        DEEP,
        (*OTHER, {"ok": True}),
        plain=False,
    ),
    "inside": Form(
        "{present: /structuredContent/failure/code}",
        FLAT,
        OTHER,
        "/structuredContent/failure",
        False,
    ),
}
#: What the rest of the result says as well, or alone; a success may have anything else where
#: refusals have their code.
UNSHOWN = {
    "none": Form("", FLAT, (*OTHER, {"code": 7}, {"code": "EUR", "rate": 1.1})),
    "is-error": Form(
        "{equals: {/isError: true}}", DEEP, (*OTHER, {"ok": True}, {"error": {"code": "EUR"}})
    ),
    "both": Form(
        "{equals: {/isError: true, /structuredContent/ok: false}}", DEEP, (*OTHER, {"ok": True})
    ),
    "meta": Form("{present: /_meta/failed}", ODD, (*OTHER, {"a/b": 1})),
    "other-mark": Form("{present: /structuredContent/degraded}", TEXT, (*OTHER, {"type": "urn:x"})),
    "equals-below": Form(
        "{equals: {/structuredContent/error/again: false, /structuredContent/ok: false}}",
        DEEP,
        (
            *OTHER,
            {"ok": False},
            {"error": {"again": False}},
            {"ok": True, "error": {"again": False}},
        ),
    ),
    "equals-item": Form(
        "{equals: {/structuredContent/errors/0/code: plain}}",
        LISTED,
        (*OTHER, {"errors": [{}, {"code": 7}]}),
    ),
    "listed": Form("", LISTED, (*OTHER, {"errors": []}, {"errors": [{"code": "EUR"}], "level": 2})),
}
FORMS = SHOWN | UNSHOWN


@cache
def made(
    text: str, name: str = "mcp/work.output"
) -> tuple[Contract, jsonschema_rs.Draft202012Validator]:
    """The contract of a taxonomy, and the output schema of its tool, or another of its schemas."""
    loaded = read(text, "tools.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    tree = render(loaded.taxonomy, [SHIPPED["mcp"], SHIPPED["surfaces"]], "tools.yaml")
    document = json.loads(tree[f"{name}.schema.json"])
    Draft202012Validator.check_schema(document)
    return build_contract(loaded.taxonomy), jsonschema_rs.Draft202012Validator(document)


def refusal(form: Form, code: str) -> dict[str, Any]:
    """The content of a sound error."""
    size = {"size": 3} if code == "sized" else {}
    again, below = code == "sized", {"details": size} if size else {}
    content: dict[str, Any] = {
        FLAT: {"code": code, "text": "t", "again": again, **size},
        DEEP: {"ok": False, "error": {"code": code, "text": "t", "again": again, **size}},
        ODD: {"a/b": {"m~n": {"code": code, "text": "t", "again": again, **below}}},
        LISTED: {"errors": [{"code": code, "text": "t", "again": again, **below}], "level": 2},
        TEXT: {"type": f"urn:{code}", "title": "t", **below},
    }[form.shape]
    return {"failure": content} if form.at.endswith("failure") else content


def silent(form: Form, content: object) -> bool:
    """Whether the judge has nothing against some result with this content."""
    rules, _ = made(form.text())
    for is_error in (True, False):
        for meta in ({}, {"_meta": {"failed": 1}}):
            result = {"content": [], "structuredContent": content, "isError": is_error, **meta}
            answer = Response(None, (), json.dumps(result).encode())
            found = judge(rules, Exchange(Request("POST", "work"), answer, "mcp"))
            if not any(each.level == "error" for each in found.findings):
                return True
    return False


GONE: Any = object()


def changed(value: Any) -> Iterator[Any]:
    """Every content that comes of taking away one member, or of putting something else in the place
    of one value.
    """
    for path in places(value):
        for what in (GONE, True, False, 7, "else", None, [], {}):
            body = copy.deepcopy(value)
            inner = body
            for step in path[:-1]:
                inner = inner[step]
            if what is GONE:
                del inner[path[-1]]
            else:
                inner[path[-1]] = what
            yield body


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_errors_are_held_to_their_codes_and_successes_are_none(form: Form) -> None:
    """However a surface tells its errors: a sound one is accepted, one without what its code
    requires and one with an unknown code are not, and neither is one whose code nobody would miss;
    a success is.
    """
    _, valid = made(form.text())
    for code in ("plain", "sized"):
        assert valid.is_valid(refusal(form, code)), (
            code,
            list(valid.iter_errors(refusal(form, code))),
        )
    assert not valid.is_valid(refusal(form, "no_such_code"))
    without = json.loads(json.dumps(refusal(form, "sized")).replace('"size"', '"other"'))
    assert not valid.is_valid(without)
    for success in form.successes:
        assert valid.is_valid(success), (success, list(valid.iter_errors(success)))


@pytest.mark.parametrize("form", SHOWN.values(), ids=SHOWN.keys())
def test_content_that_shows_its_mark_is_accepted_as_the_judge_does(form: Form) -> None:
    """The schema accepts content exactly where there is a result with it that the judge has nothing
    against, mutation for mutation of an error and of a success.
    """
    _, valid = made(form.text())
    begun = [refusal(form, "plain"), refusal(form, "sized"), *form.successes]
    for content in (each for one in begun for each in (one, *changed(one))):
        assert valid.is_valid(content) == silent(form, content), content


@pytest.mark.parametrize("form", UNSHOWN.values(), ids=UNSHOWN.keys())
def test_content_that_does_not_show_its_mark_is_an_error_where_it_looks_like_one(
    form: Form,
) -> None:
    """Where the rest of the result says what is an error, nothing is accepted that the judge has
    anything against, and no mutation of an error that leaves its code in place but what is another
    sound error.
    """
    rules, valid = made(form.text())
    for code in ("plain", "sized"):
        for content in changed(refusal(form, code)):
            assert silent(form, content) or not valid.is_valid(content), content
            if f'"{code}"' in json.dumps(content) or f"urn:{code}" in json.dumps(content):
                result = {"structuredContent": content, "isError": True, "_meta": {"failed": 1}}
                answer = Response(None, (), json.dumps(result).encode())
                found = judge(rules, Exchange(Request("POST", "work"), answer, "mcp")).findings
                assert valid.is_valid(content) == all(each.level != "error" for each in found), (
                    content
                )


def test_a_tool_of_which_every_answer_is_an_error_has_no_success() -> None:
    """A member that every result has distinguishes nothing."""
    _, valid = made(Form('{present: ""}', FLAT, ()).text())
    assert valid.is_valid({"code": "plain", "text": "t", "again": False})
    assert not valid.is_valid({"rows": []})


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_a_surfaces_schema_accepts_what_is_an_error_and_a_sound_one(form: Form) -> None:
    """A whole result is accepted exactly where the judge calls it an error and has nothing against
    it.
    """
    rules, valid = made(form.text(), "surfaces/tools")
    begun = [refusal(form, "plain"), refusal(form, "sized"), *form.successes]
    for content in (each for one in begun for each in (one, *changed(one))):
        for marks in ({"isError": True}, {"isError": False}, {}, {"_meta": {"failed": 1}}):
            result = {"content": [], "structuredContent": content, **marks}
            answer = Response(None, (), json.dumps(result).encode())
            found = judge(rules, Exchange(Request("POST", "work"), answer, "mcp"))
            sound = found.is_error and all(each.level != "error" for each in found.findings)
            assert valid.is_valid(result) == sound, result


OPERATIONS = """
faultspec: 1
taxonomy: {name: tools, version: 1.0.0}
envelopes: {refusal: {shape: {code: $code}}}
surfaces:
  tools:
    transport: mcp
    match: {tools: [fs_read, fs_list, fs_write, fs.stat, chat, other]}
    error_when: {present: /structuredContent/code}
    at: /structuredContent
    envelope: refusal
    codes: [gone, late, full]
codes:
  gone: {summary: Gone.}
  late: {summary: Late.}
  full: {summary: Full.}
  held: {summary: Held., http: 409}
operations:
  read: {match: {tools: [fs_read, fs_list]}, codes: [gone, held], errors: {binary: {summary: Binary.}}}
  scan: {match: {tools: [fs_list]}, codes: [late]}
  write: {match: {tools: ["fs_*"]}, errors: {readonly: {summary: Read only., wire: 7}}}
  stat: {wire: fs.stat, codes: [full]}
  small: {match: {tools: [chat], request: {/size: 1}}, codes: [gone], errors: {dull: {summary: Dull.}}}
  large: {match: {request: {/size: 2}, tools: [chat]}, codes: [late]}
  routed: {match: {routes: [/r]}, codes: [gone], errors: {routed: {summary: Routed., http: 400}}}
"""
ASKED = ({}, {"size": 1}, {"size": 2})


@pytest.mark.parametrize("tool", ["fs_read", "fs_list", "fs_write", "fs.stat", "chat", "other"])
def test_a_tool_answers_with_the_codes_of_its_operations(tool: str) -> None:
    """The schema of a tool accepts a code exactly where some call of the tool may end with it
    (``code/operation``): those of the first operation that the call is one of, and where it may be
    none, what is everybody's.
    """
    rules, valid = made(OPERATIONS, f"mcp/{tool}.output")
    for code in ("gone", "late", "full", "held", "binary", 7, "dull", "routed", "no_such_code"):
        answer = Response(
            None, (), json.dumps({"structuredContent": {"code": code}, "isError": True}).encode()
        )
        judged = [
            judge(
                rules, Exchange(Request("POST", tool, (), json.dumps(each).encode()), answer, "mcp")
            )
            for each in ASKED
        ]
        sound = any(all(each.level != "error" for each in found.findings) for found in judged)
        assert valid.is_valid({"code": code}) == sound, code
    assert valid.is_valid({"rows": []})
