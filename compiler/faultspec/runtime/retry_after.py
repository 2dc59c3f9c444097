"""`Retry-After` (RFC 9110 section 10.2.3): judged strictly, or read as a client had
better read it.

Strict, for what a service sends:

- `delta-seconds` is one or more ASCII digits and nothing else: no sign, point,
  exponent, unit, list or white space. More than 2^31 is refused: RFC 9111 section 1.2.2
  lets recipients overflow there.
- or an HTTP-date that a sender may write (see `http_dates`). One in the past is valid
  and means 0 s.

Lenient, for a client, which would rather wait too long than not at all, but not for
what it can't read:

- spaces and tabs around the value are dropped (RFC 9110 section 5.5);
- `1.5` is taken, and so is a sign: less than nothing is 0 s;
- any HTTP-date that a recipient may take;
- what is longer than 2^31 s is 2^31 s;
- an exponent, `nan`, `inf`, a list, a unit or anything else is unreadable: the caller
  ignores the header.
"""

import re
from typing import Literal, NamedTuple

from . import http_dates

CEILING = 2.0**31
"""Seconds: no delay is longer, whoever asks (RFC 9111 section 1.2.2 has recipients stop
counting here).
"""


class RetryAfter(NamedTuple):
    """What a `Retry-After` says: `seconds` from now if `ok`, and otherwise the
    `problem`.
    """

    ok: bool
    seconds: float | None
    form: Literal["delta-seconds", "http-date"] | None
    problem: str | None


def parse(value: str, *, now: float, lenient: bool) -> RetryAfter:
    """Read the value of one `Retry-After` header; `now` in seconds since 1970."""
    if lenient:
        value = value.strip(" \t")
    if re.fullmatch(r"[+-]?[0-9]+(?:\.[0-9]+)?" if lenient else "[0-9]+", value):
        # A run of digits too long for a float is infinity, without an error
        seconds = max(0.0, float(value))
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
        return RetryAfter(
            False,
            None,
            None,
            "neither a whole number of seconds in ASCII digits nor an HTTP-date",
        )
    if date.seconds is None:
        return RetryAfter(False, None, "http-date", date.problem)
    return RetryAfter(
        True, min(max(0.0, date.seconds - now), CEILING), "http-date", None
    )


def render(seconds: float) -> str:
    """A delay as delta-seconds, rounded up, so that who waits that long has waited long
    enough.
    """
    return str(max(0, -int(-min(seconds, CEILING) // 1)))
