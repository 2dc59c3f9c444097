"""Conditional values answer questions; no other module takes them apart or evaluates their
rules.
"""

import ast
from collections.abc import Iterator, Mapping

import pytest

from paths import ROOT

PACKAGES = (ROOT / "compiler" / "faultspec", ROOT / "conformance" / "faultspec_conformance")
OWNER = PACKAGES[0] / "language" / "conditions.py"

READERS: Mapping[str, str] = {
    "faultspec/targets/catalog.py": "the catalogue holds the kind",
    "faultspec/targets/model.py": "custom templates print the kind",
    "faultspec/targets/python/facts.py": "the generated table of codes holds the kind",
    "faultspec/targets/typescript/__init__.py": "the generated table of codes holds the kind",
    "faultspec/evolution/rules/retries.py": "a change shows the kinds before and after",
    "faultspec/cli/explanations.py": "the explanation has a word for each kind",
}
"""The modules that print the kind of a flag, each with what it prints."""

EVALUATORS: Mapping[str, str] = {
    "faultspec/language/model.py": "statuses of a code, and the codes that a retry policy covers",
    "faultspec/lint/rules/conditions.py": "whether one test includes the values of another",
}
"""The modules that evaluate rules or tests, each with the values that it decides."""


def names_in(tree: ast.AST) -> Iterator[str]:
    """Every name by which a module can reach a member: attributes, imports, patterns, texts."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) | ast.alias(name=name) | ast.Constant(value=str(name)):
                yield name
            case ast.MatchClass(kwd_attrs=names):
                yield from names


def modules_with(*wanted: str) -> set[str]:
    """The modules outside ``language/conditions.py`` that name one of the members."""
    return {
        str(path.relative_to(package.parent))
        for package in PACKAGES
        for path in package.rglob("*.py")
        if path != OWNER and not {*wanted}.isdisjoint(names_in(ast.parse(path.read_text())))
    }


def test_only_renderers_read_the_kind_of_a_flag() -> None:
    """Outside ``language/conditions.py`` only modules that print the kind of a Retriable read
    it.
    """
    assert modules_with("flag_kind") == {*READERS}


def test_rules_have_one_evaluator() -> None:
    """Conditional rules are evaluated in ``language``; other modules ask for the decided value."""
    evaluating = modules_with("possible_outcomes", "certain_outcome", "includes")
    assert evaluating == {*EVALUATORS}


@pytest.mark.parametrize(
    "line",
    [
        "code.retriable.flag_kind == 'always'",
        "getattr(flag, 'flag_kind')",
        "match flag:\n    case Retriable(flag_kind='none'): ...",
    ],
)
def test_every_way_to_read_the_kind_is_known(line: str) -> None:
    """An attribute, a look-up by name and a pattern count as reading the kind."""
    assert "flag_kind" in set(names_in(ast.parse(line)))
