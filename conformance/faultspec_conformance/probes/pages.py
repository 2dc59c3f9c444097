"""Lists that are paged: the pages together show each item once, and end; a made-up cursor is
refused.

A list of three items or more is read in one piece, then page by page. What the pages show is
compared with the whole.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from urllib.parse import urljoin, urlsplit

from faultspec.exchange.finding import Level
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import Identity
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.fixtures import make, request_to, written_values
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.meanings import means_status
from faultspec_conformance.session.next_pages import Paging, paging_of
from faultspec_conformance.session.observation import (
    INVALID_INPUT,
    Observation,
    failed,
    not_exercised,
    passed,
)
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.pagination import longest_page, next_address
from faultspec_conformance.session.parameters import id_of_item
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import (
    CreatedResource,
    ResourceKind,
    last_placeholder,
)

_PAGES, _CURSOR = "lists/pages", "lists/cursor"

#: Statuses of addresses at which nothing is.
_NOWHERE = (404, 405, 410)

#: The clauses about the pages of a list.
CLAUSES = (_PAGES, _CURSOR)

#: Items of a list that has a first, a middle and a last page.
_ITEMS = 3

#: Items that are created at most for one list, if its pages have a least size.
_CREATED = 6

#: Items that are created at most for a list that is longer than a page without a size. The requests
#: that are left are so many times as many.
_OF_DEFAULT, _SHARE = 25, 8

#: Statuses of a page that is asked for beyond the last one.
_BEYOND = (400, 404, 410, 416, 422)

#: Words of a code that refuses a cursor.
_OF_CURSORS = re.compile(r"cursor|page|paging|pagination|continuation", re.IGNORECASE)


def paged_lists(session: HttpSession) -> Iterator[ProbeResult]:
    """Read the list of each kind of resource page by page."""
    asked = False
    for kind in session.turn:
        listing = kind.operation("list")
        if listing is not None and listing.method == "GET":
            asked = True
            yield from attempt(_check_list(session, kind, listing), *CLAUSES)
    if not asked:
        reason = "no resource has a `list`"
        yield from (not_exercised(clause, reason) for clause in CLAUSES)


def _check_list(
    session: HttpSession, kind: ResourceKind, listing: ServiceOperation
) -> Iterator[Outcome]:
    paging = paging_of(listing, kind.config.pages)
    if paging.size is None:
        reason = f"no parameter of {listing.name} is known to be the size of a page"
        yield from (not_exercised(clause, reason) for clause in CLAUSES)
        return
    resource = session.knowledge.created.get(kind.name)
    owner = resource.owner if resource is not None else session.caller
    spec = _request_of_list(session, kind, listing, resource)
    if isinstance(spec, str):
        yield from (not_exercised(clause, spec) for clause in CLAUSES)
        return
    yield from _List(
        session=session,
        kind=kind,
        listing=listing,
        paging=paging,
        spec=replace(spec, identity=owner),
    ).outcomes()


def _request_of_list(
    session: HttpSession,
    kind: ResourceKind,
    listing: ServiceOperation,
    resource: CreatedResource | None,
) -> RequestSpec | str:
    """Return the request of a list without its pages, or why its path cannot be filled."""
    values = dict(resource.values_for(listing.template)) if resource is not None else {}
    values |= written_values(session, listing, kind.call("list"))
    if not set(listing.placeholders) <= set(values):
        return f"no resource could be made that {listing.name} is below"
    return request_to(session, listing, values)


@dataclass(slots=True)
class _PageWalk:
    """The pages that were read one after another, each with the ids of its items.

    ``problem``: what is wrong with them, and which of several mistakes that is. ``undecided``: why
    nothing follows from them.
    """

    pages: list[Observation] = field(default_factory=list)
    ids: list[list[str]] = field(default_factory=list)
    second: Mapping[str, object] = field(default_factory=dict)
    problem: tuple[str, str] | None = None
    undecided: str | None = None

    @property
    def seen(self) -> list[str]:
        """The ids on all pages, in order."""
        return [one for ids in self.ids for one in ids]


@dataclass(frozen=True, slots=True)
class _Whole:
    """The list in one piece. ``full``: it has as many items as one page may have, and others may
    follow.
    """

    page: Observation
    ids: list[str]
    full: bool


@dataclass(frozen=True, slots=True)
class _List:
    """One list, as its owner reads it."""

    session: HttpSession
    kind: ResourceKind
    listing: ServiceOperation
    paging: Paging
    spec: RequestSpec

    def outcomes(self) -> Iterator[Outcome]:
        """Compare the pages with the whole list; then send made-up cursors."""
        whole = self._read_whole()
        lacking = self._lacking(whole) if isinstance(whole, _Whole) else 0
        if 0 < lacking <= _CREATED and self._add_items(lacking):
            whole = self._read_whole()
        size = self._size(whole) if isinstance(whole, _Whole) else 0
        if isinstance(whole, str) or not 0 < size < len(whole.ids):
            few = f"{self.listing.name} has too few items for several pages"
            reason = whole if isinstance(whole, str) else few
            yield from (not_exercised(clause, reason) for clause in CLAUSES)
            return
        walk = self._walk(whole, size)
        outcome = self._judge(whole, walk)
        yield (self._find_dead_link(walk) if outcome.kind == "passed" else None) or outcome
        yield from self._check_default_page(walk)
        yield from self._check_cursor(walk)

    def _find_dead_link(self, walk: _PageWalk) -> Outcome | None:
        """Follow the link of the first page to the next one, if its path is not that of the list.
        Return the failure if nothing is there; it is a warning if a proxy may put the rest of the
        path before that of the list.
        """
        link = next_address(walk.pages[0]) if walk.pages else None
        if link is None:
            return None
        first = walk.pages[0]
        own = first.exchange.request.target.partition("?")[0]
        parts = urlsplit(urljoin(own, link))
        if parts.path == own:
            return None
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        answer = self.session.call(RequestSpec("GET", target, identity=self.spec.identity))
        if answer.status not in _NOWHERE:
            return None
        name = self.listing.name
        message = f"{name} links to `{parts.path}` as its next page, which is answered {answer}"
        level: Level = "warning" if parts.path.endswith(own) else "error"
        return failed(_PAGES, message, first, answer, variant="link", level=level)

    # ---- the whole list

    def _read_whole(self) -> _Whole | str:
        """Return the list in as few pages as the document allows, or why its items are not
        known.
        """
        query = self._longest_query(longest_page(self.listing))
        page = self._get(query)
        if page.status in INVALID_INPUT and query:
            query = {}
            page = self._get(query)
        if not page.ok:
            return f"the service answered {page} to {self.listing.name}"
        ids = self._ids(page)
        if ids is None or len(set(ids)) < len(ids):
            return f"the items of {self.listing.name} have no ids"
        asked = next(iter(query.values()), 0)
        return _Whole(page, ids, not isinstance(asked, int) or len(ids) >= asked)

    def _longest_query(self, longest: Mapping[str, object]) -> dict[str, object]:
        """Return the query of the longest page under the name that the configuration gives."""
        size = self.paging.size
        if size is None:
            return {}
        most = size.schema.get("maximum")
        usual = next(iter(longest.values()), 100)
        return {size.name: most if isinstance(most, int) else usual}

    def _ids(self, page: Observation) -> list[str] | None:
        """Return the ids of the items on a page; None if an item has none."""
        name = last_placeholder(self.kind)
        pointer = (self.kind.config.id or "").rpartition("/")[2]
        found = []
        for item in self.paging.items(page):
            own = item.get(pointer) if pointer and isinstance(item, dict) else None
            value = own if own is not None else id_of_item(item, name)
            if value is None:
                return None
            found.append(json.dumps(value))
        return found

    def _lacking(self, whole: _Whole) -> int:
        """Return how many items are lacking for two equal pages and a last one with one item."""
        least = max(_ITEMS, 2 * self._least_size() + 1)
        if len(whole.ids) >= least:
            return 0 if whole.full else 1 - len(whole.ids) % 2
        return least - len(whole.ids)

    def _add_items(self, count: int) -> bool:
        """Create items of the list; return whether all could be created."""
        owner: Identity | None = self.spec.identity
        made = (make(self.session, self.kind, owner=owner) for _ in range(count))
        return all(isinstance(one, CreatedResource) for one in made)

    def _least_size(self) -> int:
        least = self.paging.size.schema.get("minimum") if self.paging.size is not None else 1
        return least if isinstance(least, int) and least > 0 else 1

    def _size(self, whole: _Whole) -> int:
        """Return the number of items to ask for on a page."""
        return max(self._least_size(), (len(whole.ids) - 1) // 2)

    # ---- page by page

    def _get(self, query: Mapping[str, object]) -> Observation:
        return self.session.call(replace(self.spec, query={**self.spec.query, **query}))

    def _walk(self, whole: _Whole, size: int) -> _PageWalk:
        assert self.paging.size is not None
        walk = _PageWalk()
        query: dict[str, object] = {self.paging.size.name: size}
        expected = ceil(len(whole.ids) / size)
        numbers = self._numbers(size)
        if numbers is None:
            walk.undecided = f"the first page of {self.listing.name} has no known number"
            return walk
        named = False
        while walk.problem is None and walk.undecided is None:
            here = len(walk.pages)
            numbered = {} if named or not self.paging.is_numbered else numbers(here)
            page = self._get({**query, **numbered})
            if self._keep(walk, page, size, len(whole.ids)):
                break
            if whole.full and len(walk.seen) >= len(whole.ids):
                break
            following = self._following(page, {**query, **numbered}, walk.ids[-1])
            if here == 0:
                named, walk.second = following is not None, following or {}
            if walk.problem is not None:
                break
            if not self._goes_on(walk, following, named=named, expected=expected):
                break
            query = following if named and following is not None else query
        return walk

    def _following(
        self, page: Observation, query: Mapping[str, object], ids: list[str]
    ) -> dict[str, object] | None:
        last = json.loads(ids[-1]) if ids else None
        return self.paging.next_query(page, query, last)

    def _numbers(self, size: int) -> "_Numbering | None":
        """Return the parameters of each page by its number from 0; None if the first is unknown."""
        paging = self.paging
        if paging.offset is not None:
            return _Numbering(paging.offset.name, 0, size)
        if paging.page is None:
            return _Numbering("", 0, 0)
        first = paging.first_number()
        if first is None:
            first = self._find_first_number(size)
        return None if first is None else _Numbering(paging.page.name, first, 1)

    def _find_first_number(self, size: int) -> int | None:
        """Return 0 if the page of that number is the first one, and 1 if it is refused or the
        same as page 1.
        """
        assert self.paging.page is not None
        assert self.paging.size is not None
        sized = {self.paging.size.name: size}
        zero, plain = self._get({**sized, self.paging.page.name: 0}), self._get(sized)
        if zero.status in _BEYOND:
            return 1
        if not zero.ok or not plain.ok:
            return None
        one = self._get({**sized, self.paging.page.name: 1})
        if self._ids(one) == self._ids(plain):
            return 1
        return 0 if self._ids(zero) == self._ids(plain) else None

    def _keep(self, walk: _PageWalk, page: Observation, size: int, total: int) -> bool:
        """Add a page to a walk; return whether the walk ends with it."""
        name, shown = self.listing.name, len(walk.seen)
        if not page.ok:
            refused = page.status in _BEYOND
            if refused and shown < total and walk.pages:
                walk.pages.append(page)
                text = f"the service answered {page} to page {len(walk.pages)} of {name}"
                walk.problem = f"{text}, after {shown} of {total} items", "refused"
            elif not (refused and walk.pages):
                walk.undecided = f"the service answered {page} to {name}"
            return True
        ids = self._ids(page)
        if ids is None:
            walk.undecided = f"the items of {name} have no ids"
            return True
        walk.pages.append(page)
        walk.ids.append(ids)
        twice = [one for one, times in Counter(walk.seen).items() if times > 1]
        if len(ids) > size:
            walk.problem = f"{name} answers {len(ids)} items to a page of {size}", "longer"
        elif twice:
            text = f"page {len(walk.pages)} of {name} shows {len(set(ids) & set(twice))} of its"
            walk.problem = f"{text} {len(ids)} items a second time", "repeated"
        return False

    def _goes_on(self, walk: _PageWalk, following: object, *, named: bool, expected: int) -> bool:
        """Return whether another page is to be read, after what the last one says of it."""
        name, read = self.listing.name, len(walk.pages)
        more = self.paging.more(walk.pages[-1])
        if read > expected + 1:
            if not walk.ids[-1] and (following is not None or more):
                text = (
                    f"page {read} of {name}, which has {expected}, is empty, and names another one"
                )
                walk.problem = walk.problem or (text, "endless")
            return False
        if named:
            if following is None and more:
                text = f"page {read} of {name} says that another one follows, and names none"
                walk.problem = walk.problem or (text, "endless")
            return following is not None
        if not self.paging.is_numbered:
            known = self.paging.names_next(self.session.description, self.listing)
            if not known and more is not False:
                walk.undecided = (
                    f"no member of the answers to {name} is known to name the next page"
                )
            return False
        if more is True and read >= expected:
            text = f"page {read} of {name}, which has {expected}, says that another one follows"
            walk.problem = walk.problem or (text, "endless")
        if self.paging.counts(walk.pages[-1]) and read >= expected:
            return False  # a client knows the last page, so that what is behind it may be anything
        return more is not False and read <= expected and bool(walk.ids[-1])

    # ---- verdicts

    def _judge(self, whole: _Whole, walk: _PageWalk) -> Outcome:
        """Check that the pages show each item of the whole list once."""
        if walk.undecided is not None:
            return not_exercised(_PAGES, walk.undecided)
        missing = [one for one in whole.ids if one not in set(walk.seen)]
        problem = walk.problem
        if missing and problem is None:
            last = missing == whole.ids[-len(missing) :]
            where = "the last" if last else "some"
            count = f"{len(missing)} of {len(whole.ids)} items, {where} of them"
            text = f"the {len(walk.pages)} pages of {self.listing.name} lack {count}"
            problem = text, "truncated" if last else "skipped"
        if problem is None:
            return passed(_PAGES)
        again = self._read_whole()
        if isinstance(again, str) or again.ids != whole.ids:
            return not_exercised(_PAGES, f"{self.listing.name} changes while it is read")
        message, variant = problem
        return failed(_PAGES, message, whole.page, *walk.pages, variant=variant)

    def _check_default_page(self, walk: _PageWalk) -> Iterator[Outcome]:
        """Check that a page without a size names the next one if the list has more items.

        Items are created if the document gives the number on such a page.
        """
        names_next = walk.second or self.paging.names_next(self.session.description, self.listing)
        if not names_next or walk.undecided is not None or walk.problem is not None:
            return
        self._lengthen()
        for is_last in (False, True):
            page, whole = self._get({}), self._read_whole()
            ids = self._ids(page) if page.ok else None
            if isinstance(whole, str) or not ids or len(ids) >= len(whole.ids):
                return
            following = self.paging.next_query(page, {}, json.loads(ids[-1]))
            if following is not None or self.paging.more(page) or self.paging.counts(page):
                yield passed(_PAGES)
                return
            if is_last:
                message = (
                    f"{self.listing.name} without a size shows {len(ids)} items and names no next "
                    f"page; the list has {len(whole.ids)}"
                )
                yield failed(_PAGES, message, page, whole.page, variant="default")

    def _lengthen(self) -> None:
        """Create items until the list is longer than a page without a size, as documented."""
        usual = self.paging.size.schema.get("default") if self.paging.size is not None else None
        whole = self._read_whole() if isinstance(usual, int) and self.session.writable else ""
        lacking = usual + 1 - len(whole.ids) if isinstance(whole, _Whole) and usual else 0
        if 0 < lacking <= _OF_DEFAULT and self._can_afford(lacking):
            self._add_items(lacking)

    def _can_afford(self, count: int) -> bool:
        """Whether so many creations are a small part of the requests that are left."""
        driver = self.session.driver
        return (driver.limits.requests - driver.requests) >= _SHARE * count

    def _check_cursor(self, walk: _PageWalk) -> Iterator[Outcome]:
        """Check that made-up cursors do not silently give the first page.

        One of them sorts before every other text of its form, one behind it: where a cursor is the
        key of an item, one of them is a place in the list.
        """
        held = self.paging.cursor_in(walk.second)
        if held is None or not walk.ids or walk.undecided is not None:
            yield not_exercised(_CURSOR, f"no answer to {self.listing.name} has a cursor")
            return
        name, cursor = held
        answers = []
        for letter in "0z":
            made_up = re.sub(r"[0-9A-Za-z]", letter, cursor)
            answer = self._get({**walk.second, name: made_up})
            answers.append(answer)
            if not answer.ok or self._ids(answer) != walk.ids[0] or made_up == cursor:
                line = f"the service answered {answer} to a made-up `{name}`"
                refused = answer.status in _BEYOND
                yield passed(_CURSOR) if refused else not_exercised(_CURSOR, line)
                return
        message = f"{self.listing.name} answers its first page to a made-up `{name}`"
        code = self._refusal()
        message += f"; expected {code}" if code is not None else ""
        level: Level = "warning" if code is None else "error"
        yield failed(_CURSOR, message, walk.pages[0], *answers, level=level)

    def _refusal(self) -> str | None:
        """Return the code of the taxonomy that refuses a cursor, or None."""
        return next(
            (
                code.name
                for code in self.session.taxonomy.shared_live_codes()
                if _OF_CURSORS.search(f"{code.name} {code.summary}")
                and any(means_status(code, status) for status in _BEYOND)
            ),
            None,
        )


@dataclass(frozen=True, slots=True)
class _Numbering:
    """The parameter of numbered pages: ``first`` and then ``step`` more for each page. Without a
    name, pages have no numbers.
    """

    name: str
    first: int
    step: int

    def __call__(self, page: int) -> dict[str, object]:
        return {self.name: self.first + page * self.step} if self.name else {}
