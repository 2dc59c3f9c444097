"""The calls that a service makes upstream for each request of the run, while the suite plays the
upstream and it answers well.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from faultspec.exchange.model import Request, first_header
from faultspec_conformance.config import PassOn, query_of
from faultspec_conformance.drivers.http import SAFE_METHODS
from faultspec_conformance.session.observation import Observation
from faultspec_conformance.session.upstreams import GOOD, ScriptedUpstream, UpstreamRequest

#: The clauses.
ONCE, HEADERS = "upstream/once", "upstream/headers"

#: Characters. A shorter value of a header may stand in any request by chance.
_SECRET = 6

#: The header that holds several values, each under a name.
_COOKIE = "cookie"

#: Methods whose calls change nothing upstream (RFC 9110, 9.2.1). The suite itself sends no TRACE.
_SAFE = SAFE_METHODS | {"TRACE"}

#: Statuses of a request that is refused for what it is, not for what the upstream answered.
_REFUSED = frozenset({400, 401, 403, 413, 415, 422})


@dataclass(frozen=True, slots=True)
class Attendance:
    """The state of the upstreams before a request: how many calls each had received."""

    received: Mapping[str, int]

    def calls(self, upstreams: Mapping[str, ScriptedUpstream]) -> dict[str, list[UpstreamRequest]]:
        """Return the calls since then, by upstream, if all of them were answered well."""
        found: dict[str, list[UpstreamRequest]] = {}
        for name, before in self.received.items():
            upstream = upstreams[name]
            new = upstream.received - before
            calls = upstream.calls[len(upstream.calls) - new :] if new else []
            if (
                not upstream.dropped
                and len(calls) == new
                and all(call.behaviour == GOOD for call in calls)
            ):
                found[name] = calls
        return found


def attend(upstreams: Mapping[str, ScriptedUpstream]) -> Attendance:
    """Return the state of the upstreams."""
    return Attendance({name: upstream.received for name, upstream in upstreams.items()})


def problem_of_headers(
    upstream: str,
    rule: PassOn,
    answer: Observation,
    calls: Sequence[UpstreamRequest],
    *,
    sent: Request,
) -> str | None:
    """Return which header of a request its calls upstream lack, or have although they must not;
    None if nothing is wrong.

    ``sent``: the request with the credentials that a login yielded, which no record of it has.
    """
    subject = f"for {answer.exchange.operation} the service sent"
    for call in calls:
        request = call.request
        target = f"{request.method} {request.target.partition('?')[0]} to {upstream}"
        for name in rule.never:
            if _has_value_of(name, sent, request):
                return f"{subject} {target} with the `{name}` of its caller"
        for name in rule.always:
            wanted = first_header(sent.headers, name) or answer.header(name)
            if wanted and first_header(request.headers, name) != wanted:
                return f"{subject} {target} without the `{name}` of the request"
    return None


def has_declared_header(rule: PassOn, sent: Request) -> bool:
    """Whether a request has a header that a rule is about, or a parameter that must not be passed
    on.
    """
    return any(first_header(sent.headers, name) for name in rule.always) or any(
        any(_values_of(name, sent)) for name in rule.never
    )


def _has_value_of(name: str, sent: Request, call: Request) -> bool:
    """Whether a call upstream has the value of a header or a parameter of the request."""
    text = _whole_text(call)
    if any(len(value) >= _SECRET and value in text for value in _values_of(name, sent)):
        return True
    if name.lower() != _COOKIE:
        return False
    own = {*_cookies_of(sent)}
    return any(cookie in own for cookie in _cookies_of(call) if len("=".join(cookie)) >= _SECRET)


def _values_of(name: str, sent: Request) -> Iterator[str]:
    """Yield the value of a header, without its scheme, and of a parameter with this name. A cookie
    without a digit, such as a language, may stand in a call by chance.
    """
    if name.lower() == _COOKIE:
        yield from (value for _, value in _cookies_of(sent) if any(map(str.isdigit, value)))
    else:
        yield (first_header(sent.headers, name) or "").rpartition(" ")[2]
    yield from (value for key, value in query_of(sent) if key.lower() == name.lower())


def _cookies_of(request: Request) -> Iterator[tuple[str, str]]:
    for cookie in (first_header(request.headers, _COOKIE) or "").split(";"):
        name, _, value = cookie.strip().partition("=")
        yield name, value.strip('"')


def _whole_text(request: Request) -> str:
    """The text of a request, as it is and without escapes of URLs and forms."""
    values = " ".join(value for _, value in request.headers)
    text = f"{request.target} {values} {request.body.decode('utf-8', 'replace')}"
    return f"{text} {unquote(text)}" if "%" in text else text


def problem_of_calls(
    upstream: str, answer: Observation, calls: Sequence[UpstreamRequest]
) -> str | None:
    """Return what is wrong with the calls for one request; None if nothing is.

    Only calls that may change something count.
    """
    writing = [call.request for call in calls if call.request.method not in _SAFE]
    counts = Counter((request.method, request.target) for request in writing)
    subject = f"for {answer.exchange.operation} ({answer})"
    if answer.status in _REFUSED and writing:
        method, target = next(iter(counts))
        return f"{subject}, which is refused, the service sent {method} {target} to {upstream}"
    for (method, target), count in counts.items():
        if answer.ok and count > 1:
            sent = f"the service sent {method} {target} to {upstream} {count} times"
            return f"{subject}, {sent}, although each was answered with {GOOD}"
    return None
