"""What must not leave a service in an error: detectors of leaks, and the search for planted values.

A detector says what kind of thing it saw and shows at most a masked glimpse of it: no message built from a ``Leak`` repeats
what leaked. Every repetition in a pattern is bounded, and a pattern is tried only where one of its needles stands in the
text, so a scan is linear in the text.

A harmless text that looks like a leak costs more trust than a leak missed, so the patterns want evidence: a frame, not the
word "at"; a driver's sentence, not the word "constraint"; a root that belongs to a file system, not any path.
"""

import base64
import html
import json
import re
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from faultspec.exchange.model import Canary
from faultspec.leaks.detectors import DETECTORS, Pattern

SCANNED = 256 * 1024
"""Characters of one answer that are searched by pattern: a leak stands near the beginning of an answer or near its end."""

_HEAD = SCANNED * 3 // 4
"""Of these, those at the beginning."""

JOINT = "\n\x00\n"
"""What stands between texts that are scanned together: no pattern reaches across a line with a NUL in it."""

_BY_CHANCE = 4
"""Planted values shorter than this occur in any sentence, so they count only where they stand alone, quoted or named."""

_ENCODABLE = 6
"""Planted values shorter than this are looked for as they are only: encoded, they too would be found by chance."""

_AT_MOST = 20
"""Matches of one pattern that are kept: one is enough for a finding, more only say how widespread it is."""


@dataclass(frozen=True, slots=True)
class Leak:
    """Something that should not have left, at ``start`` to ``end`` of the text.

    ``kind`` is the detector, ``what`` the thing in words, ``glimpse`` as much of it as is safe to print.
    """

    kind: str
    what: str
    glimpse: str
    start: int
    end: int


_PARTS_OF_A_TRACE = frozenset({"path", "sql"})
"""A trace is full of paths and drivers; it is one leak, not three."""

_FORGIVEN_WHEN_SENT = frozenset({"path", "private-address"})
"""An answer may repeat the address it was asked at; it doesn't leak what the caller said."""


def name_patterns(names: Iterable[str]) -> tuple[Pattern, ...]:
    """Patterns for a taxonomy's own internal names: regular expressions, or the text itself where one is not well formed."""
    found = []
    for name in names:
        try:
            re.compile(name, re.IGNORECASE)
        except re.error:
            name = re.escape(name)
        found.append(Pattern("an internal name", ("",), name, re.IGNORECASE))
    return tuple(found)


def detect(
    text: str, kinds: Iterable[str], names: tuple[Pattern, ...] = (), sent: str = ""
) -> tuple[Leak, ...]:
    """The leaks of the given kinds in ``text``, by place.

    ``names`` widens the detector ``internal-name``. ``sent`` is what the caller sent: where it already holds an address or a
    path, the answer may repeat it. Text that holds a stack trace is not searched for paths and drivers as well.
    """
    whole, text = text, _trimmed(text)
    found: list[Leak] = []
    for kind, pattern in _possible(text.lower(), frozenset(kinds), names):
        traces = (
            [each for each in found if each.kind == "stack-trace"]
            if kind in _PARTS_OF_A_TRACE
            else []
        )
        for match in _matches(pattern, text):
            if any(match.start() < each.end and each.start < match.end() for each in found):
                continue
            if kind in _FORGIVEN_WHEN_SENT and _place(match) in sent:
                continue
            if any(_together(text, each, match) for each in traces):
                continue
            found.append(Leak(kind, pattern.what, _glimpse(match[0]), match.start(), match.end()))
    moved = (_moved(leak, len(whole) - len(text)) for leak in found)
    return tuple(sorted(moved, key=lambda leak: (leak.start, leak.kind, leak.end)))


def planted(text: str, canaries: Iterable[Canary], *, whole: bool) -> tuple[Leak, ...]:
    """The planted values that stand in ``text``, as they are or encoded; ``whole``: as a token of their own only.

    One leak a value, in the order of the canaries; it shows nothing of the value.
    """
    lowered = folded(text)
    found = []
    for canary in canaries:
        at = next(_places(canary.value, text, lowered, whole), None)
        if at is not None:
            how, start, end = at
            found.append(
                Leak(canary.kind, f"the {canary.kind} of the request{how}", "", start, end)
            )
    return tuple(found)


def _trimmed(text: str) -> str:
    if len(text) <= SCANNED:
        return text
    return text[:_HEAD] + JOINT + text[_HEAD - SCANNED :]


def _place(match: re.Match[str]) -> str:
    """The path or the address in what a pattern found: its groups ``place`` and ``other``, or all of it."""
    groups = match.groupdict()
    return groups.get("place") or groups.get("other") or match[0]


def _moved(leak: Leak, left_out: int) -> Leak:
    """The leak at its place in the whole text, of whose middle so many characters were left out."""
    if left_out == 0 or leak.start < _HEAD:
        return leak
    return replace(leak, start=leak.start + left_out, end=leak.end + left_out)


def _possible(
    lowered: str, kinds: frozenset[str], names: tuple[Pattern, ...]
) -> list[tuple[str, Pattern]]:
    """The patterns of which a needle stands in the text, each with its detector, in the order of the detectors."""
    patterns, always, search, beginnings = _needles(kinds, names)
    begun: set[str] = set()
    match = search(lowered)
    while match is not None:
        begun.add(match[0])
        match = search(lowered, match.start() + 1)
    found = set(always)
    for beginning in begun:
        for needle, at in beginnings[beginning]:
            if needle in lowered:
                found.update(at)
    return [patterns[index] for index in sorted(found)]


class _Needles(NamedTuple):
    """The patterns of some detectors, and how their needles are found.

    ``always``: patterns without a needle. ``search`` finds the next needle that no shorter one begins; ``beginnings`` has all
    that begin with it, each with the patterns that it belongs to.
    """

    patterns: tuple[tuple[str, Pattern], ...]
    always: tuple[int, ...]
    search: Callable[..., re.Match[str] | None]
    beginnings: Mapping[str, tuple[tuple[str, tuple[int, ...]], ...]]


@lru_cache(maxsize=32)  # as many as there are taxonomies in one run, with room for tests
def _needles(kinds: frozenset[str], names: tuple[Pattern, ...]) -> _Needles:
    patterns = tuple(
        (kind, pattern)
        for kind, own in DETECTORS.items()
        if kind in kinds
        for pattern in (*own, *(names if kind == "internal-name" else ()))
    )
    needles: dict[str, tuple[int, ...]] = {}
    for index, (_, pattern) in enumerate(patterns):
        for needle in pattern.needles:
            needles[needle] = (*needles.get(needle, ()), index)
    always = needles.pop("", ())
    beginnings: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
    for needle in sorted(needles):  # what begins another comes before it
        first = next(
            (needle[:end] for end in range(1, len(needle)) if needle[:end] in beginnings), needle
        )
        beginnings.setdefault(first, []).append((needle, needles[needle]))
    search = re.compile(_branches(sorted(beginnings)) or r"(?!)").search
    return _Needles(
        patterns, always, search, {each: tuple(found) for each, found in beginnings.items()}
    )


def _branches(words: list[str]) -> str:
    """A regular expression of the words that tells them apart letter by letter; none begins another."""
    if len(words) <= 1:
        return re.escape("".join(words))
    rests: dict[str, list[str]] = {}
    for word in words:
        rests.setdefault(word[0], []).append(word[1:])
    return f"(?:{'|'.join(re.escape(letter) + _branches(rest) for letter, rest in rests.items())})"


def _matches(pattern: Pattern, text: str) -> Iterator[re.Match[str]]:
    kept = 0
    for match in pattern.regex.finditer(text):
        if match[0] and (pattern.accept is None or pattern.accept(match)):
            yield match
            kept += 1
            if kept == _AT_MOST:
                return


def _together(text: str, leak: Leak, match: re.Match[str]) -> bool:
    first, last = sorted((leak.start, match.start()))
    return JOINT not in text[first:last]


def _glimpse(text: str) -> str:
    return f"{text[:2].strip()}… ({len(text)} characters)"


def _places(value: str, text: str, lowered: str, whole: bool) -> Iterator[tuple[str, int, int]]:
    if not value:
        return
    if len(value) < _BY_CHANCE:
        escaped = re.escape(value)
        alone = rf"(?:^|\x00\n){escaped}(?:\n\x00|$)|([\"'`]){escaped}\1|\btenant(?:[_ -]?id)?[\"'`]?[ :=]{{1,3}}[\"'`]?{escaped}(?!\w)"
        match = re.search(alone, text, re.I)
        if match:
            yield "", match.start(), match.end()
        return
    for how, needle, fold in _forms(value):
        haystack = lowered if fold else text
        start = haystack.find(needle)
        while start >= 0:
            end = start + len(needle)
            if not whole or not (_in_token(haystack, start - 1) or _in_token(haystack, end)):
                yield how, start, end
                return
            start = haystack.find(needle, end)


def folded(text: str) -> str:
    """The text without regard to case, every character at its place."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(
        lower if len(lower := character.lower()) == 1 else character for character in text
    )


def _in_token(text: str, index: int) -> bool:
    return 0 <= index < len(text) and (text[index].isalnum() or text[index] in "_-")


@lru_cache(maxsize=256)  # a caller's own values come back with every exchange of his
def _forms(value: str) -> tuple[tuple[str, str, bool], ...]:
    """How a value may stand in a text: in words, the text, and whether case is ignored."""
    return tuple(_encoded(value))


def _encoded(value: str) -> Iterator[tuple[str, str, bool]]:
    yield "", folded(value), True
    if len(value) < _ENCODABLE:
        return
    escaped = {
        " (URL-encoded)": (
            urllib.parse.quote(value, safe="", errors="replace"),
            urllib.parse.quote(value, errors="replace"),
            urllib.parse.quote_plus(value, errors="replace"),
        ),
        " (JSON-escaped)": (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]),
        " (HTML-escaped)": (html.escape(value),),
    }
    for how, texts in escaped.items():
        for text in texts:
            if text != value:
                yield how, folded(text), True
    raw = value.encode(errors="replace")
    yield " (hexadecimal)", raw.hex(), True
    for shift in range(3):
        # Of base64 only the characters made of the value's own bytes are the same whatever stands around it.
        coded = base64.b64encode(b"\x00" * shift + raw)
        stable = coded[(shift * 8 + 5) // 6 : (shift + len(raw)) * 8 // 6].decode()
        yield " (base64)", stable, False
        if "+" in stable or "/" in stable:
            yield " (base64)", stable.replace("+", "-").replace("/", "_"), False
