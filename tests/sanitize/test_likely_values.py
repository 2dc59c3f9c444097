"""Values that a text may contain are found by four characters; none of them is passed over."""

import base64
import json
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from faultspec_conformance.sanitize.encodings import (
    find_beheaded,
    find_truncated,
    find_value,
    unescape_layers,
)
from faultspec_conformance.sanitize.likely_values import select_likely

LETTERS = st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs"))
VALUES = st.lists(st.text(LETTERS, min_size=4, max_size=24), min_size=9, max_size=12, unique=True)
WRITTEN = (
    str,
    str.upper,
    lambda value: quote(value, safe=""),
    lambda value: json.dumps(value),
    lambda value: base64.b64encode(f"ab{value}cd".encode()).decode(),
    lambda value: value.encode().hex(),
    lambda value: value[:-2],
    lambda value: value[:8] + "…",
    lambda value: "…" + value[2:],
)


@given(VALUES, st.data())
def test_whatever_is_found_of_a_value_makes_it_likely(
    values: list[str], data: st.DataObject
) -> None:
    """A value in any encoding, cut or whole, is among the likely ones of a text."""
    parts = data.draw(
        st.lists(
            st.one_of(
                st.text(LETTERS, max_size=12),
                st.builds(
                    lambda value, write: write(value),
                    st.sampled_from(values),
                    st.sampled_from(WRITTEN),
                ),
            ),
            max_size=4,
        )
    )
    layers = unescape_layers(" ".join(parts))
    found = {
        number
        for number, value in enumerate(values)
        if any(find_value(layers, value))
        or any(find_truncated(layers, value))
        or any(find_beheaded(layers, value))
    }
    assert found <= {*select_likely(layers, tuple(values))}


def test_a_text_without_a_value_has_none() -> None:
    """Names of headers have nothing in common with keys, so nothing is searched for in them."""
    keys = tuple(f"key-{number:016x}" for number in range(100))
    assert [*select_likely(unescape_layers("content-type"), keys)] == []
    assert [*select_likely(unescape_layers(f"Bearer {keys[7]}"), keys)] != []
