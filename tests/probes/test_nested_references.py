"""References that stand in the items of a list in a body, such as the accounts of an entry."""

import json
import uuid
from typing import Any

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, Identity, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import resources, tenancy
from faultspec_conformance.results.model import Outcome
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: books, version: 1.0.0, title: Books, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code, message?: $message}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx]}, envelope: error}}
codes:
  absent: {summary: Not there, http: 404, retriable: false}
  denied: {summary: Not yours, http: 403, retriable: false}
  invalid: {summary: Not an account, http: 422, retriable: false}
privacy: {conceal: [{across: tenant, answer: absent}]}
"""

LINES = [{"account": "${account.id}", "amount": 5}, {"account": "${account.id}", "amount": -5}]
DONE = {"responses": {"201": {"description": "done"}}}
JSON_BODY = {"content": {"application/json": {"schema": {"type": "object"}}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        "/accounts": {"post": {**DONE, "requestBody": JSON_BODY}},
        "/accounts/{id}": {"get": {"responses": {"200": {"description": "done"}}}},
        "/entries": {"post": {**DONE, "requestBody": JSON_BODY}},
        "/entries/{id}": {"get": {"responses": {"200": {"description": "done"}}}},
    },
}


class Books:
    """Accounts, and entries with a line for each of two. ``sin``: what it gets wrong."""

    def __init__(self, sin: str) -> None:
        self.sin = sin
        self.items: dict[str, dict[str, Any]] = {}

    def __call__(self, request: Request) -> Response:
        """The answer to a request of the caller that `Authorization` names."""
        who = dict(request.headers).get("Authorization")
        path = request.target.partition("?")[0]
        if request.method == "GET":
            found = self.items.get(path)
            is_own = found is not None and found["by"] == who
            return answer(200, found) if is_own else answer(404, {"code": "absent"})
        if request.method != "POST":
            return answer(404, {"code": "absent"})
        body = json.loads(request.body)
        for line in body.get("lines", ()):
            refusal = self.refuse(who, str(line["account"]))
            if refusal is not None:
                return refusal
        identifier = str(uuid.uuid4())
        self.items[f"{path}/{identifier}"] = made = {**body, "id": identifier, "by": who}
        return answer(201, made)

    def refuse(self, who: str | None, account: str) -> Response | None:
        """The refusal of a line, or None."""
        found = self.items.get(f"/accounts/{account}")
        invalid = {"code": "invalid", "message": "not an account"}
        if found is None:
            return answer(422, invalid)
        if found["by"] == who or self.sin == "books on it":
            return None
        if self.sin == "forbids it":
            return answer(403, {"code": "denied"})
        if self.sin == "names it":
            invalid = {**invalid, "message": f"{found['name']} is not yours"}
        return answer(422, invalid)


@pytest.mark.parametrize(
    ("sin", "message"),
    [
        ("", None),
        ("books on it", "with `lines/0/account` of another tenant's account; expected a refusal"),
        ("forbids it", "the answer is 403 denied; expected 422 invalid"),
        ("names it", "has a text of that account"),
    ],
)
def test_a_reference_in_a_list_conceals_the_resource(sin: str, message: str | None) -> None:
    """The other references of the body are to the stranger's own, so the one is what is refused."""
    config = ServiceConfig(
        identities={
            name: Identity(name, (("Authorization", name),), tenant=name) for name in ("ann", "ben")
        },
        resources={
            "account": ResourceConfig(
                "account",
                create=ConfiguredCall("POST", "/accounts", body={"name": "Cash ${unique}"}),
                read=ConfiguredCall("GET", "/accounts/{id}"),
                id="/id",
            ),
            "entry": ResourceConfig(
                "entry",
                create=ConfiguredCall("POST", "/entries", body={"lines": LINES}),
                read=ConfiguredCall("GET", "/entries/{id}"),
                id="/id",
            ),
        },
        limits=Limits(writes=True),
    )
    session = http_session(Books(sin), TAXONOMY, config, DOCUMENT)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    found = [one for one in tenancy.other_tenants(session) if isinstance(one, Outcome)]
    failures = [one.finding.message for one in found if one.finding is not None]
    assert [message is not None and message in text for text in failures] == [True] * len(failures)
    assert bool(failures) == (message is not None)
    assert any(one.kind == "passed" for one in found)
