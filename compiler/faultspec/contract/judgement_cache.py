"""A cache of judgements: most of a recording is a few errors with other ids, messages and dates.

Two errors share a judgement if every clause, leak detectors aside, must judge them alike. The key
of an error is all that clauses read of it, except strings that the taxonomy does not mention. Of
such a string the key holds the formats and bounds it fits, and the other strings it equals.

Only errors without findings are cached, because findings quote values.
"""

import re
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from faultspec.contract.keys import carried_key
from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Exchange
from faultspec.language.formats import FIELDS, FORMATS, Format
from faultspec.language.model import HeaderRule, Schema, Taxonomy
from faultspec.language.values import matches_pattern
from faultspec.leaks.known_lines import KnownLines
from faultspec.runtime import ids
from faultspec.runtime.keys import KeyPlace
from faultspec.runtime.nodes import Template, lists_errors, slot_places, walk
from faultspec.runtime.places import SlotPlace

MAX_ENTRIES = 4096
"""Errors, and texts, that are cached: a service has a few hundred ways to fail."""

MAX_BODY = 4096
"""Bytes of the longest body that is cached."""

_MAX_FORMATS = 8
"""Formats, and patterns, that each string is tried against. With more, the cache gains nothing."""

_MAX_ID = 64
"""Characters of the longest identifier, with room."""

_MAX_STATUS = 4
"""Digits of a string that may repeat the status."""

_MAX_TEXT = 100
"""Characters of the longest text that is likely to come back."""

_FIXDATE, _DAY = 29, 16
"""Characters of an IMF-fixdate and of the day in it (RFC 9110 section 5.6.7)."""

_TRUE, _FALSE = object(), object()  # 1 and True are equal, so True needs a key of its own


class Traits(NamedTuple):
    """The properties of strings that clauses of a taxonomy can distinguish.

    ``words``: every text of the taxonomy. ``formats``: the expressions of identifiers;
    ``other_formats``: the formats of schemas that are not identifiers. ``lengths``: the bounds on
    lengths. ``kept``: members whose text is compared with a header. ``raw``: headers whose values
    are parsed. ``opaque``: headers of which only format and equality count. ``dated``: the day of
    an answer decides. ``keys``: the places of idempotency keys in requests.
    """

    words: frozenset[str]
    formats: tuple[re.Pattern[str], ...]
    other_formats: tuple[Format, ...]
    patterns: tuple[str, ...]
    lengths: tuple[int, ...]
    kept: frozenset[str]
    raw: frozenset[str]
    opaque: frozenset[str]
    dated: bool
    keys: tuple[KeyPlace, ...]


@dataclass(slots=True)
class JudgementCache:
    """The memory of judging between exchanges.

    ``traits`` None: judgements are not cached. ``judgements``: those of sound errors, by
    ``cache_key``. ``harmless``: texts in which no leak detector finds anything. ``header_rules``:
    by code, status and surface, the rules of ``Contract.headers``. ``known_lines``: of the pages of
    one run; None where each text is judged as if it were the first.
    """

    traits: Traits | None = None
    judgements: dict[Hashable, Judgement] = field(default_factory=dict)
    harmless: set[str] = field(default_factory=set)
    known_lines: KnownLines | None = None
    header_rules: dict[tuple[str | None, int, str | None], dict[str, tuple[HeaderRule, ...]]] = (
        field(default_factory=dict)
    )

    def get(self, key: Hashable | None) -> Judgement | None:
        """The judgement of an error with this key, if it is cached."""
        return self.judgements.get(key) if key is not None else None

    def put(self, key: Hashable | None, judgement: Judgement) -> None:
        """Cache the judgement of an error, unless it has findings."""
        if key is None or judgement.findings:
            return
        if len(self.judgements) >= MAX_ENTRIES:
            self.judgements.clear()
        self.judgements[key] = judgement

    def add_harmless(self, texts: Iterable[str]) -> None:
        """Cache short harmless texts, such as values of headers, which every answer repeats."""
        if len(self.harmless) >= MAX_ENTRIES:
            self.harmless.clear()
        self.harmless.update(text for text in texts if len(text) <= _MAX_TEXT)


def build_cache(taxonomy: Taxonomy) -> JudgementCache:
    """An empty cache for the errors of a taxonomy."""
    return JudgementCache(_traits(taxonomy))


def _traits(taxonomy: Taxonomy) -> Traits | None:
    """The traits of a taxonomy; None where clauses read more than ``cache_key`` holds."""
    parts = list(_texts_and_schemas(taxonomy))
    schemas = [part for part in parts if isinstance(part, Schema)]
    headers = _header_traits(taxonomy)
    of_schemas = {name for schema in schemas for name in schema.format}
    named = of_schemas | {name for rule in headers.rules for name in rule.format}
    formats = tuple(re.compile(ids.PATTERNS[name]) for name in ids.FORMATS if name in named)
    others = tuple(
        format_
        for name, format_ in FORMATS.items()
        if name in of_schemas and name not in ids.FORMATS
    )
    patterns = {schema.pattern: None for schema in schemas if schema.pattern is not None}
    if (
        _takes_strings_apart(taxonomy)
        # The time that an answer took decides.
        or any(code.deadline is not None for code in taxonomy.every_code())
        # A message is compared with those of other languages.
        or any(code.messages for code in taxonomy.every_code())
        # An imported schema may read anything.
        or any(schema.opaque is not None for schema in schemas)
        # Each error of a list may have a status of its own, as a text.
        or _lists_statuses(taxonomy)
        or headers.repeated & headers.parsed
        or max(len(formats), len(others), len(patterns)) > _MAX_FORMATS
    ):
        return None
    compared = {
        key.name: key.equals_header.lower()
        for key in taxonomy.detail_keys.values()
        if key.equals_header
    }
    raw = headers.parsed | {"content-type", "retry-after", *compared.values()}
    lengths = {schema.min_length for schema in schemas if schema.min_length is not None}
    lengths |= {schema.max_length + 1 for schema in schemas if schema.max_length is not None}
    return Traits(
        words=frozenset(part for part in parts if isinstance(part, str)),
        formats=formats,
        other_formats=others,
        patterns=tuple(patterns),
        lengths=tuple(sorted(lengths)),
        kept=frozenset(compared),
        raw=raw,
        opaque=(headers.repeated | {rule.name.lower() for rule in headers.rules}) - raw,
        dated=any(code.sunset is not None for code in taxonomy.every_code()),
        keys=taxonomy.key_places,
    )


def _takes_strings_apart(taxonomy: Taxonomy) -> bool:
    """Whether an envelope has slots inside a string."""
    return any(
        isinstance(place.node, Template)
        for envelope in taxonomy.envelopes.values()
        for place in walk(envelope.shape)
    )


def _lists_statuses(taxonomy: Taxonomy) -> bool:
    """Whether an envelope has the status in the items of a list."""
    return any(
        lists_errors(place.node) and "status" in slot_places(place.node)
        for envelope in taxonomy.envelopes.values()
        for place in walk(envelope.shape)
    )


class _HeaderTraits(NamedTuple):
    """``repeated``: headers that must equal a slot. ``parsed``: headers whose value is parsed."""

    rules: tuple[HeaderRule, ...]
    repeated: frozenset[str]
    parsed: frozenset[str]


def _header_traits(taxonomy: Taxonomy) -> _HeaderTraits:
    rules = tuple(taxonomy.every_header_rule())
    named = (name for field in taxonomy.fields() for name in (field.echo, field.mirror) if name)
    equal = (rule.name for rule in rules if rule.equals is not None)
    parsed = (rule.name for rule in rules if rule.token or not set(rule.format) <= set(ids.FORMATS))
    profiled = FIELDS if taxonomy.profile is not None else ()
    return _HeaderTraits(
        rules,
        repeated=frozenset(name.lower() for name in (*named, *equal)),
        parsed=frozenset(
            name.lower()
            for name in (*parsed, *profiled, *(place.at for place in _header_places(taxonomy)))
        ),
    )


def _header_places(taxonomy: Taxonomy) -> Iterator[SlotPlace]:
    """The places of slots in headers."""
    for field_ in taxonomy.fields():
        yield from (place for place in field_.places if place.kind == "header")


def _texts_and_schemas(value: object) -> Iterator[object]:
    """Every text and every schema of a model."""
    if isinstance(value, Schema | str):
        yield value
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield from _texts_and_schemas(key)
            yield from _texts_and_schemas(member)
    elif isinstance(value, tuple | list | frozenset | set):
        for item in value:
            yield from _texts_and_schemas(item)


def cache_key(
    traits: Traits | None, exchange: Exchange, body: object, *, surface: str, operation: str | None
) -> Hashable | None:
    """The cache key of an HTTP error with its decoded body; None: the judgement is not cached."""
    request, response = exchange.request, exchange.response
    if (
        traits is None
        or exchange.transport != "http"
        or exchange.forbidden
        or len(response.body) > MAX_BODY
    ):
        return None
    request_headers = [name.lower() for name, _ in request.headers]
    if "if-match" in request_headers:
        return None
    numbers: dict[str, int] = {}
    headers: list[Hashable] = []
    date = None
    for name, value in response.headers:
        lowered = name.lower()
        if lowered in traits.raw:
            headers += (lowered, value)
            if lowered == "retry-after" and not value.isdigit():
                return None  # a moment is compared with the date
        elif lowered in traits.opaque:
            headers += (lowered, _text_key(traits, value, numbers))
        elif lowered == "date":
            if traits.dated and len(value) != _FIXDATE:
                return None
            date = value[:_DAY] if traits.dated else lowered
    return (
        surface,
        operation,
        exchange.route,
        exchange.operation,
        request.method,
        response.status,
        exchange.identity is None,
        "authorization" in request_headers or "cookie" in request_headers,
        *(carried_key(place, exchange) is not None for place in traits.keys),
        exchange.lacks,
        (exchange.idempotent, exchange.authenticated),
        date,
        tuple(headers),
        _value_key(traits, body, numbers),
    )


def _value_key(traits: Traits, value: object, numbers: dict[str, int]) -> Hashable:
    """The part of the key for a value; ``numbers``: the strings met before in this error."""
    if isinstance(value, str):
        return _text_key(traits, value, numbers)
    if isinstance(value, dict):
        parts: list[Hashable] = ["{"]
        for name, member in value.items():
            parts.append(name)
            parts.append(
                ("=", member)
                if name in traits.kept and isinstance(member, str)
                else _value_key(traits, member, numbers)
            )
        return tuple(parts)
    if isinstance(value, list):
        return ("[", *(_value_key(traits, item, numbers) for item in value))
    if isinstance(value, bool):
        return _TRUE if value else _FALSE
    # 1 and 1.0 are equal, and so are their hashes.
    return value if value is None else (type(value), value)


def _text_key(traits: Traits, text: str, numbers: dict[str, int]) -> Hashable:
    if text in traits.words or (len(text) <= _MAX_STATUS and text.isdigit()):
        return text
    fits = (
        tuple(format_.fullmatch(text) is not None for format_ in traits.formats)
        if len(text) <= _MAX_ID and " " not in text
        else ()
    )
    return (
        numbers.setdefault(text, len(numbers)),
        bisect_right(traits.lengths, len(text)),
        fits,
        tuple(format_.problem(text) is None for format_ in traits.other_formats),
        tuple(matches_pattern(pattern, text) for pattern in traits.patterns),
    )
