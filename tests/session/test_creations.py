"""Creations as the configuration writes them: each test states a law."""

from faultspec import source
from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import parse_config
from faultspec_conformance.session.fixtures import fixture, make
from faultspec_conformance.session.resources import CreatedResource
from support.scripted import ScriptedDriver, answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: notes, version: 1.0.0, title: Notes, owner: nobody}
envelopes: {error: {shape: {code: $code}}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
codes: {empty: {summary: It is empty, http: 400, retriable: false}}
"""
CONFIG = """
target: {http: "http://127.0.0.1:1", openapi: none}
limits: {writes: true}
resources:
  note:
    create: {request: POST /notes, headers: {Content-Type: text/plain}, raw: "proof ${unique}", id: /id}
    read: "GET /notes/{id}"
"""


def test_a_resource_may_be_created_with_a_raw_body() -> None:
    """The text is sent as it is written, with its own media type and new values."""

    def notes(request: Request) -> Response:
        return answer(201, {"id": "n1"}) if request.body else answer(400, {"code": "empty"})

    document, found = source.parse(CONFIG, "conformance.yaml")
    assert document is not None, found
    loaded = parse_config(document, {})
    assert loaded.target is not None, loaded.diagnostics
    session = http_session(notes, TAXONOMY, loaded.target)
    assert isinstance(make(session, session.kinds[0]), CreatedResource)
    assert isinstance(session.driver, ScriptedDriver)
    sent = session.driver.sent[-1]
    assert sent.body.startswith(b"proof ")
    assert b"$" not in sent.body
    assert dict(sent.headers)["Content-Type"] == "text/plain"


def test_resources_that_need_each_other_without_an_end_are_not_made() -> None:
    """A chain of four hundred gets a reason, in which twenty are named; a short one is made."""
    links = "".join(
        f'  r{n}: {{create: {{request: POST /r{n}, body: {{a: "${{r{n + 1}.id}}"}}}}}}\n'
        for n in range(400)
    )
    end = "  r400: {create: {request: POST /r400, body: {}}}\n"
    text = CONFIG.partition("resources:")[0] + f"resources:\n{links}{end}"
    document, found = source.parse(text, "conformance.yaml")
    assert document is not None, found
    loaded = parse_config(document, {})
    assert loaded.target is not None, loaded.diagnostics
    session = http_session(lambda _: answer(201, {"id": "1"}), TAXONOMY, loaded.target)
    kinds = {kind.name: kind for kind in session.kinds}
    reason = fixture(session, kinds["r0"])
    assert isinstance(reason, str)
    assert reason.endswith("more than 20 resources need each other")
    assert isinstance(fixture(session, kinds["r390"]), CreatedResource)


DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Notes", "version": "1"},
    "paths": {
        "/notes": {
            "post": {
                "parameters": [
                    {"name": name, "in": "header", "required": True, "schema": schema}
                    for name, schema in (
                        ("Idempotency-Key", {"type": "string", "minLength": 8}),
                        ("X-Edition", {"type": "string", "enum": ["second"]}),
                        ("X-Branch", {"type": "integer", "minimum": 7}),
                        ("X-Proof", {"type": "string"}),
                    )
                ],
                "responses": {"201": {"description": "d"}},
            }
        }
    },
}


def test_a_creation_has_the_required_headers() -> None:
    """A creation that is configured without them has the headers that the document requires: its
    own value, else one that the schema allows, and a new idempotency key. Its own headers stay.
    """
    text = CONFIG.replace("Content-Type: text/plain", "Content-Type: text/plain, x-proof: mine")
    document, found = source.parse(text, "conformance.yaml")
    assert document is not None, found
    loaded = parse_config(document, {})
    assert loaded.target is not None, loaded.diagnostics
    created = answer(201, {"id": "n1"})
    session = http_session(lambda _: created, TAXONOMY, loaded.target, DOCUMENT)
    keys = set()
    for _ in range(2):
        assert isinstance(make(session, session.kinds[0]), CreatedResource)
        assert isinstance(session.driver, ScriptedDriver)
        sent = {name.lower(): value for name, value in session.driver.sent[-1].headers}
        assert sent["x-edition"] == "second"
        assert int(sent["x-branch"]) >= 7
        assert sent["x-proof"] == "mine"
        keys.add(sent["idempotency-key"])
    assert len(keys) == 2
