"""Expressions that search texts of others take time in proportion to the text."""

import ast
import importlib
import re
import signal
from collections.abc import Iterator
from types import FrameType

import pytest

from paths import ROOT

SEARCHES = frozenset({"search", "sub", "subn", "finditer", "findall", "split"})

LENGTH = 40_000
#: Runs of one character, and of what pairs up in the texts that are searched.
TEXTS = [
    *(character * LENGTH for character in 'xX1 /"=\\{.-_,;<&%(:@\n\u00e9'),
    *(pair * (LENGTH // 2) for pair in ("a1", "a.", "x ", "/x", "x=", "a-", "x:")),
    *(part * (LENGTH // 8) for part in ('"x":', "%41", "\\u0041", "<a>", "{a}", "&#x41;")),
]

#: Seconds. A text of this length takes milliseconds in proportion, and tens of seconds in square.
GUARD = 2.0

#: What is searched is short: an argument of the command line; the output of our own process.
SHORT = frozenset(
    {"faultspec.cli.secrets._SUSPECT", "faultspec_conformance.run.generation._TROUBLE"}
)


def searching_patterns() -> Iterator[tuple[str, re.Pattern[str] | re.Pattern[bytes]]]:
    """Yield the expressions of modules with which something is searched, each with its name."""
    for folder in ("compiler", "conformance"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            names = {
                node.value.id
                for node in ast.walk(tree)
                if isinstance(node, ast.Attribute)
                and node.attr in SEARCHES
                and isinstance(node.value, ast.Name)
                and node.value.id.isupper()
            }
            if not names:
                continue
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            name = ".".join(part for part in parts if part != "__init__")
            module = importlib.import_module(name)
            for each in sorted(names):
                found = getattr(module, each, None)
                if type(found) is re.Pattern:
                    yield f"{name}.{each}", found


PATTERNS = {name: pattern for name, pattern in searching_patterns() if name not in SHORT}


class TookTooLong(Exception):
    """A search did not end in time."""


def interrupt(number: int, frame: FrameType | None) -> None:
    """End a search."""
    raise TookTooLong


def slow_texts(pattern: re.Pattern[str] | re.Pattern[bytes]) -> Iterator[str]:
    """Yield the beginnings of texts in which a search does not end in time."""
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for text in TEXTS:
            signal.setitimer(signal.ITIMER_REAL, GUARD)
            try:
                searched = text if isinstance(pattern.pattern, str) else text.encode()
                for _ in pattern.finditer(searched):  # type: ignore[arg-type]
                    pass
            except TookTooLong:
                yield text[:8]
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", PATTERNS)
def test_a_search_takes_time_in_proportion(name: str) -> None:
    """No expression that searches a text begins anew at each character of a long run."""
    assert list(slow_texts(PATTERNS[name])) == []


def test_the_check_sees_what_it_forbids() -> None:
    """A look ahead from each character of a run is found."""
    assert list(slow_texts(re.compile(r"(?=[a-z]*\d)[a-z0-9]{8,}"))) == ["xxxxxxxx"]
