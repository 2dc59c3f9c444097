"""A desk that takes parcels, whose faults show at the bounds of its document, or beyond them on one
operation alone. Without faults it keeps its document and its taxonomy.
"""

import json
from collections.abc import Collection, Mapping
from itertools import count
from typing import Any

import jsonschema
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

CRASHES: Mapping[str, str] = {
    "longest-label-crashes": "a label of the greatest length crashes",
    "shortest-label-crashes": "a label of one character crashes",
    "greatest-limit-crashes": "a list with the greatest limit crashes",
    "least-weight-crashes": "the least weight crashes",
    "greatest-weight-crashes": "the greatest weight crashes a change",
    "full-tags-crash": "a parcel with as many tags as it may have crashes",
    "empty-tags-crash": "a parcel with an empty list of tags crashes",
    "rare-size-crashes": "one of the sizes crashes",
    "empty-note-crashes": "an empty note crashes",
    "null-note-crashes": "a note of null crashes",
    "bare-parcel-crashes": "a parcel with its required members alone crashes",
    "whole-parcel-crashes": "a parcel with every member crashes",
    "longest-code-crashes": "a code of the greatest length crashes",
    "longest-desk-crashes": "a header of the greatest length crashes",
    "emoji-in-a-note-crashes": "a note with an emoji crashes",
}
"""Crashes on input that the document allows, each with its effect."""

SINS: Mapping[str, str] = {
    **CRASHES,
    "limit-excludes-its-maximum": "a list with the greatest limit is refused",
    "weight-unchecked-on-labels": "labels for parcels of any weight are made",
    "text-read-on-labels": "a label is made from a body that says it is plain text",
    "overweight-keeps-the-label": "a change to a weight over the limit is refused, and its label kept",
    "large-labels-in-other-words": "a large body for a label is refused in plain text",
}
"""Every fault that `parcels` understands, with its effect."""

#: Bytes of a body.
_LARGEST = 256 * 1024

LIMIT = {"type": "integer", "minimum": 1, "maximum": 100}
CODE = {"type": "string", "minLength": 1, "maxLength": 24}
DESK = {"type": "string", "maxLength": 16}
WEIGHT = {"type": "integer", "minimum": 1, "maximum": 30}
NEW: Mapping[str, Any] = {
    "type": "object",
    "required": ["label", "weight"],
    "properties": {
        "label": {"type": "string", "minLength": 1, "maxLength": 40},
        "weight": WEIGHT,
        "tags": {"type": "array", "maxItems": 4, "items": {"type": "string", "minLength": 1}},
        "size": {"type": "string", "enum": ["small", "medium", "large"]},
        "note": {"anyOf": [{"type": "string", "maxLength": 200}, {"type": "null"}]},
    },
    "additionalProperties": False,
}
LABEL: Mapping[str, Any] = {
    "type": "object",
    "required": ["weight"],
    "properties": {"weight": WEIGHT},
    "additionalProperties": False,
}
PARCEL = {**NEW, "required": ["code"], "properties": {**NEW["properties"], "code": CODE}}
ERROR = {
    "type": "object",
    "required": ["code", "message"],
    "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
}


def _described(status: str, schema: Mapping[str, Any], *others: str) -> dict[str, Any]:
    """The responses of an operation: its success, and refusals with their statuses."""
    return {
        code: {
            "description": "done" if code == status else "refused",
            "content": {"application/json": {"schema": schema if code == status else ERROR}},
        }
        for code in (status, "400", *others)
    }


def document() -> dict[str, Any]:
    """The OpenAPI document."""
    code = {"name": "code", "in": "path", "required": True, "schema": CODE}
    desk = {"name": "X-Desk", "in": "header", "schema": DESK}
    limit = {"name": "limit", "in": "query", "schema": LIMIT}

    def body(schema: Mapping[str, Any]) -> dict[str, Any]:
        return {"required": True, "content": {"application/json": {"schema": schema}}}

    writes = ("413", "415")
    return {
        "openapi": "3.1.0",
        "info": {"title": "Parcels", "version": "1"},
        "paths": {
            "/parcels": {
                "get": {
                    "parameters": [limit, desk],
                    "responses": _described("200", {"type": "array", "items": PARCEL}),
                },
                "post": {
                    "requestBody": body(NEW),
                    "responses": _described("201", PARCEL, *writes),
                },
            },
            "/labels": {
                "post": {
                    "requestBody": body(LABEL),
                    "responses": _described("200", {"type": "object"}, *writes),
                },
            },
            "/parcels/{code}": {
                "parameters": [code],
                "get": {"responses": _described("200", PARCEL, "404")},
                "put": {
                    "requestBody": body(NEW),
                    "responses": _described("200", PARCEL, "404", *writes),
                },
                "delete": {"responses": {"204": {"description": "gone"}, **_missing()}},
            },
        },
    }


def _missing() -> dict[str, Any]:
    return {
        code: {"description": "refused", "content": {"application/json": {"schema": ERROR}}}
        for code in ("400", "404")
    }


class _Refused(Exception):
    """A request that the service refuses, with its status and code."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(code)
        self.status, self.code = status, code


class _Crashed(Exception):
    """A failure that the service did not foresee."""


def parcels(sins: Collection[str] = (), crashed: set[str] | None = None) -> Starlette:
    """The desk with some of its `SINS`. ``crashed``: a set that gets the name of each crash."""
    stored: dict[str, dict[str, Any]] = {}
    numbers = count(1)

    def crash(**happening: bool) -> None:
        found = {name.replace("_", "-") for name, happens in happening.items() if happens}
        if found & {*sins}:
            if crashed is not None:
                crashed.update(found & {*sins})
            raise _Crashed

    async def read(request: Request, schema: Mapping[str, Any]) -> Any:
        raw, on_labels = await request.body(), request.url.path == "/labels"
        if len(raw) > _LARGEST:
            raise _Refused(413, "too_large")
        media = request.headers.get("content-type", "").partition(";")[0]
        if media != "application/json" and not (on_labels and "text-read-on-labels" in sins):
            raise _Refused(415, "unsupported_media_type")
        try:
            value = json.loads(raw)
        except (ValueError, RecursionError):
            raise _Refused(400, "invalid_request") from None
        checked = schema
        if on_labels and "weight-unchecked-on-labels" in sins:
            checked = {**schema, "properties": {"weight": {"type": "integer"}}}
        check(value, checked)
        return value

    def check(value: object, schema: Mapping[str, Any]) -> None:
        if not jsonschema.Draft202012Validator(schema).is_valid(value):
            raise _Refused(400, "invalid_request")

    def keep_label(code: str, raw: bytes) -> None:
        try:
            sent = json.loads(raw)
        except (ValueError, RecursionError):
            return
        weight = sent.get("weight") if isinstance(sent, dict) else None
        if code in stored and isinstance(weight, int) and weight > WEIGHT["maximum"]:
            stored[code] |= {"label": sent.get("label")}

    def weigh(parcel: dict[str, Any], *, new: bool) -> None:
        given = parcel.keys()
        crash(
            longest_label_crashes=len(parcel["label"]) == 40,
            shortest_label_crashes=len(parcel["label"]) == 1,
            least_weight_crashes=new and parcel["weight"] == 1,
            greatest_weight_crashes=not new and parcel["weight"] == 30,
            full_tags_crash=len(parcel.get("tags", ())) == 4,
            empty_tags_crash=parcel.get("tags") == [],
            rare_size_crashes=parcel.get("size") == "large",
            empty_note_crashes=parcel.get("note") == "",
            emoji_in_a_note_crashes=max(parcel.get("note") or " ") > "\uffff",
            null_note_crashes="note" in given and parcel["note"] is None,
            bare_parcel_crashes=given == {"label", "weight"},
            whole_parcel_crashes=given == NEW["properties"].keys(),
        )

    async def listed(request: Request) -> Response:
        check(dict(request.query_params).keys() <= {"limit"}, {"const": True})
        desk, limit = request.headers.get("x-desk", ""), request.query_params.get("limit", "20")
        check(desk, DESK)
        check(limit.isascii() and limit.isdigit(), {"const": True})
        check(int(limit), LIMIT)
        crash(longest_desk_crashes=len(desk) == 16, greatest_limit_crashes=limit == "100")
        if limit == "100" and "limit-excludes-its-maximum" in sins:
            raise _Refused(400, "invalid_request")
        return JSONResponse([*stored.values()][: int(limit)])

    async def added(request: Request) -> Response:
        parcel = await read(request, NEW)
        weigh(parcel, new=True)
        code = f"parcel-{next(numbers)}"
        stored[code] = {**parcel, "code": code}
        return JSONResponse(stored[code], 201)

    async def labelled(request: Request) -> Response:
        try:
            label = await read(request, LABEL)
        except _Refused as refused:
            if refused.status == 413 and "large-labels-in-other-words" in sins:
                return PlainTextResponse("Request Entity Too Large", 413)
            raise
        return JSONResponse({"text": f"{label['weight']} kg"})

    async def one(request: Request) -> Response:
        code = request.path_params["code"]
        check(code, CODE)
        if request.method == "PUT" and "overweight-keeps-the-label" in sins:
            keep_label(code, await request.body())
        crash(longest_code_crashes=request.method == "GET" and len(code) == 24)
        changed = await read(request, NEW) if request.method == "PUT" else None
        if code not in stored:
            raise _Refused(404, "not_found")
        if request.method == "DELETE":
            del stored[code]
            return Response(status_code=204)
        if changed is not None:
            weigh(changed, new=False)
            stored[code] = {**changed, "code": code}
        return JSONResponse(stored[code])

    async def at_parcels(request: Request) -> Response:
        return await (added if request.method == "POST" else listed)(request)

    async def described_at(request: Request) -> Response:
        return JSONResponse(document())

    async def failed(request: Request, error: Exception) -> Response:
        if isinstance(error, _Refused):
            return _error(error.status, error.code)
        if isinstance(error, _Crashed):
            return _error(500, "internal_error")
        assert isinstance(error, HTTPException)
        code = "method_not_allowed" if error.status_code == 405 else "not_found"
        return _error(error.status_code, code, error.headers)

    return Starlette(
        routes=[
            Route("/openapi.json", described_at),
            Route("/parcels", at_parcels, methods=["GET", "POST"]),
            Route("/labels", labelled, methods=["POST"]),
            Route("/parcels/{code}", one, methods=["GET", "PUT", "DELETE"]),
        ],
        exception_handlers=dict.fromkeys((HTTPException, _Refused, _Crashed), failed),
    )


def _error(status: int, code: str, headers: Mapping[str, str] | None = None) -> Response:
    message = code.replace("_", " ")
    return JSONResponse({"code": code, "message": message}, status, headers)
