"""Laws of `faultspec.language.values`: its verdict and places are those of JSON Schema."""

import tracemalloc
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.language import formats, values
from faultspec.language.model import DetailMember, Schema

NAMES = st.sampled_from(["a", "b", "c"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.sampled_from([0.5, 1.0, 2.5])
    | st.text("ab", max_size=4)
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
TYPES = st.lists(
    st.sampled_from(["string", "integer", "number", "boolean", "object", "array", "null"]),
    max_size=3,
    unique=True,
)


def schemas(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    """Schemas whose parts are `inner`."""
    members = st.dictionaries(
        NAMES,
        st.builds(
            lambda s, p: (s, p), inner, st.sampled_from(["required", "expected", "optional"])
        ),
        max_size=3,
    )
    return st.builds(
        lambda types, enum, low, high, shortest, longest, pattern, items, properties, additional: (
            Schema(
                types=tuple(types),
                enum=tuple(enum),
                minimum=low,
                maximum=high,
                min_length=shortest,
                max_length=longest,
                pattern=pattern,
                items=items,
                properties={
                    name: DetailMember(name, schema, presence)
                    for name, (schema, presence) in properties.items()
                },
                additional=additional,
            )
        ),
        TYPES,
        st.lists(SCALARS, max_size=2),
        st.none() | st.integers(-3, 3),
        st.none() | st.integers(-3, 3),
        st.none() | st.integers(0, 3),
        st.none() | st.integers(0, 3),
        st.none() | st.sampled_from(["^a", "b", "^[ab]+$"]),
        st.none() | inner,
        members,
        st.sampled_from(["forbid", "warn", "allow"]),
    )


SCHEMAS = st.recursive(schemas(st.just(Schema())), schemas, max_leaves=4)


def as_json_schema(schema: Schema) -> dict[str, Any]:
    """The same schema in JSON Schema, written by hand so that no misreading is shared."""
    found: dict[str, Any] = {}
    if schema.types:
        found["type"] = list(schema.types)
    if schema.enum:
        found["enum"] = list(schema.enum)
    for name, value in (
        ("minimum", schema.minimum),
        ("maximum", schema.maximum),
        ("minLength", schema.min_length),
        ("maxLength", schema.max_length),
        ("pattern", schema.pattern),
    ):
        if value is not None:
            found[name] = value
    if schema.items is not None:
        found["items"] = as_json_schema(schema.items)
    if schema.properties:
        found["properties"] = {
            name: as_json_schema(each.schema) for name, each in schema.properties.items()
        }
        found["required"] = [
            name for name, each in schema.properties.items() if each.presence == "required"
        ]
    if schema.additional == "forbid":
        found["additionalProperties"] = False
    return found


@given(SCHEMAS, JSON)
def test_the_verdict_is_that_of_json_schema(schema: Schema, value: Any) -> None:
    """A value has an error exactly if JSON Schema 2020-12 refuses it; a recommendation never is
    one.
    """
    errors = [each for each in values.check_value(schema, value) if each.severity == "error"]
    assert (not errors) == jsonschema.Draft202012Validator(as_json_schema(schema)).is_valid(
        value
    ), errors


@given(SCHEMAS, JSON)
def test_every_misfit_is_somewhere(schema: Schema, value: Any) -> None:
    """The path of a problem leads to a part of the value, or of a missing member; its pointer is
    that path.
    """
    for misfit in values.check_value(schema, value):
        part = value
        for step in misfit.path[:-1]:
            part = part[step]
        if misfit.path:
            there = range(len(part)) if isinstance(part, list) else part
            assert (misfit.path[-1] in there) == (misfit.keyword != "missing")
        assert misfit.pointer == "".join(f"/{step}" for step in misfit.path)
        assert misfit.problem


def test_recommendations_are_warnings() -> None:
    """An `expected` member that is missing and an undeclared one under `warn` are warnings."""
    schema = Schema(
        types=("object",),
        properties={"a": DetailMember("a", Schema(), "expected")},
        additional="warn",
    )
    assert [(each.severity, each.pointer) for each in values.check_value(schema, {"b~/": 1})] == [
        ("warning", "/b~0~1"),
        ("warning", "/a"),
    ]


def test_a_forbidden_member_is_an_error() -> None:
    """A forbidden member is reported at its place."""
    schema = Schema(properties={"a": DetailMember("a", Schema(), "forbidden")})
    assert [each.pointer for each in values.check_value(schema, {"a": 1})] == ["/a"]


@pytest.mark.parametrize(
    ("format", "good", "bad"),
    [
        ("uuid7", "0190b2a4-7c1e-7d3a-9f00-3b5f3a8e6c11", "0190b2a4-7c1e-4d3a-9f00-3b5f3a8e6c11"),
        ("date-time", "2026-02-03T04:05:06Z", "2026-02-03"),
        ("date-time", "2026-02-03T04:05:06.25+01:00", "2026-13-03T04:05:06Z"),
        ("date", "2026-02-03", "2026-2-3"),
        ("uri", "https://errors.example.com/a", "errors"),
        ("email", "a@example.com", "a"),
        ("retry-after", "8", "-8"),
        ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET"),
        ("etag", 'W/"a"', "a"),
        ("http-date", "Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06"),
        ("methods", "GET, HEAD", "GET; HEAD"),
        ("methods", "", "()"),
        ("challenge", 'Bearer realm="api"', '"Bearer"'),
        ("challenge", "Bearer", ""),
    ],
)
def test_formats(format: str, good: str, bad: str) -> None:
    """Each format accepts the strings that its standard accepts."""
    assert formats.format_problem((format,), good) is None
    assert formats.format_problem((format,), bad)


def test_any_of_several_formats_is_enough() -> None:
    """A list of formats allows any of them; an unknown format allows every text."""
    assert formats.format_problem(("uuid7", "ulid"), "01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T") is None
    assert formats.format_problem(("uuid7", "made-up"), "anything") is None


def test_vocabularies_are_asked() -> None:
    """A text outside the vocabulary of its schema is a problem; one inside is not."""
    schema = Schema(types=("string",), vocabulary="actions")
    known = {"actions": ("wait", "fix")}
    assert list(values.check_value(schema, "wait", known)) == []
    assert [each.keyword for each in values.check_value(schema, "wiat", known)] == ["vocabulary"]


@pytest.mark.parametrize(
    ("schema", "value", "pointers"),
    [
        ({"type": "object", "required": ["a"]}, {}, [""]),
        ({"properties": {"a": {"items": {"type": "integer"}}}}, {"a": [1, "x"]}, ["/a/1"]),
        (True, {"a": 1}, []),
        ({"$ref": "https://example.com/other.json"}, 1, [""]),
        ({"$ref": "#"}, 1, [""]),
        ({"pattern": "("}, "x", [""]),
    ],
)
def test_imported_schemas_are_applied_without_leaving_the_machine(
    schema: Any, value: Any, pointers: list[str]
) -> None:
    """`jsonschema` checks an imported schema; an unknown reference is a problem, never a
    request.
    """
    assert [each.pointer for each in values.check_value(Schema(opaque=schema), value)] == pointers


#: A text whose copies would be seen in the memory.
_LONG = "a" * 200_000

_MANY = [{"type": "integer", "title": str(number)} for number in range(300)]


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": _MANY},
        {"anyOf": [{"allOf": _MANY}]},
        {"oneOf": [{"anyOf": [{"allOf": _MANY}]}, False]},
        {"allOf": [False] * 300},
        {"$schema": "http://json-schema.org/draft-03/schema#", "type": _MANY},
    ],
)
def test_breaches_of_imported_schemas_are_bounded(schema: Any) -> None:
    """A message of `jsonschema` repeats the value, and is not kept, however many there are."""
    tracemalloc.start()
    try:
        found = list(values.imported_problems(schema, _LONG))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0 < len(found) <= 100
    assert all(len(problem.problem) < 200 for problem in found)
    assert peak < 20 * len(_LONG)


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"anyOf": [{"type": "string"}, {"minimum": 3}]}, [3, "x"], [2]),
        ({"oneOf": [{"type": "integer"}, {"minimum": 3}]}, [1, 3.5], [3, 2.5]),
        ({"type": ["string", {"minimum": 3}]}, [3, "x"], [2]),
        ({"type": "any"}, [3, "x"], []),
    ],
)
def test_alternatives_of_imported_schemas_mean_what_they_mean_elsewhere(
    schema: Any, right: list[object], wrong: list[object]
) -> None:
    """`anyOf`, `oneOf` and the `type` of Draft 3 accept what the specifications say."""
    schema = {"$schema": "http://json-schema.org/draft-03/schema#", **schema}
    if "type" not in schema:
        del schema["$schema"]
    assert not [value for value in right if [*values.imported_problems(schema, value)]]
    assert [len([*values.imported_problems(schema, value)]) for value in wrong] == [1] * len(wrong)
