"""What `faultspec audit` takes for each record, beside what only reads the same file.

    python benchmarks/audit_speed.py [RECORDS]        default 60000

Three logs: full records with 1 % errors and with 30 % errors, and access lines of nginx. The peers
parse each line by `json.loads`, by msgspec, and by jsonschema-rs against the generated schema of
the envelope (if it is installed; errors only), or let DuckDB count statuses and codes in one query
with one thread. They judge nothing else. Processor time of one process; the rounds alternate, and
the medians of the ratios to `json.loads` of each round are printed. For nginx, the peer is one
regular expression.
"""

import json
import random
import statistics
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from time import process_time

import duckdb
import msgspec
from audit import KINDS, ROOT, line

from faultspec.contract.model import Contract, build_contract
from faultspec.language import read
from faultspec.language.line_formats import LINE_FORMATS
from faultspec_conformance.observed.audit import audit

ROUNDS = 5

_NGINX = "    nginx: {unwrap: combined, url: /request, status: /status}\n"


def contract() -> Contract:
    """The Core Platform with the two kinds of records."""
    text = (ROOT / "taxonomy.yaml").read_text(encoding="utf-8")
    loaded = read(text.replace("\n  records:\n", f"\n  records:\n{KINDS}{_NGINX}"), "taxonomy.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return build_contract(loaded.taxonomy)


def write_full(path: Path, share: float, count: int) -> None:
    """A log of full records of which this share are errors."""
    chance = random.Random(0)
    with path.open("w", encoding="utf-8") as out:
        for number in range(1, count + 1):
            # `line` makes an error of every tenth, and broken ones of every thousandth.
            turn = number * 10 + (chance.random() >= share)
            out.write(line(turn + 10 * (turn % 1_000 == 0 or turn % 10_007 == 0), chance))


def write_slim(path: Path, count: int) -> None:
    """A log of nginx, 1 % of it errors."""
    chance = random.Random(0)
    with path.open("w", encoding="utf-8") as out:
        for number in range(count):
            status = 404 if chance.random() < 0.01 else 200
            out.write(
                f"203.0.113.{number % 250} - - [28/Nov/2026:16:{number // 60 % 60:02d}:"
                f'{number % 60:02d} +0000] "GET /orders/{number} HTTP/1.1" {status} '
                f'{chance.randrange(9_999)} "-" "curl/8.5.0"\n'
            )


def peers(path: Path, *, slim: bool) -> dict[str, Callable[[], object]]:
    """What reads the file, by name; the first is what the others are compared with."""
    query = duckdb.connect()
    query.execute("set threads = 1")
    name = str(path)
    if slim:
        form = LINE_FORMATS["combined"]
        sql = "select regexp_extract(line, '\" ([0-9]{3}) ', 1) as status, count(*) from "
        sql += f"read_csv('{name}', columns={{'line': 'text'}}, delim='\x01', quote='') group by 1"
        return {
            "one expression": lambda: [form.fullmatch(text) for text in lines(path, "utf-8")],
            "DuckDB": lambda: query.execute(sql).fetchall(),
        }
    sql = f"select status, body.code, count(*) from read_json('{name}') group by all"
    found: dict[str, Callable[[], object]] = {
        "json.loads": lambda: [json.loads(text) for text in lines(path)],
        "msgspec": lambda: [msgspec.json.decode(text) for text in lines(path)],
        "DuckDB": lambda: query.execute(sql).fetchall(),
    }
    try:
        schema = (ROOT / "generated/jsonschema/error.schema.json").read_text(encoding="utf-8")
        validator = import_module("jsonschema_rs").validator_for(json.loads(schema))
    except ImportError:
        return found
    return {**found, "json.loads and jsonschema-rs": lambda: validate(path, validator.is_valid)}


def validate(path: Path, is_valid: Callable[[object], bool]) -> int:
    """The number of errors in a log that the schema does not allow."""
    records = (json.loads(text) for text in lines(path))
    return sum(not is_valid(each["body"]) for each in records if each["status"] >= 400)


def lines(path: Path, encoding: str | None = None) -> list[str] | list[bytes]:
    """The lines of a file."""
    if encoding is not None:
        return path.read_text(encoding=encoding).splitlines()
    return path.read_bytes().splitlines()


def measure(work: Callable[[], object]) -> float:
    """Seconds of processor time."""
    started = process_time()
    work()
    return process_time() - started


def main(count: int) -> None:
    """Print a table for each log."""
    judged = contract()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.ndjson"
        for title, make in {
            "full records, 1 % errors": lambda: write_full(path, 0.01, count),
            "full records, 30 % errors": lambda: write_full(path, 0.30, count),
            "nginx, 1 % errors": lambda: write_slim(path, count),
        }.items():
            make()
            works = {
                **peers(path, slim=title.startswith("nginx")),
                "faultspec audit": lambda: audit([str(path)], judged),
            }
            rounds = [{name: measure(work) for name, work in works.items()} for _ in range(ROUNDS)]
            first = next(iter(works))
            print(f"\n| {title} | records a second | time, against {first} |\n|---|---|---|")
            for name in works:
                rate = count / statistics.median(each[name] for each in rounds)
                ratio = statistics.median(each[name] / each[first] for each in rounds)
                print(f"| {name} | {rate:,.0f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60_000)
