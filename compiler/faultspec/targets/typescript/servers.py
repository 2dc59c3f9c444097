"""The rows of the TypeScript modules that throw errors, answer with them, and send again."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from faultspec.language.conditions import ConditionalRule
from faultspec.language.model import Code, Taxonomy
from faultspec.language.routes import ecmascript_route
from faultspec.runtime.places import Places
from faultspec.runtime.shape import slot_places
from faultspec.targets import python
from faultspec.targets import schema as schemas
from faultspec.targets.data_rows import (
    constant_row,
    derived_headers,
    mark_row,
    needed_slots,
    required_header_rows,
    span_rows,
)
from faultspec.targets.literals import Verbatim, key
from faultspec.targets.model import Model
from faultspec.targets.python import clients, facts
from faultspec.targets.python.bare_codes import bare_codes, general_codes
from faultspec.targets.python.constructors import allowed_details, flag_key, parameter_slots
from faultspec.targets.python.invalid_input import InvalidInputRow, invalid_input
from faultspec.targets.python.names import base_class
from faultspec.targets.python.wire import envelope_row
from faultspec.targets.typescript.conditions import rule_rows

Json = dict[str, object]


class TypeScriptExceptionRow(NamedTuple):
    """The class of a code. ``kind``: its facts for a sender beside those of the catalog.

    ``of``: the type of its details. ``details`` and ``options``: the types of the arguments of its
    constructor; ``bare`` and ``free``: they need not be given.
    """

    name: str
    doc: str
    code: str
    operation: str | None
    of: str
    details: str
    options: str
    bare: bool
    free: bool
    kind: Json


class TypeScriptClientRows(NamedTuple):
    """The facts by which a client tells errors and safe requests.

    ``statuses``: those of errors, as ranges. ``marks``: members of bodies that mark an error.
    ``key_header``: the idempotency key is a header. ``keyed``: the methods of writes with such a
    key.
    """

    statuses: list[list[int]]
    marks: list[Json]
    key_header: bool
    keyed: Sequence[str]


class TypeScriptServerRows(NamedTuple):
    """The values of the modules for servers and clients.

    ``folder``: of the package. ``base``: the class of every error, ``guard`` the function that
    tells one. ``envelope``: the default one. ``constants``: headers that every error has.
    ``codes``: the codes of each envelope without details. ``general``: the codes of statuses that
    several codes claim. ``internal``: the code of an undeclared error, ``undeclared_key`` the
    detail that keeps its own code. ``slot``: of the correlation id, ``member`` its member of
    errors; ``member_required``: the envelope needs it. ``ranges``: a rule for statuses has some.
    ``needed``: the member of each slot without which an envelope cannot be written; ``made``: the
    formats of slots that are made.
    """

    folder: str
    title: str
    header: str
    base: str
    guard: str
    errors: tuple[TypeScriptExceptionRow, ...]
    slots: Sequence[object]
    unknown: str | None
    lists: bool
    localized: bool
    formats: bool
    identities: Mapping[str, Sequence[Json]]
    envelopes: Mapping[str, Json]
    envelope: str
    constants: list[Json]
    fallbacks: list[Json]
    codes: Mapping[str, Sequence[str]]
    general: list[list[object]]
    internal: str | None
    undeclared_key: str | None
    needed: Mapping[str, str]
    made: Mapping[str, str]
    correlation: Json
    slot: str | None
    surfaces: list[Json]
    invalid: InvalidInputRow | None
    member: str | None
    member_required: bool
    ranges: bool
    client: TypeScriptClientRows


class Interface(NamedTuple):
    """An interface of ``errors.ts``: the names of it and of the type of its details."""

    name: str
    doc: str
    details: str


def server_rows(
    taxonomy: Taxonomy,
    model: Model,
    interfaces: Iterable[Interface],
    members: Mapping[str, str],
    shared: Mapping[str, object],
) -> TypeScriptServerRows:
    """The rows of a taxonomy.

    ``members``: the member of errors for each slot. ``shared``: rows that other modules have too.
    """
    identity = {name: Verbatim(name) for name in taxonomy.codes}
    codes = bare_codes(taxonomy, identity)
    envelope = python.first_envelope(taxonomy, "http")
    correlation = python.correlation(taxonomy)
    internal = python.internal_code(taxonomy)
    internal = internal if internal and taxonomy.codes[internal].live else None
    base = base_class(taxonomy.name)
    return TypeScriptServerRows(
        **shared,  # type: ignore[arg-type]  # the rows of the view, under their names
        header=model.header,
        base=base,
        guard=f"is{base}",
        errors=tuple(_exceptions(taxonomy, interfaces, members)),
        envelopes={
            one.name: {
                "mediaType": written.media_type,
                "picture": written.picture if written.sent is None else written.sent,
                "listed": written.listed,
                "shown": written.shown,
                "spelled": written.spelled,
                "headers": list(_header_places(one.places)),
            }
            for one in taxonomy.envelopes.values()
            for written in [envelope_row(one)]
        },
        envelope=envelope,
        constants=list(map(constant_row, facts.constants_of_all(taxonomy))),
        fallbacks=[
            {"low": each.on.low, "high": each.on.high, "code": each.code}
            for each in sorted(taxonomy.fallbacks, key=lambda each: each.on.width)
            if each.code is None or taxonomy.codes[each.code].live
        ],
        codes={name: list(map(str, own)) for name, own in codes.items()},
        general=[[on, str(code)] for on, code in general_codes(taxonomy, identity).items()],
        internal=internal,
        undeclared_key=python.undeclared_key(taxonomy) if internal else None,
        needed={slot: members[slot] for slot in needed_slots(taxonomy) if slot in members},
        made={
            field.slot: format_
            for field in taxonomy.fields()
            if field.slot in members
            for format_ in schemas.made_formats(field)[:1]
        },
        correlation={"header": correlation.header, "formats": list(correlation.formats)},
        slot=correlation.slot,
        surfaces=[
            {
                "enveloped": python.has_envelope(surface),
                "methods": [method.upper() for method in surface.match.methods],
                "routes": [list(ecmascript_route(route)) for route in surface.match.routes],
                "statuses": span_rows(surface.match.statuses),
            }
            for surface in python.boundary_surfaces(taxonomy)
        ],
        invalid=invalid_input(taxonomy, identity, codes[envelope]),
        member=members.get(correlation.slot or ""),
        member_required=any(
            place.required
            for place in slot_places(taxonomy.envelopes[envelope].shape).get(
                correlation.slot or "", ()
            )
        ),
        ranges=any(
            test.ranges
            for _, code in schemas.live(taxonomy)
            for rule in code.http.rules
            for test in rule.when
        ),
        client=_client(taxonomy),
    )


def _client(taxonomy: Taxonomy) -> TypeScriptClientRows:
    rows = clients.client_rows(taxonomy)
    return TypeScriptClientRows(
        statuses=span_rows(clients.error_statuses(taxonomy)),
        marks=list(map(mark_row, rows.marks)),
        key_header=rows.key_header,
        keyed=rows.keyed if rows.key_header else (),
    )


def _exceptions(
    taxonomy: Taxonomy, interfaces: Iterable[Interface], members: Mapping[str, str]
) -> Iterator[TypeScriptExceptionRow]:
    flag = flag_key(taxonomy)
    given = {name: [*parameter_slots(each)] for name, each in taxonomy.envelopes.items()}
    for (operation, code), one in zip(schemas.live(taxonomy), interfaces, strict=True):
        envelope = schemas.own_envelope(taxonomy, operation, code).name
        kind: Json = {
            "name": one.name,
            "code": code.name,
            "operation": operation,
            "envelope": envelope,
            **_sender_facts(code, taxonomy, members),
        }
        needs = list(_needs(code, given[envelope], taxonomy, members))
        details = f"d.{one.details}"
        if flag is not None and flag in allowed_details(code) and one.details != "Details":
            details = f'Omit<{details}, "{flag}">'
        opaque = code.details_schema.opaque if code.details_schema is not None else None
        asks = isinstance(opaque, Mapping) and bool(opaque.get("required"))
        required = asks or any(
            member.presence == "required" and detail != flag
            for detail, member in allowed_details(code).items()
        )
        yield TypeScriptExceptionRow(
            name=one.name,
            doc=one.doc,
            code=code.name,
            operation=operation,
            of=f"d.{one.details}",
            details=details,
            options=" & ".join(["Options", *(["{ " + " ".join(needs) + " }"] if needs else [])]),
            bare=not required,
            free=not needs,
            kind=kind,
        )


def _needs(
    code: Code, given: Sequence[str], taxonomy: Taxonomy, members: Mapping[str, str]
) -> Iterator[str]:
    """The members that the options of a code must have, as TypeScript."""
    own = set(code.http.allowed_statuses())
    derived = {str(row["header"]).lower() for row in derived_headers(code, taxonomy)}
    needed = [
        name
        for name, on in facts.required_headers(code, taxonomy).items()
        if name.lower() not in derived
        and own
        and all(any(status in span for span in on) for status in own)
    ]
    if any(name.lower() == "retry-after" for name in needed):
        yield "readonly retryAfter: number;"
    others = [name for name in needed if name.lower() != "retry-after"]
    if others:
        inside = " ".join(f"readonly {key(name)}: string;" for name in others)
        yield f"readonly headers: Readonly<Record<string, string>> & {{ {inside} }};"
    if code.retriable.answer_decides and any(
        place.required
        for envelope in taxonomy.envelopes.values()
        for place in slot_places(envelope.shape).get("retriable", ())
    ):
        yield "readonly retriable: boolean;"
    for slot in given:
        if slot in members and not code.facts.get(slot):
            name = members[slot]
            yield f'readonly {key(name)}: NonNullable<e.Common["{name}"]>;'


def _sender_facts(code: Code, taxonomy: Taxonomy, members: Mapping[str, str]) -> Json:
    """The facts of a code that only a sender needs, where there are any."""
    found: Json = {
        "defaults": {
            members[slot]: values[0]
            for slot, values in code.facts.items()
            if values and slot in members
        },
        "headers": required_header_rows(code, taxonomy),
        "constants": list(map(constant_row, facts.constants_of_code(code, taxonomy))),
        "statusRules": _status_rules(code.http.rules),
        "derived": list(derived_headers(code, taxonomy)),
    }
    return {name: value for name, value in found.items() if value}


def _status_rules(rules: Sequence[ConditionalRule]) -> list[Json]:
    return [{**row, "then": rule.then} for row, rule in zip(rule_rows(rules), rules, strict=True)]


def _header_places(places: Places) -> Iterator[Json]:
    """The headers that carry slots of an error that is sent: the first of each slot."""
    for slot, own in places.items():
        first = next((place for place in own if place.kind == "header"), None)
        if first is not None:
            yield {"slot": slot, "name": first.at, "pattern": first.pattern}
