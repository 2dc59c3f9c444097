"""The kill matrix: each sin is caught by its clause, and trips nothing that was not declared."""

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from functools import cache

import pytest

from faultspec import language
from faultspec.contract.applicability import not_applicable
from faultspec.contract.clauses import CLAUSES, Clause, service_clauses
from faultspec.language.model import Taxonomy
from faultspec_conformance.results.model import Result
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions, Unreachable
from miniatures.systems import LAPSES
from paths import TESTS
from support.kill_matrix import KILLS, MINIATURES, SURVIVORS, Kill

HERE = TESTS
DOCUMENT = HERE.parent / "docs" / "kill-matrix.md"

#: A run waits a second for the rate limit; more processes than cores do something else meanwhile.
PROCESSES = 3 * (os.cpu_count() or 2)

BEHAVING = {f"behaving-{miniature}": miniature for miniature in MINIATURES}
"""Names for the runs without a sin: whose they are."""


@cache
def taxonomy(miniature: str) -> Taxonomy:
    """The taxonomy that a miniature keeps."""
    loaded = language.load(str(MINIATURES[miniature].taxonomy))
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


def every_clause() -> dict[str, Clause]:
    """The clauses of all miniatures: the closed list, and those of their headers."""
    return {
        address: clause
        for each in MINIATURES
        for address, clause in service_clauses(taxonomy(each)).items()
    }


def judged(miniature: str, sin: str | None = None) -> Result:
    """Judge a miniature with this sin, by probes alone."""
    with MINIATURES[miniature].opened(sin) as target:
        report = run(target, taxonomy(miniature), RunOptions(sweep=False))
    assert not isinstance(report, Unreachable), report.reason
    return report.result


def tripped(name: str) -> frozenset[str]:
    """The clauses that a sin trips; warnings begin with `~`."""
    result = judged(BEHAVING[name]) if name in BEHAVING else judged(sinner(name), name)
    return frozenset(
        each.finding.clause if each.level == "error" else f"~{each.finding.clause}"
        for each in result.findings
    )


def sinner(name: str) -> str:
    """The miniature that a sin is one of."""
    return KILLS[name].miniature if name in KILLS else "notebooks"


@pytest.fixture(scope="session")
def runs(request: pytest.FixtureRequest) -> Iterator[dict[str, Future[frozenset[str]]]]:
    """The runs that the selected tests need, under way in several processes."""
    wanted = [
        item.callspec.params["name"]  # type: ignore[attr-defined]
        for item in request.session.items
        if "runs" in getattr(item, "fixturenames", ()) and hasattr(item, "callspec")
    ]
    with ProcessPoolExecutor(PROCESSES, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield {name: pool.submit(tripped, name) for name in dict.fromkeys(wanted)}


def test_every_sin_is_accounted_for() -> None:
    """A new sin must be caught or excused, and nothing is listed that is no sin of its miniature."""
    listed = [(sinner(name), name) for name in (*KILLS, *SURVIVORS)]
    sins = [(miniature, name) for miniature, each in MINIATURES.items() for name in each.sins]
    assert set(listed) == set(sins)
    assert len({name for _, name in sins}) == len(sins)
    assert not set(KILLS) & set(SURVIVORS)


def test_only_clauses_are_named() -> None:
    """The matrix names clauses that there are in the taxonomy of the sin's miniature."""
    for kill in KILLS.values():
        known = set(service_clauses(taxonomy(kill.miniature)))
        assert {each.removeprefix("~") for each in kill.tripped} <= known


#: Clauses about who calls: a service calling its upstreams (`test_suite_upstreams.py`), and clients (`test_suite_clients.py`).
CALLING = {each for each in CLAUSES if each.partition("/")[0] in ("upstream", "client")}


def test_every_clause_is_proven() -> None:
    """No clause of the closed list is without a sin that it catches."""
    assert {*CLAUSES, *every_clause()} - {kill.clause for kill in KILLS.values()} == CALLING


def first_of_each_clause() -> set[str]:
    """For each clause the first sin that proves it."""
    return set({kill.clause: name for name, kill in reversed(KILLS.items())}.values())


def selection() -> Iterator[object]:
    """Who behaves and one sin a clause always; the other sins, which take minutes, with `make full`."""
    always = {*BEHAVING, *first_of_each_clause()}
    for name in (*BEHAVING, *KILLS, *SURVIVORS):
        yield name if name in always else pytest.param(name, marks=pytest.mark.full)


@pytest.mark.parametrize("name", list(selection()))
def test_each_sin_meets_its_clause(name: str, runs: dict[str, Future[frozenset[str]]]) -> None:
    """A sin trips its clause and its declared consequences, and nothing else; who behaves trips nothing."""
    expected = KILLS[name].tripped if name in KILLS else frozenset()
    assert runs[name].result(timeout=300) == expected


@pytest.mark.parametrize("turn", range(5))
def test_who_behaves_passes_everything(turn: int) -> None:
    """Of the behaving notebooks nothing is left unexercised but what nobody can check, in run after run."""
    result = judged("notebooks")
    left = {
        address: each.verdict
        for address, each in result.clauses.items()
        if each.verdict != "passed"
    }
    unspoken = not_applicable(taxonomy("notebooks"))
    assert {address for address, verdict in left.items() if verdict != "not_checkable"} == set()
    assert all(
        address.startswith("obligations/")
        or address in unspoken
        or address.partition("/")[0] in unspoken
        or address == "idempotency/mismatch"
        for address in left
    )
    assert all(each.observed for each in result.coverage.values())


def test_the_vault_gives_occasion_for_what_it_is_there_for() -> None:
    """Behaving, it passes every clause that its sins prove, and all its codes are seen."""
    result = judged("vault")
    proven = {kill.clause for kill in KILLS.values() if kill.miniature == "vault"}
    assert {address: result.clauses[address].verdict for address in proven} == dict.fromkeys(
        proven, "passed"
    )
    assert all(each.observed for each in result.coverage.values())


def document() -> str:
    """`docs/kill-matrix.md`: by clause, the sins that prove it; then what survives."""
    by_clause: dict[str, list[tuple[str, Kill]]] = {}
    for name, kill in KILLS.items():
        by_clause.setdefault(kill.clause, []).append((name, kill))
    out = [
        "# The kill matrix",
        "",
        "Each clause of the suite, and the sins of small services that it catches, judged by probes alone. The notebooks of",
        "`tests/miniatures` keep the Core Platform contract; the vault has one with numbers for codes, the status and the layer in the",
        "body, reserved codes and codes of one operation, to which the other gives no meaning. The others are the services of `examples/`:",
        "Aileron and alknet over HTTP, Theodosia over MCP, KeenBench over standard streams. D1 to D22 are deviations of public",
        "implementations from their own documents; D7, D12 and D23 are of what no answer shows: texts for a model, an importer, a log.",
        "A clause that no sin proves does not count. `make test` runs the first sin of each clause, `make full` all of them;",
        "this page is written by `FAULTSPEC_WRITE=1 python -m pytest tests/systems/test_kill_matrix.py -k document`.",
        "",
    ]
    for address, clause in every_clause().items():
        out += [
            f"## `{address}`",
            "",
            f"{clause.title}. {clause.why}",
            "",
            "| sin | of | what it does | seen as | also trips |",
            "|---|---|---|---|---|",
        ]
        for name, kill in by_clause.get(address, ()):
            level = "warning" if kill.warning else "failure"
            also = ", ".join(
                f"`{each.removeprefix('~')}`{' (warning)' if each.startswith('~') else ''}"
                for each in kill.also
            )
            sentence = MINIATURES[kill.miniature].sins[name]
            if name in LAPSES and LAPSES[name].deviation:
                sentence += f" ({LAPSES[name].deviation})"
            out.append(f"| {name} | {kill.miniature} | {sentence} | {level} | {also} |")
        out.append("")
    out += ["## Survivors", "", "Sins that trip nothing, and why that is right.", ""]
    out += [
        f"- {name} ({MINIATURES[sinner(name)].sins[name]}): {reason}"
        for name, reason in SURVIVORS.items()
    ]
    return "\n".join(out) + "\n"


def test_the_document_is_current() -> None:
    """`docs/kill-matrix.md` says what the matrix says; with FAULTSPEC_WRITE set it is written."""
    if os.environ.get("FAULTSPEC_WRITE"):
        DOCUMENT.write_text(document(), encoding="utf-8")
    assert DOCUMENT.read_text(encoding="utf-8") == document()
