"""The demonstration: compile the taxonomy, judge the service that keeps it, then the same service with one sin."""

import logging
import os
import threading
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path

from starlette.types import ASGIApp

from faultspec import language
from faultspec.diagnostics import printers
from faultspec.language.model import Taxonomy
from faultspec.render import render, write
from faultspec.targets import SHIPPED
from faultspec_conformance import reports
from faultspec_conformance.config import read
from faultspec_conformance.drivers.serving import serving
from faultspec_conformance.orders.app import CALLERS, Orders
from faultspec_conformance.orders.sins import SINS
from faultspec_conformance.reports.console import findings_text, summary
from faultspec_conformance.results.model import Report, exit_code
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions, Unreachable

CONFIG = "conformance.yaml"
Say = Callable[[str], None]


def service(sin: str | None) -> ASGIApp:
    """The orders service, behaving or with one sin."""
    app = Orders().app()
    return app if sin is None else SINS[sin].apply(app)


def environment(url: str, taxonomy: str) -> Mapping[str, str]:
    """What the service's ``conformance.yaml`` expects in the environment."""
    tokens = {f"ORDERS_{caller.name.upper()}": token for token, caller in CALLERS.items()}
    return {**os.environ, "ORDERS_URL": url, "ORDERS_TAXONOMY": taxonomy, **tokens}


def judge(sin: str | None, taxonomy: Taxonomy, path: str, *, sweep: bool) -> Report | Unreachable:
    """Start the service on a free loopback port, judge it, stop it."""
    logging.getLogger(__package__).setLevel(
        logging.CRITICAL
    )  # the service logs what it provokes; here the report tells it
    with (
        serving(service(sin)) as url,
        resources.as_file(resources.files(__package__) / CONFIG) as config,
    ):
        loaded = read(str(config), environment(url, path))
        assert loaded.target is not None, printers.text(loaded.diagnostics, {})
        return run(loaded.target, taxonomy, RunOptions(sweep=sweep))


def demonstrate(path: str, out: Path, sin: str, say: Say) -> int:
    """Everything at once. 0: the service passed and the sin was caught; 1: not so; 2: it could not be shown."""
    loaded = language.load(path)
    if loaded.taxonomy is None:
        say(printers.text(loaded.diagnostics, loaded.sources))
        return 2
    say(f"{path}: {len(loaded.taxonomy.codes)} codes, no errors")
    tree = render(loaded.taxonomy, SHIPPED.values(), Path(path).name)
    write(tree, out / "generated", list(SHIPPED))
    say(f"compiled {len(tree)} files into {out / 'generated'}\n")

    say("The orders service, as it should be:\n")
    clean = judge(None, loaded.taxonomy, path, sweep=True)
    if isinstance(clean, Unreachable):
        say(f"could not judge it: {clean.reason}")
        return 2
    say(reports.text(clean))
    for name, form in {
        "report.json": reports.json,
        "report.xml": reports.junit,
        "report.html": reports.html,
    }.items():
        (out / name).write_text(form(clean), encoding="utf-8")
        say(f"wrote {out / name}")

    say(f"\nThe same service with one sin, {sin}: {SINS[sin].sentence}.\n")
    sinful = judge(sin, loaded.taxonomy, path, sweep=False)
    if isinstance(sinful, Unreachable):
        say(f"could not judge it: {sinful.reason}")
        return 2
    say(findings_text(sinful) + summary(sinful))
    caught = any(finding.finding.clause == SINS[sin].clause for finding in sinful.result.findings)
    say(
        f"caught by {SINS[sin].clause}"
        if caught
        else f"NOT caught: {SINS[sin].clause} found nothing"
    )
    return 0 if exit_code(clean.result) == 0 and caught else 1


def serve(sin: str | None, port: int, say: Say) -> None:
    """Serve until interrupted. Raises OSError when the port is taken."""
    with serving(service(sin), port) as url:
        say(url)
        for token, caller in CALLERS.items():
            say(
                f"  {caller.name:8} Authorization: Bearer {token}   ({', '.join(sorted(caller.scopes))})"
            )
        threading.Event().wait()
