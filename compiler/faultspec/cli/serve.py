"""``faultspec serve``: a service that answers with declared errors, to test its clients."""

import signal
import threading

import click

from faultspec.cli import reporting
from faultspec.cli.extra import require_conformance
from faultspec.cli.reporting import COULD_NOT, Refused
from faultspec.diagnostics.formats.escaping import escape_line


@click.command(name="serve")
@click.argument("taxonomy", required=False, type=click.Path())
@click.option(
    "--fail",
    "faults",
    multiple=True,
    metavar="CODE[,status=503][,retry-after=2]",
    help="The error to answer with. Several errors are sent one after the other.",
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
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="The loopback port; default: a free one.",
)
def command(
    taxonomy: str | None,
    faults: tuple[str, ...],
    after: int,
    times: int | None,
    probability: float,
    seed: int,
    openapi: str | None,
    port: int,
) -> int:
    """Serve the errors that TAXONOMY declares, on 127.0.0.1, until interrupted (SIGINT or SIGTERM).

    TAXONOMY is by default that of faultspec.yaml, if the file has one, else taxonomy.yaml.

    The address is written to standard output when the server is ready, and a line for each answer
    to standard error. A request can ask for an error: by the header `X-Fault: CODE`, the query
    `?x-fault=CODE`, or a path that begins with `/~CODE/`.
    """
    require_conformance()
    from random import Random

    from faultspec.contract.model import build_contract
    from faultspec_conformance.drivers.serving import serving
    from faultspec_conformance.faults import script
    from faultspec_conformance.faults.server import FaultServer

    try:
        declared, description = (
            reporting.load_taxonomy(taxonomy, "as the argument TAXONOMY"),
            reporting.load_description(openapi),
        )
    except Refused:
        return COULD_NOT
    wanted = []
    for fault in faults:
        try:
            wanted.append(script.parse_fault(fault))
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--fail") from None
        unknown = script.check_fault(wanted[-1], declared)
        if unknown is not None:
            raise click.BadParameter(unknown, param_hint="--fail")
    if not any(surface.transport == "http" for surface in declared.surfaces.values()):
        raise click.UsageError(f"{declared.name} has no surface on HTTP, so nothing can be served")
    played = script.Script(tuple(wanted), after, times, probability)
    app = FaultServer(
        build_contract(declared),
        script.ScriptProgress(played, Random(seed)),
        description=description,
        on_served=lambda served: click.echo(escape_line(str(served)), err=True),
    )
    # A shell that starts a command in the background leaves SIGINT ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        with serving(app, port) as url:
            click.echo(url)
            threading.Event().wait()
    except OSError as error:
        raise click.UsageError(f"port {port} cannot be used: {error.strerror}") from None
    except KeyboardInterrupt:
        return 0
    return 0
