"""Schemas of a document as JSON Schema 2020-12, complete in themselves: references followed, the dialect of 3.0 left."""

from collections.abc import Mapping
from typing import Any

from faultspec.importers import Json, Loss
from faultspec.importers.places import at, child

#: Schemas nested deeper than this are cut; the taxonomy's own nesting ends at 100 levels.
_DEEPEST = 24

#: Values in one schema with all its references followed; a larger one is cut, or a small document becomes a huge taxonomy.
_LARGEST = 2_000

#: References that lead to references, before it is called a circle.
_CHAIN = 32


class Dialect:
    """Reads the schemas of one document. ``losses``: where what can't be followed is told."""

    def __init__(self, document: Json, losses: list[Loss]) -> None:
        self.document = document
        self.old = str(document.get("openapi", "")).startswith("3.0")
        self.losses = losses

    def lose(self, pointer: str, kind: str, reason: str) -> None:
        """Tell of a loss; one that is told twice is reported once."""
        self.losses.append(Loss(pointer, kind, reason))

    def followed(self, value: Any, pointer: str) -> tuple[Any, str]:
        """What a value is once its references are followed, and where that stands; None where they lead nowhere."""
        for _ in range(_CHAIN):
            if not isinstance(value, Mapping) or not isinstance(value.get("$ref"), str):
                return value, pointer
            target = value["$ref"]
            for key in value:
                if key != "$ref" and not key.startswith("x-"):
                    self.lose(
                        child(pointer, key),
                        "reference",
                        "what stands beside a reference is not carried",
                    )
            if not target.startswith("#"):
                self.lose(
                    pointer,
                    "reference",
                    f"the reference leads out of the document, to {target}; nothing is fetched",
                )
                return None, pointer
            found = at(self.document, target[1:])
            if found is None:
                self.lose(pointer, "reference", f"nothing stands at {target}")
                return None, pointer
            value, pointer = found, target[1:]
        self.lose(pointer, "reference", "the reference leads back to itself")
        return None, pointer

    def schema(self, value: Any, pointer: str) -> Any:
        """The schema with every reference replaced by what it names, in the dialect of 2020-12."""
        budget = [_LARGEST]
        return self._whole(value, pointer, (), budget)

    def _whole(self, value: Any, pointer: str, above: tuple[str, ...], budget: list[int]) -> Any:
        before = pointer
        value, pointer = self.followed(value, pointer)
        if not isinstance(value, Mapping):
            return {} if value is None or not isinstance(value, bool) else value
        if pointer in above:
            self.lose(before, "reference", "the schema holds itself; it is cut there")
            return {}
        budget[0] -= 1
        if len(above) >= _DEEPEST or budget[0] < 0:
            self.lose(
                before,
                "size",
                "the schema is too large with its references followed; it is cut there",
            )
            return {}
        above = (*above, pointer)
        found: dict[str, Any] = {}
        for key, each in value.items():
            here = child(pointer, key)
            match key, each:
                case (
                    (
                        "properties"
                        | "patternProperties"
                        | "$defs"
                        | "definitions"
                        | "dependentSchemas"
                    ),
                    Mapping(),
                ):
                    found[key] = {
                        name: self._whole(s, child(here, name), above, budget)
                        for name, s in each.items()
                    }
                case (("allOf" | "anyOf" | "oneOf" | "prefixItems"), list()):
                    found[key] = [
                        self._whole(s, child(here, n), above, budget) for n, s in enumerate(each)
                    ]
                case (
                    (
                        "items"
                        | "not"
                        | "additionalProperties"
                        | "contains"
                        | "propertyNames"
                        | "if"
                        | "then"
                        | "else"
                    ),
                    Mapping(),
                ):
                    found[key] = self._whole(each, here, above, budget)
                case (("discriminator" | "$schema"), _):
                    pass  # what the alternatives say themselves, and the dialect, which is written anew
                case (("xml" | "externalDocs" | "$id" | "$anchor" | "$dynamicAnchor"), _):
                    self.lose(
                        here,
                        "schema",
                        "a word beside the schema, or a name that does not hold where it is copied to",
                    )
                case "nullable", _ if not (
                    self.old and isinstance(each, bool) and ("type" in value or not each)
                ):
                    reason = "`nullable` is true or false, and says nothing without a `type`"
                    self.lose(
                        here,
                        "schema",
                        reason if self.old else "3.1 has no `nullable`; `null` is a type there",
                    )
                case _ if not key.startswith("x-"):
                    found[key] = each
        return upgraded(found) if self.old else found


def upgraded(schema: dict[str, Any]) -> dict[str, Any]:
    """One schema of OpenAPI 3.0 in the words of 2020-12; those inside it are done already."""
    found = dict(schema)
    nullable = found.pop("nullable", False) is True
    if nullable and found.get("enum") == [None]:
        return {
            "type": "null",
            **{key: each for key, each in found.items() if key not in ("type", "enum")},
        }
    if nullable and isinstance(found.get("type"), str):
        found["type"] = [found["type"], "null"]
    for bound, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        exclusive = found.get(bound)
        if isinstance(exclusive, bool):
            del found[bound]
            if exclusive and limit in found:
                found[bound] = found.pop(limit)
    if "example" in found:
        found["examples"] = [found.pop("example")]
    alone = found.get("enum")
    if isinstance(alone, list) and len(alone) == 1 and found.get("type") in (None, "boolean"):
        found = {
            ("const" if key == "enum" else key): (alone[0] if key == "enum" else v)
            for key, v in found.items()
        }
    return _types(found)


def _types(schema: dict[str, Any]) -> dict[str, Any]:
    """``anyOf`` of nothing but types is a list of types, for which 3.0 has no word."""
    branches = schema.get("anyOf")
    if not isinstance(branches, list) or "type" in schema or not branches:
        return schema
    names: list[str] = []
    for branch in branches:
        if not isinstance(branch, Mapping) or set(branch) != {"type"}:
            return schema
        names += [branch["type"]] if isinstance(branch["type"], str) else branch["type"]
    listed = [each for each in dict.fromkeys(names) if each != "null"] + (
        ["null"] if "null" in names else []
    )
    return {"type": listed, **{key: each for key, each in schema.items() if key != "anyOf"}}
