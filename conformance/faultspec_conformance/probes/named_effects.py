"""Refused writes that name a resource in their bodies, such as the account that a payment debits:
the resource is read before and after the same write.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from faultspec.exchange.body import replace_value
from faultspec.language.spelling import snake
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.probes.effects import GONE
from faultspec_conformance.probes.failed_effects import find_moved, has_no_effect
from faultspec_conformance.probes.resending import LARGEST, ask_again, with_body
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.fixtures import make
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    leaves,
    not_exercised,
    parse_body,
    passed,
)
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import (
    ResourceKind,
    creation_path,
    path_of,
    refers_to,
)

_CLAUSE = "writes/refused"

#: Refused writes that are sent again, one of each operation and code.
_MOST = 12

#: Resources that the body of one write names.
_NAMED = 2

#: Methods of writes.
_WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})

#: Statuses of refusals that come before a service looks at the write itself, or for the moment.
_EARLY = frozenset({401, 403, 404, 405, 413, 415, 429})

#: Seconds between two reads that show which members change by themselves: many clocks count whole
#: seconds.
_TICK = 1.1

#: Characters of an id that is recognised under any name. Shorter ones count under a name of their
#: kind: other numbers are quantities.
_TELLING = 6

#: Members that count requests, refused ones too, by their words. Another count, such as
#: `seedCount`, is of what the item has.
_COUNTERS = re.compile(
    r"count|counter|(?:.*_)?(?:usages?|calls?|requests?|hits?|used|uses)(?:_.*)?"
)


@dataclass(frozen=True, slots=True)
class NamedResource:
    """A resource that can be read, and who created it."""

    path: str
    read: ServiceOperation
    kind: ResourceKind
    owner: str | None


def named_effects(session: HttpSession) -> Iterator[ProbeResult]:
    """Send refused writes again, between two reads of the resources that their bodies name."""
    known = _find_created(session)
    seen: set[tuple[str | None, str | None, int]] = set()
    for refused in reversed(session.observations.exchanges):
        cause = refused.exchange.operation, refused.code, refused.status
        if cause in seen or len(seen) >= _MOST or not promises_no_effect(session, refused):
            continue
        request = refused.exchange.request
        path = request.target.partition("?")[0]
        named = _find_named(path, parse_body(request.body), known)
        seen |= {cause} if named else set()
        for one in named[:_NAMED]:
            yield from attempt(_compare(session, refused, one), _CLAUSE)


def find_concerned(session: HttpSession, spec: RequestSpec) -> list[NamedResource]:
    """The created resources that a write addresses or lies below, and that its body names."""
    if spec.method not in _WRITES:
        return []
    known = _find_created(session)
    path = path_of(spec.path, spec.values)
    body = parse_body(spec.raw) if spec.raw is not None else spec.body
    above = {
        one.path: one
        for same_id in known.values()
        for one in same_id
        if f"{path}/".startswith(f"{one.path}/")
    }
    nearest = sorted(above.values(), key=lambda one: len(one.path), reverse=True)[:1]
    return [*nearest, *_find_named(path, body, known)]


def _find_created(session: HttpSession) -> Mapping[str, list[NamedResource]]:
    """The resources that creations of the run made, by their ids."""
    found: dict[str, list[NamedResource]] = {}
    for creation in session.observations.exchanges:
        exchange = creation.exchange
        if not creation.ok or exchange.request.method not in ("POST", "PUT"):
            continue
        for kind in session.kinds:
            read, path = kind.operation("read"), creation_path(kind, creation)
            if read is not None and path is not None:
                named = NamedResource(path, read, kind, owner=exchange.identity)
                found.setdefault(unquote(path.rpartition("/")[2]), []).append(named)
    return found


def promises_no_effect(session: HttpSession, observation: Observation) -> bool:
    """Whether a write was refused, or failed with a code whose `effect` is none."""
    request, status = observation.exchange.request, observation.status
    if request.method not in _WRITES or len(request.body) > LARGEST or status < 400:
        return False
    promised = has_no_effect(session, observation.code)
    is_known = observation.code in session.taxonomy.codes
    return promised if status >= 500 else status not in _EARLY and (promised or not is_known)


def _find_named(
    path: str, body: object, known: Mapping[str, list[NamedResource]]
) -> list[NamedResource]:
    """The created resources that the body of a write names, and its path does not."""
    found: dict[str, NamedResource] = {}
    for pointer, value in leaves(body):
        names = [part for part in pointer.split("/") if part and not part.isdigit()]
        same_id = known.get(str(value), []) if not isinstance(value, bool) else []
        is_telling = len(str(value)) >= _TELLING and len({one.path for one in same_id}) == 1
        for one in same_id:
            is_referred = bool(names) and refers_to(names[-1], one.kind.names)
            below = f"{path}/".startswith(f"{one.path}/")
            if (is_referred or is_telling) and not below:
                found.setdefault(one.path, one)
    return [*found.values()]


def _compare(session: HttpSession, refused: Observation, named: NamedResource) -> Iterator[Outcome]:
    """Compare a resource before and after a write that is refused again. It is a new one, since
    what the first write had set to a value does not change once more. What differs has to differ
    with another one too, and not without the write.
    """
    name = refused.exchange.operation
    write, one = _name_new(session, refused, named)
    first = _try(session, write, one)
    if isinstance(first, str) and one is not named:
        write, one = refused, named
        first = _try(session, write, one)
    if isinstance(first, str):
        yield not_exercised(_CLAUSE, first)
        return
    before, again, after = first
    line = f"{name} was refused with {again}, but {named.read.name}"
    if after.status in GONE:
        message = f"{line} does not find what its body names any more"
        yield failed(_CLAUSE, message, *first, variant="named")
        return
    moved = differing_places(before, after)
    if not moved:
        yield passed(_CLAUSE)
        return
    other_write, other = (write, one) if one is named else _name_new(session, refused, named)
    session.wait(_TICK, after=read_named(session, other))
    calm = differing_places(after, read_named(session, one))
    second = _try(session, other_write, other)
    if isinstance(second, str):
        yield not_exercised(_CLAUSE, second)
        return
    lasting = [
        place
        for place in differing_places(second[0], second[2])
        if place in moved and place not in calm
    ]
    if not lasting:
        reason = f"what {named.read.name} shows changes by itself, or once"
        yield not_exercised(_CLAUSE, reason)
        return
    message = f"{line}, which shows what its body names, differs at `{lasting[0]}`"
    evidence = (before, after, again)
    yield failed(_CLAUSE, message, *evidence, variant="named")


def _name_new(
    session: HttpSession, refused: Observation, named: NamedResource
) -> tuple[Observation, NamedResource]:
    """The write with the id of a new resource in place of that of another one, and the new one; the
    same ones if none can be made.
    """
    fresh = make(session, named.kind)
    if isinstance(fresh, str):
        return refused, named
    body = parse_body(refused.exchange.request.body)
    old = unquote(named.path.rpartition("/")[2])
    for pointer, value in [*leaves(body)]:
        body = replace_value(body, pointer, fresh.id) if str(value) == old else body
    path = path_of(named.read.template, fresh.values)
    owner = fresh.creation.exchange.identity
    return with_body(refused, body), NamedResource(path, named.read, named.kind, owner)


def _try(
    session: HttpSession, refused: Observation, named: NamedResource
) -> tuple[Observation, Observation, Observation] | str:
    """Return a read, the write that is refused again, and a read; or why there are none."""
    name, request = refused.exchange.operation, refused.exchange.request
    before = read_named(session, named)
    if not before.ok:
        return f"the service answered {before} to {named.read.name}"
    again = ask_again(session, refused, request.target.partition("?")[0])
    if again is None or (again.status, again.code) != (refused.status, refused.code):
        return f"{name} could not be refused again with {refused}"
    after = read_named(session, named)
    if not after.ok and after.status not in GONE:
        return f"the service answered {after} to {named.read.name}"
    return before, again, after


def read_named(session: HttpSession, named: NamedResource) -> Observation:
    """Read a resource as who created it."""
    identity = session.config.identity(named.owner)
    spec = RequestSpec("GET", named.path, identity=identity, route=named.read.template)
    return session.call(spec)


def differing_places(one: Observation, other: Observation) -> list[str]:
    """The places at which two reads differ, but for those that tell of a try or count requests."""
    moved = find_moved(one, other)
    return [
        place
        for place in moved
        if not any(_COUNTERS.fullmatch(snake(part)) for part in place.split("/"))
    ]
