"""MCP servers on standard streams that do not answer: with which no session begins, or one call."""

import sys
from pathlib import Path

import pytest

from faultspec.language import load
from faultspec_conformance import drivers
from faultspec_conformance.config import ConfiguredCall, Recipe, SampleCall, ServiceConfig, Step
from faultspec_conformance.drivers import Limits
from faultspec_conformance.results.model import Report
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions
from paths import ROOT

UNKNOWN = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    result = {"protocolVersion": "1999-01-01", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


@pytest.mark.parametrize(
    ("server", "words"),
    [
        (UNKNOWN, "Unsupported protocol version from the server: 1999-01-01"),
        ("raise SystemExit('no module')", "its last line on standard error: no module"),
    ],
    ids=["another revision", "a crash"],
)
def test_a_server_without_a_session_is_called_once(server: str, words: str, tmp_path: Path) -> None:
    """If the first call gets no answer, because no session begins, the run ends with the reason:
    every other call would need the same handshake.
    """
    taxonomy = load(str(ROOT / "examples" / "mcp" / "taxonomy.yaml")).taxonomy
    assert taxonomy is not None
    samples = tuple(SampleCall(name, ConfiguredCall("POST", name), safe=True) for name in "abc")
    target = ServiceConfig(
        mcp_command=(sys.executable, "-c", server), samples=samples, directory=str(tmp_path)
    )
    report = run(target, taxonomy, RunOptions())
    assert isinstance(report, Report), report
    (found,) = report.result.findings
    assert (found.finding.clause, found.count) == ("service/alive", 1)
    assert words in found.finding.message


HANGING = """
import json, sys, time
def send(id, result):
    print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        info = {"capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
        send(asked["id"], {"protocolVersion": asked["params"]["protocolVersion"], **info})
    elif asked["method"] == "tools/list":
        send(asked["id"], {"tools": [{"name": "read", "inputSchema": {"type": "object"}}]})
    elif asked["method"] == "tools/call" and not asked["params"].get("arguments"):
        text = {"content": [{"type": "text", "text": "fine"}]}
        send(asked["id"], text)
"""


def test_a_call_without_an_answer_is_not_a_service_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a silence the server is asked what it answered before. If it answers, the recipe has
    failed, and the run goes on.
    """
    monkeypatch.setattr(drivers, "TIMEOUT", 1.5)
    taxonomy = load(str(ROOT / "examples" / "mcp" / "taxonomy.yaml")).taxonomy
    assert taxonomy is not None
    code = next(iter(taxonomy.codes))
    target = ServiceConfig(
        mcp_command=(sys.executable, "-c", HANGING),
        samples=(SampleCall("read", ConfiguredCall("POST", "read"), safe=True),),
        recipes=(Recipe(code, (Step(ConfiguredCall("POST", "read", body={"key": "gone"})),)),),
        limits=Limits(writes=True, seconds=30),
        directory=str(tmp_path),
    )
    report = run(target, taxonomy, RunOptions())
    assert isinstance(report, Report), report
    failing = {each.finding.clause: each.finding.message for each in report.result.findings}
    assert "service/alive" not in failing
    assert "though the service answered the request after it" in failing["provoke/code"]
