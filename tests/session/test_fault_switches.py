"""Generated requests that repeat what a recipe does may crash; others may not."""

from random import Random

import pytest

from faultspec import source
from faultspec.exchange.model import Request
from faultspec.language import read
from faultspec.openapi.service import Description
from faultspec_conformance.config import NOBODY, parse_config
from faultspec_conformance.run.sweep import write_as
from faultspec_conformance.session.fault_switches import find_switches
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: shop}
envelopes: {error: {shape: {code: $code}}}
surfaces: {api: {transport: http, envelope: error}}
codes:
  absent: {summary: It is not there., http: 404}
  failed: {summary: It failed., http: 500}
"""


@pytest.mark.parametrize(
    ("recipe", "line", "headers", "body", "excused"),
    [
        ("request: GET /a, headers: {X-Fault: failed}", "GET /b", {"x-fault": "other"}, b"", True),
        ("request: GET /a, headers: {X-Fault: failed}", "GET /a", {}, b"", False),
        (
            "request: GET /a, headers: {If-Match: x, X-F: y}",
            "GET /b",
            {"If-Match": "x"},
            b"",
            False,
        ),
        ("request: GET /a, query: {fail: '1'}", "GET /b?x=2&fail=1", {}, b"", True),
        ("request: GET /a, query: {fail: '1'}", "GET /a?fail=2", {}, b"", False),
        ("request: 'GET /a?fail=1'", "GET /b?fail=1", {}, b"", True),
        (
            "request: POST /a, body: {sku: boom, n: 1}",
            "POST /a",
            {},
            b'{"n": 1, "sku": "boom"}',
            True,
        ),
        (
            "request: POST /a, body: {sku: boom, n: 1}",
            "POST /a",
            {},
            b'{"n": 2, "sku": "boom"}',
            False,
        ),
        ("request: POST /a, body: {sku: boom}", "POST /b", {}, b'{"sku": "boom"}', False),
        (
            "request: POST /a, body: {sku: '${unique}', n: 1}",
            "POST /a",
            {},
            b'{"sku": "z", "n": 1}',
            True,
        ),
        ("request: GET /crash", "GET /crash", {}, b"", True),
        ("request: GET /crash", "GET /crashes", {}, b"", False),
        ("request: GET /crash", "POST /crash", {}, b"", False),
    ],
)
def test_the_steps_of_a_recipe_are_not_a_crash_elsewhere(
    recipe: str, line: str, headers: dict[str, str], body: bytes, excused: bool
) -> None:
    """A request is excused if it has the header, the query parameter, or the place and the literal
    members of the body with which a recipe makes the service fail.
    """
    loaded = read(TAXONOMY, "taxonomy.yaml")
    assert loaded.taxonomy is not None
    for code, expected in (("failed", excused), ("absent", False)):
        text = f"target: {{http: 'http://127.0.0.1:1'}}\nprovoke: {{{code}: {{{recipe}}}}}\n"
        document, _ = source.parse(text, "conformance.yaml")
        assert document is not None
        target = parse_config(document, {}).target
        assert target is not None
        method, _, path = line.partition(" ")
        request = Request(method, path, tuple(headers.items()), body)
        switches = find_switches(loaded.taxonomy, target, Description())
        assert any(switch.is_on(request) for switch in switches) is expected


@pytest.mark.parametrize(("where", "sent"), [("header: X-Fault", False), ("query: fault", True)])
def test_generated_traffic_does_not_send_a_declared_fault(where: str, sent: bool) -> None:
    """The header of a declared switch is dropped from every generated request; other headers
    stay.
    """
    text = f"taxonomy: t.yaml\ntarget: {{http: 'http://127.0.0.1:1'}}\nfaults: {{{where}, values: {{failed: boom}}}}"
    document, found = source.parse(text, "conformance.yaml")
    assert document is not None, found
    target = parse_config(document, {}).target
    assert target is not None
    session = http_session(lambda request: answer(200, {}), TAXONOMY, target)
    request = Request("GET", "/a", (("X-Fault", "boom"), ("X-Other", "1")))
    for seed in range(20):
        headers = dict(write_as(session, request, NOBODY, Random(seed)).headers)
        assert ("X-Fault" in headers) == sent
        assert headers["X-Other"] == "1"
