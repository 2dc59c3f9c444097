"""Items at several addresses: each test states a law about what another tenant gets there."""

import json
import uuid
from collections.abc import Mapping

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, Identity, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import resources, tenancy
from faultspec_conformance.results.model import Outcome
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: notes, version: 1.0.0, title: Notes, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx]}, envelope: error}}
codes: {absent: {summary: Not there, http: 404, retriable: false}}
privacy: {conceal: [{across: tenant, answer: absent}]}
"""


def document(template: str, *, is_open: bool = False) -> Mapping[str, object]:
    """The document of a service that reads and changes its notes at a second address."""
    names = [part.partition("}")[0] for part in template.split("{")[1:]]
    done: dict[str, object] = {"responses": {"200": {"description": "done"}}}
    made = {"responses": {"201": {"description": "made"}}}
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    body = {"requestBody": {"content": {"application/json": {"schema": schema}}}}

    def named(*names: str) -> list[object]:
        text = {"type": "string"}
        return [{"name": name, "in": "path", "required": True, "schema": text} for name in names]

    return {
        "openapi": "3.1.0",
        "paths": {
            "/notes": {"post": made | body},
            "/notes/{note_id}": {"parameters": named("note_id"), "get": done},
            template: {
                "parameters": named(*names),
                "get": done | ({"security": []} if is_open else {}),
                "patch": done | body,
                "delete": done,
            },
            f"{template}/text": {"parameters": named(*names), "get": done},
        },
    }


class Notes:
    """The notes of two tenants. ``sins``: the methods, or `text`, that show and change the notes of
    all tenants at another address.

    ``counted``: the notes are numbered, and what the other address numbers is something else.
    """

    def __init__(self, *sins: str, counted: bool = False) -> None:
        self.sins, self.counted = sins, counted
        self.notes: dict[str, dict[str, object]] = {}

    def __call__(self, request: Request) -> Response:
        """The answer."""
        who = dict(request.headers)["Authorization"]
        path = request.target.partition("?")[0]
        body = json.loads(request.body) if request.body else {}
        if path == "/notes":
            name = str(len(self.notes) + 1) if self.counted else str(uuid.uuid4())
            self.notes[name] = {**body, "id": name, "owner": who}
            return answer(201, self.notes[name])
        is_text = path.endswith("/text")
        name = path.removesuffix("/text").rpartition("/")[2]
        is_other = not path.startswith("/notes/")
        if is_other and self.counted:
            return answer(200, {"id": name, "kind": "stamp"}) if name < "9" else absent()
        sin = "text" if is_text else request.method
        note = self.notes.get(name)
        if note is None or (note["owner"] != who and not (is_other and sin in self.sins)):
            return absent()
        if request.method == "DELETE":
            del self.notes[name]
        note.update({"text": body["text"]} if "text" in body else {})
        return answer(200, note)


def absent() -> Response:
    """The answer for a note that does not exist, or is another tenant's."""
    return answer(404, {"code": "absent"})


def concealment(service: Notes, openapi: Mapping[str, object]) -> list[Outcome]:
    """The outcomes about what belongs to another tenant."""
    config = ServiceConfig(
        identities={
            name: Identity(name, (("Authorization", name),), tenant=name) for name in ("ann", "ben")
        },
        resources={
            "note": ResourceConfig(
                "note",
                create=ConfiguredCall("POST", "/notes", body={"text": "This is ${unique}"}),
                read=ConfiguredCall("GET", "/notes/{note_id}"),
                id="/id",
            )
        },
        limits=Limits(writes=True),
    )
    session = http_session(service, TAXONOMY, config, openapi)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    found = [each for each in tenancy.other_tenants(session) if isinstance(each, Outcome)]
    return [each for each in found if each.clause == "tenancy/concealed"]


def failures(found: list[Outcome]) -> set[str | None]:
    """The operations that fail."""
    return {each.finding.operation for each in found if each.finding is not None}


def reasons(found: list[Outcome]) -> str:
    """The reasons why something was not exercised."""
    return "\n".join(each.reason or "" for each in found)


_ADDRESSES = ["/v0/notes/{note_id}", "/v0/notes/{id}", "/export/{note_id}", "/v0/memos/{noteId}"]


@pytest.mark.parametrize("template", _ADDRESSES)
@pytest.mark.parametrize("sin", ["GET", "PATCH", "DELETE", "text"])
def test_an_item_is_concealed_at_each_of_its_addresses(template: str, sin: str) -> None:
    """A path names an item by the name of its kind, in the placeholder or before it."""
    operation = f"GET {template}/text" if sin == "text" else f"{sin} {template}"
    assert failures(concealment(Notes(sin), document(template))) == {operation}
    right = concealment(Notes(), document(template))
    assert not failures(right)
    assert "no operation is known that creates" not in reasons(right)


@pytest.mark.parametrize("template", ["/v0/seals/{id}", "/seals/{seal_id}", "/v0/{name}"])
def test_an_address_of_something_else_is_not_asked(template: str) -> None:
    """Neither a common placeholder nor another kind names the item."""
    assert not failures(concealment(Notes("GET", "text"), document(template)))


def test_an_address_that_is_open_to_everybody_conceals_nothing() -> None:
    """The document says that a read needs no credentials."""
    openapi = document("/v0/notes/{note_id}", is_open=True)
    assert "GET /v0/notes/{note_id}" not in failures(concealment(Notes("GET"), openapi))


def test_a_number_may_name_something_else_at_another_address() -> None:
    """The answer that the owner reads there has to be its item."""
    found = concealment(Notes(counted=True), document("/v0/notes/{note_id}"))
    assert not failures(found)
    assert "does not show the owner its note" in reasons(found)
