"""The wire shapes of well-known frameworks and protocols, with answers."""

import json
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import yaml

from faultspec.exchange.model import Exchange, Request, Response
from faultspec.language import load
from faultspec.language.model import Taxonomy
from paths import TESTS

FOLDER = TESTS / "fixtures" / "wire_shapes"
SHAPES = sorted(path.stem for path in FOLDER.glob("*.yaml") if not path.stem.endswith(".answers"))


class Answer(NamedTuple):
    """A recorded answer, the code it has, or None, and the clauses that it breaks."""

    shape: str
    exchange: Exchange
    operation: str | None
    code: str | None
    breaks: tuple[str, ...]

    @property
    def is_json(self) -> bool:
        """Whether the body is JSON, which TypeScript reads and whose values have types."""
        return "json" in dict(self.exchange.response.headers)["Content-Type"]

    @property
    def error(self) -> bytes:
        """The envelope: the body, or the structured content of a tool result."""
        body = self.exchange.response.body
        if self.exchange.transport != "mcp":
            return body
        return json.dumps(json.loads(body)["structuredContent"]).encode()


@cache
def taxonomy(shape: str) -> Taxonomy:
    """The taxonomy of a shape."""
    loaded = load(str(FOLDER / f"{shape}.yaml"))
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


def answers() -> Iterator[tuple[str, Answer]]:
    """Every answer of every shape."""
    for shape in SHAPES:
        for number, row in enumerate(
            yaml.safe_load((FOLDER / f"{shape}.answers.yaml").read_text())
        ):
            method, _, target = row.get("request", "GET /things").partition(" ")
            headers = {
                "Content-Type": row.get("type", "application/json"),
                **row.get("headers", {}),
            }
            body = row["text"] if "text" in row else json.dumps(row["body"])
            response = Response(row.get("status"), tuple(headers.items()), body.encode())
            sent = tuple(row.get("sent", {}).items())
            answer = Answer(
                shape,
                Exchange(Request(method, target, sent), response, row.get("transport", "http")),
                row.get("operation"),
                row.get("code"),
                tuple(row.get("breaks", ())),
            )
            yield f"{shape}-{number}", answer
