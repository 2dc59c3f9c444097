# Copied from faultspec; do not edit
"""Formats of identifiers: what they look like, whether a string is one, and how to make
a new one.

`PATTERNS` is the one definition. Each is an ECMA-262 regular expression, anchored, to
stand in a JSON Schema as it is. (Python's `$` also matches before a final newline;
`matches` doesn't fall for that, nor does ECMA-262.)

- `uuid`: RFC 9562, versions 1 to 8, the Nil and the Max UUID; either case, as section 4
  asks of readers
- `uuid4`, `uuid7`: RFC 9562 sections 5.4 and 5.7
- `ulid`: 26 Crockford characters, the first at most 7 (128 bits); either case
- `ksuid`: 27 base-62 characters; whether they exceed the largest KSUID is not checked
- `traceparent`: W3C Trace Context, version 00; neither id all zeros
- `trace_id`, `span_id`: either id of it alone
- `token`: RFC 9110 section 5.6.2, any non-empty run of token characters
"""

import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

_HEX = "[0-9a-fA-F]"
_TRACE_ID = "(?!0{32})[0-9a-f]{32}"
_SPAN_ID = "(?!0{16})[0-9a-f]{16}"
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_KSUID_EPOCH = 1_400_000_000  # seconds; a KSUID counts its 32 bits of time from here


def _alike(digit: str) -> str:
    return f"{digit}{{8}}(?:-{digit}{{4}}){{3}}-{digit}{{12}}"


def _uuid(version: str) -> str:
    return (
        f"{_HEX}{{8}}-{_HEX}{{4}}-{version}{_HEX}{{3}}-[89abAB]{_HEX}{{3}}-{_HEX}{{12}}"
    )


PATTERNS: Mapping[str, str] = {
    "uuid": f"^(?:{_uuid('[1-8]')}|{_alike('0')}|{_alike('[fF]')})$",
    "uuid4": f"^{_uuid('4')}$",
    "uuid7": f"^{_uuid('7')}$",
    "ulid": "^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$",
    "ksuid": "^[0-9A-Za-z]{27}$",
    "traceparent": f"^00-{_TRACE_ID}-{_SPAN_ID}-[0-9a-f]{{2}}$",
    "trace_id": f"^{_TRACE_ID}$",
    "span_id": f"^{_SPAN_ID}$",
    "token": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
}


def _matcher(pattern: str) -> Callable[[str], bool]:
    return lambda value: re.fullmatch(pattern, value) is not None


FORMATS: Mapping[str, Callable[[str], bool]] = {
    name: _matcher(pattern) for name, pattern in PATTERNS.items()
}


def matches(formats: Iterable[str], value: str) -> bool:
    """Whether `value` has at least one of the formats; raises KeyError for a format
    that there isn't.
    """
    return any(FORMATS[format_](value) for format_ in formats)


class _Draw(NamedTuple):
    """The ingredients of a new identifier: the clock's seconds since 1970 and a source
    of random bytes.
    """

    now: float
    entropy: Callable[[int], bytes]

    def milliseconds(self) -> bytes:
        return int(self.now * 1000).to_bytes(6, "big")


def new(
    format: str,
    *,
    clock: Callable[[], float] = time.time,
    entropy: Callable[[int], bytes] = os.urandom,
) -> str:
    """A new identifier of the format; raises ValueError, naming the formats, for one
    that there isn't.

    Those that begin with the time sort by it, to the millisecond (`ksuid`: to the
    second), in no order within.
    """
    make = _MAKERS.get(format)
    if make is None:
        raise ValueError(
            f"there is no format called {format!r} (formats: {', '.join(_MAKERS)})"
        )
    return make(_Draw(clock(), entropy))


def _uuid_text(version: int, raw: bytes) -> str:
    bits = bytearray(raw)
    bits[6] = bits[6] & 0x0F | version << 4
    bits[8] = bits[8] & 0x3F | 0x80
    text = bits.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _digits(number: int, alphabet: str, length: int) -> str:
    digits: list[str] = []
    for _ in range(length):
        number, digit = divmod(number, len(alphabet))
        digits.append(alphabet[digit])
    return "".join(reversed(digits))


def _new_uuid4(draw: _Draw) -> str:
    return _uuid_text(4, draw.entropy(16))


def _new_uuid7(draw: _Draw) -> str:
    return _uuid_text(7, draw.milliseconds() + draw.entropy(10))


def _new_ulid(draw: _Draw) -> str:
    return _digits(
        int.from_bytes(draw.milliseconds() + draw.entropy(10), "big"), _CROCKFORD, 26
    )


def _new_ksuid(draw: _Draw) -> str:
    seconds = (int(draw.now) - _KSUID_EPOCH).to_bytes(4, "big")
    return _digits(int.from_bytes(seconds + draw.entropy(16), "big"), _BASE62, 27)


def _new_hex(size: int) -> Callable[[_Draw], str]:
    # The last byte is made odd: an id of zeros only is not one.
    return lambda draw: (
        (int.from_bytes(draw.entropy(size), "big") | 1).to_bytes(size, "big").hex()
    )


_new_trace_id = _new_hex(16)
_new_span_id = _new_hex(8)


def _new_traceparent(draw: _Draw) -> str:
    return f"00-{_new_trace_id(draw)}-{_new_span_id(draw)}-01"  # 01: sampled


_MAKERS: Mapping[str, Callable[[_Draw], str]] = {
    "uuid": _new_uuid4,
    "uuid4": _new_uuid4,
    "uuid7": _new_uuid7,
    "ulid": _new_ulid,
    "ksuid": _new_ksuid,
    "traceparent": _new_traceparent,
    "trace_id": _new_trace_id,
    "span_id": _new_span_id,
    "token": _new_uuid4,
}
