"""Rules on what carries a code: envelopes, mirrored surfaces, protocols, and names on the wire."""

from collections.abc import Iterator, Mapping, Sequence

from faultspec.diagnostics.model import Path
from faultspec.language.carriers import reaches, uses_envelope
from faultspec.language.model import IMPLIED, Code, Envelope, Operation, Surface, Taxonomy, Term
from faultspec.language.routes import compile_route
from faultspec.lint.places import carried, codes, live, meets, present
from faultspec.lint.rule import Remark, Subject
from faultspec.runtime.nodes import Literal, Object, Template, slot_places, walk


def envelope_on_no_surface(subject: Subject) -> Iterator[Remark]:
    """An envelope that a code names is one of a surface that allows the code."""
    for path, code in live(subject.taxonomy):
        reached = [
            surface for surface in subject.taxonomy.surfaces.values() if meets(surface, path, code)
        ]
        there = {name for each in reached for name in each.envelopes}
        for name in code.envelopes if reached else ():
            if name not in there:
                message = f"`{code.name}` travels in `{name}`, and no surface that allows the code has this envelope"
                hint = "add the envelope to a surface of the code, or name another"
                yield Remark((*path, "envelope"), message, hint, on_key=False)


def protocol_number(subject: Subject) -> Iterator[Remark]:
    """A number of the carrying protocol is not one by which the taxonomy's own errors are told."""
    taxonomy = subject.taxonomy
    for surface in taxonomy.surfaces.values():
        if surface.protocol is None:
            continue
        own = set(_own_numbers(taxonomy, surface, taxonomy.envelopes[surface.protocol.envelope]))
        written = subject.data["surfaces"][surface.name]["protocol"]["codes"]
        for text, numbers in zip(written, surface.protocol.codes, strict=True):
            for number in sorted(each for each in own if each in numbers):
                message = f"{number} is a number of the protocol here, and stands where our own errors have theirs"
                hint = "take it out of the protocol's numbers, or give our errors another"
                yield Remark(("surfaces", surface.name, "protocol", "codes", text), message, hint)


def _own_numbers(taxonomy: Taxonomy, surface: Surface, protocol: Envelope) -> Iterator[int]:
    """The whole numbers that our errors have where those of the protocol have their code."""
    where = {place.path for place in slot_places(protocol.shape)["code"]}
    for envelope in (taxonomy.envelopes[each] for each in surface.envelopes):
        for place in walk(envelope.shape):
            if place.path not in where:
                continue
            if isinstance(place.node, Literal) and isinstance(place.node.value, int):
                yield place.node.value
            elif "code" in place.slots:
                yield from (
                    code.wire
                    for path, code in live(taxonomy)
                    if isinstance(code.wire, int)
                    and meets(surface, path, code)
                    and uses_envelope(code, envelope.name)
                )


#: What callers act on. The sentence and the ids of an exchange are its own; a mirror may do without them.
_ACTED_ON = ("retriable", "actions", "boundary", "domain", "details")


def repeat_loses(subject: Subject) -> Iterator[Remark]:
    """A surface that repeats another one has a place for every code and for all that callers act on."""
    taxonomy = subject.taxonomy
    for surface in taxonomy.surfaces.values():
        origin = taxonomy.surfaces.get(surface.repeats or "")
        if origin is None or origin is surface:
            continue
        at: Path = ("surfaces", surface.name)
        lost = [
            code.name
            for path, code in live(taxonomy)
            if _carried(origin, path, code) and not _carried(surface, path, code)
        ]
        if lost:
            message = f"`{surface.name}` repeats `{origin.name}` and cannot carry {_some(lost)}"
            hint = "allow the codes here too, in an envelope that they wear"
            yield Remark(present(subject, at, "codes", "repeats"), message, hint)
        theirs, ours = (_slots(taxonomy, each) for each in (origin, surface))
        for slot in theirs - ours:
            message = f"`{surface.name}` repeats `{origin.name}` and has no place for `${slot}`"
            hint = "give its envelope the slot"
            yield Remark(present(subject, at, "envelope"), message, hint, on_key=False)


def _carried(surface: Surface, path: Path, code: Code) -> bool:
    return meets(surface, path, code) and any(
        uses_envelope(code, envelope) for envelope in surface.envelopes
    )


def _slots(taxonomy: Taxonomy, surface: Surface) -> set[str]:
    """What callers act on and find in every envelope of the surface."""
    found = []
    for envelope in (taxonomy.envelopes[each] for each in surface.envelopes):
        closed = {
            slot for slot, each in envelope.fields.items() if each.schema.vocabulary is not None
        }
        found.append(
            {slot for slot in slot_places(envelope.shape) if slot in _ACTED_ON or slot in closed}
        )
    return set.intersection(*found) if found else set()


def _some(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:3])
    return shown if len(names) < 4 else f"{shown} and {len(names) - 3} more"


def repeat_circle(subject: Subject) -> Iterator[Remark]:
    """Following `repeats` comes to a surface of its own."""
    surfaces = subject.taxonomy.surfaces
    for surface in surfaces.values():
        walked = [surface.name]
        following = surface.repeats
        while following is not None and following not in walked:
            walked.append(following)
            following = surfaces[following].repeats
        if following == surface.name:
            message = f"`{surface.name}` repeats, in the end, itself"
            yield Remark(
                ("surfaces", surface.name, "repeats"),
                message,
                "end it at another surface",
                on_key=False,
            )


def slot_without_fact(subject: Subject) -> Iterator[Remark]:
    """What every envelope of a code has a place for, the code says; and its flag, where any place may tell it."""
    taxonomy = subject.taxonomy
    for path, code in live(taxonomy):
        silent = {
            "retriable": code.retriable.kind == "none",
            "boundary": not code.boundaries,
            "domain": code.domain is None,
        }
        worn = carried(taxonomy, path, code)
        for slot, says_nothing in silent.items():
            if says_nothing and worn and all(_must(each, slot) for each in worn):
                message = (
                    f"the envelope has `${slot}`, and `{code.name}` says nothing of its `{slot}`"
                )
                yield Remark(path, message, f"add `{slot}:`")
        unsaid = present(subject, path, "retriable") == path and silent["retriable"]
        if unsaid and not (worn and all(_must(each, "retriable") for each in worn)):
            yield from _flag_unsaid(taxonomy, path, code, worn)


def _flag_unsaid(
    taxonomy: Taxonomy, path: Path, code: Code, worn: Sequence[Envelope]
) -> Iterator[Remark]:
    """A place that may tell whether an error is retriable, of which its code says nothing."""
    slots = {slot for each in worn for slot in slot_places(each.shape)}
    required = {
        key
        for surface in taxonomy.surfaces.values()
        if meets(surface, path, code)
        for key in surface.requires_details
    }
    keys = [
        key
        for key in taxonomy.flag_keys
        if key in code.details or taxonomy.detail_keys[key].everywhere or key in required
    ]
    place = (
        "`$retriable`"
        if "retriable" in slots
        else f"`details.{keys[0]}`"
        if keys and "details" in slots
        else None
    )
    if place is not None:
        message = f"{place} may tell whether the same request may be sent again, and `{code.name}` says nothing of that"
        hint = "add `retriable:`, be it `none` for a code that has no such flag"
        yield Remark(path, message, hint)


def _must(envelope: Envelope, slot: str) -> bool:
    return any(place.required for place in slot_places(envelope.shape).get(slot, ()))


def list_inside_text(subject: Subject) -> Iterator[Remark]:
    """What stands inside a text is a text, a number or a truth value, never a list or an object."""
    for envelope in subject.taxonomy.envelopes.values():
        for place in walk(envelope.shape):
            for slot in place.node.slots if isinstance(place.node, Template) else ():
                field = envelope.fields.get(slot)
                schema = IMPLIED.get(slot) if field is None else field.schema
                types = () if schema is None else schema.types
                if types and {*types} <= {"array", "object"}:
                    message = f"`${{{slot}}}` is {' or '.join(types)} and stands inside a text, which can't hold one"
                    hint = f"give it a member of its own: `${slot}`"
                    yield Remark(("envelopes", envelope.name, "shape"), message, hint)


def spread_collision(subject: Subject) -> Iterator[Remark]:
    """A detail that is spread into an envelope is not called like a member that stands there."""
    taxonomy = subject.taxonomy
    said: set[Path] = set()
    for path, code in live(taxonomy):
        worn = [each for each in carried(taxonomy, path, code) if uses_envelope(code, each.name)]
        for envelope, name in ((each, name) for each in worn for name in _beside_details(each)):
            if name not in code.details:
                continue
            own: Path = (*path, "details")
            at = present(subject, own, name, f"{name}?")
            at = at if at != own else ("detail_keys", name)
            if at not in said:
                message = f"`{name}` is a detail, and where details are spread in `{envelope.name}` a member is called so"
                related = (("the envelope is here", ("envelopes", envelope.name, "shape")),)
                yield Remark(at, message, "call one of the two otherwise", related=related)
            said.add(at)


def _beside_details(envelope: Envelope) -> Iterator[str]:
    for place in walk(envelope.shape):
        if isinstance(place.node, Object) and place.node.spread == "details":
            yield from (member.name for member in place.node.members)


def details_optional_and_required(subject: Subject) -> Iterator[Remark]:
    """Where every surface of an envelope requires a details key, the envelope's `details` are not optional."""
    taxonomy = subject.taxonomy
    for envelope in taxonomy.envelopes.values():
        used = [
            surface for surface in taxonomy.surfaces.values() if envelope.name in surface.envelopes
        ]
        if (
            not used
            or not all(_requires(subject, each) for each in used)
            or _must(envelope, "details")
        ):
            continue
        message = f"every error here must carry details, and in `{envelope.name}` they are optional"
        related = (("the envelope is here", ("envelopes", envelope.name, "shape")),)
        at: Path = ("surfaces", used[0].name, "requires_details")
        yield Remark(
            at,
            message,
            "make `$details` a member that is always there, or require nothing",
            related=related,
        )


def _requires(subject: Subject, surface: Surface) -> bool:
    return bool(subject.data.get("surfaces", {}).get(surface.name, {}).get("requires_details"))


def wire_reused(subject: Subject) -> Iterator[Remark]:
    """What stands on the wire means one thing: an operation takes no shared code's, nor that of a removed one."""
    shared = {code.wire: code for code in subject.taxonomy.codes.values()}
    for path, code in codes(subject.taxonomy):
        other = shared.get(code.wire) if path[0] == "operations" else None
        if other is None or other.name == code.name or _is_made(code, subject.taxonomy):
            continue
        was = "was, before it was removed, " if other.lifecycle == "removed" else "is "
        message = f"`{code.wire}` {was}`{other.name}` on the wire, and here it is `{code.name}`"
        related = ((f"`{other.name}` is here", ("codes", other.name)),)
        yield Remark(
            present(subject, path, "wire"),
            message,
            "give the operation's code another `wire:`",
            related=related,
        )


def _is_made(code: Code, taxonomy: Taxonomy) -> bool:
    """Whether an importer made the code of a status: such a name stands on no wire."""
    made = taxonomy.imported
    return made is not None and any(made.code(status) == code.wire for status in code.http.all())


def reserved_term(subject: Subject) -> Iterator[Remark]:
    """What is reserved is not in use: no live code has a reserved domain, boundary, action or term."""
    taxonomy = subject.taxonomy
    for path, code in live(taxonomy):
        told: list[tuple[Path, Mapping[str, Term], tuple[str, ...]]] = [
            (("domain",), taxonomy.domains, (code.domain,) if code.domain else ()),
            (("boundary",), taxonomy.boundaries, code.boundaries),
            (("actions",), taxonomy.actions, code.actions),
        ]
        for slot, names in code.facts.items():
            field = taxonomy.field_of(slot)
            told.append(
                (
                    ("facts", slot),
                    _terms(taxonomy, field.schema.vocabulary if field else None),
                    names,
                )
            )
        for where, terms, names in told:
            for name in names:
                if name in terms and terms[name].lifecycle == "reserved":
                    message = f"`{name}` is reserved, so it stands on no wire, and `{code.name}` may be answered with it"
                    yield Remark(
                        (*path, *where),
                        message,
                        "make the term `stable`, or the code `lifecycle: reserved`",
                    )


def _terms(taxonomy: Taxonomy, vocabulary: str | None) -> Mapping[str, Term]:
    beside = {
        "domains": taxonomy.domains,
        "boundaries": taxonomy.boundaries,
        "actions": taxonomy.actions,
    }
    return {**taxonomy.vocabularies, **beside}.get(vocabulary or "", {})


def listed_on_no_surface(subject: Subject) -> Iterator[Remark]:
    """A shared code that an operation lists is one that a surface of the operation carries."""
    taxonomy = subject.taxonomy
    for operation in taxonomy.operations.values():
        there = [each for each in _surfaces_of(operation, taxonomy) if each.envelopes]
        if not there or any(each.foreign for each in there):
            continue
        for index, name in enumerate(operation.codes or ()):
            code = taxonomy.codes[name]
            if code.live and not any(reaches(each, code, of_operation=False) for each in there):
                listed = " or ".join(f"`{each.name}`" for each in there)
                message = f"`{operation.name}` may fail with `{name}`, which {listed} can't carry"
                hint = "allow the code on a surface of the operation, or take it off the list"
                yield Remark(
                    ("operations", operation.name, "codes", index), message, hint, on_key=False
                )


def _surfaces_of(operation: Operation, taxonomy: Taxonomy) -> list[Surface]:
    """Those that may claim an exchange of the operation, as far as routes and methods tell, for the first match wins.

    Events, logs and streams are beside the answer of a request, so any of them may be meant.
    """
    surfaces = taxonomy.surfaces.values()
    if not operation.match.routes:
        return [each for each in surfaces if not operation.match.tools or each.transport != "http"]
    found = [each for each in surfaces if each.transport not in ("http", "mcp", "jsonrpc")]
    for written in operation.match.routes:
        method, _, path = written.rpartition(" ")
        asked = {method} if method else set(operation.match.methods)
        for surface in (each for each in surfaces if each.transport == "http"):
            match = surface.match
            patterns = [compile_route(each) for each in match.routes]
            if match.routes and not any(
                pattern.claims(method or pattern.method or "", (path,)) for pattern in patterns
            ):
                continue
            if match.methods and asked and asked.isdisjoint(match.methods):
                continue
            found += [] if surface in found else [surface]
            every_method = not match.methods or (asked and asked.issubset(match.methods))
            if every_method and not (match.statuses or match.request):
                break
    return found


def jsonrpc_without_protocol(subject: Subject) -> Iterator[Remark]:
    """JSON-RPC has errors of its own (a line that cannot be read, a method that is not there): the surface says what they are."""
    for surface in subject.taxonomy.surfaces.values():
        if (
            surface.transport == "jsonrpc"
            and surface.envelopes
            and surface.protocol is None
            and not surface.repeats
        ):
            message = (
                "nothing says what answers a line that is no request, or a method that is not there"
            )
            hint = "add `protocol:` with its envelope and the numbers that are sent"
            yield Remark(("surfaces", surface.name), message, hint)


def success_is_error(subject: Subject) -> Iterator[Remark]:
    """A member that makes an answer an error is none that every success has."""
    for surface in subject.taxonomy.surfaces.values():
        for pointer in surface.success:
            if surface.error_pointer is not None and f"{pointer}/".startswith(
                f"{surface.error_pointer}/"
            ):
                mark = f"`{surface.error_pointer}`" if surface.error_pointer else "any body at all"
                message = (
                    f"`{pointer}` is there in every success, and {mark} makes an answer an error"
                )
                at: Path = ("surfaces", surface.name, "success", "require", pointer)
                yield Remark(at, message, "require another member, or tell errors by another")


def undecided_status(subject: Subject) -> Iterator[Remark]:
    """Codes that share several statuses prefer different ones, or nobody can tell them apart by any of them."""
    seen: dict[object, tuple[Path, Code]] = {}
    for path, code in live(subject.taxonomy):
        statuses = frozenset(code.http.all())
        if path[0] == "operations" or len(statuses) < 2 or code.http.rules:
            continue
        other_path, other = seen.setdefault((statuses, code.http.default), (path, code))
        if other is not code:
            shared = ", ".join(map(str, code.http.statuses))
            message = f"`{code.name}` and `{other.name}` share {shared}, and both prefer {code.http.default}"
            hint = "put the status that each prefers first: `http: [504, 502, 503]`"
            related = ((f"`{other.name}` is here", (*other_path, "http")),)
            yield Remark((*path, "http"), message, hint, on_key=False, related=related)


def mcp_unsaid(subject: Subject) -> Iterator[Remark]:
    """Where some codes of an MCP surface say how their results are marked, all do."""
    taxonomy = subject.taxonomy
    there = [
        surface
        for surface in taxonomy.surfaces.values()
        if surface.transport == "mcp" and surface.envelopes
    ]
    met = [
        (path, code)
        for path, code in live(taxonomy)
        if any(meets(each, path, code) for each in there)
    ]
    if any(code.mcp for _, code in met):
        for path, code in met:
            if code.mcp is None:
                message = f"`{code.name}` does not say whether its result is marked by `isError`, as other codes do"
                yield Remark(
                    present(subject, path, "on"),
                    message,
                    "add `on: {mcp: {is_error: true}}`, or false",
                )
