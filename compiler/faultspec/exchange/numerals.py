"""Whole numbers in texts of others."""

import re

#: Nine digits: no count, status or number of seconds is longer, and `int` refuses thousands.
_DIGITS = re.compile(r"[0-9]{1,9}")


def whole_number(text: str) -> int | None:
    """The number that a text of up to nine ASCII digits says; None for any other text."""
    return int(text) if _DIGITS.fullmatch(text) else None
