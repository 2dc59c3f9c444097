"""The reports of plain schemathesis and of the suite about one service, with the same budget."""

import json
import subprocess
import sys
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from faultspec.language import load
from faultspec_conformance.config import ServiceConfig, SweepConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.results.model import Report, Result
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions
from miniatures import lending
from miniatures.serve import serving

#: The checks of schemathesis that conclude from what happened, and the clauses that report the
#: same. An answer that is not sound by its taxonomy is reported by it, and not held to the
#: document.
_BROKEN = ("envelope/", "code/", "surface/", "service/no-crash")
CHECKS = {
    "not_a_server_error": ("service/", *_BROKEN),
    "status_code_conformance": ("document/status", *_BROKEN),
    "content_type_conformance": ("document/media-type", *_BROKEN),
    "response_headers_conformance": ("document/headers", *_BROKEN),
    "response_schema_conformance": ("document/schema", "document/agrees", *_BROKEN),
    "use_after_free": ("document/sequences",),
}


def counting(app: ASGIApp, requests: list[str]) -> ASGIApp:
    """The application, which adds the path of each request to a list."""

    async def counted(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            requests.append(scope["path"])
        await app(scope, receive, send)

    return counted


def run_schemathesis(url: str, seed: int, folder: Path, *options: str) -> None:
    """Run `st run` on a service that serves its document, with these options."""
    command = [
        *(str(Path(sys.executable).parent / "schemathesis"), "run", f"{url}/openapi.json"),
        *("--url", url, "--seed", str(seed), "--generation-database", "none", "--no-color"),
        *options,
    ]
    subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=300)


def reported_by_schemathesis(
    sins: tuple[str, ...], folder: Path, examples: int = 20
) -> tuple[int, set[str]]:
    """How many requests `st run` sends to the library with these sins, and the checks that fail."""
    requests: list[str] = []
    with serving(counting(lending.lending(*sins), requests)) as url:
        events = ("--report", "ndjson", "--report-ndjson-path", str(folder / "events"))
        run_schemathesis(url, 1, folder, "-n", str(examples), "-c", ",".join(CHECKS), *events)
    events = map(json.loads, (folder / "events").read_text(encoding="utf-8").splitlines())
    recorders = (event.get("ScenarioFinished", {}).get("recorder", {}) for event in events)
    return len(requests), {
        check["name"]
        for recorder in recorders
        for checks in recorder.get("checks", {}).values()
        for check in checks
        if check["status"] == "failure"
    }


def reported_by_conform(sins: tuple[str, ...], requests: int) -> Result:
    """The result of a run whose sweep may send as many requests."""
    taxonomy = load(str(lending.TAXONOMY)).taxonomy
    assert taxonomy is not None
    with serving(lending.lending(*sins)) as url:
        target = ServiceConfig(
            http=url,
            limits=Limits(requests=requests + 100, seconds=300, writes=True),
            sweep=SweepConfig(requests=requests),
        )
        report = run(target, taxonomy, RunOptions(seed=1))
    assert isinstance(report, Report), report.reason
    return report.result
