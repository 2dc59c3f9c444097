"""The Go target: one package over the catalogue of the taxonomy, standard library only."""

import re
from collections.abc import Iterator, Mapping
from json import dumps
from typing import NamedTuple

from faultspec.language.model import DetailMember, Schema, Taxonomy
from faultspec.language.spelling import pascal, words
from faultspec.targets import schema as schemas
from faultspec.targets.catalog import catalog
from faultspec.targets.data_rows import Json
from faultspec.targets.doc_text import code_paragraphs
from faultspec.targets.filters import take_unique, visible
from faultspec.targets.literals import Verbatim
from faultspec.targets.model import Model, detail_row
from faultspec.targets.python.constructors import allowed_details, flag_key

#: Comments that Go's tools read.
_MARKS = {"deprecated": "Deprecated:", "experimental": "Experimental:", "beta": "Beta:"}

#: What `encoding/json` accepts as a name in a tag, without the comma that ends it.
_TAGGABLE = re.compile(r"[A-Za-z0-9!#$%&()*+./:;<=>?@\[\]^_{|}~ -]+")

#: Names of the package that `New` and the name of a code could hide.
_TAKEN = frozenset({"Error"})

_TYPES = {"string": "string", "integer": "int64", "number": "float64", "boolean": "bool"}


class GoCodeRow(NamedTuple):
    """A constant of the type ``Code``."""

    constant: str
    doc: str
    literal: str


class GoField(NamedTuple):
    """A field of a struct of details."""

    name: str
    type: str
    tag: str
    doc: str


class GoErrorRow(NamedTuple):
    """A constructor. ``fields``: none if its details are a map."""

    name: str
    doc: str
    constant: str
    operation: str
    fields: tuple[GoField, ...]


class GoView(NamedTuple):
    """The values of the package. ``needed``: the slots that only a service can fill."""

    package: str
    title: str
    header: str
    catalog: Json
    needed: tuple[str, ...]
    codes: tuple[GoCodeRow, ...]
    errors: tuple[GoErrorRow, ...]


def view(taxonomy: Taxonomy, model: Model) -> GoView:
    """The rows of the Go target; raises TargetError for errors that the package could not read."""
    found = catalog(taxonomy, model, "go")
    constants = _constants(taxonomy)
    return GoView(
        package=package_name(taxonomy.name),
        title=visible(taxonomy.title),
        header=model.header,
        catalog=found,
        needed=tuple(found["needed"]),
        codes=tuple(
            GoCodeRow(
                constants[code.name],
                _doc(f"{constants[code.name]}: {code.summary}"),
                dumps(code.name),
            )
            for code in schemas.distinct_codes(taxonomy)
        ),
        errors=tuple(_error_rows(taxonomy, constants)),
    )


def package_name(taxonomy: str) -> str:
    """``ordererrors`` for the taxonomy ``order``: lower case, no underscores."""
    stem = "".join(words(taxonomy)).lower() or "taxonomy"
    stem = f"t{stem}" if stem[0].isdigit() else stem
    return stem if stem.endswith(("error", "errors")) else f"{stem}errors"


def _constants(taxonomy: Taxonomy) -> Mapping[str, str]:
    taken: set[str] = set()
    return {
        code.name: take_unique(f"Err{pascal(code.name)}", taken)
        for code in schemas.distinct_codes(taxonomy)
    }


def _error_rows(taxonomy: Taxonomy, constants: Mapping[str, str]) -> Iterator[GoErrorRow]:
    taken = set(_TAKEN)
    flag = flag_key(taxonomy)
    for operation, code in schemas.live(taxonomy):
        stem = (pascal(operation) if operation else "") + pascal(code.name)
        name = take_unique(f"Code{stem}" if not stem or stem[0].isdigit() else stem, taken)
        taken.add(f"{name}Details")
        members = {} if code.details_schema is not None else allowed_details(code)
        yield GoErrorRow(
            name=name,
            doc="\n".join(
                [
                    _doc(f"New{name} is the error {constants[code.name]}."),
                    *(
                        line
                        for paragraph in code_paragraphs(code, _MARKS, taxonomy.owner)
                        for line in ("", _doc(paragraph))
                    ),
                ]
            ),
            constant=constants[code.name],
            operation=dumps(operation or ""),
            fields=_fields(members, flag, taxonomy),
        )


def _fields(
    members: Mapping[str, DetailMember], flag: str | None, taxonomy: Taxonomy
) -> tuple[GoField, ...]:
    """The fields of a struct; none if a key cannot stand in a tag, or is but the retry flag."""
    own = {key: member for key, member in members.items() if key != flag}
    if not all(_TAGGABLE.fullmatch(key) for key in own):
        return ()
    taken: set[str] = set()
    return tuple(_field(key, member, taken, taxonomy) for key, member in own.items())


def _field(key: str, member: DetailMember, taken: set[str], taxonomy: Taxonomy) -> GoField:
    name = pascal(key)
    name = take_unique(f"Field{name}" if not name or name[0].isdigit() else name, taken)
    optional = member.presence != "required"
    kind = _type(member.schema)
    if (optional or "null" in member.schema.types) and kind in _TYPES.values():
        kind = f"*{kind}"
    tag = f'`json:"{key},omitempty"`' if optional else f'`json:"{key}{"," * (key == "-")}"`'
    return GoField(name, kind, tag, _doc(detail_row(member, taxonomy).description))


def _type(schema: Schema) -> str:
    """The Go type of a value; ``any`` if several are declared, or none."""
    kinds = [each for each in schema.types if each != "null"]
    if len(kinds) != 1 or schema.opaque is not None:
        return "any"
    if kinds[0] == "array":
        return "[]any" if schema.items is None else f"[]{_type(schema.items)}"
    return "map[string]any" if kinds[0] == "object" else _TYPES[kinds[0]]


def _doc(text: str) -> Verbatim:
    """A paragraph of a comment. A line without a full stop would be a heading for `gofmt`."""
    line = visible(text)
    return Verbatim(f"{line}." if line[-1:].isalnum() else line)
