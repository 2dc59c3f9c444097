"""Every law draws more examples in `make search` than in `make test`."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from paths import TESTS

#: The modules that set the number of examples of each profile.
OWNERS = {TESTS / "conftest.py", TESTS / "support" / "examples.py"}

FILES = [path for path in sorted(TESTS.rglob("*.py")) if path not in OWNERS]


def fixed_numbers(source: str) -> Iterator[int]:
    """Yield the lines on which a test sets `max_examples` itself."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            yield from (node.lineno for word in node.keywords if word.arg == "max_examples")


@pytest.mark.parametrize("folder", sorted({path.parent for path in FILES}), ids=lambda p: p.name)
def test_no_law_has_a_fixed_number_of_examples(folder: Path) -> None:
    """A law takes its examples from `support.examples.examples`, which the profile of a search
    widens.
    """
    found = [
        f"{path}:{line}"
        for path in FILES
        if path.parent == folder
        for line in fixed_numbers(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_the_check_sees_what_it_forbids() -> None:
    """A planted literal is found, with or without other settings."""
    assert [*fixed_numbers("@settings(FAST, max_examples=25)\ndef test(): pass")] == [1]
    assert [*fixed_numbers("@examples(25, steady=5)\ndef test(): pass")] == []
