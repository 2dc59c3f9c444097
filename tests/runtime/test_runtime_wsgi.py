"""Laws of the WSGI error boundary, over bare WSGI applications checked by `wsgiref.validate`."""

import io
import json
from contextlib import suppress
from wsgiref.headers import Headers
from wsgiref.util import FileWrapper
from wsgiref.validate import validator

import pytest
from test_runtime_asgi import (
    CORRELATION,
    GIVEN,
    RateLimitedError,
    envelope,
    is_envelope,
    last_resort,
    render,
)

from faultspec.runtime.boundary import BoundaryPolicy
from faultspec.runtime.wsgi import WsgiBoundary

POLICY = BoundaryPolicy(render, last_resort, is_envelope, CORRELATION)
JSON = ("Content-Type", "application/json")
TEXT = ("Content-Type", "text/plain")


class Reply:
    """The calls that a server received for one request: `start_response`, and the body."""

    def __init__(self, starts, parts, raised):
        self.starts = starts
        self.parts = parts
        self.raised = raised
        self.status = int(starts[-1][0].split(" ")[0]) if starts else None
        self.headers = Headers(starts[-1][1] if starts else [])
        self.body = b"".join(parts)

    @property
    def code(self):
        """The code in the body."""
        return json.loads(self.body)["code"]


def call(app, *, method="GET", path="/", headers=(), body=b"", length=True, limit=None, **more):
    """Send one request through a boundary around `app`, as a server does."""
    environ = {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": path,
        "QUERY_STRING": "",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        "CONTENT_TYPE": "application/json",
        **{f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers},
        **({"CONTENT_LENGTH": str(len(body))} if length else {}),
        **more,
    }
    starts, parts = [], []

    def start_response(status, headers, exc_info=None):
        assert not starts or (exc_info and not parts)
        starts.append((status, headers))
        return parts.append

    raised = None
    served = validator(WsgiBoundary(app, POLICY._replace(body_limit=limit)))
    try:
        chunks = served(environ, start_response)
        try:
            parts.extend(chunks)
        finally:
            chunks.close()
    except Exception as exception:
        raised = exception
    return Reply(starts, parts, raised)


def replies(status, headers=(), *bodies, then=None):
    """An application that answers so, and then raises `then`."""

    def app(environ, start_response):
        start_response(f"{status} Whatever", list(headers))
        yield from bodies
        if then is not None:
            raise then

    return app


def raises(exception):
    """An application that raises at once."""

    def app(environ, start_response):
        raise exception

    return app


@pytest.mark.parametrize("status", [404, 405, 413, 415, 422, 500, 503])
@pytest.mark.parametrize("body", [b"Not Found", b"", b'{"detail":"Not Found"}', b"\xff"])
def test_an_error_that_is_not_an_envelope_becomes_one(status, body):
    """Whatever a framework says by itself from 400 on leaves as the envelope, not stored, of the
    right length, with the headers that say what to do and without the others.
    """
    given = [TEXT, ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("Server-Gossip", "x")]
    reply = call(replies(status, [*given, ("Access-Control-Allow-Origin", "*")], body))
    assert (reply.status, reply.headers["Content-Type"]) == (status, "application/json")
    assert json.loads(reply.body)["correlation_id"] == reply.headers["X-Correlation-Id"]
    assert reply.headers["Content-Length"] == str(len(reply.body))
    assert reply.headers["Cache-Control"] == "no-store"
    assert reply.headers.get_all("Set-Cookie") == ["a=1", "b=2"]
    assert reply.headers["Access-Control-Allow-Origin"] == "*"
    assert "Server-Gossip" not in reply.headers


def test_the_service_s_own_envelope_passes():
    """An envelope is not made anew, and its headers stay."""
    own = envelope("no_such_thing", GIVEN)
    reply = call(replies(404, [JSON, ("X-Correlation-Id", GIVEN), ("X-Own", "1")], own))
    assert (reply.body, reply.headers["X-Own"]) == (own, "1")


@pytest.mark.parametrize("when", ["at once", "before the body", "after a 500"])
def test_an_exception_becomes_the_envelope(when, caplog):
    """A bug is an internal error and a line of the log with its trace; nothing of it travels."""
    bug = RuntimeError("secret")
    app = {
        "at once": raises(bug),
        "before the body": replies(200, [TEXT], then=bug),
        "after a 500": replies(500, [TEXT], b"secret", then=bug),
    }[when]
    reply = call(app)
    assert (reply.status, reply.code, reply.raised) == (500, "internal_error", None)
    assert b"secret" not in reply.body
    assert reply.headers["X-Correlation-Id"] in caplog.text
    assert caplog.records[-1].exc_info


def test_a_declared_exception_keeps_its_code():
    """An error that the service raises is answered as itself."""
    reply = call(raises(RateLimitedError()))
    assert (reply.status, reply.code, reply.headers["Retry-After"]) == (429, "rate_limited", "8")


def test_an_exception_after_the_response_has_begun_is_raised_again(caplog):
    """Half a response can't be taken back; the server has to cut the connection."""
    reply = call(replies(200, [TEXT], b"a", then=RuntimeError("late")))
    assert (reply.status, reply.body) == (200, b"a")
    assert isinstance(reply.raised, RuntimeError)
    assert "failed" in caplog.text


def test_a_stream_is_not_held_back():
    """Each part of a response that passes leaves before the next is made."""
    made, seen = [], []

    def app(environ, start_response):
        start_response("200 OK", [TEXT])
        for part in (b"a", b"b"):
            made.append(part)
            yield part

    boundary = WsgiBoundary(app, POLICY)
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/"}
    for part in boundary(environ, lambda *_: lambda data: None):
        seen.append((part, len(made)))
    assert seen == [(b"a", 1), (b"b", 2)]


def test_a_well_formed_id_is_echoed_and_shown_to_the_application():
    """The application sees the id that the response has."""
    shown = []

    def app(environ, start_response):
        shown.append(environ["correlation_id"])
        start_response("200 OK", [TEXT])
        return [b"ok"]

    reply = call(app, headers=[("X-Correlation-Id", GIVEN)])
    assert (shown, reply.headers["X-Correlation-Id"]) == ([GIVEN], GIVEN)
    malformed = call(app, headers=[("X-Correlation-Id", "a b")])
    assert malformed.headers["X-Correlation-Id"] == shown[-1] != "a b"


@pytest.mark.parametrize("app", [replies(404, [TEXT], b"x"), raises(RuntimeError())])
def test_head_has_the_headers_of_get_and_no_body(app):
    """HEAD is answered as GET, without the body."""
    got, head = call(app), call(app, method="HEAD")
    assert head.body == b""
    assert (head.status, head.headers["Content-Length"]) == (got.status, str(len(got.body)))


def reads(how):
    """An application that reads its whole body in one of the ways that a server offers."""

    def app(environ, start_response):
        body = how(environ["wsgi.input"])
        start_response("200 OK", [TEXT])
        return [body]

    return app


WAYS = {
    "read": lambda source: b"".join(iter(lambda: source.read(7), b"")),
    "readline": lambda source: b"".join(iter(source.readline, b"")),
    "lines": lambda source: b"".join(source),
    "readlines": lambda source: b"".join(source.readlines()),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("length", [True, False])
def test_a_body_beyond_the_limit_is_413(way, length, caplog):
    """Declared or not, whichever way it is read; a body within the limit is whole."""
    app = reads(WAYS[way])
    refused = call(app, method="POST", body=b"ab\ncd" * 30, length=length, limit=100)
    assert (refused.status, refused.code) == (413, "invalid_request")
    fine = call(app, method="POST", body=b"ab\ncd" * 20, length=length, limit=100)
    assert (fine.status, fine.body) == (200, b"ab\ncd" * 20)
    assert not caplog.records


def test_an_application_that_swallows_the_limit_is_overruled():
    """Whatever it makes of the refusal, the answer is 413."""

    def app(environ, start_response):
        try:
            environ["wsgi.input"].read(200)
        except Exception:
            start_response("200 OK", [TEXT])
        return [b"fine"]

    reply = call(app, method="POST", body=b"x" * 200, length=False, limit=100)
    assert (reply.status, reply.code) == (413, "invalid_request")


def test_the_application_is_closed_however_the_response_ends():
    """A server closes the boundary, and the boundary what the application returned."""
    closed = []

    class Chunks(list):
        def close(self):
            closed.append(1)

    def app(environ, start_response):
        start_response("404 No", [TEXT])
        return Chunks([b"x"])

    call(app)
    assert closed == [1]


def test_what_is_written_by_the_old_callable_is_treated_alike():
    """The callable that `start_response` returns passes a response, and an error is replaced."""

    def app(status):
        def writes(environ, start_response):
            start_response(status, [TEXT])(b"written")
            return [b" and more"]

        return writes

    assert call(app("200 OK")).body == b"written and more"
    assert call(app("404 No")).code == "not_found"


def test_a_second_start_replaces_the_first():
    """An application that fails after its start may answer anew, as PEP 3333 has it."""

    def app(environ, start_response):
        import sys

        try:
            start_response("200 OK", [TEXT])
            raise ValueError
        except ValueError:
            start_response("418 No", [TEXT], sys.exc_info())
        return [b"x"]

    assert call(app).status == 418


def test_a_file_is_left_to_the_server():
    """A file of a response that passes is given to the server as it is."""
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/", "wsgi.file_wrapper": FileWrapper}

    def app(environ, start_response):
        start_response("200 OK", [TEXT])
        return FileWrapper(io.BytesIO(b"file"))

    started = []
    chunks = WsgiBoundary(app, POLICY)(environ, lambda *given: started.append(given))
    assert isinstance(chunks, FileWrapper)
    assert len(started) == 1


def test_an_application_that_answers_nothing_is_an_error():
    """A generator that ends without a start is a bug."""
    reply = call(lambda environ, start_response: [])
    assert (reply.status, reply.code) == (500, "internal_error")


def test_an_error_without_an_end_is_answered_without_its_rest():
    """A service that passes on the error of another would keep a thread for ever."""
    sent, ended = [], []

    def app(environ, start_response):
        start_response("502 Bad Gateway", [TEXT])
        try:
            for _ in range(200):
                sent.append(1)
                yield b"x" * 65_536
        finally:
            ended.append(1)

    reply = call(app)
    assert (reply.status, reply.code, len(ended)) == (502, "internal_error", 1)
    assert len(sent) == 17


def test_no_line_is_read_beyond_the_limit():
    """An application that goes on after the limit makes nothing more be read."""
    source = io.BytesIO(b"x" * 10_000)

    def app(environ, start_response):
        for size in ((500,), (), ()):
            with suppress(Exception):
                environ["wsgi.input"].readline(*size)
        start_response("200 OK", [TEXT])
        return [b""]

    assert call(app, length=False, limit=10, **{"wsgi.input": source}).status == 413
    assert source.tell() == 500
