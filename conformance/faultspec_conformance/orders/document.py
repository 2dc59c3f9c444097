"""The OpenAPI document of the orders service: the paths are written here, the error fragments are
generated.
"""

import json
from functools import cache
from importlib import resources
from typing import Any

Json = dict[str, Any]

TEXT: Json = {"type": "string"}
NAME: Json = {"type": "string", "minLength": 1, "maxLength": 200}
UUID: Json = {"type": "string", "format": "uuid"}
QUANTITY: Json = {"type": "integer", "minimum": 1, "maximum": 1000}


def _object(properties: Json, **more: object) -> Json:
    """A schema of an object that requires all its members."""
    return {"type": "object", "required": [*properties], "properties": properties, **more}


def _parameter(name: str, place: str, schema: Json, **more: object) -> Json:
    required = {"required": True} if place == "path" else {}
    return {"name": name, "in": place, **required, **more, "schema": schema}


SCHEMAS: Json = {
    "Order": _object(
        {
            "id": UUID,
            "reference": TEXT,
            "sku": TEXT,
            "quantity": {"type": "integer"},
            "status": {"enum": ["open", "cancelled"]},
        }
    ),
    "NewOrder": _object(
        {
            "reference": {**NAME, "description": "The tenant's own name for it, unique"},
            "sku": NAME,
            "quantity": QUANTITY,
        },
        example={"reference": "PO-1001", "sku": "tea", "quantity": 2},
    ),
    "Change": _object({"quantity": QUANTITY}, example={"quantity": 3}),
    "Batch": _object(
        {
            "orders": {
                "type": "array",
                "minItems": 1,
                "maxItems": 20,
                "items": {"$ref": "#/components/schemas/NewOrder"},
            }
        }
    ),
    "Outcomes": _object(
        {
            "responses": {
                "type": "array",
                "items": _object({"status": {"type": "integer"}, "body": {"type": "object"}}),
            }
        }
    ),
}

ID = _parameter("id", "path", UUID)
SKU: Json = {**_parameter("sku", "path", TEXT), "example": "tea"}
KEY = _parameter("Idempotency-Key", "header", {"type": "string", "maxLength": 200})
IF_MATCH = _parameter("If-Match", "header", TEXT)
CORRELATION = _parameter("X-Correlation-Id", "header", TEXT)
FAULT = _parameter(
    "X-Fault",
    "header",
    {
        "enum": [
            "timeout",
            "dependency_unavailable",
            "serialization_failure",
            "constraint_violation",
            "internal_error",
        ]
    },
    description="Fault switch: provokes an error that requests cannot.",
)
STREAM_FAULT = _parameter(
    "X-Fault",
    "header",
    {"enum": ["timeout", "dependency_unavailable"]},
    description="Fault switch: the stream ends early, with an error event.",
)
EVENTS: Json = {
    "description": "The order's history as events",
    "content": {"text/event-stream": {"schema": TEXT}},
}


def _answer(description: str, schema: str | None = None, headers: tuple[str, ...] = ()) -> Json:
    found: Json = {"description": description}
    if schema:
        found["content"] = {
            "application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}
        }
    if headers:
        found["headers"] = {name: {"schema": TEXT} for name in headers}
    return found


def _operation(
    name: str,
    answers: dict[str, Json],
    errors: tuple[int, ...],
    parameters: tuple[Json, ...] = (),
    body: str | None = None,
) -> Json:
    """An operation. The generated fragments have the error responses of its statuses."""
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
            parameters=(KEY,),
            body="NewOrder",
        ),
    },
    "/orders/batch": {
        "post": _operation(
            "createOrders",
            {"201": _answer("All created", "Outcomes"), "207": _answer("Some created", "Outcomes")},
            _WRITE,
            body="Batch",
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
            parameters=(ID, IF_MATCH),
            body="Change",
        ),
        "delete": _operation(
            "deleteOrder", {"204": _answer("Deleted")}, (401, 403, 404, 412, 500), (ID, IF_MATCH)
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
    """The OpenAPI 3.1 document with the generated ``components``."""
    fragments = resources.files(__package__).joinpath("fragments", "openapi-3.1.json").read_text()
    components: Json = json.loads(fragments)["components"]
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
            "schemas": {**components["schemas"], **SCHEMAS},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
