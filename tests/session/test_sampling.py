"""Sampled values obey their schemas, violations do not, and new values differ."""

import re
from random import Random

import jsonschema
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from faultspec.runtime import ids
from faultspec_conformance.session import sampling
from faultspec_conformance.session.sampling.patterns import compiles
from faultspec_conformance.session.sampling.tokens import seed_tokens
from support.examples import examples


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
    assert isinstance(sampling.sample_value(source, {"$ref": "#/components/schemas/Node"}), dict)
    assert isinstance(sampling.sample_value(source, {"$ref": "#/components/schemas/Loop"}), str)


def test_a_token_never_looks_like_a_number() -> None:
    """Every token has a letter, so each is long enough to be recognised in an answer. Of tokens
    drawn blindly one in a hundred has digits alone.
    """
    source = sampling.ValueSource({}, Random(1), seed_tokens("tokens"))
    assert not [token for token in (source.token() for _ in range(2000)) if token.isdigit()]


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
    """A sampled value is valid under its schema; every violation is not."""
    source = sampling.ValueSource({}, Random(7))
    for _ in range(20):
        value = sampling.sample_value(source, schema)
        jsonschema.validate(value, schema)
        for violation in sampling.violations(source, schema, value, "mark-1"):
            # The only format that jsonschema checks without another package.
            checker = None if violation.sure else jsonschema.FormatChecker(["email"])
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(violation.body, schema, format_checker=checker)
            assert violation.what


@pytest.mark.parametrize(
    "pattern",
    [
        r"^[A-Z]{3}$",
        r"\S",
        r"^(foo|bar)-\d+$",
        r"^[a-f0-9]{8}(-[a-f0-9]{4}){3}$",
        r"^\w+@\w+\.com$",
        r"^[^a-z]{2}$",
        r"^(?:v|w\.)[0-9]+?\b-x$",
        "^[!-\uffff]{2,}[^x]*$",
    ],
)
def test_sampled_texts_match_their_pattern(pattern: str) -> None:
    """A sampled text matches its pattern."""
    source = sampling.ValueSource({}, Random(3))
    for _ in range(20):
        made = sampling.sample_match(source, pattern)
        assert made is not None
        assert re.search(pattern, made)


CLASSES = {"[A-Z]": 1, "[a-z0-9]": 1, "[0-9]{2}": 2, "x": 1, "(?:ab|cde)": 3, r"\w": 1}


@st.composite
def bounded_patterns(draw: st.DrawFn) -> tuple[str, int, int]:
    """Draw a pattern of repeated pieces, and lengths of which at least one is possible."""
    pattern, most, open_end = "^", 0, False
    for _ in range(draw(st.integers(1, 3))):
        piece = draw(st.sampled_from(sorted(CLASSES)))
        least = draw(st.integers(0, 4))
        extra = draw(st.one_of(st.none(), st.integers(0, 20)))
        pattern += f"(?:{piece}){{{least},{'' if extra is None else least + extra}}}"
        most += CLASSES[piece] * (least + (extra or 0))
        open_end = open_end or extra is None
    first = draw(st.integers(0, 60 if open_end else most))
    # The suite runs no expression that can take long.
    assume(compiles(f"{pattern}$"))
    # The longest piece has three characters, so that one of four lengths is possible.
    return f"{pattern}$", first, max(first, most) + 3


@given(bounded_patterns())
@examples(400)
def test_texts_obey_a_pattern_and_its_lengths(drawn: tuple[str, int, int]) -> None:
    """A sampled text, a new one and one of a secret obey pattern, minLength and maxLength."""
    pattern, least, most = drawn
    schema = {"type": "string", "pattern": pattern, "minLength": least, "maxLength": most}
    source = sampling.ValueSource({}, Random(3))
    made = sampling.sample_match(source, pattern, least, most)
    assert made is not None
    for value in (made, sampling.sample_value(source, schema), sampling.new_value(source, schema)):
        jsonschema.validate(value, schema)
    for secret in sampling.secrets_like(source, schema, "a"):
        jsonschema.validate(secret, schema)


def test_a_pattern_leaves_room_for_new_values() -> None:
    """A new value of a short pattern is as long as a token where the schema allows that, and a
    secret longer.
    """
    schema = {"type": "string", "minLength": 6, "maxLength": 20, "pattern": "^[A-Z0-9]+$"}
    source = sampling.ValueSource({}, Random(3))
    assert len(str(sampling.new_value(source, schema))) >= 10
    assert [len(one) for one in sampling.secrets_like(source, schema, "W0Z9")] == [20]


def test_a_text_beyond_a_pattern_without_ends_is_filled_up() -> None:
    """Where a pattern holds neither end of a text, the text is filled up to its least length."""
    schema = {"type": "string", "minLength": 12, "pattern": "[0-9]"}
    jsonschema.validate(sampling.sample_value(sampling.ValueSource({}, Random(3)), schema), schema)


def test_members_that_break_their_schema_are_named() -> None:
    """The paths of wrong types, lengths, choices and numbers; a valid body has none."""
    schema = SCHEMAS[0]
    assert sampling.invalid_members({}, schema, {"sku": "AB-123", "quantity": 3}) == []
    assert sampling.invalid_members({}, schema, {"sku": "A", "quantity": 3}) == [("sku",)]
    assert sampling.invalid_members({}, schema, {"sku": "AB-123", "quantity": 10}) == [
        ("quantity",)
    ]
    listed = {"type": "array", "items": {"anyOf": [{"enum": ["x"]}, {"type": "integer"}]}}
    assert sampling.invalid_members({}, listed, ["x", 1, "y", None]) == [(2,)]


def test_unsupported_patterns_give_no_text() -> None:
    """A look-ahead, a back-reference or a pattern that Python cannot read gives no text."""
    source = sampling.ValueSource({}, Random(3))
    assert sampling.sample_match(source, r"^(?=a)b$") is None
    assert sampling.sample_match(source, r"(a)\1") is None
    assert sampling.sample_match(source, r"\p{Lu}") is None
    assert sampling.sample_match(source, "a{2,1}") is None


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
def test_another_id_has_the_same_format(identifier: object) -> None:
    """Another id differs from the given one, and has the same format."""
    source = sampling.ValueSource({}, Random(5))
    other = sampling.other_identifier(source, identifier)
    assert other != identifier
    assert type(other) is type(identifier)
    if isinstance(identifier, str):
        for name in ("uuid4", "uuid7", "ulid"):
            assert ids.FORMATS[name](str(other)) or not ids.FORMATS[name](identifier)
        assert str(other).split("_")[0].isalpha() == identifier.split("_")[0].isalpha()


def test_fresh_values_differ() -> None:
    """Two sampled bodies differ in their free texts."""
    source = sampling.ValueSource({}, Random(5))
    schema = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
    assert sampling.sample_value(source, schema) != sampling.sample_value(source, schema)
    assert sampling.vary(source, schema, {"name": "Tea"}) != {"name": "Tea"}
    assert sampling.vary(
        source, {"properties": {"currency": {"enum": ["EUR"]}}}, {"currency": "EUR"}
    ) == {"currency": "EUR"}
