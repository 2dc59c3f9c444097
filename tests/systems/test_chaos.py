"""Hostile answers and documents: every run ends within two seconds of its limit, with a report, in
bounded memory. docs/chaos.md shows what was measured.
"""

import gzip
import json
import os
import re
import socket
import socketserver
import struct
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from faultspec_conformance import reports
from paths import ROOT
from reports.test_report_formats import report

PROGRAM = (sys.executable, "-c", "from faultspec.cli import main; main()")

SECONDS = 4.0
"""The limit of each run."""

BEYOND = 2.0
"""Seconds that a run may take beyond its limit."""

MEGABYTES = 300
"""Resident memory of the largest process of a run."""

ADDRESS_SPACE = 2 * 1024**3
"""Bytes that a process of the run may map. Beyond them it gets a MemoryError."""

TAXONOMY = """
faultspec: 1
taxonomy: {name: chaos, version: 1.0.0, title: Chaos, owner: nobody}
domains: {request: What the caller can mend}
envelopes:
  error: {media_type: application/json, shape: {code: $code}, additional: forbid}
  document: {media_type: application/xml, shape: {error: {code: $code}}, additional: forbid}
  binary: {media_type: application/cbor, shape: {code: $code}, additional: forbid}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: [error, document, binary], codes: closed}
codes:
  absent: {summary: Not there, domain: request, http: [400, 404, 405, 406], retriable: none, client_action: none, effect: none}
"""

Answer = Callable[[socket.socket, bytes], None]


def answer_with(
    body: bytes, status: str = "404 Not Found", more: str = "", kind: str = "application/json"
) -> bytes:
    """An answer."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return head.encode("latin-1") + body


def document(paths: dict[str, object], **more: object) -> bytes:
    """An OpenAPI document."""
    info = {"title": "Chaos", "version": "1"}
    return json.dumps({"openapi": "3.1.0", "info": info, "paths": paths, **more}).encode()


def operation(*parameters: object, schema: object = None) -> dict[str, object]:
    """A read, and the schema of what it answers."""
    content = {"application/json": {"schema": schema if schema is not None else {}}}
    known = {"200": {"description": "read", "content": content}}
    return {"get": {"parameters": [*parameters], "responses": known}}


PLAIN = document({f"/things{number}": operation() for number in range(6)})

SEEN_PATTERN = r"^(a+)+$(?!x)"


def patterned() -> bytes:
    """A query parameter whose pattern takes exponential time."""
    schema = {"type": "string", "pattern": SEEN_PATTERN}
    parameter = {"name": "q", "in": "query", "required": True, "schema": schema}
    return document({"/things": operation(parameter)})


def lengthy(least: int) -> bytes:
    """A query parameter of at least so many characters."""
    schema = {"type": "string", "minLength": least}
    parameter = {"name": "q", "in": "query", "required": True, "schema": schema}
    return document({"/things": operation(parameter)})


def strange() -> bytes:
    """Answers of a status that `isdigit` takes for a number."""
    return document(
        {"/things": {"get": {"responses": {"\u00b2\u00b2\u00b2": {"description": "x"}}}}}
    )


def crowded() -> bytes:
    """A path with 41 placeholders in one segment."""
    names = [f"p{number}" for number in range(41)]
    path = "/" + "".join(f"{{{name}}}" for name in names)
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in names
    ]
    return document({path: operation(*parameters)})


def vast() -> bytes:
    """20,000 paths."""
    return document({f"/things{number}/{{id}}": operation() for number in range(20_000)})


def doubling() -> bytes:
    """A schema whose references lead twice to the next one, 40 times."""
    schemas: dict[str, object] = {
        f"s{number}": {"allOf": [{"$ref": f"#/components/schemas/s{number + 1}"}] * 2}
        for number in range(40)
    }
    schemas["s40"] = {"type": "object"}
    first = {"$ref": "#/components/schemas/s0"}
    return document({"/things": operation(schema=first)}, components={"schemas": schemas})


@lru_cache
def bomb(size: int, layers: int) -> bytes:
    """Zeros, compressed several times."""
    packer = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    block = bytes(1 << 20)
    packed = b"".join(packer.compress(block) for _ in range(size >> 20)) + packer.flush()
    for _ in range(layers - 1):
        packed = gzip.compress(packed)
    return packed


def sends(whole: bytes) -> Answer:
    """Sends an answer."""
    return lambda connection, _: connection.sendall(whole)


def sends_bomb(connection: socket.socket, _: bytes) -> None:
    """Answer with a kilobyte that unpacks to 256 MB."""
    unpacked = "Content-Encoding: gzip, gzip\r\n"
    connection.sendall(answer_with(bomb(1 << 28, 2), more=unpacked))


def repeats(first: bytes, part: bytes, pause: float = 0.0) -> Answer:
    """Sends parts without end."""

    def send(connection: socket.socket, _: bytes) -> None:
        connection.sendall(first)
        while True:
            connection.sendall(part)
            time.sleep(pause)

    return send


def resets(after: bytes) -> Answer:
    """Resets the connection after a part of the answer."""

    def reset(connection: socket.socket, _: bytes) -> None:
        connection.sendall(after)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

    return reset


def sends_secrets(connection: socket.socket, head: bytes) -> None:
    """Answer with thousands of texts that no other answer has."""
    body = json.dumps({"token": [os.urandom(8).hex() for _ in range(2_500)]}).encode()
    connection.sendall(answer_with(body, "500 Oops"))


def sends_words(connection: socket.socket, head: bytes) -> None:
    """Crash with a word of 60,000 letters that no other answer has."""
    word = f"{os.urandom(8).hex()}{'q' * 60_000}"
    connection.sendall(answer_with(json.dumps({"code": word}).encode(), "500 Oops"))


HEAD = b"HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
BIG = b'{"code": "absent", "more": [' + b"[],{}," * 680_000 + b"1]}"


ABSENT = sends(answer_with(b'{"code": "absent"}'))


@dataclass(frozen=True)
class Hostile:
    """A hostile service. ``described``: its document; ``answer``: to everything else. ``judged``:
    False if a message that the document cannot be read takes the place of a report.

    ``config``: what the configuration says, with ``URL``, ``PORT``, ``PYTHON`` and ``CHILD`` for
    the address, the interpreter and a program with the text ``child``. ``options``: of the command.
    """

    what: str
    described: Callable[[], bytes] = lambda: PLAIN
    answer: Answer = ABSENT
    more: str = ""
    quick: bool = False
    judged: bool = True
    config: str = "target: {http: 'URL', openapi: /openapi.json}"
    child: str = ""
    options: tuple[str, ...] = ()


LAUGHS = (
    b'<!DOCTYPE a [<!ENTITY a0 "ha">'
    + b"".join(b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 13))
    + b"]><error><code>&a12;</code></error>"
)

STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
"""
"""A program that looks for no signal."""

SERVICE = """
from http.server import *
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        time.sleep(0.2)
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b"" if self.command == "HEAD" else b'{"code": "absent"}'
        self.send_response(404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_GET
    def log_message(self, *_):
        pass
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""

CALLS = "calls: {hello: {request: engine.hello, params: {a: 1}, safe: true, invalid: [{}]}}"
STDIO = f"target: {{stdio: [PYTHON, CHILD], framing: lines}}\n{CALLS}"
JSONRPC = f"target: {{jsonrpc: 'URL/rpc'}}\n{CALLS}"
MCP = "target: {mcp: 'URL/mcp'}\ncalls: {hello: {request: hello, safe: true, invalid: [{}]}}"

HOSTILE = {
    "stubborn process": Hostile(
        "process on standard streams that ignores SIGTERM and answers nothing",
        config=STDIO,
        child=f"{STUBBORN}time.sleep(600)",
        quick=True,
    ),
    "orphan": Hostile(
        "process on standard streams whose child keeps them open in a session of its own",
        config=STDIO,
        child=f"{STUBBORN}subprocess.Popen([sys.executable, '-c', 'import os, time; os.setsid(); "
        "time.sleep(30)'])\ntime.sleep(600)",
    ),
    "endless line": Hostile(
        "line without an end on standard streams",
        config=STDIO,
        child="import sys\nwhile True: sys.stdout.write('a' * 65536)",
    ),
    "notifications": Hostile(
        "notifications without an end on standard streams",
        config=STDIO,
        child='import sys\nwhile True: sys.stdout.write(\'{"jsonrpc":"2.0","method":"x"}\\n\')',
    ),
    "stillborn process": Hostile(
        "command on standard streams that ends at once, without a message",
        config=STDIO.replace("PYTHON, CHILD", "/bin/false"),
        quick=True,
    ),
    "dead process": Hostile(
        "process on standard streams that ends at once",
        config=STDIO,
        child="raise SystemExit(3)",
    ),
    "stubborn service": Hostile(
        "`target: command` that ignores SIGTERM",
        config="target: {http: 'http://127.0.0.1:PORT', openapi: none, command: [PYTHON, CHILD, 'PORT']}",
        child=STUBBORN + SERVICE,
        quick=True,
    ),
    "stubborn client": Hostile(
        "client under `--client` that ignores SIGTERM and sends nothing",
        config="client: {command: [PYTHON, CHILD], env: URL_OF, request: GET /things, seconds: 2}",
        child=f"{STUBBORN}time.sleep(600)",
        options=("--client",),
        quick=True,
    ),
    "dripping call": Hostile(
        "answer of JSON-RPC over HTTP of a byte a second",
        answer=repeats(HEAD + b"Content-Length: 100000\r\n\r\n", b" ", 1.0),
        config=JSONRPC,
    ),
    "call bomb": Hostile(
        "answer of JSON-RPC over HTTP that unpacks to 256 MB",
        answer=sends_bomb,
        config=JSONRPC,
    ),
    "events of MCP": Hostile(
        "MCP server whose answer is a stream of events without an end",
        answer=repeats(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", b"data: {}\n\n" * 100
        ),
        config=MCP,
    ),
    "silent MCP": Hostile(
        "MCP server that answers nothing", answer=repeats(b"", b"", 1.0), config=MCP
    ),
    "separators": Hostile(
        "errors of 60,000 colons",
        answer=sends(answer_with(json.dumps({"code": "x", "message": ":" * 60_000}).encode())),
    ),
    "pattern": Hostile(f"query parameter with the pattern `{SEEN_PATTERN}`", patterned, quick=True),
    "placeholders": Hostile("path with 41 placeholders in one segment", crowded),
    "paths": Hostile("document of 20,000 paths", vast),
    "references": Hostile(
        "schema of 2^40 references",
        doubling,
        sends(answer_with(b'{"a": 1}', "200 OK")),
    ),
    "document bomb": Hostile(
        "document of a kilobyte that unpacks to 256 MB",
        lambda: bomb(1 << 28, 2),
        more="Content-Encoding: gzip, gzip\r\n",
        judged=False,
    ),
    "bomb": Hostile(
        "error of a kilobyte that unpacks to 256 MB",
        answer=sends_bomb,
        quick=True,
    ),
    "layers": Hostile(
        "error with 40 content codings",
        answer=sends(answer_with(b"x", more=f"Content-Encoding: {'gzip, ' * 39}gzip\r\n")),
    ),
    "nesting": Hostile(
        "error of 16 kB with 8,000 levels",
        answer=sends(answer_with(b"[" * 8_000 + b"]" * 8_000)),
    ),
    "shallow nesting": Hostile(
        "error of 16 kB with 900 levels",
        answer=sends(answer_with(b'{"a":' * 900 + b"1" + b"}" * 900)),
    ),
    "xml": Hostile(
        "error in XML with entities that expand to 10^12 letters",
        answer=sends(answer_with(LAUGHS, kind="application/xml")),
        quick=True,
    ),
    "deep xml": Hostile(
        "error in XML of 700 kB with 100,000 levels",
        answer=sends(answer_with(b"<a>" * 100_000 + b"</a>" * 100_000, kind="application/xml")),
    ),
    "cbor": Hostile(
        "error in CBOR that declares 2^40 values",
        answer=sends(answer_with(b"\x9b\x00\x00\x01" + bytes(5), kind="application/cbor")),
        quick=True,
    ),
    "deep cbor": Hostile(
        "error in CBOR of 100 kB with 100,000 levels",
        answer=sends(answer_with(b"\x81" * 100_000 + b"\x00", kind="application/cbor")),
    ),
    "values": Hostile("errors of 4 MB with a million values", answer=sends(answer_with(BIG))),
    "secrets": Hostile("errors with 2,500 new secrets each", answer=sends_secrets, quick=True),
    "words": Hostile(
        "crashes with a new word of 60,000 letters each", answer=sends_words, quick=True
    ),
    "periodic secret": Hostile(
        "errors that repeat one letter 50,000 times, with a secret of it",
        answer=sends(
            answer_with(json.dumps({"code": "x", "token": "a" * 12, "x": "a" * 50_000}).encode())
        ),
    ),
    "long texts": Hostile(
        "parameter of at least three billion characters", lambda: lengthy(3_000_000_000)
    ),
    "strange statuses": Hostile(
        "document and answers whose statuses are superscript digits",
        strange,
        answer=sends(answer_with(b"{}", "\u00b2\u00b2\u00b2 OK")),
    ),
    "endless body": Hostile(
        "body without an end",
        answer=repeats(CHUNKED, b"10000\r\n" + b"x" * 65536 + b"\r\n"),
    ),
    "dripping body": Hostile(
        "body of a byte a second",
        answer=repeats(HEAD + b"Content-Length: 100000\r\n\r\n", b" ", 1.0),
    ),
    "endless header": Hostile("header without an end", answer=repeats(HEAD, b"X-More: xxxx\r\n")),
    "informational": Hostile(
        "1xx answers without an end", answer=repeats(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n")
    ),
    "chunk extensions": Hostile(
        "chunk extension without an end", answer=repeats(CHUNKED + b"1;", b"x=yyyyyyyyyyyy;")
    ),
    "redirects": Hostile(
        "redirects to itself", answer=sends(answer_with(b"", "302 Found", "Location: /things0\r\n"))
    ),
    "reset at once": Hostile("reset before the answer", answer=resets(b"")),
    "reset in head": Hostile("reset within the header", answer=resets(HEAD)),
    "reset in body": Hostile(
        "reset within the body", answer=resets(HEAD + b"Content-Length: 100\r\n\r\n{")
    ),
    "events": Hostile(
        "stream of events without an end",
        answer=repeats(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", b"data: {}\n\n" * 100
        ),
    ),
}


@contextmanager
def serving(hostile: Hostile) -> Iterator[str]:
    """Serve a hostile service on loopback."""
    described = answer_with(hostile.described(), "200 OK", hostile.more)

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                while head := self.head():
                    if head.startswith(b"GET /openapi.json "):
                        self.request.sendall(described)
                    elif head.startswith(b"HEAD "):
                        self.request.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                    else:
                        hostile.answer(self.request, head)

        def head(self) -> bytes:
            received = b""
            while b"\r\n\r\n" not in received:
                chunk = self.request.recv(65536)
                if not chunk:
                    return b""
                received += chunk
            return received

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False
        request_queue_size = 64

        def handle_error(self, request: object, client_address: object) -> None:
            """Ignore the connections of clients that gave up."""

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


@dataclass(frozen=True)
class Measured:
    """A run: its exit code, seconds, megabytes of its largest process, JSON report, bytes of its
    page, and standard error. ``config``: its configuration. ``computed``: seconds of the processor.
    """

    code: int
    seconds: float
    megabytes: int
    report: dict[str, Any]
    page: int
    errors: str
    config: str = ""
    computed: float = 0.0

    @property
    def beyond(self) -> float:
        """Seconds of the whole command beyond its limit, without those of a harmless command that
        the run itself does not take: to start, to load the library of its transport, and to write
        its reports.
        """
        return max(0.0, self.seconds - SECONDS - measure_harmless("mcp:" in self.config))

    @property
    def outcome(self) -> str:
        """The act of the run, in the words of its report."""
        if not self.report:
            return re.sub(r"http://\S+", "/openapi.json", self.errors.splitlines()[0])
        notes = [note for note in self.report["notes"] if re.search("stopped|not judged", note)]
        findings = [found["message"] for found in self.report["findings"]]
        return [*notes[:1], *findings[:1], *self.report["not_run"][:1], "judged as usual"][0]


#: Runs a program with a limit of its address space, and writes the kilobytes of its largest
#: process. The program is a child of this small process: a process counts the memory of the one
#: that it was forked from, which for a worker of pytest is more than the program takes.
LAUNCHER = """
import resource, subprocess, sys
limit, peak, *program = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
code = subprocess.call(program)
with open(peak, "w") as file:
    file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code if code >= 0 else 128 - code)
"""


def judge_hostile(hostile: Hostile, folder: Path) -> Measured:
    """Judge a hostile service by the command line, in a process with a limit of memory."""
    (folder / "taxonomy.yaml").write_text(TAXONOMY)
    (folder / "child.py").write_text(hostile.child)
    with serving(hostile) as url:
        names = {"URL_OF": "URL_OF", "URL": url, "PYTHON": sys.executable, "CHILD": "child.py"}
        names["PORT"] = str(free_port())
        config = re.sub("|".join(names), lambda found: names[found[0]], hostile.config)
        (folder / "conformance.yaml").write_text(f"taxonomy: taxonomy.yaml\n{config}\n")
        report, page = folder / "report.json", folder / "report.html"
        options = (
            "--seed",
            "1",
            "--report",
            f"json={report}",
            "--report",
            f"html={page}",
            *hostile.options,
        )
        began = time.monotonic()
        peak = folder / "peak"
        process = subprocess.run(
            [
                *(sys.executable, "-c", LAUNCHER, str(ADDRESS_SPACE), str(peak)),
                *(*PROGRAM, "conform", "conformance.yaml", "--seconds", str(SECONDS), *options),
            ],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        errors = process.stderr.decode()
        seconds = time.monotonic() - began
    assert report.is_file() == hostile.judged, f"{process.returncode}: {errors}"
    return Measured(
        code=process.returncode,
        seconds=seconds,
        megabytes=int(peak.read_text()) // 1024,
        report=json.loads(report.read_text()) if hostile.judged else {},
        page=page.stat().st_size if hostile.judged else 0,
        errors=errors,
        config=hostile.config,
    )


def free_port() -> int:
    """A port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
        return number


@lru_cache
def measure_harmless(mcp: bool) -> float:
    """Seconds that a harmless command takes beside its run. ``mcp``: its server is one of MCP."""
    harmless = Hostile("nothing", config=MCP) if mcp else Hostile("nothing")
    with TemporaryDirectory() as folder:
        done = judge_hostile(harmless, Path(folder))
    return done.seconds - float(done.report["summary"]["seconds"])


NAMES = [
    pytest.param(name, marks=[] if hostile.quick else [pytest.mark.full])
    for name, hostile in HOSTILE.items()
]


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_service_is_judged_within_bounds(name: str, tmp_path: Path) -> None:
    """The run ends in time, in bounded memory, with a report and a documented exit code."""
    done = judge_hostile(HOSTILE[name], tmp_path)
    for _ in range(2):
        if done.beyond > BEYOND:  # other processes only add time, so the shortest of three counts
            measure_harmless.cache_clear()  # the machine may have become slower meanwhile
            done = judge_hostile(HOSTILE[name], tmp_path)
    assert done.code in (0, 1, 2), done.report
    assert done.beyond <= BEYOND, done
    assert done.megabytes <= MEGABYTES
    assert done.page < 8 * 1024 * 1024
    assert bool(done.report.get("clauses")) == HOSTILE[name].judged


@dataclass(frozen=True)
class HostileInput:
    """A command over hostile input. ``prepare``: writes the input into a folder, by the address
    of a hostile service.
    """

    what: str
    prepare: Callable[[Path, str], None]
    command: tuple[str, ...]
    answer: Answer | None = None
    quick: bool = False


def write_archive(folder: Path, _: str) -> None:
    """A HAR of 100 MB."""
    request = {"method": "GET", "url": "http://service/", "headers": []}
    content = {"mimeType": "application/json", "text": json.dumps({"code": "x" * 20_000})}
    answer = {"status": 404, "headers": [], "content": content}
    entry = json.dumps({"request": request, "response": answer}) + ",\n"
    with (folder / "big.har").open("w") as file:
        file.write('{"log": {"entries": [')
        for _part in range(100_000_000 // len(entry)):
            file.write(entry)
        file.write(entry.rstrip(",\n") + "]}}")


def write_letters(folder: Path, _: str) -> None:
    """A HAR whose largest text almost has as many bytes as are read."""
    request = {"method": "GET", "url": "http://service/", "headers": []}
    content = {"mimeType": "application/json", "text": "a" * 38_000_000}
    entry = {"request": request, "response": {"status": 404, "headers": [], "content": content}}
    (folder / "big.har").write_text(json.dumps({"log": {"entries": [entry]}}))


def write_wide(folder: Path, url: str) -> None:
    """The same with an emoji, which makes Python take four bytes for each letter."""
    write_letters(folder, url)
    text = (folder / "big.har").read_text().replace('a"', 'a\U0001f600"', 1)
    (folder / "big.har").write_text(text)


def write_shapes(folder: Path, _: str) -> None:
    """A model of botocore with 40 errors that each have 30 errors as members."""
    shapes = {
        f"E{n}": {
            "type": "structure",
            "exception": True,
            "members": {f"m{k}": {"shape": f"E{(n + k) % 40}"} for k in range(30)},
        }
        for n in range(40)
    }
    model = {"metadata": {"protocol": "json"}, "operations": {}, "shapes": shapes}
    (folder / "service-2.json").write_text(json.dumps(model))


def write_program(folder: Path, _: str) -> None:
    """A program of nearly a million nodes of syntax, in which each function calls another."""
    (folder / "app").mkdir()
    text = "".join(f"def f{n}():f{n * 7 % 14_000}()\n" for n in range(14_000))
    for number in range(9):
        (folder / f"app/m{number}.py").write_text(text)


def write_encoded(folder: Path, _: str) -> None:
    """Sources whose decoder takes quadratic time."""
    (folder / "app").mkdir()
    for number in range(10):
        text = "# coding: punycode\n#-" + "zz9" * 174_000
        (folder / f"app/m{number}.py").write_text(text)


def write_links(folder: Path, url: str) -> None:
    """A taxonomy that links to a service."""
    link = f"docs: {url}/page, "
    (folder / "linked.yaml").write_text(TAXONOMY.replace("absent: {", "absent: {" + link))


def write_test(folder: Path, url: str) -> None:
    """A test that reads the beginning of an answer."""
    (folder / "test_stream.py").write_text(
        "import httpx\n\n"
        "def test_stream(faultspec):\n"
        "    with httpx.Client() as client:\n"
        "        faultspec.client(client)\n"
        f"        with client.stream('GET', '{url}/events') as answer:\n"
        "            assert sum(len(line) for line, _ in zip(answer.iter_lines(), range(200_000)))\n"
    )


def write_report(change: Callable[[dict[str, Any]], None]) -> Callable[[Path, str], None]:
    """A report with a change."""

    def write(folder: Path, _: str) -> None:
        data = json.loads(reports.json(report()))
        change(data)
        text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
        assert 2_000_000 < len(text.encode()) < 8 * 1024**2
        (folder / "report.json").write_text(text)

    return write


def add_notes(data: dict[str, Any]) -> None:
    """Almost as many values and bytes as are read, in letters that take four bytes of memory."""
    data["notes"] = ["\U0001f600" + "x" * 3_600_000, *(f"{n:x}" for n in range(470_000))]


def add_bodies(data: dict[str, Any]) -> None:
    """Findings with the largest body of the suite, and one with a long text."""
    (finding,) = data["findings"]
    request = finding["exchange"]["request"]
    blank = {**request, "body": " " * 16_384, "size": 11 * 1024**2}
    blank.pop("encoding", None)
    one = {**finding, "before": [], "exchange": {**finding["exchange"], "request": blank}}
    names = (f"{number:012x}" for number in range(9))
    data["findings"] = [{**one, "fingerprint": name, "examples": []} for name in names]
    data["findings"][0]["message"] = "\U0001f600" + "x" * 3_000_000


def add_cells(data: dict[str, Any]) -> None:
    """A map whose cells have an operation and a code of their own each."""
    cell = {"count": 1, "wrong": 0, "declared": True}
    data["map"] = [{"operation": f"o{n}", "code": f"c{n}", **cell} for n in range(75_000)]


def write_replay(folder: Path, url: str) -> None:
    """A report of a request whose body repeats one letter, in almost all bytes that are read."""
    data = json.loads(reports.json(report()))
    (finding,) = data["findings"]
    body = {"body": "x" * 300, "size": 32 * 1024**2 - 100_000}
    finding["exchange"]["request"] = {"method": "GET", "target": "/", "headers": [], **body}
    data |= {"findings": [{**finding, "before": [], "examples": []}], "taxonomy": "chaos 1.0.0"}
    data["run"] |= {"base": url, "source": None}
    (folder / "report.json").write_text(json.dumps(data))


RECORDED = (
    TAXONOMY
    + """
telemetry:
  records:
    access: {method: /method, url: /url, status: /status, slots: {code: /code}}
    full: {method: /method, url: /url, status: /answered, response: {body: /body}}
"""
)


def write_rows(rows: int, **columns: Callable[[], Any]) -> Callable[[Path, str], None]:
    """A table of Parquet with these columns, which are made when it is written."""

    def write(folder: Path, _: str) -> None:
        (folder / "recorded.yaml").write_text(RECORDED)
        fixed = {"method": ["GET"] * rows, "url": ["/a"] * rows}
        made = {name: make() for name, make in columns.items()}
        pq.write_table(pa.table({**fixed, **made}), folder / "rows.parquet", compression="zstd")

    return write


def repeat_text(length: int, rows: int) -> Callable[[], Any]:
    """A column with one text in each row, which the file has once."""
    return lambda: pa.DictionaryArray.from_arrays(
        pa.array([0] * rows, pa.int32()), pa.array(["x" * length])
    )


def list_nulls(length: int) -> Callable[[], Any]:
    """A column with one list of nulls, which takes a kilobyte in the file."""
    return lambda: pa.array([[None] * length], pa.list_(pa.int8()))


def write_rest(folder: Path, _: str) -> None:
    """CSV whose row has a text in quotes with a line in each of its fields, without an end."""
    (folder / "recorded.yaml").write_text(RECORDED)
    (folder / "rows.csv").write_text("method,url,status,code\n" + '"a\n",' * 20_000_000)


def write_fields(folder: Path, _: str) -> None:
    """CSV whose row has millions of fields in a line."""
    (folder / "recorded.yaml").write_text(RECORDED)
    (folder / "rows.csv").write_text("method,url,status,code\n" + "ab," * 5_500_000)


def audit_rows(name: str, engine: str = "duckdb") -> tuple[str, ...]:
    """The audit of a table."""
    return (*PROGRAM, "audit", name, "--taxonomy", "recorded.yaml", "--engine", engine)


FINGERPRINT = json.loads(reports.json(report()))["findings"][0]["fingerprint"]

MERGE = (
    *(*PROGRAM, "report", "merge", "report.json", "--baseline", "report.json"),
    *("--report", "sarif=r.sarif", "--report", "html=r.html", "--report", "json=r.json"),
)

HOSTILE_INPUTS: dict[str, HostileInput] = {
    "archive": HostileInput(
        "`audit` of a HAR of 100 MB",
        write_archive,
        (*PROGRAM, "audit", "big.har", "--taxonomy", "taxonomy.yaml"),
    ),
    "letters": HostileInput(
        "`audit` of a HAR with a text of 38 million letters",
        write_letters,
        (*PROGRAM, "audit", "big.har", "--taxonomy", "taxonomy.yaml"),
    ),
    "wide": HostileInput(
        "`audit` of a HAR with a text of 38 million letters and an emoji",
        write_wide,
        (*PROGRAM, "audit", "big.har", "--taxonomy", "taxonomy.yaml"),
        quick=True,
    ),
    "shapes": HostileInput(
        "`import botocore` of a model whose shapes multiply",
        write_shapes,
        (*PROGRAM, "import", "botocore", "service-2.json", "--out", "imported.yaml"),
    ),
    "program": HostileInput(
        "`trace-code` of a program of nearly a million nodes of syntax",
        write_program,
        (*PROGRAM, "trace-code", "app", "--taxonomy", "taxonomy.yaml"),
    ),
    "encoded": HostileInput(
        "`trace-code` of sources in Punycode",
        write_encoded,
        (*PROGRAM, "trace-code", "app", "--taxonomy", "taxonomy.yaml"),
        quick=True,
    ),
    "links": HostileInput(
        "`lint --links`, and a redirect with a body of gigabytes",
        write_links,
        (*PROGRAM, "lint", "linked.yaml", "--links"),
        answer=repeats(
            b"HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 99999999999\r\n\r\n",
            bytes(1 << 20),
        ),
    ),
    "stream": HostileInput(
        "a test under pytest that streams an answer without an end",
        write_test,
        (
            *(sys.executable, "-m", "pytest", "-q", "test_stream.py"),
            "--faultspec=taxonomy.yaml",
        ),
        answer=repeats(
            b"HTTP/1.1 404 Not Found\r\nContent-Type: text/event-stream\r\n\r\n",
            b"data: {}\n\n" * 1_000,
        ),
    ),
    "values": HostileInput(
        "`report merge` of a report of 8 MB with half a million values, and its baseline",
        write_report(add_notes),
        MERGE,
    ),
    "bodies": HostileInput(
        "`report merge` of a report with 9 requests of 11 MiB, and its baseline",
        write_report(add_bodies),
        MERGE,
        quick=True,
    ),
    "map": HostileInput(
        "`report merge` of a report of 75,000 operations with a code each, and its baseline",
        write_report(add_cells),
        MERGE,
    ),
    "request": HostileInput(
        "`replay` of a request of 32 MiB",
        write_replay,
        (*PROGRAM, "replay", "report.json", FINGERPRINT),
    ),
    "rows": HostileInput(
        "`audit` of 1.5 kB of Parquet with a text of 8 MB as the code of 2,000 records",
        write_rows(2_000, status=lambda: [404] * 2_000, code=repeat_text(8_000_000, 2_000)),
        audit_rows("rows.parquet"),
        quick=True,
    ),
    "plain rows": HostileInput(
        "the same with `--engine plain`",
        write_rows(2_000, status=lambda: [404] * 2_000, code=repeat_text(8_000_000, 2_000)),
        audit_rows("rows.parquet", "plain"),
        quick=True,
    ),
    "bodies of rows": HostileInput(
        "`audit` of Parquet with a text of 8 MB as the body of 2,000 records",
        write_rows(2_000, answered=lambda: [404] * 2_000, body=repeat_text(8_000_000, 2_000)),
        audit_rows("rows.parquet"),
        quick=True,
    ),
    "other column": HostileInput(
        "`audit` of Parquet with a text of 8 MB in a column that no record has",
        write_rows(2_000, status=lambda: [404] * 2_000, other=repeat_text(8_000_000, 2_000)),
        audit_rows("rows.parquet", "plain"),
        quick=True,
    ),
    "nulls": HostileInput(
        "`audit` of 1.3 kB of Parquet with a list of 20 million nulls as a body",
        write_rows(1, answered=lambda: [404], body=list_nulls(20_000_000)),
        audit_rows("rows.parquet"),
        quick=True,
    ),
    "larger rows": HostileInput(
        "`audit` of Parquet with a text of 3 MB as the code of 20 records",
        write_rows(20, status=lambda: [404] * 20, code=repeat_text(3_000_000, 20)),
        audit_rows("rows.parquet"),
        quick=True,
    ),
    "endless row": HostileInput(
        "`audit` of CSV with a row of 20 million lines",
        write_rest,
        audit_rows("rows.csv"),
        quick=True,
    ),
    "fields": HostileInput(
        "`audit` of CSV with a row of 5.5 million fields",
        write_fields,
        audit_rows("rows.csv"),
        quick=True,
    ),
}

MOST_SECONDS = 60
"""Seconds of a command over hostile input. The longest that were seen took a third."""


def read_hostile(hostile: HostileInput, folder: Path) -> Measured:
    """Run a command over hostile input, in a process with a limit of memory."""
    (folder / "taxonomy.yaml").write_text(TAXONOMY)
    service = Hostile(hostile.what)
    if hostile.answer is not None:
        service = replace(service, answer=hostile.answer)
    with serving(service) as url:
        hostile.prepare(folder, url)
        began, before = time.monotonic(), os.times()
        process = subprocess.run(
            [
                *(sys.executable, "-c", LAUNCHER, str(ADDRESS_SPACE), str(folder / "peak")),
                *hostile.command,
            ],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=10 * MOST_SECONDS,
        )
        seconds, after = time.monotonic() - began, os.times()
    lines = (process.stdout + process.stderr).splitlines()
    return Measured(
        code=process.returncode,
        seconds=seconds,
        megabytes=int((folder / "peak").read_text()) // 1024,
        report={},
        page=0,
        errors=next((line for line in reversed(lines) if line.strip()), ""),
        computed=after.children_user - before.children_user,
    )


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if hostile.quick else [pytest.mark.full])
        for name, hostile in HOSTILE_INPUTS.items()
    ],
)
def test_hostile_input_is_read_within_bounds(name: str, tmp_path: Path) -> None:
    """The command ends in time, in bounded memory, with a documented exit code. A busy machine
    takes longer, and computes no longer.
    """
    done = read_hostile(HOSTILE_INPUTS[name], tmp_path)
    assert done.code in (0, 1, 2), done
    assert "Traceback" not in done.errors
    assert done.computed <= MOST_SECONDS
    assert done.megabytes <= MEGABYTES


PAGE = ROOT / "docs" / "chaos.md"

INPUTS_HEADING = """
## Hostile input

Each row is a command over a file, a folder or an answer that attacks it. *Seconds* are those of the
whole command.

| hostile | last line of the command | exit code | seconds | memory |
|---|---|---|---|---|
"""


def input_row(hostile: HostileInput, done: Measured) -> str:
    """A row of the second table."""
    last = re.sub(r"\d+\.\d+ ?s", "… s", " ".join(done.errors.split())).replace("|", "\\|")[:160]
    figures = f"{done.code} | {done.seconds:.1f} s | {done.megabytes} MB"
    return f"| {hostile.what} | {last} | {figures} |\n"


def test_the_page_lists_every_hostile_input(tmp_path: Path) -> None:
    """The second table has a row for each, within the bounds."""
    services, heading, inputs = PAGE.read_text(encoding="utf-8").partition(INPUTS_HEADING)
    if os.environ.get("FAULTSPEC_WRITE") == "1":
        rows = []
        for name, hostile in HOSTILE_INPUTS.items():
            folder = tmp_path / name
            folder.mkdir()
            rows.append(input_row(hostile, read_hostile(hostile, folder)))
        heading, inputs = INPUTS_HEADING, "".join(rows)
        PAGE.write_text(services + heading + inputs, encoding="utf-8")
    assert heading
    lines = inputs.splitlines()
    assert [line.split(" | ")[0].removeprefix("| ") for line in lines] == [
        hostile.what for hostile in HOSTILE_INPUTS.values()
    ]
    for line in lines:
        seconds, memory = re.findall(r"([\d.]+) (?:s|MB) \|", line)[-2:]
        assert float(seconds) <= MOST_SECONDS, line
        assert int(memory) <= MEGABYTES, line


HEADING = f"""# Hostile services

Each row is a run of `faultspec conform --seconds {SECONDS:g}` against a service or a document that
attacks it. The tests run all of them (`make full`), with a limit of memory. `FAULTSPEC_WRITE=1
.venv/bin/python -m pytest tests/systems/test_chaos.py -k page` measures them again and writes this
page. *Beyond* is the number of seconds of the whole command beyond the limit, without those that a
harmless command takes beside its run: to start, to load the library of its transport, and to write
its reports. *Memory* is that of the largest process.

| hostile | what the run did | exit code | beyond | memory |
|---|---|---|---|---|
"""


def row(hostile: Hostile, done: Measured) -> str:
    """A row of the page."""
    outcome = " ".join(done.outcome.split()).replace("|", "\\|")[:160]
    what = hostile.what.replace("|", "\\|")
    return f"| {what} | {outcome} | {done.code} | {done.beyond:.1f} s | {done.megabytes} MB |\n"


def test_the_page_lists_every_hostile_service(tmp_path: Path) -> None:
    """The page has a row for each, within the bounds."""
    if os.environ.get("FAULTSPEC_WRITE") == "1":
        rows = []
        for hostile in HOSTILE.values():
            for old in tmp_path.iterdir():
                old.unlink()
            rows.append(row(hostile, judge_hostile(hostile, tmp_path)))
        _, heading, inputs = PAGE.read_text(encoding="utf-8").partition(INPUTS_HEADING)
        PAGE.write_text(HEADING + "".join(rows) + heading + inputs, encoding="utf-8")
    lines = PAGE.read_text(encoding="utf-8").partition(INPUTS_HEADING)[0].splitlines()
    rows = [line for line in lines if re.search(r"\d MB \|$", line)]
    assert [line.split(" | ")[0].removeprefix("| ") for line in rows] == [
        hostile.what.replace("|", "\\|") for hostile in HOSTILE.values()
    ]
    for line in rows:
        beyond, memory = re.findall(r"([\d.]+) (?:s|MB) \|", line)[-2:]
        assert float(beyond) <= BEYOND, line
        assert int(memory) <= MEGABYTES, line
