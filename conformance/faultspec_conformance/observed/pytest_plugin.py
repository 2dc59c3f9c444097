"""A plugin of pytest: the traffic of a team's own tests is judged, and a test whose service breaks the contract fails.

It does nothing until a taxonomy is named, by ``--faultspec`` or in the configuration, and a test asks for the fixture
``faultspec``. Everything of ours is imported then, not before.
"""

import os
import pickle
import threading
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from faultspec.exchange.model import Exchange
    from faultspec_conformance.observed.accumulator import Accumulator
    from faultspec_conformance.results.model import ReportedFinding, Result

_App = TypeVar("_App")

_OPTIONS = {
    "faultspec_taxonomy": "the taxonomy that traffic is judged by",
    "faultspec_openapi": "the OpenAPI document of the service, by which operations are named",
    "faultspec_waivers": "the file of known failures",
    "faultspec_mode": "fail: a test fails with what its traffic breaks (the default); report: it is only reported",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, on the command line and in the configuration."""
    group = parser.getgroup("faultspec", "judge the traffic of tests by an error taxonomy")
    group.addoption(
        "--faultspec", metavar="TAXONOMY", help="The taxonomy that traffic is judged by."
    )
    group.addoption(
        "--faultspec-report",
        metavar="FORMAT=FILE",
        action="append",
        default=[],
        help="Write a report of the whole session; may be repeated.",
    )
    for name, text in _OPTIONS.items():
        parser.addini(name, text, default=None)


class Watch:
    """What a test hands its application or its clients to; ``findings`` are those of this test that no waiver covers."""

    def __init__(self, tally: "Accumulator", lock: threading.Lock) -> None:
        self.findings: list[ReportedFinding] = []
        self._tally = tally
        self._lock = lock

    def see(self, exchange: "Exchange") -> None:
        """Judge an exchange; those of other transports than HTTP are built by the test."""
        with self._lock:
            found = self._tally.see(exchange)
        self.findings += (each for each in found if each.waived is None and each.level == "error")

    def app(self, app: Any) -> Any:
        """The ASGI application, with every exchange judged on its way."""
        from faultspec_conformance.observed.middleware import Watching

        return Watching(app, self.see)

    def client(self, client: _App) -> _App:
        """The client itself (of httpx, Starlette or requests), whose answers are judged from now on."""
        from faultspec_conformance.observed.middleware import watch

        watch(client, self.see)
        return client


class _Session:
    """The one tally of a session; with pytest-xdist each worker has one, and the controller merges what they send."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.lock = threading.Lock()
        self.started = time.monotonic()
        self.merged: Result | None = None
        self._tally: Accumulator | None = None
        self.report_only = config.getini("faultspec_mode") == "report"

    @property
    def seen(self) -> bool:
        """Whether any test has asked for the fixture."""
        return self._tally is not None or self.merged is not None

    @property
    def tally(self) -> "Accumulator":
        """The tally, made when it is first asked for; raises UsageError where a file is missing or wrong."""
        if self._tally is None:
            self._tally = _tally(self.config)
        return self._tally

    def result(self) -> "Result":
        """Everything seen, by this process and the workers."""
        from faultspec_conformance.results.model import merge

        own = self.tally.result("the tests", seconds=time.monotonic() - self.started)
        return own if self.merged is None else merge(self.merged, own)


_SESSION = pytest.StashKey[_Session]()
_WATCH = pytest.StashKey[Watch]()


def pytest_configure(config: pytest.Config) -> None:
    """Nothing but a place for what may come."""
    config.stash[_SESSION] = _Session(config)


@pytest.fixture
def faultspec(request: pytest.FixtureRequest) -> Watch:
    """Judges what a test asks of its service: ``faultspec.app(app)``, ``faultspec.client(client)``."""
    session = request.config.stash[_SESSION]
    try:
        with session.lock:
            session.tally.next_recording()  # each test may make an application of its own, with ids of its own
        watch = Watch(session.tally, session.lock)
    except pytest.UsageError as error:
        pytest.fail(str(error), pytrace=False)
    request.node.stash[_WATCH] = watch
    return watch


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A test that passed fails all the same where what it was answered breaks the contract."""
    yield
    watch = item.stash.get(_WATCH, None)
    if watch is not None and watch.findings and not item.config.stash[_SESSION].report_only:
        pytest.fail(_told(watch.findings), pytrace=False)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send what a worker saw to its controller."""
    own = session.config.stash[_SESSION]
    output = getattr(session.config, "workeroutput", None)
    if output is not None and own.seen:
        output["faultspec"] = pickle.dumps(own.result())


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take in what a worker of pytest-xdist saw."""
    sent = getattr(node, "workeroutput", {}).get("faultspec")
    if sent is None:
        return
    from faultspec_conformance.results.model import merge

    own = node.config.stash[_SESSION]
    result = pickle.loads(sent)
    own.merged = result if own.merged is None else merge(own.merged, result)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """One line on what was judged; what is only reported; and the reports that were asked for."""
    own = config.stash[_SESSION]
    if not own.seen:
        return
    from faultspec_conformance.reports import FORMATS
    from faultspec_conformance.results.model import Report, settled

    result = settled(own.result(), date.today())
    report = Report(result, "")
    failed = sum(
        finding.count
        for finding in result.findings
        if finding.level == "error" and finding.waived is None
    )
    known = sum(finding.count for finding in result.findings if finding.waived is not None)
    terminalreporter.section("faultspec")
    if own.report_only:
        terminalreporter.write_line(
            _told([finding for finding in result.findings if finding.waived is None]).rstrip()
        )
    for each in (*result.failures, *result.notes):
        terminalreporter.write_line(each)
    terminalreporter.write_line(
        f"{result.requests} exchanges judged by {result.taxonomy}: {failed} findings, {known} known; "
        f"{sum(each.observed for each in result.coverage.values())} of {len(result.coverage)} codes observed"
    )
    for option in config.getoption("--faultspec-report"):
        name, _, path = option.partition("=")
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(FORMATS[name](report), encoding="utf-8")
        terminalreporter.write_line(f"wrote {path}")


def _told(findings: "list[ReportedFinding]") -> str:
    from faultspec_conformance.reports.console import findings_text as told
    from faultspec_conformance.results.model import Report, Result, folded

    return told(Report(Result("", "", findings=folded(findings)), ""))


def _tally(config: pytest.Config) -> "Accumulator":
    from faultspec import language
    from faultspec.contract.model import build_contract
    from faultspec.diagnostics.printers import text
    from faultspec.openapi import service
    from faultspec.openapi.text import UnreadableDocument, read_file
    from faultspec_conformance.observed.accumulator import Accumulator
    from faultspec_conformance.reports import FORMATS
    from faultspec_conformance.results import waivers

    for option in config.getoption("--faultspec-report"):
        if option.partition("=")[0] not in FORMATS or not option.partition("=")[2]:
            raise pytest.UsageError(
                f"--faultspec-report: {option!r} is not FORMAT=FILE with a format of {', '.join(FORMATS)}"
            )
    named = config.getoption("--faultspec") or _file(config, "faultspec_taxonomy")
    if named is None:
        raise pytest.UsageError(
            "the fixture `faultspec` needs a taxonomy: give --faultspec TAXONOMY, or faultspec_taxonomy in the configuration"
        )
    loaded = language.load(str(named))
    errors = [diagnostic for diagnostic in loaded.diagnostics if diagnostic.severity == "error"]
    if loaded.taxonomy is None or errors:
        raise pytest.UsageError(text(errors, loaded.sources))
    known: tuple[waivers.Waiver, ...] = ()
    if (path := _file(config, "faultspec_waivers")) is not None:
        read = waivers.read(path)
        wrong = [
            each
            for each in (*read.diagnostics, *waivers.problems(read, loaded.taxonomy))
            if each.severity == "error"
        ]
        if wrong:
            raise pytest.UsageError(text(wrong, read.sources))
        here = waivers.in_force(read.waivers, os.environ)
        known = tuple(
            each for each in here if each.expires >= date.today()
        )  # one that expired covers nothing
    description = None
    if (path := _file(config, "faultspec_openapi")) is not None:
        try:
            description = service.read(read_file(path))
        except UnreadableDocument as error:
            raise pytest.UsageError(str(error)) from None
    return Accumulator(build_contract(loaded.taxonomy), waivers=known, description=description)


def _file(config: pytest.Config, name: str) -> str | None:
    """A file that the configuration names, relative to it."""
    value = config.getini(name)
    return str(config.rootpath / value) if value else None
