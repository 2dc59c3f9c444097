"""The TypeScript target: the rows over which the templates of ``templates/typescript`` loop."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import faultspec.runtime
from faultspec.diagnostics.model import Diagnostic
from faultspec.language.model import Code, Envelope, RetryPolicy, Support, Taxonomy
from faultspec.language.text_types import text_type
from faultspec.runtime.checking import Check
from faultspec.runtime.keys import KeyPlace
from faultspec.runtime.places import body_places
from faultspec.runtime.retry import Policy
from faultspec.runtime.shape import Node, Object, Slot, child, slot_places
from faultspec.targets import TargetError
from faultspec.targets import schema as schemas
from faultspec.targets.decided import DecidedRow, decided_rows, identities
from faultspec.targets.doc_text import (
    NO_MESSAGE,
    code_paragraphs,
    has_support,
    lifecycle_notes,
    message_template,
    plain_policy,
    statuses,
)
from faultspec.targets.filters import visible
from faultspec.targets.literals import Call, Verbatim
from faultspec.targets.memo import memoize
from faultspec.targets.model import Model, OwnKeys, key_parts, own_keys
from faultspec.targets.portable_patterns import unportable_places
from faultspec.targets.python.constructors import allowed_details, flag_key
from faultspec.targets.python.names import base_class, enum_members, wire_names
from faultspec.targets.python.wire import (
    DECIDED,
    carried_headers,
    format_rows,
    has_error_lists,
    header_of,
    picture,
)
from faultspec.targets.typescript import names
from faultspec.targets.typescript.conditions import rule_rows, span_literal
from faultspec.targets.typescript.servers import Interface, TypeScriptServerRows, server_rows
from faultspec.targets.typescript.types import (
    Types,
    TypeScriptMember,
    TypeScriptType,
    envelope_type,
    union,
)

Json = dict[str, object]

#: The tags that editors and linters read (TSDoc).
_MARKS = {"deprecated": "@deprecated", "experimental": "@experimental", "beta": "@beta"}


class TypeScriptCodeRow(NamedTuple):
    """A member of ``ErrorCode``, its documentation, and its facts."""

    member: str
    name: str
    doc: str
    facts: Json


class TypeScriptErrorRow(NamedTuple):
    """The interface of a code.

    ``details``: the name of the type of its details. ``fields``: its declared members. ``entry``:
    its row in the catalog.
    """

    name: str
    doc: str
    code: str
    operation: str | None
    details: str
    fields: Sequence[TypeScriptMember]
    entry: Call


class TypeScriptSlotRow(NamedTuple):
    """A slot that is a member of every error. ``place``: its row in ``PLACES``."""

    slot: str
    member: str
    type: TypeScriptType
    place: Json


class TypeScriptEnvelopeRow(NamedTuple):
    """An envelope, the name of its type, and that type."""

    name: str
    envelope: str
    doc: str
    type: TypeScriptType
    picture: object


class TypeScriptPolicyRow(NamedTuple):
    """A retry policy. ``eligible``: its codes, None if it is for all that are retriable. ``kinds``:
    those of codes.
    """

    name: str
    doc: str
    policy: Json
    eligible: Call | None
    eligible_when: list[Json]
    kinds: Call


class TypeScriptRenderingRow(NamedTuple):
    """An error as text. ``given``: what a caller passes, with its documentation."""

    name: str
    doc: str
    given: Mapping[str, str]
    picture: object


class TypeScriptRenderings(NamedTuple):
    """The renderings of a taxonomy. ``slots``: the member of errors for each slot."""

    rows: tuple[TypeScriptRenderingRow, ...]
    slots: Mapping[str, str]


class TypeScriptView(NamedTuple):
    """The values that the TypeScript templates see beside the model; see the row types.

    ``values``: those of the code slot, with their documentation. ``by_code``: the interfaces of the
    errors with each code. ``wire``: whether an envelope has the code by itself, not inside a text.
    ``removed``: the rows of removed codes in the catalog.
    ``operations``: the operation behind each name of a call.
    ``unknown``: the code that stands for an unknown one, or None, and ``unknown_facts`` its facts.
    ``ranges``, ``entry_ranges`` and ``rule_ranges``: whether the facts, those of operations' own
    codes, and the rules of policies contain ranges of statuses. ``renderings``: one item, or none.
    ``places``: those of slots that are not only where the picture has them, by envelope.
    ``decided``: the codes that no member of the body has; ``fallbacks`` those of other statuses;
    ``upstream`` those of failures of upstreams.
    ``formats``: the bodies of an envelope are not JSON; ``media_types`` by envelope; ``text_types``
    and ``detail_types``: what texts stand for in slots and details. ``identities``: by envelope,
    the values of codes that are not their ``wire``. ``lists``: an envelope has a list of errors.
    ``hints``: the details that are a wait, with their units. ``supported``: a code says who answers
    for it. ``localized``: a message has several languages. ``sensitive``: logs mask a detail.
    ``succeeded``: a removed code is read as another one. ``by_domain``: the interfaces of the
    errors of each domain. ``exceptions``: the modules of
    exceptions and clients. ``servers``: the modules for servers, none if a body is not JSON.
    """

    folder: str
    title: str
    header: str
    codes: tuple[TypeScriptCodeRow, ...]
    values: Mapping[str | int, str]
    errors: tuple[TypeScriptErrorRow, ...]
    by_code: Mapping[str, Sequence[str]]
    removed: tuple[Json, ...]
    unions: Mapping[str, Sequence[object]]
    slots: tuple[TypeScriptSlotRow, ...]
    operations: Mapping[str, str]
    envelopes: tuple[TypeScriptEnvelopeRow, ...]
    wire: bool
    carried: Mapping[str, bool]
    policies: tuple[TypeScriptPolicyRow, ...]
    unknown: str | None
    unknown_facts: object
    unknown_retriable: bool
    key_place: KeyPlace | None
    part: str
    own_keys: OwnKeys | None
    ranges: bool
    entry_ranges: bool
    rule_ranges: bool
    renderings: tuple[TypeScriptRenderings, ...]
    places: Mapping[str, Json]
    decided: tuple[Json, ...]
    fallbacks: tuple[Json, ...]
    upstream: tuple[Json, ...]
    formats: bool
    media_types: Mapping[str, Sequence[str]]
    text_types: Mapping[str, Mapping[str, Json]]
    detail_types: Sequence[list[object]]
    supported: bool
    localized: bool
    sensitive: bool
    succeeded: bool
    by_domain: Mapping[str, Sequence[str]]
    identities: Mapping[str, Sequence[Json]]
    lists: bool
    hints: Sequence[Sequence[str]]
    exceptions: tuple[TypeScriptServerRows, ...]
    servers: tuple[TypeScriptServerRows, ...]


def view(taxonomy: Taxonomy, model: Model) -> TypeScriptView:
    """The rows of the TypeScript target. Raises TargetError for a pattern that JavaScript lacks."""
    _check_patterns(taxonomy, model)
    types = Types(taxonomy)
    enum = enum_members(taxonomy)
    taken = {base_class(taxonomy.name)}
    shapes = {name: names.envelope(name, taken) for name in taxonomy.envelopes}
    errors = tuple(_error_rows(taxonomy, taken, types))
    envelopes = tuple(
        TypeScriptEnvelopeRow(
            name=shapes[envelope.name],
            envelope=envelope.name,
            doc=envelope.summary or f"The envelope `{envelope.name}` on the wire.",
            type=envelope_type(envelope, types),
            picture=_picture(envelope),
        )
        for envelope in taxonomy.envelopes.values()
    )
    slots = tuple(_slot_rows(taxonomy, types))
    supported, localized = has_support(taxonomy), has_messages(taxonomy)
    sensitive = has_sensitive(taxonomy)
    rule, formats = taxonomy.unknown, format_rows(taxonomy)
    unknown = rule.becomes if rule and rule.becomes in enum else None
    shared: dict[str, Any] = {
        "folder": names.folder(taxonomy.name),
        "title": visible(taxonomy.title),
        "slots": slots,
        "unknown": unknown,
        "lists": has_error_lists(taxonomy),
        "localized": localized,
        "formats": bool(formats),
        "identities": {
            envelope: [dict(row._asdict()) for row in rows]
            for envelope, rows in identities(taxonomy).items()
        },
    }
    rows = server_rows(
        taxonomy,
        model,
        interfaces=(Interface(error.name, error.doc, error.details) for error in errors),
        members={slot.slot: slot.member for slot in slots},
        shared=shared,
    )
    return TypeScriptView(
        **shared,
        header=model.header,
        codes=tuple(
            TypeScriptCodeRow(
                enum[code.name],
                code.name,
                "\n\n".join([code.summary, *lifecycle_notes(code, _MARKS)]),
                _facts(code, taxonomy),
            )
            for code in schemas.distinct_codes(taxonomy)
        ),
        values=_code_values(taxonomy),
        errors=errors,
        by_code=_interfaces_by_code(errors),
        removed=tuple(
            {"operation": operation, "wire": code.wire, "replacedBy": successor}
            for operation, code, successor in schemas.removed_codes(taxonomy)
        ),
        unions=types.named,
        operations=dict(wire_names(taxonomy)),
        envelopes=envelopes,
        wire=any(
            place.node == Slot("code")
            for envelope in taxonomy.envelopes.values()
            for place in slot_places(envelope.shape).get("code", ())
        ),
        carried=dict.fromkeys(carried_headers(taxonomy), True),
        policies=tuple(_policy_row(policy, enum) for policy in taxonomy.retry_policies.values()),
        unknown_facts={
            **_UNKNOWN_FACTS,
            **dict.fromkeys(Support._fields if supported else ()),
            **({"messages": {}} if localized else {}),
            **({"sensitive": []} if sensitive else {}),
        }
        if unknown is None
        else Verbatim(f"FACTS.{unknown}"),
        unknown_retriable=bool(rule and rule.retriable),
        key_place=taxonomy.idempotency.key if taxonomy.idempotency else None,
        part=key_parts(taxonomy),
        own_keys=own_keys(taxonomy),
        ranges=any(_has_range(code) for code in schemas.distinct_codes(taxonomy)),
        entry_ranges=any(
            operation is not None and _has_range(code) for operation, code in schemas.live(taxonomy)
        ),
        rule_ranges=any(
            test.ranges
            for policy in taxonomy.retry_policies.values()
            for conditional in policy.eligible_when
            for test in conditional.when
        ),
        renderings=_renderings(taxonomy, slots),
        places={name: _places(each) for name, each in taxonomy.envelopes.items() if each.places},
        decided=tuple(map(_decided_entry, decided_rows(taxonomy))),
        fallbacks=tuple(_fallbacks(taxonomy)),
        upstream=tuple(_upstream_rows(taxonomy, enum)),
        media_types={row.name: row.media_types for row in formats},
        text_types={
            row.name: {slot: _text_type(check) for slot, check in row.types.items()}
            for row in formats
            if row.types
        },
        detail_types=list(_detail_types(taxonomy)),
        supported=supported,
        sensitive=sensitive,
        succeeded=any(map(schemas.has_successor, schemas.removed_codes(taxonomy))),
        by_domain=_interfaces_by_domain(taxonomy, errors),
        hints=[[key.name, key.unit] for key in taxonomy.retry_hints],
        exceptions=(rows,),
        servers=() if formats else (rows,),
    )


def _check_patterns(taxonomy: Taxonomy, model: Model) -> None:
    place = next(unportable_places(taxonomy, to_javascript=True), None)
    if place is not None:
        raise TargetError(
            Diagnostic(
                "unsupported-envelope",
                "the target typescript reads patterns that JavaScript has, and the pattern of the "
                f"slot {place.slot} of the envelope {place.envelope} has more",
                model.source,
                pointer=place.path,
                hint="put a backslash before a literal bracket, or leave this target out",
            )
        )


def _code_values(taxonomy: Taxonomy) -> Mapping[str | int, str]:
    """The values of the code slot, each with the documentation of its code."""
    found: dict[str, tuple[str | int, str]] = {}
    for _, code in schemas.live(taxonomy):
        doc = "\n\n".join([code.summary, *lifecycle_notes(code, _MARKS)])
        found.setdefault(str(code.wire), (code.wire, doc))
    return dict(found.values())


def _picture(envelope: Envelope) -> object:
    """The picture of an envelope, with a slot of its own for each further member of a slot."""
    renamed = {
        pointer: _further_slot(slot, index)
        for slot, pointers in body_places(envelope.places).items()
        for index, pointer in enumerate(pointers)
    }
    return picture(_with_slots(envelope.shape, renamed, ""))


def _further_slot(slot: str, index: int) -> str:
    return f"{slot}__{index}" if index else slot


def _with_slots(node: Node, renamed: Mapping[str, str], path: str) -> Node:
    if path in renamed:
        return Slot(renamed[path])
    if not isinstance(node, Object):
        return node
    members = tuple(
        member._replace(node=_with_slots(member.node, renamed, child(path, member.name)))
        for member in node.members
    )
    return node._replace(members=members)


def _places(envelope: Envelope) -> Json:
    """The places of slots, in order; ``at`` of a member is its slot in the picture."""
    pointers = body_places(envelope.places)
    return {
        slot: [
            {
                "kind": place.kind,
                "at": _further_slot(slot, pointers[slot].index(place.at))
                if place.kind == "body"
                else place.at,
                "pattern": place.pattern,
            }
            for place in own
        ]
        for slot, own in envelope.places.items()
    }


def _fallbacks(taxonomy: Taxonomy) -> Iterator[Json]:
    """The fallbacks, the narrowest range first."""
    for fallback in sorted(taxonomy.fallbacks, key=lambda each: each.on.width):
        code = taxonomy.codes.get(fallback.code or "")
        wire = code.wire if code is not None and code.live else None
        yield {"low": fallback.on.low, "high": fallback.on.high, "wire": wire}


def _upstream_rows(taxonomy: Taxonomy, enum: Mapping[str, str]) -> Iterator[Json]:
    """The rows of `upstream.codes`."""
    for row in taxonomy.upstream.codes if taxonomy.upstream else ():
        if row.becomes in enum:
            yield {
                "upstreams": list(row.upstreams),
                "statuses": [[span.low, span.high] for span in row.statuses],
                "codes": list(row.codes),
                "becomes": row.becomes,
            }


def _text_type(check: Check) -> Json:
    """The types that a text may stand for, as the runtime reads them."""
    members = {name: _text_type(each) for name, each in check.members.items()}
    return {
        "types": list(check.types),
        **({"members": members} if members else {}),
        **({"items": _text_type(check.items)} if check.items is not None else {}),
    }


def _detail_types(taxonomy: Taxonomy) -> Iterator[list[object]]:
    """The types of the details of each code, where bodies have only texts."""
    if all(codec.has_types for one in taxonomy.envelopes.values() for codec in one.codecs):
        return
    for operation, code in schemas.live(taxonomy):
        declared = {key: text_type(member.schema) for key, member in code.details.items()}
        check = Check(("object",), members=declared)
        if code.details_schema is not None:
            check = text_type(code.details_schema)
        if check.members:
            yield [code.name, operation, _text_type(check)]


def _decided_entry(row: DecidedRow) -> Json:
    return {
        "envelope": row.envelope,
        "operation": row.operation,
        "listed": row.listed,
        "wire": row.wire,
        "statuses": [[span.low, span.high] for span in row.statuses],
    }


def runtime_files(view: TypeScriptView) -> Iterator[tuple[str, Path]]:
    """The modules of the runtime's port, which are copied verbatim."""
    folder = Path(faultspec.runtime.__file__ or "").parent / "typescript"
    unused = {
        *(() if view.renderings else ("renderings",)),
        *(() if view.localized else ("locales",)),
        *(() if view.sensitive else ("sensitive",)),
        *(() if view.key_place is not None else ("keys",)),
        *(() if view.formats else ("bodies",)),
        *(() if view.servers else ("boundary", "envelopes")),
        *(() if view.exceptions else ("streams",)),
    }
    for path in sorted(folder.glob("*.ts")):
        if path.stem not in unused:
            yield f"{view.folder}/_runtime/{path.name}", path


def _error_rows(taxonomy: Taxonomy, taken: set[str], types: Types) -> Iterator[TypeScriptErrorRow]:
    """The interface of each live code; ``taken`` are names that none may have."""
    flag = flag_key(taxonomy)
    for operation, code in schemas.live(taxonomy):
        name = names.error(operation, code.name, taken)
        keys, opaque = allowed_details(code), code.details_schema is not None
        flagless = flag is None or flag not in keys or opaque
        fields = [] if opaque else types.members(keys, name)
        shared = Verbatim(f"FACTS.{code.name}")  # codes are identifiers
        yield TypeScriptErrorRow(
            name=name,
            doc="\n\n".join(
                [
                    *code_paragraphs(code, _MARKS, taxonomy.owner),
                    *([f"@see {code.support.docs}"] if code.support.docs else []),
                ]
            ),
            code=code.name,
            operation=operation,
            details=f"{name}Details" if fields else "Details",
            fields=fields,
            entry=Call(
                "entry",
                {
                    "code": code.name,
                    "operation": operation,
                    "facts": shared if operation is None else _facts(code, taxonomy),
                    "flagKey": None if flagless else flag,
                },
            ),
        )


def _interfaces_by_code(errors: Sequence[TypeScriptErrorRow]) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for error in errors:
        found.setdefault(error.code, []).append(error.name)
    return found


@memoize
def has_messages(taxonomy: Taxonomy) -> bool:
    """Whether a live code has messages in several languages."""
    return any(code.messages for _, code in schemas.live(taxonomy))


@memoize
def has_sensitive(taxonomy: Taxonomy) -> bool:
    """Whether a live code has details that are for the caller only."""
    return any(True for _, code in schemas.live(taxonomy) for _ in schemas.sensitive_places(code))


def _interfaces_by_domain(
    taxonomy: Taxonomy, errors: Sequence[TypeScriptErrorRow]
) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for (_, code), error in zip(schemas.live(taxonomy), errors, strict=True):
        if code.domain is not None:
            found.setdefault(code.domain, []).append(error.name)
    return {name: found[name] for name in taxonomy.domains if name in found}


def _support(code: Code, taxonomy: Taxonomy) -> Json:
    """The facts for people; none if no code has any."""
    if not has_support(taxonomy):
        return {}
    return {**code.support._asdict(), "owner": code.support.owner or taxonomy.owner}


def _facts(code: Code, taxonomy: Taxonomy) -> Json:
    return {
        "wire": code.wire,
        "status": code.http.default,
        "statuses": statuses(code.http.statuses, span_literal, "..."),
        "retriable": code.retriable.flag_kind,
        "clientAction": code.client_action,
        "effect": code.effect,
        "domain": code.domain,
        "boundaries": code.boundaries,
        "retry": code.retry,
        "until": code.retriable.until,
        "actions": code.actions,
        "rules": rule_rows(code.retriable.rules),
        "deprecated": code.lifecycle == "deprecated",
        "summary": code.summary,
        "message": message_template(code),
        **_support(code, taxonomy),
        **({"messages": dict(code.messages)} if has_messages(taxonomy) else {}),
        **(
            {"sensitive": [list(place) for place in schemas.sensitive_places(code)]}
            if has_sensitive(taxonomy)
            else {}
        ),
    }


_UNKNOWN_FACTS: Json = {
    "wire": "unknown",
    "status": None,
    "statuses": [],
    "retriable": "never",
    "clientAction": "none",
    "effect": "unknown",
    "domain": None,
    "boundaries": [],
    "retry": None,
    "until": None,
    "actions": [],
    "rules": [],
    "deprecated": False,
    "summary": NO_MESSAGE,
    "message": NO_MESSAGE,
}


def _has_range(code: Code) -> bool:
    """Whether the facts of a code contain a range of statuses."""
    written = statuses(code.http.statuses, span_literal, "...")
    several = (written,) if isinstance(written, str) else written
    return any(isinstance(status, Verbatim) for status in several) or any(
        test.ranges for rule in code.retriable.rules for test in rule.when
    )


def _slot_rows(taxonomy: Taxonomy, types: Types) -> Iterator[TypeScriptSlotRow]:
    """Every slot that no code decides, in the order in which the envelopes first name them."""
    taken: set[str] = set()
    slots = (slot for envelope in taxonomy.envelopes.values() for slot in envelope.slots)
    for slot in dict.fromkeys(slots):
        if slot in DECIDED:
            continue
        field = taxonomy.field_of(slot)
        kinds = ("array",) if slot == "actions" else field.schema.types if field else ()
        name = names.slot(slot, taken)
        parts = types.slot(slot)
        known = parts[0].before != "unknown"
        yield TypeScriptSlotRow(
            slot,
            name,
            union((*parts, TypeScriptType("null")) if known else parts),
            {
                "member": name,
                "slot": slot,
                "type": kinds[0] if len(kinds) == 1 else None,
                "header": header_of(slot, field, taxonomy),
            },
        )


def _policy_row(policy: RetryPolicy, enum: Mapping[str, str]) -> TypeScriptPolicyRow:
    eligible = [code for code in policy.eligible if code in enum]
    kinds = [[code, kind] for code, kind in policy.kind_of.items() if code in enum]
    return TypeScriptPolicyRow(
        name=policy.name,
        doc=policy.summary or "",
        policy=_policy(policy.policy),
        eligible=Call("new Set<ErrorCode>", eligible) if policy.eligible else None,
        eligible_when=rule_rows(policy.eligible_when),
        kinds=Call("new Map<ErrorCode, string>", kinds),
    )


def _policy(policy: Policy) -> Json:
    """A policy with the names of the runtime's port."""
    found = {
        names.camel(name): _data(value) for name, value in plain_policy(policy)._asdict().items()
    }
    return {**found, "kinds": {name: _data(kind) for name, kind in policy.kinds.items()}}


def _data(value: object) -> object:
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {names.camel(name): _data(member) for name, member in value._asdict().items()}
    return [_data(item) for item in value] if isinstance(value, tuple) else value


def _renderings(
    taxonomy: Taxonomy, slots: Sequence[TypeScriptSlotRow]
) -> tuple[TypeScriptRenderings, ...]:
    rows = tuple(
        TypeScriptRenderingRow(
            rendering.name,
            rendering.summary or f"The rendering `{rendering.name}`.",
            rendering.given,
            rendering.picture,
        )
        for rendering in taxonomy.renderings.values()
    )
    return (TypeScriptRenderings(rows, {slot.slot: slot.member for slot in slots}),) if rows else ()
