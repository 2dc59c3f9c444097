"""The results of any parts of recorded traffic add up to that of the whole."""

import json
import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from itertools import pairwise
from multiprocessing import active_children
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.test_conform_command import faultspec
from faultspec.exchange.model import ABOUT_BODY, Exchange, Request, Response
from faultspec.language.model import Taxonomy
from faultspec_conformance.observed import audit as observed_audit
from faultspec_conformance.observed import jobs, memory
from faultspec_conformance.observed.accumulator import Accumulator
from faultspec_conformance.observed.audit import AuditOptions, audit
from faultspec_conformance.observed.jobs import Piece
from faultspec_conformance.reports.data import json as write_json
from faultspec_conformance.reports.reading import read_report
from faultspec_conformance.results import activity, recorded
from faultspec_conformance.results.merge import Unmergeable
from faultspec_conformance.results.model import Result, exit_code
from faultspec_conformance.results.recorded import add_parts, describe_part, fold_reports
from faultspec_conformance.results.waivers import Waiver
from observed.test_audit import KINDS, access, platform
from support.examples import examples

DAY = date(2026, 1, 1)
WAIVERS = (
    Waiver("code/status", "known", "us", date(2999, 1, 1), status=501),
    Waiver("leaks/sql", "old", "us", date(2999, 1, 1)),
)
OPTIONS = AuditOptions(waivers=WAIVERS)
FIELDS = {"content-type": "application/json", "cache-control": "no-store"}


def record(number: int, status: int, code: str, host: int, kind: int) -> object:
    """A line of a log: an exchange with or without header fields, slots, or no record."""
    own = f"01JAH8ZJ0Z8Z0N7M1X6JZ8{number:04d}"
    body = {"code": code, "message": f"No such order in /srv/{code}", "correlation_id": own}
    line = access(status, body, {**FIELDS, "x-correlation-id": own})
    line["url"] = f"https://h{host}.acme.com/orders/{number}"
    line["route"] = f"/orders/{{id}}/{host}"
    line["at"] = (None, f"2026-11-28T{number:02d}:59:00+01:00", 1795881600 + 3600 * number)[host]
    line["by"] = f"service {kind}"
    slots = {"kind": "slots", "url": "/orders", "status": status, "code": code}
    whole = {**line, "request": {"headers": {"accept": "*/*"}}, "method": "GET"}
    return (whole, line, slots, {"a": 1}, "not a record")[kind]


def unread(number: int) -> Result:
    """The result of an error whose body cannot be decoded, in a file of its own."""
    tally = Accumulator(platform())
    tally.start_recording(f"{number}.har")
    response = Response(500, cut="cannot be decoded")
    tally.add(Exchange(Request("GET", "/x"), response, lacks=ABOUT_BODY), f"{number}.har:1")
    return tally.part("")


RECORDS = st.builds(
    record,
    number=st.integers(0, 5),
    status=st.sampled_from((200, 400, 404, 409, 500, 501)),
    code=st.sampled_from(("not_found", "conflict", "lost_in_space", "invalid_request")),
    host=st.integers(0, 2),
    kind=st.sampled_from((0, 0, 0, 1, 2, 3, 4)),
)


@contextmanager
def files_of(*files: list[object]) -> Iterator[list[str]]:
    """Logs of these lines."""
    with TemporaryDirectory() as folder:
        names = []
        for number, lines in enumerate(files):
            path = Path(folder) / f"{number}.ndjson"
            texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
            path.write_text("".join(f"{text}\n" for text in texts))
            names.append(str(path))
        yield names


def comparable(text: str) -> object:
    """A report without the time that it took."""
    found = json.loads(text)
    del found["summary"]["seconds"]
    return found


def judge_parts(names: list[str], ends: list[int], *, only: str | None = None) -> str:
    """The merged report of audits of consecutive files, each written and read."""
    options = AuditOptions(waivers=WAIVERS, only=only)
    cuts = sorted({0, len(names), *(end % len(names) for end in ends)})
    texts = [
        write_json(audit(names[start:end], platform(KINDS), options))
        for start, end in pairwise(cuts)
    ]
    parts = ((str(number), read_report(text)) for number, text in enumerate(texts))
    return write_json(fold_reports(parts, date.today()))


@examples(200, steady=8, deadline=None)
@given(
    files=st.lists(st.lists(RECORDS, max_size=6), min_size=1, max_size=5),
    ends=st.lists(st.integers(0, 5), max_size=4),
    most=st.sampled_from((2, 5, 2_000)),
    few=st.sampled_from((1, 12)),
    cells=st.sampled_from((1, 3, 2_000)),
)
def test_parts_add_up_to_the_whole(
    files: list[list[object]], ends: list[int], most: int, few: int, cells: int
) -> None:
    """However files are shared among audits, their merged reports are that of one audit: verdicts,
    counts, fingerprints, coverage, waivers, notes, examples, first and last places and moments,
    exchanges over time. So it is if there are more findings, examples, hosts and hours than are
    kept.
    """
    with (
        files_of(*files) as names,
        mock.patch.multiple(recorded, MOST_FINDINGS=most, EXAMPLES=few, _HOSTS=few),
        mock.patch.object(activity, "_CELLS", cells),
        mock.patch("faultspec_conformance.observed.accumulator.MOST_FINDINGS", most),
    ):
        whole = write_json(audit(names, platform(KINDS), OPTIONS))
        assert comparable(judge_parts(names, ends)) == comparable(whole)


def test_errors_that_nobody_can_read_add_up() -> None:
    """Two parts with an unread body each have two."""
    (line,) = describe_part(add_parts(unread(1), unread(2))).not_run
    assert line.startswith("2 errors are not judged by their bodies")


def test_unreadable_records_of_one_file_add_up() -> None:
    """A file counts as unreadable by all of its ranges, not by one."""

    def skipping(*broken: bool) -> Result:
        tally = Accumulator(platform())
        tally.start_recording("a.log")
        for number, each in enumerate(broken):
            tally.skip(f"a.log:{number}", "the line is not JSON", broken=each)
        return tally.part("")

    (line,) = describe_part(add_parts(skipping(True, False), skipping(True, True))).not_run
    assert "3 of its 4 records" in line
    assert not describe_part(add_parts(skipping(True), skipping(False))).not_run


def judge_serially(
    pieces: Iterator[Piece], taxonomy: Taxonomy, create: Any, _: int
) -> Iterator[tuple[Piece, Any]]:
    """Judge the pieces as processes do: each by itself, with pickled values."""
    judge = create(taxonomy)
    for piece in pieces:
        yield piece, pickle.loads(pickle.dumps(judge(piece)))


@examples(200, steady=8, deadline=None)
@given(
    files=st.lists(st.lists(RECORDS, max_size=30), min_size=1, max_size=3),
    size=st.integers(200, 3000),
    window=st.sampled_from((2, 3, 10_000)),
)
def test_ranges_add_up_to_the_file(files: list[list[object]], size: int, window: int) -> None:
    """However lines are shared among processes, the report is that of one: with the line numbers,
    and with ids that come again in another range, or after as many ids as are remembered.
    """
    with (
        files_of(*files) as names,
        mock.patch.object(jobs, "RANGE", size),
        mock.patch.object(memory, "RECENT", window),
        mock.patch.object(observed_audit, "share", judge_serially),
    ):
        alone = audit(names, platform(KINDS), OPTIONS)
        shared = audit(names, platform(KINDS), replace(OPTIONS, jobs=2))
        assert comparable(write_json(shared)) == comparable(write_json(alone))


def test_the_end_of_a_truncated_log_has_its_line_in_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where a range ends early, the report names the line of the file, as that of one process."""
    monkeypatch.setattr(jobs, "RANGE", 2_000)
    monkeypatch.setattr(observed_audit, "share", judge_serially)
    with files_of([record(number, 404, "not_found", 0, 0) for number in range(20)]) as names:
        with Path(names[0]).open("a") as file:
            file.write('{"kind": "acc')
        alone = audit(names, platform(KINDS), OPTIONS)
        shared = audit(names, platform(KINDS), replace(OPTIONS, jobs=2))
    assert comparable(write_json(shared)) == comparable(write_json(alone))
    assert alone.result.not_run[0].startswith(f"{names[0]}:21: the file is truncated")


def test_processes_share_an_audit_and_end_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes give the report of one, for large and small files; none of them is left. If
    one ends, its files could not run, and the rest is judged.
    """
    monkeypatch.setattr(jobs, "RANGE", 4_000)
    lines = [record(number, 404 + number % 2 * 96, "not_found", 0, 0) for number in range(40)]
    with files_of(lines, lines[:3], ["x"], []) as names:
        given = [*names, f"{names[0]}.missing"]
        alone = audit(given, platform(KINDS), OPTIONS)
        shared = audit(given, platform(KINDS), replace(OPTIONS, jobs=2))
        assert comparable(write_json(shared)) == comparable(write_json(alone))
        assert not active_children()
        monkeypatch.setattr(observed_audit, "_create_judge", end_at_once)
        lost = audit(names, platform(KINDS), replace(OPTIONS, jobs=2))
    assert {f"{name}: the process that judged it ended" for name in names} <= {*lost.result.not_run}
    assert exit_code(lost.result) == 2
    assert not active_children()


def end_at_once(options: AuditOptions, taxonomy: Taxonomy) -> None:
    """A judge that ends its process."""
    os._exit(9)


def test_the_command_folds_reports_of_audits(tmp_path: Path) -> None:
    """`report merge` of JSON reports of audits is the report of one, with its exit code; a report
    that is named twice, of a run by a baseline, or of other clauses is refused with a diagnostic.
    """
    line = {"endpoint": "GET /orders", "http_status": 404, "code": "not_found"}
    lines = [{**line, "http_status": 500}, line, "x", "y", "z"]
    with files_of(lines[:2], lines[2:]) as (first, second):
        parts = [str(tmp_path / name) for name in ("a.json", "b.json", "c.json", "d.json")]
        faultspec("audit", first, "--report", f"json={parts[0]}")
        faultspec("audit", second, "--report", f"json={parts[1]}")
        faultspec("audit", second, "--only", "code/*", "--report", f"json={parts[2]}")
        faultspec("audit", first, "--baseline", parts[0], "--report", f"json={parts[3]}")
        whole = faultspec("audit", first, second, "--format", "json")
        merged = faultspec("report", "merge", *parts[:2], "--format", "json")
        assert (merged.returncode, whole.returncode) == (1, 1)
        assert comparable(merged.stdout) == comparable(whole.stdout)
        assert "none of its 3 records could be read" in merged.stdout
        for wrong, message in (
            ([parts[0], parts[0]], "named twice"),
            ([parts[0], parts[2]], "of the clauses code/*"),
            ([parts[0], parts[3]], "compared with a baseline"),
        ):
            refused = faultspec("report", "merge", *wrong)
            assert refused.returncode == 2
            assert message in refused.stderr


def test_a_hostile_part_is_refused(tmp_path: Path) -> None:
    """A part with a negative count, a foreign clause, or a value of another type is refused."""
    with files_of([record(1, 500, "not_found", 0, 0)]) as names:
        found = json.loads(write_json(audit(names, platform(KINDS))))
    path = tmp_path / "part.json"
    for change in (
        {"unread": -1},
        {"hosts": {"x": "many"}},
        {"needs": {"no/clause": {"occasion": "", "facts": []}}},
        {"unlisted": {"no/clause": 3}},
        {"lacking": [{"facts": "body", "count": 1}]},
        {"files": []},
        {"more": 1},
        {"forgot": 0},
    ):
        path.write_text(json.dumps({**found, "part": {**found["part"], **change}}))
        done = faultspec("report", "merge", str(path), "--format", "json")
        assert (done.returncode, "is not valid" in done.stderr) == (2, True), change
        assert "Traceback" not in done.stderr


def test_parts_by_other_taxonomies_do_not_add_up() -> None:
    """The first difference is named."""
    with files_of([record(1, 500, "not_found", 0, 0)]) as names:
        report = audit(names, platform(KINDS))
        other = audit(names, platform(KINDS), AuditOptions(only="leaks/*"))
    with pytest.raises(Unmergeable, match="of the clauses leaks"):
        fold_reports((("a", report), ("b", other)), DAY)
