"""Laws of what is seen of a service's retries: each sin of the relay is caught by its clause, and
who behaves is left alone.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from faultspec import language, source
from faultspec.contract.clauses import service_clauses
from faultspec.language.model import Taxonomy
from faultspec_conformance import config
from faultspec_conformance.drivers.serving import serving
from faultspec_conformance.results.model import Report, Result
from faultspec_conformance.run.service import judge_http
from faultspec_conformance.session.options import RunOptions
from faultspec_conformance.session.upstreams import ScriptedUpstream
from miniatures import relay
from paths import ROOT
from support.in_process import Clock

AILERON = ROOT / "examples" / "aileron" / "taxonomy.yaml"

CONFIG = """
taxonomy: taxonomy.yaml
target: {{http: "{url}", openapi: none}}
upstreams:
  provider:
    listen: 127.0.0.1:9900
    calls:
      - {{request: POST /v1/messages, body: {{text: "hello ${{unique}}"}}, headers: {{X-Trace: "trace-${{unique}}", X-Session: "session-${{unique}}"}}}}
      - {{request: POST /v1/messages, body: {{text: send it, idempotent: false}}, idempotent: false}}{more}
    fails: {{external_api_error: [503, 429, 401], network_error: closed}}
    scale: {scale}
    pass_on: {{always: [X-Trace], never: [X-Session]}}
limits: {{writes: true}}
"""

#: The clause of the table of codes, which the document does not have (`test_upstream_codes.py`).
TABLE = "upstream/code"

STEPS = "\n      - {request: POST /v1/messages, body: {text: ship it, ship: true}}"
"""A call with three calls upstream."""

KILLS: Mapping[str, tuple[str]] = {
    "never-retries": ("upstream/attempts",),
    "retries-too-often": ("upstream/attempts",),
    "stops-early": ("upstream/attempts",),
    "no-backoff": ("upstream/delays",),
    "constant-backoff": ("upstream/delays",),
    "dawdles": ("upstream/delays",),
    "no-jitter": ("upstream/jitter",),
    "too-much-jitter": ("upstream/delays",),
    "retries-a-refusal": ("upstream/not-eligible",),
    "retries-what-is-unsafe": ("upstream/unsafe",),
    "new-key-each-try": ("upstream/key",),
    "no-key": ("upstream/key",),
    "one-key-for-all": ("upstream/key",),
    "swallows": ("upstream/surfaces",),
    "another-class": ("upstream/surfaces",),
    "falls-back": ("upstream/stops",),
    "always-says-500": ("upstream/status",),
    "always-says-three": ("upstream/retried",),
    "loses-the-success": ("upstream/recovers",),
    "retries-a-lock": ("upstream/not-eligible",),
    "doubled-base": ("upstream/delays",),
    "asks-twice": ("upstream/once",),
    "asks-for-the-unreadable": ("upstream/once",),
    "crashes-on-garbage": ("upstream/surfaces",),
    "passes-the-session-on": ("upstream/headers",),
    "loses-the-trace": ("upstream/headers",),
    "swallows-the-last-step": ("upstream/surfaces",),
    "keeps-the-lock": ("upstream/heals",),
    "quotes-the-provider": ("leaks/canary",),
}
"""The clause that catches each sin; nothing else is tripped."""


class Pace(NamedTuple):
    """The delays as a share of the policy's, and the share of them that chance may add."""

    scale: float = 0.01
    spread: float = 0.2


#: Chance needs room beside the clocks of a busy machine, and nobody has the time that 0.2 of a
#: second takes.
ROOMY = Pace(0.06, 1.0)

#: The last of three waits has just as much room as it needs, so one call shows one.
NARROW = Pace(0.1, 0.25)


def aileron(spread: float = 0.2) -> Taxonomy:
    """The Aileron taxonomy, with that much jitter."""
    taxonomy = language.load(str(AILERON)).taxonomy
    assert taxonomy is not None
    runtime = taxonomy.retry_policies["runtime"]
    assert runtime.policy.jitter.ratio == 0.2
    policy = runtime.policy._replace(jitter=runtime.policy.jitter._replace(ratio=spread))
    return taxonomy._replace(retry_policies={"runtime": runtime._replace(policy=policy)})


def configured(text: str) -> config.ServiceConfig:
    """The target in a text without mistakes."""
    document, found = source.parse(text, "conformance.yaml")
    assert document is not None, found
    loaded = config.parse_config(document, {})
    assert loaded.target is not None, loaded.diagnostics
    return loaded.target


def watched(
    sin: str | None, *, only: str | None = "upstream/*", pace: Pace | None = None
) -> Result:
    """Judge the relay with this sin, its upstream scripted."""
    pace = pace or {
        None: ROOMY,
        "no-jitter": NARROW,
        "too-much-jitter": NARROW,
        "doubled-base": NARROW,
    }.get(sin, Pace())
    more = STEPS if sin in (None, "swallows-the-last-step") else ""
    clock = Clock()

    async def pause(seconds: float) -> None:
        clock.pause(seconds)

    upstream = ScriptedUpstream(
        configured(CONFIG.format(url="http://127.0.0.1:1", scale=pace.scale, more=more)).upstreams[
            0
        ],
        clock=clock,
    )
    with (
        serving(upstream) as provider,
        serving(relay.make_app(provider, sin, *pace, pause=pause)) as url,
    ):
        described = configured(CONFIG.format(url=url, scale=pace.scale, more=more))
        report = judge_http(
            described,
            aileron(pace.spread),
            RunOptions(sweep=False, only=only),
            {"provider": upstream},
        )
    assert isinstance(report, Report)
    return report.result


def test_every_sin_and_every_clause_is_accounted_for() -> None:
    """Each sin has its clause, and each clause about upstreams has a sin."""
    assert KILLS.keys() == relay.SINS.keys()
    proven = {clause for each in KILLS.values() for clause in each} - {"leaks/canary"}
    assert proven == {
        address
        for address, clause in service_clauses(aileron()).items()
        if address.startswith("upstream/") and clause.reason_not_applicable(aileron()) is None
    }


def test_a_behaving_service_passes_everything() -> None:
    """The relay trips nothing, whatever clause it is, and every clause about upstreams was
    exercised.
    """
    result = watched(None, only=None)
    assert [(each.finding.clause, each.finding.message) for each in result.findings] == []
    verdicts = {
        address: each.verdict
        for address, each in result.clauses.items()
        if address.startswith("upstream/") and address != TABLE
    }
    assert verdicts == dict.fromkeys(verdicts, "passed")
    assert len(verdicts) == 14


@pytest.mark.full
def test_a_behaving_service_of_little_room_passes_everything() -> None:
    """A call is repeated until its waits are enough, and they lie where they may."""
    result = watched(None, pace=NARROW)
    assert [(each.finding.clause, each.finding.message) for each in result.findings] == []
    assert result.clauses["upstream/jitter"].verdict == "passed"


def test_where_chance_has_no_room_the_scale_is_blamed() -> None:
    """A clause that cannot be decided is reported with the scale that it takes, and no request is
    repeated in vain.
    """
    result = watched("no-jitter", pace=Pace())
    assert result.findings == ()
    assert result.clauses["upstream/jitter"].verdict == "not_exercised"
    assert "use a scale of 0.13" in str(result.clauses["upstream/jitter"].reason)
    assert any("use a scale of 0.13" in each for each in result.notes)
    assert result.requests < 36


def selection() -> Iterator[object]:
    """The first sin of each clause always; the others with `make full`."""
    first = {clause: sin for sin, (clause,) in reversed(KILLS.items())}
    for sin, (clause,) in KILLS.items():
        yield sin if first[clause] == sin else pytest.param(sin, marks=pytest.mark.full)


@pytest.mark.parametrize("sin", list(selection()))
def test_each_sin_meets_its_clause(sin: str) -> None:
    """A sin trips its clause and no other."""
    only = "upstream/*" if KILLS[sin][0].startswith("upstream/") else None
    found = watched(sin, only=only).findings
    assert {each.finding.clause for each in found} == set(KILLS[sin])


def test_without_a_declared_upstream_its_clauses_do_not_apply() -> None:
    """The Core Platform declares no `upstream`, and every clause of the family says so."""
    taxonomy = language.load(str(ROOT / "taxonomy.yaml")).taxonomy
    assert taxonomy is not None
    family = [
        each for name, each in service_clauses(taxonomy).items() if name.startswith("upstream/")
    ]
    assert {each.reason_not_applicable(taxonomy) for each in family} == {
        "the taxonomy has no `upstream.retry`",
        "the taxonomy has no `upstream.codes`",
    }


def test_without_an_upstream_nothing_is_exercised() -> None:
    """A configuration that names none leaves the clauses not exercised, which is not passed."""
    upstream = ScriptedUpstream(
        configured(CONFIG.format(url="http://127.0.0.1:1", scale=1, more="")).upstreams[0]
    )
    with serving(upstream) as provider, serving(relay.make_app(provider)) as url:
        text = CONFIG.format(url=url, scale=1, more="").partition("upstreams:")[0]
        report = judge_http(
            configured(text), aileron(), RunOptions(sweep=False, only="upstream/*"), {}
        )
    assert isinstance(report, Report)
    clauses = report.result.clauses
    assert {each.verdict for name, each in clauses.items() if name != TABLE} == {"not_exercised"}


COMMAND = (
    sys.executable,
    "-c",
    "from faultspec.cli import main; main()",
    "conform",
    "conformance.yaml",
)


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_the_suite_starts_the_service_and_passes_it_the_address(tmp_path: Path) -> None:
    """`config.command` is started with the upstream's address in its environment, judged, and gone
    afterwards.
    """
    port = free_port()
    (tmp_path / "conformance.yaml").write_text(f"""
taxonomy: {AILERON}
target:
  http: http://127.0.0.1:{port}
  openapi: none
  command: [{sys.executable}, -m, miniatures.relay]
upstreams:
  provider:
    env: PROVIDER_URL
    calls: [{{request: POST /v1/messages, body: {{text: hello}}}}]
    fails: {{external_api_error: 503}}
    scale: 0.01
limits: {{writes: true}}
""")
    done = subprocess.run(
        [*COMMAND, "--only", "upstream/*", "--format", "json"],
        cwd=tmp_path,
        env={
            **os.environ,
            "RELAY_PORT": str(port),
            "RELAY_SCALE": "0.01",
            "RELAY_SIN": "stops-early",
        }
        | {
            "PYTHONPATH": os.pathsep.join(
                [str(ROOT / "tests"), *filter(None, [os.environ.get("PYTHONPATH")])]
            )
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    findings = json.loads(done.stdout)["findings"]
    assert {each["clause"] for each in findings} == {"upstream/attempts"}
    assert findings[0]["statements"] == ["A24", "A26", "A27"]
    assert "no try followed try 3" in findings[0]["message"]
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_a_service_that_does_not_start_could_not_run(tmp_path: Path) -> None:
    """Exit code 2, with what the command said."""
    (tmp_path / "conformance.yaml").write_text(f"""
taxonomy: {AILERON}
target: {{http: "http://127.0.0.1:{free_port()}", openapi: none, command: [{sys.executable}, -c, "raise SystemExit('no database')"]}}
""")
    done = subprocess.run(
        COMMAND,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "no database" in done.stderr
    assert "Traceback" not in done.stderr
