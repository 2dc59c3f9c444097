"""Results of MCP tools over standard streams: their structured content obeys the schema that the
server publishes, methods of the protocol are called as they are, and the standard output carries
messages only.
"""

import sys

import pytest

from faultspec.language import load
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.config.model import ABSENT, ConfiguredCall, SampleCall
from faultspec_conformance.drivers import Limits
from faultspec_conformance.drivers.mcp import McpDriver, ToolAnswer
from faultspec_conformance.results.model import Report
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions
from paths import ROOT, TESTS

PEER = TESTS / "miniatures" / "mcp_peer.py"


def sample(name: str, params: object = ABSENT) -> SampleCall:
    """A safe call."""
    return SampleCall(name, ConfiguredCall("POST", name, body=params), safe=True)


def judge(habit: str) -> Report:
    """The report of a run against a peer with a habit."""
    taxonomy = load(str(ROOT / "examples" / "mcp" / "taxonomy.yaml")).taxonomy
    assert taxonomy is not None
    target = ServiceConfig(
        mcp_command=(sys.executable, str(PEER), habit),
        samples=(
            sample("count"),
            sample("echo"),
            sample("resources/read", {"uri": "note:1"}),
        ),
        limits=Limits(seconds=60.0),
    )
    report = run(target, taxonomy, RunOptions(only="mcp/output-schema,rpc/output"))
    assert isinstance(report, Report), report
    return report


@pytest.mark.parametrize(
    ("habit", "broken"),
    [
        ("none", set()),
        ("unstructured", {"mcp/output-schema"}),
        ("mistyped", {"mcp/output-schema"}),
        ("prints", {"rpc/output"}),
    ],
)
def test_a_habit_breaks_its_clause(habit: str, broken: set[str]) -> None:
    """A peer without a habit breaks nothing, and both clauses are decided."""
    clauses = judge(habit).result.clauses
    verdicts = {name: clauses[name].verdict for name in ("mcp/output-schema", "rpc/output")}
    assert {name for name, verdict in verdicts.items() if verdict == "failed"} == broken
    assert set(verdicts.values()) <= {"passed", "failed"}


def test_methods_of_the_protocol_are_called_as_they_are() -> None:
    """`resources/read` is a method, with its own params; any other name is that of a tool."""
    with McpDriver((sys.executable, str(PEER)), Limits()) as driver:
        read = driver.call("resources/read", {"uri": "note:1"}, harmless=True)
        assert isinstance(read, ToolAnswer)
        assert b'"a note"' in read.response.body
        assert driver.spoken == "2025-11-25"
