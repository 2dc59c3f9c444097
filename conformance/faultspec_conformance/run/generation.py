"""Generating requests with schemathesis, which is used by its command line and its hooks only.

It runs in a process of its own against a gateway on loopback. The gateway hands each request to the
sweep, which answers for the service. So the generator learns from the answers, and every request
still passes through the driver of the run.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote, urlsplit

from faultspec.exchange.model import Headers, Request, Response, has_content
from faultspec.language.values import shorten
from faultspec.openapi.reader import resolve
from faultspec.openapi.service import Description, ServiceOperation
from faultspec_conformance.config import METHODS

#: Names that `faultspec_conformance.schemathesis.relay` has as well. Importing it here would import
#: schemathesis, which takes a second.
PHASE, FINDINGS, NOT_SENT = "X-Faultspec-Phase", "X-Faultspec-Findings", "X-Faultspec-Not-Sent"
TRIGGER = "X-Faultspec-Trigger"
RELAY = "faultspec_conformance.schemathesis.relay"

#: The header in which schemathesis names the case of a request.
_CASE = "x-schemathesis-testcaseid"

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
        _CASE,
        PHASE.lower(),
        TRIGGER.lower(),
    }
)

#: Headers of an answer that hold for the connection to the service, and those of the gateway.
_HOP_HEADERS = frozenset(
    {
        "connection",
        "keep-alive",
        "transfer-encoding",
        "content-length",
        "content-encoding",
        *(name.lower() for name in (FINDINGS, NOT_SENT)),
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

#: Seconds that the generator waits for an answer: longer than the driver, which may also wait for
#: a rate limit.
_PATIENCE = 60

#: Its long message about a document that it cannot load, and the one line about any other error.
_UNLOADED = re.compile(r"Schema Loading Error\s+(.+?)\n\s*(?:\n|\Z)", re.DOTALL)
_ERROR = re.compile(r"^_+ (.+?) _+$\s+(.+?)\n\s*\n(.+?)\n\s*\n", re.MULTILINE | re.DOTALL)
#: Errors that are not its own: findings that it shrinks, and requests without an answer.
_EXPECTED = re.compile(r"Hook Error|Network Error|.*[Cc]onnection.*|.*[Ff]laky.*")
_TROUBLE = re.compile(r"^\W*(\S.*\b(?:[Ee]rror|failed|invalid)\b.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class GeneratedRequest:
    """A request as it arrived. ``case``: its name for schemathesis. ``phase``: the phase it belongs
    to; empty if it is unknown. ``planned``: the requests of that phase for the operation; 0 if
    unknown. ``trigger``: what sets it apart from an ordinary request, in words.
    """

    request: Request
    case: str = ""
    phase: str = ""
    planned: int = 0
    trigger: str = ""


@dataclass(frozen=True, slots=True)
class GatewayAnswer:
    """An answer of the gateway. ``response`` None: it closes the connection. ``sent``: the service
    got the request. ``findings``: fingerprints of what is wrong with its answer.
    """

    response: Response | None
    sent: bool = True
    findings: tuple[str, ...] = ()


#: The answer to a request that is left out. The status says "not now", from which the generator
#: learns nothing about data.
LEFT_OUT = GatewayAnswer(Response(429), sent=False)


@dataclass(frozen=True, slots=True)
class GenerationPlan:
    """The extent of generated traffic.

    ``operations``: those of the document that take part. ``examples``: test cases of one operation
    in the fuzzing phase. ``scenarios``: those of the stateful phase. ``checks``: further checks of
    schemathesis. ``seconds``: how long it may take.
    """

    description: Description
    operations: Sequence[ServiceOperation]
    seed: int
    seconds: float
    examples: int
    scenarios: int
    checks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckFailure:
    """A failure of a further check. ``cases``: its requests, the offending one last."""

    check: str
    title: str
    message: str
    cases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Generated:
    """How the generation ended. ``trouble``: why it is not complete."""

    requests: int = 0
    failures: tuple[CheckFailure, ...] = ()
    trouble: str | None = None


def generate(
    plan: GenerationPlan,
    answer: Callable[[GeneratedRequest], GatewayAnswer],
    is_over: Callable[[], bool],
) -> Generated:
    """Generate requests until the generator or ``plan.seconds`` ends, or ``is_over``.

    ``answer`` gets each request in turn, in the calling thread, and returns the answer to it.
    """
    began = time.monotonic()
    with TemporaryDirectory(prefix="faultspec-sweep-") as name, _Gateway(answer) as gateway:
        directory = Path(name)
        document = json.dumps(_document_at_root(plan.description), default=str)
        (directory / "openapi.json").write_text(document, encoding="utf-8")
        configuration = _configuration(plan, gateway.address)
        (directory / "schemathesis.toml").write_text(configuration, encoding="utf-8")
        output_path, failures_path = directory / "output.txt", directory / "failures.jsonl"
        further = {
            "SCHEMATHESIS_HOOKS": RELAY,
            "FAULTSPEC_CHECKS": ",".join(plan.checks),
            "FAULTSPEC_FAILURES": str(failures_path),
            "FAULTSPEC_GATEWAY": str(gateway.server_port),
        }
        try:
            with output_path.open("wb") as output:
                process = subprocess.Popen(
                    _command(plan),
                    cwd=directory,
                    env=_environment(os.environ) | further,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )
        except OSError as error:
            return Generated(trouble=f"schemathesis cannot be started: {error}")
        over = late = False
        with process:
            try:
                while process.poll() is None and not over and not late:
                    gateway.handle_request()
                    over, late = is_over(), time.monotonic() - began >= plan.seconds
            finally:
                process.kill()
        trouble = None
        if late and not over:
            count = f"{gateway.requests} requests in {time.monotonic() - began:.0f} s"
            trouble = f"the traffic generation ended at its limit: {count}"
        elif not over:
            output_text = output_path.read_text(encoding="utf-8", errors="replace")
            errors = [
                found
                for found in _ERROR.finditer(output_text)
                if _EXPECTED.fullmatch(found[2]) is None
            ]
            if process.returncode not in (0, 1) or not gateway.requests or errors:
                trouble = _find_trouble(output_text, errors, process.returncode)
        return Generated(gateway.requests, tuple(_read_failures(failures_path)), trouble)


def _command(plan: GenerationPlan) -> list[str]:
    kept = {operation.name for operation in plan.operations}
    left_out = [
        f"--exclude-name={name}" for name in _operation_names(plan.description) if name not in kept
    ]
    program = [sys.executable, "-m", "schemathesis.cli", "--config-file=schemathesis.toml"]
    return [
        *program,
        "run",
        "openapi.json",
        "--phases=examples,coverage,fuzzing,stateful",
        f"--seed={plan.seed}",
        "--generation-database=none",
        "--workers=1",
        f"--request-timeout={_PATIENCE}",
        "--warnings=off",
        "--no-color",
        *left_out,
    ]


def _configuration(plan: GenerationPlan, address: str) -> str:
    return "\n".join(
        (
            f'base-url = "{address}"',
            # The judge of the run decides what is wrong; the hooks only hear of it.
            "[checks]",
            "enabled = false",
            "[checks.faultspec_gateway]",
            "enabled = true",
            "[phases.fuzzing.generation]",
            f"max-examples = {plan.examples}",
            "[phases.stateful.generation]",
            f"max-examples = {plan.scenarios}",
            "",
        )
    )


def _environment(environment: Mapping[str, str]) -> dict[str, str]:
    kept = {name: environment[name] for name in _ENVIRONMENT if name in environment}
    cache = environment.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return {
        **kept,
        "PYTHONHASHSEED": "0",  # requests must not depend on the order of sets
        "PYTHONUTF8": "1",
        "NO_PROXY": "*",  # for loopback
        "NETRC": os.devnull,  # its default entry would add the user's password to requests
        # Tables of Unicode, which take Hypothesis seconds to build. Nothing of a run is kept there.
        "HYPOTHESIS_STORAGE_DIRECTORY": str(Path(cache) / "faultspec" / "hypothesis"),
    }


def _document_at_root(description: Description) -> Mapping[str, object]:
    """The document with the base path in its paths, so that the gateway receives what the service
    would.
    """
    paths = description.document.get("paths")
    items = paths if isinstance(paths, dict) else {}
    document = {
        key: value
        for key, value in description.document.items()
        if key not in ("servers", "host", "basePath")
    }
    base = _base(description)
    return document | {
        "paths": {base + path: item for path, item in items.items() if path.startswith("/")}
    }


def _operation_names(description: Description) -> Iterator[str]:
    """``METHOD /template`` of every operation of the document, also of those that are skipped."""
    base, document = _base(description), description.document
    paths = document.get("paths")
    for path, item in paths.items() if isinstance(paths, dict) else ():
        for method in METHODS:
            if method.lower() in resolve(document, item):
                yield f"{method} {base}{path}"


def _base(description: Description) -> str:
    """The path that the templates of the operations have before those of the document."""
    paths = description.document.get("paths")
    template = description.operations[0].template
    found = (template.removesuffix(path) for path in paths or () if template.endswith(path))
    return next(found, "")


def _find_trouble(output: str, errors: Sequence[re.Match[str]], code: int) -> str:
    found = _UNLOADED.search(output) or next(iter(errors), None) or _TROUBLE.search(output)
    words = " ".join(": ".join(found.groups()).split()) if found else "no reason is given"
    return f"schemathesis ended with {code}: {shorten(words, 300)}"


def _read_failures(path: Path) -> Sequence[CheckFailure]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = []
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:  # the process was ended while it wrote
            continue
        found.append(
            CheckFailure(entry["check"], entry["title"], entry["message"], tuple(entry["cases"]))
        )
    return found


class _Gateway(HTTPServer):
    """A listener on loopback that has each request answered in turn.

    It has one thread, since a session is not safe for several. Each answer closes its connection,
    so that an idle one does not block the next.
    """

    #: Seconds that `handle_request` waits, so that the end of the generator is noticed soon.
    timeout = 0.1

    def __init__(self, answer: Callable[[GeneratedRequest], GatewayAnswer]) -> None:
        super().__init__(("127.0.0.1", 0), _handler(self.answer_request))
        self.requests = 0
        self._answer = answer

    @property
    def address(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.server_port}"

    def answer_request(self, request: Request) -> GatewayAnswer:
        """The answer to a request of the generator."""
        sent = {name.lower(): value for name, value in request.headers}
        if "x-schemathesis-probe" in sent:
            # It asks whether the server accepts control characters, which it need not.
            return GatewayAnswer(Response(400), sent=False)
        self.requests += 1
        phase, _, planned = sent.get(PHASE.lower(), "").partition(" ")
        kept = tuple(
            (name, value.strip())
            for name, value in request.headers
            if name.lower() not in _CONNECTION_HEADERS
        )
        return self._answer(
            GeneratedRequest(
                replace(request, headers=kept),
                case=sent.get(_CASE, ""),
                phase=phase,
                planned=int(planned) if planned.isdigit() else 0,
                trigger=unquote(sent.get(TRIGGER.lower(), "")),
            )
        )

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore broken connections, which the generator handles itself. Other errors are defects
        of ours.
        """
        if not isinstance(sys.exception(), OSError):
            raise


def _handler(answer: Callable[[Request], GatewayAnswer]) -> type[BaseHTTPRequestHandler]:
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
            answered = answer(Request(self.command, target, headers, body))
            response = answered.response
            if response is None:
                self.close_connection = True
                return
            self.send_response_only(response.status or 500)
            for name, value in response.headers:
                if name.lower() not in _HOP_HEADERS:
                    self.send_header(name, value)
            if not answered.sent:
                self.send_header(NOT_SENT, "1")
            if answered.findings:
                self.send_header(FINDINGS, " ".join(answered.findings))
            bodiless = self.command == "HEAD" or not has_content(response.status)
            if not bodiless:
                self.send_header("Content-Length", str(len(response.body)))
            self.end_headers()
            if not bodiless:
                self.wfile.write(response.body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Log nothing."""

    return Handler


def _decode(value: str) -> str:
    """A header value as text. The server reads bytes as Latin-1, the driver writes UTF-8."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value
