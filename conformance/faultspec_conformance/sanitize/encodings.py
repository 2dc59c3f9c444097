"""Finding a value in a text in any of its encodings.

The text is unescaped layer by layer, and runs of base64, hexadecimal and base32 are decoded twice.
A value found in a layer is reported by its place in the source, or by that of its whole run.
"""

import base64
import html
import json
import re
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import quote

from faultspec.leaks import fold_case
from faultspec.leaks.layers import (
    Layer,
    decompose,
    join_lines,
    plain_letters,
    unescape,
    unquote_printable,
)

#: Encodings inside each other that are undone: JSON in a header of a log line in JSON takes three.
_LAYERS = 4

#: Runs of digits inside each other that are decoded.
_RUNS = 2

#: Characters of the shortest run that is decoded, and of all that one text yields.
_RUN = 16
_DECODED = 512 * 1024

#: What stands for the rest of a text that is cut.
_CUT = re.compile(r"\[(?:…|\.{3,})\]|…|\.{3,}|\*{3,}")

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
class _DecodedRuns:
    """Runs of digits of a layer that were decoded. ``starts``: where each begins in the joined
    text; ``places``: its start and end in the layer.
    """

    layer: "FoldedLayer"
    starts: tuple[int, ...]
    places: tuple[tuple[int, int], ...]

    def place(self, at: int) -> tuple[int, int]:
        """The place of the run at an offset, in the source."""
        start, end = self.places[max(0, bisect_right(self.starts, at) - 1)]
        return self.layer.source(start), self.layer.source_end(end)


@dataclass(frozen=True, slots=True)
class FoldedLayer:
    """A layer, its text, and the same in lower case. ``cuts``: where the text is cut.

    ``runs``: the runs that the layer was decoded from, if it was. What is found in such a layer is
    reported as its whole run. ``joined``: its lines are joined. ``unread``: the places in the
    source of runs that were not decoded to their ends, because they or all of them are too long.
    """

    layer: Layer
    text: str
    folded: str
    cuts: tuple[tuple[int, int], ...] = ()
    runs: _DecodedRuns | None = None
    joined: bool = False
    unread: tuple[tuple[int, int], ...] = ()

    def source(self, at: int) -> int:
        """The offset in the source of the offset in this text at which something begins."""
        place = self.layer.source(at)
        return place if self.runs is None else self.runs.place(place)[0]

    def source_end(self, at: int) -> int:
        """The same where something ends."""
        place = self.layer.source(at)
        return place if self.runs is None else self.runs.place(max(0, place - 1))[1]


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write a value. ``any_case``: upper and lower case are equal. ``coded``: it is
    base64.
    """

    text: str
    any_case: bool = True
    coded: bool = False


def unescape_layers(text: str, *, joins_lines: bool = True) -> tuple[FoldedLayer, ...]:
    """The text itself, then unescaped once, twice, and so on until no escape is left; each of these
    in plain letters and with joined lines; and the same for the runs of digits and what is
    quoted-printable in it, decoded, and for those in these.

    ``joins_lines``: a value that is looked for has blanks.
    """
    found = _unescape_all(Layer(text), None)
    seen, newest = {text}, [found[0], found[-1]]
    for _ in range(_RUNS):
        layers, newest = newest, []
        for layer in layers:
            decoded, runs, unread = _decode_runs(layer)
            if runs is not None and decoded not in seen:
                seen.add(decoded)
                inner = _unescape_all(Layer(decoded), runs)
                inner[0] = replace(inner[0], unread=unread)
                found += inner
                newest += [inner[0], inner[-1]][: len(inner)]
            quoted = unquote_printable(layer.layer)
            if quoted is not None and quoted.text not in seen:
                seen.add(quoted.text)
                inner = _unescape_all(quoted, layer.runs)
                found += inner
                newest += [inner[0], inner[-1]][: len(inner)]
    joined = ((layer, join_lines(layer.layer)) for layer in found if joins_lines)
    return (
        *found,
        *(_fold(one, layer.runs, joined=True) for layer, one in joined if one is not None),
    )


def _unescape_all(beginning: Layer, runs: _DecodedRuns | None) -> list[FoldedLayer]:
    layer: Layer | None = beginning
    found: list[FoldedLayer] = []
    while layer is not None and len(found) <= _LAYERS:
        found.append(_fold(layer, runs))
        layer = unescape(layer)
    plain = (decompose(folded.layer) for folded in found)
    return [*found, *(_fold(layer, runs) for layer in plain if layer is not None)]


def _fold(layer: Layer, runs: _DecodedRuns | None, *, joined: bool = False) -> FoldedLayer:
    cuts = tuple(cut.span() for cut in _CUT.finditer(layer.text))
    folded = fold_case(layer.text)
    return FoldedLayer(layer, layer.text, folded, cuts=cuts, runs=runs, joined=joined)


def _decode_runs(
    layer: FoldedLayer,
) -> tuple[str, _DecodedRuns | None, tuple[tuple[int, int], ...]]:
    """The decoded runs of digits in a layer, joined, and their places; and the places in the source
    of those that were not decoded to their ends.
    """
    texts: list[str] = []
    starts: list[int] = []
    places: list[tuple[int, int]] = []
    unread: list[tuple[int, int]] = []
    length = 0
    for match in _RUN_OF_DIGITS.finditer(layer.text):
        if length > _DECODED:
            unread.append(match.span())
            continue
        for decoded, is_whole in _decode_run(match[0]):
            if not is_whole:
                unread.append(match.span())
            if decoded:
                texts.append(decoded)
                starts.append(length)
                places.append(match.span())
                length += len(decoded) + 1
    sources = tuple((layer.source(start), layer.source_end(end)) for start, end in unread)
    return "\0".join(texts), _DecodedRuns(layer, (*starts,), (*places,)) if texts else None, sources


_RUN_OF_DIGITS = re.compile(rf"[A-Za-z0-9+/_-]{{{_RUN},}}={{0,6}}")
_HEXADECIMAL = re.compile(rf"[0-9A-Fa-f]{{{_RUN},}}")
_BASE32 = re.compile(rf"[A-Z2-7]{{{_RUN},}}|[a-z2-7]{{{_RUN},}}")
_ASCII = re.compile(rb"[ -~]{4,}")

#: Places of one run at which compressed data may begin. Random bytes have four in 64 KiB.
_BEGINNINGS = 32

#: How data of gzip and zlib begin (RFC 1952, 2.3; RFC 1950, 2.2).
_COMPRESSED = re.compile(b"\x1f\x8b\x08|x[\x01\x5e\x9c\xda]")


def _decode_run(run: str) -> Iterator[tuple[str, bool]]:
    """The texts that a run of digits may encode, each with whether it is whole. Base64 may begin at
    any of four.
    """
    digits = run.rstrip("=")
    # Other letters of the alphabet may stand before the digits, so all places are tried.
    for found in _HEXADECIMAL.finditer(digits):
        for shift in range(2):
            part = found[0][shift:]
            yield _read_text(bytes.fromhex(part[: len(part) & ~1])), True
    for found in _BASE32.finditer(digits):
        for shift in range(8):
            part = found[0][shift:].upper()
            part = part[: len(part) - (len(part) % 8 in (1, 3, 6))]
            yield _read_text(base64.b32decode(part + "=" * (-len(part) % 8))), True
    standard = digits.translate(_STANDARD)
    for shift in range(4):
        part = standard[shift:]
        raw = base64.b64decode(part[: len(part) - (len(part) % 4 == 1)] + "==")
        yield _read_text(raw), True
        yield from _inflate_all(raw)


def _inflate_all(raw: bytes) -> Iterator[tuple[str, bool]]:
    """The texts that are compressed in bytes, from each place at which such data may begin."""
    size = 0
    for number, magic in enumerate(_COMPRESSED.finditer(raw)):
        if number >= _BEGINNINGS or size >= _INFLATED:
            yield "", False
            return
        inflated, is_whole = _inflate(raw[magic.start() :])
        size += len(inflated)
        if inflated:
            yield _read_text(inflated), is_whole


def _inflate(data: bytes) -> tuple[bytes, bool]:
    """The decompressed members, one behind the other, and whether there are no more."""
    found = b""
    while _COMPRESSED.match(data) and len(found) < _INFLATED:
        inflater = zlib.decompressobj(zlib.MAX_WBITS | 32)  # the header says which
        try:
            found += inflater.decompress(data, _INFLATED - len(found))
        except zlib.error:
            return found, True
        if not inflater.eof:
            # The end of a run may be cut, and the data with it.
            return found, len(found) < _INFLATED
        data = inflater.unused_data
    return found, _COMPRESSED.match(data) is None


def _read_text(raw: bytes) -> str:
    """The bytes as text, else the texts of ASCII among them: others have no secrets."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return "\0".join(found.decode("ascii") for found in _ASCII.findall(raw))


_STANDARD = str.maketrans("-_", "+/")

#: Bytes that one compressed run may have.
_INFLATED = 64 * 1024


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
    plain += _rewritten_forms(value)
    plain += [text.replace(" ", "+") for text in plain if " " in text]
    # Read as a form.
    plain += [text.replace("+", " ") for text in plain if "+" in text and _LEFT.match(text)]
    plain += [" ".join(text.split()) for text in plain if len(text.split()) > 1]  # in one line
    raw = value.encode("utf-8", "surrogatepass")
    raws = [raw]
    if not value.isascii():
        plain += [plain_letters(text) for text in plain]
        plain.append(raw.decode("latin-1"))  # as headers are read
        if all(ord(character) < 256 for character in value):
            raws.append(value.encode("latin-1"))
            plain.append(raws[-1].decode("utf-8", "surrogateescape"))
    # Of `ı` and `I`, which is its upper case, case folding makes different letters.
    cases = (case for text in plain for case in (text, text.upper(), text.lower()))
    found = [Form(fold_case(text)) for text in cases]
    for raw in raws:
        found += [Form(raw.hex()), *_base64_forms(raw)]
    return tuple(dict.fromkeys(found))


#: Letters of a value so long that it differs from all others without its first or last one.
_LONG = 20

#: The least that is left of a value in a character set that lacks letters of it.
_LEFT = re.compile(r"(?:.*[A-Za-z0-9]){6}", re.DOTALL)

_ALPHABETS = (str.maketrans("+/", "-_"), str.maketrans("-_", "+/"))
_BASE64_TEXT = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")


def _rewritten_forms(value: str) -> Iterator[str]:
    """The value as programs rewrite it: base64 in its other alphabet or without padding, quotes
    doubled as in SQL and CSV, without the first or the last letter, and in a character set that
    lacks letters of it.
    """
    if _BASE64_TEXT.fullmatch(value):
        texts = [value, *map(value.translate, _ALPHABETS)]
        yield from (text.rstrip("=") for text in texts)
        yield from texts[1:]
    yield from (value.replace(sign, sign * 2) for sign in "'\"" if sign in value)
    if len(value) >= _LONG:
        yield from (value[1:], value[:-1])
    if not value.isascii():
        if _LEFT.match(value):
            yield from (re.sub(r"[^\0-\x7f]", sign, value) for sign in "?\ufffd")
        yield value.encode("utf-8", "surrogatepass").decode("cp1252", "replace")


def _base64_forms(raw: bytes) -> Iterator[Form]:
    for shift in range(3):
        # Only the base64 characters made of the value's own bytes do not depend on its neighbours.
        coded = base64.b64encode(b"\x00" * shift + raw)
        stable = coded[(shift * 8 + 5) // 6 : (shift + len(raw)) * 8 // 6].decode()
        url_safe = stable.replace("+", "-").replace("/", "_")
        yield from (Form(text, any_case=False, coded=True) for text in (stable, url_safe))


def find_unread(layers: tuple[FoldedLayer, ...]) -> Iterator[tuple[int, int]]:
    """The places in the source where a value may stand that is not found."""
    return (place for layer in layers for place in layer.unread)


def find_value(layers: tuple[FoldedLayer, ...], value: str) -> Iterator[tuple[int, int]]:
    """Every occurrence of the value in any form, as start and end in the source."""
    for layer in layers:
        for form in _forms_in(layer, value):
            haystack = layer.folded if form.any_case else layer.text
            for start, end in _occurrences(haystack, form.text):
                before, after = _base64_margin(layer.text, start, end) if form.coded else (0, 0)
                yield layer.source(start - before), layer.source_end(end + after)


def _forms_in(layer: FoldedLayer, value: str) -> Iterable[Form]:
    """The forms of a value that a layer may have and other layers have not."""
    forms = forms_of(value)
    return (form for form in forms if " " in form.text) if layer.joined else forms


def find_truncated(
    layers: tuple[FoldedLayer, ...], value: str, *, at_end: bool = True
) -> Iterator[tuple[int, int]]:
    """Where the text ends, or an ellipsis shortens it, in the middle of the value. ``at_end``: the
    text may be cut at its end.
    """
    for layer in layers:
        if not at_end and not layer.cuts:
            continue
        for form in _forms_in(layer, value):
            text = layer.folded if form.any_case else layer.text
            beginning = form.text[:_CODED] if form.coded else _beginning(form.text)
            if len(form.text) <= len(beginning):
                continue
            start = text.find(beginning)
            while start >= 0:
                # Where it occurs several times before one end, the first occurrence counts.
                end = _next_cut(layer, start, start + len(form.text))
                if end < 0 and at_end and len(text) - start <= len(form.text):
                    end = len(text)
                if end >= 0 and _begins(form.text, text[start:end], len(beginning)):
                    yield layer.source(start), layer.source_end(end)
                    start = end
                start = text.find(beginning, start + 1)


def _next_cut(layer: FoldedLayer, start: int, last: int) -> int:
    """Where the first cut between two offsets begins, or -1."""
    number = bisect_left(layer.cuts, (start, start))
    at = layer.cuts[number][0] if number < len(layer.cuts) else -1
    return at if at <= last else -1


def find_beheaded(layers: tuple[FoldedLayer, ...], value: str) -> Iterator[tuple[int, int]]:
    """Where an ellipsis stands for the beginning of the value."""
    for layer in layers:
        if not layer.cuts:
            continue
        ends = [end for _, end in layer.cuts]
        for form in _forms_in(layer, value):
            text = layer.folded if form.any_case else layer.text
            ending = form.text[-(_CODED if form.coded else _BEGINNING) :]
            for start, end in _occurrences(text, ending):
                number = bisect_right(ends, start) - 1
                if number < 0 or ends[number] <= end - len(form.text):
                    continue
                cut = ends[number]
                if form.text.endswith(text[cut:end]):
                    yield layer.source(cut), layer.source_end(end)


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
