"""Services of resources whose errors are JSON: each keeps the form of a public API or framework."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from .resource import Refused, Shape, application, guarded, is_text, read, things

TOKEN = "tests-only"
"""The token that the services with credentials accept."""

_WAIT = {"limited": {"Retry-After": "1"}, "down": {"Retry-After": "1"}}


def _json(
    status: int,
    value: object,
    media: str = "application/json",
    headers: Mapping[str, str] | None = None,
) -> Response:
    return JSONResponse(value, status, headers, media_type=media)


def github() -> ASGIApp:
    """Issues of a repository, as GitHub sends them."""

    def say(refused: Refused, status: int) -> Response:
        body: dict[str, object] = {
            "message": "Validation Failed" if refused.reason == "invalid" else refused.text,
            "documentation_url": "https://docs.example.com/rest",
            "status": str(status),
        }
        if refused.members:
            body["errors"] = [
                {"resource": "Issue", "field": each, "code": "missing_field"}
                for each in refused.members
            ]
        return _json(status, body, headers=_WAIT.get(refused.reason))

    return things(Shape("/repos/forge/tools/issues", ("title",), say, token=TOKEN))


def django_rest() -> ASGIApp:
    """Patients of a clinic, as Django REST framework sends them."""
    headers = {"unauthenticated": {"WWW-Authenticate": 'Bearer realm="api"'}, **_WAIT}

    def say(refused: Refused, status: int) -> Response:
        body: object = {"detail": f"{refused.text}."}
        if refused.members == ("name", "ward"):
            body = {"non_field_errors": ["A patient has a name and a ward."]}
        elif refused.members:
            body = {each: ["This field is required."] for each in refused.members}
        return _json(status, body, headers=headers.get(refused.reason))

    return things(Shape("/patients", ("name", "ward"), say, {"invalid": 400}, token=TOKEN))


def rails() -> ASGIApp:
    """Products of a shop, as Rails in API mode sends them."""
    phrases = {
        "missing": "Not Found",
        "failed": "Internal Server Error",
        "method": "Method Not Allowed",
        "media": "Unsupported Media Type",
        "large": "Content Too Large",
    }

    def say(refused: Refused, status: int) -> Response:
        if refused.reason == "invalid":
            return _json(status, {"errors": {each: ["can't be blank"] for each in refused.members}})
        return _json(
            status, {"status": status, "error": phrases.get(refused.reason, "Bad Request")}
        )

    return things(Shape("/products", ("name",), say))


def google_rpc() -> ASGIApp:
    """Places of a map, errors as google.rpc.Status."""
    codes = {
        "missing": "NOT_FOUND",
        "limited": "RESOURCE_EXHAUSTED",
        "down": "UNAVAILABLE",
        "failed": "UNAVAILABLE",
    }

    def say(refused: Refused, status: int) -> Response:
        error: dict[str, object] = {
            "code": status,
            "message": refused.text,
            "status": codes.get(refused.reason, "INVALID_ARGUMENT"),
        }
        if refused.reason == "limited":
            kind = "type.googleapis.com/google.rpc.RetryInfo"
            error["details"] = [{"@type": kind, "retryDelay": "1s"}]
        if refused.members:
            kind = "type.googleapis.com/google.rpc.BadRequest"
            violations = [{"field": each} for each in refused.members]
            error["details"] = [{"@type": kind, "fieldViolations": violations}]
        return _json(status, {"error": error}, headers=_WAIT.get(refused.reason))

    return things(Shape("/v1/places", ("displayName",), say, {"invalid": 400}))


def json_api() -> ASGIApp:
    """Articles, as JSON:API says."""
    media = "application/vnd.api+json"

    def say(refused: Refused, status: int) -> Response:
        error: dict[str, object] = {"status": str(status), "code": "not_found"}
        errors = [{**error, "title": "Nothing is here", "detail": refused.text}]
        if refused.members:
            errors = [
                {
                    "status": str(status),
                    "code": "invalid_attribute",
                    "detail": f"`{each}` is missing",
                    "source": {"pointer": f"/data/attributes/{each}"},
                }
                for each in refused.members
            ]
        return _json(status, {"errors": errors}, media)

    def attributes(sent: Any) -> Mapping[str, Any]:
        data = sent.get("data") if isinstance(sent, dict) else None
        found = data.get("attributes") if isinstance(data, dict) else None
        return found if isinstance(found, dict) else {}

    def show(number: str, attributes: Mapping[str, Any]) -> object:
        return {"data": {"type": "articles", "id": number, "attributes": attributes}}

    shape = Shape(
        "/articles", ("title", "body"), say, media=media, attributes=attributes, show=show
    )
    return things(shape)


def scim() -> ASGIApp:
    """Users of a directory, as SCIM 2.0 says."""
    media = "application/scim+json"
    types = {
        "taken": "uniqueness",
        "unreadable": "invalidSyntax",
        "invalid": "invalidValue",
        "filter": "invalidFilter",
    }
    statuses = {"invalid": 400, "filter": 400}

    def say(refused: Refused, status: int) -> Response:
        body = {
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:Error"],
            "detail": refused.text,
            "status": str(status),
        }
        if refused.reason in types:
            body["scimType"] = types[refused.reason]
        return _json(status, body, media)

    def show(number: str, attributes: Mapping[str, Any]) -> object:
        schema = "urn:ietf:params:scim:schemas:core:2.0:User"
        return {"schemas": [schema], "id": number, **attributes}

    async def search(request: Request) -> Response:
        if not request.query_params.get("filter", "userName pr").startswith("userName "):
            raise Refused("filter")
        listed = {"schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"]}
        return _json(200, {**listed, "totalResults": 0}, media)

    shape = Shape("/Users", ("userName",), say, statuses, unique=True, media=media, show=show)
    return things(shape, Route("/Search", guarded(search, say, statuses), methods=["GET"]))


def stripe() -> ASGIApp:
    """Customers and charges, as Stripe sends them; requests are forms."""
    statuses = {"invalid": 400, "declined": 402}

    def say(refused: Refused, status: int) -> Response:
        error = {"type": "invalid_request_error", "message": refused.text}
        if refused.reason in ("failed", "down"):
            error["type"] = "api_error"
        if refused.reason == "declined":
            error |= {"type": "card_error", "code": "card_declined"}
            error |= {"decline_code": "generic_decline", "doc_url": "https://docs.example.com/c"}
        if refused.reason == "invalid":
            error |= {"code": "parameter_missing", "param": refused.members[0]}
        return _json(status, {"error": error})

    async def charge(request: Request) -> Response:
        given = await read(request)
        if not isinstance(given, dict) or not is_text(given.get("source")):
            raise Refused("invalid", "source")
        if given["source"] == "tok_chargeDeclined":
            raise Refused("declined")
        return _json(200, {"id": "ch_1", "paid": True})

    shape = Shape("/v1/customers", ("name",), say, statuses)
    return things(shape, Route("/v1/charges", guarded(charge, say, statuses), methods=["POST"]))


def aws_rest_json() -> ASGIApp:
    """Functions, as AWS restJson1 says: the error's name is in a header."""
    names = {"limited": "TooManyRequestsException", "failed": "ServiceException"}

    def say(refused: Refused, status: int) -> Response:
        name = names.get(refused.reason, "ResourceNotFoundException")
        kind = {"X-Amzn-ErrorType": f"{name}:http://internal.example.com/coral/"}
        body = {"Message": refused.text}
        return _json(status, body, headers={**kind, **_WAIT.get(refused.reason, {})})

    return things(Shape("/2015-03-31/functions", ("FunctionName",), say, {"invalid": 400}))


def credit() -> ASGIApp:
    """Accounts and payments, errors as problem details with constants of each code."""
    problems: Mapping[str, tuple[str, str, int, int, str]] = {
        "poor": ("out_of_credit", "You do not have enough credit.", 17, 9, "FAILED_PRECONDITION"),
        "unpaid": ("out_of_credit", "Pay first.", 27, 9, "FAILED_PRECONDITION"),
        "limited": ("limited", "Too many requests.", 18, 8, "RESOURCE_EXHAUSTED"),
        "failed": ("failed", "It failed.", 21, 13, "INTERNAL"),
    }
    refusal = ("refused", "It was refused.", 20, 3, "INVALID_ARGUMENT")
    statuses = {"poor": 403, "unpaid": 402, "invalid": 400}

    def say(refused: Refused, status: int) -> Response:
        name, title, number, grpc, grpc_name = problems.get(refused.reason, refusal)
        body = {
            "type": f"https://example.com/probs/{name}",
            "title": title,
            "status": status,
            "detail": refused.text,
            "number": number,
            "grpc": {"code": grpc, "status": grpc_name},
        }
        if refused.reason == "poor":
            body |= {"help": "https://example.com/credit", "final": True, "balance": 30}
        if refused.reason == "unpaid":
            body["account"] = {"id": "a1"}
        media = "application/problem+json"
        return _json(status, body, media, _WAIT.get(refused.reason))

    async def pay(request: Request) -> Response:
        given = await read(request)
        amount = given.get("amount") if isinstance(given, dict) else None
        if not isinstance(amount, int) or isinstance(amount, bool) or not 0 < amount <= 1000:
            raise Refused("invalid", "amount")
        if amount > 100:
            raise Refused("unpaid")
        return _json(200, {"paid": amount})

    shape = Shape("/accounts", ("owner",), say, statuses)
    return things(shape, Route("/payments", guarded(pay, say, statuses), methods=["POST"]))


def twirp() -> ASGIApp:
    """Hats to be made, as Twirp says."""
    codes = {"missing": "bad_route", "method": "bad_route", "failed": "internal"}
    statuses = {
        "method": 404,
        "media": 404,
        "invalid": 400,
        "limited": 500,
        "taken": 400,
        "large": 400,
    }

    def say(refused: Refused, status: int) -> Response:
        code = "bad_route" if refused.reason == "media" else codes.get(refused.reason)
        body: dict[str, object] = {"code": code or "invalid_argument", "msg": refused.text}
        if refused.members:
            body["meta"] = {"argument": refused.members[0]}
        return _json(status, body)

    async def make(request: Request) -> Response:
        given = await read(request)
        inches = given.get("inches") if isinstance(given, dict) else None
        if not isinstance(inches, int) or isinstance(inches, bool) or not 0 < inches <= 100:
            raise Refused("invalid", "inches")
        return _json(200, {"size": inches, "color": "blue"})

    return application(
        [Route("/twirp/hats.Hats/Make", guarded(make, say, statuses), methods=["POST"])],
        say,
        statuses,
    )


def aws_json() -> ASGIApp:
    """Tables of items, as AWS awsJson1.0 says: the operation is in a header."""
    media = "application/x-amz-json-1.0"
    names = {
        "unreadable": "SerializationException",
        "invalid": "ValidationException",
        "absent": "ResourceNotFoundException",
        "limited": "ThrottlingException",
        "failed": "InternalServerError",
        "cancelled": "TransactionCanceledException",
    }
    statuses = {
        "invalid": 400,
        "limited": 400,
        "large": 400,
        "media": 404,
    }
    stored: dict[str, str] = {}

    def say(refused: Refused, status: int) -> Response:
        name = names.get(refused.reason, "UnknownOperationException")
        body: dict[str, object] = {"__type": f"com.amazonaws.tables#{name}"}
        body["message"] = refused.text
        if refused.reason == "cancelled":
            body["Reasons"] = ["Throttled"]
        return _json(status, body, media)

    async def call(request: Request) -> Response:
        target = request.headers.get("x-amz-target", "").partition(".")
        if target[0] != "Tables_20120810" or target[2] not in ("PutItem", "GetItem"):
            raise Refused("operation")
        given = await read(request)
        if not isinstance(given, dict) or not is_text(given.get("Key")):
            raise Refused("invalid", "Key")
        if target[2] == "GetItem":
            if given["Key"] not in stored:
                raise Refused("absent")
            return _json(200, {"Item": stored[given["Key"]]}, media)
        if given["Key"] == "contended":
            raise Refused("cancelled")
        stored[given["Key"]] = json.dumps(given.get("Item"))
        return _json(200, {}, media)

    return application([Route("/", guarded(call, say, statuses), methods=["POST"])], say, statuses)
