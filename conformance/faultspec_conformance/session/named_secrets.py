"""The secrets in a text by the names of its members, parameters, fields and elements."""

import re
from collections.abc import Iterator, Mapping

from faultspec_conformance.session.json_fragments import find_fragments, read_json
from faultspec_conformance.session.named_elements import find_element_secrets
from faultspec_conformance.session.named_fields import find_field_secrets, find_form_secrets
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
        yield from find_form_secrets(text, hides)
    yield from find_element_secrets(text, hides)
    yield from find_field_secrets(text, hides)


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
        for match in _MEMBER.finditer(plain):
            name = match["name"]
            if hides(name) or is_below_secret(split_name(name)):
                scalar = _SCALAR.match(plain, match.end())
                written = (scalar["number"] or scalar["text"]) if scalar is not None else ""
                if hides(name) or is_secret_value(split_name(name), written):
                    yield written
        if '\\"' not in plain:
            return
        plain = _ESCAPED.sub(r"\1", plain)
