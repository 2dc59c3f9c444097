"""The OpenTelemetry target: the attributes, metrics and log record of the telemetry as a registry
of semantic conventions.

The format is that of OpenTelemetry's own registry, which its tool ``weaver`` reads
(open-telemetry/weaver, schemas/semconv.schema.json). Every attribute is defined once, in one group;
spans, metrics and the log record refer to it. The attribute of the code is an enumeration of the
codes. A manifest with the address of the registry is added by its publisher.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from faultspec.language.model import DetailMember, Metric, Schema, Taxonomy, Telemetry, Term
from faultspec.targets import schema as schemas
from faultspec.targets.doc_text import support_sentence
from faultspec.targets.model import Model

#: The requirement level of each presence; forbidden attributes are left out.
_LEVELS = {"required": "required", "expected": "recommended", "optional": "opt_in"}

#: The type of an attribute by the type of JSON; values without such a type, or of several, travel
#: as text.
_TYPES = {"string": "string", "integer": "int", "number": "double", "boolean": "boolean"}

#: The levels of stability of OpenTelemetry, by lifecycle.
_STABILITIES = {"experimental": "development", "beta": "beta"}

#: The types of slots without a declaration.
_SLOT_TYPES = {"$status": "int", "$retriable": "boolean", "$retryable": "boolean"}


class MemberRow(NamedTuple):
    """A value of an enumeration. ``deprecated``: its replacement, or an empty text; None if it is
    not deprecated. ``stability``: as OpenTelemetry names it. ``note``: who answers for it.
    """

    id: str
    value: str | int
    brief: str
    deprecated: str | None
    stability: str = "stable"
    note: str | None = None


class Attribute(NamedTuple):
    """An attribute. ``members``: the values of an enumeration, which has no ``type``."""

    id: str
    type: str
    brief: str
    example: tuple[str, ...]
    members: tuple[MemberRow, ...]


class Reference(NamedTuple):
    """An attribute that is defined elsewhere, and how much it is needed."""

    ref: str
    level: str


class Instrument(NamedTuple):
    """A metric."""

    name: str
    instrument: str
    unit: str
    brief: str
    references: tuple[Reference, ...]


class References(NamedTuple):
    """A group of attributes that travel together."""

    id: str
    brief: str
    references: tuple[Reference, ...]


class OtelView(NamedTuple):
    """The registry. ``spans`` and ``logs``: one group each, or none."""

    name: str
    title: str
    attributes: tuple[Attribute, ...]
    spans: tuple[References, ...]
    logs: tuple[References, ...]
    metrics: tuple[Instrument, ...]


def view(taxonomy: Taxonomy, model: Model) -> OtelView | None:
    """The registry, or None without telemetry."""
    telemetry = taxonomy.telemetry
    if telemetry is None or not (telemetry.metrics or telemetry.log or telemetry.span):
        return None
    spans = tuple(Reference(name, "recommended") for name in telemetry.span)
    logs = tuple(
        Reference(each.name, _LEVELS[each.presence])
        for each in telemetry.log.values()
        if each.presence != "forbidden"
    )
    return OtelView(
        name=taxonomy.name,
        title=taxonomy.title,
        attributes=tuple(_attributes(telemetry, taxonomy)),
        spans=(References("span", "Attributes of the span in which an error occurred.", spans),)
        if spans
        else (),
        logs=(References("log", "The log record of an error.", logs),) if logs else (),
        metrics=tuple(_instrument(metric) for metric in telemetry.metrics.values()),
    )


def _attributes(telemetry: Telemetry, taxonomy: Taxonomy) -> Iterator[Attribute]:
    """Every name once: span attributes, members of the log record, labels of metrics."""
    labels = {label: "" for metric in telemetry.metrics.values() for label in metric.labels}
    members = {each.name: each for each in telemetry.log.values() if each.presence != "forbidden"}
    for name in dict.fromkeys((*telemetry.span, *members, *labels)):
        member = members.get(name)
        fact = telemetry.means.get(name)
        text = telemetry.span.get(name) or (member.schema.description if member else None)
        yield _attribute(
            name=name,
            fact=fact,
            brief=text or _default_brief(name, fact, taxonomy),
            member=member,
            taxonomy=taxonomy,
        )


def _default_brief(name: str, fact: str | None, taxonomy: Taxonomy) -> str:
    """The description of an attribute without one."""
    if fact is None:
        return f"The {name} of the error."
    if fact.startswith("$"):
        return f"The {fact[1:].replace('_', ' ')} of the error."
    key = fact.removeprefix("details.")
    return taxonomy.detail_keys[key].summary or f"The detail {key} of the error."


def _attribute(
    name: str, fact: str | None, brief: str, member: DetailMember | None, taxonomy: Taxonomy
) -> Attribute:
    match fact:
        case "$code":
            rows = _codes(taxonomy)
        case "$boundary":
            rows = _terms(taxonomy.boundaries.values())
        case "$domain":
            rows = _terms(taxonomy.domains.values())
        case _:
            rows = ()
    schema = member.schema if member is not None else Schema()
    if fact is not None and fact.startswith("details."):
        schema = taxonomy.detail_keys[fact.removeprefix("details.")].schema
    if not rows and (
        schema.vocabulary or all(isinstance(each, str) for each in schema.enum)
    ):  # no enumeration of others
        values = (
            schemas.vocabulary(schema.vocabulary, taxonomy) if schema.vocabulary else schema.enum
        )
        rows = tuple(MemberRow(str(value), str(value), str(value), None) for value in values)
    kind = _SLOT_TYPES.get(fact or "") or (
        _TYPES.get(schema.types[0], "string") if len(schema.types) == 1 else "string"
    )
    # Weaver asks for examples of texts, and of texts alone.
    example = ("text",) if kind == "string" and not rows else ()
    return Attribute(id=name, type=kind, brief=brief, example=example, members=rows)


def _codes(taxonomy: Taxonomy) -> tuple[MemberRow, ...]:
    found: dict[str | int, MemberRow] = {}
    for _, code in schemas.live(taxonomy):
        replaced = code.replaced_by or "" if code.lifecycle == "deprecated" else None
        row = MemberRow(
            id=code.name,
            value=code.wire,
            brief=code.summary,
            deprecated=replaced,
            stability=_STABILITIES.get(code.lifecycle, "stable"),
            note=support_sentence(code, taxonomy.owner),
        )
        found.setdefault(code.wire, row)
    return tuple(found.values())


def _terms(terms: Iterable[Term]) -> tuple[MemberRow, ...]:
    rows = (term for term in terms if term.lifecycle in ("stable", "deprecated"))
    return tuple(
        MemberRow(e.name, e.name, e.summary, "" if e.lifecycle == "deprecated" else None)
        for e in rows
    )


def _instrument(metric: Metric) -> Instrument:
    unit = {"errors": "{error}", "requests": "{request}"}.get(metric.counts or "", "1")
    # OpenTelemetry has no instrument for a ratio, so it is a gauge from 0 to 1.
    kind = "gauge" if metric.kind == "ratio" else metric.kind
    labels = tuple(Reference(each, "required") for each in metric.labels)
    return Instrument(
        name=metric.name, instrument=kind, unit=unit, brief=metric.summary, references=labels
    )
