"""How a list is paged: the parameters that ask for a page, and what an answer says about the next
one. The names are those of the configuration, else those in common use.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from faultspec.openapi.service import Description, OperationParameter, ServiceOperation
from faultspec_conformance.config import PagesConfig
from faultspec_conformance.session import sampling
from faultspec_conformance.session.observation import Observation, list_items, point
from faultspec_conformance.session.pagination import (
    CURSORS,
    NUMBERS,
    OFFSETS,
    SIZES,
    find_parameter,
    fold_name,
    next_link,
)

#: Members of an answer that hold the cursor or the URL of the next page, the surest first.
_NEXT = (
    frozenset({"next", "nextcursor", "nextpagetoken", "nexttoken", "nextpage", "nextlink"}),
    frozenset({"nexturl", "nexturi", "nexthref", "nextmarker", "nextoffset", "odatanextlink"}),
    frozenset({"continuation", "continuationtoken", "endcursor"}),
)

#: Members that may hold the cursor of this page as well as that of the next one.
_EITHER = frozenset({"cursor", "marker", "after", "pagetoken"})

#: Members that say whether another page follows.
_MORE = frozenset({"hasmore", "hasnext", "hasnextpage", "more", "istruncated", "moreresults"})

#: Members that say how many items or pages there are.
_TOTALS = frozenset(
    {
        *("total", "totalcount", "totalitems", "totalpages", "totalresults", "totalelements"),
        *("pages", "pagecount", "lastpage", "count"),
    }
)

#: Parameters whose value is the id of the last item of the page before.
_AFTER_ID = frozenset({"startingafter", "afterid"})

#: Objects around the members of a page, such as `/meta/links/next`.
_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Paging:
    """The parameters of one list, and where its answers have what; None: not known."""

    size: OperationParameter | None
    cursor: OperationParameter | None
    page: OperationParameter | None
    offset: OperationParameter | None
    places: PagesConfig

    @property
    def is_numbered(self) -> bool:
        """Whether a page can be asked for by its number or by the items before it."""
        return self.page is not None or self.offset is not None

    def items(self, page: Observation) -> list[object]:
        """Return the items of a page."""
        body = page.json if self.places.items is None else point(page.json, self.places.items)
        return list_items(body)

    def counts(self, page: Observation) -> bool:
        """Return whether an answer says how many items or pages there are."""
        members = (fold_name(name) for name, _ in _members(page.json))
        link = page.list_header("Link") or ""
        return (
            any(name in _TOTALS for name in members)
            or page.header("X-Total-Count") is not None
            or re.search(r"rel=\"?last", link) is not None
        )

    def more(self, page: Observation) -> bool | None:
        """Return whether an answer says that another page follows; None if it does not say."""
        if self.places.more is not None:
            found = point(page.json, self.places.more)
            return found if isinstance(found, bool) else None
        flags = (value for name, value in _members(page.json) if fold_name(name) in _MORE)
        return next((value for value in flags if isinstance(value, bool)), None)

    def next_query(
        self, page: Observation, query: Mapping[str, object], last_id: object
    ) -> dict[str, object] | None:
        """Return the query of the page after an answer, as the answer names it; None if it names
        none.

        ``query``: that of the page. ``last_id``: that of its last item.
        """
        if self.more(page) is False:
            return None
        link = next_link(page)
        if link is not None:
            return link
        value = self._next_value(page, query)
        after_id = self.cursor is not None and fold_name(self.cursor.name) in _AFTER_ID
        if value is None and after_id and self.more(page):
            value = last_id
        if value is None:
            return None
        if isinstance(value, str) and ("?" in value or "://" in value):
            return _query_of(value, page)
        parameter = self.cursor
        if isinstance(value, int) or (parameter is None and str(value).isdigit()):
            parameter = self.page or self.offset or self.cursor
        if parameter is None or str(value).startswith("/"):
            return None
        sized = {self.size.name} if self.size is not None else set()
        return {name: query[name] for name in query if name in sized} | {parameter.name: value}

    def _next_value(self, page: Observation, query: Mapping[str, object]) -> object:
        """Return the cursor, number or URL of the next page in the body of an answer, or None."""
        if self.places.next is not None:
            found = point(page.json, self.places.next)
            return found if _is_position(found) else None
        members = list(_members(page.json))
        for names in _NEXT:
            for name, value in members:
                held = value.get("href") if isinstance(value, dict) else value
                if fold_name(name) in names and _is_position(held):
                    return held
        sent = {str(value) for value in query.values()}
        either = (value for name, value in members if fold_name(name) in _EITHER)
        return next((one for one in either if _is_position(one) and str(one) not in sent), None)

    def cursor_in(self, query: Mapping[str, object]) -> tuple[str, str] | None:
        """Return the parameter of a query that holds a cursor, and the cursor; None without one."""
        own = {self.cursor.name} if self.cursor is not None else set()
        for name, value in query.items():
            if (name in own or fold_name(name) in CURSORS) and isinstance(value, str):
                return name, value
        return None

    def first_number(self) -> int | None:
        """Return the number of the first page that the document gives, or None."""
        for key in ("default", "minimum"):
            value = self.page.schema.get(key) if self.page is not None else None
            if isinstance(value, int) and value in (0, 1):
                return value
        return None

    def names_next(self, description: Description, listing: ServiceOperation) -> bool:
        """Whether answers are known to name the next page: by the configuration or the document."""
        if self.places.next is not None:
            return True
        schema = listing.success.schema if listing.success is not None else None
        return any(
            fold_name(name) in names
            for name in _member_names(description, schema, _DEPTH)
            for names in _NEXT
        )


def paging_of(listing: ServiceOperation, places: PagesConfig) -> Paging:
    """Return how a list is paged."""

    def parameter(name: str | None, names: frozenset[str]) -> OperationParameter | None:
        if name is None:
            return find_parameter(listing, names)
        return listing.parameter(name, "query") or OperationParameter(name, "query", False, {})

    return Paging(
        size=parameter(places.size, SIZES),
        cursor=parameter(places.cursor, CURSORS),
        page=parameter(places.page, NUMBERS),
        offset=parameter(places.offset, OFFSETS),
        places=places,
    )


def _is_position(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def _members(body: object, depth: int = _DEPTH) -> Iterator[tuple[str, object]]:
    """Yield the members of an object and of the objects in it, but not of lists."""
    if not isinstance(body, dict):
        return
    yield from body.items()
    for value in body.values() if depth > 1 else ():
        yield from _members(value, depth - 1)


def _member_names(description: Description, schema: object, depth: int) -> Iterator[str]:
    """Yield the names of the members that a schema describes, also in objects in it."""
    node = sampling.merge_all_of(description.document, schema) if schema is not None else {}
    for name, member in sampling.properties_of(node).items():
        yield name
        if depth > 1:
            yield from _member_names(description, member, depth - 1)


def _query_of(url: str, page: Observation) -> dict[str, object] | None:
    """Return the query of a URL that names the path of the page, perhaps behind a prefix; else
    None.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    path = page.exchange.request.target.partition("?")[0]
    if parts.path and not (path.endswith(parts.path) or parts.path.endswith(path)):
        return None
    return dict(parse_qsl(parts.query)) or None
