"""The envelopes of a taxonomy, each from the bodies that share it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from faultspec.importers import Data, Json, Report, registry, rules, subset
from faultspec.importers.bodies import BodyFamily, CodedBody
from faultspec.importers.infer_envelope import infer_envelope
from faultspec.importers.inference import CodeFacts, InferredEnvelope
from faultspec.importers.names import NamedFamilies
from faultspec.importers.naming import UniqueNames, identifier
from faultspec.language.spelling import snake
from faultspec.runtime import shape
from faultspec.runtime.nodes import Node, slot_places


class ImportedEnvelope(NamedTuple):
    """An envelope. ``facts``, ``details`` and ``conditions`` are those of each body in it."""

    name: str
    family: BodyFamily
    data: Data
    shape: Node
    facts: Mapping[CodedBody, CodeFacts]
    details: Mapping[CodedBody, registry.Details]
    conditions: Mapping[CodedBody, tuple[Json, ...]]


@dataclass(slots=True)
class Terms:
    """The terms that bodies use, as the taxonomy declares them."""

    domains: dict[str, str] = field(default_factory=dict)
    boundaries: dict[str, str] = field(default_factory=dict)
    vocabularies: dict[str, Data] = field(default_factory=dict)
    actions: Data = field(default_factory=dict)


def build_envelopes(named: NamedFamilies, lose: Report) -> tuple[list[ImportedEnvelope], Terms]:
    """The envelope of each family, and the terms of all."""
    terms = Terms()
    return [
        _envelope(family, named.envelopes[family], terms, lose) for family in named.families
    ], terms


def _envelope(family: BodyFamily, name: str, terms: Terms, lose: Report) -> ImportedEnvelope:
    inferred = infer_envelope(family.bodies, family.code_pointer)
    for place, reason in inferred.losses:
        for body in family.bodies:
            lose(f"{body.pointer}{place}", "schema", reason)
    actions = _actions(family, inferred, terms.actions)
    terms.actions = actions.declared
    fields = actions.fields
    facts = dict(zip(family.bodies, inferred.facts, strict=True))
    details: dict[CodedBody, registry.Details] = {}
    if all(fact.details is not None for fact in inferred.facts):
        about, read = registry.read([fact.details or {} for fact in inferred.facts])
        details = dict(zip(family.bodies, read, strict=True))
        if about is not None:
            fields["details"] = about
    _declare(inferred, fields, terms)
    whole = _wrap(family.wrapper, family.wrapper_path, actions.shape, fields)
    data: Data = {}
    # The OpenAPI target writes this sentence for an envelope without a summary.
    if family.summary != f"Any error in the envelope {name}." and (family.summary or "").strip():
        data["summary"] = family.summary
    media_types = family.media_types or ["application/json"]
    if media_types != ["application/json"]:
        data["media_type"] = one_or_all(media_types)
    data["shape"] = whole
    if fields:
        data["fields"] = fields
    if inferred.additional != "warn":
        data["additional"] = inferred.additional
    compiled = shape.compile_shape(whole)
    return ImportedEnvelope(
        name=name,
        family=family,
        data=data,
        shape=compiled,
        facts=facts,
        details=details,
        conditions=actions.conditions,
    )


def one_or_all(values: Sequence[Any]) -> Any:
    """The only value, or the list of them: the language takes either."""
    return values[0] if len(values) == 1 else values


def all_of(written: Any) -> list[Any]:
    """The values of which `one_or_all` wrote the only one, or the list."""
    return written if isinstance(written, list) else [written]


def _declare(inferred: InferredEnvelope, fields: Data, terms: Terms) -> None:
    """Declare the vocabularies, domains and boundaries that the bodies use."""
    for slot, listed in inferred.vocabularies.items():
        name = slot
        while name in terms.vocabularies and list(terms.vocabularies[name]) != listed:
            name += "_"
        fields[slot] = {**fields[slot], "vocabulary": name}
        terms.vocabularies[name] = {term: f"The {slot} {term}." for term in listed}
    for fact in inferred.facts:
        if fact.domain:
            terms.domains[fact.domain] = f"The domain {fact.domain}."
        terms.boundaries |= {name: f"The boundary {name}." for name in fact.boundaries}


class _Actions(NamedTuple):
    """The shape and fields of an envelope with `$actions` in it, if it has actions.

    ``conditions``: of each body, those that the actions do not express. ``declared``: the actions
    of the taxonomy.
    """

    shape: Any
    fields: Data
    conditions: Mapping[CodedBody, tuple[Json, ...]]
    declared: Data


def _actions(family: BodyFamily, inferred: InferredEnvelope, declared: Data) -> _Actions:
    """Actions: a list of which codes suggest some terms, or of which some send a request again.

    ``declared``: the actions of the envelopes before this one.
    """
    conditions = {body: body.rules.conditional for body in family.bodies}
    unchanged = _Actions(inferred.shape, dict(inferred.fields), conditions, declared)
    suggestions = {
        repr(rule): suggestion
        for listed in conditions.values()
        for rule in listed
        if (suggestion := rules.suggested_actions(rule)) is not None
    }
    pointer, resending = next(iter(suggestions.values()), ("", []))
    slot = _slot_at(inferred.shape, pointer)
    names = inferred.actions or _listed_terms(inferred.fields.get(slot))
    if names is None:
        return unchanged
    if inferred.actions and slot != "actions":
        resending = []
    understood = all(suggestion == (pointer, resending) for suggestion in suggestions.values())
    if not understood:
        resending = []
    own: Data = {name: f"The action {name}." for name in names}
    for name in names:
        if name in resending:
            own[name] = {"summary": own[name], "sends_again": True}
    if declared and declared != own:
        understood = understood and all(
            declared.get(name, term) == term for name, term in own.items()
        )
        own = {**own, **declared}
    if not understood and not inferred.actions:
        return unchanged
    if understood:
        conditions = {
            body: tuple(rule for rule in listed if repr(rule) not in suggestions)
            for body, listed in conditions.items()
        }
    if inferred.actions:
        return unchanged._replace(conditions=conditions, declared=own)
    fields = dict(inferred.fields)
    fields["actions"] = {
        **fields.pop(slot),
        "items": {"type": "string", "vocabulary": "actions"},
    }
    renamed = _rename_slot(inferred.shape, f"${slot}", "$actions")
    return _Actions(renamed, fields, conditions, own)


def _slot_at(node: Any, pointer: str) -> str:
    """The slot that is at a pointer of a shape and nowhere else; "" if no slot is."""
    places = slot_places(shape.compile_shape(node))
    for name, found in places.items():
        if [place.path for place in found] == [pointer]:
            return name
    return ""


def _listed_terms(field: Data | None) -> list[str] | None:
    """The terms of a field that is a list of terms."""
    match field:
        case {"type": "array", "items": {"type": "string", "enum": [*terms], **more}} if not more:
            return terms
    return None


def _rename_slot(node: Any, slot: str, name: str) -> Any:
    """The shape with a different name for a slot, wherever the slot is a whole value."""
    if isinstance(node, Mapping):
        return {key: _rename_slot(inner, slot, name) for key, inner in node.items()}
    if isinstance(node, list):
        return [_rename_slot(item, slot, name) for item in node]
    return name if node == slot else node


def _wrap(schema: Any, path: Sequence[str], inner: Any, fields: Data) -> Any:
    """The shape of the whole body, with ``inner`` at the path.

    ``fields`` receives the slots of the wrapper.
    """
    if not path:
        return inner
    if path[0] == "*":
        return [_wrap(schema.get("items", {}), path[1:], inner, fields)]
    found: Data = {}
    for name, member in schema.get("properties", {}).items():
        key = name if name in schema.get("required", []) else f"{name}?"
        match member:
            case _ if name == path[0]:
                found[key] = _wrap(member, path[1:], inner, fields)
            case {"const": str(text), **rest} if not rest:
                found[key] = text.replace("$", "$$")
            case {"const": value, **rest} if not rest and not isinstance(value, dict | list):
                found[key] = value
            case _:
                slot = UniqueNames(fields).reserve(identifier(f"around_{snake(name)}", "around"))
                fields[slot] = subset.value(member) or {}
                found[key] = f"${slot}"
    return found
