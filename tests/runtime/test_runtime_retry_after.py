"""Laws of Retry-After and of the HTTP-dates in it."""

import calendar
import datetime
import email.utils
import math

import pytest
from httplint import HttpResponseLinter
from hypothesis import example, given
from hypothesis import strategies as st
from urllib3.exceptions import InvalidHeader
from urllib3.util.retry import Retry

from faultspec.runtime import http_dates
from faultspec.runtime.retry_after import CEILING, parse, render
from paths import ROOT

NOW = 784_111_777.0  # Sun, 06 Nov 1994 08:49:37 GMT, the moment of RFC 9110's examples
IMF = "Sun, 06 Nov 1994 08:49:37 GMT"

moments = st.datetimes(
    min_value=datetime.datetime(1, 1, 1), max_value=datetime.datetime(9999, 12, 31, 23, 59, 59)
).map(lambda moment: moment.replace(microsecond=0))


def epoch(moment):
    """Seconds since 1970, as `calendar` counts them."""
    return calendar.timegm(moment.timetuple())


# What a value is: strictly, leniently, and to urllib3's client; None is "not readable". Each row
# that differs says why.
TABLE = [
    # value, strict, lenient, urllib3, why lenient and urllib3 differ by design
    ("8", 8, 8, 8, ""),
    ("0", 0, 0, 0, ""),
    ("007", 7, 7, 7, ""),
    (" 8 ", None, 8, 8, ""),
    ("\t8", None, 8, 8, ""),
    (
        "1.5",
        None,
        2,
        None,
        "a decimal is common, and clear; who waits longer has waited long enough",
    ),
    ("5.0", None, 5, None, "a decimal is common, and clear"),
    ("5.", None, None, None, ""),
    (".5", None, None, None, ""),
    ("-1", None, None, None, ""),
    ("-1.5", None, None, None, ""),
    ("+5", None, None, None, ""),
    ("1e9", None, None, None, ""),
    ("-inf", None, None, None, ""),
    (
        "Thu, 30 Feb 2023 00:00:00 GMT",
        None,
        None,
        21_600,
        "urllib3 takes 30 February for 2 March; that day never was",
    ),
    ("Thu, 01 Jan 1970 00:00:00 GMT", 0, 0, 0, ""),
    ("", None, None, None, ""),
    ("soon", None, None, None, ""),
    ("1e3", None, None, None, ""),
    ("nan", None, None, None, ""),
    ("inf", None, None, None, ""),
    ("0x10", None, None, None, ""),
    ("1_000", None, None, None, ""),
    ("120, 60", None, 120, None, "two headers that a proxy joined; the longer wait obeys both"),
    ("8,", None, None, None, ""),
    ("8, soon", None, None, None, ""),
    ("8;", None, None, None, ""),
    ("8 s", None, None, None, ""),
    ("٨", None, None, None, ""),
    ("8\n", None, None, 8, "a line end is not white space inside a field"),
    (
        "99999999999",
        None,
        CEILING,
        21_600,
        "urllib3 clamps to six hours; here the policy sets the limit, below 2^31 s",
    ),
    (IMF, 0, 0, 0, ""),
    ("Sun, 06 Nov 1994 08:50:37 GMT", 60, 60, 60, ""),
    ("Mon, 06 Nov 1994 08:50:37 GMT", None, 60, 60, ""),
    ("Sunday, 06-Nov-94 08:50:37 GMT", None, 60, 60, ""),
    ("Sun Nov  6 08:50:37 1994", None, 60, 60, ""),
    ("sun, 06 nov 1994 08:50:37 gmt", None, 60, 60, ""),
    ("Sun, 6 Nov 1994 08:50:37 GMT", None, 60, 60, ""),
    ("Sun, 06 Nov 1994 08:50:37 UTC", None, 60, 60, ""),
    ("Sun, 06 Nov 1994 09:50:37 +0100", None, None, 60, "no form of HTTP-date has a zone but GMT"),
    ("06 Nov 1994 08:50:37 GMT", None, None, 60, "no form of HTTP-date is without the weekday"),
    ("Sun, 06 Nov 1994 08:50 GMT", None, None, 23, "no form of HTTP-date is without seconds"),
    ("Sun, 06 \u017fep 1994 08:50:37 GMT", None, None, None, ""),
    ("1994-11-06T08:50:37Z", None, None, None, ""),
]


@pytest.mark.parametrize(
    ("value", "strict", "lenient", "theirs", "why"), TABLE, ids=[repr(row[0]) for row in TABLE]
)
def test_strict_lenient_and_urllib3_differ_only_as_the_table_says(
    value, strict, lenient, theirs, why, monkeypatch
):
    """Strict takes least; lenient agrees with urllib3's client unless a reason stands in the
    row.
    """
    assert parse(value, now=NOW, lenient=False).seconds == strict
    assert parse(value, now=NOW, lenient=True).seconds == lenient
    monkeypatch.setattr("time.time", lambda: NOW)
    try:
        urllib3 = Retry().parse_retry_after(value)
    except InvalidHeader:
        urllib3 = None
    assert urllib3 == theirs
    assert (lenient == theirs) == (why == "")


# What httplint, which looks at the grammar alone, lets pass and the suite does not.
MORE_THAN_A_GRAMMAR = {
    " 8 ": "white space around a field's value is taken off before it is read, there as by any HTTP library",
    "\t8": "white space around a field's value is taken off before it is read, there as by any HTTP library",
    "8\n": "a line end cannot stand in a field on a wire",
    "99999999999": "a number that recipients may overflow on (RFC 9110 section 10.2.3 names no limit; 2^31 is our rule)",
    "Mon, 06 Nov 1994 08:50:37 GMT": "RFC 9110 section 5.6.7: the weekday is part of the date, and it was another",
    "Sunday, 06-Nov-94 08:50:37 GMT": "RFC 9110 section 5.6.7: a sender must generate IMF-fixdate",
    "Sun Nov  6 08:50:37 1994": "RFC 9110 section 5.6.7: a sender must generate IMF-fixdate",
    "Thu, 30 Feb 2023 00:00:00 GMT": "that day never was",
}


def passes_httplint(value):
    """Whether httplint has nothing against the syntax of a Retry-After of this value."""
    linter = HttpResponseLinter()
    linter.process_response_topline(b"HTTP/1.1", b"503", b"Service Unavailable")
    linter.process_headers([(b"Retry-After", value.encode("utf-8"))])
    linter.finish_content(complete=True)
    return not [each for each in linter.notes if type(each).__name__.startswith("BAD_SYNTAX")]


@pytest.mark.parametrize("value", [row[0] for row in TABLE] + list(MORE_THAN_A_GRAMMAR), ids=repr)
def test_strict_refuses_all_that_httplint_refuses(value):
    """The suite takes nothing that breaks the grammar, and what it refuses beyond it has its
    reason.
    """
    strict, theirs = parse(value, now=NOW, lenient=False).ok, passes_httplint(value)
    assert theirs or not strict
    assert (theirs and not strict) == (value in MORE_THAN_A_GRAMMAR)


@given(
    st.from_regex(r"\A[-+]?[0-9]{1,9}(\.[0-9]{1,3})?[ ,;s]?\Z")
    | moments.map(lambda each: http_dates.render(epoch(each)))
)
def test_any_number_or_date_is_strict_as_httplint_is(value):
    """On what senders write, the suite and httplint are of one mind."""
    assert (
        parse(value, now=NOW, lenient=False).ok == passes_httplint(value) or value != value.strip()
    )


def documented():
    """The rows of the table in the documentation."""
    text = (ROOT / "docs/retry-after.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("| `")
    ]
    assert len(rows) > 10
    return [
        (row[0].strip("`"), *(int(each) if each.isdigit() else None for each in row[1:4]), row[4])
        for row in rows
    ]


@pytest.mark.parametrize(
    ("value", "strict", "lenient", "theirs", "why"), documented(), ids=lambda each: repr(each)
)
def test_the_documented_table_is_true(value, strict, lenient, theirs, why, monkeypatch):
    """The statements of the documentation about a value hold for the suite, for a client and for
    urllib3.
    """
    test_strict_lenient_and_urllib3_differ_only_as_the_table_says(
        value, strict, lenient, theirs, why, monkeypatch
    )


@given(
    st.text(max_size=30) | st.from_regex(r"\A[-+]?[0-9]{1,5}(\.[0-9]{1,3})?\Z"), st.floats(0, 4e9)
)
@example("9" * 5000, 0.0)
@example("9" * 5000 + ".5", 0.0)
def test_any_value_is_read_or_has_a_problem(value, now):
    """Never an exception: ok has seconds between 0 and 2^31 and a form, not ok has a problem;
    strict implies lenient.
    """
    strict, lenient = (parse(value, now=now, lenient=each) for each in (False, True))
    for read in (strict, lenient):
        assert read.ok == (read.seconds is not None) == (read.problem is None)
        if read.seconds is not None:
            assert 0 <= read.seconds <= CEILING
            assert read.form is not None
    if strict.ok:
        assert lenient == strict


@given(st.integers(min_value=0, max_value=2**31))
def test_every_delta_seconds_is_valid(delta):
    """1*DIGIT, up to where recipients may overflow."""
    assert parse(str(delta), now=NOW, lenient=False) == (True, float(delta), "delta-seconds", None)


@given(moments)
@example(datetime.datetime(1, 1, 1))
@example(datetime.datetime(2000, 2, 29))
@example(datetime.datetime(1969, 12, 31, 23, 59, 59))
def test_dates_are_those_of_the_standard_library(moment):
    """IMF-fixdate is written as `email.utils` writes it and read back as `calendar` counts it."""
    seconds = epoch(moment)
    text = email.utils.format_datetime(moment.replace(tzinfo=datetime.UTC), usegmt=True)
    assert http_dates.render(seconds) == text
    assert http_dates.parse(text, now=NOW, lenient=False) == (seconds, None)


@given(moments, st.integers(min_value=1, max_value=6))
def test_the_weekday_must_match_when_read_strictly_only(moment, off):
    """Six of seven weekdays are wrong; a client doesn't mind, the suite does."""
    right = http_dates.render(epoch(moment))
    days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    wrong = days[(days.index(right[:3]) + off) % 7] + right[3:]
    strict = http_dates.parse(wrong, now=NOW, lenient=False)
    assert strict is not None
    assert strict.problem is not None
    assert strict.problem.startswith("that day is a ")
    assert http_dates.parse(wrong, now=NOW, lenient=True) == (epoch(moment), None)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("Wed, 29 Feb 2023 00:00:00 GMT", "no such day"),
        ("Thu, 29 Feb 1900 00:00:00 GMT", "no such day"),
        ("Sun, 31 Apr 2023 00:00:00 GMT", "no such day"),
        ("Sun, 00 Jan 2023 00:00:00 GMT", "no such day"),
        ("Sun, 01 Jan 0000 00:00:00 GMT", "no such day"),
        ("Sun, 06 Nov 1994 24:00:00 GMT", "no such time"),
        ("Sun, 06 Nov 1994 23:60:00 GMT", "no such time"),
        ("Sun, 06 Nov 1994 08:49:60 GMT", "no such time"),
        ("Sun, 06 Nov 1994 23:59:61 GMT", "no such time"),
        ("Mon, 06 Nov 1994 08:49:37 GMT", "that day is a Sunday"),
        ("Sunday, 06-Nov-94 08:49:37 GMT", "IMF-fixdate"),
        ("Sun Nov  6 08:49:37 1994", "IMF-fixdate"),
        ("Sun, 06 NOV 1994 08:49:37 GMT", "IMF-fixdate"),
    ],
)
def test_a_date_that_a_sender_may_not_write_says_why(value, problem):
    """It has the form of a date, so the message speaks of dates."""
    read = parse(value, now=NOW, lenient=False)
    assert not read.ok
    assert read.form == "http-date"
    assert problem in (read.problem or "")


def test_a_leap_second_is_a_second():
    """23:59:60 existed on the last day of 2016."""
    assert parse("Sat, 31 Dec 2016 23:59:60 GMT", now=1_483_228_799.0, lenient=False).seconds == 1.0


@given(
    st.integers(min_value=0, max_value=99),
    st.sampled_from([0.0, NOW, 1_800_000_000.0, 4_000_000_000.0]),
)
def test_a_two_digit_year_is_never_more_than_fifty_years_ahead(digits, now):
    """RFC 9110 section 5.6.7, for the obsolete form that has one."""
    read = http_dates.parse(f"Sunday, 01-Jul-{digits:02} 00:00:00 GMT", now=now, lenient=True)
    assert read is not None
    assert read.seconds is not None
    year = datetime.datetime.fromtimestamp(read.seconds, datetime.UTC).year
    this_year = datetime.datetime.fromtimestamp(now, datetime.UTC).year
    assert year % 100 == digits
    assert this_year - 50 < year <= this_year + 50


@given(st.floats(min_value=0, max_value=CEILING))
def test_a_rendered_delay_is_valid_and_long_enough(seconds):
    """The written delay is at least the delay, and less than a second longer."""
    read = parse(render(seconds), now=NOW, lenient=False)
    assert read.seconds == math.ceil(seconds)


@given(st.integers(min_value=-(10**9), max_value=10**9), st.floats(min_value=0, max_value=2e9))
def test_a_date_counts_from_now_and_the_past_is_zero(moment, now):
    """Seconds until the moment, never negative, never beyond 2^31."""
    read = parse(http_dates.render(moment), now=now, lenient=False)
    assert read.seconds == min(max(0.0, moment - now), CEILING)
