"""A run whose process is killed from outside: its report has what was found until then."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

PROGRAM = (sys.executable, "-c", "from faultspec.cli import main; main()")

TAXONOMY = """
faultspec: 1
taxonomy: {name: lost, version: 1.0.0, title: Lost, owner: nobody}
envelopes: {error: {shape: {code: $code}, additional: forbid}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}}
codes: {absent: {summary: Not there, http: 404, retriable: none, client_action: none, effect: none}}
"""


DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Slow", "version": "1"},
    "paths": {
        f"/things{number}": {
            method: {"responses": {"200": {"description": "done"}}}
            for method in ("get", "post", "put", "delete")
        }
        for number in range(30)
    },
}


class Slow(BaseHTTPRequestHandler):
    """Answers every request with an undeclared code, after a while."""

    protocol_version = "HTTP/1.1"
    seconds = 0.03
    answered = 0

    def handle_one_request(self) -> None:
        """Answer any method."""
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        Slow.answered += 1
        time.sleep(self.seconds)
        status, body = 404, b'{"code": "surprise"}'
        if self.path == "/openapi.json":
            status, body = 200, json.dumps(DOCUMENT).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@pytest.mark.skipif(sys.platform != "linux", reason="finds the process of the run in /proc")
def test_a_killed_run_reports_what_it_found(tmp_path: Path) -> None:
    """SIGKILL, as when memory runs out, ends the run with its findings so far, exit code 1, and
    the reason why the rest could not run.
    """
    (tmp_path / "taxonomy.yaml").write_text(TAXONOMY)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    config = f"taxonomy: taxonomy.yaml\ntarget: {{http: '{base}', openapi: /openapi.json}}\n"
    (tmp_path / "conformance.yaml").write_text(config)
    command = [*PROGRAM, "conform", "conformance.yaml", "--report", "json=report.json"]
    run = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
    try:
        # A report is kept after one second of the run, which these take at least twice.
        while Slow.answered < 80:
            assert run.poll() is None, "the run has to be under way"
            time.sleep(0.05)
        children = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
        assert len(children) == 1
        os.kill(int(children[0]), signal.SIGKILL)
        assert run.wait(timeout=30) == 1
    finally:
        run.kill()
        run.wait()
        server.shutdown()
        server.server_close()
    report = json.loads((tmp_path / "report.json").read_text())
    assert any(finding["clause"] == "code/declared" for finding in report["findings"])
    assert report["summary"]["requests"] > 0
    assert not report["run"]["complete"]
    assert any("SIGKILL" in reason for reason in report["not_run"])
