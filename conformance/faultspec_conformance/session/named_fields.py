"""The secrets in forms by the names of their parameters and fields."""

import re
from collections.abc import Iterator
from urllib.parse import parse_qsl

from faultspec_conformance.session.secret_names import (
    Hides,
    is_ordinary,
    is_secret_value,
    split_name,
)

#: A parameter of a form, up to the end of its line.
_PARAMETER = re.compile(r"(?:^|&)(?P<pair>[^\s&=]{1,1000}=[^&\r\n]++)", re.MULTILINE)

#: What may end a value that is not a form's alone.
_ENDS = re.compile(r"[\s\"]")

#: The head of a field of a form with files (RFC 7578, 4.2), and the name in it.
_HEAD = re.compile(r"form-data;(?P<more>[^\r\n]{1,400}+)\r?\n(?:[^\r\n]{1,200}\r?\n){0,3}\r?\n")
_NAME = re.compile(r"""\bname=(?:"(?P<quoted>[^"]{1,200})"|(?P<plain>[^"\s;]{1,200}))""")

#: The line between fields.
_BOUNDARY = re.compile(r"^--\S{1,200}(?=\r?$)", re.MULTILINE)


def parameters_in(text: str) -> Iterator[tuple[str, str]]:
    """Yield the parameters in the lines of a text, decoded."""
    for match in _PARAMETER.finditer(text):
        yield from parse_qsl(match["pair"])


def find_parameter_secrets(name: str, value: str, hides: Hides) -> Iterator[str]:
    """Yield the value of a secret parameter, whose name may have the steps to a member: up to the
    end of its line, and up to a blank or a quote, where the line of a log goes on.
    """
    if not hides(name) and not is_secret_value(split_name(name), value):
        return
    yield value
    shown = _ENDS.split(value, maxsplit=1)[0]
    if shown != value and not is_ordinary(shown):
        yield shown


def find_field_secrets(text: str, hides: Hides) -> Iterator[str]:
    """Yield the values of secret fields in a form with files: each whole, and its lines."""
    heads = [*_HEAD.finditer(text)] if "form-data" in text else []
    boundary = _BOUNDARY.search(text) if heads else None
    between = "\n" + (boundary[0] if boundary else "--")
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, end in zip(heads, ends, strict=False):
        name = _name_in(head["more"])
        value = text[head.end() : end].partition(between)[0].strip("\r\n")
        if hides(name) or is_secret_value(split_name(name), value):
            yield from value_and_lines(value)


def value_and_lines(value: str) -> Iterator[str]:
    """Yield a value and its lines: other texts have them apart, or with an indentation."""
    yield value
    lines = value.splitlines()
    for line in map(str.strip, lines if len(lines) > 1 else ()):
        if line and not is_ordinary(line):
            yield line


def _name_in(head: str) -> str:
    found = _NAME.search(head)
    return (found["quoted"] or found["plain"]) if found is not None else ""
