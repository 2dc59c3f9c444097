"""Laws of Swagger 2.0: a document means the same in 2.0 and in 3.0, to the importer and to the
reader of services, and every place is one of the user's document.
"""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.importers import ImportedTaxonomy, NotImportable
from faultspec.importers.openapi import read
from faultspec.importers.validate import drop_invalid
from faultspec.openapi import service
from faultspec.openapi.swagger import openapi_3
from faultspec.openapi.text import parse, read_file
from faultspec.runtime.pointers import resolve
from paths import ROOT
from support.command_line import faultspec
from support.examples import examples

DOCUMENTS = ROOT / "tests/fixtures/documents"

SCHEMAS = st.sampled_from(
    [
        {"$ref": "#/components/schemas/Error"},
        {"type": "object", "properties": {"message": {"type": "string", "nullable": True}}},
        {"type": "array", "items": {"$ref": "#/components/schemas/Plain"}},
        {"allOf": [{"$ref": "#/components/schemas/Plain"}, {"required": ["at"]}]},
        {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}},
    ]
)
HEADERS = st.dictionaries(
    st.sampled_from(["Retry-After", "X-Trace"]),
    st.sampled_from(
        [
            {"schema": {"type": "integer"}, "description": "Seconds."},
            {"schema": {"type": "string", "format": "uuid"}},
            {"schema": {"type": "array", "items": {"type": "string"}}},
        ]
    ),
    max_size=1,
)
MEDIA_TYPES = st.none() | st.lists(
    st.sampled_from(["application/json", "application/xml", "application/problem+json"]),
    min_size=1,
    unique=True,
)
RESPONSES = st.fixed_dictionaries(
    {"description": st.sampled_from(["Gone.", "Wait."])},
    optional={
        "schema": SCHEMAS,
        "headers": HEADERS,
        "example": st.sampled_from([{"code": "gone", "message": "x"}, {"message": None}, [1]]),
    },
)
APIS = st.fixed_dictionaries(
    {
        "produces": MEDIA_TYPES,
        "shared": RESPONSES,
        "operations": st.dictionaries(
            st.tuples(st.sampled_from(["/a", "/a/{id}"]), st.sampled_from(["get", "post"])),
            st.tuples(
                MEDIA_TYPES,
                st.dictionaries(
                    st.sampled_from(["200", "404", "409", "default"]),
                    st.just("shared") | RESPONSES,
                    min_size=1,
                ),
            ),
            min_size=1,
        ),
    }
)
COMPONENTS: dict[str, Any] = {
    "Error": {
        "type": "object",
        "required": ["code"],
        "properties": {
            "code": {"type": "string", "enum": ["gone", "wait"]},
            "message": {"type": "string", "nullable": True},
        },
    },
    "Plain": {
        "type": "object",
        "properties": {"at": {"type": "string", "format": "date-time", "nullable": True}},
    },
}


def in_2(api: dict[str, Any]) -> dict[str, Any]:
    """The API as a Swagger 2.0 document."""

    def response(value: Any) -> Any:
        if value == "shared":
            return {"$ref": "#/responses/Shared"}
        found = {key: value[key] for key in ("description", "schema") if key in value}
        if "example" in value:
            found["examples"] = {"application/json": value["example"]}
        if "headers" in value:
            found["headers"] = {
                name: {**header, **header["schema"]} for name, header in value["headers"].items()
            }
            for header in found["headers"].values():
                del header["schema"]
        return found

    paths: dict[str, Any] = {}
    for (path, method), (own, responses) in api["operations"].items():
        listed = {status: response(value) for status, value in responses.items()}
        paths.setdefault(path, {})[method] = {
            "responses": listed,
            "parameters": [
                {"name": "limit", "in": "query", "type": "integer"},
                {"name": "it", "in": "body", "schema": {"$ref": "#/components/schemas/Plain"}},
            ],
            **({} if own is None else {"produces": own}),
        }
    document = {
        "swagger": "2.0",
        "basePath": "/v1",
        "paths": paths,
        "responses": {"Shared": response(api["shared"])},
        "definitions": COMPONENTS,
        "securityDefinitions": {"basic": {"type": "basic"}},
        **({} if api["produces"] is None else {"produces": api["produces"]}),
    }
    text = json.dumps(document).replace("#/components/schemas/", "#/definitions/")
    return json.loads(text.replace('"nullable"', '"x-nullable"'))  # type: ignore[no-any-return]


def in_3(api: dict[str, Any]) -> dict[str, Any]:
    """The API as an OpenAPI 3.0 document."""

    def response(value: Any, own: list[str] | None) -> Any:
        if value == "shared":
            if own in (None, api["produces"]):
                return {"$ref": "#/components/responses/Shared"}
            value = api["shared"]
        found = {key: value[key] for key in ("description", "headers") if key in value}
        shown = ["application/json"] if "example" in value else []
        media_types = own or api["produces"] or ["application/json"]
        content: dict[str, Any] = {name: {} for name in shown}
        if "schema" in value:
            content |= {name: {"schema": value["schema"]} for name in [*shown, *media_types]}
        for name in shown:
            content[name]["example"] = value["example"]
        return {**found, **({"content": content} if content else {})}

    paths: dict[str, Any] = {}
    for (path, method), (own, responses) in api["operations"].items():
        schema = {"$ref": "#/components/schemas/Plain"}
        paths.setdefault(path, {})[method] = {
            "responses": {status: response(value, own) for status, value in responses.items()},
            "parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer"}}],
            "requestBody": {"content": {"application/json": {"schema": schema}}},
        }
    return {
        "openapi": "3.0.3",
        "servers": [{"url": "https://example.com/v1"}],
        "paths": paths,
        "components": {
            "responses": {"Shared": response(api["shared"], None)},
            "schemas": COMPONENTS,
            "securitySchemes": {"basic": {"type": "http", "scheme": "basic"}},
        },
    }


def imported(document: object) -> ImportedTaxonomy | str:
    """The taxonomy, or the code of the refusal."""
    try:
        return drop_invalid(read(document))
    except NotImportable as problem:
        return problem.code


@examples(150)
@given(APIS)
def test_a_document_means_the_same_in_2_and_in_3(api: dict[str, Any]) -> None:
    """An API in 2.0 gives the taxonomy, the kinds of losses and the service of its form in 3.0."""
    old, new = in_2(api), in_3(api)
    before = copy.deepcopy(old)
    first, second = imported(old), imported(new)
    if isinstance(first, str) or isinstance(second, str):
        assert first == second == "no-failures"
    else:
        assert first.data == second.data
        assert {loss[1:] for loss in first.losses} == {loss[1:] for loss in second.losses}
        assert all(resolve(old, loss.pointer)[0] for loss in first.losses), first.losses
    described, expected = service.read(old), service.read(new)
    assert described.operations == expected.operations
    assert [found.success for found in described.operations] == [
        found.success for found in expected.operations
    ]
    assert (described.schemes, described.base) == (expected.schemes, expected.base)
    assert old == before


def test_the_petstore_of_a_foreign_converter() -> None:
    """Swagger's petstore gives the taxonomy and the service of the 3.0 document that another
    program made of it.
    """
    old, new = (read_file(str(DOCUMENTS / f"petstore-{form}.yaml")) for form in ("2.0", "3.0"))
    assert drop_invalid(read(old)).data == drop_invalid(read(new)).data
    described, expected = service.read(old), service.read(new)
    assert described.operations == expected.operations
    assert described.base == expected.base == "/api"


SMALL = """\
swagger: 2.0
produces: [application/json, text/html]
responses:
  Missing:
    description: None.
    headers:
      X-Of: {type: array, items: {type: string}, collectionFormat: csv}
    schema: {$ref: "#/definitions/Error"}
    examples:
      application/json: {code: gone, more: 1}
paths:
  /pets:
    get:
      produces: [application/json]
      responses:
        404: {$ref: "#/responses/Missing"}
        409: {$ref: "#/responses/Absent"}
    post:
      responses:
        404: {$ref: "#/responses/Missing"}
definitions:
  Error:
    type: object
    required: [code]
    additionalProperties: false
    properties:
      code: {type: string, enum: [gone], x-nullable: true}
"""


def test_losses_have_lines_of_the_swagger_document(tmp_path: Path) -> None:
    """The command reports each loss of a 2.0 document at its own line, column and pointer."""
    (tmp_path / "swagger.yaml").write_text(SMALL)
    done = faultspec("import", "openapi", "swagger.yaml", "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    losses = json.loads(done.stderr)[0]["losses"]
    lines = SMALL.splitlines()
    found = {
        (loss["kind"], loss["pointer"], lines[loss["line"] - 1][loss["column"] - 1 :].split(":")[0])
        for loss in losses
    }
    response = "/responses/Missing"
    assert found == {
        ("media-type", "/produces/1", "text/html]"),
        ("member", f"{response}/headers/X-Of/collectionFormat", "collectionFormat"),
        ("header", f"{response}/headers/X-Of", "X-Of"),
        ("example", f"{response}/examples/application~1json/more", "more"),
        ("reference", "/paths/~1pets/get/responses/409", "409"),
        ("schema", "/definitions/Error/properties/code/x-nullable", "x-nullable"),
    }
    absent = next(loss["reason"] for loss in losses if loss["kind"] == "reference")
    assert "#/responses/Absent" in absent


def test_every_part_of_a_request_moves() -> None:
    """Forms, shared parameters, collection formats and security have the shape of 3.0."""
    document = {
        "swagger": "2.0",
        "parameters": {
            "Limit": {"name": "limit", "in": "query", "type": "array", "items": {"type": "string"},
                      "collectionFormat": "multi"},
            "It": {"name": "it", "in": "body", "required": True, "schema": {"$ref": "#/definitions/It"}},
        },
        "definitions": {"It": {"discriminator": "kind", "properties": {"kind": {"type": "string"}}}},
        "securityDefinitions": {
            "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
            "code": {"type": "oauth2", "flow": "accessCode", "tokenUrl": "/t", "scopes": {}},
        },
        "paths": {
            "/a": {
                "parameters": [{"$ref": "#/parameters/It"}, {"$ref": "#/parameters/Limit"}],
                "put": {"consumes": ["application/merge-patch+json"], "responses": {}},
                "post": {
                    "parameters": [
                        {"name": "file", "in": "formData", "type": "file", "required": True},
                        {"$ref": "#/paths/~1a/parameters/1"},
                    ],
                    "responses": {"200": {"schema": {"type": "file"}}},
                },
            }
        },
    }  # fmt: skip
    converted = openapi_3(document)
    path = converted.document["paths"]["/a"]
    assert path["parameters"] == [{"$ref": "#/components/parameters/Limit"}]
    assert path["post"]["parameters"] == [{"$ref": "#/paths/~1a/parameters/0"}]
    limit = converted.document["components"]["parameters"]["Limit"]
    assert (limit["style"], limit["explode"], limit["schema"]["type"]) == ("form", True, "array")
    body = path["put"]["requestBody"]
    assert body == {
        "required": True,
        "content": {
            "application/merge-patch+json": {"schema": {"$ref": "#/components/schemas/It"}}
        },
    }
    described = service.read(document)
    put = described.find("PUT", "/a")
    assert put is not None
    assert put.body is not None
    assert put.body.schema["discriminator"] == {"propertyName": "kind"}
    assert put.parameter("limit", "query") is not None
    assert described.schemes == (service.Scheme("key", "header", "X-Key"), service.Scheme("bearer"))
    pointer = "/paths/~1a/put/requestBody/content/application~1merge-patch+json/schema"
    assert converted.original(pointer) == "/parameters/It/schema"


def test_a_form_is_a_request_body() -> None:
    """Parameters of a form are one body: `multipart/form-data` if one of them is a file."""
    fields = [
        {"name": "name", "in": "formData", "type": "string", "required": True},
        {"name": "photo", "in": "formData", "type": "file"},
    ]
    for parameters, media_type in (
        (fields, "multipart/form-data"),
        (fields[:1], "application/x-www-form-urlencoded"),
    ):
        operation = {"parameters": parameters, "responses": {}}
        described = service.read({"swagger": "2.0", "paths": {"/a": {"post": operation}}})
        [found] = described.operations
        assert found.body is not None
        assert found.body.media_types == (media_type,)
        assert found.body.schema["required"] == ["name"]
        assert list(found.body.schema["properties"]) == [field["name"] for field in parameters]


@pytest.mark.parametrize(
    ("members", "address"),
    [
        ({}, None),
        ({"basePath": "v1/"}, "/v1"),
        ({"host": "a.example:8080"}, "//a.example:8080"),
        (
            {"host": "a.example", "basePath": "/v1", "schemes": ["ws", "http"]},
            "http://a.example/v1",
        ),
        ({"host": "[", "basePath": "/", "schemes": ["http"]}, "/"),
    ],
)
def test_the_address_is_that_of_host_and_base_path(
    members: dict[str, object], address: str | None
) -> None:
    """Scheme, host and base path are the address of the server, as far as they are there."""
    document = openapi_3({"swagger": "2.0", **members}).document
    assert document.get("servers") == (None if address is None else [{"url": address}])
    assert service.read({"swagger": "2.0", "paths": {"/a": {"get": {}}}, **members}).base == (
        "/v1" if "v1" in str(address) else ""
    )


@pytest.mark.parametrize(
    ("version", "code"), [("1.2", "swagger"), (2, "swagger"), (2.0, "no-failures")]
)
def test_other_versions_of_swagger_are_refused(version: object, code: str) -> None:
    """The importer reads Swagger 2.0 only; YAML reads a version without quotes as a number."""
    data, _ = parse(f"swagger: {json.dumps(version)}\npaths: {{}}\n", "swagger.yaml")
    assert imported(data) == code
