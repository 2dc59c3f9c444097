"""Renamed constructs: the old taxonomy is rewritten with the new names, so that a rename is one
change and not a removal and an addition."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from faultspec.language.model import Code, Operation, Taxonomy

Section = Literal["codes", "envelopes", "surfaces", "retry_policies", "operations"]


class Rename(NamedTuple):
    """A construct of a section that has another name now."""

    section: Section
    old: str
    new: str


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
            "Navigation.refused",
            "Navigation.unknown",
            "Operation.codes",
            "RetryPolicy.eligible",
            "RetryPolicy.kind_of",
            "Surface.codes",
            "Unknown.becomes",
        }
    ),
    "envelopes": frozenset({"Code.envelopes", "Protocol.envelope", "Surface.envelopes"}),
    "surfaces": frozenset({"Surface.repeats"}),
    "retry_policies": frozenset({"Code.retry", "Upstream.retry"}),
    "operations": frozenset(),
}


def find_renames(old: Taxonomy, new: Taxonomy) -> tuple[Rename, ...]:
    """The constructs that have another name in the new taxonomy, and are otherwise the same.

    A code is the same if its wire value is, and no other code has it. Other constructs are the
    same if all their fields are.
    """
    renames = list(_renamed_codes(old, new))
    sections: tuple[Section, ...] = ("envelopes", "retry_policies", "surfaces", "operations")
    aligned = apply_renames(old, tuple(renames))
    for section in sections:
        found = _renamed_equals(section, getattr(aligned, section), getattr(new, section))
        aligned = apply_renames(aligned, found)
        renames += found
    return tuple(renames)


def has_same_class(one: str, other: str) -> bool:
    """Whether generated code has the same names for both codes: case and `_` do not count."""
    return one.replace("_", "").lower() == other.replace("_", "").lower()


def _renamed_codes(old: Taxonomy, new: Taxonomy) -> list[Rename]:
    added = [code for name, code in new.codes.items() if name not in old.codes and code.live]
    renames = []
    for name, code in old.codes.items():
        if name in new.codes or not code.live:
            continue
        same = next((a for a in added if a.wire == code.wire or has_same_class(a.name, name)), None)
        if same is not None:
            added.remove(same)
            renames.append(Rename("codes", name, same.name))
    return renames


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
        names = {rename.old: rename.new for rename in renames if rename.section == section}
        if names:
            renamed = {
                names.get(name, name): _rename_record(record, names.get(name, name))
                for name, record in getattr(taxonomy, section).items()
            }
            changed: dict[str, Any] = {section: renamed}
            taxonomy = taxonomy._replace(**changed)
            taxonomy = _rewrite(taxonomy, names, _REFERENCES[section], "")
    return taxonomy


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
        record = type(value).__name__
        items = zip(value._fields, value, strict=True)
        return type(value)(
            *(_rewrite(item, names, references, f"{record}.{name}") for name, item in items)
        )
    if isinstance(value, tuple):
        return tuple(_rewrite(item, names, references, field) for item in value)
    return value


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
