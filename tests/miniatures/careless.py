"""A shop whose document hardly describes its errors, and whose faults a green run must not hide.

`document` describes errors in one of the `STYLES`. All state belongs to the application that
`careless` returns.
"""

import json
from collections.abc import Callable, Collection, Mapping
from itertools import count

from starlette.types import ASGIApp, Receive, Scope, Send

STYLES = ("none", "words", "detail", "code")
"""How the document describes errors: not at all, by a sentence, by a schema without a code, or by
one with a code.
"""

SINS: Mapping[str, str] = {
    "crash": "a body that is not JSON crashes the shop",
    "trace": "a missing item is answered with a stack trace",
    "page": "a missing item is answered with a page of HTML",
    "silent": "a missing item is answered with 200",
    "accepts-anything": "an item without a name is made",
    "open": "requests without credentials are served",
    "other-words": "a missing item is answered in another form than any other error",
    "leaky": "a refusal quotes the token of the caller",
}
"""The mistakes that `careless` understands."""

CODES = ("invalid", "unknown_caller", "missing", "unsupported")
TOKEN = "tok-careless-9f81c2d7e6b54a30"

TRACE = 'Traceback (most recent call last):\n  File "/srv/shop/app.py", line 7, in get\nKeyError: 7'


def described(style: str, *statuses: str) -> dict[str, object]:
    """The responses of an operation: the first status is that of its success."""
    schemas: Mapping[str, object] = {
        "detail": {"type": "object", "properties": {"detail": {"type": "string"}}},
        "code": {
            "type": "object",
            "required": ["code"],
            "properties": {
                "detail": {"type": "string"},
                "code": {"type": "string", "enum": [*CODES]},
                "message": {"type": "string"},
            },
        },
    }
    found: dict[str, object] = {statuses[0]: {"description": "Done"}}
    for status in statuses[1:] if style != "none" else ():
        response: dict[str, object] = {"description": "Refused"}
        if style in schemas:
            response["content"] = {"application/json": {"schema": schemas[style]}}
        found[status] = response
    return found


def document(style: str) -> dict[str, object]:
    """The OpenAPI document."""
    new = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string", "minLength": 1}},
    }
    content = {"application/json": {"schema": new}}
    key = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Careless", "version": "1"},
        "security": [{"bearer": []}],
        "paths": {
            "/items": {
                "get": {"responses": described(style, "200", "401")},
                "post": {
                    "requestBody": {"required": True, "content": content},
                    "responses": described(style, "201", "400", "401", "405"),
                },
            },
            "/items/{id}": {
                "parameters": [key],
                "get": {"responses": described(style, "200", "401", "404")},
            },
        },
        "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
    }


def careless(style: str, sins: Collection[str] = ()) -> ASGIApp:
    """The shop with some of its `SINS`."""
    items: dict[str, dict[str, object]] = {}
    numbers = count(1)

    def answer(method: str, path: str, token: str, body: bytes) -> tuple[int, object]:
        if path == "/openapi.json":
            return 200, document(style)
        if token != f"Bearer {TOKEN}" and "open" not in sins:
            return refusal(401, "unknown_caller", f"not {token}" if "leaky" in sins else "")
        parts = path.strip("/").split("/")
        if parts[0] != "items" or len(parts) > 2:
            return refusal(404, "missing")
        if len(parts) == 2:
            found = items.get(parts[1])
            if method not in ("GET", "HEAD"):
                return refusal(405, "unsupported")
            return (200, found) if found is not None else missing()
        if method in ("GET", "HEAD"):
            return 200, [*items.values()]
        return make(body) if method == "POST" else refusal(405, "unsupported")

    def make(body: bytes) -> tuple[int, object]:
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            return (500, "Internal Server Error") if "crash" in sins else refusal(400, "invalid")
        name = value.get("name") if isinstance(value, dict) else None
        if "accepts-anything" not in sins and not (isinstance(name, str) and name):
            return refusal(400, "invalid")
        made = {"id": next(numbers), "name": name}
        items[str(made["id"])] = made
        return 201, made

    def missing() -> tuple[int, object]:
        others: Mapping[str, tuple[int, object]] = {
            "trace": (404, {"detail": TRACE, "code": "missing", "message": TRACE}),
            "page": (404, "<html><body>Not Found</body></html>"),
            "silent": (200, {}),
            "other-words": (404, {"error": {"reason": "gone"}}),
        }
        sin = next((sin for sin in others if sin in sins), None)
        return others[sin] if sin is not None else refusal(404, "missing")

    return serve(answer)


def refusal(status: int, code: str, text: str = "") -> tuple[int, object]:
    """An error in the form that the document describes, if any."""
    message = text or code.replace("_", " ")
    return status, {"detail": message, "code": code, "message": message}


def serve(answer: Callable[[str, str, str, bytes], tuple[int, object]]) -> ASGIApp:
    """An application of a function from method, path, credentials and body to status and body."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        sent = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        token = sent.get(b"authorization", "")
        status, payload = answer(scope["method"], scope["path"], token, body)
        is_text = isinstance(payload, str)
        content = payload.encode() if isinstance(payload, str) else json.dumps(payload).encode()
        headers = [
            (b"content-type", b"text/html" if is_text else b"application/json"),
            (b"content-length", str(len(content)).encode()),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        shown = b"" if scope["method"] == "HEAD" else content
        await send({"type": "http.response.body", "body": shown})

    return app
