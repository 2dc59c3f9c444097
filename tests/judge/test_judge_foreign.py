"""The judge of foreign parts: bodies that pass through, other codes, unknown operations."""

import json
from functools import cache
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import load, read
from paths import ROOT
from support.examples import examples

EXAMPLES = ROOT / "examples"


@cache
def of(system: str) -> Contract:
    """The contract of one of the examples."""
    loaded = load(str(EXAMPLES / system / "taxonomy.yaml"))
    assert loaded.taxonomy is not None, loaded.diagnostics
    return build_contract(loaded.taxonomy)


@cache
def made(text: str) -> Contract:
    """The contract of a taxonomy given as text, below a common head."""
    loaded = read("faultspec: 1\ntaxonomy: {name: t, version: 1.0.0}\n" + dedent(text), "t.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return build_contract(loaded.taxonomy)


def answer(
    rules: Contract,
    request: str,
    status: int | None,
    body: object,
    media_type: str = "application/json",
    **known: str,
) -> Judgement:
    """The judgement of an answer to a request such as ``POST /v1/messages``."""
    method, _, target = request.partition(" ")
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    response = Response(status, (("Content-Type", media_type),), raw)
    return judge(rules, Exchange(Request(method, target), response, **known))  # type: ignore[arg-type]  # the tests' own keywords


def clauses(judgement: Judgement) -> list[str]:
    """The clauses broken, in order."""
    return [each.clause for each in judgement.findings]


# Bodies that pass through

MESSAGES = "POST /v1/messages"
WHOLE = {
    "class": "network_error",
    "message": "It failed",
    "retriable": False,
    "boundary": "external",
    "audit_id": "audit-1",
}


@pytest.mark.parametrize(
    "body",
    [
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        {
            "error": {
                "message": "Rate limit reached",
                "type": "tokens",
                "param": None,
                "code": "rate_limit_exceeded",
            }
        },
        {"error": {"code": 429, "message": "An upstream that numbers its codes"}},
        {"error": {"code": "no", "message": "No", "details": "An upstream's own"}},
        {"error": {"code": "no"}},
        {"error": {"class": "upstream_class"}},
        {"error": {"class": {"name": "network_error"}}},
        {"error": None},
        {"detail": "network_error"},
        ["network_error"],
        "network_error",
        b"<h1>502</h1>",
        b"",
    ],
)
def test_what_is_nobodys_of_ours_passes(body: object) -> None:
    """An upstream's body has no finding and gives no occasion to check an envelope."""
    found = answer(
        of("aileron"),
        MESSAGES,
        502,
        body,
        "text/html" if isinstance(body, bytes) else "application/json",
    )
    assert (clauses(found), found.code) == ([], None)
    assert not any(each.startswith(("envelope/", "code/")) for each in found.exercised)


@pytest.mark.parametrize(
    ("body", "broken"),
    [
        ({"error": WHOLE}, []),
        ({"error": {"class": "network_error"}}, ["envelope/shape"]),
        (
            {"error": {**WHOLE, "boundary": "sandbox"}, "type": "error"},
            ["boundary/allowed", "envelope/additional"],
        ),
        ({"error": {"class": "approval_denied"}}, ["code/reserved", "envelope/shape"]),
        ({"error": {**WHOLE, "class": "unheard_of"}}, ["code/declared"]),
        ({"error": "x"}, ["envelope/shape"]),
        ({"error": "network_error"}, ["envelope/shape"]),
        ({"error": ""}, ["envelope/shape"]),
        ({"error": {"code": "not_found", "message": "There is none"}}, ["envelope/shape"]),
        (
            {"error": {"code": "no", "message": "No", "details": [{"a": 1}], "request_id": "r-1"}},
            ["envelope/shape", "envelope/types"],
        ),
    ],
)
def test_a_body_that_resembles_an_envelope_is_judged(body: object, broken: list[str]) -> None:
    """A body with a declared code, a string in its place, or another envelope's shape is judged."""
    assert clauses(answer(of("aileron"), MESSAGES, 502, body)) == broken


def test_what_is_ours_has_our_media_type() -> None:
    """A recognized envelope travels as declared; foreign bodies have no rules."""
    found = answer(of("aileron"), MESSAGES, 502, {"error": WHOLE}, "text/plain")
    assert clauses(found) == ["envelope/media-type"]


def test_a_string_that_is_declared_is_an_envelope() -> None:
    """If an alternative has a string in that place, the string is its code."""
    rules = made("""
        envelopes:
          failure: {shape: {error: {class: $code, message: $message}}}
          short: {shape: {error: $code}}
        surfaces: {proxy: {transport: http, envelope: [failure, short], reason: upstreams}}
        codes: {down: {summary: Down., http: 502, retriable: none}}
    """)
    assert clauses(answer(rules, "GET /", 502, {"error": "down"})) == []
    assert clauses(answer(rules, "GET /", 502, {"error": "x"})) == ["code/declared"]


def test_a_list_of_errors_is_ours_by_any_of_them() -> None:
    """One declared code in a list of errors makes the list ours; so does a list of strings."""
    rules = made("""
        envelopes: {failures: {shape: {errors: [{code: $code, message: $message}]}}}
        surfaces: {proxy: {transport: http, envelope: failures, reason: upstreams}}
        codes: {down: {summary: Down., http: 502, retriable: none}}
    """)
    assert (
        clauses(answer(rules, "GET /", 502, {"errors": [{"code": "theirs"}, {"code": "also"}]}))
        == []
    )
    assert "envelope/shape" in clauses(
        answer(rules, "GET /", 502, {"errors": [{"code": "theirs"}, {"code": "down"}]})
    )
    assert clauses(answer(rules, "GET /", 502, {"errors": ["down"]})) == ["envelope/shape"]


BOTH = """
envelopes: {{failure: {{shape: {{error: {{class: $code, message: $message, retriable?: $retriable, details?: $details}}}}}}}}
surfaces: {{proxy: {{transport: http, envelope: failure{reason}}}}}
codes:
  down: {{summary: Down., http: 502, retriable: true, details: {{for?: {{type: integer}}}}}}
  gone: {{summary: Gone., http: 410, retriable: false}}
"""
scalars = (
    st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from(["down", "gone", "theirs", ""])
)
members = st.dictionaries(
    st.sampled_from(["class", "message", "retriable", "details", "for"]), scalars | st.just({})
)
bodies = (
    scalars
    | members
    | st.fixed_dictionaries(
        {"error": scalars | members | st.lists(scalars, max_size=2)}, optional={"type": scalars}
    )
)


@given(bodies, st.sampled_from([410, 502]))
@examples(300)
def test_a_body_passes_or_is_judged_like_everywhere(body: object, status: int) -> None:
    """A body that passes has no declared code; any other is judged as if none could pass."""
    through = answer(made(BOTH.format(reason=", reason: upstreams")), "GET /", status, body)
    strictly = answer(made(BOTH.format(reason="")), "GET /", status, body)
    error = body.get("error") if isinstance(body, dict) else None
    code = error.get("class") if isinstance(error, dict) else None
    ours = isinstance(error, str) or (isinstance(code, str) and code in ("down", "gone"))
    if ours or "envelope/shape" not in clauses(strictly):
        assert through == strictly
    else:
        assert (clauses(through), through.code) == ([], None)


# Codes of another namespace


@pytest.mark.parametrize("code", ["hash_mismatch", "network_error", "approval_denied", "not_found"])
@pytest.mark.parametrize("status", [400, 409, 500])
def test_a_code_that_only_looks_like_ours_is_not_judged_as_ours(code: str, status: int) -> None:
    """On a foreign surface with an envelope, no clause that depends on the code applies."""
    body = {"error": {"code": code, "message": "the bytes differ", "details": [{"path": "a"}]}}
    found = answer(of("aileron"), "POST /v1/intents", status, body)
    assert (clauses(found), found.code) == (["service/no-crash"] if status == 500 else [], None)
    keyed = ("code/", "retriable/", "boundary/", "details/")
    assert not any(each.startswith(keyed) for each in found.exercised)
    assert {"envelope/shape", "envelope/types"} <= found.exercised


def test_the_shape_of_another_namespace_is_still_held_to() -> None:
    """Such an envelope keeps its shape, its types, and a string as code."""
    for error, broken in (
        ({"code": "x"}, ["envelope/shape"]),
        ({"code": "x", "message": ""}, ["envelope/types"]),
        ({"code": {}, "message": "m"}, ["envelope/types"]),
        ({"code": "x", "message": "m", "details": {}}, ["envelope/types"]),
    ):
        assert clauses(answer(of("aileron"), "GET /v1/intents", 409, {"error": error})) == broken


SURFACES = """
envelopes: {{ours: {{shape: {{code: $code}}}}, theirs: {{shape: {{error: $code}}}}}}
surfaces:
  api: {{transport: http, match: {{routes: ["/api/**"]}}, envelope: ours, codes: {api}}}
  crud: {{transport: http, match: {{routes: ["/crud/**"]}}, envelope: {envelope}, codes: {crud}}}
codes: {{gone: {{summary: Gone., http: 410, retriable: none}}, down: {{summary: Down., http: 502, retriable: none}}}}
operations:
  drop: {{match: {{routes: [DELETE /crud/all]}}, errors: {{kept: {{summary: Kept., http: 423, retriable: none}}}}}}
  find: {{match: {{routes: [GET /crud/one]}}, codes: [gone]}}
"""


@pytest.mark.parametrize(
    ("api", "crud", "envelope", "judged"),
    [
        ("closed", "foreign", "theirs", False),
        ("[gone]", "foreign", "theirs", False),
        ("closed", "foreign", "ours", False),
        ("closed", "open", "theirs", True),
        ("closed", "[gone, down]", "theirs", True),
        ("closed", "closed", "theirs", True),
        ("closed", "open", "ours", True),
        ("open", "open", "theirs", True),
    ],
)
def test_the_surfaces_declare_whose_codes_they_carry(
    api: str, crud: str, envelope: str, judged: bool
) -> None:
    """Codes are foreign only on a surface with `foreign`; an open one recognizes declared codes."""
    rules = made(SURFACES.format(api=api, crud=crud, envelope=envelope))
    body = {"error" if envelope == "theirs" else "code": "gone"}
    found = answer(rules, "POST /crud/x", 409, body)
    assert clauses(found) == (["code/status"] if judged else [])
    assert found.code == ("gone" if judged else None)


def test_an_operation_brings_its_codes_to_any_surface() -> None:
    """A code that an operation declares or lists is recognized even on a foreign surface."""
    rules = made(SURFACES.format(api="closed", crud="foreign", envelope="theirs"))
    assert clauses(answer(rules, "DELETE /crud/all", 409, {"error": "kept"})) == ["code/status"]
    assert clauses(answer(rules, "DELETE /crud/all", 409, {"error": "gone"})) == []
    assert clauses(answer(rules, "GET /crud/one", 409, {"error": "gone"})) == ["code/status"]
    assert clauses(answer(rules, "GET /crud/one", 409, {"error": "down"})) == []


# Operations that are not known


@pytest.mark.parametrize(
    ("transport", "target", "known", "broken"),
    [
        ("event", "fs/readFile", {}, []),
        ("event", "vastai/createMachine", {}, ["code/operation"]),
        ("event", "other/tool", {}, ["code/operation"]),
        ("event", "", {}, []),
        ("http", "/call", {}, []),
        ("http", "/call", {"route": "/call", "operation": "POST /call"}, []),
    ],
)
def test_the_code_of_one_operation_is_refused_where_another_is_known(
    transport: str, target: str, known: dict[str, str], broken: list[str]
) -> None:
    """If a gateway's request does not name its operation, no clause about it is exercised."""
    payload = {
        "code": "FILE_NOT_FOUND",
        "message": "m",
        "retryable": False,
        "details": {"path": "/a"},
    }
    body = (
        {"type": "call.error", "id": "1", "payload": payload} if transport == "event" else payload
    )
    status = 404 if transport == "http" else None
    found = answer(of("alknet"), f"POST {target}", status, body, transport=transport, **known)
    assert clauses(found) == broken
    assert "code/declared" in found.exercised


ROUTED = """
envelopes: {e: {shape: {code: $code}}}
surfaces: {api: {transport: http, envelope: e, codes: OPEN}}
codes: {gone: {summary: Gone., http: 410, retriable: none}}
operations:
  read: {match: {routes: ["GET /files/{id}"]}, errors: {LOST: {summary: Lost., http: 404, retriable: none}}}
  copy: {match: {routes: ["POST /files"]}, codes: [gone], errors: {LOST: {summary: Lost., http: 409, retriable: none}}}
  list: {match: {routes: ["GET /files"]}}
"""


@pytest.mark.parametrize("codes", ["open", "closed"])
@pytest.mark.parametrize(
    ("request_line", "status", "known", "broken", "exercised"),
    [
        ("GET /files/7", 404, {}, [], True),
        ("GET /files/7", 409, {}, ["code/status"], True),
        ("POST /files", 409, {}, [], True),
        ("GET /files", 404, {}, ["code/operation"], True),
        ("GET /elsewhere", 404, {}, [], False),
        ("GET /v2/files/7", 404, {}, [], False),
        ("GET /elsewhere", 404, {"route": "/elsewhere"}, ["code/operation"], True),
        ("GET /elsewhere", 404, {"operation": "GET /elsewhere"}, ["code/operation"], True),
        (
            "GET /v2/files/7",
            404,
            {"route": "/files/{id}", "operation": "GET /files/{id}"},
            [],
            True,
        ),
    ],
)
def test_an_operation_is_known_by_its_route(
    codes: str,
    request_line: str,
    status: int,
    known: dict[str, str],
    broken: list[str],
    exercised: bool,
) -> None:
    """On HTTP a code of one operation is a finding on any other known route."""
    found = answer(
        made(ROUTED.replace("OPEN", codes)), request_line, status, {"code": "LOST"}, **known
    )
    assert clauses(found) == broken
    assert ("code/operation" in found.exercised) is exercised


def test_a_surface_that_lists_nothing_exercises_nothing() -> None:
    """A shared code is checked against a known operation, or a surface that lists codes."""
    for codes, target, exercised in (
        ("open", "/x", False),
        ("closed", "/x", True),
        ("open", "/files", True),
    ):
        found = answer(made(ROUTED.replace("OPEN", codes)), f"GET {target}", 410, {"code": "gone"})
        assert clauses(found) == []
        assert ("code/operation" in found.exercised) is exercised
