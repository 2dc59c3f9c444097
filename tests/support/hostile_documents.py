"""Documents whose references leave them, in every way that a validator or a generator follows."""

from collections.abc import Mapping
from typing import Any

Data = dict[str, Any]

INFO = {"title": "Open", "version": "1"}


def schemas(host: str, file: str) -> Data:
    """Schemas of 2020-12, named by the way in which they leave the document."""
    local = "#/components/schemas/plain"
    return {
        "plain": {"type": "string", "maxLength": 5},
        "ref": {"$ref": f"{host}/ref.json"},
        "ref_fragment": {"$ref": f"{host}/fragment.json#/definitions/a"},
        "ref_without_scheme": {"$ref": f"{host.removeprefix('http:')}/bare.json"},
        "ref_file": {"$ref": file},
        "ref_file_url": {"$ref": f"file://{file}"},
        "ref_beside": {"$ref": "beside.json"},
        "ref_above": {"$ref": "../../../../../../../../../../.." + file},
        "dynamic": {"$dynamicRef": f"{host}/dynamic.json#x"},
        "recursive": {"$recursiveRef": f"{host}/recursive.json"},
        "dialect": {"$schema": f"{host}/dialect.json", "type": "string"},
        "address": {"$id": f"{host}/address.json", "properties": {"a": {"$ref": "inner.json"}}},
        "root_of_address": {"$id": f"{host}/root.json", "properties": {"a": {"$ref": local}}},
        "discriminated": {
            "oneOf": [{"$ref": local}, {"$ref": f"{host}/one.json"}],
            "discriminator": {"propertyName": "kind", "mapping": {"a": f"{host}/mapping.json"}},
        },
        "enum": {"enum": [{"$ref": f"{host}/enum.json"}, "a"]},
        "default": {"type": "object", "default": {"$ref": f"{host}/default.json"}},
        "example": {"type": "object", "example": {"$ref": f"{host}/example.json"}},
        "examples": {"type": "object", "examples": [{"$ref": f"{host}/examples.json"}]},
        "into_example": {"$ref": "#/components/examples/data/value"},
        "negated": {"not": {"$ref": f"{host}/not.json"}},
        "unevaluated": {
            "allOf": [{"$ref": f"{host}/all.json"}],
            "unevaluatedProperties": False,
        },
        "documented": {"externalDocs": {"url": f"{host}/docs.html"}, "type": "string"},
        "properties": {"properties": {"$ref": {"type": "string"}, "id": {"type": "string"}}},
    }


def openapi(host: str, file: str, version: str = "3.1.0") -> Data:
    """An OpenAPI document. ``host``: an address that nothing may contact. ``file``: a path that
    nothing may open.
    """
    known = schemas(host, file)
    if version.startswith("3.0"):
        known["old_address"] = {
            "id": f"{host}/old.json",
            "properties": {"a": {"$ref": "#/components/schemas/plain"}, "b": {"$ref": "x.json"}},
        }
    answer = {"description": "fine", "content": {"application/json": {"schema": {}}}}
    paths: Data = {
        f"/things/{name}": {
            "post": {
                "operationId": f"make_{name}",
                "parameters": [
                    {
                        "name": "q",
                        "in": "query",
                        "schema": {"$ref": f"#/components/schemas/{name}"},
                    }
                ],
                "requestBody": {
                    "content": {
                        "application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}
                    }
                },
                "responses": {
                    "200": {
                        "description": "made",
                        "content": {
                            "application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}
                        },
                    }
                },
            }
        }
        for name in known
    }
    paths["/item"] = {"$ref": f"{host}/item.json"}
    paths["/parts"] = {
        "get": {
            "parameters": [
                {"$ref": f"{host}/parameter.json"},
                {
                    "name": "e",
                    "in": "query",
                    "schema": {"type": "string"},
                    "examples": {
                        "far": {"externalValue": f"{host}/value.json"},
                        "near": {"externalValue": f"file://{file}"},
                        "ref": {"$ref": f"{host}/named.json"},
                    },
                },
            ],
            "responses": {
                "200": {
                    **answer,
                    "links": {
                        "next": {"operationRef": f"{host}/api.json#/paths/~1x/get"},
                        "ref": {"$ref": f"{host}/link.json"},
                    },
                    "headers": {"X-Far": {"$ref": f"{host}/header.json"}},
                },
                "400": {"$ref": f"{host}/response.json"},
            },
        },
        "put": {"requestBody": {"$ref": f"{host}/body.json"}, "responses": {"200": answer}},
    }
    found: Data = {
        "openapi": version,
        "info": INFO,
        "externalDocs": {"url": f"{host}/docs.html"},
        "paths": paths,
        "components": {
            "schemas": known,
            "examples": {"data": {"value": {"id": host, "$ref": f"{host}/data.json"}}},
            "securitySchemes": {"far": {"$ref": f"{host}/scheme.json"}},
        },
    }
    if version.startswith("3.1"):
        found["jsonSchemaDialect"] = f"{host}/dialect.json"
    return found


def swagger(host: str, file: str) -> Data:
    """A document of Swagger 2.0."""
    answer = {"description": "fine", "schema": {"$ref": f"{host}/answer.json"}}
    body = {"name": "body", "in": "body", "schema": {"$ref": "#/definitions/thing"}}
    return {
        "swagger": "2.0",
        "info": INFO,
        "paths": {
            "/things": {
                "post": {
                    "parameters": [body, {"$ref": f"{host}/parameter.json"}],
                    "responses": {"200": answer, "400": {"$ref": f"{host}/response.json"}},
                }
            },
            "/far": {"$ref": f"{host}/item.json"},
        },
        "definitions": {
            "thing": {
                "id": f"{host}/thing.json",
                "properties": {"a": {"$ref": file}, "b": {"$ref": "#/definitions/thing"}},
            }
        },
    }


def documents(host: str, file: str) -> Mapping[str, Data]:
    """A document of each version."""
    return {
        "3.1": openapi(host, file),
        "3.0": openapi(host, file, "3.0.3"),
        "2.0": swagger(host, file),
    }
