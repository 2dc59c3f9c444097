"""A pytest plugin that judges the traffic of a team's own tests. A test fails if its service breaks
the contract.

The plugin is idle until a test uses the fixture ``faultspec``. The fixture needs a taxonomy, given
by ``--faultspec`` or in the configuration. The rest of faultspec is imported then, so that other
tests start as fast as before.
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
    from faultspec.language.model import Taxonomy
    from faultspec.openapi.service import Description
    from faultspec_conformance.observed.accumulator import Accumulator
    from faultspec_conformance.results.model import ReportedFinding, Result
    from faultspec_conformance.results.waivers import Waiver

_App = TypeVar("_App")

_OPTIONS = {
    "faultspec_taxonomy": "the taxonomy to judge by",
    "faultspec_openapi": "the OpenAPI document of the service, which names operations",
    "faultspec_waivers": "the file of known failures",
    "faultspec_mode": (
        "fail (default): a finding fails its test; report: findings are only reported"
    ),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the command line and of the configuration."""
    group = parser.getgroup("faultspec", "judge the traffic of tests by an error taxonomy")
    group.addoption("--faultspec", metavar="TAXONOMY", help="The taxonomy to judge by.")
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
    covers.
    """

    def __init__(self, accumulator: "Accumulator", lock: threading.Lock) -> None:
        self.findings: list[ReportedFinding] = []
        self._accumulator = accumulator
        self._lock = lock

    def see(self, exchange: "Exchange") -> None:
        """Judge an exchange. Tests build those of other transports than HTTP themselves."""
        with self._lock:
            found = self._accumulator.add(exchange)
        self.findings += (
            finding for finding in found if finding.waived is None and finding.level == "error"
        )

    def app(self, app: Any) -> Any:
        """The ASGI application, wrapped so that every exchange is judged."""
        from faultspec_conformance.observed.middleware import Watching

        return Watching(app, self.see)

    def client(self, client: _App) -> _App:
        """The client itself (of httpx, Starlette or requests). Its answers are judged from now
        on.
        """
        from faultspec_conformance.observed.middleware import watch

        watch(client, self.see)
        return client


class _Session:
    """The accumulator of a session. With pytest-xdist each worker has one, and the controller
    merges their results.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.lock = threading.Lock()
        self.started = time.monotonic()
        self.merged: Result | None = None
        self._accumulator: Accumulator | None = None
        self.report_only = config.getini("faultspec_mode") == "report"

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
            self._accumulator = _create_accumulator(self.config)
        return self._accumulator

    def result(self) -> "Result":
        """The result of this process and the workers."""
        from faultspec_conformance.results.merge import merge_results

        own = self.accumulator.result("the tests", seconds=time.monotonic() - self.started)
        return own if self.merged is None else merge_results(self.merged, own)


_SESSION = pytest.StashKey[_Session]()
_WATCH = pytest.StashKey[Watch]()


def pytest_configure(config: pytest.Config) -> None:
    """Make room for the state of the session."""
    config.stash[_SESSION] = _Session(config)


@pytest.fixture
def faultspec(request: pytest.FixtureRequest) -> Watch:
    """Judges the exchanges of a test: ``faultspec.app(app)``, ``faultspec.client(client)``."""
    session = request.config.stash[_SESSION]
    try:
        with session.lock:
            session.accumulator.start_recording()  # tests have applications and ids of their own
        watch = Watch(session.accumulator, session.lock)
    except pytest.UsageError as error:
        pytest.fail(str(error), pytrace=False)
    request.node.stash[_WATCH] = watch
    return watch


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test that passed if an answer breaks the contract."""
    yield
    watch = item.stash.get(_WATCH, None)
    if watch is not None and watch.findings and not item.config.stash[_SESSION].report_only:
        pytest.fail(_print_findings(watch.findings), pytrace=False)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the result of a worker to its controller."""
    own = session.config.stash[_SESSION]
    output = getattr(session.config, "workeroutput", None)
    if output is not None and own.used:
        output["faultspec"] = pickle.dumps(own.result())


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Merge the result of a worker of pytest-xdist."""
    sent = getattr(node, "workeroutput", {}).get("faultspec")
    if sent is None:
        return
    from faultspec_conformance.results.merge import merge_results

    own = node.config.stash[_SESSION]
    result = pickle.loads(sent)
    own.merged = result if own.merged is None else merge_results(own.merged, result)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the findings that are only reported, one line of summary, and the names of written
    reports.
    """
    own = config.stash[_SESSION]
    if not own.used:
        return
    from faultspec_conformance.reports import FORMATS
    from faultspec_conformance.reports.private_file import write_private
    from faultspec_conformance.results.conclusion import conclude
    from faultspec_conformance.results.model import Report

    result = conclude(own.result(), date.today())
    report = Report(result, "")
    fresh = [finding for finding in result.findings if finding.waived is None]
    failed = sum(finding.count for finding in fresh if finding.level == "error")
    known = sum(finding.count for finding in result.findings if finding.waived is not None)
    observed = sum(coverage.observed for coverage in result.coverage.values())
    terminalreporter.section("faultspec")
    if own.report_only:
        terminalreporter.write_line(_print_findings(fresh).rstrip())
    for line in (*result.failures, *result.notes):
        terminalreporter.write_line(line)
    terminalreporter.write_line(
        f"{result.requests} exchanges judged by {result.taxonomy}: {failed} findings, "
        f"{known} known; {observed} of {len(result.coverage)} codes observed"
    )
    for option in config.getoption("--faultspec-report"):
        name, _, path = option.partition("=")
        try:
            write_private(Path(path), FORMATS[name](report))
        except OSError as error:
            terminalreporter.write_line(f"could not write {path}: {error.strerror}")
        else:
            terminalreporter.write_line(f"wrote {path}")


def _print_findings(findings: "list[ReportedFinding]") -> str:
    from faultspec_conformance.reports.console import findings_text
    from faultspec_conformance.results.findings import join_findings
    from faultspec_conformance.results.model import Report, Result

    return findings_text(Report(Result("", "", findings=join_findings(findings)), ""))


def _create_accumulator(config: pytest.Config) -> "Accumulator":
    from faultspec import language
    from faultspec.contract.model import build_contract
    from faultspec.diagnostics.printers import text
    from faultspec_conformance.observed.accumulator import Accumulator
    from faultspec_conformance.reports import FORMATS

    for option in config.getoption("--faultspec-report"):
        name, _, path = option.partition("=")
        if name not in FORMATS or not path:
            formats = ", ".join(FORMATS)
            raise pytest.UsageError(
                f"--faultspec-report: {option!r} is not FORMAT=FILE with a format of {formats}"
            )
    named = config.getoption("--faultspec") or _configured_path(config, "faultspec_taxonomy")
    if named is None:
        raise pytest.UsageError(
            "the fixture `faultspec` needs a taxonomy: give --faultspec TAXONOMY, "
            "or faultspec_taxonomy in the configuration"
        )
    loaded = language.load(str(named))
    errors = [diagnostic for diagnostic in loaded.diagnostics if diagnostic.severity == "error"]
    if loaded.taxonomy is None or errors:
        raise pytest.UsageError(text(errors, loaded.sources))
    return Accumulator(
        build_contract(loaded.taxonomy),
        waivers=_load_waivers(config, loaded.taxonomy),
        description=_load_description(config),
        crashes="warning",  # tests bring crashes about
    )


def _load_waivers(config: pytest.Config, taxonomy: "Taxonomy") -> "tuple[Waiver, ...]":
    """The waivers in force that have not expired; an expired one covers nothing here."""
    from faultspec.diagnostics.printers import text
    from faultspec_conformance.results.waivers import check_waivers, read_waivers, waivers_in_force

    path = _configured_path(config, "faultspec_waivers")
    if path is None:
        return ()
    loaded = read_waivers(path)
    errors = [
        diagnostic
        for diagnostic in (*loaded.diagnostics, *check_waivers(loaded, taxonomy))
        if diagnostic.severity == "error"
    ]
    if errors:
        raise pytest.UsageError(text(errors, loaded.sources))
    in_force = waivers_in_force(loaded.waivers, os.environ)
    return tuple(waiver for waiver in in_force if waiver.expires >= date.today())


def _load_description(config: pytest.Config) -> "Description | None":
    from faultspec.openapi import service
    from faultspec.openapi.text import UnreadableDocument, file_url, read_file

    path = _configured_path(config, "faultspec_openapi")
    try:
        return None if path is None else service.read(read_file(path), address=file_url(path))
    except UnreadableDocument as error:
        raise pytest.UsageError(str(error)) from None


def _configured_path(config: pytest.Config, name: str) -> str | None:
    """A path that the configuration gives relative to its root."""
    value = config.getini(name)
    return str(config.rootpath / value) if value else None
