"""Effects of writes in filtered lists: a list by a value that a resource has shows it, until it is
deleted or has another value.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from faultspec.openapi.nodes import sequence
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.probes.effects import lists_item, lists_unchanged, may_be_pending
from faultspec_conformance.probes.preconditions import call_at_state
from faultspec_conformance.probes.updates import is_writable
from faultspec_conformance.probes.whole_lists import configured_query, read_pages
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.filters import ListFilter, find_filters
from faultspec_conformance.session.fixtures import request_to, written_values
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.next_pages import paging_of
from faultspec_conformance.session.observation import Observation, failed
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import (
    CreatedResource,
    is_json_write,
    objects_in,
    path_of,
)

_UPDATED, _DELETED = "writes/updated", "writes/deleted"

#: Filters of one list that are read.
_FILTERS = 3


@dataclass(frozen=True, slots=True)
class FilteredPage:
    """A filtered list that shows the resource. ``wanted``: the value that the list is filtered by.

    ``page``: the page that shows the resource.
    """

    filter: ListFilter
    wanted: object
    page: Observation

    @property
    def line(self) -> str:
        """The list and its filter."""
        return f"{self.page.exchange.operation} with `{self.filter.name}={self.wanted}`"

    def is_left_by(self, item: Mapping[str, object]) -> bool:
        """Whether an item no longer fits the filter."""
        return self.filter.fits(item, self.wanted) is False


@dataclass(frozen=True, slots=True)
class FilteredEffects:
    """The filtered lists of the kind of a resource. ``settle`` waits until reads show writes."""

    session: HttpSession
    resource: CreatedResource
    get: Callable[[], Observation]
    settle: Callable[[], None]

    def find(self, state: Observation) -> list[FilteredPage]:
        """Return the lists by values of the resource that show it."""
        item = self._item(state)
        listing = self.resource.kind.operation("list")
        if listing is None or listing.method != "GET" or not item:
            return []
        paging = paging_of(listing, self.resource.kind.config.pages)
        filters = find_filters(self.session.description, listing, paging, [item])
        configured = configured_query(self.session, listing)
        usable = [
            one
            for one in filters
            if one.exact
            and one.relation == "equal"
            and one.name not in configured
            and isinstance(item[one.member], str | int)
        ]
        pages = ((one, item[one.member]) for one in usable[:_FILTERS])
        found = (
            FilteredPage(one, value, page)
            for one, value in pages
            for page in self._read(one, value)
        )
        return [one for one in found if lists_item(one.page, self.resource)]

    def check_updates(
        self, operations: Iterable[ServiceOperation], shown: list[FilteredPage], state: Observation
    ) -> Iterator[Outcome]:
        """Check that no list by a value that the resource had before its updates shows it: before
        those that were sent, and before one that gives it another choice, and then its own again.
        """
        yield from self._check_left(shown)
        for one, operation, other in self._other_choices(operations, shown):
            write = self._send(operation, {one.filter.member: other}, state)
            if write is not None:
                yield from self._check_kept(one, operation, write)
                yield from self._check_left([one])
                self._send(operation, {one.filter.member: one.wanted}, self.get())
                return

    def _check_kept(
        self, one: FilteredPage, operation: ServiceOperation, write: Observation
    ) -> Iterator[Outcome]:
        """Check that a member that the document has for updates is not what it was."""
        member = one.filter.member
        if not write.ok or not is_writable(self.session, operation, member):
            return
        if self._item(self.get()).get(member) == one.wanted:
            self.settle()
            after = self.get()
            if self._item(after).get(member) == one.wanted:
                message = f"{operation.name} succeeded ({write}), but `{member}` of the "
                message += f"{self.resource.kind.name} stays as it was"
                evidence, pointer = (one.page, write, after), f"/{member}"
                yield failed(_UPDATED, message, *evidence, pointer=pointer, variant="kept")

    def _send(
        self, operation: ServiceOperation, body: object, state: Observation
    ) -> Observation | None:
        """Update the resource. Return the answer; None if the update may be pending."""
        spec = request_to(self.session, operation, self.resource.item_values(operation))
        spec = replace(spec, identity=self.resource.owner, body=body)
        _, write = call_at_state(self.session, operation, spec, state, get=self.get)
        return None if may_be_pending(write) else write

    def _last_update(self) -> Observation | None:
        """Return the last update of the resource that succeeded."""
        item = self.resource.kind.item
        path = path_of(item, self.resource.values) if item is not None else None
        updates = (
            one
            for one in reversed(self.session.knowledge.exchanges)
            if one.ok
            and one.exchange.request.method in ("PUT", "PATCH")
            and one.exchange.request.target == path
        )
        return next(updates, None)

    def _check_left(self, shown: list[FilteredPage]) -> Iterator[Outcome]:
        """Check that the lists by values that the resource no longer has do not show it."""
        item, write = self._item(self.get()), self._last_update()
        for one in shown:
            if write is None or not one.is_left_by(item) or self._find_page(one) is None:
                continue
            self.settle()
            item, page = self._item(self.get()), self._find_page(one)
            if page is not None and one.is_left_by(item):
                name = self.resource.kind.name
                message = f"{write.exchange.operation} succeeded ({write}), but {one.line} shows "
                message += f"the {name}, whose `{one.filter.member}` is {item[one.filter.member]}"
                evidence = (one.page, write, page)
                yield failed(_UPDATED, message, *evidence, variant="filter")

    def check_gone(
        self, shown: list[FilteredPage], state: Observation, answer: Observation
    ) -> Iterator[Outcome]:
        """Check that the lists no longer show the deleted resource as they did."""
        for one in shown:
            page = self._find_page(one)
            if page is None or not lists_unchanged(page, self.resource, state, one.page):
                continue
            self.settle()
            page = self._find_page(one)
            if page is not None and lists_unchanged(page, self.resource, state, one.page):
                message = f"{answer.exchange.operation} succeeded ({answer}), but {one.line} "
                message += f"shows the {self.resource.kind.name}"
                evidence = (one.page, answer, page)
                yield failed(_DELETED, message, *evidence, variant="filter")

    def _other_choices(
        self, operations: Iterable[ServiceOperation], shown: list[FilteredPage]
    ) -> Iterator[tuple[FilteredPage, ServiceOperation, object]]:
        """Yield filters by a choice that a PATCH can change, with the PATCH and the other value."""
        document = self.session.description.document
        for operation in operations:
            if operation.method != "PATCH" or operation.body is None:
                continue
            properties = sampling.properties_of(
                sampling.merge_all_of(document, operation.body.schema)
            )
            for one in shown if is_json_write(operation) else ():
                member = sampling.only_branch(document, properties.get(one.filter.member, {}))
                choices = (value for value in sequence(member.get("enum")) if value)
                other = next((value for value in choices if value != one.wanted), None)
                if other is not None and not sampling.is_read_only(member):
                    yield one, operation, other

    def _find_page(self, one: FilteredPage) -> Observation | None:
        """Return the page of the list that shows the resource; None if none does."""
        pages = self._read(one.filter, one.wanted)
        return next((page for page in pages if lists_item(page, self.resource)), None)

    def _read(self, one: ListFilter, wanted: object) -> list[Observation]:
        listing, kind = self.resource.kind.operation("list"), self.resource.kind
        assert listing is not None, kind.name
        values = dict(self.resource.values_for(listing.template)) | written_values(
            self.session, listing, kind.call("list")
        )
        if not set(listing.placeholders) <= set(values):
            return []
        text = str(wanted).lower() if isinstance(wanted, bool) else wanted
        query = {**configured_query(self.session, listing), one.name: text}
        owner = self.resource.owner
        spec = RequestSpec("GET", listing.template, identity=owner, values=values, query=query)
        return read_pages(
            self.session,
            listing,
            kind.config.pages,
            spec,
            until=lambda page: lists_item(page, self.resource),
        )

    def _item(self, state: Observation) -> Mapping[str, object]:
        """Return the representation of the resource in a read: the object with its id."""
        found = objects_in(state.json) if state.ok else []
        wanted = str(self.resource.id)
        own = (one for one in found if any(str(value) == wanted for value in one.values()))
        return next(own, found[0] if found else {})
