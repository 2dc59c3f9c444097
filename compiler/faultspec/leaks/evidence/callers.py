"""Whether a match belongs to the caller, such as an error in a program of theirs."""

import re

from faultspec.leaks.evidence.context import text_after, text_before
from faultspec.leaks.pattern import Expression

# The words around a match are lists, each on one line however long.
# ruff: noqa: E501

_OWN_CODE = Expression(
    r"\b(?:(?:your|this|the (?:custom|saved|submitted|uploaded)|custom|saved) (?:\w{1,20} )?(?:script|formula|macro|snippet|expression|template|code|cell|function|notebook|flow|transformation)s?|snippet|formula|lint rule)\b[^\n.]{0,60}$",
    re.I,
)
"""Words before an error or a statement in a program that the caller wrote."""


def is_code_of_service(match: re.Match[str]) -> bool:
    """Whether it is code of the service, and not of a program that the caller wrote."""
    return not _OWN_CODE.search(text_before(match, 90))


_TITLE_BEFORE = Expression(
    r"\b(?:question|ticket|lesson|article|topic|post|issue|course|video|page|card|task|thread|title|note|book|chapter|quiz|playlist|comment|discussion|subject|song|film|workshop|talk|exam|recipe|album|survey)s? (?:called |named |titled )?(?P<quote>[\"“«‘'`])[^\"”»\n\x00]{0,100}$",
    re.I,
)

_TITLE_AFTER = Expression(r"[^\"”»'`\n\x00]{0,100}[\"”»’'`]")

_OWN_PROGRAM = Expression(
    r"\byour (?:submitted |own )?(?:program|submission|solution|script|macro|notebook|formula)\b|\byour code (?:did not|does not|failed to|could not|stopped|raised|threw|ended|crashed)\b|\bexercises?\b",
    re.I,
)

_PLACE_OF_SERVER = Expression(
    r"(?<![\w.:/])/(?:[\w.-]{1,60}/){1,20}\w|\b[A-Z]:\\|site-packages|node_modules"
)


def is_of_caller(match: re.Match[str]) -> bool:
    """Whether a match is in the title of a caller's resource, or about a program of the caller.

    A title has several words in quotes behind the noun of a resource. The text about a program
    names no file of the server.
    """
    before = match.string[max(0, match.start() - 160) : match.start()]
    title = _TITLE_BEFORE.search(before)
    if title is not None and _TITLE_AFTER.match(match.string, match.end()):
        rest = match.string[match.end() : match.end() + 40]
        if before[title.start("quote") + 1 :].strip() or re.match(r" \w", rest):
            return True
    around = match.string[max(0, match.start() - 400) : match.end() + 600]
    return _OWN_PROGRAM.search(around) is not None and not _PLACE_OF_SERVER.search(around)


def is_assignment(match: re.Match[str]) -> bool:
    """Whether a variable of the environment is the service's: its value has no placeholder."""
    value = re.match(r"[^\s\"']{0,200}", match.string[match.end() - 1 : match.end() + 200])
    return not (
        (value is not None and re.search(r"<\w{1,30}>|\.\.\.|\{\w{1,30}\}", value[0]))
        or is_yours(match)
    )


def is_yours(match: re.Match[str]) -> bool:
    """Whether the thing is one that the caller keeps with the service, such as "your queue"."""
    return bool(
        re.match(r"[\"'`)]{0,2}[^\n.]{0,40}\bof yours\b", text_after(match, 60), re.I)
        or re.search(
            r"\byou (?:named|called|created|own|chose) [^\n.]{0,40}$|\byour (?:app|service|project|site|deployment|function|container|environment|queue|topic|workspace|stack|build)\b[^\n.]{0,60}$|\byour $",
            text_before(match, 90),
            re.I,
        )
    )


def is_of_service(match: re.Match[str]) -> bool:
    """Whether the thing is not one that the caller keeps with the service."""
    return not is_yours(match)
