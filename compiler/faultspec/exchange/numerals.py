"""Whole numbers and statuses in texts of others."""

import re

#: Nine digits: no count, status or number of seconds is longer, and `int` refuses thousands.
_DIGITS = re.compile(r"[0-9]{1,9}")

STATUS = r" ?([1-5][0-9]{2})(?:\.0+)?(?: [^\r\n]{0,100})?"
"""An expression of a whole text that is a status, in its group: numbers of tables with empty cells
are `500.0`, and status lines (RFC 9112, 4) have a phrase.
"""


def whole_number(text: str) -> int | None:
    """The number that a text of up to nine ASCII digits says; None for any other text."""
    return int(text) if _DIGITS.fullmatch(text) else None
