"""The Python types of values."""

from collections.abc import Iterable, Sequence

from faultspec.language.model import Schema, Taxonomy
from faultspec.targets import schema as schemas
from faultspec.targets.filters import WIDTH, literal
from faultspec.targets.layout import subscript

_PYTHON = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}

#: Columns of a line that uses a type, beside the type and what it is the type of: the indentation of a parameter, and the
#: longest default behind it. The values of a Literal that does not fit then get a name of their own.
_AROUND = len("        : ") + len(" | Unset = Unset.UNSET,")


class Annotations:
    """The types of one package. ``named``: source of each Literal that is too long to stand where it is used, by name.

    Such a name lives in ``details.py``, which other modules call ``d``; ``prefix`` is how the user of a type gets there.
    """

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.taxonomy = taxonomy
        self.named: dict[str, str] = {}

    def of(self, schema: Schema, name: str, key: str, prefix: str = "d.") -> str:
        """The type of the value of ``key``: a Literal where its values are listed, ``object`` where nothing is known."""
        values = listed(schema, self.taxonomy)
        if values:
            return self.choice(values, name, key, prefix)
        if not schema.types or schema.opaque is not None:
            return "object"
        parts = [self._plain(type_, schema, name, key, prefix) for type_ in schema.types]
        if "float" in parts and "int" in parts:
            parts.remove("int")
        return union(parts)

    def choice(self, values: Sequence[object], name: str, key: str, prefix: str = "d.") -> str:
        """One of the values; the first of them may be the default of a parameter."""
        flat = f"t.Literal[{', '.join(map(literal, values))}]"
        if len(flat) + len(key) + max(_AROUND, len(f"        :  = {literal(values[0])},")) <= WIDTH:
            return flat
        self.named[name] = subscript(
            "t.Literal", [literal(value) for value in values], 0, len(f"{name} = "), 0
        )
        return f"{prefix}{name}"

    def _plain(self, kind: str, schema: Schema, name: str, key: str, prefix: str) -> str:
        if kind == "array":
            item = (
                self.of(schema.items, name, f"{key}Sequence[]", prefix)
                if schema.items
                else "object"
            )
            return f"Sequence[{item}]"
        return _PYTHON.get(kind, "Mapping[str, object]")


def listed(schema: Schema, taxonomy: Taxonomy) -> list[object]:
    """The values of a closed list that a Literal can hold, or nothing."""
    terms = schemas.vocabulary(schema.vocabulary, taxonomy) if schema.vocabulary else []
    values = list(schema.enum) or list(terms)
    return (
        values
        if all(value is None or isinstance(value, (str, int, bool)) for value in values)
        else []
    )


def union(parts: Iterable[str]) -> str:
    """The parts, each once, None last."""
    return " | ".join(sorted(dict.fromkeys(parts), key=lambda each: each == "None"))


def parts(annotation: str) -> list[str]:
    """The members of a union; the values of a Literal may hold what looks like one."""
    return [annotation] if "Literal[" in annotation else annotation.split(" | ")


def nullable(schema: Schema) -> bool:
    """Whether null is a value that the schema allows."""
    return "null" in schema.types or None in schema.enum
