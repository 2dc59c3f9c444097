"""Requests of the configuration: over HTTP a method and a path, elsewhere the name of a method or
tool.
"""

import re
from typing import cast

from faultspec.diagnostics.model import Path as Place
from faultspec.exchange.expressions import expression_problem, slowness
from faultspec.language import grammar
from faultspec_conformance.config.context import (
    Node,
    ReadingContext,
    child_mapping,
    header_texts,
    texts_in,
    wire_text,
)
from faultspec_conformance.config.form import METHODS
from faultspec_conformance.config.model import ABSENT, ConfiguredCall, SavedPart

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")

#: A placeholder in a text: a saved name, a new value such as `unique:int`, `bytes:100`, or a member
#: of a resource such as `room.id`. Names in capitals are variables of the environment.
NAMES = re.compile(r"\$\{([a-z_]\w*(?::\w+)?|[A-Za-z_][\w-]*\.\w+)\}")

#: The names of new values. `bytes:100`, with a number of bytes, comes in addition.
NEW_VALUES = ("unique", "unique:int", "unique:date", "unique:datetime")

MOST_BYTES = 32 * 1024 * 1024
"""Bytes of a text of `${bytes:N}`, and of all values that are filled in one request: more than the
limit of most services, and they fit into memory.
"""

#: Characters of a path. Servers take a tenth of it.
_LONGEST_PATH = 64 * 1024

#: The path of a request to a saved URL.
_SAVED_URL = re.compile(r"\$\{[a-z_]\w*\}\S*")


def read_call(
    context: ReadingContext, data: object, place: Place, *, in_recipe: bool = False
) -> ConfiguredCall:
    """A request: a string, or a mapping with the key `request`.

    ``in_recipe``: its path may be a URL that an earlier step saved.
    """
    node = cast(Node, {"request": data} if isinstance(data, str) else data)
    node = context.expand_body(node, place)
    if context.transport != "http":
        return _read_named_call(context, node, place)
    if "params" in node:
        message = "`params` belongs to JSON-RPC and MCP"
        at = (*place, "params")
        context.report("misplaced-key", at, message, hint="write `query` or `body`")
    at = place if isinstance(data, str) else (*place, "request")
    line = str(node["request"])
    if (
        in_recipe
        and line.partition(" ")[0].upper() in METHODS
        and _SAVED_URL.fullmatch(line.partition(" ")[2].strip())
    ):
        method, path = line.partition(" ")[0].upper(), line.partition(" ")[2].strip()
    else:
        method, path = read_request_line(context, line, at)
    check_new_values(context, path, at)
    for key in ("query", "headers", "body", "raw"):
        check_new_values(context, node.get(key), (*place, key))
    if "body" in node and "raw" in node:
        message = "a request has either `body` or `raw`"
        context.report("conflicting-keys", (*place, "raw"), message, hint="keep one of the two")
    headers = context.call_headers(node, place)
    context.secrets += context.variables(header_texts(node).values())
    raw = node.get("raw")
    return ConfiguredCall(
        method=method,
        path=path,
        headers=headers,
        query=query_texts(node),
        body=node.get("body", ABSENT),
        raw=raw if isinstance(raw, str) else None,
    )


def check_new_values(context: ReadingContext, value: object, place: Place) -> None:
    """Report placeholders of new values that do not exist, in every text of a value."""
    for at, text in texts_in(value, place):
        for name in NAMES.findall(text):
            kind, colon, argument = name.partition(":")
            if not colon or name in NEW_VALUES:
                continue
            is_size = kind == "bytes" and argument.isdigit()
            if is_size and int(argument) <= MOST_BYTES:
                continue
            message = f"`${{{name}}}` is not a new value"
            hint = f"the new values are {', '.join('${' + one + '}' for one in NEW_VALUES)}"
            if is_size:
                message, hint = f"`${{{name}}}` is too long", f"at most {MOST_BYTES} bytes"
            context.report("unknown-name", at, message, key=False, hint=hint)


def _read_named_call(context: ReadingContext, node: Node, place: Place) -> ConfiguredCall:
    """A call of JSON-RPC or MCP: the name of a method or tool, and its params or arguments."""
    for key in ("headers", "query", "body", "raw", "status"):
        if key in node:
            hint = "write `params`" if key in ("body", "raw") else "remove the key"
            message = f"`{key}` belongs to requests over HTTP"
            context.report("misplaced-key", (*place, key), message, hint=hint)
    name = str(node["request"]).strip()
    context.reject_variables(name, (*place, "request"))
    check_new_values(context, node.get("params"), (*place, "params"))
    return ConfiguredCall("POST", name, body=node.get("params", ABSENT))


def read_request_line(context: ReadingContext, text: str, place: Place) -> tuple[str, str]:
    """The method and the path of a request. A broken one is reported and read as `GET /`."""
    method, _, path = text.partition(" ")
    method, path = method.upper(), path.strip()
    problem = _check_request_line(text, method, path)
    if len(path) > _LONGEST_PATH:
        message = f"a path of {len(path)} characters is too long"
        problem = message, f"write at most {_LONGEST_PATH}"
    if problem is not None:
        message, hint = problem
        context.report("bad-value", place, message, key=False, hint=hint)
        return "GET", "/"
    context.reject_variables(path, place)
    return method, path


def is_request_path(path: str) -> bool:
    """Whether a configuration may have a request with this path."""
    return _check_request_line(f"GET {path}", "GET", path) is None


def _check_request_line(text: str, method: str, path: str) -> tuple[str, str] | None:
    """The fault of a request line, and a hint; None if it has none."""
    written = text.partition(" ")[0]
    if text.startswith("/"):
        return f"`{text}` has no method", f"write `GET {text}`"
    if not path:
        return (
            f"`{text}` is not a method and a path",
            "write a method and a path, such as `GET /orders/{id}`",
        )
    if method not in METHODS:
        hint = grammar.closest(method, METHODS) or f"the methods are {', '.join(METHODS)}"
        return f"`{written}` is not an HTTP method", hint
    if re.match(r"[a-z]+://", path):
        return (
            f"`{path}` is an address, not a path",
            "write the path only; the address belongs under `target`",
        )
    if not path.startswith("/"):
        return f"the path `{path}` does not begin with `/`", f"write `{written} /{path}`"
    if re.search(r"[\s#]|[^ -~]", path):
        return (
            f"the path `{path}` has a character that is not allowed in a URL",
            "write it percent-encoded, such as %20",
        )
    if re.search(r"[{}]", PLACEHOLDER.sub("", path)) or "{}" in path:
        return f"the braces of `{path}` do not name a placeholder", "write one as `{id}`"
    return None


def read_saved_part(context: ReadingContext, value: object, place: Place) -> SavedPart:
    """A value to keep of an answer: its place, or a mapping with `at` and `match`."""
    node = cast(Node, {"at": value} if isinstance(value, str) else value)
    pattern = node.get("match")
    if ("at" in node) == ("header" in node):
        found = "it has `header` too" if "at" in node else "it is missing"
        context.report(
            "conflicting-keys" if "at" in node else "missing-key",
            place,
            f"a value to keep needs `at`; {found}",
            hint="keep one of them" if "at" in node else "add `at: header Location`",
            needs=[(*place, "at"), (*place, "header")],
        )
    found_at = f"header {node['header']}" if "header" in node else str(node.get("at", ""))
    if " " in found_at and context.transport != "http":
        message = "headers and cookies belong to HTTP"
        context.report("misplaced-key", place, message, hint="write a JSON Pointer")
    invalid = expression_problem(str(pattern or ""))
    slow = slowness(str(pattern or ""))
    if invalid or slow:
        message = f"`{pattern}` is not a regular expression: {invalid}"
        hint = "write it in the syntax of Python, such as `[^/]+$`"
        if not invalid:
            message = f"the regular expression `{pattern}` {slow}"
            hint = "let a text be read in one way, as `[^/]+$` does"
        context.report("bad-value", (*place, "match"), message, key=False, hint=hint)
        pattern = None
    return SavedPart(found_at, None if pattern is None else str(pattern))


def query_texts(node: Node) -> dict[str, str]:
    """The query parameters of a mapping."""
    return {name: wire_text(value) for name, value in child_mapping(node, "query").items()}
