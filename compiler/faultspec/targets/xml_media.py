"""The content of an XML answer in OpenAPI: the schema of the root element, with its name."""

from collections.abc import Iterator, Mapping

from faultspec.runtime.codecs import find_codec
from faultspec.runtime.nodes import Node, Object, child

Json = dict[str, object]


def is_xml(media_type: str) -> bool:
    """Whether bodies of a media type are XML."""
    codec = find_codec(media_type)
    return codec is not None and codec.name == "XML"


def xml_media(shape: Node, media: Mapping[str, object]) -> Json | None:
    """The content whose schemas are those of the root element; None if the shape has not one.

    In OpenAPI the name of the root is an annotation, and no member. The examples, which are JSON
    objects with that member, are left out.
    """
    if not isinstance(shape, Object) or len(shape.members) != 1:
        return None
    root = shape.members[0].name
    inner = child("/properties", root)
    found = [{"$ref": f"{reference}{inner}"} for reference in _references(media["schema"])]
    return {"schema": {"anyOf": found, "xml": {"name": root}}} if found else None


def _references(schema: object) -> Iterator[str]:
    """The references of a union, or of a whole schema that is one."""
    branches = [schema]
    if isinstance(schema, dict):
        branches += [*schema.get("oneOf", ()), *schema.get("anyOf", ()), *schema.get("allOf", ())]
    for branch in branches:
        if isinstance(branch, dict) and isinstance(branch.get("$ref"), str):
            yield branch["$ref"]
