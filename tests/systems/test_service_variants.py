"""A service that keeps the contract gets no finding, in whatever way it keeps it: a false alarm
costs more trust than a miss.
"""

import pytest

from miniatures.core_platform import ENVIRONMENT
from miniatures.variants import VARIANTS, varied
from support.kill_matrix import NOTEBOOKS, judge, served, taxonomy


@pytest.mark.parametrize("name", VARIANTS)
def test_a_service_that_behaves_otherwise_trips_nothing(name: str) -> None:
    """Neither a failure nor a warning, and nothing that could not run; but its document describes
    only the way of the notebooks.
    """
    opened = served(NOTEBOOKS, ENVIRONMENT, lambda _, clock: varied(name, clock=clock))
    with opened(None, False) as (target, connect):
        result = judge(target, taxonomy("notebooks"), connect)
    found = [(each.finding.clause, each.finding.message) for each in result.findings]
    assert [each for each in found if not each[0].startswith("document/")] == []
    assert result.not_run == ()
