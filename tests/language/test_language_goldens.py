"""The diagnostics of broken taxonomies, word for word: one golden per construct.

To accept new wording, run with FAULTSPEC_WRITE=1 and review the diff.
"""

import os
import re
from pathlib import Path

import pytest

from faultspec import language
from faultspec.diagnostics import printers
from faultspec.language import read
from faultspec.language.catalog import CODES
from faultspec.language.constructs import DOCUMENT
from paths import TESTS

GOLDENS = TESTS / "goldens" / "language"
BROKEN = sorted(GOLDENS.glob("*.yaml"))

#: Top-level constructs whose goldens are called otherwise; the others are called as they are.
ELSEWHERE = {
    "faultspec": "document-version",
    "domains": "terms",
    "boundaries": "terms",
    "actions": "terms",
    "vocabularies": "terms",
    "codes": "codes-values",
    "undeclared": "unknown",
    "extends": "extensible",
}


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_broken_taxonomies_are_explained(path: Path) -> None:
    """Each mistake has file, line, column, a caret and a hint, exactly as in the golden."""
    source = path.read_text(encoding="utf-8")
    loaded = read(source, path.name)
    found = printers.text(loaded.diagnostics, {path.name: source})
    golden = path.with_suffix(".txt")
    if os.environ.get("FAULTSPEC_WRITE"):
        golden.write_text(found, encoding="utf-8")
    assert found == golden.read_text(encoding="utf-8")
    assert loaded.taxonomy is None
    assert all(each.span is not None and each.hint for each in loaded.diagnostics)


def test_every_code_has_a_golden() -> None:
    """Every diagnostic code of the language is in a golden."""
    reported = set(
        re.findall(
            r"\[([a-z-]+)\]$",
            "\n".join(path.with_suffix(".txt").read_text() for path in BROKEN),
            re.M,
        )
    )
    # These two take two files, so tests/language/test_layers.py shows them.
    assert set(CODES) - reported == {"bad-base", "not-extensible"}


def test_every_construct_has_a_golden() -> None:
    """Every section of a taxonomy has a golden of its own."""
    names = {path.stem for path in BROKEN}
    sections = {ELSEWHERE.get(name, name.replace("_", "-")) for name in DOCUMENT.keys}
    assert sections - names == set()


def test_every_reported_code_is_in_the_catalog() -> None:
    """Every code that the language reports is in the catalog."""
    written = set()
    for path in Path(language.__file__).parent.glob("*.py"):
        written |= set(
            re.findall(
                r'(?:Problem|report|_bad_base|_bad_value)\(\s*(?:[^"()]|\((?:[^()]|\([^()]*\))*\))*?"([a-z]+(?:-[a-z]+)+)"',
                path.read_text(),
            )
        )
    assert written
    assert written <= set(CODES)
