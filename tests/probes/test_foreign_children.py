"""Items below items of two tenants: each test states a law about what a path may reach."""

import json
import uuid
from collections.abc import Mapping

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, Identity, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import filters, resources, tenancy
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: albums, version: 1.0.0, title: Albums, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx]}, envelope: error}}
codes:
  absent: {summary: Not there, http: 404, retriable: false}
  wrong: {summary: No such shelf, http: 422, retriable: false}
privacy: {conceal: [{across: tenant, answer: absent}]}
"""

_DONE: Mapping[str, object] = {"responses": {"200": {"description": "done"}}}
_MADE: Mapping[str, object] = {"responses": {"201": {"description": "made"}}}
_SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
_BODY = {"requestBody": {"content": {"application/json": {"schema": _SCHEMA}}}}


def _path(*names: str) -> Mapping[str, object]:
    text = {"type": "string"}
    return {
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": text} for name in names
        ]
    }


DOCUMENT = {
    "openapi": "3.1.0",
    "paths": {
        "/shelves": {"post": _MADE | _BODY},
        "/shelves/{shelf_id}": {**_path("shelf_id"), "get": _DONE},
        "/albums": {"post": _MADE | _BODY},
        "/albums/{album_id}": {**_path("album_id"), "get": _DONE},
        "/albums/{album_id}/history": {**_path("album_id"), "get": _DONE},
        "/albums/{album_id}/photos": {**_path("album_id"), "post": _MADE | _BODY, "get": _DONE},
        "/albums/{album_id}/photos/{photo_id}": {
            **_path("album_id", "photo_id"),
            "get": _DONE,
            "patch": _DONE | _BODY,
            "delete": _DONE,
        },
        "/albums/{album_id}/photos/{photo_id}/print": {
            **_path("album_id", "photo_id"),
            "post": _DONE,
        },
    },
}


class Albums:
    """The photos in albums of two tenants, and the shelves that albums stand on.

    ``sins``: the operations that ignore the album in their path, such as `read` or `list`.
    ``counted``: photos of each album are numbered, and each album has a first one.
    """

    def __init__(self, *sins: str, counted: bool = False) -> None:
        self.sins, self.counted = sins, counted
        self.owners: dict[str, str] = {}
        self.photos: list[dict[str, object]] = []

    def __call__(self, request: Request) -> Response:
        """The answer."""
        who = dict(request.headers)["Authorization"]
        _, place, album, *below = (*request.target.partition("?")[0].split("/"), "")
        body = json.loads(request.body) if request.body else {}
        if not album:
            return self.make(place, body, who)
        if self.owners.get(album) != who:
            return answer(404, {"code": "absent"})
        if below[0] != "photos":
            return answer(200, self.history(album) if below[0] else {"id": album})
        if below[1]:
            return self.photo(request.method, album, below[1:], body)
        if request.method == "POST":
            return answer(201, self.add(album, body))
        everything = "list" in self.sins
        return answer(200, [one for one in self.photos if everything or one["album"] == album])

    def history(self, album: str) -> object:
        """The photos of an album."""
        everything = "history" in self.sins
        return [one["id"] for one in self.photos if everything or one["album"] == album]

    def make(self, place: str, body: dict[str, object], who: str) -> Response:
        """A shelf, or an album on a shelf of its own tenant."""
        if place == "albums" and self.owners.get(str(body.get("shelf"))) != who:
            return answer(422, {"code": "wrong"})
        identifier = str(uuid.uuid4())
        self.owners[identifier] = who
        if self.counted and place == "albums":
            self.add(identifier, {"text": f"cover of {identifier}"})
        return answer(201, {"id": identifier})

    def add(self, album: str, body: dict[str, object]) -> dict[str, object]:
        """A new photo."""
        number = sum(one["album"] == album for one in self.photos) + 1
        identifier = f"{number}" if self.counted else str(uuid.uuid4())
        self.photos.append({"text": body.get("text"), "id": identifier, "album": album})
        return self.photos[-1]

    def photo(self, method: str, album: str, place: list[str], body: dict[str, object]) -> Response:
        """The answer about one photo."""
        names = {"GET": "read", "HEAD": "read", "PATCH": "update", "DELETE": "delete"}
        ignores = ("print" if place[1] else names.get(method)) in self.sins
        found = [
            one
            for one in self.photos
            if one["id"] == place[0] and (ignores or one["album"] == album)
        ]
        if not found:
            return answer(404, {"code": "absent"})
        if method == "DELETE":
            self.photos.remove(found[0])
        found[0].update({"text": body["text"]} if "text" in body else {})
        return answer(200, found[0])


def begun(service: Albums, boundary: str = "tenant") -> HttpSession:
    """The session of a service in which each kind of resource has been created. ``boundary``: what
    parts its two callers.
    """
    text = {"text": "This is ${unique}"}
    item = "/albums/{album_id}/photos/{photo_id}"
    config = ServiceConfig(
        identities={
            name: Identity(
                name,
                (("Authorization", name),),
                tenant=name if boundary == "tenant" else "acme",
            )
            for name in ("ann", "ben")
        },
        resources={
            "shelf": ResourceConfig(
                "shelf",
                create=ConfiguredCall("POST", "/shelves", body=text),
                read=ConfiguredCall("GET", "/shelves/{shelf_id}"),
                id="/id",
            ),
            "album": ResourceConfig(
                "album",
                create=ConfiguredCall("POST", "/albums", body={**text, "shelf": "${shelf.id}"}),
                read=ConfiguredCall("GET", "/albums/{album_id}"),
                id="/id",
            ),
            "photo": ResourceConfig(
                "photo",
                create=ConfiguredCall("POST", "/albums/{album_id}/photos", body=text),
                read=ConfiguredCall("GET", item),
                update=ConfiguredCall("PATCH", item, body=text),
                delete=ConfiguredCall("DELETE", item),
                list=ConfiguredCall("GET", "/albums/{album_id}/photos"),
                id="/id",
            ),
        },
        limits=Limits(writes=True),
    )
    taxonomy = TAXONOMY.replace("across: tenant", f"across: {boundary}")
    session = http_session(service, taxonomy, config, DOCUMENT)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    return session


def failures(found: list[Outcome]) -> set[str | None]:
    """The operations that fail."""
    return {each.finding.operation for each in found if each.finding is not None}


def concealment(service: Albums, boundary: str = "tenant") -> list[Outcome]:
    """The outcomes about what belongs to another tenant, or to another caller of the tenant."""
    found = tenancy.other_tenants(begun(service, boundary))
    results = [each for each in found if isinstance(each, Outcome)]
    return [each for each in results if each.clause == "tenancy/concealed"]


_ITEM = "/albums/{album_id}/photos/{photo_id}"


@pytest.mark.parametrize(
    ("sin", "operation"),
    [
        ("read", f"GET {_ITEM}"),
        ("update", f"PATCH {_ITEM}"),
        ("delete", f"DELETE {_ITEM}"),
        ("print", f"POST {_ITEM}/print"),
        ("list", "GET /albums/{album_id}/photos"),
        ("history", "GET /albums/{album_id}/history"),
    ],
)
def test_the_own_parent_leads_to_no_item_of_another_tenant(sin: str, operation: str) -> None:
    """An item is looked for below the parent in its path, whatever the caller may see there."""
    assert failures(concealment(Albums(sin))) == {operation}


@pytest.mark.parametrize("sin", ["read", "update", "delete"])
def test_the_own_parent_leads_to_no_item_of_a_colleague(sin: str) -> None:
    """The same holds between the owners of one tenant."""
    method = {"read": "GET", "update": "PATCH", "delete": "DELETE"}[sin]
    assert failures(concealment(Albums(sin), "owner")) == {f"{method} {_ITEM}"}
    assert not failures(concealment(Albums(), "owner"))


@pytest.mark.parametrize("counted", [False, True])
def test_items_that_are_looked_for_below_their_parent_are_concealed(counted: bool) -> None:
    """A right service passes, also if each parent counts its items from one."""
    found = concealment(Albums(counted=counted))
    assert not failures(found)
    assert any(each.kind == "passed" for each in found)
    assert not any("to ask for another" in (each.reason or "") for each in found)


def test_an_item_below_another_parent_costs_few_requests() -> None:
    """The own parent is made once, with what it refers to; each operation costs one request, and
    the first ones of either kind an absent id.
    """
    session = begun(Albums())
    list(tenancy.other_tenants(session))
    asked = [each.exchange for each in session.knowledge.exchanges]
    mine = {
        json.loads(each.response.body)["id"]
        for each in asked
        if each.identity == "ben" and each.request.method == "POST" and each.response.status == 201
    }
    below = [
        each for each in asked if any(f"/albums/{one}/" in each.request.target for one in mine)
    ]
    assert len([each for each in below if each.identity == "ben"]) <= 9


@pytest.mark.parametrize(
    ("sins", "found"), [((), set()), (("list",), {"GET /albums/{album_id}/photos"})]
)
def test_a_list_below_another_item_shows_none_of_the_first(
    sins: tuple[str, ...], found: set[str]
) -> None:
    """A list below an item is filtered by that item, within one tenant too."""
    session = begun(Albums(*sins))
    outcomes = [each for each in filters.filtered_lists(session) if isinstance(each, Outcome)]
    assert failures(outcomes) == found
    assert any(each.kind == "passed" for each in outcomes) == (not sins)
