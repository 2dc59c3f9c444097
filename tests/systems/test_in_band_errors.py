"""A service whose errors travel within answers of status 200 is judged like any other one."""

import re
import time
from functools import cache

import pytest
from starlette.types import ASGIApp

from faultspec.language import read
from faultspec.language.model import Taxonomy
from miniatures import lockers
from miniatures.wire import Answer, Asked, rewriting
from paths import TESTS
from support.kill_matrix import KILLS, findings, judge, served

MINIATURES = TESTS / "miniatures"


def in_band(asked: Asked, answer: Answer) -> Answer:
    """An error as a success whose body says that it is none."""
    body = answer.json()
    if answer.status < 400 or (asked.method != "HEAD" and not isinstance(body, dict)):
        return answer
    content = Answer(200, answer.headers, answer.body).with_json({"ok": False, **(body or {})})
    content = content.with_header("content-length", str(len(content.body)))
    return content if asked.method != "HEAD" else Answer(200, content.headers, b"")


@cache
def taxonomy() -> Taxonomy:
    """The errors of the lockers, each under status 200 and marked by a member of the body."""
    text = (MINIATURES / "lockers-taxonomy.yaml").read_text(encoding="utf-8")
    text += "undeclared: {becomes: broken}\n"
    text = re.sub(r"http: \d+", "http: 200", text)
    text = text.replace("shape: {code: $code", "shape: {ok: false, code: $code")
    marks = "{transport: http, error_when: {equals: {/ok: false}}, "
    loaded = read(text.replace("{transport: http, ", marks), "taxonomy.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


def tripped(sin: str | None) -> frozenset[str]:
    """The clauses that the lockers with this sin trip, with all errors in band."""

    def make(name: str | None, clock: object) -> ASGIApp:
        sins = frozenset() if name is None else frozenset({name})
        return rewriting(in_band)(lockers.make_app(sins, clock or time.time))  # type: ignore[arg-type]

    opened = served(MINIATURES / "lockers.yaml", lockers.PASSWORDS, make)
    with opened(sin, False) as (target, connect):
        return findings(judge(target, taxonomy(), connect))


def test_errors_in_band_are_refusals() -> None:
    """A correct service trips nothing: an error of the taxonomy is a refusal under any status."""
    assert tripped(None) == frozenset()


@pytest.mark.parametrize(
    "sin", [name for name, each in KILLS.items() if each.miniature == "lockers"]
)
def test_mistakes_are_found_in_band(sin: str) -> None:
    """The clause that catches a mistake under statuses of errors catches it under 200 too."""
    assert KILLS[sin].finding in tripped(sin)
