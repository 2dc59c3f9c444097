"""Reads as they are documented or were found: each is asked at least once."""

from collections.abc import Iterator
from dataclasses import replace

from faultspec.exchange.model import Canary
from faultspec_conformance.probes.odd_texts import TOGETHER
from faultspec_conformance.session.fixtures import ordinary_request
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import list_items
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.parameters import likely_values
from faultspec_conformance.session.requests import RequestSpec

#: Requests with a text that no answer may repeat, and with a text of odd characters.
_TEXTS = 32

#: Requests with a number beyond what a list has.
_NUMBERED = 16

#: Documented reads without an id that no other probe made.
_PLAIN = 40

#: Names that queries often have. A route that shows none may read them all the same.
_USUAL_NUMBERS = ("limit", "offset", "page", "size", "page_size", "per_page", "count")
_USUAL_NAMES = (
    *("q", "query", "search", "filter", "sort", "order", "sort_by", "group_by", "by", "id"),
    *("name", "type", "status", "category", "tag", "from", "to", "since", "until", "date"),
)

#: Members of an item that a list may be filtered by.
_MEMBERS = 20

#: A number before the first item, and one behind the last.
_BEYOND = (-1, 1_000_000_007)


def learned_reads(session: HttpSession) -> Iterator[ProbeResult]:
    """Read each learned route with the values that were seen, then with a text in each parameter of
    its query, and with numbers beyond any list in those that are numbers. Where no query was seen,
    all usual names and the members of the items get a text together, those of numbers apart: a
    service that checks them first would read no other. The judge decides.
    """
    reads = [one for one in session.description.operations if one.method == "GET"]
    texts: list[RequestSpec] = []
    numbers: list[RequestSpec] = []
    for operation in reads if session.description.learned else ():
        spec = ordinary_request(session, operation, likely_values(session, operation))
        before = len(session.knowledge.exchanges)
        yield from attempt(_ask(session, spec))
        answers = session.knowledge.exchanges[before:]
        seen = [(one.name,) for one in operation.parameters if one.where == "query"]
        guessed = _guess_names(answers[-1].json if answers else None)
        for names in seen or guessed:
            mark = session.canary("value")
            texts.append(_with_query(spec, names, mark.value, "a text", canaries=(mark,)))
        if not seen:
            texts.append(_with_query(spec, guessed[0], TOGETHER.text, TOGETHER.what))
        for names in filter(_is_numeric, seen or guessed):
            numbers += (_with_query(spec, names, beyond, str(beyond)) for beyond in _BEYOND)
    for spec in (*texts[:_TEXTS], *numbers[:_NUMBERED]):
        yield from attempt(_ask(session, spec))


def plain_reads(session: HttpSession) -> Iterator[ProbeResult]:
    """Make each documented read that needs no id, and that no probe has made so far. The judge
    decides.
    """
    made = {one.exchange.operation for one in session.observations.exchanges}
    unread = [
        operation
        for operation in session.description.operations
        if operation.method == "GET" and not operation.placeholders and operation.name not in made
    ]
    for operation in unread[:_PLAIN]:
        spec = ordinary_request(session, operation, likely_values(session, operation))
        yield from attempt(_ask(session, spec))


def _guess_names(body: object) -> list[tuple[str, ...]]:
    """Names of texts and of numbers that a query may have, from a body without a query."""
    items = list_items(body)
    item = items[0] if items and isinstance(items[0], dict) else {}
    members = [name for name, value in item.items() if isinstance(value, str | int | float)]
    names = dict.fromkeys((*_USUAL_NAMES, *members[:_MEMBERS]))
    return [tuple(name for name in names if name not in _USUAL_NUMBERS), _USUAL_NUMBERS]


def _with_query(
    spec: RequestSpec,
    names: tuple[str, ...],
    value: object,
    what: str,
    *,
    canaries: tuple[Canary, ...] = (),
) -> RequestSpec:
    where = ", ".join(f"`{name}`" for name in names)
    query = {**spec.query, **dict.fromkeys(names, value)}
    return replace(spec, query=query, canaries=canaries, trigger=f"{what} in {where}")


def _is_numeric(names: tuple[str, ...]) -> bool:
    return set(names) <= set(_USUAL_NUMBERS)


def _ask(session: HttpSession, spec: RequestSpec) -> Iterator[ProbeResult]:
    session.call(spec)
    yield from ()
