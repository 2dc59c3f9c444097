"""Laws of the writer: what it writes is read as what was given."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from faultspec.importers.yaml_writer import write_yaml
from faultspec.source import parse
from support.examples import examples

_keys = st.sampled_from(["a", "b c", "/" + "{a}" * 1_000, "l" * 1_100, "w" * 130])
_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5) | st.just("v" * 200),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3),
    max_leaves=8,
)


@examples(300, steady=100)
@given(
    st.dictionaries(
        st.sampled_from(["codes", "operations", "envelopes", *"xy"]), _values, min_size=1
    )
)
def test_what_is_written_is_read_again(data: dict[str, Any]) -> None:
    """Keys of every length and values at every depth come back."""
    document, found = parse(write_yaml(data), "x.yaml")
    assert not found
    assert document is not None
    assert document.data == data
