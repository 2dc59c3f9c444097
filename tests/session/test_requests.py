"""Laws of requests as values: what goes on the wire depends on the value, the caller and the
correlation id alone.
"""

from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.openapi.service import RequestBody, ServiceOperation
from faultspec_conformance.config import NOBODY, Identity
from faultspec_conformance.session.requests import RequestSpec, wire_request
from faultspec_conformance.session.resources import content_type

ADA = Identity("ada", headers=(("Authorization", "Bearer t"), ("X-Tenant", "north")))


def test_a_later_header_replaces_an_earlier_one() -> None:
    """The order is: defaults, correlation id, identity, request; a value of None removes the
    header.
    """
    headers = {"authorization": None, "x-correlation-id": "mine", "Accept": "text/html"}
    spec = RequestSpec("GET", "/a", headers=headers)
    sent = wire_request(spec, ADA, ("X-Correlation-Id", "c"))
    assert sent.headers == (
        ("User-Agent", "faultspec-conform"),
        ("Accept", "text/html"),
        ("x-correlation-id", "mine"),
        ("X-Tenant", "north"),
    )


@pytest.mark.parametrize(
    ("spec", "target"),
    [
        (RequestSpec("GET", "/a/{id}", values={"id": "x/y"}), "/a/x%2Fy"),
        (RequestSpec("GET", "/a/{id}"), "/a/%7Bid%7D"),
        (RequestSpec("GET", "/a?b=1", query={"c": True}), "/a?b=1&c=true"),
        (RequestSpec("GET", "/a", query={"c": "d e"}), "/a?c=d+e"),
    ],
)
def test_a_target_has_its_values_and_its_query(spec: RequestSpec, target: str) -> None:
    """Placeholders are filled and percent-encoded; the query of the template comes first."""
    assert wire_request(spec, NOBODY, None).target == target


@given(st.binary(max_size=20), st.booleans())
def test_raw_content_is_sent_as_it_is(raw: bytes, typed: bool) -> None:
    """Raw content replaces the body, and has a content type even if it is empty; without content
    there is none.
    """
    spec = RequestSpec(
        "POST", "/a", body={"b": 1}, raw=raw, content_type="text/x" if typed else None
    )
    sent = wire_request(spec, NOBODY, None)
    assert sent.body == raw
    assert ("Content-Type", "text/x") in sent.headers or not typed
    assert not dict(wire_request(RequestSpec("POST", "/a"), NOBODY, None).headers).get(
        "Content-Type"
    )


@given(st.dictionaries(st.text(min_size=1), st.lists(st.text(), min_size=1) | st.text()))
def test_a_body_of_a_form_is_a_form(members: dict[str, str | list[str]]) -> None:
    """Every text comes out of the form as it went in; a list repeats its field."""
    headers = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
    spec = RequestSpec("POST", "/a", headers=headers, body=members)
    sent = wire_request(spec, NOBODY, None)
    expected = {key: [it] if isinstance(it, str) else it for key, it in members.items()}
    assert parse_qs(sent.body.decode(), keep_blank_values=True) == expected
    assert ("Content-Type", headers["Content-Type"]) in sent.headers


def test_other_values_of_a_form() -> None:
    """Booleans and numbers are written as in JSON, and objects are JSON."""
    spec = RequestSpec(
        "POST",
        "/a",
        body={"a": True, "b": 2, "c": {"d": [1]}},
        content_type="application/x-www-form-urlencoded",
    )
    sent = wire_request(spec, NOBODY, None)
    assert parse_qs(sent.body.decode()) == {"a": ["true"], "b": ["2"], "c": ['{"d": [1]}']}


@pytest.mark.parametrize(
    ("offered", "sent"),
    [
        (("application/xml", "application/x-www-form-urlencoded"), "form"),
        (("application/x-www-form-urlencoded", "application/merge-patch+json"), "json"),
        (("application/xml",), "json"),
    ],
)
def test_an_operation_that_takes_forms_only_gets_one(offered: tuple[str, ...], sent: str) -> None:
    """JSON comes before forms; without either the body is JSON."""
    operation = ServiceOperation("POST", "/a", body=RequestBody(offered, True, {}))
    assert sent in content_type(operation)
