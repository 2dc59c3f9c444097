"""Command lines that repeat the requests of exchanges, with shell variables in place of secrets."""

import re
import shlex
from dataclasses import replace

from faultspec.exchange.model import Exchange, Request

_NAME = r"\{[A-Za-z_][A-Za-z0-9_]*\}"
_VARIABLE = re.compile(rf"\${_NAME}")

#: Characters that are special between double quotes, except variables (POSIX shell, section 2.2.3).
_SPECIAL = re.compile(rf'[\\"`]|\$(?!{_NAME})')

#: The shell produces longer bodies and header values, instead of a literal.
_PASTE = 4096


def command_line(base: str, request: Request) -> str:
    """A command line for a masked request, in which ``${NAME}`` stays a variable of the shell."""
    words = ["curl", "-sS"]
    words += ["-I"] if request.method == "HEAD" else ["-i"]
    if request.method not in ("GET", "HEAD") or request.body:
        words += ["-X", request.method]
    words.append(_quote(base + request.target))
    names = {name.lower() for name, _ in request.headers}
    for name, value in request.headers:
        if name.lower() in ("content-length", "host", "connection"):
            continue
        if len(value) > _PASTE:
            words += ["-H", f'"{name}: $({_repeat(len(value), value[0])})"']
        else:
            words += ["-H", _quote(f"{name}: {value}" if value else f"{name};")]
    if "accept" not in names:
        words += ["-H", "'Accept:'"]
    if not request.body:
        return " ".join(words)
    if "content-type" not in names:
        words += ["-H", "'Content-Type:'"]
    words.append("--data-binary")
    if len(request.body) > _PASTE:
        body = _repeat(len(request.body), request.body[:1].decode("latin-1"))
        return f"{body} | {' '.join(words)} @-"
    try:
        return " ".join([*words, _quote(request.body.decode("utf-8"))])
    except UnicodeDecodeError:
        octal = "".join(f"\\{byte:03o}" for byte in request.body)
        return f"printf '{octal}' | {' '.join(words)} @-"


def _repeat(length: int, character: str) -> str:
    return f"head -c {length} /dev/zero | tr '\\0' {_quote(character)}"


def command_lines(base: str, evidence: tuple[Exchange, ...]) -> tuple[str, ...]:
    """A command line for each exchange over HTTP, in order; none if `base` is not an HTTP address.

    For JSON-RPC over HTTP, `base` is the whole address, and the method is in the body.
    """
    found = []
    for exchange in evidence if re.match("https?://", base) else ():
        request = exchange.request
        if exchange.transport == "http":
            found.append(command_line(base, request))
        elif exchange.transport == "jsonrpc" and request.body:
            headers = (
                ("Content-Type", "application/json"),
                ("Accept", "application/json"),
                *request.headers,
            )
            found.append(command_line(base, replace(request, target="", headers=headers)))
    return tuple(found)


def numbered_commands(base: str, evidence: tuple[Exchange, ...]) -> tuple[tuple[str, str], ...]:
    """Pairs of a place such as ``1 of 2`` and a command line; a single one has an empty place."""
    lines = command_lines(base, evidence)
    return tuple(
        (f"{number} of {len(lines)}" if len(lines) > 1 else "", line)
        for number, line in enumerate(lines, 1)
    )


def _quote(text: str) -> str:
    """In single quotes, or in double quotes if it has a variable to expand."""
    if not _VARIABLE.search(text):
        return shlex.quote(text)
    return '"' + _SPECIAL.sub(lambda found: f"\\{found[0]}", text) + '"'
