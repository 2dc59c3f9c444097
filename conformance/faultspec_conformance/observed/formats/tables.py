"""Tables of records, and CSV. A row is read as an object of its columns."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, time
from decimal import Decimal
from typing import BinaryIO

from faultspec.contract.model import Contract
from faultspec.source import MAX_NODES
from faultspec_conformance.observed.formats.declared import UNDECLARED, record_reader
from faultspec_conformance.observed.formats.logs import LONGEST, read_lines
from faultspec_conformance.observed.formats.record import Item, Skipped

Rows = Iterator[tuple[int, Mapping[str, object] | None]]
"""Rows by column, without empty fields, each with its number; None for one that is too large."""

LARGEST = 4 * 1024 * 1024
"""Bytes of the largest row of Parquet: a small file may repeat one text in each of its rows."""

TOO_LARGE = f"the row has more than {LARGEST // 1024**2} MiB or {MAX_NODES:,} values"
"""Why a row is not read."""

_DELIMITERS = ",;\t|"


class UnreadableRow(Exception):
    """A row at which the reading of a table ends. The text is a sentence about it."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(reason)
        self.number = number


def read_table(rows: Rows, name: str, contract: Contract) -> Iterator[Item]:
    """The exchanges of a table."""
    read_records = record_reader(contract)
    try:
        for number, row in rows:
            place = f"{name}:{number}"
            if row is None:
                yield Skipped(place, TOO_LARGE)
                continue
            items = list(read_records(None, row, place))
            yield from items or [Skipped(place, UNDECLARED, broken=False)]
    except UnreadableRow as error:
        yield describe_end(name, error)


def describe_end(name: str, error: UnreadableRow) -> Skipped:
    """The item in place of the rows that cannot be read."""
    return Skipped(f"{name}:{error.number}", f"the rest cannot be read: {error}", ends=True)


def csv_rows(stream: BinaryIO) -> Rows:
    """The rows of CSV (RFC 4180) with a line of names, by the line on which each begins. Of comma,
    semicolon, tab and bar, the most frequent sign of that line parts the columns.

    Raises UnreadableRow.
    """
    lines = _RowLines(stream)
    number, before = 1, csv.field_size_limit(LONGEST)
    try:
        first = next(lines, "")
        delimiter = max(_DELIMITERS, key=first.count)
        names = next(csv.reader([first], delimiter=delimiter), [])
        lines.begin_row()
        reader, number = csv.reader(lines, delimiter=delimiter), 2
        for row in reader:
            begins, number = number, reader.line_num + 2
            lines.begin_row()
            if row:
                yield begins, {key: text for key, text in zip(names, row, strict=False) if text}
    except csv.Error as error:
        raise UnreadableRow(number, str(error)) from error
    finally:
        csv.field_size_limit(before)


class _RowLines:
    """The lines of a stream as texts. Raises csv.Error at the line with which a row becomes too
    large: a text in quotes goes on over any number of lines.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._lines = enumerate(read_lines(stream))
        self._bytes = self._signs = 0

    def begin_row(self) -> None:
        """The next line is the first of a row."""
        self._bytes = self._signs = 0

    def __iter__(self) -> "_RowLines":
        return self

    def __next__(self) -> str:
        number, line = next(self._lines)
        if line is None:
            raise csv.Error(f"a line is longer than {LONGEST // 1024**2} MiB")
        self._bytes += len(line)
        self._signs += max(line.count(sign.encode()) for sign in _DELIMITERS)
        if self._bytes > LONGEST or self._signs > MAX_NODES:
            raise csv.Error(f"a row has more than {LONGEST // 1024**2} MiB or {MAX_NODES:,} values")
        return line.decode("utf-8-sig" if number == 0 else "utf-8", "replace")


def object_of(fields: Iterable[tuple[str, object]]) -> dict[str, object]:
    """The fields of a row that are not null."""
    return {name: _json_value(value) for name, value in fields if value is not None}


def _json_value(value: object) -> object:
    """A value of a column as JSON has it; bytes stay as they are."""
    match value:
        case None | bool() | int() | float() | str() | bytes():
            return value
        case dict():
            return {str(name): _json_value(item) for name, item in value.items()}
        case list() | tuple():
            return [_json_value(item) for item in value]
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case date() | time():
            return value.isoformat()
        case _:
            return str(value)
