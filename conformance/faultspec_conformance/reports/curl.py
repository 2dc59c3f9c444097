"""Command lines that repeat the requests of exchanges, with shell variables in place of secrets."""

import re
import shlex
from dataclasses import replace
from functools import lru_cache

from faultspec.exchange.model import Exchange, Request

_NAME = r"\{[A-Za-z_][A-Za-z0-9_]*\}"
_VARIABLE = re.compile(rf"\${_NAME}")

#: Characters that are special between double quotes, except variables (POSIX shell, section 2.2.3).
_SPECIAL = re.compile(rf'[\\"`]|\$(?!{_NAME})')

#: The shell produces longer bodies and header values, instead of a literal.
_PASTE = 4096

#: Long bodies whose commands are kept: the findings of a run, and its reports, have the same ones.
_LARGE = 4

#: Padding of a body that a report has shortened: a byte that is invalid in UTF-8, so that no text
#: shows it.
PADDING = b"\x80"

#: A run of one byte that is shorter as a command than as text. Possessive: else the engine keeps 80
#: bytes for each byte of the run.
_RUN = re.compile(rb"(.)\1{63,}+", re.DOTALL)

#: Bytes that mean themselves in single quotes and in the format of `printf`.
_PLAIN = frozenset(range(0x20, 0x7F)) - set(b"'\\%")


def command_line(base: str, request: Request) -> str:
    """A command line for a masked request, in which ``${NAME}`` stays a variable of the shell."""
    words = ["curl", "-sS"]
    words += ["-I"] if request.method == "HEAD" else ["-i"]
    if request.method not in ("GET", "HEAD") or request.body:
        words += ["-X", shlex.quote(request.method)]
    is_whole = re.match("https?://", request.target) is not None  # in recordings of proxies
    words.append(_quote(request.target if is_whole else base + request.target))
    names = {name.lower() for name, _ in request.headers}
    for name, value in request.headers:
        if name.lower() in ("content-length", "host", "connection"):
            continue
        if len(value) > _PASTE and not _VARIABLE.search(value):
            words += ["-H", f'"$({_produce(f"{name}: {value}".encode())})"']
        else:
            words += ["-H", _quote(f"{name}: {value}" if value else f"{name};")]
    if "accept" not in names:
        words += ["-H", "'Accept:'"]
    if not request.body:
        return " ".join(words)
    if "content-type" not in names:
        words += ["-H", "'Content-Type:'"]
    words.append("--data-binary")
    if len(request.body) > _PASTE and not _has_variable(request.body):
        known = len(request.body.rstrip(PADDING))
        note = f"   # the report has only the first {known} bytes of the body"
        is_whole = len(request.body) - known < _PASTE
        return f"{_produce(request.body)} | {' '.join(words)} @-{'' if is_whole else note}"
    try:
        return " ".join([*words, _quote(request.body.decode("utf-8"))])
    except UnicodeDecodeError:
        return f"{_print(request.body)} | {' '.join(words)} @-"


@lru_cache(maxsize=_LARGE)
def _has_variable(body: bytes) -> bool:
    return _VARIABLE.search(body.decode("latin-1")) is not None


@lru_cache(maxsize=_LARGE)
def _produce(content: bytes) -> str:
    """A command that writes exactly these bytes, in which a long run of one byte is short."""
    commands, start = [], 0
    for found in _RUN.finditer(content):
        if found.start() > start:
            commands.append(_print(content[start : found.start()]))
        byte = f"\\{found[1][0]:03o}"
        commands.append(f"head -c {len(found[0])} /dev/zero | tr '\\0' '{byte}'")
        start = found.end()
    if start < len(content):
        commands.append(_print(content[start:]))
    return commands[0] if len(commands) == 1 else f"{{ {'; '.join(commands)}; }}"


def _print(content: bytes) -> str:
    """A command that writes these bytes. Those that the shell or `printf` may read are octal."""
    text = "".join(
        chr(byte) if byte in _PLAIN else "%%" if byte == ord("%") else f"\\{byte:03o}"
        for byte in content
    )
    return f"printf -- '{text}'"


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
