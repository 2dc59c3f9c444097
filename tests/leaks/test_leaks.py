"""The leak detectors find leaks, accept harmless text, and never repeat what leaked."""

import base64
import html
import json
import re
import time
import urllib.parse
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from faultspec import language
from faultspec.contract.clauses import leaks
from faultspec.exchange.model import Canary
from faultspec.leaks import JOINT, SCANNED, detect, find_planted, name_patterns, personal
from faultspec.leaks.detectors import DETECTORS
from faultspec.leaks.pattern import Pattern
from paths import ROOT

LEAKS = {
    "personal-data": (
        "card 4242 4242 4242 4242 was declined",
        "3782 822463 10005",
        "PAN 2223003122003222",
        "the account DE89 3704 0044 0532 0130 00 is closed",
        "GB29NWBK60161331926819",
        "call +49 30 901820 first",
        "+14155552671",
        "CPF 529.982.247-25",
        "RSSMRA85T10A562S",
        "12345678Z",
        "131052-308T",
        "SSN 536-90-4399 is known",
        "aadhaar number 2341 2341 2346",
        "PESEL: 44051401359",
    ),
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
        "Fatal error: Index out of range: file main/main.swift, line 3",
        "App/Crash.swift:33: Fatal error: Intentionally crashing the app",
        "Fatal error: Unexpectedly found nil while unwrapping an Optional value",
        "Unhandled exception:\n#0      main (package:app/main.dart:3:5)\n#1      _startIsolate (dart:isolate-patch/isolate_patch.dart:296:19)",
        "package:shelf/src/cascade.dart 75:52                            Cascade.handler.<fn>",
        "type 'Null' is not a subtype of type 'String'",
        "NoSuchMethodError: The getter 'total' was called on null.",
        "runtime error: index out of range [5] with length 3",
        'rpc error: code = Unavailable desc = connection error: desc = "transport"',
        "json: cannot unmarshal string into Go struct field Order.quantity of type int",
        "unsupported operand type(s) for +: 'int' and 'str'",
        "handler() missing 1 required positional argument: 'id'",
        "Order.total() takes 1 positional argument but 2 were given",
        "module 'app' has no attribute 'x'",
        "list index out of range",
        'Undefined array key "id"',
        "#1  0x00007ffff7a2d830 in __libc_start_main () from libc.so.6",
        "orders: Prelude.head: empty list\nCallStack (from HasCallStack):\n  error, called at libraries/base/GHC/List.hs:1646:3 in base:GHC.List",
        "Orders.hs:(12,1)-(14,20): Non-exhaustive patterns in function price",
        "ERROR: LoadError: UndefVarError: total not defined\nStacktrace:\n [1] price(x::Int64)\n   @ Main ./orders.jl:3",
        "in expression starting at /srv/orders.jl:9",
        "MethodError: no method matching price(::Nothing)",
        "[12] eval\n    @ ./boot.jl:385 [inlined]",
        " [1] price() @ Main ./REPL[1]:1",
        "/app/src/main.zig:3:5: 0x10a in main (orders)",
        'Raised at Stdlib.failwith in file "stdlib.ml", line 29, characters 17-33',
        "*** Terminating app due to uncaught exception 'NSInvalidArgumentException'",
        "clojure.lang.ExceptionInfo: boom {}",
        "Permission denied (os error 13)",
        "at Program.Main(String[] args)",
        "it failed at Acme.Orders.Api.Get()",
        "App/Controllers/OrderController.swift:41: Fatal error: Index out of range",
        "#2      OrderService.price (package:orders/service.dart:18:9)",
        "orders: Map.!: given key is not an element in the map\nCallStack (from HasCallStack):\n  error, called at libraries/containers/src/Data/Map/Internal.hs:617:17",
        "BoundsError: attempt to access 3-element Vector{Int64} at index [4]",
        "Request processing failed; nested exception is x",
        "Cannot find module './orders'",
        "expected an instance, got com.acme.billing.core.InvoiceMapper",
        "Failed to convert value of type 'java.lang.String' to required type 'int'",
        "the bean org.springframework.web.client.RestTemplate is missing",
        "IllegalStateException while closing",
        "Microsoft.EntityFrameworkCore.Storage.RelationalConnection timed out",
        "No query results for model [App\\Models\\Order] 7",
        "App\\Http\\Controllers\\OrderController::show()",
        "Couldn't find Order with 'id'=7",
        "NoReverseMatch at /orders/",
        "django.db.utils.OperationalError",
        "Error creating bean with name 'orders'",
        'JSON parse error: Unrecognized field "x"',
        "handler.total.sum is not a function",
        "An error occurred while saving the entity changes.",
        "http: panic serving 1.2.3.4:5: boom",
    ),
    "sql": (
        "sql: no rows in result set",
        "Unique constraint failed on the fields: (`email`)",
        'Couldn\'t find Order with \'id\'=7 [WHERE "orders"."tenant_id" = $1]',
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
        "Access denied for user 'root'@'localhost' (using password: YES)",
        'FATAL: password authentication failed for user "postgres"',
        "FATAL: remaining connection slots are reserved",
        'FATAL:  role "orders" does not exist',
        'connection to server at "db.prod", port 5432 failed',
        "ERROR:  permission denied for table orders",
        "canceling statement due to statement timeout",
        "value too long for type character varying(40)",
        "DETAIL:  Key (id)=(4) already exists.",
        "Lock wait timeout exceeded; try restarting transaction",
        "Cannot add or update a child row: a foreign key constraint fails (`shop`.`orders`, CONSTRAINT `fk`)",
        "Data too long for column 'name' at row 1",
        "Incorrect integer value: 'x' for column 'id' at row 1",
        "Can't connect to MySQL server on 'db1' (111)",
        "Login failed for user 'sa'.",
        "Login failed for user 'ACME\\svc-orders'.",
        "Invalid object name 'dbo.Orders'.",
        "Conversion failed when converting the varchar value 'x' to data type int.",
        "database is locked",
        "attempt to write a readonly database",
        "select * from orders",
        "SELECT orders.id AS orders_id, orders.name AS orders_name \nFROM orders \nWHERE orders.id = %(id_1)s",
        "SELECT id FROM orders",
        "select id from users where id = 4",
        "delete from orders where id = 4",
        "update orders set name = 'x'",
        "WHERE id = 4 AND tenant = 'x'",
        "DROP TABLE orders",
        "ALTER TABLE orders ADD COLUMN x",
        "CREATE TABLE orders (id int)",
        "create table orders (id int)",
        "CREATE UNIQUE INDEX orders_name ON orders (name)",
        "MongoServerSelectionError: connect",
        "Cassandra timeout during read query at consistency LOCAL_QUORUM",
        "CLUSTERDOWN Hash slot not served",
        "READONLY You can't write against a read only replica.",
        "ERROR 1205: Lock wait timeout exceeded; try restarting transaction",
        "Cannot delete or update a parent row: a foreign key constraint fails (`shop`.`lines`, CONSTRAINT `fk_order`)",
        'could not connect: FATAL: database "orders" does not exist',
        "Failed to run: select o.id, o.total from orders o where o.tenant_id = $1",
        "query failed: SELECT count(*) FROM invoices",
        "ALTER TABLE invoices ADD COLUMN paid boolean",
        'Error converting: invalid input syntax for type uuid: "abc"',
        'The INSERT statement conflicted with the FOREIGN KEY constraint "FK_Order".',
        "Login failed for user 'orders_app'.",
        'select "id", "name" from "orders" "o" where ("o"."tenant" = $1)',
        "SSL SYSCALL error: EOF detected",
        "(2003, 'Can\\'t connect to MySQL server on \\'db\\' (111)')",
        "could not extract ResultSet; SQL [n/a]",
        "HikariPool-1 - Connection is not available",
        'null value in column "user_id"',
        "PG::ConnectionBad: timeout",
        "pq: connection timeout",
        "function total(integer) does not exist",
        "Unknown database 'orders'",
        "Cast to ObjectId failed for value 'x'",
        "Invalid `prisma.order.create()` invocation",
        "SELECT pg_sleep(1)",
        "INSERT INTO orders VALUES (1)",
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
        "user:hunter2@tcp(db:3306)/shop",
        "shop/hunter2@//db:1521/orcl",
        "postgres://user:password@db.prod:5432/shop",
        "Error opening db: shop:s3cret@tcp(mysql-0:3306)/shop?parseTime=true",
    ),
    "secret": (
        "SK" + "0123456789abcdef" * 2,
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
        "hvs.CAESIJlU9JMYEhOPYv4igdhm9PnZDrabYTobQ4Ymnlq1qY",
        "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",
        "gsk_9xTq2LmZv7RbK4WcYf1HsN8jUe3PaGd6",
        "X-Api-Key: abcdef1234567890",
        "x-auth-token: 9f8d7c6b5a4e3f2a",
        "token=abcdef1234567890abcdef",
        '"token": "9f8d7c6b5a4e3f2a1b0c"',
        "upstream rejected header X-Api-Key: 8f3a9c1e7b2d4f60",
        "SHIPPING_PAT = 9f8d7c6b5a4e3f2a1b0c and nothing else",
        'billing_token: "9f8d7c6b5a4e3f2a1b0c" was refused',
        "the access key 9f8d7c6b5a4e3f2a1b0cd4 has expired",
        '<add key="Password" value="9f8d7c6b5a4e3f2a1b0c" />',
        "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",
    ),
    "path": (
        "s3://acme-prod-tenants/7/invoice.pdf is gone",
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
        "[Errno 2] No such file or directory: '/app/data/x.csv'",
        "[Errno 13] Permission denied: 'orders.lock'",
        "ENOENT: no such file or directory, open '/app/config.json'",
        "open /data/orders/4.bin: no such file or directory",
        "file_get_contents(/app/storage/4.txt): failed to open stream: No such file",
        "/app/config/settings.yaml not found",
        "/data/uploads/1.bin not writable",
        "/mnt/efs/orders does not exist",
        "cannot read '/workspace/orders/4.json'",
        "Failed to persist upload: [Errno 28] No space left on device: '/data/uploads/9f2c.part'",
        "could not read config file /app/conf/production.yaml",
        "EROFS: read-only file system, mkdir '/workspace/cache'",
        "stat /mnt/efs/tenants/acme: no such file or directory",
        "java says: /app/templates/invoice.ftl (No such file or directory)",
        "cat: /data/model/weights.bin: No such file or directory",
        "Unable to load module /app/dist/handlers/order.js",
        "Template not found in /app/views/mail/receipt.html.erb",
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
        "127.0.0.1:5432 refused",
        "[::1]:5432",
        "could not connect to localhost:6379",
        "100.64.3.4",
        "ip-10-0-3-4",
        "ip-10-0-3-4.eu-west-1.compute.internal",
        "HTTPConnectionPool(host='orders-db', port=8080): Max retries exceeded",
        "<urlopen error [Errno 111] Connection refused>",
        "db1.internal",
        "http://vault.internal/v1",
        "cannot connect to vault.internal",
        "orders.prod.internal",
        "db-01.corp.acme.com",
        "dial failed for payments-api.internal",
        "HTTPSConnectionPool(host='billing', port=443): Read timed out. (read timeout=5)",
        "Cannot connect to 127.0.0.1:6379",
        "no healthy upstream for 100.96.12.7",
        "node ip-172-31-5-9 is draining",
        "upstream vault.internal timed out",
        "Connection to redis.lan:6379 lost",
        "getaddrinfo for orders-redis failed: Name does not resolve",
        "Error 111 connecting to redis:6379. Connection refused.",
        "orders-db:5432 is down",
        "cannot reach db:3306",
    ),
    "email": (
        "jörg@müller.de",
        "renée@exämple.fr may not",
        "Locked by jane.doe@customer.com",
        "jane+orders@mail.acme.co.uk is taken",
        "<ops@acme.io>",
    ),
    "internal-name": (
        "Topic orders.events.v1 not present in metadata after 60000 ms",
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
    "<pre>Cannot GET /orders</pre>",
    "Upload to s3://bucket/key or s3://my-bucket/path/to/object",
    "the location must look like s3://example-bucket/reports",
    "Page 4 of the list: the index is out of the range 1 to 3",
    "The argument `id` is missing: 1 required argument",
    "SQL: no such statement may be sent here",
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
    "Only SELECT statements are allowed; got FROM clause",
    "SELECT is not FROM here",
    "Select items from cart where possible",
    "select a date from calendar where available",
    "select seats from row limit 4",
    "DROP TABLE statements are not permitted",
    "CREATE TABLE is not supported",
    "callback_url must not point to 10.0.0.0/8 or 192.168.0.0/16",
    "webhook url resolves to a private address (10.0.0.0/8)",
    "Shared address space (100.64.0.0/10) is refused",
    "version 10.2.3.4 required",
    "firmware 10.2.3.4 or later is required",
    "versions 10.2.3.4 and 10.3.0.1 are retired",
    "an address such as 192.168.5.4",
    "order.internal is not a valid field",
    "address.local is required",
    "order.address.local is required",
    "field address.local is required",
    "The property settings.local must be boolean",
    "profile.internal must be a boolean",
    "node.svc is unknown",
    "Could not parse 'config.local'",
    "items.0.internal: must be a boolean",
    "sk-test-item is out of stock",
    "sk-live-2 is sold out",
    "look at My.Page(s)",
    "at Checkout.Payment(card) step",
    "meet at Main.Hall(Room b)",
    "expected Bearer YOUR_API_TOKEN1234",
    "X-Api-Key: YOUR_API_KEY",
    "token=abc",
    "token: must have at least 16 characters",
    "Unexpected token: 0123456789abcdef01",
    "next_page_token=9f8d7c6b5a4e3f2a1b0c",
    "No route for /app/settings",
    "/data/{id} does not support PUT",
    "/app/orders/4 was not found",
    "GET /data/feed.json is not a route",
    "No route for /app/config.yaml",
    "No route matches GET /home/index",
    "Endpoint /workspace/list.json has moved",
    "/orders/42: permission denied",
    "the database is locked for maintenance",
    "database is locked by another user",
    "Access denied for user ada",
    "Login failed for user 'ada'",
    "Invalid object name 'photo.jpg'",
    'the column "price" is required',
    'column "price" does not exist in the sheet',
    "No method matches this operation",
    "The token hf_hub_download is not a function",
    "scheme must be one of redis://, rediss://, amqp://",
    "e.g. postgres://user:password@host/db",
    "The call is at 12:30; swift answers are appreciated",
    "order darts.dart is unknown",
    "The time fd12:0:30 is not valid",
    "invalid UUID 'fd00:12:34'",
    "http://localhost:8080/callback is not a registered redirect",
    "http://127.0.0.1:8080/orders/4",
    "The file /reports/2024.csv was not found in your workspace",
    "No route for PUT /app/config.json",
    "GET /data/export.csv is not supported; use POST",
    "Permission denied: you may not open /orders/42",
    "The endpoint /workspace/settings.json has moved",
    "The folder 'Invoices' is a directory, not a file",
    "Use SELECT or INSERT FROM the query console, not this endpoint",
    "Please select a colour, then a size from the list where available",
    "Select all from the menu",
    "You cannot drop tables from a shared base",
    "DROP TABLE is disabled on this plan",
    "The table could not be altered: alter table settings first",
    "Your account is locked; the database is locked by your administrator",
    "Invalid object name 'photo#1.jpg': use letters and digits",
    "The foreign key `customer` refers to nothing",
    "The value is too long for column `name`: at most 40 characters",
    "customer.internal must be true or false",
    "The attribute shipping.address.local is unknown",
    "IP range 172.16.0.0/12 is reserved",
    "Client version 10.4.0.2 or newer is required",
    "Requests to loopback addresses are not allowed",
    "The redirect http://localhost:3000/callback is not registered",
    "Item sk-live-show-ticket is sold out",
    "Send `Authorization: Bearer <token>` with each request",
    "token: must be 40 characters",
    "page_token=eyJvZmZzZXQiOjQwfQ1234 has expired",
    "Pay at Store.Berlin(Mitte) before noon",
    "The swift code DEUTDEFF is invalid at line 3",
    "customer:3306 is not known",
    "the image postgres:16 is not available",
    "Cannot find module 'Algebra' in this course",
    "redis:latest is not a tag",
    "/var/items/0/price must be a number",
    "/home/user~1name is required",
    "#/tmp/order is unknown",
    "field /etc/total is required",
    "postgres://user:****@example.com/db is an example",
    "redis://user:****@cache.example.com:6379",
    "https://user:****@host/path",
    "https://api:<password>@api.acme.com",
    "password=<password>",
    "api_key=YOUR_API_KEY",
    "api_key: xxxxxxxxxxxxxxxx",
    "token=****************",
    "an address such as ada@example.com",
    "jane.doe@example.com is only an example",
    "idempotency_key=0e8dd0d1-3f1d-4b5e-9d0e-0f6c1b7a9a11 was used before",
    "page_token: 9f8d7c6b5a4e3f2a1b0c",
    "partition key=01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T",
    "primary_key: 8f3a9c1e7b2d4f60a1",
    "the key ORD-2026-000017-00042-77 is not known",
    "order 4929123456781234 was not found",
    "id 4012888888881881 is taken",
    "4242424242424241 is not a card",
    "1700000000000123 is not a time",
    "DE89370400440532013001 is not an account",
    "call +1 202 555 0123",
    "+12 items were added",
    "ORD-2026-10-17 and 777-30-6999 are orders",
    "100.200.300-40 is a range",
    "ResourceNotFoundException: the table is gone",
    "AWS::EC2::Instance is not supported",
    "System.Title is required",
    "Microsoft.Storage/storageAccounts is not registered",
    "com.example.app",
    "a file named report-final-version-draft",
    "Use docker to run it; the container image is nginx:1.27",
    "pods are billed by the hour",
    "The column is required in each row of the table",
    "No route found for this parcel",
    "Could not find the user with this email",
    "The function is not available in your plan",
    "<b>Bold</b> text is not allowed",
    "100%25 of the quota is used",
    "Content-Type application/vnd.api+json is required",
    "VGhlIG9yZGVyIHdhcyBub3QgZm91bmQsIHNvcnJ5Lg==",
)

SURROUNDINGS = (
    "Authorization: Bearer {}",
    "https://api.acme.com/v1/orders?api_key={}&limit=10",
    '{{"key": "{}", "limit": 10}}',
    "API_KEY={}",
    "export API_KEY='{}'",
    "api_key: {}",
    "The key {} was refused.",
    "curl -u {}: https://api.acme.com",
    "<td><code>{}</code></td>",
    "({})",
    "%22{}%22",
    '"{{\\"key\\":\\"{}\\"}}"',
)
"""Where the documentation of vendors shows tokens: headers, URLs, JSON, environments, prose."""

DRESSES = {
    "tags": lambda text: "<p><b>" + html.escape(text).replace(" ", "</b> <i></i>") + "</p>",
    "entities": lambda text: "".join(f"&#{ord(letter)};" for letter in text),
    "percent": lambda text: urllib.parse.quote(text, safe=""),
    "plus": lambda text: "/error?message=" + urllib.parse.quote_plus(text),
    "base64": lambda text: "debug=" + base64.b64encode(text.encode()).decode(),
    "json": lambda text: json.dumps({"inner": json.dumps({"message": text})}),
    "unicode": lambda text: "".join(f"\\u{ord(letter):04x}" for letter in text),
}


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in LEAKS.items() for text in texts]
)
def test_a_leak_is_seen_by_its_detector(kind: str, text: str) -> None:
    """Each kind of leak is recognized alone and inside a sentence."""
    for each in (text, f"It failed: {text}", f"{text}\nTry again later."):
        assert kind in {leak.kind for leak in detect(each, [kind])}, each


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_trips_nothing(text: str) -> None:
    """No text of the harmless corpus is a leak."""
    assert detect(text, DETECTORS) == ()


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize("kind", LEAKS)
def test_a_leak_is_seen_below_tags_and_one_encoding(kind: str, dress: str) -> None:
    """A leak in tags, or in any encoding that a reader undoes, is found at its place."""
    for text in LEAKS[kind]:
        if len(text) <= 24 or not text.isascii():
            continue
        dressed = DRESSES[dress](text)
        found = [leak for leak in detect(dressed, [kind]) if leak.kind == kind]
        assert found, dressed
        assert all(0 <= leak.start < leak.end <= len(dressed) for leak in found)


@pytest.mark.parametrize("around", SURROUNDINGS)
@pytest.mark.parametrize(
    "token",
    [
        "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "AKIAIOSFODNN7EXAMPLE",
        "xoxb-1234567890-abcdefghij",
        "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",
        "npm_abcdefghijklmnopqrstuvwxyz0123456789",
        "glpat-xxxxxxxxx1xxxxxxxxxx",
        "hvs.CAESIJlU9JMYEhOPYv4igdhm9PnZDrabYTobQ4Ymnlq1qY",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "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",
        "dp.st.prd.bAqhcVzrhy5cRHkOlNTc0Ve6w5NUDCpcutm8vGE9myi",
    ],
)
def test_a_vendors_token_is_seen_in_the_surroundings_of_its_documentation(
    token: str, around: str
) -> None:
    """A token is found in a header, a URL, JSON, an environment, HTML and prose."""
    assert detect(around.format(token), ["secret"])


@given(st.from_regex(r"[0-9]{12,19}", fullmatch=True))
def test_most_numbers_are_not_cards(digits: str) -> None:
    """A number without a valid check digit, or behind the word `order`, is never a card."""
    assert detect(f"order {digits} is unknown", ["personal-data"]) == ()
    wrong = str((int(digits[-1]) + 1) % 10)
    pair = [bool(detect(f"{digits[:-1]}{last}", ["personal-data"])) for last in (digits[-1], wrong)]
    assert pair != [True, True]


def test_without_its_libraries_personal_data_is_not_checkable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An absent library makes the detector find nothing, and the clause says what to install."""
    taxonomy = language.load(str(ROOT / "taxonomy.yaml")).taxonomy
    assert taxonomy is not None
    clause = next(each for each in leaks.CLAUSES if each.address == "leaks/personal-data")
    libraries = clause.requires[-1]
    assert libraries.is_met(taxonomy)
    personal.missing_libraries.cache_clear()
    monkeypatch.setattr(personal, "find_spec", lambda name: None)
    try:
        assert detect(LEAKS["personal-data"][0], ["personal-data"]) == ()
        assert not libraries.is_met(taxonomy)
        assert "pip install 'faultspec[personal-data]'" in libraries.unmet
    finally:
        personal.missing_libraries.cache_clear()


def test_there_are_enough_examples() -> None:
    """The harmless corpus is large enough to mean something, and every detector has examples."""
    assert len(HARMLESS) >= 40
    assert LEAKS.keys() == DETECTORS.keys()


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in LEAKS.items() for text in texts]
)
def test_a_glimpse_reveals_nothing(kind: str, text: str) -> None:
    """A glimpse shows at most two characters of a leak."""
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


def test_the_callers_own_address_is_not_a_leak() -> None:
    """An answer may repeat the path and host of the request, but no other path or host."""
    sent = "/home/feed\n10.0.0.5:8080"
    assert detect("/home/feed is not here", ["path"], sent=sent) == ()
    assert detect("http://10.0.0.5:8080/x", ["private-address"], sent=sent) == ()
    assert detect("/home/alice is not here", ["path"], sent=sent)
    assert detect("password=hunter2", ["secret"], sent="password=hunter2")


def test_what_the_caller_named_may_be_named_again() -> None:
    """In an error of a system or library, the file or host is compared with the request."""
    missing = "[Errno 2] No such file or directory: '/data/in/x.csv'"
    assert detect(missing, ["path"])
    assert detect(missing, ["path"], sent="/convert?file=/data/in/x.csv") == ()
    assert (
        detect(
            "ENOENT: no such file or directory, open '/in/x.csv'",
            ["path"],
            sent='{"file": "/in/x.csv"}',
        )
        == ()
    )
    assert detect("/in/x.csv: No such file or directory", ["path"], sent="/in/x.csv") == ()
    refused = "HTTPConnectionPool(host='hooks.acme.com', port=80): Max retries exceeded"
    assert detect(refused, ["private-address"])
    assert (
        detect(refused, ["private-address"], sent='{"callback": "http://hooks.acme.com/x"}') == ()
    )
    assert detect("127.0.0.1:8123 is busy", ["private-address"], sent="127.0.0.1:8123") == ()


def test_a_trace_is_one_leak() -> None:
    """Paths and drivers inside a stack trace are not reported; those elsewhere are."""
    trace = 'Traceback (most recent call last):\n  File "/srv/app/x.py", line 3, in y\npsycopg.errors.UniqueViolation'
    assert {leak.kind for leak in detect(trace, DETECTORS)} == {"stack-trace"}
    assert {leak.kind for leak in detect(f"{trace}{JOINT}open /etc/passwd", DETECTORS)} == {
        "stack-trace",
        "path",
    }


@pytest.mark.parametrize(
    ("token", "subject"),
    [
        ("tok_0f8d7c6b5a4e3f2a1b0cd4e5f60718a9", "a token"),
        ("r8_aB3dE5gH7jK2mN4pQ6rS8tU1vW3xY5zA7bC9d", "a token that names its vendor"),
    ],
)
def test_only_the_prefix_of_a_vendor_names_one(token: str, subject: str) -> None:
    """Tokens of many services begin with `tok_`, so the message names no vendor."""
    assert {leak.what for leak in detect(f"Token {token} is not valid", ("secret",))} == {subject}


def test_a_connection_string_is_one_leak() -> None:
    """The host and password inside a connection string are not reported by themselves."""
    text = "postgres://shop:hunter2@db.prod.internal:5432/shop"
    assert [leak.kind for leak in detect(text, DETECTORS)] == ["connection-string"]


def test_a_taxonomys_own_names_are_internal() -> None:
    """Patterns of the taxonomy extend the detector; a malformed one is taken literally."""
    names = name_patterns(["orders-(blue|green)", "billing[core"])
    assert [leak.what for leak in detect("see Orders-Green", ["internal-name"], names)] == [
        "an internal name"
    ]
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
        *(
            base64.b64encode(b"x" * shift + SECRET.encode() + b"tail").decode()
            for shift in range(3)
        ),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
    ],
)
def test_a_planted_value_is_found_in_any_form(form: str) -> None:
    """A canary is found in every encoding, and never shown."""
    (leak,) = find_planted(f"before {form} after", [Canary("secret", SECRET)], whole=False)
    assert (leak.kind, leak.glimpse) == ("secret", "")
    assert "7Qx3" not in leak.what


def test_a_tenant_is_found_as_a_whole_word_only() -> None:
    """A tenant's value counts as a whole token, not inside a word; a field's name never does."""

    def found(text: str, value: str = "acme") -> bool:
        return bool(find_planted(text, [Canary("tenant", value)], whole=True))

    assert found("not in acme.")
    assert found("tenant=ACME")
    assert found('{"tenant_id":"acme"}')
    assert not found("acmeology and no-acme-here")
    assert not found("Field `tenant_id` is required", "tenant")
    assert not found("nothing here")


def test_a_short_value_counts_only_where_it_is_meant() -> None:
    """A tenant called `a` is not every indefinite article."""

    def found(text: str) -> bool:
        return bool(find_planted(text, [Canary("tenant", "a")], whole=True))

    assert not found("There is no such resource as a notebook")
    assert found("a")
    assert found("tenant a may not do this")
    assert found("there is no tenant 'a'")
    assert found(f"not found{JOINT}a{JOINT}tail")


@given(st.text(max_size=400), st.text(max_size=30))
@example("İß the İß value", "ß the İß")
def test_any_text_can_be_searched(text: str, value: str) -> None:
    """No text or planted value makes a search fail; places lie within the text."""
    for leak in (
        *detect(text, DETECTORS),
        *find_planted(text, [Canary("canary", value)], whole=False),
    ):
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
    "SELECT a(" * 40_000 + "FROM",
    "SELECT " + "a, " * 100_000 + "FROM",
    "SELECT " + "a(b(c), " * 50_000 + " FROM x",
    "select a.b" + ", a(b) as c" * 40_000 + " from x where",
    "WHERE a" * 60_000 + " = 1",
    "CREATE TABLE a(" * 25_000,
    "/app/" * 70_000 + "x.yaml",
    "open /app/a" * 30_000 + ": permission denied",
    "/a" * 180_000 + ": no such file or directory",
    "no such file or directory: /" * 12_000,
    "file /data/" * 35_000 + ".x",
    "a." * 180_000 + "internal.a.com",
    "a-" * 180_000 + ".corp.com",
    "a:" * 180_000 + "@tcp(",
    "a/" * 180_000 + "@//b",
    "connect localhost:" * 20_000,
    "x-" * 180_000 + "api-key: a1",
    "token=" * 60_000 + "a1",
    "hvs." * 90_000 + "sk-live-a" * 10,
    "[Errno 2] " * 35_000 + ": '/x'",
    "sk-live-" + "a-" * 180_000,
    "at A.B(" + "String a, " * 40_000 + ")",
    "Stacktrace:" * 30_000 + " [1] .jl:1",
    "raised at" * 40_000 + ' in file "',
    "version 10.2.3.4 " * 20_000,
    "at A.B(foo) " * 30_000,
    "redis-" * 60_000 + ":6379",
    "db" * 180_000 + ":6379",
    "a.internal, " * 30_000,
)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_text_takes_no_longer_than_its_size_allows(text: str) -> None:
    """No text makes a pattern backtrack without end: the largest one takes seconds."""
    assert len(text) > SCANNED or len(text) > 100_000
    start = time.process_time()
    detect(text, DETECTORS)
    assert (
        time.process_time() - start < 5
    )  # seconds; a runaway takes hours, a busy machine a few times the usual half


def test_a_leak_at_the_end_of_a_long_text_is_seen_there() -> None:
    """The beginning and the end of a long text are searched; places are those of the whole text."""
    text = "x" * (3 * SCANNED) + " AKIAIOSFODNN7EXAMPLE"
    (leak,) = detect(text, ["secret"])
    assert text[leak.start : leak.end] == "AKIAIOSFODNN7EXAMPLE"


@pytest.mark.parametrize(
    "address", ["ada.lovelace@example.com", "j.doe@shop.test", "bo@corp.example"]
)
def test_a_person_at_a_documentation_domain_is_a_person(address: str) -> None:
    """An address at a reserved domain is a leak unless a placeholder stands before the @."""
    assert [each.kind for each in detect(f"the account of {address} is locked", ("email",))] == [
        "email"
    ]


def test_the_work_on_one_text_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text with the needles of all patterns costs no more than one with those of a few: together
    they search a bounded number of characters. The leak at its beginning is found.
    """
    searched = []

    def find_all(pattern: Pattern, text: str) -> Iterator[re.Match[str]]:
        searched.append(len(text))
        return pattern.regex.finditer(text, 0, 200)

    monkeypatch.setattr(Pattern, "find_all", find_all)
    needles = [each for own in DETECTORS.values() for one in own for each in one.needles if each]
    trace = 'Traceback (most recent call last):\n  File "/srv/app.py", line 3, in pay\n'
    text = trace + " ".join(needles) * 4
    found = detect(text, ["stack-trace", "sql", "secret"])
    assert found[0].kind == "stack-trace"
    assert len(searched) > 500
    assert sum(searched) <= 48 * 1024 * 1024


def test_a_leak_at_the_end_of_a_long_page_is_found() -> None:
    """A page of an error has the needles of many patterns, and its leaks are found to its end."""
    trace = 'Traceback (most recent call last):\n  File "/srv/app.py", line 3, in pay\n'
    page = f"<p>{'An item of the catalogue. ' * 8_000}</p>{trace}KeyError: 'x'"
    found = detect(page, DETECTORS)
    assert "stack-trace" in {leak.kind for leak in found}
