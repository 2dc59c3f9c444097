"""Names of codes and envelopes from which the OpenAPI target makes the document's own names."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from faultspec.importers import Report
from faultspec.importers.bodies import BodyFamily, CodedBody, ImportedContract
from faultspec.importers.naming import UniqueNames, identifier
from faultspec.language.spelling import pascal, snake

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.|urn:.")
"""The begin of a URI, such as a problem type, of which the end is the name."""


class CodeKey(NamedTuple):
    """A code: the operation that it belongs to, None for a shared code, and its name."""

    operation: str | None
    name: str


class NamedFamilies(NamedTuple):
    """Families with one body for each code, the envelope of each, and the code of every body."""

    families: list[BodyFamily]
    envelopes: Mapping[BodyFamily, str]
    codes: Mapping[CodedBody, CodeKey]


def assign_names(contract: ImportedContract, lose: Report) -> NamedFamilies:
    """The codes and envelopes of a contract."""
    scopes: dict[str | None, UniqueNames] = {}
    codes = _code_keys(contract.families, scopes)
    families = _one_body_per_wire(contract.families, codes, lose)
    return NamedFamilies(families, _envelope_names(families, codes), codes)


def _code_keys(
    families: Sequence[BodyFamily], scopes: dict[str | None, UniqueNames]
) -> dict[CodedBody, CodeKey]:
    """``scopes``: receives the names in use, shared and for each operation."""
    codes: dict[CodedBody, CodeKey] = {}
    known: dict[str | int, CodeKey] = {}
    for index, family in enumerate(families):
        names = _own_names(family, pascal(family.name or "") if index else "")
        operations = _operations_of(family, names)
        for body, name, operation in zip(family.bodies, names, operations, strict=True):
            identity = name or body.wire
            if identity not in known:
                scope = None if operation is None else identifier(snake(operation), "operation")
                wanted = _code_name(body.wire, name.removeprefix(operation or ""))
                unused = scopes.setdefault(scope, UniqueNames()).reserve(wanted)
                known[identity] = CodeKey(scope, unused)
            codes[body] = known[identity]
    return codes


def _own_names(family: BodyFamily, prefix: str) -> list[str]:
    """The names of the schemas, without the envelope's name if all begin with it."""
    names = [body.ref or "" for body in family.bodies]
    if all(name.startswith(prefix) and name != prefix for name in names):
        return [name.removeprefix(prefix) for name in names]
    return names


def _code_name(wire: str | int, name: str) -> str:
    """A name for a code that the OpenAPI target spells as the document does."""
    text = str(wire)
    if _IDENTIFIER.fullmatch(text) and (not name or pascal(text) == name):
        return text
    if _URI.match(text):
        text = re.split("[/#:]", text.rstrip("/#:"))[-1]
    return identifier(snake(name) if name else text, "code")


def _operations_of(family: BodyFamily, names: Sequence[str]) -> Iterator[str | None]:
    """The operation of each code: the part of the schema's name before the code's own name.

    Only the last codes have operations, as our OpenAPI target writes them.
    """
    wires = [str(body.wire) for body in family.bodies]
    own = [pascal(wire) for wire in wires]
    first = len(names)
    while first and own[first - 1] and _is_longer(names[first - 1], own[first - 1]):
        first -= 1
    repeated = len({body.wire for body in family.bodies}) < len(wires)
    if not repeated and not all(re.fullmatch(r"[A-Za-z_]\w*", wire) for wire in wires[first:]):
        first = len(names)
    for index, (name, code) in enumerate(zip(names, own, strict=True)):
        yield name.removesuffix(code) if index >= first else None


def _is_longer(name: str, ending: str) -> bool:
    return name.endswith(ending) and name != ending


def _one_body_per_wire(
    families: Sequence[BodyFamily], codes: dict[CodedBody, CodeKey], lose: Report
) -> list[BodyFamily]:
    """The families with one body for each code.

    Codes with one wire in one scope become one code, the first of them.
    """
    owners: dict[tuple[str | None, str], CodeKey] = {}
    found = []
    for family in families:
        kept: dict[CodeKey, CodedBody] = {}
        for body in family.bodies:
            owner = owners.setdefault((codes[body].operation, str(body.wire)), codes[body])
            if owner != codes[body]:
                reason = (
                    f"`{body.wire}` is `{owner.name}` already; the wire does not tell them apart"
                )
                lose(body.pointer, "wire", reason)
                codes[body] = owner
            kept.setdefault(owner, body)
        responses = {
            status: dict.fromkeys(kept[codes[body]] for body in bodies)
            for status, bodies in family.responses.items()
        }
        found.append(replace(family, bodies=list(kept.values()), responses=responses))
    return found


def _envelope_names(
    families: Sequence[BodyFamily], codes: Mapping[CodedBody, CodeKey]
) -> dict[BodyFamily, str]:
    names = UniqueNames()
    found = {
        family: names.reserve(identifier(snake(family.name or "error"), "error"))
        for family in families
    }
    codes_in_pascal = {pascal(codes[body].name) for family in families for body in family.bodies}
    for family in families:
        # The target appends `Envelope` to an envelope that is called like a code.
        plain = (family.name or "").removesuffix("Envelope")
        if plain and plain != family.name and plain in codes_in_pascal:
            others = {name for other, name in found.items() if other is not family}
            found[family] = UniqueNames(others).reserve(snake(plain))
    return found
