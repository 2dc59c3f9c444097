"""Route patterns, compiled."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple


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
    method, pieces = _split(pattern)
    regex = write_plain(pieces) if _is_fast(pieces) else _write_leftmost(pieces)
    return Route(method, re.compile(regex, re.DOTALL))


def plain_route(pattern: str) -> tuple[str | None, str]:
    """The method, and an expression of the path for engines that take linear time."""
    method, pieces = _split(pattern)
    return method, write_plain(pieces)


def ecmascript_route(pattern: str) -> tuple[str | None, str]:
    """The method, and an expression of the path in the syntax of ECMAScript.

    Its engines try every way and have no atomic groups. They enter a group that looks ahead once,
    so what it found is taken by its name.
    """
    method, pieces = _split(pattern)
    if _is_fast(pieces):
        return method, write_plain(pieces)
    numbers = count()

    def once(body: str) -> str:
        name = f"part{next(numbers)}"
        return f"(?=(?<{name}>{body}))\\k<{name}>"

    return method, _write_leftmost(pieces, _Syntax(once, end="$"))


class _Syntax(NamedTuple):
    """The syntax of an engine: a group that is matched at its first place only, and the end."""

    once: Callable[[str], str]
    end: str


_PYTHON = _Syntax(lambda body: f"(?>{body})", end=r"\Z")


def _split(pattern: str) -> tuple[str | None, list[str]]:
    method, space, path = pattern.rpartition(" ")
    pieces = [piece for piece in re.split(r"(/\*\*|\*\*|\*|\{[^{}/]*\})", path) if piece]
    return method.strip().upper() if space else None, pieces


_FREE = {"/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "{": "[^/]+"}
_SHORT = {"/**": "(?:/.*?)??", "**": ".*?", "*": "[^/]*?", "{": "[^/]+?"}


def _kind(piece: str) -> str:
    return "{" if len(piece) > 1 and piece[0] == "{" and piece[-1] == "}" else piece


def write_plain(pieces: Iterable[str]) -> str:
    """An expression that tries every way."""
    return "".join(_FREE.get(_kind(piece)) or re.escape(piece) for piece in pieces)


def _is_fast(pieces: list[str]) -> bool:
    """Whether no path can be matched in many ways: each segment has one free part at most, and only
    one part takes several segments.
    """
    kinds = "".join(
        _kind(piece) if _kind(piece) in _FREE else re.sub("[*{]", "-", piece) for piece in pieces
    )
    several = kinds.count("**")
    segments = kinds.replace("/**", "").replace("**", "*").split("/")
    return several <= 1 and all(len(re.findall("[*{]", segment)) <= 1 for segment in segments)


def _write_leftmost(pieces: list[str], syntax: _Syntax = _PYTHON) -> str:
    """An expression that takes each part but the last at its first place, and tries no other.

    Between two parts that take several segments, the others stay within theirs. So the first place
    leaves most for the rest. ``/**`` ends a segment here, whatever follows it.
    """
    groups: list[list[str]] = [[]]
    for piece in pieces:
        groups.append([piece]) if piece in ("**", "/**") else groups[-1].append(piece)
    regex = ""
    for number, group in enumerate(groups):
        following = groups[number + 1][0] if number + 1 < len(groups) else None
        own, inner = ("", group) if number == 0 else (group[0], group[1:])
        body = _write_within(
            inner, syntax, last=following is None, end_of_segment=following == "/**"
        )
        if following is None:
            regex += _FREE.get(own, "") + body
        else:
            regex += syntax.once(_SHORT.get(own, "") + body)
    return regex


def _write_within(pieces: list[str], syntax: _Syntax, *, last: bool, end_of_segment: bool) -> str:
    """The expression of pieces that stay within their segments."""
    end = f"(?=/|{syntax.end})" if end_of_segment else ""
    starts = [index for index, piece in enumerate(pieces) if _kind(piece) in _FREE]
    if not starts:
        return write_plain(pieces) + end
    regex = write_plain(pieces[: starts[0]])
    for start, stop in zip(starts, [*starts[1:], len(pieces)], strict=True):
        following = write_plain(pieces[start + 1 : stop])
        if stop < len(pieces):
            regex += syntax.once(_SHORT[_kind(pieces[start])] + following)
        elif last:
            regex += _FREE[_kind(pieces[start])] + following
        else:
            regex += syntax.once(_SHORT[_kind(pieces[start])] + following + end)
    return regex


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
