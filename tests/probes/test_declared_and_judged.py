"""Declarations that no clause checked before: refused keys, replayed deletions and batches,
malformed ids, published details, original codes. Each has a harmless twin.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from faultspec.contract.model import build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read
from faultspec_conformance.probes import (
    batch,
    correlation,
    discovery,
    idempotency,
    resources,
    routes,
)
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.observations import ProbeResult
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: boxes, version: 1.0.0, title: Boxes, owner: nobody}
detail_keys:
  code: {type: string}
  box: {type: string, summary: The box.}
  row: {type: integer}
envelopes:
  error:
    media_type: application/json
    shape: {code: $code, id: $id, details?: $details}
    fields: {id: {type: string, format: uuid7, echo: X-Request-Id, invalid_inbound: replace}}
surfaces:
  several: {transport: http, match: {statuses: 207}, envelope: error, items: /items, status: /status}
  api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error}
codes:
  bad: {summary: Bad input, http: 400, retriable: false}
  absent: {summary: Not there, http: 404, retriable: false}
  internal: {summary: A crash, http: 500, retriable: false, details: {code?: {}}}
operations:
  stock:
    codes: [absent]
    errors: {empty: {summary: No stock., http: 409, retriable: false, details: {box: {}, row?: {}}}}
idempotency: {key: Idempotency-Key, methods: [POST, DELETE], replay: {equal: [body]}}
undeclared: {becomes: internal, original_code: /details/code}
discovery:
  errors:
    request: "GET /errors/${operation}"
    kind: errors
    item: {code: /code, summary: /text, details: /schema}
"""

BOX = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
JSON_BODY = {"application/json": {"schema": BOX}}
MANY = {"type": "object", "properties": {"boxes": {"type": "array", "items": BOX}}}
DOCUMENT: Mapping[str, object] = {
    "openapi": "3.1.0",
    "paths": {
        "/boxes": {
            "get": {"responses": {"200": {"description": "all"}}},
            "post": {
                "requestBody": {"content": JSON_BODY},
                "responses": {"201": {"description": "made"}},
            },
        },
        "/boxes/{id}": {
            "get": {"responses": {"200": {"description": "one"}}},
            "delete": {"responses": {"204": {"description": "gone"}}},
        },
        "/bulk": {
            "post": {
                "requestBody": {"content": {"application/json": {"schema": MANY}}},
                "responses": {"207": {"description": "several"}},
            }
        },
    },
}


class Boxes:
    """A service that keeps boxes, and answers of writes by key."""

    def __init__(self, *sins: str) -> None:
        self.sins = sins
        self.boxes: dict[str, Any] = {}
        self.known: dict[str, Response] = {}

    def __call__(self, request: Request) -> Response:
        """Answer a request, once for a key."""
        headers = {name.lower(): value for name, value in request.headers}
        key = headers.get("idempotency-key")
        what = "batch" if request.target == "/bulk" else request.method.lower()
        if key is None or request.method == "GET":
            return self.done(request)
        if f"{what}-key-refused" in self.sins:
            return answer(400, {"code": "bad"})
        if key in self.known and f"{what}-replay-refused" in self.sins:
            return answer(409, {"code": "bad"})
        if key not in self.known or f"{what}-key-ignored" in self.sins:
            self.known[key] = self.done(request)
        return self.known[key]

    def done(self, request: Request) -> Response:
        """The answer to a request that was carried out."""
        path, _, identifier = request.target.rpartition("/")
        if request.target == "/bulk":
            made = [self.made() for _ in json.loads(request.body)["boxes"]]
            return answer(207, {"items": [{"status": 201, "id": name} for name in made]})
        if request.method == "POST":
            return answer(201, {"id": self.made()})
        if path != "/boxes":
            return answer(200, [{"id": name} for name in self.boxes])
        if identifier not in self.boxes:
            return answer(404, {"code": "absent"})
        if request.method == "DELETE":
            del self.boxes[identifier]
            return Response(204)
        return answer(200, {"id": identifier})

    def made(self) -> str:
        """The id of a new box."""
        self.boxes[f"box-{len(self.boxes)}-{len(self.known)}"] = True
        return [*self.boxes][-1]


def failures(results: Any, clause: str) -> list[str]:
    """The messages of the failures of a clause. At least one result is about it."""
    found = [each for each in results if isinstance(each, Outcome) and each.clause == clause]
    assert found, clause
    return [each.finding.message for each in found if each.finding is not None]


def replayed(*sins: str) -> list[str]:
    """The outcomes of a run about the replays of a service with these sins."""
    session = http_session(Boxes(*sins), TAXONOMY, document=DOCUMENT)
    found: list[ProbeResult] = []
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    for probe in (idempotency.replays, batch.batches):
        session.record_results(probe(session))
    found += session.observations.outcomes
    return failures(found, "idempotency/replay")


@pytest.mark.parametrize(
    ("sin", "message"),
    [
        ("post-key-refused", "400 bad to a write with Idempotency-Key, but 201 without it"),
        ("post-replay-refused", "409 bad to POST /boxes with the same Idempotency-Key"),
        ("delete-key-refused", "400 bad to DELETE /boxes/{id} with Idempotency-Key, but 204"),
        ("delete-key-ignored", "404 absent to DELETE /boxes/{id} with the same"),
        ("batch-key-refused", "400 bad to POST /bulk with Idempotency-Key, but 207 without it"),
        ("batch-replay-refused", "409 bad to POST /bulk with the same Idempotency-Key"),
        ("batch-key-ignored", "POST /bulk with the same Idempotency-Key has a different body"),
    ],
)
def test_every_declared_method_accepts_and_replays_a_key(sin: str, message: str) -> None:
    """A key may be refused neither at first nor in a replay, by any declared method, though the
    taxonomy compares only bodies.
    """
    found = replayed(sin)
    assert found
    assert message in found[0]


def test_a_service_that_keeps_its_keys_has_no_failure() -> None:
    """Creations, deletions and batches are replayed, and equal."""
    assert replayed() == []


@pytest.mark.parametrize("status", [401, 429, 503])
def test_a_refusal_of_the_moment_says_nothing_about_a_key(status: int) -> None:
    """A throttle, an outage or an ended session in place of a replay decides nothing."""
    session = http_session(Boxes(), TAXONOMY, document=DOCUMENT)
    first = session.record(Exchange(Request("POST", "/boxes"), answer(201, {"id": 1})))
    again = session.record(Exchange(Request("POST", "/boxes"), answer(status, {"code": "x"})))
    rule = session.taxonomy.idempotency
    assert rule is not None
    assert idempotency.check_replay(session, rule, first, again).kind == "not_exercised"


def test_accepted_work_makes_no_final_refusal_a_replay() -> None:
    """While accepted work goes on, a replay may have to wait. A refusal that no retry helps is
    another answer.
    """
    busy = "codes:\n  busy: {summary: Busy, http: 409, retriable: true}\n"
    declared = TAXONOMY.replace("\ncodes:\n", f"\n{busy}", 1)
    session = http_session(Boxes(), declared, document=DOCUMENT)
    first = session.record(Exchange(Request("POST", "/boxes"), answer(202, {"id": 1})))
    rule = session.taxonomy.idempotency
    assert rule is not None
    kinds = {}
    for code in ("bad", "busy", "unheard_of"):
        again = session.record(Exchange(Request("POST", "/boxes"), answer(409, {"code": code})))
        kinds[code] = idempotency.check_replay(session, rule, first, again).kind
    assert kinds == {"bad": "failed", "busy": "not_exercised", "unheard_of": "not_exercised"}


ID = "01890a5d-ac96-774b-bcce-b302099a8057"


@pytest.mark.parametrize(("status", "count"), [(400, 2), (404, 0)])
def test_a_malformed_id_that_is_to_be_replaced_is_not_refused(status: int, count: int) -> None:
    """`invalid_inbound: replace`: the answer is that of the same request with a valid id."""

    def service(request: Request) -> Response:
        sent = dict(request.headers).get("X-Request-Id", ID)
        bad = len(sent) != len(ID) or not sent.replace("-", "").isalnum()
        return answer(status if bad else 404, {"code": "bad", "id": ID}, X_Request_Id=ID)

    session = http_session(service, TAXONOMY, document=DOCUMENT)
    found = failures(routes.unknown_routes(session), "correlation/invalid-inbound")
    assert len(found) == count
    assert all("expected 404, and a new id" in message for message in found)


def inbound_findings(rule: str, schema: str, respond: Callable[[str], str | int]) -> list[str]:
    """Return what `correlation/invalid-inbound` finds on a service that treats ids by a function:
    the id of the answer, or the status of a refusal.
    """

    def service(request: Request) -> Response:
        treated = respond(dict(request.headers).get("X-Request-Id", ""))
        if isinstance(treated, int):
            return answer(treated, {"code": "bad", "id": "r-000001"}, X_Request_Id="r-000001")
        if request.target == "/boxes":
            return answer(200, [], X_Request_Id=treated)
        return answer(404, {"code": "absent", "id": treated}, X_Request_Id=treated)

    taxonomy = TAXONOMY.replace("format: uuid7, ", schema).replace("inbound: replace", rule)
    session = http_session(service, taxonomy, document=DOCUMENT)
    outcomes = [*routes.unknown_routes(session), *correlation.malformed_ids_of_reads(session)]
    assert [one for one in outcomes if getattr(one, "clause", "") == CLAUSE], "it was tried"
    return failures(outcomes, CLAUSE)


CLAUSE = "correlation/invalid-inbound"


def is_short(value: str) -> bool:
    """Whether an id has the form `r-` and six digits."""
    return re.fullmatch("r-[0-9]{6}", value) is not None


@pytest.mark.parametrize("schema", ['pattern: "^r-[0-9]{6}$", ', "minLength: 8, maxLength: 8, "])
def test_ids_without_a_format_are_malformed_too(schema: str) -> None:
    """A pattern or a length makes an id malformed, as a format does. It must not come back."""
    kept = inbound_findings("inbound: replace", schema, lambda value: value or "r-000001")
    assert any("overlong comes back" in message for message in kept)
    assert any("control character in it comes back" in message for message in kept)
    assert any("that is two ids comes back" in message for message in kept)
    well_formed = inbound_findings(
        "inbound: replace",
        schema,
        lambda value: value if len(value) == 8 and value.isalnum() else "r-000001",
    )
    assert well_formed == []


@pytest.mark.parametrize(("status", "broken"), [(400, False), (200, True)])
def test_an_id_that_is_to_be_rejected_gets_400(status: int, broken: bool) -> None:
    """`invalid_inbound: reject`: a malformed id of each kind is refused, on reads too."""
    found = inbound_findings(
        "inbound: reject",
        'pattern: "^r-[0-9]{6}$", ',
        lambda value: value if is_short(value) else status if status != 200 else "r-000001",
    )
    assert any("expected 400 or 422" in message for message in found) is broken


def test_a_server_may_refuse_a_header_with_a_control_character() -> None:
    """Such a header is invalid (RFC 9110, 5.5); other malformed ids are replaced as declared."""
    found = inbound_findings(
        "inbound: replace",
        'pattern: "^r-[0-9]{6}$", ',
        lambda value: value if is_short(value) else 400 if "\x1b" in value else "r-000001",
    )
    assert found == []


PUBLISHED: dict[str, Any] = {
    "code": "empty",
    "text": "No stock.",
    "schema": {
        "type": "object",
        "properties": {"box": {"type": "string"}, "row": {"type": "integer"}},
        "required": ["box"],
        "description": "another annotation",
    },
}


def changed(**members: object) -> dict[str, Any]:
    """The published error with other members of its schema."""
    return {**PUBLISHED, "schema": {**PUBLISHED["schema"], **members}}


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (PUBLISHED, None),
        ({**PUBLISHED, "text": "No  stock."}, None),
        (changed(type=["object", "null"]), None),
        ({**PUBLISHED, "text": "Sold out."}, 'the summary "Sold out."'),
        ({"code": "empty", "schema": PUBLISHED["schema"]}, "without a summary at /text"),
        ({"code": "empty", "text": "No stock."}, "the schema is not a schema"),
        (changed(required=["box", "row"]), "/row is optional by the taxonomy"),
        (changed(properties={"box": {"type": "string"}}), "/row is missing"),
        (
            changed(properties={"box": {"type": "integer"}, "row": {"type": "integer"}}),
            "/box has the type integer; the taxonomy has string",
        ),
    ],
)
def test_published_summaries_and_details_agree(item: object, message: str | None) -> None:
    """The published errors of an operation are those of the taxonomy; only certain differences
    between schemas count.
    """
    session = http_session(lambda request: answer(200, [item]), TAXONOMY)
    found = failures(discovery.published_errors(session), "discovery/agrees")
    assert [message in each for each in found if message] == ([True] if message else [])
    assert bool(found) == bool(message)


def original(code: object, operation: str | None = None) -> set[str]:
    """The clauses about codes that an undeclared error with this original code breaks."""
    loaded = read(TAXONOMY, "t.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    body = {"code": "internal", "id": ID, "details": {"code": code}}
    exchange = Exchange(Request("GET", "/x"), answer(500, body), operation=operation)
    judgement = judge(build_contract(loaded.taxonomy), exchange)
    assert "code/original" in judgement.exercised
    return {each.clause for each in judgement.findings if each.clause.startswith("code/")}


@pytest.mark.parametrize(
    ("code", "operation", "broken"),
    [
        ("E1234", None, False),
        ("internal", None, False),
        ("absent", None, True),
        ("empty", "stock", True),
        ("absent", "stock", True),
        ("bad", "stock", False),
        ("", None, True),
        (["E1"], None, True),
    ],
)
def test_only_undeclared_codes_are_replaced(
    code: object, operation: str | None, broken: bool
) -> None:
    """An error whose code may come here keeps it; a code that the operation does not list is
    replaced, and its place has a code.
    """
    assert ("code/original" in original(code, operation)) == broken
