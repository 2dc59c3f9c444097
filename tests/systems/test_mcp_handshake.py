"""MCP servers on standard streams with which no session begins."""

import sys
from pathlib import Path

import pytest

from faultspec.language import load
from faultspec_conformance.config import ConfiguredCall, SampleCall, ServiceConfig
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
