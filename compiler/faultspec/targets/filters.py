"""The filters of the templates: how a value is quoted in each language. Documented in
``templates/README.md``.
"""

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from html import escape
from json import JSONEncoder

from faultspec.language.spelling import pascal, snake
from faultspec.runtime import durations
from faultspec.targets import literals
from faultspec.targets.json_text import json, json_pieces
from faultspec.targets.literals import escape_character

WIDTH = 88
"""Columns of comments in Python."""

TYPESCRIPT_WIDTH = 80
"""Columns of comments in TypeScript."""

JAVA_WIDTH = 100
"""Columns of comments in Java."""


def yaml(value: str | int) -> str:
    """A scalar of YAML: a number, or a text in double quotes, with the escapes of Python."""
    if isinstance(value, int):
        return str(value)
    return '"' + "".join(escape_character(each, '"') for each in value) + '"'


def visible(text: str) -> str:
    """The text on one line: white space as single spaces, invisible characters as escapes."""
    if text.isprintable() and "  " not in text and text[:1] != " " != text[-1:]:
        return text  # nearly all are such
    line = " ".join(text.split())
    return (
        line
        if line.isprintable()
        else "".join(each if each.isprintable() else escape_character(each, "") for each in line)
    )


def docstring(text: str, indent: int = 4) -> str:
    """A docstring, quotes and all, for a body indented by ``indent``; blank lines of ``text`` part
    its paragraphs.
    """
    pad = " " * indent
    paragraphs = [
        visible(each).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        for each in re.split(r"\n\s*\n", text.strip())
    ]
    first, *rest = [each for each in paragraphs if each] or [""]
    lead = " " if first.startswith('"') else ""
    # The quotes take three columns before the first line, and three after it if it is the only one.
    lines = _wrap(first, WIDTH - indent - 6 - len(lead)) or [""]
    lines[0] = lead + lines[0]
    for each in rest:
        lines += ["", *_wrap(each, WIDTH - indent)]
    if len(lines) == 1:
        close = " " if lines[0].endswith(('"', "\\")) else ""
        return f'"""{lines[0]}{close}"""'
    return (
        '"""'
        + "\n".join(f"{pad}{each}" if each and index else each for index, each in enumerate(lines))
        + f'\n{pad}"""'
    )


def tsdoc(text: str, indent: int = 0) -> str:
    """A documentation comment; blank lines of ``text`` separate paragraphs, and the text cannot end
    the comment.
    """
    pad = " " * indent
    paragraphs = [
        visible(each).replace("*/", "*\\/") for each in re.split(r"\n\s*\n", text.strip())
    ]
    found = [each for each in paragraphs if each] or [""]
    if len(found) == 1 and indent + len(found[0]) + len("/**  */") <= TYPESCRIPT_WIDTH:
        return f"/** {found[0]} */"
    lines: list[str] = []
    for each in found:
        lines += [*([""] if lines else []), *_wrap(each, TYPESCRIPT_WIDTH - indent - 3)]
    return "/**\n" + "".join(f"{pad} * {each}".rstrip() + "\n" for each in lines) + f"{pad} */"


def javadoc(text: str, indent: int = 0, tags: Sequence[tuple[str, str]] = ()) -> str:
    """A documentation comment of Java; blank lines of ``text`` separate paragraphs, and the text
    can neither end the comment, nor be a tag or an escape.

    ``tags``: names such as ``@param sku``, with their texts.
    """
    pad, width = " " * indent, JAVA_WIDTH - indent - 3
    paragraphs = [html_text(each) for each in re.split(r"\n\s*\n", text.strip())]
    first, *rest = [each for each in paragraphs if each] or [""]
    if not rest and not tags and indent + len(first) + len("/**  */") <= JAVA_WIDTH:
        return f"/** {first} */"
    lines = _wrap(first, width)
    for each in rest:
        lines += ["", *_wrap(f"<p>{each}", width)]
    if tags:
        lines += [
            "",
            *(part for tag, of in tags for part in _wrap(f"{tag} {html_text(of)}", width)),
        ]
    return "/**\n" + "".join(f"{pad} * {each}".rstrip() + "\n" for each in lines) + f"{pad} */"


def html_text(text: str) -> str:
    """A text of a documentation comment: javac reads escapes in it, and `javadoc` tags."""
    line = escape(visible(text), quote=False)
    return line.replace("\\", "&#92;").replace("@", "&#64;").replace("*/", "*&#47;")


def comment(text: str, prefix: str = "#", indent: int = 0) -> str:
    """Lines of comment, each behind ``prefix`` and wrapped; nothing in ``text`` can end the comment
    early.

    ``indent``: columns in front of every line but the first, whose place the template gives.
    """
    width = WIDTH - indent - len(prefix) - 1
    lines = [part for line in text.splitlines() for part in _wrap(visible(line), width) or [""]]
    return f"\n{' ' * indent}".join(f"{prefix} {each}".rstrip() for each in lines or [""])


def _wrap(text: str, width: int) -> list[str]:
    """A text of one line (see ``visible``) wrapped; no lines for an empty text."""
    if len(text) <= width:
        return [text] if text else []
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


#: The syntax of CommonMark, of GitHub's tables and formulas and of Jekyll's tags, and, at the start
#: of a text, of lists and headings. An underscore inside a word stays, because it does not
#: emphasise there.
_MARKDOWN_SYNTAX = re.compile(
    r"[\\`*\[\]<>&|~#$!{}]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|^[-+=](?=[-= ]|$)|^\d+(?=[.)]( |$))"
)

_JSON = JSONEncoder(ensure_ascii=False)

_UNQUOTABLE = re.compile(r"[`|]|\{[{%]")


def md(text: str) -> str:
    """The text on one line of Markdown, in a paragraph, a list, a heading or a cell."""
    return _MARKDOWN_SYNTAX.sub(lambda found: _escaped_markdown(found[0]), visible(text))


def _escaped_markdown(text: str) -> str:
    # A number begins a list only with the sign behind it, so that sign becomes an entity.
    return f"\\{text}" if not text.isdigit() else f"{text[:-1]}&#{ord(text[-1])};"


def md_code(text: str) -> str:
    """The text in Markdown's type of code; as entities in a tag if backticks cannot quote it."""
    shown = visible(text)
    if shown and not _UNQUOTABLE.search(shown):
        return f"`{shown}`"
    entities = (e if e.isalnum() or e == " " else f"&#{ord(e)};" for e in shown)
    return f"<code>{''.join(entities)}</code>"


def md_json(value: object) -> str:
    """A JSON value on one line, in Markdown's type of code."""
    return md_code(_JSON.encode(value))


def md_comment(text: str) -> str:
    """A comment of Markdown that the text cannot end."""
    return f"<!-- {re.sub('-(?=-)', '- ', visible(text))} -->"


def constant(name: str) -> str:
    """``RATE_LIMITED``"""
    return snake(name).upper()


_NAMED_ALIKE: tuple[Callable[..., object], ...] = (
    *(comment, constant, docstring, javadoc, json, json_pieces, md, md_code, md_comment, md_json),
    *(
        pascal,
        snake,
        tsdoc,
        visible,
        yaml,
        literals.key,
        literals.literal,
        literals.py,
        literals.ts,
    ),
)

FILTERS: Mapping[str, Callable[..., object]] = {
    **{function.__name__: function for function in _NAMED_ALIKE},
    "duration": durations.render,
    "verbatim": literals.Verbatim,
}


def take_unique(name: str, taken: set[str]) -> str:
    """``name``, with a number appended if it is in ``taken``; the result is added to ``taken``."""
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}_{number}", number + 1
    taken.add(candidate)
    return candidate
