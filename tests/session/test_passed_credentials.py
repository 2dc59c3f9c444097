"""Credentials that a service passes on upstream: seen however the caller carries them."""

from urllib.parse import quote, urlencode

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import (
    ConfiguredCall,
    Identity,
    Login,
    PassOn,
    ServiceConfig,
    UpstreamCall,
    UpstreamConfig,
)
from faultspec_conformance.config.model import SavedPart
from faultspec_conformance.drivers import Limits
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.upstreams import GOOD, ScriptedUpstream, UpstreamRequest
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: post, version: 1.0.0, title: Post, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}}
codes: {refused: {summary: Not so, http: 409, retriable: false}}
"""

TOKEN = "pass/2471+of=ada"

LOGIN = Login(ConfiguredCall("POST", "/login"), {"token": SavedPart("/token")})

RULE = PassOn(always=("X-Trace",), never=("Authorization", "Cookie", "api_key"))


class Post:
    """A service that sends a parcel by calling a courier. ``extra``: headers of that call;
    ``query``: its query.
    """

    def __init__(self, upstream: ScriptedUpstream, extra: dict[str, str], query: str) -> None:
        self.upstream, self.extra, self.query = upstream, extra, query

    def __call__(self, request: Request) -> Response:
        """Answer a request."""
        if request.target == "/login":
            return answer(200, {"token": TOKEN})
        headers = {**self.extra, "X-Trace": dict(request.headers).get("X-Trace", "")}
        call = Request("POST", f"/parcels?{self.query}", tuple(headers.items()), b"{}")
        self.upstream.calls.append(UpstreamRequest(call, 0.0, 0.0, GOOD))
        self.upstream.received += 1
        return answer(200, {})


def judged(
    identity: Identity, extra: dict[str, str], query: str = "", rule: PassOn = RULE
) -> list[Outcome]:
    """The outcomes about the headers of calls upstream, after one request of an identity."""
    upstream = ScriptedUpstream(
        UpstreamConfig(
            "courier", (UpstreamCall(ConfiguredCall("POST", "/ship")),), (), pass_on=rule
        )
    )
    config = ServiceConfig(
        identities={"ada": identity}, upstreams=(upstream.config,), limits=Limits(writes=True)
    )
    session = http_session(Post(upstream, extra, query), TAXONOMY, config)
    session.upstreams = {"courier": upstream}
    session.call(RequestSpec("POST", "/ship", identity=identity, headers={"X-Trace": "trace-77"}))
    return [each for each in session.observations.outcomes if each.clause == "upstream/headers"]


CARRIERS = {
    "a header": Identity("ada", (("Authorization", f"Bearer {TOKEN}"),)),
    "a header of a login": Identity("ada", (("Authorization", "Bearer ${token}"),), login=LOGIN),
    "a cookie": Identity("ada", (("Cookie", f"theme=dark; sid={TOKEN}; lang=de"),)),
    "a cookie of a login": Identity("ada", (("Cookie", "sid=${token}; lang=de"),), login=LOGIN),
    "a parameter": Identity("ada", query=(("api_key", TOKEN),)),
    "a parameter of a login": Identity("ada", query=(("api_key", "${token}"),), login=LOGIN),
}


@pytest.mark.parametrize("identity", CARRIERS.values(), ids=CARRIERS)
def test_credentials_that_are_passed_on_are_seen_however_they_are_carried(
    identity: Identity,
) -> None:
    """A header of a file, a token of a login, a cookie, a parameter of the query: each fails if it
    stands in a call, as it is, in another header, or escaped in a query. Otherwise it passes.
    """
    for extra, query in (
        ({"Authorization": f"Bearer {TOKEN}"}, ""),
        ({"X-Caller": TOKEN}, ""),
        ({}, urlencode({"token": TOKEN})),
        ({}, f"token={quote(TOKEN, '')}"),
    ):
        [found] = judged(identity, extra, query)
        assert found.kind == "failed", (extra, query)
        assert found.finding is not None
        assert TOKEN not in found.finding.message
    [found] = judged(identity, {"Authorization": "Bearer of-the-service-9"}, "lang=de&theme=dark")
    assert found.kind == "passed"


def test_the_token_of_a_login_may_have_to_be_passed_on() -> None:
    """Credentials that each call has to repeat are compared with what was sent."""
    rule = PassOn(always=("Authorization",))
    caller = CARRIERS["a header of a login"]
    [found] = judged(caller, {"Authorization": f"Bearer {TOKEN}"}, rule=rule)
    assert found.kind == "passed"
    [found] = judged(caller, {"Authorization": "Bearer another-token-1"}, rule=rule)
    assert found.kind == "failed"


def test_a_whole_cookie_is_a_cookie_of_the_caller() -> None:
    """A cookie without a digit counts if the call has it as a cookie, under the same name."""
    caller = Identity("ada", (("Cookie", "session=plain-words; lang=de"),))
    assert [one.kind for one in judged(caller, {"Cookie": "session=plain-words"})] == ["failed"]
    assert [one.kind for one in judged(caller, {"X-Words": "plain-words"})] == ["passed"]
