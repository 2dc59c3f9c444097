"""The trace: no statement of the five documents is missing, and none points at nothing."""

import re
from functools import cache
from pathlib import Path

import pytest

from faultspec.clauses import clauses_of, clauses_of_clients
from faultspec.language import Loaded, load
from faultspec.language.constructs import DOCUMENT
from faultspec.render import render
from faultspec.targets import SHIPPED
from faultspec.trace import GENERATED, UNJUDGED, Held, page, trace

ROOT = Path(__file__).resolve().parents[1]

#: Each taxonomy with the ids of the statements of its document.
DOCUMENTS = {
    "taxonomy.yaml": tuple(f"C{n}" for n in range(1, 38)),
    "examples/aileron/taxonomy.yaml": tuple(f"A{n}" for n in range(1, 37)),
    "examples/alknet/taxonomy.yaml": tuple(f"K{n}" for n in range(1, 25)),
    "examples/theodosia/taxonomy.yaml": tuple(f"T{n}" for n in range(1, 16)),
    "examples/keenbench/taxonomy.yaml": tuple(f"B{n}" for n in range(1, 15)),
}


@cache
def loaded(path: str) -> Loaded:
    """A taxonomy, read once."""
    return load(str(ROOT / path))


@cache
def held(path: str) -> tuple[Held, ...]:
    """Its trace."""
    each = loaded(path)
    assert each.taxonomy is not None
    assert each.document is not None
    return trace(each.taxonomy, each.document.data, {name.partition("/")[0] for name in tree(path)})


@cache
def tree(path: str) -> dict[str, str]:
    """Everything that is generated from it."""
    taxonomy = loaded(path).taxonomy
    assert taxonomy is not None
    return dict(render(taxonomy, SHIPPED.values(), path))


@pytest.mark.parametrize("path", DOCUMENTS)
def test_every_statement_of_the_document_is_traced(path: str) -> None:
    """Each statement is there once, in the order of the document, and nothing else is."""
    assert [each.statement for each in held(path)] == list(DOCUMENTS[path])


@pytest.mark.parametrize("path", DOCUMENTS)
def test_no_statement_points_at_nothing(path: str) -> None:
    """Each is carried by a construct that is there, and is checked by a clause that is there, or says why it cannot be."""
    each = loaded(path)
    assert each.taxonomy is not None
    assert each.document is not None
    clauses = {**clauses_of(each.taxonomy), **clauses_of_clients(each.taxonomy)}
    for statement in held(path):
        assert statement.constructs, statement
        assert statement.clauses or statement.reasons, statement
        assert set(statement.clauses) <= set(clauses)
        for address in statement.constructs:
            assert exists(each.document.data, address), address


def exists(data: object, address: str) -> bool:
    """Whether the address, whose steps may hold dots themselves, leads anywhere in the document."""
    if not address:
        return True
    if isinstance(data, list):
        index, _, rest = address.partition(".")
        return index.isdigit() and int(index) < len(data) and exists(data[int(index)], rest)
    if not isinstance(data, dict):
        return False
    return any(
        (address == key or address.startswith(f"{key}.")) and exists(each, address[len(key) + 1 :])
        for key, each in data.items()
    )


@pytest.mark.parametrize("path", DOCUMENTS)
def test_what_is_said_to_be_generated_is_there(path: str) -> None:
    """A target that is named for a statement has files of the taxonomy."""
    for statement in held(path):
        for target in statement.generated:
            files = [text for name, text in tree(path).items() if name.startswith(f"{target}/")]
            assert files, (statement.statement, target)


def test_every_section_says_what_becomes_of_it() -> None:
    """A section that can cite a statement names targets that there are, and why it isn't judged if no clause reads it."""
    header = {"faultspec", "taxonomy", "extends", "extensible"}
    assert set(GENERATED) == set(DOCUMENT.keys) - header
    assert {each for targets in GENERATED.values() for each in targets} <= set(SHIPPED)
    assert set(UNJUDGED) <= set(GENERATED)


def test_the_page_is_current() -> None:
    """`docs/trace.md` says what the taxonomies say today (`make docs`)."""
    text = page((path, loaded(path)) for path in DOCUMENTS)
    assert (ROOT / "docs/trace.md").read_text(encoding="utf-8") == text
    rows = re.findall(r"^\| ([A-Z]\d+) \|", text, re.M)
    assert rows == [each for statements in DOCUMENTS.values() for each in statements]
