"""Regular expressions of others: those that pass take quadratic time at most, whatever the text."""

import re
import time
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.exchange.expressions import SEARCHED, UncheckableExpression, search, slowness
from faultspec.language.model import Schema
from faultspec.language.values import check_value, matches_pattern
from faultspec.leaks import name_patterns
from faultspec.runtime.checking import Check, refuse
from faultspec.runtime.places import SlotPlace, header_value
from support.examples import examples

SLOW = [
    r"^(a+)+$(?!x)", r"(a|a)*b", r"(a|aa)+$", r"(\w+\s?)*$", r"([a-z]+)*\d", r"(x+x+)+y",
    r"(a?){25}a{25}", "a?" * 20 + "a" * 20, r"(.*)*x", r"a*a*a*a*b", r"(?:x?|y?z?)*q",
    r"((a?)*b)*c", r"^(\d+|\d+x)*$", r"(?=(a+)+$)x", r"(a|b|ab)*c", r"(a|aa)" * 16,
    r"a*a*(?=a*b)", r"(?:(?=a*a*b)a)*",
    r"a{0,16}" * 8, r"(?i:(ab|AB)*)c", r"(a*)\1*\1*b",
    # A part that matches nothing, once or several times.
    r"^(?:[a-z0-9](?!--){1,2})+$", r"^(?:a(?!b){1,2})+y$", r"^(?:(?:)+(?:a|))*$",
    r"^(?:[ab](?<=a)?)+x", r"^(?:(?:){1,2}a)+y$", r"^(?:a(?:\b)?)+y$",
    # Cubic: a search from every place is a loop too, and so is a large count.
    r"(.{1,4000}){2}\x01", r"^name$|.*.*!", r".*a.*b", r".*.{2000}!", r"(?=.*a.*b)c",
    # Choices about different characters, between alternatives, and about nothing.
    "".join(f"(?:{chr(n)}{chr(n + 1)}|{chr(n)})(?:{chr(n + 1)}|)" for n in range(0x4E00, 0x4E3C, 2)),
    "(?:a|aa|aaa|aaaa|aaaaa|aaaaaa|aaaaaaa)" * 8 + "!", "(?:|)" * 30 + "a",
    # Alternatives that `re` makes one set of, unlike other engines.
    r"^(?:[ab]|[bc])+d$", r"^(?:\w|[0-9.-])+$", r"^(?:[A-Za-z]|[A-Z0-9-])+$", r"^(?:a|[a])*$",
    r"^(?:foo|fo[a-z])+!$", r"^(?:ab|a[b-d]|ae)*$", r"(?x)^(?: [ab] | [bc] )+$",
    r"(?i)^(?:a|A)+$", r"(?i)^(?:[a-f]|[A-F0-9])+$", r"^(?:\d|\w)+$", r"^(?:[^a]|[^b])+$",
    # Other cases of letters beyond ASCII.
    r"(?i)^(?:[\u00e0-\u00fd]b|[\u00c0-\u00dd]b)+$", r"(?i)^(?:kb|\u212ab)+$",
]  # fmt: skip

FAST = [
    r"^[a-z]{1,64}$", r"^\d{4}-\d{2}-\d{2}$", r"^([a-z0-9]+\.)*[a-z]+$", r".*foo.*",
    r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
    r"^(\d{1,3}\.){3}\d{1,3}$", r"^[^@\s]+@[^@\s]+\.[^@\s]+$", r"^(GET|PUT|POST)$",
    r"^(?!-)[a-z-]+$", r"^(?!.*--)(?!.*_)(?!.*\.\.)[a-z_.-]+$", r"^[a-z]([-a-z0-9]*[a-z0-9])?$", r"^[a-z0-9]+(?:-[a-z0-9]+)*$",
    r"^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$", r"^([0-9a-f]{2}:){5}[0-9a-f]{2}$",
    r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    r"^arn:aws:[a-z0-9-]+:[a-z0-9-]*:\d{12}:.+$", r"^/([^/]+/)*[^/]*$",
    r"^(?:[a-z]|[0-9]|-)+$", r"^(?:\w|\s|[.,-])*$", r"^(\s|\S)*$", r"^(?:\d|\D|)x$", r"^(?:a|b|c){8}$",
    r"(([a-z0-9]|[a-z0-9][a-z0-9-]*[a-z0-9])\.)*([a-z0-9]|[a-z0-9][a-z0-9-]*[a-z0-9]):\d{1,5}",
    r"^(?:_|[a-z])(?:_|-|[a-z]|[0-9])*$", r"^(?:monday|tuesday|thursday|sunday|saturday)+$",
]  # fmt: skip


@pytest.mark.parametrize("expression", SLOW)
def test_an_expression_that_can_take_very_long_is_not_run(expression: str) -> None:
    """The refusal is fast, and says why."""
    began = time.process_time()
    with pytest.raises(UncheckableExpression, match=r"has|can read|is too complex"):
        search(expression, "a" * 40 + "!")
    assert time.process_time() - began < 2


@pytest.mark.parametrize("expression", FAST)
def test_usual_expressions_are_run(expression: str) -> None:
    """Dates, ids, names and addresses pass."""
    assert slowness(expression) is None


PARTS = st.sampled_from(
    ["a", "b", "[ab]", ".", "a?", "b*", "[ab]+", "a{2}", "a{1,3}", "c", "^", "$"]
)
EXPRESSIONS = st.recursive(
    PARTS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=2).map(lambda two: f"(?:{'|'.join(two)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{0,9}"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=6,
)


@given(EXPRESSIONS)
@examples(400)
def test_what_passes_takes_bounded_time(expression: str) -> None:
    """Whatever is pumped: quadratic time for 60 characters is milliseconds, exponential time years.

    A search looks for signals, so the test could be stopped; `re` itself knows no limit.
    """
    if slowness(expression) is not None:
        return
    for pump in map("".join, product("abc", repeat=2)):
        for prefix, suffix in product(("", "a", "c"), ("", "!", "c!")):
            began = time.process_time()
            re.search(expression, prefix + pump * 30 + suffix)
            assert time.process_time() - began < 1, (expression, pump)


@given(EXPRESSIONS)
@examples(100)
def test_what_passes_takes_seconds_in_the_longest_text(expression: str) -> None:
    """Quadratic time for 4,096 characters."""
    if slowness(expression) is not None:
        return
    for pump, suffix in product(("a", "ab", "abc"), ("", "!")):
        began = time.process_time()
        search(expression, (pump * SEARCHED)[: SEARCHED - 1] + suffix)
        assert time.process_time() - began < 10, (expression, pump)


def test_a_pattern_of_the_language_is_searched_by_the_same_door() -> None:
    """A longer value does not match; the message names the limit. So it is in generated code."""
    schema, value = Schema(types=("string",), pattern="a"), "a" * (SEARCHED + 1)
    (problem,) = check_value(schema, value)
    assert "at most 4096 characters" in problem.problem
    with pytest.raises(ValueError, match="at most 4096 characters"):
        refuse(Check(pattern="a"), value, "detail")
    assert header_value(SlotPlace("header", "x", "(a)"), value) is None
    assert not matches_pattern("a", value)


@pytest.mark.full
def test_internal_names_are_searched_in_windows() -> None:
    """A loop would take quadratic time in the whole answer; a name at the seam is found."""
    (pattern,) = name_patterns([r"[a-z]+\.corp"])
    text = "a " * 2040 + "db.corp " + "b " * 2044 + "x.corp " + "a" * 200_000
    assert [match[0] for match in pattern.find_all(text)] == ["db.corp", "x.corp"]


def test_a_long_text_is_not_searched() -> None:
    """Quadratic time is long for a body of megabytes."""
    with pytest.raises(UncheckableExpression, match="longer than"):
        search("a", "a" * (SEARCHED + 1))


def test_an_expression_of_another_dialect_is_not_run() -> None:
    """Some constructs exist in JavaScript only."""
    with pytest.raises(UncheckableExpression, match="Python"):
        search(r"\p{L}(", "a")
