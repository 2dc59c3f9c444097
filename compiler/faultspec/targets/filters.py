"""The filters of the templates: how a value is quoted in each language. Documented in ``templates/README.md``."""

import json as _json
import re
import textwrap
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from typing import Any, Optional

_quoted: Callable[[str], str] = (
    _json.encoder.encode_basestring
)  # what `dumps` uses without `ensure_ascii`

WIDTH = 88
"""Columns of generated source, ruff's default: where docstrings are wrapped and calls are broken."""

TYPESCRIPT_WIDTH = 80
"""Columns of generated TypeScript, prettier's default."""


def literal(value: object) -> str:
    """A Python literal as ruff would write it: double quotes, unless that takes more escapes."""
    if isinstance(value, str):
        return string(value)
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return f'float("{value}")'
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(literal, value)) + (",)" if len(value) == 1 else ")")
    raise TypeError(f"{type(value).__name__} has no Python literal here")


def string(text: str, beyond: str = "\\U{:08x}") -> str:
    """A literal of Python or TypeScript, which differ in how they escape what is ``beyond`` 16 bits."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    quote = "'" if text.count('"') > text.count("'") else '"'
    return quote + "".join(_escaped(each, quote, beyond) for each in text) + quote


_NAMED_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


def _escaped(character: str, quote: str, beyond: str = "\\U{:08x}") -> str:
    if character == quote:
        return "\\" + quote
    if character in _NAMED_ESCAPES:
        return _NAMED_ESCAPES[character]
    if character.isprintable():
        return character
    number = ord(character)
    return (
        f"\\x{number:02x}"
        if number < 0x100
        else f"\\u{number:04x}"
        if number < 0x10000
        else beyond.format(number)
    )


def yaml(value: str | int) -> str:
    """A scalar of YAML: a number as it is, a text in double quotes, whose escapes are like those of Python."""
    if isinstance(value, int):
        return str(value)
    return '"' + "".join(_escaped(each, '"') for each in value) + '"'


def visible(text: str) -> str:
    """One line: runs of white space as a space, and what cannot be seen as an escape."""
    line = " ".join(text.split())
    return (
        line
        if line.isprintable()
        else "".join(each if each.isprintable() else _escaped(each, "") for each in line)
    )


def docstring(text: str, indent: int = 4) -> str:
    """A docstring, quotes and all, for a body indented by ``indent``; blank lines of ``text`` part its paragraphs."""
    pad = " " * indent
    paragraphs = [
        visible(each).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        for each in re.split(r"\n\s*\n", text.strip())
    ]
    first, *rest = [each for each in paragraphs if each] or [""]
    lead = " " if first.startswith('"') else ""
    # The quotes take three columns in front of the first line, and three behind it where it is the only one.
    lines = _wrapped(first, WIDTH - indent - 6 - len(lead)) or [""]
    lines[0] = lead + lines[0]
    for each in rest:
        lines += ["", *_wrapped(each, WIDTH - indent)]
    if len(lines) == 1:
        close = " " if lines[0].endswith(('"', "\\")) else ""
        return f'"""{lines[0]}{close}"""'
    return (
        '"""'
        + "\n".join(f"{pad}{each}" if each and index else each for index, each in enumerate(lines))
        + f'\n{pad}"""'
    )


def tsdoc(text: str, indent: int = 0) -> str:
    """A comment that documents what follows it; blank lines of ``text`` part its paragraphs, and nothing in it can end
    the comment early.
    """
    pad = " " * indent
    paragraphs = [
        visible(each).replace("*/", "*\\/") for each in re.split(r"\n\s*\n", text.strip())
    ]
    found = [each for each in paragraphs if each] or [""]
    if len(found) == 1 and indent + columns(found[0]) + len("/**  */") <= TYPESCRIPT_WIDTH:
        return f"/** {found[0]} */"
    lines: list[str] = []
    for each in found:
        lines += [*([""] if lines else []), *_wrapped(each, TYPESCRIPT_WIDTH - indent - 3)]
    return "/**\n" + "".join(f"{pad} * {each}".rstrip() + "\n" for each in lines) + f"{pad} */"


def comment(text: str, prefix: str = "#", indent: int = 0) -> str:
    """Lines of comment, each behind ``prefix`` and wrapped; nothing in ``text`` can end the comment early.

    ``indent``: columns in front of every line but the first, whose place the template gives.
    """
    width = WIDTH - indent - len(prefix) - 1
    lines = [part for line in text.splitlines() for part in _wrapped(visible(line), width) or [""]]
    return f"\n{' ' * indent}".join(f"{prefix} {each}".rstrip() for each in lines or [""])


def columns(text: str) -> int:
    """How wide a text is where wide characters take two columns and combining ones none, as ruff counts them."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1
        for each in text
    )


def _wrapped(text: str, width: int) -> list[str]:
    """The lines of what is one line already (see ``visible``), none for nothing."""
    if len(text) <= width:
        return [text] if text else []
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


class Fragment(dict[str, Any]):
    """An object that stands in several JSON documents: its text is made once, so nothing may change it any more.

    ``old``: the same as a schema in the dialect of OpenAPI 3.0, once someone asked for it.
    """

    old: Optional["Fragment"] = None

    @cached_property
    def text(self) -> str:
        """The JSON text, not indented."""
        return _members(self, "")


def json(value: object, indent: int = 0) -> str:
    """JSON text, two spaces a level, its lines after the first indented by ``indent`` columns."""
    text = _pretty(value, "")
    if not text.isascii():
        # What cannot be seen, or turns the line round, or is half a surrogate pair, is written as an escape.
        text = re.sub(
            r"[^\n -~]",
            lambda each: each[0] if each[0].isprintable() else _json.dumps(each[0])[1:-1],
            text,
        )
    return text.replace("\n", "\n" + " " * indent) if indent else text


def line(value: object) -> str:
    """JSON text on one line, as ``json.dumps`` has it, which takes several times as long for what is short."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, dict):
        return "{" + ", ".join([f"{_key(key)}: {line(each)}" for key, each in value.items()]) + "}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(line, value))}]"
    return str(value) if type(value) is int else _json.dumps(value)


def _pretty(value: object, pad: str) -> str:
    """What ``json.dumps`` says with an indentation of two, which there takes three times as long."""
    if isinstance(value, dict):
        return (
            value.text.replace("\n", f"\n{pad}")
            if isinstance(value, Fragment)
            else _members(value, pad)
        )
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, (list, tuple)):
        inner = pad + "  "
        items = f",\n{inner}".join([_pretty(each, inner) for each in value])
        return f"[\n{inner}{items}\n{pad}]" if value else "[]"
    if value is True or value is False:
        return "true" if value else "false"
    return str(value) if type(value) is int else _json.dumps(value)


def _members(value: dict[Any, Any], pad: str) -> str:
    if not value:
        return "{}"
    inner = pad + "  "
    members = f",\n{inner}".join(
        [
            # Most values are strings, and most calls were for them.
            f"{_quoted(key) if isinstance(key, str) else _key(key)}: "
            f"{_quoted(each) if isinstance(each, str) else _pretty(each, inner)}"
            for key, each in value.items()
        ]
    )
    return f"{{\n{inner}{members}\n{pad}}}"


def _key(key: object) -> str:
    """A key, which JSON takes only as a text."""
    return _quoted(key if isinstance(key, str) else _json.dumps(key))


def words(name: str) -> list[str]:
    """The words of an identifier in any case: ``fileNotFound``, ``FILE_NOT_FOUND`` and ``file-not-found`` alike."""
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)


@cache  # a name stands in many files
def pascal(name: str) -> str:
    """``RateLimited``"""
    return "".join(word[:1].upper() + word[1:].lower() for word in words(name))


@cache
def snake(name: str) -> str:
    """``rate_limited``"""
    return "_".join(word.lower() for word in words(name))


def constant(name: str) -> str:
    """``RATE_LIMITED``"""
    return snake(name).upper()


FILTERS: Mapping[str, Callable[..., str]] = {
    "comment": comment,
    "constant": constant,
    "docstring": docstring,
    "json": json,
    "literal": literal,
    "pascal": pascal,
    "snake": snake,
    "tsdoc": tsdoc,
    "visible": visible,
    "yaml": yaml,
}


def unique(name: str, taken: set[str]) -> str:
    """``name``, or with a number behind it where it is taken; takes it."""
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}_{number}", number + 1
    taken.add(candidate)
    return candidate
