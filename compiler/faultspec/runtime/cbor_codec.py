# pyright: basic
# `isinstance` tells JSON values apart; to the strict mode their members are unknown.
"""CBOR as a JSON-like value (RFC 8949 section 6.1), read by the package cbor2.

Tags are dropped, byte strings become base64url text, and numbers as keys become text. A
body is checked for its bounds first: cbor2 believes the lengths that a body declares,
and makes objects of tags, which may refer to each other.
"""

import math
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from importlib import import_module

from .reading import DEEPEST, MOST, MalformedBody, UnreadableBody

#: Tags that refer to a value elsewhere: a shared one, and a text that was there before.
_REFERENCES = frozenset({25, 29})

_BYTES, _TEXT, _ARRAY, _MAP, _TAG, _SIMPLE = range(2, 8)
_INDEFINITE = 31
_BREAK = 0xFF


def read_cbor(body: bytes) -> object:
    """The value of a body. Raises UnreadableBody, and ImportError without cbor2."""
    cbor2 = import_module("cbor2")
    scan = _Scan(body)
    scan.read_item(0)
    if scan.at != len(body):
        raise MalformedBody(f"is not CBOR (byte {scan.at}: more than one value)")
    try:
        value = cbor2.loads(b"".join(scan.untagged))
    except (cbor2.CBORError, ValueError, OverflowError):
        raise MalformedBody("is not CBOR") from None
    return _as_json(value)


def write_cbor(value: object) -> bytes:
    """The body of a value. Raises ImportError without cbor2."""
    cbor2 = import_module("cbor2")
    return bytes(cbor2.dumps(value))


class _Scan:
    """A walk over a body that checks it, and keeps all of it but the tags."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.at = 0
        self.count = 0
        self.untagged: list[bytes] = []

    def read_item(self, depth: int) -> int:
        """Read one value; its major type."""
        self.count_one()
        if depth > DEEPEST:
            raise UnreadableBody(f"is nested deeper than {DEEPEST} levels")
        start = self.at
        major, info, argument = self.read_head()
        while major == _TAG:
            self.count_one()
            if argument in _REFERENCES:
                raise UnreadableBody(f"has the CBOR tag {argument}, which is refused")
            start = self.at
            major, info, argument = self.read_head()
        self.untagged.append(self.body[start : self.at])
        if info == _INDEFINITE and major not in (_BYTES, _TEXT, _ARRAY, _MAP):
            raise self.failure()
        if major in (_BYTES, _TEXT):
            self.read_string(major, info, argument)
        elif major in (_ARRAY, _MAP):
            self.read_items(major, info, argument, depth)
        return major

    def read_head(self) -> tuple[int, int, int]:
        """The major type of the next value, how its argument is written, and it."""
        first = self.take(1)[0]
        major, info = first >> 5, first & 31
        if info < 24:
            return major, info, info
        if info < 28:
            return major, info, int.from_bytes(self.take(1 << (info - 24)))
        if info != _INDEFINITE:
            raise self.failure()
        return major, info, 0

    def read_string(self, major: int, info: int, length: int) -> None:
        if info != _INDEFINITE:
            self.untagged.append(self.take(length))
            return
        while not self.at_break():
            self.count_one()
            start = self.at
            own, its_info, its_length = self.read_head()
            if own != major or its_info == _INDEFINITE:
                raise self.failure()
            self.untagged += (self.body[start : self.at], self.take(its_length))

    def read_items(self, major: int, info: int, length: int, depth: int) -> None:
        if length > MOST:
            raise UnreadableBody(f"has more than {MOST:,} values")
        names: set[bytes] = set()
        index = 0
        while not self.at_break() if info == _INDEFINITE else index < length:
            if major == _MAP:
                self.read_name(names, depth)
            self.read_item(depth + 1)
            index += 1

    def read_name(self, names: set[bytes], depth: int) -> None:
        start = len(self.untagged)
        if self.read_item(depth + 1) not in (0, 1, _TEXT):
            raise UnreadableBody("has a member whose name is not a text or an integer")
        name = b"".join(self.untagged[start:])
        if name in names:
            raise UnreadableBody("repeats a name; readers differ in which value counts")
        names.add(name)

    def at_break(self) -> bool:
        """Whether a value of unknown length ends here."""
        if self.body[self.at : self.at + 1] != bytes([_BREAK]):
            return False
        self.untagged.append(self.take(1))
        return True

    def count_one(self) -> None:
        """Count a value, a tag or a piece of a text."""
        self.count += 1
        if self.count > MOST:
            raise UnreadableBody(f"has more than {MOST:,} values")

    def take(self, length: int) -> bytes:
        if length > len(self.body) - self.at:
            raise self.failure()
        self.at += length
        return self.body[self.at - length : self.at]

    def failure(self) -> MalformedBody:
        return MalformedBody(f"is not CBOR (byte {self.at})")


def _as_json(value: object) -> object:
    if isinstance(value, Mapping):
        found = {str(name): _as_json(each) for name, each in value.items()}
        if len(found) < len(value):
            raise UnreadableBody("repeats a name; readers differ in which value counts")
        return found
    if isinstance(value, list | tuple):
        return [_as_json(each) for each in value]
    if isinstance(value, bytes):
        return urlsafe_b64encode(value).rstrip(b"=").decode("ascii")
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return None  # `undefined`, and simple values without a meaning
