"""Laws of errors that name an input or an item: in every notation it must be the wrong one."""

import json

import pytest

from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Exchange, Request, Response
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import batch, bodies, constraints
from faultspec_conformance.probes.named_inputs import names_another_input
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.observation import Observation
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: nobody}
detail_keys: {bad: {type: array}}
envelopes: {error: {media_type: application/json, shape: {code: $code, details?: $details}}}
surfaces:
  batch: {transport: http, match: {statuses: 207}, envelope: error, items: /outcomes, status: /status, body: /error, bad_items: bad}
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error}
codes: {invalid_input: {summary: Input is wrong, http: [400, 422], retriable: false}}
"""

_ITEM = {
    "type": "object",
    "required": ["size"],
    "properties": {"size": {"type": "integer"}, "owner_name": {"type": "string"}},
}


def document(path: str, schema: object, status: str) -> dict[str, object]:
    """A document with one operation."""
    content = {"application/json": {"schema": schema}}
    operation = {"requestBody": {"required": True, "content": content}}
    responses = {status: {"description": "done"}}
    return {"openapi": "3.1.0", "paths": {path: {"post": {**operation, "responses": responses}}}}


def named(details: object, *, valid: int = 201) -> set[str]:
    """The outcomes where every body whose size is not a number is refused with these details.

    ``valid``: the status of the other bodies.
    """

    def script(request: Request) -> Response:
        body = json.loads(request.body)
        if isinstance(body.get("size"), int):
            return answer(valid, {"code": "invalid_input"} if valid >= 400 else {})
        return answer(422, {"code": "invalid_input", "details": details})

    session = http_session(
        script,
        TAXONOMY,
        ServiceConfig(limits=Limits(writes=True)),
        document("/x", _ITEM, "201"),
    )
    return {
        f"{'~' if each.finding is not None and each.finding.level == 'warning' else ''}{each.kind}"
        for each in bodies.invalid_bodies(session)
        if each.clause == "details/field"
    }


@pytest.mark.parametrize(
    "details",
    [
        {"field": "size"},
        {"field": "body.size"},
        {"pointer": "/size"},
        {"pointer": "#/data/attributes/size"},
        {"path": "$.size"},
        {"loc": ["body", "size"]},
        {"fields": ["size", "owner_name"]},
        {"errors": [{"loc": ["body", "size"], "msg": "wrong"}]},
        {"errors": {"size": ["must be a number"]}},
        {"source": {"pointer": "/data/attributes/Size"}},
        {"parameter": "Size"},
        {"invalid-params": [{"name": "size", "reason": "wrong"}]},
    ],
)
def test_the_wrong_input_may_be_named_in_any_notation(details: object) -> None:
    """Pointers, dotted paths, paths in pieces, lists and maps name it."""
    assert named(details) == {"passed"}


@pytest.mark.parametrize(
    "details",
    [
        {"field": "owner_name"},
        {"field": "ownerName"},
        {"pointer": "/owner_name"},
        {"loc": ["body", "owner_name"]},
        {"path": "owner_name"},
        {"errors": [{"field": "owner_name"}]},
        {"errors": {"owner_name": ["must be a text"]}},
    ],
)
def test_another_input_is_wrong_in_any_notation(details: object) -> None:
    """It fails, unless the request is refused without the mistake too: then something else was
    wrong.
    """
    assert named(details) == {"failed"}
    assert named(details, valid=422) == {"not_exercised"}


@pytest.mark.parametrize(
    "details",
    [
        {},
        {"hint": "owner_name"},
        {"field": "body"},
        {"pointer": ""},
        {"path": "/x"},
        {"name": "ValidationError"},
        {"field": "Some member is wrong."},
    ],
)
def test_what_names_no_input_is_not_judged(details: object) -> None:
    """Containers, sentences and paths of requests name no input."""
    assert named(details) == {"not_exercised"}


@pytest.mark.parametrize(
    ("name", "kinds"), [("name", set()), ("items", {"not_exercised"}), ("title", {"failed"})]
)
def test_the_list_of_a_wrong_item_contains_it(name: str, kinds: set[str]) -> None:
    """A refusal may name the members above the wrong one, and not one beside them."""

    def script(request: Request) -> Response:
        items = json.loads(request.body).get("items")
        if isinstance(items, list) and all(len(str(item.get("name", ""))) > 1 for item in items):
            return answer(201, {})
        return answer(422, {"code": "invalid_input", "details": {"field": name}})

    item = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string", "minLength": 2}},
    }
    batch = {
        "type": "object",
        "required": ["items"],
        "properties": {
            "items": {"type": "array", "items": item, "minItems": 1},
            "title": {"type": "string"},
        },
    }
    config = ServiceConfig(limits=Limits(writes=True))
    session = http_session(script, TAXONOMY, config, document("/x", batch, "201"))
    found = [one for one in constraints.constraints(session) if isinstance(one, Outcome)]
    named = [one for one in found if one.clause == "details/field"]
    assert {one.kind for one in named if "of `name` with" in str(one)} == kinds
    assert ("passed" in {one.kind for one in named}) == (name != "title")


def test_an_unknown_name_warns() -> None:
    """It may be a translation of the name in the document."""
    assert named({"field": "dimension"}) == {"~failed"}


def listed(refused: object, outcomes: list[int] | None = None) -> list[tuple[str, str]]:
    """The outcomes of batches whose bad items a whole refusal lists, or whose outcomes have these
    statuses.
    """

    def script(request: Request) -> Response:
        items = json.loads(request.body)["items"]
        bad = [index for index, item in enumerate(items) if not isinstance(item["size"], int)]
        if not bad:
            return answer(200, {})
        if outcomes is not None and len(bad) < len(items):
            return answer(207, {"outcomes": [{"status": status} for status in outcomes]})
        found = refused(bad) if callable(refused) else refused
        return answer(422, {"code": "invalid_input", "details": {"bad": found}})

    schema = {"type": "object", "properties": {"items": {"type": "array", "items": _ITEM}}}
    session = http_session(
        script,
        TAXONOMY,
        ServiceConfig(limits=Limits(writes=True)),
        document("/x", schema | {"example": {"items": [{"size": 1, "owner_name": "A"}]}}, "207"),
    )
    return [
        ("~" if each.finding is not None and each.finding.level == "warning" else "", each.kind)
        for each in batch.batches(session)
        if isinstance(each, Outcome) and each.clause == "batch/named-items"
    ]


@pytest.mark.parametrize(
    ("refused", "kind"),
    [
        (lambda bad: bad, ("", "passed")),
        (lambda bad: [place + 1 for place in bad], ("", "passed")),
        (lambda bad: [{"index": place, "field": "size"} for place in bad], ("", "passed")),
        (lambda bad: [f"items[{place}]" for place in bad], ("", "passed")),
        (lambda bad: [{"pointer": f"/items/{place}"} for place in bad], ("", "passed")),
        (lambda bad: [place for place in bad for _ in range(2)], ("", "passed")),
        (lambda bad: bad[:1], ("~", "failed")),
        (lambda bad: [0 for _ in bad], ("", "failed")),
        (lambda bad: [place + 2 for place in bad], ("", "failed")),
        (lambda bad: ["size" for _ in bad], ("", "not_exercised")),
        (2, ("", "not_exercised")),
    ],
)
def test_the_listed_items_are_the_bad_ones(refused: object, kind: tuple[str, str]) -> None:
    """Numbers from 0 or 1, entries and paths name them, once or for each fault; a part of them
    warns; other items fail.
    """
    assert listed(refused)[0] == kind


@pytest.mark.parametrize(
    ("outcomes", "kind"),
    [
        ([201, 422, 201, 201, 422], "passed"),
        ([422, 201, 201, 422, 201], "failed"),
        ([201, 201, 201, 422, 422], "not_exercised"),
        ([201, 422, 422, 201, 422], "not_exercised"),
        ([422, 201], "not_exercised"),
    ],
)
def test_the_outcomes_fail_where_the_items_are_bad(outcomes: list[int], kind: str) -> None:
    """Outcomes in another order, of other items or of another number prove nothing."""
    assert listed(lambda bad: bad, outcomes)[1] == ("", kind)


@pytest.mark.parametrize("name", ["page[size]", "filter.name", "ids[]", "$top"])
@pytest.mark.parametrize("notation", ["{}", "/{}", "query.{}", "/query/{}"])
def test_a_name_with_the_marks_of_a_notation_is_that_name(name: str, notation: str) -> None:
    """A parameter such as `page[size]` is named whole; a part of it or another name is not it."""
    known = frozenset({name, "size", "other"})

    def is_another(text: str) -> bool:
        body = {"code": "invalid_input", "details": {"field": text}}
        seen = Observation(
            Exchange(Request("GET", "/x"), answer(422, body)), Judgement((), frozenset())
        )
        return names_another_input(seen, name, known)

    assert not is_another(notation.format(name))
    assert is_another(notation.format("other"))
