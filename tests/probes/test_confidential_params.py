"""Confidential members of calls by name: no answer and no notification contains their values."""

import json
import re
import socket
import sys
from pathlib import Path

import pytest

from faultspec.exchange.model import Request
from faultspec.language import load
from faultspec_conformance.config import read_config
from faultspec_conformance.results.model import Report
from faultspec_conformance.run.service import run
from faultspec_conformance.session.confidential import ConfidentialValues
from faultspec_conformance.session.confidential_params import keep_made_up_params
from faultspec_conformance.session.options import RunOptions, Unreachable

CLAUSE = "leaks/confidential"

TAXONOMY = """
faultspec: 1
taxonomy: {name: kept, version: 1.0.0}
envelopes:
  rpc: {shape: {jsonrpc: "2.0", id: $request_id, error: {code: $code, message: $message}}}
surfaces: {api: {transport: jsonrpc, error_when: {present: /error}, envelope: rpc, protocol: {envelope: rpc, codes: {-32700..-32600: Of the protocol.}}}}
codes: {wrong: {summary: It is wrong., wire: 7, retriable: none}}
"""

#: A service of users. The word after the file says when it shows a password.
PEER = """
import json, sys
habit = sys.argv[1]
known = {}
def say(value): print(json.dumps(value), flush=True)
def refuse(id, code, text): say({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}})
for line in sys.stdin:
    try:
        asked = json.loads(line)
    except ValueError:
        refuse(None, -32700, "No JSON"); continue
    if not isinstance(asked, dict) or not isinstance(asked.get("method"), str):
        refuse(None, -32600, "No request"); continue
    id, method, params = asked.get("id"), asked["method"], asked.get("params")
    if method not in ("sign", "login"):
        refuse(id, -32601, "No such method"); continue
    params = params if isinstance(params, dict) else {}
    word = params.get("password")
    if habit == "notification":
        say({"jsonrpc": "2.0", "method": "log", "params": {"text": "asked with " + str(word)}})
    if habit in ("stderr", "stdout"):
        print("asked with", word, file=getattr(sys, habit), flush=True)
    if "name" not in params:
        refuse(id, -32602, "name is missing" + (": " + str(params) if habit == "missing" else "")); continue
    if not isinstance(word, str):
        refuse(id, -32602, "password is wrong" + (": " + str(word) if habit == "type" else "")); continue
    if method == "login":
        hint = " " + known.get(params["name"], word) if habit == "recipe" else ""
        refuse(id, 7, "The name or the password is wrong" + hint); continue
    known[params["name"]] = word
    result = {"name": params["name"], **({"password": word} if habit == "success" else {})}
    if habit == "part": result["hint"] = word[:12]
    say({"jsonrpc": "2.0", "id": id, "result": result})
"""

#: Habits that show a value in the output of the process.
OUTPUTS = ["stderr", "stdout"]

#: The same service over HTTP, on a port: `REMOTE FILE HABIT PORT`.
REMOTE = """
import subprocess, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
peer, habit, port = sys.argv[1:]
running = subprocess.Popen([sys.executable, peer, "none"], stdin=-1, stdout=-1)
class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if habit in ("stderr", "stdout"):
            print("got", body.decode(), file=getattr(sys, habit), flush=True)
        running.stdin.write(body.replace(b"\\n", b" ") + b"\\n"); running.stdin.flush()
        answer = running.stdout.readline()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
    def log_message(self, *line): pass
HTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
"""

CONFIGURATION = """
taxonomy: kept.yaml
target: {stdio: COMMAND}
confidential: [/password]
calls:
  sign: {request: sign, params: {name: "n-${unique}", password: "hunter-2-hunter-2"}}
provoke:
  wrong: {request: login, params: {name: "n-${unique}", password: "wrong-${unique}"}}
limits: {writes: true}
"""


def judged(folder: Path, habit: str, configuration: str = CONFIGURATION) -> Report:
    """A run on a service with a habit."""
    (folder / "kept.yaml").write_text(TAXONOMY)
    (folder / "peer.py").write_text(PEER)
    command = json.dumps([sys.executable, str(folder / "peer.py"), habit])
    (folder / "c.yaml").write_text(configuration.replace("COMMAND", command))
    found = read_config(str(folder / "c.yaml"), {})
    assert found.target is not None, found.diagnostics
    taxonomy = load(str(folder / "kept.yaml")).taxonomy
    assert taxonomy is not None
    report = run(found.target, taxonomy, RunOptions())
    assert not isinstance(report, Unreachable), report.reason
    return report


@pytest.mark.parametrize(
    "habit", ["success", "part", "missing", "type", "recipe", "notification", *OUTPUTS]
)
def test_a_value_that_comes_back_is_found(tmp_path: Path, habit: str) -> None:
    """A value comes back nowhere: in a success, as a part, in a refusal without other members or of
    another type, in the answer to a recipe,
    in a notification, or in what the process prints. The finding names the place."""
    report = judged(tmp_path, habit)
    assert report.result.clauses[CLAUSE].verdict == "failed"
    messages = [
        each.finding.message for each in report.result.findings if each.finding.clause == CLAUSE
    ]
    assert messages
    assert all("`/password`" in message for message in messages)


@pytest.mark.parametrize("habit", ["none", *OUTPUTS])
def test_the_output_of_a_service_at_an_address_is_searched(tmp_path: Path, habit: str) -> None:
    """If the suite started the service at an address, no value stands in its output."""
    (tmp_path / "remote.py").write_text(REMOTE)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "remote.py", "peer.py", habit, str(port)]
    target = f"{{jsonrpc: 'http://127.0.0.1:{port}/', command: {json.dumps(words)}}}"
    row = judged(tmp_path, habit, CONFIGURATION.replace("{stdio: COMMAND}", target))
    assert row.result.clauses[CLAUSE].verdict == ("passed" if habit == "none" else "failed")


def test_a_service_that_keeps_values_passes(tmp_path: Path) -> None:
    """A service that shows no value passes, also with the recipe alone."""
    assert judged(tmp_path, "none").result.clauses[CLAUSE].verdict == "passed"
    alone = re.sub(r"calls:\n.*\n", "", CONFIGURATION)
    assert judged(tmp_path, "none", alone).result.clauses[CLAUSE].verdict == "passed"
    assert judged(tmp_path, "recipe", alone).result.clauses[CLAUSE].verdict == "failed"


def test_nothing_confidential_is_not_exercised(tmp_path: Path) -> None:
    """Without a declared place, or with none that a call has, the clause says why it is open."""
    for place in ("", "confidential: [/pin]\n"):
        text = CONFIGURATION.replace("confidential: [/password]\n", place)
        row = judged(tmp_path, "success", text).result.clauses[CLAUSE]
        assert row.verdict == "not_exercised"


def test_only_made_up_values_of_the_file_are_kept(tmp_path: Path) -> None:
    """A value is tracked if it fits a text of the file with `${unique}` for that method, in a
    request, a batch or the arguments of a tool. One that the file fixes is not."""
    judged(tmp_path, "none")
    found = read_config(str(tmp_path / "c.yaml"), {})
    assert found.target is not None
    config, made = found.target, "wrong-0123456789abcdef"

    def kept(target: str, body: object) -> list[str]:
        values = ConfidentialValues(pointers=config.confidential)
        request = Request("POST", target, (), json.dumps(body).encode())
        return [each.value for each in keep_made_up_params(values, config, request)]

    call = {"jsonrpc": "2.0", "id": 1, "method": "login", "params": {"password": made}}
    assert kept("login", call) == kept("a batch", [call]) == kept("login", call["params"]) == [made]
    assert kept("sign", {"password": "hunter-2-hunter-2"}) == kept("sign", {"password": made}) == []
    assert kept("login", "text") == kept("login", {"password": 7}) == []
