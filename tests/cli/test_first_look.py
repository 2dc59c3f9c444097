"""A service without a taxonomy: `conform URL` judges it, and `init --from` drafts its files."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from fastapi import FastAPI, Header, HTTPException, Request
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from miniatures.serve import serving
from miniatures.shapes.services import SERVICES
from support.command_line import faultspec

BOOKS = {1: "Emma"}

#: A value that only a leaking answer contains.
LEAKED = "postgres://library:s3cr3tpw@10.0.0.7/books"


class Book(BaseModel):
    """A book as it is sent."""

    title: str


def library(openapi_url: str | None = "/openapi.json") -> FastAPI:
    """A service as teams write them: no codes, one crash, one leak, one challenge forgotten."""
    app = FastAPI(title="Library", openapi_url=openapi_url)

    @app.get("/books/{number}")
    def read_book(number: int) -> str:
        if number < 0:
            raise ValueError(number)
        if number == 0:
            raise HTTPException(503, f"cannot connect to {LEAKED}")
        if number not in BOOKS:
            raise HTTPException(404, "There is no such book")
        return BOOKS[number]

    @app.get("/books")
    def list_books(limit: int = 10) -> list[str]:
        return [*BOOKS.values()][:limit]

    @app.post("/books", status_code=201)
    def create_book(book: Book) -> str:
        BOOKS[len(BOOKS) + 1] = book.title
        return book.title

    @app.get("/account")
    def read_account(authorization: Annotated[str, Header()] = "") -> str:
        if not authorization:
            raise HTTPException(401, "Name yourself")
        return authorization

    return app


class Recorder:
    """An application that records the methods that it is asked for."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.methods: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Record the method, then answer."""
        self.methods.add(scope["method"])
        await self.app(scope, receive, send)


@pytest.fixture
def service() -> Iterator[tuple[str, Recorder]]:
    """The library on a real connection, and its record."""
    recorder = Recorder(library())
    with serving(recorder) as url:
        yield url, recorder


def test_a_url_alone_gives_true_findings(service: tuple[str, Recorder], tmp_path: Path) -> None:
    """Without a taxonomy the run finds what every service owes, and says what it saw. It sends
    nothing that writes, and leaves no file.
    """
    url, recorder = service
    done = faultspec("conform", url, "--format", "json", "--seed", "1", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    found = {(each["clause"], each["status"]) for each in report["findings"]}
    assert {
        ("service/no-crash", 500),
        ("http/authenticate", 401),
        ("leaks/canary", 422),
        ("leaks/connection-string", 503),
        ("envelope/types", 422),
    } <= found
    notes = "\n".join(report["notes"])
    assert "shape 1 of 2, by which all are judged: {detail}" in notes
    assert "shape 2 of 2: {detail: [{type, loc: [], msg, input}]}" in notes
    assert "faultspec init --from" in notes
    assert report["taxonomy"] == "what every service owes"
    assert report["coverage"] == {}
    assert recorder.methods <= {"GET", "HEAD", "OPTIONS"}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("start", ["/rows", "/rows?page=1"])
def test_a_number_beyond_the_list_is_sent_without_a_document(start: str, tmp_path: Path) -> None:
    """A route whose query nobody described is asked for pages that no list has, by the usual names,
    and by those that were seen.
    """
    app = FastAPI(openapi_url=None)

    @app.get("/rows")
    def list_rows(request: Request) -> list[str]:
        page = request.query_params.get("page", "1")
        if page.isdecimal() and int(page) > 1000:
            raise ValueError(page)
        return ["Emma"] if page == "1" else []

    with serving(app) as url:
        done = faultspec("conform", url, "--path", start, "--format", "json", cwd=tmp_path)
    found = {(each["clause"], each["operation"]) for each in json.loads(done.stdout)["findings"]}
    assert ("service/no-crash", "GET /rows") in found


def test_a_query_is_guessed_without_a_document(tmp_path: Path) -> None:
    """A route whose query nobody described gets texts by the usual names and by the members of its
    items. A number that is checked first hides none of them, and a text with open brackets is one.
    """
    app = FastAPI(openapi_url=None)

    @app.get("/racks")
    def list_racks(request: Request) -> list[dict[str, str]]:
        if not request.query_params.get("limit", "1").isdecimal():
            raise HTTPException(400, "limit")
        site = request.query_params.get("site", "north")
        if site != "north":
            raise HTTPException(503, f"cannot connect to {LEAKED}")
        return [{"site": "north"}]

    @app.get("/search")
    def search(q: str = "") -> list[str]:
        return re.findall(q, "Emma")

    with serving(app) as url:
        paths = ("--path", "/racks", "--path", "/search")
        done = faultspec("conform", url, *paths, "--no-sweep", "--format", "json", cwd=tmp_path)
    found = {(each["clause"], each["operation"]) for each in json.loads(done.stdout)["findings"]}
    assert {("leaks/connection-string", "GET /racks"), ("service/no-crash", "GET /search")} <= found


def test_a_named_write_is_tried_where_writes_are_allowed(tmp_path: Path) -> None:
    """A line of `paths` names a route that takes JSON: a run that may write sends it bodies that
    cannot be read, without a document.
    """
    app = FastAPI(openapi_url=None)
    sent: list[str] = []

    @app.post("/racks")
    async def create_rack(request: Request) -> None:
        sent.append(request.method)
        await request.json()  # a ValueError is a crash

    @app.get("/racks")
    def list_racks() -> list[str]:
        return []

    assert faultspec("init", cwd=tmp_path).returncode == 0
    with serving(app) as url:
        for writes in (False, True):
            (tmp_path / "conformance.yaml").write_text(
                f"taxonomy: taxonomy.yaml\ntarget: {{http: {url!r}}}\npaths: [POST /racks]\n"
                f"limits: {{requests: 300, seconds: 60, writes: {str(writes).lower()}}}\n"
            )
            done = faultspec(
                "conform", "conformance.yaml", "--no-sweep", "--format", "json", cwd=tmp_path
            )
            report = json.loads(done.stdout)
            found = {(each["clause"], each["operation"]) for each in report["findings"]}
            assert (("service/no-crash", "POST /racks") in found, bool(sent)) == (writes, writes)


#: Errors of a behaving service that a first look finds: two shapes.
TWO_SHAPES = {"fastapi": {"framework/unknown-id"}}

#: A word of a protocol that only its taxonomy rules out.
OWN_WORDS = {"aws_rest_xml": {"leaks/sql"}}


@pytest.mark.parametrize("shape", SERVICES)
def test_a_behaving_service_owes_nothing(shape: str, tmp_path: Path) -> None:
    """Whatever the shape of the errors, one that all of them have is right."""
    with serving(SERVICES[shape](), lifespan="on" if shape == "agents" else "off") as url:
        done = faultspec("conform", url, "--format", "json", "--no-sweep", cwd=tmp_path)
    report = json.loads(done.stdout)
    found = {each["clause"] for each in report["findings"] if each["level"] == "error"}
    assert found == TWO_SHAPES.get(shape, set()) | OWN_WORDS.get(shape, set())


def test_a_draft_from_a_service_can_be_used(service: tuple[str, Recorder], tmp_path: Path) -> None:
    """The drafted files have no error, name what they guess, quote no leak, and judge the service
    that they were drafted from without one finding about codes or shapes.
    """
    url, recorder = service
    done = faultspec("init", "--from", url, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    names = ["conformance.yaml", "faultspec.schema.json", "faultspec.yaml", "project.schema.json"]
    assert sorted(each.name for each in tmp_path.iterdir()) == [*names, "taxonomy.yaml"]
    assert recorder.methods <= {"GET", "HEAD", "OPTIONS"}
    text = (tmp_path / "taxonomy.yaml").read_text()
    assert "# observed: 404, in " in text
    assert "s3cr3tpw" not in "".join(each.read_text() for each in tmp_path.iterdir())
    assert (
        f'target: {{http: "{url}", openapi: /openapi.json}}'
        in (tmp_path / "conformance.yaml").read_text()
    )
    linted = faultspec("lint", cwd=tmp_path)
    assert linted.returncode == 0, linted.stdout
    judged = faultspec("conform", "--format", "json", "--no-sweep", cwd=tmp_path)
    found = {each["clause"] for each in json.loads(judged.stdout)["findings"] if not each["waived"]}
    assert not {each for each in found if each.partition("/")[0] in ("code", "envelope", "surface")}


def shop() -> FastAPI:
    """A service with codes, whose document shows no more of its errors than that they are
    objects.
    """
    app = FastAPI(title="Shop")
    media_type = "application/problem+json"
    open_object: dict[int | str, dict[str, Any]] = {
        status: {"content": {media_type: {"schema": {"type": "object"}}}} for status in (404, 409)
    }

    @app.exception_handler(StarletteHTTPException)
    async def refuse(_: Request, refused: StarletteHTTPException) -> JSONResponse:
        name = str(refused.detail).lower().replace(" ", "_")
        body = {"type": f"https://shop.example/{name}", "status": refused.status_code}
        return JSONResponse(
            {**body, "title": str(refused.detail)},
            refused.status_code,
            headers=refused.headers,
            media_type=media_type,
        )

    @app.get("/items/{name}", responses=open_object)
    def read_item(name: str) -> str:
        raise HTTPException(404, "No item")

    @app.get("/makers/{name}", responses=open_object)
    def read_maker(name: str) -> str:
        raise HTTPException(404, "No maker")

    return app


def test_an_unedited_draft_passes_its_service(tmp_path: Path) -> None:
    """A service passes the draft that was made from it, however loosely it documents its errors."""
    with serving(shop()) as url:
        drafted = faultspec("init", "--from", url, cwd=tmp_path)
        assert drafted.returncode == 0, drafted.stderr
        judged = faultspec("conform", cwd=tmp_path)
    assert judged.returncode == 0, judged.stdout


def telescope(*, traced: bool) -> Starlette:
    """A service that answers 200 to all that it knows, with `ok: false` in its errors. ``traced``:
    one of them contains a stack trace.
    """

    def fault(kind: str, text: str, status: int = 200) -> Response:
        return JSONResponse({"ok": False, "fault": {"kind": kind, "text": text}}, status)

    async def show(_request: Request) -> Response:
        return JSONResponse({"ok": True, "value": {"slots": "/slots/s1"}})

    async def read_slot(request: Request) -> Response:
        if request.path_params["id"] == "s1":
            return JSONResponse({"ok": True, "value": {"minutes": 10}})
        text = 'Traceback (most recent call last):\n  File "/srv/scope.py", line 12, in slot'
        return fault("NO_SLOT", text if traced else "There is no such slot")

    async def refuse(_request: Request, error: Exception) -> Response:
        assert isinstance(error, StarletteHTTPException)
        if error.status_code == 404:
            return fault("NO_ROUTE", "There is no such route")
        answer = fault("BAD_METHOD", "The method is wrong", error.status_code)
        answer.headers.update(error.headers or {})
        return answer

    return Starlette(
        routes=[Route("/", show), Route("/slots/{id}", read_slot)],
        exception_handlers={StarletteHTTPException: refuse},
    )


@pytest.mark.parametrize("traced", [False, True])
def test_errors_under_a_status_of_success_are_learned(traced: bool, tmp_path: Path) -> None:
    """A member that marks the errors marks them under any status: the service owes the same of
    them, they are refusals, and the draft recognizes them by it.
    """
    expected = [("leaks/stack-trace", "GET /slots/{id}")] if traced else []
    with serving(telescope(traced=traced)) as url:
        for source in (url, "draft/conformance.yaml"):
            done = faultspec("conform", source, "--report", "json=r.json", cwd=tmp_path)
            report = json.loads((tmp_path / "r.json").read_text())
            errors = [one for one in report["findings"] if one["level"] == "error"]
            assert [(one["clause"], one["operation"]) for one in errors] == expected, done.stdout
            if source == url:
                note = "answers of 2xx with `ok: false` are errors too"
                assert any(note in one for one in report["notes"])
                faultspec("init", "--from", url, "draft/taxonomy.yaml", cwd=tmp_path)
    drafted = (tmp_path / "draft/taxonomy.yaml").read_text()
    assert 'equals: {"/ok": false}' in drafted
    assert "errors under 2xx are recognized by `error_when`" in drafted


def test_a_first_look_that_runs_out_of_time_has_a_report(tmp_path: Path) -> None:
    """A service whose first answer never ends was reached: the run says that its time is spent."""

    async def drip(_request: Request) -> Response:
        async def spaces() -> AsyncIterator[bytes]:
            while True:
                yield b" "
                await asyncio.sleep(0.01)

        return StreamingResponse(spaces(), media_type="application/json")

    with serving(Starlette(routes=[Route("/{path:path}", drip)])) as url:
        limit = ("--seconds", "2", "--report", "json=r.json")
        done = faultspec("conform", url, *limit, cwd=tmp_path)
    report = json.loads((tmp_path / "r.json").read_text())
    assert done.returncode == 2
    assert not report["run"]["complete"]
    assert "the budget of 1 seconds is spent" in done.stdout


def test_a_draft_from_a_document_aims_at_this_machine(tmp_path: Path) -> None:
    """A document's servers are not taken, since a run would send requests to them."""
    document = {**library().openapi(), "servers": [{"url": "https://api.library.example"}]}
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    done = faultspec("init", "--from", "openapi.json", "api/taxonomy.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    conformance = (tmp_path / "api" / "conformance.yaml").read_text()
    assert 'target: {http: "http://127.0.0.1:8080", openapi: "../openapi.json"}' in conformance
    assert "library.example" not in conformance
    taxonomy = (tmp_path / "api" / "taxonomy.yaml").read_text()
    assert "# from the document alone, not observed" in taxonomy
    assert faultspec("lint", "api/taxonomy.yaml", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("name", ["taxonomy.yaml", "conformance.yaml", "faultspec.yaml"])
def test_a_draft_overwrites_nothing(name: str, tmp_path: Path) -> None:
    """A file that exists stays as it is, and no other file is written."""
    (tmp_path / "openapi.json").write_text(json.dumps(library().openapi()))
    (tmp_path / name).write_text("mine")
    done = faultspec("init", "--from", "openapi.json", cwd=tmp_path)
    assert (done.returncode, "the file exists already" in done.stderr) == (2, True)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(["openapi.json", name])
    assert (tmp_path / name).read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("http://127.0.0.1:9",), "is the service running"),
        (("missing.json",), "missing.json"),
        (("empty.json",), "the document declares no failure"),
        (("empty.json", "--header", "A: b"), "--header and --path need --from URL"),
        (("http://127.0.0.1:9", "--http", "http://x"), "--http needs --from FILE"),
    ],
)
def test_a_draft_needs_a_source(arguments: tuple[str, ...], reason: str, tmp_path: Path) -> None:
    """A source that cannot be read ends with its reason, and nothing is written."""
    empty = {"openapi": "3.1.0", "info": {"title": "t", "version": "1.0.0"}, "paths": {}}
    (tmp_path / "empty.json").write_text(json.dumps(empty))
    done = faultspec("init", "--from", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert reason in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["empty.json"]


def test_a_draft_from_answers_has_their_routes(tmp_path: Path) -> None:
    """Without a document the draft has the routes that were learned, named or linked, and none that
    the service refuses.
    """
    with serving(library(openapi_url=None)) as url:
        done = faultspec(
            "init", "--from", url, "--path", "/books", "--path", "/account", cwd=tmp_path
        )
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "taxonomy.yaml").read_text()
    assert "routes: [GET /account]" in text
    assert "GET /books/{id}" in text
    assert "code: null" not in text
    assert "extensible" not in text  # nobody extends the draft of one service
    drafted = (tmp_path / "conformance.yaml").read_text()
    assert "a draft from its answers" in drafted
    assert re.search(r"^paths: \[.*/books/Emma", drafted, re.MULTILINE), drafted
    linted = faultspec("lint", cwd=tmp_path)
    assert (linted.returncode, linted.stderr.strip()) == (0, "1 taxonomy: 1 warning")
    assert "[required-header]" in linted.stdout  # its 401 has no challenge


@pytest.mark.parametrize(
    ("server", "target"),
    [
        ("https://api.library.example", "http://127.0.0.1:8080"),
        ("http://localhost:9000/v1", "http://localhost:9000"),
    ],
)
def test_a_drafted_configuration_aims_at_this_machine(
    server: str, target: str, tmp_path: Path
) -> None:
    """Of the servers in a document only one on this machine is taken."""
    document = {**library().openapi(), "servers": [{"url": server}]}
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    assert faultspec("init", cwd=tmp_path).returncode == 0
    done = faultspec("init", "conformance", "--openapi", "openapi.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f'target: {{http: "{target}"' in (tmp_path / "conformance.yaml").read_text()


@pytest.mark.parametrize("address", ["localhost:8000", "127.0.0.1:8000/books", "[::1]:8000"])
def test_an_address_without_a_scheme_is_not_taken_for_a_file(address: str, tmp_path: Path) -> None:
    """The message has the URL."""
    done = faultspec("conform", address, cwd=tmp_path)
    assert done.returncode == 2
    assert f"the URL is http://{address}" in done.stderr
