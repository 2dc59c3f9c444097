"""Swagger 2.0 in the shape of OpenAPI 3.0, and the place of every part in the user's document.

Parts of the wrong type stay as they are, so that the reader reports them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from faultspec.openapi.nodes import FORM, MULTIPART, Json, is_json, mapping, sequence
from faultspec.openapi.pointers import child, value_at
from faultspec.openapi.reader import METHODS, Loss, follow
from faultspec.openapi.schemas import LISTS, MAPS, SINGLE
from faultspec.openapi.text import DEEPEST

#: Members of the root that 3.0 does not have, or that are made anew.
_OF_ROOT = frozenset(
    {"swagger", "host", "basePath", "schemes", "consumes", "produces", "components", "servers"}
)

#: Members of an operation that 3.0 does not have, or that are made anew.
_OF_OPERATIONS = frozenset({"consumes", "produces", "schemes", "parameters", "responses"})

#: Members of a parameter or header that 3.0 does not have in its schema.
_BESIDE_SCHEMAS = frozenset(
    {"name", "in", "required", "description", "collectionFormat", "allowEmptyValue", "example"}
)

#: ``style`` and ``explode`` of a ``collectionFormat``. 3.0 has no values separated by tabs.
_STYLES: Mapping[object, Json] = {
    "multi": {"style": "form", "explode": True},
    "ssv": {"style": "spaceDelimited", "explode": False},
    "pipes": {"style": "pipeDelimited", "explode": False},
    "csv": {"explode": False},
}

_FLOWS = {"accessCode": "authorizationCode", "application": "clientCredentials"}

MediaTypes = dict[str, str]
"""Media types, each with the pointer at which the user's document lists it."""


class OpenApi3(NamedTuple):
    """A document in the shape of OpenAPI 3.

    ``origins``: of each part that moved, its pointer in the user's document. ``losses``: with
    pointers of the user's document.
    """

    document: Json
    origins: Mapping[str, str]
    losses: tuple[Loss, ...] = ()

    def original(self, pointer: str) -> str:
        """The pointer in the user's document of what is at a pointer of this one."""
        return _translate(pointer, self.origins)


def openapi_3(document: Json) -> OpenApi3:
    """The document itself, or a Swagger 2.0 document in the shape of OpenAPI 3.0."""
    if "swagger" not in document or "openapi" in document:
        return OpenApi3(document, {})
    conversion = _Conversion(document)
    found = conversion.document()
    return OpenApi3(found, conversion.origins, tuple(conversion.losses))


def _translate(pointer: str, table: Mapping[str, str]) -> str:
    """The pointer with the longest of its beginnings that is in the table replaced."""
    start, rest = pointer, ""
    while start and start not in table:
        start, _, last = start.rpartition("/")
        rest = f"/{last}{rest}"
    return table.get(start, start) + rest


@dataclass(slots=True)
class _Conversion:
    """Methods take a value of ``source`` with ``new`` and ``old``: its pointers in the result and
    in ``source``. ``targets``: of each part that moved, its new pointer. ``references``: the
    objects of the result with a ``$ref``.
    """

    source: Json
    origins: dict[str, str] = field(default_factory=dict)
    targets: dict[str, str] = field(default_factory=dict)
    references: list[dict[str, Any]] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)

    def document(self) -> Json:
        """The whole document."""
        source = self.source
        # Components come first: a reference to a component leads to it, not to a copy of it.
        sections = (
            ("definitions", "schemas", self._schema),
            ("responses", "responses", self._shared_response),
            ("parameters", "parameters", self._parameter),
            ("securityDefinitions", "securitySchemes", _security_scheme),
        )
        moved = _OF_ROOT.union(key for key, _, _ in sections)
        found: dict[str, Any] = {key: source[key] for key in source if key not in moved}
        found["openapi"] = "3.0.3"
        if url := self._address():
            found["servers"] = [{"url": url}]
        components = {
            name: self._members(source[key], f"/components/{name}", f"/{key}", convert)
            for key, name, convert in sections
            if key in source
        }
        if components:
            found["components"] = components
        if "paths" in source:
            found["paths"] = self._members(source["paths"], "/paths", "/paths", self._path_item)
        for node in self.references:
            target = node["$ref"]
            if target.startswith("#/") and value_at(source, target[1:]) is not None:
                node["$ref"] = "#" + _translate(target[1:], self.targets)
        return found

    def _address(self) -> str:
        """The address of the service, as far as the document has it; "" if it has nothing."""
        host, base = self.source.get("host"), self.source.get("basePath")
        path = f"/{base.strip('/')}" if isinstance(base, str) else ""
        if not isinstance(host, str) or not re.fullmatch(r"[\w.-]+(:\d+)?", host):
            return path
        schemes = sequence(self.source.get("schemes"))
        scheme = next((f"{name}:" for name in ("https", "http") if name in schemes), "")
        return f"{scheme}//{host}{path}"

    def _members(self, value: Any, new: str, old: str, convert: Any) -> Any:
        """An object with each of its members converted."""
        self._move(new, old)
        if not isinstance(value, Mapping):
            return value
        return {
            name: convert(member, child(new, name), child(old, name))
            for name, member in value.items()
        }

    def _move(self, new: str, old: str) -> None:
        self.origins[new] = old
        self.targets.setdefault(old, new)

    def _convert_reference(self, value: Json) -> dict[str, Any]:
        """A copy of an object with a ``$ref``, which `document` changes."""
        found = dict(value)
        if isinstance(value["$ref"], str):
            self.references.append(found)
        return found

    def _media_types(self, key: str, node: Json, pointer: str) -> MediaTypes:
        """``consumes`` or ``produces`` of an operation, or else of the document."""
        holder, place = (node, child(pointer, key)) if key in node else (self.source, f"/{key}")
        return {
            media_type: child(place, index)
            for index, media_type in enumerate(sequence(holder.get(key)))
            if isinstance(media_type, str)
        }

    # Schemas

    def _schema(self, value: Any, new: str, old: str) -> Any:
        if not isinstance(value, Mapping) or new.count("/") > DEEPEST:
            return value
        found = {
            key: self._keyword(key, inner, child(new, key), child(old, key))
            for key, inner in value.items()
            if key != "x-nullable"
        }
        if "x-nullable" in value:
            found["nullable"] = value["x-nullable"]
            self._move(child(new, "nullable"), child(old, "x-nullable"))
        if value.get("type") == "file":
            found |= {"type": "string", "format": "binary"}
        if isinstance(value.get("$ref"), str):
            self.references.append(found)
        return found

    def _keyword(self, key: str, value: Any, new: str, old: str) -> Any:
        if key == "discriminator" and isinstance(value, str):
            return {"propertyName": value}
        if key in SINGLE:
            return self._schema(value, new, old)
        if key in MAPS and isinstance(value, Mapping):
            return {
                name: self._schema(member, child(new, name), child(old, name))
                for name, member in value.items()
            }
        if key in LISTS and isinstance(value, list):
            return [
                self._schema(item, child(new, index), child(old, index))
                for index, item in enumerate(value)
            ]
        return value

    def _convert_parameter(self, value: Any, new: str, old: str) -> Any:
        """A header, or a parameter outside of the body, with its keywords in a schema."""
        self._move(new, old)
        if not isinstance(value, Mapping) or "schema" in value:
            return value
        if "$ref" in value:
            return self._convert_reference(value)
        self._move(child(new, "schema"), old)
        own = {key: value[key] for key in value if key not in _BESIDE_SCHEMAS}
        rest = {key: value[key] for key in value if key in _BESIDE_SCHEMAS}
        return {**rest, "schema": self._schema(own, child(new, "schema"), old)}

    # Responses

    def _shared_response(self, value: Any, new: str, old: str) -> Any:
        return self._response(value, new, old, self._media_types("produces", {}, ""))

    def _response(self, value: Any, new: str, old: str, produces: MediaTypes) -> Any:
        if not isinstance(value, Mapping):
            return value
        if "$ref" in value:
            if produces == self._media_types("produces", {}, ""):
                return self._convert_reference(value)
            # The operation has media types of its own, so the shared response is not its response.
            target, place = follow(self.source, value, old, self._lose)
            if not isinstance(target, Mapping):
                return self._convert_reference(value)
            for key in target:
                self._move(child(new, key), child(place, key))
            value, old = target, place
        found = {key: value[key] for key in value if key not in ("schema", "examples", "headers")}
        if "headers" in value:
            found["headers"] = self._members(
                value["headers"],
                child(new, "headers"),
                child(old, "headers"),
                self._convert_parameter,
            )
        if not isinstance(value.get("examples", {}), Mapping):
            found["examples"] = value["examples"]
        if content := self._content(value, child(new, "content"), old, produces):
            found["content"] = content
        return found

    def _content(self, response: Json, new: str, old: str, produces: MediaTypes) -> Json:
        """The bodies of a response: one for each media type."""
        schema, examples = child(old, "schema"), mapping(response.get("examples"))
        places = {name: child(child(old, "examples"), name) for name in examples}
        if "schema" in response:
            places |= produces or ({} if places else {"application/json": schema})
        found: dict[str, Any] = {}
        for media_type, listing in places.items():
            place = child(new, media_type)
            media: dict[str, Any] = {}
            if "schema" in response:
                self._move(child(place, "schema"), schema)
                media["schema"] = self._schema(response["schema"], child(place, "schema"), schema)
                listing = schema if is_json(media_type) else listing
            self._move(place, listing)
            if media_type in examples:
                media["example"] = examples[media_type]
                where = child(child(old, "examples"), media_type)
                self._move(child(place, "example"), where)
            found[media_type] = media
        return found

    def _lose(self, pointer: str, kind: str, reason: str) -> None:
        self.losses.append(Loss(pointer, kind, reason))

    # Paths

    def _path_item(self, value: Any, new: str, old: str) -> Any:
        if not isinstance(value, Mapping):
            return value
        found = self._convert_reference(value) if "$ref" in value else {**value}
        shared = list(self._declared_parameters(value, old))
        for method in map(str.lower, METHODS):
            if isinstance(value.get(method), Mapping):
                places = child(new, method), child(old, method)
                found[method] = self._operation(value[method], *places, shared)
        if isinstance(value.get("parameters"), list):
            found["parameters"] = self._parameters(value["parameters"], new, old)
        return found

    def _operation(self, node: Json, new: str, old: str, shared: list[tuple[Json, str]]) -> Json:
        """``shared``: the parameters of the path item with their pointers."""
        found = {key: node[key] for key in node if key not in _OF_OPERATIONS}
        if isinstance(node.get("parameters"), list):
            found["parameters"] = self._parameters(node["parameters"], new, old)
        declared = [*self._declared_parameters(node, old), *shared]
        consumes = self._media_types("consumes", node, old)
        if body := self._request_body(declared, consumes, child(new, "requestBody")):
            found["requestBody"] = body
        if "responses" in node:
            produces = self._media_types("produces", node, old)
            found["responses"] = self._members(
                node["responses"],
                child(new, "responses"),
                child(old, "responses"),
                lambda value, new, old: self._response(value, new, old, produces),
            )
        return found

    def _declared_parameters(self, node: Json, pointer: str) -> Iterator[tuple[Json, str]]:
        """The parameters of an operation or path item with their pointers, references followed."""
        for index, value in enumerate(sequence(node.get("parameters"))):
            place = child(child(pointer, "parameters"), index)
            found, place = follow(self.source, value, place, lambda *_: None)
            if isinstance(found, Mapping):
                yield found, place

    def _parameters(self, values: list[Any], new: str, old: str) -> list[Any]:
        """The parameters outside of the body."""
        found: list[Any] = []
        for index, value in enumerate(values):
            target = follow(self.source, value, "", lambda *_: None)[0]
            if mapping(target).get("in") not in ("body", "formData"):
                place = child(child(new, "parameters"), len(found))
                was = child(child(old, "parameters"), index)
                found.append(self._parameter(value, place, was))
        return found

    def _parameter(self, value: Any, new: str, old: str) -> Any:
        found = self._convert_parameter(value, new, old)
        if isinstance(found, Mapping) and "collectionFormat" in found:
            style = _STYLES.get(str(found["collectionFormat"]), {})
            return {**{key: found[key] for key in found if key != "collectionFormat"}, **style}
        return found

    def _request_body(
        self, declared: list[tuple[Json, str]], consumes: MediaTypes, new: str
    ) -> Json | None:
        for node, old in declared:
            if node.get("in") == "body":
                self._move(new, old)
                kept = {key: node[key] for key in ("description", "required") if key in node}
                return {**kept, "content": self._body_content(node, new, old, consumes)}
        fields: dict[str, tuple[Json, str]] = {}
        for node, old in declared:
            if node.get("in") == "formData" and isinstance(node.get("name"), str):
                fields.setdefault(node["name"], (node, old))
        if not fields:
            return None
        has_file = any(node.get("type") == "file" for node, _ in fields.values())
        media_types = [name for name in consumes if name in (FORM, MULTIPART)]
        required = [name for name, (node, _) in fields.items() if node.get("required") is True]
        content = {}
        for media_type in media_types or [MULTIPART if has_file else FORM]:
            place = child(child(new, "content"), media_type)
            properties: dict[str, Any] = {}
            for name, (node, old) in fields.items():
                member = child(f"{place}/schema/properties", name)
                properties[name] = self._convert_parameter(node, member, old).get("schema", {})
                self._move(member, old)
            schema = {"type": "object", "properties": properties}
            content[media_type] = {
                "schema": {**schema, **({"required": required} if required else {})}
            }
        return {"required": bool(required), "content": content}

    def _body_content(self, node: Json, new: str, old: str, consumes: MediaTypes) -> Json:
        found: dict[str, Any] = {}
        for media_type in consumes or ("application/json",):
            place = child(child(child(new, "content"), media_type), "schema")
            self._move(place, child(old, "schema"))
            found[media_type] = (
                {"schema": self._schema(node["schema"], place, child(old, "schema"))}
                if "schema" in node
                else {}
            )
        return found


def _security_scheme(value: Any, new: str, old: str) -> Any:
    match value:
        case {"type": "basic"}:
            return {**value, "type": "http", "scheme": "basic"}
        case {"type": "oauth2", "flow": str(flow)}:
            own = {key: value[key] for key in value if key not in ("type", "flow")}
            return {"type": "oauth2", "flows": {_FLOWS.get(flow, flow): own}}
    return value
