"""Lint rules about envelopes: their slots and fields, and what codes put into them."""

from collections.abc import Iterator, Mapping
from typing import Literal

from faultspec.diagnostics.model import Path
from faultspec.language import values
from faultspec.language.carriers import carriers, decided_codes, uses_envelope
from faultspec.language.model import IMPLIED, Code, Envelope, Field, HeaderRule, Operation, Taxonomy
from faultspec.language.pictures import fill_message, find_parameters, message_parameters
from faultspec.lint.places import envelopes_of, requires_slot, slots_of, surfaces_of
from faultspec.lint.rule import Remark, Subject, rule
from faultspec.lint.rules.headers import are_compatible
from faultspec.runtime.extraction import extract
from faultspec.runtime.nodes import Object, Slot, Template, child, slot_places, walk
from faultspec.runtime.shape import render


@rule("envelope-on-no-surface", severity="error")
def envelope_on_no_surface(subject: Subject) -> Iterator[Remark]:
    """An envelope that a code names belongs to a surface that allows the code.

    Bad::

        envelopes:
          error: {shape: {code: $code, message: $message}}
          refusal: {shape: {refused: $code}}
        surfaces:
          api: {transport: http, envelope: error}
        codes:
          refused: {summary: It was refused., http: 403, envelope: refusal}

    Good::

        envelopes:
          error: {shape: {code: $code, message: $message}}
          refusal: {shape: {refused: $code}}
        surfaces:
          api: {transport: http, envelope: [error, refusal]}
        codes:
          refused: {summary: It was refused., http: 403, envelope: refusal}
    """
    for path, code in subject.live_codes():
        surfaces = surfaces_of(subject.taxonomy, path, code)
        available = {name for surface in surfaces for name in surface.envelopes}
        for name in code.envelopes if surfaces else ():
            if name not in available:
                message = (
                    f"`{code.name}` names `{name}`, but no surface that allows the code has it"
                )
                hint = "add the envelope to a surface of the code, or name another"
                yield Remark((*path, "envelope"), message, hint, on_key=False)


@rule("indistinct-codes", severity="warning")
def indistinct_codes(subject: Subject) -> Iterator[Remark]:
    """Where the status decides the code, the codes of an operation and a surface have different
    statuses; where the envelope decides it, one code names the envelope.

    Bad::

        envelopes:
          plain: {shape: {detail: $message}, fields: {code: {places: [status]}}}
        codes:
          taken: {summary: The name is taken., http: 409}
          stale: {summary: The version is old., http: 409}

    Good::

        envelopes:
          plain: {shape: {detail: $message}, fields: {code: {places: [status]}}}
        codes:
          taken: {summary: The name is taken., http: 409}
          stale: {summary: The version is old., http: 412}
    """
    paths = {id(code): path for path, code in subject.live_codes()}
    reported: set[tuple[str, ...]] = set()
    for envelope, codes in _indistinct_groups(subject.taxonomy):
        names = tuple(code.name for code in codes)
        if names in reported:
            continue
        reported.add(names)
        quoted = " and ".join(f"`{name}`" for name in names)
        what = "the envelope" if envelope.decides_code else "the status"
        message = f"{quoted} look alike: {what} alone decides the code of `{envelope.name}`"
        hint = (
            "let other codes name another envelope"
            if envelope.decides_code
            else "give one another status, move it to `errors` of its operation, or let the "
            "operation list its `codes`"
        )
        key = "envelope" if envelope.decides_code else "http"
        yield Remark((*paths[id(codes[-1])], key), message, hint, on_key=False)


def _indistinct_groups(taxonomy: Taxonomy) -> Iterator[tuple[Envelope, tuple[Code, ...]]]:
    """The codes that the same answer of an operation, or of any other call, may stand for."""
    listed = {name for each in taxonomy.operations.values() for name in each.codes or ()}
    users = _EnvelopeUsers(taxonomy)
    statuses = _own_statuses(taxonomy)
    for surface in taxonomy.surfaces.values():
        for envelope in (taxonomy.envelopes[name] for name in surface.envelopes):
            if envelope.deciding_place is None:
                continue
            by: Literal["status", "envelope"] = "envelope" if envelope.decides_code else "status"
            users_alone = taxonomy._replace(codes=users.codes(envelope))
            for operation in (None, *users.operations(envelope)):
                for status in (None,) if by == "envelope" else statuses:
                    found = decided_codes(
                        users_alone,
                        envelope,
                        by=by,
                        status=status,
                        surface=surface,
                        operation=operation,
                    )
                    names = {code.name for code in found}
                    # The operation tells apart shared codes that operations name.
                    if len(found) > 1 and not (operation is None and names <= listed):
                        yield envelope, found


class _EnvelopeUsers:
    """The codes and operations of each envelope, for taxonomies with an envelope for each code."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self._codes = taxonomy.codes
        fallbacks = {fallback.code: None for fallback in taxonomy.fallbacks if fallback.code}
        self._always = [name for name in fallbacks if name in taxonomy.codes]
        self._order = {name: position for position, name in enumerate(taxonomy.codes)}
        self._named: dict[str, list[str]] = {}
        self._unnamed = [code.name for code in taxonomy.codes.values() if not code.envelopes]
        for code in taxonomy.codes.values():
            for envelope in code.envelopes:
                self._named.setdefault(envelope, []).append(code.name)
        # Operations with the same codes are alike.
        alike = {(each.codes, tuple(each.errors)): each for each in taxonomy.operations.values()}
        self._operations = list(alike.values())
        self._by_code: dict[str, list[int]] = {}
        self._by_own: dict[str | None, list[int]] = {}
        for position, operation in enumerate(self._operations):
            for name in {*(operation.codes or ()), *operation.variants}:
                self._by_code.setdefault(name, []).append(position)
            for code in operation.errors.values():
                for own in code.envelopes or (None,):
                    self._by_own.setdefault(own, []).append(position)

    def codes(self, envelope: Envelope) -> Mapping[str, Code]:
        """The shared codes that may use an envelope, and those of fallbacks, in their order."""
        names = {*self._named.get(envelope.name, ()), *self._always}
        if not envelope.decides_code:
            names.update(self._unnamed)
        return {name: self._codes[name] for name in sorted(names, key=self._order.__getitem__)}

    def operations(self, envelope: Envelope) -> Iterator[Operation]:
        """The operations that name one of these codes or have an own one, and one of the others."""
        found = {
            position for name in self.codes(envelope) for position in self._by_code.get(name, ())
        }
        found.update(self._by_own.get(envelope.name, ()))
        if not envelope.decides_code:
            found.update(self._by_own.get(None, ()))
        others = (n for n in range(len(self._operations)) if n not in found)
        other = next(others, None)
        for position in sorted(found if other is None else {*found, other}):
            yield self._operations[position]


def _own_statuses(taxonomy: Taxonomy) -> list[int]:
    """A status of each range of statuses that the codes treat alike, in order."""
    spans = {span for code in taxonomy.every_code() for span in code.http.carried_statuses}
    edges = {edge for span in spans for edge in (span.low, span.high + 1)}
    return sorted(edge for edge in edges if any(edge in span for span in spans))


@rule("split-code", severity="error")
def split_code(subject: Subject) -> Iterator[Remark]:
    """A code inside a string has none of the texts that part it from other slots. Of all ways to
    read the string, that with the shortest code counts.

    Bad::

        envelopes:
          error: {shape: {error: "${message} (${code})"}}
        codes:
          gone: {summary: It is gone., wire: HTTP (410), http: 410}

    Good::

        envelopes:
          error: {shape: {error: "${message} (${code})"}}
        codes:
          gone: {summary: It is gone., wire: HTTP-410, http: 410}
    """
    texts = {
        envelope.name: [
            place.node
            for place in slot_places(envelope.shape).get("code", ())
            if isinstance(place.node, Template) and len(place.node.slots) > 1
        ]
        for envelope in subject.taxonomy.envelopes.values()
    }
    for path, code in subject.live_codes() if any(texts.values()) else ():
        for envelope in envelopes_of(subject.taxonomy, path, code):
            wire = str(code.wire_in(envelope))
            for node in texts[envelope.name]:
                sent = render(node, {**dict.fromkeys(node.slots, "x"), "code": wire})
                read = extract(node, sent).slots.get("code")
                if read != wire:
                    message = f"{sent!r} is read with the code {read!r}, in place of {wire!r}"
                    hint = "choose another `wire`, or other texts beside `${code}` in the shape of "
                    yield Remark(path, message, f"{hint}`{envelope.name}`", on_key=True)


@rule("slot-without-fact", severity="warning")
def slot_without_fact(subject: Subject) -> Iterator[Remark]:
    """A code declares `retriable` if one of its envelopes has a slot for it, and its boundary or
    domain if all its envelopes require that slot.

    Bad::

        envelopes:
          error: {shape: {code: $code, retry: $retriable}}
        codes:
          failed: {summary: It failed., http: 500}

    Good::

        envelopes:
          error: {shape: {code: $code, retry: $retriable}}
        codes:
          failed: {summary: It failed., http: 500, retriable: false}
    """
    taxonomy = subject.taxonomy
    for path, code in subject.live_codes():
        undeclared = {
            "retriable": not code.retriable.has_flag,
            "boundary": not code.boundaries,
            "domain": code.domain is None,
        }
        envelopes = envelopes_of(taxonomy, path, code)
        required = {
            slot
            for slot, is_undeclared in undeclared.items()
            if is_undeclared and envelopes and all(requires_slot(env, slot) for env in envelopes)
        }
        for slot in undeclared:
            if slot in required:
                message = f"`{code.name}` does not declare `{slot}`, but its envelope has `${slot}`"
                yield Remark(path, message, f"add `{slot}:`")
        unwritten = subject.first_written(path, "retriable") == path
        if undeclared["retriable"] and unwritten and "retriable" not in required:
            yield from _undeclared_flag(taxonomy, path, code)


def _undeclared_flag(taxonomy: Taxonomy, path: Path, code: Code) -> Iterator[Remark]:
    """A remark if an error may hold a retry flag, which the code does not declare."""
    slots = slots_of(envelopes_of(taxonomy, path, code))
    surfaces = surfaces_of(taxonomy, path, code)
    keys = [
        key
        for key in taxonomy.flag_keys
        if key in code.details
        or taxonomy.detail_keys[key].everywhere
        or any(key in surface.requires_details for surface in surfaces)
    ]
    if "retriable" in slots:
        place = "`$retriable`"
    elif keys and "details" in slots:
        place = f"`details.{keys[0]}`"
    else:
        return
    message = f"`{code.name}` does not declare `retriable`, but {place} can tell it"
    yield Remark(path, message, "add `retriable:`; `none` if the code has no such flag")


@rule("fact-breaks-field", severity="error")
def fact_breaks_field(subject: Subject) -> Iterator[Remark]:
    """The wire value, the message and the domain of a code fit the fields of one of its envelopes.

    Bad::

        envelopes:
          error: {shape: {code: $code, message: $message}, fields: {message: {type: string,
              maxLength: 10}}}
        codes:
          failed: {summary: It failed., message: Something went wrong on our side, http: 500}

    Good::

        envelopes:
          error: {shape: {code: $code, message: $message}, fields: {message: {type: string,
              maxLength: 40}}}
        codes:
          failed: {summary: It failed., message: Something went wrong on our side, http: 500}
    """
    for path, code in subject.live_codes():
        envelopes = envelopes_of(subject.taxonomy, path, code)
        # The length of a message with placeholders depends on the details; examples show it.
        text = code.message
        message = None if text is None or message_parameters(text) else fill_message(text, {})
        facts = (
            ("code", "wire", code.wire),
            ("message", "message", message),
            ("domain", "domain", code.domain),
        )
        for slot, key, value in facts:
            problem = _misfit(envelopes, slot, value)
            if problem is not None:
                where = subject.first_written(path, key)
                yield Remark(
                    where,
                    f"`${slot}` of `{code.name}` fits none of its envelopes: {problem}",
                    f"change it, or the field `{slot}` of the envelope",
                    on_key=where == path,
                )


def _misfit(envelopes: tuple[Envelope, ...], slot: str, value: object) -> str | None:
    """Why a value does not fit a slot of any envelope; None if it fits one."""
    if value is None or not all(slot in envelope.fields for envelope in envelopes):
        return None
    problems = [tuple(values.check_value(env.fields[slot].schema, value)) for env in envelopes]
    return problems[0][0].problem if problems and all(problems) else None


@rule("list-inside-text", severity="error")
def list_inside_text(subject: Subject) -> Iterator[Remark]:
    """A slot inside a string is not an array or an object.

    Bad::

        actions: {wait: Wait.}
        envelopes:
          error: {shape: {code: $code, message: $message, next: "try ${actions}"}}
        codes:
          busy: {summary: Too much to do., http: 503, actions: [wait]}

    Good::

        actions: {wait: Wait.}
        envelopes:
          error: {shape: {code: $code, message: $message, next: $actions}}
        codes:
          busy: {summary: Too much to do., http: 503, actions: [wait]}
    """
    for envelope in subject.taxonomy.envelopes.values():
        members = [
            (slot, place.path.rpartition("/")[2])
            for place in walk(envelope.shape)
            if isinstance(place.node, Template)
            for slot in place.node.slots
        ]
        for slot, member in members:
            field = envelope.fields.get(slot)
            schema = IMPLIED.get(slot) if field is None else field.schema
            types = schema.types if schema is not None else ()
            if types and {*types} <= {"array", "object"}:
                kinds = " or ".join(f"an {name}" for name in types)
                message = f"`${{{slot}}}` is {kinds} and cannot be part of a string"
                hint = f"make it the whole value of a member: `{member}: ${slot}`"
                yield Remark(("envelopes", envelope.name, "shape"), message, hint)


@rule("spread-collision", severity="error")
def spread_collision(subject: Subject) -> Iterator[Remark]:
    """A detail that is spread into an envelope has a name that no member of the envelope has.

    Bad::

        envelopes:
          error: {shape: {code: $code, message: $message, "...": $details}}
        codes:
          held: {summary: It is held., http: 409, details: {message?: {type: string}}}

    Good::

        envelopes:
          error: {shape: {code: $code, message: $message, "...": $details}}
        codes:
          held: {summary: It is held., http: 409, details: {holder?: {type: string}}}
    """
    taxonomy = subject.taxonomy
    reported: set[Path] = set()
    for path, code in subject.live_codes():
        own: Path = (*path, "details")
        for envelope in envelopes_of(taxonomy, path, code):
            names = _names_beside_details(envelope) if uses_envelope(code, envelope) else ()
            for name in (name for name in names if name in code.details):
                written = subject.first_written(own, name, f"{name}?")
                where = written if written != own else ("detail_keys", name)
                if where not in reported:
                    message = f"the detail `{name}` collides with a member of `{envelope.name}`"
                    place: Path = ("envelopes", envelope.name, "shape")
                    related = (("the envelope is here", place),)
                    yield Remark(where, message, "rename one of them", related=related)
                reported.add(where)


def _names_beside_details(envelope: Envelope) -> Iterator[str]:
    """The names of the members of an envelope that spreads the details among them."""
    for place in walk(envelope.shape):
        if isinstance(place.node, Object) and place.node.spread == "details":
            yield from (member.name for member in place.node.members)


@rule("echo-unguarded", severity="warning")
def echo_unguarded(subject: Subject) -> Iterator[Remark]:
    """A field with `echo` declares in `invalid_inbound` what the service does with a malformed
    value of the client.

    Bad::

        envelopes:
          error:
            shape: {code: $code, request_id: $request_id}
            fields: {request_id: {type: string, format: uuid7, echo: X-Request-Id}}
        codes:
          failed: {summary: It failed., http: 500}

    Good::

        envelopes:
          error:
            shape: {code: $code, request_id: $request_id}
            fields: {request_id: {type: string, format: uuid7, echo: X-Request-Id,
                invalid_inbound: replace}}
        codes:
          failed: {summary: It failed., http: 500}
    """
    for name, envelope in subject.mapping_at("envelopes").items():
        for slot, field in envelope.get("fields", {}).items():
            if "echo" in field and "invalid_inbound" not in field:
                message = f"`{slot}` does not declare how a malformed `{field['echo']}` is treated"
                hint = "add `invalid_inbound: replace`, which prevents header injection"
                yield Remark(("envelopes", name, "fields", slot, "echo"), message, hint)


@rule("echo-contradiction", severity="error")
def echo_contradiction(subject: Subject) -> Iterator[Remark]:
    """A header that repeats a slot is allowed, repeats only this slot, and has its format.

    Bad::

        envelopes:
          error:
            shape: {code: $code, message: $message, request_id: $request_id}
            fields: {request_id: {type: string, format: uuid7, echo: X-Request-Id,
                invalid_inbound: replace}}
        headers:
          X-Request-Id: {on: [4xx, 5xx], format: ulid}
        codes:
          failed: {summary: It failed., http: 500}

    Good::

        envelopes:
          error:
            shape: {code: $code, message: $message, request_id: $request_id}
            fields: {request_id: {type: string, format: uuid7, echo: X-Request-Id,
                invalid_inbound: replace}}
        headers:
          X-Request-Id: {on: [4xx, 5xx], format: uuid7, equals: $request_id}
        codes:
          failed: {summary: It failed., http: 500}
    """
    rules: list[tuple[Path, HeaderRule]] = [
        (("headers", header.name), header) for header in subject.taxonomy.headers
    ]
    rules += [
        (("surfaces", surface.name, "headers", header.name), header)
        for surface in subject.taxonomy.surfaces.values()
        for header in surface.headers
    ]
    rules += [
        ((*path, "headers", header.name), header)
        for path, code in subject.live_codes()
        for header in code.headers
    ]
    for envelope in subject.taxonomy.envelopes.values():
        owners: dict[str, Field] = {}
        for slot, field in envelope.fields.items():
            here: Path = ("envelopes", envelope.name, "fields", slot)
            for name in dict.fromkeys(name for name in (field.echo, field.mirror) if name):
                owner = owners.setdefault(name.lower(), field)
                if owner is not field:
                    message = (
                        f"`{name}` already repeats `${owner.slot}`, so it cannot repeat `${slot}`"
                    )
                    yield Remark(here, message, "give one of them another header")
                related = ((f"`${slot}` is here", here),)
                for path, header in rules:
                    problem = (
                        _conflict(header, field) if header.name.lower() == name.lower() else ""
                    )
                    if problem:
                        message = f"`{header.name}` {problem}"
                        yield Remark(path, message, "change one of them", related=related)


def _conflict(header: HeaderRule, field: Field) -> str:
    """Why a header with this rule cannot repeat a field; empty if it can."""
    if header.presence == "forbidden":
        return f"is forbidden, but repeats `${field.slot}`"
    if header.equals not in (None, field.slot):
        return f"repeats `${header.equals}`, but also `${field.slot}`"
    formats = field.schema.format
    if header.format and formats and not are_compatible(header.format, formats):
        slot = f"`${field.slot}`, which is {' or '.join(formats)}"
        return f"is {' or '.join(header.format)}, but repeats {slot}"
    return ""


@rule("original-code-place", severity="warning")
def original_code_place(subject: Subject) -> Iterator[Remark]:
    """The place that keeps the original code of an unknown or undeclared error holds a string.

    Bad::

        codes:
          failed: {summary: It failed., http: 500}
        undeclared: {becomes: failed, original_code: /details}

    Good::

        detail_keys:
          code: {type: string}
        codes:
          failed: {summary: It failed., http: 500, details: {code?: {}}}
        undeclared: {becomes: failed, original_code: /details/code}
    """
    taxonomy = subject.taxonomy
    for section, becomes in (("undeclared", taxonomy.undeclared), ("unknown", taxonomy.unknown)):
        code = taxonomy.codes.get(becomes.becomes) if becomes else None
        if becomes is None or becomes.original_code is None or code is None:
            continue
        problems = [
            _misplacement(taxonomy, envelope, code, becomes.original_code)
            for envelope in carriers(taxonomy, code, of_operation=False)
        ]
        if problems and all(problems):
            message = f"`{becomes.original_code}` cannot hold a code: {problems[0]}"
            hint = "name a detail key, such as `/details/code`"
            yield Remark((section, "original_code"), message, hint, on_key=False)


def _misplacement(taxonomy: Taxonomy, envelope: Envelope, code: Code, pointer: str) -> str | None:
    """Why the place in an envelope cannot hold a code; None if it can."""
    node = next((place.node for place in walk(envelope.shape) if place.path == pointer), None)
    if isinstance(node, Slot):
        types = envelope.fields[node.name].schema.types if node.name in envelope.fields else ()
        not_text = node.name == "details" or (types and "string" not in types)
        return f"`${node.name}` is there, which is not a string" if not_text else None
    if node is not None:
        return "the value there is constant"
    for place in slot_places(envelope.shape).get("details", ()):
        for key in (*code.details, *taxonomy.detail_keys):
            if child(place.path, key) == pointer:
                declared = code.details.get(key) or taxonomy.detail_keys[key]
                types = declared.schema.types
                text = not types or "string" in types
                return None if text else f"`{key}` is {' or '.join(types)}"
    return f"`{envelope.name}` has no such member"


@rule("rendering-shows-nothing", severity="warning")
def rendering_shows_nothing(subject: Subject) -> Iterator[Remark]:
    """A rendering shows only details that some code has.

    Bad::

        detail_keys:
          field: {type: string}
        codes:
          refused: {summary: It was refused., http: 400}
        renderings:
          chat: {shape: "${code}: ${details.field}"}

    Good::

        detail_keys:
          field: {type: string}
        codes:
          refused: {summary: It was refused., http: 400, details: {field?: {}}}
        renderings:
          chat: {shape: "${code}: ${details.field}"}
    """
    taxonomy = subject.taxonomy
    available = {key for _, code in subject.live_codes() for key in code.details}
    available |= {key.name for key in taxonomy.detail_keys.values() if key.everywhere}
    for rendering in taxonomy.renderings.values():
        shape: Path = ("renderings", rendering.name, "shape")
        for path, parameter in find_parameters(rendering.picture, shape):
            key = parameter.removeprefix("details.")
            if key != parameter and key not in available:
                message = f"no code has the detail `{key}`, so this part is never shown"
                hint = "declare it under the `details` of a code, or remove it"
                yield Remark(path, message, hint, on_key=False)
