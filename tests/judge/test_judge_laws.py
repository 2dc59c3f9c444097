"""General laws of the judge: it is total, ordered, and agrees with the generated JSON Schema."""

import copy
import json
import time
from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.body import replace_value
from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Canary, Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import load, read
from faultspec.runtime.nodes import Array, Node, Object, Slot, Template
from faultspec.runtime.pointers import resolve
from paths import ROOT
from support.bodies import SCHEMA_CLAUSES
from support.examples import examples

ULID = "01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T"


@cache
def platform() -> Contract:
    """The contract of the Core Platform."""
    loaded = load(str(ROOT / "taxonomy.yaml"))
    assert loaded.taxonomy is not None, loaded.diagnostics
    return build_contract(loaded.taxonomy)


@cache
def schema() -> Draft202012Validator:
    """The generated JSON Schema of the Core Platform's envelope."""
    return Draft202012Validator(
        json.loads((ROOT / "generated/jsonschema/error.schema.json").read_text())
    )


def answered(
    status: int | None, body: bytes, headers: tuple[tuple[str, str], ...] = ()
) -> Exchange:
    """An exchange with any request."""
    return Exchange(Request("GET", "/orders/1"), Response(status, headers, body))


texts = st.text(max_size=40)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
keys = (
    st.sampled_from(
        ["code", "message", "correlation_id", "details", "error", "responses", "status", "items"]
    )
    | texts
)
bodies = st.binary(max_size=200) | (
    json_values | st.dictionaries(keys, json_values, max_size=6)
).map(lambda value: json.dumps(value).encode())
names = st.sampled_from(
    [
        "Content-Type",
        "Retry-After",
        "ETag",
        "Allow",
        "WWW-Authenticate",
        "Cache-Control",
        "X-Correlation-Id",
        "Date",
    ]
)
headers = st.lists(st.tuples(names | texts, texts), max_size=5).map(tuple)
exchanges = st.builds(
    Exchange,
    st.builds(
        Request,
        st.sampled_from(["GET", "HEAD", "POST", "brew", ""]),
        texts,
        headers,
        st.binary(max_size=40),
    ),
    st.builds(
        Response,
        st.none() | st.integers(-1, 1000) | st.sampled_from([207, 404, 412, 429]),
        headers,
        bodies,
    ),
    transport=st.sampled_from(["http", "jsonrpc", "mcp", "event", "stream"]),
    route=st.none() | texts,
    operation=st.none() | texts,
    identity=st.none() | texts,
    forbidden=st.lists(
        st.builds(Canary, st.sampled_from(["tenant", "secret"]), texts), max_size=2
    ).map(tuple),
)


def lawful(judged: Judgement, rules: Contract | None = None) -> None:
    """Assert the laws of every judgement. ``rules``: the contract, by default the Core
    Platform's.
    """
    order = [
        (f.clause, f.pointer or "", f.level, f.status or 0, f.message) for f in judged.findings
    ]
    assert order == sorted(set(order))
    contract = rules or platform()
    clauses = contract.clauses
    assert judged.exercised <= clauses.keys()
    broken = [clauses[finding.clause] for finding in judged.findings]
    assert not any(clause.reason_not_applicable(contract.taxonomy) for clause in broken)
    assert {finding.clause for finding in judged.findings} <= judged.exercised
    assert not any(clauses[address].relation for address in judged.exercised)


@given(exchanges)
@examples(400)
def test_any_exchange_is_judged(seen: Exchange) -> None:
    """No exchange makes the judge fail; findings are of exercised clauses."""
    judged = judge(platform(), seen)
    lawful(judged)
    assert judged == judge(platform(), seen)


LISTS = """
faultspec: 1
taxonomy: {name: lists, version: 1.0.0}
detail_keys: {known: {type: integer}, again: {type: boolean, role: retriable}}
boundaries: {door: {summary: The door.}, room: {summary: The room.}}
envelopes: {error: {shape: %s, additional: %s}}
surfaces: {api: {transport: http, envelope: error, codes: closed, requires_details: %s}}
fallback: {4xx: {code: a, reason: Whatever else.}, 5xx: {code: a, reason: Whatever else.}}
codes:
  a: {summary: A., http: 404, retriable: false, boundary: door, details: {q?: {type: string}}}
  b: {summary: B., http: [404, 409], retriable: true, boundary: room, details: {r: {type: integer}, again?: {}}}
  c: {summary: C., http: 404, schema: {type: object, required: [s]}, retriable: none}
  d: {summary: D., http: 404, retriable: {when: [{if: {details.q: x}, then: true}], else: false}, details: {q?: {type: string}}}
"""
#: Where a list may stand, and what of an error in it and what beside it.
PICTURES = (
    '{errors: [{code: $code, "...": $details}]}',
    "{errors: [{code: $code, m: {boundary?: $boundary, again?: $retriable}, meta?: $details}]}",
    "{errors: [{code?: $code, meta?: $details}], code?: $code}",
    '[{code: $code, "...": $details}]',
    '{a/b: [{inner: [{code: $code, status?: $status, "...": $details}]}]}',
    '{all: [{of: "urn:${code}", with?: {"...": $details}}], status?: $status}',
    '{code: $code, "...": $details, causes?: [{boundary?: $boundary, say?: $message}]}',
    "{code: $code, list: [{meta?: $details}], again?: $retriable}",
)


@cache
def listing(picture: str, additional: str, requires: str = "[known]") -> Contract:
    """The contract of an envelope with a list in it."""
    text = LISTS % (picture, additional, requires)
    loaded = read(text.replace(", requires_details: []", ""), "lists.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return build_contract(loaded.taxonomy)


own = st.fixed_dictionaries(
    {},
    optional={
        "code": st.sampled_from(["a", "b", "c", "d", "z", 7, None]),
        **dict.fromkeys(
            ("q", "r", "s", "known", "again", "stranger"),
            st.sampled_from(["x", 3, True, None, [], {}]),
        ),
    },
)
parts = st.recursive(
    own | st.sampled_from(["a", "urn:a", "urn:b", 404, None, True]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "errors",
                    "code",
                    "m",
                    "meta",
                    "a/b",
                    "inner",
                    "all",
                    "of",
                    "with",
                    "causes",
                    "list",
                    "boundary",
                    "status",
                    "again",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@st.composite
def fillings(draw: st.DrawFn, node: Node) -> object:
    """A body near a shape: parts are as declared, missing or different; lists have any length."""
    if draw(st.integers(0, 11)) == 0:
        return draw(parts)
    match node:
        case Array(item=item):
            return [draw(fillings(item)) for _ in range(draw(st.integers(0, 4)))]
        case Object(members=members, spread=spread):
            found = {
                each.name: draw(fillings(each.node)) for each in members if draw(st.integers(0, 3))
            }
            return {**(draw(own) if spread and draw(st.booleans()) else {}), **found}
        case Template(texts=texts):
            return draw(st.sampled_from(["a", "b", "c", "z"])).join(texts)
        case Slot(name="code"):
            return draw(st.sampled_from(["a", "b", "c", "d", "z"]))
        case Slot(name="details"):
            return draw(own)
        case _:
            return draw(st.sampled_from([True, False, 404, "x"]))


@given(
    st.sampled_from(PICTURES),
    st.sampled_from(["forbid", "allow"]),
    st.sampled_from([404, 409, 500]),
    st.data(),
)
@examples(250)
def test_any_list_is_judged(
    picture: str, additional: str, status: int, data: st.DataObject
) -> None:
    """For any items of a list the judge answers, and each finding has a place that exists."""
    rules = listing(picture, additional)
    body = data.draw(fillings(rules.taxonomy.envelopes["error"].shape))
    judged = judge(rules, answered(status, json.dumps(body).encode()))
    lawful(judged, rules)
    for each in judged.findings:
        missing = "missing" in each.message
        assert each.pointer is None or missing or resolve(body, each.pointer)[0], each


@given(st.sampled_from(PICTURES[:2]), st.sampled_from([404, 409]), st.data())
@examples(200)
def test_the_items_of_a_list_are_judged_each_for_itself(
    picture: str, status: int, data: st.DataObject
) -> None:
    """The findings of an item do not depend on the items beside it. The status is that of the
    whole answer, which one of several errors may decide.
    """
    rules = listing(picture, "forbid", "[]")
    item = rules.taxonomy.envelopes["error"].shape.members[0].node.item  # type: ignore[union-attr]
    items = [data.draw(fillings(item)) for _ in range(data.draw(st.integers(1, 3)))]

    def problems_of(body: object) -> set[tuple[str, str, str, str | None]]:
        """The findings about a body, except on headers and those with one message for all items."""
        found = judge(rules, answered(status, json.dumps({"errors": body}).encode()))
        together = (
            *("envelope/shape", "envelope/additional", "headers", "envelope/media-type"),
            "code/status",
        )
        kept = [each for each in found.findings if not each.clause.startswith(together)]
        return {(each.clause, each.message, each.pointer or "", each.code) for each in kept}

    alone = {
        (
            clause,
            *(text.replace("/errors/0", f"/errors/{index}") for text in (message, pointer)),
            code,
        )
        for index, each in enumerate(items)
        for clause, message, pointer, code in problems_of([each])
    }
    assert problems_of(items) == alone


@given(
    st.integers(1, 120_000),
    st.sampled_from([b"[", b'{"a":', b'{"details":[']),
    st.sampled_from([404, 207, 200]),
)
@examples(150, steady=20)  # a body has megabytes
def test_any_depth_is_judged(depth: int, opening: bytes, status: int) -> None:
    """Nesting, however deep, closed or not, is a finding at most."""
    closing = {b"[": b"]", b'{"a":': b"1}", b'{"details":[': b"]}"}[opening]
    lawful(judge(platform(), answered(status, opening * depth)))
    middle = b"1" if opening == b'{"a":' else b""
    lawful(
        judge(platform(), answered(status, opening * depth + middle + closing.lstrip(b"1") * depth))
    )


@pytest.mark.parametrize("size", [1_000_000, 10_000_000])
@pytest.mark.parametrize(
    ("head", "unit", "tail"),
    [
        (b'{"message":"', b"at x ", b'"}'),
        (b"[", b'"a",', b"1]"),
        (b"[", b'{"a":1},', b"1]"),
        (b"", b"\xff\x00", b""),
        (b"<html>", b"&lt;/a/b", b""),
        (b"[", b"[", b""),
    ],
)
def test_a_large_body_takes_time_in_proportion(
    size: int, head: bytes, unit: bytes, tail: bytes
) -> None:
    """Megabytes of anything are judged in seconds."""
    body = head + unit * (size // len(unit)) + tail
    start = time.process_time()
    lawful(judge(platform(), answered(500, body)))
    assert (
        time.process_time() - start < size / 500_000
    )  # seconds: half a megabyte a second is ten times slower than seen


# Law 9: the envelope clauses and the generated schema say the same of any body.


def good_bodies() -> Iterator[dict[str, object]]:
    """One correct body for every code: its example, completed."""
    for code in platform().taxonomy.codes.values():
        for each in code.examples:
            body = {
                "code": code.wire,
                "message": each.message or code.message,
                "correlation_id": ULID,
            }
            yield body | ({"details": dict(each.details)} if each.details is not None else {})


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(-2, 2, allow_nan=False),
    st.sampled_from(
        [
            "",
            "x",
            ULID,
            "0190b2a4-7c1e-7d3a-9f00-3b5f3a8e6c11",
            "not_found",
            "conflict",
            "no_such_code",
        ]
    ),
    st.lists(st.integers(0, 2), max_size=2),
    st.dictionaries(
        st.sampled_from(["field", "limit", "existing_id"]), st.integers(0, 2), max_size=2
    ),
)
paths = st.sampled_from(
    [(name,) for name in ("code", "message", "correlation_id", "details", "extra")]
    + [("details", key.name) for key in platform().taxonomy.detail_keys.values()]
    + [("details", "colour")]
)
edits = st.lists(st.tuples(paths, st.just("drop") | st.tuples(values)), min_size=0, max_size=3)


def edited(
    body: dict[str, object], changes: list[tuple[tuple[str, ...], object]]
) -> dict[str, object]:
    """The body after those changes that can be applied."""
    body = copy.deepcopy(body)
    for path, change in changes:
        place: object = body
        for step in path[:-1]:
            place = place.get(step) if isinstance(place, dict) else None
        if not isinstance(place, dict):
            continue
        if isinstance(change, tuple):
            place[path[-1]] = change[0]
        else:
            place.pop(path[-1], None)
    return body


@given(st.sampled_from(list(good_bodies())), edits)
@example(
    {"code": "conflict", "message": "x", "correlation_id": ULID, "details": {"existing_id": 1.0}},
    [],
)
@examples(300)
def test_the_judge_and_the_schema_agree(
    body: dict[str, object], changes: list[tuple[tuple[str, ...], object]]
) -> None:
    """Law 9: envelope clauses are silent exactly when the generated JSON Schema accepts the
    body.
    """
    body = edited(body, changes)
    judged = judge(platform(), answered(500, json.dumps(body).encode()))
    found = [f for f in judged.findings if f.clause in SCHEMA_CLAUSES and f.level == "error"]
    assert (not found) == schema().is_valid(body), [f.message for f in found]


@given(json_values | st.dictionaries(keys, json_values, max_size=6))
@examples(200)
def test_the_judge_and_the_schema_agree_on_anything(body: object) -> None:
    """Law 9, for bodies that were never meant to be envelopes."""
    judged = judge(platform(), answered(500, json.dumps(body).encode()))
    found = [f for f in judged.findings if f.clause in SCHEMA_CLAUSES and f.level == "error"]
    assert (not found) == schema().is_valid(body)


@given(st.sampled_from(list(good_bodies())), edits, st.sampled_from([400, 404, 409, 412, 429, 500]))
@examples(300)
def test_a_presupposed_clause_masks(
    body: dict[str, object], changes: list[tuple[tuple[str, ...], object]], status: int
) -> None:
    """No finding accompanies a broken clause that it presupposes, at the same place or above."""
    judged = judge(platform(), answered(status, json.dumps(edited(body, changes)).encode()))
    errors = [finding for finding in judged.findings if finding.level == "error"]
    clauses = platform().clauses
    for finding in judged.findings:
        presupposed = set(clauses[finding.clause].presupposes)
        assert not any(
            each.clause in presupposed and (finding.pointer or "").startswith(each.pointer or "")
            for each in errors
        )


@given(
    st.recursive(
        st.none() | st.integers(),
        lambda inner: (
            st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab/~0"), inner)
        ),
    ),
    st.lists(st.sampled_from("ab/~01"), max_size=4),
    st.integers(),
)
def test_what_is_replaced_is_found(body: object, keys: list[str], value: int) -> None:
    """A pointer resolves to the new value, and the original body is unchanged."""
    pointer = "".join("/" + each.replace("~", "~0").replace("/", "~1") for each in keys)
    before = copy.deepcopy(body)
    assert resolve(replace_value(body, pointer, value), pointer) == (True, value)
    assert body == before
