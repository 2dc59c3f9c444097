"""Services of the frameworks and protocols that are installed: FastAPI and graphql-core."""

import json
from typing import Annotated, Any

from fastapi import FastAPI, Header, HTTPException
from fastapi.exceptions import RequestValidationError
from graphql import GraphQLError, graphql_sync
from graphql.utilities import build_schema
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from .resource import FAULT, Refused, application, guarded, read


class Book(BaseModel):
    """A book as callers send it."""

    model_config = ConfigDict(extra="forbid", strict=True)
    title: str = Field(min_length=1, max_length=60)


Fault = Annotated[str | None, Header(alias=FAULT, include_in_schema=False)]


async def _without_input(request: Request, refused: Exception) -> Response:
    """The answer of FastAPI without the input, of which not every value can be encoded."""
    assert isinstance(refused, RequestValidationError)
    kept = ("loc", "msg", "type")
    return JSONResponse(
        {"detail": [{name: each[name] for name in kept} for each in refused.errors()]}, 422
    )


def fastapi(*, echo: bool = False) -> ASGIApp:
    """Books of a library, by FastAPI; its own handlers say every error, and with ``echo`` those of
    its validation too.
    """
    app = FastAPI(title="Library", version="1", docs_url=None, redoc_url=None)
    if not echo:
        app.add_exception_handler(RequestValidationError, _without_input)
    books: dict[int, dict[str, Any]] = {}

    def check(fault: str | None) -> None:
        if fault == "unreadable":
            raise HTTPException(400, "There was an error parsing the body")
        if fault is not None:
            raise RuntimeError(fault)

    refusals: dict[int | str, dict[str, Any]] = {
        status: {"description": "Refused"} for status in (400, 404, 409, 500)
    }

    @app.post("/books", status_code=201, responses=refusals)
    def add(book: Book, fault: Fault = None) -> dict[str, Any]:
        check(fault)
        if any(each["title"] == book.title for each in books.values()):
            raise HTTPException(409, "The title is taken")
        number = len(books) + 1
        books[number] = {"id": number, "title": book.title, "lent": False}
        return books[number]

    @app.get("/books/{book}", responses=refusals)
    def show(book: int, fault: Fault = None) -> dict[str, Any]:
        check(fault)
        if book not in books:
            raise HTTPException(404, "Not Found")
        return books[book]

    @app.post("/books/{book}/loans", status_code=201, responses=refusals)
    def lend(book: int, fault: Fault = None) -> dict[str, Any]:
        check(fault)
        if book not in books:
            raise HTTPException(404, "Not Found")
        if books[book]["lent"]:
            raise HTTPException(409, "The book is lent")
        books[book]["lent"] = True
        return books[book]

    return app


SCHEMA = """
type Film { id: Int!, title: String! }
type Query { film(id: Int!): Film, broken: String }
type Mutation { add(title: String!): Film! }
"""


def graphql() -> ASGIApp:
    """Films, by graphql-core; codes as Apollo Server gives them."""
    films: dict[int, dict[str, Any]] = {}

    class Root:
        def film(self, info: object, id: int) -> dict[str, Any]:
            if id not in films:
                raise GraphQLError("No such film", extensions={"code": "BAD_USER_INPUT"})
            return films[id]

        def broken(self, info: object) -> str:
            raise GraphQLError(
                "Internal server error", extensions={"code": "INTERNAL_SERVER_ERROR"}
            )

        def add(self, info: object, title: str) -> dict[str, Any]:
            films[len(films) + 1] = {"id": len(films) + 1, "title": title}
            return films[len(films)]

    schema = build_schema(SCHEMA)

    def say(refused: Refused, status: int) -> Response:
        code = "INTERNAL_SERVER_ERROR" if status >= 500 else "BAD_USER_INPUT"
        error = {"message": refused.text, "extensions": {"code": code}}
        return JSONResponse({"errors": [error]}, status)

    async def call(request: Request) -> Response:
        given = await read(request)
        query = given.get("query") if isinstance(given, dict) else None
        if not isinstance(query, str):
            raise Refused("unreadable")
        result = graphql_sync(schema, query, Root(), variable_values=given.get("variables") or {})
        body: dict[str, Any] = {"data": result.data}
        if result.errors:
            body["errors"] = [_coded(each) for each in result.errors]
        valid = result.data is not None or not result.errors
        return Response(json.dumps(body), 200 if valid else 400, media_type="application/json")

    return application([Route("/graphql", guarded(call, say, {}), methods=["POST"])], say, {})


def _coded(error: GraphQLError) -> dict[str, Any]:
    """The error with a code; graphql-core itself refuses only queries that are not valid."""
    sent: dict[str, Any] = {**error.formatted}
    sent["extensions"] = {"code": "GRAPHQL_VALIDATION_FAILED", **(error.extensions or {})}
    return sent
