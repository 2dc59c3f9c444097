"""Fixed values in place of those that differ each time: ids, tokens and times.

A service that is drafted twice gives the same draft. The form stays: a UUID of version 7 is one of
version 7, and hexadecimal digits are as many as before.
"""

import re
from collections.abc import Mapping
from itertools import cycle, islice

#: A UUID; a time of RFC 3339; a token of letters and digits. A word has no digit, and a code such
#: as `E1001` is shorter.
_RANDOM = re.compile(
    r"(?<![0-9A-Za-z])(?:"
    r"(?P<uuid>[0-9a-f]{8}-[0-9a-f]{4}-(?P<version>[1-8])[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})"
    r"|(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?P<fraction>\.\d+)?)"
    r"|(?P<ulid>[0-7][0-9A-HJKMNP-TV-Z]{25})"
    r"|(?P<hex>(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8,}|(?=[0-9]*[A-F])(?=[A-F]*[0-9])[0-9A-F]{8,})"
    r"|(?P<token>(?=[0-9]*[A-Za-z])(?=[A-Za-z]*[0-9])[0-9A-Za-z]{12,})"
    r")(?![0-9A-Za-z])"
)

#: Seconds and milliseconds of times from 2017 to 2033, and the first of 2026.
_FIRST, _LAST, _FIXED = 1_500_000_000, 2_000_000_000, 1_767_225_600
_SCALES = (1, 1_000)


def fix_values(value: object) -> object:
    """A body whose ids, tokens and times are the same each time."""
    match value:
        case Mapping():
            return {name: fix_values(each) for name, each in value.items()}
        case list():
            return [fix_values(each) for each in value]
        case str():
            return _RANDOM.sub(_fix_text, value)
        case bool():
            return value
        case int() | float():
            return _fix_time(value)
    return value


def _fix_text(found: re.Match[str]) -> str:
    text = found[0]
    if found["uuid"]:
        return f"0190a6b8-0000-{found['version']}000-8000-000000000001"
    if found["time"]:
        fraction = "." + "0" * (len(found["fraction"]) - 1) if found["fraction"] else ""
        return f"2026-01-01{text[10]}00:00:00{fraction}"
    if found["ulid"]:
        return "01JGFJJZ000000000000000001"
    if found["hex"]:
        digits = "0123456789ABCDEF" if text.isupper() else "0123456789abcdef"
        return _repeat(digits, len(text))
    signs = "a1b2c3d4e5" if text.islower() else "A1B2C3D4E5" if text.isupper() else "a1B2c3D4"
    return _repeat(signs, len(text))


def _repeat(signs: str, length: int) -> str:
    return "".join(islice(cycle(signs), length))


def _fix_time(value: int | float) -> int | float:
    scale = next((each for each in _SCALES if _FIRST * each <= value < _LAST * each), None)
    return value if scale is None else type(value)(_FIXED * scale)
