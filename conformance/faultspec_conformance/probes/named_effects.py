"""Refused writes that name a resource in their bodies, such as the account that a payment debits:
the resource is read before and after the same write.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.probes.failed_effects import TRIES
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    differing_pointers,
    failed,
    leaves,
    not_exercised,
    parse_body,
    passed,
)
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import creation_path

_CLAUSE = "writes/refused"

#: Refused writes that are sent again, one of each operation and code.
_MOST = 12

#: Resources that the body of one write names.
_NAMED = 2

#: Methods of writes.
_WRITES = frozenset({"POST", "PUT", "PATCH"})

#: Statuses of refusals that come before a service looks at the write itself, or for the moment.
_EARLY = frozenset({401, 403, 404, 405, 413, 415, 429})

#: Seconds between two reads that show which members change by themselves: many clocks count whole
#: seconds.
_TICK = 1.1

#: Bytes of a body that is sent again.
_LARGEST = 256 * 1024


@dataclass(frozen=True, slots=True)
class _Named:
    """A resource that can be read, and who created it."""

    path: str
    read: ServiceOperation
    owner: str | None


def named_effects(session: HttpSession) -> Iterator[ProbeResult]:
    """Send refused writes again, between two reads of the resources that their bodies name."""
    known = _find_created(session)
    seen: set[tuple[str | None, str | None, int]] = set()
    for refused in reversed(session.observations.exchanges):
        named = _find_named(refused, known) if _has_no_effect(session, refused) else []
        cause = refused.exchange.operation, refused.code, refused.status
        if not named or cause in seen or len(seen) >= _MOST:
            continue
        seen.add(cause)
        for one in named[:_NAMED]:
            yield from attempt(_compare(session, refused, one), _CLAUSE)


def _find_created(session: HttpSession) -> Mapping[str, _Named]:
    """The resources that creations of the run made, by their ids."""
    found = {}
    for creation in session.observations.exchanges:
        exchange = creation.exchange
        if not creation.ok or exchange.request.method not in ("POST", "PUT"):
            continue
        for kind in session.kinds:
            read, path = kind.operation("read"), creation_path(kind, creation)
            if read is not None and path is not None:
                identifier = path.rpartition("/")[2]
                found[identifier] = _Named(path, read, owner=exchange.identity)
    return found


def _has_no_effect(session: HttpSession, observation: Observation) -> bool:
    """Whether a write was refused, or failed with a code whose `effect` is none."""
    request = observation.exchange.request
    if request.method not in _WRITES or len(request.body) > _LARGEST:
        return False
    code = session.taxonomy.codes.get(observation.code or "")
    if observation.status >= 500:
        return code is not None and code.effect == "none"
    is_refused = 400 <= observation.status < 500 and observation.status not in _EARLY
    return is_refused and (code is None or code.effect == "none")


def _find_named(refused: Observation, known: Mapping[str, _Named]) -> list[_Named]:
    """The created resources that the body of a write names, and its path does not."""
    request = refused.exchange.request
    path = request.target.partition("?")[0]
    texts = dict.fromkeys(str(value) for _, value in leaves(parse_body(request.body)))
    found = (known[text] for text in texts if text in known)
    return [one for one in found if not f"{path}/".startswith(f"{one.path}/")]


def _compare(session: HttpSession, refused: Observation, named: _Named) -> Iterator[Outcome]:
    """Compare a resource before and after a write that is refused again."""
    before = _read(session, named)
    if not before.ok:
        return
    exchange = refused.exchange
    path = exchange.request.target.partition("?")[0]
    spec = RequestSpec(
        exchange.request.method,
        path,
        identity=session.config.identity(exchange.identity),
        canaries=exchange.forbidden,
        may_be_refused=True,
        may_fail=refused.status >= 500,
        route=exchange.route,
    )
    with session.driver.log_as("confirm"):
        again = session.ask(session.with_new_key(exchange).request, spec)
    name = exchange.operation
    if (again.status, again.code) != (refused.status, refused.code):
        yield not_exercised(_CLAUSE, f"{name} could not be refused again with {refused}")
        return
    after = _read(session, named)
    moved = _differences(before, after)
    if not moved:
        yield passed(_CLAUSE)
        return
    session.wait(_TICK, after=again)
    later = _read(session, named)
    lasting = [pointer for pointer in moved if pointer not in _differences(after, later)]
    if not lasting or not later.ok:
        yield not_exercised(_CLAUSE, f"what {named.read.name} shows changes by itself")
        return
    message = (
        f"{name} was refused with {again}, but {named.read.name}, which shows what its body names, "
        f"differs at `{lasting[0]}`"
    )
    evidence = (before, after, again)
    yield failed(_CLAUSE, message, *evidence, variant="named")


def _read(session: HttpSession, named: _Named) -> Observation:
    identity = session.config.identity(named.owner)
    spec = RequestSpec("GET", named.path, identity=identity, route=named.read.template)
    return session.call(spec)


def _differences(one: Observation, other: Observation) -> list[str]:
    """The places at which two reads differ, but for those that tell of a try."""
    if not other.ok:
        return []
    return sorted(
        pointer
        for pointer in differing_pointers(one.json, other.json)
        if not any(TRIES.search(part) for part in pointer.split("/"))
    )
