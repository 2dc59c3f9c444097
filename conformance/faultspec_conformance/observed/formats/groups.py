"""Equal rows of Parquet together, grouped by DuckDB, which reads no other columns for it."""

from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from importlib import import_module
from itertools import islice
from typing import Any

from faultspec.contract.model import Contract
from faultspec_conformance.observed.formats.declared import UNDECLARED, record_reader
from faultspec_conformance.observed.formats.grouping import GroupingPlan
from faultspec_conformance.observed.formats.moments import parse_moment
from faultspec_conformance.observed.formats.parquet import (
    FETCHED,
    NUMBER,
    SIZE,
    SMALL,
    BoundedTable,
    LargeRow,
    describe_failure,
    describe_table,
    fetch_large,
    is_fetched_alone,
    open_duckdb,
    parquet_rows,
    quote_column,
)
from faultspec_conformance.observed.formats.record import (
    Grouped,
    Item,
    RecordedExchange,
    Repeats,
    Skipped,
    Unjudged,
)
from faultspec_conformance.observed.formats.sources import mask_address
from faultspec_conformance.observed.formats.tables import (
    LARGEST,
    TOO_LARGE,
    UnreadableRow,
    describe_end,
    object_of,
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
    name = mask_address(path)
    with suppress(ImportError), open_duckdb() as database, suppress(import_module("duckdb").Error):
        table = describe_table(database, path, plan.members)
        query = _write_query(table, plan)
        (count,) = database.execute(
            "SELECT count(*) FROM read_parquet(?, hive_partitioning = false)", [table.name]
        ).fetchone()
        while query is not None and done < count:
            # It returns with all groups sorted, so that no error is expected among them.
            groups = database.execute(query, [table.name, done, done + _ROWS])
            try:
                yield from _read_groups(groups, table, name, contract)
            except UnreadableRow as error:
                yield _group_alone(describe_end(name, error))
                return
            done += _ROWS
        if query is not None:
            return
    rows = islice(parquet_rows(path, plan.members), done, None)
    for item in read_table(rows, name, contract):
        yield _group_alone(item)


def _group_alone(item: Item) -> Grouped:
    """An item that is equal to no other."""
    place = None if isinstance(item, Unjudged) else item.place
    return Grouped(item, Repeats(1, () if place is None else (place,), place))


def _write_query(table: BoundedTable, plan: GroupingPlan) -> str | None:
    """The query of the groups in a range of rows; None if the rows cannot be grouped. A row that is
    larger than others is alone.
    """
    types = {column: str(type_) for column, type_ in zip(table.columns, table.types, strict=True)}
    columns = table.columns
    is_nested = any(types[one].startswith(_NESTED) or types[one][-1] == "]" for one in columns)
    is_ambiguous = not table.is_numbered or SIZE in map(str.lower, columns)
    if not columns or is_nested or not plan.alone.isdisjoint(types) or is_ambiguous:
        return None
    keys = ", ".join(_key(column, types, plan) for column in columns)
    firsts = ", ".join(f"arg_min({quote_column(column)}, {NUMBER})" for column in columns)
    time = quote_column(plan.time) if plan.time is not None and plan.time in types else "NULL"
    return (
        f"SELECT max({SIZE}), count(*), min({NUMBER}, {PLACES}), max({NUMBER}), "
        f"min({time}), max({time}), {firsts} "
        f"FROM ({table.query(SMALL)}) "
        f"WHERE {NUMBER} >= ? AND {NUMBER} < ? "
        f"GROUP BY CASE WHEN {SIZE} > {SMALL} THEN {NUMBER} END, {keys} ORDER BY min({NUMBER})"
    )


def _key(column: str, types: Mapping[str, str], plan: GroupingPlan) -> str:
    """The expression of a text that rows have in common if a column does not set them apart."""
    value = quote_column(column)
    key = f"CAST({value} AS VARCHAR)"
    if column == plan.time and types[column] in _TIMES:
        hour = f"CAST(floor(epoch({value}) / 3600) AS VARCHAR)"
        return f"CASE WHEN isfinite({value}) THEN {hour} ELSE '=' || {key} END"
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
    statuses = [quote_column(column) for column in plan.statuses if column in types]
    if not plan.quiet or not statuses:
        return None
    values = ", ".join(f"'{status}'" for status in plan.quiet)
    conditions = [
        f"({status} IS NULL OR CAST({status} AS VARCHAR) IN ({values}))" for status in statuses
    ]
    conditions += [f"{quote_column(slot)} IS NULL" for slot in plan.slots if slot in types]
    return " AND ".join(conditions)


def _read_groups(
    found: Any, table: BoundedTable, path: str, contract: Contract
) -> Iterator[Grouped]:
    """The groups that a query has. Raises UnreadableRow."""
    duckdb: Any = import_module("duckdb")
    read_records = record_reader(contract)
    number = 0
    try:
        with closing(found.cursor()) as beside:
            while groups := found.fetchmany(FETCHED):
                large = [
                    LargeRow(first[0], size)
                    for size, _, first, *_ in groups
                    if is_fetched_alone(size)
                ]
                others = fetch_large(beside, table, large)
                for size, times, first, last, earliest, latest, *values in groups:
                    number = first[0]
                    if is_fetched_alone(size):
                        values = [*next(others)]
                    places = tuple(f"{path}:{one + 1}" for one in first)
                    if size > LARGEST:
                        yield _group_alone(Skipped(places[0], TOO_LARGE))
                        continue
                    row = object_of(zip(table.columns, values, strict=True))
                    repeats = Repeats(times, places, f"{path}:{last + 1}")
                    for item in list(read_records(None, row, places[0])) or [
                        Skipped(places[0], UNDECLARED, broken=False)
                    ]:
                        yield Grouped(item, _add_moments(repeats, item, (earliest, latest)))
    except duckdb.Error as error:
        raise UnreadableRow(number + 1, describe_failure(error)) from error


def _add_moments(repeats: Repeats, item: Item, moments: tuple[object, object]) -> Repeats:
    """The repeats with the moments of the first and the last, if the item has one."""
    if not isinstance(item, RecordedExchange) or item.stamp.moment is None:
        return repeats
    found = object_of(zip(("earliest", "latest"), moments, strict=True))
    if not found:  # it is read by itself
        return repeats
    return repeats._replace(
        earliest=parse_moment(found["earliest"]), latest=parse_moment(found["latest"])
    )
