"""The Python target: what each template of ``templates/python`` loops over."""

import builtins
import keyword
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import faultspec.runtime
from faultspec.language.model import Code, Envelope, Field, HeaderRule, Schema, StatusRange, Taxonomy, Test
from faultspec.runtime import ids
from faultspec.runtime.retry import Policy
from faultspec.runtime.shape import Array, Literal, Node, Object, Slot, Template, slot_places
from faultspec.targets import schema as schemas
from faultspec.targets.filters import constant, literal, pascal, snake
from faultspec.targets.layout import Raw, broken, source, string, subscript
from faultspec.targets.model import Model

#: Statuses of a code up to which its constructor names each; beyond, it takes an int and checks it.
_NAMED_STATUSES = 8

#: Slots whose value a code decides or the base class keeps under that name; every other slot is an attribute of its
#: own.
_DECIDED_SLOTS = frozenset(
    {"code", "message", "summary", "status", "retriable", "boundary", "domain", "details", "actions"}
)

#: Names a parameter or an attribute of ours cannot take: parameters of every constructor, attributes of the base class
#: and of BaseException.
_TAKEN = frozenset(
    {
        "self",
        "super",
        "message",
        "details",
        "boundary",
        "status",
        "retriable",
        "headers",
        "retry_after",
        "actions",
        "code",
        "summary",
        "domain",
        "default_message",
        "args",
        "add_note",
        "with_traceback",
    }
)

#: What every error keeps, beside the slots of the envelopes.
_ATTRIBUTES = ("_details", "_retriable", "boundary", "headers", "message", "retry_after", "status")

#: The message of an answer nobody can read, where the taxonomy has no code for it.
_NO_MESSAGE = "The answer is not an error that is known here"

#: Names that the module of exceptions uses itself.
_MODULE_NAMES = frozenset({"ErrorCode", "Mapping", "UnknownError", "Unset", "FACTS", "Facts"})


# Values printed as calls; the names are those of ``codes.py``.


class Facts(NamedTuple):
    """The row of a code in ``codes.FACTS``; the same fields, in the same order, as its template declares."""

    wire: str | int
    status: int | None
    statuses: object
    retriable: str
    client_action: str
    effect: str
    domain: str | None = None
    boundaries: tuple[str, ...] = ()
    retry: str | None = None
    until: str | None = None
    actions: tuple[str, ...] = ()
    rules: tuple["RetriableRule", ...] = ()
    deprecated: bool = False


class RetriableRule(NamedTuple):
    """A rule of conditional retriability: ``then`` where every fact has one of its values."""

    then: bool
    when: object = ()


class CodeRow(NamedTuple):
    """A member of ``ErrorCode`` and its facts, as source."""

    member: str
    value: str
    doc: str
    facts: str


class Parameter(NamedTuple):
    """A parameter of a constructor: ``name: annotation`` and, unless it is mandatory, ``= default``; ``doc`` explains
    it.
    """

    name: str
    annotation: str
    default: str | None
    doc: str = ""

    @property
    def line(self) -> str:
        """The parameter as it stands in a signature."""
        return f"{self.name}: {self.annotation}" + ("" if self.default is None else f" = {self.default}")


class ErrorRow(NamedTuple):
    """An exception class.

    ``facts``: source of its facts. ``message``: source of the default message. ``parameters``: of its constructor,
    mandatory ones first. ``arguments``: what the constructor passes on, each ``name=value`` at the indentation of the
    call. ``fields``: the members of the TypedDict of its details, or empty where that needs the functional form, whose
    items are ``pairs``. ``flagless``: its details have no place for the retry flag although others' have.
    """

    name: str
    member: str
    operation: str | None
    doc: str
    facts: str
    message: str
    parameters: tuple[Parameter, ...]
    arguments: tuple[str, ...]
    details: str
    fields: tuple[tuple[str, str], ...]
    pairs: tuple[tuple[str, str], ...]
    flagless: bool
    opaque: bool


class SlotRow(NamedTuple):
    """A slot that is an attribute of every error. ``kinds``: types a wire value may have. ``generate``: the format a
    missing value is made in, or None. ``header``: the response header that repeats it, or None. ``default``: source of
    the value for an error that has none of its own.
    """

    slot: str
    attribute: str
    annotation: str
    doc: str
    kinds: str
    default: str
    generate: str | None
    header: str | None


class EnvelopeRow(NamedTuple):
    """An envelope, as source."""

    name: str
    doc: str
    text: str


class PolicyRow(NamedTuple):
    """A retry policy, as source. ``eligible``: source of the codes it is for; empty for all that are retriable."""

    name: str
    doc: str
    text: str
    eligible: tuple[str, ...]


class View(NamedTuple):
    """What the Python templates see beside the model; see the row types.

    ``flag_key``: the details key that is the retry flag. ``unknown``: the member of ``ErrorCode`` that stands for an
    unknown code, or None where the taxonomy names none. ``undeclared_key``: the details key that keeps the code
    of an undeclared error.
    """

    header: str
    title: str
    package: str
    base: str
    codes: tuple[CodeRow, ...]
    errors: tuple[ErrorRow, ...]
    shared: tuple[ErrorRow, ...]
    slots: tuple[SlotRow, ...]
    attributes: tuple[str, ...]
    correlation_attribute: str | None
    correlation_header: str
    correlation_formats: tuple[str, ...]
    envelopes: tuple[EnvelopeRow, ...]
    envelope_names: str
    headers: str
    carried: tuple[str, ...]
    fallbacks: str
    policies: tuple[PolicyRow, ...]
    selective: tuple[PolicyRow, ...]
    flag_key: str | None
    unknown: str | None
    unknown_retriable: bool
    unknown_message: str
    internal: str | None
    undeclared_key: str | None
    idempotency_header: str | None
    exports: tuple[str, ...]
    imports: tuple[tuple[str, tuple[str, ...]], ...]


def view(taxonomy: Taxonomy, model: Model) -> View:
    """The rows of the Python target."""
    members = _members(taxonomy)
    slots = _slots(taxonomy)
    base = _base_name(taxonomy.name)
    taken = {base, *_MODULE_NAMES}
    errors = tuple(
        _error_row(operation, code, members[code.name], class_name(operation, code.name, taken), slots, taxonomy)
        for operation, code in schemas.live(taxonomy)
    )
    unknown = taxonomy.unknown.becomes if taxonomy.unknown else next(iter(taxonomy.codes_for(500)), None)
    internal = taxonomy.undeclared.becomes if taxonomy.undeclared else next(iter(taxonomy.codes_for(500)), unknown)
    place = (taxonomy.undeclared.original_code or "") if taxonomy.undeclared else ""
    correlation = next((each for each in _fields(taxonomy) if each.echo), None)
    policies = tuple(
        PolicyRow(
            each.name,
            each.summary or "",
            broken(_plain_policy(each.policy), 4),
            tuple(f"ErrorCode.{members[code]}" for code in each.eligible if code in members),
        )
        for each in taxonomy.retry_policies.values()
    )
    imports = _imports(base, tuple(each.name for each in errors), bool(taxonomy.idempotency))
    return View(
        header=model.header,
        title=taxonomy.title,
        package=package_name(taxonomy.name),
        base=base,
        codes=tuple(_code_row(code, members[code.name]) for code in _distinct(taxonomy)),
        errors=errors,
        shared=tuple(each for each in errors if each.operation is None),
        slots=slots,
        attributes=tuple(sorted({*_ATTRIBUTES, *(each.attribute for each in slots)})),
        correlation_attribute=None
        if correlation is None
        else next(e.attribute for e in slots if e.slot == correlation.slot),
        correlation_header=(correlation.echo if correlation else None) or "X-Request-Id",
        correlation_formats=tuple(e for e in correlation.schema.format if e in ids.PATTERNS) or ("token",)
        if correlation
        else ("token",),
        envelopes=tuple(_envelope_row(each) for each in taxonomy.envelopes.values()),
        envelope_names=subscript(
            "t.Literal", [literal(each) for each in taxonomy.envelopes], 0, len("EnvelopeName = "), 0
        ),
        headers=source(
            _constant_headers(taxonomy), 0, len("HEADERS: Sequence[tuple[str, str, Sequence[range]]] = "), 0
        ),
        fallbacks=source(
            tuple(
                (Raw(_range(each.on)), None if each.code is None else Raw(f"ErrorCode.{members[each.code]}"))
                for each in sorted(taxonomy.fallbacks, key=lambda each: each.on.width)
                if each.code is None or each.code in members
            ),
            0,
            len("FALLBACKS: Sequence[tuple[range, ErrorCode | None]] = "),
            0,
        ),
        policies=policies,
        selective=tuple(each for each in policies if each.eligible),
        flag_key=_flag_key(taxonomy),
        unknown=members.get(unknown) if unknown else None,
        unknown_retriable=bool(taxonomy.unknown and taxonomy.unknown.retriable),
        unknown_message=next(
            (each.message for each in errors if each.member == members.get(unknown or "")), literal(_NO_MESSAGE)
        ),
        undeclared_key=place.removeprefix("/details/")
        if place.count("/") == 2 and place.startswith("/details/")
        else None,
        carried=tuple(sorted(_carried(taxonomy))),
        internal=members.get(internal) if internal else None,
        idempotency_header=taxonomy.idempotency.key if taxonomy.idempotency else None,
        exports=tuple(sorted((name for _, names in imports for name in names), key=_all_order)),
        imports=imports,
    )


def _flag_key(taxonomy: Taxonomy) -> str | None:
    return next((key.name for key in taxonomy.detail_keys.values() if key.role == "retriable"), None)


def _imports(base: str, errors: tuple[str, ...], idempotent: bool) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What the package re-exports, by module, in the order import sorters keep."""
    keys = ("IDEMPOTENCY_HEADER", "new_idempotency_key") if idempotent else ()
    names = {
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
    return tuple((module, tuple(sorted(each, key=_import_order))) for module, each in names.items())


def _import_order(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, each by name: the order of isort, which ruff keeps too."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2, name)


def _all_order(name: str) -> tuple[int, str]:
    return _import_order(name)


def runtime_files(view: View) -> Iterator[tuple[str, Path]]:
    """The runtime's modules, taken over as they are."""
    folder = Path(faultspec.runtime.__file__ or "").parent
    for each in sorted(folder.glob("*.py")):
        yield f"{view.package}/_runtime/{each.name}", each


# Names


def package_name(taxonomy: str) -> str:
    """``platform_errors`` for the taxonomy ``platform``."""
    name = _identifier(snake(taxonomy), "taxonomy")
    return name if name.endswith(("error", "errors")) else f"{name}_errors"


def _base_name(taxonomy: str) -> str:
    name = _identifier(pascal(taxonomy), "Taxonomy")
    stem = name.removesuffix("Errors").removesuffix("Error")
    return f"{stem}Error" if stem else "BaseError"


def _identifier(name: str, otherwise: str) -> str:
    """``name`` where Python takes it as one; else something near it."""
    if not name:
        return otherwise
    if name[0].isdigit():
        name = f"{otherwise}_{name}" if otherwise.islower() else f"{otherwise}{name}"
    return f"{name}_" if keyword.iskeyword(name) else name


def _distinct(taxonomy: Taxonomy) -> tuple[Code, ...]:
    """Live codes by name: where several operations have one of the same name, the first speaks for it."""
    found: dict[str, Code] = {}
    for _, code in schemas.live(taxonomy):
        found.setdefault(code.name, code)
    return tuple(found.values())


def _members(taxonomy: Taxonomy) -> dict[str, str]:
    """The member of ``ErrorCode`` for each live code."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for code in _distinct(taxonomy):
        found[code.name] = _unique(_identifier(constant(code.name), "CODE").upper(), taken)
    return found


def _unique(name: str, taken: set[str]) -> str:
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}_{number}", number + 1
    taken.add(candidate)
    return candidate


def class_name(operation: str | None, code: str, taken: set[str]) -> str:
    """The exception of a code; one that would hide a builtin or a name of the module says ``Failure`` behind it."""
    name = _identifier((pascal(operation) if operation else "") + pascal(code), "Code")
    if name in _MODULE_NAMES or hasattr(builtins, name) or name.endswith("Details"):
        name += "Failure"
    return _unique(name, taken)


# Codes


def _code_row(code: Code, member: str) -> CodeRow:
    summary = code.summary + (f" Deprecated{_instead(code)}." if code.lifecycle == "deprecated" else "")
    facts = Facts(
        wire=code.wire,
        status=code.http.default,
        statuses=Raw(_statuses(code.http.statuses)),
        retriable=code.retriable.kind,
        client_action=code.client_action,
        effect=code.effect,
        domain=code.domain,
        boundaries=code.boundaries,
        retry=code.retry,
        until=code.retriable.until,
        actions=code.actions,
        rules=tuple(RetriableRule(bool(rule.then), tuple(map(_test, rule.when))) for rule in code.retriable.rules),
        deprecated=code.lifecycle == "deprecated",
    )
    return CodeRow(member, literal(code.name), summary, broken(facts, 4))


def _instead(code: Code) -> str:
    return f" since {code.since}" * bool(code.since) + f", use {code.replaced_by}" * bool(code.replaced_by)


def _test(test: Test) -> object:
    values = [literal(each) for each in test.values] + [f"*{_range(each)}" for each in test.ranges]
    return (test.fact, Raw(f"({', '.join(values)}{',' if len(values) == 1 else ''})"))


def _statuses(ranges: Sequence[StatusRange]) -> str:
    """A tuple of statuses; a range where it is long."""
    if not ranges:
        return "()"
    if len(ranges) == 1 and ranges[0].width > _NAMED_STATUSES:
        return _range(ranges[0])
    parts: list[str] = []
    for each in ranges:
        if each.width > _NAMED_STATUSES:
            parts.append(f"*{_range(each)}")
        else:
            parts += map(str, range(each.low, each.high + 1))
    parts = list(dict.fromkeys(parts))
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _range(each: StatusRange) -> str:
    return f"range({each.low}, {each.high + 1})"


# Errors


def _error_row(
    operation: str | None, code: Code, member: str, name: str, slots: tuple[SlotRow, ...], taxonomy: Taxonomy
) -> ErrorRow:
    taken = {*_TAKEN, *(each.attribute for each in slots)}
    flag = _flag_key(taxonomy)
    parameters: list[Parameter] = []
    arguments: list[str] = []
    fields = {key: each for key, each in code.details.items() if each.presence != "forbidden"}
    values: dict[str, str] = {}
    nullable: list[str] = []
    if code.details_schema is not None:
        mandatory = schemas.needs_details(code)
        parameters.append(
            Parameter(
                "details", "Mapping[str, object]" + ("" if mandatory else " | None"), None if mandatory else "None"
            )
        )
        arguments.append("details=details," if mandatory else "details=details or {},")
    else:
        for key, each in fields.items():
            if key == flag:
                continue
            values[key] = parameter = _unique(_parameter_name(key), taken)
            annotation = _annotation(each.schema, taxonomy)
            registered = taxonomy.detail_keys.get(key)
            doc = each.schema.description or (registered.summary if registered else None) or ""
            if _nullable(each.schema):
                nullable.append(key)
            if each.presence == "required":
                parameters.append(Parameter(parameter, annotation, None, doc))
            elif _nullable(each.schema):
                parameters.append(Parameter(parameter, _union((*_parts(annotation), "Unset")), "Unset.UNSET", doc))
            else:
                parameters.append(Parameter(parameter, f"{annotation} | None", "None", doc))
        arguments.append(_mapping("details", {literal(key): name for key, name in values.items()}))
        if nullable:
            arguments.append(f"nullable=frozenset({{{', '.join(map(literal, nullable))}}}),")
    if len(code.boundaries) > 1:
        kind = subscript(
            "t.Literal", [literal(each) for each in code.boundaries], 8, 18, 3 + len(literal(code.boundaries[0])) + 1
        )
        parameters.append(Parameter("boundary", kind, literal(code.boundaries[0])))
        arguments.append("boundary=boundary,")
    _add_status(code, taxonomy, parameters, arguments)
    if code.retriable.kind == "caller":
        must = any(
            place.required
            for envelope in taxonomy.envelopes.values()
            for place in slot_places(envelope.shape).get("retriable", ())
        )
        parameters.append(
            Parameter(
                "retriable",
                "bool" if must else "bool | None",
                None if must else "None",
                "whether this one may be sent again",
            )
        )
        arguments.append("retriable=retriable,")
    _add_headers(code, values, taken, taxonomy, parameters, arguments)
    for slot in slots:
        annotation, default = _slot_parameter(slot, code, taxonomy)
        parameters.append(Parameter(slot.attribute, annotation, default))
        arguments.append(f"{slot.attribute}={slot.attribute},")
    parameters.append(Parameter("headers", "Mapping[str, str] | None", "None"))
    parameters.sort(key=lambda each: each.default is not None)
    typed = tuple(
        (
            key,
            _annotation(each.schema, taxonomy)
            if each.presence == "required"
            else f"t.NotRequired[{_annotation(each.schema, taxonomy)}]",
        )
        for key, each in fields.items()
    )
    plain = all(key.isidentifier() and not keyword.iskeyword(key) and not key.startswith("__") for key in fields)
    return ErrorRow(
        name=name,
        member=member,
        operation=operation,
        doc=_doc(code, parameters),
        facts=f"FACTS[ErrorCode.{member}]" if operation is None else _code_row(code, member).facts,
        message=string(code.message or code.summary, 4, len("    default_message = ")),
        parameters=tuple(parameters),
        arguments=tuple(arguments),
        details=f"{name}Details",
        fields=typed if plain else (),
        pairs=() if plain else tuple((literal(key), each) for key, each in typed),
        flagless=flag is not None and (flag not in fields or code.details_schema is not None),
        opaque=code.details_schema is not None,
    )


def _parameter_name(key: str) -> str:
    name = key.lstrip("_") or "value"
    return f"{name}_" if keyword.iskeyword(name) or name in _TAKEN or name[0].isdigit() else name


def _mapping(name: str, items: Mapping[str, str], *spread: str) -> str:
    """``name={…},`` as an argument of the constructor's call, one item a line."""
    if not items and not spread:
        return f"{name}={{}},"
    lines = [*(f"{key}: {value}" for key, value in items.items()), *(f"**{each}" for each in spread)]
    return f"{name}={{\n" + "".join(f"                {each},\n" for each in lines) + "            },"


def _add_status(code: Code, taxonomy: Taxonomy, parameters: list[Parameter], arguments: list[str]) -> None:
    default = code.http.default
    if default is None:
        return
    own = tuple(code.http.all())
    borrowed = any(each.code == code.name for each in taxonomy.fallbacks)
    if len(own) == 1 and not borrowed:
        return
    named = not borrowed and len(own) <= _NAMED_STATUSES
    kind = f"t.Literal[{', '.join(map(str, own))}]" if named else "int"
    parameters.append(Parameter("status", kind, str(default)))
    arguments.append("status=status,")


def _add_headers(
    code: Code,
    values: Mapping[str, str],
    taken: set[str],
    taxonomy: Taxonomy,
    parameters: list[Parameter],
    arguments: list[str],
) -> None:
    """A parameter for each header that the code's answers carry and that nothing else decides."""
    own = tuple(code.http.all())
    borrows = any(each.code == code.name for each in taxonomy.fallbacks)
    derived = {
        key.equals_header.lower(): (key.equals_header, values[key.name])
        for key in taxonomy.detail_keys.values()
        if key.equals_header is not None and key.name in values
    }
    fixed: dict[str, str] = {}
    seen: set[str] = set()
    retry_after = False
    for rule in (*taxonomy.headers, *code.headers):
        applies = [status for status in own if _applies(rule, code, status)]
        lends = borrows and (not rule.codes or code.name in rule.codes) and _names_status_of(rule, code, taxonomy)
        lower = rule.name.lower()
        if not (applies or lends) or rule.presence == "forbidden" or rule.equals or rule.token or lower in seen:
            continue
        if lower in derived or any(lower == (field.echo or field.mirror or "").lower() for field in _fields(taxonomy)):
            continue
        mandatory = rule.presence == "required" and bool(applies) and len(applies) == len(own)
        if "retry-after" in rule.format:
            if not applies:
                continue  # a fallback's status is the framework's; no wait is known there
            retry_after = True
            kind, default, name = (
                ("float", None, "retry_after") if mandatory else ("float | None", "None", "retry_after")
            )
        else:
            kind, default = ("str", None) if mandatory else ("str | None", "None")
            name = _unique(_parameter_name(snake(rule.name)), taken)
            fixed[literal(rule.name)] = name
        parameters.append(
            Parameter(name, kind, default, "seconds to wait" if name == "retry_after" else f"the value of {rule.name}")
        )
        seen.add(lower)
    for header, parameter in derived.values():
        fixed[literal(header)] = f"entity_tag({parameter})" if header.lower() == "etag" else parameter
    if retry_after:
        arguments.append("retry_after=retry_after,")
    arguments.append(_mapping("headers", fixed, "(headers or {})") if fixed else "headers=headers,")


def _fields(taxonomy: Taxonomy) -> Iterator[Field]:
    for envelope in taxonomy.envelopes.values():
        yield from envelope.fields.values()


def _applies(rule: HeaderRule, code: Code, status: int) -> bool:
    return (not rule.on or any(status in each for each in rule.on)) and (not rule.codes or code.name in rule.codes)


def _names_status_of(rule: HeaderRule, code: Code, taxonomy: Taxonomy) -> bool:
    """Whether the rule singles out a status that falls to the code because no code claims it."""
    return any(each.width < 100 and taxonomy.codes_for(each.low) == (code.name,) for each in rule.on)


def _doc(code: Code, parameters: Sequence[Parameter]) -> str:
    paragraphs = [code.summary]
    if code.description:
        paragraphs.append(code.description)
    facts = []
    if code.http.statuses:
        facts.append(f"HTTP {', '.join(map(str, code.http.statuses))}")
    if code.boundaries:
        facts.append("from " + " or ".join(code.boundaries))
    actions = {
        "retry": f"clients retry ({code.retry})" if code.retry else "clients retry",
        "refetch": "clients read again before they retry",
        "user": "a person has to act",
        "none": "clients do not retry",
    }
    facts.append(actions[code.client_action])
    said = "; ".join(facts)
    paragraphs.append(f"{said[0].upper()}{said[1:]}.")
    if code.effect != "none":
        paragraphs[-1] += " The operation may have taken effect."
    if code.lifecycle == "deprecated":
        paragraphs.append(f"Deprecated{_instead(code)}.")
    described = [f"``{each.name}``: {each.doc.rstrip('.')}." for each in parameters if each.doc]
    if described:
        paragraphs.append(" ".join(described))
    return "\n\n".join(paragraphs)


# Types

_PYTHON_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def _annotation(schema: Schema, taxonomy: Taxonomy) -> str:
    """The Python type of a value: a Literal where its values are listed, ``object`` where nothing is known."""
    values = list(schema.enum) or (schemas.vocabulary(schema.vocabulary, taxonomy) if schema.vocabulary else [])
    if values and all(each is None or isinstance(each, str | int | bool) for each in values):
        return f"t.Literal[{', '.join(map(literal, values))}]"
    if not schema.types or schema.opaque is not None:
        return "object"
    parts = [_plain(each, schema, taxonomy) for each in schema.types]
    if "float" in parts and "int" in parts:
        parts.remove("int")
    return _union(parts)


def _union(parts: Iterable[str]) -> str:
    """The parts, each once, None last."""
    return " | ".join(sorted(dict.fromkeys(parts), key=lambda each: each == "None"))


def _parts(annotation: str) -> list[str]:
    """The members of a union; the values of a Literal may hold what looks like one."""
    return [annotation] if "Literal[" in annotation else annotation.split(" | ")


def _plain(kind: str, schema: Schema, taxonomy: Taxonomy) -> str:
    if kind == "array":
        return f"Sequence[{_annotation(schema.items, taxonomy) if schema.items else 'object'}]"
    return _PYTHON_TYPES.get(kind, "Mapping[str, object]")


def _nullable(schema: Schema) -> bool:
    return "null" in schema.types or None in schema.enum


# Slots, envelopes, headers

_KINDS = {
    "string": "str",
    "integer": "int",
    "number": "(int, float)",
    "boolean": "bool",
    "object": "Mapping",
    "array": "list",
}


def _slots(taxonomy: Taxonomy) -> tuple[SlotRow, ...]:
    """Every slot of every envelope that no code decides, in the order the envelopes first name them."""
    found: dict[str, SlotRow] = {}
    taken = set(_TAKEN)
    for envelope in taxonomy.envelopes.values():
        for slot in slot_places(envelope.shape):
            if slot in found or (slot in _DECIDED_SLOTS and slot != "actions"):
                continue
            field = next((each.fields[slot] for each in taxonomy.envelopes.values() if slot in each.fields), None)
            known = field.schema if field is not None else Schema(types=("array",)) if slot == "actions" else Schema()
            generate = (
                next((each for each in known.format if each in ids.PATTERNS), None) if field and field.echo else None
            )
            found[slot] = SlotRow(
                slot=slot,
                attribute="actions" if slot == "actions" else _unique(_parameter_name(slot), taken),
                annotation="Sequence[str]" if slot == "actions" else _annotation(known, taxonomy),
                doc=(known.description or f"What stands in the envelope as ``{slot}``").rstrip("."),
                kinds=_KINDS.get(known.types[0], "object") if len(known.types) == 1 else "object",
                default="list(error.facts.actions)" if slot == "actions" else "None",
                generate=literal(generate) if generate else None,
                header=_header_of(slot, field, taxonomy),
            )
    return tuple(found.values())


def _header_of(slot: str, field: Field | None, taxonomy: Taxonomy) -> str | None:
    named = (field.echo or field.mirror) if field is not None else None
    return named or next((rule.name for rule in taxonomy.headers if rule.equals == slot), None)


def _slot_parameter(slot: SlotRow, code: Code, taxonomy: Taxonomy) -> tuple[str, str | None]:
    """Annotation and default. A slot from a closed list that every envelope needs is mandatory, as nothing can make one
    up.
    """
    if slot.slot in code.facts:
        values = code.facts[slot.slot]
        return f"t.Literal[{', '.join(map(literal, values))}]", literal(values[0])
    places = [slot_places(each.shape).get(slot.slot, ()) for each in taxonomy.envelopes.values()]
    if slot.annotation.startswith("t.Literal[") and all(any(place.required for place in each) for each in places):
        return slot.annotation, None
    return f"{slot.annotation} | None", "None"


def _envelope_row(envelope: Envelope) -> EnvelopeRow:
    listed = schemas.lists_details(envelope)
    text = (
        "Envelope(\n"
        f"        media_type={literal(envelope.media_types[0])},\n"
        f"        shape=compile_shape({_picture_source(envelope.shape)}),\n"
        + ("        listed=True,\n" if listed else "")
        + "    )"
    )
    return EnvelopeRow(envelope.name, envelope.summary or "", text)


def _picture_source(node: Node) -> str:
    picture = _picture(node)
    if not isinstance(picture, Mapping | list):
        return literal(picture)
    return "\n            " + source(picture, 12, 12) + "\n        "


def _picture(node: Node) -> object:
    """The picture that compiles to this node, with nothing left to look up."""
    match node:
        case Slot(name=name):
            return f"${name}"
        case Literal(value=value):
            return value.replace("$", "$$") if isinstance(value, str) else value
        case Template(texts=texts, slots=slots):
            rest = "".join(f"${{{slot}}}{text.replace('$', '$$')}" for slot, text in zip(slots, texts[1:], strict=True))
            return texts[0].replace("$", "$$") + rest
        case Array(item=item):
            return [_picture(item)]
        case Object(members=members, spread=spread):
            found = {each.name + "?" * each.optional: _picture(each.node) for each in members}
            return found if spread is None else {**found, "...": f"${spread}"}


def _constant_headers(taxonomy: Taxonomy) -> tuple[object, ...]:
    """(name, value, ranges of statuses) of the headers that have the same value on every answer."""
    return tuple(
        (rule.name, rule.token, tuple(Raw(_range(each)) for each in _merged(rule.on)))
        for rule in taxonomy.headers
        if rule.token is not None and not rule.codes and rule.presence in ("required", "expected")
    )


def _carried(taxonomy: Taxonomy) -> set[str]:
    """Lower-case names of the headers that belong to an error and not to the one answer it came with."""
    rules = [*taxonomy.headers, *(rule for _, code in schemas.live(taxonomy) for rule in code.headers)]
    named = {rule.name.lower() for rule in rules if rule.presence != "forbidden" and not rule.token and not rule.equals}
    derived = {key.equals_header.lower() for key in taxonomy.detail_keys.values() if key.equals_header}
    repeated = {(field.echo or field.mirror or "").lower() for field in _fields(taxonomy)}
    return (named | derived | {"retry-after"}) - repeated


def _plain_policy(policy: Policy) -> Policy:
    """The policy without what does not count: the step of a phase that is not linear."""
    phases = tuple(each if each.kind == "linear" else each._replace(step=0.0) for each in policy.phases)
    return policy._replace(phases=phases)


def _merged(ranges: Sequence[StatusRange]) -> list[StatusRange]:
    """The same statuses in as few ranges as possible."""
    found: list[StatusRange] = []
    for each in sorted(ranges, key=lambda each: each.low):
        if found and each.low <= found[-1].high + 1:
            found[-1] = StatusRange(found[-1].low, max(found[-1].high, each.high))
        else:
            found.append(each)
    return found
