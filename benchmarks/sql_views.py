"""Aggregates over the views of the target `sql`, beside queries by hand over the same table.

    python benchmarks/sql_views.py [ROWS]        default 1000000

A table of DuckDB with headers and bodies, 1 % and 30 % of its rows errors, one of 200 of them an
HTML page of a gateway; one thread, processor time, medians of five rounds in turn. The queries by
hand know the path of the code, that a body may not be JSON, and group before they compare. Those
of leaks search the bodies alone by the expressions of the views. What a query of a view takes with
a table without rows is stated apart: the engine reads the definition of the view.
"""

import statistics
import sys
from collections.abc import Mapping
from time import process_time
from typing import NamedTuple

import duckdb
import sqlglot
from audit import ROOT
from sqlglot import expressions

from faultspec.language import read
from faultspec.language.model import Taxonomy
from faultspec.targets.model import model_of
from faultspec.targets.sql import view

ROUNDS = 5

_KIND = (
    "    answers: {method: /method, url: /url, status: /status, "
    "response: {headers: /headers, body: /body}}\n"
)

_ID = "01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T"

_TABLE = f"""CREATE OR REPLACE TABLE answers AS
SELECT 'GET' AS method, '/orders/' || i AS url,
CASE WHEN fails AND page THEN 502 WHEN fails THEN 404 ELSE 200 END AS status,
'{{{{"Content-Type": "application/json", "X-Correlation-Id": "{_ID}", "Cache-Control": "no-store"}}}}'
AS headers,
CASE WHEN fails AND page THEN '<html><body><h1>502 Bad Gateway</h1></body></html>'
WHEN fails THEN '{{{{"code": "not_found", "message": "There is no order ' || i || '", '
|| '"correlation_id": "{_ID}", "details": {{{{"retryable": false}}}}}}}}'
ELSE '{{{{"id": ' || i || '}}}}' END AS body
FROM (SELECT i, hash(i) % 100 < {{share}} AS fails, i % 200 = 7 AS page
FROM range({{rows}}) AS numbers(i))"""

_CODE = "CASE WHEN json_valid(body) THEN json_extract_string(body, '$.code') END"

_BY_CODE = f"SELECT status, {_CODE} AS code, count(*) FROM answers WHERE status >= 400 GROUP BY ALL"

_NO_STORE = (
    "regexp_matches(headers, "
    '\'"[Cc]ache-[Cc]ontrol"[ \\t]*:[ \\t]*"(?:[^"]*,)?[ \\t]*no-store[ \\t]*[,"]\')'
)


class Aggregate(NamedTuple):
    """A question, its query of the views, and one by hand."""

    question: str
    of_view: str
    by_hand: str


def aggregates(taxonomy: Taxonomy, classified: str) -> list[Aggregate]:
    """The questions; ``classified``: the statement of the view with leaks."""
    codes = [code for code in taxonomy.codes.values() if code.live]
    names = ", ".join(f"'{code.wire}'" for code in codes)
    pairs = ", ".join(
        f"('{code.wire}', {status})"
        for code in codes
        for status in range(400, 600)
        if code.http.allows(status)
    )
    found = [
        Aggregate(
            "errors by status and code",
            "SELECT faultspec_status, faultspec_code, count(*) FROM answers_exchanges "
            "WHERE faultspec_error GROUP BY ALL",
            _BY_CODE,
        ),
        Aggregate(
            "errors by status",
            "SELECT faultspec_status, count(*) FROM answers_exchanges WHERE faultspec_error "
            "GROUP BY ALL",
            "SELECT status, count(*) FROM answers WHERE status >= 400 GROUP BY ALL",
        ),
        Aggregate(
            "codes that are not declared",
            _broken("exchanges", "code_declared"),
            f"SELECT * FROM ({_BY_CODE}) WHERE code NOT IN ({names})",
        ),
        Aggregate(
            "codes under a wrong status",
            _broken("exchanges", "code_status"),
            f"SELECT * FROM ({_BY_CODE}) WHERE code IN ({names}) "
            f"AND (code, status) NOT IN ({pairs})",
        ),
        Aggregate(
            "errors without no-store",
            _broken("exchanges", "headers_cache_control"),
            "SELECT status, count(*) FROM answers "
            f"WHERE status >= 400 AND NOT {_NO_STORE} GROUP BY ALL",
        ),
    ]
    for kind, searched in _leak_expressions(classified).items():
        wanted = " OR ".join(f"regexp_matches(body, {each})" for each in searched)
        found.append(
            Aggregate(
                f"leaks/{kind}",
                _broken("classified", f"leaks_{kind}"),
                f"SELECT status, count(*) FROM answers WHERE status >= 400 AND ({wanted}) "
                "GROUP BY ALL",
            )
        )
    return found


def _broken(view_name: str, clause: str) -> str:
    return (
        f"SELECT faultspec_status, faultspec_code, count(*) FROM answers_{view_name} "
        f"WHERE breaks_{clause} GROUP BY ALL"
    )


def _leak_expressions(classified: str) -> Mapping[str, list[str]]:
    """The expressions of two kinds of leaks, as literals."""
    tree = sqlglot.parse_one(classified, read="duckdb")
    return {
        kind: [
            node.expression.sql(dialect="duckdb")
            for alias in tree.find_all(expressions.Alias)
            if alias.alias == f"breaks_leaks_{kind}"
            for node in alias.find_all(expressions.RegexpLike)
        ]
        for kind in ("path", "secret")
    }


def taxonomy_and_statements() -> tuple[Taxonomy, tuple[str, ...]]:
    """The Core Platform, and the statements of the views of this table."""
    text = (ROOT / "taxonomy.yaml").read_text(encoding="utf-8")
    before, _, _ = text.partition("\n  records:\n")
    after = text.partition("\n  records:\n")[2].partition("\n\n")[2]
    known = read(f"{before}\n  records:\n{_KIND}\n{after}", "taxonomy.yaml").taxonomy
    assert known is not None
    found = view(known, model_of(known, "taxonomy.yaml"), {"dialect": "duckdb"})
    assert found is not None
    return known, tuple(found.files[0].statements)


def _seconds(queries: Mapping[str, str], share: int, rows: int) -> Mapping[str, float]:
    """The seconds of each query, by its name."""
    _, made = taxonomy_and_statements()
    with duckdb.connect() as database:
        database.execute("SET threads = 1")
        database.execute(_TABLE.format(share=share, rows=rows))
        for statement in made:
            database.execute(statement)
        taken: dict[str, list[float]] = {name: [] for name in queries}
        for _ in range(ROUNDS):
            for name, query in queries.items():
                start = process_time()
                database.execute(query).fetchall()
                taken[name].append(process_time() - start)
    return {name: statistics.median(each) for name, each in taken.items()}


def main(rows: int) -> None:
    """Print the seconds of both queries of each question, and their ratio."""
    taxonomy, made = taxonomy_and_statements()
    (classified,) = (each for each in made if 'VIEW "answers_classified"' in each)
    asked = aggregates(taxonomy, classified)
    queries = {f"view: {each.question}": each.of_view for each in asked}
    queries |= {f"hand: {each.question}": each.by_hand for each in asked}
    fixed = _seconds(queries, share=30, rows=0)
    for share in (1, 30):
        taken = _seconds(queries, share=share, rows=rows)
        print(f"{share} % errors; milliseconds: view, of these without rows; by hand; ratio, rows")
        for each in asked:
            ours, by_hand = (taken[f"{side}: {each.question}"] for side in ("view", "hand"))
            read_view, read_query = (fixed[f"{side}: {each.question}"] for side in ("view", "hand"))
            for_rows = (ours - read_view) / (by_hand - read_query)
            print(
                f"  {each.question:28} {ours * 1e3:7.1f} {read_view * 1e3:6.1f} "
                f"{by_hand * 1e3:7.1f} {ours / by_hand:6.2f} {for_rows:6.2f}"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
