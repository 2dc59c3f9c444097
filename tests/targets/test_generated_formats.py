"""The generated Python in every format of bodies: it parses its own answers, and the judge passes
them.
"""

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import load
from faultspec.language.model import Taxonomy
from faultspec.render import render, write
from faultspec.targets import SHIPPED
from faultspec_conformance.faults.script import Fault, Schedule, Script
from faultspec_conformance.faults.server import FaultServer
from paths import ROOT

ROUTES = {
    "document": "/documents/x",
    "form": "/forms/x",
    "plain": "/texts/x",
    "line": "/lines/x",
    "binary": "/binaries/x",
    "json": "/x",
}

WITH_DETAILS = frozenset({"document", "line", "binary", "json"})

MESSAGES = ["it is gone", "<a> & \"b\"\n'c'", "\u017c\u00f3\u0142w \U0001f422"]


@pytest.fixture(scope="module")
def taxonomy() -> Taxonomy:
    """A taxonomy with an envelope in each format."""
    loaded = load(str(ROOT / "tests/taxonomies/formats.yaml"))
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


@pytest.fixture(scope="module")
def contract(taxonomy: Taxonomy) -> Contract:
    """It, prepared for judging."""
    return build_contract(taxonomy)


@pytest.fixture(scope="module")
def package(taxonomy: Taxonomy, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Its bindings."""
    folder = tmp_path_factory.mktemp("formats")
    write(render(taxonomy, [SHIPPED["python"]], "formats.yaml"), folder, ["python"])
    sys.path.insert(0, str(folder / "python"))
    try:
        yield importlib.import_module("formats_errors")
    finally:
        sys.path.remove(str(folder / "python"))


@pytest.mark.parametrize("message", MESSAGES)
@pytest.mark.parametrize("envelope", ROUTES)
def test_an_error_comes_back_from_its_format(
    package: Any, contract: Contract, envelope: str, message: str
) -> None:
    """Code, message, slots and details have the same values and types after a round trip, also
    without headers, and the judge finds nothing in the body.
    """
    wire = importlib.import_module("formats_errors.wire")
    details = {"Size": 12, "Parts": [3]} if envelope in WITH_DETAILS else {}
    attempt = None if envelope == "plain" else 2
    error = package.Absent(message, attempt=attempt, **details)
    sent = wire.render(error, envelope=envelope)
    found = judge(
        contract,
        Exchange(
            Request("GET", ROUTES[envelope]),
            Response(sent.status, tuple(sent.headers.items()), sent.body),
        ),
    )
    assert [(each.clause, each.message) for each in found.findings] == []
    assert found.code == "absent"
    for headers in (sent.headers, {}):
        read = wire.parse(sent.body, status=sent.status, headers=headers)
        assert type(read) is package.Absent
        assert (read.message, read.attempt, dict(read.details)) == (message, attempt, details)


@pytest.mark.parametrize(
    ("media_type", "body"),
    [
        ("application/xml", b'<!DOCTYPE a [<!ENTITY b "absent">]><Error><Code>&b;</Code></Error>'),
        ("application/xml", b"<a>" * 100_000),
        ("application/cbor", b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff"),
        ("application/cbor", b"\x81" * 100_000),
        ("application/x-www-form-urlencoded", b"\xff"),
        ("application/x-ndjson", b"[" * 100_000),
        ("text/plain", b"\xff"),
        ("application/json", b"[" * 100_000),
    ],
)
def test_parse_never_raises(package: Any, media_type: str, body: bytes) -> None:
    """A body that is not in its format, or beyond the bounds, is an unknown error that keeps it."""
    wire = importlib.import_module("formats_errors.wire")
    read = wire.parse(body, status=500, headers={"content-type": media_type})
    assert type(read) is package.UnknownError
    assert read.raw == body


def test_a_later_line_is_the_error(package: Any) -> None:
    """Of JSON lines the first line that is an error counts."""
    wire = importlib.import_module("formats_errors.wire")
    body = b'{"row": 1}\n{"error": {"code": "busy", "message": "wait"}}\n'
    read = wire.parse(body, status=200, headers={"Content-Type": "application/x-ndjson"})
    assert type(read) is package.Busy


def test_without_cbor2_a_body_in_cbor_is_unknown(
    package: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bindings need the package only where a body is in its format."""
    wire = importlib.import_module("formats_errors.wire")
    sent = wire.render(package.Busy("wait"), envelope="binary")
    monkeypatch.setitem(sys.modules, "cbor2", None)
    read = wire.parse(sent.body, status=503, headers=sent.headers)
    assert type(read) is package.UnknownError
    assert type(wire.parse(b"busy: wait", headers={"Content-Type": "text/plain"})) is package.Busy


def test_an_import_loads_no_reader_of_xml(package: Any) -> None:
    """A format costs nothing before a body is in it."""
    folder = Path(package.__file__).parents[1]
    program = "import sys, formats_errors.wire; print([n for n in sys.modules if n.startswith(('xml', 'cbor2', 'pyexpat'))])"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("envelope", ROUTES)
def test_the_fault_server_speaks_every_format(contract: Contract, envelope: str) -> None:
    """Its answers have no finding, in the format of the surface."""
    from random import Random

    server = FaultServer(contract, Schedule(Script((Fault("absent"),)), Random(0)))
    asked = Request("GET", ROUTES[envelope])
    response = server.answer(asked).response
    assert response.status == 404
    known = contract.taxonomy.envelopes[envelope]
    assert dict(response.headers)["Content-Type"] == known.media_types[0]
    judgement = judge(contract, Exchange(asked, response))
    assert [(each.clause, each.message) for each in judgement.findings] == []
    assert judgement.code == "absent"
