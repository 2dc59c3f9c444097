"""The schema of an XML body as it is read: elements and attributes are members of objects."""

from collections.abc import Mapping
from typing import Any

from faultspec.importers import Json
from faultspec.openapi.nodes import mapping, sequence

_ALTERNATIVES = ("allOf", "anyOf", "oneOf")


def decoded_schema(schema: Json, name: str | None) -> Json | None:
    """The schema of what a codec reads from bodies of a schema without references; None if nothing
    names the root element.

    ``name``: that of the schema, which the root element has unless ``xml`` renames it (OpenAPI
    3.1, section 4.8.26).
    """
    root = mapping(schema.get("xml")).get("name", name)
    if not isinstance(root, str) or not root:
        return None
    return {"type": "object", "required": [root], "properties": {root: _element(schema)}}


def _element(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    found = {key: value for key, value in schema.items() if key != "xml"}
    for keyword in _ALTERNATIVES:
        if keyword in found:
            found[keyword] = [_element(each) for each in sequence(found[keyword])]
    if "items" in found:
        found["items"] = _element(found["items"])
    members = mapping(found.get("properties"))
    if members:
        names = {str(name): _name(str(name), mapping(each)) for name, each in members.items()}
        found["properties"] = {
            names[str(name)]: _member(str(name), each) for name, each in members.items()
        }
        if "required" in found:
            found["required"] = [names.get(each, each) for each in sequence(found["required"])]
    return found


def _name(name: str, schema: Json) -> str:
    """The name of a member: that of its items, if no element is around these."""
    xml, items = mapping(schema.get("xml")), mapping(schema.get("items"))
    if "items" in schema and xml.get("wrapped") is not True:
        return str(mapping(items.get("xml")).get("name", name))
    own = str(xml.get("name", name))
    return f"@{own}" if xml.get("attribute") is True else own


def _member(name: str, schema: Any) -> Any:
    element = _element(schema)
    if "items" not in mapping(schema) or mapping(schema.get("xml")).get("wrapped") is not True:
        return element
    item = mapping(mapping(schema["items"]).get("xml")).get("name", name)
    return {"type": "object", "properties": {str(item): element}}
