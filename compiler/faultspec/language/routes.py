"""Route patterns, compiled."""

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Route:
    """One route pattern, compiled. ``method`` None claims every method."""

    method: str | None
    path: re.Pattern[str]

    def claims(self, method: str, paths: Iterable[str]) -> bool:
        """Whether a request with one of the paths (its template, its concrete form) is on the route."""
        return (self.method is None or self.method == method) and any(
            self.path.fullmatch(each) for each in paths
        )


def route(pattern: str) -> Route:
    """Compile ``[METHOD ]/path``: ``{param}`` is a segment, ``*`` anything within one, ``**`` any number of them."""
    method, space, path = pattern.rpartition(" ")
    regex = ""
    for piece in re.split(r"(/\*\*|\*\*|\*|\{[^}/]*\})", path):
        if piece == "/**":
            regex += "(?:/.*)?"
        elif piece == "**":
            regex += ".*"
        elif piece == "*":
            regex += "[^/]*"
        elif piece.startswith("{"):
            regex += "[^/]+"
        else:
            regex += re.escape(piece)
    return Route(method.strip().upper() if space else None, re.compile(regex, re.DOTALL))


def named(pattern: str) -> re.Pattern[str]:
    """Compile the name of a tool or a JSON-RPC method, in which ``*`` is anything."""
    return re.compile(re.escape(pattern).replace(r"\*", ".*"))
