"""Writes that fail with a code whose `effect` is none: what they address is read before and after.

A failure is one of an upstream that the suite scripts, or of a fault switch.
"""

import re
from contextlib import suppress
from dataclasses import dataclass

from faultspec.language.spelling import snake
from faultspec.openapi.service import ServiceOperation, shape_of
from faultspec_conformance.config import PagesConfig
from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.drivers.http import SAFE_METHODS
from faultspec_conformance.probes.whole_lists import read_pages
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    Unanswered,
    differing_pointers,
    failed,
    list_items,
    not_exercised,
    passed,
)
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import path_of

#: The clause.
REFUSED = "writes/refused"

#: Seconds between two reads that show which members change by themselves: many clocks count whole
#: seconds.
_TICK = 1.1

#: Members that tell of a try, and not of its effect, by their words.
_TRIES = re.compile(
    r"etag|version|revision|(?:.*_)?(?:at|on)|(?:.*_)?(?:(?:time|date)(?:s|time|stamp)?|attempts?"
    r"|try|tries|retry|retries|fail\w*|errors?|last|updated|modified|audits?|logs?|history|events?)"
    r"(?:_.*)?"
)

#: Words of an item that stands in a list because it failed.
_FAILED_ITEM = re.compile(
    r"fail|error|declin|reject|refus|cancel|void|abort|expired", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ReadableTarget:
    """An item, or the list of a collection, at ``path``, which shows the effect of a write."""

    session: HttpSession
    read: ServiceOperation
    path: str
    write: RequestSpec

    def show(self) -> list[Observation]:
        """Return the item, or the pages of the list; empty if the service does not answer."""
        spec = RequestSpec("GET", self.path, identity=self.write.identity, route=self.read.template)
        if not self.shows_item:
            kinds = (kind for kind in self.session.kinds if kind.operation("list") == self.read)
            places = next((kind.config.pages for kind in kinds), PagesConfig())
            with suppress(Unanswered):
                return read_pages(self.session, self.read, places, spec)
            return []
        answer = self.session.try_call(spec)
        return [] if isinstance(answer, NoAnswer) else [answer]

    @property
    def shows_item(self) -> bool:
        """Whether it is an item, not a list."""
        return self.read.template.endswith("}")

    def judge(self, before: list[Observation], failure: Observation) -> Outcome:
        """Compare the state before the failed write with the state now."""
        code = self.session.taxonomy.codes.get(failure.code or "")
        name = failure.exchange.operation or self.write.operation
        if code is None or code.effect != "none" or failure.ok or not before or not before[0].ok:
            reason = f"{name} ({failure}) and the read before do not show an effect"
            return not_exercised(REFUSED, reason)
        after = self.show()
        found = self._difference(before, after) if after else None
        if found is None:
            return passed(REFUSED) if after else not_exercised(REFUSED, "no read")
        if after[-1].ok:  # a value that changes by itself is not an effect
            self.session.wait(_TICK, after=after[-1])
            again = self.show()
            if not again or not again[-1].ok or self._difference(after, again) is not None:
                return not_exercised(REFUSED, f"{self.read.name} changes by itself")
        message = (
            f"{name} failed with {failure}, whose `effect` is none, but {self.read.name} "
            f"{found or 'shows another item'}"
        )
        evidence = (before[-1], after[-1], failure)
        return failed(REFUSED, message, *evidence, variant="failed")

    def _difference(self, before: list[Observation], after: list[Observation]) -> str | None:
        """Return the difference between two reads in words; None if there is none."""
        if after[-1].status in (404, 410):
            return "does not find it any more"
        if not after[-1].ok:
            return None
        if self.shows_item:
            moved = find_moved(before[0], after[0])
            return f"differs at `{moved[0]}`" if moved else None
        known = [str(item) for page in before for item in list_items(page.json)]
        now = [str(item) for page in after for item in list_items(page.json)]
        new = [item for item in now if item not in known]
        # A list with a limit may show one item more after another was left out.
        grown = len(now) > len(known)
        return "has a new item" if grown and not any(map(_FAILED_ITEM.search, new)) else None


def readable_target(session: HttpSession, spec: RequestSpec) -> ReadableTarget | None:
    """Return what shows the effect of a write: the list of the kind of resource that a POST makes,
    else the nearest item that it addresses, else the list at its path; None if none can be read.
    """
    if spec.method in SAFE_METHODS:
        return None
    path = path_of(spec.path, spec.values)
    template = session.operation(spec.method, spec.path).template
    reads = [one for one in session.inventory.operations if one.method == "GET"]
    shape = shape_of(template)
    listing = next((one for one in reads if one.template == template), None)
    lists = [kind.operation("list") for kind in session.kinds]
    if spec.method == "POST" and listing is not None and listing in lists:
        return ReadableTarget(session, listing, path, spec)
    items = [
        read
        for read in reads
        if read.template.endswith("}") and f"{shape}/".startswith(f"{shape_of(read.template)}/")
    ]
    nearest = max(items, key=lambda read: read.template.count("/"), default=None)
    if nearest is not None:
        parts = path.split("/")[: nearest.template.count("/") + 1]
        return ReadableTarget(session, nearest, "/".join(parts), spec)
    if listing is None or spec.method != "POST":
        return None
    return ReadableTarget(session, listing, path, spec)


def find_moved(one: Observation, other: Observation) -> list[str]:
    """Return the places at which two reads differ, but for those that tell of a try."""
    return sorted(
        pointer
        for pointer in differing_pointers(one.json, other.json)
        if not any(_TRIES.fullmatch(snake(part)) for part in pointer.split("/"))
    )


def has_no_effect(session: HttpSession, name: str | None) -> bool:
    """Whether the code of this name says that the operation took no effect."""
    code = session.taxonomy.codes.get(name or "")
    return code is not None and code.effect == "none"
