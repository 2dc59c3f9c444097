"""Route patterns, compiled."""

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Route:
    """A compiled route pattern; ``method`` None matches every method."""

    method: str | None
    path: re.Pattern[str]

    def claims(self, method: str, paths: Iterable[str]) -> bool:
        """Whether a request matches by one of its paths (template or concrete path)."""
        return self.method in (None, method) and any(map(self.path.fullmatch, paths))


def compile_route(pattern: str) -> Route:
    """Compile ``[METHOD ]/path``.

    ``{param}`` is a segment, ``*`` anything within a segment, ``**`` any number of segments.
    """
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


def compile_name(pattern: str) -> re.Pattern[str]:
    """Compile the name of a tool or a JSON-RPC method, in which ``*`` matches any text.

    Each part is taken at its first place and not tried at others, so many ``*`` cost no more.
    """
    first, *parts = map(re.escape, pattern.split("*"))
    if not parts:
        return re.compile(first)
    inner = "".join(f"(?>.*?{part})" for part in parts[:-1])
    return re.compile(f"{first}{inner}.*{parts[-1]}")


def without_parameter_names(route: str) -> str:
    """A route without the names of its parameters, which claim nothing."""
    return re.sub(r"\{[^}/]*\}", "{}", route)
