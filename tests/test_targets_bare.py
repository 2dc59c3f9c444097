"""What the boundary answers for a status that a framework said without a word of its own is true to the taxonomy."""

import asyncio
import importlib
import json
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from faultspec.contract import contract
from faultspec.exchange import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import load
from faultspec.language.model import Taxonomy

ROOT = Path(__file__).parent.parent
STATUSES = range(400, 600)

#: By system: its package, and what nobody but its team can say, where it has to.
SYSTEMS: dict[str, tuple[str, Callable[[Any], dict[str, Any]]]] = {
    ".": ("platform_errors", lambda package: {}),
    "examples/alknet": ("alknet_errors", lambda package: {}),
    "examples/aileron": (
        "aileron_errors",
        lambda package: {"complete": lambda error: setattr(error, "audit_id", "audit-1")},
    ),
    "examples/kinto": (
        "kinto_errors",
        lambda package: {
            "choose": lambda problem: package.Undefined(error="Undefined", retry_after=30),
            "complete": lambda error: setattr(error, "error", error.error or "Some words"),
        },
    ),
}
KEPT = [
    (b"allow", b"GET, HEAD"),
    (b"retry-after", b"17"),
    (b"www-authenticate", b'Bearer realm="x"'),
    (b"proxy-authenticate", b"Basic"),
]
HINTS = [None, b"-1", b"soon", b"Thu, 01 Jan 1970 00:00:00 GMT", b""]


@pytest.fixture(autouse=True)
def packages() -> Iterator[None]:
    """The committed packages, importable; the modules of other tests are put back afterwards."""
    before = dict(sys.modules)
    for name in [each for each in sys.modules if each.partition(".")[0].endswith("_errors")]:
        del sys.modules[name]
    paths = [str(ROOT / system / "generated/python") for system in SYSTEMS]
    sys.path[:0] = paths
    yield
    sys.path[:] = [each for each in sys.path if each not in paths]
    for name in [each for each in sys.modules if each.partition(".")[0].endswith("_errors")]:
        del sys.modules[name]
    sys.modules.update(before)


def taxonomy_of(system: str) -> Taxonomy:
    """The taxonomy of a system."""
    loaded = load(str(ROOT / system / "taxonomy.yaml"))
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


def bare(status: int, headers: list[tuple[bytes, bytes]]) -> Any:
    """An application that answers as frameworks do: a status, a line of text."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"Not what you wanted"})

    return app


def failing(scope: Any, receive: Any, send: Any) -> Any:
    """An application that fails."""
    raise RuntimeError("no detail of this travels")


def served(app: Any) -> Exchange:
    """What comes back from an application for one request."""
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/v1/messages", "headers": [], "query_string": b""}
    asyncio.run(app(scope, receive, send))
    headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in sent[0]["headers"])
    body = b"".join(each.get("body", b"") for each in sent[1:])
    # With credentials: whether they were good is what the framework knows and the status says.
    return Exchange(
        Request("POST", "/v1/messages", (("Authorization", "Bearer x"),)), Response(sent[0]["status"], headers, body)
    )


@pytest.mark.parametrize("system", SYSTEMS)
def test_whatever_a_framework_says_the_answer_is_valid(system: str) -> None:
    """Any error status, with headers worth keeping, without, and with malformed ones, is answered with what the judge
    and the generated JSON Schema accept; so is an exception.
    """
    name, given = SYSTEMS[system]
    package, asgi = importlib.import_module(name), importlib.import_module(f"{name}.asgi")
    rules = contract(taxonomy_of(system))
    envelope = asgi.ErrorBoundary.__init__.__kwdefaults__["envelope"]
    schema = json.loads((ROOT / system / f"generated/jsonschema/{envelope}.schema.json").read_text())
    valid = Draft202012Validator(schema)
    cases: list[tuple[Any, Any]] = [(failing, "exception")]
    for status in STATUSES:
        cases.append((bare(status, KEPT), status))
        for hint in HINTS:
            cases.append((bare(status, [] if hint is None else [(b"retry-after", hint)]), (status, hint)))
    boundary = asgi.ErrorBoundary(failing, **given(package))
    for app, what in cases:
        boundary.app = app
        exchange = served(boundary)
        assert valid.is_valid(json.loads(exchange.response.body)), (what, exchange.response)
        wrong = [each for each in judge(rules, exchange).findings if each.level == "error"]
        assert not wrong, (what, exchange.response, wrong)


def test_what_nobody_can_answer_is_refused_at_the_start() -> None:
    """Where the taxonomy has no answer for a bare status, the boundary is not made without one, and says for which."""
    name, given = SYSTEMS["examples/kinto"]
    package, asgi = importlib.import_module(name), importlib.import_module(f"{name}.asgi")
    only = {key: value for key, value in given(package).items() if key != "choose"}
    with pytest.raises(ValueError, match="nothing can be answered for a bare 500, 501, 502 …: pass `choose`"):
        asgi.ErrorBoundary(failing, **only)
    only = {key: value for key, value in given(package).items() if key != "complete"}
    with pytest.raises(ValueError, match="pass `complete`"):
        asgi.ErrorBoundary(failing, **only)


def test_what_needs_details_is_answered_as_something_else(caplog: pytest.LogCaptureFixture) -> None:
    """A bare 409 is no `conflict`, which names what exists; it is the fallback under the fallback's own status, and the
    log says so. A service that knows better is asked first.
    """
    package, asgi = importlib.import_module("platform_errors"), importlib.import_module("platform_errors.asgi")

    def said(boundary: Any) -> tuple[int | None, str]:
        response = served(boundary).response
        return response.status, json.loads(response.body)["code"]

    with caplog.at_level(logging.WARNING):
        assert said(asgi.ErrorBoundary(bare(409, []))) == (400, "invalid_request")
    assert "a bare 409 is answered as invalid_request under 400" in caplog.text
    assert said(asgi.ErrorBoundary(bare(401, []))) == (400, "invalid_request")
    assert said(asgi.ErrorBoundary(bare(401, [(b"www-authenticate", b"Bearer")]))) == (401, "unauthenticated")
    assert said(asgi.ErrorBoundary(bare(429, [(b"retry-after", b"3")]))) == (429, "rate_limited")

    def choose(problem: Any) -> Any:
        return package.Conflict(existing_id="7") if problem.status == 409 else None

    assert said(asgi.ErrorBoundary(bare(409, []), choose=choose)) == (409, "conflict")
    assert said(asgi.ErrorBoundary(bare(404, []), choose=choose)) == (404, "not_found")
