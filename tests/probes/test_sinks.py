"""Errors that a service appends to a log during a run: each is judged and matched with its answer,
and a log in which nothing can be read is a reason to fail.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from faultspec.exchange.model import Response
from faultspec.language import read
from faultspec_conformance.config import Identity, ServiceConfig, read_config
from faultspec_conformance.drivers.sink_files import SinkFile
from faultspec_conformance.results.model import Report, exit_code
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions
from faultspec_conformance.session.sinks import Sink
from miniatures.serve import serving
from support.scripted import http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: engine, version: 1.0.0}
privacy: {detectors: [secret, stack-trace]}
envelopes:
  info: {shape: {kind: $code, "job?": $details}}
  rpc: {shape: {jsonrpc: "2.0", id: $request_id, error: {code: -32000, message: $message, data: {use: info}}}}
detail_keys: {job: {type: string}}
surfaces:
  engine: {transport: jsonrpc, error_when: {present: /error}, envelope: rpc, codes: closed}
  log: {transport: log, error_when: {present: /error}, at: /error, envelope: info, repeats: engine,
      sink: logs/engine.jsonl}
codes:
  full: {summary: Full., http: null, http_reason: stdio., retriable: caller, details: {job?: {}}}
  busy: {summary: Busy., http: null, http_reason: stdio., retriable: caller}
"""

PEER = r"""
import json, os, sys, time
habit, path = sys.argv[1:]
trace = 'Traceback (most recent call last):\n  File "/srv/a.py", line 1, in f\nKeyError: 1'
for line in sys.stdin:
    try:
        asked = json.loads(line)
        asked["id"]
    except (ValueError, KeyError, TypeError):
        continue
    data = {"code": -32000, "message": "No", "data": {"kind": "full"}}
    record = {"at": 1, "error": {"kind": "busy" if habit == "other" else "full"}}
    if habit == "quotes":
        given = asked.get("params")
        record["asked"] = [*given.values()] if isinstance(given, dict) else None
    if habit == "leaks":
        record["error"]["job"] = {"job": trace}
    text = {"garbled": "not a record", "never": ""}.get(habit, json.dumps(record))
    if text:
        with open(path, "a") as log:
            log.write(text + "\n")
        if habit == "rotates":
            os.replace(path, f"{path}.{time.monotonic_ns()}")
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": data}), flush=True)
"""


def judge(
    folder: Path,
    habit: str,
    only: str | None = "surface/repeated",
    *,
    sink: str = "engine.jsonl",
    text: str = TAXONOMY,
) -> Report:
    """The report of a run against an engine that logs its errors in the way of the habit."""
    taxonomy = read(text, "engine.yaml").taxonomy
    assert taxonomy is not None
    (folder / "peer.py").write_text(PEER)
    (folder / "engine.jsonl").write_text('{"error": {"kind": "of an earlier run"}}\n')
    command = json.dumps([sys.executable, "peer.py", habit, "engine.jsonl"])
    written = f"""
target: {{stdio: {command}}}
sinks: {{log: {sink}}}
confidential: [/password]
provoke: {{full: {{request: ask, params: {{password: "pw-${{unique}}"}}}}}}
limits: {{writes: true}}
"""
    (folder / "conformance.yaml").write_text(written)
    found = read_config(str(folder / "conformance.yaml"), {})
    assert found.target is not None, found.diagnostics
    report = run(found.target, taxonomy, RunOptions(only=only))
    assert isinstance(report, Report)
    return report


@pytest.mark.parametrize(
    ("habit", "clause"),
    [
        ("logs", None),
        ("rotates", None),
        ("never", "surface/repeated"),
        ("other", "surface/repeated"),
        ("leaks", "leaks/stack-trace"),
        ("quotes", "leaks/confidential"),
    ],
)
def test_a_log_repeats_each_error(tmp_path: Path, habit: str, clause: str | None) -> None:
    """Older records of the file do not count; a missing record, another code, a leak and a
    confidential value are found.
    """
    only = "leaks/*" if habit in ("leaks", "quotes") else "surface/repeated"
    clauses = judge(tmp_path, habit, only).result.clauses
    failed = {name for name, each in clauses.items() if each.verdict == "failed"}
    failed -= {"leaks/secret"}  # a password may look like one
    assert failed == ({clause} if clause is not None else set())
    if clause is None:
        assert clauses["surface/repeated"].verdict == "passed"


def test_a_log_in_which_nothing_can_be_read_fails_the_run(tmp_path: Path) -> None:
    """Its lines are reported with their number and the reason."""
    report = judge(tmp_path, "garbled")
    assert any("of which none can be read" in reason for reason in report.result.not_run)
    assert exit_code(report.result) != 0


def test_a_folder_as_a_sink_is_named(tmp_path: Path) -> None:
    """A folder in place of a log fails the run, and the service is not blamed."""
    (tmp_path / "folder").mkdir()
    result = judge(tmp_path, "logs", sink="folder").result
    assert any("is not a regular file" in reason for reason in result.not_run)
    assert not result.findings


def test_a_sink_that_is_missing_is_named(tmp_path: Path) -> None:
    """Where an error did not come, the finding says that its log does not exist."""
    found = judge(tmp_path, "logs", sink="missing.jsonl").result.findings
    assert found
    assert all("missing.jsonl does not exist" in each.finding.message for each in found)


def test_a_log_without_an_error_of_its_surface_fails_the_run(tmp_path: Path) -> None:
    """If the service had errors, and no record of its log is one by `error_when`, the run says so:
    a level that is spelt otherwise would look judged.
    """
    text = TAXONOMY.replace(", repeats: engine", "").replace(
        "{transport: log, error_when: {present: /error}",
        "{transport: log, error_when: {present: /fatal}",
    )
    report = judge(tmp_path, "logs", None, text=text)
    assert any("none is an error by `error_when`" in each for each in report.result.not_run)
    assert exit_code(report.result) != 0


def test_a_file_is_read_from_where_the_run_began(tmp_path: Path) -> None:
    """Whole lines alone, each once; a file that is replaced or cut is read from its beginning, and
    a pipe is never opened.
    """
    path = tmp_path / "a.log"
    path.write_text("old\n")
    sink = SinkFile(str(path))
    assert sink.read_appended() == b""
    with path.open("a") as stream:
        stream.write("one\ntw")
    assert sink.read_appended() == b"one\n"
    with path.open("a") as stream:
        stream.write("o\n")
    assert (sink.read_appended(), sink.read_appended()) == (b"two\n", b"")
    path.write_text("cut\n")
    assert sink.read_appended() == b"cut\n"
    (tmp_path / "new").write_text("new\nnewer\n")
    (tmp_path / "new").replace(path)
    assert sink.read_appended() == b"new\nnewer\n"
    with path.open("a") as stream:
        stream.write("last\n")
    path.rename(tmp_path / "moved")
    assert sink.read_appended() == b"last\n"
    path.write_text("again\n")
    assert sink.read_appended() == b"again\n"
    missing = SinkFile(str(tmp_path / "later.log"))
    (tmp_path / "later.log").write_text("first\n")
    assert missing.read_appended() == b"first\n"
    os.mkfifo(tmp_path / "pipe")
    assert SinkFile(str(tmp_path / "pipe")).read_appended() == b""


HTTP = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0}
envelopes: {error: {shape: {code: $code}}}
surfaces:
  api: {transport: http, envelope: error}
  log: {transport: log, error_when: {present: /code}, envelope: error, repeats: api, sink: errors.jsonl}
codes:
  absent: {summary: Absent., http: 404, retriable: false}
  broken: {summary: Broken., http: 500, retriable: false}

"""


@pytest.mark.parametrize(("logs", "verdict"), [(True, "passed"), (False, "failed")])
def test_a_service_over_http_repeats_its_errors_in_a_log(
    tmp_path: Path, logs: bool, verdict: str
) -> None:
    """Its log is read at the end of the probes."""
    path = tmp_path / "errors.jsonl"

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if logs:
            with path.open("a") as stream:
                stream.write('{"code": "absent"}\n')
        head = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 404, "headers": head})
        await send({"type": "http.response.body", "body": b'{"code": "absent"}'})

    taxonomy = read(HTTP, "shop.yaml").taxonomy
    assert taxonomy is not None
    with serving(app) as base:
        (tmp_path / "conformance.yaml").write_text(
            f"target: {{http: '{base}', openapi: none}}\n"
            "paths: [/a]\nsinks: {log: errors.jsonl}\n"
        )
        found = read_config(str(tmp_path / "conformance.yaml"), {})
        assert found.target is not None, found.diagnostics
        report = run(found.target, taxonomy, RunOptions(sweep=False))
    assert isinstance(report, Report)
    assert report.result.clauses["surface/repeated"].verdict == verdict


def test_a_log_may_name_the_tenant_and_no_credential(tmp_path: Path) -> None:
    """The values that may not stand in a record are the credentials of all callers. The name of a
    tenant, which a header may carry as well, is not one of them.
    """
    caller = Identity("ada", tenant="acme-17", secrets=(("tok-ada-1", "T"), ("acme-17", "N")))
    config = ServiceConfig(identities={"ada": caller})
    session = http_session(lambda request: Response(200), TAXONOMY, config)
    path = tmp_path / "engine.jsonl"
    path.touch()
    session.sinks = (Sink("log", "engine.jsonl", str(path)),)
    path.write_text(json.dumps({"error": {"kind": "full"}}) + "\n")
    session.read_sinks()
    (record,) = session.observations.exchanges
    assert [one.value for one in record.exchange.forbidden] == ["tok-ada-1"]
