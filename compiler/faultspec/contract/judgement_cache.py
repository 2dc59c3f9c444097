"""Errors that are alike are judged once: most of a recording is the same few errors with other ids, messages and dates.

Two errors are alike when they differ in nothing that a clause could tell apart but the texts that leak detectors search. So the
key of an error is all that is read of it, with one thing left out: what a string says that the taxonomy nowhere mentions. Of
such a string the key has which formats and bounds it fits and which other strings it equals. Only what is sound is remembered:
findings quote values.
"""

import re
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Exchange
from faultspec.language.model import Schema, Taxonomy
from faultspec.language.values import expression
from faultspec.runtime import ids
from faultspec.runtime.nodes import Template, walk

MOST = 4096
"""Errors that are remembered: a service has a few hundred ways to fail."""

LONGEST = 4096
"""Bytes of a body that is remembered."""

_ALIKE = 8
"""Formats, and patterns, that each string is tried against; where a taxonomy has more, nothing is gained."""

_LONG_ID = 64
"""Characters of the longest identifier there is, with room."""

_STATUS = 4
"""Digits of a string that may repeat the status."""

_COMES_BACK = 100
"""Characters of a text that is likely to come back."""

_TRUE, _FALSE = object(), object()


class Traits(NamedTuple):
    """What tells strings apart.

    ``words``: every text of the taxonomy. ``lengths``: where a bound lies. ``kept``: members whose text is compared with a
    header. ``raw``: headers whose values are read, ``alike``: those of which only the format and equality count.
    """

    words: frozenset[str]
    formats: tuple[re.Pattern[str], ...]
    patterns: tuple[re.Pattern[str], ...]
    lengths: tuple[int, ...]
    kept: frozenset[str]
    raw: frozenset[str]
    alike: frozenset[str]


@dataclass(slots=True)
class JudgementCache:
    """The judgements of sound errors by what was read of them, and texts that no leak detector finds anything in.

    ``traits`` None: no error can be remembered.
    """

    traits: Traits | None = None
    known: dict[Hashable, Judgement] = field(default_factory=dict)
    harmless: set[str] = field(default_factory=set)

    def get(self, key: Hashable | None) -> Judgement | None:
        """What was judged of an error with this key."""
        return self.known.get(key) if key is not None else None

    def put(self, key: Hashable | None, judgement: Judgement) -> None:
        """Remember a sound error."""
        if key is None or judgement.findings:
            return
        if len(self.known) >= MOST:
            self.known.clear()
        self.known[key] = judgement

    def learn(self, texts: Iterable[str]) -> None:
        """Remember texts that are harmless, such as the values of headers, which come back with every answer."""
        if len(self.harmless) >= MOST:
            self.harmless.clear()
        self.harmless.update(text for text in texts if len(text) <= _COMES_BACK)


def build_cache(taxonomy: Taxonomy) -> JudgementCache:
    """An empty memory for the errors of a taxonomy."""
    return JudgementCache(_traits(taxonomy))


def _traits(taxonomy: Taxonomy) -> Traits | None:
    codes = tuple(taxonomy.every_code())
    if any(
        isinstance(each.node, Template)
        for envelope in taxonomy.envelopes.values()
        for each in walk(envelope.shape)
    ):
        return None  # strings are taken apart
    if any(code.deadline is not None for code in codes):
        return None  # how long an answer took decides
    everything = list(_inside(taxonomy))
    schemas = [each for each in everything if isinstance(each, Schema)]
    if any(each.opaque is not None for each in schemas):
        return None  # who knows what an imported schema reads
    rules = [*taxonomy.headers, *(rule for code in codes for rule in code.headers)]
    fields = [
        field for envelope in taxonomy.envelopes.values() for field in envelope.fields.values()
    ]
    repeated = {
        name.lower() for field in fields for name in (field.echo, field.mirror) if name is not None
    }
    repeated |= {rule.name.lower() for rule in rules if rule.equals is not None}
    read = {
        rule.name.lower()
        for rule in rules
        if rule.token is not None or not set(rule.format) <= set(ids.FORMATS)
    }
    compared = {
        key.name: key.equals_header.lower()
        for key in taxonomy.detail_keys.values()
        if key.equals_header
    }
    named = {name for schema in schemas for name in schema.format} | {
        name for rule in rules for name in rule.format
    }
    formats = tuple(re.compile(ids.PATTERNS[name]) for name in ids.FORMATS if name in named)
    patterns = tuple(dict.fromkeys(each.pattern for each in schemas if each.pattern is not None))
    if repeated & read or len(formats) > _ALIKE or len(patterns) > _ALIKE:
        return None
    read |= {"content-type", "retry-after", *compared.values()}
    lengths = {each.min_length for each in schemas if each.min_length is not None}
    lengths |= {each.max_length + 1 for each in schemas if each.max_length is not None}
    return Traits(
        words=frozenset(each for each in everything if isinstance(each, str)),
        formats=formats,
        patterns=tuple(expression(pattern) for pattern in patterns),
        lengths=tuple(sorted(lengths)),
        kept=frozenset(compared),
        raw=frozenset(read),
        alike=frozenset({*repeated, *(rule.name.lower() for rule in rules)} - read),
    )


def _inside(value: object) -> Iterator[object]:
    """Every text and every schema of a model."""
    if isinstance(value, Schema | str):
        yield value
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _inside(key)
            yield from _inside(each)
    elif isinstance(value, tuple | list | frozenset | set):
        for each in value:
            yield from _inside(each)


def cache_key(
    traits: Traits | None, exchange: Exchange, surface: str, operation: str | None, body: object
) -> Hashable | None:
    """The key of an error over HTTP on a surface, with its body as JSON; None: it is judged by itself."""
    request, response = exchange.request, exchange.response
    if (
        traits is None
        or exchange.transport != "http"
        or exchange.forbidden
        or len(response.body) > LONGEST
    ):
        return None
    asked = [name.lower() for name, _ in request.headers]
    if "if-match" in asked:
        return None
    seen: dict[str, int] = {}
    told: list[Hashable] = []
    date = None
    for name, value in response.headers:
        lowered = name.lower()
        if lowered in traits.raw:
            told += (lowered, value)
            if lowered == "retry-after" and not value.isdigit():
                return None  # it may be compared with the date
        elif lowered in traits.alike:
            told += (lowered, _text(traits, value, seen))
        elif lowered == "date":
            date = lowered
    return (
        surface,
        operation,
        exchange.route,
        exchange.operation,
        request.method,
        response.status,
        exchange.identity is None,
        "authorization" in asked or "cookie" in asked,
        exchange.lacks,
        date,
        tuple(told),
        _skeleton(traits, body, seen),
    )


def _skeleton(traits: Traits, value: object, seen: dict[str, int]) -> Hashable:
    if isinstance(value, str):
        return _text(traits, value, seen)
    if isinstance(value, dict):
        parts: list[Hashable] = ["{"]
        for name, each in value.items():
            parts.append(name)
            parts.append(
                ("=", each)
                if name in traits.kept and isinstance(each, str)
                else _skeleton(traits, each, seen)
            )
        return tuple(parts)
    if isinstance(value, list):
        return ("[", *(_skeleton(traits, each, seen) for each in value))
    if isinstance(value, bool):
        return _TRUE if value else _FALSE
    # 1 and 1.0 are equal, and so are their hashes.
    return value if value is None else (type(value), value)


def _text(traits: Traits, text: str, seen: dict[str, int]) -> Hashable:
    if text in traits.words or (len(text) <= _STATUS and text.isdigit()):
        return text
    fits = (
        tuple(format_.fullmatch(text) is not None for format_ in traits.formats)
        if len(text) <= _LONG_ID and " " not in text
        else ()
    )
    return (
        seen.setdefault(text, len(seen)),
        bisect_right(traits.lengths, len(text)),
        fits,
        tuple(bool(pattern.search(text)) for pattern in traits.patterns),
    )
