"""Law 9 on five shapes of the wire: a generated JSON Schema accepts a body exactly when the judge's
envelope clauses are silent.
"""

import copy
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import load, read
from faultspec.language.model import Schema, Surface
from faultspec.render import render
from faultspec.targets import SHIPPED, schema
from paths import ROOT
from support.bodies import SCHEMA_CLAUSES
from support.examples import examples

TAXONOMIES = [ROOT / "taxonomy.yaml", *sorted((ROOT / "tests/taxonomies").glob("*.yaml"))]


@cache
def loaded(path: Path) -> tuple[Contract, dict[str, Draft202012Validator], tuple[object, ...]]:
    """The contract of a taxonomy, the schema of each envelope, and good bodies to begin with."""
    found = load(str(path))
    assert found.taxonomy is not None, found.diagnostics
    tree = render(found.taxonomy, [SHIPPED["jsonschema"], SHIPPED["openapi"]], path.name)
    schemas = {
        name: Draft202012Validator(json.loads(tree[f"jsonschema/{name}.schema.json"]))
        for name in found.taxonomy.envelopes
    }
    examples = json.loads(tree["openapi/openapi-3.1.json"])["components"].get("examples", {})
    bodies = [each["value"] for each in examples.values()]
    if path.stem == "theodosia":
        bodies = [
            {
                "error": "invalid_transition",
                "requested": "pay",
                "valid_next_actions": ["x"],
                "message": "m",
            },
            {
                "error": "timeout_error",
                "requested": "pay",
                "valid_next_actions": [],
                "timeout_seconds": 1,
            },
        ]
    if path.stem == "keenbench":
        data = {
            "error_code": "DISK_FULL",
            "phase": "publish",
            "retryable": False,
            "actions": ["open_settings"],
        }
        bodies = [
            data,
            {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "m", "data": data}},
        ]
    return build_contract(found.taxonomy), schemas, tuple(bodies)


def exchange(surface: Surface, contract: Contract, body: object) -> Exchange:
    """An answer that this surface claims, with the body."""
    status = 404 if surface.transport == "http" else None
    target = (
        surface.match.tools
        or tuple(each.replace("**", "x") for each in surface.match.routes)
        or ("/x",)
    )[0]
    content = Response(status, (("Content-Type", "application/json"),), json.dumps(body).encode())
    return Exchange(Request("GET", target), content, transport=surface.transport)  # type: ignore[arg-type]


def of_operations(contract: Contract) -> set[str | int]:
    """The wire values of codes that belong to single operations."""
    return {
        code.wire for each in contract.taxonomy.operations.values() for code in each.errors.values()
    }


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where something stands in a body."""
    yield path
    if isinstance(value, dict):
        for name, each in value.items():
            yield from places(each, (*path, name))
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from places(each, (*path, index))


def changed(body: object, path: tuple[str | int, ...], change: tuple[str, object]) -> object:
    """The body with one value replaced, removed, or given a neighbour."""
    verb, value = change
    if not path:
        return value if verb == "set" else body
    body = copy.deepcopy(body)
    parent: object = body
    for step in path[:-1]:
        parent = parent[step]  # type: ignore[index]
    if isinstance(parent, dict):
        name = str(path[-1])
        if verb == "drop":
            parent.pop(name, None)
        else:
            parent["stranger" if verb == "add" else name] = value
    elif isinstance(parent, list):
        if verb == "drop":
            parent.clear()
        elif verb == "add":
            parent.append(copy.deepcopy(parent[-1]) if value is None else value)
        else:
            parent[int(path[-1])] = value
    return body


WORDS = """
    x audit-1 a b capability_denied binding_failed approval_denied external_api_error sandbox action DISK_FULL blob retry
    FILE_NOT_FOUND open_settings resume PROVIDER_RATE_LIMITED invalid_transition publish workshop sha256:0 https://errors.example.com/104?d=blob
"""
OTHERS = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2.5,
    104,
    105,
    999,
    "",
    [],
    ["x"],
    [1],
    {},
    {"x": 1},
    {"host": "b"},
]
DETAILS = [
    {"status": 429},
    {"from": None},
    {"path": "p"},
    {"existing_id": "7"},
    {"retryable": True},
]
values = st.sampled_from(WORDS.split()) | st.sampled_from(OTHERS) | st.sampled_from(DETAILS)
changes = st.lists(
    st.tuples(st.integers(0, 40), st.sampled_from(["set", "set", "drop", "add"]), values),
    max_size=3,
)


@given(st.sampled_from(TAXONOMIES), st.integers(0, 40), changes)
@examples(500)
def test_the_judge_and_the_schemas_agree(
    path: Path, chosen: int, edits: list[tuple[int, str, object]]
) -> None:
    """Whatever is done to a good body, the schema and the judge are of one mind about it."""
    contract, schemas, bodies = loaded(path)
    body: object = bodies[chosen % len(bodies)]
    for where, verb, value in edits:
        spots = list(places(body))
        body = changed(body, spots[where % len(spots)], (verb, value))
    for surface in contract.taxonomy.surfaces.values():
        if surface.batch or len(surface.envelopes) != 1 or surface.requires_details:
            continue
        codecs = contract.taxonomy.envelopes[surface.envelopes[0]].codecs
        if any(codec.name != "JSON" for codec in codecs):
            continue  # the body is JSON
        judged = judge(contract, exchange(surface, contract, body))
        if judged.surface != surface.name or not judged.is_error:
            continue
        if any(json.dumps(wire) in json.dumps(body) for wire in of_operations(contract)):
            # the code of an operation, in an exchange that names none: its details are not known
            continue
        if any(each.clause == "envelope/status" for each in judged.findings):
            # not the status that it came with: the schema knows those of the code, and not which it
            # was
            continue
        findings = [
            each
            for each in judged.findings
            if each.clause in SCHEMA_CLAUSES and each.level == "error"
        ]
        valid = schemas[surface.envelopes[0]].is_valid(body)
        assert valid == (not findings), (surface.name, body, [each.message for each in findings])


SUGGESTING = """
faultspec: 1
taxonomy: {name: suggesting, version: 1.0.0}
actions: {retry: {summary: Again., sends_again: true}, edit: Change it., leave: Give up., later: {summary: Not yet., lifecycle: reserved}}
envelopes:
  error: {shape: {code: $code, again?: $retriable, ways?: $actions}, fields: {actions: FIELD}}
  bare: {shape: {error: $code, ways: $actions}}
surfaces:
  api: {transport: http, match: {routes: [/x]}, envelope: error, codes: closed}
  rest: {transport: http, envelope: bare, codes: closed}
codes:
  any: {summary: Any., http: 404, retriable: caller}
  some: {summary: Some., http: 404, retriable: caller, actions: [retry, edit]}
  one: {summary: One., http: 404, retriable: false, actions: [leave]}
  never: {summary: None yet., http: 404, retriable: false, actions: [later]}
"""
FIELDS = (
    "{type: array, items: {type: string, vocabulary: actions}}",
    "{type: [array, 'null'], items: {type: string, enum: [retry, leave]}}",
    "{type: array}",
    "{}",
)


@cache
def suggesting(field: str) -> tuple[Contract, Mapping[str, jsonschema_rs.Draft202012Validator]]:
    """A taxonomy whose codes declare actions, and one whose code does not."""
    found = read(SUGGESTING.replace("FIELD", field), "ways.yaml")
    assert found.taxonomy is not None, found.diagnostics
    tree = render(found.taxonomy, [SHIPPED["jsonschema"]], "ways.yaml")
    return build_contract(found.taxonomy), {
        each: jsonschema_rs.Draft202012Validator(json.loads(tree[f"jsonschema/{each}.schema.json"]))
        for each in found.taxonomy.envelopes
    }


@given(
    field=st.sampled_from(FIELDS),
    envelope=st.sampled_from([("error", "/x"), ("bare", "/y")]),
    code=st.sampled_from(["any", "some", "one", "never"]),
    flag=st.sampled_from([None, True, False]),
    ways=st.lists(st.sampled_from(["retry", "edit", "leave", "later", "dance", 1]), max_size=3)
    | st.none(),
)
@examples(800)
def test_a_code_suggests_its_own_actions(
    field: str, envelope: tuple[str, str], code: str, flag: bool | None, ways: list[object] | None
) -> None:
    """Where a code declares actions its errors suggest some of them and no others, whatever the
    envelope says of the list: schema and judge are of one mind, and one wrong action is one
    finding.
    """
    contract, schemas = suggesting(field)
    name, path = envelope
    slot = "code" if name == "error" else "error"
    body: dict[str, object] = {slot: code, "ways": ways}
    if flag is not None and name == "error":
        body["again"] = flag
    response = Response(404, (("Content-Type", "application/json"),), json.dumps(body).encode())
    judged = judge(contract, Exchange(Request("GET", path), response))
    findings = [
        each for each in judged.findings if each.level == "error" and each.clause in SCHEMA_CLAUSES
    ]
    assert schemas[name].is_valid(body) == (not findings), (
        body,
        [each.message for each in findings],
    )
    own = contract.taxonomy.codes[code].actions
    if ways is not None and own:
        for index in (index for index, each in enumerate(ways) if each not in own):
            assert len([each for each in findings if each.pointer == f"/ways/{index}"]) == 1


def test_what_30_has_no_word_for() -> None:
    """3.0 has no word for null, const, lists of types and exclusive numbers; what replaces them
    accepts the same.
    """
    assert schema.openapi30({"type": ["string", "null"]}) == {"type": "string", "nullable": True}
    assert schema.openapi30({"const": 1}) == {"enum": [1]}
    assert schema.openapi30({"type": ["string", "integer"]}) == {
        "anyOf": [{"type": "string"}, {"type": "integer"}]
    }
    assert schema.openapi30({"exclusiveMinimum": 0}) == {"minimum": 0, "exclusiveMinimum": True}
    assert schema.openapi30({"properties": {"const": {"const": None}}, "$comment": "x"}) == {
        "properties": {"const": {"enum": [None]}}
    }
    assert schema.openapi30({"$ref": "#/x", "description": "y"}) == {"$ref": "#/x"}
    assert schema.openapi30(False) == {"not": {}}
    assert schema.openapi30(True) == {}


def test_formats_are_patterns() -> None:
    """Identifier formats hold in any validator, as each is a pattern; other formats remain an
    annotation.
    """
    contract, _, _ = loaded(ROOT / "taxonomy.yaml")
    found = schema.value_schema(
        Schema(types=("string",), format=("uuid7", "ulid")), contract.taxonomy
    )
    validator = Draft202012Validator(found)
    assert validator.is_valid("01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T")
    assert not validator.is_valid("01JAH8ZJ0Z8Z0N7M1X6JZ8QW0U!")
    assert schema.value_schema(Schema(format=("uri",)), contract.taxonomy) == {"format": "uri"}


CONDITIONS = """
faultspec: 1
taxonomy: {name: rules, version: 1.0.0, title: Rules}
detail_keys:
  retryable: {type: boolean, role: retriable}
  status: {type: [integer, string, "null"]}
  reason: {type: string}
envelopes:
  error:
    shape: {error: {code: $code, status: $status, message: $message, retriable?: $retriable, details?: $details}}
surfaces:
  api: {transport: http, envelope: error, codes: closed}
fallback:
  4xx: {code: refused, reason: Whatever else.}
  44x: {code: odd, reason: A narrower one.}
codes:
  refused: {summary: Refused., http: 400, retriable: false}
  odd: {summary: Odd., http: 409, retriable: false}
  missing: {summary: Missing., http: [404, 410], retriable: none, client_action: none}
  upstream:
    summary: Upstream.
    http: [{if: {details.reason: slow}, status: 504}, {if: {cause: dns}, status: 503}, {else: 502}]
    retriable: {when: [{if: {details.reason: gone}, then: false}, {if: {details.status: [429, 5xx]}, then: true}], else: false}
    details: {reason?: {}, status?: {}, retryable?: {}}
  decided:
    summary: Decided by what nobody sees, or by the status.
    http: 500-509
    retriable: {when: [{if: {cause: x}, then: true}, {if: {status: 503}, then: true}, {if: {details.reason: a, details.status: b}, then: false}], else: true}
    details: {reason?: {}, status?: {}, retryable?: {}}
"""


@cache
def conditional() -> tuple[Contract, jsonschema_rs.Draft202012Validator]:
    """A taxonomy of rules by condition."""
    found = read(CONDITIONS.replace("44x", "440-449"), "rules.yaml")
    assert found.taxonomy is not None, found.diagnostics
    tree = render(found.taxonomy, [SHIPPED["jsonschema"]], "rules.yaml")
    return build_contract(found.taxonomy), jsonschema_rs.Draft202012Validator(
        json.loads(tree["jsonschema/error.schema.json"])
    )


@given(
    code=st.sampled_from(["refused", "odd", "missing", "upstream", "decided"]),
    status=st.sampled_from([400, 404, 405, 409, 410, 440, 449, 450, 500, 502, 503, 504, 509, 510]),
    flag=st.sampled_from([None, True, False]),
    details=st.dictionaries(
        st.sampled_from(["reason"]), st.sampled_from(["slow", "gone", "a", "z"])
    ).flatmap(
        lambda known: st.sampled_from([[], [429], [500], [404], ["b"], [None], ["500"]]).map(
            lambda more: known | ({"status": more[0]} if more else {})
        )
    ),
    decided=st.sampled_from([None, True, False]),
)
@examples(1500)
def test_the_schema_knows_the_rules_by_condition(
    code: str, status: int, flag: bool | None, details: dict[str, object], decided: bool | None
) -> None:
    """A flag and a status that conditions decide: the schema accepts exactly what the judge has
    nothing against, where the body shows what they depend on.
    """
    contract, valid = conditional()
    if decided is not None and code in ("upstream", "decided"):
        details = {**details, "retryable": decided}
    inner: dict[str, object] = {"code": code, "status": status, "message": "m"}
    body = {
        "error": inner
        | ({} if flag is None else {"retriable": flag})
        | ({"details": details} if details else {})
    }
    response = Response(status, (("Content-Type", "application/json"),), json.dumps(body).encode())
    judged = judge(contract, Exchange(Request("GET", "/x"), response))
    findings = [
        each
        for each in judged.findings
        if each.level == "error" and each.clause in (*SCHEMA_CLAUSES, "code/status")
    ]
    assert valid.is_valid(body) == (not findings), (body, [each.message for each in findings])


TEXTUAL = """
faultspec: 1
taxonomy: {name: textual, version: 1.0.0}
envelopes: {error: {shape: {errors: [{code: $code, status: "${status}", title: $message, again: "retry=${retriable}"}]}}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
fallback: {4xx: {code: gone, reason: Whatever else.}}
codes: {gone: {summary: Gone., http: [404, 410], retriable: false}}
"""


def test_a_status_inside_a_text_is_text() -> None:
    """Where a picture has the status, or the flag, in a text (JSON:API), schema and judge take that
    text, and no number.
    """
    found = read(TEXTUAL, "textual.yaml")
    assert found.taxonomy is not None, found.diagnostics
    tree = render(found.taxonomy, [SHIPPED["jsonschema"]], "textual.yaml")
    valid = jsonschema_rs.Draft202012Validator(json.loads(tree["jsonschema/error.schema.json"]))
    rules = build_contract(found.taxonomy)
    for status, accepted, clauses in (
        ("410", True, set()),
        ("404", True, {"envelope/status"}),
        (410, False, {"envelope/shape"}),
    ):
        body = {
            "errors": [{"code": "gone", "status": status, "title": "Gone", "again": "retry=false"}]
        }
        response = Response(410, (("Content-Type", "application/json"),), json.dumps(body).encode())
        judged = judge(rules, Exchange(Request("GET", "/x"), response))
        assert valid.is_valid(body) == accepted
        assert {each.clause for each in judged.findings if each.level == "error"} == clauses


RPC = """
faultspec: 1
taxonomy: {name: rpc, version: 1.0.0}
envelopes:
  rpc: {shape: %s, additional: %s}
  own: {shape: {jsonrpc: "2.0", id: $request_id, error: {code: $code, message: $message}}}
surfaces:
  engine:
    transport: jsonrpc
    error_when: {present: %s}
    envelope: rpc
    codes: %s
    protocol: {envelope: own, codes: {-32700: No JSON.}}
codes:
  refused: {summary: Refused.}
"""


@pytest.mark.parametrize("additional", ["forbid", "warn", "allow"])
@pytest.mark.parametrize("codes", ["closed", "open"])
@pytest.mark.parametrize(
    ("shape", "mark"),
    [
        (
            '{jsonrpc: "2.0", id: $request_id, error: {code: -32000, message: $message, data: {why: $code}}}',
            "/error",
        ),
        (
            '{jsonrpc: "2.0", id: $request_id, result: {failure: {why: $code, message: $message}}}',
            "/result/failure",
        ),
    ],
)
def test_a_response_of_json_rpc_has_a_result_or_an_error(
    shape: str, mark: str, codes: str, additional: str
) -> None:
    """Whatever the picture of the envelope and however strict, no response with both members is
    accepted, ours, an undeclared one or the protocol's (JSON-RPC 2.0 section 5); with the one that
    is the error's, each is. The judge says the same, once.
    """

    def broken(body: object) -> list[tuple[str, str | None]]:
        answer = Response(None, (), json.dumps(body).encode())
        judged = judge(rules, Exchange(Request("POST", "step"), answer, transport="jsonrpc"))
        return [(each.clause, each.pointer) for each in judged.findings]

    found = read(RPC % (shape, additional, mark, codes), "rpc.yaml")
    assert found.taxonomy is not None, found.diagnostics
    tree = render(found.taxonomy, [SHIPPED["surfaces"]], "rpc.yaml")
    valid = jsonschema_rs.Draft202012Validator(json.loads(tree["surfaces/engine.schema.json"]))
    rules = build_contract(found.taxonomy)
    frame: dict[str, object] = {"jsonrpc": "2.0", "id": 1}
    for code in ("refused", "no_such_code"):
        if mark == "/error":
            body = {**frame, "error": {"code": -32000, "message": "m", "data": {"why": code}}}
        else:
            body = {**frame, "result": {"failure": {"why": code, "message": "m"}}}
        other = "result" if "error" in body else "error"
        assert valid.is_valid(body) == (code == "refused" or codes == "open")
        assert bool(broken(body)) != valid.is_valid(body)
        for each in (None, {}, 1):
            assert not valid.is_valid({**body, other: each})
            assert broken({**body, other: each}) == sorted(
                [*broken(body), ("envelope/shape", f"/{other}")]
            )
    own = {**frame, "error": {"code": -32700, "message": "m"}}
    assert valid.is_valid(own)
    assert not valid.is_valid({**own, "result": None})
    if mark == "/error":
        assert (broken(own), broken({**own, "result": None})) == (
            [],
            [("envelope/shape", "/result")],
        )


TWINS = """
faultspec: 1
taxonomy: {name: rpc, version: 1.0.0}
envelopes:
  ours: {shape: {jsonrpc: "2.0", id: $request_id, error: {code: $code, message: $message, data?: $details}}}
  far: {shape: {error: $code}}
  theirs:
    shape: {jsonrpc: "2.0", id: $request_id, error: {code: $code, message: $message, data?: $details}}
    fields: {details: {type: [object, string]}}
surfaces:
  engine:
    transport: jsonrpc
    error_when: {present: /error}
    envelope: ours
    codes: %s
    protocol: {envelope: %s, codes: {-32700: No JSON., -32099..-32000: The server's own.}}
  far: {transport: event, error_when: {present: /error}, envelope: far, codes: [gone]}
codes:
  refused: {summary: Refused., wire: -32803, retriable: none}
  within: {summary: One of the range., wire: -32050, retriable: none, details: {why: {type: string}}}
  kept: {summary: Kept., wire: -32051, retriable: none, lifecycle: reserved}
  gone: {summary: Of another surface., wire: -32052, retriable: none, envelope: far}
operations:
  step: {errors: {own: {summary: Its own., wire: -32053, retriable: none}}}
"""


@pytest.mark.parametrize("codes", ["[refused, within, kept]", "open"])
@pytest.mark.parametrize("envelope", ["ours", "theirs"])
@pytest.mark.parametrize(
    ("number", "data", "accepted"),
    [
        (-32803, None, True),
        (-32700, None, True),
        (-32700.0, None, True),
        (-32000, None, True),
        (-32050, {"why": "x"}, True),
        (-32050, {"why": 1}, False),
        (-32050, None, False),
        (-32051, None, False),
        (-32052, None, True),
        (-32053, None, True),
        (-32999, None, None),
        (True, None, False),
        ("refused", None, False),
    ],
)
def test_among_matching_pictures_the_number_decides(
    codes: str, envelope: str, number: object, data: object, accepted: bool | None
) -> None:
    """Whether the protocol's errors share the picture of ours or have one that looks the same, an
    error is ours by the number of a code that may be met there, the protocol's by another of its
    numbers, and undeclared by any third; schema and judge agree.
    """
    found = read(TWINS % (codes, envelope), "rpc.yaml")
    assert found.taxonomy is not None, found.diagnostics
    tree = render(found.taxonomy, [SHIPPED["surfaces"]], "rpc.yaml")
    valid = jsonschema_rs.Draft202012Validator(json.loads(tree["surfaces/engine.schema.json"]))
    error = {"code": number, "message": "m", **({} if data is None else {"data": data})}
    body = {"jsonrpc": "2.0", "id": 1, "error": error}
    judged = judge(
        build_contract(found.taxonomy),
        Exchange(
            Request("POST", "step"),
            Response(None, (), json.dumps(body).encode()),
            transport="jsonrpc",
        ),
    )
    expected = codes == "open" if accepted is None else accepted
    assert (valid.is_valid(body), not any(each.level == "error" for each in judged.findings)) == (
        expected,
        expected,
    )


def test_a_picture_that_the_protocol_shares_is_still_that_of_our_codes() -> None:
    """The schema of an envelope takes the codes that travel in it, although other envelopes have
    errors of this picture.
    """
    found = read(TWINS % ("closed", "ours"), "rpc.yaml")
    assert found.taxonomy is not None, found.diagnostics
    tree = render(found.taxonomy, [SHIPPED["jsonschema"]], "rpc.yaml")
    valid = jsonschema_rs.Draft202012Validator(json.loads(tree["jsonschema/ours.schema.json"]))
    assert valid.is_valid({"jsonrpc": "2.0", "id": 1, "error": {"code": -32803, "message": "m"}})


SPELLED = """
faultspec: 1
taxonomy: {name: urn, version: 1.0.0}
envelopes:
  bare: {shape: {type: "urn:err:${code}", title: $message}}
  both: {shape: {type: "urn:err:${code}", title: $message, code?: $code}}
  listed: {shape: {errors: [{about: "E${code} of us", title: $message}]}}
surfaces:
  here: {transport: event, error_when: {present: %s}, at: /payload, envelope: %s, codes: %s}
codes:
  gone: {summary: Gone., wire: %s, retriable: none}
  kept: {summary: Kept., wire: %s, retriable: none, lifecycle: reserved}
  else: {summary: Else., wire: %s, retriable: none}
operations:
  step: {wire: step, errors: {own: {summary: Own., wire: %s, retriable: none}}}
"""


@pytest.mark.parametrize(
    "wires", [(1001, 1002, 1003, 7), ('"1001"', '"1002"', 1003, '"7"'), ("a", "b", "c", "d")]
)
@pytest.mark.parametrize("codes", ["[gone, kept]", "open"])
@pytest.mark.parametrize("envelope", ["bare", "both", "listed"])
def test_a_code_inside_a_text_is_text_there(
    envelope: str, codes: str, wires: tuple[object, ...]
) -> None:
    """The type of a code on its own, a number or a text, makes no difference inside a text. Schema
    and judge read it there. They know the declared code, the reserved one and the one of an
    operation, and accept an undeclared one where it is allowed.
    """
    mark = "/payload/errors" if envelope == "listed" else "/payload/type"
    found = read(SPELLED % (mark, envelope, codes, *wires), "urn.yaml")
    assert found.taxonomy is not None, found.diagnostics
    tree = render(found.taxonomy, [SHIPPED["surfaces"]], "urn.yaml")
    valid = jsonschema_rs.Draft202012Validator(json.loads(tree["surfaces/here.schema.json"]))
    rules = build_contract(found.taxonomy)
    gone, kept, other, own = (str(each).strip('"') for each in wires)
    known = {gone: "gone", kept: "kept", other: "else", own: "own"}
    for text in (gone, kept, other, own, "none", "1009", "", "01001"):
        inner = {"type": f"urn:err:{text}", "title": "m"}
        body = {
            "payload": {"errors": [{"about": f"E{text} of us", "title": "m"}]}
            if envelope == "listed"
            else inner
        }
        answer = Response(None, (), json.dumps(body).encode())
        judged = judge(rules, Exchange(Request("POST", "step"), answer, transport="event"))
        accepted = text in (gone, own) or (codes == "open" and text != kept)
        broken = [each.clause for each in judged.findings]
        assert (text, valid.is_valid(body), broken == []) == (text, accepted, accepted), broken
        assert judged.code == (
            known.get(text) if text in (gone, own, kept) or codes == "open" else judged.code
        )
        assert "envelope/types" not in broken
