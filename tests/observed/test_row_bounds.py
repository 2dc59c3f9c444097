"""Rows of tables have a bound before they are read."""

import io
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec_conformance.observed.audit import AuditOptions, Engine, audit
from faultspec_conformance.observed.formats import read_sample
from faultspec_conformance.observed.formats.grouping import members_of_kinds
from faultspec_conformance.observed.formats.parquet import (
    describe_table,
    open_duckdb,
    parquet_rows,
)
from faultspec_conformance.observed.formats.parquet_footer import (
    SCHEMA,
    BrokenFooter,
    count_elements,
)
from faultspec_conformance.observed.formats.record import NotARecording
from faultspec_conformance.observed.formats.tables import UnreadableRow, csv_rows
from faultspec_conformance.reports.data import json as write_json
from observed.test_engines import CONTRACTS

SIZES = (10, 20_000, 10, 5_000_000, 3_000_000, 3_000_000, 20_000, 10, 4_300_000, 17_000)

BEYOND = (4, 9)


def write_texts(path: Path, repeat: int = 1) -> list[str]:
    """A table with texts of these lengths as codes, in row groups of three."""
    texts = [f"{number}" + "x" * size for number, size in enumerate(SIZES * repeat)]
    rows = len(texts)
    columns = {"method": ["GET"] * rows, "url": ["/v1/a"] * rows, "status": [404] * rows}
    pq.write_table(pa.table({**columns, "code": texts}), path, row_group_size=3)
    return texts


def test_large_rows_come_in_order_and_larger_ones_are_named(tmp_path: Path) -> None:
    """Rows up to the bound have their values, wherever they are; others are None."""
    path = tmp_path / "rows.parquet"
    texts = write_texts(path, 3)
    rows = list(parquet_rows(str(path), {"code", "missing"}))
    assert [number for number, _ in rows] == [*range(1, len(texts) + 1)]
    for (number, row), text in zip(rows, texts, strict=True):
        is_beyond = (number - 1) % len(SIZES) + 1 in BEYOND
        assert row == (None if is_beyond else {"code": text}), number


def test_a_column_with_the_name_of_the_row_number_hides_no_row(tmp_path: Path) -> None:
    """Large rows are found too if DuckDB cannot number the rows of a file."""
    path = tmp_path / "rows.parquet"
    texts = ["a" * 50_000, "b", "c" * 60_000]
    pq.write_table(pa.table({"File_Row_Number": [7, 7, 7], "code": texts}), path)
    assert [row and row["code"] for _, row in parquet_rows(str(path))] == texts


@pytest.mark.parametrize("engine", ["duckdb", "plain"])
def test_a_row_beyond_the_bound_is_a_record_that_cannot_be_read(
    engine: Engine, tmp_path: Path
) -> None:
    """The report counts these rows and names file and row; the others are judged."""
    path = tmp_path / "rows.parquet"
    write_texts(path)
    report = audit([str(path)], CONTRACTS["quiet"], AuditOptions(engine=engine))
    assert report.result.requests == len(SIZES) - len(BEYOND)
    text = write_json(report)
    assert "rows.parquet:4" in text
    assert "the row has more than 4 MiB or 500,000 values" in text


def write_schema(path: Path, column: pa.DataType | None = None, **others: pa.DataType) -> None:
    """A table of one row, with a column `code` of a type that has no value."""
    code = pa.string() if column is None else column
    types = {"url": pa.string(), "status": pa.int64(), "code": code, **others}
    values: dict[str, object] = {"url": "/a", "status": 404}
    table = pa.table({name: pa.array([values.get(name)], of) for name, of in types.items()})
    pq.write_table(table, path, store_schema=False)


def deep_object(levels: int, members: int) -> pa.DataType:
    """An object with so many members, in others."""
    found = pa.struct([(f"m{number}", pa.string()) for number in range(members)])
    for _ in range(levels):
        found = pa.struct([("inner", found)])
    return found


@pytest.mark.parametrize(
    ("others", "reason"),
    [
        ({"n" * 5_000_000: pa.string()}, "its footer is too large"),
        ({f"n{number}": pa.string() for number in range(10_001)}, "more than 10,000 columns"),
        ({"objects": deep_object(0, 10_001)}, "more than 10,000 columns"),
    ],
)
def test_a_footer_that_takes_the_memory_is_not_read(
    others: dict[str, pa.DataType], reason: str, tmp_path: Path
) -> None:
    """DuckDB would take many times its bytes."""
    path = tmp_path / "rows.parquet"
    write_schema(path, **others)
    with pytest.raises(NotARecording, match=reason):
        list(parquet_rows(str(path), {"code"}))


def varint(number: int) -> bytes:
    """A number of Thrift's compact protocol."""
    return (b"" if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)) + (
        bytes([number]) if number < 128 else b""
    )


def write_footer(path: Path, *parts: bytes) -> None:
    """Write a file that is nothing but a footer."""
    footer = b"".join(parts)
    path.write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")


#: The version; a schema of its root and of one column; no rows; and the end.
_VERSION, _SCHEMA, _ROWS, _END = (
    b"\x15\x02",
    b"\x19\x2c\x48\x01r\x15\x02\x00\x15\x0c\x25\x02\x18\x01a\x00",
    b"\x16\x00",
    b"\x00",
)


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        # The schema stands twice, and DuckDB takes the second one.
        (
            (_VERSION, _SCHEMA, b"\x09\x04\xfc", varint(20_000), b"\x48\x01r\x00" * 20_000, _END),
            "more than 10,000 columns",
        ),
        # A group of rows with many pieces of columns
        (
            (
                *(_VERSION, _SCHEMA, _ROWS, b"\x19\x1c\x19\xfc", varint(300_000)),
                *(b"\x26\x00\x00" * 300_000, b"\x16\x00\x16\x00\x00", _END),
            ),
            "its footer is too large",
        ),
        ((_VERSION, b"\x19\xfc", varint(10**9), b"\x00" * 100_000), "its footer cannot be read"),
        ((b"\x1c" * 100_000,), "its footer cannot be read"),
        ((b"\x15" + b"\xff" * 100_000,), "its footer cannot be read"),
    ],
)
def test_the_structures_of_a_footer_are_counted(
    parts: tuple[bytes, ...], reason: str, tmp_path: Path
) -> None:
    """Whatever its fields are, DuckDB gets no footer that it would lay out in hundreds of
    megabytes.
    """
    path = tmp_path / "rows.parquet"
    write_footer(path, *parts)
    with pytest.raises(NotARecording, match=reason):
        list(parquet_rows(str(path), {"a"}))


def test_the_pieces_of_columns_of_a_file_are_counted(tmp_path: Path) -> None:
    """As many as the library that wrote it says, whatever its columns are called."""
    path = tmp_path / "rows.parquet"
    names = ("url", "kind", "key", "level", "user_agent", "k", "method", "schema")
    table = pa.table({name: ["x", "y", "z"] * 30 for name in names} | {"parts": [[1, 2]] * 90})
    pq.write_table(table, path, row_group_size=1)
    content = path.read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    found = count_elements(content[-8 - length : -8])
    meta = pq.read_metadata(path)
    assert found[4,] == meta.num_row_groups
    assert found[4, 1] == meta.num_row_groups * meta.num_columns
    assert found[SCHEMA] == len(names) + 4


@given(st.binary(max_size=300))
def test_any_footer_is_counted_or_broken(footer: bytes) -> None:
    """The count ends, whatever the bytes are."""
    with suppress(BrokenFooter):
        assert all(count >= 0 for count in count_elements(footer).values())


def test_a_column_whose_name_is_not_utf8_is_named_as_the_reason(tmp_path: Path) -> None:
    """The rest of an audit goes on."""
    path = tmp_path / "rows.parquet"
    write_schema(path, nn=pa.string())
    path.write_bytes(path.read_bytes().replace(b"nn", b"\xff\xfe"))
    with pytest.raises(NotARecording, match="not UTF-8"):
        list(parquet_rows(str(path), {"url"}))


@pytest.mark.parametrize("members", [700, 901, 3_000])
def test_an_object_of_many_members_is_measured_within_bounds(members: int, tmp_path: Path) -> None:
    """DuckDB gets no long expression: a column beyond the bound has no value, or its row is not
    read.
    """
    path = tmp_path / "rows.parquet"
    write_schema(path, deep_object(40, members))
    with open_duckdb() as database:
        assert len(describe_table(database, str(path), {"url", "code"}).query(1)) < 1 << 18
    assert [row for _, row in parquet_rows(str(path), {"url"})] == [{"url": "/a"}]


def test_other_columns_are_read_beside_an_object_of_many_members(tmp_path: Path) -> None:
    """Its rows are read if they have no value there."""
    path = tmp_path / "rows.parquet"
    write_schema(path, deep_object(0, 1_200))
    rows = [row for _, row in parquet_rows(str(path), {"url", "code"})]
    assert rows == [{"url": "/a", "code": None}] or rows == [{"url": "/a"}]


@pytest.mark.full  # DuckDB plans it for half a minute
def test_a_table_of_too_many_columns_is_not_read(tmp_path: Path) -> None:
    """DuckDB has no sum of more than a thousand terms."""
    path = tmp_path / "rows.parquet"
    write_schema(path, **{f"n{number}": pa.string() for number in range(890)})
    assert len([*parquet_rows(str(path))]) == 1
    write_schema(path, **{f"n{number}": pa.string() for number in range(900)})
    with pytest.raises(NotARecording, match="900 columns"):
        list(parquet_rows(str(path)))


def nested(depth: int) -> Any:
    """A value in so many lists."""
    value: object = "x"
    for _ in range(depth):
        value = [value]
    return value


def nested_type(depth: int) -> Any:
    """Its type."""
    type_ = pa.string()
    for _ in range(depth):
        type_ = pa.list_(type_)
    return type_


VALUES: dict[str, tuple[Callable[[], Any], bool]] = {
    "short list": (lambda: pa.array([[1, None]]), True),
    "long list": (lambda: pa.array([[None] * 600_000], pa.list_(pa.int8())), False),
    "texts": (lambda: pa.array([["a" * 1_000] * 3_000]), True),
    "long texts": (lambda: pa.array([["a" * 1_000] * 5_000]), False),
    "object": (lambda: pa.array([{"a": "b" * 20_000, "c": [{"d": 1}]}]), True),
    "long object": (lambda: pa.array([{"a": "b" * 5_000_000, "c": None}]), False),
    "objects": (lambda: pa.array([[{"d": None}] * 600_000], pa.list_(pa.struct({"d": pa.int8()}))), False),
    "map": (lambda: pa.array([[("a", "b" * 20_000)]], pa.map_(pa.string(), pa.string())), True),
    "long map": (lambda: pa.array([[("a", "b" * 5_000_000)]], pa.map_(pa.string(), pa.string())), False),
    "bytes": (lambda: pa.array([b"a" * 20_000]), True),
    "long bytes": (lambda: pa.array([b"a" * 5_000_000]), False),
    "no list": (lambda: pa.array([None], pa.list_(pa.string())), True),
    "nested": (lambda: pa.array([nested(7)], nested_type(7)), True),
    "nested deeply": (lambda: pa.array([nested(30)], nested_type(30)), False),
}  # fmt: skip


@pytest.mark.parametrize("name", [*VALUES])
def test_values_of_any_type_have_the_bound(name: str, tmp_path: Path) -> None:
    """Texts, bytes and items at any depth count; a row within the bound is read as it is."""
    make, is_read = VALUES[name]
    column = make()
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": column, "b": ["x"]}), path)
    ((_, row),) = parquet_rows(str(path))
    expected = column.to_pylist()[0]
    if column.type.id == pa.map_(pa.string(), pa.string()).id:
        expected = dict(expected)
    known = {} if expected is None else {"a": expected}
    assert row == ({**known, "b": "x"} if is_read else None)


def test_only_columns_of_the_kinds_are_read() -> None:
    """The members that the kinds of a taxonomy name are the columns that are read."""
    assert members_of_kinds(CONTRACTS["quiet"]) == {
        *("method", "url", "route", "status", "took", "at_", "by_", "code", "message"),
        *("address", "told"),
    }


def test_duckdb_writes_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than fits into the memory of DuckDB is an error: it would write values to disk."""
    monkeypatch.chdir(tmp_path)
    query = "SELECT text, count(*) FROM (SELECT range || repeat('x', 3000) AS text FROM range(90000)) GROUP BY 1 ORDER BY 1"
    with open_duckdb() as database, pytest.raises(duckdb.OutOfMemoryException):
        database.execute(query).fetchone()
    assert not list(tmp_path.iterdir())


def test_a_row_of_csv_has_a_bound() -> None:
    """A row of any number of lines, or with too many fields, ends the reading at its line."""
    names = b"a,b\n1,2\n"
    for rest in (b'"' + b"x\n" * 9_000_000, b'"a\n",' * 600_000, b"a," * 600_000):
        rows = csv_rows(io.BytesIO(names + rest))
        assert next(rows) == (2, {"a": "1", "b": "2"})
        with pytest.raises(UnreadableRow) as caught:
            next(rows)
        assert caught.value.number == 3
        assert "a row has more than 16 MiB or 500,000 values" in str(caught.value)
    many = csv_rows(io.BytesIO(names + b"1,2\n" * 600_000))
    assert sum(1 for _ in many) == 600_001


def test_a_sample_has_a_bound(tmp_path: Path) -> None:
    """A sample of large rows or lines ends early, and has the first of them."""
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"code": ["x" * 3_000_000] * 50}), path)
    assert 1 <= len(read_sample(str(path))) <= 8
    log = tmp_path / "rows.ndjson"
    log.write_text('{"a": "' + "x" * 3_000_000 + '"}\n', "utf-8")
    log.write_text(log.read_text() * 50)
    assert 1 <= len(read_sample(str(log))) <= 8
