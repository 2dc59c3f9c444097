"""Tables of records: CSV, and Parquet by DuckDB. A row is read as an object of its columns."""

import csv
import glob
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import date, time
from decimal import Decimal
from importlib import import_module
from typing import Any, BinaryIO

from faultspec.contract.model import Contract
from faultspec_conformance.observed.formats.declared import (
    UNDECLARED,
    RecordReader,
    record_reader,
)
from faultspec_conformance.observed.formats.logs import LONGEST, read_lines
from faultspec_conformance.observed.formats.record import Item, NotARecording, Skipped, install
from faultspec_conformance.observed.formats.sources import file_system, is_remote

#: Rows that are fetched at once.
_ROWS = 512

#: Memory of DuckDB, beside our own. It holds one group of rows of one column at a time.
_MEMORY = "128MB"

_DELIMITERS = ",;\t|"


def read_csv(stream: BinaryIO, name: str, contract: Contract) -> Iterator[Item]:
    """The exchanges of a table of CSV (RFC 4180) with a line of names. Of comma, semicolon, tab and
    bar, the most frequent sign of that line parts the columns. An empty field is missing.
    """
    read_records = record_reader(contract)
    lines = _decode_lines(stream)
    first = next(lines, "")
    delimiter = max(_DELIMITERS, key=first.count)
    names = next(csv.reader([first], delimiter=delimiter), [])
    rows = csv.reader(lines, delimiter=delimiter)
    before = csv.field_size_limit(LONGEST)
    try:
        begins = 2
        for row in rows:
            place, begins = f"{name}:{begins}", rows.line_num + 2
            if row:
                filled = {key: text for key, text in zip(names, row, strict=False) if text}
                yield from _read_row(read_records, filled, place)
    except csv.Error as error:
        yield Skipped(f"{name}:{begins}", f"the rest cannot be read: {error}", ends=True)
    finally:
        csv.field_size_limit(before)


def _decode_lines(stream: BinaryIO) -> Iterator[str]:
    for number, line in enumerate(read_lines(stream)):
        if line is None:
            raise csv.Error(f"a line is longer than {LONGEST // 1024 // 1024} MiB")
        yield line.decode("utf-8-sig" if number == 0 else "utf-8", "replace")


def read_parquet(path: str, contract: Contract) -> Iterator[Item]:
    """The exchanges of a file of Parquet. Raises OSError, and NotARecording without DuckDB."""
    try:
        duckdb: Any = import_module("duckdb")
    except ImportError as error:
        raise NotARecording(f"it is Parquet: {install('duckdb')}") from error
    read_records = record_reader(contract)
    settings = {"memory_limit": _MEMORY, "threads": 1, "autoinstall_known_extensions": False}
    number = 0
    with closing(duckdb.connect(":memory:", config=settings)) as database:
        try:
            if is_remote(path):
                database.register_filesystem(file_system(path)[0])
            # DuckDB takes other names for patterns.
            found = database.execute("SELECT * FROM read_parquet(?)", [glob.escape(path)])
            names = [column[0] for column in found.description]
            while rows := found.fetchmany(_ROWS):
                for row in rows:
                    number += 1
                    filled = {
                        name: _json_value(value)
                        for name, value in zip(names, row, strict=True)
                        if value is not None
                    }
                    yield from _read_row(read_records, filled, f"{path}:{number}")
        except duckdb.Error as error:
            reason = f"the rest cannot be read: DuckDB has {type(error).__name__}"
            yield Skipped(f"{path}:{number + 1}", reason, ends=True)


def _read_row(read_records: RecordReader, row: Mapping[str, object], place: str) -> Iterator[Item]:
    items = list(read_records(None, row, place))
    yield from items or [Skipped(place, UNDECLARED, broken=False)]


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
