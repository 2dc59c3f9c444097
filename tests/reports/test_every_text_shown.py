"""No text of a report is obeyed by a terminal or by a CI system, whichever field it stands in."""

import re
from unittest import mock

import pytest

from faultspec_conformance.reports import FORMATS
from faultspec_conformance.results.model import Report, Result
from sanitize import test_every_text as every_text

#: Not any text: a report whose hours are none is not read.
HOURS = frozenset({"Result.part"})

HOSTILE = "\x1b[2Jx\r\n::error ::ZQX\n##[error]ZQX \x9b31m"


#: A page is opened in a browser.
@pytest.mark.parametrize("name", sorted(FORMATS.keys() - {"html"}))
def test_a_report_has_no_commands(name: str) -> None:
    """Texts of services, recordings, files and reports of others come out in one line each, without
    control characters.
    """
    leaves = {**every_text.LEAVES, str: HOSTILE, bytes: HOSTILE.encode()}
    with (
        mock.patch.dict(every_text.LEAVES, leaves),
        mock.patch.object(every_text, "OWN", HOURS),
    ):
        result = every_text.filled(Result, "Result")
    shown = FORMATS[name](Report(result, base="http://127.0.0.1:1", source=HOSTILE))
    assert "ZQX" in shown
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f]", shown)
    assert not re.search(r"^\s*::error ::ZQX", shown, re.MULTILINE)
