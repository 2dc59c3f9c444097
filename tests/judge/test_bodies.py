"""Bodies are read within bounds."""

import json

import pytest

from faultspec.exchange.body import MOST, read
from faultspec_conformance.session.observation import parse_body


@pytest.mark.parametrize("values", [MOST // 2, 2 * MOST])
def test_a_body_with_too_many_values_is_not_parsed(values: int) -> None:
    """A body has at most so many values, for the judge and for probes alike."""
    body = json.dumps([1] * values).encode()
    is_read = values < MOST
    assert (read(body).problem is None) is is_read
    assert (parse_body(body) is not None) is is_read


def test_a_long_text_is_one_value() -> None:
    """The bound is on values, not on bytes."""
    assert read(json.dumps({"text": "x" * 2 * MOST}).encode()).problem is None
