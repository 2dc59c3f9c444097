"""The idempotency key that a request carries, wherever it is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.contract.keys import carried_key, with_carried_key
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.runtime.keys import KeyPlace, put_key
from support.examples import examples

JSON = ("Content-Type", "application/json")
FORM = ("Content-Type", "application/x-www-form-urlencoded")
PLACES = [
    KeyPlace("header", "Idempotency-Key"),
    KeyPlace("path", "key"),
    KeyPlace("query", "request_id"),
    KeyPlace("body", "/client/token"),
]


def exchange(request: Request) -> Exchange:
    """A request to `/shops/{shop}/payments/{key}`."""
    return Exchange(request, Response(201), route="/shops/{shop}/payments/{key}")


CARRYING = exchange(
    Request(
        "PUT",
        "/shops/a%2Fb/payments/first?page=1&request_id=first",
        (("idempotency-key", "first"), JSON),
        json.dumps({"amount": 1, "client": {"token": "first"}}, separators=(",", ":")).encode(),
    )
)
BARE = Exchange(Request("PUT", "/shops?page=1", (JSON,), b"{}"), Response(201), route="/shops")


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.kind)
@examples(50)
@given(key=st.text(st.characters(codec="ascii", min_codepoint=33, max_codepoint=126), min_size=1))
def test_a_request_under_another_key_carries_it_and_is_otherwise_the_same(
    place: KeyPlace, key: str
) -> None:
    """The new key is read back, the first one restores the request, and other places stay."""
    changed = with_carried_key(place, CARRYING, key)
    assert carried_key(place, changed) == key
    assert {each: carried_key(each, changed) for each in PLACES if each != place} == {
        each: "first" for each in PLACES if each != place
    }
    assert with_carried_key(place, changed, "first") == CARRYING


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.kind)
def test_a_request_without_a_key_stays_without(place: KeyPlace) -> None:
    """No key is read, and none is added."""
    assert carried_key(place, BARE) is None
    assert with_carried_key(place, BARE, "other") == BARE


def test_forms_carry_keys() -> None:
    """A member of a form is read and replaced like one of JSON."""
    place, form = KeyPlace("body", "/ClientToken"), (FORM,)
    sent = exchange(Request("POST", "/", form, b"Action=Run&ClientToken=first"))
    changed = with_carried_key(place, sent, "a b")
    assert carried_key(place, sent) == "first"
    assert changed.request.body == b"Action=Run&ClientToken=a+b"


def test_a_key_is_put_into_its_part_of_a_request() -> None:
    """Headers have no case, objects on the way to a member are made, and the part stays."""
    header, body = KeyPlace("header", "Idempotency-Key"), KeyPlace("body", "/a~1b/token")
    assert put_key(header, {"idempotency-key": "x", "A": "1"}, "k") == {
        "A": "1",
        "Idempotency-Key": "k",
    }
    part = {"a/b": 1, "c": 2}
    assert put_key(body, part, "k") == {"a/b": {"token": "k"}, "c": 2}
    assert part == {"a/b": 1, "c": 2}
