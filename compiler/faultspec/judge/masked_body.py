"""Bodies for readers other than the caller: sensitive values are masked at their places.

A body is read in the first format that it has, whatever its media type says: a wrong media type is
a usual fault. One that no format reads is hidden if it names a sensitive member, or is not text.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate, takewhile
from typing import NamedTuple
from urllib.parse import quote_plus, unquote_plus

from faultspec.exchange.body import has_too_many_values
from faultspec.exchange.model import Exchange
from faultspec.exchange.sensitive import MASK, SensitivePlaces
from faultspec.leaks.layers import Layer, undress
from faultspec.runtime.codecs import CODECS, CodecName, UnreadableBody, UnsayableValue, find_codec

#: Characters of JSON that are masked; blanks replace the rest. Reports show a quarter of it, and
#: masks are shorter than what they replace.
_SCANNED = 64 * 1024

#: Texts inside texts that are read: a tool result of MCP holds a body, which may hold another one.
_DEEPEST_TEXT = 4

#: Encodings inside each other that are undone to find a name.
_LAYERS = 4

#: Characters of a value that is masked wherever a text quotes it as a word. Longer values are
#: masked as texts, in all encodings.
_SHORT = 4

_BLANKS = " \t\r\n\ufeff"

#: The beginning of an escape in a name, in any of the formats.
_ESCAPE = re.compile(r"[\\%]")

#: A token of JSON. A text may end within a string.
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)

#: What completes JSON that ends anywhere, before the brackets that are open.
_COMPLETIONS = (
    *("", '"', '":null', ":null", "null", '"":null', "0"),
    *("rue", "ue", "e", "alse", "lse", "se", "ull", "ll", "l"),
)

#: An escape of JSON that is cut.
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{0,3})?\Z")

#: Bytes of a text that is completed: each way to do it reads all of it.
_COMPLETED = 256 * 1024

#: A line of a stream of events (HTML, 9.2.6).
_EVENT_LINE = re.compile(r"(?:data|event|id|retry)?(?::.*)?[\r\n]*", re.DOTALL)

_FORM = re.compile(r"""[^\s&=<>{}"']+=[^\s&]*(?:&[^\s&=<>{}"']+=[^\s&]*)*""")

#: The name of a member of JSON inside any text, which may be escaped.
_MEMBER = re.compile(r'(?P<quote>\\{0,7}")(?P<name>[^"\\]{1,100})(?P=quote)\s*:\s*')

_SCALAR = re.compile(r"[^\s,;}\]\"']+")


class MaskedBody(NamedTuple):
    """A body without its sensitive values. ``values``: their texts, and the names inside them.

    ``hidden``: why nothing of the body is shown; None if it is.
    """

    content: bytes
    values: tuple[str, ...] = ()
    hidden: str | None = None


@lru_cache(maxsize=4)  # the sides of one or two exchanges: several parts of a finding need each
def mask_body(body: bytes, media_type: str | None, places: SensitivePlaces) -> MaskedBody:
    """Mask the sensitive values of a body, or hide the body if no format reads it."""
    if not places or not body:
        return MaskedBody(body)
    if places.whole:
        return _hide("it may be a sensitive value as a whole")
    walk = _BodyReading(places)
    found = walk.mask_bytes(body, media_type)
    short = [value for value in walk.values if len(value) < _SHORT]
    if places.quoted and short and isinstance(found, bytes):
        found = _BodyReading(places, quoted=_words(short)).mask_bytes(body, media_type)
    if not isinstance(found, bytes):
        return _hide(found)
    return MaskedBody(found, tuple(dict.fromkeys(walk.values)))


def mask_answer(exchange: Exchange, places: SensitivePlaces) -> Exchange:
    """An exchange without the sensitive values of its answer's body."""
    response = exchange.response
    media_type = exchange.response_header("content-type")
    content = mask_body(response.body, media_type, places).content
    return replace(exchange, response=replace(response, body=content))


def mask_members(text: str, places: SensitivePlaces) -> str:
    """A text without the values of the sensitive members of JSON that it quotes."""
    if not places.names or '"' not in text:
        return text
    out, read = [], 0
    for match in _MEMBER.finditer(text):
        if match.start() >= read and places.hides(match["name"]):
            out += [text[read : match.end()], MASK]
            read = _end_of_value(text, match.end(), match["quote"])
    return "".join([*out, text[read:]])


def _end_of_value(text: str, start: int, quote: str) -> int:
    """Where a value of JSON inside a text ends; the end of the text if it is not complete."""
    if text.startswith(quote, start):
        end = re.compile(rf"(?<!\\){re.escape(quote)}").search(text, start + len(quote))
        return end.end() if end is not None else len(text)
    if text[start : start + 1] in ("{", "["):
        depths = accumulate(
            {"{": 1, "[": 1, "}": -1, "]": -1}.get(each, 0) for each in text[start:]
        )
        inside = sum(1 for _ in takewhile(lambda depth: depth > 0, depths))
        return min(len(text), start + inside + 1)
    scalar = _SCALAR.match(text, start)
    return scalar.end() if scalar is not None else start


def _hide(reason: str) -> MaskedBody:
    return MaskedBody(_notice(reason).encode(), hidden=reason)


def _notice(reason: str) -> str:
    return f"{MASK} (hidden: {reason})"


_UNREAD = (
    "it is not whole JSON, JSON lines, events, XML, CBOR or a form, and names a member that the "
    "taxonomy declares sensitive"
)
_BINARY = "it is neither UTF-8 nor CBOR, so sensitive values in it cannot be found"
_UNSAYABLE = "it has sensitive values, and cannot be written with masks in their places"


def _words(values: list[str]) -> re.Pattern[str]:
    """An expression that finds any of these values as a word."""
    found = "|".join(map(re.escape, sorted(values, key=len, reverse=True)))
    return re.compile(rf"(?<![^\W_])(?:{found})(?![^\W_])")


@dataclass(slots=True)
class _BodyReading:
    """One reading of a body. ``values``: the sensitive ones so far. ``quoted``: the values that are
    masked in other texts too. ``depth``: the texts around this one.
    """

    places: SensitivePlaces
    values: list[str] = field(default_factory=list)
    quoted: re.Pattern[str] | None = None
    depth: int = 0

    def mask_bytes(self, body: bytes, media_type: str | None) -> bytes | str:
        """The masked body, or why it is hidden."""
        codec = find_codec(media_type)
        text = _read_text(body)
        coded: tuple[CodecName, ...] = ("CBOR", "XML") if text is None else ()
        if text is not None and codec is CODECS["CBOR"]:
            coded = ("CBOR",)
        for name in coded:
            found = self.mask_coded(body, name)
            if found is not None:
                return found
        if text is None:
            return _BINARY
        if text.isascii() and _ESCAPE.search(text) is None and not self.places.mentions(text):
            return body
        try:
            masked = self.mask_text(text)
        except UnsayableValue:
            return _UNSAYABLE
        if masked is not None:
            return body if masked == text else masked.encode("utf-8", "surrogatepass")
        return _UNREAD if self.mentions(text) else body

    def mask_coded(self, body: bytes, name: CodecName) -> bytes | str | None:
        """The masked body in a format of a codec; None if it is not in that format."""
        codec = CODECS[name]
        if not codec.is_installed:
            return None
        try:
            value = codec.decode(body)
        except UnreadableBody:
            return None
        masked = self.mask_value(value)
        if masked == value:
            return body
        try:
            return codec.encode(masked)
        except UnsayableValue:
            return _UNSAYABLE

    def mask_text(self, text: str) -> str | None:
        """The masked text; None if it is in no format with members. Raises UnsayableValue."""
        walks: tuple[Callable[[str], str | None], ...] = (
            *(self.mask_json, self.mask_lines, self.mask_events),
            *(self.mask_xml, self.mask_form, self.mask_cut_json),
        )
        return next((found for walk in walks if (found := walk(text)) is not None), None)

    def mentions(self, text: str) -> bool:
        """Whether a text names a sensitive member, plainly or in an encoding."""
        layer: Layer | None = Layer(text[:_SCANNED])
        for _ in range(_LAYERS):
            if layer is None:
                return False
            if self.places.mentions(layer.text):
                return True
            layer = undress(layer)
        return layer is not None and self.places.mentions(layer.text)

    def mask_inner(self, text: str) -> str:
        """The text of a member that is not sensitive itself. It may hold a body."""
        beginning = text.lstrip(_BLANKS)[:5]
        if beginning[:1] in ("{", "[", "<") or beginning == "data:":
            inner = None
            if self.depth < _DEEPEST_TEXT:
                deeper = _BodyReading(self.places, self.values, self.quoted, self.depth + 1)
                inner = deeper.mask_text(text)
            if inner is not None:
                return inner
            if self.mentions(text):
                return _notice(_UNREAD)
        masked = mask_members(text, self.places)
        return masked if self.quoted is None else self.quoted.sub(MASK, masked)

    def mask_value(self, value: object) -> object:
        """A value with masks at its sensitive places."""
        if isinstance(value, Mapping):
            return {
                name: self.hide(each) if self.places.hides(name) else self.mask_value(each)
                for name, each in value.items()
            }
        if isinstance(value, list):
            return [*map(self.mask_value, value)]
        return self.mask_inner(value) if isinstance(value, str) else value

    def hide(self, value: object) -> object:
        """The mask of a value, whose texts are kept."""
        self.values += _texts(value)
        return None if value is None else MASK

    def mask_json(self, text: str) -> str | None:
        """JSON as it is written, also with names that it repeats."""
        if text.lstrip(_BLANKS)[:1] not in ("{", "[", '"') or has_too_many_values(
            text.encode("utf-8", "replace")
        ):
            return None
        try:
            json.loads(text.lstrip("\ufeff"))
        except (ValueError, RecursionError):
            return None
        return _JsonScan(self).mask(text)

    def mask_cut_json(self, text: str) -> str | None:
        """JSON whose end is missing, perhaps with an ellipsis in its place."""
        known = text.removesuffix("…")
        completion = _complete_json(known)
        if completion is None:
            return None
        rest, end = completion
        masked = _JsonScan(self).mask(known[: len(known) - rest] + end)
        shared = next(n for n in range(len(end) + 1) if masked.endswith(end[n:]))
        return masked[: len(masked) - len(end) + shared] + text[len(known) :]

    def mask_lines(self, text: str) -> str | None:
        """JSON lines, of which the last may be cut. All are hidden from the first broken one on."""
        lines = text.split("\n")
        written = [line for line in lines if line.strip(_BLANKS)]
        if len(written) < 2 or any(line.lstrip(_BLANKS)[0] not in "{[" for line in written):
            return None
        if self.mask_json(written[0]) is None:
            return None
        shown = []
        for number, line in enumerate(lines):
            masked = self.mask_json(line) if line.strip(_BLANKS) else line
            if masked is None and number == len(lines) - 1:
                masked = self.mask_cut_json(line)
            if masked is None:
                rest = "\n".join(lines[number:])
                shown.append(_notice(_UNREAD) if self.mentions(rest) else rest)
                break
            shown.append(masked)
        return "\n".join(shown)

    def mask_events(self, text: str) -> str | None:
        """A stream of server-sent events."""
        lines = text.lstrip("\ufeff").splitlines(keepends=True)
        if "data:" not in text or not all(map(_EVENT_LINE.fullmatch, lines)):
            return None
        return "".join("".join(self.mask_event(event)) for event in _events(lines))

    def mask_event(self, lines: list[str]) -> Iterator[str]:
        """The lines of an event, with masked data."""
        data = [line for line in lines if line.startswith("data")]
        joined = "\n".join(line.rstrip("\r\n").partition(":")[2].removeprefix(" ") for line in data)
        masked = self.mask_text(joined)
        if masked is None:
            masked = _notice(_UNREAD) if self.mentions(joined) else joined
        is_shown = masked == joined
        for line in lines:
            if is_shown or not line.startswith("data"):
                yield line
            elif line is data[0]:
                yield from (f"data: {each}\n" for each in masked.split("\n"))

    def mask_xml(self, text: str) -> str | None:
        """XML. Raises UnsayableValue."""
        if text.lstrip(_BLANKS)[:1] != "<":
            return None
        found = self.mask_coded(text.encode("utf-8", "replace"), "XML")
        if isinstance(found, str):
            raise UnsayableValue(found)
        return None if found is None else found.decode("utf-8")

    def mask_form(self, text: str) -> str | None:
        """A form as it is written."""
        if _FORM.fullmatch(text.strip(_BLANKS)) is None:
            return None
        return "&".join(map(self.mask_pair, text.strip(_BLANKS).split("&")))

    def mask_pair(self, pair: str) -> str:
        """A name and a value of a form. A name may have the steps to a member."""
        name, _, value = pair.partition("=")
        plain, path = unquote_plus(value), unquote_plus(name)
        if self.places.hides(path):
            self.values += [plain] if plain else []
            masked = self.places.mask_name(path)
            return f"{name if masked == path else quote_plus(masked)}={MASK}"
        masked = self.mask_inner(plain)
        return pair if masked == plain else f"{name}={quote_plus(masked)}"


def _complete_json(text: str) -> tuple[int, str] | None:
    """The characters to leave out at the end of a text, and those that then make it JSON; None if
    it is not the beginning of JSON.
    """
    if text.lstrip(_BLANKS)[:1] not in ("{", "[") or len(text) > _COMPLETED:
        return None
    brackets: list[str] = []
    token = ""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in ("{", "["):
            brackets.append("}" if token == "{" else "]")
        elif token in ("}", "]") and (not brackets or brackets.pop() != token):
            return None
    escape = _CUT_ESCAPE.search(token) if token.startswith('"') else None
    rest = len(escape[0]) if escape is not None else 0
    known, closing = text[: len(text) - rest].lstrip("\ufeff"), "".join(reversed(brackets))
    for completion in _COMPLETIONS:
        try:
            json.loads(known + completion + closing)
        except (ValueError, RecursionError):
            continue
        return rest, completion + closing
    return None


def _events(lines: list[str]) -> Iterator[list[str]]:
    """The lines of each event, with the blank one that ends it."""
    event: list[str] = []
    for line in lines:
        event.append(line)
        if not line.strip("\r\n"):
            yield event
            event = []
    if event:
        yield event


def _texts(value: object) -> Iterator[str]:
    """The texts and names inside a value, and the value itself, as texts."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield str(name)
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
        yield str(value)


def _read_text(body: bytes) -> str | None:
    """The body as text; None if it is binary. Text in UTF-16 has zeros."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


class _JsonScan:
    """The masking of a text that is JSON. The text between and outside sensitive values stays."""

    def __init__(self, walk: _BodyReading) -> None:
        self.walk = walk
        self.out: list[str] = []
        self.read = 0
        self.is_object: list[bool] = []
        self.depth = 0

    def mask(self, text: str) -> str:
        """The masked text. Blanks replace what is beyond the part that is masked."""
        expects_name = hides = False
        for match in _TOKEN.finditer(text):
            token = match[0]
            if match.start() > _SCANNED:
                return self.end_at(text, match.start())
            if self.depth:
                self.skip(token, match.end())
            elif token in "{[":
                if hides:
                    self.depth, hides = 1, False
                    self.out += [text[self.read : match.start()], f'"{MASK}"']
                    continue
                self.is_object.append(token == "{")
                expects_name = token == "{"
            elif token in "}]":
                self.is_object.pop()
            elif token == ",":
                expects_name = self.is_object[-1]
            elif token != ":":
                if expects_name:
                    hides, expects_name = self.walk.places.hides(json.loads(token)), False
                    continue
                masked = self.mask_scalar(token, hides=hides)
                if masked != token:
                    self.out += [text[self.read : match.start()], masked]
                    self.read = match.end()
                hides = False
        return "".join([*self.out, text[self.read :]])

    def end_at(self, text: str, at: int) -> str:
        """The text up to an offset, and blanks."""
        shown = "" if self.depth else text[self.read : at]
        return "".join([*self.out, shown, " " * (len(text) - at)])

    def skip(self, token: str, end: int) -> None:
        """Leave out a token of a sensitive object or list."""
        if token in ("{", "["):
            self.depth += 1
        elif token in ("}", "]"):
            self.depth -= 1
            self.read = end
        elif token not in (",", ":"):
            self.walk.values += _texts(json.loads(token))

    def mask_scalar(self, token: str, *, hides: bool) -> str:
        """A scalar as it is shown, as JSON."""
        if hides:
            if token != "null":
                self.walk.values += [token] if token[0] != '"' else _texts(json.loads(token))
            return token if token == "null" else f'"{MASK}"'
        if token[0] != '"':
            return token
        text = json.loads(token)
        masked = self.walk.mask_inner(text)
        return token if masked == text else json.dumps(masked, ensure_ascii=False)
