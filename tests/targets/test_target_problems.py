"""Problem types as a client of RFC 9457 uses them: by URI, and by the JSON Schema of the object."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from faultspec.language.model import Taxonomy
from faultspec.render import render
from faultspec.runtime import shape
from faultspec.targets import SHIPPED, openapi
from faultspec.targets.jsonschema import definition
from faultspec.targets.schema import live
from paths import ROOT
from targets.test_targets_laws import FLAGSHIP, taxonomy

WATCHED = ROOT / "tests/taxonomies/watched.yaml"
REGISTRY = ROOT / "tests/taxonomies/registry.yaml"
PATHS = pytest.mark.parametrize("path", [FLAGSHIP, WATCHED, REGISTRY], ids=lambda path: path.stem)


def documents(known: Taxonomy) -> tuple[Any, Any]:
    """The registry and the schema."""
    tree = render(known, [SHIPPED["problems"]], "taxonomy.yaml")
    return json.loads(tree["problems/registry.json"]), json.loads(
        tree["problems/problem.schema.json"]
    )


def validator(schema: Any, label: str | None = None) -> Draft202012Validator:
    """Of any problem object, or of one type's."""
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(
        schema if label is None else {"$ref": f"#/$defs/{label}", "$defs": schema["$defs"]}
    )


@PATHS
def test_each_code_is_a_type(path: Path) -> None:
    """Every live code that travels over HTTP is registered under a URI of its own, with its title
    and its status.
    """
    registry, schema = documents(taxonomy(path))
    codes = [
        (definition(operation, code), code)
        for operation, code in live(taxonomy(path))
        if code.http.statuses
    ]
    assert [
        each["schema"].removeprefix("problem.schema.json#/$defs/") for each in registry["problems"]
    ] == [label for label, _ in codes]
    assert set(schema["$defs"]) == {label for label, _ in codes}
    for entry, (_, code) in zip(registry["problems"], codes, strict=True):
        assert (entry["title"], entry["status"], entry["code"]) == (
            code.summary,
            code.http.default,
            code.wire,
        )
    assert len({each["type"] for each in registry["problems"]}) in (
        len(codes),
        len({c.name for _, c in codes}),
    )


def shown(known: Taxonomy) -> Iterator[tuple[str, Any]]:
    """The taxonomy's own problem objects: each code in the envelope that says it is one."""
    for envelope in known.envelopes.values():
        if "application/problem+json" in envelope.media_types:
            for operation, code in live(known):
                for _, _, body in openapi.bodies(envelope, code, known):
                    yield definition(operation, code), body


@pytest.mark.parametrize("path", [WATCHED, REGISTRY], ids=lambda path: path.stem)
def test_the_types_are_those_on_the_wire(path: Path) -> None:
    """Where a taxonomy has problem objects, the registry has the URI that stands in them, and the
    schema accepts them.
    """
    registry, schema = documents(taxonomy(path))
    types = {each["schema"].rpartition("/")[2]: each["type"] for each in registry["problems"]}
    bodies = list(shown(taxonomy(path)))
    assert bodies
    whole = validator(schema)
    for label, body in bodies:
        assert types[label] == body["type"]
        assert list(whole.iter_errors(body)) == []
        assert list(validator(schema, label).iter_errors(body)) == []
        for name in ("type", "status"):
            assert not whole.is_valid({key: value for key, value in body.items() if key != name})
        assert not whole.is_valid({**body, "type": f"{body['type']}x"})
        assert not whole.is_valid({**body, "status": 299})


def problems(known: Taxonomy) -> Iterator[tuple[str, dict[str, Any]]]:
    """A problem object of each type of a taxonomy that has no envelope for them, made of its
    examples.
    """
    registry, _ = documents(known)
    types = {each["schema"].rpartition("/")[2]: each for each in registry["problems"]}
    envelope = next(iter(known.envelopes.values()))
    for operation, code in live(known):
        entry = types.get(definition(operation, code))
        if entry is None:
            continue
        for _, _, body in openapi.bodies(envelope, code, known):
            slots = shape.extract(envelope.shape, body).slots
            problem = {
                "type": entry["type"],
                "title": entry["title"],
                "status": entry["status"],
                "code": code.wire,
            }
            problem["detail"] = slots["message"]
            if slots.get("details") is not None:
                problem["details"] = slots["details"]
            yield definition(operation, code), problem


def test_a_taxonomy_without_problem_objects_has_types_all_the_same() -> None:
    """The types are URNs, the examples of the codes are valid problems of them, and of no other
    code.
    """
    known = taxonomy(FLAGSHIP)
    _, schema = documents(known)
    found = list(problems(known))
    whole, each_code = validator(schema), {name: validator(schema, name) for name in known.codes}
    assert {label for label, _ in found} == set(known.codes)
    for label, problem in found:
        assert problem["type"] == f"urn:problem-type:platform:{label}"
        assert list(whole.iter_errors(problem)) == []
        assert [name for name, each in each_code.items() if each.is_valid(problem)] == [label]
        for member in ("type", "title", "status", "code"):
            without = copy.deepcopy(problem)
            del without[member]
            assert not whole.is_valid(without), member


@pytest.mark.parametrize("name", ["keenbench", "theodosia"])
def test_what_has_no_http_has_no_problems(name: str) -> None:
    """RFC 9457 is about HTTP: other transports get no files."""
    assert (
        render(
            taxonomy(ROOT / f"examples/{name}/taxonomy.yaml"),
            [SHIPPED["problems"]],
            "taxonomy.yaml",
        )
        == {}
    )
