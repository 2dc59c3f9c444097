"""Errors whose code is unknown are judged by their status."""

import pytest

from faultspec.contract.model import build_contract
from faultspec.exchange.model import ABOUT_BODY, Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read

TAXONOMY = """
faultspec: 1
taxonomy: {name: t, version: 1.0.0}
envelopes: {error: {shape: {code: $code}}}
surfaces:
  api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: CODES}
codes:
  absent: {summary: It is missing., http: 404}
  bug: {summary: It failed., http: 500}
  busy: {summary: It is busy., http: 503, retriable: true, client_action: retry}
  legacy: {summary: It failed., http: BOTH, retriable: true, client_action: retry}
undeclared: {becomes: bug}
FALLBACK
"""

#: Statuses with the clauses that an error of an unknown code fails.
CASES = [
    # Only the code of crashes has it.
    ("closed", "418", "", 500, {"service/no-crash"}),
    # Another code, which may be repeated, has it too.
    ("closed", "500", "", 500, set()),
    ("closed", "418", "", 404, set()),
    ("closed", "418", "", 503, set()),
    # No code has it.
    ("closed", "418", "", 409, {"code/status"}),
    ("open", "418", "", 409, set()),
    ("closed", "418", "fallback: {4xx: {code: absent, reason: Routers answer it.}}", 409, set()),
    ("closed", "418", "fallback: {5xx: {code: busy, reason: Gateways answer it.}}", 507, set()),
    ("closed", "418", "", 507, {"code/status", "service/no-crash"}),
]


@pytest.mark.parametrize(("codes", "both", "fallback", "status", "expected"), CASES)
def test_what_all_codes_of_a_status_have_in_common_is_judged(
    codes: str, both: str, fallback: str, status: int, expected: set[str]
) -> None:
    """A status that only crashes have is a crash; one of no code breaks a closed surface; what
    depends on the code is not judged.
    """
    text = TAXONOMY.replace("CODES", codes).replace("BOTH", both).replace("FALLBACK", fallback)
    taxonomy = read(text, "t.yaml").taxonomy
    assert taxonomy is not None
    exchange = Exchange(
        Request("GET", "/orders/7"), Response(status), lacks=ABOUT_BODY | {"headers"}
    )
    judgement = judge(build_contract(taxonomy), exchange)
    assert {finding.clause for finding in judgement.findings} == expected
    assert "service/no-crash" in judgement.exercised
