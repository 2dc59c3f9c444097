"""Laws of the place of a service's OpenAPI document."""

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.session.discovery import fetch_description
from faultspec_conformance.session.options import Unreachable
from support.scripted import ScriptedDriver, answer

DOCUMENT = {"openapi": "3.1.0", "paths": {"/things": {"get": {"responses": {}}}}}


def driver_with(*places: str) -> ScriptedDriver:
    """A driver of a service that publishes its document at some paths."""

    def script(request: Request) -> Response:
        return answer(200, DOCUMENT) if request.target in places else answer(404)

    return ScriptedDriver(script, Limits())


@pytest.mark.parametrize(
    ("published", "configured", "asked"),
    [
        (("/v2/api.json", "/api.json"), "/api.json", ["/v2/api.json"]),
        (("/api.json",), "/api.json", ["/v2/api.json", "/api.json"]),
        (("/v2/api.json",), "/v2/api.json", ["/v2/api.json"]),
        (("/api.json",), "http://scripted.example/api.json", ["/api.json"]),
    ],
)
def test_a_path_is_looked_up_below_the_address_and_then_at_its_origin(
    published: tuple[str, ...], configured: str, asked: list[str]
) -> None:
    """A path that contains that of the address, and a URL, are looked up at one place."""
    driver = driver_with(*published)
    config = ServiceConfig("http://scripted.example/v2", openapi=configured)
    described = fetch_description(config, driver, "/v2")
    assert isinstance(described, tuple)
    assert [operation.name for operation in described[0].operations] == ["GET /v2/things"]
    assert [request.target for request in driver.sent] == asked


def test_a_missing_document_is_named_by_its_urls() -> None:
    """The message has each URL that was asked for, without a user name and a password."""
    driver = driver_with()
    driver.base = "http://ann:secret@scripted.example"
    config = ServiceConfig("http://ann:secret@scripted.example/v2", openapi="/api.json")
    found = fetch_description(config, driver, "/v2")
    assert isinstance(found, Unreachable)
    assert "http://scripted.example/v2/api.json holds no OpenAPI document (404)" in found.reason
    assert "http://scripted.example/api.json holds no OpenAPI document (404)" in found.reason
    assert "secret" not in found.reason
