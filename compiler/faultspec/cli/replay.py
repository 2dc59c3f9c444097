"""``faultspec replay``: send the requests of a finding again."""

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from faultspec.cli import reporting
from faultspec.cli.conform import load_config, load_url
from faultspec.cli.extra import require_conformance
from faultspec.cli.reporting import COULD_NOT, Refused
from faultspec.diagnostics.formats.escaping import escape_line

if TYPE_CHECKING:
    from faultspec.language.model import Taxonomy
    from faultspec_conformance.config import ServiceConfig
    from faultspec_conformance.results.model import Report, ReportedFinding
    from faultspec_conformance.run.replay import Replay

#: The usual name of a configuration, in the current folder.
_USUAL = "conformance.yaml"

#: Characters of an answer that are shown beside the recorded one.
_SHOWN = 200


@click.command(name="replay")
@click.argument("report_path", metavar="REPORT", type=click.Path())
@click.argument("fingerprint", metavar="ID")
@click.option(
    "--config",
    metavar="FILE",
    help="The configuration; default: that of the report, if it is conformance.yaml in this folder "
    "or listed in faultspec.yaml.",
)
@click.option(
    "--taxonomy",
    "taxonomy_path",
    type=click.Path(),
    help="The taxonomy; default: the configuration's, else taxonomy.yaml.",
)
@click.option(
    "--base",
    metavar="URL",
    help="The service; default: that of the configuration. Without one, that of the report if it "
    "is this machine.",
)
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="NAME:VALUE",
    help="Without a configuration: a header of the caller, such as a token; can be repeated.",
)
@click.option("--writes", is_flag=True, help="Without a configuration: requests may write.")
def command(
    report_path: str,
    fingerprint: str,
    config: str | None,
    taxonomy_path: str | None,
    base: str | None,
    headers: tuple[str, ...],
    writes: bool,
) -> int:
    """Send the requests of a finding again, and judge the last answer.

    REPORT is a JSON report of `faultspec conform`. ID is the fingerprint of a finding in it, or its
    beginning; `ID:2` is its second example. Secrets that the report masks are taken from the
    configuration.

    Exit codes: 1 the finding is reproduced; 0 it is not; 2 it could not be sent, or one replay
    cannot decide its clause: then the answers are shown beside the recorded ones.
    """
    require_conformance()
    from faultspec.contract.model import build_contract
    from faultspec_conformance.learning.first import WITHOUT_TAXONOMY
    from faultspec_conformance.run.replay import CannotReplay, connect, replay

    try:
        report = reporting.load_report(report_path)
        findings = _select(report, fingerprint, report_path)
        service, taxonomy = _load(
            report, config, base, taxonomy_path, headers=headers, writes=writes
        )
    except Refused:
        return COULD_NOT
    contract = build_contract(taxonomy)
    learned = report.result.taxonomy == WITHOUT_TAXONOMY
    try:
        with connect(contract, service, base or _origin(service)) as send:
            replays = [
                (found, replay(found, contract, service, send, learned=learned))
                for found in findings
            ]
    except CannotReplay as error:
        reporting.print_error("no-replay", escape_line(str(error)))
        return COULD_NOT
    for found, outcome in replays:
        _print(report, found, outcome)
    verdicts = {outcome.verdict for _, outcome in replays}
    return 1 if "reproduced" in verdicts else COULD_NOT if "undecided" in verdicts else 0


def _select(report: "Report", fingerprint: str, path: str) -> "list[ReportedFinding]":
    """The findings of one fingerprint, each with the example that the ID asks for. Raises Refused
    if none or several have it.
    """
    wanted, _, number = fingerprint.strip().lower().partition(":")
    found = [each for each in report.result.findings if each.finding.fingerprint.startswith(wanted)]
    names = sorted({each.finding.fingerprint for each in found})
    if wanted and len(names) == 1:
        return [*_examples(found, number, path)] if number else found
    if names:
        message = f"{len(names)} findings of {path} begin with `{fingerprint}`"
        reporting.print_error("ambiguous-finding", message, f"give one of {', '.join(names[:5])}")
    else:
        hint = "the report lists the fingerprints of its findings"
        reporting.print_error("unknown-finding", f"{path} has no finding `{fingerprint}`", hint)
    raise Refused


def _examples(
    findings: "list[ReportedFinding]", number: str, path: str
) -> "Iterator[ReportedFinding]":
    """The findings with their example of this number in place of the first. Raises Refused if none
    has so many.
    """
    most = max(len(each.examples) for each in findings)
    if not number.isdecimal() or not 1 <= int(number) <= most:
        name = f"{findings[0].finding.fingerprint}:{number}"
        hint = f"it has {most} example{'s' * (most > 1)}"
        reporting.print_error("unknown-finding", f"{path} has no example `{name}`", hint)
        raise Refused
    for each in findings:
        if int(number) <= len(each.examples):
            yield replace(each, finding=each.examples[int(number) - 1], examples=())


def _load(
    report: "Report",
    config: str | None,
    base: str | None,
    taxonomy_path: str | None,
    *,
    headers: tuple[str, ...],
    writes: bool,
) -> "tuple[ServiceConfig, Taxonomy]":
    """The service and its taxonomy: what every service owes, if the run had none. Raises Refused
    and BadParameter.
    """
    from faultspec_conformance.learning.first import WITHOUT_TAXONOMY, no_shape

    reporting.check_address(base, "--base")
    path = config or _known_source(report.source)
    if path is not None:
        if not os.path.isfile(path):
            hint = "name the configuration with --config FILE"
            reporting.print_error("file-not-found", f"the file {path} does not exist", hint)
            raise Refused
        if headers or writes:
            raise click.UsageError("--header and --writes are for reports without a configuration")
        loaded = load_config(path, taxonomy_path)
        service = loaded.config
    else:
        address = base or _local_address(report.base)
        loaded = load_url(address, headers, None, taxonomy_path)
        service = replace(loaded.config, limits=replace(loaded.config.limits, writes=writes))
    if report.result.taxonomy == WITHOUT_TAXONOMY:
        return service, no_shape()
    name = report.result.taxonomy.rpartition(" ")[0]
    if name != loaded.taxonomy.name:
        message = f"the report is by {name}, but the taxonomy is {loaded.taxonomy.name}"
        reporting.print_error("no-replay", message, "name the taxonomy with --taxonomy FILE")
        raise Refused
    return service, loaded.taxonomy


def _known_source(source: str | None) -> str | None:
    """The configuration that a report names. Raises Refused for one that the user may not know: a
    configuration starts commands and sends credentials, and a report can name any file.
    """
    if source is None:
        return None
    project = reporting.load_project()
    listed = [] if project is None else [project.locate(file) for file in project.conformance]
    wanted = os.path.realpath(source)
    if wanted not in {os.path.realpath(file) for file in (_USUAL, *listed)}:
        message = f"the report names the configuration {source}, which is read only by --config"
        reporting.print_error("no-replay", escape_line(message), "add --config FILE")
        raise Refused
    return source


def _local_address(base: str) -> str:
    """The address of a report without a configuration. Raises Refused unless it is this machine:
    the headers of the caller would go to an address that the report chooses.
    """
    from urllib.parse import urlsplit

    from faultspec_conformance.drivers.http import is_loopback_host
    from faultspec_conformance.session.discovery import address_problem

    if address_problem(base) is None and is_loopback_host(urlsplit(base).hostname or ""):
        return base
    message = "the report has no address on this machine"
    reporting.print_error("no-service", message, "name the service with --base URL")
    raise Refused


def _origin(service: "ServiceConfig") -> str:
    """Scheme, host and port of the service. Those that a report names are not asked: its author
    would receive the credentials of the configuration.
    """
    from urllib.parse import urlsplit

    parts = urlsplit(service.http)
    return f"{parts.scheme}://{parts.netloc}"


def _print(report: "Report", found: "ReportedFinding", outcome: "Replay") -> None:
    from faultspec_conformance.reports.console import findings_text
    from faultspec_conformance.results.model import Result

    if outcome.finding is not None:
        one = replace(report, result=Result("", "", findings=(outcome.finding,)))
        click.echo(findings_text(one), nl=False)
        click.echo("reproduced")
        return
    for number, (recorded, now) in enumerate(outcome.pairs, 1):
        place = f"({number} of {len(outcome.pairs)}) " if len(outcome.pairs) > 1 else ""
        click.echo(escape_line(f"{place}{now.request.method} {now.request.target}"))
        for name, exchange in (("recorded", recorded), ("now", now)):
            body = exchange.response.body[:_SHOWN].decode("utf-8", "replace")
            status = exchange.response.status
            answer = "" if status is None else f"{status} "
            click.echo(escape_line(f"  {name:8}  {answer}{' '.join(body.split())}"))
    if outcome.verdict == "gone":
        click.echo(f"not reproduced: {found.finding.clause} holds for the answer")
    else:
        click.echo(f"undecided: {escape_line(outcome.reason)}")
