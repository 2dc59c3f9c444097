"""The judge reads bodies in the format of their media type, and HEAD by its headers."""

import sys

import cbor2
import pytest

from faultspec import language
from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge

HEAD = """
faultspec: 1
taxonomy: {name: stores, version: 1.0.0, title: Stores, owner: stores}
domains: {request: The caller can mend it., service: Ours.}
detail_keys:
  Size: {type: integer, summary: The size in bytes.}
"""
SURFACES = """
surfaces:
  api: {transport: http, error_when: {status: [4xx, 5xx], present: /error}, envelope: [%s], codes: closed}
codes:
  NoSuchKey: {summary: The key is not there., domain: request, http: 404, details: {Size?: {type: integer}}}
  SlowDown: {summary: Too fast., domain: service, http: 503, headers: {Retry-After: required}}
"""
ENVELOPES = {
    "xml": """
    media_type: [application/xml, text/xml]
    shape: {Error: {Code: $code, Message: $message, "Retry?": $retry, "...": $details}}
    fields: {retry: {type: integer}}
    additional: forbid
""",
    "form": """
    media_type: application/x-www-form-urlencoded
    shape: {error: $code, "error_description?": $message, "interval?": $interval}
    fields: {interval: {type: integer}}
    additional: forbid
""",
    "plain": """
    media_type: text/plain
    shape: "${code}: ${message}"
""",
    "lines": """
    media_type: application/x-ndjson
    shape: {error: {code: $code, message: $message}}
    additional: forbid
""",
    "cbor": """
    media_type: application/concise-problem-details+cbor
    shape: {"-1": $code, "-2": $message}
    additional: forbid
""",
    "json": """
    shape: {code: $code, message: $message}
    additional: forbid
""",
    "unread": """
    media_type: application/x-protobuf
    shape: {"code?": $code, message: $message}
    fields: {code: {places: [{header: X-Code}, /code]}}
""",
    "decided": """
    shape: {detail: $message}
    fields: {code: {places: [status]}}
""",
    "headed": """
    shape: {"code?": $code, message: $message}
    fields: {code: {places: [{header: X-Code}, /code]}}
""",
}


def contract(*names: str, head: str = HEAD) -> Contract:
    """A taxonomy with these envelopes on its one surface."""
    drawn = "".join(f"  {name}:{ENVELOPES[name]}" for name in names)
    loaded = language.read(
        f"{head}envelopes:\n{drawn}{SURFACES % ', '.join(names)}", "taxonomy.yaml"
    )
    assert loaded.taxonomy is not None, loaded.diagnostics
    return build_contract(loaded.taxonomy)


def answer(
    known: Contract,
    body: bytes,
    media_type: str | None,
    status: int = 404,
    method: str = "GET",
    **headers: str,
) -> Judgement:
    """The judgement of an answer."""
    kind = () if media_type is None else (("Content-Type", media_type),)
    more = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return judge(known, Exchange(Request(method, "/x"), Response(status, (*kind, *more), body)))


def clauses(judgement: Judgement) -> list[str]:
    """The clauses that are broken."""
    return [finding.clause for finding in judgement.findings]


def xml(inner: str) -> bytes:
    """An error of an object store."""
    return f'<?xml version="1.0"?>\n<Error xmlns="http://s3.example/">{inner}</Error>'.encode()


SOUND = "<Code>NoSuchKey</Code><Message>Not there</Message>"


@pytest.mark.parametrize(
    ("body", "broken"),
    [
        (xml(SOUND), []),
        (xml(f"{SOUND}<Retry>4</Retry><Size>12</Size>"), []),
        (xml("<Code>NoSuchKey</Code>"), ["envelope/shape"]),
        (xml("<Code>NoSuchThing</Code><Message>x</Message>"), ["code/declared"]),
        (xml("<Code>SlowDown</Code><Message>x</Message>"), ["code/status", "headers/retry-after"]),
        (xml(f"{SOUND}<Retry>soon</Retry>"), ["envelope/types"]),
        (xml(f"{SOUND}<Size>large</Size>"), ["details/schema"]),
        (b"<Error><Code>NoSuchKey", ["envelope/json"]),
        (b"<html><body>Not found</body></html>", ["envelope/shape"]),
        (b'{"code": "NoSuchKey"}', ["envelope/json"]),
        (b"", ["envelope/json"]),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><Error>&b;</Error>', ["envelope/json"]),
    ],
)
def test_an_error_in_xml_is_judged_like_any_other(body: bytes, broken: list[str]) -> None:
    """Its shape, code, status and details are; texts have the types of their slots."""
    judgement = answer(contract("xml"), body, "application/xml")
    assert clauses(judgement) == broken
    assert judgement.is_error


@pytest.mark.parametrize(
    ("name", "body", "media_type", "broken"),
    [
        ("form", b"error=NoSuchKey&error_description=not+there&interval=5", "", []),
        ("form", b"error=NoSuchKey&interval=often", "", ["envelope/types"]),
        ("form", b"error=Other", "", ["code/declared"]),
        ("form", b"error=NoSuchKey&more=1", "", ["envelope/additional"]),
        ("form", b"Not found", "", ["envelope/json"]),
        ("plain", b"NoSuchKey: not there\n", "", []),
        ("plain", b"Other: not there", "", ["code/declared"]),
        ("plain", b"not there", "", ["envelope/shape"]),
        ("plain", b"\xff\xfe", "", ["envelope/json"]),
        ("cbor", cbor2.dumps({-1: "NoSuchKey", -2: "not there"}), "", []),
        ("cbor", cbor2.dumps({-1: "NoSuchKey"}), "", ["envelope/shape"]),
        ("cbor", b"\xff", "", ["envelope/json"]),
        ("lines", b'{"error": {"code": "NoSuchKey", "message": "x"}}\n', "", []),
        ("lines", b'{"error": {"code": "NoSuchKey"}}\n', "", ["envelope/shape"]),
        ("lines", b'{"error": \n', "", ["envelope/json"]),
    ],
)
def test_every_format_is_judged(name: str, body: bytes, media_type: str, broken: list[str]) -> None:
    """Good and bad errors of each format."""
    known = contract(name)
    (envelope,) = known.taxonomy.envelopes.values()
    judgement = answer(known, body, envelope.media_types[0])
    assert clauses(judgement) == broken


def test_each_line_that_is_an_error_is_judged() -> None:
    """A 200 whose later lines are errors is an error, without findings about its status or its
    headers; each line is judged, and has its own place.
    """
    lines = [
        b'{"row": 1}',
        b'{"error": {"code": "SlowDown", "message": "x"}}',
        b'{"error": {"code": "Other", "message": "x"}}',
        b'{"error": {"code": "NoSuchKey"}}',
    ]
    known = contract("lines")
    judgement = answer(known, b"\n".join(lines), "application/x-ndjson", 200)
    assert judgement.is_error
    assert judgement.code == "SlowDown"
    assert [(each.clause, each.pointer) for each in judgement.findings] == [
        ("code/declared", "/2/error/code"),
        ("envelope/shape", "/3/error/message"),
    ]
    plain = answer(known, b'{"row": 1}\n{"row": 2}\n', "application/x-ndjson", 200)
    assert not plain.is_error
    assert not plain.findings


def test_an_answer_is_read_as_the_envelope_of_its_media_type() -> None:
    """Of several envelopes the one counts that has the media type, and if none has it, the format
    that reads the body; then the media type is a finding.
    """
    known = contract("xml", "json", "plain")
    sound = b'{"code": "NoSuchKey", "message": "x"}'
    assert not answer(known, sound, "application/json").findings
    assert not answer(known, xml(SOUND), "text/xml; charset=utf-8").findings
    assert not answer(known, b"NoSuchKey: x", "text/plain").findings
    assert clauses(answer(known, sound, "application/xml")) == ["envelope/json"]
    assert clauses(answer(known, sound, "text/html")) == ["envelope/media-type"]
    assert clauses(answer(known, xml(SOUND), None)) == ["envelope/media-type"]


def test_a_success_in_xml_that_is_an_error_is_found() -> None:
    """A 200 with the envelope of an error is not a success."""
    judgement = answer(contract("xml"), xml(SOUND), "application/xml", 200)
    assert clauses(judgement) == ["envelope/absent-on-success"]


def test_a_body_that_no_codec_reads_is_undecided() -> None:
    """Its clauses are undecided, with the reason, and none is broken; its headers are judged."""
    known = contract("unread")
    judgement = answer(known, b"\x08\x01", "application/x-protobuf", X_Code="NoSuchKey")
    assert judgement.code == "NoSuchKey"
    assert not judgement.findings
    assert "application/x-protobuf" in judgement.undecided["envelope/shape"]
    assert "envelope/shape" not in judgement.exercised
    other = answer(known, b"\x08\x01", "application/x-protobuf", X_Code="Other")
    assert clauses(other) == ["code/declared"]
    assert clauses(answer(known, b"\x08\x01", "text/html")) == ["envelope/media-type"]


def test_without_its_package_cbor_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that is not installed is never a mistake of the service."""
    body = cbor2.dumps({-1: "NoSuchKey"})
    known = contract("cbor")
    monkeypatch.setitem(sys.modules, "cbor2", None)
    judgement = answer(known, body, "application/concise-problem-details+cbor")
    assert not judgement.findings
    assert "`cbor2` is not installed" in judgement.undecided["envelope/shape"]


@pytest.mark.parametrize(
    ("name", "headers", "code", "broken"),
    [
        ("decided", {}, "NoSuchKey", []),
        ("headed", {"X_Code": "NoSuchKey"}, "NoSuchKey", []),
        ("headed", {"X_Code": "SlowDown"}, "SlowDown", ["code/status", "headers/retry-after"]),
        ("headed", {"X_Code": "Other"}, None, ["code/declared"]),
        ("headed", {}, None, []),
        ("json", {}, None, []),
    ],
)
def test_head_is_judged_by_its_headers(
    name: str, headers: dict[str, str], code: str | None, broken: list[str]
) -> None:
    """The code that a header has or the status decides is judged without a body."""
    judgement = answer(contract(name), b"", "application/json", method="HEAD", **headers)
    assert judgement.code == code
    assert clauses(judgement) == broken


@pytest.mark.parametrize(
    ("media_type", "broken"),
    [(None, []), ("application/json", []), ("text/html", ["envelope/media-type"])],
)
def test_head_has_the_media_type_of_its_envelope(media_type: str | None, broken: list[str]) -> None:
    """If it has any: a header that only the content decides may be left out (RFC 9110, 9.3.2)."""
    assert clauses(answer(contract("json"), b"", media_type, method="HEAD")) == broken


def test_the_status_decides_nothing_on_head_where_a_body_might() -> None:
    """With several envelopes, or the body before the status, the code of HEAD is unknown."""
    known = contract("decided", "json")
    assert answer(known, b"", "application/json", method="HEAD").code is None


WEB = """
faultspec: 1
taxonomy: {name: web, version: 1.0.0}
envelopes:
  trailers:
    media_type: application/grpc-web+proto
    shape: {}
    fields:
      code: {places: [{header: grpc-status}]}
      message: {places: [{header: grpc-message}]}
      left: {type: integer, places: [{header: X-Left}]}
  line:
    media_type: application/x-ndjson
    shape: {error: $message}
    fields: {code: {places: [status]}}
surfaces:
  rpc: {transport: http, match: {routes: [POST /rpc]}, error_when: {status: 200}, envelope: trailers, codes: closed}
  api: {transport: http, error_when: {status: 4xx, present: /error}, envelope: line, codes: closed}
codes:
  gone: {summary: It is gone., wire: 5, http: %s, facts: {left: 3}}
"""


@pytest.mark.parametrize(
    ("headers", "code", "broken"),
    [
        ({"grpc_status": "5", "X_Left": "3"}, "gone", []),
        ({"grpc_status": "6"}, None, ["code/declared"]),
        ({"grpc_status": "5", "X_Left": "4"}, "gone", ["boundary/allowed"]),
        ({"grpc_status": "5", "X_Left": "few"}, "gone", ["envelope/types"]),
    ],
)
def test_an_error_under_a_success_is_judged_by_its_headers(
    headers: dict[str, str], code: str | None, broken: list[str]
) -> None:
    """Where a status of successes tells an error, a body that no codec reads is undecided, and
    headers have the values of their slots, with their types.
    """
    taxonomy = language.read(WEB % "200", "web.yaml").taxonomy
    assert taxonomy is not None
    kind = ("Content-Type", "application/grpc-web+proto")
    more = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    sent = Response(200, (kind, *more), b"\x80\x00")
    found = judge(build_contract(taxonomy), Exchange(Request("POST", "/rpc"), sent))
    assert (found.code, clauses(found)) == (code, broken)


@pytest.mark.parametrize(("http", "code"), [("[200, 404]", "gone"), ("404", None)])
def test_the_status_of_a_late_error_decides_its_code_or_nothing(http: str, code: str) -> None:
    """The status was sent before the error: it decides a code that declares it, and otherwise
    leaves the code open.
    """
    taxonomy = language.read(WEB % http, "web.yaml").taxonomy
    assert taxonomy is not None
    found = answer(build_contract(taxonomy), b'{"error": "m"}\n', "application/x-ndjson", 200)
    assert (found.code, clauses(found)) == (code, [])


CALLS = """
faultspec: 1
taxonomy: {name: calls, version: 1.0.0}
envelopes: {error: {shape: {code: $code}}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
codes: {denied: {summary: It is denied., http: 403}}
operations:
  put: {match: {request: {%s: [Put, 7]}}, errors: {full: {summary: It is full., http: 409}}}
"""


@pytest.mark.parametrize(
    ("pointer", "media_type", "body", "claimed"),
    [
        ("/Action", "application/x-www-form-urlencoded", b"Action=Put&Name=a", True),
        ("/Action", "application/x-www-form-urlencoded; charset=utf-8", b"Action=7", True),
        ("/Action", "application/x-www-form-urlencoded", b"Action=Get", False),
        ("/Action", "application/x-www-form-urlencoded", b'{"Action": "Put"}', False),
        ("/Call/Action", "text/xml", b"<Call><Action>Put</Action></Call>", True),
        ("/Call/Action", "text/xml", b"<Call><Action>Put</Action>", False),
        ("/Action", "application/cbor", cbor2.dumps({"Action": 7}), True),
        ("/Action", "application/cbor", cbor2.dumps({"Action": "7"}), False),
        ("/Action", "application/json", b'{"Action": 7}', True),
        ("/Action", "application/json", b'{"Action": "7"}', False),
        ("/Action", None, b'{"Action": "Put"}', True),
        ("/Action", "application/octet-stream", b'{"Action": "Put"}', True),
    ],
)
def test_an_operation_is_found_by_a_body_of_any_format(
    pointer: str, media_type: str | None, body: bytes, claimed: bool
) -> None:
    """The members of a request are read in the format of its media type, else in JSON. In a format
    of texts the number 7 is its text.
    """
    taxonomy = language.read(CALLS % pointer, "calls.yaml").taxonomy
    assert taxonomy is not None
    sent = () if media_type is None else (("Content-Type", media_type),)
    request = Request("POST", "/", sent, body)
    response = Response(409, (("Content-Type", "application/json"),), b'{"code": "full"}')
    found = judge(build_contract(taxonomy), Exchange(request, response))
    assert (found.code == "full") is claimed
