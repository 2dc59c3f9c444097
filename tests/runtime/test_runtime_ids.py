"""Laws of identifier formats."""

import uuid

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from faultspec.runtime.ids import FORMATS, PATTERNS, matches, new

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

entropies = st.sampled_from(
    [lambda n: b"\x00" * n, lambda n: b"\xff" * n, lambda n: bytes(range(n))]
)
moments = st.floats(min_value=1_400_000_000, max_value=4_000_000_000)
near_misses = st.one_of(
    st.text(max_size=40),
    st.uuids().map(str),
    st.uuids().map(lambda each: str(each).upper()),
    st.from_regex(r"[0-9A-Z]{26}", fullmatch=True),
    st.from_regex(r"\A00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}\Z"),
    st.builds(
        lambda name, end: new(name) + end,
        st.sampled_from(sorted(FORMATS)),
        st.sampled_from(["", "\n", " ", "x", "é"]),
    ),
)


@given(near_misses)
@example("00000000-0000-0000-0000-000000000000")
@example("ffffffff-ffff-ffff-ffff-ffffffffffff")
@example("01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T")
def test_patterns_and_formats_agree(value):
    """A JSON Schema with the pattern accepts what the format accepts; only Python's `$` sees past a
    last newline.
    """
    for name, pattern in PATTERNS.items():
        accepted = Draft202012Validator({"pattern": pattern}).is_valid(
            value
        ) and not value.endswith("\n")
        assert FORMATS[name](value) == accepted, name


@given(st.uuids() | st.binary(min_size=16, max_size=16).map(lambda raw: uuid.UUID(bytes=raw)))
def test_uuids_are_those_of_rfc_9562(value):
    """Variant and version decide, as the standard library reads them; Nil and Max are UUIDs of no
    version.
    """
    text = str(value)
    standard = value.variant == uuid.RFC_4122
    extremes = value.int in (0, 2**128 - 1)
    assert FORMATS["uuid"](text) == (extremes or (standard and value.version in range(1, 9)))
    assert FORMATS["uuid4"](text) == (standard and value.version == 4)
    assert FORMATS["uuid7"](text) == (standard and value.version == 7)
    assert FORMATS["uuid7"](text.upper()) == FORMATS["uuid7"](text)


@given(st.integers(min_value=0, max_value=2**130 - 1))
def test_ulids_are_128_bits(number):
    """26 Crockford characters hold 130 bits; what exceeds 128 is no ULID. Either case is read."""
    digits = "".join(CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5))
    assert FORMATS["ulid"](digits) == (number < 2**128)
    assert FORMATS["ulid"](digits.lower()) == FORMATS["ulid"](digits)


@pytest.mark.parametrize("name", FORMATS)
@given(moments, entropies)
def test_a_new_identifier_has_its_format(name, now, entropy):
    """`matches` accepts every id that `new` makes, with any clock and entropy; so every format can
    be made.
    """
    made = new(name, clock=lambda: now, entropy=entropy)
    assert matches([name], made)
    assert made.isascii()


@pytest.mark.parametrize("name", FORMATS)
def test_new_identifiers_differ(name):
    """A thousand in a row are a thousand."""
    assert len({new(name) for _ in range(1000)}) == 1000


@pytest.mark.parametrize("name", ["uuid7", "ulid", "ksuid"])
@given(moments, st.integers(min_value=1, max_value=10**6))
def test_identifiers_that_begin_with_the_time_sort_by_it(name, now, later):
    """A later second gives a greater text, whatever the entropy."""
    first = new(name, clock=lambda: now, entropy=lambda n: b"\xff" * n)
    second = new(name, clock=lambda: now + later, entropy=lambda n: b"\x00" * n)
    assert first < second


def test_a_uuid7_holds_the_milliseconds():
    """The example of RFC 9562, appendix A.6."""
    tail = bytes.fromhex("0CC318C4DC0C0C07398F")
    made = new("uuid7", clock=lambda: 0x017F22E279B0 / 1000, entropy=lambda n: tail)
    assert made == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("uuid", "017F22E2-79B0-9CC3-98C4-DC0C0C07398F"),
        ("uuid", "{017F22E2-79B0-7CC3-98C4-DC0C0C07398F}"),
        ("uuid7", "017F22E279B07CC398C4DC0C0C07398F"),
        ("uuid7", "017f22e2-79b0-4cc3-98c4-dc0c0c07398f"),
        ("uuid7", "017f22e2-79b0-7cc3-78c4-dc0c0c07398f"),
        ("ulid", "81JAH8ZJ0Z8Z0N7M1X6JZ8QW0T"),
        ("ulid", "01JAH8ZJ0Z8Z0N7M1X6JZ8QW0I"),
        ("ulid", "01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T\n"),
        ("traceparent", "00-00000000000000000000000000000000-b7ad6b7169203331-01"),
        ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"),
        ("traceparent", "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ("traceparent", "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01"),
        ("token", ""),
        ("token", "a b"),
        ("token", "a\r\nb"),
        ("token", "é"),
        ("ulid", "٠١JAH8ZJ0Z8Z0N7M1X6JZ8QW0"),
    ],
)
def test_near_misses_are_refused(name, value):
    """Wrong version, variant, alphabet, case where case counts, and anything that could split a
    header.
    """
    assert not matches([name], value)


def test_one_format_of_several_is_enough():
    """A field that allows UUIDv7 and ULID takes either and nothing else."""
    assert matches(["uuid7", "ulid"], "01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T")
    assert matches(["uuid7", "ulid"], "017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
    assert not matches(["uuid7", "ulid"], "6ba7b810-9dad-41d1-80b4-00c04fd430c8")
    assert not matches([], "anything")


def test_a_format_that_does_not_exist_is_named():
    """The error lists the known formats."""
    with pytest.raises(ValueError, match=r"no format called 'uuid9' \(formats: uuid, uuid4"):
        new("uuid9")
