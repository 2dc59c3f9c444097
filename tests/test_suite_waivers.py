"""Waivers: each test says the law it holds."""

import json
from collections import Counter
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from faultspec.cli import cli
from faultspec.finding import Finding, Level
from faultspec_conformance import waivers
from faultspec_conformance.waivers import Waiver, excused, stale

ROOT = Path(__file__).parent.parent
TODAY = date(2026, 11, 22)
KNOWN = Waiver("provoke/code", "reviewed", "somebody", date(2027, 11, 22), operation="GET /things", code="absent")


@pytest.mark.parametrize("level", ["error", "warning"])
def test_a_waiver_covers_warnings_as_well(level: Level) -> None:
    """A reviewed finding is known whatever its level, and its waiver is then needed."""
    finding = Finding("provoke/code", "said", operation="GET /things", code="absent", level=level)
    used: Counter[Waiver] = Counter()
    assert excused(finding, (KNOWN,), used) == "reviewed"
    assert list(stale([KNOWN], used, ["provoke/code"], TODAY)) == []


def test_a_waiver_of_something_else_is_no_excuse() -> None:
    """What a waiver does not name stays a finding, and the waiver is reported as not needed."""
    finding = Finding("provoke/code", "said", operation="GET /things", code="forbidden")
    used: Counter[Waiver] = Counter()
    assert excused(finding, (KNOWN,), used) is None
    assert len(list(stale([KNOWN], used, ["provoke/code"], TODAY))) == 1


def test_a_condition_is_asked_wherever_waivers_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known in one environment alone is news in another, for recordings as for live runs."""
    (tmp_path / "waivers.yaml").write_text(
        "- {clause: '*', reason: known, owner: us, expires: 2999-01-01, condition: {STAGE: staging}}\n"
    )
    read = waivers.read(str(tmp_path / "waivers.yaml")).waivers
    assert len(read) == 1
    assert waivers.in_force(read, {"STAGE": "staging"}) == read
    assert waivers.in_force(read, {"STAGE": "production"}) == ()
    assert waivers.in_force(read, {}) == ()
    body = {"code": "no_such_code", "message": "m", "correlation_id": "x"}
    content = {"mimeType": "application/json", "text": json.dumps(body)}
    entry = {
        "request": {"method": "GET", "url": "http://127.0.0.1/orders", "headers": []},
        "response": {
            "status": 404,
            "headers": [{"name": "Content-Type", "value": "application/json"}],
            "content": content,
        },
    }
    (tmp_path / "seen.har").write_text(json.dumps({"log": {"version": "1.2", "entries": [entry]}}))
    command = ["audit", str(tmp_path / "seen.har"), "--taxonomy", str(ROOT / "taxonomy.yaml")]
    for stage, code in (("staging", 0), ("production", 1)):
        monkeypatch.setenv("STAGE", stage)
        done = CliRunner().invoke(cli, [*command, "--waivers", str(tmp_path / "waivers.yaml")], standalone_mode=False)
        assert done.return_value == code, done.output
