# Copied from faultspec; do not edit
"""HTTP-date (RFC 9110 section 5.6.7), read strictly as a sender must write it or
leniently as a recipient may take it.

Strict: IMF-fixdate alone (`Sun, 06 Nov 1994 08:49:37 GMT`), in that letter case, of a
day that exists and falls on that weekday. `:60` is a second only at 23:59, where leap
seconds are.

Lenient: also the two obsolete forms (`Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6
08:49:37 1994`), any letter case, a day of one digit, `UTC` for `GMT`, and the wrong
weekday. A year of two digits is the one that is not more than 50 years ahead of now, as
the RFC says. Other zones stay unreadable: no form of HTTP-date has one.
"""

import re
from typing import NamedTuple

_WEEKDAYS = (
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
)
_MONTHS = (
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
)
_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DAY = 86_400  # seconds
_YEAR = 365.2425 * _DAY  # the Gregorian mean

_TIME = "(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
_SHORT = "(?P<weekday>Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_LONG = "(?P<weekday>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)"
_MONTH = "(?P<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_ZONE = "(?:GMT|UTC)"
_IMF_FIXDATE = (
    f"{_SHORT}, (?P<day>[0-9]{{2}}) {_MONTH} (?P<year>[0-9]{{4}}) {_TIME} GMT"
)
_LENIENT = (
    f"{_SHORT}, (?P<day>[0-9]{{1,2}}) {_MONTH} (?P<year>[0-9]{{4}}) {_TIME} {_ZONE}",
    f"{_LONG}, (?P<day>[0-9]{{1,2}})-{_MONTH}-(?P<year>[0-9]{{2}}) {_TIME} {_ZONE}",
    f"{_SHORT} {_MONTH} (?P<day>[ 0-9]?[0-9]) {_TIME} (?P<year>[0-9]{{4}})",
)


class HttpDate(NamedTuple):
    """A moment in seconds since 1970, or what is wrong with the text that has the form
    of one.
    """

    seconds: int | None
    problem: str | None


def parse(value: str, *, now: float, lenient: bool) -> HttpDate | None:
    """Read an HTTP-date, or None if the text has none of its forms.

    `now`, in seconds since 1970, decides the century of a two-digit year.
    """
    if match := re.fullmatch(_IMF_FIXDATE, value):
        return _moment(match, now, lenient)
    for pattern in _LENIENT:
        if match := re.fullmatch(pattern, value, re.IGNORECASE | re.ASCII):
            if lenient:
                return _moment(match, now, lenient)
            return HttpDate(
                None,
                "a sender writes IMF-fixdate, as in `Sun, 06 Nov 1994 08:49:37 GMT`",
            )
    return None


def render(seconds: float) -> str:
    """The IMF-fixdate of a moment, whole seconds, for years 1 to 9999."""
    days, rest = divmod(int(seconds), _DAY)
    year, month, day = _civil(days)
    weekday = _WEEKDAYS[(days + 3) % 7][:3].title()
    hour, minute, second = rest // 3600, rest // 60 % 60, rest % 60
    date = f"{weekday}, {day:02} {_MONTHS[month - 1].title()} {year:04}"
    return f"{date} {hour:02}:{minute:02}:{second:02} GMT"


def _moment(match: re.Match[str], now: float, lenient: bool) -> HttpDate:
    year, day = int(match["year"]), int(match["day"])
    month = _MONTHS.index(match["month"].lower()) + 1
    hour, minute, second = (
        int(match["hour"]),
        int(match["minute"]),
        int(match["second"]),
    )
    if len(match["year"]) == 2:
        year = _century(year, now)
    if (
        year == 0
        or not 1 <= day <= _LENGTHS[month - 1]
        or ((month, day) == (2, 29) and not _is_leap(year))
    ):
        return HttpDate(None, "there is no such day")
    if (
        hour > 23
        or minute > 59
        or second > 60
        or (second == 60 and (hour, minute) != (23, 59))
    ):
        return HttpDate(None, "there is no such time of day")
    days = _days(year, month, day)
    weekday = _WEEKDAYS[(days + 3) % 7]
    if not lenient and match["weekday"].lower() != weekday[:3]:
        return HttpDate(None, f"that day is a {weekday.title()}")
    return HttpDate(days * _DAY + hour * 3600 + minute * 60 + second, None)


def _century(year: int, now: float) -> int:
    latest = 1970 + int(now // _YEAR) + 50
    return latest - (latest - year) % 100


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the Gregorian calendar; a year is counted from March, so
    that February comes last.
    """
    year -= month < 3
    months = (month + 9) % 12
    return (
        365 * year
        + year // 4
        - year // 100
        + year // 400
        + (153 * months + 2) // 5
        + day
        - 719_469
    )


def _civil(days: int) -> tuple[int, int, int]:
    """The inverse of `_days`, by trying the year that the mean length suggests and its
    neighbours.
    """
    guess = 1970 + int(days // 365.2425)
    year = max(
        each for each in range(guess - 1, guess + 2) if _days(each, 1, 1) <= days
    )
    month = max(each for each in range(1, 13) if _days(year, each, 1) <= days)
    return year, month, days - _days(year, month, 1) + 1
