"""An exchange → command lines that send the same request again, with variables in place of secrets."""

import re
import shlex
from dataclasses import replace

from faultspec.exchange.model import Exchange, Request

_NAME = r"\{[A-Za-z_][A-Za-z0-9_]*\}"
_VARIABLE = re.compile(rf"\${_NAME}")

#: What a shell reads between double quotes, but for a variable (POSIX, Shell Command Language, 2.2.3).
_SPECIAL = re.compile(rf'[\\"`]|\$(?!{_NAME})')

#: Longer bodies and header values are made by the shell instead of being pasted.
_PASTE = 4096


def line(base: str, request: Request) -> str:
    """One command line. The request must be masked already; ``${NAME}`` in it stays a variable of the shell."""
    words = ["curl", "-sS"]
    words += ["-I"] if request.method == "HEAD" else ["-i"]
    if request.method not in ("GET", "HEAD") or request.body:
        words += ["-X", request.method]
    words.append(_quoted(base + request.target))
    names = {name.lower() for name, _ in request.headers}
    for name, value in request.headers:
        if name.lower() in ("content-length", "host", "connection"):
            continue
        if len(value) > _PASTE:
            words += ["-H", f'"{name}: $({_made(len(value), value[0])})"']
        else:
            words += ["-H", _quoted(f"{name}: {value}" if value else f"{name};")]
    if "accept" not in names:
        words += ["-H", "'Accept:'"]
    if not request.body:
        return " ".join(words)
    if "content-type" not in names:
        words += ["-H", "'Content-Type:'"]
    if len(request.body) > _PASTE:
        made = _made(len(request.body), request.body[:1].decode("latin-1"))
        return f"{made} | {' '.join([*words, '--data-binary', '@-'])}"
    try:
        text = request.body.decode("utf-8")
    except UnicodeDecodeError:
        octal = "".join(f"\\{byte:03o}" for byte in request.body)
        return f"printf '{octal}' | {' '.join([*words, '--data-binary', '@-'])}"
    return " ".join([*words, "--data-binary", _quoted(text)])


def _made(length: int, character: str) -> str:
    return f"head -c {length} /dev/zero | tr '\\0' {_quoted(character)}"


def lines(base: str, evidence: tuple[Exchange, ...]) -> tuple[str, ...]:
    """A command line for each exchange over HTTP, in order; none without a base, where the suite itself was who answered.

    Of JSON-RPC over HTTP the base is the whole address, and the method stands in the body.
    """
    found = []
    for each in evidence if re.match("https?://", base) else ():
        request = each.request
        if each.transport == "http":
            found.append(line(base, request))
        elif each.transport == "jsonrpc" and request.body:
            headers = (
                ("Content-Type", "application/json"),
                ("Accept", "application/json"),
                *request.headers,
            )
            found.append(line(base, replace(request, target="", headers=headers)))
    return tuple(found)


def numbered(base: str, evidence: tuple[Exchange, ...]) -> tuple[tuple[str, str], ...]:
    """The command lines, each with its place, such as ``1 of 2``; with none where there is only one."""
    found = lines(base, evidence)
    return tuple(
        (f"{at} of {len(found)}" if len(found) > 1 else "", each)
        for at, each in enumerate(found, 1)
    )


def _quoted(text: str) -> str:
    """Single quotes, or double ones where a variable must be expanded inside."""
    if not _VARIABLE.search(text):
        return shlex.quote(text)
    return '"' + _SPECIAL.sub(lambda found: f"\\{found[0]}", text) + '"'
