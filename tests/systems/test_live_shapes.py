"""The wire shapes as running services: behaving ones have no finding, and every sin has one."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from faultspec_conformance.results.model import exit_code
from miniatures.shapes.services import SERVICES
from miniatures.shapes.sins import SINS
from paths import ROOT
from support.live_shapes import RUNS, UNSAID, clause_of, judged, shape_of
from support.wire_shapes import FOLDER, SHAPES, taxonomy

PAGE = ROOT / "docs" / "wire-shapes.md"

LEAST = 4
"""Sins of each service."""


def selection() -> Iterator[Any]:
    """The first sin of each service always runs, the others with `make full`."""
    for name in RUNS:
        for number, sin in enumerate(SINS[name]):
            marks = [pytest.mark.full] if number else []
            yield pytest.param(name, sin, id=f"{name}-{sin}", marks=marks)


def test_every_shape_is_alive() -> None:
    """Each wire shape has a service, sins, and a row of what its taxonomy leaves open."""
    assert [*SERVICES] == [*UNSAID] == SHAPES
    assert {shape_of(name) for name in RUNS} == {*SHAPES}
    assert sorted(SINS) == sorted(RUNS)
    assert min(map(len, SINS.values())) >= LEAST


@pytest.mark.parametrize("name", RUNS)
def test_nothing_is_found_on_a_service_that_behaves(name: str) -> None:
    """No finding, not even a warning; every part ran, and every code was seen."""
    result = judged(name)
    assert [(each.finding.clause, each.finding.message) for each in result.findings] == []
    assert result.not_run == ()
    assert exit_code(result) == 0
    assert [code for code, each in result.coverage.items() if not each.observed] == []


@pytest.mark.parametrize(("name", "sin"), [*selection()])
def test_each_sin_is_caught(name: str, sin: str) -> None:
    """The clause that a mistake on the wire breaks has a finding of level error."""
    result = judged(name, SINS[name][sin].wrap(SERVICES[shape_of(name)]()))
    found = {each.finding.clause for each in result.findings if each.level == "error"}
    assert clause_of(name, sin) in found


def source(shape: str) -> str:
    """The public documentation of a shape, as its taxonomy names it."""
    lines = (FOLDER / f"{shape}.yaml").read_text(encoding="utf-8").splitlines()
    head = lines[: next(number for number, line in enumerate(lines) if line[:1] != "#")]
    return " ".join(line.removeprefix("# ") for line in head)


def lines_of(shape: str) -> int:
    """The lines of YAML of a taxonomy, without comments."""
    lines = (FOLDER / f"{shape}.yaml").read_text(encoding="utf-8").splitlines()
    return sum(not line.lstrip().startswith("#") for line in lines if line.strip())


def document() -> str:
    """`docs/wire-shapes.md`: the shapes, then what they leave open, then the sins."""
    out = [
        "# Wire shapes",
        "",
        "Errors as well-known frameworks and protocols send them. Each shape is a taxonomy in",
        "`tests/fixtures/wire_shapes` with recorded answers, and a small service in",
        "`tests/miniatures/shapes` that a conformance file judges over a connection. FastAPI, graphql-core",
        "and the MCP library are the real ones; the other services follow the source by hand.",
        "FastAPI's own handler of invalid input returns that input, and fails with a bare 500 where it cannot",
        "be encoded (half a surrogate pair, `1e999`): the service leaves it out, and the sin `echoed-input`",
        "does not.",
        "",
        "A behaving service has no finding, errors and warnings alike, and each of its codes is seen.",
        "`make test` runs the first sin of each service, `make full` all of them.",
        "`FAULTSPEC_WRITE=1 python -m pytest tests/systems/test_live_shapes.py -k page` writes this page.",
        "",
        "| shape | source | lines of YAML | codes | findings on the behaving service | sins caught of tried |",
        "|---|---|---|---|---|---|",
    ]
    for shape in SHAPES:
        sins = sum(len(SINS[name]) for name in RUNS if shape_of(name) == shape)
        codes = len(list(taxonomy(shape).located_codes()))
        out.append(
            f"| {shape} | {source(shape)} | {lines_of(shape)} | {codes} | 0 | {sins} of {sins} |"
        )
    out += [
        "",
        "## What the language cannot express",
        "",
        "| shape | what the taxonomy leaves open |",
        "|---|---|",
    ]
    out += [f"| {shape} | {' '.join(UNSAID[shape]) or 'Nothing.'} |" for shape in SHAPES]
    out += ["", "## Sins", "", "| service | sin | what it does | caught by |", "|---|---|---|---|"]
    for name in RUNS:
        for sin, each in SINS[name].items():
            out.append(f"| {name} | {sin} | {each.sentence} | `{clause_of(name, sin)}` |")
    return "\n".join(out) + "\n"


def test_the_page_is_current() -> None:
    """docs/wire-shapes.md agrees with the tests; with FAULTSPEC_WRITE set it is written."""
    if os.environ.get("FAULTSPEC_WRITE"):
        PAGE.write_text(document(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == document()
