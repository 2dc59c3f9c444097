"""The search for the routes of a service without an OpenAPI document."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

import httpx

from faultspec.openapi.service import Description
from faultspec_conformance.config import ConfiguredCall, Identity, Login, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.drivers.http import HttpDriver
from faultspec_conformance.run.exploration import describe_service

HERE = "http://127.0.0.1:8000"
CONFIG = ServiceConfig(http=HERE)

LIMITS = Limits()

Pages = Callable[[httpx.Request], httpx.Response]


def explored(
    pages: Pages, config: ServiceConfig = CONFIG, limits: Limits = LIMITS
) -> tuple[Description, list[str], tuple[str, ...]]:
    """The description of a service, the requests that it got, and the notes."""
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        assert request.url.host == "127.0.0.1"
        asked.append(f"{request.method} {request.url.raw_path.decode()}")
        page = pages(request)  # the driver reads a stream
        stream = httpx.ByteStream(page.content)
        return httpx.Response(page.status_code, headers=page.headers, stream=stream)

    driver = HttpDriver(HERE, limits, transport=httpx.MockTransport(answer))
    with driver:
        found = describe_service(config, driver)
    assert isinstance(found, tuple)
    return found[0], asked, found[1]


def fixed(pages: Mapping[str, object]) -> Pages:
    """A service of fixed pages: JSON, or a text of HTML."""

    def answer(request: httpx.Request) -> httpx.Response:
        page = pages.get(request.url.raw_path.decode())
        if page is None:
            return httpx.Response(404, json={"error": "no such route"})
        return (
            httpx.Response(200, html=page)
            if isinstance(page, str)
            else httpx.Response(200, json=page)
        )

    return answer


def names(description: Description) -> set[str]:
    """The operations of a description."""
    return {operation.name for operation in description.operations}


def test_a_search_ends() -> None:
    """A service that always links new pages gets a bounded number of requests, all of them GET."""

    def endless(request: httpx.Request) -> httpx.Response:
        path = request.url.path.rstrip("/")
        return httpx.Response(200, json=[f"{path}/a", f"{path}/b", path])

    for limits, most in ((LIMITS, 86), (Limits(requests=40), 26)):
        _, asked, _ = explored(endless, limits=limits)
        assert len(asked) <= most
        assert {request.partition(" ")[0] for request in asked} == {"GET"}


def test_items_of_a_list_are_routes() -> None:
    """The ids of a list lead to its items, and a neighbour that is unknown in other words shows
    what is a placeholder.
    """

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if path.startswith("/stock/faultspec"):
            return httpx.Response(404, json={"error": "no such item"})
        pages = {
            "/": {"books": "/books", "tea": "/stock/tea", "about": "/pages/about"},
            "/books": {"items": [{"id": 7}]},
            "/books/7": {"id": 7},
            "/stock/tea": {"left": 3},
            "/pages/about": {},
        }
        return fixed(pages)(request)

    found, *_ = explored(answer)
    assert names(found) == {
        "GET /books",
        "GET /books/{id}",
        "GET /stock/{id}",
        "GET /pages/about",
    }


def test_a_document_that_an_answer_leads_to_is_taken() -> None:
    """A page that shows an OpenAPI document, and the places of frameworks, are looked at."""
    document = {"openapi": "3.1.0", "paths": {"/things": {"get": {"responses": {}}}}}
    shown = {"/docs": "<script>ui({url: '/internal/api'})</script>", "/internal/api": document}
    for pages in (shown, {"/v3/api-docs": document}, {"/": {"docs": "/d"}, "/d": document}):
        found, *_ = explored(fixed(pages))
        assert (names(found), found.learned) == ({"GET /things"}, False)


def test_only_what_lies_below_the_address_is_asked() -> None:
    """Links to other paths of the host belong to other services."""
    pages = {"/api/": {"a": "/api/things", "b": "/admin", "c": "/api-v2/x"}, "/api/things": []}
    found, asked, _ = explored(fixed(pages), replace(CONFIG, http=f"{HERE}/api"))
    assert names(found) == {"GET /api/things"}
    assert all(request.startswith("GET /api") and "api-v2" not in request for request in asked)


def test_the_address_may_be_a_page() -> None:
    """An address with a path is asked for itself, and its items are routes."""
    pages = {"/api/pets": {"items": [{"id": 7}]}, "/api/pets/7": {}}
    found, *_ = explored(fixed(pages), replace(CONFIG, http=f"{HERE}/api/pets"))
    assert names(found) == {"GET /api/pets", "GET /api/pets/{id}"}


def test_a_named_write_takes_json_and_is_not_sent() -> None:
    """`POST /things` names a route with a body of JSON; the search asks for it by GET alone."""
    config = replace(CONFIG, paths=("POST /things", "PATCH /things/:id", "DELETE /things/:id"))
    found, asked, _ = explored(fixed({"/things": [{"id": 7}], "/things/7": {}}), config)
    with_body = {one.name for one in found.operations if one.body is not None}
    assert with_body == {"POST /things", "PATCH /things/{id}"}
    assert "DELETE /things/{id}" in names(found)
    assert {request.partition(" ")[0] for request in asked} == {"GET"}


def test_a_session_is_not_ended() -> None:
    """A path that ends the session of the caller is not asked for; its credentials are sent."""
    caller = Identity("caller", (("Authorization", "Bearer t"),))

    def answer(request: httpx.Request) -> httpx.Response:
        assert request.url.path != "/logout"
        if request.headers.get("Authorization") != "Bearer t":
            return httpx.Response(401)
        return fixed({"/": {"a": "/logout", "b": "/me"}, "/me": {}})(request)

    found, *_ = explored(answer, replace(CONFIG, identities={"caller": caller}))
    assert names(found) == {"GET /me"}


def test_named_paths_come_beside_a_document() -> None:
    """A path that the document leaves out is asked for, and one that is unknown is noted."""
    document = {"openapi": "3.1.0", "paths": {"/things": {"get": {"responses": {}}}}}
    pages = {
        "/openapi.json": document,
        "/more/1": {},
        "/things": [],
        "/": {"x": "/hidden"},
        "/hidden": {},
    }
    config = replace(CONFIG, paths=("/more/1", "/things", "/moer", "/later/{day}"))
    found, _, notes = explored(fixed(pages), config)
    assert names(found) == {"GET /things", "GET /more/{id}", "GET /later/{day}"}
    assert [note for note in notes if "--path" in note] == [
        "--path /moer: the service knows no such route"
    ]
    assert json.loads(json.dumps(found.document))["paths"].keys() == {"/things"}


def test_a_named_path_may_lead_elsewhere() -> None:
    """A redirect of a named path is followed, with a document and without one, and a page that is
    a usual place of documents counts.
    """
    document = {"openapi": "3.1.0", "paths": {"/things": {"get": {"responses": {}}}}}
    pages = {"/more/": {}, "/docs": {}}

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/more":
            return httpx.Response(301, headers={"Location": "/more/"})
        return fixed(pages)(request)

    config = replace(CONFIG, paths=("/more", "/docs"))
    for documented in ({}, {"/openapi.json": document}):
        pages |= documented
        found, _, notes = explored(answer, config)
        assert names(found) - {"GET /things"} == {"GET /more/", "GET /docs"}
        assert not [note for note in notes if "knows no such" in note]


def test_a_page_for_every_path_teaches_no_route() -> None:
    """A service that answers any path with its page teaches nothing."""
    found, *_ = explored(lambda _: httpx.Response(200, html='<a href="/a/1">a</a>'))
    assert found.operations == ()


def test_paths_of_a_configuration_are_explored_without_a_login() -> None:
    """With `paths`, a run by a configuration learns routes as that of a URL does; without, it asks
    for none. A caller that logs in first has no credentials yet.
    """
    login = Login(ConfiguredCall("POST", "/login"), {})
    caller = Identity("alice", (("Authorization", "Bearer ${token}"),), login=login)
    config = replace(CONFIG, path="conformance.yaml", identities={"alice": caller})

    def answer(request: httpx.Request) -> httpx.Response:
        assert "Authorization" not in request.headers
        return fixed({"/slots/1": {"more": "/doctors"}, "/doctors": []})(request)

    assert names(explored(answer, config)[0]) == set()
    found, _, notes = explored(answer, replace(config, paths=("/slots/1", "/slot")))
    assert names(found) == {"GET /slots/{id}", "GET /doctors"}
    assert found.learned
    assert "paths: /slot: the service knows no such route" in notes


def test_a_route_that_closes_the_connection_is_a_route() -> None:
    """A crash without an answer is left to the probes: on a named path, on an item of a list, and
    on an id without an item. A path that answers too late is named in a note.
    """
    pages = fixed({"/orders": [{"id": "ab12"}]})

    def crashing(request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if path.startswith("/orders/") or path == "/boom":
            raise httpx.RemoteProtocolError("Server disconnected without sending a response.")
        if path == "/slow":
            raise httpx.ReadTimeout("too late")
        return pages(request)

    config = replace(CONFIG, paths=("/boom", "/orders", "/slow"))
    found, _, notes = explored(crashing, config)
    assert names(found) == {"GET /boom", "GET /orders", "GET /orders/{id}"}
    assert [note for note in notes if note.startswith("--path /slow: ")]
