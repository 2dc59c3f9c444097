"""Templates and paths: compared without trying every way, and found without trying every
template.
"""

import re
import time
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from faultspec.openapi.paths import PLACEHOLDER, RouteIndex
from faultspec.openapi.service import matches, path_values
from support.examples import examples


@dataclass(frozen=True)
class Route:
    """Something at a template."""

    template: str


SEGMENTS = st.lists(st.sampled_from(["a", "b", "-", "{x}", "{y}", "{z}", "ab"]), max_size=4).map(
    "".join
)
TEMPLATES = st.lists(SEGMENTS, min_size=1, max_size=3).map(lambda parts: "/" + "/".join(parts))
PATHS = st.text("ab-/", max_size=12).map(lambda text: "/" + text)


def by_expression(template: str, path: str) -> list[str] | None:
    """The values that a regular expression with a group for each placeholder finds."""
    parts = re.split(f"({PLACEHOLDER})", template)
    pattern = "".join("([^/]+)" if part.startswith("{") else re.escape(part) for part in parts)
    found = re.fullmatch(pattern, path)
    return list(found.groups()) if found else None


@given(
    TEMPLATES.filter(
        lambda template: (
            len(re.findall(PLACEHOLDER, template)) == len(set(re.findall(PLACEHOLDER, template)))
        )
    ),
    PATHS,
)
@examples(1_000, steady=100)
def test_a_path_fits_as_by_a_regular_expression(template: str, path: str) -> None:
    """The values are those of greedy groups."""
    found = path_values(template, path)
    assert (list(found.values()) if found is not None else None) == by_expression(template, path)


@given(st.lists(TEMPLATES, max_size=8), PATHS)
@examples(500, steady=50)
def test_the_index_finds_what_trying_all_finds(templates: list[str], path: str) -> None:
    """No template that fits is missed."""
    found = [route.template for route in RouteIndex(map(Route, templates)).find(path)]
    assert sorted(found) == sorted(one for one in templates if matches(one, path))


def test_many_placeholders_in_a_segment_cost_one_pass() -> None:
    """41 of them took a regular expression years."""
    template = "/" + "".join(f"{{p{number}}}" for number in range(41))
    began = time.process_time()
    assert not matches(template, "/" + "a" * 40)
    assert matches(template, "/" + "a" * 5_000)
    assert time.process_time() - began < 1


def test_twenty_thousand_routes_are_found_at_once() -> None:
    """A lookup does not try them one by one."""
    index = RouteIndex(Route(f"/things{number}/{{id}}") for number in range(20_000))
    began = time.process_time()
    for number in range(0, 20_000, 20):
        assert len(list(index.find(f"/things{number}/7"))) == 1
    assert time.process_time() - began < 1
