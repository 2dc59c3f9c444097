# pyright: basic
# `isinstance` tells JSON values apart; to the strict mode their members are unknown.
"""XML as nested objects, and back.

| XML                              | value                                         |
|----------------------------------|-----------------------------------------------|
| the root element                 | the one member of the whole                   |
| an element                       | a member of its parent, by its local name     |
| elements with one name           | a list                                        |
| an element with only text        | a string; an empty one is `""`                |
| an attribute                     | the member `@name`                            |
| text beside attributes, elements | the member `#text`                            |

Namespaces, comments and processing instructions are dropped. A document type is
refused: without one no entity is declared, so nothing expands. The encodings are those
of expat itself: UTF-8, UTF-16, ISO-8859-1 and US-ASCII.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NoReturn

from .extraction import scalar_text
from .reading import DEEPEST, MOST, MalformedBody, UnreadableBody, UnsayableValue

_TEXT = "#text"
_NAME = re.compile(r"[^\W\d][\w.-]*")
"""A name without a colon, a little stricter than XML's (Namespaces in XML, 3)."""

#: Characters that no document can have, even escaped (XML 1.0, 2.2).
_UNSAYABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

#: Any other would be read by the codec of that name, whatever it does.
_ENCODINGS = frozenset(
    {"UTF-8", "UTF-16", "UTF-16BE", "UTF-16LE", "ISO-8859-1", "US-ASCII"}
)

#: Characters of the longest name of a namespace: expat copies it for each element.
_LONGEST_NAMESPACE = 1000

_ESCAPES = str.maketrans(
    {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        '"': "&quot;",
        "\r": "&#13;",
        "\n": "&#10;",
        "\t": "&#9;",
    }
)


def read_xml(body: bytes) -> object:
    """The value of a document. Raises UnreadableBody."""
    # Here, so that a binding without XML does not pay for it
    from xml.parsers import expat

    reader = _DocumentReader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.EntityDeclHandler = _refuse_doctype
    parser.XmlDeclHandler = _refuse_encoding
    parser.StartNamespaceDeclHandler = reader.declare_namespace
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.add_text
    try:
        parser.Parse(body, True)
    except expat.ExpatError as error:
        where = f"line {error.lineno}, column {error.offset + 1}"
        raise MalformedBody(f"is not XML ({where})") from None
    return reader.document


def write_xml(value: object) -> bytes:
    """The document of a value: an object with one member, whose name is that of the
    root. Members that are null or an empty list are left out, and a character that XML
    cannot have becomes U+FFFD. Raises UnsayableValue.
    """
    if not isinstance(value, Mapping) or len(value) != 1:
        raise UnsayableValue(
            f"a document has one root element, which {value!r} has not"
        )
    ((name, root),) = value.items()
    if root is None or isinstance(root, list | tuple):
        raise UnsayableValue(f"the root element {name!r} cannot be {root!r}")
    text = "".join(_write_element(name, root, 0))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'.encode()


def _refuse_doctype(*_: object) -> NoReturn:
    raise UnreadableBody("declares a document type or an entity, which is refused")


def _refuse_encoding(_version: str, encoding: str | None, _standalone: int) -> None:
    if encoding is not None and encoding.upper() not in _ENCODINGS:
        raise UnreadableBody("is XML in an unknown encoding")


class _DocumentReader:
    """The element under way, and those around it."""

    def __init__(self) -> None:
        self.document: dict[str, object] = {}
        self.around: list[tuple[str, dict[str, object], list[str]]] = []
        self.count = 0

    def declare_namespace(self, _: str | None, name: str | None) -> None:
        self.add(1)
        if name is not None and len(name) > _LONGEST_NAMESPACE:
            raise UnreadableBody(
                f"has a namespace of more than {_LONGEST_NAMESPACE:,} characters"
            )

    def add(self, count: int) -> None:
        self.count += count
        if self.count > MOST:
            raise UnreadableBody(f"has more than {MOST:,} values")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.add(1 + len(attributes))
        if len(self.around) >= DEEPEST:
            raise UnreadableBody(f"is nested deeper than {DEEPEST} levels")
        own: dict[str, object] = {}
        for key, text in attributes.items():
            own.setdefault(f"@{_local(key)}", text)
        self.around.append((_local(name), own, []))

    def add_text(self, text: str) -> None:
        self.around[-1][2].append(text)

    def end(self, _: str) -> None:
        name, members, texts = self.around.pop()
        text = "".join(texts)
        has_elements = any(not key.startswith("@") for key in members)
        value: object = members
        if not members:
            value = text
        elif text.strip() or (text and not has_elements):
            members[_TEXT] = text.strip() if has_elements else text
        parent = self.around[-1][1] if self.around else self.document
        if name not in parent:
            parent[name] = value
            return
        # A value that was read is never a list, so a list is one of siblings.
        siblings = parent[name]
        if isinstance(siblings, list):
            siblings.append(value)
        else:
            parent[name] = [siblings, value]


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


def _write_element(name: str, value: object, depth: int) -> Iterator[str]:
    if depth >= DEEPEST:
        raise UnsayableValue(f"the value is nested deeper than {DEEPEST} levels")
    _check_name(name)
    if not isinstance(value, Mapping):
        yield f"<{name}>{_escape(name, value)}</{name}>"
        return
    attributes = {key: each for key, each in value.items() if key.startswith("@")}
    yield f"<{name}"
    for key, each in attributes.items():
        _check_name(key[1:])
        if each is not None:
            yield f' {key[1:]}="{_escape(key, each)}"'
    yield ">"
    for key, each in value.items():
        if key == _TEXT and each is not None:
            yield _escape(key, each)
        elif key != _TEXT and key not in attributes:
            for item in each if isinstance(each, list | tuple) else [each]:
                if item is not None:
                    yield from _write_element(key, item, depth + 1)
    yield f"</{name}>"


def is_xml_name(name: str) -> bool:
    """Whether an element or an attribute can have a name."""
    return _NAME.fullmatch(name) is not None


def _check_name(name: str) -> None:
    if not is_xml_name(name):
        raise UnsayableValue(f"{name!r} is not the name of an element or an attribute")


def _escape(name: str, value: object) -> str:
    text = scalar_text(value)
    if text is None:
        raise UnsayableValue(f"{name!r} is a text in XML, not {value!r}")
    return _UNSAYABLE.sub("\ufffd", text).translate(_ESCAPES)
