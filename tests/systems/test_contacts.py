"""No command contacts a host or opens a file that a document, a taxonomy or an answer names.

A host on 127.0.0.2 records connections, those of libraries without Python too. In all processes of
the command, hooks record every connection, every name that is looked up and every file.
"""

import json
import os
import re
import signal
import socket
import socketserver
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from faultspec.cli import COMMANDS
from support.hostile_documents import documents

PROGRAM = (sys.executable, "-c", "from faultspec.cli import main; main()")

SECRET = "qz7-value-of-a-local-file"
"""The only value of the local file that documents refer to."""

PASSWORD = "qz7-password-of-the-user"
"""The password for all hosts in the user's `.netrc`."""

SITE = """
import os, sys

def _record(event, arguments):
    if event in ("socket.connect", "socket.sendto"):
        what = arguments[1]
        if not isinstance(what, tuple) or what[0] in ("127.0.0.1", "::1"):
            return
    elif event == "socket.getaddrinfo":
        what = arguments[0]
        if what in (None, "", "127.0.0.1", b"127.0.0.1", "localhost", "::1"):
            return
    elif event == "open" and isinstance(arguments[0], str) and "/far/" in arguments[0]:
        what = arguments[0]
    else:
        return
    line = f"{{event}} {{what!r}} {{sys.argv[:2]}}\\n".encode()
    file = os.open({log!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, line)
    os.close(file)

sys.addaudithook(_record)
"""
"""The module that Python imports first: a hook that records what leaves this machine or folder."""

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: shop}
domains: {request: What the caller can mend}
envelopes:
  error: {media_type: application/json, shape: {code: $code}, additional: forbid}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, domain: request, http: [400, 404, 405, 406], retriable: none, client_action: none, effect: none}
"""


@dataclass
class Place:
    """A folder with the files of a case. ``host``: the recording host. ``service``: the address of
    the service. ``file``: a file that nothing may open. ``received``: requests to the service.
    """

    folder: Path
    host: str
    service: str
    file: str
    documents: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    received: list[str] = field(default_factory=list)

    def write(self, name: str, content: object) -> str:
        """The name of a new file, with a text or a value as JSON."""
        text = content if isinstance(content, str) else json.dumps(content)
        (self.folder / name).write_text(text, encoding="utf-8")
        return name


@contextmanager
def listening(
    address: str, answer: Callable[[str, str], tuple[int, dict[str, str], bytes]]
) -> Iterator[str]:
    """An HTTP server whose answers are made of the request line and everything that was sent."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def __getattr__(self, name: str) -> Callable[[], None]:
            if name.startswith("do_"):
                return self.respond
            raise AttributeError(name)

        def respond(self) -> None:
            length = self.headers.get("Content-Length", "0")
            body = self.rfile.read(int(length)) if length.isdigit() else b""
            text = f"{self.requestline}\n{self.headers}\n{body.decode('latin-1')}"
            status, headers, content = answer(self.requestline, text)
            self.send_response_only(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def log_message(self, format: str, *arguments: object) -> None:
            """Log nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """Ignore broken connections."""

    with Server((address, 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield f"http://{address}:{server.server_port}"
        finally:
            server.shutdown()


@contextmanager
def recording() -> Iterator[tuple[str, list[object]]]:
    """A host that records who connects, and its address. At the end the record is complete."""
    connections: list[object] = []

    class Server(socketserver.TCPServer):
        def verify_request(self, _: object, client: object) -> bool:
            connections.append(client)
            return False

    with Server(("127.0.0.2", 0), socketserver.BaseRequestHandler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield f"http://127.0.0.2:{server.server_address[1]}", connections
        finally:
            # Connections are accepted in order: all earlier ones are recorded when ours is.
            with socket.create_connection(server.server_address) as last:
                last.settimeout(10)
                last.recv(1)
                connections.remove(last.getsockname())
            server.shutdown()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """The files of a case, the service and the recording host. Nothing was contacted at the end."""
    far = tmp_path / "far"
    far.mkdir()
    file = far / "secret.json"
    file.write_text(json.dumps({"type": "string", "enum": [SECRET], "const": SECRET}))
    folder = tmp_path / "here"
    folder.mkdir()
    (tmp_path / ".netrc").write_text(f"default login somebody password {PASSWORD}\n")
    site, log = tmp_path / "site", tmp_path / "contacts.log"
    site.mkdir()
    (site / "sitecustomize.py").write_text(SITE.format(log=str(log)))
    with recording() as (host, connections):
        found = documents(host, str(file))
        current = found["3.1"]

        def answer(line: str, sent: str) -> tuple[int, dict[str, str], bytes]:
            place.received.append(sent)
            path = line.split()[1]
            if version := re.match(r"/openapi-([\d.]+)\.json", path):
                return (
                    200,
                    {"Content-Type": "application/json"},
                    json.dumps(found[version[1]]).encode(),
                )
            if path == "/openapi.json":
                return 200, {"Content-Type": "application/json"}, json.dumps(current).encode()
            far_away = {
                "Location": f"{host}/moved",
                "Link": f"<{host}/next>; rel=next",
                "Content-Location": f"{host}/copy",
                "Refresh": f"0; url={host}/refresh",
                "Content-Type": "application/json",
            }
            body = json.dumps(
                {"$schema": f"{host}/s.json", "next": f"{host}/2", "type": f"{host}/problem"}
            )
            if line.startswith("POST"):
                return 201, far_away, body.encode()
            return (302 if "parts" in path else 404), far_away, b'{"code": "absent"}'

        with listening("127.0.0.1", answer) as service:
            place = Place(folder, host, service, str(file), found)
            place.write("taxonomy.yaml", TAXONOMY)
            yield place
    assert connections == []
    assert not log.exists(), log.read_text()
    assert not [sent for sent in place.received if SECRET in sent or PASSWORD in sent]


def environment(place: Place) -> dict[str, str]:
    """The environment of a command, with the hook, another host as proxy, and a `.netrc`."""
    proxies = dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY"), place.host)
    site = str(place.folder.parent / "site")
    kept = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    return {**kept, **proxies, "HOME": str(place.folder.parent), "PYTHONPATH": site}


def faultspec(place: Place, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the folder."""
    done = subprocess.run(
        [*PROGRAM, *arguments],
        cwd=place.folder,
        env=environment(place),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def conform(place: Place, openapi: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Judge the service, and write the report."""
    place.write(
        "conformance.yaml",
        f"taxonomy: taxonomy.yaml\ntarget: {{http: '{place.service}', openapi: '{openapi}'}}\n"
        "limits: {writes: true, requests: 600, seconds: 15}\n",
    )
    return faultspec(
        place,
        "conform",
        "conformance.yaml",
        "--seed",
        "1",
        "--report",
        "json=report.json",
        *options,
    )


def hostile_taxonomy(place: Place) -> None:
    """A taxonomy that names the other host and the file wherever a text may stand."""
    place.write(
        "taxonomy.yaml",
        TAXONOMY.replace(
            "faultspec: 1\n", f"faultspec: 1\nextends: ['{place.host}/base.yaml', '{place.file}']\n"
        )
        + f"  far: {{summary: Far, domain: request, http: 409, retriable: none, client_action: none, effect: none, docs: '{place.host}/docs', details: {{a: {{schema: {{$ref: '{place.host}/s.json', $id: '{place.host}/i'}}}}}}}}\n",
    )


def run_init(place: Place) -> None:
    """Draft a conformance file from a document in a file, and from the service."""
    place.write("api.json", place.documents["3.1"])
    done = faultspec(place, "init", "conformance", "a.yaml", "--openapi", "api.json")
    assert done.returncode == 0, done.stderr
    assert "references that leave it" in done.stderr
    url = f"{place.service}/openapi-2.0.json"
    assert faultspec(place, "init", "conformance", "b.yaml", "--openapi", url).returncode == 0


def run_on_taxonomy(*arguments: str) -> Callable[[Place], None]:
    """Run a command on a hostile taxonomy."""

    def run(place: Place) -> None:
        hostile_taxonomy(place)
        assert faultspec(place, *arguments).returncode in (1, 2)

    return run


def run_diff(place: Place) -> None:
    """Compare documents."""
    place.write("old.json", place.documents["3.1"])
    place.write("new.json", place.documents["3.0"])
    assert faultspec(place, "diff", "old.json", "new.json").returncode in (0, 1, 2)


def run_import(place: Place) -> None:
    """Import the documents of all versions, and a hostile model of botocore."""
    for version, document in place.documents.items():
        place.write("api.json", document)
        faultspec(place, "import", "openapi", "api.json", "--out", f"out{version}.yaml")


def run_conform(place: Place) -> None:
    """Judge the service by its own document, with generated traffic."""
    for version in place.documents:
        done = conform(place, f"/openapi-{version}.json")
        report = json.loads((place.folder / "report.json").read_text())
        assert "references that leave it" in " ".join(report["notes"]), done.stderr


def run_audit(place: Place) -> None:
    """Judge recorded traffic of the other host, with a document."""
    place.write("api.json", place.documents["3.1"])
    request = {
        "method": "GET",
        "url": f"{place.host}/things/ref",
        "headers": [],
        "httpVersion": "HTTP/1.1",
    }
    content = {"mimeType": "application/json", "text": '{"code": "absent"}'}
    response = {
        "status": 404,
        "statusText": "",
        "headers": [],
        "content": content,
        "httpVersion": "HTTP/1.1",
        "redirectURL": f"{place.host}/moved",
    }
    entry = {
        "startedDateTime": "2026-01-01T00:00:00Z",
        "time": 1,
        "request": request,
        "response": response,
    }
    place.write(
        "traffic.har",
        {"log": {"version": "1.2", "creator": {"name": "a", "version": "1"}, "entries": [entry]}},
    )
    done = faultspec(
        place, "audit", "traffic.har", "--taxonomy", "taxonomy.yaml", "--openapi", "api.json"
    )
    assert done.returncode in (0, 1), done.stderr


def report_of_elsewhere(place: Place) -> str:
    """A report of the service in which every address is that of the other host; returns the
    fingerprint of a finding.
    """
    conform(place, "/openapi.json", "--no-sweep", "--only", "envelope/*")
    path = place.folder / "report.json"
    path.write_text(path.read_text().replace(place.service, place.host))
    findings = json.loads(path.read_text())["findings"]
    assert findings
    return str(findings[0]["fingerprint"])


def run_report(place: Place) -> None:
    """Convert a report."""
    report_of_elsewhere(place)
    done = faultspec(place, "report", "merge", "report.json", "--report", "html=page.html")
    assert done.returncode in (0, 1, 2)


def run_replay(place: Place) -> None:
    """Replay a finding whose report names the other host, with the configuration."""
    fingerprint = report_of_elsewhere(place)
    done = faultspec(place, "replay", "report.json", fingerprint, "--config", "conformance.yaml")
    assert done.returncode in (0, 1, 2), done.stderr


def run_waivers(place: Place) -> None:
    """Waive the findings of a report."""
    report_of_elsewhere(place)
    assert faultspec(
        place, "waivers", "add", "waivers.yaml", "--report", "report.json"
    ).returncode in (0, 1, 2)


def run_serve(place: Place) -> None:
    """Serve errors and successes of a document."""
    place.write("api.json", place.documents["3.1"])
    with subprocess.Popen(
        [*PROGRAM, "serve", "taxonomy.yaml", "--openapi", "api.json"],
        cwd=place.folder,
        env=environment(place),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        with httpx.Client(trust_env=False, base_url=url) as client:
            for name in place.documents["3.1"]["components"]["schemas"]:
                client.post(f"/things/{name}", json={})
        process.send_signal(signal.SIGTERM)
        process.wait(10)


def run_proxy(place: Place) -> None:
    """Pass on requests whose fields and answers name the other host."""
    place.write("api.json", place.documents["3.1"])
    with subprocess.Popen(
        [*PROGRAM, "proxy", place.service, "--openapi", "api.json"],
        cwd=place.folder,
        env=environment(place),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        there = {"Host": place.host.partition("//")[2], "Forwarded": f"host={place.host}"}
        with httpx.Client(trust_env=False, base_url=url) as client:
            for path in ("/things/ref", "/parts", f"/{place.host}/x"):
                assert client.get(path, headers=there).headers["Location"].startswith(place.host)
        process.send_signal(signal.SIGTERM)
        process.wait(10)


def run_mcp(place: Place) -> None:
    """Ask for a code, and for a report that names the other host."""
    report_of_elsewhere(place)
    call = {"jsonrpc": "2.0", "method": "tools/call"}
    asked = (("explain", {"name": "far"}), ("explain_report", {"report": "report.json"}))
    opening = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a", "version": "1"},
    }
    messages = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": opening},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *(
            {**call, "id": number, "params": {"name": name, "arguments": arguments}}
            for number, (name, arguments) in enumerate(asked, 1)
        ),
    ]
    hostile_taxonomy(place)
    with subprocess.Popen(
        [*PROGRAM, "mcp"],
        cwd=place.folder,
        env=environment(place),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in messages:
            process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        found = [json.loads(process.stdout.readline())["id"] for _ in range(3)]
        process.stdin.close()
        assert sorted(found) == [0, 1, 2]


def run_demo(place: Place) -> None:
    """Run the demo, which has no input."""
    assert faultspec(place, "demo").returncode in (0, 1)


CASES: Mapping[str, Callable[[Place], None]] = {
    "init": run_init,
    "lint": run_on_taxonomy("lint", "taxonomy.yaml"),
    "compile": run_on_taxonomy("compile", "taxonomy.yaml", "--out", "out"),
    "diff": run_diff,
    "changelog": run_on_taxonomy("changelog", "taxonomy.yaml"),
    "import": run_import,
    "explain": run_on_taxonomy("explain", "far", "--taxonomy", "taxonomy.yaml"),
    "trace-code": run_on_taxonomy("trace-code", ".", "--taxonomy", "taxonomy.yaml"),
    "conform": run_conform,
    "audit": run_audit,
    "proxy": run_proxy,
    "report": run_report,
    "replay": run_replay,
    "waivers": run_waivers,
    "serve": run_serve,
    "mcp": run_mcp,
    "demo": run_demo,
}

SLOW = ("conform", "demo", "mcp", "report", "waivers")
"""Commands whose cases take more than a few seconds."""


def test_every_command_has_a_case() -> None:
    """A new command needs a case here."""
    assert list(CASES) == list(COMMANDS)


@pytest.mark.parametrize(
    "command",
    [pytest.param(name, marks=pytest.mark.full if name in SLOW else ()) for name in CASES],
)
def test_a_command_contacts_nothing_else(place: Place, command: str) -> None:
    """The other host, other names and the file outside of the folder are left alone."""
    CASES[command](place)


GENERATE = """
import json, sys
from faultspec.exchange.model import Response
from faultspec.openapi.service import read
from faultspec_conformance.run.generation import GatewayAnswer, GenerationPlan, generate

description = read(json.load(open(sys.argv[1])))
plan = GenerationPlan(description, description.operations, 1, 60, examples=1, scenarios=1)
answer = GatewayAnswer(Response(302, (("Location", sys.argv[2] + "/moved"),)))
requests = []

def respond(generated):
    requests.append(generated)
    return answer

generated = generate(plan, respond, lambda: len(requests) > 60)
sys.exit(0 if requests and generated.trouble is None else str(generated.trouble))
"""


@pytest.mark.full
@pytest.mark.parametrize("version", ["3.1", "3.0", "2.0"])
def test_the_generator_reads_closed_documents(place: Place, version: str) -> None:
    """It generates requests from every closed document, and does not follow redirects."""
    place.write("api.json", place.documents[version])
    done = subprocess.run(
        [sys.executable, "-c", GENERATE, "api.json", place.host],
        cwd=place.folder,
        env=environment(place),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_hooks_of_schemathesis_close_the_document(place: Place) -> None:
    """`st run` with the hooks contacts the service only."""
    place.write("api.json", place.documents["3.1"])
    added = {
        "SCHEMATHESIS_HOOKS": "faultspec_conformance.schemathesis",
        "NO_PROXY": "*",
        "NETRC": os.devnull,
    }
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", "api.json", "--url", place.service),
            *("--phases=examples,coverage", "--include-path-regex=parts|ref|plain|dialect|address"),
        ],
        cwd=place.folder,
        env=environment(place) | added,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "references that leave it" in done.stderr, done.stdout
    assert place.received, done.stdout


def test_the_recorders_notice(tmp_path: Path) -> None:
    """A connection, the lookup of a name and an open file are recorded."""
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "a").touch()
    log = tmp_path / "log"
    (tmp_path / "sitecustomize.py").write_text(SITE.format(log=str(log)))
    with recording() as (host, connections):
        address = ("127.0.0.2", int(host.rpartition(":")[2]))
        opened = str(tmp_path / "far" / "a")
        program = f"import socket; open({opened!r}); socket.create_connection({address!r}).close()"
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            check=True,
        )
    assert len(connections) == 1
    assert [line.split()[0] for line in log.read_text().splitlines()] == [
        "open",
        "socket.getaddrinfo",
        "socket.connect",
    ]
