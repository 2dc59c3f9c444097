"""Routes with many free parts match as those with few do, without trying every way."""

import json
import random
import re
import subprocess
import time
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.language.routes import compile_route, ecmascript_route, write_plain
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


#: Routes that backtracking engines try in many ways.
SLOW = ["/" + "*a" * 9 + "*b", "/**/a" * 7 + "/b", "/x/{a}-{b}-{c}-{d}/y", "/**/q/**/r/**/s"]

#: It prints which paths each expression matches, as the generated boundary asks it.
CLAIMS = """
const [expressions, paths] = JSON.parse(require("fs").readFileSync(0, "utf8"));
const claims = (expression) => {
  const route = new RegExp(`^(?:${expression})$`, "s");
  return paths.map((path) => route.test(path));
};
console.log(JSON.stringify(expressions.map(claims)));
"""


def test_a_route_of_generated_typescript_claims_the_same_paths_in_time() -> None:
    """Node matches the paths that Python matches, and long paths as fast."""
    choose = random.Random(7)
    parts = ["/", "a", "b", "/a", "a*", "*b", "{x}", "/**/a", "/**/", "b**"]
    patterns = ["/" + "".join(choose.choices(parts, k=choose.randint(1, 7))) for _ in range(300)]
    patterns += SLOW
    hostile = ["/x/" + "-" * 4000, "/a" * 2000 + "!", "/" + "a" * 4000, "/q" * 2000 + "/r" * 2000]
    paths = PATHS + hostile
    given = json.dumps([[ecmascript_route(pattern)[1] for pattern in patterns], paths])
    done = subprocess.run(
        ["node", "-e", CLAIMS], input=given, capture_output=True, text=True, timeout=60, check=True
    )
    for pattern, claimed in zip(patterns, json.loads(done.stdout), strict=True):
        route = compile_route(pattern)
        assert claimed == [route.claims("GET", [path]) for path in paths], pattern


def test_braces_that_never_close_are_read_in_one_pass() -> None:
    """An open brace ends the search of the one before it: twice the route, twice the steps."""
    began = time.process_time()
    route = compile_route("/" + "{a." * 20_000)
    assert time.process_time() - began < 2
    assert route.path.fullmatch("/" + "{a." * 20_000)
    assert compile_route("/{a{b}").path.fullmatch("/{a1")
