"""The services of `examples/`, each to be judged by the configuration beside it."""

import importlib.util
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from tempfile import TemporaryDirectory
from types import ModuleType

from starlette.types import ASGIApp

from faultspec import language
from faultspec.language.model import Taxonomy
from faultspec_conformance.config import ServiceConfig, read_config
from faultspec_conformance.results.model import Result
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions, Unreachable
from miniatures.serve import serving
from miniatures.wire import Wrapper
from paths import ROOT

EXAMPLES = ROOT / "examples"

SYSTEMS = ("aileron", "alknet", "theodosia", "keenbench")

OVER_HTTP = ("aileron", "alknet")
"""The systems whose service is an application over HTTP."""

TOKENS = {"ADA_TOKEN": "demo-ada", "ANNA_TOKEN": "demo-anna", "READER_TOKEN": "demo-reader"}


@cache
def service(system: str) -> ModuleType:
    """The module `service.py` of a system."""
    spec = importlib.util.spec_from_file_location(
        f"{system}_service", EXAMPLES / system / "service.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    paths = list(sys.path)
    others = _taken(f"{system}_errors")
    try:
        spec.loader.exec_module(module)
    finally:
        # Other tests compile packages of the same name, elsewhere.
        _taken(f"{system}_errors")
        sys.modules.update(others)
        sys.path[:] = paths
    return module


def _taken(package: str) -> dict[str, ModuleType]:
    """The modules of a package, which are then no longer imported."""
    return {
        name: sys.modules.pop(name) for name in [*sys.modules] if name.partition(".")[0] == package
    }


@cache
def taxonomy(system: str) -> Taxonomy:
    """The taxonomy that a system keeps."""
    loaded = language.load(str(EXAMPLES / system / "taxonomy.yaml"))
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


@contextmanager
def started(system: str, wrapped: Wrapper | None = None) -> Iterator[dict[str, str]]:
    """The service, running where it has to be started, and the environment of its configuration;
    ``wrapped`` in what sins.

    An answer of MCP is then plain JSON instead of a stream of events, so that it can be changed.
    """
    if system == "keenbench":
        with TemporaryDirectory() as logs:
            yield environment(LOGS=logs)
    elif system == "theodosia":
        app = service(system).app() if wrapped is None else wrapped(_plain(service(system)))
        with serving(app, lifespan="on") as base:
            yield environment(MCP_URL=f"{base}/mcp")
    else:
        app = application(system)
        with serving(app if wrapped is None else wrapped(app)) as base:
            yield environment(BASE_URL=base)


def application(system: str, clock: Callable[[], float] = time.monotonic) -> ASGIApp:
    """A fresh service of a system over HTTP. Only that of alknet limits a rate, by the
    ``clock``.
    """
    module = service(system)
    app: ASGIApp = (module.Gateway(clock) if system == "alknet" else module.Runtime()).app()
    return app


def environment(**more: str) -> dict[str, str]:
    """The variables that the configuration of a system takes from the environment."""
    return {**TOKENS, "PYTHON": sys.executable, "PATH": os.environ["PATH"], **more}


def _plain(module: ModuleType) -> ASGIApp:
    app: ASGIApp = module.server().streamable_http_app(json_response=True)
    return app


def target(system: str, environment: dict[str, str]) -> ServiceConfig:
    """The configuration of a system."""
    loaded = read_config(str(EXAMPLES / system / "conformance.yaml"), environment)
    assert loaded.target is not None, loaded.diagnostics
    return loaded.target


PROBES_ONLY = RunOptions(sweep=False)


def judged(system: str, options: RunOptions = PROBES_ONLY) -> Result:
    """A run on a fresh service."""
    with started(system) as environment:
        report = run(target(system, environment), taxonomy(system), options)
    assert not isinstance(report, Unreachable), report.reason
    return report.result
