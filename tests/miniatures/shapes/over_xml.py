"""Services whose errors are XML, as AWS sends them."""

from xml.sax.saxutils import escape

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from .resource import Refused, application, guarded, is_text, read

REQUEST = "4442587FB7D0A2F9"
"""The id that every answer has."""


def _xml(status: int, body: str, media: str, headers: dict[str, str] | None = None) -> Response:
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n{body}'
    return Response(text, status, headers, media_type=media)


def aws_query() -> ASGIApp:
    """Topics, as AWS awsQuery says: the operation is a parameter."""
    names = {
        "absent": "NotFound",
        "invalid": "InvalidParameter",
        "limited": "Throttling",
        "failed": "InternalFailure",
        "many": "TopicLimitExceeded",
    }
    statuses = {
        "absent": 404,
        "invalid": 400,
        "limited": 400,
        "many": 403,
        "large": 400,
        "media": 400,
    }
    topics: set[str] = set()

    def say(refused: Refused, status: int) -> Response:
        fault = "Receiver" if status >= 500 else "Sender"
        name = names.get(refused.reason, "InvalidAction")
        error = f"<Type>{fault}</Type><Code>{name}</Code><Message>{escape(refused.text)}</Message>"
        body = (
            '<ErrorResponse xmlns="http://topics.example.com/doc/2010-03-31/">'
            f"<Error>{error}</Error><RequestId>{REQUEST}</RequestId></ErrorResponse>"
        )
        return _xml(status, body, "text/xml")

    async def call(request: Request) -> Response:
        given = dict(request.query_params)
        if request.headers.get("content-type", "").startswith("application/x-www-form"):
            given |= await read(request)
        action, name = given.get("Action"), given.get("Name")
        if action not in ("CreateTopic", "GetTopic"):
            raise Refused("action")
        if not is_text(name, 40):
            raise Refused("invalid", "Name")
        assert isinstance(name, str)
        if action == "GetTopic" and name not in topics:
            raise Refused("absent")
        if name == "one-too-many":
            raise Refused("many")
        topics.add(name)
        inner = f"<{action}Result><Name>{escape(name)}</Name></{action}Result>"
        return _xml(200, f"<{action}Response>{inner}</{action}Response>", "text/xml")

    return application([Route("/", guarded(call, say, statuses), methods=["POST"])], say, statuses)


def aws_rest_xml() -> ASGIApp:
    """Objects in a bucket, as S3 sends them."""
    largest = 64
    statuses = {"bucket": 404, "limited": 503, "large": 400, "media": 400}
    names = {
        "missing": "NoSuchKey",
        "bucket": "NoSuchBucket",
        "size": "EntityTooLarge",
        "method": "MethodNotAllowed",
        "limited": "SlowDown",
        "failed": "InternalError",
    }
    stored: dict[str, bytes] = {}

    def say(refused: Refused, status: int) -> Response:
        name = names.get(refused.reason, "InvalidRequest")
        more = {
            "missing": f"<Key>{escape(refused.members[0] if refused.members else '')}</Key>",
            "bucket": "<BucketName>other</BucketName>",
            "size": f"<MaxSizeAllowed>{largest}</MaxSizeAllowed>",
        }.get(refused.reason, "")
        body = (
            f"<Error><Code>{name}</Code><Message>{escape(refused.text)}</Message>{more}"
            f"<RequestId>{REQUEST}</RequestId><HostId>host</HostId></Error>"
        )
        headers = {"Retry-After": "1"} if refused.reason == "limited" else None
        return _xml(status, body, "application/xml", headers)

    async def put(request: Request) -> Response:
        known_bucket(request)
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > largest:
                raise Refused("size")
        stored[request.path_params["key"]] = body
        return Response(status_code=200, headers={"ETag": '"1"'})

    async def get(request: Request) -> Response:
        known_bucket(request)
        key = request.path_params["key"]
        if key not in stored:
            raise Refused("missing", key)
        return Response(stored[key], media_type="application/octet-stream")

    def known_bucket(request: Request) -> None:
        if request.path_params["bucket"] != "photos":
            raise Refused("bucket")

    async def either(request: Request) -> Response:
        return await (put if request.method == "PUT" else get)(request)

    return application(
        [Route("/{bucket}/{key}", guarded(either, say, statuses), methods=["GET", "PUT"])],
        say,
        statuses,
    )
