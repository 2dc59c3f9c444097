"""The TypeScript target: what each template of ``templates/typescript`` loops over."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import faultspec.runtime
from faultspec.language.conditions import ConditionalRule, StatusRange, Test
from faultspec.language.model import Code, Taxonomy
from faultspec.runtime.retry import Policy
from faultspec.runtime.shape import Slot, slot_places
from faultspec.targets import schema as schemas
from faultspec.targets.doc_text import NO_MESSAGE, described, plain_policy, statuses, summary
from faultspec.targets.filters import columns, tsdoc, visible
from faultspec.targets.layout import Raw
from faultspec.targets.model import Model
from faultspec.targets.python.constructors import allowed, flag_key
from faultspec.targets.python.facts import merged
from faultspec.targets.python.names import distinct, members, wire_names
from faultspec.targets.python.wire import DECIDED, carried_headers, header_of, picture
from faultspec.targets.typescript import names
from faultspec.targets.typescript.layout import (
    alias,
    body,
    extending,
    key,
    literal,
    member,
    source,
    typed,
)
from faultspec.targets.typescript.types import Types, envelope_type


class TypeScriptCodeRow(NamedTuple):
    """A code, as source: its line in ``ErrorCode``, what is said there, and its facts."""

    member: str
    doc: str
    facts: str


class TypeScriptErrorRow(NamedTuple):
    """The interface of a code.

    ``opened``: its first line. ``code`` and ``operation``: source of its literals. ``details``: the name of the type of its
    details, and ``fields`` the lines of its members, none where it declares none. ``entry``: source of its row in the catalog.
    """

    name: str
    doc: str
    opened: str
    code: str
    operation: str
    details: str
    fields: tuple[str, ...]
    details_doc: str
    entry: str


class TypeScriptSlotRow(NamedTuple):
    """A slot that is a member of every error. ``line``: its declaration. ``place``: source of its row in ``PLACES``."""

    slot: str
    member: str
    line: str
    place: str


class TypeScriptEnvelopeRow(NamedTuple):
    """An envelope: the declaration of its type, and its picture, as source."""

    name: str
    doc: str
    type: str
    picture: str


class TypeScriptPolicyRow(NamedTuple):
    """A retry policy, as source. ``eligible``: source of the codes it is for; ``null`` for all that are retriable.
    ``eligible_when``: its member of ``ELIGIBLE_WHEN``. ``kinds``: source of the kind of each code that has one.
    """

    key: str
    doc: str
    text: str
    eligible: str
    eligible_when: str
    kinds: str


class TypeScriptRenderingRow(NamedTuple):
    """An error as text. ``given``: the type of what the error does not know. ``text``: its picture."""

    key: str
    doc: str
    given: str
    text: str


class Renderings(NamedTuple):
    """The renderings of a taxonomy. ``slots``: source of the members of errors that stand in slots."""

    rows: tuple[TypeScriptRenderingRow, ...]
    slots: str


class TypeScriptView(NamedTuple):
    """What the TypeScript templates see beside the model; see the row types.

    ``slots``: what every error keeps beside its own members. ``wire``: whether an envelope has the code by itself, not inside a text.
    ``operations``: source of the operation behind each name it is called by. ``unknown``: source of the code that stands for
    an unknown one, ``null`` where the taxonomy names none; ``unknown_facts`` what is known of it. ``ranges``,
    ``entry_ranges`` and ``rule_ranges``: whether the facts, those of operations' own codes, and the rules of policies
    name long stretches of statuses. ``renderings``:
    one item, or none where the taxonomy has no renderings.
    """

    folder: str
    title: str
    header: str
    codes: tuple[TypeScriptCodeRow, ...]
    errors: tuple[TypeScriptErrorRow, ...]
    aliases: tuple[str, ...]
    slots: tuple[TypeScriptSlotRow, ...]
    operations: str
    envelopes: tuple[TypeScriptEnvelopeRow, ...]
    envelope: str
    wire: bool
    carried: str
    policies: tuple[TypeScriptPolicyRow, ...]
    policy_names: str
    unknown: str
    unknown_facts: str
    unknown_retriable: str
    unknown_action: str
    idempotency_header: str | None
    ranges: bool
    entry_ranges: bool
    rule_ranges: bool
    renderings: tuple[Renderings, ...]


def view(taxonomy: Taxonomy, model: Model) -> TypeScriptView:
    """The rows of the TypeScript target."""
    types = Types(taxonomy)
    enum = members(taxonomy)
    taken: set[str] = set()
    shapes = {name: names.envelope(name, taken) for name in taxonomy.envelopes}
    flag = flag_key(taxonomy)
    errors = tuple(
        _error_row(operation, code, taken, flag, types)
        for operation, code in schemas.live(taxonomy)
    )
    envelopes = tuple(
        TypeScriptEnvelopeRow(
            shapes[envelope.name],
            tsdoc(envelope.summary or f"The envelope `{envelope.name}` on the wire."),
            envelope_type(envelope, shapes[envelope.name], types),
            member(envelope.name, picture(envelope.shape), 2),
        )
        for envelope in taxonomy.envelopes.values()
    )
    slots = _slots(taxonomy, types)
    policies = tuple(
        TypeScriptPolicyRow(
            key(policy.name),
            tsdoc(policy.summary, 2) if policy.summary else "",
            source(_policy(policy.policy), 2, 2),
            _set(key(policy.name), [code for code in policy.eligible if code in enum])
            if policy.eligible
            else "null",
            member(policy.name, _rules(policy.eligible_when), 2),
            _map(
                key(policy.name),
                [(code, kind) for code, kind in policy.kind_of.items() if code in enum],
            ),
        )
        for policy in taxonomy.retry_policies.values()
    )
    unknown = (
        taxonomy.unknown.becomes if taxonomy.unknown and taxonomy.unknown.becomes in enum else None
    )
    retriable = bool(taxonomy.unknown and taxonomy.unknown.retriable)
    known = tuple(_code_row(code, enum[code.name]) for code in distinct(taxonomy))
    return TypeScriptView(
        folder=names.folder(taxonomy.name),
        title=visible(taxonomy.title),
        header=model.header,
        codes=known,
        errors=errors,
        aliases=tuple(types.named.values()),
        slots=slots,
        operations=source(dict(wire_names(taxonomy))),
        envelopes=envelopes,
        envelope=alias("Envelope", [envelope.name for envelope in envelopes]),
        wire=any(
            place.node == Slot("code")
            for envelope in taxonomy.envelopes.values()
            for place in slot_places(envelope.shape).get("code", ())
        ),
        carried=source(dict.fromkeys(carried_headers(taxonomy), True)),
        policies=policies,
        policy_names=alias(
            "PolicyName", [literal(policy) for policy in taxonomy.retry_policies] or ["string"]
        ),
        unknown=literal(unknown),
        unknown_facts=_UNKNOWN_FACTS if unknown is None else f"FACTS{_at(unknown)}",
        unknown_retriable=literal(retriable),
        unknown_action=literal("retry" if retriable else "none"),
        idempotency_header=literal(taxonomy.idempotency.key) if taxonomy.idempotency else None,
        ranges=any("range(" in each.facts for each in known),
        entry_ranges=any("range(" in error.entry for error in errors),
        rule_ranges=any("range(" in policy.eligible_when for policy in policies),
        renderings=_renderings(taxonomy, slots),
    )


def runtime_files(view: TypeScriptView) -> Iterator[tuple[str, Path]]:
    """The runtime's port, taken over as it is."""
    folder = Path(faultspec.runtime.__file__ or "").parent / "typescript"
    for each in sorted(folder.glob("*.ts")):
        if each.name != "renderings.ts" or view.renderings:
            yield f"{view.folder}/_runtime/{each.name}", each


def _code_row(code: Code, enum: str) -> TypeScriptCodeRow:
    return TypeScriptCodeRow(
        member(enum, code.name, 2), tsdoc(summary(code), 2), _facts_member(code)
    )


def _error_row(
    operation: str | None, code: Code, taken: set[str], flag: str | None, types: Types
) -> TypeScriptErrorRow:
    name = names.error(operation, code.name, taken)
    keys = allowed(code)
    flagless = flag is None or flag not in keys or code.details_schema is not None
    lines = [] if code.details_schema is not None else types.members(keys, name, 2)
    entry = {
        "code": code.name,
        "operation": operation,
        "facts": Raw(f"FACTS{_at(code.name)}") if operation is None else _facts(code),
        "flagKey": None if flagless else flag,
    }
    return TypeScriptErrorRow(
        name=name,
        doc=tsdoc("\n\n".join(described(code))),
        opened=extending(name, "Common"),
        code=literal(code.name),
        operation=literal(operation),
        details=f"{name}Details" if lines else "Details",
        fields=tuple(lines),
        details_doc=tsdoc(f"Details of `{name}`."),
        entry=source(entry, 2, 2),
    )


def _at(code: str) -> str:
    """How the member of an object for a code is written; codes are identifiers."""
    return f".{code}"


_UNKNOWN_FACTS = source(
    {
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
)


def _facts(code: Code) -> dict[str, object]:
    return {
        "wire": code.wire,
        **dict(_common(code)),
        "rules": _rules(code.retriable.rules),
        **_said(code),
    }


def _common(code: Code) -> tuple[tuple[str, object], ...]:
    """The facts that many codes have in common."""
    return (
        ("status", code.http.default),
        ("statuses", statuses(code.http.statuses, _span, "...")),
        ("retriable", code.retriable.kind),
        ("clientAction", code.client_action),
        ("effect", code.effect),
        ("domain", code.domain),
        ("boundaries", code.boundaries),
        ("retry", code.retry),
        ("until", code.retriable.until),
        ("actions", code.actions),
    )


def _said(code: Code) -> dict[str, object]:
    return {
        "deprecated": code.lifecycle == "deprecated",
        "summary": code.summary,
        "message": code.message or code.summary,
    }


def _facts_member(code: Code) -> str:
    """The facts of a code, by its name."""
    own = (("rules", _rules(code.retriable.rules)), *_said(code).items())
    lines = body((("wire", code.wire),), 4) + _common_body(_common(code)) + body(own, 4)
    return f"{key(code.name)}: {{\n{lines}  }}"


@lru_cache(maxsize=512)  # more combinations of statuses, flags and policies than a taxonomy has
def _common_body(given: tuple[tuple[str, object], ...]) -> str:
    return body(given, 4)


def _rules(rules: Sequence[ConditionalRule]) -> list[dict[str, object]]:
    return [
        {"then": bool(rule.then), "when": [_test(test) for test in rule.when]} for rule in rules
    ]


def _test(test: Test) -> dict[str, object]:
    numbers = merged(test.ranges)
    values = [*test.values, *(Raw(f"...{_span(each)}") for each in numbers)]
    return {"fact": test.fact, "values": values}


def _span(each: StatusRange) -> str:
    return f"range({each.low}, {each.high})"


def _slots(taxonomy: Taxonomy, types: Types) -> tuple[TypeScriptSlotRow, ...]:
    """Every slot of every envelope that no code decides, in the order in which the envelopes first name them."""
    found: dict[str, TypeScriptSlotRow] = {}
    taken: set[str] = set()
    for envelope in taxonomy.envelopes.values():
        for slot in slot_places(envelope.shape):
            if slot in found or slot in DECIDED:
                continue
            field = taxonomy.field_of(slot)
            kinds = ("array",) if slot == "actions" else field.schema.types if field else ()
            name = names.slot(slot, taken)
            place = {
                "member": name,
                "slot": slot,
                "type": kinds[0] if len(kinds) == 1 else None,
                "header": header_of(slot, field, taxonomy),
            }
            parts = list(dict.fromkeys((*types.slot(slot), "null")))
            line = typed(f"readonly {name}:", ["unknown"] if "unknown" in parts else parts, 2)
            found[slot] = TypeScriptSlotRow(slot, name, line, source(place, 2, 2))
    return tuple(found.values())


def _set(name: str, codes: list[str]) -> str:
    """A set of codes as a member of an object."""
    lead = "new Set<ErrorCode>("
    return f"{lead}{source(codes, 2, 2 + columns(f'{name}: {lead}'), 2) if codes else ''})"


def _map(name: str, pairs: list[tuple[str, str]]) -> str:
    """What codes stand for, as a member of an object."""
    lead = "new Map<ErrorCode, string>("
    return f"{lead}{source([list(pair) for pair in pairs], 2, 2 + columns(f'{name}: {lead}'), 2) if pairs else ''})"


def _policy(policy: Policy) -> Mapping[str, object]:
    """A policy as the runtime's port takes it."""
    found = {
        names.camel(name): _data(each) for name, each in plain_policy(policy)._asdict().items()
    }
    return {**found, "kinds": {name: _data(each) for name, each in policy.kinds.items()}}


def _data(value: object) -> object:
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {names.camel(name): _data(each) for name, each in value._asdict().items()}
    return [_data(each) for each in value] if isinstance(value, tuple) else value


def _renderings(taxonomy: Taxonomy, slots: tuple[TypeScriptSlotRow, ...]) -> tuple[Renderings, ...]:
    rows = tuple(
        TypeScriptRenderingRow(
            key(rendering.name),
            tsdoc(rendering.summary or f"The rendering `{rendering.name}`.", 2),
            _given(rendering.given),
            member(rendering.name, rendering.picture, 2),
        )
        for rendering in taxonomy.renderings.values()
    )
    return (Renderings(rows, source({slot.slot: slot.member for slot in slots})),) if rows else ()


def _given(given: Mapping[str, str]) -> str:
    """The type of what a rendering needs beside the error."""
    lines = [
        f"    {tsdoc(what, 4)}\n    readonly {key(name)}: string;\n" for name, what in given.items()
    ]
    return "{\n" + "".join(lines) + "  }" if lines else "Readonly<Record<string, never>>"
