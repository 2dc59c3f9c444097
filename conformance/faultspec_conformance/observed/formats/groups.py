"""Equal rows of Parquet together, grouped by DuckDB, which reads no other columns for it."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from itertools import islice
from typing import Any, NamedTuple

from faultspec.contract.model import Contract
from faultspec_conformance.observed.formats.declared import UNDECLARED, record_reader
from faultspec_conformance.observed.formats.grouping import GroupingPlan
from faultspec_conformance.observed.formats.moments import parse_moment
from faultspec_conformance.observed.formats.record import (
    Grouped,
    RecordedExchange,
    Repeats,
    Skipped,
    Unjudged,
)
from faultspec_conformance.observed.formats.sources import mask_address
from faultspec_conformance.observed.formats.tables import (
    object_of,
    open_duckdb,
    parquet_name,
    parquet_rows,
    read_table,
)
from faultspec_conformance.results.findings import PLACES

#: Rows that are grouped at once: fewer than a row group has by default.
_ROWS = 100_000

_NUMBERS = frozenset(
    {
        *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE"),
        *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
    }
)

#: Types whose values are nested: the text of one may be that of another.
_NESTED = ("STRUCT", "MAP", "UNION", "VARIANT")

_NUMBER = "file_row_number"

_TIMES = frozenset({"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP WITH TIME ZONE"})

#: A moment as most logs write it. Such texts sort by time, and the first 13 characters have the
#: hour.
_MOMENT = r"\d{4}-\d\d-\d\dT\d\d:[0-5]\d:[0-5]\d(?:\.\d{1,6})?Z"


def group_rows(path: str, contract: Contract, plan: GroupingPlan) -> Iterator[Grouped]:
    """The exchanges of a file of Parquet, equal ones together. From the first rows on that DuckDB
    cannot group they are read one by one.

    Raises OSError, and NotARecording without DuckDB.
    """
    done = 0
    with suppress(ImportError), open_duckdb() as database, suppress(import_module("duckdb").Error):
        name = parquet_name(path, database)
        query = _write_query(database, name, plan)
        (count,) = database.execute(
            "SELECT count(*) FROM read_parquet(?, hive_partitioning = false)", [name]
        ).fetchone()
        while query is not None and done < count:
            groups = database.execute(query.text, [name, done, done + _ROWS]).fetchall()
            yield from _read_groups(groups, query.columns, mask_address(path), contract)
            done += _ROWS
        if query is not None:
            return
    for item in read_table(islice(parquet_rows(path), done, None), mask_address(path), contract):
        place = None if isinstance(item, Unjudged) else item.place
        yield Grouped(item, Repeats(1, () if place is None else (place,), place))


class _Query(NamedTuple):
    text: str
    columns: tuple[str, ...]


def _write_query(database: Any, name: str, plan: GroupingPlan) -> _Query | None:
    """The query of the groups in a range of rows; None if the rows cannot be grouped."""
    described = database.execute(
        "DESCRIBE SELECT * FROM read_parquet(?, hive_partitioning = false)", [name]
    ).fetchall()
    types = {row[0]: row[1] for row in described}
    columns = tuple(column for column in types if column in plan.members)
    is_nested = any(types[one].startswith(_NESTED) or types[one][-1] == "]" for one in columns)
    if not columns or is_nested or not plan.alone.isdisjoint(types) or _NUMBER in types:
        return None
    keys = ", ".join(_key(column, types, plan) for column in columns)
    firsts = ", ".join(f"arg_min({_quote(column)}, {_NUMBER})" for column in columns)
    time = _quote(plan.time) if plan.time is not None and plan.time in types else "NULL"
    return _Query(
        f"SELECT count(*), min({_NUMBER}, {PLACES}), max({_NUMBER}), "
        f"min({time}), max({time}), {firsts} "
        f"FROM read_parquet(?, {_NUMBER} = true, hive_partitioning = false) "
        f"WHERE {_NUMBER} >= ? AND {_NUMBER} < ? "
        f"GROUP BY {keys} ORDER BY min({_NUMBER})",
        columns,
    )


def _key(column: str, types: Mapping[str, str], plan: GroupingPlan) -> str:
    """The expression of a text that rows have in common if a column does not set them apart."""
    value = _quote(column)
    key = f"CAST({value} AS VARCHAR)"
    if column == plan.time and types[column] in _TIMES:
        return f"floor(epoch({value}) / 3600)"
    if column == plan.time and types[column] == "VARCHAR":
        has_hour = f"regexp_full_match({value}, '{_MOMENT}')"
        return f"CASE WHEN {has_hour} THEN left({value}, 13) ELSE '=' || {value} END"
    quiet = _quiet_condition(types, plan)
    if column in plan.urls and types[column] == "VARCHAR" and quiet is not None:
        # A host is counted, and a method may come before a blank.
        host = f"split_part({value}, '/', 3)"
        host = f"CASE WHEN strpos(left({value}, 12), '://') > 0 THEN {host} ELSE '' END"
        return f"CASE WHEN {quiet} AND strpos({value}, ' ') = 0 THEN {host} ELSE '=' || {key} END"
    if column in plan.elapsed and types[column] in _NUMBERS:
        number = f"CAST({value} AS DOUBLE)"
        return f"CASE WHEN {number} >= 0 AND isfinite({number}) THEN '' ELSE '=' || {key} END"
    return key


def _quiet_condition(types: Mapping[str, str], plan: GroupingPlan) -> str | None:
    """Whether an answer is judged alike at every URL; None if no column tells."""
    statuses = [_quote(column) for column in plan.statuses if column in types]
    if not plan.quiet or not statuses:
        return None
    values = ", ".join(f"'{status}'" for status in plan.quiet)
    conditions = [
        f"({status} IS NULL OR CAST({status} AS VARCHAR) IN ({values}))" for status in statuses
    ]
    conditions += [f"{_quote(slot)} IS NULL" for slot in plan.slots if slot in types]
    return " AND ".join(conditions)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _read_groups(
    groups: Iterable[tuple[Any, ...]], columns: tuple[str, ...], path: str, contract: Contract
) -> Iterator[Grouped]:
    read_records = record_reader(contract)
    for times, first, last, earliest, latest, *values in groups:
        places = tuple(f"{path}:{number + 1}" for number in first)
        row = object_of(zip(columns, values, strict=True))
        items = list(read_records(None, row, places[0]))
        repeats = Repeats(times, places, f"{path}:{last + 1}")
        for item in items or [Skipped(places[0], UNDECLARED, broken=False)]:
            if isinstance(item, RecordedExchange) and item.stamp.moment is not None:
                moments = object_of((("earliest", earliest), ("latest", latest)))
                repeats = repeats._replace(
                    earliest=parse_moment(moments["earliest"]),
                    latest=parse_moment(moments["latest"]),
                )
            yield Grouped(item, repeats)
