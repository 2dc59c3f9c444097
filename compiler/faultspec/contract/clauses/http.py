"""Clauses of HTTP itself: bodies, headers, credentials, and errors that frameworks answer."""

from collections.abc import Iterable
from functools import partial

from faultspec.contract.clauses.clause import HTTP, Clause, Requirement
from faultspec.contract.clauses.constructs import (
    HTTP_SURFACE,
    RETRY_AFTER,
    retry_after_sources,
    status_in_use,
)
from faultspec.language.model import HeaderRule

_auth = partial(
    Clause, reads=("sequence", "status", "code"), requires=(HTTP_SURFACE,), transports=HTTP
)
_framework = partial(
    _auth, sources=lambda taxonomy: (fallback.source for fallback in taxonomy.fallbacks)
)

_profile = partial(
    Clause,
    reads=("method", "status", "headers", "header-values", "request"),
    needs=("status", "headers", "header-values"),
    requires=(
        HTTP_SURFACE,
        Requirement(
            "the taxonomy has no `profile: rfc9110`", lambda taxonomy: taxonomy.profile is not None
        ),
    ),
    transports=HTTP,
)

_PROFILE = (
    _profile(
        address="http/authenticate",
        title="A refusal for want of credentials names a way to authenticate",
        why="A client cannot know which credentials to send.",
        occasion="A 401 or 407 (RFC 9110, 11.6.1 and 11.7.1).",
    ),
    _profile(
        address="http/allow",
        title="A 405 lists the allowed methods, without the refused one",
        why="A client that tries the listed methods goes in a circle.",
        occasion="A 405 (RFC 9110, 15.5.6).",
    ),
    _profile(
        address="http/accept",
        title="A 415 does not list the refused media type as accepted",
        why="A client that sends a listed type is refused again.",
        occasion="A 415 with Accept, Accept-Post or Accept-Patch (RFC 9110, 15.5.16).",
    ),
    _profile(
        address="http/partial-content",
        title="A 206 names the range that it has",
        why="A client puts the part at the wrong place, or takes it for the whole.",
        occasion="A 206 (RFC 9110, 15.3.7).",
    ),
    _profile(
        address="http/upgrade",
        title="A 426 names the protocol to upgrade to",
        why="A client cannot know what to upgrade to.",
        occasion="A 426 (RFC 9110, 15.5.22).",
    ),
    _profile(
        address="http/no-content",
        title="A 204 has no Content-Length, and a 205 no content",
        why="Proxies reject such an answer, or wait for its content.",
        occasion="A 204 or 205 (RFC 9110, 8.6 and 15.3.6).",
    ),
    _profile(
        address="http/retry-after",
        title="Retry-After is a number of seconds or a date",
        why="A client that cannot read the wait retries at once.",
        occasion="A 3xx, 413, 429 or 503 with the header, unless a header rule names it.",
    ),
    _profile(
        address="http/fields",
        title="ETag is quoted, Last-Modified is a date, and Location a reference",
        why="Caches and clients drop what they cannot read: nothing is found, kept or compared.",
        occasion="An answer with one of the headers (RFC 9110, 8.8.3, 8.8.2 and 10.2.2).",
    ),
    _profile(
        address="http/head",
        title="HEAD is answered like GET, without content",
        why="Caches and link checkers believe the answer to HEAD.",
        occasion="GET and HEAD of the same path, also of what does not exist (RFC 9110, 9.3.2).",
        reads=("sequence", "method", "status", "headers", "header-values"),
    ),
    _profile(
        address="http/not-modified",
        title="A 304 is about the copy that the caller has, and has its headers",
        why="Caches keep a copy that is out of date, or lose how long they may keep it.",
        occasion="A read with the ETag or the Last-Modified of an earlier one (RFC 9110, 15.4.5).",
        reads=("sequence", "method", "status", "headers", "header-values"),
    ),
)

CLAUSES = (
    *_PROFILE,
    Clause(
        address="http/head-body",
        title="An answer that cannot have content has none",
        why="The client reads the bytes as the beginning of the next answer.",
        occasion="HEAD, and the statuses 1xx, 204 and 304.",
        reads=("method", "status", "shape"),
        requires=(HTTP_SURFACE,),
        transports=HTTP,
    ),
    Clause(
        address="retry/recovers",
        title="After the announced wait the request succeeds",
        why="Clients learn to ignore a Retry-After that is not true.",
        occasion="A refused request, a wait, and the request again.",
        presupposes=("headers/retry-after",),
        reads=("sequence", "status", "header-values"),
        requires=(RETRY_AFTER,),
        sources=retry_after_sources,
        transports=HTTP,
    ),
    Clause(
        address="retry/limit",
        title="The limit, the window and the rest that a 429 states are those that are counted",
        why="Clients pace themselves by these numbers; wrong ones stall them or get them blocked.",
        occasion="A limit that is exhausted several times, and whose refusals state numbers.",
        reads=("sequence", "status", "header-values", "detail-values"),
        requires=(status_in_use(429),),
        sources=retry_after_sources,
        transports=HTTP,
    ),
    Clause(
        address="retry/scope",
        title="A limit of one caller or tenant refuses no other",
        why="One caller who sends too much shuts out all others.",
        occasion="A limit with a declared scope that one caller exhausts, and another caller.",
        reads=("sequence", "status"),
        requires=(status_in_use(429),),
        sources=retry_after_sources,
        transports=HTTP,
    ),
    Clause(
        address="fault/recovers",
        title="Without the declared fault switch, the same request works again",
        why="A failure that outlives its cause becomes an outage.",
        occasion="A request that failed by a fault switch, sent again without it.",
        reads=("sequence", "request", "status"),
        requires=(HTTP_SURFACE,),
        transports=HTTP,
    ),
    _framework(
        address="framework/unknown-route",
        title="An unknown route is refused in the declared form",
        why="Frameworks answer it in their own form, and clients meet that error first.",
        occasion="A request for a route that does not exist.",
    ),
    _framework(
        address="framework/method",
        title="A method that the route lacks is refused in the declared form",
        why="Frameworks answer it in their own form.",
        occasion="A request with an undeclared method.",
    ),
    _framework(
        address="framework/malformed-json",
        title="Malformed JSON is refused in the declared form",
        why="A parser's message is not an error contract.",
        occasion="A write with a malformed body.",
    ),
    _framework(
        address="framework/media-type",
        title="A body of the wrong media type is refused in the declared form",
        why="Otherwise the service parses it as another type.",
        occasion="A write with another Content-Type.",
    ),
    _framework(
        address="framework/not-acceptable",
        title="The answer to a request for an unavailable representation has the declared form",
        why="The error about the format must be readable too.",
        occasion="A request that accepts none of the offered types.",
    ),
    _framework(
        address="framework/oversized",
        title="An oversized body is refused in the declared form",
        why="A server in front answers these, rarely as documented.",
        occasion="A write with a large body.",
    ),
    _framework(
        address="framework/large-head",
        title="An oversized header section is refused in the declared form",
        why="A server in front may refuse it, so this only warns; but the service must survive it.",
        occasion="A request with a large header section that is refused.",
    ),
    _framework(
        address="framework/unknown-id",
        title="An unknown id is refused in the declared form",
        why="A client that gets 200 or 500 goes on with a resource that does not exist.",
        occasion="An operation on an item that does not exist.",
    ),
    _framework(
        address="framework/invalid-input",
        title="Input that the OpenAPI document forbids is refused in the declared form",
        why="If the mistake looks like a success or a crash, people search in the wrong place.",
        occasion="A body or a query that the OpenAPI document forbids.",
    ),
    _auth(
        address="auth/missing",
        title="A request without credentials is refused",
        why="An operation that anyone can call is not protected.",
        occasion="A protected operation, called without credentials.",
    ),
    _auth(
        address="auth/garbage",
        title="A request with invalid credentials is refused",
        why="A token that is not checked protects nothing.",
        occasion="A protected operation, called with invalid credentials.",
    ),
    _auth(
        address="auth/scope",
        title="A request beyond the caller's scope is refused",
        why="A scope that is not checked protects nothing.",
        occasion="A protected operation, called with credentials that do not permit it.",
    ),
    _auth(
        address="auth/renewed",
        title="Credentials of a new login are accepted",
        why="A caller whose session has ended is locked out.",
        occasion="An identity with a `login`, whose credentials end during the run.",
    ),
)


def header_address(name: str) -> str:
    """The address of the clause about a response header."""
    return f"headers/{name.lower()}"


def header_clause(name: str, rules: Iterable[HeaderRule]) -> Clause:
    """The clause about one response header of a taxonomy."""
    rules = tuple(rules)
    summary = next((rule.summary for rule in rules if rule.summary), None)
    shown = [f"{rule.presence} on {', '.join(map(str, rule.on)) or 'its codes'}" for rule in rules]
    return Clause(
        address=header_address(name),
        title=f"`{name}` is present where it is required, and well formed",
        why=summary or "Clients and proxies act on the header.",
        occasion=f"An answer under a rule for the header: {'; '.join(dict.fromkeys(shown))}.",
        reads=("status", "code", "headers", "header-values", "body"),
        needs=("status", "code", "headers", "header-values"),
        sources=lambda _: (rule.source for rule in rules),
        transports=HTTP,
    )
