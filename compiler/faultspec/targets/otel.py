"""The OpenTelemetry target: the attributes, metrics and log record of the telemetry as a registry of semantic conventions.

The format is that of OpenTelemetry's own registry, which its tool ``weaver`` reads (open-telemetry/weaver,
schemas/semconv.schema.json). Every attribute is defined once, in one group; spans, metrics and the log record refer to it.
What holds the code is an enumeration of the codes.
A manifest of the registry, with the address it is published at, is left to whoever publishes it.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from faultspec.language.model import DetailMember, Metric, Schema, Taxonomy, Telemetry, Term
from faultspec.targets import schema as schemas
from faultspec.targets.model import Model

#: How an attribute that must, should, or may be there is marked; what may not be there is left out.
_LEVELS = {"required": "required", "expected": "recommended", "optional": "opt_in"}

#: Types of JSON as types of attributes; what has no such type, or several, travels as text.
_TYPES = {"string": "string", "integer": "int", "number": "double", "boolean": "boolean"}

#: Slots whose type nobody has to declare.
_SLOT_TYPES = {"$status": "int", "$retriable": "boolean", "$retryable": "boolean"}


class MemberRow(NamedTuple):
    """A value of an enumeration. ``deprecated``: by what, or an empty text; None where it is not."""

    id: str
    value: str | int
    brief: str
    deprecated: str | None


class Attribute(NamedTuple):
    """An attribute. ``members``: the values of an enumeration, whose ``type`` is not used."""

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
    """The registry, or None where no telemetry is declared."""
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
        taxonomy.name,
        taxonomy.title,
        tuple(_attributes(telemetry, taxonomy)),
        (References("span", "Attributes of the span in which an error occurred.", spans),)
        if spans
        else (),
        (References("log", "The log record of an error.", logs),) if logs else (),
        tuple(_instrument(metric) for metric in telemetry.metrics.values()),
    )


def _attributes(telemetry: Telemetry, taxonomy: Taxonomy) -> Iterator[Attribute]:
    """Every name once: span attributes, members of the log record, labels of metrics."""
    labels = {label: "" for metric in telemetry.metrics.values() for label in metric.labels}
    members = {each.name: each for each in telemetry.log.values() if each.presence != "forbidden"}
    for name in dict.fromkeys((*telemetry.span, *members, *labels)):
        member = members.get(name)
        meant = telemetry.means.get(name)
        said = telemetry.span.get(name) or (member.schema.description if member else None)
        yield _attribute(name, meant, said or _said(name, meant, taxonomy), member, taxonomy)


def _said(name: str, meant: str | None, taxonomy: Taxonomy) -> str:
    """What a name that nothing is said of holds."""
    if meant is None:
        return f"The {name} of the error."
    if meant.startswith("$"):
        return f"The {meant[1:].replace('_', ' ')} of the error."
    key = meant.removeprefix("details.")
    return taxonomy.detail_keys[key].summary or f"The detail {key} of the error."


def _attribute(
    name: str, meant: str | None, brief: str, member: DetailMember | None, taxonomy: Taxonomy
) -> Attribute:
    match meant:
        case "$code":
            rows = _codes(taxonomy)
        case "$boundary":
            rows = _terms(taxonomy.boundaries.values())
        case "$domain":
            rows = _terms(taxonomy.domains.values())
        case _:
            rows = ()
    schema = member.schema if member is not None else Schema()
    if meant is not None and meant.startswith("details."):
        schema = taxonomy.detail_keys[meant.removeprefix("details.")].schema
    if not rows and (
        schema.vocabulary or all(isinstance(each, str) for each in schema.enum)
    ):  # no enumeration of others
        values = (
            schemas.vocabulary(schema.vocabulary, taxonomy) if schema.vocabulary else schema.enum
        )
        rows = tuple(MemberRow(str(value), str(value), str(value), None) for value in values)
    kind = _SLOT_TYPES.get(meant or "") or (
        _TYPES.get(schema.types[0], "string") if len(schema.types) == 1 else "string"
    )
    # Weaver asks for examples of texts, and of texts alone.
    example = ("text",) if kind == "string" and not rows else ()
    return Attribute(name, kind, brief, example, rows)


def _codes(taxonomy: Taxonomy) -> tuple[MemberRow, ...]:
    found: dict[str | int, MemberRow] = {}
    for _, code in schemas.live(taxonomy):
        replaced = code.replaced_by or "" if code.lifecycle == "deprecated" else None
        found.setdefault(code.wire, MemberRow(code.name, code.wire, code.summary, replaced))
    return tuple(found.values())


def _terms(terms: Iterable[Term]) -> tuple[MemberRow, ...]:
    rows = (term for term in terms if term.lifecycle in ("stable", "deprecated"))
    return tuple(
        MemberRow(e.name, e.name, e.summary, "" if e.lifecycle == "deprecated" else None)
        for e in rows
    )


def _instrument(metric: Metric) -> Instrument:
    unit = {"errors": "{error}", "requests": "{request}"}.get(metric.counts or "", "1")
    # OpenTelemetry has no instrument for a share; it is a gauge of 0 to 1.
    kind = "gauge" if metric.kind == "ratio" else metric.kind
    labels = tuple(Reference(each, "required") for each in metric.labels)
    return Instrument(metric.name, kind, unit, metric.summary, labels)
