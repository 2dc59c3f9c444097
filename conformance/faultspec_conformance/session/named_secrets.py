"""The secrets in a text by the names of its members, parameters, fields and elements."""

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import parse_qsl

from faultspec_conformance.session.json_fragments import find_fragments, read_json, texts_below
from faultspec_conformance.session.named_elements import find_element_secrets
from faultspec_conformance.session.named_fields import (
    find_field_secrets,
    find_parameter_secrets,
    parameters_in,
)
from faultspec_conformance.session.named_lines import find_line_secrets
from faultspec_conformance.session.secret_names import (
    Hides,
    given_name,
    hide_nothing,
    is_below_secret,
    is_secret_value,
    split_member,
    split_name,
)

#: The name of a member of an object in JSON, and its value: a text or a number. They are apart,
#: since the quote that ends a name may begin one where the text is not all JSON.
_MEMBER = re.compile(r'"(?P<name>[^"\\\s]{1,100})"\s{0,64}:\s{0,64}')
_SCALAR = re.compile(
    r'"(?P<text>(?:[^"\\]++|\\.)++)(?:"|\Z)|(?P<number>-?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,4})?)'
)

#: An escape inside a text of JSON, which is JSON itself.
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)

#: The beginning of a line in a stream of events, whose JSON may have several (HTML, 9.2.5).
_DATA = re.compile(r"^data: ?", re.MULTILINE)

#: Texts inside texts that are read: the log of a gateway holds a message that holds a body.
_DEEPEST_TEXT = 4

#: What a text that holds another one begins or continues with; several lines may be YAML.
_HOLDS = re.compile(r"[{\[=<\n]")


def find_named_secrets(text: str, hides: Hides = hide_nothing) -> Iterator[str]:
    """Yield the values of secret members in JSON, else those of secret members, parameters, fields
    and elements in any text. ``hides``: tells further names in texts that are no JSON.
    """
    yield from _find_in_text(text, hides, (), 0)


def _find_in_text(text: str, hides: Hides, names: tuple[str, ...], depth: int) -> Iterator[str]:
    """The secrets of a text. ``names``: those above it; ``depth``: the texts around it."""
    value = read_json(text)
    if isinstance(value, dict | list) or (isinstance(value, str) and depth < _DEEPEST_TEXT):
        yield from _find_in_value(value, names, depth)
        return
    yield from _find_in_fragments(text, hides, names, depth)
    yield from find_line_secrets(text, hides)
    if "<" not in text[:64] and not (depth and " " in text):
        yield from _find_in_parameters(parameters_in(text), hides, depth)
    yield from find_element_secrets(text, hides)
    yield from find_field_secrets(text, hides)


def find_query_secrets(query: str) -> Iterator[str]:
    """Yield the values of secret parameters of a query, and the secrets in those that hold a text
    of their own, such as JSON.
    """
    yield from _find_in_parameters(parse_qsl(query), hide_nothing, 0)


def _find_in_parameters(
    parameters: Iterable[tuple[str, str]], hides: Hides, depth: int
) -> Iterator[str]:
    for name, value in parameters:
        yield from find_parameter_secrets(name, value, hides)
        if depth < _DEEPEST_TEXT and _HOLDS.match(value.lstrip()):
            yield from _find_in_text(value, hides, split_name(name), depth + 1)


def _find_in_value(value: object, names: tuple[str, ...], depth: int) -> Iterator[str]:
    if isinstance(value, Mapping):
        named = given_name(value)
        for name, member in value.items():
            yield from _find_in_value(member, (*names, *split_member(name, named)), depth)
    elif isinstance(value, list):
        for item in value:
            yield from _find_in_value(item, names, depth)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        if is_secret_value(names, value):
            yield str(value)
        if isinstance(value, str) and depth < _DEEPEST_TEXT and _HOLDS.search(value):
            yield from _find_in_text(value, hide_nothing, names, depth + 1)


def _find_in_members(text: str, hides: Hides) -> Iterator[str]:
    """The values of secret members in a text that need not be JSON as a whole. Of an object or a
    list below such a name it has all texts.
    """
    end = 0
    for match in _MEMBER.finditer(text):
        name = match["name"]
        if not hides(name) and not is_below_secret(split_name(name)):
            continue
        scalar = _SCALAR.match(text, match.end())
        if scalar is not None:
            written = [("", scalar["number"] or scalar["text"])]
        elif match.end() < end:
            continue  # what holds it was read
        else:
            written, end = texts_below(text, match.end())
        for member, value in written:
            names = (*split_name(name), *([member] if member else []))
            if hides(name) or is_secret_value(names, value):
                yield value


def _find_in_fragments(
    text: str, hides: Hides, names: tuple[str, ...], depth: int
) -> Iterator[str]:
    """The secrets in JSON that has a prefix or no end, also inside a text of JSON, and in lines or
    events of JSON.
    """
    plain = _DATA.sub("", text) if "data:" in text else text
    for line in plain.splitlines():
        value = read_json(line.strip())
        if isinstance(value, dict | list):
            yield from _find_in_value(value, (), depth)
    for _ in range(_DEEPEST_TEXT):
        for value in find_fragments(plain):
            yield from _find_in_value(value, names, depth)
        yield from _find_in_members(plain, hides)
        if '\\"' not in plain:
            return
        plain = _ESCAPED.sub(r"\1", plain)
