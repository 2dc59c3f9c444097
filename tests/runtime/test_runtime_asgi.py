"""Laws of the ASGI error boundary, over bare ASGI applications and over Starlette."""

import asyncio
import json
import logging
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Route

from faultspec.runtime import ids
from faultspec.runtime.asgi import AsgiBoundary
from faultspec.runtime.boundary import Answer, BoundaryPolicy, Correlation

NAMES = {
    404: "not_found",
    405: "invalid_request",
    413: "invalid_request",
    415: "unsupported_media_type",
}


class RateLimitedError(Exception):
    """A declared failure, as a generated binding has one."""


def envelope(code, correlation_id):
    """A body in the Core Platform's shape."""
    return json.dumps({"code": code, "message": "No", "correlation_id": correlation_id}).encode()


def render(problem):
    """Answer a problem as a generated binding does: a declared exception keeps its code, all else
    goes by status.
    """
    if isinstance(problem.exception, RateLimitedError):
        status, code, extra = 429, "rate_limited", ((b"Retry-After", b"8"),)
    else:
        status, code, extra = problem.status, NAMES.get(problem.status, "internal_error"), ()
    headers = ((b"Content-Type", b"application/json"), *extra)
    return Answer(status, headers, envelope(code, problem.correlation_id))


def is_envelope(reply):
    """Whether a body is in the Core Platform's shape."""
    try:
        found = json.loads(reply.body)
    except ValueError:
        return False
    shaped = isinstance(found, dict) and {"code", "correlation_id"} <= found.keys()
    return reply.content_type == "application/json" and shaped


def last_resort(correlation_id):
    """The answer where `render` fails."""
    return Answer(
        500, ((b"Content-Type", b"application/json"),), envelope("internal_error", correlation_id)
    )


def around(app, **given):
    """A boundary around an application."""
    known = {
        "render": render,
        "last_resort": last_resort,
        "is_envelope": is_envelope,
        "correlation": CORRELATION,
    }
    return AsgiBoundary(app, BoundaryPolicy(**{**known, **given}))


CORRELATION = Correlation(
    "X-Correlation-Id",
    lambda text: ids.matches(["uuid7", "ulid", "token"], text),
    lambda: ids.new("uuid7"),
)
GIVEN = "01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T"


class Reply:
    """The messages of one response, put together."""

    def __init__(self, messages, scope, raised):
        self.messages = messages
        self.scope = scope
        self.raised = raised
        starts = [each for each in messages if each["type"] == "http.response.start"]
        assert len(starts) <= 1
        self.status = starts[0]["status"] if starts else None
        self.raw = starts[0]["headers"] if starts else []
        self.headers = {name.decode().lower(): value.decode("latin-1") for name, value in self.raw}
        assert len(self.headers) == len(self.raw) or "set-cookie" in self.headers
        self.body = b"".join(
            each.get("body", b"") for each in messages if each["type"] == "http.response.body"
        )

    @property
    def code(self):
        """The code in the body."""
        return json.loads(self.body)["code"]

    @property
    def correlation_id(self):
        """The correlation id in the header."""
        return self.headers["x-correlation-id"]


def call(app, *, method="GET", path="/", headers=(), chunks=(b"",), limit=None):
    """Send one request through a boundary around `app`."""
    boundary = around(app, body_limit=limit)
    return drive(boundary, method=method, path=path, headers=headers, chunks=chunks)


def drive(app, *, method="GET", path="/", headers=(), chunks=(b"",)):
    """Send one request to an ASGI application."""
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers],
    }
    pending = [
        {"type": "http.request", "body": chunk, "more_body": index < len(chunks) - 1}
        for index, chunk in enumerate(chunks)
    ]
    sent = []

    async def receive():
        if pending:
            return pending.pop(0)
        return await asyncio.Event().wait()  # the client stays

    async def send(message):
        sent.append(message)

    async def run():
        try:
            await app(scope, receive, send)
        except Exception as exception:
            return exception
        return None

    raised = asyncio.run(run())
    return Reply(sent, scope, raised)


def replies(status, headers=(), *bodies, then=None):
    """An application that answers so, whatever it is asked, and then raises `then`."""

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for index, body in enumerate(bodies or (b"",)):
            await send(
                {"type": "http.response.body", "body": body, "more_body": index < len(bodies) - 1}
            )
        if then is not None:
            raise then

    return app


def raises(exception):
    """An application that raises at once."""

    async def app(scope, receive, send):
        raise exception

    return app


JSON = (b"content-type", b"application/json")
TEXT = (b"content-type", b"text/plain")


@pytest.mark.parametrize("status", [404, 405, 406, 413, 415, 422, 500, 503])
@pytest.mark.parametrize("body", [b"Not Found", b"", b'{"detail":"Not Found"}', b"\xff"])
def test_an_error_that_is_not_an_envelope_becomes_one(status, body):
    """Whatever a framework says by itself from 400 on leaves as the envelope, not stored, of the
    right length.
    """
    reply = call(replies(status, [JSON, (b"content-length", str(len(body)).encode())], body))
    assert reply.status == status
    assert reply.headers["content-type"] == "application/json"
    assert {"code", "correlation_id"} <= json.loads(reply.body).keys()
    assert reply.headers["content-length"] == str(len(reply.body))
    assert reply.headers["cache-control"] == "no-store"
    assert reply.correlation_id == json.loads(reply.body)["correlation_id"]


def test_headers_that_say_what_to_do_survive_and_those_of_the_lost_body_do_not():
    """`Allow` and its like stay, with CORS; type, length, encoding and server gossip go."""
    kept = [
        (b"Allow", b"GET, HEAD"),
        (b"Retry-After", b"8"),
        (b"WWW-Authenticate", b"Bearer"),
        (b"ETag", b'"1"'),
        (b"Vary", b"Origin"),
        (b"Access-Control-Allow-Origin", b"*"),
    ]
    lost = [
        TEXT,
        (b"content-length", b"4"),
        (b"content-encoding", b"br"),
        (b"x-powered-by", b"db7.internal"),
    ]
    reply = call(replies(405, kept + lost, b"nope"))
    for name, value in kept:
        assert reply.headers[name.decode().lower()] == value.decode()
    assert "content-encoding" not in reply.headers
    assert "x-powered-by" not in reply.headers


def test_a_kept_header_wins_over_a_rendered_one():
    """The framework knew how long to wait; the envelope's default doesn't replace it."""

    async def app(scope, receive, send):
        await replies(500, [TEXT, (b"Retry-After", b"30")], b"x")(scope, receive, send)

    def with_default(problem):
        return render(problem)._replace(headers=((b"retry-after", b"1"), JSON))

    boundary = around(app, render=with_default)
    assert drive(boundary).headers["retry-after"] == "30"


def test_the_service_s_own_envelope_passes():
    """Body, status and headers stay; only no-store and the correlation id are added where they are
    missing.
    """
    body = envelope("conflict", GIVEN)
    own = [
        JSON,
        (b"content-length", str(len(body)).encode()),
        (b"set-cookie", b"a=1"),
        (b"set-cookie", b"b=2"),
    ]
    reply = call(replies(409, own, body[:10], body[10:]), headers=[("X-Correlation-Id", GIVEN)])
    assert reply.status == 409
    assert reply.body == body
    assert reply.raw[: len(own)] == own
    assert reply.headers["cache-control"] == "no-store"
    assert reply.correlation_id == GIVEN


@pytest.mark.parametrize(
    ("given_header", "expected"),
    [
        (b"private, no-store", "private, no-store"),
        (b"max-age=60", "no-store"),
        (b"No-Store", "No-Store"),
    ],
)
def test_an_error_is_never_stored(given_header, expected):
    """Another cache directive gives way to no-store, and one that has it stays."""
    reply = call(
        replies(404, [JSON, (b"cache-control", given_header)], envelope("not_found", GIVEN))
    )
    assert reply.headers["cache-control"] == expected


@pytest.mark.parametrize("status", [200, 204, 304, 399])
def test_an_answer_that_is_not_an_error_passes_as_it_comes(status):
    """Below 400 only the correlation id is added: no cache rule, no buffering, message for
    message.
    """
    reply = call(replies(status, [TEXT], b"one", b"two", b"three"))
    assert [each.get("body") for each in reply.messages] == [None, b"one", b"two", b"three"]
    assert set(reply.headers) == {"content-type", "x-correlation-id"}


def test_a_stream_is_not_held_back():
    """A chunk arrives before the next one is made."""
    order = []

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for each in (b"1", b"2"):
            order.append(("made", each))
            await send({"type": "http.response.body", "body": each, "more_body": True})

    boundary = around(app)

    async def send(message):
        order.append(("sent", message.get("body")))

    asyncio.run(boundary({"type": "http", "method": "GET", "path": "/", "headers": []}, None, send))
    assert order == [("sent", None), ("made", b"1"), ("sent", b"1"), ("made", b"2"), ("sent", b"2")]


def test_a_well_formed_id_is_echoed_and_shown_to_the_application():
    """Header, scope state and envelope have the id that came in."""
    reply = call(raises(ValueError("x")), headers=[("X-Correlation-Id", GIVEN)])
    assert reply.correlation_id == GIVEN
    assert reply.scope["state"]["correlation_id"] == GIVEN
    assert json.loads(reply.body)["correlation_id"] == GIVEN


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("X-Correlation-Id", "")],
        [("X-Correlation-Id", "not an id")],
        [("X-Correlation-Id", "a\r\nSet-Cookie: owned=1")],
        [("X-Correlation-Id", GIVEN + "\n")],
        [("X-Correlation-Id", "é" * 26)],
        [("X-Correlation-Id", "x" * 10_000)],
        [("X-Correlation-Id", GIVEN), ("X-Correlation-Id", GIVEN)],
    ],
)
def test_an_absent_or_malformed_id_is_replaced(headers):
    """A new id of the declared format comes back, and nothing of the malformed one."""
    reply = call(replies(200), headers=headers)
    assert ids.matches(["uuid7"], reply.correlation_id)


@given(st.text(alphabet=st.characters(max_codepoint=255), max_size=30))
def test_no_inbound_id_can_split_a_header(text):
    """Even where the format would allow anything, what goes out is one line of visible ASCII."""
    anything = Correlation("X-Correlation-Id", lambda text: True, lambda: "new")
    boundary = around(replies(200), correlation=anything)
    reply = drive(boundary, headers=[("X-Correlation-Id", text)])
    assert reply.correlation_id == (
        text if all(" " <= each <= "~" for each in text) and text else "new"
    )


def test_a_replayed_response_keeps_its_own_id():
    """A response that names a well-formed id is of another exchange, and its body agrees with it; a
    malformed one isn't.
    """
    body = envelope("conflict", GIVEN)
    reply = call(replies(409, [JSON, (b"X-Correlation-Id", GIVEN.encode())], body))
    assert reply.correlation_id == GIVEN
    assert ids.matches(
        ["uuid7"], call(replies(200, [(b"X-Correlation-Id", b"a b")])).correlation_id
    )


def test_an_exception_becomes_the_envelope_and_a_line_in_the_log(caplog):
    """Type, text and traceback are in the log, with the correlation id, and nowhere in the
    response.
    """
    reply = call(
        raises(ValueError("password=hunter2")), path="/a\nb", headers=[("X-Correlation-Id", GIVEN)]
    )
    assert (reply.status, reply.code, reply.raised) == (500, "internal_error", None)
    assert reply.headers["cache-control"] == "no-store"
    assert b"hunter2" not in reply.body + repr(reply.raw).encode()
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.getMessage() == rf"GET /a\nb failed (correlation id {GIVEN})"
    assert record.correlation_id == GIVEN
    assert record.exc_info is not None
    assert "hunter2" in str(record.exc_info[1])


def test_a_declared_exception_keeps_its_code(caplog):
    """`render` sees the exception; a refusal is not logged as an error."""
    reply = call(raises(RateLimitedError()))
    assert (reply.status, reply.code, reply.headers["retry-after"]) == (429, "rate_limited", "8")
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_a_framework_that_answers_500_before_it_raises_is_overruled():
    """The exception says more than the bare 500, and is not raised twice."""
    reply = call(replies(500, [TEXT], b"Internal Server Error", then=RateLimitedError()))
    assert (reply.status, reply.code, reply.raised) == (429, "rate_limited", None)
    assert call(replies(500, [TEXT], b"Internal Server Error")).code == "internal_error"


def test_an_exception_after_the_response_has_begun_is_raised_again(caplog):
    """Nothing is sent after half a response: neither after a success nor after an envelope that has
    left.
    """
    for status, body in ((200, b"half"), (409, envelope("conflict", GIVEN))):
        failure = ValueError("late")
        reply = call(replies(status, [JSON], body, then=failure))
        assert reply.raised is failure
        assert (reply.status, reply.body) == (status, body)
    assert len(caplog.records) == 2


def test_a_render_that_fails_still_ends_the_exchange(caplog):
    """The last resort is an envelope too, not stored, with the correlation id, and there are two
    lines in the log.
    """

    def broken(problem):
        raise KeyError("no such code")

    boundary = around(raises(ValueError("x")), render=broken)
    reply = drive(boundary, headers=[("X-Correlation-Id", GIVEN)])
    assert (reply.status, reply.body, reply.correlation_id) == (
        500,
        envelope("internal_error", GIVEN),
        GIVEN,
    )
    assert reply.headers["cache-control"] == "no-store"
    assert [type(record.exc_info[1]) for record in caplog.records] == [KeyError, ValueError]


def test_an_application_that_answers_nothing_is_an_error():
    """No response is a 500 in the envelope, not a broken connection."""

    async def app(scope, receive, send):
        pass

    assert call(app).code == "internal_error"


def test_an_application_that_answers_nothing_to_a_client_that_left_is_left_alone(caplog):
    """It noticed the end of the connection; nothing is answered, and nothing is logged."""

    async def app(scope, receive, send):
        while (await receive())["type"] != "http.disconnect":
            pass

    async def receive():
        return {"type": "http.disconnect"}

    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    asyncio.run(around(app)(scope, receive, send))
    assert sent == []
    assert not caplog.records


def test_a_noted_exception_decides_the_answer_of_its_status_alone(caplog):
    """A framework that answers an exception by itself, and a handler that says which it was. Under
    another status the response speaks for itself.
    """

    def noting(status, under):
        async def app(scope, receive, send):
            scope["error_boundary"].note(RateLimitedError(), under)
            await replies(status, [TEXT], b"No")(scope, receive, send)

        return app

    assert call(noting(500, 500)).code == "rate_limited"
    assert call(noting(400, 400)).code == "rate_limited"
    assert call(noting(404, 500)).code == "not_found"


@pytest.mark.parametrize(
    "app", [replies(404, [TEXT], b"Not Found"), replies(404, [TEXT]), raises(ValueError("x"))]
)
def test_head_has_the_headers_of_get_and_no_body(app):
    """Same status, same headers, content-length included; the body is left out."""
    same = [("X-Correlation-Id", GIVEN)]
    got, head = call(app, headers=same), call(app, method="HEAD", headers=same)
    assert head.body == b""
    assert head.status == got.status
    assert head.headers == got.headers
    assert head.headers["content-length"] == str(len(got.body))


def test_head_of_an_own_envelope_passes_by_its_media_type():
    """Without a body the media type is all there is to judge by, so the service's status and
    headers stay.
    """
    reply = call(
        replies(409, [(b"content-type", b"Application/JSON; charset=utf-8"), (b"x-own", b"1")]),
        method="HEAD",
    )
    assert (reply.status, reply.headers["x-own"]) == (409, "1")


async def reads_body(scope, receive, send):
    """An application that reads the whole body and then says how long it was."""
    size, more = 0, True
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    await replies(200, [TEXT], str(size).encode())(scope, receive, send)


async def swallows(scope, receive, send):
    """An application that turns whatever goes wrong with the body into a 400, as FastAPI does."""
    try:
        await reads_body(scope, receive, send)
    except Exception:
        await replies(400, [TEXT], b"There was an error parsing the body")(scope, receive, send)


async def shrugs(scope, receive, send):
    """An application that takes a body that can't be read for a success."""
    try:
        await reads_body(scope, receive, send)
    except Exception:
        await replies(200, [TEXT], b"ok")(scope, receive, send)


async def falls_silent(scope, receive, send):
    """An application that answers nothing when the body can't be read."""
    try:
        await reads_body(scope, receive, send)
    except Exception:
        return


@pytest.mark.parametrize("app", [reads_body, swallows, shrugs, falls_silent])
def test_a_streamed_body_beyond_the_limit_is_413(app, caplog):
    """Whatever the application makes of it, and without an error in the log; up to the limit all is
    well.
    """
    assert call(app, limit=10, chunks=(b"12345", b"67890")).body == b"10"
    reply = call(app, limit=10, chunks=(b"12345", b"67890", b"1"))
    assert (reply.status, reply.code) == (413, "invalid_request")
    assert caplog.records == []


@pytest.mark.parametrize("length", ["11", "9" * 5000])
def test_a_declared_length_beyond_the_limit_is_413_at_once(length):
    """The application isn't called."""
    reply = call(raises(AssertionError("called")), limit=10, headers=[("Content-Length", length)])
    assert (reply.status, reply.code) == (413, "invalid_request")


def test_without_a_limit_any_body_is_read():
    """No limit, no counting."""
    assert (
        call(reads_body, chunks=(b"x" * 100_000,) * 3, headers=[("Content-Length", "300000")]).body
        == b"300000"
    )


def test_a_huge_error_is_not_held_in_memory_to_be_judged():
    """A body beyond a mebibyte is not an envelope: the answer leaves before the body ends,
    unchanged.
    """
    sent, judged, answered = [], [], []

    async def endless(scope, receive, send):
        await send({"type": "http.response.start", "status": 404, "headers": [JSON]})
        for _ in range(20):
            await send({"type": "http.response.body", "body": b"x" * 300_000, "more_body": True})
            answered.append(bool(sent))

    async def send(message):
        sent.append(message)

    def spy(reply):
        judged.append(len(reply.body))
        return True

    boundary = around(endless, is_envelope=spy)
    asyncio.run(boundary({"type": "http", "method": "GET", "path": "/", "headers": []}, None, send))
    assert json.loads(sent[1]["body"])["code"] == "not_found"
    assert answered == [False, False, False, True]
    assert judged == []
    assert call(replies(500, [JSON], *[b"x" * 300_000] * 5)).code == "internal_error"


@pytest.mark.parametrize("kind", ["websocket", "lifespan"])
def test_other_scopes_pass_untouched(kind):
    """The very same scope, receive and send."""
    seen = []

    async def app(*arguments):
        seen.append(arguments)

    scope, receive, send = {"type": kind}, object(), object()
    boundary = around(app)
    asyncio.run(boundary(scope, receive, send))
    assert seen[0][0] is scope
    assert seen[0][1:] == (receive, send)
    assert scope == {"type": kind}


def cancelled():
    """An application whose client went away."""

    async def app(scope, receive, send):
        raise asyncio.CancelledError

    return app


def test_a_cancellation_is_not_an_error():
    """It passes, unanswered."""
    with pytest.raises(asyncio.CancelledError):
        call(cancelled())


async def boom(request):
    """An endpoint with a bug."""
    raise ValueError("secret")


async def limited(request):
    """An endpoint that refuses."""
    raise RateLimitedError


async def fine(request):
    """An endpoint that works, and shows the id it was given."""
    return JSONResponse({"id": request.state.correlation_id})


async def stream(request):
    """An endpoint that streams."""
    return StreamingResponse(iter([b"a", b"b"]), media_type="text/plain")


async def teapot(request):
    """An endpoint that answers an error in text."""
    return PlainTextResponse("short and stout", status_code=418)


ROUTES = [Route(f"/{each.__name__}", each) for each in (boom, limited, fine, stream, teapot)]
POLICY = BoundaryPolicy(render, last_resort, is_envelope, CORRELATION)


@pytest.mark.parametrize("place", ["around", "inside", "inside, debug"])
def test_starlette_s_own_errors_become_envelopes(place):
    """Unknown route, wrong method, bug, refusal, text error: around the application or as its
    middleware, all the same.
    """
    if place == "around":
        app = AsgiBoundary(Starlette(routes=ROUTES), POLICY)
    else:
        app = Starlette(
            routes=ROUTES, middleware=[Middleware(AsgiBoundary, POLICY)], debug="debug" in place
        )
    given_id = [("X-Correlation-Id", GIVEN)]
    answers = {
        ("GET", "/nowhere"): (404, "not_found"),
        ("POST", "/fine"): (405, "invalid_request"),
        ("GET", "/boom"): (500, "internal_error"),
        ("GET", "/limited"): (429, "rate_limited"),
        ("GET", "/teapot"): (418, "internal_error"),
    }
    for (method, path), (status, code) in answers.items():
        reply = drive(app, method=method, path=path, headers=given_id)
        assert (reply.status, reply.code, reply.correlation_id, reply.raised) == (
            status,
            code,
            GIVEN,
            None,
        ), path
        assert b"secret" not in reply.body
        assert reply.headers["cache-control"] == "no-store"
    assert set(drive(app, method="POST", path="/fine").headers["allow"].split(", ")) == {
        "GET",
        "HEAD",
    }
    assert json.loads(drive(app, path="/fine", headers=given_id).body) == {"id": GIVEN}
    streamed = drive(app, path="/stream", headers=given_id)
    assert (streamed.status, streamed.body, streamed.correlation_id) == (200, b"ab", GIVEN)


def test_a_header_of_an_error_cannot_begin_another():
    """A line break in the value of a rendered header goes out as a space, so no second header
    begins there.
    """
    boundary = around(
        raises(RuntimeError("boom")),
        render=lambda problem: render(problem)._replace(
            headers=((b"x-note", b"a\r\nset-cookie: x=1"),)
        ),
    )
    assert drive(boundary).headers["x-note"] == "a  set-cookie: x=1"


@pytest.mark.parametrize("raises", [False, True])
def test_a_plain_500_does_not_wait_for_background_work(raises):
    """Work after an answer does not delay the answer, and cannot change it."""
    order, sent = [], []

    async def works_afterwards(scope, receive, send):
        await send({"type": "http.response.start", "status": 500, "headers": [JSON]})
        await send({"type": "http.response.body", "body": b"oops"})
        await asyncio.sleep(0)
        order.append(len(sent))
        if raises:
            raise RuntimeError("the background work failed")

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    done = asyncio.run(asyncio.wait_for(quietly(around(works_afterwards)(scope, None, send)), 5))
    assert isinstance(done, RuntimeError) == raises
    assert order == [2]
    assert json.loads(sent[1]["body"])["code"] == "internal_error"


async def quietly(awaitable):
    """Return the exception that an awaitable raises, or None."""
    try:
        await awaitable
    except RuntimeError as error:
        return error
    return None


def test_a_cancellation_reaches_the_application():
    """The application is cancelled where it waits, also behind the boundary."""
    seen = []

    async def waits(scope, receive, send):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def main():
        scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
        task = asyncio.ensure_future(around(waits)(scope, None, None))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert seen == ["cancelled"]


def test_an_error_of_many_chunks_is_joined_in_linear_time():
    """A mebibyte that comes byte by byte needs about as much time per chunk as a small error."""

    def seconds(chunks):
        began = time.process_time()
        call(replies(404, [JSON], *[b"x"] * chunks))
        return time.process_time() - began

    seconds(1_000)
    small = min(seconds(20_000) for _ in range(3))
    assert seconds(400_000) < 20 * 4 * small


def test_headers_that_survive_are_well_formed():
    """A kept header cannot begin another one, contradict itself or be repeated."""
    headers = [
        (b"ETag", b'"a"'),
        (b"ETag", b'"b"'),
        (b"Access-Control-Allow-Origin", b"https://a.example"),
        (b"Access-Control-Allow-Origin", b"https://a.example"),
        (b"Access-Control-X\r\nSet-Cookie", b"a=1"),
        (b"Allow", b"GET\r\nX-Made: up"),
        (b"Set-Cookie", b"a=1"),
        (b"Set-Cookie", b"b=2"),
        (b"Content-Digest", b"sha-256=:AA==:"),
        (b"Content-Encoding", b"gzip"),
    ]
    reply = call(replies(405, headers, b"plain"))
    kept = [(name, value) for name, value in reply.raw if name not in (b"content-type",)]
    names = [name for name, _ in kept]
    assert names.count(b"set-cookie") == 2
    assert names.count(b"access-control-allow-origin") == 1
    assert not {b"etag", b"content-digest", b"content-encoding"} & set(names)
    assert not any(b"\r" in name + value or b"\n" in name + value for name, value in kept)


def test_an_error_without_an_end_is_answered_without_its_rest():
    """A service that passes on the error of another, and waits for nothing but `send`, would
    keep the event loop for ever.
    """
    sent = []

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 502, "headers": []})
        for _ in range(200):
            sent.append(1)
            await send({"type": "http.response.body", "body": b"x" * 65_536, "more_body": True})

    reply = call(app)
    assert (reply.status, reply.code, reply.raised) == (502, "internal_error", None)
    assert len(sent) == 18


def test_header_names_that_no_server_sends_are_dropped():
    """A server refuses the whole answer for one of them."""

    def render_with(problem):
        made = render(problem)
        return made._replace(headers=(*made.headers, (b"X-\r\nY", b"1"), (b"X-Fine", b"2")))

    reply = drive(around(raises(ValueError("no")), render=render_with))
    assert reply.headers["x-fine"] == "2"
    assert not any("\n" in name for name in reply.headers)
