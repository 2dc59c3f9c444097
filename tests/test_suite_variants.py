"""Nobody who keeps the contract is blamed, in whatever way he keeps it: a false alarm costs more trust than a miss."""

import pytest

from faultspec_conformance.run import Options, Unreachable, run
from faultspec_conformance.target import read
from miniatures.serve import serving
from miniatures.variants import VARIANTS, varied
from test_kill_matrix import MINIATURES, taxonomy

pytestmark = pytest.mark.xdist_group("variants")


@pytest.mark.parametrize("name", list(VARIANTS))
def test_who_behaves_otherwise_trips_nothing(name: str) -> None:
    """Neither a failure nor a warning, and nothing that could not run."""
    service = MINIATURES["notebooks"]
    with serving(varied(VARIANTS[name])) as base:
        loaded = read(str(service.config), {**service.environment, "BASE_URL": base})
        assert loaded.target is not None, loaded.diagnostics
        report = run(loaded.target, taxonomy("notebooks"), Options(sweep=False))
    assert not isinstance(report, Unreachable), report.reason
    assert [(each.finding.clause, each.finding.message) for each in report.result.findings] == []
    assert report.result.not_run == ()
