"""Exchanges of every kind that the surfaces of two taxonomies tell apart, and the surface that
claims one."""

import json
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple
from urllib.parse import urlencode

from faultspec.contract.model import Matcher, compile_match
from faultspec.exchange.body import replace_value
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.language.model import Match, Surface, Taxonomy


class RequestParts(NamedTuple):
    """The parts of a request beside its route: members of its body by pointer, headers, and
    parameters of its query."""

    members: tuple[tuple[str, object], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    query: tuple[tuple[str, str], ...] = ()


class SampleExchange(NamedTuple):
    """An exchange, as far as matches look at it. ``place``: a path, a tool or a method."""

    transport: str
    method: str
    place: str
    status: int | None
    parts: RequestParts

    def exchange(self) -> Exchange:
        """The exchange, for the matchers of the contract."""
        body: object = {}
        for pointer, value in self.parts.members:
            body = replace_value(body, pointer, value)
        encoded = json.dumps(body).encode() if self.parts.members else b""
        query = f"?{urlencode(self.parts.query)}" if self.parts.query else ""
        request = Request(self.method, self.place + query, self.parts.headers, encoded)
        return Exchange(request, Response(self.status))


#: The methods of RFC 9110 and RFC 5789 that requests of clients have.
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")

#: Places that no match names, in messages.
_UNNAMED = {"/a-path-that-nobody-names": "other paths", "a-tool-that-nobody-names": "other calls"}


def sample_exchanges(old: Taxonomy, new: Taxonomy) -> Iterator[SampleExchange]:
    """An exchange for every combination of routes, methods, statuses and request members that a
    surface or an operation of either taxonomy names."""
    surfaces = [s for t in (old, new) for s in t.surfaces.values()]
    matches = [s.match for s in surfaces] + [
        o.match for t in (old, new) for o in t.operations.values()
    ]
    routes = dict.fromkeys(["/a-path-that-nobody-names", *(r for m in matches for r in m.routes)])
    bounds = [
        b
        for s in surfaces
        for span in (*s.match.statuses, *s.error_when)
        for b in (span.low, span.high)
    ]
    statuses = dict.fromkeys(
        [404, 500, *(b for b in bounds if 400 <= b < 600), *(b for b in bounds if b < 400)]
    )
    methods = dict.fromkeys([*_METHODS, *(x for m in matches for x in m.methods)])
    asked = dict.fromkeys(
        [RequestParts(), *(parts for m in matches for parts in _request_parts(m))]
    )
    tools = dict.fromkeys(["a-tool-that-nobody-names", *(t for m in matches for t in m.tools)])
    transports = dict.fromkeys(s.transport for s in surfaces)
    for transport in transports:
        if transport == "http":
            for route in routes:
                own, space, path = route.rpartition(" ")
                used = (own,) if space else methods
                for method, status, parts in product(used, statuses, asked):
                    yield SampleExchange(
                        transport=transport,
                        method=method,
                        place=_concrete(path),
                        status=status,
                        parts=parts,
                    )
        else:
            for tool, parts in product(tools, asked):
                place = tool.replace("*", "x")
                yield SampleExchange(
                    transport=transport, method="", place=place, status=None, parts=parts
                )


def _request_parts(match: Match) -> Iterator[RequestParts]:
    """The parts of requests that meet a match: each value of each part once, beside the first
    values of the others."""
    first = RequestParts(
        members=tuple((name, values[0]) for name, values in match.request.items() if values),
        headers=tuple((name, _concrete(values[0])) for name, values in match.headers.items()),
        query=tuple((name, _concrete(values[0])) for name, values in match.query.items()),
    )
    for pointer, values in match.request.items():
        for value in values:
            yield first._replace(members=tuple({**dict(first.members), pointer: value}.items()))
    for name, patterns in match.headers.items():
        for pattern in patterns:
            given = {**dict(first.headers), name: _concrete(pattern)}
            yield first._replace(headers=tuple(given.items()))
    for name, patterns in match.query.items():
        for pattern in patterns:
            given = {**dict(first.query), name: _concrete(pattern)}
            yield first._replace(query=tuple(given.items()))


def _concrete(path: str) -> str:
    return path.replace("/**", "/deep/path").replace("**", "deep/path").replace("*", "x")


CompiledSurfaces = tuple[tuple[Surface, Matcher], ...]
"""Surfaces in order, each with its matcher."""


def compile_surfaces(taxonomy: Taxonomy) -> CompiledSurfaces:
    """The surfaces of a taxonomy, compiled once for all samples."""
    return tuple((surface, compile_match(surface.match)) for surface in taxonomy.surfaces.values())


def find_claiming(surfaces: CompiledSurfaces, sample: SampleExchange) -> Surface | None:
    """The first surface that claims an exchange."""
    exchange = sample.exchange()
    claiming = (
        surface
        for surface, matcher in surfaces
        if surface.transport == sample.transport and matcher.claims(exchange)
    )
    return next(claiming, None)


def describe_sample(sample: SampleExchange) -> str:
    """The exchange in a message."""
    transport, method, path, status, parts = sample
    named = _UNNAMED.get(path) or (f"`{method} {path}`" if transport == "http" else f"`{path}`")
    if path in _UNNAMED and method not in ("", _METHODS[0]):  # the first one stands for all
        named = f"`{method}` of {named}"
    asked = "".join(f" with `{pointer}` {value!r}" for pointer, value in parts.members)
    asked += "".join(f" with `{name}: {value}`" for name, value in parts.headers)
    asked += "".join(f" with `{name}={value}`" for name, value in parts.query)
    return f"{named}{asked}" + (f" with status {status}" if status is not None else "")
