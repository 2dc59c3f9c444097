"""The service that a document describes, in OpenAPI 3 and Swagger 2.0: all that can be read is
read, and nothing raises.
"""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.openapi import resources, service
from faultspec.openapi.text import parse_leniently
from faultspec_conformance.session import sampling
from miniatures.core_platform import openapi as notebooks
from support.examples import examples

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "get",
                    "post",
                    "parameters",
                    "requestBody",
                    "content",
                    "schema",
                    "$ref",
                    "type",
                    "properties",
                    "allOf",
                    "in",
                    "name",
                    "security",
                    "items",
                    "required",
                    "enum",
                    "application/json",
                    "/a/{b}",
                    "paths",
                    "responses",
                    "200",
                    "examples",
                    "headers",
                    "collectionFormat",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


def test_operations_of_openapi_3() -> None:
    """Methods, parameters, bodies, responses and security of the notebooks are those of the
    document.
    """
    read = service.read(notebooks())
    create = read.find("POST", "/notebooks")
    assert create is not None
    assert create.body is not None
    assert create.body.json_type == "application/json"
    assert create.secured is True
    assert "409" in create.responses
    assert create.parameter("idempotency-key", "header") is not None
    health = read.find("GET", "/healthz")
    assert health is not None
    assert health.secured is False


def test_operations_of_swagger_2() -> None:
    """Swagger 2.0 is read alike: base path, body parameter, consumes, security definitions."""
    read = service.read(
        {
            "swagger": "2.0",
            "basePath": "/v1",
            "consumes": ["application/json"],
            "securityDefinitions": {"basic": {"type": "basic"}},
            "security": [{"basic": []}],
            "paths": {
                "/buckets": {
                    "post": {
                        "parameters": [
                            {
                                "in": "body",
                                "name": "body",
                                "required": True,
                                "schema": {"$ref": "#/definitions/Bucket"},
                            }
                        ],
                        "responses": {"201": {"description": ""}},
                    },
                    "get": {"responses": {"200": {"description": ""}}},
                },
                "/buckets/{id}": {
                    "get": {
                        "responses": {},
                        "parameters": [{"in": "path", "name": "id", "type": "string"}],
                    }
                },
            },
            "definitions": {
                "Bucket": {
                    "type": "object",
                    "required": ["name"],
                    "properties": {"name": {"type": "string"}},
                }
            },
        }
    )
    create = read.find("POST", "/v1/buckets")
    assert create is not None
    assert create.body is not None
    assert create.body.schema["required"] == ["name"]
    assert create.secured is True
    assert read.schemes == (service.Scheme("basic"),)
    assert [resource.name for resource in resources.resources(read)] == ["bucket"]


def test_resources_are_inferred_by_the_shape_of_paths() -> None:
    """A collection to post to and an item to get form a resource; literal siblings of an item are
    not items.
    """
    found = resources.resources(service.read(notebooks()))
    assert [resource.name for resource in found] == ["notebook"]
    resource = found[0]
    assert [
        each.name if each else None
        for each in (
            resource.create,
            resource.read,
            resource.update,
            resource.delete,
            resource.list,
        )
    ] == [
        "POST /notebooks",
        "GET /notebooks/{notebook}",
        "PUT /notebooks/{notebook}",
        "DELETE /notebooks/{notebook}",
        "GET /notebooks",
    ]


def test_a_literal_segment_wins_over_a_placeholder() -> None:
    """A concrete path belongs to the most literal template that fits."""
    read = service.read(
        {"openapi": "3.1.0", "paths": {"/a/{b}": {"get": {}}, "/a/batch": {"get": {}}}}
    )
    found = read.operation_at("GET", "/a/batch")
    assert found is not None
    assert found.template == "/a/batch"
    other = read.operation_at("GET", "/a/7")
    assert other is not None
    assert other.template == "/a/{b}"


@pytest.mark.parametrize("text", ["", "[]", "3", "{}", "<html>", "openapi: [", "\x00", '{"a": 1}'])
def test_a_text_that_is_not_a_document_has_a_reason(text: str) -> None:
    """A text that is not an OpenAPI document gives no data, but a reason."""
    data, reason = parse_leniently(text)
    assert data is None
    assert reason


@examples(300)
@given(
    st.dictionaries(
        st.sampled_from(
            [
                "paths",
                "components",
                "servers",
                "security",
                "info",
                "swagger",
                "definitions",
                "parameters",
                "responses",
                "securityDefinitions",
                "produces",
                "basePath",
            ]
        ),
        JSON_VALUES,
    )
)
def test_no_document_raises(document: dict[str, object]) -> None:
    """Reading any document, its resources and a value of each of its schemas never raises."""
    read = service.read(document)
    resources.resources(read)
    source = sampling.ValueSource(document, Random(1))
    for operation in read.operations:
        if operation.body is not None:
            list(
                sampling.violations(
                    source,
                    operation.body.schema,
                    sampling.sample_value(source, operation.body.schema),
                    "mark-1",
                )
            )
        for parameter in operation.parameters:
            sampling.sample_value(source, parameter.schema)


@pytest.mark.parametrize(
    ("document", "path", "templates", "note"),
    [
        (
            {"openapi": "3.1.0", "paths": {"/api/a": {"get": {}}}},
            "/api",
            ["/api/a"],
            "begin with /api already",
        ),
        (
            {"openapi": "3.1.0", "paths": {"/api/a": {"get": {}}, "/b": {"get": {}}}},
            "/api",
            ["/api/api/a", "/api/b"],
            None,
        ),
        ({"openapi": "3.1.0", "paths": {"/apis": {"get": {}}}}, "/api", ["/api/apis"], None),
        (
            {"swagger": "2.0", "basePath": "/v1", "paths": {"/a": {"get": {}}}},
            "",
            ["/v1/a"],
            None,
        ),
        ({"openapi": "3.1.0", "paths": {"/a": 7}}, "", [], "names no operation"),
    ],
)
def test_notes_on_a_document(
    document: dict[str, object], path: str, templates: list[str], note: str | None
) -> None:
    """A base path is put before paths once. A note says so, or reports a document without
    operations.
    """
    described, notes = service.read_at(document, path)
    assert [operation.template for operation in described.operations] == templates
    assert [note in text for text in notes if note] == ([True] if note else [])
    assert bool(notes) == bool(note)


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (["multipart/form-data; charset=utf-8"], "multipart/form-data; charset=utf-8"),
        (["Multipart/Form-Data"], "Multipart/Form-Data"),
        (["application/octet-stream", "multipart/form-data"], "multipart/form-data"),
        (
            ["multipart/form-data", "application/x-www-form-urlencoded"],
            "application/x-www-form-urlencoded",
        ),
        (["multipart/form-data", "application/json"], "application/json"),
        (["text/csv", "application/xml"], "text/csv"),
    ],
)
def test_the_schema_is_that_of_the_media_type_that_is_sent(offered: list[str], chosen: str) -> None:
    """JSON comes before forms, and a form without files before one with files. Media types may have
    parameters and capital letters.
    """
    content = {name: {"schema": {"title": name}} for name in offered}
    paths = {"/a": {"post": {"requestBody": {"content": content}, "responses": {}}}}
    body = service.read({"openapi": "3.1.0", "paths": paths}).operations[0].body
    assert body is not None
    assert body.schema["title"] == chosen
    assert (body.json_type or body.form_type or "text/csv") == chosen
