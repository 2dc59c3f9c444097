"""Reads of what the caller has already, for taxonomies with a profile of HTTP.

A service may always send the whole representation. Its 304 says that the copy is current, and
updates it (RFC 9110, 13.1.2, 13.1.3 and 15.4.5).
"""

from collections.abc import Iterator
from dataclasses import replace

from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation, failed, not_exercised, passed
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.parameters import readable_operation, required_query
from faultspec_conformance.session.requests import RequestSpec

_CLAUSE = "http/not-modified"

#: Headers that a 304 has if the 200 to the same request has them (RFC 9110, 15.4.5).
_KEPT = ("Cache-Control", "Content-Location", "Date", "ETag", "Expires", "Vary")

#: The header of an answer that names the copy, and that of a request that asks with it.
_CONDITIONS = (("ETag", "If-None-Match"), ("Last-Modified", "If-Modified-Since"))

#: A validator that no service has given out.
_NEVER_GIVEN = '"faultspec-never-given"'


def conditional_reads(session: HttpSession) -> Iterator[ProbeResult]:
    """Read a list and an item again, with the validators that the service sent."""
    if session.taxonomy.profile is None:
        return
    specs = list(_reads(session))
    for spec in specs:
        yield from attempt(_read_again(session, spec), _CLAUSE)
    if not specs:
        yield not_exercised(_CLAUSE, "no operation can be read without an id")


def _reads(session: HttpSession) -> Iterator[RequestSpec]:
    """Yield the reads of a list and of the first resource."""
    operation = readable_operation(session)
    if operation is not None:
        query = required_query(session, operation)
        yield RequestSpec("GET", operation.template, query=query)
    for kind in session.turn:
        read, resource = kind.operation("read"), session.knowledge.created.get(kind.name)
        if read is not None and resource is not None:
            yield RequestSpec("GET", read.template, identity=resource.owner, values=resource.values)
            return


def _read_again(session: HttpSession, spec: RequestSpec) -> Iterator[Outcome]:
    first = session.call(spec)
    given = [
        (header, value)
        for name, header in _CONDITIONS
        if (value := first.header(name)) is not None and first.ok
    ]
    if not given:
        yield not_exercised(_CLAUSE, f"{spec.operation} gives neither an ETag nor Last-Modified")
    current = []
    for header, value in given:
        for method in ("GET", "HEAD"):
            answer = _ask(session, replace(spec, method=method), header, value)
            current.append(answer.status == 304)
            yield _check_answer(first, answer, f"{method} {spec.path} with its {header}")
    if any(current) and first.header("ETag") is not None:
        other = _ask(session, spec, "If-None-Match", _NEVER_GIVEN)
        if other.status == 304:
            message = (
                f"the service answered 304 to {spec.operation} with an ETag that it never gave"
            )
            yield failed(
                _CLAUSE,
                f"{message}: a copy that is out of date is kept",
                first,
                other,
                variant="outdated",
            )


def _ask(session: HttpSession, spec: RequestSpec, header: str, value: str) -> Observation:
    return session.call(replace(spec, headers={**spec.headers, header: value}, trigger=header))


def _check_answer(first: Observation, answer: Observation, what: str) -> Outcome:
    """Check the answer to a read of what the caller has already."""
    if answer.status == 412:
        message = f"the service answered 412 to {what}; RFC 9110, 13.1.2 and 13.1.3 ask for 304"
        return failed(_CLAUSE, message, first, answer)
    if answer.status != 304:
        return not_exercised(_CLAUSE, f"the service answered {answer} to {what}, as it may")
    for name in _KEPT:
        before, now = first.header(name), answer.header(name)
        if before is not None and now is None:
            message = f"the 304 to {what} lacks `{name}`, which the 200 has (RFC 9110, 15.4.5)"
            return failed(_CLAUSE, message, first, answer, pointer=name)
    tags = [seen.header("ETag") for seen in (first, answer)]
    if len({(tag or "").removeprefix("W/") for tag in tags}) > 1:
        message = f"the 304 to {what} has the ETag of another representation"
        return failed(_CLAUSE, message, first, answer, pointer="ETag", variant="other")
    return passed(_CLAUSE)
