"""The orders service's OpenAPI document: its paths, written here, and the error fragments, generated from the taxonomy."""

import json
from functools import cache
from importlib import resources
from typing import Any

Json = dict[str, Any]

ORDER: Json = {
    "type": "object",
    "required": ["id", "reference", "sku", "quantity", "status"],
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "reference": {"type": "string"},
        "sku": {"type": "string"},
        "quantity": {"type": "integer"},
        "status": {"enum": ["open", "cancelled"]},
    },
}
NEW_ORDER: Json = {
    "type": "object",
    "required": ["reference", "sku", "quantity"],
    "properties": {
        "reference": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "description": "Your own name for it, unique",
        },
        "sku": {"type": "string", "minLength": 1, "maxLength": 200},
        "quantity": {"type": "integer", "minimum": 1, "maximum": 1000},
    },
    "example": {"reference": "PO-1001", "sku": "tea", "quantity": 2},
}
CHANGE: Json = {
    "type": "object",
    "required": ["quantity"],
    "properties": {"quantity": {"type": "integer", "minimum": 1, "maximum": 1000}},
    "example": {"quantity": 3},
}
BATCH: Json = {
    "type": "object",
    "required": ["orders"],
    "properties": {
        "orders": {
            "type": "array",
            "minItems": 1,
            "maxItems": 20,
            "items": {"$ref": "#/components/schemas/NewOrder"},
        }
    },
}
OUTCOMES: Json = {
    "type": "object",
    "required": ["responses"],
    "properties": {
        "responses": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["status", "body"],
                "properties": {"status": {"type": "integer"}, "body": {"type": "object"}},
            },
        }
    },
}

ID: Json = {
    "name": "id",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "format": "uuid"},
}
SKU: Json = {
    "name": "sku",
    "in": "path",
    "required": True,
    "schema": {"type": "string"},
    "example": "tea",
}
KEY: Json = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", "maxLength": 200},
}
IF_MATCH: Json = {"name": "If-Match", "in": "header", "schema": {"type": "string"}}
CORRELATION: Json = {"name": "X-Correlation-Id", "in": "header", "schema": {"type": "string"}}
FAULT: Json = {
    "name": "X-Fault",
    "in": "header",
    "description": "Fault switch: brings about an error that cannot be had on demand.",
    "schema": {
        "enum": [
            "timeout",
            "dependency_unavailable",
            "serialization_failure",
            "constraint_violation",
            "internal_error",
        ]
    },
}
STREAM_FAULT: Json = {
    "name": "X-Fault",
    "in": "header",
    "description": "Fault switch: the stream ends early, with an error event.",
    "schema": {"enum": ["timeout", "dependency_unavailable"]},
}
EVENTS: Json = {
    "description": "The order's history, an event at a time",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}


def _answer(description: str, schema: str | None = None, headers: tuple[str, ...] = ()) -> Json:
    found: Json = {"description": description}
    if schema:
        found["content"] = {
            "application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}
        }
    if headers:
        found["headers"] = {name: {"schema": {"type": "string"}} for name in headers}
    return found


def _operation(
    name: str,
    answers: dict[str, Json],
    errors: tuple[int, ...],
    parameters: tuple[Json, ...] = (),
    body: str | None = None,
) -> Json:
    """An operation whose error responses are the generated ones for its statuses."""
    found: Json = {
        "operationId": name,
        "parameters": [*parameters, CORRELATION],
        "responses": {
            **answers,
            **{str(error): {"$ref": f"#/components/responses/Error{error}"} for error in errors},
        },
    }
    if body:
        found["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{body}"}}},
        }
    return found


_READ = (401, 404, 500)
_WRITE = (400, 401, 403, 415, 413, 500)
_LIMITED = (401, 404, 422, 429, 500, 503, 504)

PATHS: Json = {
    "/healthz": {
        "get": {"operationId": "health", "security": [], "responses": {"200": _answer("Alive")}}
    },
    "/orders": {
        "get": _operation("listOrders", {"200": _answer("The caller's orders")}, (401, 406, 500)),
        "post": _operation(
            "createOrder",
            {"201": _answer("Created", "Order", ("ETag", "Location"))},
            (*_WRITE, 406, 409),
            (KEY,),
            "NewOrder",
        ),
    },
    "/orders/batch": {
        "post": _operation(
            "createOrders",
            {"201": _answer("All created", "Outcomes"), "207": _answer("Some created", "Outcomes")},
            _WRITE,
            (),
            "Batch",
        )
    },
    "/orders/{id}": {
        "get": _operation(
            "readOrder", {"200": _answer("The order", "Order", ("ETag",))}, (*_READ, 406), (ID,)
        ),
        "put": _operation(
            "changeOrder",
            {"200": _answer("Changed", "Order", ("ETag",))},
            (*_WRITE, 404, 412),
            (ID, IF_MATCH),
            "Change",
        ),
        "delete": _operation(
            "deleteOrder", {"204": _answer("Forgotten")}, (401, 403, 404, 412, 500), (ID, IF_MATCH)
        ),
    },
    "/orders/{id}/cancel": {
        "post": _operation(
            "cancelOrder",
            {"200": _answer("Cancelled", "Order", ("ETag",))},
            (401, 403, 404, 409, 500),
            (ID,),
        )
    },
    "/orders/{id}/events": {
        "get": _operation("orderEvents", {"200": EVENTS}, _READ, (ID, STREAM_FAULT))
    },
    "/prices/{sku}": {
        "get": _operation("readPrice", {"200": _answer("The price")}, _LIMITED, (SKU, FAULT))
    },
    "/admin/usage": {"get": _operation("readUsage", {"200": _answer("Usage")}, (401, 403, 500))},
}


@cache
def document() -> Json:
    """The OpenAPI 3.1 document, with the generated ``components`` merged in."""
    fragments = resources.files(__package__).joinpath("fragments", "openapi-3.1.json").read_text()
    components: Json = json.loads(fragments)["components"]
    own = {
        "Order": ORDER,
        "NewOrder": NEW_ORDER,
        "Change": CHANGE,
        "Batch": BATCH,
        "Outcomes": OUTCOMES,
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Orders",
            "version": "1.0.0",
            "description": "The reference service of the Core Platform error contract.",
        },
        "security": [{"token": []}],
        "paths": PATHS,
        "components": {
            **components,
            "schemas": {**components["schemas"], **own},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
