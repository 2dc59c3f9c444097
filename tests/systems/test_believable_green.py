"""A green run means that errors were judged: imported taxonomies, facts that nothing supplies, and
answers that leave a clause undecided.
"""

import json
from functools import cache

import pytest
from starlette.types import ASGIApp

from faultspec.importers import openapi
from faultspec.language import read
from faultspec.language.model import Taxonomy
from faultspec.lint import check
from faultspec_conformance.config import Identity, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.results.model import Result, exit_code
from miniatures import careless
from support.in_process import Clock
from support.kill_matrix import judge, reached

CALLER = Identity(
    "caller",
    headers=(("Authorization", f"Bearer {careless.TOKEN}"),),
    secrets=((careless.TOKEN, "${TOKEN}"),),
)


#: The documents of the shop: with codes, with their words alone, and with a detail alone.
STYLES = ("code", "words", "detail")


@cache
def imported(style: str) -> Taxonomy:
    """The taxonomy of the document of the shop, as the importer makes it."""
    data = openapi.read(careless.document(style)).data
    taxonomy = read(json.dumps(data), "imported.yaml").taxonomy
    assert taxonomy is not None
    return taxonomy


def judged(app: ASGIApp, taxonomy: Taxonomy) -> Result:
    """A run of the probes within the process."""
    with reached(app, Clock()) as (base, connect):
        target = ServiceConfig(
            http=base,
            openapi="/openapi.json",
            identities={"caller": CALLER},
            limits=Limits(requests=150, seconds=60, writes=True),
        )
        return judge(target, taxonomy, connect)


FAULTS = [
    ("crash", "service/no-crash"),
    ("trace", "leaks/stack-trace"),
    ("page", "framework/unknown-id"),
    ("silent", "framework/unknown-id"),
    ("accepts-anything", "framework/invalid-input"),
    ("open", "auth/missing"),
    ("other-words", "framework/unknown-id"),
    ("leaky", "leaks/secret"),
]
"""Each fault of the shop, and the clause that it breaks."""

#: Faults of bodies that a document allows, as it says nothing of its errors or requires nothing.
ALLOWED = {"words": {"page", "other-words"}, "detail": {"other-words"}}


@pytest.mark.parametrize(
    ("style", "sin", "clause"),
    [
        (style, sin, clause)
        for style in STYLES
        for sin, clause in FAULTS
        if sin not in ALLOWED.get(style, ())
    ],
)
def test_an_imported_taxonomy_catches_each_fault(style: str, sin: str, clause: str) -> None:
    """Each fault alone makes the run fail, also if the document names no code and the status
    decides it.
    """
    result = judged(careless.careless(style, (sin,)), imported(style))
    found = {each.finding.clause for each in result.findings if each.level == "error"}
    assert clause in found
    assert exit_code(result) == 1


@pytest.mark.parametrize("style", STYLES)
def test_a_sound_service_keeps_its_imported_taxonomy(style: str) -> None:
    """The twin of the faults: no error is found, and most errors are held to a code."""
    result = judged(careless.careless(style), imported(style))
    assert [each.finding.message for each in result.findings if each.level == "error"] == []
    assert exit_code(result) == 0
    assert result.errors is not None
    assert result.held > result.errors / 2


STOCK = """
faultspec: 1
taxonomy: {name: stock, version: 1.0.0}
envelopes: {error: {shape: {code: $code, again?: $retriable, details?: $details}}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
codes:
  missing: {summary: Missing., http: [400, 404, 405], retriable: caller}
  busy:
    summary: Busy.
    http: 503
    details: {kind?: {type: string}}
    retriable: {when: [{if: {FACT: deadlock}, then: true}], else: false}
"""


def stock(*, again: bool, kind: str | None = None) -> ASGIApp:
    """A service whose only operation is always busy. ``again``: its retry flag. ``kind``: a detail
    of its errors; None: it is missing.
    """
    responses = {"200": {"description": "Done"}}
    paths = {"/stock": {"get": {"responses": responses}}}
    document = {"openapi": "3.1.0", "info": {"title": "Stock", "version": "1"}, "paths": paths}

    def answer(method: str, path: str, token: str, body: bytes) -> tuple[int, object]:
        if path == "/openapi.json":
            return 200, document
        if path != "/stock" or method not in ("GET", "HEAD"):
            return (405 if path == "/stock" else 404), {"code": "missing"}
        details = {} if kind is None else {"details": {"kind": kind}}
        return 503, {"code": "busy", "again": again, **details}

    return careless.serve(answer)


def rules(fact: str) -> Taxonomy:
    """The rules of the stock, with a condition on a fact."""
    taxonomy = read(STOCK.replace("FACT", fact), "stock.yaml").taxonomy
    assert taxonomy is not None
    return taxonomy


@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize("fact", ["details.kind", "cause"])
def test_what_no_answer_decides_does_not_pass(fact: str, again: bool) -> None:
    """A flag that hangs on an unknown fact is undecided in every answer, whatever its value. The
    row counts the answers and names the fact.
    """
    row = judged(stock(again=again), rules(fact)).clauses["retriable/agrees"]
    assert row.verdict == "not_exercised"
    assert row.occasions == 0
    (reason,) = row.undecided
    assert reason.startswith(f"`{fact}` is unknown")
    assert row.undecided[reason] > 0


@pytest.mark.parametrize(("again", "verdict"), [(True, "passed"), (False, "failed")])
def test_a_fact_that_the_answer_supplies_decides(again: bool, verdict: str) -> None:
    """The twin: with the detail, the flag passes or fails."""
    result = judged(stock(again=again, kind="deadlock"), rules("details.kind"))
    assert result.clauses["retriable/agrees"].verdict == verdict


@pytest.mark.parametrize(("fact", "warns"), [("cause", True), ("details.kind", False)])
def test_lint_names_a_fact_that_nothing_supplies(fact: str, warns: bool) -> None:
    """A condition that every run leaves undecided is a warning before the first run."""
    found = {found.code for found in check(read(STOCK.replace("FACT", fact), "stock.yaml"))}
    assert ("condition-unknowable" in found) == warns
