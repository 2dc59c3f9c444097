"""Laws of patterns of operations in the conformance file."""

import re
import time

from hypothesis import given
from hypothesis import strategies as st

from faultspec_conformance.config.model import OperationPattern

PIECES = st.sampled_from(["/", "a", "b", "*", "{id}"])
PATHS = st.text(alphabet="/ab", max_size=8)


@given(st.lists(PIECES, max_size=6).map("".join), PATHS)
def test_a_pattern_matches_as_its_plain_expression_does(written: str, path: str) -> None:
    """`*` is any text and a placeholder one segment, whatever stands between them."""
    parts = re.split(r"((?:{id})+|\*)", written)
    expressions = {"*": ".*", "{": "[^/]+"}
    plain = "".join(expressions.get(part[:1], re.escape(part)) for part in parts)
    expected = re.fullmatch(plain, path) is not None
    assert OperationPattern(f"GET {written}").matches("GET", path) == expected


def test_many_wildcards_cost_no_more() -> None:
    """A pattern of forty `*` and a long path are compared about as fast as one `*`."""

    def seconds(pattern: str) -> float:
        began = time.process_time()
        assert not OperationPattern(pattern).matches("GET", "/" + "a" * 2_000)
        return time.process_time() - began

    one = max(seconds("GET /*b"), 0.001)
    assert seconds("GET /" + "*a" * 40 + "b") < 100 * one
