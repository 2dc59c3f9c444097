"""The law of bounds: every crash that `st run` finds at a bound of the document, `conform`
finds.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from faultspec_conformance.config import SweepConfig, read_config
from faultspec_conformance.results.model import Report, Result
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions
from miniatures import parcels
from miniatures.serve import serving
from support.kill_matrix import taxonomy
from support.law import run_schemathesis

CONFIG = Path(parcels.__file__).with_name("parcels.yaml")

#: Generated requests beside those of the probes: enough for the examples and the coverage phase.
_GENERATED = 100


def crashed_by_schemathesis(sins: tuple[str, ...], seed: int, folder: Path) -> set[str]:
    """Return the sins that crash under the coverage phase of `st run`."""
    crashed: set[str] = set()
    with serving(parcels.parcels(sins, crashed)) as url:
        options = ("--phases", "coverage", "-c", "not_a_server_error", "--continue-on-failure")
        run_schemathesis(url, seed, folder, *options)
    return crashed


def judged(sins: tuple[str, ...], seed: int, crashed: set[str]) -> Result:
    """Return the result of a run with the sweep; the sins that crash are added to ``crashed``."""
    with serving(parcels.parcels(sins, crashed)) as url:
        target = read_config(str(CONFIG), {"BASE_URL": url}).target
        assert target is not None
        limits = replace(target.limits, requests=900, seconds=300)
        swept = replace(target, limits=limits, sweep=SweepConfig(requests=_GENERATED))
        report = run(swept, taxonomy("parcels"), RunOptions(seed=seed))
    assert isinstance(report, Report), report.reason
    return report.result


@pytest.mark.full
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(one, marks=pytest.mark.full) for one in (2, 3))]
)
def test_each_crash_that_schemathesis_finds(seed: int, tmp_path: Path) -> None:
    """With any seed, each crash at a bound that schemathesis finds crashes `conform` too, and is
    reported; schemathesis finds six kinds of them at least.
    """
    sins = tuple(parcels.CRASHES)
    expected = crashed_by_schemathesis(sins, seed, tmp_path)
    crashed: set[str] = set()
    result = judged(sins, seed, crashed)
    assert len(expected) >= 6
    assert crashed >= expected
    assert "service/no-crash" in {reported.finding.clause for reported in result.findings}


@pytest.mark.full  # twenty seconds
def test_without_faults_nothing_is_reported() -> None:
    """Of a service that keeps its document at every bound nothing is reported."""
    crashed: set[str] = set()
    result = judged((), 1, crashed)
    assert not crashed
    assert result.findings == ()
    assert result.clauses["document/bounds"].verdict == "passed"
