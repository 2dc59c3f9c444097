"""Refused writes that name a resource in their bodies: each test states a law about what they leave
behind.
"""

import json
from collections.abc import Mapping
from types import MappingProxyType

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, Identity, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import named_effects, resources
from faultspec_conformance.session.requests import RequestSpec
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: bank, version: 1.0.0, title: Bank, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error}}
codes:
  frozen: {summary: Frozen, http: 409, retriable: false, effect: none}
  down: {summary: Down, http: 503, retriable: true, effect: none}
  unclear: {summary: Unclear, http: 504, retriable: true, effect: unknown}
"""
CONFIG = ServiceConfig(
    identities={"ann": Identity("ann", (("X-Key", "ann"),), tenant="acme")},
    resources={
        "account": ResourceConfig(
            "account",
            create=ConfiguredCall("POST", "/accounts"),
            read=ConfiguredCall("GET", "/accounts/{id}"),
            id="/id",
        )
    },
    limits=Limits(writes=True),
)
DOCUMENT = {
    "openapi": "3.1.0",
    "paths": {
        "/accounts": {"post": {"responses": {"201": {"description": "made"}}}},
        "/accounts/{id}": {
            "parameters": [
                {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
            ],
            "get": {"responses": {"200": {"description": "shown"}}},
        },
        "/payments": {
            "post": {
                "requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}},
                "responses": {"201": {"description": "paid"}},
            }
        },
    },
}


class Bank:
    """Accounts, and payments that are refused. ``debits``: the codes whose refusals debit the
    account. ``moves``: the balance changes with each read. ``once``: the first refusal alone
    debits. ``closes``: a refusal closes the account. ``empties``: a refusal takes all that an
    account has.
    """

    def __init__(
        self,
        *debits: str,
        moves: bool = False,
        once: bool = False,
        closes: bool = False,
        empties: bool = False,
        identifier: object = "acc-7f3a9",
    ) -> None:
        self.identifier = identifier
        self.debits, self.moves, self.once, self.closes = debits, moves, once, closes
        self.empties = empties
        self.accounts: dict[str, int] = {}
        self.balance, self.tries = 100, 0

    def __call__(self, request: Request) -> Response:
        """The answer."""
        if self.empties and request.target != "/payments":
            return self._answer_apart(request)
        if request.target == "/accounts":
            return answer(201, {"id": self.identifier})
        if request.method == "GET":
            self.balance += self.moves
            if self.closes and self.tries > 1:
                return answer(404, {"code": "frozen"})
            return answer(
                200, {"id": self.identifier, "balance": self.balance, "attempts": self.tries}
            )
        sent = json.loads(request.body)
        self.tries += 1
        self.accounts[str(sent.get("from"))] = 0
        if sent["code"] in self.debits and not (self.once and self.tries > 2):
            self.balance -= 5
        return answer({"frozen": 409, "down": 503, "unclear": 504}[sent["code"]], sent)

    def _answer_apart(self, request: Request) -> Response:
        """The answer about accounts that each have a balance of their own."""
        if request.method == "POST":
            identifier = f"acc-{len(self.accounts)}-7f3a9"
            self.accounts[identifier] = 100
            return answer(201, {"id": identifier})
        identifier = request.target.removeprefix("/accounts/")
        return answer(200, {"id": identifier, "balance": self.accounts[identifier]})


def found(
    bank: Bank, code: str, named: Mapping[str, object] = MappingProxyType({"from": "acc-7f3a9"})
) -> list[tuple[str, str]]:
    """The kinds of the outcomes after a payment with a code, each with its message."""
    session = http_session(bank, TAXONOMY, CONFIG, DOCUMENT)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    body = {**named, "code": code}
    session.call(RequestSpec("POST", "/payments", body=body, may_fail=True))
    before = len(session.observations.outcomes)
    session.record_results(named_effects.named_effects(session))
    outcomes = [*session.observations.outcomes][before:]
    return [
        (one.kind, one.finding.message if one.finding is not None else one.reason)
        for one in outcomes
        if one.clause == "writes/refused"
    ]


@pytest.mark.parametrize("code", ["frozen", "down"])
def test_a_refusal_that_debits_what_it_names_fails(code: str) -> None:
    """A refusal, and a failure whose code says that it took no effect, leave the resource that the
    body names as it was; a counter of tries may move.
    """
    ((kind, message),) = found(Bank(code), code)
    assert kind == "failed"
    assert "differs at `/balance`" in message
    assert [kind for kind, _ in found(Bank(), code)] == ["passed"]


def test_a_change_that_is_not_repeated_is_not_an_effect() -> None:
    """A value that every read shows otherwise, or that changes once, decides nothing."""
    for bank in (Bank(moves=True), Bank("frozen", once=True)):
        ((kind, message),) = found(bank, "frozen")
        assert kind == "not_exercised"
        assert "changes by itself, or once" in message


def test_a_refusal_that_deletes_what_it_names_fails() -> None:
    """A resource that is gone after the refused write is not one that it left as it was."""
    ((kind, message),) = found(Bank(closes=True), "frozen")
    assert kind == "failed"
    assert "does not find what its body names any more" in message


@pytest.mark.parametrize(
    ("member", "identifier", "is_read"),
    [
        ("from", "acc-7f3a9", True),
        ("quantity", 7, False),
        ("account_id", 7, True),
        ("from", 7, False),
    ],
)
def test_short_ids_count_under_a_name_of_their_kind(
    member: str, identifier: object, is_read: bool
) -> None:
    """A number in a body is an id where its member names the kind of resource."""
    bank = Bank("frozen", identifier=identifier)
    assert bool(found(bank, "frozen", {member: identifier})) == is_read


def test_a_failure_that_may_have_taken_effect_is_left_alone() -> None:
    """A code whose `effect` is not none promises nothing."""
    assert found(Bank("unclear"), "unclear") == []


def test_a_refusal_that_sets_a_value_of_what_it_names_fails() -> None:
    """A write that empties an account differs from nothing when it is sent again; a new account
    shows its effect.
    """
    ((kind, message),) = found(Bank(empties=True), "frozen", {"from": "acc-0-7f3a9"})
    assert kind == "failed"
    assert "differs at `/balance`" in message


def test_a_count_of_what_a_resource_has_is_not_one_of_requests() -> None:
    """Members that count or tell of tries may move with a refusal; `seedCount`, `accountBalance`,
    `catalogNumber` and `onLoan` are what the item has.
    """
    tries = ("requestCount", "usage_today", "calls", "count", "lastAttemptAt", "error_log", "_etag")
    held = ("seedCount", "accountBalance", "catalogNumber", "onLoan", "requestedAmount", "updates")
    shown = [
        http_session(
            lambda request, n=n: answer(200, dict.fromkeys((*tries, *held), n)), TAXONOMY
        ).call(RequestSpec("GET", "/accounts/7"))
        for n in (1, 2)
    ]
    assert named_effects.differing_places(*shown) == sorted(f"/{name}" for name in held)
