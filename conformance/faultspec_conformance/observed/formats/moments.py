"""Moments as logs write them, in one form: `2026-11-28T16:00:00Z`. Such texts sort by time."""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from faultspec.runtime import http_dates

#: Numbers since 1970 are seconds below this, and in each thousandth above: milliseconds,
#: microseconds, nanoseconds. As seconds it is the year 5138.
_SECONDS = 1e11

_UNITS = 3
"""Units smaller than a second."""

#: A date and time of access logs, such as `10/Oct/2026:13:55:36 +0000`.
_COMMON = "%d/%b/%Y:%H:%M:%S %z"

#: Digits of a second beyond the sixth, which Python does not read.
_FRACTION = re.compile(r"(\.\d{6})\d+")

_DURATION = re.compile(r"(\d{1,6})\s*([smhdw])")

_LENGTHS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_moment(value: object) -> str | None:
    """A moment in UTC to the second; None if the value is none of the forms of logs: ISO 8601, that
    of access logs, and numbers since 1970. Without an offset it is in UTC.
    """
    if isinstance(value, str):
        return _parse_text(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _parse_number(float(value))
    return None


def parse_bound(text: str, now: datetime) -> str | None:
    """A moment of a command line: a date, a date and time, or a duration before now, such as `24h`;
    None for other texts.
    """
    duration = _DURATION.fullmatch(text)
    if duration is None:
        return _parse_text(text)
    try:
        return _format(now - timedelta(**{_LENGTHS[duration[2]]: int(duration[1])}))
    except OverflowError:
        return None


@lru_cache(maxsize=4096)  # the records of one second often have one text
def _parse_text(text: str) -> str | None:
    text = text.strip("[] ")
    if text.isascii() and text.replace(".", "", 1).isdecimal():
        return _parse_number(float(text)) if len(text) > len("20261128") else None
    try:
        found = datetime.fromisoformat(_FRACTION.sub(r"\1", text))
    except ValueError:
        try:
            found = datetime.strptime(text, _COMMON)
        except ValueError:
            date = http_dates.parse(text, now=0, lenient=True)
            return None if date is None or date.seconds is None else _parse_number(date.seconds)
    return _format(found if found.tzinfo is not None else found.replace(tzinfo=UTC))


def _parse_number(number: float) -> str | None:
    for _ in range(_UNITS):
        if number < _SECONDS:
            break
        number /= 1000
    try:
        return _format(datetime.fromtimestamp(number, UTC))
    except (OverflowError, ValueError, OSError):
        return None


def _format(moment: datetime) -> str | None:
    try:
        return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")
    except OverflowError:
        return None
