"""Whether one match claims what another claims, and whether a match can claim anything."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from faultspec.language.model import Match
from faultspec.language.routes import compile_name, compile_route

_Value = TypeVar("_Value")


def claims_all_of(one: Match, other: Match) -> bool:
    """Whether `one` matches everything that `other` matches; False if that is not certain."""
    statuses = other.statuses and all(
        any(a.covers(b) for a in one.statuses) for b in other.statuses
    )
    values = (
        _covers(found.get(name, ()), asked, _covers_name)
        for wanted, found in ((one.headers, other.headers), (one.query, other.query))
        for name, asked in wanted.items()
    )
    members = (
        _covers(other.request.get(pointer, ()), asked, lambda inner, outer: inner == outer)
        for pointer, asked in one.request.items()
    )
    return (
        (not one.statuses or bool(statuses))
        and ("/**" in one.routes or _covers(other.routes, one.routes, _covers_route))
        and _covers(_methods(other), one.methods, lambda inner, outer: inner == outer)
        and _covers(other.tools, one.tools, _covers_name)
        and all(values)
        and all(members)
    )


def literal_prefix(route: str) -> tuple[str, str]:
    """The method of a route, and its path up to the segment of the first pattern."""
    method, _, path = route.rpartition(" ")
    literal = path.partition("{")[0].partition("*")[0]
    return method.strip().upper(), path if literal == path else literal.rpartition("/")[0]


def iterate_prefixes(route: str) -> Iterator[tuple[str, str]]:
    """Every prefix of a route that the literal prefix of a wider one may be."""
    method, literal = literal_prefix(route)
    while True:
        yield method, literal
        if not literal:
            return
        literal = literal.rpartition("/")[0]


def contradiction(match: Match) -> str | None:
    """Why no exchange can match, as a sentence about the match; None if one can."""
    if match.routes and match.methods:
        named = {route.rpartition(" ")[0].upper() for route in match.routes}
        if "" not in named and named.isdisjoint(match.methods):
            return "its routes name other methods than `methods`"
    if match.routes and match.tools and not any("*" in tool for tool in match.tools):
        return "a request has a route on HTTP, and the name of a tool elsewhere"
    return None


def _methods(match: Match) -> tuple[str, ...]:
    """The methods of a match; those that all of its routes name, if it has no others."""
    named = tuple(dict.fromkeys(route.rpartition(" ")[0].upper() for route in match.routes))
    return match.methods or (named if named and "" not in named else ())


def _covers(
    inner: Iterable[_Value], outer: tuple[_Value, ...], by: Callable[[_Value, _Value], bool]
) -> bool:
    """Whether a value of `outer` covers each of `inner`; an empty condition has every value."""
    values = list(inner)
    return not outer or (
        bool(values) and all(any(by(each, wide) for wide in outer) for each in values)
    )


def _covers_route(inner: str, outer: str) -> bool:
    """Whether every request with the inner route has the outer one.

    A part of a pattern stands for itself here: `{id}` is one segment, and `**` several.
    """
    method, _, path = inner.rpartition(" ")
    if path.startswith(("*", "/*")) and inner != outer and "**" not in outer:
        return False
    if "**" in path and "**" not in outer:
        return inner == outer
    return compile_route(outer).claims(method.upper(), (path,))


def _covers_name(inner: str, outer: str) -> bool:
    return inner == outer or compile_name(outer).fullmatch(inner) is not None
