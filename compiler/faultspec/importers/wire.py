"""The wire format of protobuf, one record at a time, so that a reader keeps only what it needs."""

from collections.abc import Iterator
from typing import NamedTuple

#: Groups within groups; protobuf itself refuses more than a hundred levels.
_DEEPEST = 100

#: Bits of the largest varint.
_BITS = 64


class BrokenRecords(Exception):
    """The bytes are not records of protobuf."""


class TooMany(Exception):
    """The bytes have more of something than a reader may read: ``what``, with the number."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class Allowance:
    """A number that a reader may still read. ``name``: that of the things counted."""

    def __init__(self, most: int, name: str) -> None:
        self.most = self.left = most
        self.name = name

    def spend(self) -> None:
        """Count one. Raises TooMany."""
        self.left -= 1
        if self.left < 0:
            raise TooMany(f"{self.most:,} {self.name}")


class WireRecord(NamedTuple):
    """``number``: that of the field. ``value``: the number of a varint, else the bytes."""

    number: int
    value: int | memoryview


def iterate_records(content: memoryview, budget: Allowance) -> Iterator[WireRecord]:
    """The records of a message in their order, without groups.

    Raises BrokenRecords, and TooMany.
    """
    at, end = 0, len(content)
    groups: list[int] = []
    while at < end:
        budget.spend()
        key, at = _varint(content, at)
        number, kind = key >> 3, key & 7
        if number == 0 or kind > 5:
            raise BrokenRecords
        if kind in (3, 4):
            _enter_group(groups, number, begins=kind == 3)
            continue
        value: int | memoryview
        if kind == 0:
            value, at = _varint(content, at)
        else:
            size = 8 if kind == 1 else 4
            if kind == 2:
                size, at = _varint(content, at)
            if size > end - at:
                raise BrokenRecords
            value = content[at : at + size]
            at += size
        if not groups:
            yield WireRecord(number, value)
    if groups:
        raise BrokenRecords


def iterate_varints(content: memoryview, budget: Allowance) -> Iterator[int]:
    """The numbers of a packed field. Raises BrokenRecords, and TooMany."""
    at = 0
    while at < len(content):
        budget.spend()
        value, at = _varint(content, at)
        yield value


def twos_complement(value: int, bits: int = _BITS) -> int:
    """A number in two's complement."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _enter_group(groups: list[int], number: int, *, begins: bool) -> None:
    if begins and len(groups) < _DEEPEST:
        groups.append(number)
    elif begins or not groups or groups.pop() != number:
        raise BrokenRecords


def _varint(content: memoryview, at: int) -> tuple[int, int]:
    """A varint, and the index behind it."""
    found = shift = 0
    while shift < _BITS:
        if at >= len(content):
            raise BrokenRecords
        byte = content[at]
        at += 1
        found |= (byte & 127) << shift
        if byte < 128:
            return found & ((1 << _BITS) - 1), at
        shift += 7
    raise BrokenRecords
