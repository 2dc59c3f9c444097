"""Every engine gives the report of this program alone, on the same data."""

import json
import os
import random
import signal
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.model import ABOUT_BODY, Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read
from faultspec.language.model import RecordingRule
from faultspec_conformance.observed import audit as observed_audit
from faultspec_conformance.observed import jobs
from faultspec_conformance.observed.audit import AuditOptions, audit
from faultspec_conformance.observed.formats import groups
from faultspec_conformance.observed.formats.grouping import plan_grouping
from faultspec_conformance.observed.formats.record import ABOUT_HEADERS, ALWAYS
from faultspec_conformance.reports.data import json as write_json
from faultspec_conformance.results.waivers import Waiver
from observed.test_audit import KINDS, platform
from results.test_recorded_parts import comparable, judge_serially
from support.examples import examples

SLIM = """\
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: shop}
domains: {request: What the caller can mend}
envelopes:
  error: {media_type: application/json, shape: {code: $code, message: $message}, additional: forbid}
surfaces:
  old: {transport: http, match: {routes: ["/old/**"]}, error_when: {status: [299, 4xx, 5xx]}, envelope: error, codes: closed}
  api: {transport: http, match: {routes: ["/v1/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
operations: {read: {match: {routes: ["GET /v1/orders/{id}"]}}}
telemetry:
  records:
    line: {method: /method, url: /url, route: /route, status: /status, milliseconds: /took, time: /at_, service: /by_, slots: {code: /code, message: /message}}
    other: {when: {/v: 2}, url: /path, status: /http/status, seconds: /took}
    full: {url: /address, status: /status, response: {headers: /told}}
codes:
  absent: {summary: Not there, domain: request, http: 404, retriable: none, client_action: none, effect: none}
"""


def shop(text: str = SLIM) -> Contract:
    """The contract of a shop whose log lines have neither header fields nor bodies."""
    loaded = read(text, "taxonomy.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return build_contract(loaded.taxonomy)


CONTRACTS = {
    "platform": platform(KINDS),
    "shop": shop(),
    "quiet": shop(
        SLIM.replace(
            "    other: {when: {/v: 2}, url: /path, status: /http/status, seconds: /took}\n", ""
        )
    ),
}

WAIVERS = (Waiver("code/status", "known", "us", date(2999, 1, 1), status=500),)

ODD = (
    "", " ", "not a record", "[]", "{}", '"text"', "\ufeff{}", "null",
    '{"url": "/v1/a", "status": 200,}',
    '{"url": "/v1/a", "status": 200, "took": NaN}',
    '{"url": "/v1/a", "status": 200, "took": Infinity}',
    '{"url": "/v1/a", "status": 200, "took": inf}',
    '{"url": "/v1/a", "status": 200, "took": 1e400}',
    '{"url": "/v1/a", "status": 200, "took": -0.0}',
    '{"kind": "slots", "url": "/v1/a", "status": 404, "took": 1}',
    '{"kind": "slots", "url": "/v1/a", "status": 404, "took": 1e400}',
    '{"kind": "access", "method": "GET", "url": "/orders/1", "status": 404, "request": {"headers": {}}, "response": {"headers": {"x-correlation-id": "01JAH8ZJ0Z8Z0N7M1X6JZ80001"}}}',
    '{"url": "/v1/a", "status": 200, "status": 404}',
    '{"url": "/v1/a", "st\\u0061tus": 404, "code": "absent"}',
    '{"url": "/v1/\\ud800", "status": 404}',
    '{"url": "/v1/a", "status": 404, "code": "tab\there"}',
    '{"url": "/v1/a", "status": {"intValue": "404"}}',
    '{"url": {"stringValue": "/v1/a"}, "status": 200}',
    '{"url": null, "status": 200}',
    '{"url": "/v1/a", "status": null}',
    '{"v": 2, "path": "/v1/a", "http": {"status": 404}}',
    '{"v": 2, "path": "/v1/a", "http": [{"key": "status", "value": 404}]}',
    '{"v": 2.0, "path": "/v1/b", "http": {"status": 404}}',
    '{"address": "/v1/a", "status": 404, "told": {"content-type": "application/json"}}',
    '{"address": "/v1/b", "status": 404}',
    '{"deep": ' + "[" * 2000 + "]" * 2000 + ', "url": "/v1/a", "status": 200}',
    '{"url": "/v1/a", "status": 200}\r',
    '\x0b{"url": "/v1/a", "status": 200}',
    '{"url": "/v1/a", "status": 200, "code": ""}',
    '{"kind": "slots", "url": "/orders", "status": 500, "code": "not_found", "message": "File \\"/srv/a.py\\", line 3"}',
)  # fmt: skip
"""Lines that readers of JSON take in different ways, or that are read in another way."""


def mixed(lines: Sequence[str], times: int) -> list[str]:
    """The lines several times, in a mixed order."""
    found = [*lines] * times
    random.Random(1).shuffle(found)
    return found


def report(paths: Sequence[str], contract: Contract, options: AuditOptions) -> object:
    """The JSON report of an audit, without the time that it took."""
    return comparable(write_json(audit(paths, contract, options)))


@pytest.mark.parametrize("size", [300, 4_000])
@pytest.mark.parametrize("contract", sorted(CONTRACTS))
def test_ranges_of_odd_lines_give_the_same_report(tmp_path: Path, contract: str, size: int) -> None:
    """Wherever a log is cut, the report of its ranges is that of the whole: with lines that are
    longer than a range, ends of Windows, blank lines, and marks of the byte order.
    """
    path = tmp_path / "odd.log"
    text = "\n".join(mixed(ODD, 3))
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    options = AuditOptions(waivers=WAIVERS, form="ndjson")
    alone = report([str(path)], CONTRACTS[contract], options)
    with (
        mock.patch.object(jobs, "RANGE", size),
        mock.patch.object(observed_audit, "share", judge_serially),
    ):
        shared = replace(options, jobs=2)
        assert report([str(path)], CONTRACTS[contract], shared) == alone
        half = report([str(path)], CONTRACTS[contract], replace(shared, sample=0.5))
    assert half == report([str(path)], CONTRACTS[contract], replace(options, sample=0.5))


@pytest.mark.parametrize("processes", [1, 2])
def test_an_interrupted_audit_reports_what_was_judged(tmp_path: Path, processes: int) -> None:
    """After Ctrl-C the report has every record that was judged, also those of the pieces that other
    processes had not finished, and names the last record of each.
    """
    path = tmp_path / "long.log"
    lines = [
        json.dumps({"method": "GET", "url": "/v1/a", "status": 404, "code": f"u{number % 7}"})
        for number in range(60_000)
    ]
    path.write_text("".join(f"{line}\n" for line in lines))
    seen: list[int] = []

    def interrupt(file: str, share: float, exchanges: int) -> None:
        if exchanges and not seen:
            seen.append(exchanges)
            os.kill(os.getpid(), signal.SIGINT)

    options = AuditOptions(jobs=processes, progress=interrupt, form="ndjson")
    with mock.patch.object(jobs, "RANGE", path.stat().st_size // 8):
        pieces = [*jobs.split_work([str(path)], "ndjson", counts=True)]
        found = audit([str(path)], shop(), options)
    assert found.interrupted
    reasons = found.result.not_run
    assert all(str(path) in text and "interrupted" in text for text in reasons)
    ends = [int(text.rpartition(":")[2]) for text in reasons if text.rpartition(":")[2].isdigit()]
    starts = [piece.range.before or 0 for piece in pieces if piece.range is not None]
    if not ends:  # no process had begun with another piece
        assert found.result.requests in starts
        return
    inside = [max(start for start in starts if start <= end) for end in ends]
    judged = sum(end - start for end, start in zip(ends, inside, strict=True)) + inside[0]
    # The record that is judged at that moment may be counted already.
    assert judged <= found.result.requests <= judged + processes
    assert seen[0] <= found.result.requests < len(lines)


COLUMNS = (
    "method VARCHAR, url VARCHAR, status {status}, took {took}, code VARCHAR, pad INTEGER[], "
    "at_ {at}, by_ VARCHAR"
)

MOMENTS = (
    *("2026-11-28T16:00:05Z", "2026-11-28T16:00:04.5Z", "2026-11-28T16:59:59.999999Z"),
    *("2026-11-28T17:00:00Z", None, "2026-11-28T16:30:00Z"),
)

TEXTS = (
    "2026-02-30T16:00:00Z",
    "2026-11-28T16:61:00Z",
    "2026-02-30T16:00:01Z",
    "28/Nov/2026:16:00:00 +0000",
    "1795881600",
    "x",
)

ALL_ROWS = [
    (*each, [1], MOMENTS[number % 11 % len(MOMENTS)], ("a", "b", None)[number // 7 % 3])
    for number, each in enumerate(
        product(
            (None, "GET", "HEAD"),
            (None, "/v1/a", "/v1/b", "/old/1", "GET /v1/c", "https://h1.x/v1", " "),
            (None, "200", "204", "299", "404", "500", "7"),
            (None, "1", "2", "-1"),
            (None, "absent", "unheard_of"),
        )
    )
]
random.Random(1).shuffle(ALL_ROWS)

REPEATED_ROWS = 3 * [
    (*row[:6], moment, row[7])
    for row in [row for row in ALL_ROWS if row[2] in ("200", "404", "500")][:8]
    for moment in (*MOMENTS, *TEXTS)
]
random.Random(2).shuffle(REPEATED_ROWS)


@examples(100, steady=6, deadline=None)
@given(
    rows=st.lists(st.sampled_from(ALL_ROWS[:40]), max_size=30),
    status=st.sampled_from(("INTEGER", "VARCHAR", "DOUBLE", "DECIMAL(6, 2)")),
    took=st.sampled_from(("DOUBLE", "VARCHAR", "BIGINT")),
    at=st.sampled_from(("TIMESTAMP", "VARCHAR", "TIMESTAMP_MS")),
    contract=st.sampled_from(("shop", "quiet")),
    at_once=st.sampled_from((3, 100_000)),
)
@example(
    rows=ALL_ROWS,
    status="INTEGER",
    took="DOUBLE",
    at="TIMESTAMP",
    contract="quiet",
    at_once=100_000,
)
@example(
    rows=ALL_ROWS[:300],
    status="VARCHAR",
    took="VARCHAR",
    at="VARCHAR",
    contract="quiet",
    at_once=50,
)
@example(
    rows=[("GET", "/v1/a", "500", "1", "absent", [1], MOMENTS[at], "a") for at in (5, 0, 2, 1)],
    status="INTEGER",
    took="DOUBLE",
    at="TIMESTAMP",
    contract="quiet",
    at_once=90,
)
@example(
    rows=[
        ("GET", "/v1/a", "404", "1", "absent", [1], moment, "a")
        for moment in ("infinity", "-infinity", MOMENTS[0], "infinity")
    ],
    status="INTEGER",
    took="DOUBLE",
    at="TIMESTAMP",
    contract="quiet",
    at_once=90,
)
@example(
    rows=REPEATED_ROWS,
    status="INTEGER",
    took="DOUBLE",
    at="VARCHAR",
    contract="quiet",
    at_once=90,
)
def test_grouped_rows_give_the_same_report(
    rows: list[tuple[object, ...]], status: str, took: str, at: str, contract: str, at_once: int
) -> None:
    """Whatever rows and types a table has, the report of DuckDB is that of each row alone."""
    with (
        TemporaryDirectory() as folder,
        duckdb.connect() as database,
        mock.patch.object(groups, "_ROWS", at_once),
    ):
        name = f"{folder}/a.parquet"
        database.execute(f"CREATE TABLE t ({COLUMNS.format(status=status, took=took, at=at)})")
        if rows:
            if at == "VARCHAR":
                rows = [
                    *rows,
                    *((*row[:6], text, None) for row, text in zip(rows, TEXTS * 5, strict=False)),
                ]
            database.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        database.execute(f"COPY t TO '{name}' (FORMAT parquet)")
        alone = report([name], CONTRACTS[contract], AuditOptions(engine="plain"))
        with mock.patch.object(groups, "parquet_rows", side_effect=AssertionError("not grouped")):
            grouped = report([name], CONTRACTS[contract], AuditOptions())
        assert grouped == alone


def test_members_of_kinds_of_records_are_known() -> None:
    """A new member of the kinds of records sets records apart, unless `plan_grouping` knows better:
    both are to be changed together.
    """
    assert set(RecordingRule._fields) == {
        *("name", "when", "status", "url", "unwrap", "method", "route", "elapsed"),
        *("time", "service"),
        *("request", "response", "slots", "source"),
    }


def test_only_some_kinds_can_be_grouped() -> None:
    """Records that are unwrapped, or read what is around them, are judged one by one. Elapsed times
    set records apart where a code has a deadline.
    """
    plan = plan_grouping(CONTRACTS["quiet"])
    assert plan is not None
    assert (plan.urls, plan.elapsed, plan.alone) == ({"url", "address"}, {"took"}, {"told"})
    assert not {200, 304} - {*plan.quiet}
    assert not {299, 404} & {*plan.quiet}
    late = shop(
        SLIM.replace(
            "http: 404,",
            "http: 404, details: {budget: {type: integer}}, deadline: {equals: details.budget, late_by: 1},",
        )
    )
    timed = plan_grouping(late)
    assert timed is not None
    assert timed.elapsed == frozenset()
    assert plan_grouping(shop(SLIM.replace("line: {", "line: {unwrap: /log, "))) is None
    assert plan_grouping(shop(SLIM.replace("route: /route", "route: /../route"))) is None


@examples(100, steady=30)
@given(
    status=st.sampled_from((100, 200, 204, 205, 206, 301, 304, 399)),
    targets=st.tuples(*[st.sampled_from(("/v1/orders/7", "/old/1", "/", "/v1/x?a=b"))] * 2),
    method=st.sampled_from(("", "GET", "HEAD", "POST")),
    contract=st.sampled_from(sorted(CONTRACTS)),
)
def test_a_quiet_answer_is_judged_alike_at_every_url(
    status: int, targets: tuple[str, str], method: str, contract: str
) -> None:
    """An answer of a quiet status, of which neither header fields nor content are known, has no
    findings, and its target decides about no clause.
    """
    by = CONTRACTS[contract]
    lacks = ALWAYS | ABOUT_BODY | ABOUT_HEADERS | {"request", "elapsed"}
    plan = plan_grouping(by)
    assert plan is not None
    assert status in plan.quiet
    first, second = (
        judge(by, Exchange(Request(method, target), Response(status), lacks=lacks))
        for target in targets
    )
    assert first.findings == second.findings == ()
    assert (first.exercised, first.undecided) == (second.exercised, second.undecided)
    assert (first.is_error, second.is_error) == (False, False)
