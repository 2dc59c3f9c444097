"""Bodies: from bytes to a JSON value by their media type, and JSON Pointers into it."""

import hashlib
import json
import re
from collections import Counter
from typing import NamedTuple, NoReturn

from faultspec.runtime.codecs import CODECS, Codec, find_codec, media_essence
from faultspec.runtime.nodes import child
from faultspec.runtime.pointers import steps
from faultspec.runtime.reading import DEEPEST, MOST, MalformedBody, UnreadableBody

JSON = CODECS["JSON"]
"""The codec of bodies that have no media type."""

_SUCCESS = 1024 * 1024
"""Bytes of the largest success that is searched for an envelope: an envelope is small."""


class DecodedBody(NamedTuple):
    """A body as a JSON-like value, or its ``problem``: the predicate of a sentence about the body.

    ``codec``: that of its format. ``readable``: False if the body may be sound, and was not read.
    ``malformed``: whether no reader of the format can read it; one that is only beyond the bounds
    is not.
    """

    value: object
    problem: str | None
    codec: Codec = JSON
    readable: bool = True
    malformed: bool = False

    @property
    def has_lines(self) -> bool:
        """Whether the value is a list with an item for each line."""
        return self.codec.name == "JSON lines"


def decode_body(body: bytes, media_type: str | None) -> DecodedBody:
    """Read a body in the format of its media type; never raises."""
    codec = find_codec(media_type)
    if codec is None:
        what = f"`{media_essence(media_type)}`" if media_type else "no media type"
        return DecodedBody(None, f"has {what}, which is not read", readable=False)
    return decode_as(codec, body)


def decode_as(codec: Codec, body: bytes) -> DecodedBody:
    """Read a body in a format; never raises. JSON is read strictly (``read``)."""
    if codec.name == "JSON":
        return read(body)
    if not codec.is_installed:
        problem = f"is not read: `{codec.package}` is not installed"
        return DecodedBody(None, problem, codec, readable=False)
    if codec.name != "text" and not body.strip(b" \t\r\n"):
        return DecodedBody(None, "is empty", codec, malformed=True)
    if codec.name == "JSON lines":
        return _read_lines(codec, body)
    try:
        return DecodedBody(codec.decode(body), None, codec)
    except UnreadableBody as error:
        return DecodedBody(None, str(error), codec, malformed=isinstance(error, MalformedBody))


def _read_lines(codec: Codec, body: bytes) -> DecodedBody:
    if has_too_many_values(body) or body.count(b"\n") > MOST:
        return DecodedBody(None, f"has more than {MOST:,} values", codec)
    values = []
    for number, line in enumerate(body.split(b"\n"), 1):
        if not line.strip():
            continue
        found = read(line)
        if found.problem is not None:
            return found._replace(problem=f"{found.problem} in line {number}", codec=codec)
        values.append(found.value)
    return DecodedBody(values, None, codec)


def read(body: bytes) -> DecodedBody:
    """Read a body as strict JSON; never raises.

    It is UTF-8 without NaN and trailing text (RFC 8259), and no object has a name twice (RFC 7493
    section 2.3).
    """
    if not body.strip(b" \t\r\n"):
        return DecodedBody(None, "is empty", malformed=True)
    if has_too_many_values(body):
        return DecodedBody(None, f"has more than {MOST:,} values")
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return DecodedBody(None, "is not UTF-8", malformed=True)
    found = _decode(text)
    if found.problem is None and is_too_deep(body, found.value):
        return DecodedBody(None, f"is nested deeper than {DEEPEST} levels")
    return found


def _decode(text: str) -> DecodedBody:
    """Read a text as strict JSON of any depth that Python reads."""
    try:
        return DecodedBody(_DECODER.decode(text), None)
    except _RepeatedNameError as error:
        return DecodedBody(
            None,
            f"repeats the member `{error}` of one object; readers differ in which one counts",
        )
    except RecursionError:
        return DecodedBody(None, f"is nested deeper than {DEEPEST} levels")
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        return DecodedBody(None, f"is not JSON ({where})", malformed=True)
    except _ConstantError as error:
        return DecodedBody(None, f"is not JSON: it has `{error}`", malformed=True)
    except ValueError:  # of `int`, which bounds the digits that it reads
        return DecodedBody(None, "has a number of too many digits")


def has_too_many_values(body: bytes) -> bool:
    """Whether a body may have more than ``MOST`` values, by its commas and brackets."""
    return len(body) > MOST and count_values(body) > MOST


def count_values(body: bytes) -> int:
    """The commas and brackets of a body, or of a part of it: it has no more values, but for one."""
    return sum(map(body.count, (b",", b"[", b"{")))


def is_too_deep(body: bytes, value: object) -> bool:
    """Whether the value of a body has more than ``DEEPEST`` levels of nesting."""
    # Each level costs a bracket, so a body with few of them is not walked.
    return body.count(b"{") + body.count(b"[") > DEEPEST and _deeper_than(value, DEEPEST)


def read_success(body: bytes, codec: Codec = JSON) -> DecodedBody:
    """Like ``decode_as``, for a success: only a small body, and JSON that begins like an object or
    list.
    """
    is_json = codec.name in ("JSON", "JSON lines")
    if len(body) > _SUCCESS or (is_json and body.lstrip(b" \t\r\n")[:1] not in (b"{", b"[")):
        return DecodedBody(None, "is not searched", codec)
    return decode_as(codec, body)


def kind_of_body(media_type: str | None, body: bytes) -> str:
    """The kind of a body, which errors with one cause share: a digest of its media type without
    parameters, and of the names of its members or the type of its value. Reports show it, so it has
    no text of the body.
    """
    essence = media_essence(media_type)
    codec = find_codec(media_type) or JSON
    value, problem, *_ = decode_as(JSON if codec.name == "text" else codec, body)
    if codec.name == "XML" and isinstance(value, dict):
        (value,) = value.values()  # the names in the root element
    kind = type(value).__name__
    if problem is not None:
        kind = _QUOTED.sub("*", problem.partition(" (")[0])
    elif isinstance(value, dict):
        # Names with a digit may be those of one run.
        kind = " ".join(sorted({"*" if any(map(str.isdigit, name)) else name for name in value}))
    text = f"{essence}\x1f{kind}"
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:8]


def replace_value(body: object, pointer: str, value: object) -> object:
    """A copy of the body with ``value`` at a JSON Pointer (RFC 6901); missing objects are made."""
    if not pointer:
        return value
    end = (pointer + "/").index("/", 1)
    (at,), inner = steps(pointer[:end]), pointer[end:]
    if isinstance(body, list) and at.isdecimal() and int(at) < len(body):
        return [
            replace_value(each, inner, value) if index == int(at) else each
            for index, each in enumerate(body)
        ]
    members = body if isinstance(body, dict) else {}
    return {**members, at: replace_value(members.get(at), inner, value)}


def strings(body: object, pointer: str = "") -> list[tuple[str, str]]:
    """Every string and key of a value with its pointer, in order; a list of strings is one text."""
    found: list[tuple[str, str]] = []
    waiting: list[tuple[str, object]] = [(pointer, body)]
    while waiting:
        at, value = waiting.pop()
        match value:
            case str():
                found.append((at, value))
            case list():
                if value and all(isinstance(each, str) for each in value):
                    found.append((at, "\n".join(value)))
                else:
                    waiting.extend(
                        (child(at, index), value[index]) for index in range(len(value) - 1, -1, -1)
                    )
            case dict():
                waiting.extend((child(at, key), value[key]) for key in reversed(value))
                found.extend((child(at, key), key) for key in value)
    return found


#: What a problem quotes of the body.
_QUOTED = re.compile("`.*`")

_NAME = 80
"""Characters of a repeated name in a message."""


class _RepeatedNameError(Exception):
    """An object has a name twice."""


def _refuse_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        name = next(name for name, _ in pairs if counts[name] > 1)
        raise _RepeatedNameError(name if len(name) <= _NAME else f"{name[:_NAME]}…")
    return found


class _ConstantError(Exception):
    """A number has no digits, as NaN and Infinity."""


def _refuse_constant(name: str) -> NoReturn:
    raise _ConstantError(name)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_refuse_duplicates)


def _deeper_than(value: object, limit: int) -> bool:
    layer = [value]
    for _ in range(limit + 1):
        layer = [
            inner
            for each in layer
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, dict | list)
        ]
        if not layer:
            return False
    return True
