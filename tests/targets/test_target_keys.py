"""OpenAPI documents and overlays say where requests carry the idempotency key."""

import json
from typing import Any

import jsonpath_rfc9535
import pytest
from oas_patch.overlay import apply_overlay
from openapi_spec_validator import validate

from faultspec.language import read
from faultspec.language.model import Taxonomy
from faultspec.render import render
from faultspec.targets import SHIPPED

TAXONOMY = """
faultspec: 1
taxonomy: {name: payments, version: 1.0.0}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces:
  api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed,
        match: {routes: ["PUT /payments/{key}", "POST /payments", "GET /payments/{key}",
                         "/shops/{shop}/{key}", "/files/{key}/**"]}}
idempotency: {key: KEY, methods: [PUT, POST] MISSING}
codes:
  lost: {summary: No key, http: 400, retriable: false}
  idempotency_key: {summary: A name that components have too, http: 500, retriable: true}
"""

KEYS = {
    "header": ("Idempotency-Key", "Idempotency-Key"),
    "path": ("{path: key}", "key"),
    "query": ("{query: request_id}", "request_id"),
    "body": ("{body: /client/token}", "/client/token"),
}
VERSIONS = ("3.0", "3.1")
METHODS = ("put", "post", "get")

#: The operations that accept the key. A key in the path is in those whose route has it.
ACCEPTING = {
    place: {(path, method) for path in ("/payments", "/payments/{key}") for method in METHODS[:2]}
    for place in ("header", "query", "body")
} | {"path": {("/payments/{key}", "put")}}


def taxonomy_of(place: str, missing: str = "") -> Taxonomy:
    """Payments with their key in a place."""
    text = TAXONOMY.replace("KEY", KEYS[place][0], 1).replace(" MISSING", missing)
    loaded = read(text, "taxonomy.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


def rendered(target: str, file: str, taxonomy: Taxonomy) -> Any:
    """A file of a target."""
    return json.loads(render(taxonomy, [SHIPPED[target]], "taxonomy.yaml")[f"{target}/{file}"])


def service(version: str) -> Any:
    """The document of a team whose service has the routes."""

    def operations() -> dict[str, Any]:
        return {each: {"responses": {"200": {"description": "Done."}}} for each in METHODS}

    named = {"name": "key", "in": "path", "required": True, "schema": {"type": "string"}}
    return {
        "openapi": f"{version}.0",
        "info": {"title": "Theirs", "version": "1"},
        "paths": {
            "/payments": operations(),
            "/payments/{key}": {"parameters": [named], **operations()},
        },
    }


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("place", KEYS)
def test_the_document_has_a_component_of_the_key(place: str, version: str) -> None:
    """It is a parameter, or the schema of a member of bodies, says its place, and leaves the
    document valid.
    """
    found = rendered("openapi", f"openapi-{version}.json", taxonomy_of(place))
    validate(found)
    section = "schemas" if place == "body" else "parameters"
    marked = {
        (kind, name): each
        for kind, components in found["components"].items()
        for name, each in components.items()
        if "x-idempotency-key" in each
    }
    ((kind, _), component), *others = marked.items()
    assert (kind, others) == (section, [])
    at = KEYS[place][1]
    mark = {"in": place, "at": at, "methods": ["PUT", "POST"]}
    assert component["x-idempotency-key"] == mark
    if place != "body":
        assert (component["in"], component["name"]) == (place, at)


@pytest.mark.parametrize("place", ["header", "path", "query"])
def test_the_parameter_is_required_where_a_request_without_it_is_refused(place: str) -> None:
    """So it is with `missing`, and always in the path, where no request lacks it."""
    refused = {} if place == "path" else {", missing: lost": True}
    for missing, required in {"": place == "path", **refused}.items():
        found = rendered("openapi", "openapi-3.1.json", taxonomy_of(place, missing))
        assert found["components"]["parameters"]["IdempotencyKey"]["required"] is required


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("place", KEYS)
def test_the_overlay_marks_operations_that_accept_the_key(place: str, version: str) -> None:
    """No other operation is marked, and the queries find the same by the standard."""
    overlay = rendered("overlay", f"openapi-{version}.overlay.json", taxonomy_of(place))
    found = apply_overlay(service(version), overlay)
    validate(found)
    marked = {
        (path, method): found["paths"][path][method]["x-idempotency-key"]
        for path in found["paths"]
        for method in METHODS
        if "x-idempotency-key" in found["paths"][path][method]
    }
    assert marked == {each: {"in": place, "at": KEYS[place][1]} for each in ACCEPTING[place]}
    by_query = [
        node
        for action in overlay["actions"]
        if "x-idempotency-key" in action["update"]
        for node in jsonpath_rfc9535.find(action["target"], service(version))
    ]
    assert len(by_query) == len(marked)


OWN = """
faultspec: 1
taxonomy: {name: branches, version: 1.0.0}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
operations:
  refund: {match: {routes: ["PUT /payments/{key}"]}, idempotency_key: {path: key}}
surfaces:
  old: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed,
        match: {routes: [/payments]}, idempotency_key: {body: /token}}
  api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
idempotency: {key: Idempotency-Key, methods: [PUT, POST]}
codes:
  lost: {summary: No key, http: 400, retriable: false}
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_places_of_surfaces_and_operations_are_marked(version: str) -> None:
    """Each operation has the place that counts for it, and components say whose place they are."""
    taxonomy = read(OWN, "taxonomy.yaml").taxonomy
    assert taxonomy is not None
    overlay = rendered("overlay", f"openapi-{version}.overlay.json", taxonomy)
    found = apply_overlay(service(version), overlay)
    validate(found)
    marks = {
        (path, method): found["paths"][path][method]["x-idempotency-key"]
        for path in found["paths"]
        for method in METHODS[:2]
    }
    header = {"in": "header", "at": "Idempotency-Key"}
    body = {"in": "body", "at": "/token"}
    assert marks == {
        ("/payments", "put"): body,
        ("/payments", "post"): body,
        ("/payments/{key}", "put"): {"in": "path", "at": "key"},
        ("/payments/{key}", "post"): header,
    }
    document = rendered("openapi", f"openapi-{version}.json", taxonomy)
    validate(document)
    components = document["components"]
    methods = ["PUT", "POST"]
    assert {
        name: each["x-idempotency-key"]
        for section in ("parameters", "schemas")
        for name, each in components[section].items()
        if "x-idempotency-key" in each
    } == {
        "IdempotencyKey": {**header, "methods": methods},
        "IdempotencyKeyBody": {**body, "methods": methods, "surfaces": ["old"]},
        "IdempotencyKeyPath": {
            "in": "path",
            "at": "key",
            "methods": methods,
            "operations": ["refund"],
        },
    }
