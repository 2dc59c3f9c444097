"""The demonstration: compile the taxonomy, judge the orders service, then judge it again with one
sin.
"""

import logging
import os
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path

from starlette.types import ASGIApp

from faultspec import language
from faultspec.diagnostics import printers
from faultspec.language.model import Taxonomy
from faultspec.render import render, write
from faultspec.targets import default_targets
from faultspec_conformance import reports
from faultspec_conformance.config import read_config
from faultspec_conformance.drivers.serving import serving, wait_for_interrupt
from faultspec_conformance.orders.app import CALLERS, Orders
from faultspec_conformance.orders.sins import SINS
from faultspec_conformance.reports.console import findings_text, summary
from faultspec_conformance.reports.private_file import refuse_way_out, write_private
from faultspec_conformance.results.model import Report, exit_code
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions, Unreachable

CONFIG = "conformance.yaml"
Print = Callable[[str], None]


def service(sin: str | None) -> ASGIApp:
    """The orders service, with a sin or without."""
    app = Orders().app()
    return app if sin is None else SINS[sin].apply(app)


def service_environment(url: str, taxonomy: str) -> Mapping[str, str]:
    """The environment variables of the service's ``conformance.yaml``."""
    tokens = {f"ORDERS_{caller.name.upper()}": token for token, caller in CALLERS.items()}
    return {**os.environ, "ORDERS_URL": url, "ORDERS_TAXONOMY": taxonomy, **tokens}


def judge_orders(
    sin: str | None, taxonomy: Taxonomy, path: str, *, sweep: bool
) -> Report | Unreachable:
    """Start the service on a free loopback port, judge it, and stop it."""
    logging.getLogger(__package__).setLevel(logging.CRITICAL)  # the report has the errors
    with (
        serving(service(sin)) as url,
        resources.as_file(resources.files(__package__) / CONFIG) as config,
    ):
        loaded = read_config(str(config), service_environment(url, path))
        assert loaded.target is not None, printers.text(loaded.diagnostics, {})
        return run(loaded.target, taxonomy, RunOptions(sweep=sweep))


def demonstrate(path: str, out: Path, sin: str, echo: Print) -> int:
    """Run the demonstration. Returns 0 if the service passed and the sin was caught; 2 if it could
    not run; else 1. Raises TargetError and OSError if a file cannot be written.
    """
    refuse_way_out(out)
    loaded = language.load(path)
    if loaded.taxonomy is None:
        echo(printers.text(loaded.diagnostics, loaded.sources))
        return 2
    echo(f"{path}: {len(loaded.taxonomy.codes)} codes, no errors")
    tree = render(loaded.taxonomy, default_targets().values(), Path(path).name)
    write(tree, out / "generated", list(default_targets()))
    echo(f"compiled {len(tree)} files into {out / 'generated'}\n")

    echo("The orders service without a mistake:\n")
    clean = judge_orders(None, loaded.taxonomy, path, sweep=True)
    if isinstance(clean, Unreachable):
        echo(f"the service could not be judged: {clean.reason}")
        return 2
    echo(reports.text(clean))
    for name, form in {
        "report.json": reports.json,
        "report.xml": reports.junit,
        "report.html": reports.html,
    }.items():
        write_private(out / name, form(clean))
        echo(f"wrote {out / name}")

    echo(f"\nThe same service with one deliberate mistake, `{sin}`: {SINS[sin].sentence}.\n")
    sinful = judge_orders(sin, loaded.taxonomy, path, sweep=False)
    if isinstance(sinful, Unreachable):
        echo(f"the service could not be judged: {sinful.reason}")
        return 2
    echo(findings_text(sinful) + summary(sinful))
    clause = SINS[sin].clause
    caught = any(finding.finding.clause == clause for finding in sinful.result.findings)
    echo(f"caught by {clause}" if caught else f"NOT caught: {clause} found nothing")
    return 0 if exit_code(clean.result) == 0 and caught else 1


def serve(sin: str | None, port: int, echo: Print) -> None:
    """Serve until interrupted. Raises OSError if the port is taken."""
    with serving(service(sin), port) as url:
        echo(url)
        for token, caller in CALLERS.items():
            echo(
                f"  {caller.name:8} Authorization: Bearer {token}   "
                f"({', '.join(sorted(caller.scopes))})"
            )
        wait_for_interrupt()
