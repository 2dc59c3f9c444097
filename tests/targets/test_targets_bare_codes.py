"""The answer of the boundary to a status that a framework sent without a body agrees with the
taxonomy.
"""

import asyncio
import importlib
import json
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from jsonschema import Draft202012Validator

from faultspec.contract.model import build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import load, read
from faultspec.language.model import Taxonomy
from faultspec.render import render, write
from faultspec.targets import SHIPPED
from paths import ROOT

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
# Of statuses that ask a client to wait, that do not, and that nobody has registered.
HINTED = frozenset({400, 401, 404, 405, 409, 413, 416, 429, 451, 499, 500, 501, 502, 503, 504, 599})
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


def served(app: Any, request_line: str = "POST /v1/actions/send") -> Exchange:
    """The answer of an application to one request."""
    method, path = request_line.split()
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "path": path, "headers": [], "query_string": b""}
    asyncio.run(app(scope, receive, send))
    headers = tuple(
        (name.decode("latin-1"), value.decode("latin-1")) for name, value in sent[0]["headers"]
    )
    body = b"".join(each.get("body", b"") for each in sent[1:])
    # With credentials: whether they were good is what the framework knows and the status says.
    return Exchange(
        Request(method, path, (("Authorization", "Bearer x"),)),
        Response(sent[0]["status"], headers, body),
        lacks=frozenset({"service/no-crash"}),  # the application fails on purpose
    )


@pytest.mark.parametrize("system", SYSTEMS)
def test_whatever_a_framework_says_the_answer_is_valid(system: str) -> None:
    """Any error status, with headers worth keeping, without, and with malformed ones, is answered
    with what the judge and the generated JSON Schema accept; so is an exception.
    """
    name, given = SYSTEMS[system]
    package, asgi = importlib.import_module(name), importlib.import_module(f"{name}.asgi")
    rules = build_contract(taxonomy_of(system))
    envelope = asgi.answer.__defaults__[0]
    schema = json.loads(
        (ROOT / system / f"generated/jsonschema/{envelope}.schema.json").read_text()
    )
    valid = jsonschema_rs.Draft202012Validator(schema)
    cases: list[tuple[Any, Any]] = [(failing, "exception")]
    for status in STATUSES:
        cases.append((bare(status, KEPT), status))
        for hint in HINTS if status in HINTED else ():
            cases.append(
                (bare(status, [] if hint is None else [(b"retry-after", hint)]), (status, hint))
            )
    boundary = asgi.ErrorBoundary(failing, **given(package))
    for app, what in cases:
        boundary.app = app
        exchange = served(boundary)
        assert valid.is_valid(json.loads(exchange.response.body)), (what, exchange.response)
        wrong = [each for each in judge(rules, exchange).findings if each.level == "error"]
        assert not wrong, (what, exchange.response, wrong)


def test_what_nobody_can_answer_is_refused_at_the_start() -> None:
    """Where the taxonomy has no answer for a bare status, the boundary is not made without one, and
    says for which.
    """
    name, given = SYSTEMS["examples/kinto"]
    package, asgi = importlib.import_module(name), importlib.import_module(f"{name}.asgi")
    with pytest.raises(
        ValueError, match=r"no answer to a bare 500, 501, 502 …: .* 5xx under `fallback`"
    ):
        asgi.ErrorBoundary(failing, **given(package), retry_after=None)
    only = {key: value for key, value in given(package).items() if key != "complete"}
    with pytest.raises(ValueError, match="pass `complete`"):
        asgi.ErrorBoundary(failing, **only)


def test_what_needs_details_is_answered_as_something_else(caplog: pytest.LogCaptureFixture) -> None:
    """A bare 409 is not a `conflict`, which names what exists; it is the fallback under the
    fallback's own status, and the log says so. A service that knows better is asked first.
    """
    package, asgi = (
        importlib.import_module("platform_errors"),
        importlib.import_module("platform_errors.asgi"),
    )

    def answered(boundary: Any) -> tuple[int | None, str]:
        response = served(boundary).response
        return response.status, json.loads(response.body)["code"]

    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert answered(asgi.ErrorBoundary(bare(409, []))) == (400, "invalid_request")
    assert caplog.text.count("a bare 409 is answered as invalid_request under 400") == 1

    def choose(problem: Any) -> Any:
        return package.Conflict(existing_id="7") if problem.status == 409 else None

    assert answered(asgi.ErrorBoundary(bare(409, []), choose=choose)) == (409, "conflict")
    assert answered(asgi.ErrorBoundary(bare(404, []), choose=choose)) == (404, "not_found")


CLAIMED = """
faultspec: 1
taxonomy: {name: claimed, version: 1.0.0, title: Several codes claim a status}
detail_keys: {left: {type: integer}}
envelopes: {error: {shape: {code: $code, message: $message, details?: $details}}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
fallback:
  4xx: {code: bad_request, reason: Whatever a framework refuses.}
codes:
  bad_request: {summary: No., http: 400, retriable: false}
  forbidden: {summary: No., http: 403, retriable: false}
  scope_missing: {summary: No., http: 403, retriable: false}
  sku_taken: {summary: It exists., http: 409, retriable: false}
  out_of_stock: {summary: Too few., http: 409, retriable: false, details: {left: {}}}
  internal_error: {summary: A bug., http: 500, retriable: false}
undeclared: {becomes: internal_error}
"""


def test_a_status_that_several_codes_claim_is_none_of_them_by_luck(
    compiled: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """A bare 409 is the fallback, and the log says so once; the code named as its status is stands
    for it. An error that is raised, and one that the service chooses, is itself.
    """
    compiled(CLAIMED, "claimed")
    package, asgi = (importlib.import_module(f"claimed_errors{each}") for each in ("", ".asgi"))

    def answered(app: Any, **options: Any) -> tuple[int | None, str]:
        response = served(asgi.ErrorBoundary(app, **options)).response
        return response.status, json.loads(response.body)["code"]

    async def taken(scope: Any, receive: Any, send: Any) -> None:
        raise package.SkuTaken

    for _ in range(3):
        assert answered(bare(409, [])) == (400, "bad_request")
    assert caplog.text.count("a bare 409 is answered as bad_request under 400: several") == 1
    assert answered(bare(403, [])) == (403, "forbidden")
    assert answered(taken) == (409, "sku_taken")
    assert answered(bare(409, []), choose=lambda problem: package.SkuTaken()) == (409, "sku_taken")


LISTED = """
faultspec: 1
taxonomy: {name: listed, version: 1.0.0, title: Service}
envelopes: {error: {shape: {code: $code, message: $message}}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
fallback: {4xx: {code: refused, reason: Frameworks.}, 5xx: {code: broken, reason: Bugs.}}
codes:
  no_slot: {summary: There is no such slot., http: 404, retriable: false}
  method_not_allowed: {summary: The method is wrong., http: 405, retriable: false}
  refused: {summary: The request is refused., http: [400, 404, 405, 413], retriable: false}
  broken: {summary: A bug., http: 500, retriable: false}
"""


def test_an_unknown_route_is_the_fallback_that_lists_its_status(compiled: Any) -> None:
    """A bare 404 is not a code of the business, though that has the status for its default: only a
    handler knows what is missing. A code named as the status is stands for it.
    """
    compiled(LISTED, "listed")
    asgi = importlib.import_module("listed_errors.asgi")
    for status, code in ((404, "refused"), (405, "method_not_allowed"), (413, "refused")):
        response = served(asgi.ErrorBoundary(bare(status, []))).response
        assert (response.status, json.loads(response.body)["code"]) == (status, code)


def test_the_fallback_keeps_a_status_that_it_lists(compiled: Any) -> None:
    """Where the code of a status needs details, the fallback answers under that status if it may
    have it, and under its own if not, in every language.
    """
    text = LISTED.replace("message: $message}", "message: $message, details?: $details}")
    text = text.replace("no_slot:", "not_found:").replace(
        "404, r", "404, details: {id: {type: string}}, r"
    )
    taxonomy, _ = compiled(text.replace("name: listed", "name: kept"), "kept")
    asgi = importlib.import_module("kept_errors.asgi")
    files = render(taxonomy, [SHIPPED["go"]], "t.yaml")
    rows = json.loads(next(text for path, text in files.items() if path.endswith(".json")))["bare"]
    for status, under in ((404, 404), (409, 409), (413, 413)):
        response = served(asgi.ErrorBoundary(bare(status, []))).response
        assert (response.status, json.loads(response.body)["code"]) == (under, "refused")
        (row,) = (row for row in rows if row["on"][0] <= status <= row["on"][1])
        assert (row["code"], row["status"] or status) == ("refused", under)


def test_a_documented_status_has_the_code_that_the_framework_answers(compiled: Any) -> None:
    """The responses of an operation that may answer 404 list the fallback that a path with an
    encoded slash gets, beside the operation's own code; other statuses have their own alone.
    """
    compiled(LISTED, "listed")
    package, parts = (importlib.import_module(f"listed_errors{each}") for each in ("", ".openapi"))
    found = parts.responses(package.NoSlot, package.MethodNotAllowed, package.Broken)
    shown = {
        status: [each["$ref"].rpartition("/")[2] for each in content["schema"]["oneOf"]]
        for status, response in found.items()
        for content in response["content"].values()
    }
    assert shown == {
        404: ["ListedNoSlot", "ListedRefused"],
        405: ["ListedMethodNotAllowed"],
        500: ["ListedBroken"],
    }


def test_a_status_keeps_its_meaning_where_only_a_header_is_missing() -> None:
    """A bare 401 asks for credentials and a bare 429 to come back later, by the options of the
    boundary; a header that the framework gave stands. Told to say nothing, it answers them as
    something else.
    """
    asgi = importlib.import_module("platform_errors.asgi")

    def answered(
        status: int, headers: list[tuple[bytes, bytes]], name: str, **options: Any
    ) -> tuple[Any, ...]:
        response = served(asgi.ErrorBoundary(bare(status, headers), **options)).response
        fields = {key.lower(): value for key, value in response.headers}
        return response.status, json.loads(response.body)["code"], fields.get(name)

    assert answered(401, [], "www-authenticate") == (401, "unauthenticated", "Bearer")
    assert answered(401, [], "www-authenticate", challenge="Basic") == (
        401,
        "unauthenticated",
        "Basic",
    )
    assert answered(401, [KEPT[2]], "www-authenticate") == (
        401,
        "unauthenticated",
        'Bearer realm="x"',
    )
    assert answered(429, [], "retry-after") == (429, "rate_limited", "1")
    assert answered(429, [], "retry-after", retry_after=4.2) == (429, "rate_limited", "5")
    assert answered(429, [KEPT[1]], "retry-after") == (429, "rate_limited", "17")
    assert answered(401, [], "www-authenticate", challenge=None) == (400, "invalid_request", None)
    assert answered(429, [], "retry-after", retry_after=None) == (400, "invalid_request", None)


def test_of_several_codes_the_nearest_speaks() -> None:
    """No code has 502 for its default; of two that may travel under it, the one of 503 is nearer
    than the one of 504.
    """
    asgi = importlib.import_module("platform_errors.asgi")
    for status, code in (
        (502, "dependency_unavailable"),
        (503, "dependency_unavailable"),
        (504, "timeout"),
    ):
        response = served(asgi.ErrorBoundary(bare(status, []))).response
        assert (response.status, json.loads(response.body)["code"]) == (status, code)


SHAPES = {
    "optional": "details?: $details",
    "required": "details: $details",
    "spread": '"...": $details',
    "nested": "more: {details: $details}",
}


@pytest.fixture
def compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str], tuple[Taxonomy, Path]]:
    """Compiles the text of a taxonomy, and makes its package importable."""

    def made(text: str, name: str) -> tuple[Taxonomy, Path]:
        loaded = read(text.replace("name: service ", f"name: {name} "), "t.yaml")
        assert loaded.taxonomy is not None, loaded.diagnostics
        targets = ["python", "jsonschema"]
        write(
            render(loaded.taxonomy, [SHIPPED[each] for each in targets], "t.yaml"),
            tmp_path,
            targets,
        )
        monkeypatch.syspath_prepend(str(tmp_path / "python"))
        return loaded.taxonomy, tmp_path

    return made


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_details_can_be_answered_without_any(shape: str, compiled: Any) -> None:
    """Where all details are optional nobody has to give any, wherever the envelope keeps them."""
    text = (ROOT / "compiler/faultspec/cli/starter.yaml").read_text()
    assert "details?: $details" in text
    taxonomy, folder = compiled(text.replace("details?: $details", SHAPES[shape]), f"shape_{shape}")
    asgi = importlib.import_module(f"shape_{shape}_errors.asgi")
    valid = Draft202012Validator(json.loads((folder / "jsonschema/error.schema.json").read_text()))
    boundary, rules = asgi.ErrorBoundary(failing), build_contract(taxonomy)
    for app in (failing, *(bare(status, []) for status in STATUSES)):
        boundary.app = app
        exchange = served(boundary)
        assert valid.is_valid(json.loads(exchange.response.body)), exchange.response
        assert not [each for each in judge(rules, exchange).findings if each.level == "error"], (
            exchange.response
        )


@pytest.mark.parametrize("fault", ["choose", "detail"])
def test_an_answer_that_fails_is_answered_with_what_the_taxonomy_fixes(fault: str) -> None:
    """Whatever goes wrong in making an answer, it has a body that the judge takes."""
    package, asgi = (
        importlib.import_module("platform_errors"),
        importlib.import_module("platform_errors.asgi"),
    )

    def choose(problem: Any) -> Any:
        if fault == "choose":
            raise KeyError("no such choice")
        return package.bare(package.ERRORS["conflict"], details={"existing_id": object()})

    exchange = served(asgi.ErrorBoundary(failing, choose=choose))
    assert (exchange.response.status, json.loads(exchange.response.body)["code"]) == (
        500,
        "internal_error",
    )
    findings = judge(build_contract(taxonomy_of(".")), exchange).findings
    assert not [each for each in findings if each.level == "error"], findings


DEMANDING = """
faultspec: 1
taxonomy: {name: demanding, version: 1.0.0, title: Everything asks for something}
detail_keys: {field: {type: string}}
envelopes: {error: {shape: {code: $code, message: $message, details?: $details}}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
codes:
  internal_error: {summary: A bug., http: 500, retriable: false, details: {field: {}}}
undeclared: {becomes: internal_error}
"""


def test_a_taxonomy_without_any_bare_code_still_has_a_last_resort(compiled: Any) -> None:
    """Where each code asks for details, and `choose` has no answer, the code and the message leave
    at least.
    """
    compiled(DEMANDING, "demanding")
    asgi = importlib.import_module("demanding_errors.asgi")
    with pytest.raises(ValueError, match="pass `choose`"):
        asgi.ErrorBoundary(failing)
    response = served(asgi.ErrorBoundary(failing, choose=lambda problem: None)).response
    assert response.status == 500
    assert json.loads(response.body)["code"] == "internal_error"


GIVEN = "01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T"


def answering(status: int, body: dict[str, Any], *headers: tuple[bytes, bytes]) -> Any:
    """An application that answers with an envelope of its own."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        fields = [(b"content-type", b"application/json"), *headers]
        await send({"type": "http.response.start", "status": status, "headers": fields})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})

    return app


def test_an_envelope_of_the_application_leaves_as_it_is_only_where_it_is_sound() -> None:
    """A replayed envelope passes, to the byte. One under another's status is answered as its
    status; one whose correlation id is none, or not the header's, or that lacks a header, as
    itself, with what was wrong made right.
    """
    asgi = importlib.import_module("platform_errors.asgi")
    body = {
        "code": "not_found",
        "message": "No order",
        "correlation_id": GIVEN,
        "details": {"hint": "x"},
        "extra": 1,
    }
    header = (b"x-correlation-id", GIVEN.encode())

    def answered(app: Any) -> tuple[Any, ...]:
        response = served(asgi.ErrorBoundary(app)).response
        fields = {key.lower(): value for key, value in response.headers}
        read = json.loads(response.body)
        assert fields["x-correlation-id"] == read["correlation_id"]
        return response.status, read

    assert answered(answering(404, body, header)) == (404, body)
    status, read = answered(answering(500, body, header))
    assert (status, read["code"], read["message"]) == (
        500,
        "internal_error",
        "Something went wrong on our side",
    )
    for wrong in (answering(404, body), answering(404, {**body, "correlation_id": "bad"}, header)):
        status, read = answered(wrong)
        assert (status, read["code"], read["message"]) == (404, "not_found", "No order")
        assert read["details"]["hint"] == "x"
    limited = {**body, "code": "rate_limited"}
    response = served(asgi.ErrorBoundary(answering(429, limited, header))).response
    assert (response.status, json.loads(response.body)["message"]) == (429, "No order")
    assert dict(response.headers)["retry-after"] == "1"
    passed = served(
        asgi.ErrorBoundary(answering(429, limited, header, (b"retry-after", b"3")))
    ).response
    assert json.loads(passed.body) == limited


@pytest.mark.parametrize(
    ("system", "request_line", "status", "kept"),
    [
        ("examples/aileron", "POST /v1/messages", 429, True),
        ("examples/aileron", "GET /v1/messages", 429, False),
        ("examples/aileron", "POST /v1/messages/more", 429, False),
        ("examples/kinto", "GET /v1/__heartbeat__", 503, True),
        ("examples/kinto", "GET /v1/__heartbeat__", 500, False),
        (".", "GET /anything", 503, False),
    ],
)
def test_where_no_envelope_is_declared_the_application_is_heard(
    system: str, request_line: str, status: int, kept: bool
) -> None:
    """An error of a surface without an envelope leaves as the application wrote it, whole; an
    exception is answered there too.
    """
    name, given = SYSTEMS[system]
    package, asgi = importlib.import_module(name), importlib.import_module(f"{name}.asgi")
    long = b"down " * 300_000

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [(b"content-type", b"text/plain")],
            }
        )
        await send({"type": "http.response.body", "body": long})

    exchange = served(asgi.ErrorBoundary(app, **given(package)), request_line)
    assert (exchange.response.status == status and exchange.response.body == long) == kept
    if not kept:
        assert exchange.response_header("content-type") == "application/json"
    failed = served(asgi.ErrorBoundary(failing, **given(package)), request_line)
    assert json.loads(failed.response.body)
