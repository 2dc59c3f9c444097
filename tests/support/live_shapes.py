"""The wire shapes as running services, judged as `faultspec conform` judges them."""

from starlette.types import ASGIApp

from faultspec_conformance.config import read_config
from faultspec_conformance.results.model import Result
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions, Unreachable
from miniatures.serve import serving_on
from miniatures.shapes.services import SERVICES
from paths import TESTS
from support.wire_shapes import taxonomy

FOLDER = TESTS / "miniatures" / "shapes"

RUNS = tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))
"""The conformance files: one of each shape, and one of each carrier of `agents`."""


def shape_of(name: str) -> str:
    """The wire shape that a conformance file judges."""
    return name.partition("-")[0]


def judged(name: str, app: ASGIApp | None = None) -> Result:
    """The result of the run that a conformance file describes, on a fresh service or on ``app``."""
    shape = shape_of(name)
    app = app or SERVICES[shape]()
    lifespan = "on" if shape == "agents" else "off"
    with serving_on(app, lifespan=lifespan) as (base, _):
        loaded = read_config(str(FOLDER / f"{name}.yaml"), {"BASE_URL": base})
        assert loaded.target is not None, loaded.diagnostics
        report = run(loaded.target, taxonomy(shape), RunOptions(sweep=False))
    assert not isinstance(report, Unreachable), report.reason
    return report.result
