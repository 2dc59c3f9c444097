"""Payments that are made once under a key, which a request carries in one of four places.

Payments and keys belong to their tenant. Creations with the header `X-Fault` fail. All state
belongs to the application that `make_app` or `make_branches` returns.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Literal

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

Place = Literal["header", "path", "query", "body"]

PLACES: tuple[Place, ...] = ("header", "path", "query", "body")

SINS: Mapping[str, str] = {
    "pays-twice": "a replay makes another payment, and answers with it",
    "pays-twice-unseen": "a replay makes another payment, and answers as the first time",
    "accepts-another-body": "another amount under the same key gets the first answer",
    "compares-the-amount-only": "another note under the same key gets the first answer",
    "answers-otherwise": "a replay has a member that the first answer lacked",
    "answers-200": "a replay has the status 200 in place of 201",
    "needs-no-key": "a payment without a key is made",
    "pays-twice-at-once": "equal requests that come while the first is written make payments too",
    "pays-once-for-all-keys": "every other key gets the first payment",
    "shares-keys": "a key of another tenant gets its payment",
    "refuses-foreign-keys": "a key that another tenant has used is refused",
    "pays-and-fails": "a payment that fails by the switch is made, and made again by its repetition",
}
"""The mistakes that `make_app` understands, each with what it does."""

_WRITING = 0.05
"""Seconds between the look for a key and the payment, in which equal requests come."""

LONGEST = 60
"""Characters of a key, a note and a token."""

TEXT = {"type": "string", "minLength": 1, "maxLength": LONGEST}
COUNT = {"type": "integer", "minimum": 1}


def make_app(place: Place, sin: str = "") -> ASGIApp:
    """The service with its key in a place, with one mistake or with none."""
    if sin and sin not in SINS:
        raise ValueError(f"no such sin: {sin}")
    payments: list[dict[str, Any]] = []
    owners: dict[str, str] = {}
    kept: dict[tuple[str, str], tuple[Any, dict[str, Any]]] = {}

    def pay(tenant: str, key: str | None, body: dict[str, Any]) -> dict[str, Any]:
        made = {"id": f"pay_{len(payments) + 1}", "amount": body["amount"], "note": body["note"]}
        payments.append(made | ({"key": key} if place == "path" else {}))
        owners[made["id"]] = tenant
        return payments[-1]

    def of(tenant: str) -> list[dict[str, Any]]:
        return [one for one in payments if owners[one["id"]] == tenant]

    def key_of(request: Request, body: Mapping[str, Any]) -> str | None:
        match place:
            case "header":
                return request.headers.get("Idempotency-Key")
            case "path":
                return str(request.path_params["key"])
            case "query":
                return request.query_params.get("request_id")
        return body.get("client_token")

    async def create(request: Request) -> Response:
        body = read_body(await request.body(), with_token=place == "body")
        if isinstance(body, str):
            return refuse(400, "invalid", body)
        key, tenant = key_of(request, body), tenant_of(request)
        if not key:
            if sin != "needs-no-key":
                return refuse(400, "key_missing", "a payment needs a key")
            return JSONResponse(pay(tenant, None, body), 201)
        if len(key) > LONGEST:
            return refuse(400, "invalid", "the key is too long")
        if request.headers.get("X-Fault"):
            if sin == "pays-and-fails":
                pay(tenant, key, body)
            return refuse(503, "unavailable", "the bank does not answer")
        if sin == "refuses-foreign-keys" and {one for one, used in kept if used == key} - {tenant}:
            return refuse(409, "key_reused", "the key is of another payment")
        return await pay_once((tenant if sin != "shares-keys" else "", key), tenant, body)

    async def pay_once(key: tuple[str, str], tenant: str, body: dict[str, Any]) -> Response:
        intent = {name: body[name] for name in ("amount", "note")}
        if key not in kept:
            if sin == "pays-twice-at-once":
                await asyncio.sleep(_WRITING)
            paid = sin == "pays-once-for-all-keys" and bool(kept)
            made = next(iter(kept.values()))[1] if paid else pay(tenant, key[1], body)
            kept[key] = intent, made
            return JSONResponse(kept[key][1], 201)
        if sin == "shares-keys" and owners[kept[key][1]["id"]] != tenant:
            return JSONResponse(kept[key][1], 201)
        return replay(key, tenant, intent)

    def replay(key: tuple[str, str], tenant: str, intent: dict[str, Any]) -> Response:
        first, made = kept[key]
        ignored = {"accepts-another-body": {"amount", "note"}, "compares-the-amount-only": {"note"}}
        compared = {"amount", "note"} - ignored.get(sin, set())
        if any(first[name] != intent[name] for name in compared):
            return refuse(409, "key_reused", "the key is of another payment")
        if sin in ("pays-twice", "pays-twice-unseen"):
            another = pay(tenant, key[1], intent)
            made = another if sin == "pays-twice" else made
        if sin == "answers-otherwise":
            made = {**made, "replayed": True}
        return JSONResponse(made, 200 if sin == "answers-200" else 201)

    async def read(request: Request) -> Response:
        name = request.path_params["key"]
        own = of(tenant_of(request))
        found = (one for one in own if name in (one["id"], one.get("key")))
        one = next(found, None)
        return JSONResponse(one) if one else refuse(404, "absent", "there is no such payment")

    async def show_all(request: Request) -> Response:
        return JSONResponse({"items": of(tenant_of(request))})

    async def describe(request: Request) -> Response:
        return JSONResponse(document(place))

    async def refuse_all(request: Request, refused: Exception) -> Response:
        assert isinstance(refused, HTTPException)
        code = {404: "absent", 405: "not_allowed"}.get(refused.status_code, "invalid")
        answer = refuse(refused.status_code, code, str(refused.detail))
        answer.headers.update(refused.headers or {})
        return answer

    item = "/payments/{key}"
    creates = Route(item, create, methods=["PUT"])
    if place != "path":
        creates = Route("/payments", create, methods=["POST"])
    routes = [
        creates,
        Route(item, read, methods=["GET"]),
        Route("/payments", show_all, methods=["GET"]),
        Route("/openapi.json", describe),
    ]
    return Starlette(routes=joined(routes), exception_handlers={HTTPException: refuse_all})


def tenant_of(request: Request) -> str:
    """The tenant of the caller: their token."""
    return request.headers.get("Authorization", "")


def make_branches(sins: Mapping[Place, str]) -> ASGIApp:
    """One service with a branch for each place of the key, such as `/query/payments`; each branch
    may have a mistake.
    """
    apps = {place: make_app(place, sins.get(place, "")) for place in PLACES}

    async def describe(request: Request) -> Response:
        paths = {
            f"/{place}{path}": operations
            for place in PLACES
            for path, operations in document(place)["paths"].items()
        }
        return JSONResponse({**document("header"), "paths": paths})

    async def refuse_all(request: Request, refused: Exception) -> Response:
        assert isinstance(refused, HTTPException)
        return refuse(refused.status_code, "absent", str(refused.detail))

    mounts = [Mount(f"/{place}", app) for place, app in apps.items()]
    routes = [Route("/openapi.json", describe), *mounts]
    return Starlette(routes=routes, exception_handlers={HTTPException: refuse_all})


def joined(routes: list[Route]) -> list[Route]:
    """One route for each path, so that 405 names all of its methods."""
    found: dict[str, dict[str, Any]] = {}
    for route in routes:
        for method in route.methods or ():
            found.setdefault(route.path, {})[method] = route.endpoint

    def answering(by_method: Mapping[str, Any]) -> Any:
        async def answer(request: Request) -> Response:
            response: Response = await by_method[request.method](request)
            return response

        return answer

    return [Route(path, answering(own), methods=[*own]) for path, own in found.items()]


def read_body(content: bytes, *, with_token: bool) -> dict[str, Any] | str:
    """The members of a payment, or what is wrong with them."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return "the body is not JSON"
    names = {"amount", "note"} | ({"client_token"} if with_token else set())
    if not isinstance(body, dict) or set(body) - names:
        return "the body has other members"
    amount, note, token = (body.get(name) for name in ("amount", "note", "client_token"))
    if not isinstance(amount, int) or isinstance(amount, bool) or amount < 1:
        return "the amount is not a count"
    if not isinstance(note, str) or not 1 <= len(note) <= LONGEST:
        return "the note is not a text"
    if token is not None and (not isinstance(token, str) or not 1 <= len(token) <= LONGEST):
        return "the token is not a text"
    return body


def refuse(status: int, code: str, message: str) -> Response:
    """An error of the service."""
    return JSONResponse({"error": {"code": code, "message": message}}, status)


def document(place: Place) -> dict[str, Any]:
    """The OpenAPI document of the service."""
    members = {"amount": COUNT, "note": TEXT} | ({"client_token": TEXT} if place == "body" else {})
    schema = {
        "type": "object",
        "required": ["amount", "note"],
        "properties": members,
        "additionalProperties": False,
    }
    named = {"name": "key", "in": "path", "required": True, "schema": TEXT}
    parameters = {
        "header": [{"name": "Idempotency-Key", "in": "header", "schema": TEXT}],
        "path": [named],
        "query": [{"name": "request_id", "in": "query", "schema": TEXT}],
        "body": [],
    }
    create = {
        "parameters": parameters[place],
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {
            "200": {"description": "The payment, made before."},
            "201": {"description": "The payment."},
        },
    }
    done = {"responses": {"200": {"description": "Done."}}}
    paths: dict[str, Any] = {
        "/payments": {"get": done},
        "/payments/{key}": {"get": {**done, "parameters": [named]}},
    }
    if place == "path":
        paths["/payments/{key}"]["put"] = create
    else:
        paths["/payments"]["post"] = create
    return {"openapi": "3.1.0", "info": {"title": "Payments", "version": "1"}, "paths": paths}
