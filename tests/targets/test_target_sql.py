"""Laws of the views of the target `sql`: they select what the judge finds."""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.contract.model import build_contract
from faultspec.judge import judge
from faultspec.language.model import RecordingRule, Taxonomy, Telemetry
from faultspec.leaks.detectors import DETECTORS
from faultspec.render import rendered_files
from faultspec.runtime import ids
from faultspec.targets import SHIPPED
from faultspec.targets.model import model_of
from faultspec.targets.sql import SqlFile, view, why_no_columns
from faultspec.targets.sql_dialects import DIALECTS
from faultspec.targets.sql_expressions import text_to_python, translate_whole, widen_part
from faultspec_conformance.observed.formats.declared import record_reader
from faultspec_conformance.observed.formats.record import RecordedExchange
from paths import ROOT, TESTS
from support.examples import examples
from support.exchange_rows import BARE, KINDS, WHOLE, Row, draw_rows, leak_texts
from support.sql_engines import postgres, postgres_is_missing, run_duckdb, run_spark, spark
from targets.test_targets_laws import FLAGSHIP, taxonomy

SEEDS = [
    ROOT / f"examples/{name}/taxonomy.yaml"
    for name in ("aileron", "alknet", "keenbench", "theodosia")
]


class Case(NamedTuple):
    """A taxonomy that reads one kind of records, and the views of it."""

    taxonomy: Taxonomy
    file: SqlFile

    @property
    def script(self) -> str:
        """All statements."""
        return "".join(f"{statement};\n" for statement in self.file.statements)

    @property
    def views(self) -> tuple[str, str, str]:
        """The names of the views."""
        name = self.file.name
        return f"{name}_classified", f"{name}_combinations", f"{name}_odd"


_KINDS: Mapping[str, RecordingRule] = {kind.name: kind for kind in KINDS}


@cache
def named_case(path: Path, name: str, dialect: str = "duckdb") -> Case:
    """The case of a taxonomy that has one kind of records alone."""
    known, kind = taxonomy(path), _KINDS[name]
    slots = {slot for envelope in known.envelopes.values() for slot in envelope.slots}
    kind = kind._replace(slots={slot: at for slot, at in kind.slots.items() if slot in slots})
    telemetry = known.telemetry or Telemetry({}, {}, {}, {})
    kind = kind._replace(time="/n", service="/kind")
    known = known._replace(telemetry=telemetry._replace(records={kind.name: kind}))
    found = view(known, model_of(known, path.name), {"dialect": dialect})
    assert found is not None
    return Case(known, found.files[0])


def judged(known: Taxonomy, rows: Sequence[Row]) -> dict[int, set[str]]:
    """The clauses that each row breaks for the judge, by its number; only rows of the kind."""
    contract = build_contract(known)
    read = record_reader(contract)
    found = {}
    for row in rows:
        record = {name: value for name, value in row.items() if value is not None}
        for item in read(None, record, "row"):
            if isinstance(item, RecordedExchange):
                findings = judge(contract, item.exchange).findings
                found[row["n"]] = {finding.clause for finding in findings}
    return found


def differences(
    one: Case, rows: Sequence[Row], classified: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """How the view differs from the judge, as sentences."""
    expected, by_number = judged(one.taxonomy, rows), {row["n"]: row for row in classified}
    for number in sorted(expected.keys() ^ by_number.keys()):
        yield f"row {number} is in one of both: {rows[number]}"
    for number in sorted(expected.keys() & by_number.keys()):
        row = by_number[number]
        for clause in one.file.clauses:
            if clause.column is None:
                continue
            says, breaks = row[clause.column], clause.address in expected[number]
            exact = clause.verdict == "exactly" and row["faultspec_read"]
            if (breaks and not says) or (exact and breaks != says):
                verb = "misses" if breaks else "selects"
                yield f"{clause.address}: SQL {verb} row {number}: {rows[number]}"


def sums_up(classified: Sequence[Row], combinations: Sequence[Row], odd: Sequence[Row]) -> bool:
    """Whether the other views say what the first does: every error counts once, and the odd rows
    have one of each combination.
    """
    errors = [row for row in classified if row["faultspec_error"]]
    assert sum(row["exchanges"] for row in combinations) == len(errors)
    keys = [name for name in combinations[0] if name.startswith("faultspec_")]
    counted = Counter(tuple(row[key] for key in keys) for row in errors)
    assert counted == {tuple(row[key] for key in keys): row["exchanges"] for row in combinations}
    sampled = Counter(tuple(row[key] for key in keys) for row in odd)
    assert sampled == {each: min(count, 5) for each, count in counted.items()}
    return True


PARTS: Mapping[str, Sequence[object]] = {
    "status": [404, 500, 501, 503, 599],
    "code": [None, "", "bogus"],
    "message": [None, "x"],
    "correlation_id": [None, "no id"],
}


def test_parts_that_a_row_leaves_out_are_judged_alike() -> None:
    """Whichever parts of an error a row has, the view selects it for what it breaks."""
    one = named_case(FLAGSHIP, "slots")
    parts = [dict(zip(PARTS, each, strict=True)) for each in product(*PARTS.values())]
    (drawn,) = draw_rows(one.taxonomy, Random(0), 1)
    rows = [{**drawn, "url": "/a", **each, "n": n} for n, each in enumerate(parts)]
    (classified,) = run_duckdb(one.script, "slots", rows, one.views[:1])
    assert [*differences(one, rows, classified)] == []


STATUSES: Mapping[str, Callable[[int], object]] = {
    "numbers of a column with empty cells": float,
    "texts of such numbers": lambda status: f"{status}.0",
    "texts of a DECIMAL": lambda status: f"{status}.00",
    "status lines": lambda status: f" {status} Its reason",
    "texts that are not statuses": lambda status: f"{status}.5",
}


@pytest.mark.parametrize("form", STATUSES)
@pytest.mark.parametrize("kind", ["bare", pytest.param("slots", marks=pytest.mark.full)])
def test_a_status_is_read_as_the_judge_reads_it(form: str, kind: str) -> None:
    """Whatever the type and form of a status, the view has the rows that the judge sees, and
    selects those that break a clause.
    """
    one = named_case(FLAGSHIP, kind)
    drawn = draw_rows(one.taxonomy, Random(form), 60)
    rows = [{**row, "status": STATUSES[form](row["status"])} for row in drawn]
    (classified,) = run_duckdb(one.script, kind, rows, one.views[:1])
    assert [*differences(one, rows, classified)] == []
    assert bool(classified) == ("not statuses" not in form)


@pytest.mark.parametrize(
    "kind", ["whole", "flags", "bare", pytest.param("slots", marks=pytest.mark.full)]
)
def test_duckdb_selects_what_the_judge_finds(kind: str) -> None:
    """A clause that SQL decides exactly is broken for the judge in the rows that the view says,
    where SQL reads the row. A clause that it over-selects is broken in no other rows.
    """
    one = named_case(FLAGSHIP, kind)
    rows = draw_rows(one.taxonomy, Random(kind), 300)
    classified, combinations, odd = run_duckdb(one.script, kind, rows, one.views)
    assert [*differences(one, rows, classified)] == []
    assert sums_up(classified, combinations, odd)
    # SQL reads many of the rows, and each clause is broken in some of them.
    assert sum(row["faultspec_read"] for row in classified) > len(classified) / 3
    if kind != "whole":
        return
    broken = Counter(
        clause for clauses in judged(one.taxonomy, rows).values() for clause in clauses
    )
    decided = {each.address for each in one.file.clauses if each.column is not None}
    assert (
        decided - broken.keys() - {"surface/known", "headers/etag"} == set()
    )  # the flagship has all paths, and few with a tag
    assert all(count < len(rows) * 0.9 for count in broken.values())


@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.parent.name)
def test_views_of_other_taxonomies(path: Path) -> None:
    """The law holds for every kind of envelope and surface, also those that SQL leaves to the
    judge.
    """
    one = named_case(path, WHOLE.name)
    rows = draw_rows(one.taxonomy, Random(path.parent.name), 100)
    classified, _, _ = run_duckdb(one.script, WHOLE.name, rows, one.views)
    assert [*differences(one, rows, classified)] == []


@given(st.integers(0, 2**32))
@examples(100, steady=2)
def test_views_of_any_rows(seed: int) -> None:
    """The law holds for rows that nobody drew before."""
    random = Random(seed)
    path, kind = random.choice([FLAGSHIP, FLAGSHIP, *SEEDS]), random.choice([*_KINDS])
    one = named_case(path, kind)
    rows = draw_rows(one.taxonomy, random, 60)
    classified, _, _ = run_duckdb(one.script, kind, rows, one.views)
    assert [*differences(one, rows, classified)] == []


@pytest.mark.full
def test_leaks_of_all_texts() -> None:
    """No text in which the detectors find a leak passes the expressions of the views."""
    one = named_case(FLAGSHIP, WHOLE.name)
    texts = leak_texts()
    rows = draw_rows(one.taxonomy, Random(1), 2 * len(texts), texts)
    classified, _, _ = run_duckdb(one.script, WHOLE.name, rows, one.views)
    assert [*differences(one, rows, classified)] == []


@pytest.mark.full
@pytest.mark.skipif(postgres_is_missing(), reason="PostgreSQL is missing: apt install postgresql")
def test_postgres_selects_what_the_judge_finds() -> None:
    """The law holds on PostgreSQL, for each kind of records."""
    with postgres() as server:
        for kind in _KINDS:
            one = named_case(FLAGSHIP, kind, "postgres")
            rows = draw_rows(one.taxonomy, Random(kind), 300)
            classified, combinations, odd = server.run_views(one.script, kind, rows, one.views)
            assert [*differences(one, rows, classified)] == []
            assert sums_up(classified, combinations, odd)


@pytest.mark.full
def test_spark_selects_what_the_judge_finds(tmp_path: Path) -> None:
    """The law holds on Spark, for each kind of records."""
    pytest.importorskip("pyspark", reason="pip install 'faultspec[spark]'")
    with spark(tmp_path) as session:
        for kind in _KINDS:
            one = named_case(FLAGSHIP, kind, "spark")
            rows = draw_rows(one.taxonomy, Random(kind), 100)
            classified, combinations, odd = run_spark(
                session, one.file.statements, kind, rows, one.views
            )
            assert [*differences(one, rows, classified)] == []
            assert sums_up(classified, combinations, odd)


def test_a_count_reads_the_columns_that_it_asks_for() -> None:
    """DuckDB scans a table for a count by status with the statuses of errors as the filter, and
    reads no other column; a count by code reads the body too.
    """
    import duckdb

    one = named_case(FLAGSHIP, WHOLE.name)
    columns = {"faultspec_status": {"status"}, "faultspec_code": {"status", "body"}}
    with duckdb.connect() as database:
        database.execute(
            "CREATE TABLE whole AS SELECT 400 + i AS status, '/a' AS url, 'GET' AS method, "
            "'{}' AS headers, '{}' AS body, 'http' AS kind, i AS n FROM range(10) AS numbers(i)"
        )
        database.execute(one.script)
        for name, read in columns.items():
            query = f"SELECT {name}, COUNT(*) FROM whole_exchanges WHERE faultspec_error GROUP BY 1"
            ((_, plan),) = database.execute(f"EXPLAIN (FORMAT json) {query}").fetchall()
            scans = [*_scans(json.loads(plan))]
            (projected,) = (scan["Projections"] for scan in scans)
            names = {projected} if isinstance(projected, str) else {*projected}
            assert names | {"status"} == read
            assert not re.search(r'"name": "FILTER', plan)


def _scans(plan: Any) -> Iterator[Mapping[str, Any]]:
    """The facts of each scan of a table in a plan."""
    for node in plan if isinstance(plan, list) else [plan]:
        if "SCAN" in node["name"].upper():
            yield node["extra_info"]
        yield from _scans(node["children"])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_statement_is_of_its_dialect(dialect: str) -> None:
    """sqlglot reads each statement in its dialect, no function of ours is left, and BigQuery, which
    no test runs, says so.
    """
    import sqlglot

    one = named_case(FLAGSHIP, BARE.name, dialect)
    for statement in one.file.statements:
        (tree,) = sqlglot.parse(statement, read=dialect)
        assert tree is not None
    assert not re.search(r"\bFS_\w+\(", one.script, re.IGNORECASE)
    untried = any("no test" in remark for remark in one.file.remarks)
    assert untried == (dialect == "bigquery")


def test_kinds_without_columns_have_no_views() -> None:
    """A kind that unwraps lines, or reads around its record, has no columns."""
    assert why_no_columns(WHOLE) is None
    assert why_no_columns(WHOLE._replace(unwrap=("/log",))) is not None
    assert why_no_columns(WHOLE._replace(route="/../route")) is not None


GOLDEN = TESTS / "goldens/sql"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_views_of_the_flagship_are_reviewed(dialect: str) -> None:
    """The files of the flagship's own kind of records are those of the golden tree. To accept
    others, run with FAULTSPEC_WRITE=1 and review the diff.
    """
    known = taxonomy(FLAGSHIP)
    settings = {"sql": {"dialect": dialect, "table": "logs.errors"}}
    (found,) = [
        "".join(texts)
        for _, texts in rendered_files(known, [SHIPPED["sql"]], "taxonomy.yaml", settings=settings)
    ]
    golden = GOLDEN / f"errors.{dialect}.sql"
    if os.environ.get("FAULTSPEC_WRITE"):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(found, encoding="utf-8")
    assert found == golden.read_text(encoding="utf-8")


def test_widened_expressions_match_wherever_the_detectors_do() -> None:
    """An expression without what RE2 lacks matches more, never less."""
    texts = [text for text in leak_texts() if len(text) < 2000]
    missed = []
    for kind, patterns in DETECTORS.items():
        for pattern in patterns:
            widened = widen_part(pattern.expression, "re2", pattern.flags)
            assert widened is not None, (kind, pattern.expression)
            wide = re.compile(text_to_python(widened))
            missed += [
                (kind, pattern.expression, text)
                for text in texts
                if any(needle in text.lower() for needle in pattern.needles)
                and pattern.regex.search(text)
                and not wide.search(text)
            ]
    assert missed == []


@given(st.sampled_from(sorted(ids.PATTERNS)), st.data())
@examples(200)
def test_whole_expressions_match_the_same_texts(name: str, data: st.DataObject) -> None:
    """An expression of a whole text matches the same texts in the shared syntax, also with a line
    break behind them.
    """
    inner = ids.PATTERNS[name].removeprefix("^").removesuffix("$")
    translated = translate_whole(inner, "re2", re.ASCII)
    if translated is None:  # it looks ahead
        assert "(?!" in inner
        return
    text = data.draw(st.from_regex(inner, fullmatch=True) | st.text(max_size=40))
    text += data.draw(st.sampled_from(["", "\n", "x"]))
    found = re.search(text_to_python(translated).removesuffix("$") + r"\Z", text)
    assert bool(found) == bool(re.fullmatch(inner, text, re.ASCII))


@pytest.mark.parametrize(
    ("expression", "flags", "text"),
    [
        ("[^a-z]x", re.ASCII, "Ax"),
        ("[^a-z]x", re.ASCII, "éx"),
        (r"\wx", 0, "éx"),
        (r"[^\W\d_]x", 0, "éx"),
        ("straße", re.IGNORECASE, "STRAßE"),
        (r"(?<=a)b(?!c)", 0, "ab"),
        (r"(a|b)\1", 0, "bb"),
        ("a{3,400}", 0, "aaaa"),
        (r"^x$", re.MULTILINE, "y\nx\ny"),
    ],
)
def test_parts_that_engines_lack_are_widened(expression: str, flags: int, text: str) -> None:
    """Sets beyond ASCII, both cases, what looks around, references and anchors match at least what
    they did.
    """
    for syntax in ("re2", "java"):
        widened = widen_part(expression, syntax, flags)  # type: ignore[arg-type]  # a loop variable
        assert widened is not None
        assert re.search(text_to_python(widened), text)
        assert re.search(expression, text, flags)
