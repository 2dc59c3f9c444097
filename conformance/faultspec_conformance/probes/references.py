"""The things that errors refer to: files, pages and resources that their reader looks for."""

from collections.abc import Callable, Iterator
from itertools import islice

from faultspec_conformance.drivers.http import SAFE_METHODS
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.base import Session
from faultspec_conformance.session.calls import CallSession, ToolSession
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
from faultspec_conformance.session.references import (
    ErrorReference,
    Found,
    host_of,
    is_path_or_url,
    judge_status,
    look_up_file,
    look_up_page,
    own_url,
    references_in,
    target_of,
)
from faultspec_conformance.session.requests import RequestSpec

CLAUSE = "references/exist"

#: References that are followed. Each costs a request, or a look at the disk.
_FOLLOWED = 50


def http_references(session: HttpSession) -> Iterator[ProbeResult]:
    """Follow the references of all errors; what the service itself has is read as their caller."""

    def read(reference: ErrorReference, url: str) -> Found:
        caller = session.config.identity(reference.answer.exchange.identity)
        spec = RequestSpec("GET", target_of(url), identity=caller, route=None)
        return judge_status(session.call(spec).status, own=True)

    yield from _follow(session, session.driver.base, read)


def call_references(session: CallSession) -> Iterator[ProbeResult]:
    """Follow the references of all errors. Resources are those of MCP."""

    def read(reference: ErrorReference, url: str) -> Found:
        if reference.kind == "url":
            return look_up_page(url, (host_of(url),))
        if not isinstance(session, ToolSession):
            return Found(None, "cannot be read: JSON-RPC has no resources")
        found = session.resource(reference.value)
        return Found(True) if found.ok else Found(False, f"cannot be read ({found})")

    yield from _follow(session, session.config.jsonrpc or session.config.mcp, read)


def _follow(
    session: Session, address: str, read: Callable[[ErrorReference, str], Found]
) -> Iterator[ProbeResult]:
    """Follow each reference once for each caller. Those of a notification or a log count if no
    answer has them. ``read``: of what the service itself has.
    """
    seen: dict[tuple[object, ...], ErrorReference] = {}
    answered: set[tuple[str, str]] = set()
    for answer in sorted(session.observations.exchanges, key=_is_repetition):
        for reference in references_in(session.contract, answer):
            target = reference.kind, reference.value
            if not _is_repetition(answer):
                answered.add(target)
            elif target in answered:
                continue
            seen.setdefault((*target, answer.exchange.identity), reference)
    for reference in islice(seen.values(), _FOLLOWED):
        yield from attempt(_check(session, address, reference, read), CLAUSE)
    if not seen:
        yield not_exercised(CLAUSE, "no error refers to anything")


def _is_repetition(seen: Observation) -> bool:
    """Whether an error came in a notification or a log, not in an answer."""
    return seen.exchange.transport in ("event", "log")


def _check(
    session: Session,
    address: str,
    reference: ErrorReference,
    read: Callable[[ErrorReference, str], Found],
) -> Iterator[Outcome]:
    found = _look_up(session, address, reference, read)
    if found is None:
        return
    what = f"the {reference.kind} that `{reference.name}` of the error names"
    if found.exists is None:
        yield not_exercised(CLAUSE, f"{what} {found.reason}")
    elif found.exists:
        yield passed(CLAUSE)
    elif _was_removed(session, address, reference):
        yield not_exercised(CLAUSE, f"{what} {found.reason}, since the run removed it later")
    else:
        message = f"{what} {found.reason}"
        yield failed(CLAUSE, message, reference.answer, variant=reference.name)


def _was_removed(session: Session, address: str, reference: ErrorReference) -> bool:
    """Whether a later request of the run may have removed what an error refers to: one that removes
    it or what it lies in, or that names it in its body, as the deletion of several items does.
    """
    url = own_url(address, reference.value)
    if url is None:
        return False
    path = target_of(url).partition("?")[0].rstrip("/")
    name = path.rpartition("/")[2]
    exchanges = iter(session.observations.exchanges)
    any(seen is reference.answer for seen in exchanges)  # those that are left are later
    for request in (seen.exchange.request for seen in exchanges if seen.ok):
        there = request.target.partition("?")[0].rstrip("/")
        if request.method == "DELETE" and f"{path}/".startswith(f"{there}/"):
            return True
        named = {str(value) for _, value in leaves(parse_body(request.body))}
        if request.method not in SAFE_METHODS and name in named:
            return True
    return False


def _look_up(
    session: Session,
    address: str,
    reference: ErrorReference,
    read: Callable[[ErrorReference, str], Found],
) -> Found | None:
    """The result of following a reference; None of an id, which has a clause of its own."""
    config = session.config.references
    if reference.kind == "file":
        if config.files is None:
            return Found(None, "is not looked for: `references` has no `files`")
        return look_up_file(config.files, reference.value)
    url = own_url(address, reference.value)
    if reference.kind == "url":
        return look_up_page(reference.value, config.hosts) if url is None else read(reference, url)
    if not is_path_or_url(reference.value):
        return None
    if url is None and isinstance(session, HttpSession):
        return Found(None, "leads to another service")
    return read(reference, url or reference.value)
