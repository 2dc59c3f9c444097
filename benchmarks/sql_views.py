"""Errors counted by status and code: the views of the target `sql` beside a query by hand.

    python benchmarks/sql_views.py [ROWS]        default 1000000

A table of DuckDB with headers and bodies, 1 % and 30 % of its rows errors; one thread, processor
time, medians of three rounds in turn. The query by hand knows that each body of an error is JSON
with `code` at its top; the view reads URL, status, headers and body of each row as the judge does.
"""

import statistics
import sys
from time import process_time

import duckdb
from audit import ROOT

from faultspec.language import read
from faultspec.targets.model import model_of
from faultspec.targets.sql import view

ROUNDS = 3

_KIND = (
    "    answers: {method: /method, url: /url, status: /status, "
    "response: {headers: /headers, body: /body}}\n"
)

_TABLE = """CREATE OR REPLACE TABLE answers AS
SELECT 'GET' AS method, '/orders/' || i AS url, CASE WHEN fails THEN 404 ELSE 200 END AS status,
'{{"Content-Type": "application/json"}}' AS headers,
CASE WHEN fails THEN '{{"code": "not_found", "message": "No order ' || i || '"}}'
ELSE '{{"id": ' || i || '}}' END AS body
FROM (SELECT i, hash(i) % 100 < {share} AS fails FROM range({rows}) AS numbers(i))"""

_VIEW = """SELECT faultspec_status, faultspec_code, count(*) FROM answers_classified
WHERE faultspec_error GROUP BY ALL"""

_BY_HAND = """SELECT status, json_extract_string(body, '$.code'), count(*) FROM answers
WHERE status >= 400 GROUP BY ALL"""


def statements() -> tuple[str, ...]:
    """The statements of the views of the Core Platform for this table."""
    text = (ROOT / "taxonomy.yaml").read_text(encoding="utf-8")
    before, _, _ = text.partition("\n  records:\n")
    after = text.partition("\n  records:\n")[2].partition("\n\n")[2]
    known = read(f"{before}\n  records:\n{_KIND}\n{after}", "taxonomy.yaml").taxonomy
    assert known is not None
    found = view(known, model_of(known, "taxonomy.yaml"), {"dialect": "duckdb"})
    assert found is not None
    return tuple(found.files[0].statements)


def main(rows: int) -> None:
    """Print the seconds of both queries and their ratio."""
    made = statements()
    for share in (1, 30):
        with duckdb.connect() as database:
            database.execute("SET threads = 1")
            database.execute(_TABLE.format(share=share, rows=rows))
            for statement in made:
                database.execute(statement)
            seconds: dict[str, list[float]] = {_VIEW: [], _BY_HAND: []}
            for _ in range(ROUNDS):
                for query, taken in seconds.items():
                    start = process_time()
                    counts = database.execute(query).fetchall()
                    taken.append(process_time() - start)
                    assert len(counts) == 1, counts
            ours, by_hand = (statistics.median(taken) for taken in seconds.values())
            print(f"{share} % errors: {ours:.2f} s, by hand {by_hand:.3f} s: {ours / by_hand:.0f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
