"""Finding a value in a text in any of its encodings.

The text is unescaped layer by layer. A value found in a layer is reported by its place in the
source.
"""

import base64
import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

from faultspec.leaks import fold_case
from faultspec.leaks.layers import Layer, unescape

#: Encodings inside each other that are undone: JSON in a header of a log line in JSON takes three.
_LAYERS = 4

_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")

#: Characters at the end of a truncated text that identify the value they are the beginning of.
_BEGINNING = 6

#: The same in base64, where six characters have only four of the value.
_CODED = 8

#: A word that names the kind of a value, as the scheme in `bearer abc` does: texts end with such
#: words by chance.
_LEADING_WORD = re.compile(r"[a-z]+[^a-z0-9]+(?=.)", re.DOTALL)

#: What a truncated escape leaves: its first characters, such as `\\U0001F4`, or the half of a
#: character.
_TRUNCATED_ESCAPE = re.compile("(?:[\\\\%&=][^\\\\%&=]{0,7}|[\ud800-\udfff\ufffd]{1,3})$")


@dataclass(frozen=True, slots=True)
class FoldedLayer:
    """A layer, its text, and the same in lower case."""

    layer: Layer
    text: str
    folded: str

    def source(self, at: int) -> int:
        """The offset in the source of an offset in this text."""
        return self.layer.source(at)


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write a value. ``any_case``: upper and lower case are equal. ``coded``: it is
    base64.
    """

    text: str
    any_case: bool = True
    coded: bool = False


def unescape_layers(text: str) -> tuple[FoldedLayer, ...]:
    """The text itself, then unescaped once, twice, and so on until no escape is left."""
    layer: Layer | None = Layer(text)
    found: list[FoldedLayer] = []
    while layer is not None and len(found) <= _LAYERS:
        found.append(FoldedLayer(layer, layer.text, fold_case(layer.text)))
        layer = unescape(layer)
    return tuple(found)


def _unescape(text: str) -> str:
    inner = unescape(Layer(text))
    return text if inner is None else inner.text


@lru_cache(maxsize=4096)  # a run plants a few hundred values and searches every text for each
def forms_of(value: str) -> tuple[Form, ...]:
    """The forms of a value: an unescaped text that contains the value contains one of them."""
    plain: list[str] = []
    before = ""
    decoded = value
    while decoded != before and len(plain) <= _LAYERS:
        plain.append(decoded)
        before, decoded = decoded, _unescape(decoded)
    # A layer undoes all escapes at once, also those that the value itself consists of. So the value
    # is also looked for as it is escaped.
    plain += [json.dumps(value)[1:-1], html.escape(value)]
    plain += [quote(value, safe, errors="surrogatepass") for safe in ("", "/")]
    plain += [text.replace(" ", "+") for text in plain if " " in text]
    plain += [" ".join(text.split()) for text in plain if len(text.split()) > 1]  # in one line
    raw = value.encode("utf-8", "surrogatepass")
    if not value.isascii():
        plain.append(raw.decode("latin-1"))  # as headers are read
        if all(ord(character) < 256 for character in value):
            plain.append(value.encode("latin-1").decode("utf-8", "surrogateescape"))
    # Of `ı` and `I`, which is its upper case, case folding makes different letters.
    cases = (case for text in plain for case in (text, text.upper(), text.lower()))
    found = [*(Form(fold_case(text)) for text in cases), Form(raw.hex())]
    for shift in range(3):
        # Only the base64 characters made of the value's own bytes do not depend on its neighbours.
        coded = base64.b64encode(b"\x00" * shift + raw)
        stable = coded[(shift * 8 + 5) // 6 : (shift + len(raw)) * 8 // 6].decode()
        url_safe = stable.replace("+", "-").replace("/", "_")
        found += (Form(text, any_case=False, coded=True) for text in (stable, url_safe))
    return tuple(dict.fromkeys(found))


def find_value(layers: tuple[FoldedLayer, ...], value: str) -> Iterator[tuple[int, int]]:
    """Every occurrence of the value in any form, as start and end in the source."""
    for layer in layers:
        for form in forms_of(value):
            haystack = layer.folded if form.any_case else layer.text
            for start, end in _occurrences(haystack, form.text):
                before, after = _base64_margin(layer.text, start, end) if form.coded else (0, 0)
                yield layer.source(start - before), layer.source(end + after)


def find_truncated(layers: tuple[FoldedLayer, ...], value: str) -> Iterator[tuple[int, int]]:
    """Where the text ends, or an ellipsis shortens it, in the middle of the value."""
    for layer in layers:
        for form in forms_of(value):
            text = layer.folded if form.any_case else layer.text
            beginning = form.text[:_CODED] if form.coded else _beginning(form.text)
            if len(form.text) <= len(beginning):
                continue
            start = text.find(beginning)
            while start >= 0:
                # Where it occurs several times before one end, the first occurrence counts.
                end = text.find("…", start, start + len(form.text) + 1)
                if end < 0 and len(text) - start <= len(form.text):
                    end = len(text)
                if end >= 0 and _begins(form.text, text[start:end], len(beginning)):
                    yield layer.source(start), layer.source(end)
                    start = end
                start = text.find(beginning, start + 1)


def find_beheaded(layers: tuple[FoldedLayer, ...], value: str) -> Iterator[tuple[int, int]]:
    """Where an ellipsis stands for the beginning of the value."""
    for layer in layers:
        if "…" not in layer.folded:
            continue
        for form in forms_of(value):
            text = layer.folded if form.any_case else layer.text
            ending = form.text[-(_CODED if form.coded else _BEGINNING) :]
            for start, end in _occurrences(text, ending):
                cut = text.rfind("…", max(0, end - len(form.text)), start)
                if cut >= 0 and form.text.endswith(text[cut + 1 : end]):
                    yield layer.source(cut + 1), layer.source(end)


def _occurrences(text: str, part: str) -> Iterator[tuple[int, int]]:
    """Yield where a part occurs in a text, as start and end; occurrences that overlap are one."""
    start = text.find(part)
    while start >= 0:
        end = start + len(part)
        following = text.find(part, start + 1)
        while 0 <= following < end:
            end = following + len(part)
            following = text.find(part, following + 1)
        yield start, end
        start = following


def _beginning(value: str) -> str:
    """The shortest beginning that identifies a value: more than its leading word, such as the
    `faultspec-` of a canary.
    """
    word = _LEADING_WORD.match(value)
    return value[: max(_BEGINNING, word.end() + 1 if word else 0)]


def _begins(value: str, text: str, shortest: int) -> bool:
    """Whether a text is the beginning of a value, up to an escape that is truncated itself."""
    escape = _TRUNCATED_ESCAPE.search(text, shortest)
    return value.startswith(text) or (
        escape is not None and value.startswith(text[: escape.start()])
    )


def _base64_margin(text: str, start: int, end: int) -> tuple[int, int]:
    """The base64 characters before and after that hold bits of the value too, and the padding."""
    before = int(start > 0 and text[start - 1] in _BASE64)
    after = int(end < len(text) and text[end] in _BASE64)
    while end + after < len(text) and text[end + after] == "=":
        after += 1
    return before, after
