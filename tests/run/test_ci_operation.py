"""The suite in CI: shards, baselines, coverage, flakiness, production, repeatable runs."""

import contextlib
import io
import itertools
import json
import os
import re
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from faultspec import language
from faultspec.cli import main
from faultspec.exchange.finding import Finding
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.language.model import Taxonomy
from faultspec_conformance import reports
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.config import read_config as configuration
from faultspec_conformance.drivers.http import HttpDriver, Limits
from faultspec_conformance.drivers.serving import serving
from faultspec_conformance.orders import app as orders
from faultspec_conformance.orders import demo, store
from faultspec_conformance.orders.app import Orders
from faultspec_conformance.orders.sins import SINS, Sin, answers, without_header
from faultspec_conformance.probes import UNITS
from faultspec_conformance.reports.reading import read_report
from faultspec_conformance.results import baseline, merge
from faultspec_conformance.results.model import (
    ClauseResult,
    Coverage,
    Report,
    ReportedFinding,
    Result,
    Shard,
    exit_code,
)
from faultspec_conformance.results.required_coverage import (
    RequiredCoverage,
    missing_coverage,
    parse_required_coverage,
)
from faultspec_conformance.results.waivers import Waiver
from faultspec_conformance.run.service import judge_http, run
from faultspec_conformance.sanitize.masking import build_masking
from faultspec_conformance.session.options import RunOptions
from miniatures.clock import Unhurried
from paths import ROOT
from support.in_process import Clock

TAXONOMY = str(ROOT / "taxonomy.yaml")
CONFIG = ROOT / "conformance/faultspec_conformance/orders/conformance.yaml"
TODAY = date(2026, 11, 22)


@pytest.fixture(scope="module")
def taxonomy() -> Taxonomy:
    """The flagship."""
    loaded = language.load(TAXONOMY)
    assert loaded.taxonomy is not None
    return loaded.taxonomy


def target(url: str, **limits: object) -> ServiceConfig:
    """The orders service at this address, with other limits."""
    loaded = configuration(str(CONFIG), demo.service_environment(url, TAXONOMY))
    assert loaded.target is not None
    return replace(loaded.target, limits=replace(loaded.target.limits, **limits))  # type: ignore[arg-type]


def judged(app: ASGIApp, taxonomy: Taxonomy, options: RunOptions, **limits: object) -> Report:
    """A run on a fresh service."""
    with serving(app) as url:
        report = run(target(url, **limits), taxonomy, options)
    assert isinstance(report, Report), report
    # So that reports of runs on different ports are of one service.
    text = reports.json(report).replace(url, "http://127.0.0.1:8080")
    return read_report(text)


def sinful(*sins: str) -> ASGIApp:
    """The orders service with these sins."""
    app = Orders(Unhurried()).app()
    for each in sins:
        app = PAGES[each].apply(app)
    return app


# ---- law 11


def comparable(report: Report) -> dict[str, object]:
    """The part of a report that merged shards share with a whole run."""
    result = report.result
    return {
        "verdicts": {address: each.verdict for address, each in result.clauses.items()},
        "coverage": {
            code: (each.observed, each.statuses, set(each.operations), each.reason, each.explained)
            for code, each in result.coverage.items()
        },
        "fingerprints": {(each.finding.fingerprint, each.standing) for each in result.findings},
        "failures": set(result.failures),
        "not run": set(result.not_run),
        "exit": exit_code(result),
    }


def whole_and_merged(
    taxonomy: Taxonomy, of: int, options: RunOptions, *sins: str
) -> tuple[Report, Report]:
    """One run, and as many shards of it, each on a service of its own, merged from their files."""
    one = judged(sinful(*sins), taxonomy, options)
    parts = {
        f"{number}.json": judged(sinful(*sins), taxonomy, replace(options, shard=Shard(number, of)))
        for number in range(1, of + 1)
    }
    return one, merge.merge_reports(parts, TODAY)


EXPIRED = Waiver("headers/cache-control", "known", "edge", date(2026, 1, 1))
NEEDED = Waiver("headers/*", "known", "edge", date(2027, 1, 1))
STALE = Waiver("leaks/*", "thought to be known", "edge", date(2027, 1, 1))


@pytest.mark.parametrize(
    ("of", "sins", "waivers"),
    [
        (3, ("cacheable-404", "framework-405"), (NEEDED, STALE)),
        pytest.param(1, (), (), marks=pytest.mark.full),
        pytest.param(2, (), (STALE,), marks=pytest.mark.full),
        pytest.param(5, ("reveals-existence", "forgets-retry-after"), (), marks=pytest.mark.full),
        pytest.param(
            4, ("own-correlation-id", "silent-conflict"), (EXPIRED,), marks=pytest.mark.full
        ),
        pytest.param(40, ("cacheable-404", "leaks-stack-trace"), (NEEDED,), marks=pytest.mark.full),
        *(
            pytest.param(
                2 + turn % 6, (sin,), (), marks=pytest.mark.full, id=f"{sin}-{2 + turn % 6}"
            )
            for turn, sin in enumerate(SINS)
        ),
    ],
)
def test_shards_merged_equal_one_run(
    taxonomy: Taxonomy, of: int, sins: tuple[str, ...], waivers: tuple[Waiver, ...]
) -> None:
    """Law 11: verdicts, coverage, fingerprints, stale waivers and the exit code are those of one
    run.
    """
    options = RunOptions(sweep=False, waivers=waivers, today=TODAY, seed=len("".join(sins)) % 7)
    one, many = whole_and_merged(taxonomy, of, options, *sins)
    assert comparable(many) == comparable(one)
    assert many.result.shards == ()


PAGES = SINS | {
    f"page-{status}": Sin(
        f"page-{status}",
        f"a {status} is a page for people",
        "envelope/media-type",
        answers(
            lambda scope, found, headers, body, wanted=status: (  # type: ignore[misc]
                (
                    found,
                    [*without_header(headers, b"content-type"), (b"content-type", b"text/html")],
                    b"<h1>Sorry</h1>",
                )
                if found == wanted
                else (found, headers, body)
            )
        ),
    )
    for status in (401, 404, 412, 500)
}
"""Beside the shipped sins, some that break the form of answers that many probes meet, each in a
place of its own.
"""


@pytest.mark.parametrize(
    ("sins", "seed"),
    [
        pytest.param((), 0, marks=pytest.mark.full),
        pytest.param(("page-404",), 1, marks=pytest.mark.full),
        pytest.param(("page-404", "reveals-existence"), 2, marks=pytest.mark.full),
        *(
            pytest.param(pair, turn, marks=pytest.mark.full)
            # Each fault with the next one: a run takes as many runs more as there are units.
            for turn, pair in enumerate(itertools.pairwise((*PAGES, next(iter(PAGES)))))
        ),
    ],
)
def test_what_a_unit_asks_and_finds_depends_on_no_other(
    taxonomy: Taxonomy, sins: tuple[str, ...], seed: int
) -> None:
    """Law 11: each unit of probes sends the same requests and finds the same alone as in the
    whole run. Requests that every shard needs are sent in each: for the document, to create the
    shared resource, and to read what it refused to change; at most five.
    """
    one, many = whole_and_merged(
        taxonomy, len(UNITS), RunOptions(sweep=False, today=TODAY, seed=seed), *sins
    )
    assert comparable(many) == comparable(one)
    # what failed once in its shard is asked again there, and what failed twice in the whole run is
    # not
    if not sins:
        assert many.result.requests <= one.result.requests + 8 * (len(UNITS) - 1)


@pytest.mark.full
def test_shards_with_the_sweep_merge_as_well(taxonomy: Taxonomy) -> None:
    """The sweep runs in one shard, and its findings belong to the merged run. Which sequences are
    generated depends on the state that the sweep meets, so their clause may not be exercised, and
    codes that are observed in both runs may come from other operations.
    """
    options = RunOptions(today=TODAY, seed=7)
    reports = whole_and_merged(taxonomy, 2, options, "cacheable-404")
    one, many = map(comparable, reports)
    verdicts = [report["verdicts"] for report in (one, many)]
    for found in verdicts:
        assert isinstance(found, dict)
        assert found.pop("document/sequences") in ("passed", "not_exercised")
    for report in (one, many):
        covered = report["coverage"]
        assert isinstance(covered, dict)
        report["coverage"] = {code: (*seen[:2], *seen[3:]) for code, seen in covered.items()}
    assert many == one
    assert reports[1].result.generated > 0


def test_a_shard_does_not_judge_waivers(taxonomy: Taxonomy) -> None:
    """Law 10: unused waivers are reported for whole runs only."""
    shards = {
        f"{number}.json": judged(
            sinful(),
            taxonomy,
            RunOptions(sweep=False, waivers=(STALE,), today=TODAY, shard=Shard(number, 2)),
        )
        for number in (1, 2)
    }
    assert all(each.result.failures == () for each in shards.values())
    assert all(sum(each.result.waivers.values()) == 0 for each in shards.values())
    assert "no longer needed" in merge.merge_reports(shards, TODAY).result.failures[0]


@pytest.mark.full
@pytest.mark.parametrize(
    ("options", "reported"),
    [
        (RunOptions(only="headers/*"), True),
        (RunOptions(only="headers/cache-control"), True),
        (RunOptions(only="privacy/*"), False),
        (RunOptions(shard=Shard(1, 2)), True),
    ],
)
def test_an_expired_waiver_fails_whatever_run_sees_its_failure(
    taxonomy: Taxonomy, options: RunOptions, reported: bool
) -> None:
    """Law 10: an expired waiver fails a run of some clauses and a shard, if its finding occurs.
    Unused waivers are not reported there.
    """
    for expires in (date(2026, 1, 1), date(2027, 1, 1)):
        waivers = (
            replace(EXPIRED, expires=expires),
            replace(STALE, clause="headers/*", code="timeout"),
        )
        asked = replace(options, sweep=False, waivers=waivers, today=TODAY)
        result = judged(sinful("cacheable-404"), taxonomy, asked).result
        failing = reported and expires < TODAY
        assert [each for each in result.failures if "expired on 2026-01-01" in each] == list(
            result.failures
        )
        assert len(result.failures) == failing
        assert tuple(result.waivers) == waivers
        assert exit_code(result) == 1 or not failing


def part(**changes: object) -> Report:
    """A report of a shard."""
    result = Result(
        "http://t",
        "platform 1.0.0",
        {"a/b": ClauseResult("a/b", occasions=1)},
        coverage={"x": Coverage("x", 1)},
        shards=(Shard(1, 2),),
    )
    return Report(replace(result, **changes), "http://t")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("other", "phrase"),
    [
        (
            part(taxonomy="platform 2.0.0"),
            "b.json is a report by platform 2.0.0, but a.json is a report by platform 1.0.0",
        ),
        (
            part(target="http://u"),
            "b.json is a report of http://u, but a.json is a report of http://t",
        ),
        (part(), "b.json and a.json are both reports of shard 1/2"),
        (part(shards=(Shard(2, 3),)), "different numbers of shards: a.json is 1/2, b.json is 2/3"),
        (part(shards=()), "b.json is the report of a whole run"),
        (part(clauses={}), "a taxonomy of the same name and version"),
        (part(coverage={}), "a taxonomy of the same name and version"),
        (
            replace(part(shards=(Shard(2, 2),)), only="leaks/*"),
            "b.json is a report of the clauses leaks/*, but a.json is a report of the clauses *",
        ),
    ],
)
def test_what_is_not_of_one_run_is_not_merged(other: Report, phrase: str, tmp_path: Path) -> None:
    """Reports by another taxonomy, of another service or of another cut are refused by name, with
    exit code 2.
    """
    for name, report in {"a.json": part(), "b.json": other}.items():
        (tmp_path / name).write_text(reports.json(report))
    done = faultspec("report", "merge", "a.json", "b.json", cwd=tmp_path)
    assert done.returncode == 2
    assert phrase in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_shard_without_a_report_could_not_run(tmp_path: Path) -> None:
    """Nothing is passed for want of a report: the exit code is 2, and the report says which is
    missing.
    """
    (tmp_path / "a.json").write_text(reports.json(part()))
    done = faultspec("report", "merge", "a.json", "--report", "json=all.json", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "could not run: shard 2/2: its report is missing" in done.stdout
    assert json.loads((tmp_path / "all.json").read_text())["run"]["shards"] == []


@pytest.mark.parametrize("text", ["", "[]", '{"faultspec_report": 1}', "\ud800"])
def test_a_file_that_is_not_a_report_is_not_merged(text: str, tmp_path: Path) -> None:
    """Exit code 2, the file's name and why."""
    (tmp_path / "a.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    for name in ("a.json", "nowhere.json"):
        done = faultspec("report", "merge", name, cwd=tmp_path)
        assert done.returncode == 2
        assert name in done.stderr
        assert "Traceback" not in done.stderr


def test_one_report_in_another_format(tmp_path: Path) -> None:
    """`report merge` of a whole report is that report, in any format, with its own exit code."""
    whole = part(shards=())
    (tmp_path / "a.json").write_text(reports.json(whole))
    for name, form in reports.FORMATS.items():
        done = faultspec("report", "merge", "a.json", "--format", name, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, form(whole)), done.stderr


@dataclass(frozen=True, slots=True)
class Done:
    """The output of a command and its exit code."""

    returncode: object
    stdout: str
    stderr: str


def faultspec(*arguments: str, cwd: Path, **environment: str) -> Done:
    """Run the command line, in this process: it is imported already."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd),
        mock.patch.dict(os.environ, environment),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        main(arguments)
    return Done(ended.value.code, out.getvalue(), err.getvalue())


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        (("--shard", "3/2"), "'3/2' is not a part such as 2/5"),
        (("--shard", "0/2"), "'0/2' is not a part"),
        (("--shard", "1/2", "--baseline", "x.json"), "`faultspec report merge`"),
        (("--shard", "1/2", "--require-coverage", "all"), "`faultspec report merge`"),
        (("--rate", "fast"), "'fast' is not a rate such as 5/s"),
        (("--rate", "0/s"), "'0/s' is not a rate such as 5/s"),
        (("--require-coverage", "101%"), "neither `all`, nor a percentage"),
        (("--require-coverage", "a,,b"), "neither `all`, nor a percentage"),
    ],
)
def test_contradictory_options_are_refused(
    arguments: tuple[str, ...], phrase: str, tmp_path: Path
) -> None:
    """Exit code 2 before anything is sent."""
    done = faultspec(
        "conform",
        str(CONFIG),
        *arguments,
        cwd=tmp_path,
        **demo.service_environment("http://127.0.0.1:9", TAXONOMY),
    )
    assert done.returncode == 2
    assert phrase in done.stderr


# ---- baselines


def found(*fingerprinted: tuple[str, str], clauses: tuple[str, ...] = ("a/b", "c/d")) -> Result:
    """A result with these findings, each a clause and an operation."""
    findings = tuple(
        ReportedFinding(Finding(clause, "m", operation=operation))
        for clause, operation in fingerprinted
    )
    failures = Counter(clause for clause, _ in fingerprinted)
    return Result(
        "t",
        "x 1",
        {each: ClauseResult(each, occasions=3, failures=failures[each]) for each in clauses},
        findings,
    )


def test_a_baseline_excuses_what_it_has() -> None:
    """New causes fail, known ones do not, and missing ones are fixed, by fingerprint. Nothing is
    counted twice. A known cause on another operation is known, unless it is a relation: a second
    operation that writes twice is new.
    """
    relation = "idempotency/replay"
    clauses = ("a/b", "c/d", "e/f", relation)
    before = found(("a/b", "GET /1"), ("c/d", "GET /2"), (relation, "POST /1"), clauses=clauses)
    now = baseline.compare_with_baseline(
        found(("a/b", "GET /9"), ("e/f", "GET /3"), (relation, "POST /2"), clauses=clauses),
        before,
    )
    assert [(each.finding.operation, each.baseline, each.standing) for each in now.findings] == [
        ("POST /2", "new", "error"),
        ("GET /3", "new", "error"),
        ("GET /9", "known", "known"),
    ]
    assert now.fixed is not None
    assert [each.operation for each in now.fixed] == ["GET /2"]
    assert [(each.failures, each.known, each.verdict) for each in now.clauses.values()] == [
        (0, 1, "passed"),
        (0, 0, "passed"),
        (1, 0, "failed"),
        (1, 0, "failed"),
    ]
    assert exit_code(now) == 1
    assert exit_code(baseline.compare_with_baseline(before, before)) == 0


def test_a_baseline_knows_a_crash_on_its_operations_alone() -> None:
    """A crash on an operation that did not crash before is new."""
    crash = "service/no-crash"
    before = found((crash, "GET /1"), clauses=(crash,))
    again = found((crash, "GET /1"), clauses=(crash,))
    elsewhere = found((crash, "GET /2"), clauses=(crash,))
    for result, standing in ((again, "known"), (elsewhere, "new")):
        (reported,) = baseline.compare_with_baseline(result, before).findings
        assert reported.baseline == standing


def test_what_was_not_exercised_is_not_fixed() -> None:
    """A missing finding is not fixed if its clause was not exercised."""
    now = found()
    silent = replace(
        now, clauses={"a/b": ClauseResult("a/b"), "c/d": ClauseResult("c/d", occasions=1)}
    )
    assert baseline.compare_with_baseline(silent, found(("a/b", "GET /1"))).fixed == ()


@pytest.mark.full
def test_a_baseline_on_the_command_line(tmp_path: Path) -> None:
    """The report of a run is the baseline of the next: exit code 0, then 1 with one sin more, which
    alone is new.
    """
    with serving(sinful("cacheable-404")) as url:
        environment = {**demo.service_environment(url, TAXONOMY)}
        arguments = ("conform", str(CONFIG), "--no-sweep", "--only", "headers/*")
        first = faultspec(*arguments, "--report", "json=before.json", cwd=tmp_path, **environment)
        assert first.returncode == 1, first.stderr
        second = faultspec(*arguments, "--baseline", "before.json", cwd=tmp_path, **environment)
        assert second.returncode == 0, second.stdout
        assert re.search(r"against the baseline: 0 new, \d+ known, 0 fixed", second.stdout)
    with serving(sinful("cacheable-404", "forgets-retry-after")) as url:
        environment = {**demo.service_environment(url, TAXONOMY)}
        third = faultspec(
            *arguments, "--baseline", "before.json", "--format", "json", cwd=tmp_path, **environment
        )
        assert third.returncode == 1
        data = json.loads(third.stdout)
        fresh = [each for each in data["findings"] if each["baseline"] == "new"]
        assert {each["clause"] for each in fresh} == {"headers/retry-after"}
        assert data["baseline"]["new"] == [each["fingerprint"] for each in fresh]
    missing = faultspec(*arguments, "--baseline", "nowhere.json", cwd=tmp_path, **environment)
    assert missing.returncode == 2


@pytest.mark.full
def test_fingerprints_hold_no_value_of_a_run(taxonomy: Taxonomy) -> None:
    """Two runs on fresh services with fresh ids and tokens have the same fingerprints; an index is
    any index.
    """
    first, second = (judged(sinful(*SINS), taxonomy, RunOptions(sweep=False)) for _ in range(2))
    prints = [
        {each.finding.fingerprint for each in report.result.findings} for report in (first, second)
    ]
    assert prints[0] == prints[1]
    assert len(prints[0]) > 5
    one = Finding("a/b", "m", pointer="/items/3/code")
    assert one.fingerprint == replace(one, pointer="/items/12/code", message="n").fingerprint
    assert one.fingerprint != replace(one, pointer="/items/3/message").fingerprint


# ---- coverage


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("all", RequiredCoverage(100.0)),
        ("90%", RequiredCoverage(90.0)),
        ("99.5 %", RequiredCoverage(99.5)),
        ("a", RequiredCoverage(codes=("a",))),
        ("a, b,a", RequiredCoverage(codes=("a", "b"))),
        ("101%", None),
        ("", None),
        ("a b", None),
    ],
)
def test_what_coverage_is_required(text: str, wanted: RequiredCoverage | None) -> None:
    """All, a percentage, or codes by name; anything else is a mistake."""
    assert parse_required_coverage(text) == wanted


def test_coverage_that_is_missing_fails() -> None:
    """A percentage counts the codes that can be provoked. A named code must be observed in any
    case.
    """
    seen = {
        "a": Coverage("a", 1),
        "b": Coverage("b", 2),
        "c": Coverage("c", reason="why"),
        "d": Coverage("d", explained=True),
    }
    result = replace(found(), coverage=seen)

    def missed(text: str) -> list[str]:
        return list(missing_coverage(result, parse_required_coverage(text) or RequiredCoverage()))

    assert missed("66%") == []
    assert len(missed("67%")) == 2
    assert missed("all") == ["coverage: c was not observed: why"]
    assert missed("a,b") == []
    assert len(missed("a,c,d,nope")) == 3


# ---- what is flaky


def sometimes(
    times: int, sin: Callable[[ASGIApp], ASGIApp], wanted: Callable[[Scope], bool]
) -> ASGIApp:
    """The orders service, whose first requests of a kind meet a sin and whose others do not."""
    good, seen = Orders(Unhurried()).app(), [0]
    bad = sin(good)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and wanted(scope):
            seen[0] += 1
            if seen[0] <= times:
                await bad(scope, receive, send)
                return
        await good(scope, receive, send)

    return app


def forbidden(scope: Scope) -> bool:
    """A request that a recipe sends."""
    return bool(scope["path"] == "/admin/usage")


@pytest.mark.parametrize(("times", "standing", "code"), [(1, "flaky", 0), (99, "error", 1)])
def test_what_does_not_happen_again_is_flaky(
    taxonomy: Taxonomy, times: int, standing: str, code: int
) -> None:
    """A failure that asking again does not show stands apart and fails nothing; one that does show
    again fails.
    """
    app = sometimes(times, without_cache_control, forbidden)
    result = judged(app, taxonomy, RunOptions(sweep=False)).result
    assert {(each.finding.clause, each.standing) for each in result.findings} == {
        ("headers/cache-control", standing)
    }
    clause = result.clauses["headers/cache-control"]
    assert (clause.verdict, clause.flaky) == (
        ("passed", 1) if standing == "flaky" else ("failed", 0)
    )
    assert exit_code(result) == code
    report = Report(result, "http://t")
    assert json.loads(reports.json(report))["summary"]["flaky"] == clause.flaky
    for name in ("text", "github", "markdown", "html"):
        assert (
            "flaky" in reports.FORMATS[name](report).lower().replace("data-verdict", "")
        ) or standing == "error", name


def without_cache_control(app: ASGIApp) -> ASGIApp:
    """Answers lack the header."""

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [pair for pair in message["headers"] if pair[0].lower() != b"cache-control"]
                message = {**message, "headers": kept}
            await send(message)

        await app(scope, receive, sending)

    return wrapped


def test_a_leak_is_never_flaky(taxonomy: Taxonomy) -> None:
    """A leak fails the run even if repeating the request does not reproduce it."""
    app = sometimes(
        1,
        SINS["leaks-stack-trace"].apply,
        lambda scope: dict(scope["headers"]).get(b"x-fault") == b"internal_error",
    )
    result = judged(app, taxonomy, RunOptions(sweep=False)).result
    standing = {each.finding.clause: each.standing for each in result.findings}
    if "leaks/stack-trace" not in standing:
        pytest.fail("the sin was not seen at all")
    assert standing["leaks/stack-trace"] == "error"


# ---- waivers with a condition


def test_a_waiver_is_in_force_where_its_condition_holds() -> None:
    """Each variable has a value of its pattern; elsewhere the waiver excuses nothing and is not
    stale.
    """
    waiver = replace(NEEDED, condition=(("DEPLOYMENT", "staging-*"), ("REGION", "eu")))
    assert waiver.holds({"DEPLOYMENT": "staging-2", "REGION": "eu"})
    assert not waiver.holds({"DEPLOYMENT": "production", "REGION": "eu"})
    assert not waiver.holds({"DEPLOYMENT": "staging-2"})
    assert NEEDED.holds({})


@pytest.mark.full
@pytest.mark.parametrize(("deployment", "code"), [("staging-2", 0), ("production", 1)])
def test_a_condition_on_the_command_line(deployment: str, code: int, tmp_path: Path) -> None:
    """The same finding is known in one deployment and fails in another."""
    text = CONFIG.read_text(encoding="utf-8") + "waivers: known.yaml\n"
    (tmp_path / "conformance.yaml").write_text(text)
    (tmp_path / "known.yaml").write_text(
        "- {clause: headers/cache-control, reason: r, owner: o, expires: 2999-01-01, condition: {DEPLOYMENT: staging-*}}\n"
    )
    with serving(sinful("cacheable-404")) as url:
        environment = {**demo.service_environment(url, TAXONOMY), "DEPLOYMENT": deployment}
        done = faultspec("conform", "conformance.yaml", "--no-sweep", cwd=tmp_path, **environment)
    assert done.returncode == code, done.stdout[-2000:] + done.stderr


# ---- production


def noting(
    app: ASGIApp,
    seen: list[tuple[float, str, str, bytes]],
    clock: Callable[[], float] = time.monotonic,
) -> ASGIApp:
    """The application, and the requests that it received: time, method, target and headers with
    the body.
    """

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        target = scope["raw_path"].decode() + "?" + scope["query_string"].decode()
        headers = b"\n".join(
            name + b": " + value for name, value in scope["headers"] if name != b"host"
        )
        seen.append((clock(), scope["method"], target, headers + b"\n\n" + body))
        done = False

        async def again() -> Message:
            nonlocal done
            if done:
                return await receive()
            done = True
            return {"type": "http.request", "body": body, "more_body": False}

        await app(scope, again, send)

    return wrapped


@pytest.mark.parametrize("more", [("--no-sweep",), pytest.param((), marks=pytest.mark.full)])
def test_production_meets_no_write(more: tuple[str, ...], tmp_path: Path) -> None:
    """With --read-only no method but GET, HEAD and OPTIONS arrives, though the file allows writes
    and the sweep runs.
    """
    seen: list[tuple[float, str, str, bytes]] = []
    with serving(noting(Orders(Unhurried()).app(), seen)) as url:
        done = faultspec(
            "conform", str(CONFIG), "--read-only", "--rate", "40/s", "--requests", "60", "--seconds", "300",
            "--format", "json", *more, cwd=tmp_path, **demo.service_environment(url, TAXONOMY),
        )  # fmt: skip
    assert done.returncode in (0, 2), done.stdout[-2000:] + done.stderr
    methods = Counter(method for _, method, _, _ in seen)
    assert set(methods) <= {"GET", "HEAD", "OPTIONS"}, methods
    assert 20 < sum(methods.values()) <= 60
    data = json.loads(done.stdout)
    assert data["summary"]["requests"] <= 60
    verdicts = {each["clause"]: each for each in data["clauses"]}
    assert verdicts["idempotency/replay"]["verdict"] == "not_exercised"
    reasons = verdicts["retry/recovers"]["reasons"]["not_exercised"]
    assert any("keeps to a rate" in reason for reason in reasons)


def test_a_rate_is_kept(taxonomy: Taxonomy) -> None:
    """Between two requests at the service lies the time that the rate gives, and the budget of
    seconds still holds.
    """
    seen: list[tuple[float, str, str, bytes]] = []
    clock = Clock()
    with serving(noting(Orders(Unhurried()).app(), seen, clock)) as url:
        report = judge_http(
            target(url, rate=2.0, writes=False, seconds=7.9),
            taxonomy,
            RunOptions(sweep=False),
            {},
            connect=partial(HttpDriver, clock=clock, pause=clock.pause),
        )
    assert isinstance(report, Report)
    times = [when for when, *_ in seen]
    assert len(times) > 10
    assert all(
        later - sooner == pytest.approx(1 / 2) for sooner, later in itertools.pairwise(times)
    )
    assert times[-1] - times[0] < 7.9
    assert any(
        "seconds" in judgement.reason
        for judgement in report.result.clauses.values()
        if judgement.verdict == "could_not_run"
    )


def test_a_rate_may_be_in_the_file(tmp_path: Path) -> None:
    """`limits` has a rate, and the stricter one counts."""
    text = CONFIG.read_text(encoding="utf-8").replace("writes: true}", "writes: true, rate: 2.5}")
    (tmp_path / "conformance.yaml").write_text(text)
    loaded = configuration(
        str(tmp_path / "conformance.yaml"), demo.service_environment("http://127.0.0.1:9", TAXONOMY)
    )
    assert loaded.target is not None
    assert loaded.target.limits == Limits(600, 120, True, 2.5)


def test_the_rate_waits_and_the_budget_ends() -> None:
    """The first request goes at once, each other one after its turn, none after the time."""
    now = [0.0]
    waits: list[float] = []

    def pause(seconds: float) -> None:
        waits.append(seconds)
        now[0] += seconds

    with HttpDriver(
        "http://127.0.0.1:9",
        Limits(requests=9, seconds=1.2, rate=2),
        clock=lambda: now[0],
        pause=pause,
    ) as http:
        sent = [http._wait_for_turn() for _ in range(4)]
    assert sent == [True, True, True, False]
    assert waits == [0.5, 0.5]


# ---- the same again


@pytest.fixture
def counted_ids(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """The ids that the orders service gives, from 1 in every service."""
    ids = iter(range(0))

    def restart() -> None:
        nonlocal ids
        ids = iter(range(1, 100_000))

    stub = SimpleNamespace(uuid4=lambda: uuid.UUID(int=next(ids), version=4), UUID=uuid.UUID)
    for module in (store, orders):
        if hasattr(module, "uuid"):
            monkeypatch.setattr(module, "uuid", stub)
    return restart


def asked(taxonomy: Taxonomy, options: RunOptions) -> list[tuple[str, str, bytes]]:
    """The requests that a fresh service receives."""
    seen: list[tuple[float, str, str, bytes]] = []
    judged(noting(Orders(Unhurried()).app(), seen), taxonomy, options)
    return [each[1:] for each in seen]


@pytest.mark.parametrize("sweep", [False, pytest.param(True, marks=pytest.mark.full)])
def test_the_same_seed_asks_the_same(
    taxonomy: Taxonomy,
    counted_ids: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
    sweep: bool,
) -> None:
    """With a seed a service in the same state meets the same requests, byte for byte; with another,
    others. Requests that are sent at once arrive in any order.
    """
    monkeypatch.setattr(
        orders, "RATE", 10_000
    )  # what a service refuses by the clock depends on the machine
    runs = []
    for seed in (3, 3, 4):
        counted_ids()
        runs.append(asked(taxonomy, RunOptions(sweep=sweep, seed=seed)))
    assert Counter(runs[0]) == Counter(runs[1])
    assert Counter(runs[0]) != Counter(runs[2])


def test_without_a_seed_what_must_be_new_is(taxonomy: Taxonomy) -> None:
    """A service with persistent state can be judged twice without collisions."""
    with serving(Orders(Unhurried()).app()) as url:
        for _ in range(2):
            report = run(target(url), taxonomy, RunOptions(sweep=False, only="duplicates/*"))
            assert isinstance(report, Report)
            assert exit_code(report.result) == 0, reports.text(report)


# ---- nothing secret


def test_new_members_are_masked_too() -> None:
    """Waivers, reasons and baselines are masked too, in every format."""
    secret = "s3cr3t-t0ken-of-somebody"
    exchange = Exchange(Request("GET", f"/{secret}"), Response(404, (), secret.encode()))
    reported = ReportedFinding(
        Finding("a/b", secret, operation=f"GET /{secret}", evidence=(exchange,)),
        waived=f"by {secret}",
    )
    waiver = Waiver(f"a/{secret}", f"by {secret}", secret, TODAY, operation=f"GET /{secret}")
    result = replace(
        found(),
        findings=(reported, replace(reported, waived=None, flaky=True)),
        waivers={waiver: 1},
    )
    compared = baseline.compare_with_baseline(
        build_masking([], [(secret, "WORD")]).result(result), found(("c/d", "GET /1"))
    )
    report = Report(compared, "http://h")
    for name, form in reports.FORMATS.items():
        assert secret not in form(report), name
        assert secret not in form(read_report(reports.json(report))), name
