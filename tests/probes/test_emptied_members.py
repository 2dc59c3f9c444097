"""A PATCH that empties a member is found also if another update had set the member to null."""

import json
from typing import Any

import pytest

from faultspec.exchange.model import Request
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes.member_updates import MemberUpdates
from faultspec_conformance.session.fixtures import make
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import CreatedResource
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: notes, version: 1.0.0, title: Notes}
envelopes: {error: {shape: {code: $code}}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
codes: {absent: {summary: Not there, http: [404, 405]}}
"""

OK = {"responses": {"200": {"description": "d"}}}
MEMBERS = {"title": {"type": "string"}, "text": {"type": ["string", "null"]}}
BODY = {"content": {"application/json": {"schema": {"type": "object", "properties": MEMBERS}}}}
WRITE = {**OK, "requestBody": BODY}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Notes", "version": "1"},
    "paths": {"/notes": {"post": WRITE}, "/notes/{id}": {"get": OK, "patch": WRITE}},
}


class Notes:
    """One note. ``empties``: a PATCH without its text loses the text."""

    def __init__(self, *, empties: bool) -> None:
        self.empties = empties
        self.note: dict[str, Any] = {}

    def __call__(self, request: Request) -> Any:
        """Answer one request."""
        body = json.loads(request.body) if request.body else {}
        if request.method == "POST":
            self.note = {"title": "t", "text": "x", **body, "id": "n1"}
        if request.method == "PATCH":
            kept = {**self.note, "text": None} if self.empties else self.note
            self.note = {**kept, **body}
        return answer(201 if request.method == "POST" else 200, self.note)


def failures(service: Notes, *, seen: bool) -> list[str]:
    """The messages about the updates of a note whose text is null. ``seen``: an update of the title
    alone was recorded then.
    """
    config = ServiceConfig(limits=Limits(writes=True))
    session: HttpSession = http_session(service, TAXONOMY, config, DOCUMENT)
    resource = make(session, session.kinds[0])
    assert isinstance(resource, CreatedResource)
    [update] = [each for each in session.description.operations if each.method == "PATCH"]
    path = {"id": "n1"}

    def get() -> Observation:
        return session.call(RequestSpec("GET", "/notes/{id}", values=path))

    service.note["text"] = None
    before = get()
    write = session.call(
        RequestSpec("PATCH", update.template, values=path, body={"title": "other"})
    )
    updates = MemberUpdates(
        session=session,
        resource=resource,
        operation=update,
        get=get,
        settle=lambda: None,
        sent={"title": "t", "text": "x"},
        recorded=((before, write, get()),) if seen else (),
    )
    outcomes = [*updates.outcomes(get())]
    return [each.finding.message for each in outcomes if each.finding and each.kind == "failed"]


@pytest.mark.parametrize("seen", [True, False])
@pytest.mark.parametrize("empties", [True, False])
def test_a_member_has_a_value_before_another_is_updated(empties: bool, seen: bool) -> None:
    """The text gets a value before the title alone is sent, so that its loss shows. An update that
    was recorded while the text was null proves nothing.
    """
    found = failures(Notes(empties=empties), seen=seen)
    assert bool(found) is empties
    assert all("changed `text` of the note, which it did not send" in each for each in found)
