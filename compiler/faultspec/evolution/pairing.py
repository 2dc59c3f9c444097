"""Renamed constructs: the old taxonomy is rewritten with the new names, so that a rename is one
change and not a removal and an addition."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Literal, NamedTuple, get_args, get_type_hints

from faultspec.diagnostics.model import Path
from faultspec.evolution.notation import align_match
from faultspec.language.model import Code, Operation, Taxonomy

Section = Literal["codes", "envelopes", "surfaces", "retry_policies", "operations"]


class Rename(NamedTuple):
    """A construct of a section that has another name now.

    ``operation``: the new name of the operation whose own code it is; None for shared constructs.
    ``certain``: answers look the same. Otherwise a code has another wire value, and all its other
    fields are alike.
    """

    section: Section
    old: str
    new: str
    operation: str | None = None
    certain: bool = True

    @property
    def path(self) -> Path:
        """The path of the construct in the new taxonomy."""
        if self.operation is not None:
            return ("operations", self.operation, "errors", self.new)
        return (self.section, self.new)


#: The fields that name a construct of a section.
_REFERENCES: Mapping[Section, frozenset[str]] = {
    "codes": frozenset(
        {
            "Alert.codes",
            "Code.replaced_by",
            "Concealment.answer",
            "Concealment.never",
            "Fallback.code",
            "HeaderRule.codes",
            "Idempotency.mismatch",
            "Idempotency.missing",
            "Navigation.refused",
            "Navigation.unknown",
            "Operation.codes",
            "RetryPolicy.eligible",
            "RetryPolicy.kind_of",
            "Surface.codes",
            "Unknown.becomes",
            "UpstreamCode.becomes",
        }
    ),
    "envelopes": frozenset({"Code.envelopes", "Protocol.envelope", "Surface.envelopes"}),
    "surfaces": frozenset({"Surface.repeats"}),
    "retry_policies": frozenset({"Code.retry", "Upstream.retry"}),
    "operations": frozenset(),
}


def find_renames(old: Taxonomy, new: Taxonomy) -> tuple[Rename, ...]:
    """The constructs that have another name in the new taxonomy, and are otherwise the same.

    A code is the same if its wire value or the name of its class is. If its wire value is not, and
    no tombstone names a successor, it looks the same if all other fields are alike, and those of no
    other code. An operation is the same if it claims the same requests. Other constructs are the
    same if all their fields are.
    """
    renames = list(_renamed_codes(old.codes, new.codes))
    sections: tuple[Section, ...] = ("envelopes", "retry_policies", "surfaces")
    aligned = apply_renames(old, tuple(renames))
    for section in sections:
        found = _renamed_equals(section, getattr(aligned, section), getattr(new, section))
        aligned = apply_renames(aligned, found)
        renames += found
    found = _renamed_operations(aligned, new)
    aligned = apply_renames(aligned, found)
    renames += found
    for name, operation in aligned.operations.items():
        after = new.operations.get(name)
        if after is not None:
            own = _renamed_codes(operation.errors, after.errors)
            renames += (rename._replace(operation=name) for rename in own)
    return tuple(renames)


def has_same_class(one: str, other: str) -> bool:
    """Whether generated code has the same names for both codes: case and `_` do not count."""
    return _class_name(one) == _class_name(other)


def _class_name(name: str) -> str:
    return name.replace("_", "").lower()


def _renamed_codes(old: Mapping[str, Code], new: Mapping[str, Code]) -> Iterator[Rename]:
    """The renames between two mappings of codes, the certain ones first."""
    added = {name: code for name, code in new.items() if name not in old and code.live}
    gone = {name: code for name, code in old.items() if name not in new and code.live}
    places = {name: place for place, name in enumerate(added)}
    known: dict[object, list[str]] = {}
    for name, code in added.items():
        for sign in _signs(code):
            known.setdefault(sign, []).append(name)
    for code in tuple(gone.values()):
        same = [name for sign in _signs(code) for name in known.get(sign, ()) if name in added]
        if same:
            first = min(same, key=places.__getitem__)
            del added[first], gone[code.name]
            yield Rename("codes", code.name, first)
    yield from _alike_codes(gone.values(), added.values())


_Bare = tuple[str, Code]
"""The name of a code, and the code without its name and its wire value."""


def _signs(code: Code) -> tuple[object, object]:
    """The wire value and the class of a code. Codes that share one of them are certainly one."""
    return ("wire", code.wire), ("class", _class_name(code.name))


def _alike_codes(gone: Iterable[Code], added: Iterable[Code]) -> Iterator[Rename]:
    """The codes that differ in their names and their wire values alone, where each is alike to no
    other, and none is declared the successor of the other.
    """
    groups: dict[object, tuple[list[_Bare], list[_Bare]]] = {}
    former = [code for code in gone if code.replaced_by is None]
    for side, codes in enumerate((former, added)):
        for code in codes:
            group = groups.setdefault((code.summary, code.message), ([], []))
            group[side].append((code.name, code._replace(name="", wire="")))
    found = {
        name: alike[0]
        for left, right in groups.values()
        for name, bare in left
        if len(alike := [other for other, its in right if its == bare]) == 1
        and sum(its == bare for _, its in left) == 1
    }
    for code in former:
        if code.name in found:
            yield Rename("codes", code.name, found[code.name], certain=False)


def _renamed_operations(old: Taxonomy, new: Taxonomy) -> tuple[Rename, ...]:
    """The operations that claim the same requests under another name."""
    gone = [operation for name, operation in old.operations.items() if name not in new.operations]
    added = [operation for name, operation in new.operations.items() if name not in old.operations]
    found = []
    for operation in gone:
        same = [other for other in added if _claims_the_same(operation, other)]
        if len(same) == 1 and sum(_claims_the_same(other, same[0]) for other in gone) == 1:
            found.append(Rename("operations", operation.name, same[0].name))
    return tuple(found)


def _claims_the_same(old: Operation, new: Operation) -> bool:
    """Whether two operations claim the same requests. Without a criterion the wire name decides."""
    has_criterion = bool(old.match.routes or old.match.tools or old.match.reads_request)
    same = align_match(old.match, new.match) == new.match
    return same and (has_criterion or old.wire == new.wire)


def _renamed_equals(
    section: Section, old: Mapping[str, Any], new: Mapping[str, Any]
) -> tuple[Rename, ...]:
    gone = [record for name, record in old.items() if name not in new]
    added = [record for name, record in new.items() if name not in old]
    found = []
    for record in gone:
        same = next((other for other in added if _rename_record(record, other.name) == other), None)
        if same is not None:
            added.remove(same)
            found.append(Rename(section, record.name, same.name))
    return tuple(found)


def apply_renames(taxonomy: Taxonomy, renames: tuple[Rename, ...]) -> Taxonomy:
    """The taxonomy with new names, in the constructs and in all references to them."""
    for section in _REFERENCES:
        names = {
            rename.old: rename.new
            for rename in renames
            if rename.section == section and rename.operation is None
        }
        if names:
            renamed = {
                names.get(name, name): _rename_record(record, names.get(name, name))
                for name, record in getattr(taxonomy, section).items()
            }
            changed: dict[str, Any] = {section: renamed}
            taxonomy = taxonomy._replace(**changed)
            taxonomy = _rewrite(taxonomy, names, _REFERENCES[section], "")
    return _rename_own_codes(taxonomy, renames)


def _rename_own_codes(taxonomy: Taxonomy, renames: tuple[Rename, ...]) -> Taxonomy:
    """The taxonomy with new names of codes of single operations, in their operation, and in all
    references unless a shared code has the same name.
    """
    operations = dict(taxonomy.operations)
    elsewhere: dict[str, str] = {}
    for name in {rename.operation for rename in renames if rename.operation is not None}:
        names = {rename.old: rename.new for rename in renames if rename.operation == name}
        operation = operations[name]
        errors = {
            names.get(own, own): _rename_record(code, names.get(own, own))
            for own, code in operation.errors.items()
        }
        renamed = operation._replace(errors=errors)
        operations[name] = _rewrite(renamed, names, _REFERENCES["codes"], "")
        elsewhere |= {old: new for old, new in names.items() if old not in taxonomy.codes}
    if not elsewhere and operations == taxonomy.operations:
        return taxonomy
    taxonomy = taxonomy._replace(operations=operations)
    return _rewrite(taxonomy, elsewhere, _REFERENCES["codes"], "") if elsewhere else taxonomy


def _rename_record(record: Any, name: str) -> Any:
    """A record with a name; a policy of the planner has it twice, and operations a default."""
    if record.name == name:
        return record
    changed = record._replace(name=name)
    if isinstance(record, Operation) and record.wire == record.name and record.match.routes:
        return changed._replace(wire=name)  # HTTP does not show the name
    if hasattr(record, "policy"):
        return changed._replace(policy=record.policy._replace(name=name))
    return changed


def _rewrite(value: Any, names: Mapping[str, str], references: frozenset[str], field: str) -> Any:
    """A value in which the fields that refer to renamed constructs have the new names."""
    if field in references:
        return _renamed_reference(value, names)
    if isinstance(value, Mapping):
        return {key: _rewrite(item, names, references, field) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        record: Any = value
        kind = type(value)
        rewritten = {
            name: _rewrite(getattr(record, name), names, references, f"{kind.__name__}.{name}")
            for name in _referring_fields(kind, references)
        }
        return record._replace(**rewritten) if rewritten else record
    if isinstance(value, tuple):
        return tuple(_rewrite(item, names, references, field) for item in value)
    return value


@cache
def _referring_fields(record: type, references: frozenset[str]) -> tuple[str, ...]:
    """The fields of a record that refer to constructs, or that lead to a field that does."""
    return tuple(
        field
        for field, hint in get_type_hints(record).items()
        if f"{record.__name__}.{field}" in references
        or any(_refers(inner, references) for inner in _reachable_records(hint))
    )


def _refers(record: type, references: frozenset[str]) -> bool:
    return any(reference.startswith(f"{record.__name__}.") for reference in references)


@cache
def _reachable_records(hint: Any) -> frozenset[type]:
    """The records that values of a type can have at any depth."""
    found: set[type] = set()
    waiting = [hint]
    while waiting:
        current = waiting.pop()
        waiting += get_args(current)
        if hasattr(current, "_fields") and current not in found:
            found.add(current)
            waiting += get_type_hints(current).values()
    return frozenset(found)


def _renamed_reference(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, Mapping):
        return {names.get(name, name): item for name, item in value.items()}
    return None if value is None else tuple(names.get(name, name) for name in value)


def successor(old: Taxonomy, new: Taxonomy, name: str) -> Code | None:
    """The code that replaces a code which is gone: new in the new taxonomy, named by its tombstone
    or by its last declaration."""
    for taxonomy in (new, old):
        code = taxonomy.codes.get(name)
        if code is not None and code.replaced_by is not None:
            found = new.codes.get(code.replaced_by)
            return found if found is not None and found.live else None
    return None
