"""Finding a value in a text in any of its encodings.

The text is unescaped layer by layer. A value found in a layer is reported by its place in the
source.
"""

import base64
import html
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from faultspec.leaks import folded

#: An escape of JSON (RFC 8259, 7), programming languages, HTML, URLs (RFC 3986, 2.1) or JSON
#: Pointer (RFC 6901, 3).
_ESCAPE = re.compile(
    r"""
    (?:%[0-9A-Fa-f]{2})+
    | \\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}
    | \\u[0-9A-Fa-f]{4} | \\u\{[0-9A-Fa-f]{1,6}\} | \\U[0-9A-Fa-f]{8} | \\x[0-9A-Fa-f]{2}
    | \\.
    | &\#[0-9]{1,7};? | &\#[xX][0-9A-Fa-f]{1,6};? | &[A-Za-z][A-Za-z0-9]{1,31};
    | ~[01]
    """,
    re.VERBOSE | re.DOTALL,
)

_SINGLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}

#: Encodings inside each other that are undone: JSON in a header of a log line in JSON takes three.
_LAYERS = 4

_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")

#: Characters at the end of a truncated text that identify the value they are the beginning of.
_BEGINNING = 6


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write a value. ``any_case``: upper and lower case are equal. ``coded``: it is
    base64.
    """

    text: str
    any_case: bool = True
    coded: bool = False


@dataclass(frozen=True, slots=True)
class Layer:
    """The source text, or the text of ``outer`` with its escapes undone once more.

    Its characters from ``starts[i]`` on are those of ``outer`` from ``places[i]`` on.
    """

    text: str
    folded: str
    outer: "Layer | None" = None
    starts: tuple[int, ...] = ()
    places: tuple[int, ...] = ()

    def source(self, at: int) -> int:
        """The offset in the source of an offset in this text."""
        if self.outer is None:
            return at
        which = bisect_right(self.starts, at) - 1
        return self.outer.source(self.places[which] + at - self.starts[which])


def unescape_layers(text: str) -> tuple[Layer, ...]:
    """The text itself, then unescaped once, twice, and so on until no escape is left."""
    found = [Layer(text, folded(text))]
    while len(found) <= _LAYERS and (inner := _unescape(found[-1])) is not None:
        found.append(inner)
    return tuple(found)


def unescape(text: str) -> str:
    """The text with its escapes undone once."""
    inner = _unescape(Layer(text, ""))
    return text if inner is None else inner.text


@lru_cache(maxsize=4096)  # a run plants a few hundred values and searches every text for each
def forms_of(value: str) -> tuple[Form, ...]:
    """The forms of a value: an unescaped text that contains the value contains one of them."""
    plain: list[str] = []
    before = ""
    decoded = value
    while decoded != before and len(plain) <= _LAYERS:
        plain.append(decoded)
        before, decoded = decoded, unescape(decoded)
    plain += [text.replace(" ", "+") for text in plain if " " in text]
    raw = value.encode("utf-8", "surrogatepass")
    if not value.isascii():
        plain.append(raw.decode("latin-1"))  # as headers are read
        if all(ord(character) < 256 for character in value):
            plain.append(value.encode("latin-1").decode("utf-8", "surrogateescape"))
    # Of `ı` and `I`, which is its upper case, case folding makes different letters.
    cases = (case for text in plain for case in (text, text.upper(), text.lower()))
    found = [*(Form(folded(text)) for text in cases), Form(raw.hex())]
    for shift in range(3):
        # Only the base64 characters made of the value's own bytes do not depend on its neighbours.
        coded = base64.b64encode(b"\x00" * shift + raw)
        stable = coded[(shift * 8 + 5) // 6 : (shift + len(raw)) * 8 // 6].decode()
        url_safe = stable.replace("+", "-").replace("/", "_")
        found += (Form(text, any_case=False, coded=True) for text in (stable, url_safe))
    return tuple(dict.fromkeys(found))


def find_value(layers: tuple[Layer, ...], value: str) -> Iterator[tuple[int, int]]:
    """Every occurrence of the value in any form, as start and end in the source."""
    for layer in layers:
        for form in forms_of(value):
            haystack = layer.folded if form.any_case else layer.text
            start = haystack.find(form.text)
            while start >= 0:
                end = start + len(form.text)
                before, after = _base64_margin(layer.text, start, end) if form.coded else (0, 0)
                yield layer.source(start - before), layer.source(end + after)
                start = haystack.find(form.text, start + 1)


def find_truncated(layers: tuple[Layer, ...], value: str) -> Iterator[tuple[int, int]]:
    """Where the text ends, or an ellipsis shortens it, in the middle of the value."""
    for layer in layers:
        for form in forms_of(value):
            if form.coded or len(form.text) <= _BEGINNING:
                continue
            beginning = form.text[:_BEGINNING]
            at_end = layer.folded.rfind(beginning, -len(form.text) - 1) >= 0
            ends = [match.start() for match in re.finditer("…", layer.folded)]
            for end in [len(layer.folded), *ends] if at_end else ends:
                start = layer.folded.rfind(beginning, max(0, end - len(form.text)), end)
                if start >= 0 and form.text.startswith(layer.folded[start:end]):
                    yield layer.source(start), layer.source(end)


def _base64_margin(text: str, start: int, end: int) -> tuple[int, int]:
    """The base64 characters before and after that hold bits of the value too, and the padding."""
    before = int(start > 0 and text[start - 1] in _BASE64)
    after = int(end < len(text) and text[end] in _BASE64)
    while end + after < len(text) and text[end + after] == "=":
        after += 1
    return before, after


def _unescape(layer: Layer) -> Layer | None:
    """The layer with its escapes undone once; None if it has none."""
    out: list[str] = []
    starts: list[int] = []
    places: list[int] = []
    length = read = 0
    for match in _ESCAPE.finditer(layer.text):
        at = match.start()
        between = layer.text[read:at]
        pieces = [(between, len(between))] if between else []
        at = read
        for piece, width in (*pieces, *_decode(match[0])):
            starts.append(length)
            places.append(at)
            out.append(piece)
            length += len(piece)
            at += width
        read = match.end()
    text = "".join([*out, layer.text[read:]])
    if text == layer.text:
        return None
    return Layer(text, folded(text), outer=layer, starts=(*starts, length), places=(*places, read))


def _decode(escape: str) -> Iterator[tuple[str, int]]:
    """The characters of an escape, each with the part of the escape that it takes."""
    if escape[0] == "%":
        yield from _decode_percent(escape)
        return
    character = ""
    if escape[0] == "~":
        character = "~/"[int(escape[1])]
    elif escape[0] == "&":
        character = html.unescape(escape if escape.endswith(";") else f"{escape};")
    elif len(escape) == 12 and escape[1] == "u" and escape[2] != "{":
        character = (bytes.fromhex(escape[2:6]) + bytes.fromhex(escape[8:])).decode("utf-16-be")
    elif escape[1] in "uUx" and len(escape) > 2:
        number = int(escape[2:].strip("{}"), 16)
        character = chr(number) if number <= 0x10FFFF else ""
    else:
        character = _SINGLE.get(escape[1], escape[1])
    if len(character) == 1:
        yield character, len(escape)
    else:  # not an escape after all, or an entity of two characters
        yield from ((each, 1) for each in escape)


def _decode_percent(escape: str) -> Iterator[tuple[str, int]]:
    """The characters of percent-encoded bytes; a byte outside UTF-8 is read as Latin-1."""
    raw = bytes.fromhex(escape.replace("%", ""))
    at = 0
    while at < len(raw):
        size = next((size for size in (1, 2, 3, 4) if _is_character(raw[at : at + size])), 0)
        yield (raw[at : at + size].decode(), 3 * size) if size else (chr(raw[at]), 3)
        at += size or 1


def _is_character(raw: bytes) -> bool:
    try:
        return len(raw.decode()) == 1
    except UnicodeDecodeError:
        return False
