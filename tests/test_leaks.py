"""Laws of the leak detectors: they see what leaks, leave harmless text alone, and never repeat what leaked."""

import base64
import json
import time
import urllib.parse

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from faultspec.exchange import Canary
from faultspec.leaks import DETECTORS, JOINT, SCANNED, detect, name_patterns, planted

LEAKS = {
    "stack-trace": (
        'Traceback (most recent call last):\n  File "/app/orders.py", line 12, in get\nKeyError: 4',
        'File "orders.py", line 3',
        "java.lang.NullPointerException: Cannot invoke\n\tat com.acme.Orders.get(Orders.java:88)",
        "at com.acme.OrdersKt.read(Orders.kt:9)",
        'Exception in thread "main" java.io.IOException',
        "TypeError: x is not a function\n    at Object.get (/app/dist/orders.js:10:15)",
        "at async handler (node:internal/process/task_queues:95:5)",
        "orders.ts:10:15",
        "panic: runtime error: index out of range\n\ngoroutine 1 [running]:\nmain.main()",
        "main.(*Server).get(0x0) orders.go:31 +0x1d",
        "System.NullReferenceException: Object reference not set\n   at Acme.Orders.Get(Int32 id) in C:\\src\\Orders.cs:line 9",
        "   at Acme.Orders.Api.Get(Int32 id)",
        "--- End of stack trace from previous location ---",
        "app/models/order.rb:42:in `find'",
        "PHP Fatal error:  Uncaught Exception: boom in /var/www/a.php:3\nStack trace:\n#0 {main}",
        "Warning: Undefined variable in /srv/a.php on line 3",
        "#1 /srv/index.php(12): Orders->get()",
        "thread 'main' panicked at src/main.rs:2:5:\nboom",
        "stack backtrace:\n   0: rust_begin_unwind",
        "** (RuntimeError) boom\n    (orders 0.1.0) lib/orders.ex:4: Orders.get/1",
        "{badmatch,{error,enoent}}",
        "KeyError: 'customer'",
        "ValueError: invalid literal for int() with base 10: 'x'",
        "'NoneType' object has no attribute 'total'",
        "object of type 'NoneType' has no len()",
        "ReferenceError: order is not defined",
        "Cannot read properties of undefined (reading 'total')",
        'Cannot invoke "Order.total()" because "order" is null',
        "Object reference not set to an instance of an object.",
        "runtime error: invalid memory address or nil pointer dereference",
        "undefined method `total' for nil:NilClass",
        "Call to a member function total() on null",
        "called `Option::unwrap()` on a `None` value",
        "no price for <orders.model.Order object at 0x7f3c2a1b9d60>",
        "<function price at 0x10f3d7a60> failed",
        "no price for com.acme.orders.Order@6d06d69c",
    ),
    "sql": (
        'ERROR: duplicate key value violates unique constraint "orders_pkey"',
        'relation "orders" does not exist',
        'syntax error at or near "FROM"',
        "could not serialize access due to concurrent update",
        "psycopg2.errors.UniqueViolation",
        "asyncpg.exceptions.UndefinedTableError",
        "pq: password authentication failed",
        "SQLSTATE[42S02]: Base table or view not found",
        "You have an error in your SQL syntax; check the manual",
        "Duplicate entry '4' for key 'PRIMARY'",
        "Unknown column 'x' in 'field list'",
        "Table 'shop.orders' doesn't exist",
        "ERROR 1062 (23000): Duplicate",
        "pymysql.err.IntegrityError",
        "UNIQUE constraint failed: orders.id",
        "no such table: orders",
        "sqlite3.OperationalError: database is locked",
        "SQLITE_CONSTRAINT",
        'near "FORM": syntax error',
        "ORA-00942: table or view does not exist",
        "Unclosed quotation mark after the character string ''.",
        "Incorrect syntax near 'FROM'.",
        "Violation of PRIMARY KEY constraint 'PK'",
        "Msg 102, Level 15, State 1",
        "[Microsoft][ODBC Driver 17 for SQL Server]",
        "System.Data.SqlClient.SqlException",
        "(sqlalchemy.exc.IntegrityError)",
        "(Background on this error at: https://sqlalche.me/e/20/gkpj)",
        "SELECT id, name FROM orders WHERE id = 4",
        "select * from orders where id = 4",
        "INSERT INTO orders (id) VALUES (4)",
        "UPDATE orders SET name = 'x'",
        "DELETE FROM orders",
        "could not execute statement; SQL [n/a]",
        "PrismaClientKnownRequestError",
        "E11000 duplicate key error collection: shop.orders",
        "WRONGTYPE Operation against a key holding the wrong kind of value",
    ),
    "connection-string": (
        "postgres://shop:hunter2@db:5432/shop",
        "could not reach redis://cache:6379/0",
        "amqp://guest:guest@broker/vhost",
        "jdbc:mysql://db:3306/shop",
        "Server=db;Database=shop;User Id=sa;Password=hunter2;",
        "host=db user=shop password=x dbname=shop",
        "mongodb+srv://u:p@cluster0.mongodb.net/x",
        "https://admin:hunter2@api.acme.com/v1",
    ),
    "secret": (
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dBjftJeZ4CVPmB92K27uhbUJU1p1r",
        "AKIAIOSFODNN7EXAMPLE",
        "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "token sk-live-123",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "glpat-xxxxxxxxx1xxxxxxxxxx",
        "xoxb-1234567890-abcdefghij",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "npm_abcdefghijklmnopqrstuvwxyz0123456789",
        "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",
        "Authorization: Bearer 2YotnFZFEjr1zCsicMWpAA",
        "Basic " + base64.b64encode(b"admin:hunter2").decode(),
        "password=hunter2",
        "DB_PASSWORD='hunter2'",
        "api_key=9f8d7c6b5a",
        '"client_secret": "9f8d7c6b5a4e"',
    ),
    "path": (
        "open /etc/passwd: permission denied",
        "/home/alice/orders/app.py is missing",
        "/var/lib/orders/data.db",
        "cannot read C:\\Users\\alice\\orders.ini",
        "\\\\fileserver\\share\\orders",
        "file:///srv/orders/conf",
        "lib/python3.11/site-packages/starlette/routing.py",
        "node_modules/express/lib/router.js",
        "/app/orders/service.py",
        "in src/orders/service.go",
    ),
    "private-address": (
        "connect to 10.3.7.21:5432 timed out",
        "http://192.168.0.12/internal",
        "172.20.1.4 refused the connection",
        "169.254.169.254",
        "orders-db.prod.internal",
        "redis-0.redis.prod.svc.cluster.local",
        "printer.local:631",
        "connect ECONNREFUSED 127.0.0.1:5432",
        "dial tcp 127.0.0.1:5432: connect: connection refused",
        "fd12:3456:789a::1",
    ),
    "email": (
        "Locked by jane.doe@customer.com",
        "jane+orders@mail.acme.co.uk is taken",
        "<ops@acme.io>",
    ),
    "internal-name": (
        "arn:aws:sqs:eu-west-1:123456789012:orders-dlq",
        "https://sqs.eu-west-1.amazonaws.com/123456789012/orders",
        "amqp queue 'orders.jobs' is full",
        'queue "orders.jobs.v2" is full',
        "projects/acme-prod/topics/orders",
        "kafka topic orders-v1 has no leader",
        "waiting for payments-db (PostgreSQL 15.4)",
    ),
}

HARMLESS = (
    "Field `tenant_id` is required",
    "`name` must not be empty",
    "Resource changed; GET latest and retry",
    "Too many requests: the limit is 2000 in 60 s",
    "There is no such resource",
    "No route for /orders/123",
    "/orders/{id} does not support PUT",
    "GET /v1/orders/01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T/lines?limit=10",
    "The order 0190b2a4-7c1e-7d3a-9f00-3b5f3a8e6c11 was cancelled",
    "Unexpected character at line 3, column 14",
    "Error at line 3",
    "The body is not JSON: Expecting value at position 0",
    "Send application/json, not text/html; charset=utf-8",
    "application/vnd.acme.order.v2+json is not supported",
    "2025-01-01T00:00:00.000Z is in the past",
    "Try again after Sun, 06 Nov 1994 08:49:37 GMT",
    "Version 1.10.3 or later is required",
    "Version 10.0.1 is no longer supported",
    "v10.2.3-rc.1+build.5",
    "The API version 2024-10-01 has been retired",
    "Must match the pattern ^[a-z0-9-]{3,40}$",
    "must be an e-mail address such as user@example.com",
    "write to your.name@example.org, or ask support@example.com",
    "user@ is not an address",
    "@acme is not a valid handle",
    "password must have at least 12 characters",
    "password: must have at least 12 characters",
    "The password is required",
    "The token has expired",
    "The token lacks the scope orders.write",
    "A valid bearer token is required",
    'Bearer realm="orders", error="invalid_token", error_description="The token expired"',
    'Basic realm="orders"',
    "Basic authentication is not supported",
    "Select an item from the list and try again",
    "Please update your settings and set a new name",
    "Delete the files from the folder first",
    "The constraint on `quantity` was violated",
    "A unique name is required",
    "insert a line before the total",
    "The table is booked at 18:30",
    "Meet at the office (room 12)",
    "The queue is full",
    "Your place in the queue: 4",
    "see https://docs.acme.com/errors/not_found#retry",
    "https://errors.example.com/problems/out-of-credit",
    "The value 192.0.2.1 is not allowed here",
    "3.14.15.92 is not a version",
    "1/2/2025 is not a date",
    "and/or",
    "true/false",
    "a ratio of 16:9",
    "quantity: 3:1:2",
    "The currency EUR/USD is not supported",
    "half-open (0, 10]",
    "internal error",
    "errors.internal",
    "Type error: a number is expected",
    "Validation error: `total` is required",
    "The object has no attribute `color`",
    "The attribute 'color' of the object is unknown",
    "Cannot read the property list",
    "`undefined` is not a number",
    "The offset must be a number such as 0x1f",
    "<order> is not allowed at 0x20",
    "needs com.acme.Orders@1.2.3",
    "The method is undefined for this order",
    "code: platform_internal",
    "The local time is 12:30",
    "user.local_time must be a time",
    "Content-Type: application/json",
    "no-store, max-age=0",
    'W/"67ab43"',
    "d41d8cd98f00b204e9800998ecf8427e",
    "X-Correlation-Id: 01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T",
    "C:/ is not a valid name",
    "Die Bestellung wurde storniert – bitte erneut versuchen",
    "注文が見つかりません",
    "logo@2x.png is too large",
    "exception: the last day of the month",
    "An error occurred. Contact support with the correlation id.",
    "secret questions are no longer supported",
    "api key is missing",
    "next_page_token=abc is not valid",
    "key=value pairs are expected",
    "sku=A-1001 is out of stock",
    "Data source is not available",
    "You are at 50% of 10.000 requests",
)


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in LEAKS.items() for text in texts])
def test_a_leak_is_seen_by_its_detector(kind: str, text: str) -> None:
    """Each kind of leak is recognised in the middle of a sentence as well as alone."""
    for each in (text, f"It failed: {text}", f"{text}\nTry again later."):
        assert kind in {leak.kind for leak in detect(each, [kind])}, each


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_trips_nothing(text: str) -> None:
    """What an honest message says is never called a leak."""
    assert detect(text, DETECTORS) == ()


def test_there_are_enough_examples() -> None:
    """The harmless corpus is large enough to mean something, and every detector has examples."""
    assert len(HARMLESS) >= 40
    assert LEAKS.keys() == DETECTORS.keys()


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in LEAKS.items() for text in texts])
def test_a_glimpse_reveals_nothing(kind: str, text: str) -> None:
    """Of what leaked, no more than two characters are ever shown."""
    for leak in detect(text, [kind]):
        leaked = text[leak.start : leak.end]
        assert leak.glimpse == f"{leaked[:2].strip()}… ({len(leaked)} characters)"
        assert leak.what[0] in "at"  # a phrase of ours: "a …", "an …", "the …"


def test_only_the_detectors_asked_for_speak() -> None:
    """A taxonomy that names no detector gets no finding from it."""
    text = "\n".join(each for texts in LEAKS.values() for each in texts)
    assert detect(text, []) == ()
    for kind in DETECTORS:
        assert {leak.kind for leak in detect(text, [kind])} == {kind}


def test_the_callers_own_address_is_no_leak() -> None:
    """An answer may repeat the path and the host it was asked at, and nothing else of the kind."""
    sent = "/home/feed\n10.0.0.5:8080"
    assert detect("/home/feed is not here", ["path"], sent=sent) == ()
    assert detect("http://10.0.0.5:8080/x", ["private-address"], sent=sent) == ()
    assert detect("/home/alice is not here", ["path"], sent=sent)
    assert detect("password=hunter2", ["secret"], sent="password=hunter2")


def test_a_trace_is_one_leak() -> None:
    """The paths and drivers inside a stack trace are not reported beside it; those elsewhere are."""
    trace = 'Traceback (most recent call last):\n  File "/srv/app/x.py", line 3, in y\npsycopg.errors.UniqueViolation'
    assert {leak.kind for leak in detect(trace, DETECTORS)} == {"stack-trace"}
    assert {leak.kind for leak in detect(f"{trace}{JOINT}open /etc/passwd", DETECTORS)} == {"stack-trace", "path"}


def test_a_connection_string_is_one_leak() -> None:
    """The host, the password and the seeming e-mail address inside a connection string belong to it."""
    text = "postgres://shop:hunter2@db.prod.internal:5432/shop"
    assert [leak.kind for leak in detect(text, DETECTORS)] == ["connection-string"]


def test_a_taxonomys_own_names_are_internal() -> None:
    """Patterns of the taxonomy widen the detector, and one that can't be read is taken literally."""
    names = name_patterns(["orders-(blue|green)", "billing[core"])
    assert [leak.what for leak in detect("see Orders-Green", ["internal-name"], names)] == ["an internal name"]
    assert detect("see billing[core", ["internal-name"], names)
    assert detect("see orders", ["internal-name"], names) == ()


SECRET = 'cnry "7Qx3"/geheim&ü'


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        SECRET.upper(),
        urllib.parse.quote(SECRET),
        urllib.parse.quote_plus(SECRET),
        urllib.parse.quote(SECRET, safe="").lower(),
        json.dumps(SECRET),
        json.dumps(SECRET, ensure_ascii=False),
        SECRET.replace("&", "&amp;").replace('"', "&quot;"),
        SECRET.encode().hex(),
        *(base64.b64encode(b"x" * shift + SECRET.encode() + b"tail").decode() for shift in range(3)),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
    ],
)
def test_a_planted_value_is_found_in_any_form(form: str) -> None:
    """A canary that comes back is seen however it was escaped on the way, and is never shown."""
    (leak,) = planted(f"before {form} after", [Canary("secret", SECRET)], whole=False)
    assert (leak.kind, leak.glimpse) == ("secret", "")
    assert "7Qx3" not in leak.what


def test_a_tenant_is_found_as_a_whole_word_only() -> None:
    """The value of a tenant counts where it stands alone, not inside another word, and never by the name of its field."""

    def found(text: str, value: str = "acme") -> bool:
        return bool(planted(text, [Canary("tenant", value)], whole=True))

    assert found("not in acme.")
    assert found("tenant=ACME")
    assert found('{"tenant_id":"acme"}')
    assert not found("acmeology and no-acme-here")
    assert not found("Field `tenant_id` is required", "tenant")
    assert not found("nothing here")


def test_a_short_value_counts_only_where_it_is_meant() -> None:
    """A tenant called `a` is not every indefinite article."""

    def found(text: str) -> bool:
        return bool(planted(text, [Canary("tenant", "a")], whole=True))

    assert not found("There is no such resource as a notebook")
    assert found("a")
    assert found("tenant a may not do this")
    assert found("there is no tenant 'a'")
    assert found(f"not found{JOINT}a{JOINT}tail")


@given(st.text(max_size=400), st.text(max_size=30))
@example("İß the İß value", "ß the İß")
def test_any_text_can_be_searched(text: str, value: str) -> None:
    """No text and no planted value makes a search fail; places lie within the text."""
    for leak in (*detect(text, DETECTORS), *planted(text, [Canary("canary", value)], whole=False)):
        assert 0 <= leak.start < leak.end <= len(text)


HOSTILE = (
    "a/" * 200_000 + ".py:",
    "a." * 200_000 + "@.internal 10.",
    "SELECT " * 60_000,
    "://" * 130_000 + "@",
    "at " + "a" * 400_000 + "(",
    "at A." * 80_000 + "(",
    "password" * 50_000 + "=",
    "Server=" + "x;" * 200_000,
    "eyJ" * 130_000 + ".eyJ",
    "\\\\a\\" * 100_000,
    "10." * 130_000 + "fd12:" + ":" * 1000,
    "queue '" * 60_000 + "kafka " * 20_000,
    "A." * 200_000 + "exceptionException",
)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_text_takes_no_longer_than_its_size_allows(text: str) -> None:
    """No text makes a pattern run away: the largest that is searched takes seconds at worst, not hours."""
    assert len(text) > SCANNED or len(text) > 100_000
    start = time.process_time()
    detect(text, DETECTORS)
    assert time.process_time() - start < 5  # seconds; a runaway takes hours, a busy machine a few times the usual half


def test_a_leak_at_the_end_of_a_long_text_is_seen_there() -> None:
    """Of a long text the beginning and the end are searched, and places are those of the whole text."""
    text = "x" * (3 * SCANNED) + " AKIAIOSFODNN7EXAMPLE"
    (leak,) = detect(text, ["secret"])
    assert text[leak.start : leak.end] == "AKIAIOSFODNN7EXAMPLE"


@pytest.mark.parametrize("address", ["ada.lovelace@example.com", "j.doe@shop.test", "bo@corp.example"])
def test_a_person_at_a_documentation_domain_is_a_person(address: str) -> None:
    """Test data lives at reserved domains, and so do the addresses that a service under test leaks."""
    assert [each.kind for each in detect(f"the account of {address} is locked", ("email",))] == ["email"]
