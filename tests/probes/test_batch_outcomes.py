"""The number of outcomes that the answer to a batch has."""

import json
from collections.abc import Sequence

import pytest

from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.language.model import Batch
from faultspec_conformance.probes.batch_items import SentBatch, check_outcome_of_each
from faultspec_conformance.session.observation import Observation

RULE = Batch(items=("/results",), status=("/status",), body=(), mixed_only=False)
SENT = SentBatch(("a", "bad", "c", "d", "bad"), frozenset({1, 4}))


def answered(statuses: Sequence[int]) -> Observation:
    """A 207 with these outcomes."""
    body = json.dumps({"results": [{"status": status} for status in statuses]}).encode()
    exchange = Exchange(
        Request("POST", "/things/bulk"),
        Response(207, (("Content-Type", "application/json"),), body),
        operation="POST /things/bulk",
    )
    return Observation(
        exchange,
        Judgement(findings=(), exercised=frozenset(), surface=None, is_error=False, code=None),
    )


@pytest.mark.parametrize(
    ("statuses", "kind"),
    [
        ((201, 422, 201, 201, 422), "passed"),
        ((422, 422), "passed"),  # failures alone
        ((201, 422), "failed"),  # it stopped at the first
        ((201, 201, 201), "passed"),  # `batch/named-items` judges successes alone
        ((201, 422, 201, 201), "failed"),
        ((), "passed"),  # no list of outcomes says anything
    ],
)
def test_each_item_has_an_outcome(statuses: Sequence[int], kind: str) -> None:
    """An answer with outcomes has one of each item, or those of the failures alone: an item without
    one is lost in silence.
    """
    assert check_outcome_of_each(RULE, answered(statuses), SENT).kind == kind
