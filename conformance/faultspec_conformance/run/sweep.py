"""Generated traffic, judged by the same judge. The only module that knows schemathesis.

Schemathesis writes requests, nothing more: it runs in a process of its own against a listener on loopback that notes what
arrives, and never meets the service. What it wrote is then sent, thinned to the budget, by the driver that sends everything
else, so that limits, credentials, the judge and the reports are the same as for a probe. Nothing of schemathesis is used
but its command line.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from itertools import chain, zip_longest
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from faultspec.exchange.model import Headers, Request
from faultspec.openapi.service import Description, ServiceOperation
from faultspec_conformance.config import CREDENTIALS, NOBODY, Identity
from faultspec_conformance.drivers.http import SAFE_METHODS
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Unanswered
from faultspec_conformance.session.parameters import known_values
from faultspec_conformance.session.resources import path_of

#: The service sees at most so many requests of the sweep, and of one operation at most so many: what the coverage phase
#: writes beyond that differs in ever smaller ways.
REQUESTS, PER_OPERATION = 300, 24

#: Seconds that writing may take, at most half of what is left; a document of a dozen operations takes three to eight.
SECONDS = 40.0

#: A document of hundreds of operations makes tens of thousands; what is beyond would only be thinned out.
_CAUGHT = 20_000

#: Of the methods that the document does not declare for a path: a probe asks for one of them already.
_UNDECLARED = 2

#: The part of the requests that goes out without credentials.
_ANONYMOUS = 1 / 8

#: A limit on the service's rate is waited out so often; after that 429 is an answer like any other.
_PATIENT = 3

#: After so many requests without an answer the service is not asked any more.
_HOPELESS = 3

#: Reasons that a run shows of the sweep; more would say the same.
_REASONS = 4

#: Headers that belong to one connection or to the client; the driver sends its own.
_HOP = frozenset(
    {
        "host",
        "connection",
        "keep-alive",
        "accept-encoding",
        "content-length",
        "transfer-encoding",
        "user-agent",
        "te",
    }
)

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

#: What an HTTP client can write into a field (RFC 9110, 5.5) and into a request line.
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\uffff]*")
_TARGET = re.compile(r"/[\x21-\x7e]{0,8000}")

#: Nothing of the caller's environment is the generator's business but where programs and temporary files are.
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

#: What it says at length when it cannot load a document, and the one line of any other trouble.
_UNLOADED = re.compile(r"Schema Loading Error\s+(.+?)\n\s*(?:\n|\Z)", re.DOTALL)
_TROUBLE = re.compile(r"^\W*(\S.*\b(?:[Ee]rror|failed|invalid)\b.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Swept:
    """What is to be said of a sweep beside what the judge found. ``notes`` are no trouble, ``not_run`` is. ``complete``: all that
    was to be written was written, and was answered.
    """

    notes: tuple[str, ...] = ()
    not_run: tuple[str, ...] = ()
    complete: bool = False


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """The requests that were generated, as they arrived; ``trouble``: why there are none, or not for every operation."""

    requests: tuple[Request, ...] = ()
    trouble: str | None = None


def sweep(world: HttpSession, *, seed: int) -> Swept:
    """Send generated requests within what is left of the limits. Never raises for what a document or a service does.

    Which requests are written depends on the document alone, which of them are sent on ``seed`` as well.
    """
    operations = [
        operation
        for operation in world.description.operations
        if world.writable or operation.method in SAFE_METHODS
    ]
    if not operations:
        return Swept(
            notes=("no sweep: no OpenAPI document names an operation that may be asked",),
            complete=True,
        )
    if world.observations.ended is not None:
        return Swept(not_run=(f"the sweep: {world.observations.ended}",))
    budget = min(world.driver.limits.requests - world.driver.requests, REQUESTS)
    if budget <= 0 or world.driver.remaining <= 0:
        return Swept(
            not_run=("the sweep: the probes have spent the limits of requests or seconds",)
        )
    if find_spec("schemathesis") is None:
        return Swept(
            not_run=(
                "the sweep: schemathesis is not installed (`pip install faultspec[conformance]`)",
            )
        )
    written = write(
        world.description, seconds=min(SECONDS, world.driver.remaining / 2), writes=world.writable
    )
    if not written.requests:
        return Swept(not_run=(f"the sweep: {written.trouble or 'no request was generated'}",))
    notes = (f"the sweep is not complete: {written.trouble}",) if written.trouble else ()
    random = Random(seed)
    chosen = thinned(written.requests, world.description, budget, random, writes=world.writable)
    not_run = send(world, chosen, random)
    return Swept(notes, not_run, complete=not (notes or not_run) and world.driver.remaining > 0)


@dataclass(frozen=True, slots=True)
class Planned:
    """A request to be sent, and the template that it was written from."""

    request: Request
    template: str


def thinned(
    requests: Iterable[Request],
    description: Description,
    budget: int,
    random: Random,
    *,
    writes: bool,
) -> tuple[Planned, ...]:
    """At most ``budget`` of the requests, by turns of each operation, so that none goes without for another's sake."""
    groups: dict[str, dict[Request, Planned]] = {}
    for request in requests:
        if request.method not in SAFE_METHODS and not writes:
            continue
        template = template_of(description, request)
        if template is not None and sendable(request):
            groups.setdefault(f"{request.method} {template}", {})[request] = Planned(
                request, template
            )
    # Undeclared methods are written for every path alike, so all those of a path count as one operation.
    declared = {operation.name for operation in description.operations}
    turns: dict[str, list[Planned]] = {}
    for name, group in groups.items():
        turns.setdefault(name if name in declared else name.partition(" ")[2], []).extend(
            group.values()
        )
    picked = [
        _sample(group, PER_OPERATION if name in declared else _UNDECLARED, random)
        for name, group in turns.items()
    ]
    mixed = (each for each in chain.from_iterable(zip_longest(*picked)) if each is not None)
    return tuple(each for each, _ in zip(mixed, range(budget), strict=False))


def _sample(group: Sequence[Planned], most: int, random: Random) -> Sequence[Planned]:
    return [
        group[index] for index in sorted(random.sample(range(len(group)), min(most, len(group))))
    ]


def template_of(description: Description, request: Request) -> str | None:
    """The template whose path the request has, whatever its method; None where the document has none."""
    path = request.target.partition("?")[0]
    exact = description.at(request.method, path)
    if exact is not None:
        return exact.template
    found = (
        description.at(method, path)
        for method in dict.fromkeys(operation.method for operation in description.operations)
    )
    return next((each.template for each in found if each is not None), None)


def sendable(request: Request) -> bool:
    """Whether an HTTP client can write the request: what it can't says nothing of the service."""
    return _TARGET.fullmatch(request.target) is not None and all(
        _TOKEN.fullmatch(name) and _VALUE.fullmatch(value) for name, value in request.headers
    )


# ---- sending


def send(world: HttpSession, planned: Iterable[Planned], random: Random) -> tuple[str, ...]:
    """Send what was planned and have it judged; the reasons of what got no answer."""
    reasons: dict[str, None] = {}
    unanswered = waits = 0
    for each in planned:
        who = NOBODY if random.random() < _ANONYMOUS else world.caller
        request = dressed(world, each, who, random)
        patient = waits < _PATIENT
        before = world.driver.requests
        try:
            world.ask(request, who, route=each.template, wait_when_limited=patient)
        except Unanswered as error:
            answer = error.no_answer
            if answer.kind == "budget":
                break
            unanswered += 1
            reasons[f"the sweep: {request.method} {each.template}: {answer.reason}"] = None
            if world.observations.ended is not None or unanswered >= _HOPELESS:
                break
        waits += patient and world.driver.requests > before + 1
    return tuple(reasons)[:_REASONS]


def dressed(world: HttpSession, planned: Planned, who: Identity, random: Random) -> Request:
    """A generated request as the caller would send it: with his headers, and a correlation id by turns.

    Every other one goes to a resource that exists, where the path can lead to one, so that more than absence is tested; no
    DELETE does, for it is to stay. Every other one goes without the headers that recipes bring errors about with: a
    document that declares such a switch has it set nearly everywhere.
    """
    request = planned.request
    own = {name.lower() for name, _ in who.headers}
    dropped = own | (CREDENTIALS if own else set())
    if random.random() < 0.5:
        dropped |= {
            name.lower()
            for recipe in world.config.recipes
            for step in recipe.steps
            for name in step.call.headers
        }
    headers = [("User-Agent", "faultspec-conform"), *who.headers]
    if world.echo is not None:
        # Malformed ones have a probe of their own, which knows what is to become of them.
        dropped |= {world.echo.header.lower()}
        inbound = world.inbound()
        headers += [(world.echo.header, inbound)] if inbound is not None else []
    headers += [pair for pair in request.headers if pair[0].lower() not in dropped]
    target = request.target
    if random.random() < 0.5 and request.method != "DELETE":
        target = _settled(world, ServiceOperation(request.method, planned.template), target)
    return replace(request, target=target, headers=tuple(headers))


def _settled(world: HttpSession, operation: ServiceOperation, target: str) -> str:
    known = known_values(world, operation)
    if not operation.placeholders or not set(operation.placeholders) <= set(known):
        return target
    return path_of(operation.template, known) + target[len(target.partition("?")[0]) :]


# ---- writing


def write(description: Description, *, seconds: float, writes: bool) -> PreparedRequest:
    """Have schemathesis write requests for every operation of the document, for at most so many seconds."""
    began = time.monotonic()
    with TemporaryDirectory(prefix="faultspec-sweep-") as name, _Catcher() as catcher:
        directory = Path(name)
        (directory / "openapi.json").write_text(
            json.dumps(_rebased(description), default=str), encoding="utf-8"
        )
        # Checks of its own would only cost time: the judge is ours.
        configuration = f'base-url = "{catcher.address}"\n[checks]\nenabled = false\n'
        (directory / "schemathesis.toml").write_text(configuration, encoding="utf-8")
        said = directory / "said.txt"
        with said.open("wb") as output:
            try:
                process = subprocess.Popen(
                    _command(writes),
                    cwd=directory,
                    env=_environment(os.environ),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )
            except OSError as error:
                return PreparedRequest(trouble=f"schemathesis cannot be started: {error}")
            with process:
                try:
                    while (
                        process.poll() is None
                        and time.monotonic() < began + seconds
                        and len(catcher.caught) < _CAUGHT
                    ):
                        catcher.handle_request()
                finally:
                    stopped = process.poll() is None
                    process.kill()
        requests = tuple(catcher.caught)
        if stopped:
            spent = time.monotonic() - began
            return PreparedRequest(
                requests,
                f"writing was stopped after {spent:.0f} s, with {len(requests)} requests written",
            )
        if process.returncode == 0 and requests:
            return PreparedRequest(requests)
        return PreparedRequest(
            requests,
            _trouble(said.read_text(encoding="utf-8", errors="replace"), process.returncode),
        )


def _command(writes: bool) -> list[str]:
    # Coverage alone: a few dozen requests an operation, the same in every run; the other phases cost ten times as much.
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
        "PYTHONHASHSEED": "0",  # the order of sets must not decide what is written
        "PYTHONUTF8": "1",
        "NO_PROXY": "*",  # loopback needs none
        # Hypothesis' tables of Unicode take seconds to make; nothing of a run is kept beside them.
        "HYPOTHESIS_STORAGE_DIRECTORY": str(Path(cache) / "faultspec" / "hypothesis"),
    }


def _rebased(description: Description) -> Mapping[str, object]:
    """The document with the base path in its paths, so that what arrives at the listener is what the service would see."""
    paths = description.document.get("paths")
    items = paths if isinstance(paths, dict) else {}
    document = {
        key: value
        for key, value in description.document.items()
        if key not in ("servers", "host", "basePath")
    }
    whole = description.operations[0].template
    base = next((whole.removesuffix(each) for each in items if whole.endswith(each)), "")
    return document | {
        "paths": {base + each: item for each, item in items.items() if each.startswith("/")}
    }


def _trouble(said: str, code: int) -> str:
    found = _UNLOADED.search(said) or _TROUBLE.search(said)
    words = " ".join(found[1].split())[:300] if found else "it does not say why"
    return f"schemathesis ended with {code}: {words}"


class _Catcher(HTTPServer):
    """A listener on loopback that notes requests and says yes to everything.

    One thread is enough, and each answer closes its connection, so that no idle one keeps another waiting.
    """

    #: Seconds that `handle_request` waits, so that the end of the writer is noticed soon.
    timeout = 0.1

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _handler(self.note))
        self.caught: list[Request] = []

    @property
    def address(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.server_port}"

    def note(self, request: Request) -> bool:
        """Keep a request that is meant for the service; say whether it was one."""
        if any(name.lower() == "x-schemathesis-probe" for name, _ in request.headers):
            return False  # a question whether the server bears control characters: it need not
        kept = tuple((name, value.strip()) for name, value in request.headers if not _ours(name))
        self.caught.append(replace(request, headers=kept))
        return True

    def handle_error(self, request: object, client_address: object) -> None:
        """Let a connection break off; the writer goes on or ends by itself. What else goes wrong is a mistake of ours."""
        if not isinstance(sys.exception(), OSError):
            raise


def _ours(name: str) -> bool:
    return name.lower() in _HOP or name.lower() == "x-schemathesis-testcaseid"


def _handler(note: Callable[[Request], bool]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 5  # seconds for the rest of a request on this machine

        def __getattr__(self, name: str) -> Callable[[], None]:
            if name.startswith("do_"):  # whatever the method
                return self.answer
            raise AttributeError(name)

        def answer(self) -> None:
            length = self.headers.get("Content-Length", "0")
            body = self.rfile.read(int(length)) if length.isdigit() else b""
            headers: Headers = tuple(
                (name, _decoded(value)) for name, value in self.headers.items()
            )
            target = self.path if self.path.startswith("/") else urlsplit(self.path).path
            good = note(Request(self.command, target, headers, body))
            content = b"{}"
            self.send_response(200 if good else 400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def log_message(self, format: str, *arguments: object) -> None:
            """Nobody reads it."""

    return Handler


def _decoded(value: str) -> str:
    """A header value as text; the server reads bytes as Latin-1, the driver writes UTF-8."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value
