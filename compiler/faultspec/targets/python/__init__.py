"""The Python target: what each template of ``templates/python`` loops over."""

import keyword
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import faultspec.runtime
from faultspec.language.model import Code, Fallback, Surface, Taxonomy
from faultspec.language.routes import compile_route
from faultspec.runtime import ids
from faultspec.targets import layout
from faultspec.targets import schema as schemas
from faultspec.targets.doc_text import NO_MESSAGE, described, plain_policy, summary
from faultspec.targets.filters import literal, pascal
from faultspec.targets.layout import Raw, bracketed, broken, source, string, subscript, typed
from faultspec.targets.model import Model
from faultspec.targets.python import checks, facts, names, renderings
from faultspec.targets.python.annotations import Annotations
from faultspec.targets.python.bare_codes import BareRows, bare_rows
from faultspec.targets.python.constructors import (
    Constructor,
    ConstructorParameter,
    Package,
    allowed,
    beyond,
    package_of,
)
from faultspec.targets.python.wire import (
    PythonEnvelopeRow,
    PythonSlotRow,
    carried_headers,
    envelope_row,
    slot_rows,
)

#: What every error keeps, beside the slots of the envelopes.
_ATTRIBUTES = ("_details", "_retriable", "boundary", "headers", "message", "retry_after", "status")


class PythonCodeRow(NamedTuple):
    """A member of ``ErrorCode`` and its facts, as source."""

    member: str
    value: str
    doc: str
    facts: str


class PythonErrorRow(NamedTuple):
    """An exception class.

    ``class_`` and ``details_class``: the first line of it, and of the type of its details. ``defaults``: source of the
    attributes that the code decides, or None where it decides none. ``code``, ``facts``,
    ``summary`` and ``message``: source of what they are. ``checks``: source of what its details have to be, or None.
    ``parameters``: of its constructor, mandatory ones first.
    ``arguments``: what the constructor passes on, each ``name=value`` at the indentation of the call. ``cast``: source of
    its details. ``fields``: the members of the TypedDict of its details, or empty where that needs the functional form,
    whose items are ``pairs``. ``flagless``: its details have no place for the retry flag although others' have. ``envelope``:
    the one it travels in unless told otherwise.
    """

    name: str
    member: str
    operation: str | None
    doc: str
    class_: str
    code: str
    defaults: str | None
    facts: str
    checks: str | None
    summary: str
    message: str
    parameters: tuple[ConstructorParameter, ...]
    arguments: tuple[str, ...]
    envelope: str
    details: str
    details_class: str
    cast: str
    fields: tuple[str, ...]
    pairs: tuple[str, ...]
    flagless: bool
    opaque: bool


class Alias(NamedTuple):
    """A type with a name, as source."""

    name: str
    text: str


class PythonPolicyRow(NamedTuple):
    """A retry policy, as source. ``eligible``: source of the codes it is for; empty for all that are retriable."""

    name: str
    doc: str
    text: str
    eligible: tuple[str, ...]


class PythonView(NamedTuple):
    """What the Python templates see beside the model; see the row types.

    ``envelope``: the one that most errors travel in, and ``http_envelope`` that of answers over HTTP, by the first surface
    that has any. ``operations``: what each operation is called by, and its name. ``needed``: the slots without which an
    error cannot be rendered. ``flag_key``: the details key that is the retry flag. ``unknown``: the member of
    ``ErrorCode`` that stands for an unknown code, or None where the taxonomy names none. ``internal``: the
    one that an undeclared error becomes, and ``internal_code`` its source. ``bare``: what needs no details. ``eligible_when``: source of
    the rules of each policy that has any. ``surfaces``: source of
    those that the boundary has to tell apart, or None. ``undeclared_key``: the details
    key that keeps the code of an undeclared error. ``renderings``: the module of those, or none.
    """

    header: str
    title: str
    package: str
    base: str
    codes: tuple[PythonCodeRow, ...]
    errors: tuple[PythonErrorRow, ...]
    shared: tuple[PythonErrorRow, ...]
    operations: tuple[tuple[str, str], ...]
    slots: tuple[PythonSlotRow, ...]
    needed: tuple[PythonSlotRow, ...]
    attributes: tuple[str, ...]
    aliases: tuple[Alias, ...]
    correlation_attribute: str | None
    correlation_slot: str | None
    correlation_header: str
    correlation_formats: str
    envelopes: tuple[PythonEnvelopeRow, ...]
    envelope_names: str
    envelope: str
    http_envelope: str
    headers: str
    carried: tuple[str, ...]
    fallbacks: str
    policies: tuple[PythonPolicyRow, ...]
    selective: tuple[PythonPolicyRow, ...]
    eligible_when: str
    kind_of: str
    flag_key: str | None
    unknown: str | None
    unknown_retriable: bool
    unknown_summary: str
    unknown_message: str
    slot_checks: str | None
    tells: bool
    internal: str | None
    internal_code: str
    bare: tuple[BareRows, ...]
    surfaces: str | None
    undeclared_key: str | None
    idempotency_header: str | None
    renderings: tuple[renderings.Module, ...]
    exports: tuple[str, ...]
    imports: tuple[tuple[str, tuple[str, ...]], ...]


def view(taxonomy: Taxonomy, model: Model) -> PythonView:
    """The rows of the Python target."""
    members = names.members(taxonomy)
    types = Annotations(taxonomy)
    slots = slot_rows(taxonomy, types)
    base = names.base_class(taxonomy.name)
    taken = {base, *names.MODULE}
    tells = any(
        beyond(
            r for code in taxonomy.every_code() for r in (*code.retriable.rules, *code.http.rules)
        )
    )
    package = package_of(taxonomy, types, base, slots)
    errors = tuple(
        _error_row(
            operation,
            code,
            members[code.name],
            names.exception(operation, code.name, taken),
            package,
        )
        for operation, code in schemas.live(taxonomy)
    )
    unknown = taxonomy.unknown.becomes if taxonomy.unknown else None
    standin = next((error for error in errors if error.member == members.get(unknown or "")), None)
    internal = (
        taxonomy.undeclared.becomes if taxonomy.undeclared else _fallback(taxonomy, 500) or unknown
    )
    place = (taxonomy.undeclared.original_code or "") if taxonomy.undeclared else ""
    correlation = next((field for field in taxonomy.fields() if field.echo), None)
    policies = tuple(
        PythonPolicyRow(
            policy.name,
            policy.summary or "",
            broken(plain_policy(policy.policy), 4),
            tuple(f"ErrorCode.{members[code]}" for code in policy.eligible if code in members),
        )
        for policy in taxonomy.retry_policies.values()
    )
    imports = _imports(base, tuple(error.name for error in errors), bool(taxonomy.idempotency))
    return PythonView(
        header=model.header,
        title=taxonomy.title,
        package=names.package(taxonomy.name),
        base=base,
        codes=tuple(
            _code_row(code, members[code.name], taxonomy) for code in names.distinct(taxonomy)
        ),
        errors=errors,
        shared=tuple(error for error in errors if error.operation is None),
        operations=names.wire_names(taxonomy),
        slots=slots,
        needed=tuple(slot for slot in slots if slot.needed and slot.generate is None),
        aliases=tuple(Alias(name, text) for name, text in types.named.items()),
        attributes=tuple(
            sorted(
                {*_ATTRIBUTES, *(("_told",) if tells else ()), *(slot.attribute for slot in slots)}
            )
        ),
        correlation_attribute=None
        if correlation is None
        else next(e.attribute for e in slots if e.slot == correlation.slot),
        correlation_slot=None if correlation is None else correlation.slot,
        correlation_header=(correlation.echo if correlation else None) or "X-Request-Id",
        correlation_formats=source(
            tuple(
                each
                for each in (correlation.schema.format if correlation else ())
                if each in ids.PATTERNS
            )
            or ("token",),
            0,
            len("CORRELATION_FORMATS = "),
        ),
        envelopes=tuple(envelope_row(envelope) for envelope in taxonomy.envelopes.values()),
        envelope_names=subscript(
            "t.Literal",
            [literal(envelope) for envelope in taxonomy.envelopes],
            0,
            len("EnvelopeName = "),
            0,
        ),
        envelope=_first_envelope(taxonomy),
        http_envelope=_first_envelope(taxonomy, "http"),
        headers=source(
            facts.general_constants(taxonomy),
            0,
            len("HEADERS: Sequence[tuple[str, str, Sequence[range]]] = "),
            0,
        ),
        fallbacks=source(
            tuple(
                (
                    Raw(facts.span(fallback.on)),
                    None if fallback.code is None else Raw(f"ErrorCode.{members[fallback.code]}"),
                )
                for fallback in sorted(taxonomy.fallbacks, key=_width)
                if fallback.code is None or fallback.code in members
            ),
            0,
            len("FALLBACKS: Sequence[tuple[range, ErrorCode | None]] = "),
            0,
        ),
        policies=policies,
        selective=tuple(policy for policy in policies if policy.eligible),
        eligible_when=source(
            {
                policy.name: facts.retriable_rules(policy.eligible_when)
                for policy in taxonomy.retry_policies.values()
                if policy.eligible_when
            },
            0,
            len("ELIGIBLE_WHEN: t.Final[Mapping[str, Sequence[RetriableRule]]] = "),
            0,
        ),
        kind_of=source(
            {
                policy.name: {
                    Raw(f"ErrorCode.{members[code]}"): kind
                    for code, kind in policy.kind_of.items()
                    if code in members
                }
                for policy in taxonomy.retry_policies.values()
                if policy.kind_of
            },
            0,
            len("KIND_OF: t.Final[Mapping[str, Mapping[ErrorCode, str]]] = "),
            0,
        ),
        flag_key=package.flag,
        unknown=members.get(unknown) if unknown else None,
        unknown_retriable=bool(taxonomy.unknown and taxonomy.unknown.retriable),
        unknown_summary=literal(NO_MESSAGE) if standin is None else standin.summary,
        unknown_message=literal(NO_MESSAGE) if standin is None else standin.message,
        slot_checks=checks.of_slots(slots, taxonomy),
        tells=tells,
        undeclared_key=place.removeprefix("/details/")
        if internal in members and place.count("/") == 2 and place.startswith("/details/")
        else None,
        carried=carried_headers(taxonomy),
        internal=members.get(internal) if internal else None,
        internal_code=layout.name(
            f"ErrorCode.{members[internal]}", 0, len("INTERNAL: ErrorCode | None = ")
        )
        if internal in members
        else "None",
        bare=bare_rows(taxonomy, members),
        surfaces=_surfaces(taxonomy),
        idempotency_header=taxonomy.idempotency.key if taxonomy.idempotency else None,
        renderings=renderings.modules(taxonomy),
        exports=tuple(sorted((name for _, group in imports for name in group), key=_import_order)),
        imports=imports,
    )


def _fallback(taxonomy: Taxonomy, status: int) -> str | None:
    """The code that the taxonomy names for a status that no code claims."""
    return next(
        (
            fallback.code
            for fallback in sorted(taxonomy.fallbacks, key=_width)
            if status in fallback.on
        ),
        None,
    )


def _width(fallback: Fallback) -> int:
    return fallback.on.width


def _surfaces(taxonomy: Taxonomy) -> str | None:
    """What the boundary has to know of HTTP surfaces: those whose errors need no envelope, and those that come before them.

    A surface that only a request's body tells apart is left out: the boundary does not read it.
    """
    http = [
        surface
        for surface in taxonomy.surfaces.values()
        if surface.transport == "http" and not surface.match.request
    ]
    last = max((index for index, each in enumerate(http) if not _enveloped(each)), default=None)
    return None if last is None else layout.broken(tuple(map(_surface, http[: last + 1])))


def _enveloped(surface: Surface) -> bool:
    return bool(surface.envelopes) and surface.reason is None


def _surface(surface: Surface) -> object:
    """The call that tells the boundary of a surface."""
    from faultspec.runtime import asgi  # here, since most taxonomies have no such surface

    statuses: Any = tuple(
        Raw(repr(range(status.low, status.high + 1))) for status in surface.match.statuses
    )
    return asgi.BoundarySurface(
        _enveloped(surface),
        tuple(method.upper() for method in surface.match.methods),
        tuple(
            (compiled.method, compiled.path.pattern)
            for compiled in map(compile_route, surface.match.routes)
        ),
        statuses,
    )


def _first_envelope(taxonomy: Taxonomy, transport: str | None = None) -> str:
    """The first envelope of the first surface of the transport, else of any surface, else the first declared."""
    surfaces = [surface for surface in taxonomy.surfaces.values() if surface.envelopes]
    own = [surface for surface in surfaces if surface.transport == transport]
    return next((each.envelopes[0] for each in (*own, *surfaces)), next(iter(taxonomy.envelopes)))


def _imports(
    base: str, errors: tuple[str, ...], idempotent: bool
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What the package re-exports, by module, in the order import sorters keep."""
    keys = ("IDEMPOTENCY_HEADER", "new_idempotency_key") if idempotent else ()
    found = {
        "codes": (
            "FACTS",
            "RETRYABLE",
            "ErrorCode",
            "Facts",
            "client_action",
            "codes_for",
            "http_status",
            "is_retryable",
        ),
        "errors": (base, "UnknownError", *errors, "entity_tag", "undeclared"),
        "retry": ("POLICIES", "plan_retry", "start_retry", *keys),
        "wire": ("Rendered", "parse", "render", "to_envelope"),
    }
    return tuple((module, tuple(sorted(each, key=_import_order))) for module, each in found.items())


def _import_order(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, each by name: the order of isort, which ruff keeps too."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2, name)


def runtime_files(view: PythonView) -> Iterator[tuple[str, Path]]:
    """The runtime's modules, taken over as they are."""
    folder = Path(faultspec.runtime.__file__ or "").parent
    for each in sorted(folder.glob("*.py")):
        yield f"{view.package}/_runtime/{each.name}", each


def _error_row(
    operation: str | None, code: Code, member: str, name: str, package: Package
) -> PythonErrorRow:
    taxonomy, flag, keys = package.taxonomy, package.flag, allowed(code)
    envelope = schemas.own_envelope(taxonomy, operation, code)
    made = Constructor(code, name, envelope, package)
    annotations = []
    for key, each in keys.items():
        kind = package.types.of(each.schema, name + pascal(key), key, prefix="")
        annotations.append((key, kind if each.presence == "required" else f"t.NotRequired[{kind}]"))
    plain = all(
        key.isidentifier() and not keyword.iskeyword(key) and not key.startswith("__")
        for key in keys
    )
    return PythonErrorRow(
        name=name,
        member=member,
        operation=operation,
        doc=_doc(code, made.parameters),
        class_=bracketed(f"class {name}(", [package.base], "):", 0),
        code=layout.name(f"ErrorCode.{member}", 4, len("    code = ")),
        defaults=source(
            tuple(
                (slot.attribute, code.facts[slot.slot][0])
                for slot in package.slots
                if code.facts.get(slot.slot)
            ),
            4,
            len("    defaults = "),
        )
        if any(code.facts.get(slot.slot) for slot in package.slots)
        else None,
        facts=bracketed("facts = FACTS[", [f"ErrorCode.{member}"], "]", 4).removeprefix("facts = ")
        if operation is None
        else facts.source_of(code, taxonomy),
        checks=checks.source_of(code, taxonomy, flag),
        summary=string(code.summary, 4, len("    summary = ")),
        message=string(code.message or code.summary, 4, len("    default_message = ")),
        parameters=tuple(made.parameters),
        arguments=tuple(made.arguments),
        envelope=envelope.name,
        details=f"{name}Details",
        details_class=bracketed(f"class {name}Details(", ["t.TypedDict"], "):", 0),
        cast="self._details"
        if code.details_schema is not None
        else bracketed(
            "return t.cast(", [f"d.{name}Details", "self._details"], ")", 8
        ).removeprefix("return "),
        fields=tuple(typed(f"{key}: ", kind, "", 4, statement=True) for key, kind in annotations)
        if plain
        else (),
        pairs=()
        if plain
        else tuple(typed(f"{literal(key)}: ", kind, ",", 8) for key, kind in annotations),
        flagless=flag is not None and (flag not in keys or code.details_schema is not None),
        opaque=code.details_schema is not None,
    )


def _code_row(code: Code, member: str, taxonomy: Taxonomy) -> PythonCodeRow:
    return PythonCodeRow(
        member,
        string(code.name, 4, len(f"    {member} = ")),
        summary(code),
        facts.source_of(code, taxonomy),
    )


def _doc(code: Code, parameters: list[ConstructorParameter]) -> str:
    paragraphs = described(code)
    explained = [
        f"``{parameter.name}``: {parameter.doc.rstrip('.')}."
        for parameter in parameters
        if parameter.doc
    ]
    if explained:
        paragraphs.append(" ".join(explained))
    return "\n\n".join(paragraphs)
