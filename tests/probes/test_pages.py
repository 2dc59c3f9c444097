"""Lists that are paged: a fault of the pages is found in every style, and a service that pages in
its own way is not blamed.
"""

import json
from collections.abc import Mapping
from itertools import count
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from faultspec.exchange.model import Request
from faultspec_conformance.config import PagesConfig, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import pages, resources
from faultspec_conformance.results.model import Outcome
from support.scripted import ScriptedDriver, answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: garage, version: 1.0.0, title: Garage, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, http: [404, 405], retriable: false}
  invalid: {summary: Not valid, http: 400, retriable: false}
"""
CURSORS = (
    TAXONOMY + "  stale_cursor: {summary: The cursor names no page, http: 400, retriable: false}\n"
)

#: Parameters of the list by style: the size, and where a page begins.
STYLES: Mapping[str, tuple[str, str]] = {
    "cursor": ("limit", "cursor"),
    "last-id": ("limit", "starting_after"),
    "url": ("per_page", "cursor"),
    "link": ("per_page", "page"),
    "number": ("pageSize", "page"),
    "number-from-0": ("size", "page"),
    "offset": ("$top", "$skip"),
    "own-names": ("most", "from"),
}
OWN_NAMES = PagesConfig(size="most", cursor="from", next="/paging/onward", items="/paging/cars")


class Garage:
    """A list of cars, paged in a style. ``habits``: what the service does in its own way."""

    def __init__(self, style: str, *habits: str) -> None:
        self.style, self.habits, self.numbers = style, habits, count(1)
        self.cars: list[dict[str, Any]] = []
        self.size, self.start = STYLES[style]

    def __call__(self, request: Request) -> Any:
        """Answer one request."""
        parts = urlsplit(request.target)
        if request.method == "POST":
            car = {"id": f"car-{next(self.numbers):04}"}
            self.cars.append(car)
            return answer(201, car)
        if parts.path != "/cars":
            known = [car for car in self.cars if parts.path == f"/cars/{car['id']}"]
            return answer(200, known[0]) if known else answer(404, {"code": "absent"})
        return self.page(dict(parse_qsl(parts.query)))

    def page(self, query: Mapping[str, str]) -> Any:
        """One page of the list."""
        if "busy" in self.habits:
            self.cars.append({"id": f"car-{next(self.numbers):04}"})
        size = int(query.get(self.size, "20"))
        begin = self.begin(query.get(self.start), size)
        size = len(self.cars) if "ignores-size" in self.habits else size
        size += "one-more" in self.habits
        if begin is None:
            return answer(400, {"code": "invalid"})
        end = begin + size
        if "short-pages" in self.habits and size > 1:
            end -= 1
        if "endless" in self.habits and begin >= len(self.cars) > 0 and self.style == "number":
            begin, end = len(self.cars) - 1, len(self.cars)
        if "clamps" in self.habits:
            begin = min(begin, max(0, len(self.cars) - 1))
        follows = end < len(self.cars) - ("drops-the-last" in self.habits)
        if "endless" in self.habits:
            follows = True
        moved = ("skips" in self.habits) - ("repeats" in self.habits) if begin > 0 else 0
        shown = self.cars[begin + moved : end + moved]
        return self.render(shown, end if follows else None, size)

    def begin(self, value: str | None, size: int) -> int | None:
        """Where a page begins; None if a value names no place."""
        if value is None:
            return 0
        if self.style in ("number", "link"):
            return (int(value) - 1) * size if int(value) > 0 else None
        if self.style == "number-from-0":
            return int(value) * size
        if self.style == "offset":
            return int(value)
        ids = [car["id"] for car in self.cars]
        if "sorts-by-key" in self.habits:
            return sum(one <= value for one in ids)
        value = value.removeprefix("after:")
        if value in ids:
            return ids.index(value) + 1
        return 0 if "restarts" in self.habits else None

    def render(self, shown: list[dict[str, Any]], end: int | None, size: int) -> Any:
        """An answer with a page."""
        last = self.cars[min(end, len(self.cars)) - 1]["id"] if end else None
        if self.style == "cursor":
            prefix = "" if "sorts-by-key" in self.habits else "after:"
            following = None if last is None else f"{prefix}{last}"
            return answer(200, {"cars": shown, "meta": {"next_cursor": following}})
        if self.style == "last-id":
            return answer(200, {"data": shown, "has_more": end is not None})
        if self.style == "url":
            url = f"https://garage.example/cars?per_page={size}&cursor={last}"
            return answer(200, {"data": shown, "links": {"next": url if end else None}})
        if self.style == "link":
            path = {"links-elsewhere": "/car", "is-behind-a-proxy": "/api/cars"}
            named = next((path[habit] for habit in self.habits if habit in path), "/cars")
            link = f'<{named}?per_page={size}&page={(end or 0) // size + 1}>; rel="next"'
            return answer(200, shown, **({"Link": link} if end else {}))
        if self.style == "own-names":
            return answer(200, {"other": [], "paging": {"cars": shown, "onward": last}})
        total = {"total": len(self.cars)} if "clamps" in self.habits else {}
        return answer(200, {"items": shown, **total})


def outcomes_of(
    style: str, *habits: str, taxonomy: str = TAXONOMY, named: bool = True
) -> dict[str, Outcome]:
    """The outcomes of the probe by clause. ``named``: the configuration has the service's names."""
    size, start = STYLES[style]
    parameters = [
        {
            "name": name,
            "in": "query",
            "schema": {"type": "string" if "cursor" in name else "integer"},
        }
        for name in (size, start)
    ]
    if style == "number-from-0" and habits:  # page 1 may be the first one, if it is page 0 again
        parameters[1]["schema"] = {"type": "integer", "minimum": 0}
    ok = {"responses": {"200": {"description": "done"}}}
    body = {"requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Garage", "version": "1"},
        "paths": {
            "/cars": {"get": {**ok, "parameters": parameters}, "post": {**ok, **body}},
            "/cars/{id}": {"get": ok},
        },
    }
    own = OWN_NAMES if named and style == "own-names" else PagesConfig()
    config = ServiceConfig(
        resources={"car": ResourceConfig("car", pages=own)}, limits=Limits(writes=True)
    )
    garage = Garage(style, *habits)
    session = http_session(garage, taxonomy, config, json.loads(json.dumps(document)))
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(pages.paged_lists(session))
    assert isinstance(session.driver, ScriptedDriver)
    assert len(session.driver.sent) <= 16
    found = [one for one in session.observations.outcomes if one.clause in pages.CLAUSES]
    assert len({one.clause for one in found}) == len(found)
    return {one.clause: one for one in found}


@pytest.mark.parametrize("style", STYLES)
def test_pages_that_show_each_item_once_pass(style: str) -> None:
    """In every style the pages of a correct list are followed to their end, and pass."""
    outcome = outcomes_of(style)["lists/pages"]
    assert outcome.kind == "passed", outcome.reason


def test_a_link_that_leads_nowhere_is_found() -> None:
    """The address of the next page is that of the list. One with a path before it, which a proxy
    may remove, is a warning.
    """
    for habit, level in (("links-elsewhere", "error"), ("is-behind-a-proxy", "warning")):
        finding = outcomes_of("link", habit)["lists/pages"].finding
        assert finding is not None, habit
        assert (finding.variant, finding.level) == ("link", level)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("habit", ["skips", "repeats"])
def test_an_item_that_is_skipped_or_repeated_is_found(style: str, habit: str) -> None:
    """In every style an item on no page, or on two of them, fails."""
    outcome = outcomes_of(style, habit)["lists/pages"]
    assert outcome.finding is not None, outcome.reason
    assert outcome.finding.variant == ("repeated" if habit == "repeats" else "skipped")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("habit", ["one-more", "ignores-size"])
def test_a_page_with_more_items_than_asked_for_is_found(style: str, habit: str) -> None:
    """In every style a page that is longer than the request allows fails."""
    outcome = outcomes_of(style, habit)["lists/pages"]
    assert outcome.finding is not None, outcome.reason
    assert outcome.finding.variant == "longer"


@pytest.mark.parametrize("style", ["cursor", "last-id", "url", "link", "own-names"])
@pytest.mark.parametrize("habit", ["drops-the-last", "endless"])
def test_an_end_that_comes_too_early_or_never_is_found(style: str, habit: str) -> None:
    """Where answers name the next page, a last item without a page fails, and a page without an end
    too.
    """
    outcome = outcomes_of(style, habit)["lists/pages"]
    assert outcome.kind == "failed", outcome.reason


def test_a_numbered_list_without_an_end_is_found() -> None:
    """Without any count, a client reads until a page is empty, which must come."""
    assert outcomes_of("number", "endless")["lists/pages"].kind == "failed"


@pytest.mark.parametrize(
    ("style", "habits"),
    [("number", ["clamps"]), ("cursor", ["short-pages"]), ("cursor", ["sorts-by-key"])],
)
def test_other_ways_to_page_are_not_blamed(style: str, habits: list[str]) -> None:
    """A page behind the counted last one may be anything, a page may have fewer items than asked
    for, and a cursor may be the key of an item.
    """
    found = outcomes_of(style, *habits)
    assert {one.kind for one in found.values()} <= {"passed", "not_exercised"}


def test_a_list_that_changes_decides_nothing() -> None:
    """Items that others create while the pages are read do not fail."""
    assert outcomes_of("offset", "busy")["lists/pages"].kind != "failed"
    assert outcomes_of("offset", "busy", "skips")["lists/pages"].kind == "not_exercised"


def test_names_of_the_service_need_the_configuration() -> None:
    """A list whose parameters have no usual names is not exercised without `pages`."""
    outcome = outcomes_of("own-names", "skips", named=False)["lists/pages"]
    assert outcome.kind == "not_exercised"
    assert "size of a page" in str(outcome.reason)


@pytest.mark.parametrize(
    ("taxonomy", "level"), [(TAXONOMY, "warning"), (CURSORS, "error")], ids=["silent", "declared"]
)
def test_a_made_up_cursor_that_gives_the_first_page_is_found(taxonomy: str, level: str) -> None:
    """It is a failure if a code of the taxonomy refuses cursors, else a warning; a refusal
    passes.
    """
    finding = outcomes_of("cursor", "restarts", taxonomy=taxonomy)["lists/cursor"].finding
    assert finding is not None
    assert finding.level == level
    assert outcomes_of("cursor", taxonomy=taxonomy)["lists/cursor"].kind == "passed"
