"""The kill matrix: each sin is caught by its clause, and trips nothing that was not declared."""

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from functools import cache
from pathlib import Path

import pytest

from faultspec import language
from faultspec.language.model import Taxonomy
from faultspec_conformance.relations import clauses, meaningless
from faultspec_conformance.run import Options, Unreachable, run
from faultspec_conformance.target import read
from faultspec_conformance.verdict import Result
from kill_matrix import ALL, KILLS, MORE, SURVIVORS, Kill
from miniatures.core_platform import ENVIRONMENT
from miniatures.serve import serving
from miniatures.sins import sinning

HERE = Path(__file__).parent
DOCUMENT = HERE.parent / "docs" / "kill-matrix.md"

#: A run waits a second for the rate limit; more processes than cores do something else meanwhile.
PROCESSES = 3 * (os.cpu_count() or 2)

BEHAVING = "behaving"

# One worker has the pool; two would judge every sin twice.
pytestmark = pytest.mark.xdist_group("kill-matrix")


@cache
def taxonomy() -> Taxonomy:
    """The Core Platform taxonomy."""
    loaded = language.load(str(HERE.parent / "taxonomy.yaml"))
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


def judged(*sins: str) -> Result:
    """Judge the notebooks with these sins, by probes alone."""
    app = sinning(*(sin for sin in sins if sin not in MORE))
    for sin in sins:
        app = MORE[sin].apply(app) if sin in MORE else app
    with serving(app) as base:
        loaded = read(str(HERE / "miniatures" / "notebooks.yaml"), {**ENVIRONMENT, "BASE_URL": base})
        assert loaded.target is not None, loaded.diagnostics
        report = run(loaded.target, taxonomy(), Options(sweep=False))
    assert not isinstance(report, Unreachable), report.reason
    return report.result


def tripped(name: str) -> frozenset[str]:
    """The clauses that a sin trips; warnings begin with `~`."""
    result = judged(*(() if name == BEHAVING else (name,)))
    return frozenset(
        each.finding.clause if each.level == "error" else f"~{each.finding.clause}" for each in result.findings
    )


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
    """A new sin must be caught or excused, and nothing is listed that is no sin."""
    assert set(KILLS) | set(SURVIVORS) == set(ALL)
    assert not set(KILLS) & set(SURVIVORS)


def test_only_clauses_are_named() -> None:
    """The matrix names clauses that there are."""
    known = set(clauses(taxonomy()))
    assert {each.removeprefix("~") for kill in KILLS.values() for each in kill.tripped} <= known


@pytest.mark.parametrize("name", [BEHAVING, *KILLS, *SURVIVORS])
def test_each_sin_meets_its_clause(name: str, runs: dict[str, Future[frozenset[str]]]) -> None:
    """A sin trips its clause and its declared consequences, and nothing else; who behaves trips nothing."""
    expected = KILLS[name].tripped if name in KILLS else frozenset()
    assert runs[name].result(timeout=300) == expected


@pytest.mark.parametrize("turn", range(5))
def test_who_behaves_passes_everything(turn: int) -> None:
    """Of the behaving service nothing is left unexercised but what nobody can check, in run after run."""
    result = judged()
    left = {address: each.verdict for address, each in result.clauses.items() if each.verdict != "passed"}
    unspoken = meaningless(taxonomy())
    assert {address for address, verdict in left.items() if verdict != "not_checkable"} == set()
    assert all(
        address.startswith("obligations/")
        or address in unspoken
        or address.partition("/")[0] in unspoken
        or address == "idempotency/mismatch"
        for address in left
    )
    assert all(each.observed for each in result.coverage.values())


def document() -> str:
    """`docs/kill-matrix.md`: by clause, the sins that prove it; then what is unproven, and what survives."""
    known = clauses(taxonomy())
    by_clause: dict[str, list[tuple[str, Kill]]] = {}
    for name, kill in KILLS.items():
        by_clause.setdefault(kill.clause, []).append((name, kill))
    unspoken = meaningless(taxonomy())
    out = [
        "# The kill matrix",
        "",
        "Each clause of the suite, and the sins of a small service that it catches: the notebooks of `tests/miniatures`, judged",
        "by probes alone. A clause that no sin proves does not count. `tests/test_kill_matrix.py` runs all of it, and writes this",
        "page: `FAULTSPEC_WRITE=1 python -m pytest tests/test_kill_matrix.py -k document`.",
        "",
    ]
    for address, clause in known.items():
        if address not in by_clause:
            continue
        out += [
            f"## `{address}`",
            "",
            f"{clause.title}. {clause.why}",
            "",
            "| sin | what it does | seen as | also trips |",
            "|---|---|---|---|",
        ]
        for name, kill in by_clause[address]:
            level = "warning" if kill.warning else "failure"
            also = ", ".join(
                f"`{each.removeprefix('~')}`{' (warning)' if each.startswith('~') else ''}" for each in kill.also
            )
            out.append(f"| {name} | {ALL[name].sentence} | {level} | {also} |")
        out.append("")
    out += ["## Unproven", "", "No sin proves these, so they do not count.", ""]
    for address in known:
        if address not in by_clause:
            reason = (
                unspoken.get(address)
                or unspoken.get(address.partition("/")[0])
                or "no sin of the notebooks breaks it alone"
            )
            out.append(f"- `{address}`: {reason}")
    out += ["", "## Survivors", "", "Sins that trip nothing, and why that is right.", ""]
    out += [f"- {name} ({ALL[name].sentence}): {reason}" for name, reason in SURVIVORS.items()]
    return "\n".join(out) + "\n"


def test_the_document_is_current() -> None:
    """`docs/kill-matrix.md` says what the matrix says; with FAULTSPEC_WRITE set it is written."""
    if os.environ.get("FAULTSPEC_WRITE"):
        DOCUMENT.write_text(document(), encoding="utf-8")
    assert DOCUMENT.read_text(encoding="utf-8") == document()
