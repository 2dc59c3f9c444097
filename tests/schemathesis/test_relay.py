"""The process that generates requests learns from the answers of the gateway, and shrinks
findings.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from faultspec.exchange.model import Response
from faultspec.openapi import service as openapi
from faultspec_conformance import schemathesis
from faultspec_conformance.run import generation
from faultspec_conformance.run.generation import GatewayAnswer, GeneratedRequest, GenerationPlan
from miniatures.lending import BOOK, described

DOCUMENT: Mapping[str, object] = {
    "openapi": "3.1.0",
    "info": {"title": "Shelf", "version": "1"},
    "paths": {
        "/books": {
            "get": {
                "parameters": [
                    {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1}}
                ],
                "responses": {"200": {"description": "fine"}},
            },
            "post": {"responses": {"201": described("added", BOOK)}},
        },
        "/books/{bookId}": {
            "get": {
                "parameters": [
                    {
                        "name": "bookId",
                        "in": "path",
                        "required": True,
                        "schema": BOOK["properties"]["id"],
                    }  # type: ignore[index]
                ],
                "responses": {"200": described("a book", BOOK)},
            }
        },
    },
}


def test_both_sides_agree_on_names() -> None:
    """The gateway does not import the hooks, so the names of headers stand in both modules."""
    # Importing the hooks would register them for the other tests of this process.
    path = Path(schemathesis.__file__).with_name("relay.py")
    assert f"{schemathesis.__name__}.{path.stem}" == generation.RELAY
    hooks = path.read_text(encoding="utf-8")
    for name in ("PHASE", "TRIGGER", "FINDINGS", "NOT_SENT"):
        assert f'\n{name} = "{getattr(generation, name)}"\n' in hooks


def test_the_generator_learns_and_shrinks() -> None:
    """A finding of the fuzzing phase ends with the smallest request that has it, and later requests
    use the ids of earlier answers.
    """
    description = openapi.read(DOCUMENT)
    arrived: list[GeneratedRequest] = []
    marked: list[int] = []

    def answer(generated: GeneratedRequest) -> GatewayAnswer:
        arrived.append(generated)
        request = generated.request
        limit = re.fullmatch(r"/books\?limit=([0-9]+)", request.target)
        found = generated.phase == "fuzzing" and limit is not None and int(limit[1]) > 1000
        if limit is not None and found:
            marked.append(int(limit[1]))
        body = b'{"id": 417417, "title": "A", "pages": 1}'
        response = Response(201 if request.method == "POST" else 200, _JSON, body)
        return GatewayAnswer(response, findings=("too-much",) if found else ())

    plan = GenerationPlan(description, description.operations, 1, 120, examples=60, scenarios=3)
    generated = generation.generate(plan, answer, lambda: False)
    assert generated.trouble is None
    assert min(marked) == 1001
    phases = {each.phase for each in arrived}
    assert phases == {"coverage", "fuzzing", "stateful"}
    stateful = [each.request.target for each in arrived if each.phase == "stateful"]
    assert "/books/417417" in stateful


_JSON = (("Content-Type", "application/json"),)
