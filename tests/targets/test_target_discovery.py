"""The errors of its operations that a service publishes: generated, served, and read by a client
that knows nothing else.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from jsonschema import Draft202012Validator

from faultspec.language import read
from faultspec.language.model import Taxonomy
from faultspec.render import render
from faultspec.targets import SHIPPED
from faultspec_conformance.config import read_config as target
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions, Unreachable
from paths import TESTS
from support.services import EXAMPLES, TOKENS, started, taxonomy

SEEDS = TESTS / "fixtures/seed_examples"


def test_a_service_answers_with_what_is_generated() -> None:
    """The gateway of alknet answers for each operation what the generated file has for it; what its
    document shows of readFile is in it, and an operation without errors has an empty list (K5, K10,
    K18, K21).
    """
    published = json.loads(
        (EXAMPLES / "alknet/generated/discovery/schema.json").read_text(encoding="utf-8")
    )
    method, _, path = published["request"].partition(" ")
    with started("alknet") as environment, httpx.Client(base_url=environment["BASE_URL"]) as client:
        for operation in taxonomy("alknet").operations.values():
            answer = client.request(method, path.replace("${operation}", operation.wire)).json()
            assert answer["error_schemas"] == published["answers"][operation.wire]["error_schemas"]
        assert client.get("/schema", params={"name": "demo/add"}).json()["error_schemas"] == []
    shown = json.loads((SEEDS / "alknet/services_schema.json").read_text(encoding="utf-8"))
    for here, there in zip(
        published["answers"][shown["name"]]["error_schemas"], shown["error_schemas"], strict=True
    ):
        assert (here["code"], here["description"], here["http_status"]) == (
            there["code"],
            there["description"],
            there["http_status"],
        )
        assert {
            name: each["type"] for name, each in here["schema"]["properties"].items()
        }.items() >= {
            name: each["type"] for name, each in there["schema"]["properties"].items()
        }.items()


def test_a_client_validates_details_by_what_is_published() -> None:
    """The details of an error that an operation really ends with are those of the schema that the
    service publishes for its code, under its status; others are not (K11, K21).
    """
    call = {"operation": "vastai/createMachine", "input": {"gpus": 1}}
    with started("alknet") as environment, httpx.Client(base_url=environment["BASE_URL"]) as client:
        client.headers["Authorization"] = f"Bearer {TOKENS['ANNA_TOKEN']}"
        items = client.get("/schema", params={"name": call["operation"]}).json()["error_schemas"]
        failed = next(each for _ in range(9) if (each := client.post("/call", json=call)).is_error)
    known = {each["code"]: each for each in items}
    error = failed.json()
    assert known[error["code"]]["http_status"] == failed.status_code
    schema = known[error["code"]]["schema"]
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(error["details"])
    assert not Draft202012Validator(schema).is_valid({"retry_after": "soon"})


DOCUMENT = """
faultspec: 1
taxonomy: {name: published, version: 1.0.0}
detail_keys: {size: {type: integer, minimum: 0, summary: Bytes.}}
envelopes: {error: {shape: {code: $code, message: $message, details?: $details}}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
fallback: {4xx: {code: bad, reason: Whatever else.}, 5xx: {code: bad, reason: Whatever else.}}
codes: {bad: {summary: Bad., http: 400, retriable: false}}
operations:
  upload:
    wire: files/upload
    match: {routes: [POST /files]}
    errors:
      too_large: {summary: Too large., http: 413, retriable: false, details: {size: {}}}
      later: {summary: Later., http: 501, lifecycle: reserved}
      odd: {summary: Odd., http: [409, 422], wire: odd/one, retriable: false}
  list: {match: {routes: [GET /files]}}
discovery:
  errors: {request: "GET /errors?of=${operation}", kind: errors, %s}
  document: {request: GET /openapi.json, kind: openapi}
"""
FORMS = {
    "whole": 'at: "", item: {code: /code}',
    "codes-alone": 'at: /codes, item: {code: ""}',
    "deep": 'at: /a~1b/errors, item: {code: /error/code, summary: /error/title, http: /status, details: "/data/$schema"}',
    "null": 'at: /errors, item: {code: /code, http: /http}, empty: "null"',
    "absent": "at: /errors, item: {http: /http, code: /code}, empty: absent",
}


@contextmanager
def publishing(answers: dict[str, Any]) -> Iterator[str]:
    """A service that publishes, and does nothing else."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            name = parse_qs(asked.query).get("of", [""])[0]
            known = asked.path == "/errors" and name in answers
            body = json.dumps(answers[name] if known else {"code": "bad", "message": "m"}).encode()
            self.send_response(200 if known else 400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def verdict(published: dict[str, Any], contract: Taxonomy, folder: Path) -> str:
    """The report of the suite about a service that publishes this."""
    configuration = folder / "conformance.yaml"
    with publishing(published) as base:
        configuration.write_text(f"target: {{http: {base}, openapi: none}}\n", encoding="utf-8")
        loaded = target(str(configuration), {})
        assert loaded.target is not None, loaded.diagnostics
        report = run(loaded.target, contract, RunOptions(only="discovery/agrees", sweep=False))
    assert not isinstance(report, Unreachable), report.reason
    return report.result.clauses["discovery/agrees"].verdict


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_what_is_generated_is_what_the_suite_wants_published(form: str, tmp_path: Path) -> None:
    """However errors are published: a service that answers with the generated document agrees with
    its contract, and one that publishes for an operation what another one has does not; what
    nothing produces yet is not published.
    """
    loaded = read(DOCUMENT % form, "published.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    tree = render(loaded.taxonomy, [SHIPPED["discovery"]], "published.yaml")
    assert list(tree) == ["discovery/errors.json"]
    answers = json.loads(tree["discovery/errors.json"])["answers"]
    assert "later" not in json.dumps(answers)
    assert verdict(answers, loaded.taxonomy, tmp_path) == "passed"
    swapped = dict(zip(answers, reversed(answers.values()), strict=True))
    assert verdict(swapped, loaded.taxonomy, tmp_path) == "failed"


def test_nothing_is_generated_where_no_errors_are_published() -> None:
    """A service that publishes a document of another kind publishes no list of errors."""
    loaded = read(DOCUMENT.replace("  errors: {request", "  # {") % "x", "published.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    assert render(loaded.taxonomy, [SHIPPED["discovery"]], "published.yaml") == {}
