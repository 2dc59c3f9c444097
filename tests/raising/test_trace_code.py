"""`faultspec trace-code`: codes of a program are traced through calls, dependencies and routers."""

import encodings
import json
import os
import pkgutil
import subprocess
import textwrap
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from faultspec.cli.interruption import limit_computing
from faultspec.cli.trace_code import command
from faultspec.language import load
from faultspec.raising import findings, flow, functions, routes, sources
from faultspec.raising.findings import CODES
from paths import ROOT
from support.memory import PROGRAM, peak_of

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0}
domains: {request: The client can fix it., runtime: The service failed.}
boundaries: {service: The service., gateway: The gateway.}
envelopes: {error: {shape: {code: $code, message: $message, details?: $details}}}
surfaces: {api: {transport: http, envelope: error}}
fallback: {5xx: {code: internal_error, reason: Crashes.}}
operations:
  create_order: {match: {routes: [POST /v1/orders]}, codes: [sku_taken, internal_error]}
  get_order: {match: {routes: ['GET /v1/orders/{id}']}, codes: [not_found, internal_error]}
codes:
  sku_taken: {summary: It is taken., domain: request, boundary: service, http: 409, retriable: false}
  not_found: {summary: There is none., domain: request, boundary: service, http: 404, retriable: false}
  forbidden: {summary: Not allowed., domain: request, boundary: service, http: 403, retriable: false}
  rate_limited: {summary: Slow down., domain: runtime, boundary: gateway, http: 429, retriable: true}
  internal_error: {summary: It failed., domain: runtime, boundary: service, http: 500, retriable: false}
"""

APP = {
    "app/__init__.py": "",
    "app/errors.py": "from shop_errors import Forbidden, NotFound, ShopError, SkuTaken as Taken\n",
    "app/store.py": """
        from app.errors import NotFound, Taken

        class Base:
            def load(self, id):
                if id == "0":
                    raise NotFound()
                return id

        class Store(Base):
            def add(self, sku):
                raise Taken(sku=sku)
    """,
    "app/main.py": """
        from typing import Annotated
        from fastapi import APIRouter, Depends, FastAPI
        from . import store
        from .errors import Forbidden
        from .store import Store

        router = APIRouter(prefix="/orders")

        def get_store() -> Store:
            return Store()

        def admin():
            raise Forbidden

        @router.post("")
        def create(sku: str, store: Annotated[Store, Depends(get_store)]):
            store.add(sku)

        @router.get("/{id:str}")
        def read(id: str, shelf: "store.Store" = Depends(get_store)):
            return shelf.load(id)

        app = FastAPI()
        app.include_router(router, prefix="/v1")
    """,
}


def write_program(folder: Path, files: Mapping[str, str]) -> None:
    """Write a program and its taxonomy."""
    (folder / "taxonomy.yaml").write_text(TAXONOMY)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text))


def trace(
    folder: Path, files: Mapping[str, str], *options: str
) -> tuple[int, list[dict[str, Any]]]:
    """The exit code and the diagnostics of a program."""
    write_program(folder, files)
    arguments = [str(folder), "--taxonomy", str(folder / "taxonomy.yaml"), "--format", "json"]
    done = CliRunner().invoke(command, [*arguments, *options], standalone_mode=False)
    assert done.exception is None, done.exception
    return done.return_value, json.loads(done.stdout)["diagnostics"]


def messages(found: list[dict[str, Any]], code: str) -> list[str]:
    """The messages of the diagnostics of one kind."""
    return [each["message"] for each in found if each["code"] == code]


def changed(name: str, old: str, new: str) -> dict[str, str]:
    """The program with one change."""
    assert old in APP[name]
    return {**APP, name: APP[name].replace(old, new)}


def test_a_program_as_declared_has_no_error(tmp_path: Path) -> None:
    """Raises that operations list, through methods, bases, aliases and routers, are not findings. A
    code of another boundary is due unless an option chooses this one.
    """
    code, found = trace(tmp_path, APP)
    assert code == 0
    assert messages(found, "code-not-raised") == ["no line of the program raises `rate_limited`"]
    assert {each["code"] for each in found} == {"code-not-raised"}
    assert trace(tmp_path, APP, "--strict")[0] == 1
    assert trace(tmp_path, APP, "--boundary", "service", "--strict") == (0, [])


UNLISTED = {
    "a dependency in a parameter": changed(
        "app/main.py", "Depends(get_store)]):", "Depends(get_store)], who=Depends(admin)):"
    ),
    "a dependency of a decorator": changed(
        "app/main.py", '@router.post("")', '@router.post("", dependencies=[Depends(admin)])'
    ),
    "a dependency of a router": changed(
        "app/main.py", 'prefix="/orders")', 'prefix="/orders", dependencies=[Depends(admin)])'
    ),
    "a dependency of an inclusion": changed(
        "app/main.py", 'prefix="/v1")', 'prefix="/v1", dependencies=[Depends(admin)])'
    ),
    "a helper that is passed on": changed(
        "app/main.py", "store.add(sku)", "run_in_threadpool(admin)"
    ),
    "a nested function": changed(
        "app/main.py",
        "store.add(sku)",
        "def inner():\n                admin()\n            inner()",
    ),
    "a handler of another error": changed(
        "app/main.py",
        "store.add(sku)",
        "try:\n                admin()\n            except KeyError:\n                pass",
    ),
    "a handler that raises again": changed(
        "app/main.py",
        "store.add(sku)",
        "try:\n                admin()\n            except Exception as error:\n                raise",
    ),
    "a value that is raised later": changed(
        "app/main.py", "store.add(sku)", "error = Forbidden()\n            raise error"
    ),
}


@pytest.mark.parametrize("way", UNLISTED)
def test_an_undeclared_code_is_found_on_every_way(way: str, tmp_path: Path) -> None:
    """Whichever way leads from a route to a raise, the operation that does not list the code is
    named, with the way.
    """
    code, found = trace(tmp_path, UNLISTED[way])
    wanted = "POST /v1/orders may raise `forbidden`, which the operation `create_order` does not"
    assert code == 1
    assert any(text.startswith(wanted) for text in messages(found, "raise-undeclared"))


@pytest.mark.parametrize("caught", ["Forbidden", "ShopError", "Exception", "(KeyError, Forbidden)"])
def test_a_caught_code_does_not_leave(caught: str, tmp_path: Path) -> None:
    """A code that is caught for good on the way is not a finding: by its class, a base, or any."""
    text = f"try:\n                admin()\n            except {caught}:\n                pass"
    files = changed("app/main.py", "store.add(sku)", text)
    files["app/main.py"] = files["app/main.py"].replace(
        "import Forbidden", "import Forbidden, ShopError"
    )
    assert messages(trace(tmp_path, files)[1], "raise-undeclared") == []


BARE = {
    "raise HTTPException(404)": "from fastapi import HTTPException",
    "raise HTTPException(status_code=404)": "from starlette.exceptions import HTTPException",
    "abort(404)": "from flask import abort",
    "return {}, 404": "",
    "return JSONResponse({}, status_code=503)": "from fastapi.responses import JSONResponse",
    "return HttpResponse(status=403)": "from django.http import HttpResponse",
    "raise Http404": "from django.http import Http404",
    "raise exceptions.NotFound()": "from rest_framework import exceptions",
    "raise web.HTTPNotFound()": "from aiohttp import web",
}


@pytest.mark.parametrize("line", BARE)
def test_an_error_of_a_framework_is_found(line: str, tmp_path: Path) -> None:
    """An error with a status and without a code is a warning at its line."""
    files = {**APP, "app/more.py": f"{BARE[line]}\ndef f():\n    {line}\n"}
    _, found = trace(tmp_path, files)
    assert [
        (each["span"]["line"], each["severity"])
        for each in found
        if each["code"] == "framework-error"
    ] == [(3, "warning")]


FRAMEWORKS = {
    "flask": """
        from flask import Blueprint, Flask
        from app.main import admin
        pages = Blueprint("pages", __name__, url_prefix="/v1")
        @pages.route("/orders/<int:id>", methods=["GET"])
        def page(id):
            admin()
    """,
    "starlette": """
        from starlette.routing import Route
        from app.main import admin
        def page(request):
            admin()
        routes = [Route("/v1/orders/{id:int}", page, methods=["GET"])]
    """,
    "django": """
        from django.urls import path
        from django.views import View
        from app.main import admin
        class Page(View):
            def get(self, request, id):
                admin()
        urlpatterns = [path("v1/orders/<int:id>", Page.as_view())]
    """,
    "litestar": """
        from litestar import get
        from app.main import admin
        @get("/v1/orders/{id:int}")
        def page(id: int) -> None:
            admin()
    """,
    "aiohttp": """
        from aiohttp import web
        from app.main import admin
        async def page(request):
            admin()
        def setup(app):
            app.add_routes([web.get("/v1/orders/{id}", page)])
    """,
    "aiohttp-add-get": """
        from aiohttp import web
        from app.main import admin
        async def page(request):
            admin()
        def setup(app):
            app.router.add_get("/v1/orders/{id}", page)
    """,
    "aiohttp-method": """
        from aiohttp import web
        from app.main import admin
        class Server:
            async def page(self, request):
                admin()
            def __init__(self):
                self.app = web.Application()
                self.app.router.add_route("GET", "/v1/orders/{id}", self.page)
    """,
    "aiohttp-subapp": """
        from aiohttp import web
        from app.main import admin
        class Page(web.View):
            async def get(self):
                admin()
        orders = web.Application()
        orders.router.add_view("/{id}", Page)
        app = web.Application()
        app.add_subapp("/v1/orders", orders)
    """,
    "flask-add-url-rule": """
        from flask import Blueprint, Flask
        from flask.views import MethodView
        from app.main import admin
        class Page(MethodView):
            def get(self, id):
                admin()
        pages = Blueprint("pages", __name__)
        pages.add_url_rule("/orders/<int:id>", "page", Page.as_view("page"))
        app = Flask(__name__)
        app.register_blueprint(pages, url_prefix="/v1")
    """,
    "fastapi-add-api-route": """
        from fastapi import APIRouter
        from app.main import admin
        def page(id: str):
            admin()
        pages = APIRouter(prefix="/v1")
        pages.add_api_route("/orders/{id}", endpoint=page, methods=["GET"])
    """,
    "starlette-mount": """
        from starlette.applications import Starlette
        from starlette.routing import Mount, Route
        from app.main import admin
        def page(request):
            admin()
        orders = [Route("/{id:int}", page, methods=["GET"])]
        app = Starlette(routes=[Mount("/v1", routes=[Mount("/orders", routes=orders)])])
    """,
    "starlette-mounted": """
        from starlette.applications import Starlette
        from app.main import admin
        def page(request):
            admin()
        orders = Starlette()
        orders.add_route("/orders/{id}", page, methods=["GET"])
        app = Starlette()
        app.mount("/v1", orders)
    """,
    "django-include": """
        from django.urls import include, path, re_path
        from django.views.decorators.csrf import csrf_exempt
        from app.main import admin
        class Page:
            def get(self, request, id):
                admin()
        orders = [re_path(r"^orders/(?P<id>[0-9]+)$", csrf_exempt(Page.as_view()))]
        urlpatterns = [path("v1/", include((orders, "orders")))]
    """,
    "django-api-view": """
        from django.urls import path
        from rest_framework.decorators import api_view
        from app.main import admin
        @api_view(["GET"])
        def page(request, id):
            admin()
        urlpatterns = [path("v1/orders/<int:id>", page)]
    """,
    "django-require": """
        from django.urls import path
        from django.views.decorators.http import require_GET
        from app.main import admin
        @require_GET
        def page(request, id):
            admin()
        urlpatterns = [path("v1/orders/<int:id>", page)]
    """,
    "flask-view-func": """
        from flask import Flask
        from app.main import admin
        def page(id):
            admin()
        app = Flask(__name__)
        app.add_url_rule("/v1/orders/<int:id>", endpoint="page", view_func=page)
    """,
    "django-re-path": """
        from django import urls
        from app.main import admin
        class Page:
            def get(self, request, id):
                admin()
        urlpatterns = [urls.re_path(r"^v1/orders/(?P<id>[0-9]+(-[0-9])?)$", Page.as_view())]
    """,
    "django-include-module": """
        from django.urls import include, path
        urlpatterns = [path("v1/", include("app.order_urls"))]
    """,
    "django-rest-framework": """
        from django.urls import include, path
        from rest_framework.routers import DefaultRouter
        from rest_framework.viewsets import ViewSet
        from app.main import admin
        class Orders(ViewSet):
            def retrieve(self, request, pk=None):
                admin()
        router = DefaultRouter(trailing_slash=False)
        router.register("orders", Orders)
        urlpatterns = [path("v1/", include(router.urls))]
    """,
}

#: The module that another one includes by its name.
ORDER_URLS = """
from django.urls import path
from app.main import admin
class Page:
    def get(self, request, id):
        admin()
urlpatterns = []
urlpatterns += [path("orders/<int:id>", Page.as_view(), name="order")]
"""


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_routes_of_every_framework_are_read(framework: str, tmp_path: Path) -> None:
    """A route is found where its framework declares it, with its prefix and parameters."""
    files = {**APP, "app/pages.py": FRAMEWORKS[framework]}
    if framework == "django-include-module":
        files["app/order_urls.py"] = ORDER_URLS
    _, found = trace(tmp_path, files)
    parameter = "{pk}" if framework == "django-rest-framework" else "{id}"
    assert messages(found, "raise-undeclared") == [
        f"GET /v1/orders/{parameter} may raise `forbidden`, which the operation `get_order` does "
        "not list"
    ]


def test_an_import_that_the_bindings_lack_is_found(tmp_path: Path) -> None:
    """A code that was renamed leaves an import that fails, and with it the whole module."""
    files = {
        **APP,
        "app/more.py": """
            from shop_errors import Gone, ErrorCode, NotFound, parse, AnyError
            from shop_errors.errors import RequestError, TooLate
            from elsewhere import Other
        """,
    }
    code, found = trace(tmp_path, files)
    assert code == 1
    assert [
        (each["span"]["line"], each["message"].split("`")[1])
        for each in found
        if each["code"] == "binding-missing"
    ] == [(2, "Gone"), (3, "TooLate")]


def test_other_calls_of_these_names_add_no_route(tmp_path: Path) -> None:
    """A registry, a queue and a cache have methods of the same names."""
    files = {
        "app/__init__.py": "",
        "app/more.py": """
            class OrderService:
                def create(self): pass
                def list(self): pass
            def handle(): pass
            container.register("orders", OrderService)
            queue.add_get("orders", handle)
            cache.mount("/orders", handle)
        """,
    }
    _, found = trace(tmp_path, files)
    assert len(messages(found, "routes-unknown")) == 1


def test_a_program_without_routes_is_a_note(tmp_path: Path) -> None:
    """Where no route is recognised, no operation is compared, and a note says so."""
    files = {name: text for name, text in APP.items() if name != "app/main.py"}
    _, found = trace(tmp_path, files)
    assert len(messages(found, "routes-unknown")) == 1
    assert not messages(found, "raise-undeclared")


def test_lines_that_cannot_be_followed_are_notes(tmp_path: Path) -> None:
    """A raise of a value and a call of a value whose class is not known are notes, and never
    passed over; a route without an operation is one as well.
    """
    files = {
        **APP,
        "app/odd.py": """
            from app.main import router
            @router.get("/odd/path")
            def odd(store, kinds):
                store.add(1)
                raise kinds[0]
        """,
    }
    code, found = trace(tmp_path, files)
    assert code == 0
    assert messages(found, "raise-unknown") == [
        "the class of the raised value is not known, so its code is not traced"
    ]
    assert messages(found, "call-unknown") == [
        "the class of this value is not known; a method `add` may raise `sku_taken`"
    ]
    assert messages(found, "route-undeclared") == [
        "no operation of the taxonomy has the route GET /v1/orders/odd/path"
    ]


#: Ways to make an error, each with whether it may leave the function.
MADE = {
    "Forbidden()": False,
    "err = Forbidden()": False,
    "err = Forbidden()\n    log(err.message, f'{err}', str(err))": False,
    "str(Forbidden())": False,
    "err = Forbidden()\n    raise err": True,
    "err = Forbidden() if id else None\n    raise err": True,
    "err = Forbidden\n    raise err": True,
    "err = Forbidden\n    raise err()": True,
    "err: Exception = Forbidden()\n    raise err from None": True,
    "err = forbid()\n    raise err": True,
    "raise forbid()": True,
    "return Forbidden()": True,
    "fail(Forbidden())": True,
    "err = Forbidden()\n    fail(err)": True,
    "err = Forbidden()\n    try:\n        raise err\n    except Forbidden:\n        pass": False,
}


@pytest.mark.parametrize("body", MADE)
def test_an_error_that_is_made_is_not_yet_raised(body: str, tmp_path: Path) -> None:
    """An error counts if it may leave its function: raised, also by a variable, returned, or passed
    on. A raise of a variable whose errors are known has no note.
    """
    helpers = "def forbid():\n    return Forbidden()\n\n" if "forbid()" in body else ""
    page = (
        "from fastapi import APIRouter\nfrom shop_errors import Forbidden\n"
        f"router = APIRouter()\n{helpers}"
        f"@router.get('/v1/orders/{{id}}')\ndef get_order(id):\n    {body}\n"
    )
    _, found = trace(
        tmp_path, {**changed("app/main.py", "raise Forbidden", "pass"), "app/made.py": page}
    )
    leaves = bool(messages(found, "raise-undeclared"))
    assert leaves == MADE[body]
    assert messages(found, "raise-unknown") == []
    unraised = "no line of the program raises `forbidden`" in messages(found, "code-not-raised")
    assert unraised == (not MADE[body] and "raise" not in body)


@pytest.mark.parametrize(
    "dependency",
    [
        "def get_store() -> Store:\n    return Store()",
        "def get_store():\n    return Store()",
        "def get_store():\n    store = Store()\n    yield store",
        "async def get_store() -> 'Iterator[Store]':\n    yield Store()",
        "get_store = Store",
    ],
)
@pytest.mark.parametrize("given", ["shelf=Depends(get_store)", "*, shelf=Depends(get_store)"])
def test_a_dependency_needs_no_annotation(dependency: str, given: str, tmp_path: Path) -> None:
    """`shelf=Depends(get_store)` has the class that `get_store` returns, annotated or not."""
    page = (
        "from typing import Iterator\nfrom fastapi import APIRouter, Depends\n"
        f"from app.store import Store\nrouter = APIRouter()\n{dependency}\n"
        f"@router.get('/v1/orders/{{id}}')\ndef get_order({given}):\n    shelf.add(1)\n"
    )
    dependency_of_variable = dependency.startswith("get_store =")
    _, found = trace(tmp_path, {**APP, "app/made.py": page})
    undeclared = (
        "GET /v1/orders/{id} may raise `sku_taken`, which the operation `get_order` does not list"
    )
    assert messages(found, "raise-undeclared") == ([] if dependency_of_variable else [undeclared])
    assert bool(messages(found, "call-unknown")) == dependency_of_variable


@pytest.mark.parametrize(
    ("made", "given", "found"),
    [
        ("shelf = Store()", "", True),
        ("shelf: Store = Store()", "", True),
        ("def make():\n    return Store()\nshelf = make()", "", True),
        ("from app.shelves import shelf", "", True),
        ("shelf = Store()\nshelf = object()", "", False),
        ("shelf = Store()", "shelf", False),
    ],
)
def test_a_variable_of_a_module_has_a_class(
    made: str, given: str, found: bool, tmp_path: Path
) -> None:
    """A variable that a module sets once, to what a class makes, has that class, also where it is
    imported. A parameter of the same name hides it.
    """
    page = (
        f"from fastapi import APIRouter\nfrom app.store import Store\nrouter = APIRouter()\n{made}\n"
        f"@router.get('/v1/orders/{{id}}')\ndef get_order({given}):\n    shelf.add(1)\n"
    )
    shelves = "from app.store import Store\nshelf = Store()\n"
    _, diagnostics = trace(tmp_path, {**APP, "app/made.py": page, "app/shelves.py": shelves})
    assert bool(messages(diagnostics, "raise-undeclared")) == found
    assert bool(messages(diagnostics, "call-unknown")) != found


@pytest.mark.parametrize(
    "text", ["def (:", "x = '\0'", "x = " + "(" * 300 + ")" * 300, "x = " + "+".join("a" * 900)]
)
def test_an_unreadable_file_is_named(text: str, tmp_path: Path) -> None:
    """A file that cannot be parsed, or only at a great depth, is a diagnostic and exit code 2; the
    others are traced.
    """
    code, found = trace(tmp_path, {**APP, "app/broken.py": text})
    assert code == 2
    assert next(each["code"] for each in found) == "source-unreadable"
    assert messages(found, "code-not-raised") == ["no line of the program raises `rate_limited`"]


@pytest.mark.parametrize(
    "content",
    [
        *(f"# coding: {name}\nx = 1\n" for name in ("hex", "bz2", "rot13", "undefined", "none")),
        "x = 1\n" * 100_000,
        "a\n" * 80_000,
    ],
)
def test_an_odd_source_is_named(content: str, tmp_path: Path) -> None:
    """Encodings of bytes, and files larger than people write, are left out and named."""
    code, found = trace(tmp_path, {**APP, "app/odd.py": content})
    assert (code, [each["code"] for each in found]) == (2, ["source-unreadable", "code-not-raised"])


ENCODINGS = sorted(module.name for module in pkgutil.iter_modules(encodings.__path__))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding_is_read_in_time(encoding: str, tmp_path: Path) -> None:
    """A file of the most bytes is read, or named, in time that grows as its size does."""
    head = f"# coding: {encoding}\n#-"
    file = tmp_path / "file.py"
    file.write_text(head + "zz9" * ((sources.MOST_BYTES - len(head)) // 3))
    with limit_computing(1):  # Punycode takes ten seconds
        program = sources.read_program(file)
    assert len(program.modules) + len(program.problems) == 1
    if encoding in ("utf_8", "latin_1", "utf_7"):
        assert program.modules


@contextmanager
def deep_folder(parent: Path, levels: int) -> Iterator[Callable[[str, str], None]]:
    """Folders in folders, while a block runs; yields a function that writes into the deepest.

    They are removed even if a test fails: pytest removes old folders by recursion, and would end.
    """

    def write(name: str, text: str) -> None:
        with chdir(parent):
            for _ in range(levels):
                os.chdir("a")
            Path(name).write_text(text)

    try:
        with chdir(parent):
            for _ in range(levels):
                Path("a").mkdir()
                os.chdir("a")
        yield write
    finally:
        subprocess.run(["rm", "-r", str(parent / "a")], check=True)


def test_folders_in_folders_are_read_or_named(tmp_path: Path) -> None:
    """Folders may be deeper than Python's stack; what the system refuses is named."""
    trace(tmp_path, APP)
    with deep_folder(tmp_path / "app", 1_200) as deepest:
        deepest("deep.py", "def (:")
        code, found = trace(tmp_path, APP)
    assert (code, found[0]["code"]) == (2, "source-unreadable")


BOUNDS = {
    "MOST_FILES": sources,
    "MOST_SOURCE": sources,
    "MOST_NODES": sources,
    "MOST_NAMES": sources,
    "MOST_USES": functions,
    "MOST_WAYS": flow,
    "MOST_ROUTES": routes,
}


@pytest.mark.parametrize("bound", BOUNDS)
def test_a_program_has_a_size(bound: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program with more than is held is refused, whatever there is more of."""
    trace(tmp_path, changed("app/main.py", "store.add(sku)", "admin()"))
    monkeypatch.setattr(BOUNDS[bound], bound, 1)
    done = CliRunner().invoke(
        command, [str(tmp_path / "app"), "--taxonomy", str(tmp_path / "taxonomy.yaml")]
    )
    assert (done.exit_code, "app has more than 1 " in done.output) == (2, True)


def test_many_findings_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of very many findings of a kind the first are shown, and the last of them counts the rest."""
    monkeypatch.setattr(findings, "MOST_SHOWN", 3)
    text = "from flask import abort\n" + "abort(404)\n" * 9
    _, found = trace(tmp_path, {**APP, "app/more.py": text})
    what = "`abort` answers with the framework's error"
    shown = [what, what, f"{what}; 6 more are left out"]
    assert messages(found, "framework-error") == shown


def test_one_syntax_tree_is_held_at_a_time(tmp_path: Path) -> None:
    """Memory does not grow with the number of files, but for what is known of each."""
    text = "".join(f"a = [b, c, {{d: e}}, {n}]\n" for n in range(300))
    write_program(tmp_path, {f"app/m{n}.py": text for n in range(20)})
    loaded = load(str(tmp_path / "taxonomy.yaml"))
    assert loaded.taxonomy is not None
    tracemalloc.start()
    program = sources.read_program(tmp_path / "app")
    read = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    findings.trace_program(program, loaded, flow.code_classes(loaded.taxonomy))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert read < 1_000_000  # each tree takes as much
    assert peak < 8_000_000


#: Statements that take the most memory for their nodes, and how many make a file and a program.
COSTLY = {
    "names": (lambda n: "a\n", 74_000, 4),
    "functions": (lambda n: f"def f{n}():f{n * 7 % 14_000}()\n", 14_000, 9),
    "ways": (lambda n: f"def f{n}():\n f{n - 1 if n else 0}()\n admin()\n", 9_000, 9),
    "methods": (lambda n: f"x{n}.load()\n", 16_000, 9),
    "errors": (lambda n: "abort()\n", 21_000, 9),
}


@pytest.mark.full
@pytest.mark.parametrize("kind", COSTLY)
def test_a_program_at_its_bound_takes_little_memory(kind: str, tmp_path: Path) -> None:
    """A program that is nearly refused for its size is traced in 300 MB."""
    statement, count, files = COSTLY[kind]
    head = "from flask import abort\nfrom app.main import admin\n"
    text = head + "".join(map(statement, range(count)))
    write_program(tmp_path, {**APP, **{f"app/m{n}.py": text for n in range(files)}})
    arguments = ["trace-code", "app", "--taxonomy", "taxonomy.yaml"]
    code, megabytes = peak_of([*PROGRAM, *arguments], tmp_path)
    assert code in (0, 1), (tmp_path / "output").read_text()[-500:]
    assert megabytes <= 300


@pytest.mark.parametrize(
    "content", [b"\xef\xbb\xbfx = 1\n", b"# coding: latin-1\nx = '\xe9'\n", b"x = 1\r\ny = 2\r"]
)
def test_a_source_is_read_as_python_reads_it(content: bytes, tmp_path: Path) -> None:
    """Marks of byte order, declared encodings and any line ends are those of Python."""
    trace(tmp_path, APP)
    (tmp_path / "app/more.py").write_bytes(content)
    assert trace(tmp_path, APP, "--boundary", "service") == (0, [])


def test_a_long_way_takes_linear_memory(tmp_path: Path) -> None:
    """A code that leaves thousands of functions in turn is traced, and its way is shortened."""
    steps = "".join(f"def f{n}():\n    f{n + 1}()\n" for n in range(5_000))
    chain = f"from app.main import admin\n{steps}def f5000():\n    admin()\n"
    files = changed("app/main.py", "store.add(sku)", "from app.chain import f0; f0()")
    tracemalloc.start()
    _, found = trace(tmp_path, {**files, "app/chain.py": chain})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60_000_000
    undeclared = next(each for each in found if each["code"] == "raise-undeclared")
    way = undeclared["related"][0]["message"]
    assert way == "by way of create → f0 → f1 → f2 → f3 → … → f4997 → f4998 → f4999 → f5000 → admin"


def test_a_code_in_a_text_is_a_note(tmp_path: Path) -> None:
    """A code that stands only in a text, as where no bindings are used, is not called missing."""
    files = {**APP, "app/limits.py": 'LIMIT = {"code": "rate_limited"}\n'}
    code, found = trace(tmp_path, files, "--strict")
    assert code == 0
    assert [(each["code"], each["severity"]) for each in found] == [("code-not-raised", "note")]
    assert found[0]["related"][0]["span"]["line"] == 1


def test_the_page_names_every_diagnostic() -> None:
    """The page explains each code that the command prints."""
    page = (ROOT / "docs/how-to/trace-code.md").read_text()
    for code in CODES:
        assert f"`{code}`" in page


def test_nothing_is_run(tmp_path: Path) -> None:
    """The program is read and not imported; links, tests, hidden folders and environments are left
    out, and names that import each other end.
    """
    ran = tmp_path / "ran"
    files = {
        **APP,
        "app/side.py": f"open({str(ran)!r}, 'w')",
        "app/tests/test_x.py": "def (:",
        "app/.hidden/x.py": "def (:",
        "app/venv/pyvenv.cfg": "",
        "app/venv/x.py": "def (:",
        "app/one.py": "from app.two import name\nname()",
        "app/two.py": "from app.one import name\ndef f():\n    raise name",
    }
    code, _ = trace(tmp_path, files)
    assert code == 0
    assert not ran.exists()
