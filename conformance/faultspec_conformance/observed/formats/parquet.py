"""Rows of Parquet, by DuckDB, which measures each row before it becomes objects of Python."""

import glob
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import Any, NamedTuple

from faultspec.source import MAX_NODES
from faultspec_conformance.observed.formats.parquet_footer import (
    SCHEMA,
    BrokenFooter,
    count_elements,
)
from faultspec_conformance.observed.formats.record import NotARecording, install
from faultspec_conformance.observed.formats.sources import (
    file_system,
    is_remote,
    open_range,
    size_of_source,
)
from faultspec_conformance.observed.formats.tables import LARGEST, Rows, UnreadableRow, object_of

SMALL = 16 * 1024
"""Bytes of a row that is fetched with others: DuckDB copies 2,048 of them at once."""

NUMBER, SIZE = "file_row_number", "row_bytes"
"""The number of a row, from 0 on, and its bytes, as columns of a query."""

FETCHED = 512
"""Rows that are fetched at once."""

#: Bytes of rows beyond those that are fetched at once.
_BATCH = 16 * 1024 * 1024

#: Memory of DuckDB, beside our own.
_MEMORY = "128MB"

#: Bytes of a row that a value takes beside its text, so that the bound of bytes is one of values.
_VALUE = LARGEST // MAX_NODES + 1

#: Bytes of a row that is not read.
_BEYOND = 2 * LARGEST

#: Bytes of the largest footer, of which DuckDB takes twenty times as many, and of one whose
#: structures cannot be counted before.
_FOOTER, _BROKEN_FOOTER = 8 * 1024 * 1024, 64 * 1024

#: The most columns and members of objects in a file, and the most structures of one kind in a
#: footer, such as the pieces of columns: DuckDB takes up to 780 bytes for each.
_ELEMENTS, _STRUCTURES = 10_000, 250_000

#: Bytes behind the footer: its length, and the mark of the format.
_TRAILER = 8

#: Columns and members of objects that are measured: DuckDB reads no sum of more than 1,000 terms.
_TERMS = 900

#: Characters of the expressions of the bytes of a row: DuckDB takes hundreds of bytes for each.
_LONGEST = 128 * 1024

#: Characters that are around the name of a member where SQL takes it from an object.
_EXTRACT = 20

#: Levels of objects in a column. A list counts as eight: DuckDB needs twice the time for another.
_LEVELS, _LIST = 64, 8

#: Types of DuckDB whose values have no length.
_FIXED = frozenset(
    {
        *("boolean", "tinyint", "smallint", "integer", "bigint", "hugeint", "float", "double"),
        *("utinyint", "usmallint", "uinteger", "ubigint", "uhugeint", "decimal", "uuid", "date"),
        *("time", "time_ns", "time with time zone", "timestamp", "timestamp_s", "timestamp_ms"),
        *("timestamp_ns", "timestamp with time zone", "interval", "null"),
    }
)


@dataclass(frozen=True, slots=True)
class BoundedTable:
    """The columns of a file that are read, with their types. ``name``: of the file, as DuckDB has
    it. ``is_numbered``: whether DuckDB can number its rows.
    """

    name: str
    columns: tuple[str, ...]
    types: tuple[Any, ...]
    is_numbered: bool

    def query(self, most: int) -> str:
        """The query of number, bytes and values of the rows, by the name of the file. A row of more
        bytes than ``most`` has nulls.
        """
        inner = [f"c{place}" for place in range(len(self.columns))]
        size = " + ".join(["0", *_write_sizes(self.columns, self.types)])
        number = NUMBER if self.is_numbered else "row_number() OVER () - 1"
        option = ", file_row_number = true" if self.is_numbered else ""
        parts = [f"{number} AS number", f"{size} AS size"]
        parts += (
            f"{quote_column(name)} AS {own}" for name, own in zip(self.columns, inner, strict=True)
        )
        shown = [f"number AS {NUMBER}", f"size AS {SIZE}"]
        shown += (
            f"CASE WHEN size <= {most} THEN {own} END AS {quote_column(name)}"
            for name, own in zip(self.columns, inner, strict=True)
        )
        return (
            f"SELECT {', '.join(shown)} FROM (SELECT {', '.join(parts)} "
            f"FROM read_parquet(?, hive_partitioning = false{option}))"
        )


class LargeRow(NamedTuple):
    """The number of a row that is fetched by itself, from 0 on, and its bytes."""

    number: int
    size: int


def parquet_rows(path: str, wanted: Collection[str] | None = None) -> Rows:
    """The rows of a file of Parquet. ``wanted``: the columns that are read; None: all.

    Raises OSError, UnreadableRow, and NotARecording without DuckDB.
    """
    try:
        duckdb: Any = import_module("duckdb")
    except ImportError as error:
        raise NotARecording(f"it is Parquet: {install('duckdb')}") from error
    done = 0
    with open_duckdb() as database:
        try:
            table = describe_table(database, path, wanted)
            found = database.execute(table.query(SMALL), [table.name])
            with closing(database.cursor()) as beside:
                while rows := found.fetchmany(FETCHED):
                    large = [LargeRow(*row[:2]) for row in rows if is_fetched_alone(row[1])]
                    others = fetch_large(beside, table, large)
                    for number, size, *values in rows:
                        if is_fetched_alone(size):
                            values = [*next(others)]
                        row = object_of(zip(table.columns, values, strict=True))
                        yield number + 1, row if size <= LARGEST else None
                        done = number + 1
        except duckdb.Error as error:
            raise UnreadableRow(done + 1, describe_failure(error)) from error


def is_fetched_alone(size: int) -> bool:
    """Whether a row of so many bytes is read, but not with others."""
    return SMALL < size <= LARGEST


def describe_failure(error: Exception) -> str:
    """A sentence about an error of DuckDB, whose text may quote values."""
    return f"DuckDB has {type(error).__name__}"


def fetch_large(
    database: Any, table: BoundedTable, rows: Iterable[LargeRow]
) -> Iterator[tuple[object, ...]]:
    """The values of rows that are fetched alone, in order."""
    batch: list[LargeRow] = []
    for row in rows:
        if batch and sum(each.size for each in batch) + row.size > _BATCH:
            yield from _fetch_batch(database, table, batch)
            batch = []
        batch.append(row)
    if batch:
        yield from _fetch_batch(database, table, batch)


def _fetch_batch(
    database: Any, table: BoundedTable, rows: Sequence[LargeRow]
) -> Iterator[tuple[object, ...]]:
    numbers = ", ".join(str(row.number) for row in rows)
    query = (
        f"SELECT * FROM ({table.query(LARGEST)}) WHERE {NUMBER} >= ? AND {NUMBER} <= ? "
        f"AND {NUMBER} IN ({numbers}) ORDER BY {NUMBER}"
    )
    found = database.execute(query, [table.name, rows[0].number, rows[-1].number])
    while (row := found.fetchone()) is not None:
        yield row[2:]


@contextmanager
def open_duckdb() -> Iterator[Any]:
    """A database in memory, which writes no files. Raises ImportError without DuckDB."""
    duckdb: Any = import_module("duckdb")
    settings = {
        "memory_limit": _MEMORY,
        "threads": 1,
        "autoinstall_known_extensions": False,
        "temp_directory": "",  # by default a folder in the working directory
    }
    with closing(duckdb.connect(":memory:", config=settings)) as database:
        yield database


def describe_table(database: Any, path: str, wanted: Collection[str] | None) -> BoundedTable:
    """The columns of a file that are wanted; None: all. Raises what DuckDB and the store raise, and
    NotARecording if there is too much of them.
    """
    _check_footer(path)
    if is_remote(path):
        database.register_filesystem(file_system(path)[0])
    name = glob.escape(path)  # DuckDB takes other names for patterns
    # Folders named `status=404` must not replace columns.
    query = "SELECT * FROM read_parquet(?, hive_partitioning = false)"
    try:
        found = database.sql(query, params=[name])
        known = dict(zip(found.columns, found.types, strict=True))
    except RuntimeError as error:  # of the binding of DuckDB to Python
        raise NotARecording("the name of a column is not UTF-8") from error
    columns = tuple(column for column in known if wanted is None or column in wanted)
    if len(columns) > _TERMS:
        raise NotARecording(f"it has more than {_TERMS} columns")
    types = tuple(known[column] for column in columns)
    return BoundedTable(name, columns, types, is_numbered=NUMBER not in map(str.lower, known))


def _check_footer(path: str) -> None:
    """Raise NotARecording if the footer, which has columns and groups of rows, is too large."""
    size = size_of_source(path)
    if size < _TRAILER:
        return
    with open_range(path, size - _TRAILER) as read:
        length = int.from_bytes(read(_TRAILER)[:4], "little")
    if not length < size - _TRAILER:  # DuckDB refuses it
        return
    if length > _FOOTER:
        raise NotARecording("its footer is too large")
    with open_range(path, size - _TRAILER - length) as read:
        footer = read(length)
    try:
        found = count_elements(footer)
    except BrokenFooter:
        if length > _BROKEN_FOOTER:
            raise NotARecording("its footer cannot be read") from None
        return
    if found.get(SCHEMA, 0) > _ELEMENTS:
        raise NotARecording(f"it has more than {_ELEMENTS:,} columns")
    if max(found.values(), default=0) > _STRUCTURES:
        raise NotARecording("its footer is too large")


def quote_column(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def _write_sizes(columns: Sequence[str], types: Sequence[Any]) -> Iterator[str]:
    """The expressions of the bytes of columns. One that is too long is not measured: if it has a
    value, the row is not read.
    """
    terms, characters = _TERMS - len(columns), _LONGEST
    for name, type_ in zip(columns, types, strict=True):
        column = quote_column(name)
        lengths = [*islice(_measure_terms(type_, len(column)), terms + 2)]
        if len(lengths) > terms + 1 or sum(lengths) > characters:
            yield f"({_write_presence(column)})"
            continue
        terms -= len(lengths) - 1
        characters -= sum(lengths)
        yield f"({_write_size(column, type_)})"


def _measure_terms(type_: Any, length: int, level: int = 0) -> Iterator[int]:
    """The lengths of the places of values that are measured. ``length``: that of this one's."""
    yield length
    if level >= _LEVELS or type_.id not in ("struct", "map", "list", "array"):
        return
    if type_.id == "struct":
        for name, inner in type_.children:
            yield from _measure_terms(inner, length + len(_text(name)) + _EXTRACT, level + 1)
        return
    for _, inner in type_.children:
        if isinstance(inner, int):  # the length of an array
            continue
        yield 2 * length
        yield from _measure_terms(inner, _EXTRACT, level + _LIST)


def _write_size(value: str, type_: Any, level: int = 0) -> str:
    """The expression of the bytes of a value. That of a long list counts no items: it is not read,
    and DuckDB would take memory for each.
    """
    form = type_.id
    if form in _FIXED:
        return str(_VALUE)
    if form in ("varchar", "json"):
        return f"{_VALUE} + coalesce(strlen({value}), 0)"
    if form == "blob":
        return f"{_VALUE} + coalesce(octet_length({value}), 0)"
    if level >= _LEVELS:
        return _write_presence(value)
    if form == "struct":
        members = [
            f"({_write_size(f'struct_extract({value}, {_text(name)})', inner, level + 1)})"
            for name, inner in type_.children
        ]
        return " + ".join([str(_VALUE), *members])
    if form == "map":
        (_, key), (_, inner) = type_.children
        keys = _write_list_size(f"map_keys({value})", key, level)
        return f"{keys} + {_write_list_size(f'map_values({value})', inner, level)}"
    if form in ("list", "array"):
        return _write_list_size(value, type_.children[0][1], level)
    return f"{_VALUE} + coalesce(strlen(CAST({value} AS VARCHAR)), 0)"


def _write_presence(value: str) -> str:
    """The expression of the bytes of a value that is not read, if it is there."""
    return f"CASE WHEN {value} IS NULL THEN {_VALUE} ELSE {_BEYOND} END"


def _write_list_size(value: str, inner: Any, level: int) -> str:
    length = f"coalesce(len({value}), 0)"
    if inner.id in _FIXED:
        return f"{_VALUE} + {length} * {_VALUE}"
    item = f"v{level}"
    size = _write_size(item, inner, level + _LIST)
    return (
        f"{_VALUE} + CASE WHEN {length} = 0 THEN 0 WHEN {length} > {MAX_NODES} THEN {_BEYOND} "
        f"ELSE list_sum(list_transform({value}, lambda {item}: {size})) END"
    )


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
