"""The law of the sweep: what `st run` reports of a service, and is true, `conform` reports too."""

import json
from pathlib import Path

import pytest

from miniatures import lending
from support.law import CHECKS, reported_by_conform, reported_by_schemathesis

#: Sins that schemathesis does not see: they need the taxonomy, or requests that it does not send.
UNSEEN = frozenset(
    {"document-of-other-errors", "pin-comes-back", "pin-is-shown-later", "broken-escape-crashes"}
)


@pytest.mark.full  # each takes twenty seconds
@pytest.mark.parametrize("sins", [(), tuple(lending.SINS), *((sin,) for sin in lending.SINS)])
def test_everything_that_schemathesis_reports(sins: tuple[str, ...], tmp_path: Path) -> None:
    """With the same budget, `conform` reports what `st run` reports; of a service without faults
    both report nothing.
    """
    requests, checks = reported_by_schemathesis(sins, tmp_path)
    result = reported_by_conform(sins, requests)
    assert result.not_run == ()
    assert result.generated <= requests
    clauses = {reported.finding.clause for reported in result.findings}
    for check in checks:
        assert any(clause.startswith(CHECKS[check]) for clause in clauses), (check, clauses)
    assert bool(sins) == bool(clauses)
    assert not checks if not sins else UNSEEN.issuperset(sins) or checks


@pytest.mark.full
def test_generated_traffic_finds_what_no_probe_does() -> None:
    """A crash on one kind of text and a resource that survives its deletion are found by learning
    from answers.
    """
    result = reported_by_conform(lending.GENERATED, 250)
    found = {reported.finding.clause: reported.finding for reported in result.findings}
    assert found.keys() == {
        *("service/no-crash", "document/sequences"),
        "writes/deleted",
        *({"document/status"} & found.keys()),
    }
    crash = json.loads(found["service/no-crash"].evidence[-1].request.body)
    assert not crash["title"].isascii()
    deletion, *_, read = found["document/sequences"].evidence
    assert deletion.request.method == "DELETE"
    assert read.request.target == deletion.request.target
    assert result.clauses["document/sequences"].warnings
    assert result.not_run == ()
