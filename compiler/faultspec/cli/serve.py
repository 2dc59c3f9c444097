"""``faultspec serve``: a service that answers with declared errors, to test its clients."""

import json
import signal
import sys
from typing import IO, TYPE_CHECKING, cast

import click

from faultspec.cli import reporting
from faultspec.cli.extra import require_conformance
from faultspec.cli.reporting import COULD_NOT, Refused
from faultspec.diagnostics.formats.escaping import escape_line

if TYPE_CHECKING:
    from faultspec.language.model import Taxonomy
    from faultspec_conformance.drivers import Framing
    from faultspec_conformance.faults.script import Fault


@click.command(name="serve")
@click.argument("taxonomy", required=False, type=click.Path())
@click.option(
    "--fail",
    "faults",
    multiple=True,
    metavar="[CODE][,status=503][,retry-after=2][,malformed=cut][,delay=2][,on=NAME]",
    help=(
        "The error to answer with. Several errors are sent one after the other. `malformed=cut`, "
        "`type`, `id`, `never`, `twice`, `garbage`, `media-type` or `close` spoils the answer, "
        "`delay=` makes it late, and `on=` is the method, tool or route that it answers."
    ),
)
@click.option(
    "--script",
    "script_file",
    type=click.Path(),
    help="A file with one fault a line, each as --fail has it; `#` begins a comment.",
)
@click.option(
    "--after",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Successes before the first error.",
)
@click.option(
    "--times",
    type=click.IntRange(1),
    help=(
        "How often each error is sent before the next; default: once, and the last one without end."
    ),
)
@click.option(
    "--probability",
    type=click.FloatRange(0, 1),
    default=1.0,
    show_default=True,
    help="The chance that a request gets the error that is due. Otherwise it gets a success.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="The seed of --probability.",
)
@click.option(
    "--openapi", type=click.Path(), help="An OpenAPI document, for the bodies of successes."
)
@click.option(
    "--results",
    "results_file",
    type=click.Path(),
    help="A JSON object with the results of calls by name, by method or tool.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="The loopback port; default: a free one.",
)
@click.option(
    "--stdio",
    is_flag=True,
    help="Serve JSON-RPC or MCP on standard input and output, in place of HTTP.",
)
@click.option(
    "--framing",
    type=click.Choice(["lines", "content-length"]),
    default="lines",
    show_default=True,
    help="How messages of --stdio are separated; language servers use `content-length`.",
)
def command(
    taxonomy: str | None,
    faults: tuple[str, ...],
    script_file: str | None,
    after: int,
    times: int | None,
    probability: float,
    seed: int,
    openapi: str | None,
    results_file: str | None,
    port: int,
    stdio: bool,
    framing: "Framing",
) -> int:
    """Serve the errors that TAXONOMY declares, on 127.0.0.1, until interrupted (SIGINT or SIGTERM):
    over HTTP, and where it declares them as JSON-RPC or MCP. With --stdio, a client starts the
    command in place of its server.

    TAXONOMY is by default that of faultspec.yaml, if the file has one, else taxonomy.yaml.

    The address is written to standard output when the server is ready, and a line for each answer
    to standard error. A request can ask for an error: by the header `X-Fault: CODE`, the query
    `?x-fault=CODE`, or a path that begins with `/~CODE/`. A call by name asks by the member
    `x-fault` of its params or of their `_meta`, or by a name that begins with `~CODE/`.
    """
    require_conformance()
    from random import Random

    from faultspec.contract.model import build_contract
    from faultspec_conformance.drivers.serving import serving, wait_for_interrupt
    from faultspec_conformance.faults import script
    from faultspec_conformance.faults.calls import CallServer
    from faultspec_conformance.faults.server import FaultServer, with_browsers
    from faultspec_conformance.faults.streams import StreamServer

    try:
        declared, description = (
            reporting.load_taxonomy(taxonomy, "as the argument TAXONOMY"),
            reporting.load_description(openapi),
        )
    except Refused:
        return COULD_NOT
    wanted = [_read_fault(fault, declared) for fault in faults]
    if script_file is not None:
        wanted += _read_script(script_file, declared)
    results = {} if results_file is None else _read_results(results_file)
    transports = {surface.transport for surface in declared.surfaces.values()}
    if stdio and transports.isdisjoint(script.BY_NAME):
        raise click.UsageError(
            f"{declared.name} has no surface of JSON-RPC or MCP, so nothing can be served on "
            "standard streams"
        )
    if transports.isdisjoint({"http", *script.BY_NAME}):
        raise click.UsageError(
            f"{declared.name} has no surface on HTTP, JSON-RPC or MCP, so nothing can be served"
        )
    played = script.Script(tuple(wanted), after, times, probability)
    contract, schedule = build_contract(declared), script.Schedule(played, Random(seed))

    def log(line: object) -> None:
        click.echo(escape_line(str(line)), err=True)

    # A shell that starts a command in the background leaves SIGINT ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        if stdio:
            # What the command line has set as `sys.stdout` writes only text.
            assert sys.__stdin__ is not None
            assert sys.__stdout__ is not None
            streams = (
                cast("IO[bytes]", sys.__stdin__.buffer),
                cast("IO[bytes]", sys.__stdout__.buffer),
            )
            calls = CallServer(contract, schedule, results)
            return 0 if StreamServer(calls, streams, framing, log).run() else 2
        server = FaultServer(
            contract, schedule, description=description, results=results, on_served=log
        )
        with serving(with_browsers(server), port) as url:
            click.echo(url)
            wait_for_interrupt()
    except OSError as error:
        raise click.UsageError(f"port {port} cannot be used: {error.strerror}") from None
    except KeyboardInterrupt:
        return 0
    return 0


def _read_fault(text: str, taxonomy: "Taxonomy") -> "Fault":
    """The fault of an option. Raises BadParameter."""
    from faultspec_conformance.faults import script

    try:
        fault = script.parse_fault(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--fail") from None
    unknown = script.check_fault(fault, taxonomy)
    if unknown is not None:
        raise click.BadParameter(unknown, param_hint="--fail")
    return fault


def _read_results(path: str) -> dict[str, object]:
    """The results of calls by name. Raises BadParameter with the file and the place."""
    from faultspec.source.file import SourceError, read_bytes

    try:
        found = json.loads(read_bytes(path))
    except SourceError as error:
        raise click.BadParameter(str(error), param_hint="--results") from None
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(
            f"{path}: it is not JSON: {error}", param_hint="--results"
        ) from None
    if not isinstance(found, dict):
        problem = "it is not an object with a member for each method or tool"
        raise click.BadParameter(f"{path}: {problem}", param_hint="--results")
    return found


def _read_script(path: str, taxonomy: "Taxonomy") -> "list[Fault]":
    """The faults of a file. Raises BadParameter with the file and the line."""
    from faultspec.source.file import SourceError, read_bytes
    from faultspec_conformance.faults import script

    try:
        faults = script.parse_script(read_bytes(path).decode())
    except SourceError as error:
        raise click.BadParameter(str(error), param_hint="--script") from None
    except UnicodeDecodeError:
        raise click.BadParameter(f"{path}: it is not UTF-8", param_hint="--script") from None
    except ValueError as error:
        raise click.BadParameter(f"{path}: {error}", param_hint="--script") from None
    for number, fault in faults:
        unknown = script.check_fault(fault, taxonomy)
        if unknown is not None:
            raise click.BadParameter(f"{path}: line {number}: {unknown}", param_hint="--script")
    return [fault for _, fault in faults]
