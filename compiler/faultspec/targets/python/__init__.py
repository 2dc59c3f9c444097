"""The Python target: the rows over which the templates of ``templates/python`` loop."""

import keyword
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import faultspec.runtime
from faultspec.language.model import (
    Code,
    DetailMember,
    Fallback,
    Surface,
    Taxonomy,
)
from faultspec.language.routes import compile_route
from faultspec.language.spelling import pascal
from faultspec.runtime.checking import Check
from faultspec.runtime.keys import KeyPlace
from faultspec.runtime.retry import Policy
from faultspec.targets import schema as schemas
from faultspec.targets.decided import identities
from faultspec.targets.doc_text import (
    NO_MESSAGE,
    code_paragraphs,
    deprecation_terms,
    has_support,
    lifecycle_notes,
    message_template,
    plain_policy,
)
from faultspec.targets.literals import Verbatim
from faultspec.targets.model import Model, OwnKeys, key_parts, own_keys
from faultspec.targets.python import checks, facts, names, renderings
from faultspec.targets.python.annotations import Annotations
from faultspec.targets.python.bare_codes import bare_codes, general_codes
from faultspec.targets.python.clients import ClientRows, client_rows
from faultspec.targets.python.constructors import (
    Constructor,
    ConstructorArguments,
    ConstructorParameter,
    Package,
    allowed_details,
    missing_facts,
    package_of,
)
from faultspec.targets.python.grpc import GrpcRows, grpc_rows
from faultspec.targets.python.invalid_input import InvalidInputRow, invalid_input
from faultspec.targets.python.openapi_parts import openapi_parts
from faultspec.targets.python.wire import (
    DecidedKey,
    PythonEnvelopeRow,
    PythonFormatRow,
    PythonSlotRow,
    carried_headers,
    decided_keys,
    envelope_row,
    format_rows,
    has_error_lists,
    slot_rows,
)

#: What stands in docstrings before the terms of a lifecycle.
_MARKS = {"deprecated": "Deprecated:", "experimental": "Experimental:", "beta": "Beta:"}

#: The attributes of every error beside the slots of the envelopes.
_ATTRIBUTES = (
    *("_details", "_retriable", "boundary", "headers", "message", "raw", "retry_after", "status"),
)

#: The modules of the runtime that read other bodies than JSON.
_CODECS = frozenset({"cbor_codec", "codecs", "reading", "text_values", "xml_codec"})

Members = Mapping[str, Verbatim]
"""The member of ``ErrorCode`` for each live code, by the name of the code."""


class PythonCodeRow(NamedTuple):
    """A member of ``ErrorCode`` and its facts."""

    member: str
    name: str
    doc: str
    facts: facts.Facts


class DetailField(NamedTuple):
    """A member of the TypedDict of a code's details."""

    key: str
    annotation: str
    required: bool


class PythonErrorRow(NamedTuple):
    """An exception class.

    ``parent``: its base class. ``code``: the member of ``ErrorCode``. ``facts``: those of an
    operation's own code, else None. ``defaults``: attributes that the code decides. ``parameters``:
    those of its constructor, mandatory ones first. ``envelope``: the default one. ``functional``: a
    key of the details is not an identifier, so that their TypedDict needs the functional form.
    ``flagless``: its details have no place for the retry flag, although those of other codes have.
    ``opaque``: its details have a schema of their own. ``deprecation``: the warning of its
    constructor. ``messages``: by language. ``sensitive``: places of details that logs mask.
    """

    name: str
    parent: str
    domain: str | None
    code: Verbatim
    operation: str | None
    doc: str
    summary: str
    message: str
    facts: facts.Facts | None
    defaults: tuple[tuple[str, object], ...]
    checks: Check | None
    parameters: Sequence[ConstructorParameter]
    arguments: ConstructorArguments
    envelope: str
    messages: Mapping[str, str]
    sensitive: tuple[tuple[str, ...], ...]
    details: str
    fields: tuple[DetailField, ...]
    functional: bool
    flagless: bool
    opaque: bool
    deprecation: str | None


class PythonDomainRow(NamedTuple):
    """The base class of the exceptions of a domain."""

    name: str
    doc: str


class PythonRemovedRow(NamedTuple):
    """A removed code: its operation, the value of the code slot, and the member that replaces
    it.
    """

    operation: str | None
    wire: str
    successor: Verbatim | None


class PythonPolicyRow(NamedTuple):
    """A retry policy. ``eligible``: the codes it is for; empty if it is for all that are
    retriable.
    """

    name: str
    doc: str
    policy: Policy
    eligible: tuple[Verbatim, ...]


class UnknownRow(NamedTuple):
    """The code that stands for an unknown one, or None, and what is known of it."""

    code: Verbatim | None
    retriable: bool
    summary: str
    message: str


class RetryRows(NamedTuple):
    """``eligible_when``: the rules of each policy that has any. ``kind_of``: the kinds of codes, by
    policy. ``hints``: the details that are a wait, with their units. ``key_place``: of the
    idempotency key; ``part``: the part of a request that has it, in words. ``own_keys``: other
    places, by surface and by operation.
    """

    policies: tuple[PythonPolicyRow, ...]
    selective: tuple[PythonPolicyRow, ...]
    eligible_when: Mapping[str, object]
    kind_of: Mapping[str, object]
    hints: tuple[tuple[str, str], ...]
    key_place: KeyPlace | None
    part: str
    own_keys: OwnKeys | None


class CorrelationRow(NamedTuple):
    """The header of the correlation id and its formats; the attribute and the slot, or None if no
    slot repeats it.
    """

    header: str
    formats: tuple[str, ...]
    attribute: str | None
    slot: str | None


class BoundaryRows(NamedTuple):
    """The error boundary. ``envelope``: the default one of HTTP. ``bare``: by envelope, the codes
    without details. ``general``: the codes of statuses that several codes claim.

    ``surfaces``: those that the boundary tells apart, or none. ``invalid``: the code of input that
    a framework refuses.
    """

    envelope: str
    correlation: CorrelationRow
    bare: Mapping[str, Sequence[Verbatim]]
    general: Mapping[int, Verbatim]
    surfaces: tuple[object, ...]
    invalid: InvalidInputRow | None


class PythonView(NamedTuple):
    """The values that the Python templates see beside the model; see the row types.

    ``envelope``: the default one, of most errors. ``operations``: the operation behind each name of
    a call. ``needed``: the attribute of each slot without which an error cannot be rendered.
    ``flag_key``: the details key that is the retry flag. ``asks``: rules test facts that an error
    does not know. ``internal``: the code of an undeclared error, or None. ``undeclared_key``: the
    details key that keeps the code of an undeclared error. ``renderings``: one module, or none.
    ``decided``: the codes that no member of the body has. ``placed``: a slot is not only where the
    picture has it. ``formats``: the envelopes, if the body of one is not JSON. ``lists``: an
    envelope has a list of errors. ``identities``: by
    envelope, the values of codes that are not their ``wire``. ``forms``: an operation has a shared
    code otherwise. ``exact_actions``: a code has an exact list of them. ``supported``: a code says
    who answers for it; ``owner``: who answers for the others. ``localized``: a message has several
    languages. ``sensitive``: logs mask a detail.
    ``upstream``: the rows of `upstream.codes`. ``succeeded``: a removed code is read as another.
    ``fills_waits``: the wait of a header and that of a detail are one. ``quotes_tags``: an optional
    detail is an entity tag.
    ``openapi``: the parts of `openapi_parts`. ``grpc``: one module, or none.
    """

    header: str
    title: str
    package: str
    base: str
    imports: Mapping[str, Sequence[str]]
    exports: Sequence[str]
    codes: tuple[PythonCodeRow, ...]
    fallbacks: tuple[object, ...]
    upstream: tuple[object, ...]
    unknown: UnknownRow
    domains: tuple[PythonDomainRow, ...]
    errors: tuple[PythonErrorRow, ...]
    removed: tuple[PythonRemovedRow, ...]
    succeeded: bool
    operations: Mapping[str, str]
    slots: tuple[PythonSlotRow, ...]
    slot_checks: Mapping[str, Check]
    attributes: Sequence[str]
    needed: Mapping[str, str]
    literals: Mapping[str, Sequence[str]]
    envelopes: tuple[PythonEnvelopeRow, ...]
    envelope: str
    headers: tuple[object, ...]
    carried: Sequence[str]
    flag_key: str | None
    asks: bool
    internal: Verbatim | None
    undeclared_key: str | None
    retry: RetryRows
    boundary: BoundaryRows
    client: ClientRows
    renderings: tuple[renderings.PythonRenderings, ...]
    decided: tuple[DecidedKey, ...]
    supported: bool
    owner: str | None
    placed: bool
    localized: bool
    fills_waits: bool
    quotes_tags: bool
    sensitive: bool
    formats: tuple[PythonFormatRow, ...]
    identities: Mapping[str, Mapping[tuple[str | None, str | int], str | int]]
    forms: bool
    exact_actions: bool
    lists: bool
    openapi: Mapping[str, object]
    grpc: tuple[GrpcRows, ...]


def view(taxonomy: Taxonomy, model: Model) -> PythonView:
    """The rows of the Python target."""
    members = {
        name: Verbatim(f"ErrorCode.{member}")
        for name, member in names.enum_members(taxonomy).items()
    }
    types = Annotations(taxonomy)
    slots = slot_rows(taxonomy, types)
    base = names.base_class(taxonomy.name)
    package = package_of(taxonomy, types, slots)
    errors = tuple(_error_rows(members, package))
    domains = _domain_rows(taxonomy, {base, *names.MODULE, *(error.name for error in errors)})
    errors = tuple(_with_parent(error, domains, base) for error in errors)
    asks = _asks(taxonomy)
    lists = has_error_lists(taxonomy)
    imports = _imports(
        base,
        [row.name for row in domains.values()] + [row.name for row in errors],
        key=taxonomy.idempotency.key if taxonomy.idempotency else None,
        translates=bool(taxonomy.upstream and taxonomy.upstream.codes),
    )
    unknown = _unknown_row(taxonomy, members, errors)
    internal = members.get(internal_code(taxonomy) or "")
    envelope, bare = first_envelope(taxonomy, "http"), bare_codes(taxonomy, members)
    return PythonView(
        header=model.header,
        title=taxonomy.title,
        package=names.package(taxonomy.name),
        base=base,
        imports=imports,
        exports=sorted((name for group in imports.values() for name in group), key=_export_order),
        codes=tuple(_code_rows(taxonomy)),
        fallbacks=_fallbacks(taxonomy, members),
        upstream=_upstream_rows(taxonomy, members),
        unknown=unknown,
        domains=tuple(domains.values()),
        errors=errors,
        removed=tuple(
            PythonRemovedRow(operation, str(code.wire), members.get(successor or ""))
            for operation, code, successor in schemas.removed_codes(taxonomy)
        ),
        succeeded=any(map(schemas.has_successor, schemas.removed_codes(taxonomy))),
        operations=dict(names.wire_names(taxonomy)),
        slots=slots,
        slot_checks=checks.slot_checks(slots, taxonomy),
        attributes=sorted(
            {
                *(*_ATTRIBUTES, *(["_other_facts"] * asks), *(["others"] * lists)),
                *(slot.attribute for slot in slots),
            }
        ),
        needed={slot.slot: slot.attribute for slot in slots if slot.needed and not slot.generate},
        literals=types.named,
        envelopes=tuple(map(envelope_row, taxonomy.envelopes.values())),
        envelope=first_envelope(taxonomy),
        headers=facts.general_constants(taxonomy),
        carried=carried_headers(taxonomy),
        flag_key=package.flag,
        asks=asks,
        internal=internal,
        undeclared_key=undeclared_key(taxonomy) if internal else None,
        retry=_retry(taxonomy, members),
        boundary=BoundaryRows(
            envelope=envelope,
            correlation=_correlation(taxonomy, slots),
            bare=bare,
            general=general_codes(taxonomy, members),
            surfaces=_surfaces(taxonomy),
            invalid=invalid_input(taxonomy, members, bare[envelope]),
        ),
        client=client_rows(taxonomy),
        renderings=renderings.modules(taxonomy),
        decided=decided_keys(taxonomy),
        localized=any(error.messages for error in errors),
        fills_waits=any(error.arguments.joins_waits for error in errors),
        quotes_tags=any(
            header.quoting == "_entity_tag"
            for error in errors
            for header in error.arguments.headers
        ),
        sensitive=any(error.sensitive for error in errors),
        supported=has_support(taxonomy),
        owner=taxonomy.owner,
        placed=any(envelope.places for envelope in taxonomy.envelopes.values()),
        formats=format_rows(taxonomy),
        identities={
            envelope: {(row.operation, row.wire): row.value for row in rows}
            for envelope, rows in identities(taxonomy).items()
        },
        forms=any(True for _ in taxonomy.variants()),
        exact_actions=any(code.exact_actions for _, code in taxonomy.forms()),
        lists=lists,
        grpc=grpc_rows(taxonomy, members, names.package(taxonomy.name)),
        openapi=openapi_parts(taxonomy, (error.name for error in errors), model.header),
    )


def _asks(taxonomy: Taxonomy) -> bool:
    """Whether a rule tests a fact that an error does not know."""
    return any(map(missing_facts, taxonomy.every_code()))


def _code_rows(taxonomy: Taxonomy) -> Iterator[PythonCodeRow]:
    members = names.enum_members(taxonomy)
    for code in schemas.distinct_codes(taxonomy):
        yield PythonCodeRow(
            member=members[code.name],
            name=code.name,
            doc=" ".join([code.summary, *lifecycle_notes(code, _MARKS)]),
            facts=facts.code_facts(code, taxonomy),
        )


def _fallbacks(taxonomy: Taxonomy, members: Members) -> tuple[object, ...]:
    """(range, code or None) of each fallback, the narrowest range first."""
    return tuple(
        (Verbatim(facts.span(fallback.on)), fallback.code and members[fallback.code])
        for fallback in sorted(taxonomy.fallbacks, key=_width)
        if fallback.code is None or fallback.code in members
    )


def _upstream_rows(taxonomy: Taxonomy, members: Members) -> tuple[object, ...]:
    """(names, ranges of statuses, codes, our code) of each row of `upstream.codes`."""
    return tuple(
        (
            row.upstreams,
            tuple(Verbatim(facts.span(span)) for span in row.statuses),
            row.codes,
            members[row.becomes],
        )
        for row in (taxonomy.upstream.codes if taxonomy.upstream else ())
        if row.becomes in members
    )


def _unknown_row(
    taxonomy: Taxonomy, members: Members, errors: Iterable[PythonErrorRow]
) -> UnknownRow:
    rule = taxonomy.unknown
    code = members.get(rule.becomes or "") if rule else None
    error = next((error for error in errors if error.code == code), None)
    return UnknownRow(
        code=code,
        retriable=bool(rule and rule.retriable),
        summary=error.summary if error else NO_MESSAGE,
        message=error.message if error else NO_MESSAGE,
    )


def internal_code(taxonomy: Taxonomy) -> str | None:
    """The code that an undeclared error becomes: as declared, else the fallback of 500, else that
    of unknown codes.
    """
    if taxonomy.undeclared:
        return taxonomy.undeclared.becomes
    fallback = taxonomy.fallback_for(500)
    if fallback is not None and fallback.code is not None:
        return fallback.code
    return taxonomy.unknown.becomes if taxonomy.unknown else None


def undeclared_key(taxonomy: Taxonomy) -> str | None:
    """The details key that keeps the code of an undeclared error."""
    place = (taxonomy.undeclared.original_code or "") if taxonomy.undeclared else ""
    inside = place.count("/") == 2 and place.startswith("/details/")
    return place.removeprefix("/details/") if inside else None


def _correlation(taxonomy: Taxonomy, slots: Iterable[PythonSlotRow]) -> CorrelationRow:
    found = correlation(taxonomy)
    own = (row.attribute for row in slots if row.slot == found.slot)
    return found._replace(attribute=next(own, None))


def correlation(taxonomy: Taxonomy) -> CorrelationRow:
    """The header of the correlation id, its formats and its slot."""
    field = next((field for field in taxonomy.fields() if field.echo), None)
    if field is None:
        return CorrelationRow("X-Request-Id", ("token",), None, None)
    formats = schemas.made_formats(field) or ("token",)
    return CorrelationRow(field.echo or "X-Request-Id", formats, None, field.slot)


def _retry(taxonomy: Taxonomy, members: Members) -> RetryRows:
    declared = taxonomy.retry_policies.values()
    policies = tuple(
        PythonPolicyRow(
            policy.name,
            policy.summary or "",
            plain_policy(policy.policy),
            tuple(members[code] for code in policy.eligible if code in members),
        )
        for policy in declared
    )
    return RetryRows(
        policies=policies,
        selective=tuple(policy for policy in policies if policy.eligible),
        eligible_when={
            policy.name: facts.retriable_rules(policy.eligible_when)
            for policy in declared
            if policy.eligible_when
        },
        kind_of={
            policy.name: {
                members[code]: kind for code, kind in policy.kind_of.items() if code in members
            }
            for policy in declared
            if policy.kind_of
        },
        hints=tuple((key.name, key.unit) for key in taxonomy.retry_hints),
        key_place=taxonomy.idempotency.key if taxonomy.idempotency else None,
        part=key_parts(taxonomy),
        own_keys=own_keys(taxonomy),
    )


def _width(fallback: Fallback) -> int:
    return fallback.on.width


def _surfaces(taxonomy: Taxonomy) -> tuple[object, ...]:
    """The rows of the surfaces that the boundary tells apart."""
    return tuple(map(_surface, boundary_surfaces(taxonomy)))


def boundary_surfaces(taxonomy: Taxonomy) -> tuple[Surface, ...]:
    """The HTTP surfaces whose errors need no envelope, and those before them; none if all have
    envelopes.

    A surface that only a request's body tells apart is left out: the boundary does not read it.
    """
    http = [
        surface
        for surface in taxonomy.surfaces.values()
        if surface.transport == "http" and not surface.match.reads_request
    ]
    last = max(
        (index for index, surface in enumerate(http) if not has_envelope(surface)), default=-1
    )
    return tuple(http[: last + 1])


def has_envelope(surface: Surface) -> bool:
    """Whether the errors of a surface need an envelope."""
    return bool(surface.envelopes) and surface.reason is None


def _surface(surface: Surface) -> object:
    """The call that makes the boundary's row of a surface."""
    from faultspec.runtime import boundary  # here, since most taxonomies have no such surface

    return boundary.BoundarySurface(
        has_envelope(surface),
        tuple(method.upper() for method in surface.match.methods),
        tuple(
            (compiled.method, compiled.path.pattern)
            for compiled in map(compile_route, surface.match.routes)
        ),
        tuple(Verbatim(facts.span(status)) for status in surface.match.statuses),  # type: ignore[misc]  # the printer takes names
    )


def first_envelope(taxonomy: Taxonomy, transport: str | None = None) -> str:
    """The first envelope of the first surface of the transport, else of any surface, else the first
    declared.
    """
    surfaces = [surface for surface in taxonomy.surfaces.values() if surface.envelopes]
    own = [surface for surface in surfaces if surface.transport == transport]
    return next(
        (surface.envelopes[0] for surface in (*own, *surfaces)), next(iter(taxonomy.envelopes))
    )


def _imports(
    base: str, errors: Sequence[str], *, key: KeyPlace | None, translates: bool
) -> dict[str, list[str]]:
    """The names that the package re-exports, by module, in the order of import sorters."""
    groups = {
        "codes": (
            *("FACTS", "RETRYABLE", "ErrorCode", "Facts"),
            *("client_action", "codes_for", "http_status", "is_retryable"),
        ),
        "errors": (
            *("AnyError", base, "UnknownError", *errors, "entity_tag", "undeclared"),
            *(("from_upstream",) if translates else ()),
        ),
        "retry": (
            *("POLICIES", "plan_retry", "start_retry"),
            *(("new_idempotency_key", "put_idempotency_key") if key is not None else ()),
            *(("IDEMPOTENCY_HEADER",) if key is not None and key.kind == "header" else ()),
        ),
        "wire": ("Rendered", "parse", "render", "to_envelope"),
    }
    return {module: sorted(group, key=_import_order) for module, group in groups.items()}


def _import_order(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, each by name in any case: the order of isort, which
    ruff keeps too.
    """
    return _export_order(name)[0], name.lower()


def _export_order(name: str) -> tuple[int, str]:
    """The order of ``__all__`` in ruff, which is that of imports, but capitals come first."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2, name)


def runtime_files(view: PythonView) -> Iterator[tuple[str, Path]]:
    """The runtime's modules, which are copied verbatim; codecs only where bodies need them."""
    folder = Path(faultspec.runtime.__file__ or "").parent
    unused = {
        *(() if view.formats else _CODECS),
        *(() if view.localized else ("locales",)),
        *(() if view.sensitive else ("sensitive",)),
        *(() if view.retry.key_place is not None else ("keys",)),
    }
    for path in sorted(folder.glob("*.py")):
        if path.stem not in unused:
            yield f"{view.package}/_runtime/{path.name}", path


def _domain_rows(taxonomy: Taxonomy, taken: set[str]) -> dict[str, PythonDomainRow]:
    """The base class of each domain that has a live code; ``taken`` are names that none may
    have.
    """
    used = {code.domain for _, code in schemas.live(taxonomy)}
    return {
        domain.name: PythonDomainRow(
            names.domain_class(domain.name, taken),
            f"Any error of the domain ``{domain.name}``: {domain.summary}",
        )
        for domain in taxonomy.domains.values()
        if domain.name in used
    }


def _with_parent(
    error: PythonErrorRow, domains: Mapping[str, PythonDomainRow], base: str
) -> PythonErrorRow:
    domain = domains.get(error.domain or "")
    return error._replace(parent=base if domain is None else domain.name)


def _error_rows(members: Members, package: Package) -> Iterator[PythonErrorRow]:
    """The exception of each live code."""
    for name, (operation, code) in names.exceptions(package.taxonomy).items():
        yield _error_row(
            operation=operation, code=code, member=members[code.name], name=name, package=package
        )


def _error_row(
    operation: str | None, code: Code, member: Verbatim, name: str, package: Package
) -> PythonErrorRow:
    taxonomy, flag, keys = package.taxonomy, package.flag, allowed_details(code)
    envelope = schemas.own_envelope(taxonomy, operation, code)
    made = Constructor(code, name, envelope, package)
    opaque = code.details_schema is not None
    deprecation = deprecation_terms(code)
    full_name = f"{operation}.{code.name}" if operation else code.name
    return PythonErrorRow(
        name=name,
        parent="",
        domain=code.domain,
        code=member,
        operation=operation,
        doc=_doc(code, made.parameters, taxonomy.owner),
        summary=code.summary,
        message=message_template(code),
        facts=None if operation is None else facts.code_facts(code, taxonomy),
        defaults=tuple(
            (slot.attribute, code.facts[slot.slot][0])
            for slot in package.slots
            if code.facts.get(slot.slot)
        ),
        checks=checks.details_check(code, taxonomy, flag),
        parameters=made.parameters,
        arguments=made.arguments,
        envelope=envelope.name,
        messages=code.messages,
        sensitive=tuple(schemas.sensitive_places(code)),
        details=f"{name}Details",
        fields=tuple(
            DetailField(key, _field_type(key, detail, made), detail.presence == "required")
            for key, detail in keys.items()
        ),
        functional=not all(map(_is_attribute, keys)),
        flagless=flag is not None and (flag not in keys or opaque),
        opaque=opaque,
        deprecation=deprecation and f"`{full_name}` is deprecated: {deprecation}",
    )


def _field_type(key: str, detail: DetailMember, made: Constructor) -> str:
    """The type of a member of the details, for ``details.py`` itself."""
    kind = made.kinds.get(key, "d.")
    if "d." not in kind:
        return kind  # the same in every module
    return made.types.annotation(detail.schema, made.name + pascal(key), prefix="")


def _is_attribute(key: str) -> bool:
    return key.isidentifier() and not keyword.iskeyword(key) and not key.startswith("__")


def _doc(code: Code, parameters: Iterable[ConstructorParameter], owner: str | None) -> str:
    """The paragraphs of an exception's docstring, with its parameters last."""
    explained = [
        f"``{parameter.name}``: {parameter.doc.rstrip('.')}."
        for parameter in parameters
        if parameter.doc
    ]
    paragraphs = code_paragraphs(code, _MARKS, owner)
    if code.support.docs:
        paragraphs.append(f"See {code.support.docs}")
    return "\n\n".join([*paragraphs, *([" ".join(explained)] if explained else [])])
