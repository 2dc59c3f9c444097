"""References of errors are followed: files below a folder, pages of known hosts, and resources."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from faultspec.language import read
from faultspec_conformance.config import read_config
from faultspec_conformance.results.model import ClauseResult, Report
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions, Unreachable
from faultspec_conformance.session.references import look_up_file, look_up_page, own_url

CLAUSE = "references/exist"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a file, a folder, links and a pipe; a file lies beside it."""
    folder = tmp_path / "root"
    (folder / "logs").mkdir(parents=True)
    (folder / "logs" / "one.json").write_text("{}")
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "out").symlink_to(tmp_path / "secret.txt")
    (folder / "up").symlink_to(tmp_path)
    (folder / "in").symlink_to(folder / "logs")
    (folder / "circle").symlink_to(folder / "circle")
    (folder / "dead").symlink_to(folder / "nothing")
    os.mkfifo(folder / "pipe")
    return folder


@pytest.mark.parametrize(
    ("value", "exists"),
    [
        ("logs/one.json", True),
        ("file://ROOT/logs/one.json", True),
        ("ROOT/logs/one.json", True),
        ("in/one.json", True),
        ("logs", True),
        ("logs/two.json", False),
        ("logs/one.json/more", False),
        ("circle", False),
        ("dead", False),
        ("pipe", False),
        ("a\0b", False),
        ("x" * 5000, False),
        ("../secret.txt", None),
        ("logs/../../secret.txt", None),
        ("/etc/passwd", None),
        ("out", None),
        ("up/secret.txt", None),
        ("up/nothing.txt", None),
    ],
)
def test_files_are_looked_for_below_the_root(root: Path, value: str, exists: bool | None) -> None:
    """A file or folder below the root exists or not. What lies outside is not looked at, whether
    a path or a link leads there."""
    found = look_up_file(str(root), value.replace("ROOT", str(root)))
    assert found.exists is exists
    assert bool(found.reason) is (exists is not True)


def test_only_known_hosts_are_asked() -> None:
    """A URL belongs to the service by scheme, host and port. Another one is asked only if the
    configuration lists its host; nothing but a URL of a page is one."""
    base = "http://api.example:8080"
    assert own_url(base, "/docs?x=1") == "http://api.example:8080/docs?x=1"
    assert own_url(base, "http://API.example:8080/docs") == "http://API.example:8080/docs"
    for other in (
        "http://api.example/docs",
        "https://api.example:8080",
        "//evil.example/x",
        "x://[",
    ):
        assert own_url(base, other) is None
    for url in ("http://evil.example/x", "http://api.example@evil.example/"):
        assert look_up_page(url, ("api.example",)).exists is None
    for text in ("ftp://api.example/x", "mailto:a@b", "docs", "http://"):
        assert look_up_page(text, ("api.example",)).exists is False


class _Service(BaseHTTPRequestHandler):
    """A service with `/docs`, and `/mine` for one caller; all else is an error."""

    def do_GET(self) -> None:
        """Answer a request."""
        self.server.asked.append(self.path)  # type: ignore[attr-defined]  # the server of the test
        path, _, query = self.path.partition("?")
        knows = self.headers["Authorization"] == "Bearer ada"
        led = self.server.error if knows else {}  # type: ignore[attr-defined]  # the same
        status, body = 404, {"code": "missing", **led}
        if path == "/docs" or (path == "/mine" and knows):
            status, body = 200, {"ok": query}
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serving(error: dict[str, object]) -> Iterator[tuple[str, list[str]]]:
    """A service whose errors have these members, and the paths that it was asked for."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Service)
    server.error, server.asked = error, []  # type: ignore[attr-defined]  # for its handler
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", server.asked  # type: ignore[attr-defined]  # the same
    finally:
        server.shutdown()
        server.server_close()


TAXONOMY = """
faultspec: 1
taxonomy: {name: led, version: 1.0.0}
detail_keys:
  report: {type: string, refers_to: file, everywhere: true}
  item: {type: string, refers_to: resource, everywhere: true}
envelopes:
  error:
    shape: {code: $code, "help?": $help, "details?": $details}
    fields: {help: {type: string, refers_to: url}}
  event: {shape: {code: $code, "data?": $details}}
  rpc: {shape: {jsonrpc: "2.0", id: $request_id, error: {code: $code, message: $message, "data?": $details}}}
surfaces:
  api: {transport: http, envelope: error}
  rpc: {transport: jsonrpc, error_when: {present: /error}, envelope: rpc}
  events: {transport: event, error_when: {present: /params/code}, at: /params, envelope: event}
codes:
  missing: {summary: It is missing., http: 404, retriable: false}
  wrong: {summary: It is wrong., wire: 7, http: null, http_reason: By name., retriable: false}
"""


def reported(folder: Path, configuration: str) -> Report:
    """The report of a run by a configuration."""
    (folder / "c.yaml").write_text(configuration)
    found = read_config(str(folder / "c.yaml"), {})
    assert found.target is not None, found.diagnostics
    taxonomy = read(TAXONOMY, "t.yaml").taxonomy
    assert taxonomy is not None
    report = run(found.target, taxonomy, RunOptions(only=CLAUSE))
    assert not isinstance(report, Unreachable), report.reason
    return report


def row(folder: Path, configuration: str) -> ClauseResult:
    """The clause of such a run."""
    return reported(folder, configuration).result.clauses[CLAUSE]


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        ({"help": "/docs?topic=missing"}, "passed"),
        ({"help": "BASE/docs"}, "passed"),
        ({"help": "BASE/nowhere"}, "failed"),
        ({"help": "http://127.0.0.1:9/docs"}, "not_exercised"),
        ({"details": {"item": "/mine"}}, "passed"),
        ({"details": {"item": "/yours"}}, "failed"),
        ({"details": {"item": "id-7"}}, "not_exercised"),
        ({"details": {"report": "c.yaml"}}, "passed"),
        ({"details": {"report": "none.yaml"}}, "failed"),
        ({"details": {"report": "/etc/passwd"}}, "not_exercised"),
        ({"help": None}, "not_exercised"),
    ],
)
def test_errors_over_http(tmp_path: Path, error: dict[str, object], verdict: str) -> None:
    """The service has its own pages and resources for the caller of the error. No other host is
    asked, and no file outside of the folder is looked at."""
    with serving(error) as (base, asked):
        for name, value in error.items():
            error[name] = value.replace("BASE", base) if isinstance(value, str) else value
        caller = "identities: {ada: {headers: {Authorization: Bearer ada}}}"
        found = row(
            tmp_path,
            f"target: {{http: '{base}', openapi: none}}\n{caller}\n"
            "paths: [/things/7]\nprovoke: {missing: {request: GET /things/8, as: ada}}\n"
            "references: {files: .}\n",
        )
    assert found.verdict == verdict
    if error == {"help": "/docs?topic=missing"}:
        assert "/docs?topic=missing" in asked


PEER = """
import json, sys
for line in sys.stdin:
    try:
        asked = json.loads(line)
    except ValueError:
        asked = None
    id = asked.get("id") if isinstance(asked, dict) else None
    error = {"code": 7, "message": "No", "data": {"report": sys.argv[1]}}
    event = {"code": 7, "data": error["data"]}
    print(json.dumps({"jsonrpc": "2.0", "method": "failed", "params": event}), flush=True)
    print(json.dumps({"jsonrpc": "2.0", "id": id, "error": error}), flush=True)
"""


@pytest.mark.parametrize(
    ("value", "references", "verdict"),
    [
        ("c.yaml", "references: {files: .}", "passed"),
        ("none.yaml", "references: {files: .}", "failed"),
        ("none.yaml", "", "not_exercised"),
    ],
)
def test_errors_of_calls_by_name(tmp_path: Path, value: str, references: str, verdict: str) -> None:
    """Errors of calls are followed too; without a folder no file is looked for, and the reason
    says so."""
    (tmp_path / "peer.py").write_text(PEER)
    command = json.dumps([sys.executable, str(tmp_path / "peer.py"), value])
    report = reported(
        tmp_path,
        f"target: {{stdio: {command}}}\nprovoke: {{wrong: {{request: ask}}}}\n"
        f"limits: {{writes: true}}\n{references}\n",
    )
    assert report.result.clauses[CLAUSE].verdict == verdict


def test_a_reference_is_that_of_the_answer(tmp_path: Path) -> None:
    """A notification that comes before the answer, and repeats it, adds no second finding."""
    (tmp_path / "peer.py").write_text(PEER)
    command = json.dumps([sys.executable, str(tmp_path / "peer.py"), "none.yaml"])
    report = reported(
        tmp_path,
        f"target: {{stdio: {command}}}\nprovoke: {{wrong: {{request: ask}}}}\n"
        "limits: {writes: true}\nreferences: {files: .}\n",
    )
    (found,) = report.result.findings
    assert found.finding.operation != "failed"


def test_a_declaration_that_cannot_lead_anywhere_is_reported() -> None:
    """A number is neither a path nor a URL."""
    for old in ("report: {type: string", "help: {type: string"):
        text = TAXONOMY.replace(old, old.replace("string", "integer"))
        (found,) = read(text, "t.yaml").diagnostics
        assert found.code == "contradiction"
        assert "and is not a text" in found.message
