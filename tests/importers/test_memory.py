"""Laws of memory: what an import holds is bounded, whatever the document repeats."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, SchemaError

from faultspec.language.values import foreign_schema_problem
from faultspec.openapi.reader import DocumentReader
from faultspec.openapi.schemas import self_contained
from support.examples import examples
from support.memory import PROGRAM, peak_of

MEGABYTES = 300
"""Of the whole process."""


def ref(name: str) -> dict[str, Any]:
    """A reference to a schema."""
    return {"$ref": f"#/components/schemas/{name}"}


def document(failures: int, members: int) -> dict[str, Any]:
    """Failures that each join one large component with a member of their own."""
    large = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(members)}}
    paths = {
        f"/p{n}": {
            "get": {
                "responses": {
                    "404": {
                        "description": "x",
                        "content": {
                            "application/json": {
                                "schema": {"allOf": [ref("large"), {"properties": {f"x{n}": {}}}]}
                            }
                        },
                    }
                }
            }
        }
        for n in range(failures)
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Large", "version": "1.0.0"},
        "paths": paths,
        "components": {"schemas": {"large": large}},
    }


def reasons(size: int) -> str:
    """A proto with so many reasons."""
    values = "".join(
        f"  // Thing {n} was not found.\n  //\n  // gRPC status: NOT_FOUND\n  THING_{n}_MISSING = {n};\n"
        for n in range(1, size + 1)
    )
    head = 'syntax = "proto3";\npackage shop.v1;\nenum ErrorReason {\n  UNSPECIFIED = 0;\n'
    return f"{head}{values}}}\n"


def test_many_references_to_a_schema_are_one_schema() -> None:
    """A component is expanded once, whatever refers to it, and each reader gets its losses."""
    large = {"properties": {"a": {"xml": {}, "type": "string"}}}
    reader = DocumentReader({"openapi": "3.1.0", "components": {"schemas": {"large": large}}})
    first = self_contained(reader, ref("large"), "/x")
    other = reader.attempt()
    assert self_contained(other, ref("large"), "/y") is first
    assert list(other.losses) == list(reader.losses) != []


def test_the_schemas_of_a_document_are_bounded_together() -> None:
    """When too many schemas were read, the next ones are cut, and a loss says so."""
    reader = DocumentReader({"openapi": "3.1.0"})
    reader.expansions.left = 5
    whole = {"properties": {f"p{n}": {"type": "string"} for n in range(9)}}
    found = self_contained(reader, whole, "/x")
    assert 0 < sum(bool(member) for member in found["properties"].values()) < 5
    assert {loss.kind for loss in reader.losses} == {"size"}
    assert self_contained(reader, whole, "/y") == {}


@pytest.mark.full
def test_references_to_a_large_component_take_little_memory(tmp_path: Path) -> None:
    """100 kB whose references expand to 380,000 schemas are imported or refused within the
    bound.
    """
    (tmp_path / "openapi.json").write_text(json.dumps(document(200, 1_900)))
    code, megabytes = peak_of([*PROGRAM, "import", "openapi", "openapi.json"], tmp_path)
    assert code in (0, 2)
    assert "Traceback" not in (tmp_path / "output").read_text()
    assert megabytes <= MEGABYTES


def test_shapes_that_repeat_take_little_memory(tmp_path: Path) -> None:
    """A model of botocore in which errors have members that are errors is cut, and a loss says
    so.
    """
    shapes = {
        f"E{n}": {
            "type": "structure",
            "exception": True,
            "members": {f"m{k}": {"shape": f"E{(n + k) % 40}"} for k in range(30)},
        }
        for n in range(40)
    }
    model = {"metadata": {"protocol": "json"}, "operations": {}, "shapes": shapes}
    (tmp_path / "service-2.json").write_text(json.dumps(model))
    command = ["import", "botocore", "service-2.json", "--out", "taxonomy.yaml"]
    code, megabytes = peak_of([*PROGRAM, *command], tmp_path)
    assert code == 0
    assert "size" in (tmp_path / "output").read_text()
    assert megabytes <= MEGABYTES


#: The second is the law of the page on imports; both use eleven kilobytes a code.
@pytest.mark.parametrize("size", [5_000, pytest.param(20_000, marks=pytest.mark.full)])
def test_protos_with_many_reasons_take_little_memory(size: int, tmp_path: Path) -> None:
    """Twelve kilobytes a code beside the 40 MB of the program: 280 MB at 20,000."""
    pytest.importorskip("grpc_tools")
    (tmp_path / "reasons.proto").write_text(reasons(size))
    code, megabytes = peak_of(
        [*PROGRAM, "import", "proto", "reasons.proto", "--out", "taxonomy.yaml"], tmp_path
    )
    assert code == 0
    assert megabytes <= 40 + size * 12e-3


_names = st.sampled_from(["a", "b"])
_schemas = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "object", "strange", 3]),
            "minimum": st.sampled_from([1, "one"]),
            "required": st.sampled_from([["a"], ["a", "a"], "a"]),
            "enum": st.sampled_from([["a"], 1]),
        },
    )
    | st.sampled_from([True, False, 3, None, "x"]),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.just("object"),
            "properties": st.dictionaries(_names, inner) | st.just([]),
            "patternProperties": st.dictionaries(st.sampled_from(["a", "("]), inner),
            "allOf": st.lists(inner, max_size=2) | st.just({}),
            "prefixItems": st.lists(inner, max_size=2),
            "items": inner,
            "not": inner,
            "dependentSchemas": st.dictionaries(_names, inner),
        },
    ),
    max_leaves=6,
)


@examples(200)
@given(_schemas.filter(lambda schema: isinstance(schema, dict)))
def test_a_schema_is_valid_if_each_part_of_it_is(schema: Any) -> None:
    """The check in parts refuses what the check of the whole refuses, and nothing else."""
    try:
        Draft202012Validator.check_schema(schema)
        valid = True
    except SchemaError:
        valid = False
    assert (foreign_schema_problem(schema) is None) == valid
