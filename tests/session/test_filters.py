"""Filters of lists: which parameters are filters, and which items fit."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.openapi.service import OperationParameter, ServiceOperation, read
from faultspec_conformance.config import PagesConfig
from faultspec_conformance.session.filters import ListFilter, find_filters, range_of
from faultspec_conformance.session.next_pages import paging_of

NOTHING = read({"openapi": "3.1.0", "paths": {}})
ITEM = {"status": "open", "grams": 5, "created_at": "2026-01-01T00:00:00Z", "tags": ["a"]}


def filters(**schemas: Mapping[str, object]) -> dict[str, ListFilter]:
    """The filters of a list with these parameters, by their names."""
    parameters = tuple(
        OperationParameter(name, "query", False, schema) for name, schema in schemas.items()
    )
    listing = ServiceOperation("GET", "/things", parameters)
    found = find_filters(NOTHING, listing, paging_of(listing, PagesConfig()), [ITEM])
    return {one.name: one for one in found}


@pytest.mark.parametrize(
    ("name", "member", "relation"),
    [
        ("status", "status", "equal"),
        ("Status", "status", "equal"),
        ("tags", "tags", "equal"),
        ("min_grams", "grams", "least"),
        ("gramsMin", None, None),
        ("grams_max", "grams", "most"),
        ("grams[gte]", "grams", "least"),
        ("max-grams", "grams", "most"),
        ("created_after", "created_at", "least"),
        ("until_created", "created_at", "most"),
        ("limit", None, None),
        ("after", None, None),
        ("minimum", None, None),
        ("q", None, None),
    ],
)
def test_a_parameter_filters_by_its_name(
    name: str, member: str | None, relation: str | None
) -> None:
    """A filter is called like a member, or like its least or most; pages and searches are not."""
    found = filters(**{name: {"type": "string"}}).get(name)
    assert (found and found.member, found and found.relation) == (member, relation)


def test_choices_booleans_and_ids_are_exact() -> None:
    """Other texts may be searched for in a part."""
    found = filters(status={"enum": ["open"]}, tags={"type": "array", "items": {"type": "string"}})
    assert (found["status"].exact, found["tags"].exact) == (True, False)


@given(st.integers(), st.integers())
def test_a_range_fits_its_side(held: int, bound: int) -> None:
    """A number fits a least or most value on one side of it, and at the bound where its name says
    so: `after` may leave out what is exactly then.
    """
    for name, is_least, at_bound in (
        ("min_grams", True, True),
        ("maximum-grams", False, True),
        ("grams[gte]", True, True),
        ("grams_le", False, True),
        ("grams_after", True, None),
        ("grams[lt]", False, None),
    ):
        fits = filters(**{name: {"type": "integer"}})[name].fits({"grams": held}, bound)
        expected = at_bound if float(held) == float(bound) else (held > bound) == is_least
        assert fits is expected


@pytest.mark.parametrize("held", ["2026-12-01T10:00:00Z", 12.35])
def test_a_bound_that_an_answer_may_have_rounded_is_not_known(held: object) -> None:
    """A service compares times and decimals that it shows shorter than it knows them."""
    found = filters(max_grams={"type": "string"})["max_grams"]
    assert found.fits({"grams": held}, held) is None


def test_what_cannot_be_compared_is_not_known() -> None:
    """A missing member, an object, and a text beside a number decide nothing."""
    found = filters(status={"type": "string"}, min_grams={"type": "integer"})
    assert found["status"].fits({}, "open") is None
    assert found["status"].fits({"status": {"a": 1}}, "open") is None
    assert found["min_grams"].fits({"grams": "heavy"}, 5) is None
    assert found["min_grams"].fits({"grams": "2026-01-01"}, 5) is None
    assert range_of("grams") == (None, "")


def test_an_optional_parameter_filters_like_a_required_one() -> None:
    """A choice that may be null, as generators write it with `anyOf`, is exact and has its values;
    so have the items of an optional list.
    """
    choice = {"anyOf": [{"enum": ["open"]}, {"type": "null"}]}
    items = {"anyOf": [{"type": "array", "items": choice}, {"type": "null"}]}
    found = filters(status=choice, tags=items)
    for name in ("status", "tags"):
        assert (found[name].exact, found[name].schema.get("enum")) == (True, ["open"])
