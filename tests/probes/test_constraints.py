"""Each documented constraint is broken once on each operation, and each operation gets a body of
another media type and one that is too large.
"""

import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import jsonschema
import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import limits, media
from faultspec_conformance.probes.constraints import constraints
from faultspec_conformance.session import sampling
from faultspec_conformance.session.http import HttpSession
from support.scripted import ScriptedDriver, answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: house, version: 1.0.0, title: House, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code, message?: $message}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, http: [404, 405, 409], retriable: false}
  malformed: {summary: Not valid, http: [400, 413, 415], retriable: false}
  broken: {summary: A mistake, http: 500, retriable: false}
privacy: {detectors: [canary]}
"""

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "required": ["name", "count"],
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 60},
        "sku": {"type": "string", "pattern": "^[A-Z]{3}$"},
        "size": {"type": "string", "enum": ["s", "m"]},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "tags": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string"}},
        "place": {"type": "object", "properties": {"row": {"type": "integer", "maximum": 4}}},
    },
    "additionalProperties": False,
}
PAGE: Mapping[str, Any] = {"type": "integer", "minimum": 1, "maximum": 50}

Refusal = Callable[[str, object], Response | None]


def operation(**more: object) -> dict[str, object]:
    """Return an operation of a document."""
    return {"responses": {"200": {"description": "done"}}, **more}


BODY = {"required": True, "content": {"application/json": {"schema": SCHEMA}}}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "House", "version": "1"},
    "paths": {
        "/first": {"post": operation(requestBody=BODY)},
        "/second": {"post": operation(requestBody=BODY)},
        "/pages": {"get": operation(parameters=[{"name": "limit", "in": "query", "schema": PAGE}])},
    },
}


def problem_of(value: object, schema: Mapping[str, Any]) -> jsonschema.ValidationError | None:
    """Return the first constraint that a value breaks, or None."""
    return next(jsonschema.Draft202012Validator(schema).iter_errors(value), None)


def service(special: Refusal = lambda path, value: None) -> Callable[[Request], Response]:
    """Return a service that keeps its document. ``special``: answers before it looks."""

    def script(request: Request) -> Response:
        path, _, query = request.target.partition("?")
        try:
            value = json.loads(request.body) if request.body else int(query.partition("=")[2] or 1)
        except ValueError:
            return answer(400, {"code": "malformed"})
        found = special(path, value)
        if found is not None:
            return found
        if problem_of(value, PAGE if path == "/pages" else SCHEMA) is not None:
            return answer(400, {"code": "malformed"})
        return answer(200, {"done": True})

    return script


def session_of(
    script: Callable[[Request], Response], document: Mapping[str, object] = DOCUMENT
) -> HttpSession:
    """Return a session with a scripted service."""
    config = ServiceConfig(limits=Limits(writes=True, requests=300))
    session = http_session(script, TAXONOMY, config, document)
    session.turn = session.kinds
    return session


def findings(session: HttpSession, results: Any) -> set[tuple[str, str | None]]:
    """Return the clause and the operation of each finding of a probe."""
    session.record_results(results)
    seen = session.observations
    found = [one for part in seen.exchanges for one in part.judgement.findings]
    found += [one.finding for one in seen.outcomes if one.finding is not None]
    return {(finding.clause, finding.operation) for finding in found}


def unchecked(keyword: str) -> Refusal:
    """Return the answers of a service whose second operation ignores a constraint."""

    def accept(path: str, value: object) -> Response | None:
        found = problem_of(value, SCHEMA)
        if path == "/second" and found is not None and found.validator == keyword:
            return answer(200, {"done": True})
        return None

    return accept


def test_a_service_that_keeps_its_document_is_silent() -> None:
    """Where each broken constraint is refused, nothing is found, and each operation was asked."""
    session = session_of(service())
    assert findings(session, constraints(session)) == set()
    asked = {observation.exchange.operation for observation in session.observations.exchanges}
    assert asked == {"POST /first", "POST /second", "GET /pages"}


@pytest.mark.parametrize(
    "keyword",
    [
        *("minLength", "maxLength", "pattern", "enum", "minimum", "maximum", "minItems"),
        *("maxItems", "additionalProperties", "required", "type"),
    ],
)
def test_a_constraint_that_one_operation_ignores_is_found(keyword: str) -> None:
    """A constraint that one operation does not check fails on that operation alone."""
    session = session_of(service(unchecked(keyword)))
    found = findings(session, constraints(session))
    assert found == {("framework/invalid-input", "POST /second")}


@pytest.mark.parametrize("digits", [10, 20, 25])
@pytest.mark.parametrize("path", ["/second", "/pages"])
def test_a_number_far_outside_that_crashes_is_found(digits: int, path: str) -> None:
    """A number of 10, 20 or 25 digits that crashes is found where the near side is refused."""

    def crash(target: str, value: object) -> Response | None:
        number = value.get("count") if isinstance(value, dict) else value
        far = isinstance(number, int) and len(str(number)) == digits
        return answer(500, {"code": "broken"}) if far and target == path else None

    session = session_of(service(crash))
    assert "service/no-crash" in {clause for clause, _ in findings(session, constraints(session))}


def test_a_wrong_text_that_comes_back_is_a_leak() -> None:
    """A text that breaks only its length or its pattern is a canary."""

    def echo(path: str, value: object) -> Response | None:
        found = problem_of(value, SCHEMA) if isinstance(value, dict) else None
        if found is None or found.validator != "maxLength":
            return None
        return answer(400, {"code": "malformed", "message": f"{value} is too long"})

    session = session_of(service(echo))
    assert "leaks/canary" in {clause for clause, _ in findings(session, constraints(session))}


def test_a_service_that_looks_at_something_else_is_left_alone() -> None:
    """After three refusals in a row for another reason, an operation gets no further request."""
    refused = answer(409, {"code": "absent"})
    session = session_of(service(lambda path, value: refused if path == "/second" else None))
    assert findings(session, constraints(session)) == set()
    assert isinstance(session.driver, ScriptedDriver)
    assert sum(request.target == "/second" for request in session.driver.sent) == 3


def test_each_sure_value_breaks_the_schema() -> None:
    """A value that is called forbidden is invalid by JSON Schema; it becomes valid with the
    original value in place of the broken one.
    """
    session = session_of(service())
    source = sampling.ValueSource({}, Random(0))
    valid = sampling.sample_value(session.source, SCHEMA)
    assert problem_of(valid, SCHEMA) is None
    broken = list(sampling.broken_constraints(source, SCHEMA, valid, "faultspec-0123456789ab"))
    keywords = {"maxItems", "maximum", "pattern", "enum", "additionalProperties"}
    assert {one.keyword for one in broken} >= keywords
    assert {one.path for one in broken} >= {("place", "row"), ("tags",)}
    for one in broken:
        assert (problem_of(one.value, SCHEMA) is not None) or not one.sure, one


# ---- media types and sizes


def test_each_operation_gets_another_media_type() -> None:
    """An operation that reads any media type is found, also if it is not the first of its
    method.
    """

    def script(request: Request) -> Response:
        text = ("Content-Type", "text/plain") in request.headers
        if text and request.target == "/first":
            return answer(415, {"code": "malformed"})
        return service()(request)

    session = session_of(script)
    assert findings(session, media.media_types(session)) == set()
    found = findings(session, media.media_types_of_others(session))
    assert found == {("framework/media-type", "POST /second")}


@pytest.mark.parametrize(
    ("media_type", "body"),
    [
        ("application/xml", b"<faultspec/>"),
        ("application/xml", b"<faultspec><"),
        ("application/x-www-form-urlencoded", b"%zz=%&&=%ff"),
        ("multipart/form-data", None),
        (";", None),
        (None, None),
    ],
)
def test_a_media_type_that_crashes_one_operation_is_found(
    media_type: str | None, body: bytes | None
) -> None:
    """Each write gets each common media type, well-formed and broken. One that is read all the same
    is not a mistake.
    """

    def script(request: Request) -> Response:
        sent = dict(request.headers).get("Content-Type")
        crashes = sent == media_type and body in (None, request.body)
        if crashes and request.target == "/second" and breaks:
            return answer(500, {"code": "broken"})
        read = sent == "application/x-www-form-urlencoded"
        return answer(200, {}) if read else answer(415, {"code": "malformed"})

    for breaks in (False, True):
        session = session_of(script)
        found = findings(session, media.foreign_bodies(session))
        crashed = {("framework/media-type", "POST /second"), ("service/no-crash", "POST /second")}
        assert found == (crashed if breaks else set())


@pytest.mark.parametrize("status", [400, 403, 404, 409, 422])
@pytest.mark.parametrize("form", [{}, {"code": "malformed"}])
def test_the_limit_of_a_body_is_found_behind_another_refusal(status: int, form: Any) -> None:
    """A large body whose refusal differs from that of a small one is judged, even if blanks alone
    are refused for another reason.
    """

    def script(request: Request) -> Response:
        if len(request.body) > 10_000_000 and request.body.strip():
            return answer(413, form)
        return answer(status, {"code": "malformed" if status == 400 else "absent"})

    session = session_of(script)
    found = findings(session, limits.oversized_bodies(session))
    assert (("framework/oversized", "POST /first") in found) == (not form)


def test_every_operation_gets_a_large_body() -> None:
    """The refusal of the second operation is judged as well."""

    def script(request: Request) -> Response:
        if len(request.body) < 100_000:
            return service()(request)
        return answer(413, {"code": "malformed"} if request.target == "/first" else {})

    session = session_of(script)
    assert findings(session, limits.oversized_bodies(session)) == set()
    found = findings(session, limits.oversized_bodies_of_others(session))
    assert ("framework/oversized", "POST /second") in found


def test_large_bodies_of_all_operations_are_kept_once() -> None:
    """The run keeps every request: equal bodies of megabytes are one object."""
    session = session_of(lambda _: answer(404, {"code": "absent"}))
    findings(session, limits.oversized_bodies(session))
    findings(session, limits.oversized_bodies_of_others(session))
    bodies = [one.exchange.request.body for one in session.observations.exchanges]
    large = [body for body in bodies if len(body) > 1_000_000]
    assert len(large) > len(set(large))
    assert len({id(body) for body in large}) == len(set(large))


KEY: Mapping[str, Any] = {"type": "string", "minLength": 1, "maxLength": 20}
DEPTH: Mapping[str, Any] = {"type": "integer", "minimum": 1}
HEADED: Mapping[str, Any] = {
    **DOCUMENT,
    "paths": {
        "/first": {
            "post": operation(
                requestBody=BODY,
                parameters=[
                    {"name": "Idempotency-Key", "in": "header", "schema": KEY},
                    {"name": "X-Depth", "in": "header", "schema": DEPTH},
                ],
            )
        }
    },
}
KEYED = TAXONOMY + "idempotency: {key: Idempotency-Key, methods: [POST]}\n"


@pytest.mark.parametrize(
    ("wrong", "clauses"),
    [
        ("", set()),
        ("empty", {"service/no-crash", "framework/invalid-input"}),
        ("depth", {"framework/invalid-input"}),
        ("ignored", set()),
    ],
)
def test_headers_below_their_bounds_are_tried(wrong: str, clauses: set[str]) -> None:
    """A header below its least value is refused; an empty one is too, or it counts as none."""
    behave = service()

    def script(request: Request) -> Response:
        headers = dict(request.headers)
        if headers.get("Idempotency-Key") == "" and wrong != "ignored":
            return answer(500, {"code": "broken"}) if wrong == "empty" else refused
        if int(headers.get("X-Depth", "1")) < 1 and wrong != "depth":
            return refused
        return behave(request)

    refused = answer(400, {"code": "malformed"})
    config = ServiceConfig(limits=Limits(writes=True, requests=300))
    session = http_session(script, KEYED, config, HEADED)
    session.turn = session.kinds
    assert {clause for clause, _ in findings(session, constraints(session))} == clauses
    triggers = [one.exchange.request for one in session.observations.exchanges]
    assert any(dict(one.headers).get("Idempotency-Key") == "" for one in triggers)


@pytest.mark.parametrize(("requests", "complete"), [(300, False), (900, True)])
def test_the_constraints_take_a_part_of_the_requests(requests: int, complete: bool) -> None:
    """A run that may send more breaks more constraints; a note says that some are left out."""
    paths = {f"/{name}": {"post": operation(requestBody=BODY)} for name in "abcdefghij"}
    config = ServiceConfig(limits=Limits(writes=True, requests=requests))
    session = http_session(service(), TAXONOMY, config, {**DOCUMENT, "paths": paths})
    session.record_results(constraints(session))
    notes = [note for note in session.observations.notes if "are left out" in note]
    assert (notes == []) == complete


BATCHES = (
    TAXONOMY.replace("codes: closed}", "codes: closed, bad_items: bad}")
    .replace("message?: $message}", "message?: $message, details?: $details}")
    .replace("codes:\n", "detail_keys: {bad: {type: array}}\ncodes:\n", 1)
    .replace(
        "  broken:",
        "  refused: {summary: No item is good, http: 422, retriable: false, details: {bad: {}}}\n  broken:",
    )
)
BATCH: Mapping[str, Any] = {
    "type": "object",
    "required": ["items"],
    "properties": {
        "items": {"type": "array", "minItems": 1, "maxItems": 3, "items": SCHEMA},
        "note": {"type": "string", "maxLength": 9},
    },
}
BATCH_BODY = {"required": True, "content": {"application/json": {"schema": BATCH}}}


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("everything", [False, True])
def test_a_batch_may_fail_as_a_whole_for_a_bad_item(*, listed: bool, everything: bool) -> None:
    """A refusal that lists the bad items where the surface declares them answers a broken item, and
    no mistake outside the items.
    """

    def script(request: Request) -> Response:
        found = problem_of(json.loads(request.body), BATCH)
        if found is None:
            return answer(200, {"done": True})
        if everything or list(found.absolute_path)[1:]:
            details = {"details": {"bad": [0]}} if listed else {}
            return answer(422, {"code": "refused", **details})
        return answer(400, {"code": "malformed"})

    paths = {"/batch": {"post": operation(requestBody=BATCH_BODY)}}
    config = ServiceConfig(limits=Limits(writes=True, requests=300))
    session = http_session(script, BATCHES, config, {**DOCUMENT, "paths": paths})
    session.turn = session.kinds
    found = {clause for clause, _ in findings(session, constraints(session))}
    assert ("framework/invalid-input" in found) is (everything or not listed)


@pytest.mark.parametrize(
    "bounds",
    [
        {"minimum": -(2**53) + 1, "maximum": 2**53 - 1},
        {"minimum": -(10**400)},
        {"maximum": 2**63 - 1},
        {"minimum": 3},
        {"maximum": 7},
        {},
    ],
)
def test_a_fraction_is_not_an_integer(bounds: dict[str, int]) -> None:
    """However wide the bounds are, the number that breaks the type has a fraction."""
    source = sampling.ValueSource({}, Random(1))
    node = {"type": "integer", **bounds}
    found = [
        one for one in sampling.broken_constraints(source, node, 5, "m") if one.keyword == "type"
    ]
    assert [float(str(one.value)).is_integer() for one in found] == [False]
