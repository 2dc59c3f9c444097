"""What stands in a text whatever it was encoded by: found in the text with its escapes undone, told by its place in the text."""

import base64
import html
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from faultspec.leaks import folded

#: An escape of JSON (RFC 8259, 7), programming languages, HTML, URLs (RFC 3986, 2.1) or JSON Pointer (RFC 6901, 3).
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

#: An encoding in an encoding in an encoding: JSON in a header of a log line in JSON.
_LAYERS = 4

_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")

#: Of a text that was cut off, so much of what it is searched for shows that it was there.
_BEGINNING = 6


@dataclass(frozen=True, slots=True)
class Form:
    """One way in which a value is written. ``whatever_case``: letters of either case are the same. ``coded``: base64."""

    text: str
    whatever_case: bool = True
    coded: bool = False


@dataclass(frozen=True, slots=True)
class Layer:
    """A text with its escapes undone once more than in ``outer``, or the source itself.

    From ``starts[i]`` on, its characters are those of ``outer`` from ``places[i]`` on.
    """

    text: str
    folded: str
    outer: "Layer | None" = None
    starts: tuple[int, ...] = ()
    places: tuple[int, ...] = ()

    def source(self, at: int) -> int:
        """Where a place of this text is in the source."""
        if self.outer is None:
            return at
        which = bisect_right(self.starts, at) - 1
        return self.outer.source(self.places[which] + at - self.starts[which])


def layers(text: str) -> tuple[Layer, ...]:
    """The text as it is, and with its escapes undone once, twice, and so on until none is left."""
    found = [Layer(text, folded(text))]
    for _ in range(_LAYERS):
        inner = _undone(found[-1])
        if inner is None:
            break
        found.append(inner)
    return tuple(found)


def undone(text: str) -> str:
    """The text with its escapes undone once."""
    inner = _undone(Layer(text, ""))
    return text if inner is None else inner.text


@lru_cache(maxsize=4096)  # a run plants a few hundred values, and each is looked for in every text
def forms(value: str) -> tuple[Form, ...]:
    """The texts of which one stands wherever the value does, once escapes are undone."""
    plain: list[str] = []
    before = ""
    decoded = value
    while decoded != before and len(plain) <= _LAYERS:
        plain.append(decoded)
        before, decoded = decoded, undone(decoded)
    plain += [each.replace(" ", "+") for each in plain if " " in each]
    if not value.isascii():
        raw = value.encode("utf-8", "surrogatepass")
        plain.append(raw.decode("latin-1"))  # as headers are read
        plain += (
            [value.encode("latin-1").decode("utf-8", "surrogateescape")] if _latin(value) else []
        )
    found = [Form(folded(each)) for each in plain]
    raw = value.encode("utf-8", "surrogatepass")
    found.append(Form(raw.hex()))
    for shift in range(3):
        # Of base64 only the characters made of the value's own bytes are the same whatever stands around it.
        coded = base64.b64encode(b"\x00" * shift + raw)
        stable = coded[(shift * 8 + 5) // 6 : (shift + len(raw)) * 8 // 6].decode()
        found.append(Form(stable, whatever_case=False, coded=True))
        found.append(Form(stable.translate({43: "-", 47: "_"}), whatever_case=False, coded=True))
    return tuple(dict.fromkeys(found))


def places(layered: tuple[Layer, ...], value: str) -> Iterator[tuple[int, int]]:
    """Where the value stands in the text that the layers are of, in any form: beginnings and ends."""
    for layer in layered:
        for form in forms(value):
            haystack = layer.folded if form.whatever_case else layer.text
            start = haystack.find(form.text)
            while start >= 0:
                end = start + len(form.text)
                yield (
                    layer.source(start - _before(layer.text, start, form)),
                    layer.source(end + _after(layer.text, end, form)),
                )
                start = haystack.find(form.text, start + 1)


def cut_off(layered: tuple[Layer, ...], value: str) -> Iterator[tuple[int, int]]:
    """Where the text ends, or was shortened with an ellipsis, in the middle of the value."""
    for layer in layered:
        for form in forms(value):
            if form.coded or len(form.text) <= _BEGINNING:
                continue
            beginning = layer.folded.rfind(form.text[:_BEGINNING], -len(form.text) - 1)
            ends = [len(layer.folded)] if beginning >= 0 else []
            at = layer.folded.find("…")
            while at >= 0:
                ends.append(at)
                at = layer.folded.find("…", at + 1)
            for end in ends:
                start = layer.folded.rfind(
                    form.text[:_BEGINNING], max(0, end - len(form.text)), end
                )
                if start >= 0 and form.text.startswith(layer.folded[start:end]):
                    yield layer.source(start), layer.source(end)


def _before(text: str, start: int, form: Form) -> int:
    """The character of base64 that holds bits of the value's first byte and of another's."""
    return int(form.coded and start > 0 and text[start - 1] in _BASE64)


def _after(text: str, end: int, form: Form) -> int:
    if not form.coded:
        return 0
    more = int(end < len(text) and text[end] in _BASE64)
    while end + more < len(text) and text[end + more] == "=":
        more += 1
    return more


def _latin(value: str) -> bool:
    return all(ord(each) < 256 for each in value)


def _undone(layer: Layer) -> Layer | None:
    """The layer with its escapes undone once; None where it has none."""
    out: list[str] = []
    starts: list[int] = []
    places: list[int] = []
    made = read = 0
    for match in _ESCAPE.finditer(layer.text):
        pieces = list(_pieces(match[0]))
        between = layer.text[read : match.start()]
        if between:
            starts.append(made)
            places.append(read)
            out.append(between)
            made += len(between)
        at = match.start()
        for character, width in pieces:
            starts.append(made)
            places.append(at)
            out.append(character)
            made += 1
            at += width
        read = match.end()
    if not out:
        return None
    rest = layer.text[read:]
    starts.append(made)
    places.append(read)
    text = "".join([*out, rest])
    if text == layer.text:
        return None
    return Layer(text, folded(text), layer, tuple(starts), tuple(places))


def _pieces(escape: str) -> Iterator[tuple[str, int]]:
    """The characters of an escape, each with how much of the escape it takes."""
    if escape[0] == "%":
        raw = bytes.fromhex(escape.replace("%", ""))
        at = 0
        while at < len(raw):
            size = next((n for n in (1, 2, 3, 4) if _decodes(raw[at : at + n])), 0)
            yield (raw[at : at + size].decode(), 3 * size) if size else (chr(raw[at]), 3)
            at += size or 1
    elif escape[0] == "~":
        yield "~/"[int(escape[1])], 2
    elif escape[0] == "&":
        character = html.unescape(escape if escape.endswith(";") else f"{escape};")
        if len(character) == 1:
            yield character, len(escape)
        else:  # no entity, or one of two characters
            yield from ((each, 1) for each in escape)
    elif len(escape) == 12 and escape[1] == "u" and escape[2] != "{":
        yield (bytes.fromhex(escape[2:6]) + bytes.fromhex(escape[8:])).decode("utf-16-be"), 12
    elif escape[1] in "uUx" and len(escape) > 2:
        number = int(escape[2:].strip("{}"), 16)
        if number <= 0x10FFFF:
            yield chr(number), len(escape)
        else:
            yield from ((each, 1) for each in escape)
    else:
        yield _SINGLE.get(escape[1], escape[1]), 2


def _decodes(raw: bytes) -> bool:
    try:
        return len(raw.decode()) == 1
    except UnicodeDecodeError:
        return False
