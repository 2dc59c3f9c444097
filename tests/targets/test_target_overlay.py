"""The overlays as processors apply them: oas-patch, and for the standard's sake RFC 9535 queries by
jsonpath-rfc9535.
"""

import copy
import json
from importlib import resources
from pathlib import Path
from typing import Any

import jsonpath_rfc9535
import pytest
import yaml
from jsonschema import Draft202012Validator
from oas_patch.overlay import apply_overlay
from openapi_spec_validator import validate

from faultspec.render import render
from faultspec.targets import SHIPPED
from faultspec_conformance.orders.document import document
from paths import ROOT
from targets.test_targets_laws import FLAGSHIP, taxonomy

WATCHED = ROOT / "tests/taxonomies/watched.yaml"
PATHS = [
    FLAGSHIP,
    *(ROOT / f"examples/{name}/taxonomy.yaml" for name in ("aileron", "alknet", "kinto")),
    *(
        ROOT / f"tests/taxonomies/{name}.yaml"
        for name in ("aileron", "alknet", "registry", "watched")
    ),
]
EVERY = pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}-{path.stem}")


def overlay(path: Path, version: str = "3.1") -> dict[str, Any]:
    """The overlay for documents of a version."""
    found: dict[str, Any] = json.loads(
        render(taxonomy(path), [SHIPPED["overlay"]], path.name)[
            f"overlay/openapi-{version}.overlay.json"
        ]
    )
    return found


def applied(path: Path, service: Any, version: str = "3.1") -> Any:
    """A service's document with the overlay on it."""
    return apply_overlay(copy.deepcopy(service), overlay(path, version))


def by_the_standard(actions: list[dict[str, Any]], service: Any) -> Any:
    """The same, by the text of Overlay 1.0: each action on the outcome of those before, objects
    merged.
    """
    found = copy.deepcopy(service)
    for action in actions:
        for node in jsonpath_rfc9535.find(action["target"], found):
            merge(node.value, action["update"])
    return found


def merge(there: dict[str, Any], update: dict[str, Any]) -> None:
    """An object's members into another's."""
    for key, value in update.items():
        if isinstance(value, dict) and isinstance(there.get(key), dict):
            merge(there[key], value)
        else:
            assert key not in there or there[key] == value, f"{key} would be overwritten"
            there[key] = copy.deepcopy(value)


def holds(whole: Any, part: Any) -> bool:
    """Whether everything in a part is still there, and as it was."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and holds(whole[key], each) for key, each in part.items()
        )
    return bool(whole == part)


def inlined(value: Any, root: Any) -> Any:
    """A value with what its references lead to in their place."""
    if isinstance(value, list):
        return [inlined(each, root) for each in value]
    if isinstance(value, str) and value.startswith("#/"):
        place = root
        for step in value.removeprefix("#/").split("/"):
            place = place[step]
        return inlined(place, root)
    if isinstance(value, dict):
        if "$ref" in value:
            return inlined(value["$ref"], root)
        # Names of examples and of nothing else are those of components.
        return {
            key: list(inlined(each, root).values())
            if key == "examples" and isinstance(each, dict)
            else inlined(each, root)
            for key, each in value.items()
        }
    return value


def bare(service: Any) -> Any:
    """The document of a team that wrote down no error: no response of 4xx or 5xx, no component made
    for them.
    """
    found = copy.deepcopy(service)
    for item in found["paths"].values():
        for operation in item.values():
            for status in [each for each in operation["responses"] if each[0] in "45"]:
                del operation["responses"][status]
    kept = {"Order", "NewOrder", "Change", "Batch", "Outcomes"}
    schemas = {name: each for name, each in found["components"]["schemas"].items() if name in kept}
    headers = found["components"]["headers"]
    found["components"] = {
        "schemas": schemas,
        "headers": headers,
        "securitySchemes": found["components"]["securitySchemes"],
    }
    return found


def test_the_orders_service_gets_back_what_was_taken() -> None:
    """Every response that its own document refers to is there again under its status, equal in all
    it says.
    """
    whole, stripped = json.loads(json.dumps(document())), bare(json.loads(json.dumps(document())))
    validate(stripped)
    found = applied(FLAGSHIP, stripped)
    validate(found)
    compared = 0
    for path, item in whole["paths"].items():
        for method, operation in item.items():
            for status, response in operation["responses"].items():
                there = found["paths"][path][method]["responses"][status]
                assert inlined(there, found) == inlined(response, whole), (path, method, status)
                compared += status[0] in "45"
    assert compared > 40


@EVERY
@pytest.mark.parametrize("version", ["3.1", "3.0"])
def test_nothing_that_is_there_is_touched(path: Path, version: str) -> None:
    """The content of a document stays as it is, an inline error and components of the same plain
    names included.
    """
    service = {
        "openapi": f"{version}.0",
        "info": {"title": "Theirs", "version": "1"},
        "paths": {
            "/orders": {
                "parameters": [],
                "get": {
                    "operationId": "listOrders",
                    "responses": {
                        "200": {"description": "OK"},
                        **{
                            str(status): {"description": f"our {status}"}
                            for status in (400, 404, 409, 422, 429, 500, 502, 503)
                        },
                    },
                },
                "post": {
                    "responses": {
                        "201": {"$ref": "#/components/responses/Created"},
                        "default": {"description": "?"},
                    }
                },
            }
        },
        "components": {
            "schemas": {
                name.removeprefix(prefix): {"type": "string", "description": "ours"}
                for prefix, names in [_names(path, version)]
                for name in names
            },
            "responses": {"Created": {"description": "Created"}},
        },
    }
    validate(service)
    found = applied(path, service, version)
    validate(found)
    assert holds(found, service)
    for method in ("get", "post"):  # a reference beside a description would take its place
        theirs = service["paths"]["/orders"][method]["responses"]
        assert {
            status: found["paths"]["/orders"][method]["responses"][status] for status in theirs
        } == theirs
    assert found == by_the_standard(overlay(path, version)["actions"], service)


def _names(path: Path, version: str) -> tuple[str, list[str]]:
    """The prefix of the overlay's components, and the names of its schemas."""
    first = overlay(path, version)["actions"][0]["update"]["components"]
    prefix = "".join(word.capitalize() for word in taxonomy(path).name.split("_"))
    assert all(name.startswith(prefix) for section in first.values() for name in section)
    return prefix, list(first["schemas"])


@EVERY
def test_an_overlay_has_the_form(path: Path) -> None:
    """It has what Overlay 1.0 asks for and nothing else, its queries are JSONPath, and every
    reference leads somewhere.
    """
    form = yaml.safe_load(
        resources.files("oas_patch").joinpath("schema", "overlay_schema_1.0.0.yml").read_text()
    )
    for version in ("3.1", "3.0"):
        found = overlay(path, version)
        Draft202012Validator(form).validate(found)
        assert set(found) == {"overlay", "info", "actions"}
        assert {each for each in found["info"] if not each.startswith("x-")} == {"title", "version"}
        components = found["actions"][0]["update"]["components"]
        for action in found["actions"]:
            assert set(action) == {"target", "update"}
            jsonpath_rfc9535.compile(action["target"])
        for action in found["actions"]:
            inlined(action["update"], {"components": components})


def operation(**more: Any) -> Any:
    """An operation that goes well."""
    return {"responses": {"200": {"description": "OK"}}, **more}


SERVICE = {
    "openapi": "3.1.0",
    "info": {"title": "Mails", "version": "1"},
    "paths": {
        "/health": {"get": operation(), "head": operation()},
        "/files/{id}": {"get": operation(**{"x-error-surface-files": True})},
        "/mails/{id}": {"get": operation(), "post": operation(), "delete": operation()},
        "/v2/mails": {"put": operation(operationId="sendMail")},
    },
}

#: Where the surfaces and operations of the taxonomy come to be, by the statuses they add.
ADDED = {
    ("/health", "get"): ["503"],
    ("/health", "head"): ["423", "429", "500", "503"],
    ("/files/{id}", "get"): ["500"],
    ("/mails/{id}", "get"): ["409", "423", "429", "500", "503"],
    ("/mails/{id}", "post"): ["422", "500"],
    ("/mails/{id}", "delete"): ["423", "429", "500", "503"],
    ("/v2/mails", "put"): ["422", "500"],
}


def test_the_first_surface_that_claims_an_answer_says_what_it_is() -> None:
    """Routes, statuses, marks, operations by route and by id: each operation has its own errors and
    no other's.
    """
    found = applied(WATCHED, SERVICE)
    for (path, method), statuses in ADDED.items():
        responses = found["paths"][path][method]["responses"]
        assert sorted(responses) == sorted(["200", *statuses]), (path, method)
    assert found == by_the_standard(overlay(WATCHED)["actions"], SERVICE)
    assert overlay(WATCHED)["info"]["x-unmapped-routes"] == ["/files/**"]


def test_an_operation_has_its_own_code_under_its_own_status() -> None:
    """Two operations have a code of one name, and each answers with its own; several envelopes are
    alternatives.
    """
    found = applied(WATCHED, SERVICE)
    posted = inlined(found["paths"]["/mails/{id}"]["post"]["responses"]["422"], found)
    got = inlined(found["paths"]["/mails/{id}"]["get"]["responses"]["409"], found)
    for response, summary in ((posted, "Nobody is there."), (got, "The mail came back.")):
        assert set(response["content"]) == {"application/problem+json", "application/json"}
        for media in response["content"].values():
            assert [each["description"] for each in media["schema"]["anyOf"][0]["oneOf"]] == [
                summary
            ]


@pytest.mark.parametrize("name", ["keenbench", "theodosia"])
def test_what_has_no_http_has_no_overlay(name: str) -> None:
    """Nothing is added to OpenAPI for errors that never travel over HTTP."""
    assert (
        render(
            taxonomy(ROOT / f"examples/{name}/taxonomy.yaml"), [SHIPPED["overlay"]], "taxonomy.yaml"
        )
        == {}
    )
