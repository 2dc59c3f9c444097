"""Orders of two tenants: the Core Platform contract, implemented with the generated bindings.

``platform_errors`` decides what failures look like. Handlers raise its exceptions; its boundary
writes the envelope, the headers, and the answers to unknown routes and methods. No code here builds
an error body.
"""

import hashlib
import json
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from faultspec_conformance.orders import platform_errors as errors
from faultspec_conformance.orders.document import document
from faultspec_conformance.orders.platform_errors.asgi import ErrorBoundary
from faultspec_conformance.orders.store import Order, Store, StoredAnswer

#: Bytes of the largest request body. Orders are far smaller, and a test exceeds it cheaply.
BODY_LIMIT = 64 * 1024

#: Bytes of the largest header section.
HEAD_LIMIT = 16 * 1024

#: Price look-ups of a caller in ``WINDOW`` seconds: few, so that a test reaches the limit without
#: load.
RATE = 2

WINDOW = 1.0

#: Items of the largest batch.
BATCH_LIMIT = 20


@dataclass(frozen=True, slots=True)
class Caller:
    """The owner of a token, and the scopes of the token."""

    name: str
    tenant: str
    scopes: frozenset[str]


#: Tokens for demonstration. Only in-memory services of tests and demos on loopback accept them.
CALLERS: Mapping[str, Caller] = {
    "demo-alice": Caller("alice", "acme-7f3a", frozenset({"orders.read", "orders.write"})),
    "demo-bob": Caller("bob", "globex-91c2", frozenset({"orders.read", "orders.write"})),
    "demo-reader": Caller("reader", "acme-7f3a", frozenset({"orders.read"})),
}

#: The fault switch: ``X-Fault: <name>`` on a price look-up provokes errors that requests cannot.
FAULTS: Mapping[str, Callable[[], Exception]] = {
    "timeout": lambda: errors.Timeout(),
    "dependency_unavailable": lambda: errors.DependencyUnavailable(retry_after=2),
    "serialization_failure": lambda: errors.SerializationFailure(),
    "constraint_violation": lambda: errors.ConstraintViolation(),
    "internal_error": lambda: RuntimeError(
        "cursor closed while reading /var/lib/orders/wal: password=hunter2"
    ),
}

#: The same switch on the stream of events, which ends early then.
STREAM_FAULTS: Mapping[str, Callable[..., errors.PlatformError]] = {
    "timeout": errors.Timeout,
    "dependency_unavailable": errors.DependencyUnavailable,
}

PRICES: Mapping[str, int] = {"tea": 350, "coffee": 420, "mug": 1200}


class Orders:
    """The service: one store, one rate limiter, and a handler per operation."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.store = Store()
        self.clock = clock
        self.calls: dict[str, list[float]] = {}

    def app(self) -> ASGIApp:
        """The ASGI application, error boundary included."""
        routes = [
            resource("/healthz", GET=self.health),
            resource("/openapi.json", GET=self.openapi),
            resource("/orders", GET=self.list, POST=self.create),
            resource("/orders/batch", POST=self.batch),
            resource("/orders/{id}", GET=self.read, PUT=self.update, DELETE=self.delete),
            resource("/orders/{id}/cancel", POST=self.cancel),
            resource("/orders/{id}/events", GET=self.events),
            resource("/prices/{sku}", GET=self.price),
            resource("/admin/usage", GET=self.usage),
        ]
        return ErrorBoundary(limit_header_section(Starlette(routes=routes)), body_limit=BODY_LIMIT)

    # Callers and request bodies.

    def caller(self, request: Request, scope: str) -> Caller:
        """The authenticated caller. Raises Unauthenticated, or ScopeInsufficient without
        ``scope``.
        """
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        caller = CALLERS.get(token) if scheme.lower() == "bearer" else None
        if caller is None:
            raise errors.Unauthenticated(www_authenticate="Bearer")
        if scope not in caller.scopes:
            raise errors.ScopeInsufficient(hint=f"Ask for the scope {scope}")
        return caller

    async def body(self, request: Request) -> dict[str, object]:
        """The request's JSON object."""
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type != "application/json":
            raise errors.UnsupportedMediaType(hint="Send application/json")
        try:
            data = json.loads(await request.body())
        except (ValueError, RecursionError):
            raise errors.InvalidRequest("The body is not JSON") from None
        if not isinstance(data, dict):
            raise errors.ValidationFailed("The body must be an object")
        return data

    def find_order(self, caller: Caller, request: Request) -> Order:
        """The caller's order with the id in the path. Raises NotFound."""
        order = self.store.find(caller.tenant, request.path_params["id"])
        if order is None:
            raise errors.NotFound()
        return order

    # Operations.

    async def health(self, request: Request) -> Response:
        """Alive."""
        return JSONResponse({"status": "ok"})

    async def openapi(self, request: Request) -> Response:
        """The OpenAPI document of the service."""
        return JSONResponse(document())

    async def list(self, request: Request) -> Response:
        """The caller's orders."""
        caller = self.caller(request, "orders.read")
        check_accept(request)
        return JSONResponse(
            {"orders": [order.public for order in self.store.orders_of(caller.tenant)]}
        )

    async def create(self, request: Request) -> Response:
        """Create an order, once per Idempotency-Key."""
        caller = self.caller(request, "orders.write")
        check_accept(request)
        data = await self.body(request)
        key = request.headers.get("idempotency-key")
        fingerprint = hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
        remembered = self.store.answers.get((caller.tenant, "orders", key)) if key else None
        if remembered is not None:
            if remembered.fingerprint != fingerprint:
                raise errors.Conflict(
                    "The Idempotency-Key was used with another body",
                    existing_id=str(json.loads(remembered.body)["id"]),
                )
            return Response(remembered.body, remembered.status, dict(remembered.headers))
        order = self.add_order(caller, data)
        response = representation(order, 201, {"location": f"/orders/{order.id}"})
        if key:
            content, headers = bytes(response.body), dict(response.headers)
            answer = StoredAnswer(fingerprint, response.status_code, headers, content)
            self.store.keep(caller.tenant, key, answer)
        return response

    def add_order(self, caller: Caller, data: Mapping[str, object]) -> Order:
        """Create an order from ``data``. Its reference is unique within the tenant."""
        reference, sku, quantity = (
            text_member(data, "reference"),
            text_member(data, "sku"),
            amount(data),
        )
        existing = self.store.find_reference(caller.tenant, reference)
        if existing is not None:
            raise errors.AlreadyExists(existing_id=existing.id)
        return self.store.add(caller.tenant, reference, sku, quantity)

    async def batch(self, request: Request) -> Response:
        """Create several orders: 201 if all items are valid, 207 if some are, 422 if none is."""
        caller = self.caller(request, "orders.write")
        data = await self.body(request)
        items = data.get("orders")
        if not isinstance(items, list) or not 1 <= len(items) <= BATCH_LIMIT:
            raise errors.ValidationFailed(
                f"`orders` must hold 1 to {BATCH_LIMIT} items", field="orders"
            )
        outcomes: list[dict[str, object]] = []
        bad: list[object] = []
        for index, item in enumerate(items):
            try:
                if not isinstance(item, dict):
                    raise errors.ValidationFailed(
                        "An item must be an object", field=f"orders[{index}]"
                    )
                outcomes.append({"status": 201, "body": self.add_order(caller, item).public})
            except errors.PlatformError as error:
                error.correlation_id = request.state.correlation_id
                outcomes.append({"status": error.status, "body": errors.to_envelope(error)})
                bad.append({"index": index, "code": error.code})
        if len(bad) == len(items):
            raise errors.ValidationFailed("No item of the batch is valid", bad_items=bad)
        if not bad:
            return JSONResponse({"responses": outcomes}, 201)
        return JSONResponse({"responses": outcomes}, 207)

    async def read(self, request: Request) -> Response:
        """One order, with its ETag."""
        caller = self.caller(request, "orders.read")
        check_accept(request)
        order = self.find_order(caller, request)
        if request.headers.get("if-none-match") == order.etag:
            return Response(status_code=304, headers={"etag": order.etag})
        return representation(order)

    async def update(self, request: Request) -> Response:
        """Change the quantity of an order, unless it has changed since the caller read it."""
        caller = self.caller(request, "orders.write")
        data = await self.body(request)
        order = self.find_order(caller, request)
        check_precondition(request, order)
        return representation(self.store.change(order, quantity=amount(data)))

    async def delete(self, request: Request) -> Response:
        """Delete an order."""
        caller = self.caller(request, "orders.write")
        order = self.find_order(caller, request)
        check_precondition(request, order)
        self.store.remove(order)
        return Response(status_code=204)

    async def cancel(self, request: Request) -> Response:
        """Cancel an order. Raises Conflict if it is cancelled already."""
        caller = self.caller(request, "orders.write")
        order = self.find_order(caller, request)
        if order.status == "cancelled":
            raise errors.Conflict("The order is cancelled already", existing_id=order.id)
        return representation(self.store.change(order, status="cancelled"))

    async def events(self, request: Request) -> Response:
        """The order's history as server-sent events. A failure is an error event with the envelope
        and an offset.
        """
        caller = self.caller(request, "orders.read")
        order = self.find_order(caller, request)
        broken = STREAM_FAULTS.get(request.headers.get("x-fault", ""))
        correlation_id = request.state.correlation_id

        async def stream() -> AsyncIterator[bytes]:
            yield event("created", {"id": order.id})
            if broken is not None:
                yield event(
                    "error", errors.to_envelope(broken(offset=1, correlation_id=correlation_id))
                )

        return StreamingResponse(stream(), media_type="text/event-stream")

    async def price(self, request: Request) -> Response:
        """The price of an article. Look-ups are limited per caller. The fault switch applies
        here.
        """
        caller = self.caller(request, "orders.read")
        fault = request.headers.get("x-fault")
        if fault is not None and fault in FAULTS:
            raise FAULTS[fault]()
        self.limit(caller)
        sku = request.path_params["sku"]
        if sku not in PRICES:
            raise errors.NotFound()
        return JSONResponse({"sku": sku, "cents": PRICES[sku]})

    def limit(self, caller: Caller) -> None:
        """Count a look-up of the caller. Raises RateLimited."""
        now = self.clock()
        recent = [at for at in self.calls.get(caller.name, []) if now - at < WINDOW]
        if len(recent) >= RATE:
            self.calls[caller.name] = recent
            wait = max(1, math.ceil(WINDOW - (now - recent[0])))
            raise errors.RateLimited(retry_after=wait, limit=RATE, window_sec=WINDOW)
        self.calls[caller.name] = [*recent, now]

    async def usage(self, request: Request) -> Response:
        """Usage, for administrators only. No demonstration token belongs to one."""
        self.caller(request, "orders.read")
        raise errors.Forbidden()


Handler = Callable[[Request], Awaitable[Response]]


def resource(path: str, **handlers: Handler) -> Route:
    """One route for a path, so that the framework's 405 names all methods of the resource."""

    async def endpoint(request: Request) -> Response:
        return await handlers["GET" if request.method == "HEAD" else request.method](request)

    return Route(path, endpoint, methods=list(handlers))


def limit_header_section(app: ASGIApp) -> ASGIApp:
    """Refuse a header section that is too large, before any other code reads it."""

    async def limit(scope: Scope, receive: Receive, send: Send) -> None:
        if (
            scope["type"] == "http"
            and sum(len(name) + len(value) for name, value in scope["headers"]) > HEAD_LIMIT
        ):
            raise errors.InvalidRequest("The header section is too large", status=431)
        await app(scope, receive, send)

    return limit


def check_accept(request: Request) -> None:
    """Refuse a client that does not accept JSON."""
    wanted = request.headers.get("accept", "*/*")
    ranges = {media.partition(";")[0].strip().lower() for media in wanted.split(",")}
    if not ranges & {"*/*", "application/*", "application/json"}:
        raise errors.InvalidRequest("The answer is application/json", status=406)


def check_precondition(request: Request, order: Order) -> None:
    """Refuse a change that is based on an old state of ``order`` (RFC 9110, 13.1.1)."""
    expected = request.headers.get("if-match")
    if expected is None or expected == "*":
        return
    if order.etag not in [etag.strip() for etag in expected.split(",")]:
        raise errors.StaleRead(expected_etag=order.etag.strip('"'), retriable=True)


def representation(
    order: Order, status: int = 200, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """The answer with an order."""
    return JSONResponse(order.public, status, {"etag": order.etag, **(headers or {})})


def event(name: str, data: object) -> bytes:
    """A server-sent event (WHATWG HTML, 9.2) with JSON data on one line."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()


def text_member(data: Mapping[str, object], field: str) -> str:
    """A non-empty text member. Raises ValidationFailed."""
    value = data.get(field)
    if not isinstance(value, str) or not 1 <= len(value) <= 200 or not value.isprintable():
        raise errors.ValidationFailed(
            f"`{field}` must be text of 1 to 200 printable characters", field=field
        )
    return value


def amount(data: Mapping[str, object]) -> int:
    """The member ``quantity``. Raises ValidationFailed."""
    value = data.get("quantity")
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 1000:
        raise errors.ValidationFailed(
            "`quantity` must be a whole number from 1 to 1000", field="quantity"
        )
    return value
