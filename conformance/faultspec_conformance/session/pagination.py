"""Pages of a list: how to ask for the first one and for the next one, by the parameters that the
list declares.
"""

import re
from urllib.parse import parse_qsl, urlsplit

from faultspec.openapi.service import OperationParameter, ServiceOperation
from faultspec_conformance.session.observation import Observation
from faultspec_conformance.session.resources import objects_in

#: The parameters in common use, without case and punctuation: the size of a page, its number, and
#: where it begins.
SIZES = frozenset({"limit", "perpage", "pagesize", "size", "maxresults", "count", "first", "top"})
NUMBERS = frozenset({"page", "pagenumber", "pageno"})
OFFSETS = frozenset({"offset", "skip", "start", "startindex"})
CURSORS = frozenset(
    {
        "cursor",
        "after",
        "pagetoken",
        "nexttoken",
        "token",
        "startingafter",
        "continuation",
        "marker",
    }
)

#: Members of an answer that hold the cursor of the next page, spelt likewise.
_NEXT = frozenset(
    {
        "next",
        "nextcursor",
        "nextpagetoken",
        "nexttoken",
        "cursor",
        "endcursor",
        "continuation",
        "marker",
    }
)

#: Items of the longest page that is asked for if the document has no maximum.
_MOST = 100


def opening(listing: ServiceOperation) -> dict[str, object]:
    """Return the query of the first page: one item if a cursor leads to the next, else as many as
    the document allows.
    """
    size = find_parameter(listing, SIZES)
    if size is not None and find_parameter(listing, CURSORS) is not None:
        return {size.name: 1}
    return longest_page(listing)


def next_query(listing: ServiceOperation, first: Observation) -> dict[str, object] | None:
    """Return the query of what follows the first item or page; None if nothing follows or no
    parameter asks for it.
    """
    link = next_link(first)
    if link is not None:
        return link
    offset, number, cursor = (
        find_parameter(listing, names) for names in (OFFSETS, NUMBERS, CURSORS)
    )
    if offset is not None:
        return {**longest_page(listing), offset.name: 1}
    if number is not None:
        size = find_parameter(listing, SIZES)
        return {number.name: 2, **({size.name: 1} if size is not None else {})}
    value = _next_cursor(first.json)
    if cursor is None or value is None:
        return None
    return {**longest_page(listing), cursor.name: value}


def position_parameters(listing: ServiceOperation) -> tuple[str, ...]:
    """Return the names of the parameters that say where a page begins, cursors first."""
    found = (find_parameter(listing, names) for names in (CURSORS, NUMBERS, OFFSETS))
    return tuple(parameter.name for parameter in found if parameter is not None)


def longest_page(listing: ServiceOperation) -> dict[str, object]:
    """Return the query of the longest page that the document allows."""
    size = find_parameter(listing, SIZES)
    if size is None:
        return {}
    most = size.schema.get("maximum")
    return {size.name: most if isinstance(most, int) else _MOST}


def next_link(page: Observation) -> dict[str, object] | None:
    """Return the query of the link of relation `next` (RFC 8288)."""
    address = next_address(page)
    return None if address is None else dict(parse_qsl(urlsplit(address).query)) or None


def next_address(page: Observation) -> str | None:
    """Return the target of the link of relation `next`."""
    found = re.search(r"<([^>]*)>[^,]*;\s*rel=\"?next\"?", page.list_header("Link") or "")
    return found[1] if found else None


def _next_cursor(body: object) -> str | None:
    for members in objects_in(body):
        for name, value in members.items():
            if fold_name(name) in _NEXT and isinstance(value, str) and value and "/" not in value:
                return value
    return None


def find_parameter(listing: ServiceOperation, names: frozenset[str]) -> OperationParameter | None:
    """Return the parameter of the query that has one of these names."""
    return next(
        (
            parameter
            for parameter in listing.parameters
            if parameter.where == "query" and fold_name(parameter.name) in names
        ),
        None,
    )


def fold_name(name: str) -> str:
    """Return a name without case and punctuation."""
    return re.sub(r"[^a-z]", "", name.lower())
