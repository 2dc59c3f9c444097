"""Lint rules of other packages. A package offers them as an entry point of the group
`faultspec.lint`: a module, or a list of rules.

Nothing is imported unless the project file names it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import NamedTuple

from faultspec.diagnostics.model import Diagnostic
from faultspec.language.grammar import closest
from faultspec.lint.rule import LintRule, Remark, Subject
from faultspec.lint.rules import BY_ID
from faultspec.source import Document

#: The group of entry points.
GROUP = "faultspec.lint"


class Extensions(NamedTuple):
    """The rules of other packages, and why some could not be had."""

    rules: tuple[LintRule, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def load_rules(names: Sequence[str], document: Document) -> Extensions:
    """Import the rules of entry points. ``document``: the project file, which lists ``names``."""
    installed = {point.name: point for point in entry_points(group=GROUP)}
    rules: dict[str, LintRule] = {}
    problems = []
    for index, name in enumerate(names):
        point = installed.get(name)
        found = _no_package(name, tuple(installed)) if point is None else _import_rules(point)
        if isinstance(found, _Problem):
            problems.append((index, found))
            continue
        for rule in found:
            if rule.id in BY_ID or rule.id in rules:
                hint = "a rule of a package has an id of its own, such as `acme-no-teapot`"
                problems.append((index, _Problem(f"`{name}` has a second rule `{rule.id}`", hint)))
            else:
                rules[rule.id] = _guard(rule, name)
    diagnostics = tuple(
        document.diagnostic(
            "unusable-rules", problem.message, ("rules", index), key=False, hint=problem.hint
        )
        for index, problem in problems
    )
    return Extensions(tuple(rules.values()), diagnostics)


class _Problem(NamedTuple):
    message: str
    hint: str


def _no_package(name: str, installed: tuple[str, ...]) -> _Problem:
    known = f"installed are {', '.join(sorted(installed))}" if installed else "none is installed"
    hint = closest(name, installed) or f"install its package; {known}"
    return _Problem(f"no installed package has an entry point `{name}` of `{GROUP}`", hint)


def _import_rules(point: EntryPoint) -> tuple[LintRule, ...] | _Problem:
    try:
        loaded = point.load()
        members = vars(loaded).values() if isinstance(loaded, ModuleType) else tuple(loaded)
        rules = tuple(member for member in members if isinstance(member, LintRule))
    except Exception as error:  # the code of others may raise anything
        message = f"`{point.value}` cannot be imported: {type(error).__name__}: {error}"
        return _Problem(message, "repair the package, or take it out of `rules`")
    if not rules:
        hint = "its rules are functions under `@faultspec.lint.rule.rule(…)`"
        return _Problem(f"`{point.value}` has no lint rule", hint)
    return rules


def _guard(rule: LintRule, name: str) -> LintRule:
    """The rule, whose exceptions are remarks."""

    def check(subject: Subject) -> Iterator[Remark]:
        try:
            for remark in rule.check(subject):
                if not isinstance(remark, Remark):
                    raise TypeError(f"a rule yields remarks, not {type(remark).__name__}")
                yield remark
        except Exception as error:  # the code of others may raise anything
            message = f"the rule raised {type(error).__name__}: {error}"
            yield Remark((), message, f"this is a fault of the rules of `{name}`")

    return replace(rule, check=check)
