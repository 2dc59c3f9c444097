"""Drafts are the same each time, whatever ids and times the service makes."""

import re
import uuid
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.exchange.model import Exchange, Request, Response
from faultspec.openapi.service import Description
from faultspec_conformance.learning.answers import (
    ErrorAnswer,
    group_shapes,
    read_errors,
    text_shape,
)
from faultspec_conformance.learning.draft import draft_taxonomy, write_draft
from faultspec_conformance.learning.fixed_values import fix_values
from support.examples import examples

LEARNED = Description(
    document={"openapi": "3.1.0", "paths": {"/a": {"get": {}}, "/b": {"get": {}}}}, learned=True
)

#: Values that differ each time, and the form that stays.
RANDOM: dict[str, tuple[st.SearchStrategy[str], str]] = {
    "a UUID": (st.uuids(version=4).map(str), r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}"),
    "a UUID of version 7": (
        st.uuids(version=4).map(lambda each: f"{str(each)[:14]}7{str(each)[15:]}"),
        r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}",
    ),
    "a ULID": (st.from_regex(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", fullmatch=True), r"[0-7][0-9A-Z]{25}"),
    "a trace id": (st.from_regex(r"[0-9a-f]{30}[a-f][0-9]", fullmatch=True), r"[0-9a-f]{32}"),
    "a time": (
        st.datetimes().map(lambda each: each.replace(microsecond=1).isoformat() + "Z"),
        r"2026-\d\d-\d\dT[\d:]{8}\.\d{6}Z",
    ),
    "a prefixed id": (
        st.from_regex(r"req_[0-9a-z]{14}[0-9][g-z]", fullmatch=True),
        r"req_[0-9a-z]{16}",
    ),
}


@pytest.mark.parametrize("name", RANDOM)
@pytest.mark.parametrize("around", ["{}", "no item {} here"])
def test_a_random_value_is_fixed_in_its_form(name: str, around: str) -> None:
    """Two random values become one of the same form, alone and within a text."""
    values, form = RANDOM[name]

    @examples(50)
    @given(values, values)
    def check(one: str, other: str) -> None:
        fixed = fix_values(around.format(one))
        assert fixed == fix_values(around.format(other))
        assert re.fullmatch(around.format(form), str(fixed))

    check()


@pytest.mark.parametrize(
    "value",
    ["no_item", "E1001", "validation_failed", "deadbeef", "20240101", "/items/17", 17, True, None],
)
def test_words_codes_and_numbers_stay(value: object) -> None:
    """A value that a service always answers stays as it is."""
    assert fix_values({"a": [value]}) == {"a": [value]}


def test_times_as_numbers_are_fixed() -> None:
    """Seconds and milliseconds since 1970 become those of one time, of the same type."""
    assert fix_values([1_764_000_000, 1_764_000_000_123, 1_764_000_000.5]) == [
        1_767_225_600,
        1_767_225_600_000,
        1_767_225_600.0,
    ]


def drafted(make: Callable[[], str]) -> str:
    """The text of a draft from two errors with new ids."""
    seen = [
        ErrorAnswer(place, 404, "application/json", {"code": code, "message": "m", "id": make()})
        for place, code in (("GET /a", "no_a"), ("GET /b", "no_b"))
    ]
    return write_draft(draft_taxonomy(LEARNED, group_shapes(seen), {}), seen, "here", "s.json")


def test_a_service_has_one_draft() -> None:
    """The same service gives the same draft, whatever ids it makes."""
    assert drafted(lambda: str(uuid.uuid4())) == drafted(lambda: str(uuid.uuid4()))


def test_codes_of_a_header_have_their_own_examples() -> None:
    """Of two codes of one status that a header names, each has the bodies that came with it."""
    media = "application/json"
    seen = [
        ErrorAnswer("GET /a", 400, media, {"detail": text}, codes=(("X-Error-Code", code),))
        for code, text in (("BAD_QUERY", "the query"), ("BAD_LIMIT", "the limit"))
    ]
    codes = draft_taxonomy(LEARNED, group_shapes(seen), {}).data["codes"]
    assert codes["BAD_QUERY"]["example"] == {"message": "the query"}
    assert codes["BAD_LIMIT"]["example"] == {"message": "the limit"}


def test_plain_texts_are_drafted() -> None:
    """Errors that are plain texts, as Go's `http.Error` writes them, have an envelope: the text is
    the message, and the status the code.
    """
    exchange = Exchange(
        Request("GET", "/a"),
        Response(404, (("Content-Type", "text/plain; charset=utf-8"),), b"no such row\n"),
        operation="GET /a",
    )
    shape = text_shape(read_errors([(exchange, False)]))
    assert shape is not None
    data = draft_taxonomy(LEARNED, [shape], {}).data
    assert data["envelopes"]["error"]["shape"] == "$message"
    assert data["envelopes"]["error"]["media_type"] == "text/plain"
    assert data["codes"]["not_found"]["example"] == {"message": "no such row"}
