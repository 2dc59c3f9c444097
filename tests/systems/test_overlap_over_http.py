"""Calls of JSON-RPC over HTTP that are under way at the same time."""

import asyncio
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from faultspec.language import read
from faultspec_conformance.config import read_config
from faultspec_conformance.results.model import Report
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions
from miniatures.serve import serving

TAXONOMY = """
faultspec: 1
taxonomy: {name: builds, version: 1.0.0, title: Builds, owner: nobody}
envelopes:
  answer:
    shape: {jsonrpc: "2.0", id: $id, error: {code: $code, message: $message}}
    fields: {id: {type: [string, integer, "null"]}}
surfaces:
  rpc: {transport: jsonrpc, error_when: {present: /error}, envelope: answer, codes: open}
codes:
  cancelled: {wire: -32800, summary: It was cancelled, retriable: false, example: {message: m, slots: {id: 1}}}
"""

CONFIG = """
target: {jsonrpc: "URL/rpc"}
identities: {ann: {headers: {Authorization: Bearer of-ann-9f2}}, bob: {headers: {Authorization: Bearer of-bob-7c1}}}
calls: {ping: {request: ping, safe: true}}
provoke:
  cancelled:
RECIPES
limits: {writes: true, seconds: 20}
"""

RECIPE = """    - steps:
        - {request: build, wait: false, id: job, as: bob}
        - {request: cancel, notification: true, params: {id: "${job}"}, as: bob}
"""

#: Seconds from the arrival of a build to its beginning.
READING = 0.02

#: Seconds that a build takes.
BUILDING = 1.0


def builds(*, cancels: bool) -> Starlette:
    """A service whose builds can be cancelled by their caller, unless it ignores that. It ignores
    an id that it does not know, and is slow to read the body of a build.
    """
    under_way: dict[object, asyncio.Event] = {}

    async def answer(request: Request) -> Response:
        message = await request.json()
        if message["method"] == "build":
            await asyncio.sleep(READING)
        id, caller = message.get("id"), request.headers.get("Authorization")
        if message["method"] == "cancel":
            found = under_way.get((caller, message["params"]["id"]))
            if cancels and found is not None:
                found.set()
            return Response(status_code=204)
        if message["method"] == "build":
            cancelled = under_way.setdefault((caller, id), asyncio.Event())
            try:
                await asyncio.wait_for(cancelled.wait(), BUILDING)
            except TimeoutError:
                return JSONResponse({"jsonrpc": "2.0", "id": id, "result": "built"})
            error = {"code": -32800, "message": "cancelled"}
            return JSONResponse({"jsonrpc": "2.0", "id": id, "error": error})
        return JSONResponse({"jsonrpc": "2.0", "id": id, "result": "pong"})

    return Starlette(routes=[Route("/rpc", answer, methods=["POST"])])


@pytest.mark.parametrize(("cancels", "verdict"), [(True, "passed"), (False, "failed")])
def test_a_call_is_cancelled_while_it_is_under_way(
    cancels: bool, verdict: str, tmp_path: Path
) -> None:
    """A step that is not waited for is sent on a connection of its own; the next step, which names
    its id, does not overtake it and has the headers of its caller; and its answer has the code of
    the recipe.
    """
    taxonomy = read(TAXONOMY, "builds.yaml").taxonomy
    assert taxonomy is not None
    with serving(builds(cancels=cancels)) as url:
        path = tmp_path / "conformance.yaml"
        path.write_text(CONFIG.replace("URL", url).replace("RECIPES", 3 * RECIPE))
        config = read_config(str(path), {})
        assert config.target is not None, config.diagnostics
        report = run(config.target, taxonomy, RunOptions(only="provoke/code"))
    assert isinstance(report, Report), report
    assert report.result.clauses["provoke/code"].verdict == verdict
