"""The audit of failures that upstreams caused: each test states a law about their records."""

import json
from dataclasses import replace

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import NOBODY, Identity, UpstreamConfig
from faultspec_conformance.probes import audit
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.upstreams import ScriptedUpstream
from support.scripted import WRITABLE, Script, answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: till, version: 1.0.0, title: Till, owner: nobody}
domains: {request: What the caller can fix}
envelopes:
  error: {shape: {code: $code, audit_id: $audit_id, details: $details}, fields: {audit_id: {type: string}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
detail_keys: {retried: {type: integer}}
codes:
  away: {summary: The bank is away, domain: request, http: 502, retriable: none, client_action: none, effect: none, details: {retried: {}}}
audit:
  id: $audit_id
  lookup: {request: GET /audit, items: /events, id: /audit_id, order: newest-first}
  record: {audit_id: {type: string}, class: {type: string}, retried: {type: integer}}
  means: {audit_id: $audit_id, class: $code, retried: details.retried}
"""


def till(sin: str = "", page: int = 50) -> Script:
    """A service whose calls of a bank fail after some retries; each failure is in the audit.

    Sins: `zero`: the audit has no retries; `lost`: failures after retries are left out. ``page``:
    the records that it shows at most.
    """
    records: list[dict[str, object]] = []

    def script(request: Request) -> Response:
        if request.target.startswith("/audit"):
            return answer(200, {"events": records[::-1][:page]})
        retried = int(json.loads(request.body)["retried"])
        name = f"audit-{len(records)}-{retried}"
        recorded = 0 if sin == "zero" else retried
        if not (sin == "lost" and retried):
            records.append({"audit_id": name, "class": "away", "retried": recorded})
        return answer(502, {"code": "away", "audit_id": name, "details": {"retried": retried}})

    return script


def outcomes_of(script: Script, *, watched: bool = True, calls: tuple[int, ...]) -> list[Outcome]:
    """The outcomes after calls that were retried so often."""
    session = http_session(script, TAXONOMY)
    if watched:
        session.upstreams = {"bank": ScriptedUpstream(UpstreamConfig("bank", (), ()))}
    session.begin("upstreams", None, "upstreams")
    for retried in calls:
        session.call(RequestSpec("POST", "/pay", body={"retried": retried}, may_fail=True))
    return list(audit.upstream_failures(session))


@pytest.mark.parametrize("sin", ["zero", "lost"])
def test_the_record_of_a_retried_failure_agrees_with_the_answer(sin: str) -> None:
    """A record with another number of retries than the answer fails, and so does a missing one,
    even if many failures came later: the page shows one from before.
    """
    found = outcomes_of(till(sin), calls=(0, 3, *[0] * 12))
    assert {outcome.kind for outcome in found} == {"passed", "failed"}


def test_true_records_pass_once_for_each_sort_of_failure() -> None:
    """Failures with the same operation, code and numbers are looked up once."""
    found = outcomes_of(till(), calls=(3, 0, 3, 0, 0))
    assert [outcome.kind for outcome in found] == ["passed", "passed"]


def test_a_record_that_may_be_on_a_later_page_is_not_missing() -> None:
    """If more failures came later than the page has records, a missing record proves nothing."""
    found = outcomes_of(till(page=10), calls=(3, *[0] * 12))
    assert sorted(outcome.kind for outcome in found) == ["not_exercised", "passed"]


def test_a_failure_without_credentials_is_not_looked_up() -> None:
    """The audit of a caller may leave out requests that it did not send."""
    headers = (("Authorization", "ann"),)
    ann = Identity("ann", headers=headers)
    config = replace(WRITABLE, identities={"ann": ann})
    session = http_session(till("lost"), TAXONOMY, config)
    session.upstreams = {"bank": ScriptedUpstream(UpstreamConfig("bank", (), ()))}
    session.begin("upstreams", None, "upstreams")
    for identity, retried in ((NOBODY, 3), (ann, 0)):
        body = {"retried": retried}
        session.call(RequestSpec("POST", "/pay", identity=identity, body=body, may_fail=True))
    assert [outcome.kind for outcome in audit.upstream_failures(session)] == ["passed"]


SORTS = """
faultspec: 1
taxonomy: {name: till, version: 1.0.0, title: Till, owner: nobody}
envelopes: {error: {shape: {code: $code, id: $audit_id}, fields: {audit_id: {type: string}}}}
surfaces: {api: {transport: http, error_when: {status: [4xx]}, envelope: error, codes: closed}}
codes:
  absent: {summary: It is not there, http: 404, retriable: none}
  wrong: {summary: It is wrong, http: 422, retriable: none}
  unknown: {summary: Nobody knows you, http: 401, retriable: none}
audit:
  id: $audit_id
  lookup: {request: GET /audit, items: /events, id: /id, order: newest-first}
  record: {id: {type: string}, status: {type: integer}}
  means: {id: $audit_id, status: $status}
"""


@pytest.mark.parametrize(("lost", "is_found"), [(None, False), (404, True), (422, True)])
def test_a_failure_of_each_sort_is_looked_up(lost: int | None, is_found: bool) -> None:
    """A service that records no failure of one status is found, however many others came later;
    another caller's failures may be missing.
    """
    records: list[dict[str, object]] = []
    asked: list[int] = []

    def script(request: Request) -> Response:
        if request.target == "/audit":
            return answer(200, {"events": records[::-1]})
        status = int(request.target.strip("/"))
        asked.append(status)
        name = f"audit-{len(asked)}"
        if status != 401 and (status != lost or len(asked) < 3):
            records.append({"id": name, "status": status})
        code = {404: "absent", 422: "wrong", 401: "unknown"}[status]
        return answer(status, {"code": code, "id": name})

    headers = (("Authorization", "ann"),)
    ann = Identity("ann", headers=headers)
    session = http_session(script, SORTS, replace(WRITABLE, identities={"ann": ann}))
    for status in (404, 422, 404, 422, 401):
        identity = NOBODY if status == 401 else ann
        session.call(RequestSpec("GET", f"/{status}", identity=identity))
    for _ in range(12):
        session.call(RequestSpec("GET", "/404" if lost == 422 else "/422", identity=ann))
    found = [outcome.kind for outcome in audit.failures(session)]
    assert ("failed" in found) == is_found
    assert "passed" in found


def test_without_upstreams_nothing_is_looked_up() -> None:
    """A run that scripts no upstream says nothing about its failures."""
    assert not outcomes_of(till("zero"), watched=False, calls=(3,))
