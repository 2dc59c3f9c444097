"""Results of MCP tools over standard streams: their structured content obeys the schema that the
server publishes, methods of the protocol are called as they are, and the standard output carries
messages only.
"""

import json
import sys
from dataclasses import replace

import pytest

from faultspec.language import read
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.config.model import ABSENT, ConfiguredCall, InvalidParams, SampleCall
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


SAMPLES = sample("count"), sample("echo"), sample("resources/read", {"uri": "note:1"})


def judge(
    habit: str,
    revision: str = "",
    *,
    taxonomy: str | None = None,
    samples: tuple[SampleCall, ...] = SAMPLES,
    only: str = "mcp/output-schema,rpc/output",
) -> Report:
    """The report of a run against a peer with a habit."""
    rules = read(taxonomy or _EXAMPLE, "t.yaml").taxonomy
    assert rules is not None
    target = ServiceConfig(
        mcp_command=(sys.executable, str(PEER), habit, revision),
        samples=samples,
        limits=Limits(seconds=60.0),
    )
    report = run(target, rules, RunOptions(only=only))
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
    """`resources/read` is a method, with its own params, null included; any other name is that of a
    tool.
    """
    with McpDriver((sys.executable, str(PEER)), Limits()) as driver:
        read = driver.call("resources/read", {"uri": "note:1"}, harmless=True)
        assert isinstance(read, ToolAnswer)
        assert b'"a note"' in read.response.body
        params = {"name": "n", "arguments": {"a": None}}
        shown = driver.call("prompts/get", params, harmless=True)
        assert isinstance(shown, ToolAnswer)
        assert shown.protocol
        sent = json.loads(json.loads(shown.response.body)["error"]["message"])
        assert {key: sent[key] for key in params} == params


@pytest.mark.parametrize("revision", ["2025-11-25", "2025-06-18"])
def test_the_report_names_the_revision_that_the_server_chooses(revision: str) -> None:
    """The handshake offers the newest revision; a server may choose an earlier one."""
    report = judge("none", revision)
    assert f"the server speaks revision {revision} of MCP" in report.result.notes


#: The example without the number of bad arguments, and without numbers at all.
_EXAMPLE = (ROOT / "examples" / "mcp" / "taxonomy.yaml").read_text(encoding="utf-8")
_OTHER = _EXAMPLE.replace("wire: -32602", "wire: -32099")
_NONE = """
faultspec: 1
taxonomy: {name: tools, version: 1.0.0}
surfaces: {tools: {transport: mcp, error_when: {equals: {/isError: true}}, envelope: coded}}
envelopes: {coded: {shape: {isError: true, structuredContent: {code: $code}}, additional: allow}}
codes: {failed: {summary: It failed., http: null, http_reason: Not over HTTP.}}
"""


@pytest.mark.parametrize(
    ("taxonomy", "habit", "level"),
    [
        (_EXAMPLE, "invalid", None),
        (_EXAMPLE, "text", None),
        (_EXAMPLE, "internal", "error"),
        (_EXAMPLE, "accepting", "error"),
        (_OTHER, "invalid", "warning"),
        (_OTHER, "text", None),
        (_NONE, "invalid", None),
        (_NONE, "text", "warning"),
    ],
)
def test_bad_arguments_are_refused_as_the_taxonomy_says(
    taxonomy: str, habit: str, level: str | None
) -> None:
    """Either form passes unless the taxonomy says otherwise: its numbers are without that of bad
    arguments, or its errors of tools have another form. A crash and a success fail.
    """
    bad = (InvalidParams({"bad": 1}),)
    report = judge(
        habit,
        taxonomy=taxonomy,
        samples=(replace(sample("echo"), invalid=bad),),
        only="mcp/invalid-arguments",
    )
    found = [each.finding.level for each in report.result.findings]
    assert found == ([] if level is None else [level])


def test_an_error_without_words_is_found_in_a_run() -> None:
    """Also for bad arguments, about which the taxonomy says nothing."""
    samples = (replace(sample("echo"), invalid=(InvalidParams({"bad": 1}),)),)
    report = judge("wordless", samples=samples, only="mcp/error-text")
    assert report.result.clauses["mcp/error-text"].verdict == "failed"
