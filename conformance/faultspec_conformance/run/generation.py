"""Generating requests with schemathesis, which is used by its command line only.

It runs in a process of its own against a listener on loopback, which keeps the requests that
arrive. It never meets the service.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from faultspec.exchange.model import Headers, Request
from faultspec.language.values import shortened
from faultspec.openapi.service import Description
from faultspec_conformance.drivers.http import SAFE_METHODS

#: Generated requests that are kept. Documents of hundreds of operations lead to more, which
#: thinning would drop.
_CAUGHT = 20_000

#: Headers of one connection, or of the client. The driver sends its own.
_CONNECTION_HEADERS = frozenset(
    {
        "host",
        "connection",
        "keep-alive",
        "accept-encoding",
        "content-length",
        "transfer-encoding",
        "user-agent",
        "te",
        "x-schemathesis-testcaseid",
    }
)

#: The environment of the generator: where programs and temporary files are, and no secrets.
_ENVIRONMENT = (
    "PATH",
    "HOME",
    "TMPDIR",
    "TEMP",
    "TMP",
    "SYSTEMROOT",
    "PYTHONPATH",
    "LD_LIBRARY_PATH",
)

#: Its long message about a document that it cannot load, and the one line about any other error.
_UNLOADED = re.compile(r"Schema Loading Error\s+(.+?)\n\s*(?:\n|\Z)", re.DOTALL)
_TROUBLE = re.compile(r"^\W*(\S.*\b(?:[Ee]rror|failed|invalid)\b.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class GeneratedRequests:
    """The generated requests as they arrived. ``trouble``: why there are none, or not for every
    operation.
    """

    requests: tuple[Request, ...] = ()
    trouble: str | None = None


def generate_requests(
    description: Description, *, seconds: float, writes: bool
) -> GeneratedRequests:
    """Generate requests for every operation of the document, for at most ``seconds``."""
    began = time.monotonic()
    with TemporaryDirectory(prefix="faultspec-sweep-") as name, _Catcher() as catcher:
        directory = Path(name)
        document = json.dumps(_document_at_root(description), default=str)
        (directory / "openapi.json").write_text(document, encoding="utf-8")
        # Its own checks would only cost time: ours is the judge.
        configuration = f'base-url = "{catcher.address}"\n[checks]\nenabled = false\n'
        (directory / "schemathesis.toml").write_text(configuration, encoding="utf-8")
        output_path = directory / "output.txt"
        try:
            with output_path.open("wb") as output:
                process = subprocess.Popen(
                    _command(writes),
                    cwd=directory,
                    env=_environment(os.environ),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )
        except OSError as error:
            return GeneratedRequests(trouble=f"schemathesis cannot be started: {error}")
        deadline = began + seconds
        with process:
            try:
                while (
                    process.poll() is None
                    and time.monotonic() < deadline
                    and len(catcher.caught) < _CAUGHT
                ):
                    catcher.handle_request()
            finally:
                stopped = process.poll() is None
                process.kill()
        requests = tuple(catcher.caught)
        trouble = None
        if stopped:
            spent = time.monotonic() - began
            count = f"{len(requests)} requests in {spent:.0f} s"
            trouble = f"the traffic generation ended at its limit: {count}"
        elif process.returncode != 0 or not requests:
            output_text = output_path.read_text(encoding="utf-8", errors="replace")
            trouble = _find_trouble(output_text, process.returncode)
        return GeneratedRequests(requests, trouble)


def _command(writes: bool) -> list[str]:
    # The coverage phase writes a few dozen requests an operation, always the same. The others cost
    # ten times as much.
    options = [
        "--phases=coverage",
        "--generation-deterministic",
        "--workers=1",
        "--warnings=off",
        "--no-color",
    ]
    methods = [] if writes else [f"--include-method={method}" for method in sorted(SAFE_METHODS)]
    program = [sys.executable, "-m", "schemathesis.cli", "--config-file=schemathesis.toml"]
    return [*program, "run", "openapi.json", *options, *methods]


def _environment(environment: Mapping[str, str]) -> dict[str, str]:
    kept = {name: environment[name] for name in _ENVIRONMENT if name in environment}
    cache = environment.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return {
        **kept,
        "PYTHONHASHSEED": "0",  # requests must not depend on the order of sets
        "PYTHONUTF8": "1",
        "NO_PROXY": "*",  # for loopback
        # Tables of Unicode, which take Hypothesis seconds to build. Nothing of a run is kept there.
        "HYPOTHESIS_STORAGE_DIRECTORY": str(Path(cache) / "faultspec" / "hypothesis"),
    }


def _document_at_root(description: Description) -> Mapping[str, object]:
    """The document with the base path in its paths, so that the listener receives what the service
    would.
    """
    paths = description.document.get("paths")
    items = paths if isinstance(paths, dict) else {}
    document = {
        key: value
        for key, value in description.document.items()
        if key not in ("servers", "host", "basePath")
    }
    template = description.operations[0].template
    base = next((template.removesuffix(path) for path in items if template.endswith(path)), "")
    return document | {
        "paths": {base + path: item for path, item in items.items() if path.startswith("/")}
    }


def _find_trouble(output: str, code: int) -> str:
    found = _UNLOADED.search(output) or _TROUBLE.search(output)
    words = shortened(" ".join(found[1].split()), 300) if found else "no reason is given"
    return f"schemathesis ended with {code}: {words}"


class _Catcher(HTTPServer):
    """A listener on loopback that keeps requests and answers all with success.

    It has one thread. Each answer closes its connection, so that an idle one does not block the
    next.
    """

    #: Seconds that `handle_request` waits, so that the end of the generator is noticed soon.
    timeout = 0.1

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _handler(self.keep))
        self.caught: list[Request] = []

    @property
    def address(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.server_port}"

    def keep(self, request: Request) -> bool:
        """Keep a request for the service. Returns whether it is one."""
        if any(name.lower() == "x-schemathesis-probe" for name, _ in request.headers):
            return False  # whether the server accepts control characters: it need not
        kept = tuple(
            (name, value.strip())
            for name, value in request.headers
            if name.lower() not in _CONNECTION_HEADERS
        )
        self.caught.append(replace(request, headers=kept))
        return True

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore broken connections, which the generator handles itself. Other errors are defects
        of ours.
        """
        if not isinstance(sys.exception(), OSError):
            raise


def _handler(keep: Callable[[Request], bool]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 5  # seconds for the rest of a request on this machine

        def __getattr__(self, name: str) -> Callable[[], None]:
            if name.startswith("do_"):  # any method
                return self.answer
            raise AttributeError(name)

        def answer(self) -> None:
            length = self.headers.get("Content-Length", "0")
            body = self.rfile.read(int(length)) if length.isdigit() else b""
            headers: Headers = tuple((name, _decode(value)) for name, value in self.headers.items())
            target = self.path if self.path.startswith("/") else urlsplit(self.path).path
            kept = keep(Request(self.command, target, headers, body))
            content = b"{}"
            self.send_response(200 if kept else 400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def log_message(self, format: str, *arguments: object) -> None:
            """Log nothing."""

    return Handler


def _decode(value: str) -> str:
    """A header value as text. The server reads bytes as Latin-1, the driver writes UTF-8."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value
