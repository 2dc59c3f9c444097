"""Laws of documents whose error bodies name no code: what comes out judges the service, and lints
without a warning.
"""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from faultspec.contract.model import build_contract
from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.importers import ImportedTaxonomy, openapi
from faultspec.importers.validate import drop_invalid
from faultspec.importers.yaml_writer import write_yaml
from faultspec.language import read
from faultspec.language.layers import merge_layers
from faultspec.language.model import Taxonomy
from faultspec.lint import check

TEXT = {"type": "string"}


def members(required: bool = True, **properties: Any) -> dict[str, Any]:
    """The schema of an object."""
    must = {"required": list(properties)} if required else {}
    return {"type": "object", "properties": properties, **must}


def described(schema: Any, text: str = "It failed.", **more: Any) -> dict[str, Any]:
    """A response with a JSON body."""
    return {"description": text, "content": {"application/json": {"schema": schema, **more}}}


def service(*operations: Mapping[str, Any], **components: Any) -> dict[str, Any]:
    """A document; each operation is the responses of ``GET /<index>``."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Library", "version": "1.0.0"},
        "paths": {
            f"/{index}": {"get": {"operationId": f"read_{index}", "responses": dict(responses)}}
            for index, responses in enumerate(operations)
        },
        "components": components,
    }


def taken_in(document: Any) -> tuple[ImportedTaxonomy, Taxonomy]:
    """The import, and its taxonomy, which lint says nothing about but that 429 lacks a header."""
    found = drop_invalid(openapi.read(document))
    loaded = read(write_yaml(found.data), "imported.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    remarks = [each for each in check(loaded) if each.severity != "note"]
    assert {each.code for each in remarks} <= {"retry-after-missing"}, remarks
    return found, loaded.taxonomy


def judged(
    known: Taxonomy, status: int, body: object, path: str = "/0", **headers: str
) -> Judgement:
    """The judgement of one answer."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = (("Content-Type", "application/json"), *headers.items())
    exchange = Exchange(Request("GET", path, ()), Response(status, sent, content), "http")
    return judge_exchange(known, exchange)


def judge_exchange(known: Taxonomy, exchange: Exchange) -> Judgement:
    """The judgement by the taxonomy's contract."""
    from faultspec.judge import judge

    return judge(build_contract(known), exchange)


def clauses(found: Judgement) -> set[str]:
    """The clauses that failed."""
    return {each.clause for each in found.findings}


FASTAPI = members(
    False,
    detail={
        "title": "Detail",
        "type": "array",
        "items": members(
            loc={"title": "Location", "type": "array", "items": {"anyOf": [TEXT, {"type": "integer"}]}},
            msg={"title": "Message", **TEXT},
            type={"title": "Error Type", **TEXT},
        ),
    },
)  # fmt: skip

#: For each framework the schema of its errors, a body that fits, and one that does not.
SHAPES: dict[str, tuple[Any, Any, Any]] = {
    "detail": (members(detail=TEXT), {"detail": "No"}, {"detail": 1}),
    "message": (members(message=TEXT), {"message": "No"}, {"detail": "No"}),
    "rails": (members(status={"type": "integer"}, error=TEXT), {"status": 404, "error": "Not Found"}, {"status": "404", "error": "No"}),
    "express": (members(error=members(message=TEXT)), {"error": {"message": "No"}}, {"error": "No"}),
    "github": (members(message=TEXT, documentation_url=TEXT), {"message": "No", "documentation_url": "u"}, {"message": "No"}),
    "validation": (FASTAPI, {"detail": [{"loc": ["body", 0], "msg": "No", "type": "t"}]}, {"detail": [{"loc": "body", "msg": "No", "type": "t"}]}),
    "field map": ({"type": "object", "additionalProperties": {"type": "array", "items": TEXT}}, {"name": ["is required"]}, {"name": "is required"}),
    "a list": ({"type": "array", "items": members(message=TEXT)}, [{"message": "No"}], {"message": "No"}),
    "a text": (TEXT, "No", 12),
    "a code that nothing lists": (members(code=TEXT, message=TEXT), {"code": "x", "message": "No"}, {"code": 1, "message": "No"}),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_a_body_without_a_code_is_judged(shape: str) -> None:
    """The status decides the code; a body that breaks the schema, a status that is not declared, a
    leaked stack trace and a text are findings, and a body that keeps it is none.
    """
    schema, good, bad = SHAPES[shape]
    found, known = taken_in(service({"404": described(schema), "409": described(schema)}))
    assert list(known.codes) == ["not_found", "conflict"]
    assert "imported" not in found.data
    fine = judged(known, 404, good)
    assert (fine.code, clauses(fine)) == ("not_found", set())
    assert clauses(judged(known, 404, bad))
    assert "code/declared" in clauses(judged(known, 418, good))
    assert clauses(judged(known, 404, b"<html>nothing</html>")) == {"envelope/json"}
    trace = 'Traceback (most recent call last):\n  File "/srv/app.py", line 1, in f\nKeyError: 0'
    leaking = json.loads(json.dumps(good).replace('"No"', json.dumps(trace)))
    if leaking != good:
        assert clauses(judged(known, 404, leaking)) == {"leaks/stack-trace"}


def test_a_response_that_many_operations_share_is_one_code() -> None:
    """One code for each status and schema, called like the shared response, else by the status."""
    error = members(detail=TEXT)
    shared = {"BookMissing": described(error, "No such book.")}
    missing = {"$ref": "#/components/responses/BookMissing"}
    found, known = taken_in(
        service(
            {"404": missing, "409": described(error)},
            {"404": missing, "409": described(error)},
            {"409": described(error)},
            responses=shared,
        )
    )
    assert list(known.codes) == ["book_missing", "conflict"]
    assert [each.codes for each in known.operations.values()] == [
        ("book_missing", "conflict"),
        ("book_missing", "conflict"),
        ("conflict",),
    ]
    assert list(found.data["envelopes"]) == ["detail"]
    undeclared = judged(known, 404, {"detail": "No"}, path="/2")
    assert "code/operation" in clauses(undeclared)


def test_default_leaves_out_the_statuses_that_are_listed() -> None:
    """An operation with `default` may answer with every code of its envelope; no two codes stand
    for one status.
    """
    error = members(message=TEXT)
    _, known = taken_in(
        service(
            {"404": described(error), "default": described(error)}, {"default": described(error)}
        )
    )
    assert not known.codes["error"].http.allows(404)
    assert known.operations["read_1"].codes == ("error", "not_found")
    assert judged(known, 404, {"message": "No"}, path="/1").findings == ()
    assert judged(known, 503, {"message": "No"}, path="/0").code == "error"


def test_a_constant_of_all_bodies_is_not_a_code() -> None:
    """A member with one constant over several statuses is part of the picture."""
    error = members(type={"const": "error"}, message=TEXT)
    found, known = taken_in(service({"404": described(error), "409": described(error)}))
    assert list(known.codes) == ["not_found", "conflict"]
    assert next(iter(found.data["envelopes"].values()))["shape"] == {
        "type": "error",
        "message": "$message",
    }


def test_codes_are_found_in_examples() -> None:
    """Examples that differ show the codes of a member that is called like a code, also a nested
    one; one value in all examples shows none.
    """
    error = members(error=members(errcode=TEXT, message=TEXT))

    def shown(code: str) -> Any:
        return described(error, example={"error": {"errcode": code, "message": "No"}})

    found, known = taken_in(service({"404": shown("M_NOT_FOUND"), "403": shown("M_FORBIDDEN")}))
    assert {name: code.wire for name, code in known.codes.items()} == {
        "M_NOT_FOUND": "M_NOT_FOUND",
        "M_FORBIDDEN": "M_FORBIDDEN",
    }
    assert found.data["surfaces"]["api"]["codes"] == "open"
    assert "code" in {each.kind for each in found.losses}
    _, same = taken_in(service({"404": shown("M_UNKNOWN"), "403": shown("M_UNKNOWN")}))
    assert list(same.codes) == ["not_found", "forbidden"]


def test_a_minority_body_is_the_envelope_of_nothing_else() -> None:
    """An endpoint that names codes of its own leaves the bodies of the others as they are."""
    token = members(error={"enum": ["invalid_grant", "invalid_client"]})
    plain = members(detail=TEXT)
    _, known = taken_in(service({"400": described(token)}, {"400": described(plain)}))
    assert known.codes["bad_request"].envelopes == ("detail",)
    assert judged(known, 400, {"detail": "No"}, path="/1").findings == ()
    assert judged(known, 400, {"error": "invalid_grant"}).code == "invalid_grant"


def test_a_code_in_a_header_is_found() -> None:
    """A documented header that lists codes is the place of the code."""
    header = {"X-Error-Code": {"required": True, "schema": {"enum": ["taken", "stale"]}}}
    response = described(members(message=TEXT)) | {"headers": header}
    _, known = taken_in(service({"409": response}))
    assert list(known.codes) == ["taken", "stale"]
    fine = judged(known, 409, {"message": "No"}, **{"X-Error-Code": "stale"})
    assert (fine.code, clauses(fine)) == ("stale", set())
    assert clauses(judged(known, 409, {"message": "No"}, **{"X-Error-Code": "other"}))
    assert clauses(judged(known, 409, {"message": "No"}))


def test_annotations_never_drop_a_schema() -> None:
    """`title`, `default`, `example` and `description` leave the rest of a schema as it is."""
    count = {
        "title": "Count",
        "default": 1,
        "example": 2,
        "description": "How many.",
        "type": "integer",
    }
    _, known = taken_in(service({"409": described(members(count=count, message=TEXT))}))
    assert clauses(judged(known, 409, {"count": "many", "message": "No"})) == {"envelope/types"}


def test_a_body_that_nobody_describes_may_be_anything() -> None:
    """Where the document has no body, texts pass and traces do not; described bodies stay judged,
    also those of the same status.
    """
    bare = {"description": "No."}
    _, known = taken_in(
        service({"404": bare, "409": bare}, {"404": described(members(detail=TEXT))})
    )
    assert judged(known, 404, b"nothing").findings == ()
    assert judged(known, 404, {"any": 1}).code == "not_found"
    assert clauses(judged(known, 404, b"nothing", path="/1")) == {"envelope/json"}
    assert clauses(judged(known, 418, {"detail": "No"}))


def test_a_default_without_a_body_leaves_described_statuses_judged() -> None:
    """A `default` that nobody describes takes no described status of the operation with it."""
    error = members(detail=TEXT)
    _, known = taken_in(service({"404": described(error), "default": {"description": "Any."}}))
    assert clauses(judged(known, 404, b"nothing")) == {"envelope/json"}
    assert judged(known, 404, {"detail": "No"}).code == "not_found"
    assert judged(known, 503, b"nothing").findings == ()


def test_what_the_team_decides_is_laid_over_the_import() -> None:
    """An overlay may name other examples, retry flags and fallbacks, and add codes, so that the
    document can be imported again below it.
    """
    found, _ = taken_in(service({"404": described(members(detail=TEXT))}))
    base = json.loads(json.dumps(found.data))
    overlay = {
        "faultspec": 1,
        "taxonomy": base["taxonomy"],
        "fallback": {"4xx": {"code": "not_found", "reason": "The framework."}},
        "codes": {
            "not_found": {"summary": "Nothing is here.", "retriable": False},
            "gone": {"summary": "It went.", "http": 410},
        },
    }
    merged, problems = merge_layers(base, overlay)
    assert problems == []
    assert merged["codes"]["not_found"]["summary"] == "Nothing is here."
