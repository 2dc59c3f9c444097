"""Rows of a table of exchanges by a taxonomy: sound ones, and broken in one or several ways."""

import json
import re
from collections.abc import Sequence
from random import Random
from typing import Any

from faultspec.language.model import Code, RecordedParts, RecordingRule, Taxonomy
from faultspec.runtime.shape import MissingSlot, render
from paths import TESTS

Row = dict[str, Any]

#: Kinds of records: whole answers, slots with headers, the status alone, and flags.
WHOLE = RecordingRule(
    "whole", {}, "/status", "/url", method="/method", response=RecordedParts("/headers", "/body")
)
SLOTS = RecordingRule(
    "slots",
    {},
    "/status",
    "/url",
    method="/method",
    response=RecordedParts("/headers"),
    slots={slot: f"/{slot}" for slot in ("code", "message", "correlation_id")},
)
FLAGS = RecordingRule(
    "flags",
    {"/kind": "http"},
    "/status",
    "/url",
    slots={slot: f"/{slot}" for slot in ("code", "retriable", "boundary", "details")},
)
BARE = RecordingRule("bare", {}, "/status", "/url", method="/method", route="/route")
KINDS = (WHOLE, SLOTS, FLAGS, BARE)

_IDS = (
    *("01890a5d-ac96-774b-bcce-b302099a8057", "01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T"),
    *("01890a5d-ac96-474b-bcce-b302099a8057", "no id", ""),
)
_MESSAGES = (
    *("Too many requests", "There is no order 7", 'a "quoted" word', "100 % of it", "é, ü and ø"),
    *("connect to 10.1.2.3:5432 was refused", "write to bob.smith@corp-example.net"),
    'Traceback (most recent call last):\n  File "/srv/app.py", line 3, in f\n    x()',
    *("SELECT id, name FROM users WHERE id = 7", "postgres://app:s3cr3tpw@db.internal:5432/x"),
    *(
        "write to bob.smith&#64;corp-example.net",
        "open %2Fetc%2Fapp%2Fx.yaml",
        "<b>/etc</b>/app/x.yaml",
    ),
    "cG9zdGdyZXM6Ly9hcHA6czNjcjN0cHdAZGIuaW50ZXJuYWw6NTQzMi94",
    *("key AKIAIOSFODNN7EXAMPLQ", "the queue 'orders.dead' of rabbitmq is full", "/etc/app/x.yaml"),
)
_DETAILS: Sequence[Any] = (
    *({}, {}, {"field": "name"}, None, [1]),
    *({"retryable": True}, {"retryable": False}, {"retryable": "true"}),
    {"password": "hunter2hunter2", "n": 1},
    {"trace": ["at com.acme.Foo.bar(Foo.java:12)", "at com.acme.Baz.go(Baz.java:3)"]},
    {"errors": [{"field": "a"}, {"field": "b"}]},
)
_HEADERS = {
    "Content-Type": ("application/json",) * 3 + ("text/html", "APPLICATION/JSON; charset=utf-8"),
    "Cache-Control": ("no-store", "no-store", "no-store, max-age=0", "no-store, public", "private"),
    "X-Correlation-Id": _IDS,
    "Retry-After": ("5", "5", "5.5", "Sat, 28 Nov 2026 20:42:01 GMT", "9999999999", "", 7),
    "WWW-Authenticate": ("Bearer", 'Bearer realm="x"', "="),
    "Allow": ("GET, POST", "GET", "DELETE", ""),
    "ETag": ('"x"', "x"),
    "Server": ("nginx", "nginx/1.2.3"),
}
_URLS = (
    *("/orders/7", "/orders/7?x=1", "https://shop.test/orders/7#f", "GET /a HTTP/1.1", "/", ""),
    *("/v1/actions/x", "/v2/library/manifests/latest", "/v3/kv/put", "/batch"),
)


def leak_texts() -> list[str]:
    """Texts that leak, and texts that come near: those of the tests of detectors."""
    folder = TESTS / "vectors"
    found = []
    for name in ("harmless.jsonl", "near.jsonl"):
        lines = (folder / name).read_text(encoding="utf-8").splitlines()
        found += [json.loads(line)["text"] for line in lines]
    traces = json.loads((folder / "traces.json").read_text(encoding="utf-8"))
    return [*found, *(each["text"] for each in traces if "text" in each)]


def draw_rows(
    taxonomy: Taxonomy, random: Random, number: int, texts: Sequence[str] = _MESSAGES
) -> list[Row]:
    """Rows with the columns of all kinds, and their number ``n``."""
    codes = [*taxonomy.every_code()]
    return [{"n": n, **_draw_row(taxonomy, random, codes, texts)} for n in range(number)]


def _draw_row(
    taxonomy: Taxonomy, random: Random, codes: Sequence[Code], texts: Sequence[str]
) -> Row:
    code = random.choice(codes)
    own = [*code.http.allowed_statuses()][:3]
    others = [200, 204, 207, 304, 400, 404, 405, 418, 429, 500, 501, 503, 599]
    status = random.choice(own) if own and random.random() < 0.7 else random.choice(others)
    message = random.choice(texts)
    wire: object = code.wire if random.random() < 0.85 else random.choice(["bogus", 5, None, ""])
    slots: dict[str, Any] = {
        "code": wire,
        "message": message,
        "retriable": random.choice([True, False, False, "true"]),
        "boundary": random.choice([*code.boundaries, "nowhere"]),
        "domain": random.choice([code.domain, code.domain, "nowhere"]),
        "status": status,
        "details": random.choice(_DETAILS),
    }
    for envelope in taxonomy.envelopes.values():
        for slot in envelope.slots:
            slots.setdefault(slot, random.choice(_IDS))
    method = random.choice(["GET", "get", "POST", "DELETE", None, "HEAD", ""])
    return {
        "kind": random.choice(["http", "http", "http", "tcp"]),
        "status": status if random.random() < 0.97 else 0,
        "method": method,
        "url": random.choice(_URLS),
        "route": random.choice(["/orders/{id}", None]),
        "headers": _draw_headers(random),
        "body": _draw_body(taxonomy, random, slots),
        "code": wire if isinstance(wire, str) else None,
        "message": message if random.random() < 0.8 else None,
        "correlation_id": random.choice([*_IDS, None]),
        "retriable": random.choice([True, False, None]),
        "boundary": random.choice([*code.boundaries, "nowhere", None]),
        "details": None,
    }


def _draw_body(taxonomy: Taxonomy, random: Random, slots: dict[str, Any]) -> str | None:
    envelope = random.choice([*taxonomy.envelopes.values()])
    kept = {slot: value for slot, value in slots.items() if random.random() < 0.93}
    try:
        value: Any = render(envelope.shape, kept)
    except (MissingSlot, ValueError):  # a slot is left out, or is not of the shape
        value = {"code": slots["code"], "message": slots["message"]}
    text = json.dumps(value, ensure_ascii=random.random() < 0.3)
    if random.random() < 0.8:
        return text
    return random.choice(
        [
            *("<html><b>Bad gateway</b></html>", "", None, "null", '"text"', f"[{text}]"),
            *(text[: len(text) // 2], text.replace("{", '{"code": "twice", ', 1)),
            *('{"code": "\\u0000"}', '{"code": NaN}', text.replace(": ", " :\n ")),
            *_repeated(text, random),
            *(f"{text} x", f"{text}{text}", text.replace("}", ",}"), "1 2", "-Infinity"),
        ]
    )


def _repeated(text: str, random: Random) -> list[str]:
    """The body with a member once more, at its end: as it is written, and with an escape."""
    members = re.findall(r'"([a-z][a-z_]*)": ?("[^"\\]*"|true|false)', text)
    name, value = random.choice(members or [("code", '"x"')])
    other = random.choice([value, '"not_found"', "null"])
    escaped = f"\\u{ord(name[0]):04x}{name[1:]}"
    end = text.rindex("}")
    return [f'{text[:end]}, "{each}": {other}{text[end:]}' for each in (name, escaped)]


def _draw_headers(random: Random) -> str | None:
    found = {
        random.choice([name, name.lower()]): random.choice(values)
        for name, values in _HEADERS.items()
        if random.random() < 0.8
    }
    odd = random.random()
    if odd < 0.03:
        found["Retry-After"], found["retry-after"] = "1", "2"
    elif odd < 0.06:
        found["Retry-After"] = ["1", "2"]
    elif odd < 0.08:
        found["Content-Encoding"] = "gzip"
    elif odd < 0.1:
        found["Content-Length"] = random.choice(["5", "99999", "x"])
    elif odd < 0.13:
        return random.choice([None, "[]", '[["Retry-After", "1"]]', "none"])
    return json.dumps(found)
