"""Detectors of secrets and internals in texts, and the search for planted values.

A detector names the kind of a leak and shows at most a masked glimpse: no message built from a
``Leak`` repeats what leaked. Every repetition in a pattern is bounded, and a pattern is tried only
where the text contains one of its needles, so a scan takes time linear in the text.

False alarms cost more trust than missed leaks, so patterns require evidence: a frame, not the word
"at"; a driver's sentence, not the word "constraint"; a root of a file system, not any path.
"""

import base64
import html
import json
import re
import urllib.parse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from faultspec.exchange.expressions import SEARCHED
from faultspec.exchange.model import Canary
from faultspec.leaks.detectors import DETECTORS
from faultspec.leaks.evidence import callers, context
from faultspec.leaks.layers import Layer, is_dressed, undress
from faultspec.leaks.pattern import Pattern

SCANNED = 256 * 1024
"""Characters of one answer that patterns search: leaks are near its beginning or its end."""

_HEAD = SCANNED * 3 // 4
"""The part of ``SCANNED`` at the beginning of the answer."""

_WORK = 32 * 1024 * 1024
"""Characters of one text that all its patterns together search, in a few seconds. A page of an
error has the needles of some 80. Beyond 128, each searches only the beginning of a long text: that
has been written to have many. Below its encodings a quarter is enough.
"""

JOINT = "\n\x00\n"
"""Separates texts that are scanned together: no pattern matches across a line with a NUL."""

_MIN_LENGTH = 4
"""Shorter planted values occur in any sentence; they count only alone, quoted or after "tenant"."""

_MIN_ENCODED = 6
"""Shorter planted values are searched verbatim only: encoded, they would be found by chance."""

MAX_MATCHES = 20
"""Matches of one pattern that are kept: one makes a finding, more show how widespread it is."""


_LAYERS = 2
"""Encodings inside each other that are undone: JSON in a string of a body that is read as text."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A leak at ``start`` to ``end`` of the text.

    ``kind``: the detector. ``what``: the thing in words. ``glimpse``: the part that is safe to
    print. ``place``: the path or the address that the request may have sent; empty for others.
    """

    kind: str
    what: str
    glimpse: str
    start: int
    end: int
    place: str = field(default="", compare=False, repr=False)

    def is_sent(self, sent: str) -> bool:
        """Whether the text of a request has it, so that the answer may repeat it."""
        return bool(self.place) and self.place in sent


_TRACE_PARTS = frozenset({"path", "sql"})
"""Leaks that count as part of a stack trace, which is full of paths and drivers."""

_MAY_BE_OF_CALLER = frozenset({"stack-trace", "sql", "internal-name", "path"})
"""Leaks that a title of the caller's resource, or an answer about a program of theirs, contains."""

_MAY_BE_SAMPLE = frozenset({"secret", "personal-data", "email", "connection-string"})
"""Leaks of values that documentation shows, and that callers copy from there."""

_ALLOWED_IF_SENT = frozenset({"path", "private-address"})
"""Leaks that an answer may contain if the request did, such as the address of the service."""


def name_patterns(names: Iterable[str]) -> tuple[Pattern, ...]:
    """Patterns for a taxonomy's internal names: regular expressions, or literal if malformed."""
    patterns = []
    for name in names:
        try:
            re.compile(name, re.IGNORECASE)
        except re.error:
            name = re.escape(name)
        pattern = Pattern("an internal name", ("",), name, re.IGNORECASE, window=SEARCHED)
        patterns.append(pattern)
    return tuple(patterns)


def detect(
    text: str, kinds: Iterable[str], names: tuple[Pattern, ...] = (), sent: str = ""
) -> tuple[Leak, ...]:
    """The leaks of the given kinds in ``text``, by place; also inside of tags and encodings.

    ``names``: more patterns of the detector ``internal-name``. ``sent``: the text of the request,
    whose addresses and paths may come back. Paths and drivers in a stack trace are not reported.
    """
    whole, text = text, _trim(text)
    selected = frozenset(kinds)
    found = _scan(text, selected, names, sent, work=_WORK)
    layer = Layer(text)
    for _ in range(_LAYERS):
        inner = undress(layer) if is_dressed(layer.text) else None
        if inner is None:
            break
        layer = inner
        for leak in _scan(layer.text[:SCANNED], selected, names, sent, work=_WORK // 4):
            start, last = layer.source(leak.start), layer.source(leak.end - 1)
            placed = replace(leak, start=start, end=max(start, last) + 1)
            add_leak(placed, found, text)
    located = (_locate(leak, len(whole) - len(text)) for leak in found)
    return tuple(sorted(located, key=lambda leak: (leak.start, leak.kind, leak.end)))


def _scan(
    text: str, kinds: frozenset[str], names: tuple[Pattern, ...], sent: str, *, work: int
) -> list[Leak]:
    """The leaks of one layer. ``work``: the characters that its patterns together search."""
    found: list[Leak] = []
    possible = _possible_patterns(text.lower(), kinds, names)
    text = text[: work // max(1, len(possible))]
    for kind, pattern in possible:
        for match in _matches(pattern, text):
            place = _place(match) if kind in _ALLOWED_IF_SENT else ""
            if place and place in sent:
                continue
            if kind in _MAY_BE_OF_CALLER and callers.is_of_caller(match):
                continue
            if kind in _MAY_BE_SAMPLE and context.is_called_sample(match):
                continue
            start, end = match.span()
            leak = Leak(kind, pattern.what, _glimpse(match[0]), start=start, end=end, place=place)
            add_leak(leak, found, text)
    return found


def add_leak(leak: Leak, found: list[Leak], text: str) -> None:
    """Add a leak, unless it overlaps one that was found, or is a part of a stack trace that was."""
    is_part = leak.kind in _TRACE_PARTS
    if not any(
        (leak.start < other.end and other.start < leak.end)
        or (is_part and other.kind == "stack-trace" and _are_in_same_text(text, leak, other))
        for other in found
    ):
        found.append(leak)


#: Kinds of planted values that are not in the request: a text in the answer of an upstream that the
#: suite plays, and the address of that upstream.
UPSTREAM_TEXT, UPSTREAM_ADDRESS = "upstream-text", "upstream-address"

_ELSEWHERE = {
    UPSTREAM_TEXT: "text from the answer of an upstream",
    UPSTREAM_ADDRESS: "the address of an upstream",
}


def find_planted(text: str, canaries: Iterable[Canary], *, whole: bool) -> tuple[Leak, ...]:
    """The planted values in ``text``, verbatim or encoded; ``whole``: only whole tokens.

    One leak for each value, in the order of the canaries; its glimpse is empty.
    """
    lowered = fold_case(text)
    found = []
    for canary in canaries:
        at = next(_places(canary.value, text, lowered, whole), None)
        if at is not None:
            how, start, end = at
            what = _ELSEWHERE.get(canary.kind, f"the {canary.kind} of the request") + how
            found.append(Leak(canary.kind, what, "", start=start, end=end))
    return tuple(found)


def _trim(text: str) -> str:
    if len(text) <= SCANNED:
        return text
    return text[:_HEAD] + JOINT + text[_HEAD - SCANNED :]


def _place(match: re.Match[str]) -> str:
    """The path or the address in a match: its group ``place`` or ``other``, or all of it."""
    groups = match.groupdict()
    return groups.get("place") or groups.get("other") or match[0]


def _locate(leak: Leak, omitted: int) -> Leak:
    """The leak at its place in the whole text, whose middle lacks ``omitted`` characters."""
    if omitted == 0 or leak.start < _HEAD:
        return leak
    return replace(leak, start=leak.start + omitted, end=leak.end + omitted)


def _possible_patterns(
    lowered: str, kinds: frozenset[str], names: tuple[Pattern, ...]
) -> list[tuple[str, Pattern]]:
    """The patterns with a needle in the text, each with its detector, in their order."""
    needles = _needles(kinds, names)
    found = set(needles.always)
    for needle, at in needles.short:
        if needle in lowered:
            found.update(at)
    trigrams = zip(lowered, lowered[1:], lowered[2:], strict=False)
    for trigram in needles.trigrams.intersection(trigrams):
        for needle, at in needles.long[trigram]:
            if needle in lowered:
                found.update(at)
    return [needles.patterns[index] for index in sorted(found)]


_Trigram = tuple[str, str, str]

_Indexed = tuple[tuple[str, tuple[int, ...]], ...]
"""Needles, each with the numbers of its patterns."""


class _Needles(NamedTuple):
    """The patterns of some detectors, and an index of their needles.

    ``always``: patterns without a needle. ``short``: needles of one or two characters. ``long``:
    the others by one of their trigrams, if possible with a sign, that few needles share.
    ``trigrams``: those of ``long``, as a set, which looks up faster than the keys of a mapping.
    """

    patterns: tuple[tuple[str, Pattern], ...]
    always: tuple[int, ...]
    short: _Indexed
    long: Mapping[_Trigram, _Indexed]
    trigrams: frozenset[_Trigram]


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
    uses = Counter(chain.from_iterable(map(_trigrams, needles)))
    rank = {
        trigram: (_is_prose(trigram), count / (1 + sum(map(_rarity, trigram))))
        for trigram, count in uses.items()
    }
    long: dict[_Trigram, _Indexed] = {}
    for needle, at in needles.items():
        if trigrams := _trigrams(needle):
            rarest = min(trigrams, key=rank.__getitem__)
            long[rarest] = (*long.get(rarest, ()), (needle, at))
    short = tuple((needle, at) for needle, at in needles.items() if len(needle) < 3)
    return _Needles(patterns, always, short, long=long, trigrams=frozenset(long))


_BY_FREQUENCY = " etaoinsrhldcumfpgwybvkxjqz"
"""A blank and the letters, by their frequency in English texts."""


def _rarity(letter: str) -> int:
    """The place of a letter among those of English texts; signs and digits come last."""
    place = _BY_FREQUENCY.find(letter)
    return place if place >= 0 else len(_BY_FREQUENCY)


def _is_prose(trigram: _Trigram) -> bool:
    """Whether a trigram has only letters and blanks, as those of most harmless texts."""
    return "".join(trigram).replace(" ", "a").isalpha()


def _trigrams(text: str) -> list[_Trigram]:
    """Every three characters in a row."""
    return list(zip(text, text[1:], text[2:], strict=False))


def _matches(pattern: Pattern, text: str) -> Iterator[re.Match[str]]:
    kept = 0
    for match in pattern.find_all(text):
        if match[0] and (pattern.accept is None or pattern.accept(match)):
            yield match
            kept += 1
            if kept == MAX_MATCHES:
                return


def _are_in_same_text(text: str, one: Leak, two: Leak) -> bool:
    """Whether no joint separates two leaks."""
    first, last = sorted((one.start, two.start))
    return JOINT not in text[first:last]


def _glimpse(text: str) -> str:
    return f"{text[:2].strip()}… ({len(text)} characters)"


def _places(value: str, text: str, lowered: str, whole: bool) -> Iterator[tuple[str, int, int]]:
    if not value:
        return
    if len(value) < _MIN_LENGTH:
        escaped = re.escape(value)
        alone = (
            rf"(?:^|\x00\n){escaped}(?:\n\x00|$)|([\"'`]){escaped}\1"
            rf"|\btenant(?:[_ -]?id)?[\"'`]?[ :=]{{1,3}}[\"'`]?{escaped}(?!\w)"
        )
        match = re.search(alone, text, re.I)
        if match:
            yield "", match.start(), match.end()
        return
    for how, needle, fold in _forms(value):
        haystack = lowered if fold else text
        start = haystack.find(needle)
        while start >= 0:
            end = start + len(needle)
            if not whole or not (_is_in_token(haystack, start - 1) or _is_in_token(haystack, end)):
                yield how, start, end
                return
            start = haystack.find(needle, end)


def fold_case(text: str) -> str:
    """The text in lower case, every character at its place."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(
        lower if len(lower := character.lower()) == 1 else character for character in text
    )


def _is_in_token(text: str, index: int) -> bool:
    return 0 <= index < len(text) and (text[index].isalnum() or text[index] in "_-")


@lru_cache(maxsize=256)  # every exchange of a caller plants the same values
def _forms(value: str) -> tuple[tuple[str, str, bool], ...]:
    """The encoded forms of a value: encoding, encoded value, and whether case is ignored."""
    return tuple(_encoded_forms(value))


def _encoded_forms(value: str) -> Iterator[tuple[str, str, bool]]:
    yield "", fold_case(value), True
    if len(value) < _MIN_ENCODED:
        return
    escaped = {
        " (URL-encoded)": (
            urllib.parse.quote(value, safe="", errors="replace"),
            urllib.parse.quote(value, errors="replace"),
            urllib.parse.quote_plus(value, errors="replace"),
            # Read as a form
            *([value.replace("+", " ")] if any(map(str.isalnum, value)) else ()),
        ),
        " (JSON-escaped)": (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]),
        " (HTML-escaped)": (html.escape(value),),
    }
    for how, texts in escaped.items():
        for text in texts:
            if text != value:
                yield how, fold_case(text), True
    raw = value.encode(errors="replace")
    yield " (hexadecimal)", raw.hex(), True
    for shift in range(3):
        # Only base64 characters made of the value's bytes alone do not depend on what is around.
        coded = base64.b64encode(b"\x00" * shift + raw)
        stable = coded[(shift * 8 + 5) // 6 : (shift + len(raw)) * 8 // 6].decode()
        yield " (base64)", stable, False
        if "+" in stable or "/" in stable:
            yield " (base64)", stable.replace("+", "-").replace("/", "_"), False
