"""The settings of targets that have some: values of the project file."""

from typing import NamedTuple


class SqlSettings(NamedTuple):
    """How the SQL target writes. ``table``: the table of the team; None for one with the name of
    the kind of records. ``record``: the kind; None for all. ``time``, ``service``: columns that the
    views keep and group by.
    """

    dialect: str = "duckdb"
    table: str | None = None
    record: str | None = None
    time: str | None = None
    service: str | None = None


class TargetSettings(NamedTuple):
    """The settings of all targets for one taxonomy."""

    sql: SqlSettings = SqlSettings()


DEFAULTS = TargetSettings()
"""What holds without a project file."""
