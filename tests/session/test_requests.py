"""Laws of requests as values: what goes on the wire depends on the value, the caller and the
correlation id alone.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec_conformance.config import NOBODY, Identity
from faultspec_conformance.session.requests import RequestSpec, wire_request

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
