"""The dialects of SQL: how each spells what they do not share.

The views are written once, in the dialect of DuckDB, with functions `FS_…` for what engines spell
in their own way. sqlglot translates the rest.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from faultspec.targets.sql_expressions import Syntax

Spelling = Callable[[Sequence[str]], str]
"""A function of the arguments, as SQL of the dialect, to the call in it. A path of JSON is a text
such as ``'$.error.code'``."""

#: The inside of a text of JSON. Java recurses for each turn of a group, so most letters need none.
_TEXT = r'[^"\\]*(?:\\.[^"\\]*)*'

#: A name in front of a value, in a text of JSON.
NAME = rf'"{_TEXT}"[ \t\r\n]*:'

#: The same, with a letter that is written as an escape.
ESCAPED_NAME = rf'"[^"\\]*(?:\\[^u][^"\\]*)*\\u{_TEXT}"[ \t\r\n]*:'


_WS = r"[ \t\r\n]*"
_COMMA_AT_END = rf",{_WS}[\]\}}]"
_NO_NUMBER = rf"(?:^|[\[,:]){_WS}[+-]?(?:[nN][aA][nN]|[iI][nN][fF])"
_MORE_BEHIND = rf"[\]\}}]{_WS}[^,\]\}} \t\r\n]"
_SCALAR = rf'^{_WS}(?:["0-9-]|true|false|null)'


class Dialect(NamedTuple):
    """A dialect. ``spellings``: by the name of a function. ``preamble``: statements before the
    views. ``remark``: a limit of the engine, as a sentence; empty if there is none.
    ``replaces_views``: whether a view can be replaced by one with other columns. ``most_leaks``:
    characters of the expressions of a kind of leaks that the engine searches in time; None for any.
    ``lenient``: expressions of the texts that the engine takes for JSON, and RFC 8259 does not.
    ``reads_texts``: whether it finds a member in the text of a body, also if that is not JSON.
    """

    name: str
    syntax: Syntax
    spellings: Mapping[str, Spelling]
    preamble: tuple[str, ...] = ()
    remark: str = ""
    replaces_views: bool = True
    most_leaks: int | None = None
    lenient: tuple[str, ...] = ()
    reads_texts: bool = False

    def translate(self, statement: str) -> str:
        """A statement of DuckDB with functions `FS_…` in this dialect."""
        sqlglot: Any = import_module("sqlglot")
        expressions: Any = import_module("sqlglot.expressions")
        tree = sqlglot.parse_one(statement, read="duckdb")
        calls = [
            node for node in tree.find_all(expressions.Anonymous) if node.name.startswith("FS_")
        ]
        for node in reversed(calls):  # the inner ones come last
            arguments = [each.sql(dialect=self.name) for each in node.expressions]
            spelled = self.spellings[node.name.removeprefix("FS_").lower()](arguments)
            node.replace(sqlglot.parse_one(spelled, read=self.name))
        text: str = tree.sql(dialect=self.name, pretty=True)
        return text


def _keys(path: str) -> str:
    """A path of JSON as an array of keys, as PostgreSQL writes one."""
    return "'{" + ",".join(path.strip("'").split(".")[1:]) + "}'"


#: Types of whole numbers in DuckDB, which knows that of a column before it reads any row.
_WHOLE = "('TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'UTINYINT', 'USMALLINT', 'UINTEGER')"

_DUCKDB: Mapping[str, Spelling] = {
    "is_whole": lambda a: f"typeof({a[0]}) IN {_WHOLE}",
    "whole": lambda a: f"TRY_CAST({a[0]} AS INTEGER)",
    # Most bodies end where they begin; each that TRY has to catch takes as long as a hundred.
    "json": lambda a: (
        f"CASE WHEN starts_with({a[0]}, '{{') AND ends_with({a[0]}, '}}') OR json_valid({a[0]}) "
        f"THEN {a[0]} END"
    ),
    "is_json": lambda a: f"COALESCE(json_valid({a[0]}), FALSE)",
    "text": lambda a: f"TRY(json_extract_string({a[0]}, {a[1]}))",
    # A text that begins with a letter is a string, unless it is a constant.
    "string": lambda a: (
        f"CASE WHEN {a[0]} BETWEEN '_' AND 'z~' AND {a[0]} NOT IN ('true', 'false') THEN {a[0]} "
        f"WHEN TRY(json_type({a[1]}, {a[2]})) = 'VARCHAR' THEN {a[0]} END"
    ),
    "boolean": lambda a: (
        f"CASE WHEN TRY(json_type({a[0]}, {a[1]})) = 'BOOLEAN' "
        f"THEN TRY(json_extract_string({a[0]}, {a[1]})) END"
    ),
    "inner": lambda a: f"CASE WHEN json_valid({a[0]}) THEN json_extract_string({a[0]}, {a[1]}) END",
    "matches": lambda a: f"regexp_matches({a[0]}, {a[1]})",
    "find": lambda a: f"NULLIF(regexp_extract({a[0]}, {a[1]}, 1), '')",
    "replace": lambda a: f"regexp_replace({a[0]}, {a[1]}, {a[2]}, 'g')",
    "repeats": lambda a: (
        f"len(regexp_extract_all({a[0]}, {a[1]})) <> "
        f"list_unique(regexp_extract_all({a[0]}, {a[1]}))"
    ),
    "bytes": lambda a: f"strlen({a[0]})",
    "character": lambda a: f"chr({a[0]})",
}

_POSTGRES: Mapping[str, Spelling] = {
    "json": lambda a: f"faultspec_json({a[0]})",
    "is_whole": lambda _: "FALSE",
    "whole": lambda _: "CAST(NULL AS INTEGER)",
    "is_json": lambda a: f"({a[0]} IS NOT NULL)",
    "text": lambda a: f"({a[0]} #>> {_keys(a[1])})",
    "string": lambda a: (
        f"CASE WHEN json_typeof({a[1]} #> {_keys(a[2])}) = 'string' THEN {a[0]} END"
    ),
    "boolean": lambda a: (
        f"CASE WHEN json_typeof({a[0]} #> {_keys(a[1])}) = 'boolean' "
        f"THEN {a[0]} #>> {_keys(a[1])} END"
    ),
    "inner": lambda a: f"(faultspec_json({a[0]}) #>> {_keys(a[1])})",
    "matches": lambda a: f"({a[0]} ~ {a[1]})",
    "find": lambda a: f"NULLIF((regexp_match({a[0]}, {a[1]}))[1], '')",
    "replace": lambda a: f"regexp_replace({a[0]}, {a[1]}, {a[2]}, 'g')",
    "repeats": lambda a: (
        f"(SELECT count(*) <> count(DISTINCT name[1]) FROM regexp_matches({a[0]}, {a[1]}, 'g') "
        "AS name)"
    ),
    "bytes": lambda a: f"octet_length({a[0]})",
    "character": lambda a: f"chr({a[0]})",
}

_SPARK: Mapping[str, Spelling] = {
    "json": lambda a: f"try_parse_json({a[0]})",
    "is_whole": lambda a: f"typeof({a[0]}) IN ('tinyint', 'smallint', 'int', 'bigint')",
    "whole": lambda a: f"TRY_CAST({a[0]} AS INTEGER)",
    "is_json": lambda a: f"({a[0]} IS NOT NULL)",
    "text": lambda a: f"try_variant_get({a[0]}, {a[1]}, 'string')",
    "string": lambda a: (
        f"CASE WHEN schema_of_variant(try_variant_get({a[1]}, {a[2]}, 'variant')) = 'STRING' "
        f"THEN {a[0]} END"
    ),
    "boolean": lambda a: (
        f"CASE WHEN schema_of_variant(try_variant_get({a[0]}, {a[1]}, 'variant')) = 'BOOLEAN' "
        f"THEN try_variant_get({a[0]}, {a[1]}, 'string') END"
    ),
    "inner": lambda a: f"get_json_object({a[0]}, {a[1]})",
    "matches": lambda a: f"({a[0]} RLIKE {a[1]})",
    "find": lambda a: f"NULLIF(regexp_extract({a[0]}, {a[1]}, 1), '')",
    "replace": lambda a: f"regexp_replace({a[0]}, {a[1]}, {a[2]})",
    "repeats": lambda a: (
        f"(size(regexp_extract_all({a[0]}, {a[1]}, 0)) <> "
        f"size(array_distinct(regexp_extract_all({a[0]}, {a[1]}, 0))))"
    ),
    "bytes": lambda a: f"octet_length({a[0]})",
    "character": lambda a: f"char({a[0]})",
}

_BIGQUERY: Mapping[str, Spelling] = {
    "json": lambda a: f"SAFE.PARSE_JSON({a[0]}, wide_number_mode => 'round')",
    "is_whole": lambda _: "FALSE",
    "whole": lambda _: "CAST(NULL AS INT64)",
    "is_json": lambda a: f"({a[0]} IS NOT NULL)",
    "text": lambda a: f"JSON_VALUE({a[0]}, {a[1]})",
    "string": lambda a: (
        f"CASE WHEN JSON_TYPE(JSON_QUERY({a[1]}, {a[2]})) = 'string' THEN {a[0]} END"
    ),
    "boolean": lambda a: (
        f"CASE WHEN JSON_TYPE(JSON_QUERY({a[0]}, {a[1]})) = 'boolean' "
        f"THEN JSON_VALUE({a[0]}, {a[1]}) END"
    ),
    "inner": lambda a: f"COALESCE(JSON_VALUE({a[0]}, {a[1]}), JSON_QUERY({a[0]}, {a[1]}))",
    "matches": lambda a: f"REGEXP_CONTAINS({a[0]}, {a[1]})",
    "find": lambda a: f"NULLIF(REGEXP_EXTRACT({a[0]}, {a[1]}), '')",
    "replace": lambda a: f"REGEXP_REPLACE({a[0]}, {a[1]}, {a[2]})",
    "repeats": lambda a: (
        f"(SELECT COUNT(*) <> COUNT(DISTINCT name) "
        f"FROM UNNEST(REGEXP_EXTRACT_ALL({a[0]}, {a[1]})) AS name)"
    ),
    "bytes": lambda a: f"BYTE_LENGTH({a[0]})",
    "character": lambda a: f"CODE_POINTS_TO_STRING([{a[0]}])",
}

_PARSE = """\
CREATE OR REPLACE FUNCTION faultspec_json(body text) RETURNS json AS $$
BEGIN
  RETURN body::json;
EXCEPTION WHEN others THEN
  RETURN NULL;
END
$$ LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE"""

DIALECTS: Mapping[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect("duckdb", "re2", _DUCKDB, lenient=(_COMMA_AT_END, _NO_NUMBER), reads_texts=True),
        Dialect(
            "postgres",
            "posix",
            _POSTGRES,
            preamble=(_PARSE,),
            replaces_views=False,
            # It keeps 32 compiled expressions: larger ones are compiled anew for each row.
            most_leaks=4000,
            remark="It adds the function `faultspec_json`. The tests run it on PostgreSQL 15.",
        ),
        Dialect(
            "spark",
            "java",
            _SPARK,
            remark="It needs Spark 4: `try_parse_json` came with it.",
            lenient=(_MORE_BEHIND, _SCALAR),
        ),
        Dialect(
            "bigquery",
            "re2",
            _BIGQUERY,
            lenient=(_COMMA_AT_END, _NO_NUMBER, _MORE_BEHIND, _SCALAR),
            remark="It is parsed and translated, but no test of faultspec runs it on BigQuery.",
        ),
    )
}
"""The dialects by name, which is also that of sqlglot."""
