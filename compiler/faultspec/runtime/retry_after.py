"""`Retry-After` (RFC 9110 section 10.2.3): judged strictly, or read as a client had
better read it.

Strict, for what a service sends:

- `delta-seconds` is one or more ASCII digits and nothing else: no sign, point,
  exponent, unit, list or white space. More than 2^31 is refused: RFC 9111 section 1.2.2
  lets recipients overflow there.
- or an HTTP-date that a sender may write (see `http_dates`). One in the past is valid
  and means 0 s.

Lenient, for a client, which would rather wait too long than too short, but does not
guess. What it ignores leaves the delay to the policy's own backoff:

- `120`, `007`: so many seconds; spaces and tabs around a value are dropped (RFC 9110
  section 5.5)
- `5.5`: rounded up to 6 s, since the service meant at least that
- `120, 60`: the longer of the two, which obeys both; that is how a proxy joins two
  headers
- `-1`, `+5`: ignored, no number of seconds has a sign; 0 s in place of -1 would be the
  one reading that a service in trouble cannot have meant
- `1e9`, `nan`, `inf`, `0x10`, `1_000`, `8 s` and whatever else: ignored
- an HTTP-date of any of the three forms: the seconds until then
- a date in the past: 0 s, which the planner takes for no hint
- a date that never was, such as 30 February: ignored
- more than 2^31 s: 2^31 s, which the planner cuts to the policy's `max`, and without
  one takes for the end of retrying
"""

import re
from typing import Literal, NamedTuple

from . import http_dates

CEILING = 2.0**31
"""Seconds: no delay is longer, whatever a service asks (RFC 9111 section 1.2.2 has
recipients stop counting here).
"""


_DECIMAL = r"[0-9]+(?:\.[0-9]+)?"
_MOMENT = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})"
)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


class RetryAfter(NamedTuple):
    """A `Retry-After` that was read: `seconds` from now if `ok`, and otherwise the
    `problem`.
    """

    ok: bool
    seconds: float | None
    form: Literal["delta-seconds", "http-date"] | None
    problem: str | None


def parse(value: str, *, now: float, lenient: bool) -> RetryAfter:
    """Read the value of one `Retry-After` header; `now` in seconds since 1970."""
    number = "[0-9]+"
    if lenient:
        value = value.strip(" \t")
        number = rf"{_DECIMAL}(?:[ \t]*,[ \t]*{_DECIMAL})*"
    if re.fullmatch(number, value):
        # A run of digits too long for a float is infinity, without an error
        longest = max(float(each) for each in value.split(","))
        seconds = float(-(-min(longest, 2 * CEILING) // 1))
        if seconds > CEILING and not lenient:
            return RetryAfter(
                False,
                None,
                "delta-seconds",
                "more than 2^31 s, where recipients may overflow",
            )
        return RetryAfter(True, min(seconds, CEILING), "delta-seconds", None)
    date = http_dates.parse(value, now=now, lenient=lenient)
    if date is None:
        problem = "neither a whole number of seconds in ASCII digits nor an HTTP-date"
        if re.fullmatch(rf"[+-]{_DECIMAL}", value):
            problem = "a number of seconds has no sign"
        return RetryAfter(False, None, None, problem)
    if date.seconds is None:
        return RetryAfter(False, None, "http-date", date.problem)
    return RetryAfter(
        True, min(max(0.0, date.seconds - now), CEILING), "http-date", None
    )


def hint_seconds(value: object, unit: str, *, now: float) -> float | None:
    """The seconds that a value in a body asks to wait; negative if it asks not to try
    again, and None if it cannot be read.

    A number counts `unit`, ``s`` or ``ms``. A text is a moment (RFC 3339), which is now
    if it has passed, or a duration such as ``1.5s`` or ``-1s`` (ProtoJSON).
    """
    if isinstance(value, str):
        return _text_seconds(value, now)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        seconds = float(value) / (1000 if unit == "ms" else 1)
    except OverflowError:
        return None
    return min(seconds, CEILING) if abs(seconds) < float("inf") else None


def _text_seconds(text: str, now: float) -> float | None:
    if match := re.fullmatch(rf"(-?{_DECIMAL})(ms|s|m|h)", text):
        number, unit = match.groups()
        return min(float(number) * _UNITS[unit], CEILING)
    if not re.fullmatch(_MOMENT, text, re.IGNORECASE):
        return None
    # Here, so that a client without such values does not pay for it
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(text.upper()).timestamp()
    except (ValueError, OverflowError):
        return None
    return min(max(0.0, moment - now), CEILING)


def fill_hint(value: object, seconds: float | None, form: str, *, now: float) -> object:
    """The wait that a body has: `value`, else the seconds in a form: ``s`` or ``ms``, a
    whole number; ``duration``, such as ``1.5s``; ``date-time`` (RFC 3339).
    """
    if value is not None or seconds is None or not 0 <= seconds <= CEILING:
        return value
    # Here, so that a service without such values does not pay for them
    from datetime import UTC, datetime
    from decimal import ROUND_CEILING, Decimal

    if form == "date-time":
        moment = datetime.fromtimestamp(-int(-(now + seconds) // 1), UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    step = Decimal(1) if form == "s" else Decimal("0.001")
    whole = Decimal(repr(float(seconds))).quantize(step, ROUND_CEILING)
    if form == "duration":
        return f"{whole.normalize():f}s"
    return int(whole * (1000 if form == "ms" else 1))


def fill_wait(
    seconds: float | None, value: object, unit: str, *, now: float
) -> float | None:
    """The seconds to wait: `seconds`, else those of a value in the body; None if that
    asks not to try again.
    """
    found = hint_seconds(value, unit, now=now) if seconds is None else seconds
    return None if found is None or found < 0 else found


def render(seconds: float) -> str:
    """A delay as delta-seconds, rounded up, so that who waits that long has waited long
    enough.
    """
    return str(max(0, -int(-min(seconds, CEILING) // 1)))
