"""Routes that are learned from paths."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.exchange.model import Response
from faultspec_conformance.learning.mentions import Mention
from faultspec_conformance.learning.routes import (
    LearnedRoute,
    UnknownAnswer,
    answer_forms,
    describe_routes,
    item_path,
    merge_routes,
    read_router_path,
    route_of,
    sibling_path,
    with_last_placeholder,
)


@pytest.mark.parametrize(
    ("path", "template"),
    [
        ("/books", "/books"),
        ("/books/17", "/books/{id}"),
        ("/books/17/", "/books/{id}/"),
        ("/books/17/pages/3", "/books/{books_id}/pages/{id}"),
        ("/17", "/{id}"),
        ("/v1/books", "/v1/books"),
        ("/b/3f2504e0-4f89-11d3-9a0c-0305e82c3301", "/b/{id}"),
        ("/b/01ARZ3NDEKTSV4RRFFQ69G5FAV", "/b/{id}"),
        ("/b/internationalization-guide", "/b/internationalization-guide"),
        ("/users/{user}/17", "/users/{user}/{id}"),
    ],
)
def test_segments_that_look_like_ids_are_placeholders(path: str, template: str) -> None:
    """Numbers, UUIDs and long ids stand for any; words do not."""
    assert route_of(Mention(path)).template == template


@given(st.lists(st.from_regex(r"[A-Za-z0-9_-]{1,30}", fullmatch=True), min_size=1, max_size=5))
def test_a_route_leads_back_to_its_path(segments: list[str]) -> None:
    """With its examples a route is the path that it was learned from."""
    path = "/" + "/".join(segments)
    assert route_of(Mention(path)).target == path
    assert with_last_placeholder(LearnedRoute(path)).target == path


@pytest.mark.parametrize(
    ("written", "method", "path"),
    [
        ("/orders/17", "GET", "/orders/17"),
        ("/orders/{order}?page=2", "GET", "/orders/{order}?page=2"),
        ("GET /orders/{id}", "GET", "/orders/{id}"),
        ("POST /orders", "POST", "/orders"),
        ("/orders/:id/lines/:line?q=:x", "GET", "/orders/{id}/lines/{line}?q=:x"),
        ("/orders/:id(\\d+)", "GET", "/orders/{id}"),
        ("/orders/<order>/<int:line>", "GET", "/orders/{order}/{line}"),
        ("/orders/{id:int}/{tag:[a-z]{2}}", "GET", "/orders/{id}/{tag}"),
        ("/files/{path...}", "GET", "/files/{path}"),
        ("GET /orders/{$}", "GET", "/orders/"),
        ("/orders/17:cancel", "GET", "/orders/17:cancel"),
    ],
)
def test_a_path_is_read_as_routers_write_it(written: str, method: str, path: str) -> None:
    """Placeholders of Express, Flask, Django, Starlette, chi and Go are placeholders; a colon
    within a segment or a query is none.
    """
    assert read_router_path(written)[:2] == (method, path)


@pytest.mark.parametrize(
    ("written", "schema"),
    [
        ("/orders/<int:id>", {"type": "integer", "minimum": 0}),
        ("/orders/{id:int}", {"type": "integer", "minimum": 0}),
        ("/orders/{id:[0-9]+}", {"type": "integer", "minimum": 0}),
        (r"/orders/:id(\d+)", {"type": "integer", "minimum": 0}),
        ("/orders/<uuid:id>", {"type": "string", "format": "uuid"}),
        ("/orders/<slug:id>", {"type": "string"}),
        ("/orders/{id}", {"type": "string"}),
    ],
)
def test_an_id_is_of_the_type_that_its_router_takes(written: str, schema: object) -> None:
    """A router answers another text as an unknown route, before the service sees it."""
    _, path, types = read_router_path(written)
    description = describe_routes([LearnedRoute(path, types=types)], "")
    (parameter,) = description.document["paths"][path]["get"]["parameters"]
    assert parameter["schema"] == schema


def test_a_route_that_has_no_get_is_not_read() -> None:
    """A route that is named with another method, or answers 405 to GET, has none."""
    named = route_of(Mention("/login", method="POST"))
    refused = LearnedRoute("/orders", methods=("POST",), status=405)
    both = LearnedRoute("/pets", methods=("POST",), status=200)
    item, patched = LearnedRoute("/pets/{id}"), route_of(Mention("/pets/{id}", method="PATCH"))
    for first, second in ((item, patched), (patched, item)):
        merged = describe_routes([merge_routes(first, second)], "").document["paths"]
        assert set(merged["/pets/{id}"]) == {"get", "patch"}
    paths = describe_routes([named, refused, both], "").document["paths"]
    assert {path: set(item) for path, item in paths.items()} == {
        "/login": {"post"},
        "/orders": {"post"},
        "/pets": {"get", "post"},
    }


def test_a_place_keeps_its_slash() -> None:
    """Items are asked for as their collection is written."""
    assert (item_path("/books", "1"), item_path("/books/", "1")) == ("/books/1", "/books/1/")
    assert (sibling_path("/books/1", "2"), sibling_path("/books/1/", "2")) == (
        "/books/2",
        "/books/2/",
    )


def test_mentions_of_one_route_are_merged() -> None:
    """A later mention adds to an earlier one, whatever it calls the placeholder."""
    known = LearnedRoute("/books/{book}", query={"page": None})
    other = LearnedRoute(
        "/books/{id}", {"id": "17"}, {"page": "2"}, ("DELETE",), 200, "application/json"
    )
    expected = LearnedRoute(
        "/books/{book}", {"book": "17"}, {"page": "2"}, ("DELETE",), 200, "application/json"
    )
    assert merge_routes(known, other) == expected


def test_routes_describe_a_service_without_promises() -> None:
    """Routes that answer JSON come first; an id has the type and the example that was seen; methods
    that write are known and have no body.
    """
    routes = [
        LearnedRoute("/orders", methods=("POST",), status=405),
        LearnedRoute("/books/{id}", {"id": "17"}, status=200, media_type="application/json"),
        LearnedRoute("/items/{sku}", {"sku": "tea"}, {"lang": "de", "q": None}, status=404),
    ]
    described = describe_routes(routes, "")
    names = [operation.name for operation in described.operations]
    assert names == ["GET /books/{id}", "POST /orders", "GET /items/{sku}"]
    book, *_, item = described.operations
    assert (book.parameters[0].schema, book.parameters[0].example) == ({"type": "integer"}, 17)
    found = {each.name: (each.where, each.required, each.example) for each in item.parameters}
    assert found == {
        "sku": ("path", True, "tea"),
        "lang": ("query", True, "de"),
        "q": ("query", False, None),
    }
    assert described.learned


def test_an_unknown_route_is_known_by_its_answer() -> None:
    """The path, times and ids of the answer do not matter; its words and its status do."""
    answer = b'{"path": "/%s", "at": "2026-11-28T10:00:00", "error": "Not Found"}'
    unknown = UnknownAnswer(answer_forms(Response(404, (), answer % b"none-1"), "/none-1"))
    later = answer.replace(b"10:00", b"11:59")
    assert unknown.is_like(Response(404, (), later % b"books/none-2/"), "/books/none-2/")
    assert not unknown.is_like(Response(405, (), answer % b"books"), "/books")
    assert not unknown.is_like(Response(404, (), b'{"error": "There is no such book"}'), "/books/9")


@given(st.uuids(), st.uuids())
def test_ids_of_requests_do_not_tell_unknown_routes_apart(one: UUID, other: UUID) -> None:
    """Two answers that differ in the id of their request alone are alike, whatever its digits."""
    first, second = (Response(404, (), b'{"id": "%s"}' % str(id).encode()) for id in (one, other))
    assert UnknownAnswer(answer_forms(first, "/none-1")).is_like(second, "/books/none-2")
