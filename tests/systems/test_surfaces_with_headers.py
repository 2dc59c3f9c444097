"""Header rules of surfaces on a running service: each version of it keeps its own."""

from pathlib import Path

import pytest

from faultspec import language
from faultspec_conformance.config import read_config
from faultspec_conformance.results.model import Report, Result, exit_code
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions
from miniatures.serve import serving
from miniatures.versions import SINS, make_app

TAXONOMY = """
faultspec: 1
taxonomy: {name: catalogue, version: 1.0.0, title: Catalogue, owner: catalogue}
envelopes:
  error: {media_type: application/json, shape: {code: $code, message: $message}, additional: forbid}
surfaces:
  old:
    transport: http
    match: {routes: [/v1/**]}
    envelope: error
    headers:
      Deprecation: {on: [4xx, 5xx], format: deprecation}
      Sunset: {on: [4xx, 5xx], format: http-date}
      Cache-Control: {on: [4xx, 5xx], value: {enum: [max-age=60]}}
  api:
    transport: http
    envelope: error
    headers:
      X-Api-Version: {on: [4xx, 5xx], value: {enum: ["2"]}}
      Cache-Control: {on: [4xx, 5xx], token: no-store}
codes:
  absent: {summary: Not there., http: 404, retriable: false}
  not_allowed: {summary: Not so., http: 405, retriable: false}
"""

CONFIGURATION = """
target: {http: %s}
provoke:
  absent:
    - {request: GET /v1/books/2}
    - {request: GET /v2/books/2}
"""

#: The clause that each mistake breaks.
BROKEN = {
    "no-deprecation": "headers/deprecation",
    "no-sunset": "headers/sunset",
    "sunset-in-words": "headers/sunset",
    "no-version": "headers/x-api-version",
    "other-version": "headers/x-api-version",
    "keeps-refusals": "headers/cache-control",
}


def judged(folder: Path, sin: str = "", taxonomy: str = TAXONOMY) -> Result:
    """The result of a run against the service."""
    loaded = language.read(taxonomy, "taxonomy.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    file = folder / "conformance.yaml"
    with serving(make_app(sin)) as base:
        file.write_text(CONFIGURATION % base)
        config = read_config(str(file), {})
        assert config.target is not None, config.diagnostics
        report = run(config.target, loaded.taxonomy, RunOptions(sweep=False))
    assert isinstance(report, Report)
    return report.result


def test_each_version_keeps_the_rules_of_its_surface(tmp_path: Path) -> None:
    """No finding is made, although each version breaks the rules of the other."""
    result = judged(tmp_path)
    assert [(each.finding.clause, each.finding.message) for each in result.findings] == []
    assert exit_code(result) == 0


@pytest.mark.parametrize("sin", SINS)
def test_each_mistake_is_found_on_its_surface(tmp_path: Path, sin: str) -> None:
    """The finding is of the version that lacks or changes a header."""
    result = judged(tmp_path, sin)
    assert {each.finding.clause for each in result.findings} == {BROKEN[sin]}
    old = "/v1/" if sin in ("no-deprecation", "no-sunset", "sunset-in-words") else "/v2/"
    targets = [
        exchange.request.target for each in result.findings for exchange in each.finding.evidence
    ]
    assert targets
    assert all(target.startswith(old) or not target.startswith("/v") for target in targets)
