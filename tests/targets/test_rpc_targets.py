"""OpenRPC and google.rpc.Status: what their specifications require, and the values of the codes."""

import json
import subprocess
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft7Validator, Draft202012Validator

from faultspec.language import read
from faultspec.language.model import Taxonomy
from faultspec.render import render
from faultspec.targets import SHIPPED
from support.npm import installed
from support.wire_shapes import SHAPES, taxonomy

TARGETS = [SHIPPED["openrpc"], SHIPPED["google_rpc"]]

#: The meta-schema of OpenRPC, which its own tools check documents by.
META_SCHEMA = {"@open-rpc/meta-schema": "1.14.9"}

METHODS = """
faultspec: 1
taxonomy: {name: t, version: 1.0.0}
detail_keys: {seconds: {type: integer}}
envelopes: {rpc: {shape: {jsonrpc: "2.0", error: {code: $code, message: $message, data?: $details}}}}
surfaces: {calls: {transport: jsonrpc, error_when: {present: /error}, envelope: rpc}}
codes:
  gone: {summary: Gone., on: {jsonrpc: -32001, grpc: NOT_FOUND}}
  busy: {summary: Busy., retriable: true, details: {seconds: {}}, on: {jsonrpc: -32002, grpc: UNAVAILABLE},
      example: {message: Wait., details: {seconds: 3}}}
operations:
  fetch: {wire: item/fetch, summary: Fetches., codes: [gone]}
  store: {codes: {gone: {details: {seconds: {}}}, busy: }, errors: {full: {summary: Full., on: {jsonrpc: -32003}}}}
"""


@cache
def files(shape: str) -> dict[str, Any]:
    """The documents of both targets for a taxonomy, by path."""
    loaded: Taxonomy | None = taxonomy(shape) if shape else read(METHODS, "t.yaml").taxonomy
    assert loaded is not None
    return {path: json.loads(text) for path, text in render(loaded, TARGETS, "t.yaml").items()}


def test_a_method_has_its_own_errors_and_the_group_of_shared_ones() -> None:
    """Numbers are those of JSON-RPC; a code in a form of the method's own is not in the group."""
    document = files("")["openrpc/calls.openrpc.json"]
    fetch, store = document["methods"]
    assert fetch["name"] == "item/fetch"
    assert "errors" not in fetch
    assert [each["code"] for each in fetch["x-error-group"][0]] == [-32001]
    assert [each["code"] for each in store["errors"]] == [-32003, -32001]
    busy = {"code": -32002, "message": "Wait.", "data": {"seconds": 3}}
    assert store["x-error-group"] == [[{**busy, "message": "Busy."}]]
    assert list(document["components"]["errors"]) == ["gone", "busy"]


@pytest.mark.parametrize("shape", ["", "agents"])
def test_openrpc_accepts_the_documents(shape: str) -> None:
    """The official meta-schema of OpenRPC accepts each document."""
    package = installed(META_SCHEMA, "@open-rpc/meta-schema/package.json")
    script = (
        "const m = require('@open-rpc/meta-schema'); console.log(JSON.stringify(m.default ?? m))"
    )
    done = subprocess.run(
        ["node", "-e", script], cwd=package, capture_output=True, text=True, check=True
    )
    known = {path: each for path, each in files(shape).items() if path.endswith("openrpc.json")}
    assert known
    # It refers to the dialect under an address of its own, which is draft 7.
    text = done.stdout.replace(
        "https://meta.json-schema.tools/", "http://json-schema.org/draft-07/schema#"
    )
    for document in known.values():
        problems = [
            each.message for each in Draft7Validator(json.loads(text)).iter_errors(document)
        ]
        assert problems == []


@pytest.mark.parametrize("shape", ["", *SHAPES])
def test_an_example_is_a_status_of_its_code_alone(shape: str) -> None:
    """The schema of a code accepts its example and refuses those of codes with other reasons."""
    found = files(shape)
    if "google_rpc/examples.json" not in found:
        return
    schema = found["google_rpc/status.schema.json"]
    for label, example in found["google_rpc/examples.json"]["examples"].items():
        reason = example["details"][0]["reason"]
        for other in schema["$defs"]:
            validator = Draft202012Validator(schema["$defs"][other])
            same = schema["$defs"][other]["properties"]["details"]["allOf"][0]["contains"]
            alike = same["properties"]["reason"]["const"] == reason
            assert validator.is_valid(example) or other != label
            assert not validator.is_valid(example) or alike
