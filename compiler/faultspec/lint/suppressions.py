"""`# faultspec: ignore[rule-id] reason…` on the line of a key, or on comment lines directly above it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from faultspec.diagnostics.model import Diagnostic, Edit, Fix, Span
from faultspec.language.grammar import closest
from faultspec.source import Document

#: What this module reports, with the condition for it.
CODES: Mapping[str, str] = {
    "unknown-rule": "A comment suppresses a rule that does not exist.",
    "suppression-without-reason": "A comment suppresses a rule and does not say why, in words.",
    "unused-suppression": "A comment suppresses a rule that has nothing to say there.",
}

_COMMENT = re.compile(
    r"#[ \t]*faultspec:[ \t]*ignore(?:[ \t]*\[(?P<rules>[^\]\r\n]*)\])?[ \t]*(?P<reason>[^\r\n]*)"
)


@dataclass(frozen=True, slots=True)
class Suppression:
    """One rule silenced on one line (`target`, from 1) by a comment at `span`; `removal` takes the rule out of it."""

    rule: str
    target: int
    reason: str
    span: Span
    removal: Fix | None = None

    @property
    def says_why(self) -> bool:
        """Whether the reason has a word in it; a dot or a number is none."""
        return re.search(r"[^\W\d_]{2}", self.reason) is not None


def suppressions(document: Document) -> tuple[Suppression, ...]:
    """Those that a document writes itself, in order; a `#` inside a key or a value begins no comment."""
    text = document.text
    matches = list(_COMMENT.finditer(text))
    if not matches:
        return ()
    scalars = document.scalars()
    lines = re.split(r"\r\n|\r|\n", text)
    found = []
    for match in matches:
        if any(start <= match.start() < end for start, end in scalars):
            continue
        before = re.split(r"\r\n|\r|\n", text[: match.start()])
        number = len(before)
        span = Span(
            number, len(before[-1]) + 1, number, len(before[-1]) + 1 + len(match[0].rstrip())
        )
        target = number if before[-1].strip() else _next(lines, number)
        rules = [each.strip() for each in (match["rules"] or "").split(",")]
        for rule in rules:
            removal = (
                _shortened(match, rules, rule, span)
                if len(rules) > 1
                else _removed(lines, before[-1], span)
            )
            found.append(Suppression(rule, target, match["reason"].strip(), span, removal))
    return tuple(found)


def _shortened(match: re.Match[str], rules: list[str], rule: str, span: Span) -> Fix:
    """The comment without one of its rules."""
    left = ", ".join(each for each in rules if each != rule)
    column = span.column + match.start("rules") - match.start()
    place = Span(span.line, column, span.line, column + len(match["rules"]))
    return Fix(f"leave out `{rule}`", (Edit(place, left),))


def _removed(lines: list[str], before: str, span: Span) -> Fix | None:
    """No comment: its line where it has one, else the end of its line. None where another comment line goes on with it."""
    number, following = span.line, lines[span.line] if span.line < len(lines) else ""
    if before.strip():
        column = len(before.rstrip()) + 1
        place = Span(number, column, number, len(lines[number - 1]) + 1)
    elif number == len(lines) or (
        following.lstrip().startswith("#") and not _COMMENT.match(following.lstrip())
    ):
        return None
    else:
        place = Span(number, 1, number + 1, 1)
    return Fix("remove the comment", (Edit(place, ""),))


def _next(lines: list[str], number: int) -> int:
    """The first line after `number` with something on it besides a comment."""
    for index, line in enumerate(lines[number:], number + 1):
        if line.strip() and not line.lstrip().startswith("#"):
            return index
    return number


def apply(
    found: Iterable[Diagnostic], silenced: Iterable[Suppression], path: str, rules: tuple[str, ...]
) -> Iterator[Diagnostic]:
    """`found` without what is silenced, and what is wrong with the suppressions. `rules`: the ids that exist."""
    silenced = tuple(silenced)
    used: set[Suppression] = set()
    for diagnostic in found:
        line = diagnostic.span.line if diagnostic.span else 0
        by = [
            each
            for each in silenced
            if each.rule == diagnostic.code and each.target == line and each.says_why
        ]
        used.update(by)
        if not by:
            yield diagnostic
    for each in silenced:
        if each.rule not in rules:
            what = (
                f"there is no rule `{each.rule}`"
                if each.rule
                else "this suppresses no rule by name"
            )
            hint = (
                closest(each.rule, rules)
                or "write `# faultspec: ignore[rule-id] reason`; `faultspec explain` knows the ids"
            )
            yield Diagnostic("unknown-rule", what, path, each.span, hint=hint)
        elif not each.says_why:
            message = f"`{each.rule}` is suppressed and nothing says why, so it is not"
            yield Diagnostic(
                "suppression-without-reason",
                message,
                path,
                each.span,
                hint="write the reason after the `]`",
            )
        elif each not in used:
            message = f"`{each.rule}` has nothing to say there"
            yield Diagnostic(
                "unused-suppression",
                message,
                path,
                each.span,
                "warning",
                "remove the comment",
                fix=each.removal,
            )
