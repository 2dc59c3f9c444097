"""``faultspec proxy``: judge the traffic between any clients and one service."""

import logging
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TextIO
from urllib.parse import urlsplit

import click

from faultspec.cli import observing, reporting
from faultspec.cli.extra import require_conformance
from faultspec.cli.reporting import COULD_NOT, Refused
from faultspec.diagnostics.formats.escaping import escape_line

if TYPE_CHECKING:
    from faultspec.exchange.model import Exchange
    from faultspec_conformance.observed.accumulator import Accumulator

#: Different faults of faultspec itself that a report names.
_DEFECTS = 5

#: Exchanges that wait for their judgement, and their bytes; beyond, they are only counted.
_WAITING, _WAITING_BYTES = 10_000, 64 * 1024 * 1024

#: Seconds for those that wait when the command ends.
_LAST_SECONDS = 10

#: Characters of a line. A pipe that can be written to takes 4096 bytes without a wait (`PIPE_BUF`),
#: and a character has up to four.
_LINE = 1_000


class Observer:
    """Judges what passes, beside the traffic, and prints a line for each answer with findings.

    ``defects``: faults of faultspec itself, which must not break the traffic. ``unread``: lines
    that were not printed, because nobody read those before. ``unjudged``: answers that came faster
    than they could be judged.
    """

    def __init__(self, accumulator: "Accumulator") -> None:
        self.defects: dict[str, None] = {}
        self.unread = self.unjudged = 0
        self._accumulator = accumulator
        self._judging = ThreadPoolExecutor(1, "judge")
        self._waiting: deque[tuple[Future[None], int]] = deque()
        self._size = 0
        self._context = copy_context()  # it has the masks of what is printed

    def see(self, exchange: "Exchange") -> None:
        """Have an exchange judged, unless too many wait."""
        while self._waiting and self._waiting[0][0].done():
            self._size -= self._waiting.popleft()[1]
        size = exchange.request.size + exchange.response.size
        if len(self._waiting) < _WAITING and self._size + size <= _WAITING_BYTES:
            judged = self._judging.submit(self._context.run, self._judge, exchange)
            self._waiting.append((judged, size))
            self._size += size
        else:
            self.unjudged += 1

    def finish(self) -> None:
        """Have the rest judged, as far as there is time."""
        try:
            _, late = wait([judged for judged, _ in self._waiting], timeout=_LAST_SECONDS)
        finally:
            self._judging.shutdown(wait=False, cancel_futures=True)
        wait(late)  # all but one are cancelled
        self.unjudged += sum(judged.cancelled() for judged in late)

    def reasons(self) -> Iterator[str]:
        """Why answers were not judged."""
        yield from self.defects
        if self.unjudged:
            yield f"{self.unjudged} answers came faster than they could be judged"

    def _judge(self, exchange: "Exchange") -> None:
        from faultspec_conformance.results.defects import describe_defect

        try:
            found = self._accumulator.add(exchange)
        except Exception as error:
            if len(self.defects) < _DEFECTS:
                self.defects[describe_defect(error, "the judgement of an answer")] = None
            return
        clauses = dict.fromkeys(reported.finding.clause for reported in found)
        if clauses:
            line = escape_line(f"{_describe(exchange)}: {', '.join(clauses)}")
            if _takes_more(sys.stderr):
                click.echo(line if len(line) <= _LINE else f"{line[:_LINE]}…", err=True)
            else:
                self.unread += 1

    def notes(self) -> Iterator[str]:
        """The number of lines that were not printed, if there are any."""
        if self.unread:
            yield f"{self.unread} lines about answers were not printed: nobody read standard error"


def _takes_more(stream: TextIO) -> bool:
    """Whether a line can be written to a stream without a wait for its reader. Windows tells that
    of sockets alone, so there each line is printed.
    """
    try:
        return bool(select.select([], [stream], [], 0)[1])
    except (OSError, ValueError):  # no file at all, as in a test
        return True


def _describe(exchange: "Exchange") -> str:
    """Method, path and status, without what looks like a secret."""
    from faultspec_conformance.sanitize.traffic_secrets import mask_recorded

    request, response = exchange.request, exchange.response
    # Bodies may be long, and a line has nothing of them.
    bare = replace(
        exchange, request=replace(request, body=b""), response=replace(response, body=b"")
    )
    target = mask_recorded((bare,)).text(request.target)
    return f"{request.method} {target.partition('?')[0]} {response.status}"


@click.command(name="proxy")
@click.argument("url", metavar="URL")
@observing.taxonomy_option
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="The loopback port; default: a free one.",
)
@observing.openapi_option
@observing.waivers_option
@observing.only_option
@observing.crashes_option
@reporting.report_option
@reporting.format_option
@reporting.baseline_option
@reporting.coverage_option
def command(
    url: str,
    taxonomy_path: str | None,
    port: int,
    openapi: str | None,
    waivers: str | None,
    patterns: tuple[str, ...],
    crashes: Literal["error", "warning"],
    reports: tuple[str, ...],
    format_name: str,
    baseline: str | None,
    coverage: str | None,
) -> int:
    """Pass requests on to the service at URL, and judge its answers, until interrupted (SIGINT or
    SIGTERM). Then the report is written.

    Without a taxonomy it judges by what every service owes: no crash, no leak, RFC 9110.

    It listens on 127.0.0.1. The address is written to standard output when it is ready, and a line
    for each answer with findings to standard error. Answers reach the client unchanged, while they
    come. HTTP/1.1 only; an upgrade, such as that of WebSocket, does not pass.

    Exit codes: 0 no findings; 1 findings; 2 no findings, but no clause was exercised, or answers
    could not be judged: the service sent none, broke one off, or sent an error that cannot be read.
    """
    require_conformance()
    from faultspec.contract.model import with_cache
    from faultspec_conformance.drivers.reverse_proxy import ReverseProxy
    from faultspec_conformance.drivers.serving import serving, wait_for_interrupt
    from faultspec_conformance.observed.accumulator import Accumulator
    from faultspec_conformance.observed.judging import conclude_observed
    from faultspec_conformance.observed.middleware import Watching
    from faultspec_conformance.results.model import Report

    _check_origin(url)
    files = reporting.parse_outputs(reports)
    wanted = reporting.parse_coverage(coverage)
    try:
        basis = observing.load_basis(
            taxonomy_path, openapi, waivers, patterns, needs_taxonomy=False
        )
    except Refused:
        return COULD_NOT
    accumulator = Accumulator(
        with_cache(basis.contract),
        waivers=basis.waivers,
        only=basis.only,
        description=basis.description,
        crashes=crashes,
    )

    observer = Observer(accumulator)
    app = ReverseProxy(url, lambda app: Watching(app, observer.see))
    started = time.monotonic()
    logging.disable()  # asyncio reports clients that leave on standard error, line by line
    # A shell that starts a command in the background leaves SIGINT ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        with serving(app, port, adds_fields=False, refused=app.refuse) as address:
            click.echo(address)
            wait_for_interrupt()
    except OSError as error:
        raise click.UsageError(f"port {port} cannot be used: {error.strerror}") from None
    except KeyboardInterrupt:
        pass
    observer.finish()
    for note in (*app.reasons_of_refusal(), *observer.notes()):
        accumulator.note(note)
    seconds = time.monotonic() - started
    not_run = (*observer.reasons(), *app.reasons_without_answer())
    result = accumulator.result(url, seconds=seconds, not_run=not_run)
    concluded = conclude_observed(result, owed=basis.owed, only=basis.only)
    report = Report(concluded, url, basis.only)
    try:
        return reporting.write_report(
            reporting.complete(report, baseline, wanted), files, format_name
        )
    except Refused:
        return COULD_NOT


def _check_origin(url: str) -> None:
    """Raise BadParameter for a URL that is not the address of a service, or that has more."""
    reporting.check_address(url, "URL")
    parts = urlsplit(url)
    if parts.path not in ("", "/") or parts.query or parts.fragment or "@" in parts.netloc:
        message = "give scheme, host and port alone: requests keep their paths and credentials"
        raise click.BadParameter(message, param_hint="URL")
