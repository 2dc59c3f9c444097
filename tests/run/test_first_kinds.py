"""Which kinds of resource get every probe: those of the configuration, before those that the
document implies.
"""

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes.operations import json_writes
from faultspec_conformance.run.service import run_probes
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.options import RunOptions
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: park, version: 1.0.0, title: Park, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, http: 404, retriable: false}
"""
NAMES = ("ant", "bee", "cow", "dog", "elk", "fox", "gnu")
DECLARED = ("cow", "dog", "elk", "fox", "gnu")


def session_of(declared: tuple[str, ...], requests: int = 400) -> HttpSession:
    """A session with a park of seven collections, which has nothing that is asked for."""

    def script(_: Request) -> Response:
        return answer(404, {"code": "absent"})

    body = {"requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}}}
    done = {"responses": {"200": {"description": "done"}}}
    paths = {
        path: item
        for name in NAMES
        for path, item in (
            (f"/{name}s", {"get": done, "post": {**done, **body}}),
            (f"/{name}s/{{id}}", {"get": done}),
        )
    }
    calls = {name: ConfiguredCall("POST", f"/{name}s", body={"name": name}) for name in declared}
    config = ServiceConfig(
        resources={name: ResourceConfig(name, create=call) for name, call in calls.items()},
        limits=Limits(writes=True, requests=requests),
    )
    return http_session(script, TAXONOMY, config, {"openapi": "3.1.0", "paths": paths})


def test_every_declared_kind_gets_every_probe() -> None:
    """However many the file declares; without any, the first four kinds of the document do."""
    for declared, first in ((DECLARED, DECLARED), (DECLARED[:1], ("cow", "ant", "bee", "dog"))):
        session = session_of(declared)
        played = next(run_probes(session, RunOptions(sweep=False), session.contract.clauses))
        assert [kind.name for kind in played.turn] == list(first)


def test_writes_of_declared_kinds_come_first() -> None:
    """A probe that asks a few writes asks those of the file."""
    names = [operation.name for operation in json_writes(session_of(DECLARED))]
    assert set(names[: len(DECLARED)]) == {f"POST /{name}s" for name in DECLARED}


def test_a_budget_names_the_kinds_that_it_leaves_out_and_the_remedy() -> None:
    """The note has the kinds, and the key that includes them."""
    session = session_of((), requests=40)
    list(run_probes(session, RunOptions(sweep=False), session.contract.clauses))
    notes = [note for note in session.observations.notes if "leaves out" in note]
    assert notes
    assert all("`limits.requests`" in note and "`resources`" in note for note in notes)
