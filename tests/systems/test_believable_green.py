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
    shown=(("Authorization", "Bearer ${TOKEN}"),),
    secrets=((careless.TOKEN, "${TOKEN}"),),
)


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


@pytest.mark.parametrize("sins", [(), tuple(careless.SINS)], ids=["sound", "careless"])
@pytest.mark.parametrize("style", ["words", "detail"])
def test_a_document_that_names_no_code_gives_no_green_run(
    style: str, sins: tuple[str, ...]
) -> None:
    """No error can be held to an envelope or a code, so even the sound shop exits with 2."""
    result = judged(careless.careless(style, sins), imported(style))
    assert exit_code(result) == (1 if sins else 2)
    assert any("could be held to an envelope or a code" in reason for reason in result.not_run)


@pytest.mark.parametrize(
    ("sin", "clause"),
    [
        ("crash", "service/no-crash"),
        ("trace", "leaks/stack-trace"),
        ("page", "framework/unknown-id"),
        ("silent", "framework/unknown-id"),
        ("accepts-anything", "framework/invalid-input"),
        ("open", "auth/missing"),
        ("other-words", "framework/unknown-id"),
        ("leaky", "leaks/secret"),
    ],
)
def test_an_imported_taxonomy_catches_each_fault(sin: str, clause: str) -> None:
    """If the document names the codes, each fault alone makes the run fail."""
    result = judged(careless.careless("code", (sin,)), imported("code"))
    found = {each.finding.clause for each in result.findings if each.level == "error"}
    assert clause in found
    assert exit_code(result) == 1


def test_a_sound_service_keeps_its_imported_taxonomy() -> None:
    """The twin of the faults: nothing is found, and most errors are held to a code."""
    result = judged(careless.careless("code"), imported("code"))
    assert [each.finding.message for each in result.findings] == []
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
