"""A library that lends books, whose faults break its own document. Without faults it keeps its
document and its taxonomy. Two of them only generated traffic meets.
"""

import json
from collections.abc import Collection, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

SINS: Mapping[str, str] = {
    "list-is-partial": "a list of books has a status that the document leaves out",
    "pages-as-text": "a book with an odd number of pages has it as text",
    "book-as-plain-text": "a book that was added comes back as plain text",
    "creation-without-location": "a creation has no `Location`, which the document requires",
    "document-of-other-errors": "the document describes a missing book in a form that no error has",
    "missing-book-in-other-words": "a missing book is answered in the form of a framework",
    "pin-comes-back": "a refusal of a reader quotes the secret number of the request",
    "pin-is-shown-later": "a book that is missing is answered with the last secret number",
    "fraction-crashes": "a number of a book with a fraction crashes",
    "broken-escape-crashes": "a query with a broken percent escape crashes",
    "repeated-limit-crashes": "a query with two limits crashes",
    "title-crashes": "a title beyond ASCII crashes the creation",
    "deleted-book-is-read": "a deleted book can still be read",
}
"""The effect of each sin. The last two need generated traffic."""
GENERATED = ("title-crashes", "deleted-book-is-read")
TAXONOMY = Path(__file__).with_name("lending-taxonomy.yaml")


def described(text: str, schema: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A response of the document with JSON content."""
    return {"description": text, "content": {"application/json": {"schema": schema}}, **more}


ERROR = {
    "type": "object",
    "required": ["code", "message"],
    "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
    "additionalProperties": False,
}
NEW = {
    "type": "object",
    "required": ["title", "pages"],
    "properties": {
        "title": {"type": "string", "minLength": 1, "maxLength": 40},
        "pages": {"type": "integer", "minimum": 1, "maximum": 5000},
    },
    "additionalProperties": False,
}
READER = {
    "type": "object",
    "required": ["name", "pin"],
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 40},
        "pin": {"type": "string", "minLength": 8, "maxLength": 40, "writeOnly": True},
    },
}
BOOK = {
    "type": "object",
    "required": ["id", "title", "pages"],
    "properties": {**NEW["properties"], "id": {"type": "integer"}},  # type: ignore[dict-item]
}
PROBLEM = {"type": "object", "required": ["type", "title"]}
REFUSED = described("refused", ERROR)


def document(sins: Collection[str]) -> dict[str, Any]:
    """The OpenAPI document."""
    missing = described("missing", PROBLEM if "document-of-other-errors" in sins else ERROR)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Lending", "version": "1"},
        "paths": {
            "/books": {
                "get": {
                    "operationId": "listBooks",
                    "parameters": [
                        {
                            "name": "limit",
                            "in": "query",
                            "schema": {"type": "integer", "minimum": 1, "maximum": 100},
                        }
                    ],
                    "responses": {
                        "200": described("books", {"type": "array", "items": BOOK}),
                        "400": REFUSED,
                    },
                },
                "post": {
                    "operationId": "addBook",
                    "requestBody": {
                        "required": True,
                        "content": {"application/json": {"schema": NEW}},
                    },
                    "responses": {
                        "201": described(
                            "the book",
                            BOOK,
                            headers={"Location": {"required": True, "schema": {"type": "string"}}},
                        ),
                        "400": REFUSED,
                    },
                },
            },
            "/readers": {
                "post": {
                    "operationId": "addReader",
                    "requestBody": {
                        "required": True,
                        "content": {"application/json": {"schema": READER}},
                    },
                    "responses": {
                        "200": described("the reader", {"type": "object", "required": ["name"]}),
                        "400": REFUSED,
                    },
                },
            },
            "/books/{bookId}": {
                "parameters": [
                    {
                        "name": "bookId",
                        "in": "path",
                        "required": True,
                        "schema": {"type": "integer"},
                    }
                ],
                "get": {
                    "operationId": "getBook",
                    "responses": {"200": described("the book", BOOK), "404": missing},
                },
                "delete": {
                    "operationId": "deleteBook",
                    "responses": {"204": {"description": "gone"}, "404": missing},
                },
            },
        },
    }


def lending(*sins: str) -> Starlette:
    """The library with some of its `SINS`."""
    books: dict[str, dict[str, Any]] = {}
    numbers = count(1)
    pins: list[str] = []

    async def listed(request: Request) -> Response:
        limits = len(request.query_params.getlist("limit"))
        broken = b"%zz" in request.scope["query_string"]
        if ("repeated-limit-crashes" in sins and limits > 1) or (
            "broken-escape-crashes" in sins and broken
        ):
            return PlainTextResponse("Traceback: cannot read the query", 500)
        limit = request.query_params.get("limit", "20")
        unknown = set(request.query_params) - {"limit"}
        if unknown or not (limit.isascii() and limit.isdigit() and 1 <= int(limit) <= 100):
            return refused(400, "invalid_request")
        status = 206 if "list-is-partial" in sins else 200
        return JSONResponse([*books.values()][: int(limit)], status)

    async def added(request: Request) -> Response:
        body = await request.body()
        try:
            book = json.loads(body)
        except (ValueError, RecursionError):
            return refused(400, "invalid_request")
        if not is_new_book(book):
            return refused(400, "invalid_request")
        if "title-crashes" in sins and not book["title"].isascii():
            return PlainTextResponse("Traceback: cannot encode", 500)
        made = {"id": next(numbers), **book}
        books[str(made["id"])] = made
        answer = dict(made)
        if "pages-as-text" in sins and book["pages"] % 2:
            answer["pages"] = str(book["pages"])
        headers = (
            {} if "creation-without-location" in sins else {"Location": f"/books/{made['id']}"}
        )
        if "book-as-plain-text" in sins:
            return PlainTextResponse(json.dumps(answer), 201, headers=headers)
        return JSONResponse(answer, 201, headers=headers)

    async def joined(request: Request) -> Response:
        body = await request.body()
        try:
            reader = json.loads(body)
        except (ValueError, RecursionError):
            return refused(400, "invalid_request")
        name, pin = (
            (reader.get("name"), reader.get("pin")) if isinstance(reader, dict) else (None, None)
        )
        lengths = [len(text) if isinstance(text, str) else 0 for text in (name, pin)]
        if not (1 <= lengths[0] <= 40 and 8 <= lengths[1] <= 40):
            quoted = body.decode("utf-8", "replace")
            text = quoted if "pin-comes-back" in sins else None
            return refused(400, "invalid_request", text=text)
        pins.append(str(pin))
        return JSONResponse({"name": name, "ends": str(pin)[-4:]})

    async def one(request: Request) -> Response:
        if "fraction-crashes" in sins and "." in request.path_params["number"]:
            return PlainTextResponse("Traceback: not a number", 500)
        book = books.get(request.path_params["number"])
        if book is None and "missing-book-in-other-words" in sins:
            return JSONResponse({"detail": "Not Found"}, 404)
        if book is None:
            shown = pins[-1] if pins and "pin-is-shown-later" in sins else None
            return refused(404, "not_found", text=shown)
        if request.method == "DELETE":
            if "deleted-book-is-read" not in sins:
                del books[request.path_params["number"]]
            return Response(status_code=204)
        return JSONResponse(book)

    async def books_at(request: Request) -> Response:
        return await (added if request.method == "POST" else listed)(request)

    async def described_at(request: Request) -> Response:
        return JSONResponse(document(sins))

    async def failed(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        code = "method_not_allowed" if error.status_code == 405 else "not_found"
        return refused(error.status_code, code, error.headers)

    return Starlette(
        routes=[
            Route("/openapi.json", described_at),
            Route("/books", books_at, methods=["GET", "POST"]),
            Route("/readers", joined, methods=["POST"]),
            Route("/books/{number}", one, methods=["GET", "DELETE"]),
        ],
        exception_handlers={HTTPException: failed},
    )


def is_new_book(book: object) -> bool:
    """Whether a body is a book without an id."""
    if not isinstance(book, dict) or book.keys() != {"title", "pages"}:
        return False
    title, pages = book["title"], book["pages"]
    return (
        isinstance(title, str)
        and 1 <= len(title) <= 40
        and isinstance(pages, int)
        and not isinstance(pages, bool)
        and 1 <= pages <= 5000
    )


def refused(
    status: int, code: str, headers: Mapping[str, str] | None = None, text: str | None = None
) -> Response:
    """An error of the taxonomy. ``text``: its message."""
    message = code.replace("_", " ") if text is None else text
    return JSONResponse({"code": code, "message": message}, status, headers)
