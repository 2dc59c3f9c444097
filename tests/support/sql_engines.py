"""Engines that run the views of the target `sql` over rows, each in a database of its own."""

import csv
import io
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]

#: Types of columns in every dialect.
_TYPES = {int: "INTEGER", bool: "BOOLEAN", float: "DOUBLE PRECISION", str: "TEXT"}

#: Where Debian has the programs of PostgreSQL, newest last.
_POSTGRES = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


def column_types(rows: Sequence[Row]) -> dict[str, type]:
    """The columns of rows with the type of their values; text if there are none."""
    types: dict[str, type] = {}
    for row in rows:
        for name, value in row.items():
            if value is not None:
                types[name] = type(value)
            types.setdefault(name, str)
    return types


def _create(table: str, types: Mapping[str, type]) -> str:
    columns = ", ".join(f'"{name}" {_TYPES[kind]}' for name, kind in types.items())
    return f"CREATE TABLE {table} ({columns})"


def run_duckdb(script: str, table: str, rows: Sequence[Row], views: Sequence[str]) -> list[Any]:
    """The rows of each view as dictionaries."""
    import duckdb

    types = column_types(rows)
    with duckdb.connect() as database:
        database.execute(_create(table, types))
        marks = ", ".join("?" * len(types))
        values = [[row.get(name) for name in types] for row in rows]
        database.executemany(f"INSERT INTO {table} VALUES ({marks})", values)
        database.execute(script)
        found = []
        for view in views:
            result = database.execute(f"SELECT * FROM {view}")
            names = [each[0] for each in result.description]
            found.append([dict(zip(names, each, strict=True)) for each in result.fetchall()])
        return found


def postgres_is_missing() -> bool:
    """Whether the server of PostgreSQL is not installed."""
    return not _POSTGRES or shutil.which("psql") is None


class Postgres:
    """A server on a socket of its own folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, script: str) -> str:
        """The output of a script, which ends at its first error."""
        done = subprocess.run(
            [
                *("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"),
                *("-h", str(self.folder), "-U", "faultspec", "-d", "postgres"),
            ],
            input=script,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run_views(
        self, script: str, table: str, rows: Sequence[Row], views: Sequence[str]
    ) -> list[Any]:
        """The rows of each view as dictionaries."""
        types = column_types(rows)
        lines = io.StringIO()
        writer = csv.writer(lines, lineterminator="\n")
        for row in rows:
            writer.writerow([_csv_value(row.get(name)) for name in types])
        data = f"COPY {table} FROM STDIN (FORMAT csv, NULL '\\N');\n{lines.getvalue()}\\.\n"
        self.run(f"DROP TABLE IF EXISTS {table} CASCADE;\n{_create(table, types)};\n{data}")
        self.run(script)
        return [
            [
                json.loads(line)
                for line in self.run(f"SELECT row_to_json(v) FROM {view} AS v;").splitlines()
            ]
            for view in views
        ]


def _csv_value(value: object) -> object:
    return r"\N" if value is None else value


@contextmanager
def postgres() -> Iterator[Postgres]:
    """A server of PostgreSQL, which listens on a socket of a temporary folder alone."""
    programs = _POSTGRES[-1].parent
    folder = Path(tempfile.mkdtemp(prefix="faultspec-pg-"))  # a socket has a short path
    # The server refuses to run as root.
    user = _unprivileged_user() if os.getuid() == 0 else None
    if user is not None:
        os.chown(folder, pwd.getpwnam(user).pw_uid, -1)
    data = folder / "data"

    def run(*arguments: str) -> None:
        subprocess.run(arguments, check=True, capture_output=True, user=user, cwd=folder)

    run(
        *(str(programs / "initdb"), "-D", str(data), "-U", "faultspec", "-A", "trust"),
        *("-E", "UTF8", "--locale", "C.UTF-8", "--no-sync"),
    )
    options = f"-c listen_addresses='' -k {folder} -c fsync=off"
    run(
        *(str(programs / "pg_ctl"), "-D", str(data), "-w", "-o", options),
        *("-l", str(folder / "log"), "start"),
    )
    try:
        yield Postgres(folder)
    finally:
        run(str(programs / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged_user() -> str:
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


@contextmanager
def spark(folder: Path) -> Iterator[Any]:
    """A session of Spark on one thread of this machine."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    try:
        yield session
    finally:
        session.stop()


def run_spark(
    session: Any, statements: Sequence[str], table: str, rows: Sequence[Row], views: Sequence[str]
) -> list[Any]:
    """The rows of each view as dictionaries."""
    from pyspark.sql import types as kinds

    types = column_types(rows)
    of = {int: kinds.IntegerType(), bool: kinds.BooleanType(), str: kinds.StringType()}
    schema = kinds.StructType([kinds.StructField(name, of[kind]) for name, kind in types.items()])
    values = [tuple(row.get(name) for name in types) for row in rows]
    session.createDataFrame(values, schema).write.mode("overwrite").saveAsTable(table)
    for statement in statements:
        session.sql(statement)
    return [
        [row.asDict() for row in session.sql(f"SELECT * FROM {view}").collect()] for view in views
    ]
