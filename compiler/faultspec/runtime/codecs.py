# pyright: basic
# `isinstance` tells JSON values apart; to the strict mode their members are unknown.
"""Bodies by media type: from bytes to a JSON-like value and back, one codec for each
format.

| format     | media types                           | value                          |
|------------|---------------------------------------|--------------------------------|
| JSON       | `application/json`, `+json`           | itself                         |
| JSON lines | `application/x-ndjson`, `…/jsonl`     | a list, an item for each line  |
| XML        | `application/xml`, `text/xml`, `+xml` | nested objects of texts        |
| CBOR       | `application/cbor`, `+cbor`           | as RFC 8949 section 6.1 says   |
| form       | `application/x-www-form-urlencoded`   | one object of texts            |
| text       | `text/plain`                          | a string                       |

What a codec reads has at most `MOST` values and `DEEPEST` levels of nesting.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Literal, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlencode

from .cbor_codec import read_cbor, write_cbor
from .extraction import scalar_text
from .reading import DEEPEST, MOST, UnreadableBody, UnsayableValue
from .xml_codec import read_xml, write_xml

__all__ = [
    "CODECS",
    "DEEPEST",
    "MOST",
    "Codec",
    "CodecName",
    "UnreadableBody",
    "UnsayableValue",
    "body_values",
    "find_codec",
    "is_written_as_json",
    "media_essence",
    "write_error_body",
]

_Name = TypeVar("_Name", bound=str)

CodecName = Literal["JSON", "JSON lines", "XML", "CBOR", "form", "text"]


class Codec(NamedTuple):
    """A format of bodies.

    ``decode`` raises UnreadableBody. ``encode`` raises UnsayableValue for a value that
    the format cannot say. ``has_types``: numbers and booleans are not texts.
    ``package``: what has to be installed to read it.
    """

    name: CodecName
    decode: Callable[[bytes], object]
    encode: Callable[[object], bytes]
    has_types: bool = True
    package: str | None = None

    @property
    def is_installed(self) -> bool:
        """Whether the package that reads the format can be imported."""
        return self.package is None or find_spec(self.package) is not None


@lru_cache(maxsize=256)  # a service has a few media types, asked for at every answer
def media_essence(content_type: str | None) -> str:
    """A media type in lower case, without its parameters."""
    return (content_type or "").partition(";")[0].strip().lower()


@lru_cache(maxsize=256)
def find_codec(media_type: str | None) -> Codec | None:
    """The codec of a media type, None if no codec reads it."""
    essence = media_essence(media_type)
    suffix = essence.rpartition("+")[2] if "+" in essence else essence.partition("/")[2]
    name = _TYPES.get(essence) or _SUFFIXES.get(suffix)
    if name is None and re.fullmatch(VENDORS_JSON, essence, re.ASCII):
        name = "JSON"
    return None if name is None else CODECS[name]


def is_written_as_json(media_type: str) -> bool:
    """Whether bodies of a media type are written as JSON, for want of another codec."""
    return (find_codec(media_type) or CODECS["JSON"]).name == "JSON"


def write_error_body(media_type: str, value: object) -> bytes:
    """The body of an error in the format of a media type; in JSON if no codec has it.
    Raises UnsayableValue for a value that the format cannot say.
    """
    codec = find_codec(media_type) or CODECS["JSON"]
    return codec.encode([value] if codec.name == "JSON lines" else value)


def body_values(
    body: object, content_type: str | None, envelopes: Mapping[_Name, Sequence[str]]
) -> Iterator[tuple[_Name, object, bool]]:
    """The values that a body may have in each envelope, and whether they have types; a
    body that was read already stands for itself.

    ``envelopes``: their media types. An envelope of the media type of the answer is
    meant; without one, any whose format the body has.
    """
    essence = media_essence(content_type)
    meant = [name for name, types in envelopes.items() if essence in types]
    for name in meant or envelopes:
        types = [essence] if meant else envelopes[name]
        for codec in dict.fromkeys(map(find_codec, types)):
            if not isinstance(body, bytes | str):
                yield name, body, True
            elif codec is not None and codec.is_installed:
                for value in _decoded_values(codec, body):
                    yield name, value, codec.has_types


def _decoded_values(codec: Codec, body: bytes | str) -> Sequence[object]:
    data = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    try:
        value = codec.decode(data)
    except UnreadableBody:
        return ()
    return value if codec.name == "JSON lines" and isinstance(value, list) else (value,)


def _read_json(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise UnreadableBody("is not JSON") from None


def _write_json(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def _read_lines(body: bytes) -> object:
    if body.count(b"\n") > MOST:
        raise UnreadableBody(f"has more than {MOST:,} values")
    values: list[object] = []
    for number, line in enumerate(body.split(b"\n"), 1):
        if line.strip():
            try:
                values.append(_read_json(line))
            except UnreadableBody:
                raise UnreadableBody(f"is not JSON in line {number}") from None
    return values


def _write_lines(value: object) -> bytes:
    if not isinstance(value, list):
        raise UnsayableValue(f"JSON lines are a list, not {value!r}")
    return b"".join(_write_json(each) + b"\n" for each in value)


def _read_form(body: bytes) -> object:
    if body.count(b"&") >= MOST:
        raise UnreadableBody(f"has more than {MOST:,} values")
    try:
        pairs = parse_qsl(
            body.decode("ascii").strip(),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
        )
    except ValueError:
        raise UnreadableBody("is not a form") from None
    found = dict(pairs)
    if len(found) < len(pairs):
        raise UnreadableBody("repeats a name; readers differ in which value counts")
    return found


def _write_form(value: object) -> bytes:
    if not isinstance(value, Mapping):
        raise UnsayableValue(f"a form is one object, not {value!r}")
    fields = {}
    for name, each in value.items():
        text = scalar_text(each)
        if each is not None and text is None:
            raise UnsayableValue(f"a form has texts, and {name!r} is {each!r}")
        if text is not None:
            fields[name] = text
    return urlencode(fields, errors="backslashreplace").encode("ascii")


def _read_text(body: bytes) -> object:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise UnreadableBody("is not UTF-8") from None
    # Many servers end a text with a line break, which no error means.
    return text.removesuffix("\n").removesuffix("\r")


def _write_text(value: object) -> bytes:
    text = scalar_text(value)
    if text is None:
        raise UnsayableValue(f"a text is a scalar, not {value!r}")
    return text.encode("utf-8", "backslashreplace")


CODECS: Mapping[CodecName, Codec] = {
    codec.name: codec
    for codec in (
        Codec("JSON", _read_json, _write_json),
        Codec("JSON lines", _read_lines, _write_lines),
        Codec("XML", read_xml, write_xml, has_types=False),
        Codec("CBOR", read_cbor, write_cbor, package="cbor2"),
        Codec("form", _read_form, _write_form, has_types=False),
        Codec("text", _read_text, _write_text, has_types=False),
    )
}
"""The codecs by the names of their formats."""

_SUFFIXES: Mapping[str, CodecName] = {"json": "JSON", "xml": "XML", "cbor": "CBOR"}
"""By the suffix of a media type, or its whole subtype (RFC 6839)."""

VENDORS_JSON = r"application/x-[\w.]+-json-\d+(?:\.\d+)*"
"""Types from before RFC 6839, such as ``application/x-amz-json-1.1``."""

_TYPES: Mapping[str, CodecName] = {
    "application/x-ndjson": "JSON lines",
    "application/ndjson": "JSON lines",
    "application/jsonl": "JSON lines",
    "application/json-lines": "JSON lines",
    "application/x-www-form-urlencoded": "form",
    "text/plain": "text",
}
