"""An import is laid over and imported again: the team's decisions stay, and both still compile."""

import json
from pathlib import Path
from typing import Any

import pytest

from faultspec.language import load
from support.command_line import faultspec


def service(version: str, *more: int) -> dict[str, Any]:
    """The document of a service, whose orders may be refused with 404, 409 and `more` statuses."""
    body = {
        "type": "object",
        "required": ["code", "message"],
        "properties": {"message": {"type": "string"}},
    }
    codes = {404: "order_missing", 409: "order_taken", 429: "order_limited"}

    def response(status: int) -> dict[str, Any]:
        properties = {**body["properties"], "code": {"type": "string", "const": codes[status]}}
        schema = {**body, "properties": properties}
        content = {"application/json": {"schema": schema}}
        return {"description": f"Status {status}.", "content": content}

    statuses = (404, 409, *more)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Orders", "version": version},
        "paths": {
            "/orders": {
                "post": {
                    "operationId": "placeOrder",
                    "responses": {
                        "201": {"description": "Placed."},
                        **{str(status): response(status) for status in statuses},
                    },
                }
            }
        },
    }


TEAM = """\
faultspec: 1
taxonomy: {name: team, version: 1.0.0, owner: orders}
extends: imported.yaml
overrides:
  codes.order_taken.retriable:
    value: true
    reason: The stock is counted again every second.
codes:
  order_missing: {owner: catalog, docs: "https://docs.example.com/missing", fault: caller}
"""


def imported(folder: Path, document: dict[str, Any]) -> None:
    """Import a document over an earlier import."""
    (folder / "openapi.json").write_text(json.dumps(document))
    done = faultspec(
        *("import", "openapi", "openapi.json", "--out", "imported.yaml", "--force"), cwd=folder
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("more", [(), (429,)])
def test_an_import_is_laid_over_and_imported_again(tmp_path: Path, more: tuple[int, ...]) -> None:
    """The overlay adds facts and decides otherwise with a reason. The document changes, and is
    imported again: base and overlay compile, with the new code and with the decisions."""
    for document in (service("1.0.0"), service("1.1.0", *more)):
        imported(tmp_path, document)
        (tmp_path / "team.yaml").write_text(TEAM)
        for file in ("imported.yaml", "team.yaml"):
            done = faultspec(
                "compile", file, "--out", f"of-{file}", "--target", "python", cwd=tmp_path
            )
            assert done.returncode == 0, done.stderr
        team = load(str(tmp_path / "team.yaml")).taxonomy
        assert team is not None
        assert team.codes["order_taken"].retriable.fixed is True
        assert team.codes["order_missing"].support.owner == "catalog"
    assert ("order_limited" in team.codes) == bool(more)


def test_a_decision_about_a_code_that_is_gone_is_reported(tmp_path: Path) -> None:
    """If the next import lacks a code that the team decided about, the override is an error at its
    line: nothing is lost unseen."""
    document = service("2.0.0")
    del document["paths"]["/orders"]["post"]["responses"]["409"]
    imported(tmp_path, document)
    (tmp_path / "team.yaml").write_text(TEAM)
    found = load(str(tmp_path / "team.yaml")).diagnostics
    assert ("dangling-reference", "the base has no `codes.order_taken`") in {
        (each.code, each.message) for each in found
    }
