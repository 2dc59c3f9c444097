"""From the bodies of many codes to the shape of their envelope, and the facts of each code in it.

The bodies differ only in what a code fixes: its constant, its boundary or domain, its retry flag,
its details. A member that is the same in all bodies belongs to the envelope. A member that differs
is the slot that differs in this way.

A recognizer returns the slot of a member, or a template with slots, and records the facts of each
code. It returns None if the member is another slot.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from faultspec.importers import Data, subset
from faultspec.importers.bodies import CodedBody
from faultspec.importers.code_member import Listed, listed_values, only_value
from faultspec.importers.inference import (
    WITHOUT_FIELD,
    Inference,
    InferredEnvelope,
    Recognizer,
    Variants,
    sounds_like_retry,
)
from faultspec.importers.naming import DETAILS

_TERM = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")


def _retry_flag(inference: Inference, variants: Variants) -> str | None:
    """A boolean that some codes fix, or one that is called like a retry flag."""
    fixed = [only_value(schema) for schema in variants.schemas]
    if not all(value is None or isinstance(value, bool) for value in fixed):
        return None
    free = [schema for schema, value in zip(variants.schemas, fixed, strict=True) if value is None]
    if any(isinstance(schema, Mapping) and schema.get("type") != "boolean" for schema in free):
        return None
    if any(schema != free[0] for schema in free):
        return None
    # A boolean that is the same for all codes, such as `ok: false`, tells nothing of one.
    if len(set(fixed)) == 1 and not sounds_like_retry(variants.name):
        return None
    data = subset.value(free[0]) if free else {"type": "boolean"}
    if data is None or inference.used.get("retriable", fixed) != fixed:
        return None
    inference.used["retriable"] = fixed
    if data != {"type": "boolean"}:
        inference.fields["retriable"] = data
    for facts, value in zip(inference.facts, fixed, strict=True):
        facts.flagged, facts.retriable = True, value
    return "$retriable"


def _template(inference: Inference, variants: Variants) -> str | None:
    """A text that contains the code, as in ``https://errors.example.com/${code}``."""
    parts: set[tuple[str, ...]] = set()
    if variants.same:
        return None
    for schema, body in zip(variants.schemas, inference.bodies, strict=True):
        match schema:
            case {"const": str(text), **rest} if not rest:
                parts.add(tuple(text.split(str(body.wire), 1)))
            case _:
                return None
    if len(parts) == 1 and len(both := parts.pop()) == 2:
        return "${code}".join(part.replace("$", "$$") for part in both)
    return None


def _boundary_or_domain(inference: Inference, variants: Variants) -> str | None:
    """The boundary (some of a list of names) or the domain (one name) of each code."""
    listed = [
        [str(value) for value in listed_values(schema) if isinstance(value, str)]
        for schema in variants.schemas
    ]
    named = variants.name in ("boundary", "domain")
    bare = [_is_bare_list(schema, typed=named) for schema in variants.schemas]
    if not any(bare) or not all(_match(_TERM, terms) for terms in listed):
        return None
    if any(
        not is_bare and schema != {"type": "string"}
        for is_bare, schema in zip(bare, variants.schemas, strict=True)
    ):
        return None
    if "boundary" not in inference.used and any("enum" in schema for schema in variants.schemas):
        inference.used["boundary"] = listed
        for facts, terms in zip(inference.facts, listed, strict=True):
            facts.boundaries = terms
        return "$boundary"
    if "domain" not in inference.used and all(len(terms) <= 1 for terms in listed):
        inference.used["domain"] = listed
        for facts, terms in zip(inference.facts, listed, strict=True):
            facts.domain = terms[0] if terms else None
        return "$domain"
    return None


def _is_bare_list(schema: object, *, typed: bool) -> bool:
    """``typed``: a list of texts may have its type."""
    ignored = {"type"} if typed else set()
    return isinstance(schema, Mapping) and schema.keys() - ignored in ({"enum"}, {"const"})


def _match(pattern: re.Pattern[str], terms: Sequence[object]) -> bool:
    return all(isinstance(term, str) and pattern.fullmatch(term) for term in terms)


def _details_object(inference: Inference, variants: Variants) -> str | None:
    """An object that is called like details, or whose members differ from code to code."""
    if "details" in inference.used:
        return None
    if variants.name in DETAILS:
        recognized = any(variants.objects)
    else:
        recognized = all(variants.objects) and len(set(map(_member_names, variants.schemas))) > 1
    if not recognized:
        return None
    inference.used["details"] = variants.schemas
    for facts, schema in zip(inference.facts, variants.schemas, strict=True):
        facts.details = schema
    return "$details"


def _member_names(schema: Any) -> frozenset[str]:
    return frozenset(schema.get("properties", {}))


def _details_list(inference: Inference, variants: Variants) -> str | None:
    """A list that is called like details, the same in all bodies."""
    if variants.name not in DETAILS or "details" in inference.used or not variants.same:
        return None
    data = subset.value(variants.first)
    if not data or data.get("type") != "array":
        return None
    inference.used["details"] = variants.schemas
    inference.fields["details"] = data
    return "$details"


def _suggested_actions(inference: Inference, variants: Variants) -> str | None:
    """A list of terms of which some codes allow some only."""
    if variants.same or "actions" in inference.used:
        return None
    found = [_item_terms(schema) for schema in variants.schemas]
    listed = [terms for terms in found if terms is not None]
    if len(listed) < len(found):
        return None
    rest = _without_key(variants.schemas, "items")
    data = None if rest is None else subset.value(rest)
    if rest is None or data is None:
        return None
    inference.used["actions"] = listed
    inference.actions = _merge_terms(listed)
    if len(rest) > 1:
        items = {"type": "string", "vocabulary": "actions"}
        inference.fields["actions"] = {**data, "items": items}
    for facts, terms in zip(inference.facts, listed, strict=True):
        facts.actions = [] if terms == inference.actions else terms
    return "$actions"


def _item_terms(schema: Any) -> list[str] | None:
    """The terms that the items of a list may be."""
    if not isinstance(schema, Mapping) or schema.get("type") != "array":
        return None
    items = schema.get("items")
    terms = [each for each in listed_values(items) if isinstance(each, str)]
    return terms if _is_bare_list(items, typed=True) and _match(_TERM, terms) else None


def _vocabulary(inference: Inference, variants: Variants) -> str | None:
    """A text from a vocabulary of which codes allow some terms only."""
    listed: list[Listed] = [listed_values(schema) for schema in variants.schemas]
    if variants.same or not all(terms and _match(_WORD, terms) for terms in listed):
        return None
    rest = _without_key(variants.schemas, "enum")
    data = None if rest is None else subset.value(rest)
    if data is None:
        return None
    slot = inference.slot(variants.name, {**data, "vocabulary": ""})[1:]
    inference.fields[slot]["vocabulary"] = slot
    terms = inference.vocabularies[slot] = _merge_terms(listed)
    for facts, own in zip(inference.facts, listed, strict=True):
        if own != terms:
            facts.terms[slot] = [str(term) for term in own]
    return f"${slot}"


def _without_key(schemas: Sequence[Any], key: str) -> Data | None:
    """The schemas without a keyword, if that makes them equal."""
    rests = [{name: value for name, value in schema.items() if name != key} for schema in schemas]
    return rests[0] if all(rest == rests[0] for rest in rests) else None


def _merge_terms(listed: Sequence[Sequence[Any]]) -> list[str]:
    """Every term once, those of the longest lists first."""
    ordered = sorted(listed, key=len, reverse=True)
    return list(dict.fromkeys(str(term) for terms in ordered for term in terms))


_RECOGNIZERS: tuple[Recognizer, ...] = (
    _retry_flag,
    _template,
    _boundary_or_domain,
    _details_object,
    _details_list,
    _suggested_actions,
    _vocabulary,
)


def infer_envelope(bodies: Sequence[CodedBody], code_pointer: str) -> InferredEnvelope:
    """The envelope of the bodies, whose codes are at ``code_pointer``."""
    inference = Inference(bodies, code_pointer, _RECOGNIZERS)
    shape = inference.node("", [body.schema for body in bodies])
    declared = {slot: data for slot, data in inference.fields.items() if data}
    fields = {
        slot: declared.get(slot, {})
        for slot in inference.used
        if slot in declared or slot not in WITHOUT_FIELD
    }
    return InferredEnvelope(
        shape=shape,
        fields=fields,
        additional=inference.additional,
        vocabularies=inference.vocabularies,
        actions=inference.actions,
        facts=inference.facts,
        losses=inference.losses,
    )
