"""Pages of a list: how many items to ask for, and how to ask for what follows, from the parameters that a list declares."""

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

from faultspec.openapi.service import OperationParameter, ServiceOperation
from faultspec_conformance.session.observation import Observation

#: The parameters in common use, without case and punctuation: the size of a page, its number, and where it begins.
_SIZES = frozenset({"limit", "perpage", "pagesize", "size", "maxresults", "count", "first", "top"})
_NUMBERS = frozenset({"page", "pagenumber", "pageno"})
_OFFSETS = frozenset({"offset", "skip", "start", "startindex"})
_CURSORS = frozenset(
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

#: Where an answer tells the cursor of what follows, spelt likewise.
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

#: Items of the longest page that is asked for where the document sets no maximum.
_MOST = 100


def opening(listing: ServiceOperation) -> dict[str, object]:
    """The query for the first page: one item where a cursor leads on from there, else as many as the document allows."""
    size = _parameter(listing, _SIZES)
    if size is not None and _parameter(listing, _CURSORS) is not None:
        return {size.name: 1}
    return _longest(listing)


def following(listing: ServiceOperation, first: Observation) -> dict[str, object] | None:
    """The query for what follows the first item or page; None where there is no telling how to ask, or nothing follows."""
    if _next_link(first) is not None:
        return _next_link(first)
    offset, number, cursor = (
        _parameter(listing, names) for names in (_OFFSETS, _NUMBERS, _CURSORS)
    )
    if offset is not None:
        return {**_longest(listing), offset.name: 1}
    if number is not None:
        size = _parameter(listing, _SIZES)
        return {number.name: 2, **({size.name: 1} if size is not None else {})}
    told = _told(first.json) if cursor is not None else None
    return (
        {**_longest(listing), cursor.name: told}
        if cursor is not None and told is not None
        else None
    )


def _longest(listing: ServiceOperation) -> dict[str, object]:
    size = _parameter(listing, _SIZES)
    if size is None:
        return {}
    most = size.schema.get("maximum")
    return {size.name: most if isinstance(most, int) else _MOST}


def _next_link(sent: Observation) -> dict[str, object] | None:
    """The query of the link of relation next (RFC 8288), where it leads to the same path."""
    found = re.search(r"<([^>]*)>[^,]*;\s*rel=\"?next\"?", sent.header("Link") or "")
    return dict(parse_qsl(urlsplit(found[1]).query)) or None if found else None


def _told(body: object) -> str | None:
    layers = (
        [body, *(each for each in body.values() if isinstance(each, dict))]
        if isinstance(body, dict)
        else []
    )
    for layer in layers:
        assert isinstance(layer, Mapping)
        for name, value in layer.items():
            if _plain(str(name)) in _NEXT and isinstance(value, str) and value and "/" not in value:
                return value
    return None


def _parameter(listing: ServiceOperation, names: frozenset[str]) -> OperationParameter | None:
    return next(
        (
            parameter
            for parameter in listing.parameters
            if parameter.where == "query" and _plain(parameter.name) in names
        ),
        None,
    )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())
