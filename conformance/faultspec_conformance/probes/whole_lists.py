"""A list as a whole: its pages, one after the other."""

from collections.abc import Callable
from dataclasses import replace

from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import ABSENT, PagesConfig
from faultspec_conformance.session.configured import fill_in_call
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.next_pages import Paging, paging_of
from faultspec_conformance.session.observation import Observation
from faultspec_conformance.session.pagination import longest_page
from faultspec_conformance.session.parameters import required_query
from faultspec_conformance.session.requests import RequestSpec

#: Pages of one list that are read.
_PAGES = 12


def read_pages(
    session: HttpSession,
    listing: ServiceOperation,
    places: PagesConfig,
    spec: RequestSpec,
    *,
    until: Callable[[Observation], bool] | None = None,
    most: int = _PAGES,
) -> list[Observation]:
    """Return the pages of a list in order, each as long as the document allows; empty if the first
    one is refused.

    ``until``: whether a page shows what is looked for, so that no other one is read. ``most``:
    pages that are read.
    """
    paging = paging_of(listing, places)
    own = {**longest_page(listing), **spec.query}
    query, pages, seen = own, list[Observation](), list[object]()
    while len(pages) < most:
        page = session.call(replace(spec, query=query))
        if not page.ok:
            break
        pages.append(page)
        items = paging.items(page)
        if not items or (until is not None and until(page)):
            break
        seen += items
        following = paging.next_query(page, query, _last_id(items))
        following = following or _query_by_number(paging, own, pages, seen)
        if following is None or {**own, **following} == query:
            break
        query = {**own, **following}
    return pages


def configured_query(session: HttpSession, listing: ServiceOperation) -> dict[str, object]:
    """Return the query of a list: its required parameters, and what the configuration has for the
    list of a resource.
    """
    query = required_query(session, listing)
    for kind in session.kinds:
        call, operation = kind.call("list"), kind.operation("list")
        if call is not None and operation is not None and operation.name == listing.name:
            filled = fill_in_call(session, replace(call, body=ABSENT, raw=None)).query
            query |= {
                name: int(text) if text.isdecimal() else text for name, text in filled.items()
            }
    return query


def pages_config(session: HttpSession, listing: ServiceOperation) -> PagesConfig:
    """Return what the configuration has about the pages of a list."""
    for kind in session.kinds:
        operation = kind.operation("list")
        if operation is not None and operation.name == listing.name:
            return kind.config.pages
    return PagesConfig()


def _query_by_number(
    paging: Paging, query: dict[str, object], pages: list[Observation], seen: list[object]
) -> dict[str, object] | None:
    """Return the query of the next page by its number; None if the last page was not full."""
    size = query.get(paging.size.name) if paging.size is not None else None
    last = paging.items(pages[-1])
    if not isinstance(size, int) or len(last) < size or paging.more(pages[-1]) is False:
        return None
    if paging.offset is not None:
        return {paging.offset.name: len(seen)}
    if paging.page is not None:
        first = paging.first_number()
        return {paging.page.name: (1 if first is None else first) + len(pages)}
    return None


def _last_id(items: list[object]) -> object:
    last = items[-1]
    return last.get("id") if isinstance(last, dict) else last
