"""`# faultspec: ignore[rule-id] reason` on the line of a key, or on comment lines above it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from faultspec.diagnostics.model import Diagnostic, Edit, Fix, Span
from faultspec.language.grammar import closest
from faultspec.source import Document

#: The diagnostics of this module, with their conditions.
CODES: Mapping[str, str] = {
    "unknown-rule": "A comment suppresses a rule that does not exist.",
    "suppression-without-reason": "A comment suppresses a rule without a reason in words.",
    "unused-suppression": "A comment suppresses a rule that reports nothing there.",
}

_COMMENT = re.compile(
    r"#[ \t]*faultspec:[ \t]*ignore(?:[ \t]*\[(?P<rules>[^\]\r\n]*)\])?[ \t]*(?P<reason>[^\r\n]*)"
)


@dataclass(frozen=True, slots=True)
class Suppression:
    """One rule suppressed on one line (`target`, from 1) by a comment at `span`.

    `removal` removes the rule from the comment; None if that needs a person.
    """

    rule: str
    target: int
    reason: str
    span: Span
    removal: Fix | None = None

    @property
    def has_reason(self) -> bool:
        """Whether the reason contains a word; punctuation or a number is not a reason."""
        return re.search(r"[^\W\d_]{2}", self.reason) is not None


def find(document: Document) -> tuple[Suppression, ...]:
    """The suppressions in the text of a document, in order. A `#` in a scalar begins none."""
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
        number, column = len(before), len(before[-1]) + 1
        span = Span(number, column, number, column + len(match[0].rstrip()))
        target = number if before[-1].strip() else _next_line(lines, number)
        rules = [name.strip() for name in (match["rules"] or "").split(",")]
        for rule in rules:
            if len(rules) > 1:
                removal: Fix | None = _fix_list(match, rules, rule, span)
            else:
                removal = _fix_comment(lines, before[-1], span)
            found.append(Suppression(rule, target, match["reason"].strip(), span, removal=removal))
    return tuple(found)


def _fix_list(match: re.Match[str], rules: list[str], rule: str, span: Span) -> Fix:
    """The fix that removes one of several rules from a comment."""
    left = ", ".join(name for name in rules if name != rule)
    column = span.column + match.start("rules") - match.start()
    place = Span(span.line, column, span.line, column + len(match["rules"]))
    return Fix(f"leave out `{rule}`", (Edit(place, left),))


def _fix_comment(lines: list[str], before: str, span: Span) -> Fix | None:
    """The fix that removes a comment, with its line if it has one of its own.

    None if the next line may continue the comment.
    """
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


def _next_line(lines: list[str], number: int) -> int:
    """The first line after `number` that is neither blank nor a comment."""
    for index, line in enumerate(lines[number:], number + 1):
        if line.strip() and not line.lstrip().startswith("#"):
            return index
    return number


def apply(
    found: Iterable[Diagnostic],
    suppressions: Iterable[Suppression],
    path: str,
    rules: tuple[str, ...],
) -> Iterator[Diagnostic]:
    """`found` without what is suppressed, and the faults of suppressions. `rules`: all rule ids."""
    suppressions = tuple(suppressions)
    used: set[Suppression] = set()
    for diagnostic in found:
        line = diagnostic.span.line if diagnostic.span else 0
        matching = [
            suppression
            for suppression in suppressions
            if suppression.has_reason
            and (suppression.rule, suppression.target) == (diagnostic.code, line)
        ]
        used.update(matching)
        if not matching:
            yield diagnostic
    for suppression in suppressions:
        rule, span = suppression.rule, suppression.span
        if rule not in rules:
            message = f"there is no rule `{rule}`" if rule else "the suppression names no rule"
            hint = closest(rule, rules) or (
                "write `# faultspec: ignore[rule-id] reason` with an id of `faultspec explain`"
            )
            yield Diagnostic("unknown-rule", message, path, span, hint=hint)
        elif not suppression.has_reason:
            yield Diagnostic(
                "suppression-without-reason",
                f"`{rule}` is not suppressed, because the comment has no reason",
                path,
                span,
                hint="write the reason after the `]`",
            )
        elif suppression not in used:
            yield Diagnostic(
                "unused-suppression",
                f"`{rule}` reports nothing there",
                path,
                span,
                severity="warning",
                hint="remove the comment",
                fix=suppression.removal,
            )
