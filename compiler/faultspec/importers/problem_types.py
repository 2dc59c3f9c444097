"""From a registry of problem types (RFC 9457, section 4.2) to a taxonomy.

A registry lists type URI, title, recommended HTTP status and reference. Its rows are in a list, as
our target ``problems`` and the CSV and XML of IANA have them, or are schemas of the bodies, whose
members ``type``, ``title`` and ``status`` are constants. The type is the place of the code. Rows of
our own registry also have the code, its facts and the members that extend the body.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from faultspec.importers import Data, ImportedTaxonomy, Json, Loss, NotImportable, Report
from faultspec.importers.assembly import assemble
from faultspec.importers.clean import clean_document
from faultspec.importers.envelopes import one_or_all
from faultspec.importers.examples import MADE_MESSAGE
from faultspec.importers.naming import UniqueNames, identifier, slot_name
from faultspec.importers.registry import merge_orders
from faultspec.language.constructs.parts import URL
from faultspec.language.spelling import snake
from faultspec.openapi.nodes import mapping, sequence, texts, visible_text
from faultspec.openapi.pointers import child
from faultspec.openapi.reader import resolve

MEDIA_TYPE = "application/problem+json"

#: The names that registries give to the fields of RFC 9457 §4.2, without case and punctuation.
_FIELDS: Mapping[str, Sequence[str]] = {
    "type": ("type", "typeuri", "uri", "problemtype", "value", "id", "url"),
    "title": ("title", "name", "summary"),
    "status": (
        "status",
        "recommendedhttpstatuscode",
        "recommendedhttpstatus",
        "recommendedstatus",
        "httpstatuscode",
        "httpstatus",
        "statuscode",
    ),
    "reference": ("reference", "references", "docs", "documentation", "specification", "xref"),
    "description": ("description", "detail", "details"),
}

#: Members of RFC 9457 §3.1.
_STANDARD = ("type", "title", "status", "detail", "instance")

#: The members that have the rows of a registry.
_LISTS = ("problems", "problemtypes", "types", "records", "record", "rows", "entries")

#: The members that have schemas, of which some are of problem types.
_SCHEMAS = ("$defs", "definitions", "schemas")
_IN_SCHEMAS = re.compile(r"(/components)?/(\$defs|definitions|schemas)/")

_ERROR_STATUS = re.compile(r"(?<![\w.#-])([45]\d\d-[45]\d\d|[45]\d\d|[45]xx)(?![\w.-])", re.I)

#: Levels of references and `allOf` in the schema of a body.
_DEEPEST = 8

#: What any status is; a registry that recommends none allows it.
_ANY = ["4xx", "5xx"]


class _Row(NamedTuple):
    """A problem type. ``extensions``: for each member that extends the body, its JSON Schema."""

    pointer: str
    type: str
    data: Json
    extensions: Mapping[str, Json]

    def field(self, name: str) -> object:
        """The value of a field, by any of its names."""
        folded = {re.sub(r"[^a-z]", "", key.lower()): value for key, value in self.data.items()}
        return next((folded[key] for key in _FIELDS[name] if folded.get(key) is not None), None)

    @property
    def title(self) -> str | None:
        """The title, on one line."""
        title = visible_text(self.field("title"))
        return None if title is None else " ".join(title.split())

    @property
    def operation(self) -> str | None:
        """The operation that alone has the problem type."""
        return visible_text(self.data.get("operation"))

    @property
    def wire(self) -> str | int:
        """The code in bodies, if the registry names one, else the type."""
        code = self.data.get("code")
        return self.type if isinstance(code, bool) or not isinstance(code, str | int) else code


def read(document: object, name: str) -> ImportedTaxonomy:
    """The taxonomy of a registry. ``name``: of the taxonomy. Raises NotImportable."""
    listed = isinstance(document, list)
    data, losses = clean_document({"problems": document} if listed else document, "problem types")

    def lose(pointer: str, kind: str, reason: str) -> None:
        own = pointer.removeprefix("/problems") if listed else pointer
        losses.append(Loss(own, kind, reason))

    rows = _distinct(_rows(data, lose), lose)
    if not rows:
        message = "the document lists no problem types"
        hint = (
            "a problem type has a type URI and a title, in a list or a table, or as constants of "
            "`type` and `title` in a schema"
        )
        raise NotImportable("no-failures", message, hint=hint)
    envelope = _Envelope(rows, lose)
    titles = (data.get("title"), mapping(data.get("registry")).get("title"))
    title = next(filter(None, map(visible_text, titles)), f"{name} problem types")
    codes, operations = _codes(rows, envelope, lose)
    sections: Data = {
        "envelopes": {"problem": envelope.data()},
        "surfaces": {"api": {"transport": "http", "envelope": "problem", "codes": "open"}},
        "codes": codes,
        **({"operations": operations} if operations else {}),
    }
    lose(
        "",
        "code",
        "a service may answer with other types as well, so `codes` is `open`; the "
        "team closes it if the registry has all",
    )
    header: Data = {
        "name": identifier(snake(name), "problems"),
        "version": "1.0.0",
        "title": title.removesuffix(": problem types"),
    }
    return ImportedTaxonomy(assemble(header, sections), tuple(dict.fromkeys(losses)))


# Rows


def _rows(data: Json, lose: Report) -> Iterator[_Row]:
    for pointer, value in _candidates(data, "", 0):
        if not isinstance(value, dict):
            lose(pointer, "form", "the problem type is not an object")
            continue
        row = _table_row(pointer, value) or _schema_row(pointer, value, data)
        if row is not None:
            yield row
        elif not _IN_SCHEMAS.match(pointer):
            lose(pointer, "form", "this has no type URI, so it is not a problem type")


def _candidates(data: Json, pointer: str, depth: int) -> Iterator[tuple[str, Any]]:
    """The values that may be problem types, each with its pointer."""
    for key, value in data.items():
        place, folded = child(pointer, key), re.sub(r"[^a-z]", "", key.lower())
        if isinstance(value, list) and folded in _LISTS:
            yield from ((child(place, index), item) for index, item in enumerate(value))
        elif isinstance(value, dict) and folded in _LISTS:
            # One record of XML, or a mapping of types to their fields
            if _is_row(value):
                yield place, value
            else:
                for type_, entry in value.items():
                    named = isinstance(entry, dict) and not _is_row(entry)
                    yield child(place, type_), {"type": type_, **entry} if named else entry
        elif isinstance(value, dict) and key in _SCHEMAS:
            yield from ((child(place, inner), schema) for inner, schema in value.items())
        elif isinstance(value, dict) and key in ("registry", "components") and depth < _DEEPEST:
            yield from _candidates(value, place, depth + 1)
        elif isinstance(value, list) and key == "registry":
            for index, inner in enumerate(value):
                yield from _candidates(mapping(inner), child(place, index), depth + 1)


def _is_row(value: Json) -> bool:
    return _table_row("", value) is not None


def _table_row(pointer: str, value: Json) -> _Row | None:
    """A row of a table: its type is a text with visible characters and no blank."""
    if "properties" in value or "allOf" in value:
        return None
    row = _Row(pointer, "", value, {})
    type_ = row.field("type")
    if not isinstance(type_, str) or not re.fullmatch(r"\S+", type_.strip()):
        return None
    named = [*texts(value.get("extensions"))]
    return row._replace(type=type_.strip(), extensions={member: {} for member in named})


def _schema_row(pointer: str, value: Json, document: Json) -> _Row | None:
    """The problem type of a body's schema."""
    members = _members(value, document, 0)
    constants = {
        name: schema["const"]
        for name, schema in members.items()
        if name in _STANDARD and "const" in schema
    }
    type_ = constants.get("type")
    if not isinstance(type_, str) or not type_.strip():
        return None
    code = members.get("code", {}).get("const")
    data = {
        **constants,
        **({} if code is None else {"code": code}),
        "description": _description(value, document),
    }
    extensions = {name: schema for name, schema in members.items() if name not in _STANDARD}
    return _Row(pointer, type_, data, extensions)


def _members(schema: object, document: Json, depth: int) -> dict[str, Json]:
    """The members of a body: those of its parts, then its own."""
    node = resolve(document, schema)
    found: dict[str, Json] = {}
    if depth < _DEEPEST:
        for part in sequence(node.get("allOf")):
            found |= _members(part, document, depth + 1)
    own = mapping(node.get("properties")).items()
    return found | {name: resolve(document, member) for name, member in own}


def _description(schema: Json, document: Json) -> object:
    """The description of a schema, or of the last of its own parts."""
    own = [part for part in sequence(schema.get("allOf")) if "$ref" not in mapping(part)]
    listed = [schema, *reversed(own)]
    return next(
        (mapping(each).get("description") for each in listed if mapping(each).get("description")),
        None,
    )


def _distinct(rows: Iterator[_Row], lose: Report) -> list[_Row]:
    """The rows, the first of each that a client can tell apart."""
    found: dict[tuple[str, str | int, str | None], _Row] = {}
    for row in rows:
        key = (row.type, row.wire, row.operation)
        if key in found:
            reason = f"`{row.type}` is listed already, and the wire does not tell the two apart"
            lose(row.pointer, "wire", reason)
        else:
            found[key] = row
    return list(found.values())


# The envelope


class _Envelope:
    """The picture of all bodies. ``slots``: the slot of each member that extends them."""

    def __init__(self, rows: Sequence[_Row], lose: Report) -> None:
        self.rows, self.lose = rows, lose
        self.members = merge_orders([list(row.extensions) for row in rows])
        # A member `code` of any value is the provider's own.
        coded = [row.data.get("code") for row in rows if "code" in row.extensions]
        self.has_code = bool(coded) and None not in coded
        self.pattern = _pattern(rows)
        self.slots = {
            name: slot_name(name)
            for name in self.members
            if name != "details" and not (name == "code" and self.has_code)
        }

    def data(self) -> Data:
        """The envelope as the language writes it."""
        shape: Data = {
            "type": self.pattern or ("$type" if self.has_code else "$code"),
            "title?": "$title",
            "status?": "$status",
            "detail?": "$message",
            "instance?": "$instance",
        }
        fields: Data = {
            **({"type": {"type": "string"}} if shape["type"] == "$type" else {}),
            "title": {"type": "string"},
            "instance": {"type": "string", "format": "uri-reference"},
        }
        for name in self.members:
            match name:
                case "code" if self.has_code:
                    shape["code"] = "$code"
                case "details":
                    shape["details?"] = "$details"
                case _:
                    shape[f"{name}?"] = f"${self.slots[name]}"
                    fields[self.slots[name]] = self._type(name)
        return {
            "media_type": MEDIA_TYPE,
            "shape": shape,
            "fields": fields,
            # Consumers ignore members that they do not know (RFC 9457 §3.2).
            "additional": "allow",
        }

    def _type(self, name: str) -> Data:
        """The schema of a member that extends the body, as far as all rows agree."""
        schemas = [row.extensions[name] for row in self.rows if name in row.extensions]
        types = [schema.get("type") for schema in schemas]
        kind = (
            types[0] if isinstance(types[0], str) and types.count(types[0]) == len(types) else None
        )
        for row in self.rows:
            if row.extensions.get(name, {}).keys() - {"type", "description"}:
                reason = f"of `{name}` its JSON type alone is carried"
                self.lose(row.pointer, "schema", reason)
        return {} if kind is None else {"type": kind}

    def identity(self, row: _Row, name: str) -> Data:
        """The keys that tie the code to its type and to its value in bodies."""
        found: Data = {} if row.wire == name else {"wire": row.wire}
        if self.pattern or row.wire == row.type:
            return found
        return found if self.has_code else {**found, "on": {"http": row.type}}

    def facts(self, row: _Row) -> Data:
        """The members that are constant."""
        found: Data = {} if self.pattern or not self.has_code else {"type": row.type}
        # The title of about:blank is the phrase of the status (RFC 9457 §4.2.1).
        if row.title is not None and row.type != "about:blank":
            found["title"] = row.title
        return found


def _pattern(rows: Sequence[_Row]) -> str | None:
    """The text of every type around its code, with `${code}` in its place; None if it differs.

    Types are compared as URIs write them, so a code with other characters has no place in one.
    """
    found = set()
    for row in rows:
        before, code, after = row.type.rpartition(str(row.wire))
        if row.wire == row.type or not code:
            return None
        found.add((before, after))
    if len(found) != 1:
        return None
    before, after = found.pop()
    return f"{before.replace('$', '$$')}${{code}}{after.replace('$', '$$')}"


# Codes


def _codes(rows: Sequence[_Row], envelope: _Envelope, lose: Report) -> tuple[Data, Data]:
    """The shared codes, and the operations with codes of their own."""
    names: dict[str | None, UniqueNames] = {}
    scopes: dict[str, str] = {}
    reserved = UniqueNames()
    named = []
    for row in rows:
        scope = row.operation
        if scope is not None and scope not in scopes:
            scopes[scope] = reserved.reserve(identifier(scope, "operation"))
        wanted = identifier(_label(row) or snake(_tail(row)), "problem")
        named.append((row, names.setdefault(scope, UniqueNames()).reserve(wanted)))
    known = _names_by_wire(named)
    shared: Data = {}
    operations: Data = {}
    for row, name in named:
        code = _code(row, name, envelope, lose)
        if later := visible_text(row.data.get("replacedBy")):
            code |= _replacement(row, later, known, lose)
        if row.operation is None:
            shared[name] = code
            continue
        own = operations.setdefault(scopes[row.operation], {})
        if scopes[row.operation] != row.operation:
            own["wire"] = row.operation
        if name in shared:
            kept = ("http", "facts", "example")
            varied = {
                key: code[key] for key in kept if key in code and code[key] != shared[name].get(key)
            }
            own.setdefault("codes", {})[name] = varied or None
        else:
            own.setdefault("errors", {})[name] = code
    return shared, operations


def _label(row: _Row) -> str | None:
    """The name of the code in our own registry."""
    schema = visible_text(row.data.get("schema"))
    if schema is None or "#/$defs/" not in schema:
        return None
    return schema.rpartition("/")[2].removeprefix(f"{row.operation}.")


def _tail(row: _Row) -> str:
    """The part of a problem type that names it."""
    if row.wire != row.type:
        return str(row.wire)
    whole = re.sub(r"\.[a-z]{2,5}$", "", row.type.rstrip("/#"))
    parts = re.split(r"[/#:?=]", whole)
    return parts[-1] if len(parts) > 2 and re.search(r"[A-Za-z]", parts[-1]) else whole


def _code(row: _Row, name: str, envelope: _Envelope, lose: Report) -> Data:
    title = row.title
    code: Data = {"summary": title or f"{name.replace('_', ' ').capitalize()}."}
    if title is None:
        lose(row.pointer, "description", f"`{name}` has no title; its name became the summary")
    description = visible_text(row.field("description"))
    if description is not None and " ".join(description.split()) != title:
        code["description"] = " ".join(description.split())
    code |= envelope.identity(row, name)
    code["http"] = one_or_all(_statuses(row, lose))
    retriable = row.data.get("retriable")
    if isinstance(retriable, bool):
        code["retriable"] = retriable
    code |= _known_facts(row)
    if "details" in row.extensions:
        reason = "the registry does not list the members of `details`"
        lose(row.pointer, "details", reason)
        code["schema"] = {"type": "object"}
    if facts := envelope.facts(row):
        code["facts"] = facts
    code |= _reference(row.field("reference"))
    return {**code, "example": {"message": MADE_MESSAGE}}


def _statuses(row: _Row, lose: Report) -> list[Any]:
    """The statuses, the recommended one first."""
    own = row.data.get("statuses")
    listed = [*sequence(own)] if isinstance(own, list) else [row.field("status")]
    found = [
        int(text) if text.isdecimal() else text.lower()
        for each in listed
        for text in _ERROR_STATUS.findall(str(each))
    ]
    first = row.field("status")
    if not found:
        shown = "no status" if first is None else f"`{first}`, which is not a status of an error"
        lose(row.pointer, "status", f"the registry recommends {shown}; the team decides")
        return _ANY
    return list(dict.fromkeys(found))


#: Members of our own registry, with the keys of a code and the values that they may have.
_OWN: Mapping[str, tuple[str, Sequence[str] | None]] = {
    "clientAction": ("client_action", ("retry", "refetch", "user", "none")),
    "lifecycle": ("lifecycle", ("experimental", "beta", "stable", "deprecated")),
    "since": ("since", None),
    "sunset": ("sunset", None),
    "owner": ("owner", None),
    "runbook": ("runbook", None),
    "docs": ("docs", None),
    "fault": ("fault", ("caller", "service", "dependency")),
}

_FORMS = {
    "since": r"\d+\.\d+\.\d+",
    "sunset": r"\d{4}-\d\d-\d\d",
    "runbook": URL.pattern,
    "docs": URL.pattern,
}


def _known_facts(row: _Row) -> Data:
    found: Data = {}
    for member, (key, terms) in _OWN.items():
        value = visible_text(row.data.get(member))
        if value is None or (terms is not None and value not in terms):
            continue
        form = _FORMS.get(key)
        if (form is None or re.fullmatch(form, value)) and value != "stable":
            found[key] = value
    return found


def _names_by_wire(named: Sequence[tuple[_Row, str]]) -> Mapping[tuple[str | None, str], str]:
    """The name of each code by its operation and either its wire or its name."""
    by_wire = {(row.operation, str(row.data.get("code", row.type))): name for row, name in named}
    found: dict[tuple[str | None, str], str] = {}
    for (operation, wire), name in by_wire.items():
        found.setdefault((operation, wire), name)
        found.setdefault((operation, name), name)
    return found


def _replacement(
    row: _Row, later: str, known: Mapping[tuple[str | None, str], str], lose: Report
) -> Data:
    for scope in (row.operation, None):
        if (scope, later) in known:
            return {"replaced_by": known[scope, later]}
    reason = f"the registry does not list `{later}`, which replaces it"
    lose(child(row.pointer, "replacedBy"), "reference", reason)
    return {}


def _reference(reference: object) -> Data:
    """The documentation of a problem type: a URL, or a section of a standard."""
    text = " ".join(_words(reference)).strip("[] ")
    if not text:
        return {}
    found = re.search(r"https?://[^\s<>\"`{}|\\^\]),;]+", text)
    return {"docs": found[0]} if found else {"source": {"section": _with_space(text)}}


def _words(value: object) -> Iterator[str]:
    """The texts of a reference, which is an element with attributes in XML."""
    if isinstance(value, str):
        yield value.strip()
    elif isinstance(value, list):
        for item in value:
            yield from _words(item)
    elif isinstance(value, dict):
        yield str(value.get("#text") or value.get("@data") or "").strip()


def _with_space(text: str) -> str:
    """`RFC9457` as `RFC 9457`, as the language writes it."""
    return re.sub(r"\brfc\s?-?(\d+)", r"RFC \1", text, flags=re.I)
