"""The Python types of values."""

from collections.abc import Iterable, Sequence

from faultspec.language.model import Schema, Taxonomy
from faultspec.targets import schema as schemas
from faultspec.targets.literals import literal

_PYTHON = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}

#: Names that ``details.py`` has for something else.
_TAKEN = ("Json", "Mapping", "Sequence")


class Annotations:
    """The types of one package. ``named``: the values of each Literal of several values, by its
    name.

    A name lives in ``details.py``. Other modules import that as ``d``, so ``prefix`` is ``d.``
    there.
    """

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.taxonomy = taxonomy
        self.named: dict[str, tuple[str, ...]] = {}

    def annotation(self, schema: Schema, name: str, prefix: str = "d.") -> str:
        """The type of a value: a Literal if its values are listed, ``object`` if nothing is
        declared.

        ``name`` is the name of a Literal of several values.
        """
        values = literal_values(schema, self.taxonomy)
        if values:
            return self.choice(values, name, prefix)
        if not schema.types or schema.opaque is not None:
            return "object"
        if len(schema.types) == 1:
            return self._plain_annotation(schema.types[0], schema, name, prefix)
        parts = [self._plain_annotation(type_, schema, name, prefix) for type_ in schema.types]
        if "float" in parts and "int" in parts:
            parts.remove("int")
        return join_types(parts)

    def choice(self, values: Sequence[object], name: str, prefix: str = "d.") -> str:
        """One of the values."""
        sources = tuple(map(literal, values))
        if len(sources) == 1:
            return f"t.Literal[{sources[0]}]"
        if name.endswith("Details") or name in _TAKEN:
            name += "Value"
        stem, number = name, 2
        while self.named.setdefault(name, sources) != sources:
            name, number = f"{stem}_{number}", number + 1
        return f"{prefix}{name}"

    def _plain_annotation(self, kind: str, schema: Schema, name: str, prefix: str) -> str:
        if kind == "array":
            item = self.annotation(schema.items, name, prefix) if schema.items else "object"
            return f"Sequence[{item}]"
        return _PYTHON.get(kind, "Mapping[str, object]")


def literal_values(schema: Schema, taxonomy: Taxonomy) -> list[object]:
    """The values of a closed list that a Literal can hold, or nothing."""
    terms = schemas.vocabulary(schema.vocabulary, taxonomy) if schema.vocabulary else []
    values = list(schema.enum) or list(terms)
    scalars = all(value is None or isinstance(value, (str, int, bool)) for value in values)
    return values if scalars else []


def join_types(parts: Iterable[str]) -> str:
    """The parts, each once, None last."""
    return " | ".join(sorted(dict.fromkeys(parts), key=lambda part: part == "None"))


def parts(annotation: str) -> list[str]:
    """The members of a union; a value of a Literal may contain the sign of one."""
    return [annotation] if "Literal[" in annotation else annotation.split(" | ")


def is_nullable(schema: Schema) -> bool:
    """Whether the schema allows null."""
    return "null" in schema.types or None in schema.enum
