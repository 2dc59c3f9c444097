"""Laws of the parts that a run with `--only` plays."""

import pytest

from faultspec.contract.clauses import CLAUSES
from faultspec_conformance.run.schedule import needs_sweep


@pytest.mark.parametrize(
    "only", ["idempotency/*", "tenancy/*", "auth/missing", "framework/media-type", "nothing/*"]
)
def test_clauses_of_probes_need_no_generated_traffic(only: str) -> None:
    """Generated requests prove nothing about a clause that a probe checks."""
    assert not needs_sweep(only, CLAUSES)


@pytest.mark.parametrize(
    "only",
    [None, "*", "document/*", "envelope/*", "code/*", "leaks/*", "service/*", "document/status"],
)
def test_clauses_of_any_answer_need_generated_traffic(only: str | None) -> None:
    """Each answer to a generated request may break them."""
    assert needs_sweep(only, CLAUSES)
