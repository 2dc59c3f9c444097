"""A constructor refuses the details that the judge would find fault with, and no others."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.language.model import DetailMember, Schema, Taxonomy
from faultspec.language.values import check_value
from faultspec.runtime import ids
from faultspec.runtime.checking import Check, refuse
from faultspec.targets.python.checks import value_check

TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 9),
    st.sampled_from([1.0, 1.5, 2.5]),
    st.sampled_from(["", "a", "ab", "ab\n", "abcdef", "01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T"]),
)
data = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3),
    ),
    max_leaves=6,
)
plain = st.builds(
    Schema,
    types=st.lists(st.sampled_from(TYPES), max_size=3, unique=True).map(tuple),
    enum=st.one_of(st.just(()), st.lists(scalars, min_size=1, max_size=3).map(tuple)),
    minimum=st.one_of(st.none(), st.integers(-1, 3)),
    maximum=st.one_of(st.none(), st.integers(0, 5)),
    min_length=st.one_of(st.none(), st.integers(0, 3)),
    max_length=st.one_of(st.none(), st.integers(0, 3)),
    pattern=st.sampled_from([None, "^a", "^ab$", "b"]),
    format=st.sampled_from(
        [(), ("ulid",), ("uuid7", "ulid"), ("date-time",), ("ulid", "date-time")]
    ),
    description=st.none(),
    vocabulary=st.none(),
    items=st.none(),
    properties=st.just({}),
    additional=st.just("allow"),
    opaque=st.none(),
)


def within(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    """Schemas of lists and objects around others."""
    members = st.dictionaries(
        st.sampled_from(["a", "b"]),
        st.tuples(inner, st.sampled_from(["required", "optional", "expected"])),
        max_size=2,
    )
    named = members.map(
        lambda found: {
            name: DetailMember(name, each, presence) for name, (each, presence) in found.items()
        }
    )
    return st.builds(
        lambda base, items, properties, additional: base._replace(
            items=items, properties=properties, additional=additional
        ),
        plain,
        st.one_of(st.none(), inner),
        named,
        st.sampled_from(["allow", "warn", "forbid"]),
    )


def refused(check: Check, value: object) -> bool:
    """Whether the runtime refuses the value."""
    try:
        refuse(check, value, "it")
    except (TypeError, ValueError):
        return True
    return False


@given(st.recursive(plain, within, max_leaves=3), data)
def test_the_runtime_and_the_judge_agree(schema: Schema, value: Any) -> None:
    """The compiled check refuses exactly the values in which the judge finds an error; what it only
    warns of, and formats beyond those of ids, are not the constructor's business.
    """
    found = any(each.severity == "error" for each in check_value(schema, value, known=ids.PATTERNS))
    assert refused(value_check(schema, NO_TERMS), value) is found


#: A schema without a vocabulary asks no taxonomy.
NO_TERMS: Taxonomy = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("check", "value", "kind", "message"),
    [
        (Check(types=("string",)), 5, TypeError, "it is 5; expected a string"),
        (Check(types=("string", "null")), [], TypeError, r"it is \[\]; expected a string or None"),
        (Check(enum=("a", "b")), "c", ValueError, "it is 'c'; expected one of 'a', 'b'"),
        (Check(min_length=3), "ab", ValueError, "it has 2; expected at least 3 characters"),
        (Check(max_length=1), "ab", ValueError, "it has 2; expected at most 1 characters"),
        (Check(pattern="^a"), "b" * 99, ValueError, "it is 'bbbb.*…; expected '\\^a'"),
        (Check(format=("uuid7", "ulid")), "b", ValueError, "it is 'b'; expected uuid7 or ulid"),
        (Check(minimum=1), 0, ValueError, "it is 0; expected at least 1"),
        (Check(maximum=1), 2, ValueError, "it is 2; expected at most 1"),
        (Check(types=("number",)), float("nan"), ValueError, "it is nan, which JSON cannot write"),
        (Check(items=Check(maximum=1)), [0, 2], ValueError, r"it\[1\] is 2"),
        (Check(members={"a": Check(maximum=1)}), {"a": 2}, ValueError, r"it\['a'\] is 2"),
        (Check(required=("a",)), {}, ValueError, "it lacks 'a'"),
        (Check(closed=True), {"a": 2}, ValueError, "it has 'a', which is not declared"),
    ],
)
def test_a_refusal_says_what_and_why(
    check: Check, value: object, kind: type[Exception], message: str
) -> None:
    """A wrong type is a TypeError, a wrong value a ValueError; both name the place and what was
    expected there.
    """
    with pytest.raises(kind, match=message):
        refuse(check, value, "it")
