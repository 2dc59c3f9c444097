"""What is fuzzed: functions of bytes that must return, whatever the bytes are.

Each raises `AssertionError` for a broken law, and lets every other exception pass: readers of
untrusted bytes raise only what they document, and that is handled here.
"""

import base64
import gzip
import json
import os
import random
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.importers import NotImportable, botocore
from faultspec.importers import openapi as importer
from faultspec.importers.validate import drop_invalid
from faultspec.judge import judge
from faultspec.language import load, read
from faultspec.lint import check
from faultspec.openapi import service
from faultspec.openapi.text import parse_leniently
from faultspec.source.file import decode
from faultspec_conformance.observed.audit import audit
from faultspec_conformance.sanitize.masking import build_masking
from fuzz.mutations import VALUES, places, replaced

ROOT = Path(__file__).parent.parent

_STATUSES = (200, 204, 302, 400, 401, 404, 405, 409, 422, 429, 500, 502, 503)
_TYPES = ("application/json", "application/problem+json", "text/html", "application/xml", "")


class Target(NamedTuple):
    """A function of bytes, and the inputs that the search begins with."""

    run: Callable[[bytes], None]
    seeds: Callable[[], Iterator[bytes]]


@cache
def contracts() -> tuple[Contract, ...]:
    """The contracts of the six taxonomies of the repository."""
    paths = [ROOT / "taxonomy.yaml", *sorted(ROOT.glob("examples/*/taxonomy.yaml"))]
    loaded = [load(str(path)).taxonomy for path in paths]
    return tuple(build_contract(taxonomy) for taxonomy in loaded if taxonomy is not None)


def fuzz_source(content: bytes) -> None:
    """A taxonomy is read and linted. What refuses it points into the text."""
    text, diagnostics = decode(content, "fuzz.yaml")
    if text is None:
        assert diagnostics
        return
    loaded = read(text, "fuzz.yaml")
    assert loaded.taxonomy is not None or loaded.diagnostics
    lines = text.count("\n") + text.count("\r") + 1
    for found in loaded.diagnostics:
        assert found.span is None or 1 <= found.span.line <= lines, found
    check(loaded)
    if loaded.taxonomy is not None:
        build_contract(loaded.taxonomy)


def fuzz_openapi(content: bytes) -> None:
    """A document is read, or refused; what was imported from it is a taxonomy. The same holds with
    a value of another type at any place.
    """
    document, _ = parse_leniently(content.decode("utf-8", "replace"))
    if document is None:
        return
    import_document(document)
    chance = random.Random(content)
    for _ in range(3):
        place = chance.choice([*places(document)])
        import_document(replaced(document, place, chance.choice(VALUES)))


def import_document(document: object) -> None:
    """Read a document of OpenAPI or a model of botocore, as `import` and `diff` do."""
    if isinstance(document, dict) and "shapes" in document:
        with suppress(NotImportable):
            drop_invalid(botocore.read(document, "sample"))
        return
    with suppress(NotImportable):
        drop_invalid(importer.read(document))
    if not isinstance(document, dict):
        return
    description = service.read(document)
    for template in description.paths:
        service.path_values(template, template)


def fuzz_answer(content: bytes) -> None:
    """An answer is judged: findings, with clauses of the contract, and no exception."""
    if len(content) < 3:
        return
    contract = contracts()[content[0] % len(contracts())]
    status = _STATUSES[content[1] % len(_STATUSES)]
    media_type = _TYPES[content[2] % len(_TYPES)]
    head, _, body = content[3:].partition(b"\n\n")
    headers = [("Content-Type", media_type)]
    for line in head.decode("latin-1").splitlines()[:20]:
        name, _, value = line.partition(":")
        headers.append((name, value.strip()))
    request = Request("POST", "/orders", (("Idempotency-Key", "k"),), b'{"sku":"a"}')
    judgement = judge(contract, Exchange(request, Response(status, tuple(headers), body)))
    for finding in judgement.findings:
        assert finding.message


def fuzz_masking(content: bytes) -> None:
    """No text or body that was masked has the secret, plain or in one layer of an encoding."""
    secret_bytes, _, around = content.partition(b"\n")
    secret = secret_bytes.decode("utf-8", "ignore")
    if not 8 <= len(secret) <= 200 or len(set(secret)) < 6 or "*" in secret:
        return
    before, _, after = around.decode("utf-8", "ignore").partition("\n")
    masking = build_masking((), [(secret, "****")])
    for form in (
        secret,
        quote(secret, safe=""),
        json.dumps(secret)[1:-1],
        base64.b64encode(secret.encode()).decode(),
        secret.encode().hex(),
    ):
        masked = masking.text(f"{before} {form} {after}")
        if secret not in f"{before} {after}":
            assert secret not in masked, (form, masked)
            assert form not in masked, (form, masked)
        body = masking.body(f"{before} {form} {after}".encode())
        assert form.encode() not in body or form in f"{before} {after}", (form, body)


def fuzz_recording(content: bytes) -> None:
    """A recording is audited. What cannot be read is named."""
    descriptor, path = tempfile.mkstemp()
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        report = audit([path], contracts()[0])
    finally:
        os.unlink(path)
    assert report.result is not None


def _files(*patterns: str) -> Callable[[], Iterator[bytes]]:
    def seeds() -> Iterator[bytes]:
        for pattern in patterns:
            for path in sorted(ROOT.glob(pattern)):
                yield path.read_bytes()

    return seeds


def _documents() -> Iterator[bytes]:
    yield from _files("tests/fixtures/every_keyword/*.json")()
    schema = {"type": "object", "required": ["code"], "properties": {"code": {"enum": ["a", "b"]}}}
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/E"}}}
    failure = {"description": "x", "content": content, "headers": {"Retry-After": {}}}
    operation = {
        "operationId": "f",
        "parameters": [{"$ref": "#/components/parameters/P"}],
        "requestBody": {"content": content},
        "responses": {"201": {"description": "y"}, "4XX": failure, "default": failure},
        "security": [{"k": []}],
    }
    yield json.dumps(
        {
            "openapi": "3.1.0",
            "servers": [{"url": "/v1"}],
            "paths": {"/a/{p}": {"get": operation, "post": operation}, "/b": {"$ref": "#/x~1"}},
            "components": {
                "schemas": {"E": {"allOf": [schema, {"oneOf": [schema, True]}]}},
                "parameters": {"P": {"name": "p", "in": "path", "schema": {"pattern": "a+"}}},
                "securitySchemes": {"k": {"type": "http", "scheme": "bearer"}},
            },
        }
    ).encode()
    yield json.dumps(
        {
            "swagger": "2.0",
            "basePath": "/v1",
            "paths": {"/a": {"get": {"responses": {"400": {"schema": schema, "examples": {}}}}}},
        }
    ).encode()
    yield b"openapi: 3.0.3\npaths:\n  /a:\n    get: {responses: {'404': {description: a}}}\n"


def _answers() -> Iterator[bytes]:
    for body in (
        b'{"code":"not_found","message":"It failed","correlation_id":"01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T"}',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"x","data":{"code":"a"}}}',
        b"<html><body>502 Bad Gateway</body></html>",
        b'Traceback (most recent call last):\n  File "/srv/app.py", line 3, in f\nKeyError: 1\n',
        b"[" * 200 + b"]" * 200,
    ):
        for first in range(12):
            yield bytes((first, first, first % 2)) + b"Retry-After: 3\nAllow: GET\n\n" + body


def _secrets() -> Iterator[bytes]:
    yield b"s3cr3t-token-0123456789\nbefore\nafter"
    yield b"pa ss/wo+rd=&?%\nx\ny"
    yield "gehe\u00efm\u2028-w\u00f6rter\n\n".encode()


def _recordings() -> Iterator[bytes]:
    request = {"method": "GET", "url": "http://127.0.0.1/orders/1", "headers": []}
    headers = [{"name": "Content-Type", "value": "application/json"}]
    content = {"text": '{"code":"not_found"}', "mimeType": "application/json"}
    response = {"status": 404, "headers": headers, "content": content}
    entry = {"request": request, "response": response, "time": 3}
    yield json.dumps({"log": {"version": "1.2", "entries": [entry]}}).encode()
    yield gzip.compress(b'{"status":404,"code":"not_found","service":"orders"}\n' * 3)
    yield (
        b"version: 1\ninteractions:\n- request: {method: GET, uri: 'http://127.0.0.1/a',"
        b" headers: {A: [b]}, body: null}\n  response: {status: {code: 404, message: x},"
        b" headers: {C: [d]}, body: {string: '{}'}}\n"
    )


TARGETS = {
    "source": Target(fuzz_source, _files("taxonomy.yaml", "examples/*/taxonomy.yaml")),
    "openapi": Target(fuzz_openapi, _documents),
    "answer": Target(fuzz_answer, _answers),
    "masking": Target(fuzz_masking, _secrets),
    "recording": Target(fuzz_recording, _recordings),
}


def kept_inputs(name: str) -> Iterator[bytes]:
    """The inputs of earlier fuzzing that reach new code each, from `corpus/NAME.tar.xz`."""
    with tarfile.open(Path(__file__).parent / "corpus" / f"{name}.tar.xz") as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is not None:
                yield content.read()
