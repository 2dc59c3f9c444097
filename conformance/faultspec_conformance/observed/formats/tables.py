"""Tables of records: CSV, and Parquet by DuckDB. A row is read as an object of its columns."""

import csv
import glob
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import date, time
from decimal import Decimal
from importlib import import_module
from typing import Any, BinaryIO

from faultspec.contract.model import Contract
from faultspec_conformance.observed.formats.declared import UNDECLARED, record_reader
from faultspec_conformance.observed.formats.logs import LONGEST, read_lines
from faultspec_conformance.observed.formats.record import Item, NotARecording, Skipped, install
from faultspec_conformance.observed.formats.sources import file_system, is_remote

Rows = Iterator[tuple[int, Mapping[str, object]]]
"""Rows by column, without empty fields, each with its number."""

#: Rows that are fetched at once.
_FETCHED = 512

#: Memory of DuckDB, beside our own.
_MEMORY = "128MB"

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
            items = list(read_records(None, row, place))
            yield from items or [Skipped(place, UNDECLARED, broken=False)]
    except UnreadableRow as error:
        place = f"{name}:{error.number}"
        yield Skipped(place, f"the rest cannot be read: {error}", ends=True)


def csv_rows(stream: BinaryIO) -> Rows:
    """The rows of CSV (RFC 4180) with a line of names, by the line on which each begins. Of comma,
    semicolon, tab and bar, the most frequent sign of that line parts the columns.

    Raises UnreadableRow.
    """
    lines = _decode_lines(stream)
    number, before = 1, csv.field_size_limit(LONGEST)
    try:
        first = next(lines, "")
        delimiter = max(_DELIMITERS, key=first.count)
        names = next(csv.reader([first], delimiter=delimiter), [])
        reader, number = csv.reader(lines, delimiter=delimiter), 2
        for row in reader:
            begins, number = number, reader.line_num + 2
            if row:
                yield begins, {key: text for key, text in zip(names, row, strict=False) if text}
    except csv.Error as error:
        raise UnreadableRow(number, str(error)) from error
    finally:
        csv.field_size_limit(before)


def _decode_lines(stream: BinaryIO) -> Iterator[str]:
    for number, line in enumerate(read_lines(stream)):
        if line is None:
            raise csv.Error(f"a line is longer than {LONGEST // 1024 // 1024} MiB")
        yield line.decode("utf-8-sig" if number == 0 else "utf-8", "replace")


def parquet_rows(path: str) -> Rows:
    """The rows of a file of Parquet. Raises OSError, UnreadableRow, and NotARecording without
    DuckDB.
    """
    try:
        duckdb: Any = import_module("duckdb")
    except ImportError as error:
        raise NotARecording(f"it is Parquet: {install('duckdb')}") from error
    number = 0
    with open_duckdb() as database:
        try:
            # Folders named `status=404` must not replace columns.
            query = "SELECT * FROM read_parquet(?, hive_partitioning = false)"
            found = database.execute(query, [parquet_name(path, database)])
            names = [column[0] for column in found.description]
            while rows := found.fetchmany(_FETCHED):
                for row in rows:
                    number += 1
                    yield number, object_of(zip(names, row, strict=True))
        except duckdb.Error as error:
            raise UnreadableRow(number + 1, f"DuckDB has {type(error).__name__}") from error


@contextmanager
def open_duckdb() -> Iterator[Any]:
    """A database in memory. Raises ImportError without DuckDB."""
    duckdb: Any = import_module("duckdb")
    settings = {"memory_limit": _MEMORY, "threads": 1, "autoinstall_known_extensions": False}
    with closing(duckdb.connect(":memory:", config=settings)) as database:
        yield database


def parquet_name(path: str, database: Any) -> str:
    """The name of a file for `read_parquet`. Raises what the store raises."""
    if is_remote(path):
        database.register_filesystem(file_system(path)[0])
    return glob.escape(path)  # DuckDB takes other names for patterns


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
