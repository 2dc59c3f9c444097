"""OpenAPI documents whose errors are lists, or are in other formats than JSON."""

from typing import Any

import pytest

from faultspec.contract.model import build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.importers import openapi
from faultspec.importers.yaml_writer import write_yaml
from faultspec.judge import judge
from faultspec.language import read
from faultspec.lint import check
from importers.test_importers import document, taken_in


def error(*codes: str, **members: Any) -> dict[str, Any]:
    """The schema of an error with some codes."""
    code = {"type": "string", "enum": [*codes]}
    members = {"code": code, "detail": {"type": "string"}, **members}
    return {"type": "object", "required": ["code", "detail"], "properties": members}


def answers(**bodies: tuple[str, Any]) -> dict[str, Any]:
    """A document with a body for each status, and its media type."""
    return document(
        **{
            status.removeprefix("_"): {
                "description": "No.",
                "content": {media_type: {"schema": schema}},
            }
            for status, (media_type, schema) in bodies.items()
        }
    )


def judged(data: dict[str, Any], status: int, media_type: str, body: str) -> tuple[Any, list[str]]:
    """The code and the broken clauses of an answer, by the import of a document."""
    contract = build_contract(taken_in(openapi.read(data)))
    response = Response(status, (("Content-Type", media_type),), body.encode())
    found = judge(contract, Exchange(Request("GET", "/carts/7"), response))
    return found.code, [each.clause for each in found.findings]


LIST = {"type": "object", "required": ["errors"], "properties": {"meta": {"type": "object"}}}


@pytest.mark.parametrize(
    "schema",
    [
        {**LIST, "properties": {**LIST["properties"], "errors": {"type": "array", "items": error("gone", "locked")}}},
        {"type": "array", "items": error("gone", "locked")},
        {"type": "object", "required": ["errors"], "properties": {"errors": {"$ref": "#/components/schemas/List"}}},
    ],
)  # fmt: skip
def test_each_error_of_a_list_has_its_code(schema: dict[str, Any]) -> None:
    """Codes are found in the items of a list, and judged item by item."""
    data = answers(_409=("application/json", schema))
    data["components"]["schemas"]["List"] = {"type": "array", "items": error("gone", "locked")}
    items = '[{"code": "gone", "detail": "a"}, {"code": "%s", "detail": "b"}]'
    body = items if schema["type"] == "array" else f'{{"errors": {items}}}'
    assert judged(data, 409, "application/json", body % "locked") == ("gone", [])
    assert judged(data, 409, "application/json", body % "lost") == ("gone", ["code/declared"])


def test_reasons_beside_a_message_are_one_error() -> None:
    """Where the body has a message itself, its list says more about one error, and the status
    decides the code.
    """
    reasons = {"type": "array", "items": error("missing", "invalid")}
    schema = {"type": "object", "properties": {"message": {"type": "string"}, "errors": reasons}}
    found = openapi.read(answers(_422=("application/json", schema)))
    assert [*found.data["codes"]] == ["unprocessable_entity"]


STORE = {
    **error("NoSuchKey", "SlowDown"),
    "xml": {"name": "Error"},
    "properties": {
        "Code": {"type": "string", "enum": ["NoSuchKey", "SlowDown"]},
        "Message": {"type": "string"},
        "requestId": {"type": "string", "xml": {"attribute": True, "name": "id"}},
        "hosts": {
            "type": "array",
            "xml": {"wrapped": True},
            "items": {"type": "integer", "xml": {"name": "Host"}},
        },
    },
    "required": ["Code", "Message"],
}
SOUND = '<Error xmlns="http://s3.example/" id="r"><Code>{}</Code><Message>m</Message>{}</Error>'


@pytest.mark.parametrize(
    ("code", "more", "found"),
    [
        ("NoSuchKey", "", ("NoSuchKey", [])),
        ("NoSuchKey", "<hosts><Host>1</Host><Host>2</Host></hosts>", ("NoSuchKey", [])),
        ("NoSuchKey", "<hosts><Host>one</Host></hosts>", ("NoSuchKey", ["envelope/types"])),
        ("NoSuchThing", "", (None, ["code/declared"])),
    ],
)
def test_a_body_in_xml_is_read_by_its_elements(code: str, more: str, found: Any) -> None:
    """The root element, attributes, and elements around a list are those that `xml` names."""
    data = answers(_404=("application/xml", STORE))
    assert judged(data, 404, "application/xml", SOUND.format(code, more)) == found


def test_an_element_without_a_name_is_a_loss() -> None:
    """A schema that nothing names says nothing of the root element."""
    found = openapi.read(answers(_404=("text/xml", {"type": "object"})))
    assert [each.kind for each in found.losses] == ["media-type"]
    assert found.data["surfaces"]["api"]["reason"]


@pytest.mark.parametrize(
    ("media_type", "schema", "body", "found"),
    [
        ("application/x-www-form-urlencoded", error("gone"), "code=gone&detail=m", ("gone", [])),
        ("application/x-www-form-urlencoded", error("gone", "away"), "code=gone&detail=m", ("gone", [])),
        ("text/plain", {"type": "string"}, "whatever", ("conflict", [])),
        ("text/plain", {"type": "string"}, "", ("conflict", [])),
        ("application/x-ndjson", error("gone", "away"), '{"code": "away", "detail": "m"}\n', ("away", [])),
    ],
)  # fmt: skip
def test_a_body_of_any_format_that_is_read_is_judged(
    media_type: str, schema: Any, body: str, found: Any
) -> None:
    """An envelope has the media type of the document, if a codec reads it."""
    assert judged(answers(_409=(media_type, schema)), 409, media_type, body) == found


def test_json_comes_before_other_formats() -> None:
    """Of a body in several formats that in JSON is read, and the others are losses."""
    data = answers(_409=("application/xml", STORE))
    responses = data["paths"]["/carts/{id}"]["get"]["responses"]
    responses["409"]["content"]["application/json"] = {"schema": error("gone", "locked")}
    found = openapi.read(data)
    assert [*found.data["codes"]] == ["gone", "locked"]
    assert [each.kind for each in found.losses] == ["media-type"]


def test_an_example_shows_the_headers_that_are_required() -> None:
    """Examples that the importer makes up have no warning of their own."""
    data = document(
        **{
            "429": {
                "description": "Slow.",
                "headers": {"Retry-After": {"required": True, "schema": {"type": "integer"}}},
            }
        }
    )
    loaded = read(write_yaml(openapi.read(data).data, "faultspec.schema.json"), "imported.yaml")
    assert "example-without-header" not in {each.code for each in check(loaded)}


def test_the_end_of_a_uri_names_a_problem() -> None:
    """A problem type is a URI, whose last part is the name of the code."""
    types = ["https://ex.com/p/out-of-stock", "urn:shop:closed", "https://ex.com/p#late"]
    schema = {"type": "object", "properties": {"type": {"type": "string", "enum": types}}}
    found = openapi.read(answers(_409=("application/problem+json", schema)))
    assert [*found.data["codes"]] == ["out_of_stock", "closed", "late"]


def test_a_member_that_repeats_the_status_is_not_a_code() -> None:
    """A list of one value, the status of the response, tells nothing more: the bodies of all
    statuses are one envelope.
    """

    def body(status: int) -> dict[str, Any]:
        number = {"type": "number", "enum": [status]}
        members = {"status": number, "err": {"type": "string"}}
        return {"type": "object", "required": ["status", "err"], "properties": members}

    media_type = "application/json"
    data = answers(_404=(media_type, body(404)), _409=(media_type, body(409)))
    assert [*openapi.read(data).data["codes"]] == ["not_found", "conflict"]
    assert judged(data, 404, media_type, '{"status": 404, "err": "m"}') == ("not_found", [])
    wrong = judged(data, 404, media_type, '{"status": 409, "err": "m"}')
    assert wrong == ("not_found", ["envelope/status"])


def test_a_mark_of_all_errors_is_not_a_retry_flag() -> None:
    """A boolean with one value for every code is part of the shape, unless its name speaks of
    repeating.
    """
    flag = {"type": "boolean", "enum": [True]}
    found = openapi.read(answers(_409=("application/json", error("gone", "away", error=flag))))
    assert all("retriable" not in code for code in found.data["codes"].values())
    assert found.data["envelopes"]["error"]["shape"]["error?"] is True
