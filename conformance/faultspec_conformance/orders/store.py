"""The memory of the orders service: orders by tenant, and answers by idempotency key."""

import hashlib
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

Status = Literal["open", "cancelled"]


@dataclass(frozen=True, slots=True)
class Order:
    """An order of one tenant. ``reference`` is the tenant's own name for it, unique within the
    tenant.
    """

    id: str
    tenant: str
    reference: str
    sku: str
    quantity: int
    status: Status = "open"

    @property
    def public(self) -> dict[str, object]:
        """The public representation. The tenant never leaves the server."""
        return {
            "id": self.id,
            "reference": self.reference,
            "sku": self.sku,
            "quantity": self.quantity,
            "status": self.status,
        }

    @property
    def etag(self) -> str:
        """A strong validator of the public representation (RFC 9110, 8.8.3)."""
        digest = hashlib.sha256(json.dumps(self.public, sort_keys=True).encode()).hexdigest()
        return f'"{digest[:32]}"'


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer to give again when the same request is replayed."""

    fingerprint: str
    status: int
    headers: Mapping[str, str]
    body: bytes


#: Orders and answers that a store keeps: the oldest one makes room for a new one.
CAPACITY = 2_000


@dataclass(slots=True)
class Store:
    """The newest orders and answers. For one thread of one process; nothing is persistent."""

    orders: dict[str, Order] = field(default_factory=dict)
    answers: dict[tuple[str, str, str], StoredAnswer] = field(default_factory=dict)

    def find(self, tenant: str, id: str) -> Order | None:
        """The tenant's order ``id``. An order of another tenant is as absent as an unknown one."""
        order = self.orders.get(id)
        return order if order is not None and order.tenant == tenant else None

    def find_reference(self, tenant: str, reference: str) -> Order | None:
        """The tenant's order with that reference."""
        return next(
            (order for order in self.orders_of(tenant) if order.reference == reference), None
        )

    def orders_of(self, tenant: str) -> list[Order]:
        """The tenant's orders, oldest first."""
        return [order for order in self.orders.values() if order.tenant == tenant]

    def add(self, tenant: str, reference: str, sku: str, quantity: int) -> Order:
        """Create an order. The caller has checked that its reference is free."""
        order = Order(str(uuid.uuid4()), tenant, reference, sku=sku, quantity=quantity)
        self.orders[order.id] = order
        if len(self.orders) > CAPACITY:
            del self.orders[next(iter(self.orders))]
        return order

    def keep(self, tenant: str, key: str, answer: StoredAnswer) -> None:
        """Keep the answer to a creation under its key."""
        self.answers[tenant, "orders", key] = answer
        if len(self.answers) > CAPACITY:
            del self.answers[next(iter(self.answers))]

    def change(
        self, order: Order, *, quantity: int | None = None, status: Status | None = None
    ) -> Order:
        """Replace an order with a changed copy."""
        changed = replace(
            order,
            quantity=order.quantity if quantity is None else quantity,
            status=order.status if status is None else status,
        )
        self.orders[order.id] = changed
        return changed

    def remove(self, order: Order) -> None:
        """Delete an order."""
        del self.orders[order.id]
