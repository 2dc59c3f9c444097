"""Look-ups of audit records: the last failure of each code, as far as the limit goes, and what is
beyond it is named.
"""

from collections import Counter

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import AuditLookup, ConfiguredCall, Identity, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import audit_lookup
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.requests import RequestSpec
from support.scripted import answer, http_session

#: More codes than are looked up.
CODES = [f"fault_{number:02}" for number in range(audit_lookup._FAILURES + 8)]

TAXONOMY = """
faultspec: 1
taxonomy: {name: log, version: 1.0.0, title: Log, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code, failure_id: $failure_id}, fields: {failure_id: {type: string}}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}}
codes:
""" + "".join(f"  {code}: {{summary: It, http: 409, retriable: false}}\n" for code in CODES)

ADA, NOBODY = Identity("ada", (("Authorization", "Bearer ada-1815"),)), Identity("anonymous")


class Log:
    """A service whose failures have records. ``forgets``: the code whose failures have none;
    ``late``: a record is there only when it is looked up again.
    """

    def __init__(self, forgets: str = "", *, late: bool = False) -> None:
        self.forgets, self.late = forgets, late
        self.records: dict[str, str] = {}
        self.asked: Counter[str] = Counter()

    def __call__(self, request: Request) -> Response:
        """Answer one request."""
        _, kind, name = request.target.split("/")
        if kind == "fail":
            id = f"failure-{len(self.records) + 1:06}"
            self.records[id] = name
            return answer(409, {"code": name, "failure_id": id})
        self.asked[name] += 1
        known = name in self.records and self.records[name] != self.forgets
        if not known or (self.late and self.asked[name] < 2):
            return Response(404, (), b"")
        return answer(200, {"record": name})


def looked_up(log: Log, codes: list[str], anonymous: tuple[str, ...] = ()) -> list[Outcome]:
    """The outcomes about records, after one failure of each code. ``anonymous``: the codes that
    only a caller without credentials gets.
    """
    config = ServiceConfig(
        identities={"ada": ADA},
        audit=AuditLookup(ConfiguredCall("GET", "/records/{failure_id}"), "failure_id"),
        limits=Limits(requests=400, seconds=1_000),
    )
    session = http_session(log, TAXONOMY, config)
    for code in codes:
        caller = NOBODY if code in anonymous else ADA
        session.call(RequestSpec("GET", f"/fail/{code}", identity=caller))
    found = audit_lookup.lookups(session)
    return [one for one in found if one.clause == "audit/resolves"]


@pytest.mark.parametrize("late", [False, True])
def test_each_code_is_looked_up(late: bool) -> None:
    """A failure whose record is never written is found, whenever its code was observed; records
    that are written later are not missing.
    """
    codes = CODES[:25]
    for code in (codes[0], codes[12], codes[-1]):
        outcomes = looked_up(Log(code, late=late), codes)
        assert Counter(one.kind for one in outcomes) == {"passed": 24, "failed": 1}
        [message] = [one.finding.message for one in outcomes if one.finding is not None]
        assert code in message
    assert {one.kind for one in looked_up(Log(late=late), codes)} == {"passed"}


def test_codes_beyond_the_limit_are_named() -> None:
    """The reasons name codes that are not looked up: the earliest ones beyond the limit, and those
    that only callers without credentials get.
    """
    outcomes = looked_up(Log(), CODES, (CODES[3],))
    passed = [one for one in outcomes if one.kind == "passed"]
    assert len(passed) == audit_lookup._FAILURES
    beyond, without = [one.reason for one in outcomes if one.kind == "not_exercised"]
    assert "`fault_00`, `fault_01`, `fault_02`, `fault_04`, `fault_05` and 2 more" in beyond
    assert "`fault_03` has an id" in without
