"""Parsers of header values: list elements, directives, parameters and validators."""

import re
from collections.abc import Collection, Iterator, Mapping

FIELD_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""The name of a header field: a token (RFC 9110, 5.6.2)."""

CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
"""A character that no value of a field has (RFC 9110, 5.5): it could end the field and begin
another one.
"""


def parse_scalar(text: str, types: Collection[str]) -> object:
    """The text of a header as the first of these JSON types that it spells, else as a text."""
    if {"integer", "number"} & {*types} and re.fullmatch(r"-?\d{1,15}", text, re.ASCII):
        return int(text)
    if "number" in types and re.fullmatch(r"-?\d{1,15}\.\d{1,15}", text, re.ASCII):
        return float(text)
    if "boolean" in types and text in ("true", "false"):
        return text == "true"
    return text


def items(value: str) -> Iterator[str]:
    """The elements of a list-valued header (RFC 9110 section 5.6.1)."""
    start, quoted, escaped = 0, False, False
    for index, character in enumerate(value):
        if escaped:
            escaped = False
        elif quoted and character == "\\":
            escaped = True
        elif character == '"':
            quoted = not quoted
        elif character == "," and not quoted:
            if item := value[start:index].strip(" \t"):
                yield item
            start = index + 1
    if item := value[start:].strip(" \t"):
        yield item


def directives(value: str) -> Mapping[str, str | None]:
    """The directives of a header such as Cache-Control, by lower-case name."""
    found: dict[str, str | None] = {}
    for item in items(value):
        name, equals, argument = item.partition("=")
        found[name.strip().lower()] = argument.strip().strip('"') if equals else None
    return found


def methods(value: str) -> tuple[str, ...]:
    """The methods of an Allow header, as written."""
    return tuple(items(value))


def etag_value(value: str) -> str:
    """A validator without `W/` and quotes, for weak comparison (RFC 9110 section 8.8.3.2)."""
    value = value.strip().removeprefix("W/")
    return value[1:-1] if len(value) >= 2 and value[0] == value[-1] == '"' else value


def media_type(value: str) -> tuple[str, Mapping[str, str]]:
    """Type and parameters of a Content-Type, in lower case except for parameter values."""
    essence, *rest = value.split(";")
    parameters = {}
    for parameter in rest:
        name, equals, argument = parameter.partition("=")
        if equals:
            parameters[name.strip().lower()] = argument.strip().strip('"')
    return essence.strip().lower(), parameters
