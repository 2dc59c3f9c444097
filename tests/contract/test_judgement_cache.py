"""The cache of judgements never changes a judgement, whatever was judged before."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.contract.judgement_cache import MAX_BODY, MAX_ENTRIES, cache_key
from faultspec.contract.model import Contract, build_contract, with_cache
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import load
from faultspec.language.model import Code, Field
from faultspec.runtime import ids
from faultspec.runtime.nodes import slot_places
from faultspec.runtime.shape import render
from judge.test_judge_laws import exchanges
from paths import ROOT
from support.examples import examples

#: A taxonomy, and a request whose errors it describes.
TAXONOMIES = {
    "taxonomy.yaml": "GET /orders/1",
    "examples/aileron/taxonomy.yaml": "POST /v1/messages",
    "examples/alknet/taxonomy.yaml": "GET /search",
    "tests/miniatures/vault-taxonomy.yaml": "GET /v2/boxes/1",
    "tests/miniatures/alike-taxonomy.yaml": "GET /orders/1",
}

#: What a value may be changed into: ids of several formats, words of the taxonomies, lengths at a
#: bound, leaks, relations.
TEXTS = (
    *(ids.new(each) for each in ids.FORMATS),
    *(
        "",
        "x",
        "not_found",
        "conflict",
        "404",
        "409",
        "true",
        "GET",
        "service",
        "gateway",
        "retry",
        "refetch",
        "user",
    ),
    *(
        'W/"a1"',
        '"a1"',
        '"b2"',
        "busy",
        "abc",
        "bad",
        "xyz",
        "12",
        "1" * 32,
        "a1",
        "no-store",
        "no-store, max-age=5",
        "8",
        "-8",
        "Sun, 06 Nov 1994 08:49:37 GMT",
    ),
    *(
        "x" * 199,
        "x" * 200,
        "x" * 201,
        'File "/srv/a.py", line 3, in x',
        "jane.doe@customer.com",
        "GET, POST",
    ),
)
VALUES = (*TEXTS, None, True, False, 0, 1, 1.0, 404, 409.0, -1, [], {}, ["a"], [1])

#: Of the codes, every so many are tried; of the taxonomy that was made for the purpose, all.
EVERY = {"tests/miniatures/alike-taxonomy.yaml": 1}


@cache
def forgetful(name: str) -> Contract:
    """A contract without a cache of judgements."""
    loaded = load(str(ROOT / name))
    assert loaded.taxonomy is not None, loaded.diagnostics
    return build_contract(loaded.taxonomy)


def sound(
    by: Contract, code: Code, random: Random, request: str = "GET /orders/1"
) -> Exchange | None:
    """A correct error with a code, or nearly so."""
    method, target = request.split()
    envelope = by.taxonomy.envelopes[(code.envelopes or tuple(by.taxonomy.envelopes))[0]]
    example = code.examples[0] if code.examples else None
    declared = envelope.fields.get("correlation_id")
    own = ids.new(
        random.choice((declared.schema.format if declared is not None else ()) or ("uuid7",))
    )
    slots = {
        "code": code.wire,
        "message": "There is no such order",
        "details": dict(example.details or {}) if example else {},
        "correlation_id": own,
        "audit_id": own,
        "boundary": code.boundaries[0] if code.boundaries else "service",
        "retriable": code.retriable.flag_kind == "always",
        **(dict(example.slots) if example else {}),
    }
    asked = example.status if example is not None else None
    status = asked or (code.http.statuses[0].low if code.http.statuses else 500)
    for slot in slot_places(envelope.shape):
        field = envelope.fields.get(slot)
        formats = field.schema.format if field is not None else ()
        slots.setdefault(
            slot,
            _status_of(field, status)
            if slot == "status"
            else ids.new(formats[0])
            if formats
            else own,
        )
    try:
        body = render(envelope.shape, slots)
    except (ValueError, KeyError):
        return None
    headers = {
        "Content-Type": envelope.media_types[0],
        "Cache-Control": "no-store",
        "X-Correlation-Id": str(slots["correlation_id"]),
        "X-Request-Id": str(slots.get("request_id", own)),
        "Date": "Sun, 06 Nov 1994 08:49:37 GMT",
        **(dict(example.headers) if example else {}),
    }
    return Exchange(
        Request(method, target), Response(status, tuple(headers.items()), json.dumps(body).encode())
    )


def _status_of(field: Field | None, status: int) -> int | str:
    return str(status) if field is not None and field.schema.types == ("string",) else status


def leaves(value: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """The places in a body where a value can be changed."""
    match value:
        case dict():
            return [
                path,
                *(each for name, inner in value.items() for each in leaves(inner, (*path, name))),
            ]
        case list():
            return [
                path,
                *(
                    each
                    for index, inner in enumerate(value)
                    for each in leaves(inner, (*path, index))
                ),
            ]
    return [path]


def changed(value: object, path: tuple[object, ...], new: object) -> object:
    """The body with another value at a place."""
    if not path:
        return new
    if isinstance(value, dict):
        return {
            name: changed(each, path[1:], new) if name == path[0] else each
            for name, each in value.items()
        }
    assert isinstance(value, list)
    return [
        changed(each, path[1:], new) if index == path[0] else each
        for index, each in enumerate(value)
    ]


def variations(exchange: Exchange) -> Iterator[Exchange]:
    """The error, and variants with one change: a value of its body, a header, or the request."""
    yield exchange
    answer = exchange.response
    body = json.loads(answer.body)
    for path in leaves(body)[1:]:
        for new in VALUES:
            yield replace(
                exchange,
                response=replace(answer, body=json.dumps(changed(body, path, new)).encode()),
            )
    for name in body if isinstance(body, dict) else ():
        less = {key: each for key, each in body.items() if key != name}
        yield replace(
            exchange, response=replace(answer, body=json.dumps({**less, "extra": 1}).encode())
        )
    for index, (name, value) in enumerate(answer.headers):
        before, after = answer.headers[:index], answer.headers[index + 1 :]
        others = tuple(((name, each),) for each in TEXTS)
        for instead in ((), ((name, value), (name, value)), ((name, value), (name, "x")), *others):
            yield replace(exchange, response=replace(answer, headers=(*before, *instead, *after)))
    for name in ("ETag", "Retry-After", "Allow", "WWW-Authenticate", "X-Request-Id"):
        for value in TEXTS:
            yield replace(
                exchange, response=replace(answer, headers=(*answer.headers, (name, value)))
            )
    for status in (400, 404, 405, 409, 412, 429, 500, 503):
        yield replace(exchange, response=replace(answer, status=status))
    for method in ("POST", "DELETE", "HEAD"):
        yield replace(exchange, request=replace(exchange.request, method=method))
    for asked in (
        ("Authorization", "Bearer x"),
        ("If-Match", '"a1"'),
        ("If-Match", '"b2"'),
    ):
        yield replace(exchange, request=replace(exchange.request, headers=(asked,)))
    for lacks in ("identity", "headers", "ids", "shape"):
        yield replace(exchange, lacks=frozenset({lacks}))
    yield replace(exchange, identity="alice")
    yield replace(exchange, route="/orders/{id}")
    yield replace(exchange, operation="GET /orders/{id}")
    for asked in ((("Authorization", "Bearer x"),), ()):
        refused = replace(answer, status=403, body=answer.body.replace(b"401", b"403"))
        yield replace(exchange, request=replace(exchange.request, headers=asked), response=refused)
    if exchange.response_header("ETag") is not None:
        headers = tuple(
            (name, '"a1"' if name == "ETag" else value) for name, value in answer.headers
        )
        for tag in ('"a1"', '"a7"'):
            raw = json.dumps({**body, "details": {"etag": tag}}).encode()
            yield replace(exchange, response=replace(answer, headers=headers, body=raw))
    for target in ("/narrow/1", "/files/1"):
        yield replace(exchange, request=replace(exchange.request, target=target))
    own = str(exchange.response_header("X-Correlation-Id"))
    for new in (each for each in TEXTS if each.isascii() and '"' not in each):
        headers = tuple((name, value.replace(own, new)) for name, value in answer.headers)
        body_of_new = answer.body.replace(own.encode(), new.encode())
        yield replace(exchange, response=replace(answer, headers=headers, body=body_of_new))


@pytest.mark.parametrize("name", TAXONOMIES)
def test_memory_changes_no_judgement(name: str) -> None:
    """Errors that differ in one thing are judged as without a cache, in any order."""
    by, random = forgetful(name), Random(3)
    learning = with_cache(by)
    codes = (
        *by.taxonomy.shared_live_codes(),
        *(code for each in by.taxonomy.operations.values() for code in each.errors.values()),
    )
    made = (sound(by, code, random, TAXONOMIES[name]) for code in codes)
    sounds = [
        replace(each, lacks=frozenset({"service/no-crash"})) for each in made if each is not None
    ]
    judged = 0
    for exchange in sounds[:: EVERY.get(name, 8)]:
        for each in variations(exchange):
            assert judge(learning, each) == judge(by, each), each
            judged += 1
    assert sum(not judge(by, each).findings for each in sounds) > len(sounds) / 2
    assert 0 < len(learning.cache.judgements) < judged / 4


@examples(150, steady=15)
@given(st.lists(exchanges, min_size=2, max_size=6))
def test_nor_that_of_anything_else(run: list[Exchange]) -> None:
    """Exchanges of any kind are judged as without a cache."""
    by = forgetful("taxonomy.yaml")
    learning = with_cache(by)
    for exchange in (*run, *run):
        assert judge(learning, exchange) == judge(by, exchange)


def test_errors_with_other_ids_are_alike() -> None:
    """Errors that differ only in ids and messages are judged once; leaks are still found."""
    by = forgetful("taxonomy.yaml")
    learning = with_cache(by)
    code, random = by.taxonomy.codes["not_found"], Random(1)
    for number in range(50):
        exchange = sound(by, code, random)
        assert exchange is not None
        body = json.loads(exchange.response.body)
        body["message"] = (
            f"There is no order {number}" if number != 40 else "open /etc/passwd: permission denied"
        )
        found = judge(
            learning,
            replace(exchange, response=replace(exchange.response, body=json.dumps(body).encode())),
        )
        assert [each.clause for each in found.findings] == (["leaks/path"] if number == 40 else [])
    assert len(learning.cache.judgements) <= 2  # ids of two formats


def test_memory_is_bounded() -> None:
    """The cache holds at most `MAX_ENTRIES` errors, and no large ones."""
    by = forgetful("taxonomy.yaml")
    own = with_cache(by).cache
    for number in range(MAX_ENTRIES + 10):
        own.put((number,), judge(by, Exchange(Request("GET", "/"), Response(200))))
        own.add_harmless([str(number)])
    assert len(own.judgements) <= MAX_ENTRIES
    assert len(own.harmless) <= MAX_ENTRIES
    large = Exchange(Request("GET", "/"), Response(404, (), b'"' + b"x" * MAX_BODY + b'"'))
    assert cache_key(own.traits, large, "x", surface="api", operation=None) is None
