"""Exchanges of every kind that the surfaces of two taxonomies tell apart, and the surface that
claims one."""

import json
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from faultspec.contract.model import Matcher, compile_match
from faultspec.exchange.body import replace_value
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.language.model import Match, Surface, Taxonomy


class SampleExchange(NamedTuple):
    """An exchange, as far as matches look at it. ``place``: a path, a tool or a method.
    ``members``: those of the request's body, by pointer."""

    transport: str
    method: str
    place: str
    status: int | None
    members: tuple[tuple[str, object], ...]

    def exchange(self) -> Exchange:
        """The exchange, for the matchers of the contract."""
        body: object = {}
        for pointer, value in self.members:
            body = replace_value(body, pointer, value)
        encoded = json.dumps(body).encode() if self.members else b""
        return Exchange(Request(self.method, self.place, body=encoded), Response(self.status))


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
    members = [(), *(items for m in matches for items in _request_members(m))]
    tools = dict.fromkeys(["a-tool-that-nobody-names", *(t for m in matches for t in m.tools)])
    transports = dict.fromkeys(s.transport for s in surfaces)
    for transport in transports:
        if transport == "http":
            for route in routes:
                own, space, path = route.rpartition(" ")
                used = (own,) if space else methods
                for method, status, member in product(used, statuses, members):
                    yield SampleExchange(
                        transport=transport,
                        method=method,
                        place=_concrete(path),
                        status=status,
                        members=member,
                    )
        else:
            for tool, member in product(tools, members):
                place = tool.replace("*", "x")
                yield SampleExchange(
                    transport=transport, method="", place=place, status=None, members=member
                )


def _request_members(match: Match) -> Iterator[tuple[tuple[str, object], ...]]:
    """The members of requests that meet a match: each value of each pointer once, beside the first
    values of the others."""
    first = {pointer: values[0] for pointer, values in match.request.items() if values}
    for pointer, values in match.request.items():
        for value in values:
            yield tuple({**first, pointer: value}.items())


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
    transport, method, path, status, members = sample
    named = _UNNAMED.get(path) or (f"`{method} {path}`" if transport == "http" else f"`{path}`")
    if path in _UNNAMED and method not in ("", _METHODS[0]):  # the first one stands for all
        named = f"`{method}` of {named}"
    asked = "".join(f" with `{pointer}` {value!r}" for pointer, value in members)
    return f"{named}{asked}" + (f" with status {status}" if status is not None else "")
