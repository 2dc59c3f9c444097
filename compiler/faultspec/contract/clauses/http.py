"""Clauses of HTTP itself: bodies, headers, credentials, and errors that frameworks answer."""

from collections.abc import Iterable
from functools import partial

from faultspec.contract.clauses.clause import HTTP, Clause
from faultspec.contract.clauses.constructs import HTTP_SURFACE, RETRY_AFTER, retry_after_sources
from faultspec.language.model import HeaderRule

_auth = partial(
    Clause, reads=("sequence", "status", "code"), requires=(HTTP_SURFACE,), transports=HTTP
)
_framework = partial(
    _auth, sources=lambda taxonomy: (fallback.source for fallback in taxonomy.fallbacks)
)

CLAUSES = (
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
