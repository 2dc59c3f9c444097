"""Laws of the table `upstream.codes`: each sin of the broker is caught, who behaves is left alone,
and the report names a row that was not tried.
"""

from collections.abc import Mapping

import pytest

from faultspec import language, source
from faultspec.language.model import Taxonomy
from faultspec_conformance import config
from faultspec_conformance.drivers.serving import serving
from faultspec_conformance.results.model import Report, Result
from faultspec_conformance.run.service import judge_http
from faultspec_conformance.session.options import RunOptions
from faultspec_conformance.session.upstreams import ScriptedUpstream
from miniatures import broker

CLAUSE = "upstream/code"

TAXONOMY = """
faultspec: 1
taxonomy: {name: broker, version: 1.0.0}
envelopes:
  error: {shape: {error: {code: $code, message: $message}}}
surfaces:
  api: {transport: http, envelope: error, codes: closed}
upstream:
  codes:
    - {from: bank, status: 402, code: declined, becomes: refused}
    - {status: 429, becomes: busy}
    - {status: 5xx, becomes: bank_down}
    - {status: [400-428, 430-499], becomes: failed}
    - {becomes: bank_down}
codes:
  refused: {summary: The bank refused., http: 402}
  busy: {summary: The bank has too much to do., http: 503}
  bank_down: {summary: The bank is down., http: 502}
  failed: {summary: It failed., http: 500}
"""

CONFIG = """
taxonomy: taxonomy.yaml
target: {{http: "{url}", openapi: none}}
upstreams:
  {name}:
    listen: 127.0.0.1:9900
    calls: [{{request: POST /payments, body: {{amount: 1}}}}]{error}
limits: {{writes: true}}
"""

WITH_CODE = "\n    error: {reason: $code}"

CAUGHT: Mapping[str, str] = dict.fromkeys(broker.SINS, CLAUSE)
"""The clause that catches each sin."""


def broker_taxonomy() -> Taxonomy:
    """The taxonomy of the broker."""
    loaded = language.read(TAXONOMY, "taxonomy.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


def judged(sin: str | None, *, error: str = WITH_CODE, name: str = "bank") -> Result:
    """Judge the broker with this sin, its bank scripted."""

    def configured(url: str) -> config.ServiceConfig:
        text = CONFIG.format(url=url, name=name, error=error)
        document, found = source.parse(text, "conformance.yaml")
        assert document is not None, found
        loaded = config.parse_config(document, {})
        assert loaded.target is not None, loaded.diagnostics
        assert not config.check_config(loaded.target, broker_taxonomy(), document)
        return loaded.target

    upstream = ScriptedUpstream(configured("http://127.0.0.1:1").upstreams[0])
    with serving(upstream) as bank, serving(broker.make_app(bank, sin)) as url:
        options = RunOptions(sweep=False, only="upstream/*")
        report = judge_http(configured(url), broker_taxonomy(), options, {name: upstream})
    assert isinstance(report, Report)
    return report.result


def test_every_sin_has_its_clause() -> None:
    """Each sin of the broker has the clause that catches it."""
    assert CAUGHT.keys() == broker.SINS.keys()


def test_a_service_that_keeps_the_table_passes() -> None:
    """No clause fails, and the table was exercised, each row of it."""
    result = judged(None)
    assert not result.findings
    assert result.clauses[CLAUSE].verdict == "passed"


@pytest.mark.parametrize("sin", broker.SINS)
def test_a_service_that_breaks_the_table_fails(sin: str) -> None:
    """The clause catches the sin, and no other clause does."""
    assert {each.finding.clause for each in judged(sin).findings} == {CAUGHT[sin]}


def test_the_report_names_a_row_that_was_not_tried() -> None:
    """Without a place for codes, or an upstream of its name, the row of the bank's code is not
    tried, and the run says why.
    """
    for result, reason in (
        (judged(None, error=""), "`error` with `$code`"),
        (judged(None, name="other"), "no upstream bank"),
    ):
        named = [note for note in result.notes if "refused" in note and reason in note]
        assert named, result.notes
