"""Actions below the items of lists: each test states a law about which items are acted on."""

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import bodies, listed
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.requests import RequestSpec
from support.scripted import ScriptedDriver, answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: desk, version: 1.0.0, title: Desk, owner: nobody}
domains: {request: What the caller can fix}
envelopes:
  error: {media_type: application/json, shape: {code: $code}, additional: forbid}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, domain: request, http: 404, retriable: none, client_action: none, effect: none}
  invalid: {summary: Not valid, domain: request, http: 400, retriable: none, client_action: none, effect: none}
  decided: {summary: It is decided, domain: request, http: 409, retriable: none, client_action: none, effect: none}
"""
BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "required": ["approve"],
                "properties": {"approve": {"type": "boolean"}},
            }
        }
    },
}
NAME = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
DOCUMENT = {
    "openapi": "3.1.0",
    "paths": {
        "/approvals": {"get": {"responses": {"200": {"description": "all"}}}},
        "/approvals/{id}": {"parameters": [NAME], "delete": {"responses": {}}},
        "/approvals/{id}/decision": {
            "parameters": [NAME],
            "post": {"requestBody": BODY, "responses": {"200": {"description": "done"}}},
        },
    },
}


def session_of(*items: object, shape: str = "code", writes: bool = True) -> HttpSession:
    """A session with a desk whose list has these items. ``shape``: the member that its refusals of
    a second decision have.
    """
    decided: set[str] = set()

    def script(request: Request) -> Response:
        if request.target == "/approvals":
            return answer(200, {"approvals": list(items)})
        name = request.target.removeprefix("/approvals/").removesuffix("/decision")
        if name not in {str(item.get("id")) if isinstance(item, dict) else item for item in items}:
            return answer(404, {"code": "absent"})
        if request.body[:1] != b"{" or b"approve" not in request.body:
            return answer(400, {"code": "invalid"})
        if name in decided:
            return answer(409, {shape: "decided"})
        decided.add(name)
        return answer(200, {})

    return http_session(script, TAXONOMY, ServiceConfig(limits=Limits(writes=writes)), DOCUMENT)


def targets(session: HttpSession) -> list[tuple[str, str]]:
    """The requests that were sent."""
    assert isinstance(session.driver, ScriptedDriver)
    return [(request.method, request.target) for request in session.driver.sent]


def test_an_action_is_taken_on_an_item_of_the_list() -> None:
    """The first item of the list gets the action twice, so that the second refusal is judged."""
    for items in ([{"id": "ap-1"}, {"id": "ap-2"}], ["ap-1"]):
        session = session_of(*items)
        list(listed.listed_actions(session))
        action = ("POST", "/approvals/ap-1/decision")
        assert targets(session) == [("GET", "/approvals"), action, action]
        assert all(seen.sound for seen in session.observations.exchanges)


def test_the_refusal_of_a_repeated_action_is_judged() -> None:
    """A refusal in another form than the declared one is found without configuration."""
    session = session_of({"id": "ap-1"}, shape="error")
    list(listed.listed_actions(session))
    assert [seen.sound for seen in session.observations.exchanges] == [True, True, False]


def test_without_items_or_writes_nothing_is_acted_on() -> None:
    """An empty list names nothing, and a run that must not write takes no action."""
    for session in (session_of(), session_of({"id": "ap-1"}, writes=False)):
        list(listed.listed_actions(session))
        assert {method for method, _ in targets(session)} <= {"GET"}


def test_listed_items_are_never_deleted() -> None:
    """Probes take the ids of a list for reads and actions, not for deletions."""
    session = session_of({"id": "ap-1"})
    session.call(RequestSpec("GET", "/approvals"))
    list(bodies.malformed_bodies(session))
    assert ("POST", "/approvals/ap-1/decision") in targets(session)
    assert not any(method == "DELETE" for method, _ in targets(session))
