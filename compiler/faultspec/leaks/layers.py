"""Texts inside texts: escapes, HTML tags and base64 undone, with the place of every character.

A value found in an inner text is reported by its place in the source.
"""

import base64
import html
import re
import unicodedata
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

_ESCAPES = r"""
    (?:%[0-9A-Fa-f]{2})+ | %u[0-9A-Fa-f]{4} | \\[0-3][0-7]{2}
    | \\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}
    | \\u[0-9A-Fa-f]{4} | \\u\{[0-9A-Fa-f]{1,6}\} | \\U[0-9A-Fa-f]{8} | \\x[0-9A-Fa-f]{2}
    | \\.
    | &\#[0-9]{1,99};? | &\#[xX][0-9A-Fa-f]{1,99};? | &[A-Za-z][A-Za-z0-9]{1,31};
    """

#: An escape of JSON (RFC 8259, 7), programming languages, HTML, URLs (RFC 3986, 2.1) or JSON
#: Pointer (RFC 6901, 3).
_ESCAPE = re.compile(rf"{_ESCAPES} | ~[01]", re.VERBOSE | re.DOTALL)

#: An element of HTML or a comment. Elements of other languages are data.
_TAGS = (
    r"</?(?:abbr|address|article|aside|a|big|blockquote|body|br|button|b|center|cite|code|dd|details|div"
    r"|dl|dt|em|fieldset|font|footer|form|h[1-6]|header|head|hr|html|img|input|ins|i|kbd|label|link|li"
    r"|main|mark|meta|nav|ol|option|pre|p|q|samp|script|section|select|small|span|strong|style|sub"
    r"|summary|sup|svg|s|table|tbody|td|textarea|tfoot|thead|th|title|tr|tt|ul|u|var)"
    r"(?![\w-])[^<>\x00]{0,400}>|<!--[^<>\x00]{0,400}-->"
)

#: HTML: its tags and entities.
_HTML = re.compile(
    rf"{_TAGS}|&\#[0-9]{{1,7}};?|&\#[xX][0-9A-Fa-f]{{1,6}};?|&[A-Za-z]\w{{1,31}};", re.I
)
_TAG = re.compile(_TAGS, re.IGNORECASE)

#: An escape, or a run of hexadecimal or base64 digits, also of the alphabet for URLs.
_DRESS = re.compile(
    rf"{_ESCAPES}"
    r"| (?<![\w.+/-])(?:0x)?(?:(?:[0-9a-f]{2}){16,4000}|(?:[0-9A-F]{2}){16,4000})(?![\w-])"
    r"| (?<![A-Za-z0-9+/_.-])(?:[A-Za-z0-9+/_-]{4}){5,}(?:[A-Za-z0-9+/_-]{2,3}={0,2})?",
    re.VERBOSE | re.DOTALL,
)

#: The beginning of a parameter of a URL.
_PARAMETER = re.compile(r"[?&][\w.-]{1,60}=")

#: Characters of the shortest run of base64 that is decoded: sixteen bytes of text.
_SHORTEST = 22

#: A run that may be base64.
_RUN = re.compile(r"[A-Za-z0-9+/_-]{22,}")

#: Bytes of printable ASCII text, in hexadecimal.
_HEXADECIMAL = re.compile(r"(?:0x)?(?:[2-7][0-9a-fA-F]|0[aAdD9]){16}")

#: Tags that separate words; others may stand inside a word.
_BREAK = re.compile(
    r"</?(?:br|p|div|li|tr|td|th|h[1-6]|pre|table|title|ul|ol|dd|dt|section)\b", re.IGNORECASE
)

#: A string in a binary message, and what is none.
_STRING = re.compile(r"[ -~]{16,}")
_BINARY = re.compile(r"[^ -~\r\n\t]")

#: Characters that compressed text may have: more would be slow to search.
_INFLATED = 64 * 1024

#: The least share of strings in a binary message that is searched.
_TEXTUAL = 0.6

#: Dashes that look like the hyphen of ASCII, and the sign for minus.
_DASH = re.compile("[\u2010-\u2015\u2212]")

#: Bytes of quoted-printable text (RFC 2045, section 6.7), and its soft line breaks. Digits are in
#: upper case, so `?limit=face` is none.
_QUOTED = re.compile(r"(?:=[0-9A-F]{2}|=\r?\n)+")
_QUOTED_PART = re.compile(r"=(?:([0-9A-F]{2})|\r?\n)")

_BLANKS = re.compile(r"\s{2,}|[^\S ]")

_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")

_SINGLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True)
class Layer:
    """The source text, or the text of ``outer`` with its encoding undone once.

    Its characters from ``starts[i]`` on are those of ``outer`` from ``places[i]`` on.
    """

    text: str
    outer: "Layer | None" = None
    starts: tuple[int, ...] = ()
    places: tuple[int, ...] = ()

    def source(self, at: int) -> int:
        """The offset in the source of an offset in this text."""
        if self.outer is None:
            return at
        which = bisect_right(self.starts, at) - 1
        return self.outer.source(self.places[which] + at - self.starts[which])


def unescape(layer: Layer) -> Layer | None:
    """The layer with its escapes undone once; None if it has none."""
    return _rewrite(layer, _ESCAPE, _decode)


def unquote_printable(layer: Layer) -> Layer | None:
    """The layer with quoted-printable undone, and its lines joined at soft breaks; None if it has
    neither.
    """
    return _rewrite(layer, _QUOTED, _decode_quoted)


def join_lines(layer: Layer) -> Layer | None:
    """The layer with one blank for each break of a line and the blanks around it, and for several
    blanks; None if it has neither.
    """
    return _rewrite(layer, _BLANKS, lambda blanks: iter([(" ", len(blanks))]))


def decompose(layer: Layer) -> Layer | None:
    """The layer in plain letters, see `plain_letters`; None if it is.

    Letters with marks are the letter and its marks, however the source writes them.
    """
    text = layer.text
    if text.isascii() or (unicodedata.is_normalized("NFKD", text) and not _DASH.search(text)):
        return None
    return _rewrite(layer, _BEYOND_ASCII, _decompose)


def plain_letters(text: str) -> str:
    """The characters of a text that look the same to a reader, such as those of full width and
    mathematical ones, in compatibility decomposition (Unicode Standard Annex 15, NFKD). A dash is a
    hyphen.
    """
    return text if text.isascii() else "".join(map(_plain, text))


@lru_cache(maxsize=4096)
def _plain(character: str) -> str:
    return _DASH.sub("-", unicodedata.normalize("NFKD", character))


def _decompose(character: str) -> Iterator[tuple[str, int]]:
    yield from ((letter, int(at == 0)) for at, letter in enumerate(_plain(character)))


def undress(layer: Layer) -> Layer | None:
    """The layer without its tags, else with its escapes and base64 undone once; None if without.

    In the parameters of a URL ``+`` is a blank.
    """
    text = layer.text
    if "+" in text and " " not in text and ("%" in text or _PARAMETER.search(text)):
        layer = Layer(text.replace("+", " "), layer, (0,), (0,))
    pattern = _HTML if "<" in text and _TAG.search(text) else _DRESS
    return _rewrite(layer, pattern, _undress) or (layer if layer.text != text else None)


def is_dressed(text: str) -> bool:
    """Whether the text may have a tag, an escape, base64 or parameters of a URL."""
    return (
        "%" in text
        or "\\" in text
        or "&" in text
        or "<" in text
        or ("+" in text and _PARAMETER.search(text) is not None)
        or _may_be_base64(text)
    )


def _may_be_base64(text: str) -> bool:
    """Whether a long run has letters in both cases, or only hexadecimal digits of a text.

    ULIDs and hashes have one case; the first digit of an ASCII letter's byte is 2 to 7.
    """
    return any(
        not (run.isupper() or run.islower()) or _HEXADECIMAL.match(run) is not None
        for word in text.split()
        if len(word) >= _SHORTEST
        for run in _RUN.findall(word)
    )


Pieces = Iterator[tuple[str, int]]


def _rewrite(
    layer: Layer, pattern: re.Pattern[str], decode: Callable[[str], Pieces]
) -> Layer | None:
    """The layer with each match replaced by what it encodes; None if nothing changes."""
    out: list[str] = []
    starts: list[int] = []
    places: list[int] = []
    length = read = 0
    for match in pattern.finditer(layer.text):
        at = match.start()
        between = layer.text[read:at]
        pieces = [(between, len(between))] if between else []
        at = read
        for piece, width in (*pieces, *decode(match[0])):
            starts.append(length)
            places.append(at)
            out.append(piece)
            length += len(piece)
            at += width
        read = match.end()
    text = "".join([*out, layer.text[read:]])
    if text == layer.text:
        return None
    return Layer(text, outer=layer, starts=(*starts, length), places=(*places, read))


def _undress(dress: str) -> Pieces:
    """The characters of an escape, a tag or a run of base64, each with the part that it takes."""
    if dress[0] == "<":
        yield "\n" if _BREAK.match(dress) else "", len(dress)
    elif dress[0] in "%\\&":
        # A blank that does not break is a blank to patterns.
        yield from ((letter.replace("\xa0", " "), width) for letter, width in _decode(dress))
    elif text := _decode_hexadecimal(dress):
        prefix = len(dress) - 2 * len(text)
        yield from ((letter, 2 + prefix * (at == 0)) for at, letter in enumerate(text))
    elif text := _decompress(dress):
        # Every character stands for the whole run: compressed text has no places.
        yield from ((letter, 0) for letter in text[:-1])
        yield text[-1], len(dress)
    else:
        text = _decode_base64(dress)
        # Three characters come from four.
        yield from ((letter, 2 if at % 3 == 2 else 1) for at, letter in enumerate(text))
        if not text:
            yield dress, len(dress)


def _decode_base64(run: str) -> str:
    """The ASCII text of a run of base64; empty if it encodes something else."""
    try:
        raw = base64.b64decode(
            run + "=" * (-len(run) % 4), b"-_" if "-" in run or "_" in run else None
        )
    except ValueError:
        return ""
    return _printable(raw)


def _decompress(run: str) -> str:
    """The ASCII text of a run of base64 that is compressed by gzip or zlib; empty for others."""
    if not run.startswith(("H4sI", "eJ", "eN", "eA")):
        return ""
    try:
        raw = base64.b64decode(
            run + "=" * (-len(run) % 4), b"-_" if "-" in run or "_" in run else None
        )
        inflater = zlib.decompressobj(zlib.MAX_WBITS | 32)  # the header says which of the two
        return _printable(inflater.decompress(raw, _INFLATED))
    except (ValueError, zlib.error):
        return ""


def _decode_hexadecimal(run: str) -> str:
    """The ASCII text of a run of hexadecimal digits; empty if it encodes something else."""
    return (
        _printable(bytes.fromhex(run.removeprefix("0x")))
        if _HEXADECIMAL.match(run) and _is_hexadecimal(run.removeprefix("0x"))
        else ""
    )


def _is_hexadecimal(run: str) -> bool:
    return len(run) % 2 == 0 and all(digit in "0123456789abcdefABCDEF" for digit in run)


def _printable(raw: bytes) -> str:
    """The bytes as text; empty if they are not ASCII.

    Of a binary message, such as one of Protocol Buffers, the strings: random bytes have no long
    ones.
    """
    text = raw.decode("latin-1")
    if text.isascii() and all(letter.isprintable() or letter in "\r\n\t" for letter in text):
        return text
    strings = _STRING.sub(lambda match: "x" * len(match[0]), text).count("x")
    if not _STRING.search(text) or strings < len(text) * _TEXTUAL:
        return ""
    return _BINARY.sub("\n", text)


def _decode(escape: str) -> Pieces:
    """The characters of an escape, each with the part of the escape that it takes."""
    if escape[0] == "%" and escape[1] != "u":
        yield from _decode_percent(escape)
        return
    character = ""
    if escape[0] == "~":
        character = "~/"[int(escape[1])]
    elif escape[0] == "&":
        character = html.unescape(escape if escape.endswith(";") else f"{escape};")
    elif len(escape) == 12 and escape[1] == "u" and escape[2] != "{":
        character = (bytes.fromhex(escape[2:6]) + bytes.fromhex(escape[8:])).decode("utf-16-be")
    elif escape[1] in "0123" and len(escape) > 2:
        character = chr(int(escape[1:], 8))
    elif escape[1] in "uUx" and len(escape) > 2:
        number = int(escape[2:].strip("{}"), 16)
        character = chr(number) if number <= 0x10FFFF else ""
    else:
        character = _SINGLE.get(escape[1], escape[1])
    if len(character) == 1:
        yield character, len(escape)
    else:  # not an escape after all, or an entity of two characters
        yield from ((each, 1) for each in escape)


def _decode_percent(escape: str) -> Pieces:
    return _decode_bytes(bytes.fromhex(escape.replace("%", "")), (3,) * (len(escape) // 3))


def _decode_quoted(escape: str) -> Pieces:
    """The characters of bytes in quoted-printable. A byte takes the soft breaks behind it."""
    raw, widths, first = bytearray(), [], 0
    for part in _QUOTED_PART.finditer(escape):
        if part[1]:
            raw.append(int(part[1], 16))
            widths.append(len(part[0]))
        elif widths:
            widths[-1] += len(part[0])
        else:
            first += len(part[0])
    if first:
        yield "", first
    yield from _decode_bytes(bytes(raw), widths)


def _decode_bytes(raw: bytes, widths: Sequence[int]) -> Pieces:
    """The characters of bytes; a byte outside UTF-8 is read as Latin-1."""
    at = 0
    while at < len(raw):
        size = next((size for size in (1, 2, 3, 4) if _is_character(raw[at : at + size])), 0)
        width = sum(widths[at : at + (size or 1)])
        yield (raw[at : at + size].decode() if size else chr(raw[at])), width
        at += size or 1


def _is_character(raw: bytes) -> bool:
    try:
        return len(raw.decode()) == 1
    except UnicodeDecodeError:
        return False
