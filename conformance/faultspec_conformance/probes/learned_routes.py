"""The routes of a service without a document, each asked as it was found."""

from collections.abc import Iterator
from dataclasses import replace

from faultspec_conformance.session.fixtures import ordinary_request
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.parameters import likely_values
from faultspec_conformance.session.requests import RequestSpec

#: Requests with a text that no answer may repeat.
_TEXTS = 16

#: Requests with a number beyond what a list has.
_NUMBERED = 16

#: Names that queries often have. A route that shows none may read them all the same.
_USUAL_NUMBERS = ("limit", "offset", "page", "size", "page_size", "per_page", "count")
_USUAL_NAMES = (
    *("q", "query", "search", "filter", "sort", "order", "id", "from", "to", "date"),
    *_USUAL_NUMBERS,
)

#: A number before the first item, and one behind the last.
_BEYOND = (-1, 1_000_000_007)


def learned_reads(session: HttpSession) -> Iterator[ProbeResult]:
    """Read each learned route with the values that were seen, then with a canary in each parameter
    of its query, or in all usual ones together where none was seen, and with numbers beyond any
    list in those that are numbers. The judge decides.
    """
    reads = [one for one in session.description.operations if one.method == "GET"]
    requests: list[RequestSpec] = []
    texts: list[RequestSpec] = []
    numbers: list[RequestSpec] = []
    for operation in reads if session.description.learned else ():
        spec = ordinary_request(session, operation, likely_values(session, operation))
        requests.append(spec)
        seen: list[tuple[str, ...]] = [
            (one.name,) for one in operation.parameters if one.where == "query"
        ]
        for names in seen or [_USUAL_NAMES]:
            mark = session.canary("value")
            query = {**spec.query, **dict.fromkeys(names, mark.value)}
            what = f"a text in {', '.join(f'`{name}`' for name in names)}"
            texts.append(replace(spec, query=query, canaries=(mark,), trigger=what))
        for names in filter(_is_numeric, seen) if seen else [_USUAL_NUMBERS]:
            for number in _BEYOND:
                query = {**spec.query, **dict.fromkeys(names, number)}
                what = f"{number} in {', '.join(f'`{name}`' for name in names)}"
                numbers.append(replace(spec, query=query, trigger=what))
    for spec in (*requests, *texts[:_TEXTS], *numbers[:_NUMBERED]):
        yield from attempt(_ask(session, spec))


def _is_numeric(names: tuple[str, ...]) -> bool:
    return set(names) <= set(_USUAL_NUMBERS)


def _ask(session: HttpSession, spec: RequestSpec) -> Iterator[ProbeResult]:
    session.call(spec)
    yield from ()
