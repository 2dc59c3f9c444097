"""Sentences that runtimes, frameworks, databases and platforms write: the templates of
`sentences.txt`. There, a line `%% group: description` begins the templates of a description.

In a template ``{}`` is a few characters of the same line, ``{w}`` a name, ``{n}`` a number, ``{c}``
a name with a capital, ``{k}`` the name of a class. All else is literal, with upper and lower case
as written. The longest literal part is the needle.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from faultspec.leaks.pattern import Pattern

_BLANKS = {
    "{}": r"[^\n\x00]{1,80}?",
    "{w}": r"[\w.$:\\/<>`\[\]-]{1,100}",
    "{n}": r"\d{1,12}",
    "{c}": r"[A-Z]\w{0,60}(?:[.:\\]{1,2}[A-Z]\w{0,60}){0,8}",
    "{k}": r"(?:(?:[A-Z][a-z0-9]{1,30}){2,6}|\w{1,60}(?:\\{1,2}\w{1,60}){1,8})",
}
_BLANK = re.compile(r"(\{[nwck]?\})")


def _expression(template: str) -> str:
    """The regular expression of a template; a word at its edge is a whole word."""
    body = "".join(_BLANKS.get(part) or re.escape(part) for part in _BLANK.split(template))
    first = r"(?<!\w)" if re.match(r"\w", template) else ""
    last = r"(?!\w)" if re.search(r"\w$", template) else ""
    return f"{first}{body}{last}"


def _needle(template: str) -> str:
    """The longest literal part of a template."""
    if "{" not in template:
        return template
    return max((part for part in _BLANK.split(template) if part not in _BLANKS), key=len)


_TOGETHER = 12
"""Templates of one pattern: a needle in the text costs a search for as many templates."""


def _tables() -> dict[str, dict[str, list[str]]]:
    """The templates by group and description."""
    tables: dict[str, dict[str, list[str]]] = {}
    templates: list[str] = []
    text = Path(__file__).with_name("sentences.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("%% "):
            group, _, what = line.removeprefix("%% ").partition(": ")
            templates = tables.setdefault(group, {}).setdefault(what, [])
        else:
            templates.append(line)
    return tables


def _patterns(table: dict[str, list[str]]) -> Iterator[Pattern]:
    for what, templates in table.items():
        for start in range(0, len(templates), _TOGETHER):
            part = tuple(templates[start : start + _TOGETHER])
            needles = tuple(dict.fromkeys(_needle(template).lower() for template in part))
            yield Pattern(what, needles, partial(_alternatives, part), re.MULTILINE | re.ASCII)


def _alternatives(templates: tuple[str, ...]) -> str:
    """The regular expression of several templates."""
    return "|".join(map(_expression, templates))


_TABLES = _tables()

RUNTIMES = tuple(_patterns(_TABLES["runtimes"]))
"""Messages of compilers, interpreters and frameworks about a mistake in the program."""

STORES = tuple(_patterns(_TABLES["stores"]))
"""Messages of databases, caches, search engines and brokers."""

NETWORK = tuple(_patterns(_TABLES["network"]))
"""Messages of network clients about the address that they tried."""

PLATFORM = tuple(_patterns(_TABLES["platform"]))
"""Messages of orchestrators of containers."""
