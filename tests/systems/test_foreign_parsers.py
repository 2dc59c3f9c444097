"""Errors under the parsers of those who made the formats: botocore's, and the messages of
`google.rpc`.
"""

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore.parsers import create_parser
from google.protobuf import json_format
from google.rpc import code_pb2, error_details_pb2, status_pb2

from faultspec.language import read
from faultspec.render import render, write
from faultspec.targets import SHIPPED
from support import wire_shapes as shapes

PROTOCOLS = {
    "aws_json": ("json", "dynamodb", "PutItem"),
    "aws_query": ("query", "sns", "Publish"),
    "aws_rest_json": ("rest-json", "lambda", "GetFunction"),
    "aws_rest_xml": ("rest-xml", "s3", "GetObject"),
}
"""The protocol of a shape, and an operation of a service that speaks it."""


def parse_as_botocore(shape: str, status: int, headers: dict[str, str], body: bytes) -> Any:
    """The answer as botocore reads it."""
    protocol, service, operation = PROTOCOLS[shape]
    model = botocore.session.get_session().get_service_model(service).operation_model(operation)
    lowered = {name.lower(): value for name, value in headers.items()}
    answer = {"status_code": status, "headers": lowered, "body": body}
    return create_parser(protocol).parse(answer, model.output_shape)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The generated Python of the shapes, importable."""
    home = tmp_path_factory.mktemp("foreign")
    for shape in PROTOCOLS:
        write(
            render(shapes.taxonomy(shape), [SHIPPED["python"]], f"{shape}.yaml"),
            home / shape,
            ["python"],
        )
        sys.path.insert(0, str(home / shape / "python"))
    yield home
    for shape in PROTOCOLS:
        sys.path.remove(str(home / shape / "python"))


@pytest.mark.parametrize("shape", PROTOCOLS)
def test_botocore_reads_what_the_bindings_write(folder: Path, shape: str) -> None:
    """Code and message of each code are those that botocore finds."""
    errors = importlib.import_module(f"{shape}_errors.errors")
    wire = importlib.import_module(f"{shape}_errors.wire")
    assert errors.ERRORS
    for kind in errors.ERRORS.values():
        error = errors.bare(kind)
        for attribute in ("request", "host"):
            if hasattr(error, attribute):
                setattr(error, attribute, "r-1")
        sent = wire.render(error)
        found = parse_as_botocore(shape, sent.status, sent.headers, sent.body)["Error"]
        assert (found["Code"], found["Message"]) == (kind.facts.wire, error.message)


RPC = """
faultspec: 1
taxonomy: {name: orders, version: 1.0.0}
detail_keys: {wait: {type: string, role: retry_after}, item: {type: string}}
envelopes: {error: {shape: {code: $code, message: $message, "details?": $details}}}
surfaces: {api: {transport: http, envelope: error}}
codes:
  gone: {summary: Gone., http: 404, on: {grpc: NOT_FOUND}, details: {item: {}},
      example: {details: {item: A-1}}}
  busy: {summary: Busy., http: 503, retriable: true, on: {grpc: UNAVAILABLE}, details: {wait: {}},
      example: {message: Wait., details: {wait: 1.5s}}}
"""


def test_the_examples_of_google_rpc_are_its_messages() -> None:
    """`Status` and its details accept each example: the number is that of the code, and the details
    have an `ErrorInfo` with its reason and, of a wait, a `RetryInfo`.
    """
    loaded = read(RPC, "orders.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    files = render(loaded.taxonomy, [SHIPPED["google_rpc"]], "orders.yaml")
    found = {}
    for label, example in json.loads(files["google_rpc/examples.json"])["examples"].items():
        status = json_format.ParseDict(example, status_pb2.Status())
        details: dict[str, Any] = {}
        for packed in status.details:
            kind = packed.TypeName().removeprefix("google.rpc.")
            details[kind] = getattr(error_details_pb2, kind)()
            assert packed.Unpack(details[kind])
        found[label.partition("_")[0].lower()] = code_pb2.Code.Name(status.code), details
    assert {label: code for label, (code, _) in found.items()} == {
        "gone": "NOT_FOUND",
        "busy": "UNAVAILABLE",
    }
    assert found["gone"][1]["ErrorInfo"].reason == "gone"
    delay = found["busy"][1]["RetryInfo"].retry_delay
    assert (delay.seconds, delay.nanos) == (1, 500_000_000)
