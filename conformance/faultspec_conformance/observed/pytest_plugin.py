"""A pytest plugin that judges the traffic of a team's own tests. A test fails if its service breaks
the contract.

The plugin is idle until a test uses the fixture ``faultspec``, or the session is observed as a
whole (``--faultspec-watch``). Both need a taxonomy, given by ``--faultspec`` or in the
configuration. The rest of faultspec is imported then, so that other tests start as fast as before.
"""

import pickle
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from faultspec.exchange.model import Exchange
    from faultspec_conformance.observed.accumulator import Accumulator
    from faultspec_conformance.observed.clients import ObservedClients
    from faultspec_conformance.observed.judging import ObservationFiles
    from faultspec_conformance.results.model import ReportedFinding, Result

_App = TypeVar("_App")

_OPTIONS = {
    "faultspec_taxonomy": "the taxonomy to judge by",
    "faultspec_openapi": "the OpenAPI document of the service, which names operations",
    "faultspec_waivers": "the file of known failures",
    "faultspec_hosts": "further hosts of the service, which --faultspec-watch judges as well",
    "faultspec_mode": (
        "fail (default): a finding fails its test; report: findings are only reported"
    ),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the command line and of the configuration."""
    group = parser.getgroup("faultspec", "judge the traffic of tests by an error taxonomy")
    group.addoption("--faultspec", metavar="TAXONOMY", help="The taxonomy to judge by.")
    group.addoption(
        "--faultspec-watch",
        action="store_true",
        help="Judge what every test gets from its service through httpx, requests, and the test "
        "clients of Starlette, Django and Flask. Needs no fixture; without a taxonomy it judges by "
        "what every service owes.",
    )
    group.addoption(
        "--faultspec-report",
        metavar="FORMAT=FILE",
        action="append",
        default=[],
        help="Write a report of the whole session; can be repeated.",
    )
    for name, text in _OPTIONS.items():
        parser.addini(name, text, default=None)


class Watch:
    """Observes the application or the clients of one test. ``findings``: its errors that no waiver
    covers. ``late``: those of the session that arrive when the test is ``over``, as of a thread.
    ``all_clients``: those of the whole session are observed.
    """

    def __init__(
        self,
        accumulator: "Accumulator",
        lock: threading.Lock,
        late: "list[ReportedFinding]",
        *,
        all_clients: bool = False,
    ) -> None:
        self.findings: list[ReportedFinding] = []
        self.over = False
        self._late = late
        self._accumulator = accumulator
        self._lock = lock
        self._all_clients = all_clients

    def see(self, exchange: "Exchange") -> None:
        """Judge an exchange. Tests build those of other transports than HTTP themselves."""
        with self._lock:
            found = self._accumulator.add(exchange)
        findings = self._late if self.over else self.findings
        findings += (
            finding for finding in found if finding.waived is None and finding.level == "error"
        )

    def app(self, app: Any) -> Any:
        """The ASGI application, wrapped so that every exchange is judged, also one that the
        application breaks off: that is a crash.
        """
        from faultspec_conformance.observed.broken_answers import BrokenAnswers
        from faultspec_conformance.observed.middleware import Watching

        return BrokenAnswers(Watching(app, self.see), self.see)

    def client(self, client: _App) -> _App:
        """The client itself (of httpx, Starlette or requests). Its answers are judged from now
        on.
        """
        from faultspec_conformance.observed.middleware import watch

        if not self._all_clients:
            watch(client, self.see)
        return client


class _Session:
    """The accumulator of a session. With pytest-xdist each worker has one, and the controller
    merges their results. ``owed``: there is no taxonomy, so it judges by what every service owes.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.lock = threading.Lock()
        self.started = time.monotonic()
        self.merged: Result | None = None
        self._accumulator: Accumulator | None = None
        self.report_only = config.getini("faultspec_mode") == "report"
        self.watches_all: bool = config.getoption("--faultspec-watch")
        self._clients: ObservedClients | None = None
        self._current: Watch | None = None
        self.late: list[ReportedFinding] = []
        self.owed = False

    @property
    def used(self) -> bool:
        """Whether any test has used the fixture."""
        return self._accumulator is not None or self.merged is not None

    @property
    def accumulator(self) -> "Accumulator":
        """The accumulator, created on first use. Raises UsageError if a file is missing or
        wrong.
        """
        if self._accumulator is None:
            files = _find_files(self.config)
            self.owed = files.taxonomy is None
            self._accumulator = _create_accumulator(files)
        return self._accumulator

    def start_watch(self) -> Watch:
        """Observe a test. Raises UsageError if a file is missing or wrong."""
        with self.lock:
            self.accumulator.start_recording()  # tests have applications and ids of their own
        self._current = Watch(self.accumulator, self.lock, self.late, all_clients=self.watches_all)
        return self._current

    def wrap_clients(self) -> None:
        """Observe the libraries that are imported by now."""
        from faultspec_conformance.observed.clients import ObservedClients

        named = str(self.config.getini("faultspec_hosts") or "").split()
        self._clients = self._clients or ObservedClients(self._see, named)
        self._clients.wrap()

    def unwrap_clients(self) -> None:
        """Leave the libraries as they were, and note the hosts that were not judged."""
        if self._clients is not None:
            self._clients.unwrap()
            for note in self._clients.notes():
                self.accumulator.note(note)

    def _see(self, exchange: "Exchange") -> None:
        if self._current is not None:
            self._current.see(exchange)

    def result(self) -> "Result":
        """The result of this process and the workers."""
        from faultspec_conformance.results.recorded import add_parts, describe_part

        own = self.accumulator.result("the tests", seconds=time.monotonic() - self.started)
        return own if self.merged is None else describe_part(add_parts(self.merged, own))


_SESSION = pytest.StashKey[_Session]()
_WATCH = pytest.StashKey[Watch]()


def pytest_configure(config: pytest.Config) -> None:
    """Make room for the state of the session."""
    config.stash[_SESSION] = _Session(config)


@pytest.fixture
def faultspec(request: pytest.FixtureRequest) -> Watch:
    """Judges the exchanges of a test: ``faultspec.app(app)``, ``faultspec.client(client)``."""
    known: Watch | None = request.node.stash.get(_WATCH, None)
    if known is not None:
        return known
    try:
        watch = request.config.stash[_SESSION].start_watch()
    except pytest.UsageError as error:
        pytest.fail(str(error), pytrace=False)
    request.node.stash[_WATCH] = watch
    return watch


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Observe all clients of a test and of its fixtures, if the session is observed."""
    session = item.config.stash[_SESSION]
    if session.watches_all:
        try:
            item.stash[_WATCH] = session.start_watch()
        except pytest.UsageError as error:
            pytest.exit(str(error), returncode=pytest.ExitCode.USAGE_ERROR)
        session.wrap_clients()
    yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test that passed if an answer breaks the contract."""
    session = item.config.stash[_SESSION]
    if session.watches_all:
        session.wrap_clients()  # fixtures may have imported more
    yield
    _fail_for_findings(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Fail a teardown in which an answer breaks the contract."""
    watch = item.stash.get(_WATCH, None)
    if watch is not None:
        watch.findings.clear()
    yield
    if watch is not None:
        watch.over = True
    _fail_for_findings(item)


def _fail_for_findings(item: pytest.Item) -> None:
    watch = item.stash.get(_WATCH, None)
    if watch is not None and watch.findings and not item.config.stash[_SESSION].report_only:
        from faultspec_conformance.observed.judging import print_findings

        pytest.fail(print_findings(watch.findings), pytrace=False)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a session whose answers broke the contract after their tests. Send the result of a
    worker to its controller.
    """
    own = session.config.stash[_SESSION]
    own.unwrap_clients()
    if own.late and not own.report_only and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    output = getattr(session.config, "workeroutput", None)
    if output is not None and own.used:
        output["faultspec"] = pickle.dumps((own.result(), own.late))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Merge the result of a worker of pytest-xdist, and its findings after their tests."""
    sent = getattr(node, "workeroutput", {}).get("faultspec")
    if sent is None:
        return
    from faultspec_conformance.results.recorded import add_parts

    own = node.config.stash[_SESSION]
    result, late = pickle.loads(sent)
    own.late += late
    own.merged = result if own.merged is None else add_parts(own.merged, result)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the findings that are only reported, one line of summary, and the names of written
    reports.
    """
    own = config.stash[_SESSION]
    if not own.used:
        return
    from faultspec_conformance.observed.judging import (
        conclude_observed,
        describe_result,
        find_warnings,
        print_findings,
    )
    from faultspec_conformance.reports import FORMATS
    from faultspec_conformance.reports.private_file import write_private
    from faultspec_conformance.results.model import Report

    result = conclude_observed(own.result(), owed=own.owed)
    report = Report(result, "")
    terminalreporter.section("faultspec")
    if own.report_only:
        fresh = [finding for finding in result.findings if finding.waived is None]
        terminalreporter.write_line(print_findings(fresh).rstrip())
    else:
        for heading, findings in (
            ("answers that came after the tests that asked for them:", own.late),
            ("warnings, which fail no test:", find_warnings(result)),
        ):
            if findings:
                terminalreporter.write_line(heading)
                terminalreporter.write_line(print_findings(findings).rstrip())
    for line in (*result.failures, *result.not_run, *result.notes):
        terminalreporter.write_line(line)
    terminalreporter.write_line(describe_result(result))
    for option in config.getoption("--faultspec-report"):
        name, _, path = option.partition("=")
        try:
            write_private(Path(path), FORMATS[name](report))
        except OSError as error:
            terminalreporter.write_line(f"could not write {path}: {error.strerror}")
        else:
            terminalreporter.write_line(f"wrote {path}")


def _create_accumulator(files: "ObservationFiles") -> "Accumulator":
    from faultspec_conformance.observed.judging import UnusableFile, create_accumulator

    try:
        return create_accumulator(files)
    except UnusableFile as error:
        raise pytest.UsageError(str(error)) from None


def _find_files(config: pytest.Config) -> "ObservationFiles":
    """The files of a session. Raises UsageError."""
    from faultspec_conformance.observed.judging import (
        ObservationFiles,
        UnusableFile,
        find_project_taxonomy,
    )
    from faultspec_conformance.reports import FORMATS

    for option in config.getoption("--faultspec-report"):
        name, _, path = option.partition("=")
        if name not in FORMATS or not path:
            formats = ", ".join(FORMATS)
            raise pytest.UsageError(
                f"--faultspec-report: {option!r} is not FORMAT=FILE with a format of {formats}"
            )
    named = config.getoption("--faultspec") or _configured_path(config, "faultspec_taxonomy")
    try:
        taxonomy = named or find_project_taxonomy(config.rootpath)
        if taxonomy is None and not config.getoption("--faultspec-watch"):
            raise UnusableFile(
                "judging tests needs a taxonomy: give --faultspec TAXONOMY, "
                "or faultspec_taxonomy in the configuration"
            )
    except UnusableFile as error:
        raise pytest.UsageError(str(error)) from None
    return ObservationFiles(
        taxonomy=taxonomy,
        openapi=_configured_path(config, "faultspec_openapi"),
        waivers=_configured_path(config, "faultspec_waivers"),
    )


def _configured_path(config: pytest.Config, name: str) -> str | None:
    """A path that the configuration gives relative to its root."""
    value = config.getini(name)
    return str(config.rootpath / value) if value else None
