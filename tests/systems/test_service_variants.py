"""Nobody who keeps the contract is blamed, in whatever way he keeps it: a false alarm costs more trust than a miss."""

import pytest

from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions, Unreachable
from miniatures.core_platform import ENVIRONMENT
from miniatures.variants import VARIANTS, varied
from support.kill_matrix import NOTEBOOKS, served
from systems.test_kill_matrix import taxonomy


@pytest.mark.parametrize("name", list(VARIANTS))
def test_who_behaves_otherwise_trips_nothing(name: str) -> None:
    """Neither a failure nor a warning, and nothing that could not run."""
    opened = served(NOTEBOOKS, ENVIRONMENT, lambda _: varied(VARIANTS[name]))
    with opened(None) as target:
        report = run(target, taxonomy("notebooks"), RunOptions(sweep=False))
    assert not isinstance(report, Unreachable), report.reason
    assert [(each.finding.clause, each.finding.message) for each in report.result.findings] == []
    assert report.result.not_run == ()
