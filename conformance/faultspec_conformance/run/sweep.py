"""The sweep: generated traffic, judged by the same judge.

`run.generation` writes requests without meeting the service. The driver of the run sends a part of
them. So limits, credentials, the judge and the reports are the same as for probes.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import chain, islice, zip_longest
from random import Random

from faultspec.exchange.model import Request
from faultspec.openapi.service import Description, ServiceOperation
from faultspec_conformance.config import CREDENTIALS, NOBODY, Identity
from faultspec_conformance.drivers.http import SAFE_METHODS
from faultspec_conformance.run.generation import generate_requests
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Unanswered
from faultspec_conformance.session.parameters import known_values
from faultspec_conformance.session.resources import path_of

#: Requests of the sweep that the service gets at most, in total and for one operation. More would
#: differ little.
REQUESTS, PER_OPERATION = 300, 24

#: Seconds of generation, and at most half of what is left. A dozen operations take three to eight.
SECONDS = 40.0

#: Requests a path with methods that the document does not declare. A probe sends one of them too.
_UNDECLARED = 2

#: The share of the requests without credentials.
_ANONYMOUS = 1 / 8

#: How often the sweep waits for a rate limit. After that, 429 is an answer like any other.
_PATIENT = 3

#: Requests without an answer after which the sweep ends.
_HOPELESS = 3

#: Reasons of missing answers that a report shows. More would repeat each other.
_REASONS = 4

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

#: What an HTTP client can write into a header field (RFC 9110, 5.5) and into a request line.
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\uffff]*")
_TARGET = re.compile(r"/[\x21-\x7e]{0,8000}")


@dataclass(frozen=True, slots=True)
class Swept:
    """The remarks of a sweep. ``not_run``: work that could not run. ``complete``: all was sent and
    answered.
    """

    notes: tuple[str, ...] = ()
    not_run: tuple[str, ...] = ()
    complete: bool = False


def sweep(session: HttpSession, *, seed: int) -> Swept:
    """Send generated requests within the limits that are left. No document or service raises an
    exception.

    The document decides which requests are generated; ``seed`` decides too which of them are sent.
    """
    operations = [
        operation
        for operation in session.description.operations
        if session.writable or operation.method in SAFE_METHODS
    ]
    if not operations:
        return Swept(
            notes=("no sweep: the OpenAPI document has no operation that may be called",),
            complete=True,
        )
    if session.observations.ended is not None:
        return Swept(not_run=(f"the sweep: {session.observations.ended}",))
    budget = min(session.driver.limits.requests - session.driver.requests, REQUESTS)
    if budget <= 0 or session.driver.remaining <= 0:
        return Swept(
            not_run=("the sweep: the probes have spent the limits of requests or seconds",)
        )
    if find_spec("schemathesis") is None:
        return Swept(
            not_run=(
                "the sweep: schemathesis is not installed (`pip install faultspec[conformance]`)",
            )
        )
    generated = generate_requests(
        session.description,
        seconds=min(SECONDS, session.driver.remaining / 2),
        writes=session.writable,
    )
    if not generated.requests:
        return Swept(not_run=(f"the sweep: {generated.trouble or 'no request was generated'}",))
    notes = (f"the sweep is not complete: {generated.trouble}",) if generated.trouble else ()
    random = Random(seed)
    chosen = select_requests(
        generated.requests, session.description, budget, random, writes=session.writable
    )
    not_run = send_requests(session, chosen, random)
    return Swept(notes, not_run, complete=not (notes or not_run) and session.driver.remaining > 0)


@dataclass(frozen=True, slots=True)
class PlannedRequest:
    """A request to send, and the template of its path."""

    request: Request
    template: str


def select_requests(
    requests: Iterable[Request],
    description: Description,
    budget: int,
    random: Random,
    *,
    writes: bool,
) -> tuple[PlannedRequest, ...]:
    """At most ``budget`` of the requests. The operations take turns, so that each gets its
    share.
    """
    groups: dict[str, dict[Request, PlannedRequest]] = {}
    for request in requests:
        if request.method not in SAFE_METHODS and not writes:
            continue
        template = template_of(description, request)
        if template is not None and is_sendable(request):
            groups.setdefault(f"{request.method} {template}", {})[request] = PlannedRequest(
                request, template
            )
    # Every path has requests with undeclared methods. Together they count as one operation.
    declared = {operation.name for operation in description.operations}
    turns: dict[str, list[PlannedRequest]] = {}
    for name, group in groups.items():
        turns.setdefault(name if name in declared else name.partition(" ")[2], []).extend(
            group.values()
        )
    picked = [
        _sample(group, PER_OPERATION if name in declared else _UNDECLARED, random)
        for name, group in turns.items()
    ]
    mixed = chain.from_iterable(zip_longest(*picked))
    return tuple(islice((planned for planned in mixed if planned is not None), budget))


def _sample(group: Sequence[PlannedRequest], most: int, random: Random) -> Sequence[PlannedRequest]:
    return [
        group[index] for index in sorted(random.sample(range(len(group)), min(most, len(group))))
    ]


def template_of(description: Description, request: Request) -> str | None:
    """The template of a request's path, by any method of the document; None if the path is
    unknown.
    """
    path = request.target.partition("?")[0]
    declared = (operation.method for operation in description.operations)
    for method in dict.fromkeys((request.method, *declared)):
        operation = description.at(method, path)
        if operation is not None:
            return operation.template
    return None


def is_sendable(request: Request) -> bool:
    """Whether an HTTP client can write the request. Others do not test the service."""
    return _TARGET.fullmatch(request.target) is not None and all(
        _TOKEN.fullmatch(name) and _VALUE.fullmatch(value) for name, value in request.headers
    )


def send_requests(
    session: HttpSession, planned: Iterable[PlannedRequest], random: Random
) -> tuple[str, ...]:
    """Send requests, which the session judges. Returns the reasons of missing answers."""
    reasons: dict[str, None] = {}
    unanswered = waits = 0
    for item in planned:
        who = NOBODY if random.random() < _ANONYMOUS else session.caller
        request = add_headers(session, item, who, random)
        patient = waits < _PATIENT
        before = session.driver.requests
        try:
            session.ask(request, who, route=item.template, wait_when_limited=patient)
        except Unanswered as error:
            answer = error.no_answer
            if answer.kind == "budget":
                break
            unanswered += 1
            reasons[f"the sweep: {request.method} {item.template}: {answer.reason}"] = None
            if session.observations.ended is not None or unanswered >= _HOPELESS:
                break
        waits += patient and session.driver.requests > before + 1
    return tuple(reasons)[:_REASONS]


def add_headers(
    session: HttpSession, planned: PlannedRequest, who: Identity, random: Random
) -> Request:
    """A generated request as the caller sends it: with its headers and sometimes a correlation id.

    Every other request goes to an existing resource, if its path can, so that more than absence is
    tested. DELETE does not, since the resource is still needed. Every other request drops the
    headers with which recipes provoke errors: generated requests set such a declared switch nearly
    always.
    """
    request = planned.request
    own = {name.lower() for name, _ in who.headers}
    dropped = own | (CREDENTIALS if own else set())
    if random.random() < 0.5:
        dropped |= {
            name.lower()
            for recipe in session.config.recipes
            for step in recipe.steps
            for name in step.call.headers
        }
    headers = [("User-Agent", "faultspec-conform"), *who.headers]
    if session.echo is not None:
        # A probe of its own sends malformed ones.
        dropped |= {session.echo.header.lower()}
        inbound = session.inbound()
        headers += [(session.echo.header, inbound)] if inbound is not None else []
    headers += [pair for pair in request.headers if pair[0].lower() not in dropped]
    target = request.target
    if random.random() < 0.5 and request.method != "DELETE":
        target = _fill_path(session, ServiceOperation(request.method, planned.template), target)
    return replace(request, target=target, headers=tuple(headers))


def _fill_path(session: HttpSession, operation: ServiceOperation, target: str) -> str:
    known = known_values(session, operation)
    if not operation.placeholders or not set(operation.placeholders) <= set(known):
        return target
    return path_of(operation.template, known) + target[len(target.partition("?")[0]) :]
