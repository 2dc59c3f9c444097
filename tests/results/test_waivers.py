"""Waivers: each test says the law it holds."""

import json
from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from faultspec import language
from faultspec.cli import cli
from faultspec.exchange.finding import Finding, Level
from faultspec_conformance import config as configuration
from faultspec_conformance.orders import demo
from faultspec_conformance.reports import FORMATS
from faultspec_conformance.results import waivers
from faultspec_conformance.results.conclusion import conclude
from faultspec_conformance.results.merge import merge_results
from faultspec_conformance.results.model import ClauseResult, Report, Result
from faultspec_conformance.results.waivers import Waiver, apply_waivers, unused_waivers
from paths import ROOT

TODAY = date(2026, 11, 22)
KNOWN = Waiver(
    "provoke/code",
    "reviewed",
    "somebody",
    date(2027, 11, 22),
    operation="GET /things",
    code="absent",
)


@pytest.mark.parametrize("level", ["error", "warning"])
def test_a_waiver_covers_warnings_as_well(level: Level) -> None:
    """A waiver covers a finding of any level, and is then used."""
    finding = Finding("provoke/code", "said", operation="GET /things", code="absent", level=level)
    used: Counter[Waiver] = Counter()
    assert apply_waivers(finding, (KNOWN,), used) == "reviewed"
    assert list(unused_waivers({KNOWN: used[KNOWN]}, ["provoke/code"])) == []


def test_a_waiver_of_something_else_excuses_nothing() -> None:
    """A finding that a waiver does not name stays, and the waiver is reported as unused."""
    finding = Finding("provoke/code", "said", operation="GET /things", code="forbidden")
    used: Counter[Waiver] = Counter()
    assert apply_waivers(finding, (KNOWN,), used) is None
    assert len(list(unused_waivers({KNOWN: used[KNOWN]}, ["provoke/code"]))) == 1


def test_a_condition_is_asked_wherever_waivers_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A waiver with a condition holds in its environment only, for recordings and for live
    runs.
    """
    (tmp_path / "waivers.yaml").write_text(
        "- {clause: '*', reason: known, owner: us, expires: 2999-01-01, condition: {STAGE: staging}}\n"
    )
    read = waivers.read_waivers(str(tmp_path / "waivers.yaml")).waivers
    assert len(read) == 1
    assert waivers.waivers_in_force(read, {"STAGE": "staging"}) == read
    assert waivers.waivers_in_force(read, {"STAGE": "production"}) == ()
    assert waivers.waivers_in_force(read, {}) == ()
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
        done = CliRunner().invoke(
            cli, [*command, "--waivers", str(tmp_path / "waivers.yaml")], standalone_mode=False
        )
        assert done.return_value == code, done.output


def test_what_was_not_all_asked_calls_no_waiver_needless() -> None:
    """A run that a budget cut short, or a shard of it, cannot tell that a failure is gone; one that
    has expired it can.
    """
    seen = Result(
        "t", "t 1", {"provoke/code": ClauseResult("provoke/code", occasions=3)}, waivers={KNOWN: 0}
    )
    assert len(conclude(seen, TODAY).failures) == 1
    assert conclude(replace(seen, complete=False), TODAY).failures == ()
    assert merge_results(seen, replace(seen, complete=False)).complete is False
    assert (
        len(conclude(replace(seen, complete=False, waivers={KNOWN: 1}), date(2030, 1, 1)).failures)
        == 1
    )


@pytest.mark.parametrize(("requests", "complete"), [(400, True), (20, False)])
def test_a_run_knows_whether_it_asked_everything(
    requests: int, complete: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A budget that ends in the middle of the probes leaves the run incomplete, which its report
    says.
    """
    taxonomy = language.load(str(ROOT / "taxonomy.yaml")).taxonomy
    assert taxonomy is not None
    monkeypatch.setattr(
        demo, "read_config", lambda *of: _limited(configuration.read_config(*of), requests)
    )
    report = demo.judge_orders(None, taxonomy, str(ROOT / "taxonomy.yaml"), sweep=False)
    assert isinstance(report, Report)
    assert report.result.complete is complete
    assert json.loads(FORMATS["json"](report))["run"]["complete"] is complete


def _limited(loaded: configuration.LoadedConfig, requests: int) -> configuration.LoadedConfig:
    assert loaded.target is not None
    return replace(
        loaded,
        target=replace(loaded.target, limits=replace(loaded.target.limits, requests=requests)),
    )


def test_a_flaky_waiver_is_never_unused() -> None:
    """A waiver that is declared flaky covers its finding if it occurs, and is not reported if it
    does not; the same waiver without the mark is.
    """
    finding = Finding("provoke/code", "m", operation="GET /things", code="absent")
    flaky = replace(KNOWN, flaky=True)
    assert flaky.covers(finding)
    assert list(unused_waivers({flaky: 0}, ["provoke/code"])) == []
    assert len(list(unused_waivers({KNOWN: 0}, ["provoke/code"]))) == 1
