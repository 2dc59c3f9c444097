"""Records have a time and a service: what is judged of them, and what a report says over time."""

import json
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.test_conform_command import faultspec
from faultspec_conformance.observed.audit import AuditOptions, audit
from faultspec_conformance.observed.formats.moments import parse_bound, parse_moment
from faultspec_conformance.reports.chart import charts
from faultspec_conformance.reports.data import json as write_json
from faultspec_conformance.results.recorded import fold_reports
from faultspec_conformance.results.sampling import is_sampled, largest_share, percent
from observed.test_audit import KINDS, access, log, platform
from paths import ROOT
from support.examples import examples

OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@examples(300)
@given(
    st.datetimes(datetime(1975, 1, 1), datetime(2100, 1, 1)), OFFSETS
)  # hypothesis wants plain ones
def test_every_form_of_a_moment_is_the_same_moment(plain: datetime, zone: timezone) -> None:
    """ISO 8601 with and without an offset or nanoseconds, the form of access logs, and numbers
    since 1970 in any usual unit, also as text, are read as one moment in UTC.
    """
    moment = plain.replace(tzinfo=UTC)
    expected = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    local, whole = moment.astimezone(zone), int(moment.timestamp())
    forms = [
        moment.isoformat(),
        local.isoformat(),
        plain.isoformat(),
        moment.strftime("%Y-%m-%d %H:%M:%S.123456789Z"),
        local.strftime("%d/%b/%Y:%H:%M:%S %z"),
        local.strftime("[%d/%b/%Y:%H:%M:%S %z]"),
        moment.strftime("%a, %d %b %Y %H:%M:%S GMT"),
        *([whole, whole * 1000, str(whole), whole * 10**9, str(whole * 10**9), whole + 0.5]),
    ]
    assert {parse_moment(form) for form in forms} == {expected}


@pytest.mark.parametrize(
    "value", [None, True, "", "soon", "28", "2026", [], {}, float("nan"), 1e300, -1e300, "9" * 40]
)
def test_other_values_do_not_parse(value: object) -> None:
    """A value of another form, or beyond the years of the calendar, is None."""
    assert parse_moment(value) is None


def test_bounds_are_moments_or_durations_before_now() -> None:
    """A bound is a date, a date and time, or so many seconds, minutes, hours, days or weeks ago."""
    now = datetime(2026, 11, 28, 16, tzinfo=UTC)
    assert parse_bound("2026-11-28", now) == "2026-11-28T00:00:00Z"
    assert parse_bound("2026-11-28T16:30+02:00", now) == "2026-11-28T14:30:00Z"
    found = [parse_bound(text, now) for text in ("30s", "90m", "24h", "7d", "1w")]
    assert found == [
        "2026-11-28T15:59:30Z",
        "2026-11-28T14:30:00Z",
        "2026-11-27T16:00:00Z",
        "2026-11-21T16:00:00Z",
        "2026-11-21T16:00:00Z",
    ]
    assert [parse_bound(text, now) for text in ("x", "7y", "999999w", "-1d")] == [None] * 4


@examples(200)
@given(st.integers(1, 10**7))
def test_the_bound_of_a_sample_is_that_of_its_chance(checked: int) -> None:
    """If the largest share of all were broken, a sample would have none with a chance of 5 %."""
    assert (1 - largest_share(checked)) ** checked == pytest.approx(0.05, rel=1e-6)


def test_the_bound_of_a_sample_is_the_rule_of_three() -> None:
    """None of 12,000: at most 0.025 % (3 of 12,000)."""
    assert percent(largest_share(12_000)) == "0.025 %"
    assert percent(largest_share(0)) == "100 %"


@examples(100)
@given(st.floats(0, 1), st.floats(0, 1))
def test_a_larger_sample_has_the_smaller_one(one: float, two: float) -> None:
    """A place in a sample is in each larger one; the whole has all."""
    small, large = sorted((one, two))
    places = [f"a.log:{number}" for number in range(200)]
    assert {p for p in places if is_sampled(p, small)} <= {
        p for p in places if is_sampled(p, large)
    }
    assert all(is_sampled(place, 1.0) for place in places)


def test_a_sample_has_about_its_share() -> None:
    """One per cent of 100,000 lines is between 900 and 1,100 of them."""
    count = sum(is_sampled(f"logs/a.ndjson:{number}", 0.01) for number in range(100_000))
    assert 900 <= count <= 1_100


def test_a_window_judges_the_records_in_it(tmp_path: Path) -> None:
    """A record is judged from `since` on and before `until`; others, and those without a time, are
    skipped, and a note has the reason.
    """
    moments = ["2026-11-28T15:59:59Z", "2026-11-28T16:00:00Z", "2026-11-28T17:00:00Z", None]
    path = log(tmp_path / "a.log", *(access(404, {"code": "x"}, at=moment) for moment in moments))
    options = AuditOptions(since="2026-11-28T16:00:00Z", until="2026-11-28T17:00:00Z")
    result = audit([str(path)], platform(KINDS), options).result
    assert result.requests == 1
    reasons = [note.partition("log:")[2] for note in result.notes]
    assert reasons == [
        "1: it is before 2026-11-28T16:00:00Z",
        "3: it is not before 2026-11-28T17:00:00Z",
        "4: it has no time, which --since and --until need",
    ]


def test_a_finding_has_the_moments_of_its_first_and_last(tmp_path: Path) -> None:
    """They are those of the earliest and the latest record, whatever the order of the lines; the
    activity has each hour of each service.
    """
    hours = (18, 16, 17)
    lines = [
        access(404, {"code": "lost"}, at=f"2026-11-28T{hour}:30:00Z", by=f"s{hour % 2}")
        for hour in hours
    ]
    result = audit([str(log(tmp_path / "a.log", *lines))], platform(KINDS)).result
    assert {(each.first_seen, each.last_seen) for each in result.findings} == {
        ("2026-11-28T16:30:00Z", "2026-11-28T18:30:00Z")
    }
    part = result.part
    assert part is not None
    assert part.activity is not None
    assert {cell: (each.exchanges, each.errors) for cell, each in part.activity.items()} == {
        ("s0", "2026-11-28T16"): (1, 1),
        ("s1", "2026-11-28T17"): (1, 1),
        ("s0", "2026-11-28T18"): (1, 1),
    }
    even, odd = charts(part)
    assert (even.width, [bar.x for bar in even.bars], odd.width) == (3, [0, 2], 1)


def test_a_sample_claims_no_more_than_it_shows(tmp_path: Path) -> None:
    """A clause that a sample passes has the largest share that may be broken; that no id comes
    twice is not passed; the note counts the records that were left out.
    """
    lines = [
        access(200, {"n": number}, {"x-correlation-id": f"01JAH8ZJ0Z8Z0N7M1X6JZ8{number:04d}"})
        for number in range(400)
    ]
    path = log(tmp_path / "a.ndjson", *lines)
    (tmp_path / "taxonomy.yaml").write_text(
        (ROOT / "taxonomy.yaml").read_text().replace("\n  records:\n", f"\n  records:\n{KINDS}")
    )
    done = faultspec(
        "audit",
        str(path),
        "--taxonomy",
        str(tmp_path / "taxonomy.yaml"),
        "--sample",
        "25%",
        "--report",
        f"json={tmp_path / 'r.json'}",
    )
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    judged = report["summary"]["requests"]
    assert 70 <= judged <= 130
    assert report["part"]["left_out"] == 400 - judged
    assert report["part"]["share"] == 0.25
    assert f"a sample of {judged} of 400 records" in report["notes"][0]
    clauses = {clause["clause"]: clause for clause in report["clauses"]}
    assert clauses["service/no-crash"]["at_most"] == round(largest_share(judged), 6)
    assert clauses["correlation/unique"]["verdict"] == "not_exercised"


def test_samples_of_different_shares_have_no_bound(tmp_path: Path) -> None:
    """A tenth of one file and the whole of another have no common bound: the records that were left
    out all lie in one.
    """
    by, paths = platform(KINDS), []
    for name in ("a", "b"):
        lines = [access(200, {"n": number}, url=f"/{name}/{number}") for number in range(200)]
        paths.append(str(log(tmp_path / f"{name}.ndjson", *lines)))
    parts = [
        audit([path], by, AuditOptions(sample=share))
        for path, share in zip(paths, (0.1, 1.0), strict=True)
    ]
    folded = fold_reports([("a", parts[0]), ("b", parts[1])], date(2026, 11, 30))
    assert folded.result.part is not None
    assert folded.result.part.share is None
    assert folded.result.notes[0].startswith("samples of different shares, ")
    clauses = json.loads(write_json(folded))["clauses"]
    assert not any("at_most" in clause for clause in clauses)
    alike = fold_reports([("a", parts[0]), ("a again", parts[0])], date(2026, 11, 30))
    assert alike.result.part is not None
    assert alike.result.part.share == 0.1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--since", "yesterday"), "is not a date (2026-11-28)"),
        (("--until", "2026-13-01"), "is not a date (2026-11-28)"),
        (("--sample", "0%"), "is not a share of the records"),
        (("--sample", "1"), "is not a share of the records"),
        (("--sample", "101%"), "is not a share of the records"),
    ],
)
def test_wrong_bounds_are_refused(words: tuple[str, str], message: str) -> None:
    """A bound or a share of another form is refused with exit code 2; the message names the
    possible ones.
    """
    done = faultspec("audit", "-", *words)
    assert done.returncode == 2
    assert message in done.stderr
