"""Waivers: each test says the law it holds."""

from collections import Counter
from datetime import date

import pytest

from faultspec.finding import Finding, Level
from faultspec_conformance.run import _reported
from faultspec_conformance.waivers import Waiver, stale

TODAY = date(2026, 11, 22)
KNOWN = Waiver("provoke/code", "reviewed", "somebody", date(2027, 11, 22), operation="GET /things", code="absent")


@pytest.mark.parametrize("level", ["error", "warning"])
def test_a_waiver_covers_warnings_as_well(level: Level) -> None:
    """A reviewed finding is known whatever its level, and its waiver is then needed."""
    finding = Finding("provoke/code", "said", operation="GET /things", code="absent", level=level)
    used: Counter[Waiver] = Counter()
    assert _reported(finding, (KNOWN,), used).waived == "reviewed"
    assert list(stale([KNOWN], used, ["provoke/code"], TODAY)) == []


def test_a_waiver_of_something_else_is_no_excuse() -> None:
    """What a waiver does not name stays a finding, and the waiver is reported as not needed."""
    finding = Finding("provoke/code", "said", operation="GET /things", code="forbidden")
    used: Counter[Waiver] = Counter()
    assert _reported(finding, (KNOWN,), used).waived is None
    assert len(list(stale([KNOWN], used, ["provoke/code"], TODAY))) == 1
