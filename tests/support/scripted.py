"""Sessions without a service: the driver answers each request by a function."""

import json
from collections.abc import Callable, Mapping, Sequence

from faultspec.contract.model import build_contract
from faultspec.exchange.model import Request, Response
from faultspec.language import read
from faultspec.openapi import service as openapi
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers import Limits, NoAnswer
from faultspec_conformance.drivers.http import HttpDriver
from faultspec_conformance.session.http import HttpSession

Script = Callable[[Request], Response | NoAnswer]

WRITABLE = ServiceConfig(limits=Limits(writes=True))


class ScriptedDriver(HttpDriver):
    """A driver that sends nothing. Budgets hold as for a real one, and waits take no time."""

    def __init__(self, script: Script, limits: Limits) -> None:
        super().__init__("http://scripted.example", limits, pause=lambda seconds: None)
        self.script = script
        self.sent: list[Request] = []

    def transmit(self, request: Request, body: object = None) -> Response | NoAnswer:
        """Answer by the script."""
        self.sent.append(request)
        return self.script(request)

    def send_together(self, requests: Sequence[Request]) -> list[Response | NoAnswer]:
        """Answer one after another."""
        return [self.send(request) for request in requests]

    def listens(self) -> bool:
        """Whether the service accepts connections."""
        return True


def answer(status: int, body: object = None, **headers: str) -> Response:
    """Return an answer in JSON. An underscore in a header's name stands for a hyphen."""
    fields = {"content-type": "application/json"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    return Response(status, tuple(fields.items()), json.dumps(body).encode())


def http_session(
    script: Script,
    taxonomy: str,
    config: ServiceConfig = WRITABLE,
    document: Mapping[str, object] | None = None,
) -> HttpSession:
    """Return a session that the script answers."""
    loaded = read(taxonomy, "taxonomy.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    driver = ScriptedDriver(script, config.limits)
    return HttpSession(
        build_contract(loaded.taxonomy),
        config,
        driver,
        openapi.read(document or {"openapi": "3.1.0"}),
    )
