# Copied from faultspec; do not edit
"""Durations as people write them.

Read: a number with one unit (`250ms`, `2.5s`, `5m`, `24h`, `7d`), a plain number of
seconds, or an ISO 8601 duration of weeks, days, hours, minutes and seconds (`PT24H`,
`P1DT12H`). Months and years are refused: they have no fixed length. Written: the
shortest of these.
"""

import re

_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}  # in seconds, longest first
_LONGEST = 2.0**63  # seconds; what is longer is a mistake, or infinite
_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_PLAIN = rf"({_NUMBER})(ms|[smhd])?"
_ISO = (
    rf"P(?=[0-9T])(?:({_NUMBER})W)?(?:({_NUMBER})D)?"
    rf"(?:T(?=[0-9])(?:({_NUMBER})H)?(?:({_NUMBER})M)?(?:({_NUMBER})S)?)?"
)
_ISO_SECONDS = (7 * 86_400, 86_400, 3_600, 60, 1)


def seconds(text: str | float) -> float:
    """The duration in seconds, finite and not negative; raises ValueError for anything
    else.
    """
    value = _read(text) if isinstance(text, str) else text
    if isinstance(text, bool) or not 0 <= value <= _LONGEST:
        raise ValueError(f"a duration is finite and not negative: {text}")
    return float(value)


def render(seconds: float) -> str:
    """The shortest way to write a duration, to the nanosecond: `1.5s`, `90s`, `36h`;
    `seconds` reads it back.
    """
    for unit, length in _UNITS.items():
        if seconds % length == 0 and (seconds >= length or unit == "s"):
            return f"{int(seconds // length)}{unit}"
    milliseconds = round(seconds * 1000, 6)
    in_seconds = f"{seconds:.9f}".rstrip("0").rstrip(".") + "s"
    if milliseconds.is_integer():
        return min(f"{int(milliseconds)}ms", in_seconds, key=len)
    return in_seconds


def _read(text: str) -> float:
    if plain := re.fullmatch(_PLAIN, text):
        number, unit = plain.groups()
        return (
            float(number) / 1000
            if unit == "ms"
            else float(number) * _UNITS[unit or "s"]
        )
    if iso := re.fullmatch(_ISO, text):
        return sum(
            float(part) * length
            for part, length in zip(iso.groups(), _ISO_SECONDS, strict=True)
            if part
        )
    raise ValueError(
        f"{text!r} is not a duration (write 250ms, 2.5s, 5m, 24h, 7d or PT24H)"
    )
