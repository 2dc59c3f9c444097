"""Codes after their sunset date, and the default of the rule about idempotency keys."""

import json

import pytest

from faultspec.contract.model import build_contract
from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0}
envelopes: {error: {shape: {code: $code, again?: $retriable}}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
idempotency: {key: Idempotency-Key, default: DEFAULT}
codes:
  old: {summary: Old., http: 400, retriable: false, lifecycle: deprecated, sunset: 2026-03-31}
  busy:
    summary: Busy.
    http: 503
    retriable: {when: [{if: {operation.idempotent: true}, then: true}], else: false}
"""


def judged(
    answers: list[tuple[dict[str, object], dict[str, str], dict[str, str]]],
    default: str = "idempotent",
) -> list[Judgement]:
    """The judgements of POST requests by one contract: body, headers of the answer and of the
    request.
    """
    taxonomy = read(TAXONOMY.replace("DEFAULT", default), "shop.yaml").taxonomy
    assert taxonomy is not None
    contract = build_contract(taxonomy)
    return [
        judge(
            contract,
            Exchange(
                Request("POST", "/x", tuple(asked.items())),
                Response(
                    503 if body["code"] == "busy" else 400,
                    (("Content-Type", "application/json"), *headers.items()),
                    json.dumps(body).encode(),
                ),
            ),
        )
        for body, headers, asked in answers
    ]


def broken(judgement: Judgement) -> set[str]:
    """The clauses that an answer breaks."""
    return {finding.clause for finding in judgement.findings}


def test_a_code_ends_with_its_sunset_in_every_time_zone() -> None:
    """An answer of the day after may be of the last day elsewhere; later ones break the clause. A
    cached judgement of an earlier day does not hide it.
    """
    days = ["Mon, 30 Mar 2026", "Tue, 31 Mar 2026", "Wed, 01 Apr 2026", "Thu, 02 Apr 2026"]
    dates = [f"{day} 00:00:00 GMT" for day in (*days, *reversed(days))]
    found = judged([({"code": "old"}, {"Date": date}, {}) for date in dates])
    late = ["code/sunset" in broken(judgement) for judgement in found]
    assert late == [False, False, False, True, True, False, False, False]
    assert all("code/sunset" in judgement.exercised for judgement in found)


@pytest.mark.parametrize("date", [{}, {"Date": "soon"}])
def test_a_sunset_without_a_date_is_undecided(date: dict[str, str]) -> None:
    """An answer without a valid `Date` does not show the day on which it was sent."""
    (found,) = judged([({"code": "old"}, date, {})])
    assert "code/sunset" not in found.exercised
    assert "code/sunset" in found.undecided


@pytest.mark.parametrize(
    ("default", "key", "flag"),
    [
        ("idempotent", True, True),
        ("idempotent", False, None),
        ("not_idempotent", True, None),
        ("not_idempotent", False, False),
    ],
)
def test_a_declared_default_decides_where_the_request_agrees(
    default: str, key: bool, flag: bool | None
) -> None:
    """A POST with a key is idempotent by `default: idempotent`; without one it is not by `default:
    not_idempotent`. Otherwise the retry flag is undecided.
    """
    asked = {"Idempotency-Key": "k-1"} if key else {}
    answers = [({"code": "busy", "again": again}, {}, asked) for again in (True, False)]
    wrong = ["retriable/agrees" in broken(found) for found in judged(answers, default)]
    assert wrong == ([False, False] if flag is None else [not flag, flag])
