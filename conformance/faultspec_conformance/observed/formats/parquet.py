"""Rows of Parquet, by DuckDB, which measures each row before it becomes objects of Python."""

import glob
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

from faultspec.source import MAX_NODES
from faultspec_conformance.observed.formats.record import NotARecording, install
from faultspec_conformance.observed.formats.sources import file_system, is_remote
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
        sizes = [
            f"({_write_size(quote_column(column), type_)})"
            for column, type_ in zip(self.columns, self.types, strict=True)
        ]
        size = " + ".join(["0", *sizes])
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
    """The columns of a file that are wanted; None: all. Raises what DuckDB and the store raise."""
    if is_remote(path):
        database.register_filesystem(file_system(path)[0])
    name = glob.escape(path)  # DuckDB takes other names for patterns
    # Folders named `status=404` must not replace columns.
    query = "SELECT * FROM read_parquet(?, hive_partitioning = false)"
    found = database.sql(query, params=[name])
    known = dict(zip(found.columns, found.types, strict=True))
    columns = tuple(column for column in known if wanted is None or column in wanted)
    types = tuple(known[column] for column in columns)
    return BoundedTable(name, columns, types, is_numbered=NUMBER not in map(str.lower, known))


def quote_column(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


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
        return f"CASE WHEN {value} IS NULL THEN {_VALUE} ELSE {_BEYOND} END"
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
