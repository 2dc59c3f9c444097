"""The first inputs of `make fuzz`, and those that once failed."""

import re

import pytest
from fuzz.targets import TARGETS, kept_inputs

from paths import ROOT

CORPUS = ROOT / "fuzz/corpus"


@pytest.mark.parametrize("name", TARGETS)
def test_no_known_input_fails(name: str) -> None:
    """The first inputs of each search, and every input that once failed, pass."""
    known = [path.read_bytes() for path in sorted((CORPUS / name).glob("*"))]
    seeds = list(TARGETS[name].seeds())
    assert seeds
    for content in (*seeds, *known):
        TARGETS[name].run(content)


@pytest.mark.full
@pytest.mark.parametrize("name", TARGETS)
def test_no_kept_input_fails(name: str) -> None:
    """Every input that reached new code in earlier fuzzing passes."""
    inputs = list(kept_inputs(name))
    assert len(inputs) > 100
    for content in inputs:
        TARGETS[name].run(content)


def test_all_targets_are_fuzzed() -> None:
    """`make fuzz` fuzzes every target."""
    listed = re.search(r"^FUZZED := (.*)$", (ROOT / "Makefile").read_text(), re.M)
    assert listed is not None
    assert set(listed[1].split()) == TARGETS.keys()
    assert {path.name for path in CORPUS.iterdir() if path.is_dir()} <= TARGETS.keys()


def test_a_broken_law_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A masking that masks nothing is noticed."""
    from faultspec_conformance.sanitize.masking import Masking

    monkeypatch.setattr(Masking, "text", lambda _, text: text)
    with pytest.raises(AssertionError):
        TARGETS["masking"].run(next(iter(TARGETS["masking"].seeds())))
