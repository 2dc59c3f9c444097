"""Laws of the generated modules for frameworks, over real HTTP and the real frameworks.

docs/reference/frameworks.md has the table: `FAULTSPEC_WRITE=1 .venv/bin/python -m pytest -m ""
tests/frameworks`.
"""

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest
from openapi_spec_validator import validate

from frameworks.shop import LAWS, Shop, failures, running
from paths import ROOT, TESTS
from support.command_line import faultspec
from support.once import build_once, locked

HERE = TESTS / "frameworks"
PAGE = ROOT / "docs" / "reference" / "frameworks.md"
ADOPT = ROOT / "docs" / "how-to" / "adopt"

#: The distribution of each shop, and the title of its row.
SHOPS = {
    "starlette": ("starlette", "Starlette"),
    "fastapi": ("fastapi", "FastAPI"),
    "litestar": ("litestar", "Litestar"),
    "quart": ("quart", "Quart"),
    "django_asgi": ("django", "Django, ASGI"),
    "django_wsgi": ("django", "Django, WSGI"),
    "drf": ("djangorestframework", "Django REST framework"),
    "flask": ("flask", "Flask"),
    "aiohttp": ("aiohttp", "aiohttp"),
}

#: The frameworks of `test_typescript_frameworks`, in the order of the table.
ON_NODE = ("Express", "Hono", "Fastify", "Nest")

#: The framework of `test_go_server`. The standard library has no version of its own.
IN_GO = ("Go net/http",)

#: The servers of `test_java_servers`.
IN_JAVA = ("Java HttpServer", "Java servlets, Tomcat")

#: The previous major version of each, with what it needs in another version than ours. Those that
#: have no other major version: one of two years ago.
PREVIOUS = {
    "starlette": ["starlette==0.52.1"],
    "fastapi": ["fastapi==0.115.14", "starlette==0.46.2"],
    "litestar": ["litestar==2.8.3"],
    "quart": ["quart==0.19.9"],
    "django_asgi": ["django==4.2.30"],
    "django_wsgi": ["django==4.2.30"],
    "drf": ["djangorestframework==3.15.2", "django==4.2.30"],
    "flask": ["flask==2.3.3", "werkzeug==2.3.8", "flask-cors==4.0.2"],
    "aiohttp": ["aiohttp==3.9.5"],
}

#: Laws that a version cannot keep, with the reason.
LIMITS = {
    ("litestar", "2.8"): {
        "framework-made errors": "it names no `Allow` with 405, so that the answer is 400",
        "HEAD": "the same: HEAD is 405 without `Allow`",
    }
}

#: Frameworks without validation of their own: the service raises the error.
BY_HAND = {"starlette", "quart", "django_asgi", "django_wsgi", "flask", "aiohttp"}


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the package of the shop's taxonomy."""

    def build(folder: Path) -> None:
        taxonomy = str(HERE / "shop-taxonomy.yaml")
        done = faultspec(
            "compile", "--target", "python", "--out", str(folder), taxonomy, cwd=folder
        )
        assert done.returncode == 0, done.stderr

    return build_once(tmp_path_factory, "shop", build) / "python"


def previous(framework: str) -> Path:
    """The folder with the previous version of a framework; skips if pip cannot install it."""
    wanted = PREVIOUS[framework]
    folder = ROOT / ".cache" / "frameworks" / "-".join(wanted).replace("==", "-")
    with locked(folder.with_suffix(".lock")):
        if not folder.exists():
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
            if subprocess.run([*pip, folder, *wanted], capture_output=True, check=False).returncode:
                pytest.skip(f"{', '.join(wanted)} is not in .cache, and pip cannot install it")
    return folder


def broken_laws(framework: str, folders: list[Path], tmp_path: Path) -> dict[str, str]:
    """The laws that a shop breaks."""
    with running(framework, folders, tmp_path / "log") as shop:
        return failures(shop)


def short(version: str) -> str:
    """A version up to its second number."""
    return ".".join(version.split(".")[:2])


def table_row(name: str, broken: dict[str, str], *, by_hand: bool) -> str:
    """The row of a framework and its version in the table."""
    cells = [
        "limit" if law in broken else "by hand" if law == "validation" and by_hand else "yes"
        for law in LAWS
    ]
    return f"| {name} | {' | '.join(cells)} |"


def keep(framework: str, version: str, broken: dict[str, str]) -> None:
    """Compare a row with the page, or write it."""
    name = f"{SHOPS[framework][1]} {version}"
    keep_row(table_row(name, broken, by_hand=framework in BY_HAND))


def keep_row(wanted: str) -> None:
    """Compare a row with the page, or write it."""
    title = wanted.split(" | ")[0]
    text = PAGE.read_text(encoding="utf-8")
    if os.environ.get("FAULTSPEC_WRITE") and wanted not in text:
        with locked(ROOT / ".cache" / "frameworks.lock"):
            lines = PAGE.read_text(encoding="utf-8").splitlines()
            start = next(index for index, line in enumerate(lines) if line.startswith("|---"))
            rows = list(takewhile(lambda line: line.startswith("|"), lines[start + 1 :]))
            after = lines[start + 1 + len(rows) :]
            rows = [line for line in rows if not line.startswith(f"{title} |")] + [wanted]
            rows.sort(key=lambda line: (_place(line), line))
            PAGE.write_text("\n".join([*lines[: start + 1], *rows, *after]) + "\n", "utf-8")
    assert wanted in PAGE.read_text(encoding="utf-8"), wanted


def _place(line: str) -> int:
    order = [*(name for _, name in SHOPS.values()), *ON_NODE, *IN_GO, *IN_JAVA]
    return next(index for index, name in enumerate(order) if line.startswith(f"| {name} "))


@pytest.mark.parametrize("framework", SHOPS)
def test_a_shop_keeps_every_law(framework: str, packages: Path, tmp_path: Path) -> None:
    """In the version that is installed, every law of `shop.py` holds, and the page says so."""
    broken = broken_laws(framework, [packages], tmp_path)
    assert broken == {}
    keep(framework, short(importlib.metadata.version(SHOPS[framework][0])), broken)


@pytest.mark.full
@pytest.mark.parametrize("framework", SHOPS)
def test_a_shop_of_the_previous_version_keeps_every_law(
    framework: str, packages: Path, tmp_path: Path
) -> None:
    """In the previous version too, but for the limits that the page names."""
    version = short(PREVIOUS[framework][0].partition("==")[2])
    broken = broken_laws(framework, [previous(framework), packages], tmp_path)
    assert broken.keys() == LIMITS.get((framework, version), {}).keys(), broken
    keep(framework, version, broken)


@pytest.mark.full
@pytest.mark.parametrize("framework", SHOPS)
def test_the_suite_finds_nothing_in_a_shop(framework: str, packages: Path, tmp_path: Path) -> None:
    """`faultspec conform` has no finding."""
    with running(framework, [packages], tmp_path / "log") as shop:
        done = faultspec(
            "conform",
            str(HERE / "shop.yaml"),
            "--seed",
            "1",
            cwd=tmp_path,
            environment={"SHOP_URL": f"http://127.0.0.1:{shop.port}"},
        )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def unwired(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """The Flask shop whose boundary is not installed."""
    stub = tmp_path_factory.mktemp("stub") / "shop_errors" / "frameworks"
    stub.parent.parent.rmdir()
    shutil.copytree(packages, stub.parent.parent)
    place = stub / "flask.py"
    text = place.read_text(encoding="utf-8")
    place.write_text(text + "\n\ndef install(app, **options):\n    pass\n", "utf-8")
    with running("flask", [stub.parent.parent], stub / "log") as shop:
        yield shop


@pytest.mark.parametrize("law", sorted(LAWS.keys() - {"streaming", "CORS", "cookies"}))
def test_each_law_is_broken_without_the_boundary(law: str, unwired: Shop) -> None:
    """A shop without the boundary breaks each law, but for those that its framework keeps alone."""
    if law == "cancelled request":
        pytest.skip("Flask does not notice a client that leaves")
    with pytest.raises((AssertionError, TypeError, KeyError)):
        LAWS[law](unwired)


def run_python(text: str, packages: Path) -> str:
    """The output of a program whose path has the package. No log has the bug that a self-test
    makes: it would look like a failure.
    """
    done = subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, "PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "SelfTestCrash" not in done.stderr
    return done.stdout.strip()


def test_the_document_of_fastapi_has_the_declared_errors(packages: Path) -> None:
    """It is valid OpenAPI, without FastAPI's own models of refused input, and asking for it again
    changes nothing. Names of components begin with that of the taxonomy.
    """
    text = run_python(
        f"""
import json, runpy
shop = runpy.run_path({str(HERE / "services" / "fastapi.py")!r})
first = json.dumps(shop["app"].openapi())
assert first == json.dumps(shop["app"].openapi())
print(first)
""",
        packages,
    )
    document = json.loads(text)
    validate(document)
    responses = document["paths"]["/items"]["post"]["responses"]
    assert set(responses) == {"201", "409", "422"}
    assert "ShopValidationFailed" in str(responses["422"])
    assert {"ShopSkuTaken", "ShopOutOfStock"} <= document["components"]["schemas"].keys()
    assert "HTTPValidationError" not in text
    assert "ShopOrderClosed" not in text


PAGES = {path.stem for path in ADOPT.glob("*.md")} - {
    "README",
    "go",
    "java",
    *map(str.lower, ON_NODE),
}

#: How a page of adoption is checked: the call that has to find no problems. Pages of bare
#: applications have none.
CHECKS = {
    "aiohttp": "print(check(app))",
    "asgi": "print([])",
    "django": """
from django.conf import settings
import django
settings.configure(SECRET_KEY="x", ROOT_URLCONF=(), MIDDLEWARE=MIDDLEWARE, SHOP_ERRORS=SHOP_ERRORS)
django.setup()
from shop_errors.frameworks.django import check
print(check())
""",
    "drf": """
from django.conf import settings
import django
settings.configure(
    SECRET_KEY="x", ROOT_URLCONF=(), MIDDLEWARE=MIDDLEWARE, REST_FRAMEWORK=REST_FRAMEWORK
)
django.setup()
from shop_errors.frameworks.django import check
from rest_framework.settings import api_settings
api_settings.EXCEPTION_HANDLER
print(check())
""",
    "fastapi": "print(check(app))",
    "flask": "print(check(app))",
    "grpc": "print([])",
    "litestar": "print(check(app))",
    "quart": "print(check(app))",
    "starlette": "print(check(app))",
    "wsgi": "print([])",
}


def test_every_framework_has_a_page() -> None:
    """Each generated module and each bare protocol has a page, and no page is left over."""
    assert set(CHECKS) == PAGES


@pytest.mark.parametrize("page", CHECKS)
def test_a_page_adopts_in_ten_lines(page: str, packages: Path) -> None:
    """The first snippet of a page has at most ten lines. Run as it stands, it leaves nothing for
    the self-test to find.
    """
    text = (ADOPT / f"{page}.md").read_text(encoding="utf-8")
    found = re.search(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    assert len([line for line in found[1].splitlines() if line]) <= 10
    module = (
        f"from shop_errors.frameworks.{page} import check\n" if "check(app)" in CHECKS[page] else ""
    )
    assert run_python(found[1] + module + CHECKS[page], packages).splitlines()[-1] == "[]"


SELF_TESTS = {
    "aiohttp": "from aiohttp import web; app = web.Application()",
    "fastapi": "from fastapi import FastAPI; app = FastAPI()",
    "flask": "from flask import Flask; app = Flask('x')",
    "litestar": "from litestar import Litestar; app = Litestar()",
    "quart": "from quart import Quart; app = Quart('x')",
    "starlette": "from starlette.applications import Starlette; app = Starlette()",
    "django": """
from django.conf import settings
import django
settings.configure(SECRET_KEY="x", ROOT_URLCONF=(), MIDDLEWARE=[])
django.setup()
""",
}


@pytest.mark.parametrize("framework", SELF_TESTS)
def test_the_self_test_names_an_application_without_its_boundary(
    framework: str, packages: Path
) -> None:
    """In plain words: what was sent, and what came back."""
    call = "check()" if framework == "django" else "check(app)"
    printed = run_python(
        f"{SELF_TESTS[framework]}\nfrom shop_errors.frameworks.{framework} import check\n"
        f"print(*{call}, sep='\\n')",
        packages,
    )
    assert "an unknown route is answered with 404" in printed
    assert "the boundary is not installed" in printed


def test_the_self_test_names_a_missing_handler(packages: Path) -> None:
    """With the bare boundary around a framework that answers exceptions itself, the self-test
    finds that a raised error leaves as another.
    """
    printed = run_python(
        """
from flask import Flask
from shop_errors.frameworks.flask import check
from shop_errors.wsgi import ErrorBoundary
app = Flask("x")
app.wsgi_app = ErrorBoundary(app.wsgi_app)
print(*check(app), sep="\\n")
""",
        packages,
    )
    assert printed.splitlines()[-1].startswith("a raised ValidationFailed leaves as internal_error")


#: Applications with the boundary, a middleware behind it that answers 401 to requests without
#: credentials, and the check.
GUARDED = {
    "aiohttp": """
from aiohttp import web
@web.middleware
async def guard(request, handler):
    if "Authorization" not in request.headers:
        raise web.HTTPUnauthorized
    return await handler(request)
app = web.Application(middlewares=[guard])
""",
    "starlette": """
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import Response
def guard(app):
    async def answer(scope, receive, send):
        known = dict(scope["headers"]).get(b"authorization")
        await (app if known else Response(status_code=401))(scope, receive, send)
    return answer
app = Starlette(middleware=[Middleware(guard)])
""",
    "quart": """
from quart import Quart, Response, request
app = Quart("x")
inner = app.preprocess_request
async def guard(*context):
    if "Authorization" not in request.headers:
        return Response(status=401)
    return await inner(*context)
app.preprocess_request = guard
""",
    "flask": """
from flask import Flask, Response, request
app = Flask("x")
inner = app.preprocess_request
def guard(*context):
    return Response(status=401) if "Authorization" not in request.headers else inner(*context)
app.preprocess_request = guard
""",
    "django": """
from django.conf import settings
from django.http import HttpResponse
import django
def guard(handler):
    def answer(request):
        known = "Authorization" in request.headers
        return handler(request) if known else HttpResponse(status=401)
    return answer
own = "shop_errors.frameworks.django.ErrorBoundary"
settings.configure(SECRET_KEY="x", ROOT_URLCONF=(), MIDDLEWARE=[own, "__main__.guard"])
django.setup()
""",
}


@pytest.mark.parametrize("framework", GUARDED)
def test_the_self_test_takes_credentials(framework: str, packages: Path) -> None:
    """Where what is in front of a route answers 401, the self-test says so, and asks for headers;
    with them it finds nothing.
    """
    is_global = framework == "django"  # its settings name the boundary
    names, install = ("check", "") if is_global else ("check, install", "install(app)")
    program = f"from shop_errors.frameworks.{framework} import {names}\n{install}\nprint(*check("
    program, app = GUARDED[framework] + program, "" if is_global else "app, "
    printed = run_python(f"{program}{app}))", packages)
    assert "what is in front of the route seems to answer first; pass `headers`" in printed
    assert not run_python(f"{program}{app}headers={{'Authorization': 'Bearer x'}}))", packages)


def test_the_boundary_of_aiohttp_warns_of_nothing(packages: Path) -> None:
    """An application whose warnings are errors, as those of many tests are, answers as without the
    boundary.
    """
    printed = run_python(
        """
import asyncio, warnings
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from shop_errors.frameworks.aiohttp import install
warnings.simplefilter("error")
async def greet(request):
    return web.Response(text="hello")
async def ask():
    app = web.Application()
    app.router.add_get("/", greet)
    install(app, body_limit=1_000)
    async with TestClient(TestServer(app)) as client:
        print((await client.get("/")).status)
asyncio.run(ask())
""",
        packages,
    )
    assert printed == "200"


def test_a_handler_of_aiohttp_that_returns_no_response_has_a_bug(packages: Path) -> None:
    """aiohttp finds that out behind the boundary, and would answer it in plain text."""
    printed = run_python(
        """
import asyncio, logging
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from shop_errors.frameworks.aiohttp import install
logging.disable(logging.CRITICAL)
async def forget(request):
    pass
async def write(request):
    return "hello"
async def ask():
    app = web.Application()
    app.router.add_get("/none", forget)
    app.router.add_get("/text", write)
    install(app)
    async with TestClient(TestServer(app)) as client:
        for path in ("/none", "/text"):
            answer = await client.get(path)
            print(answer.status, (await answer.json())["code"])
asyncio.run(ask())
""",
        packages,
    )
    assert printed.split() == ["500", "internal_error"] * 2


#: A fallback that asks for a detail.
ASKING = """
faultspec: 1
taxonomy: {name: asking, version: 1.0.0, title: Asking, owner: nobody}
domains: {request: The client can fix the request., runtime: The service failed.}
envelopes: {error: {shape: {code: $code, message: $message, id: $id, details?: $details},
  fields: {id: {type: string, format: uuid7, echo: X-Request-Id, invalid_inbound: replace}}}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
fallback:
  4xx: {code: asks, reason: Refusals of a framework.}
  5xx: {code: failed, reason: Failures of a framework.}
codes:
  asks: {summary: Why?, message: Why?, domain: request, http: 400, details: {why: {type: string}}}
  failed: {summary: It failed., message: It failed., domain: runtime, http: 500}
"""


def test_the_self_test_names_a_fallback_that_cannot_be_answered(tmp_path: Path) -> None:
    """A fallback whose code has required details makes a 500 of an unknown route: lint and the
    self-test say so.
    """
    (tmp_path / "taxonomy.yaml").write_text(ASKING, encoding="utf-8")
    assert "[fallback-requires-details]" in faultspec("lint", "taxonomy.yaml", cwd=tmp_path).stdout
    done = faultspec("compile", "--target", "python", "--out", ".", "taxonomy.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    printed = run_python(
        """
from flask import Flask
from asking_errors.frameworks.flask import check, install
app = Flask("x")
install(app)
print(*check(app), sep="\\n")
""",
        tmp_path / "python",
    )
    assert printed.startswith("an unknown route is answered with 500: the code of its status")


@pytest.mark.full
def test_the_modules_are_typed(packages: Path) -> None:
    """mypy --strict accepts them with the frameworks installed; `tests/targets` runs it without."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "-p", "shop_errors"],
        cwd=packages,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
