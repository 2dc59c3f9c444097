"""Messages of an MCP server besides its answers, on standard streams and over HTTP: notifications
are judged like any error and keep secrets.
"""

import json
import socket
import sys
import time
from pathlib import Path

import pytest

from faultspec.language import load
from faultspec_conformance.config import read_config
from faultspec_conformance.drivers import TIMEOUT
from faultspec_conformance.results.model import Report
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions, Unreachable
from paths import ROOT

SERVER = ROOT / "tests" / "miniatures" / "mcp_library.py"

TAXONOMY = """
faultspec: 1
taxonomy: {name: library, version: 1.0.0}
envelopes:
  refusal: {shape: {code: $code}}
  notice: {shape: {code: $code}}
surfaces:
  tools: {transport: mcp, error_when: {equals: {/isError: true}}, at: /structuredContent, envelope: refusal}
  notices:
    transport: event
    match: {tools: [notifications/message]}
    error_when: {present: /params/data/code}
    at: /params/data
    envelope: notice
    repeats: tools
privacy: {detectors: [secret]}
codes:
  unknown_book: {summary: There is no such book., retriable: none, on: {mcp: {is_error: true}}}
  taken: {summary: It is taken., retriable: none, on: {mcp: {is_error: true}}}
  declined: {summary: The user declined., retriable: none, on: {mcp: {is_error: true}}}
  unreadable: {summary: The arguments are wrong., retriable: none, on: {mcp: {is_error: true}}}
"""

CONFIGURATION = """
taxonomy: library.yaml
target: TARGET
identities: {ann: {headers: {Authorization: "Bearer ann-4c1f0e9b7d"}}}
confidential: [/pin]
calls:
  lend: {request: lend, params: {isbn: "1", pin: "p-${unique}"}, safe: true, invalid: [{params: {isbn: 7}, code: unreadable}]}
provoke:
  unknown_book: {request: lend, params: {isbn: none}}
limits: {writes: true}
"""

WAYS = pytest.mark.parametrize("way", ["streams", "http"])


def judged(folder: Path, way: str, habit: str, text: str = CONFIGURATION) -> Report:
    """A run on the library with a habit."""
    (folder / "library.yaml").write_text(TAXONOMY)
    command = [sys.executable, str(SERVER), habit]
    target = f"{{mcp: {json.dumps(command)}}}"
    if way == "http":
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        words = json.dumps([*command, port])
        target = f"{{mcp: 'http://127.0.0.1:{port}/mcp', command: {words}}}"
    (folder / "c.yaml").write_text(text.replace("TARGET", target))
    found = read_config(str(folder / "c.yaml"), {})
    assert found.target is not None, found.diagnostics
    taxonomy = load(str(folder / "library.yaml")).taxonomy
    assert taxonomy is not None
    report = run(found.target, taxonomy, RunOptions())
    assert not isinstance(report, Unreachable), report.reason
    return report


@WAYS
@pytest.mark.parametrize(
    ("habit", "verdict"), [("none", "passed"), ("mute", "failed"), ("mistaken", "failed")]
)
def test_notifications_repeat_errors(tmp_path: Path, way: str, habit: str, verdict: str) -> None:
    """A surface of notifications repeats each error of the tools: one that does not come, or comes
    with another code, fails. The run asks for the log messages.
    """
    row = judged(tmp_path, way, habit).result.clauses["surface/repeated"]
    assert row.verdict == verdict
    assert not row.undecided


@WAYS
def test_a_notification_keeps_confidential_values(tmp_path: Path, way: str) -> None:
    """No notification shows a confidential value of a call."""
    assert judged(tmp_path, way, "none").result.clauses["leaks/confidential"].verdict == "passed"
    report = judged(tmp_path, way, "pin")
    assert report.result.clauses["leaks/confidential"].verdict == "failed"


def test_a_notification_keeps_credentials(tmp_path: Path) -> None:
    """No error of a notification shows the credentials of a caller."""
    report = judged(tmp_path, "http", "token")
    found = [one.finding for one in report.result.findings if one.finding.clause == "leaks/secret"]
    assert found
    assert {one.operation for one in found} == {"notifications/message"}


def test_a_server_that_ignores_bad_arguments_costs_little(tmp_path: Path) -> None:
    """A server that answers nothing to bad arguments is blamed for each, after a few times as long
    as its other answers take.
    """
    began = time.monotonic()
    clauses = judged(tmp_path, "streams", "silent").result.clauses
    assert clauses["mcp/invalid-arguments"].verdict == "failed"
    assert clauses["provoke/code"].verdict == "passed"
    assert time.monotonic() - began < 3 * TIMEOUT


#: A tool that asks its user, whom the file answers for.
ASKING = """
taxonomy: library.yaml
target: TARGET
session: {replies: {METHOD: {action: decline, roots: []}}}
provoke:
  declined: {request: remove, params: {isbn: METHOD}}
limits: {writes: true}
"""


@WAYS
@pytest.mark.parametrize("method", ["elicitation/create", "sampling/createMessage", "roots/list"])
def test_the_file_answers_requests_of_the_server(tmp_path: Path, way: str, method: str) -> None:
    """`session: replies` has the results of the requests that a server sends while it works."""
    clauses = judged(tmp_path, way, "none", ASKING.replace("METHOD", method)).result.clauses
    assert clauses["provoke/code"].verdict == "passed"


def test_other_requests_of_the_server_are_refused(tmp_path: Path) -> None:
    """A request of a server without a reply gets an error, so that the server does not wait."""
    text = ASKING.replace("METHOD", "roots/list").replace(
        "{isbn: roots/list}", "{isbn: elicitation/create}"
    )
    found = judged(tmp_path, "streams", "none", text).result.findings
    assert any("unheard" in one.finding.message for one in found)


def test_replies_declare_the_capabilities(tmp_path: Path) -> None:
    """A session declares to the server the requests that the file answers."""
    both = "{elicitation/create: {action: decline}, sampling/createMessage: {}, roots/list: {}}"
    text = ASKING.replace("{METHOD: {action: decline, roots: []}}", both)
    text = text.replace("METHOD", "elicitation/create")
    clauses = judged(tmp_path, "streams", "shy", text).result.clauses
    assert clauses["provoke/code"].verdict == "passed"


@pytest.mark.parametrize(
    ("session", "words"),
    [
        ("{start: [{request: hello}]}", "`start` of a session belongs to JSON-RPC"),
        ("[{request: hello}]", "`start` of a session belongs to JSON-RPC"),
        ("{replies: {tools/call: {}}}", "has no request `tools/call` for its client"),
        ("{replies: {roots/list: []}}", "is a mapping"),
    ],
)
def test_what_no_session_of_mcp_has_is_refused(tmp_path: Path, session: str, words: str) -> None:
    """MCP has its own handshake, and few requests of a server; the file check says so."""
    text = f"taxonomy: t.yaml\ntarget: {{mcp: [server]}}\nsession: {session}\n"
    (tmp_path / "c.yaml").write_text(text)
    found = read_config(str(tmp_path / "c.yaml"), {}).diagnostics
    assert any(words in each.message for each in found), found
