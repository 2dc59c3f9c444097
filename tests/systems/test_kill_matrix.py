"""The kill matrix: each sin is caught by its clause, and trips nothing that was not declared."""

import os
import textwrap
from collections.abc import Iterable, Iterator

import pytest

from faultspec.contract.clauses import CLAUSES, Clause, service_clauses
from miniatures.systems import LAPSES
from paths import ROOT
from support import services
from support.kill_matrix import (
    KILLS,
    MINIATURES,
    SURVIVORS,
    Kill,
    consequences,
    expected,
    findings,
    judged,
    record,
    sinner,
    taxonomy,
)

DOCUMENT = ROOT / "docs" / "kill-matrix.md"

BEHAVING = {f"behaving-{miniature}": miniature for miniature in MINIATURES}
"""Names for the runs without a sin: whose they are."""


def every_clause() -> dict[str, Clause]:
    """The clauses of all miniatures: the closed list, and those of their headers."""
    return {
        address: clause
        for each in MINIATURES
        for address, clause in service_clauses(taxonomy(each)).items()
    }


def tripped(name: str, *, wired: bool = False) -> frozenset[str]:
    """The clauses that a sin trips, or a service that behaves; warnings begin with `~`."""
    if name in BEHAVING:
        return findings(judged(BEHAVING[name], wired=wired))
    return findings(judged(sinner(name), name, wired=wired))


def test_every_sin_is_accounted_for() -> None:
    """A new sin must be caught or excused, and every listed sin is one of its miniature."""
    listed = [(sinner(name), name) for name in (*KILLS, *SURVIVORS)]
    sins = [(miniature, name) for miniature, each in MINIATURES.items() for name in each.sins]
    assert set(listed) == set(sins)
    assert len({name for _, name in sins}) == len(sins)
    assert not set(KILLS) & set(SURVIVORS)


def test_only_clauses_are_named() -> None:
    """The matrix and its golden file name sins and clauses that the taxonomy of the sin's miniature
    has.
    """
    assert not consequences().keys() - KILLS.keys()
    for name, kill in KILLS.items():
        known = set(service_clauses(taxonomy(kill.miniature)))
        assert {clause.removeprefix("~") for clause in expected(name)} <= known


#: Clauses about who calls: a service calling its upstreams (`tests/probes/test_upstreams.py`), and
#: clients (`tests/run/test_clients.py`).
CALLING = {each for each in CLAUSES if each.partition("/")[0] in ("upstream", "client")}

#: Clauses that need an extra, which no miniature's taxonomy asks for (`tests/judge/test_judge.py`).
EXTRA = {"leaks/personal-data"}

#: The clause about generated traffic, which the matrix does without (`tests/schemathesis`).
GENERATED = {"document/sequences"}

#: Clauses about processes on standard streams (`tests/systems/test_language_server.py`).
STREAMS = {"rpc/state", "rpc/end", "rpc/output"}

#: The clause of a probe of all operations, which the parcels alone are judged by.
OF_ALL_OPERATIONS = {"document/bounds"}

#: Clauses about what another miniature declares or has, and the notebooks do not.
CONFIGURED = {
    *("fault/recovers", "idempotency/after-failure", "provoke/expected", "provoke/state"),
    *("leaks/confidential", "auth/renewed", "lists/cursor", "lists/filter", "retry/scope"),
    *("audit/resolves", "audit/concealed", "ids/unique", "references/exist"),
}


def test_every_clause_is_proven() -> None:
    """No clause of the closed list is without a sin that it catches."""
    proven = {kill.clause for kill in KILLS.values()}
    assert {*CLAUSES, *every_clause()} - proven == CALLING | EXTRA | GENERATED | STREAMS


def first_of_each_family(sins: Iterable[str]) -> set[str]:
    """For each family of clauses the first of these sins that proves one of them."""
    last_to_first = reversed([*sins])
    return set({KILLS[name].clause.partition("/")[0]: name for name in last_to_first}.values())


def selection() -> Iterator[object]:
    """The correct services and one sin a family of clauses always run; the other sins, which take
    minutes, with `make full`.
    """
    always = {*BEHAVING, *first_of_each_family(KILLS)}
    for name in (*BEHAVING, *KILLS, *SURVIVORS):
        yield name if name in always else pytest.param(name, marks=pytest.mark.full)


@pytest.mark.parametrize("name", list(selection()))
def test_each_sin_meets_its_clause(name: str) -> None:
    """A sin trips its clause and its declared consequences, and nothing else; a service that
    behaves trips nothing.

    With FAULTSPEC_WRITE set, its consequences are written into the golden file.
    """
    found = tripped(name)
    if name in KILLS:
        assert KILLS[name].finding in found
        if os.environ.get("FAULTSPEC_WRITE"):
            record(name, found)
            consequences.cache_clear()
    assert found == expected(name)


#: The services whose requests may stay in the process.
APPLICATIONS = ("notebooks", "vault", "lockers", "archive", "clinic", *services.OVER_HTTP)


@pytest.mark.full
@pytest.mark.parametrize(
    "name",
    [
        *(name for name, miniature in BEHAVING.items() if miniature in APPLICATIONS),
        *sorted(first_of_each_family(name for name in KILLS if sinner(name) in APPLICATIONS)),
    ],
)
def test_a_connection_makes_no_difference(name: str) -> None:
    """Over a connection, by the clock of the wall, a sin trips what it trips within the process."""
    assert tripped(name, wired=True) == expected(name)


@pytest.mark.parametrize("turn", range(5))
def test_a_behaving_service_passes_everything(turn: int) -> None:
    """Of the behaving notebooks nothing is left unexercised but what nobody can check, in run after
    run.
    """
    result = judged("notebooks")
    left = {
        address: each.verdict
        for address, each in result.clauses.items()
        if each.verdict != "passed"
    }
    clauses = service_clauses(taxonomy("notebooks"))
    idle = {address for address, verdict in left.items() if verdict != "not_checkable"}
    assert idle == GENERATED | OF_ALL_OPERATIONS | CONFIGURED
    assert all(
        address.startswith("obligations/")
        or clauses[address].reason_not_applicable(taxonomy("notebooks"), "http") is not None
        or address
        in {
            "idempotency/mismatch",
            "idempotency/required",
            *GENERATED,
            *OF_ALL_OPERATIONS,
            *CONFIGURED,
        }
        for address in left
    )
    assert all(each.observed for each in result.coverage.values())


def test_the_vault_gives_occasion_for_what_it_is_there_for() -> None:
    """Behaving, it passes every clause that its sins prove, and all its codes are seen but the one
    whose sunset has passed.
    """
    result = judged("vault")
    proven = {kill.clause for kill in KILLS.values() if kill.miniature == "vault"}
    assert {address: result.clauses[address].verdict for address in proven} == dict.fromkeys(
        proven, "passed"
    )
    unseen = {name: each.reason for name, each in result.coverage.items() if not each.observed}
    assert unseen == {"mislaid": "its sunset on 2020-01-31 has passed"}
    assert result.coverage["mislaid"].explained


def wrap(text: str, indent: str = "") -> list[str]:
    """The lines of a paragraph of a page; ``indent`` begins all but the first."""
    return textwrap.wrap(
        text, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def document() -> str:
    """`docs/kill-matrix.md`: by clause, the sins that prove it; then what survives."""
    by_clause: dict[str, list[tuple[str, Kill]]] = {}
    for name, kill in KILLS.items():
        by_clause.setdefault(kill.clause, []).append((name, kill))
    out = [
        "# The kill matrix",
        "",
        *wrap(
            "Each clause of the suite, and the sins of small services that it catches, judged by probes"
            " alone. The notebooks of `tests/miniatures` keep the Core Platform contract. The contract of"
            " the vault has numbers for codes, the status and the layer in the body, reserved codes, and"
            " codes of one operation. The other services are those of `examples/`: Aileron and alknet over"
            " HTTP, Theodosia over MCP, KeenBench over standard streams. D1 to D22 are deviations of public"
            " implementations from their own documents. No answer shows D7, D12 and D23: they are in texts"
            " for a model, in an importer, in a log."
        ),
        "",
        *wrap(
            "A clause that no sin proves does not count. `make test` runs the first sin of each family"
            " of clauses, `make full` all of them. `FAULTSPEC_WRITE=1 python -m pytest"
            " tests/systems/test_kill_matrix.py -k document` writes this page."
        ),
        "",
    ]
    for address, clause in every_clause().items():
        out += [
            f"## `{address}`",
            "",
            *wrap(f"{clause.title}. {clause.why}"),
            "",
            "| sin | of | what it does | seen as | also trips |",
            "|---|---|---|---|---|",
        ]
        for name, kill in by_clause.get(address, ()):
            level = "warning" if kill.warning else "failure"
            also = ", ".join(
                f"`{each.removeprefix('~')}`{' (warning)' if each.startswith('~') else ''}"
                for each in consequences().get(name, ())
            )
            sentence = MINIATURES[kill.miniature].sins[name]
            if name in LAPSES and LAPSES[name].deviation:
                sentence += f" ({LAPSES[name].deviation})"
            out.append(f"| {name} | {kill.miniature} | {sentence} | {level} | {also} |")
        out.append("")
    out += ["## Survivors", "", "Sins that trip nothing, and why that is right.", ""]
    for name, reason in SURVIVORS.items():
        out += wrap(f"- {name} ({MINIATURES[sinner(name)].sins[name]}): {reason}", indent="  ")
    return "\n".join(out) + "\n"


def test_the_document_is_current() -> None:
    """`docs/kill-matrix.md` says what the matrix says; with FAULTSPEC_WRITE set it is written."""
    if os.environ.get("FAULTSPEC_WRITE"):
        DOCUMENT.write_text(document(), encoding="utf-8")
    assert DOCUMENT.read_text(encoding="utf-8") == document()
