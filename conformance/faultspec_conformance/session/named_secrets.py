"""The secrets in a text by the names of its members, parameters, fields and elements."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from html import unescape
from urllib.parse import parse_qsl

from faultspec.exchange.body import is_too_deep
from faultspec.exchange.sensitive import fold_member
from faultspec_conformance.config import SECRET_NAME, SECRET_NAMES

#: The name of a member of an object in JSON, and its value: a text or a number. They are apart,
#: since the quote that ends a name may begin one where the text is not all JSON.
_MEMBER = re.compile(r'"(?P<name>[^"\\\s]{1,100})"\s{0,8}:\s{0,8}')
_SCALAR = re.compile(
    r'"(?P<text>(?:[^"\\]|\\.){1,4096})(?:"|\Z)|(?P<number>-?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,4})?)'
)

#: An escape inside a text of JSON, which is JSON itself.
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)

#: A field of a form with files (RFC 7578, 4.2), with a text of one line; and its name.
_FIELD = re.compile(
    r"form-data;(?P<more>[^\r\n]{1,400}+)\r?\n(?:[^\r\n]{1,200}\r?\n){0,3}\r?\n"
    r"(?P<text>[^\r\n]{1,4096})"
)
_FIELD_NAME = re.compile(r"""\bname=(?:"(?P<quoted>[^"]{1,200})"|(?P<plain>[^"\s;]{1,200}))""")

#: An element of XML with a text.
_ELEMENT = re.compile(
    r"<(?:[\w.-]{1,60}:)?(?P<name>[\w.-]{1,100})(?P<more>\s[^<>]{0,200})?>"
    r"(?:<!\[CDATA\[(?P<data>[^<>]{1,4096})\]\]>|(?P<text>[^<>]{1,4096}))</"
)

#: The beginning of an element with attributes, and one of them.
_TAG = re.compile(r"<[\w.:-]{1,160}(?P<more>\s[^<>]{1,4096})>")
_ATTRIBUTE = re.compile(r"""(?<![\w.:-])(?P<name>[\w.:-]{1,100})=(?:"([^"]*)"|'([^']*)')""")

#: A line of YAML or of properties.
_LINE = re.compile(
    r"^[ \t-]{0,40}+(?P<name>[\w.\[\]-]{1,100})[ \t]?[:=][ \t]?(?P<text>\S{1,4096})\r?$",
    re.MULTILINE,
)

#: Characters of a form that are searched for parameters.
_FORM = 4096

#: Characters of the longest name that is split into its steps.
_NAME = 200

#: Texts inside texts that are read: the log of a gateway holds a message that holds a body.
_DEEPEST_TEXT = 4

#: What a text that holds another one begins or continues with.
_HOLDS = re.compile(r"[{\[=<]")

#: Names of members, folded, that name another member of the same object; and of that member: pairs,
#: and what frameworks report of an input that they refuse.
_NAMING = frozenset(
    {
        *("name", "key", "field", "fieldname", "param", "parameter", "path", "property", "k"),
        *("propertyname", "attribute", "header", "variable", "loc", "n"),
    }
)
_NAMED = frozenset(
    {
        *("value", "values", "val", "v", "input"),
        *("rejectedvalue", "attemptedvalue", "invalidvalue", "stringvalue"),
    }
)

#: Names, folded, of a member that is the value of the member above it.
_WRAPPING = frozenset({"value", "values", "val", "text", "plain", "plaintext", "raw", "s", "_"})

#: Names, folded, of texts that speak about a member. With a blank they are prose.
_PROSE = frozenset(
    {
        *("message", "messages", "msg", "description", "title", "detail", "details", "reason"),
        *("summary", "hint", "error", "errors", "help", "label", "comment"),
    }
)

#: Texts without a secret: words such as a type, names of several words, short numbers, dates and
#: times.
_ORDINARY = re.compile(
    r"[A-Za-z]{1,16}|[a-z]{1,16}(?:_[a-z]{1,16}){1,3}|[A-Z]{1,16}(?:_[A-Z]{1,16}){1,3}"
    r"|[\d.,:+-]{1,10}|v\d+|\d{4}-\d\d-\d\d[T ][\d:.]{4,20}(?:Z|[+-]\d\d:?\d\d)?"
)

#: What stands beside a secret below its name: an address, a reference, a region or a scope.
_READABLE = re.compile(
    r"https?://[^\s@?]{1,300}|#/\S{1,300}|(?:/[\w.{}-]{1,40}){2,8}"
    r"|[a-z]{1,16}(?:[.:/-](?:[a-z]{1,16}|\d{1,4})){1,5}"
)

#: Whether the taxonomy declares a member with this name as sensitive.
Hides = Callable[[str], bool]


def _hide_nothing(_: str) -> bool:
    return False


def find_named_secrets(text: str, hides: Hides = _hide_nothing) -> Iterator[str]:
    """Yield the values of secret members in JSON, else those of secret members, parameters, fields
    and elements in any text. ``hides``: tells further names in texts that are no JSON.
    """
    yield from _find_in_text(text, hides, (), 0)


def find_named_parameters(query: str, hides: Hides = _hide_nothing) -> Iterator[str]:
    """Yield the values of secret parameters, whose names may have the steps to a member."""
    for name, value in parse_qsl(query):
        if hides(name) or _is_secret(_steps_of(name), value):
            yield value


def is_ordinary(value: str) -> bool:
    """Whether a value is a word, a short number or a time, which texts have by chance."""
    return _ORDINARY.fullmatch(value) is not None


def is_readable(value: str) -> bool:
    """Whether a value beside secrets is ordinary, or says where something is."""
    return is_ordinary(value.strip()) or _READABLE.fullmatch(value) is not None


def _find_in_text(text: str, hides: Hides, names: tuple[str, ...], depth: int) -> Iterator[str]:
    """The secrets of a text. ``names``: those above it; ``depth``: the texts around it."""
    value = _read_json(text)
    if isinstance(value, dict | list) or (isinstance(value, str) and depth < _DEEPEST_TEXT):
        yield from _find_in_value(value, names, depth)
        return
    yield from _find_in_lines(text, hides, depth)
    if "=" in text[:_FORM] and "<" not in text[:64] and not (depth and " " in text[:_FORM]):
        yield from find_named_parameters(text[:_FORM], hides)
    yield from _find_in_elements(text, hides)
    for match in _FIELD.finditer(text) if "form-data" in text else ():
        found = _FIELD_NAME.search(match["more"])
        name = (found["quoted"] or found["plain"]) if found is not None else ""
        if hides(name) or _is_secret(_steps_of(name), match["text"]):
            yield match["text"]


def _find_in_value(value: object, names: tuple[str, ...], depth: int) -> Iterator[str]:
    if isinstance(value, Mapping):
        named = _given_name(value)
        for name, member in value.items():
            own = (*named, name) if fold_member(name[:_NAME]) in _NAMED else _steps_of(name)
            yield from _find_in_value(member, (*names, *own), depth)
    elif isinstance(value, list):
        for item in value:
            yield from _find_in_value(item, names, depth)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        if _is_secret(names, value):
            yield str(value)
        if isinstance(value, str) and depth < _DEEPEST_TEXT and _HOLDS.search(value):
            yield from _find_in_text(value, _hide_nothing, names, depth + 1)


def _find_in_lines(text: str, hides: Hides, depth: int) -> Iterator[str]:
    """The secrets in JSON that is truncated, also inside a text of JSON, in lines or events of
    JSON, and in lines with a name and a value.
    """
    for line in text.splitlines():
        value = _read_json(line.strip().removeprefix("data:"))
        if isinstance(value, dict | list):
            yield from _find_in_value(value, (), depth)
    for match in _LINE.finditer(text):
        shown = match["text"].strip("\"'")
        if not is_ordinary(shown) and _is_secret(_steps_of(match["name"]), shown):
            yield shown
    plain = text
    for _ in range(_DEEPEST_TEXT):
        for match in _MEMBER.finditer(plain):
            name = match["name"]
            if hides(name) or _is_below(_steps_of(name)):
                scalar = _SCALAR.match(plain, match.end())
                written = (scalar["number"] or scalar["text"]) if scalar is not None else ""
                if hides(name) or _is_secret(_steps_of(name), written):
                    yield written
        if '\\"' not in plain:
            return
        plain = _ESCAPED.sub(r"\1", plain)


def _find_in_elements(text: str, hides: Hides) -> Iterator[str]:
    """The secret elements and attributes of XML: by their names, or by an attribute with a name."""
    for match in _ELEMENT.finditer(text):
        written = match["data"] or match["text"]
        names = [match["name"], *_given_name(_attributes_of(match["more"] or ""))]
        if any(hides(name) or _is_secret(_steps_of(name), written) for name in names):
            yield unescape(written)
            yield written
    for match in _TAG.finditer(text):
        yield from _find_in_value(_attributes_of(match["more"]), (), _DEEPEST_TEXT)


def _attributes_of(tag: str) -> dict[str, str]:
    return {
        found["name"]: unescape(found[2] or found[3] or "") for found in _ATTRIBUTE.finditer(tag)
    }


def _given_name(members: Mapping[str, object]) -> tuple[str, ...]:
    """The name that one member gives to another, if it is that of a secret."""
    for name, value in members.items():
        if fold_member(name[:_NAME]) in _NAMING:
            last = value[-1] if isinstance(value, list) and value else value
            if isinstance(last, str) and "/" not in last and _is_named(_steps_of(last)):
                return _steps_of(last)
    return ()


def _steps_of(name: str) -> tuple[str, ...]:
    """The steps of a name in brackets, such as those of `user[password]`. Of a name with dots the
    last counts: others are codes, such as `password.too_short`.
    """
    shown = name[-_NAME:]
    if "[" in shown:
        return tuple(re.findall(r"[^\[\].]+", shown))
    steps = [step for step in shown.split(".") if step and not _is_transparent(step)]
    return (*steps[-1:],) or (shown,)


def _is_transparent(name: str) -> bool:
    """Whether a name does not change what a value is: a number in a list, or `value`."""
    return name.isdigit() or fold_member(name) in _WRAPPING


def _is_named(names: tuple[str, ...]) -> bool:
    """Whether a value is a secret by its own name, of which the one above it may be a part."""
    own = [name for name in names if not _is_transparent(name)][-2:]
    if not own or SECRET_NAME.search(own[-1]):
        return bool(own)
    joined = SECRET_NAME.search("_".join(own))
    return joined is not None and joined.start() < len(own[0]) < joined.end() - 1


def _is_below(names: tuple[str, ...]) -> bool:
    """Whether a value is a secret by its name, or may be one by a name above it."""
    return _is_named(names) or any(
        SECRET_NAME.search(name) or SECRET_NAMES.search(name) for name in names
    )


def _is_secret(names: tuple[str, ...], value: str | float) -> bool:
    """Whether a value is a secret by its own name, or by one above it and by what it is."""
    if not names or _is_named(names):
        return bool(names) and value != ""
    if not isinstance(value, str) or not _is_below(names):
        return False
    if is_readable(value):
        return False
    return not (fold_member(names[-1]) in _PROSE and " " in value)


def _read_json(text: str) -> object:
    """The value that a text is in JSON; None if it is none or nested too deeply."""
    if text.lstrip("\ufeff \t\r\n")[:1] not in ("{", "[", '"'):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return None if is_too_deep(text.encode("utf-8", "replace"), value) else value
