"""Filtered lists: they show only items that fit, and leave out none that does.

The values are those of the items that the whole list shows, or a value that none of them has.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil

from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import PagesConfig
from faultspec_conformance.probes.ownership import evidence_of
from faultspec_conformance.probes.whole_lists import read_pages
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.filters import ListFilter, comparable, find_filters
from faultspec_conformance.session.fixtures import make, request_to, written_values
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.next_pages import Paging, paging_of
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    leaves,
    not_exercised,
    passed,
)
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.parameters import id_of_item
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import (
    CreatedResource,
    ResourceKind,
    last_placeholder,
    lies_below,
)

_FILTER = "lists/filter"

#: The clauses about filtered lists.
CLAUSES = (_FILTER,)

#: Filters of one list that are tried, and those whose lists are read page by page.
_FILTERS, _PAGED = 6, 3

#: Items of a filtered list that is read page by page, and its pages.
_FEWEST, _IN_PAGES = 2, 3


def filtered_lists(session: HttpSession) -> Iterator[ProbeResult]:
    """Read the list of each kind of resource, whole and by each of its filters."""
    asked = False
    for kind in session.turn:
        listing = kind.operation("list")
        if listing is not None and listing.method == "GET":
            asked = True
            yield from attempt(_check_list(session, kind, listing), _FILTER)
    if not asked:
        yield not_exercised(_FILTER, "no resource has a `list`")


def _check_list(
    session: HttpSession, kind: ResourceKind, listing: ServiceOperation
) -> Iterator[Outcome]:
    resource = session.knowledge.created.get(kind.name)
    values = dict(resource.values_for(listing.template)) if resource is not None else {}
    values |= written_values(session, listing, kind.call("list"))
    if not set(listing.placeholders) <= set(values):
        yield not_exercised(_FILTER, f"no resource could be made that {listing.name} is below")
        return
    owner = resource.owner if resource is not None else session.caller
    spec = replace(request_to(session, listing, values), identity=owner)
    filtered = _FilteredList(
        session=session,
        listing=listing,
        spec=spec,
        places=kind.config.pages,
        id_name=last_placeholder(kind),
    )
    yield from filtered.outcomes()
    if resource is not None and listing.placeholders:
        yield from _check_below_another(session, listing, spec, resource)


def _check_below_another(
    session: HttpSession, listing: ServiceOperation, spec: RequestSpec, resource: CreatedResource
) -> Iterator[Outcome]:
    """Read the list below another item too: it shows nothing that lies below the first one."""
    kind = resource.kind
    # A kind that has a list and no items of its own lies below another one, too.
    known = (one for one in session.kinds if one is not kind and one.item is not None)
    above = next((one for one in known if lies_below(listing, one)), None)
    shared = session.knowledge.created.get(above.name) if above is not None else None
    if above is None or shared is None:
        return
    evidence, line = evidence_of(session, resource), f"{listing.name} of another {above.name}"
    if any(str(value) == str(resource.id) for _, value in leaves(resource.body)):
        return  # it refers to what may lie below other items too
    another = make(session, above, owner=shared.owner)
    if isinstance(another, str):
        yield not_exercised(_FILTER, f"{line} could not be read: {another}")
        return
    page = session.call(replace(spec, values=another.item_values(listing)))
    if not page.ok:
        yield not_exercised(_FILTER, f"the service answered {page} to {line}")
    elif evidence.is_shown_in(page):
        message = f"{line} shows a {kind.name} that does not lie below it"
        exchanges = (resource.creation, another.creation, page)
        yield failed(_FILTER, message, *exchanges, variant="above")
    elif evidence.is_shown_in(session.call(spec)):
        yield passed(_FILTER)


@dataclass(frozen=True, slots=True)
class _Shown:
    """The pages of a list, and its items that are objects, with their pages."""

    pages: list[Observation]
    items: list[tuple[Mapping[str, object], Observation]]


@dataclass(frozen=True, slots=True)
class _FilteredList:
    """One list, as its owner reads it. ``id_name``: what an item's id may be called."""

    session: HttpSession
    listing: ServiceOperation
    spec: RequestSpec
    places: PagesConfig
    id_name: str

    @property
    def paging(self) -> Paging:
        """How the list is paged."""
        return paging_of(self.listing, self.places)

    def outcomes(self) -> Iterator[Outcome]:
        """Try each filter whose member the items have."""
        whole, name = self._read({}), self.listing.name
        if not whole.items:
            yield not_exercised(_FILTER, f"{name} shows no item")
            return
        items = [item for item, _ in whole.items]
        found = [
            one
            for one in find_filters(self.session.description, self.listing, self.paging, items)
            if one.name not in self.spec.query
        ]
        if not found:
            reason = f"no parameter of {name} is called like a member of its items"
            yield not_exercised(_FILTER, reason)
        paged = 0
        for one in found[:_FILTERS]:
            wanted = self._value_for(one, items)
            if wanted is None:
                reason = f"all items of {name} fit every known `{one.name}`"
                yield not_exercised(_FILTER, reason)
                continue
            outcome = self._check(one, wanted, whole)
            yield outcome
            if outcome.kind == "passed" and one.exact and paged < _PAGED:
                paged += 1
                yield from self._check_pages(one, wanted)

    def _read(self, query: Mapping[str, object]) -> _Shown:
        spec = replace(self.spec, query={**self.spec.query, **query})
        pages = read_pages(self.session, self.listing, self.places, spec)
        items = [(item, page) for page in pages for item in self.paging.items(page)]
        return _Shown(pages, [(item, page) for item, page in items if isinstance(item, dict)])

    # ---- the value

    def _value_for(self, one: ListFilter, items: list[Mapping[str, object]]) -> object:
        """Return a value that some items do not fit, if possible one that others fit; None without
        one.
        """
        if one.relation != "equal":
            return _find_bound(one, items)
        choices = one.schema.get("enum")
        allowed = choices if isinstance(choices, list) else None
        held = [
            value
            for item in items
            for value in _values(item.get(one.member))
            if allowed is None or value in allowed
        ]
        for value in dict.fromkeys(held):
            if any(one.fits(item, value) is False for item in items):
                return value
        if sampling.kind(one.schema) == "boolean":
            return next((flag for flag in (True, False) if flag not in held), None)
        if allowed is not None:
            return next((value for value in allowed if value not in (*held, None, "")), None)
        return self._made_up(held)

    def _made_up(self, held: list[object]) -> object:
        """Return a value of the form of those that items have; None without one."""
        return sampling.other_identifier(self.session.source, held[0]) if held else None

    # ---- verdicts

    def _check(self, one: ListFilter, wanted: object, whole: _Shown) -> Outcome:
        query = {one.name: wanted}
        shown, name = self._read(query), self.listing.name
        if not shown.pages:
            return not_exercised(_FILTER, f"{name} is refused with `{one.name}`")
        line = f"{name} with `{one.name}={_text(wanted)}`"
        wrong = self._wrong(one, wanted, shown)
        if wrong is not None:
            if not one.exact and not self._is_ignored(one, whole):
                return not_exercised(_FILTER, f"`{one.name}` is not a filter by equality")
            if self._wrong(one, wanted, self._read(query)) is None:
                return not_exercised(_FILTER, f"{name} changes while it is read")
            item, page = wrong
            held = _text(item[one.member])
            message = f"{line} shows an item whose `{one.member}` is {held}"
            return failed(_FILTER, message, page, variant="ignored")
        missing = self._missing(one, wanted, whole, shown)
        if one.exact and missing is not None:
            again, now = self._read({}), self._read(query)
            missing = self._missing(one, wanted, again, now)
            if missing is not None and now.pages:
                message = f"{line} leaves out an item whose `{one.member}` is "
                message += _text(missing[0][one.member])
                return failed(_FILTER, message, missing[1], *now.pages, variant="incomplete")
        return passed(_FILTER)

    def _check_pages(self, one: ListFilter, wanted: object) -> Iterator[Outcome]:
        """Check that the pages of a filtered list show the items of the list in one piece."""
        size, query = self.paging.size, {one.name: wanted}
        whole = self._read(query)
        if size is None or len(whole.items) < _FEWEST:
            return
        least = size.schema.get("minimum")
        number = max(least if isinstance(least, int) else 1, ceil(len(whole.items) / _IN_PAGES))
        paged = self._read({**query, size.name: number})
        problem = self._problem_of_pages(one, wanted, whole, paged)
        if len(paged.pages) < 2 or problem is None:
            return
        whole, paged = self._read(query), self._read({**query, size.name: number})
        problem = self._problem_of_pages(one, wanted, whole, paged)
        if problem is None:
            yield not_exercised(_FILTER, f"{self.listing.name} changes while it is read")
            return
        name = self.listing.name
        message = f"{name} with `{one.name}={_text(wanted)}` and `{size.name}={number}` {problem}"
        yield failed(_FILTER, message, *paged.pages, variant="pages")

    def _problem_of_pages(
        self, one: ListFilter, wanted: object, whole: _Shown, paged: _Shown
    ) -> str | None:
        """Return what is wrong with the pages of a filtered list, in words; None if nothing is."""
        wrong = self._wrong(one, wanted, paged)
        if wrong is not None:
            held = _text(wrong[0][one.member])
            return f"shows an item whose `{one.member}` is {held} on a later page"
        left_out = set(self._ids(whole)) - set(self._ids(paged))
        return f"has {len(left_out)} of the fitting items on no page" if left_out else None

    def _wrong(
        self, one: ListFilter, wanted: object, shown: _Shown
    ) -> tuple[Mapping[str, object], Observation] | None:
        """Return the first item that does not fit, and its page."""
        return next((seen for seen in shown.items if one.fits(seen[0], wanted) is False), None)

    def _is_ignored(self, one: ListFilter, whole: _Shown) -> bool:
        """Whether a value that no item has changes nothing in the list."""
        held = [value for item, _ in whole.items for value in _values(item.get(one.member))]
        made_up = self._made_up(held)
        if made_up is None or any(one.fits(item, made_up) for item, _ in whole.items):
            return False
        shown = self._read({one.name: made_up})
        return bool(shown.items) and self._ids(shown) == self._ids(whole)

    def _missing(
        self, one: ListFilter, wanted: object, whole: _Shown, shown: _Shown
    ) -> tuple[Mapping[str, object], Observation] | None:
        """Return the first item of the whole list that fits and is not shown, and its page."""
        known = set(self._ids(shown))
        return next(
            (
                (item, page)
                for item, page in whole.items
                if one.fits(item, wanted) and id_of_item(item, self.id_name) not in known
            ),
            None,
        )

    def _ids(self, shown: _Shown) -> list[object]:
        return [id_of_item(item, self.id_name) for item, _ in shown.items]


def _values(held: object) -> list[object]:
    """Return the scalars of a member: its value, or those of a list."""
    values = held if isinstance(held, list) else [held]
    return [one for one in values if isinstance(one, str | int | float) and one != ""]


def _find_bound(one: ListFilter, items: list[Mapping[str, object]]) -> object:
    """Return the value of an item that others are beyond, or a number beyond all; None without
    one.
    """
    held = [item.get(one.member) for item in items]
    known = {bound: value for value in held if (bound := comparable(value)) is not None}
    if len({type(bound) for bound in known}) != 1:
        return None
    ordered = sorted(known)
    if len(ordered) > 1:
        return known[ordered[len(ordered) // 2 if one.relation == "least" else 0]]
    alone = known[ordered[0]]
    if isinstance(alone, int):
        return alone + 1 if one.relation == "least" else alone - 1
    return None


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
