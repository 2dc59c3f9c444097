"""Routes with many free parts match as those with few do, without trying every way."""

import re
import time
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.language.routes import compile_route, write_plain
from support.examples import examples

PARTS = st.lists(
    st.sampled_from(["/", "a", "b", "/a", "a*", "*b", "{x}", "/**/a", "/**/", "b**"]),
    min_size=1,
    max_size=7,
)
PATHS = ["/" + "".join(path) for size in range(7) for path in product("/ab", repeat=size)]


@given(PARTS)
@examples(200)
def test_a_route_claims_the_same_paths_as_its_plain_expression(parts: list[str]) -> None:
    """The plain expression tries every way, which short paths allow."""
    pattern = "".join(["/", *parts])
    pieces = [piece for piece in re.split(r"(/\*\*|\*\*|\*|\{[^}/]*\})", pattern) if piece]
    plain, route = re.compile(write_plain(pieces), re.DOTALL), compile_route(pattern)
    for path in PATHS:
        assert route.claims("GET", [path]) == bool(plain.fullmatch(path)), (pattern, path)


@pytest.mark.parametrize("pattern", ["/" + "*a" * 9 + "*b", "/**/a" * 7 + "/b", "/" + "{x}" * 9])
def test_a_route_with_many_free_parts_is_fast(pattern: str) -> None:
    """Every way takes minutes for a path of 60 characters."""
    began = time.process_time()
    compile_route(pattern).claims("GET", ["/a" * 2000 + "!", "/" + "a" * 4000 + "!"])
    assert time.process_time() - began < 2


def test_braces_that_never_close_are_read_in_one_pass() -> None:
    """An open brace ends the search of the one before it: twice the route, twice the steps."""
    began = time.process_time()
    route = compile_route("/" + "{a." * 20_000)
    assert time.process_time() - began < 2
    assert route.path.fullmatch("/" + "{a." * 20_000)
    assert compile_route("/{a{b}").path.fullmatch("/{a1")
