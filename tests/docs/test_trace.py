"""The trace: no statement of the five documents is missing, and each has constructs and clauses or
reasons.
"""

import copy
import re
from functools import cache
from typing import Any

import pytest
import yaml

from faultspec.contract.clauses import CLAUSES, client_clauses, service_clauses
from faultspec.docs.trace import UNJUDGED, StatementTrace, find_changed_targets, page, trace
from faultspec.language import LoadedTaxonomy, load, read
from faultspec.language.constructs import DOCUMENT
from faultspec.render import render
from faultspec.targets import default_targets
from paths import ROOT

#: Each taxonomy with the ids of the statements of its document.
DOCUMENTS = {
    "taxonomy.yaml": tuple(f"C{n}" for n in range(1, 38)),
    "examples/aileron/taxonomy.yaml": tuple(f"A{n}" for n in range(1, 37)),
    "examples/alknet/taxonomy.yaml": tuple(f"K{n}" for n in range(1, 25)),
    "examples/theodosia/taxonomy.yaml": tuple(f"T{n}" for n in range(1, 16)),
    "examples/keenbench/taxonomy.yaml": tuple(f"B{n}" for n in range(1, 15)),
}


@cache
def loaded(path: str) -> LoadedTaxonomy:
    """A taxonomy, read once."""
    return load(str(ROOT / path))


@cache
def held(path: str) -> tuple[StatementTrace, ...]:
    """Its trace."""
    each = loaded(path)
    assert each.taxonomy is not None
    assert each.document is not None
    return trace(each.taxonomy, each.document.data)


@cache
def tree(path: str) -> dict[str, str]:
    """The files generated from it."""
    taxonomy = loaded(path).taxonomy
    assert taxonomy is not None
    return dict(render(taxonomy, default_targets().values(), path))


@pytest.mark.parametrize("path", DOCUMENTS)
def test_every_statement_of_the_document_is_traced(path: str) -> None:
    """Each statement is traced once, in the order of the document, and nothing else is."""
    assert [each.statement for each in held(path)] == list(DOCUMENTS[path])


@pytest.mark.parametrize("path", DOCUMENTS)
def test_every_statement_has_constructs_and_clauses_or_reasons(path: str) -> None:
    """Each statement has existing constructs, and either existing clauses or a reason for having
    none.
    """
    each = loaded(path)
    assert each.taxonomy is not None
    assert each.document is not None
    clauses = {**service_clauses(each.taxonomy), **client_clauses(each.taxonomy)}
    for statement in held(path):
        assert statement.constructs, statement
        assert statement.clauses or statement.reasons, statement
        assert set(statement.clauses) <= set(clauses)
        for construct in statement.constructs:
            assert stands(each.document.data, construct) is not None, construct


def stands(data: Any, path: tuple[str, ...]) -> Any:
    """The value at a path of the document."""
    for step in path:
        data = data[int(step)] if isinstance(data, list) else data[step]
    return data


#: Constructs to which nothing refers, and the targets whose files contain them.
ALONE = {
    ("taxonomy.yaml", "obligations.sdk"): {"markdown"},
    ("taxonomy.yaml", "headers.Cache-Control"): {
        *("python", "typescript", "openapi", "markdown", "overlay"),
    },
    ("taxonomy.yaml", "surfaces.events"): {"surfaces", "markdown"},
    ("taxonomy.yaml", "privacy"): {"markdown"},
    ("examples/aileron/taxonomy.yaml", "envelopes.failure.fields.retriable"): {"markdown"},
    ("examples/aileron/taxonomy.yaml", "renderings.tool_message"): {
        "python",
        "typescript",
        "markdown",
    },
    ("examples/theodosia/taxonomy.yaml", "navigation"): {"markdown"},
}


@pytest.mark.parametrize(("path", "construct"), ALONE)
def test_a_target_is_named_if_its_files_change_without_the_construct(
    path: str, construct: str
) -> None:
    """A target is named for a construct if and only if its files change without the construct."""
    document = loaded(path).document
    assert document is not None
    rest = copy.deepcopy(document.data)
    *above, last = construct.split(".")
    del stands(rest, tuple(above))[last]
    after = read(yaml.safe_dump(rest, sort_keys=False, allow_unicode=True), path).taxonomy
    assert after is not None
    less = render(after, default_targets().values(), path)
    changes = {
        name.partition("/")[0]
        for name in tree(path).keys() | less.keys()
        if tree(path).get(name) != less.get(name)
    }
    assert (
        find_changed_targets(document.data, tuple(construct.split(".")))
        == changes
        == ALONE[path, construct]
    )


def test_a_construct_is_removed_with_everything_that_refers_to_it() -> None:
    """A domain is removed with the references of codes to it; of the only envelope the parts are
    removed in turn.
    """
    document = loaded("taxonomy.yaml").document
    assert document is not None
    assert find_changed_targets(document.data, ("domains", "request")) == {
        "python",
        "typescript",
        "markdown",
    }
    assert {"python", "typescript", "jsonschema", "openapi", "markdown"} <= find_changed_targets(
        document.data, ("envelopes", "error")
    )


@pytest.mark.parametrize("path", DOCUMENTS)
def test_a_reason_stands_for_parts_without_a_clause(path: str) -> None:
    """A statement has no reason for parts that a clause checks."""
    for statement in held(path):
        families = {each.partition("/")[0] for each in statement.clauses}
        for reason, watched in UNJUDGED.values():
            assert reason not in statement.reasons or families.isdisjoint(watched), statement


def test_every_reason_is_of_a_section() -> None:
    """Every reason belongs to an existing section, and names existing families of clauses."""
    families = {each.partition("/")[0] for each in CLAUSES}
    assert set(UNJUDGED) <= set(DOCUMENT.keys)
    assert {family for _, watched in UNJUDGED.values() for family in watched} <= families


#: Taxonomies that take longer than the others together.
LARGE = ("taxonomy.yaml", "examples/aileron/taxonomy.yaml", "examples/keenbench/taxonomy.yaml")


@pytest.mark.parametrize(
    "path",
    [pytest.param(each, marks=pytest.mark.full if each in LARGE else ()) for each in DOCUMENTS],
)
def test_the_page_is_current(path: str) -> None:
    """`docs/trace.md` is what `make docs` writes."""
    head, *sections = page([(path, loaded(path))]).split("\n## ")
    text = (ROOT / "docs/trace.md").read_text(encoding="utf-8")
    assert text.startswith(head)
    assert [each.rstrip("\n") for each in sections] == [
        each.rstrip("\n") for each in text.split("\n## ") if f"[{path}]" in each
    ]


def test_the_page_has_a_row_for_every_statement() -> None:
    """The page has each statement once, in the order of the documents."""
    text = (ROOT / "docs/trace.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([A-Z]\d+) \|", text, re.M)
    assert rows == [each for statements in DOCUMENTS.values() for each in statements]
