"""Logins of identities: when they are sent, and that no report has what they yield."""

import base64
import json
from dataclasses import replace
from urllib.parse import parse_qsl, quote, quote_plus

import pytest

from faultspec import source
from faultspec.contract.clauses import CLAUSES
from faultspec.exchange.model import Request, Response
from faultspec_conformance import reports
from faultspec_conformance.config import ServiceConfig, parse_config
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import provoke
from faultspec_conformance.results.enabling import find_enabling
from faultspec_conformance.results.model import ClauseResult, Outcome
from faultspec_conformance.run.service import (
    build_report,
    report_refused_identities,
    unended_logins,
)
from faultspec_conformance.run.summarize import build_session_masking
from faultspec_conformance.sanitize.masking import build_masking
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Unanswered
from faultspec_conformance.session.options import RunOptions
from faultspec_conformance.session.requests import RequestSpec
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}}
codes:
  denied: {summary: Not you, http: 401, retriable: false}
  absent: {summary: Not there, http: 404, retriable: false}
privacy: {detectors: [canary]}
"""

PASSWORD = "hunter2-hunter2"

FORM = "application/x-www-form-urlencoded"

CONFIG = """
target: {http: "http://127.0.0.1:1"}
identities:
  alice:
    headers: {Authorization: "Bearer ${token}"}
    login:
      request: POST /login
      body: {user: alice, password: "${PASSWORD}"}
      save: {token: /access_token}
provoke:
  denied:
    steps:
      - {request: POST /logout}
      - {request: GET /me}
"""


class Shop:
    """A shop whose tokens end: by a logout, or after some requests."""

    def __init__(
        self, lasts: int = 100, *, refuses: str = "", cookie: bool = False, valid_logins: int = 100
    ) -> None:
        self.logins, self.lasts, self.left = 0, lasts, 0
        self.refuses, self.cookie = refuses, cookie
        self.valid_logins = valid_logins

    def __call__(self, request: Request) -> Response:
        """Answer a request."""
        headers = dict(request.headers)
        if request.target == "/login":
            form = dict(parse_qsl(request.body.decode()))
            body = form if headers.get("Content-Type") == FORM else json.loads(request.body)
            if body["password"] != PASSWORD:
                return answer(401, {"code": "denied"})
            self.logins += 1
            self.left = self.lasts if self.logins <= self.valid_logins else 0
            token = {"access_token": self.token}
            return answer(200, token, set_cookie=f"sid={self.token}; HttpOnly")
        sent = headers.get("Cookie") if self.cookie else headers.get("Authorization")
        expected = f"sid={self.token}" if self.cookie else f"Bearer {self.token}"
        if sent != expected or self.left == 0 or request.target == self.refuses:
            return answer(401, {"code": "denied"})
        self.left = 0 if request.target == "/logout" else self.left - 1
        if request.target == "/echo":
            return answer(404, {"code": "absent", "token": self.token})
        return answer(200, {})

    @property
    def token(self) -> str:
        """The valid token."""
        return f"token-of-login-{self.logins}"


def config(text: str = CONFIG, *, password: str = PASSWORD) -> ServiceConfig:
    """The configuration of a service with a login; the run may not write."""
    document, found = source.parse(text, "conformance.yaml")
    assert document is not None, found
    loaded = parse_config(document, {"PASSWORD": password})
    assert loaded.target is not None, loaded.diagnostics
    return loaded.target


def session_with(shop: Shop, text: str = CONFIG, *, password: str = PASSWORD) -> HttpSession:
    """A session with the shop that may write."""
    target = config(text, password=password)
    return http_session(shop, TAXONOMY, replace(target, limits=Limits(writes=True)))


@pytest.mark.parametrize("password", ["a&b=c+d%41 e", "ä/?#:;-höher", '"quoted"-and-${x}'])
def test_a_login_by_form_sends_the_password_as_it_is(
    password: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every character of a variable reaches the service through the form, and no report shows the
    password in its form.
    """
    monkeypatch.setattr("test_logins.PASSWORD", password)
    text = CONFIG.replace("      body:", f"      headers: {{Content-Type: {FORM}}}\n      body:")
    session = session_with(Shop(), text, password=password)
    assert session.call(RequestSpec("GET", "/me")).ok
    own = session.config
    masking = build_masking(own.identities.values(), own.secrets)
    for form in (quote_plus(password), quote(password), password):
        assert form not in masking.text(f"no user with user=alice&password={form}&x=1")


def test_a_login_is_sent_before_the_first_request_of_its_identity_and_once() -> None:
    """A login yields the credentials of an identity. A run that must not write sends it too."""
    shop = Shop()
    session = http_session(shop, TAXONOMY, config())
    assert shop.logins == 0
    assert [session.call(RequestSpec("GET", "/me")).status for _ in range(3)] == [200] * 3
    assert shop.logins == 1
    assert not session.driver.limits.writes


def test_what_a_login_saved_is_a_credential() -> None:
    """A report masks it, also the one before a renewal, and what it decodes to."""
    session = session_with(Shop(lasts=1))
    for _ in range(2):
        session.call(RequestSpec("GET", "/me"))
    first, second = session.observations.credentials
    assert (first, second) == ("token-of-login-1", "token-of-login-2")
    token = base64.b64encode(b"alice:open-sesame-17").decode()
    session.observations.credentials[token] = None
    masking = build_session_masking(session)
    for secret in (first, second, token, "open-sesame-17"):
        assert secret not in masking.text(f"the value {secret} is wrong")


def test_a_cookie_may_be_the_credential() -> None:
    """A login may save a cookie of its answer."""
    text = CONFIG.replace("/access_token", "cookie sid")
    text = text.replace('Authorization: "Bearer ${token}"', 'Cookie: "sid=${token}"')
    assert session_with(Shop(cookie=True), text).call(RequestSpec("GET", "/me")).status == 200


def test_credentials_that_ended_are_renewed_and_the_run_goes_on() -> None:
    """An identity that was accepted and gets 401 logs in again; the request is sent again."""
    shop = Shop(lasts=2)
    session = session_with(shop)
    assert [session.call(RequestSpec("GET", "/me")).status for _ in range(6)] == [200] * 6
    assert shop.logins == 3
    assert report_refused_identities(session) == ()
    assert any("logged in again" in note for note in session.observations.notes)


def test_credentials_that_end_at_once_make_no_green_run() -> None:
    """A service whose tokens end after each request gets eleven logins. Then the identity counts as
    refused, which a run reports.
    """
    shop = Shop(lasts=1)
    session = session_with(shop)
    statuses = [session.call(RequestSpec("GET", "/me")).status for _ in range(15)]
    assert shop.logins == 11
    assert statuses[-2:] == [401, 401]
    assert "are refused since" in report_refused_identities(session)[0]


def test_a_new_login_that_is_not_accepted_is_a_failure() -> None:
    """An operation that accepted the caller refuses the credentials of two new logins. An operation
    that never accepted the caller proves nothing.
    """

    shop = Shop(refuses="/admin")
    session = session_with(shop)
    for path in ("/me", "/admin", "/me"):
        session.call(RequestSpec("GET", path))
    outcomes = [one for one in session.observations.outcomes if one.clause == "auth/renewed"]
    assert outcomes == []
    shop.refuses = "/me"
    session.call(RequestSpec("GET", "/me"))
    kinds = [one.kind for one in session.observations.outcomes if one.clause == "auth/renewed"]
    assert kinds == ["failed"]
    assert shop.logins == 4


@pytest.mark.parametrize("paths", [("/me", "/you"), ("/new", "/me", "/you")])
def test_an_identity_whose_new_logins_are_refused_everywhere_stops(paths: tuple[str, ...]) -> None:
    """Two operations that accepted the identity refuse what its new logins yield: `auth/renewed`
    fails and the identity sends nothing more. The first 401 may be that of another operation.
    """
    shop = Shop(lasts=2, valid_logins=1)
    session = session_with(shop)
    statuses = [session.call(RequestSpec("GET", path)).status for path in ("/me", "/you", *paths)]
    assert statuses == [200, 200, *[401] * len(paths)]
    kinds = [one.kind for one in session.observations.outcomes if one.clause == "auth/renewed"]
    assert kinds == ["failed"]
    with pytest.raises(Unanswered, match="alice sends no more requests: GET /me and GET /you"):
        session.call(RequestSpec("GET", "/me"))
    assert report_refused_identities(session) == ()


def test_an_operation_that_loses_its_callers_stops_no_identity() -> None:
    """One operation refuses what new logins yield. The identity goes on as long as another
    operation accepts it.
    """
    shop = Shop()
    session = session_with(shop)
    for path in ("/me", "/you"):
        session.call(RequestSpec("GET", path))
    for refused, accepted in (("/me", "/you"), ("/you", "/me")):
        shop.refuses = refused
        assert session.call(RequestSpec("GET", refused)).status == 401
        assert session.call(RequestSpec("GET", accepted)).status == 200
    assert session.logins.failed == {}


def test_a_login_that_is_not_repeated_suggests_no_login() -> None:
    """If the session of a login does not end, `auth/renewed` is not exercised, and no key of the
    conformance file would change that. A run without logins names the key.
    """
    session = session_with(Shop(lasts=2))
    session.call(RequestSpec("GET", "/me"))
    (outcome,) = unended_logins(session)
    idle = ClauseResult("auth/renewed", not_exercised=(str(outcome.reason),))
    assert find_enabling(idle) is None
    for _ in range(2):
        session.call(RequestSpec("GET", "/me"))
    assert list(unended_logins(session)) == []
    needed = f"needed: {CLAUSES['auth/renewed'].occasion}"
    line = find_enabling(ClauseResult("auth/renewed", idle=needed))
    assert line is not None
    assert "login:" in line.line


def test_an_operation_that_refuses_its_caller_is_not_asked_again_and_again() -> None:
    """A 401 that new credentials do not change is the answer; the operation causes one login."""
    shop = Shop(refuses="/admin")
    session = session_with(shop)
    session.call(RequestSpec("GET", "/me"))
    assert [session.call(RequestSpec("GET", "/admin")).status for _ in range(4)] == [401] * 4
    assert shop.logins == 2
    assert session.call(RequestSpec("GET", "/me")).status == 200


def test_a_recipe_for_a_refusal_is_not_undone_by_a_login() -> None:
    """After a logout, the 401 that a recipe asks for comes; the next request has credentials."""
    shop = Shop()
    session = session_with(shop)
    session.call(RequestSpec("GET", "/me"))
    kinds = [each.kind for each in provoke.recipes(session) if isinstance(each, Outcome)]
    assert kinds == ["passed"]
    assert session.call(RequestSpec("GET", "/me")).status == 200


def test_an_identity_that_cannot_log_in_could_not_run() -> None:
    """A login without the value that it saves is reported once, with the answer."""
    session = session_with(Shop(), password="wrong-password")
    for _ in range(3):
        with pytest.raises(Unanswered, match="alice could not log in: the service answered 401"):
            session.call(RequestSpec("GET", "/me"))
    assert len(set(session.observations.not_run)) == 1


def test_what_a_login_yields_is_secret() -> None:
    """No exchange has the token in its request; an answer that returns it is a leak."""
    session = session_with(Shop())
    echoed = session.call(RequestSpec("GET", "/echo"))
    assert not any(
        "token-of" in str(one.exchange.request) for one in session.observations.exchanges
    )
    assert "leaks/canary" in {finding.clause for finding in echoed.judgement.findings}
    report = build_report(
        session,
        session.contract.clauses,
        RunOptions(),
        base="http://h",
        flaky=frozenset(),
        interrupted=False,
    )
    assert "token-of-login" not in reports.json(report)
    assert PASSWORD not in reports.json(report)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("save: {token:", "save: {tokn:"), "`token` is not saved by `login`"),
        (
            ("/access_token}", "/access_token, more: /id}"),
            "no header or parameter of the identity uses",
        ),
    ],
)
def test_a_login_saves_what_the_headers_use(change: tuple[str, str], message: str) -> None:
    """A value without a use, and a use without a value, are mistakes of the file."""
    document, _ = source.parse(CONFIG.replace(*change), "conformance.yaml")
    assert document is not None
    loaded = parse_config(document, {"PASSWORD": PASSWORD})
    assert any(message in each.message for each in loaded.diagnostics)


def test_a_refused_login_says_nothing_about_the_credentials_of_its_caller() -> None:
    """A caller that tries wrong passwords keeps its session: the suite neither logs in again nor
    counts the caller as refused.
    """
    shop = Shop()
    session = session_with(shop)
    assert session.call(RequestSpec("GET", "/me")).ok
    alice = session.identities[0]
    for password in ("guess", "another", "third"):
        body = {"user": "alice", "password": password}
        refused = session.call(RequestSpec("POST", "/login", identity=alice, body=body))
        assert refused.status == 401
    assert report_refused_identities(session) == ()
    assert (shop.logins, session.observations.notes) == (1, [])


class GenerousShop(Shop):
    """A shop whose logins yield more secrets than are saved, and whose errors repeat them."""

    def __call__(self, request: Request) -> Response:
        """Answer a request."""
        given = {
            "access_token": self.token,
            "refresh_token": "Refr3shTokXyZ",
            "session": {"id": "S3ssIdQrS99", "kind": "browser-7"},
            "token_type": "bearer",
        }
        if request.target == "/login":
            super().__call__(request)
            return answer(200, {**given, "access_token": self.token}, set_cookie="s=C00kie-of-shop")
        shown = {"message": f"in browser-7: {json.dumps(given)} C00kie-of-shop"}
        return answer(404, {"code": "absent", **shown})


def test_every_secret_of_the_answer_to_a_login_is_masked() -> None:
    """Members with secret names and cookies, wherever the service repeats them. Others are
    shown.
    """
    session = session_with(GenerousShop())
    seen = session.call(RequestSpec("GET", "/me")).exchange
    shown = build_session_masking(session).exchange(seen).response.body
    assert b"Refr3shTokXyZ" in seen.response.body
    assert b"C00kie-of-shop" in seen.response.body
    assert not [
        word for word in (b"Refr3sh", b"S3ssId", b"C00kie-of", b"token-of") if word in shown
    ]
    assert b"in browser-7" in shown
    assert b"bearer" in shown
