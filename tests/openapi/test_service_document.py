"""The service's own document: whatever can be read of it is, in OpenAPI 3 and Swagger 2, and nothing in it raises."""

import re
from random import Random

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.openapi import service as openapi
from faultspec.runtime import ids
from faultspec_conformance import sampling
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
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


def test_operations_of_openapi_3() -> None:
    """Methods, parameters, bodies, responses and security of the notebooks come out as the document has them."""
    read = openapi.read(notebooks())
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
    """The older format means the same: base path, body parameter, consumes, security definitions."""
    read = openapi.read(
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
    assert read.schemes == (openapi.Scheme("basic"),)
    assert [each.name for each in openapi.resources(read)] == ["bucket"]


def test_resources_are_inferred_by_the_shape_of_paths() -> None:
    """A collection to post to beside an item to get is a resource; literal siblings of an item are not items."""
    found = openapi.resources(openapi.read(notebooks()))
    assert [each.name for each in found] == ["notebook"]
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
    read = openapi.read(
        {"openapi": "3.1.0", "paths": {"/a/{b}": {"get": {}}, "/a/batch": {"get": {}}}}
    )
    found = read.at("GET", "/a/batch")
    assert found is not None
    assert found.template == "/a/batch"
    other = read.at("GET", "/a/7")
    assert other is not None
    assert other.template == "/a/{b}"


@pytest.mark.parametrize("text", ["", "[]", "3", "{}", "<html>", "openapi: [", "\x00", '{"a": 1}'])
def test_what_is_no_document_is_said_to_be_none(text: str) -> None:
    """A text that is no OpenAPI document comes back as a reason."""
    data, reason = openapi.parse(text)
    assert data is None
    assert reason


@examples(300)
@given(
    st.dictionaries(
        st.sampled_from(["paths", "components", "servers", "security", "info"]), JSON_VALUES
    )
)
def test_no_document_raises(document: dict[str, object]) -> None:
    """However odd a document is, reading it, its resources and a value of each of its schemas gives values."""
    read = openapi.read(document)
    openapi.resources(read)
    source = sampling.ValueSource(document, Random(1))
    for operation in read.operations:
        if operation.body is not None:
            list(
                sampling.violations(
                    source,
                    operation.body.schema,
                    sampling.value(source, operation.body.schema),
                    "mark-1",
                )
            )
        for parameter in operation.parameters:
            sampling.value(source, parameter.schema)


def test_a_circle_of_references_ends() -> None:
    """A schema that refers to itself gives a value of finite depth."""
    document = {
        "components": {
            "schemas": {
                "Node": {
                    "type": "object",
                    "required": ["next"],
                    "properties": {"next": {"$ref": "#/components/schemas/Node"}},
                },
                "Loop": {"$ref": "#/components/schemas/Loop"},
            }
        }
    }
    source = sampling.ValueSource(document, Random(1))
    assert isinstance(sampling.value(source, {"$ref": "#/components/schemas/Node"}), dict)
    assert isinstance(sampling.value(source, {"$ref": "#/components/schemas/Loop"}), str)


SCHEMAS = [
    {
        "type": "object",
        "required": ["sku", "quantity"],
        "properties": {
            "sku": {"type": "string", "pattern": "^[A-Z]{2}-\\d{3}$"},
            "quantity": {"type": "integer", "minimum": 3, "maximum": 9},
        },
    },
    {
        "type": "object",
        "required": ["email", "when"],
        "properties": {
            "email": {"type": "string", "format": "email"},
            "when": {"type": "string", "format": "date-time"},
        },
    },
    {
        "allOf": [
            {
                "type": "object",
                "required": ["a"],
                "properties": {"a": {"type": "string", "maxLength": 4}},
            },
            {"required": ["b"], "properties": {"b": {"enum": ["x", "y"]}}},
        ]
    },
    {
        "type": "array",
        "minItems": 2,
        "items": {"type": "number", "exclusiveMinimum": 4, "multipleOf": 5},
    },
    {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "minLength": 12, "maxLength": 30},
            "on": {"type": "boolean"},
        },
        "additionalProperties": False,
    },
]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_values_obey_and_violations_do_not(schema: dict[str, object]) -> None:
    """A synthesised value is valid under its schema; every violation is not."""
    source = sampling.ValueSource({}, Random(7))
    for _ in range(20):
        value = sampling.value(source, schema)
        jsonschema.validate(value, schema)
        for each in sampling.violations(source, schema, value, "mark-1"):
            checker = (
                None if each.sure else jsonschema.FormatChecker(["email"])
            )  # the one that needs no package
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(each.body, schema, format_checker=checker)
            assert each.what


@pytest.mark.parametrize(
    "pattern",
    [
        r"^[A-Z]{3}$",
        r"\S",
        r"^(foo|bar)-\d+$",
        r"^[a-f0-9]{8}(-[a-f0-9]{4}){3}$",
        r"^\w+@\w+\.com$",
        r"^[^a-z]{2}$",
    ],
)
def test_patterns_are_met(pattern: str) -> None:
    """A generated string matches the pattern it was generated for."""
    source = sampling.ValueSource({}, Random(3))
    for _ in range(20):
        made = sampling.matching(source, pattern)
        assert made is not None
        assert re.search(pattern, made)


def test_what_the_generator_does_not_know_it_says_so() -> None:
    """A look-ahead or a back-reference gives no string rather than a wrong one."""
    source = sampling.ValueSource({}, Random(3))
    assert sampling.matching(source, r"^(?=a)b$") is None
    assert sampling.matching(source, r"(a)\1") is None


@pytest.mark.parametrize(
    "identifier",
    [
        "3ecd3d0f-e321-4bd6-9f59-b1220d6ac2bb",
        "01a200b2-880a-7af7-bcf5-aa0a40369b99",
        "01M80B520AJBGJENDHT0TNQZ7W",
        "3MRKdlohOsRCVSTQ9deLnYyQ2rf",
        12,
        "12",
        "ord_8f3a2c",
        "order-17",
        "a1b2c3d4e5f60718",
        "PO-2024-0001",
    ],
)
def test_another_id_has_the_same_format_and_names_something_else(identifier: object) -> None:
    """An id that names nothing differs from the one that names something, and looks the same to a validator."""
    source = sampling.ValueSource({}, Random(5))
    other = sampling.another(source, identifier)
    assert other != identifier
    assert type(other) is type(identifier)
    if isinstance(identifier, str):
        for name in ("uuid4", "uuid7", "ulid"):
            assert ids.FORMATS[name](str(other)) or not ids.FORMATS[name](identifier)
        assert str(other).split("_")[0].isalpha() == identifier.split("_")[0].isalpha()


def test_fresh_values_differ() -> None:
    """Two creations with a synthesised body do not collide on free text."""
    source = sampling.ValueSource({}, Random(5))
    schema = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
    assert sampling.value(source, schema) != sampling.value(source, schema)
    assert sampling.vary(source, schema, {"name": "Tea"}) != {"name": "Tea"}
    assert sampling.vary(
        source, {"properties": {"currency": {"enum": ["EUR"]}}}, {"currency": "EUR"}
    ) == {"currency": "EUR"}


@pytest.mark.parametrize(
    ("document", "path", "templates", "said"),
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
            "Swagger 2.0",
        ),
        ({"openapi": "3.1.0", "paths": {"/a": 7}}, "", [], "names no operation"),
    ],
)
def test_what_its_reader_should_know_of_a_document(
    document: dict[str, object], path: str, templates: list[str], said: str | None
) -> None:
    """A base path is put before paths once; a document that is only half understood, or empty, is told to be so."""
    described, notes = openapi.understood(document, path)
    assert [each.template for each in described.operations] == templates
    assert [said in each for each in notes if said] == ([True] if said else [])
    assert bool(notes) == bool(said)
