"""Clients under faults whose waits are in bodies: each unit is obeyed, and a wait that says no ends
the tries.
"""

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3

from faultspec import language, source
from faultspec.language.model import Taxonomy
from faultspec.render import render, write
from faultspec.targets import SHIPPED
from faultspec_conformance import config
from faultspec_conformance.config import ClientConfig
from faultspec_conformance.results.model import Report, Result, exit_code
from faultspec_conformance.run.clients import judge_clients
from faultspec_conformance.session.options import RunOptions

TAXONOMY = """
faultspec: 1
taxonomy: {name: client_hints, version: 1.0.0}
detail_keys: {again: {HINT, role: retry_after}}
envelopes: {error: {shape: {code: $code, "details?": $details}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error}}
headers: {Retry-After: {on: 429, presence: optional}}
retry_policies: {patient: {max_attempts: 3, backoff: {kind: constant, base: 30s},
    retry_after: {honor: true, max: 60s}}}
codes:
  slow: {summary: Slow., http: 429, retriable: true, retry: patient, effect: none,
      details: {again: {}}, example: {details: {again: VALUE}}}
"""

UNITS = {
    "seconds": ("type: integer", "1"),
    "milliseconds": ("type: integer, unit: ms", "1200"),
    "duration": ("type: string", "1.2s"),
}

SCALE = 0.02


def taxonomy_of(unit: str) -> Taxonomy:
    """A service that says its wait in the body alone."""
    kind, value = UNITS[unit]
    text = TAXONOMY.replace("HINT", kind).replace("VALUE", value)
    loaded = language.read(text.replace("client_hints", f"hints_in_{unit}"), "t.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


@pytest.fixture(scope="module", params=UNITS)
def bindings(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Taxonomy, Any]]:
    """The taxonomy of a unit, and its generated Python."""
    taxonomy = taxonomy_of(request.param)
    folder = tmp_path_factory.mktemp(taxonomy.name)
    write(render(taxonomy, [SHIPPED["python"]], "t.yaml"), folder, ["python"])
    sys.path.insert(0, str(folder / "python"))
    yield taxonomy, importlib.import_module(f"{taxonomy.name}_errors")
    sys.path.remove(str(folder / "python"))


Launch = Callable[[ClientConfig, str, Callable[[], bool]], str | None]


def client_of(package: Any, *, reads_body: bool) -> Launch:
    """A client that follows the generated planner, or that reads headers only."""

    def launch(client: ClientConfig, url: str, shown: Callable[[], bool]) -> str | None:
        pool, state = urllib3.PoolManager(retries=False), None
        while not shown():
            answer = pool.request("GET", f"{url}/orders/7")
            if answer.status < 400:
                return None
            body = answer.data if reads_body else b'{"code": "slow"}'
            error = package.parse(body, status=answer.status, headers=dict(answer.headers))
            state = state or package.start_retry(error)
            plan = package.plan_retry(error, state, idempotent=True)
            if not plan.retry:
                return None
            state = plan.state
            # Only delays that the client computes are scaled: the service asks in real seconds.
            time.sleep(plan.delay * (client.scale if plan.delay == plan.computed else 1))
        return None

    return launch


def judged(taxonomy: Taxonomy, launch: Launch) -> Result:
    """The findings for a client."""
    text = f"client: {{command: [x], env: URL, request: GET /orders/7, scale: {SCALE}}}\n"
    document, found = source.parse(text, "conformance.yaml")
    assert document is not None, found
    loaded = config.parse_config(document, {})
    assert loaded.target is not None, loaded.diagnostics
    report = judge_clients(loaded.target, taxonomy, RunOptions(), launch)
    assert isinstance(report, Report)
    return report.result


@pytest.mark.full
def test_a_client_of_the_planner_obeys_the_wait_of_the_body(
    bindings: tuple[Taxonomy, Any],
) -> None:
    """Whatever the unit, it trips nothing, and the wait was judged."""
    taxonomy, package = bindings
    result = judged(taxonomy, client_of(package, reads_body=True))
    assert [each.finding.message for each in result.findings] == []
    assert result.clauses["client/retry-after"].verdict == "passed"


def test_a_client_that_reads_headers_only_comes_too_soon(
    bindings: tuple[Taxonomy, Any], tmp_path: Path
) -> None:
    """A wait that is in the body alone is missed, and that is the finding."""
    taxonomy, package = bindings
    result = judged(taxonomy, client_of(package, reads_body=False))
    assert {each.finding.clause for each in result.findings} == {"client/retry-after"}
    assert exit_code(result) == 1
