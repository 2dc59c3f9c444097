"""Lint rules about surfaces: matching, recognising errors, mirrors and protocols."""

from collections.abc import Iterator

from faultspec.diagnostics.model import Path
from faultspec.language.carriers import uses_envelope
from faultspec.language.model import Code, Envelope, Surface, Taxonomy
from faultspec.language.routes import compile_name
from faultspec.lint.matching import claims_all_of
from faultspec.lint.places import circle, occurs_on
from faultspec.lint.rule import Remark, Subject, rule
from faultspec.runtime.nodes import Literal, slot_places, walk


@rule("unreachable-surface", severity="warning")
def unreachable_surface(subject: Subject) -> Iterator[Remark]:
    """A surface claims something that no surface above it claims: the first match wins.

    Bad::

        surfaces:
          api: {transport: http, envelope: error}
          health: {transport: http, match: {routes: [/health]}, envelope: none,
              reason: Text for the load balancer.}
        codes:
          failed: {summary: It failed., http: 500}

    Good::

        surfaces:
          health: {transport: http, match: {routes: [/health]}, envelope: none,
              reason: Text for the load balancer.}
          api: {transport: http, envelope: error}
        codes:
          failed: {summary: It failed., http: 500}
    """
    surfaces = tuple(subject.taxonomy.surfaces.values())
    for index, later in enumerate(surfaces):
        for earlier in surfaces[:index]:
            if earlier.transport == later.transport and claims_all_of(earlier.match, later.match):
                message = (
                    f"`{later.name}` is never reached: `{earlier.name}` claims all its exchanges"
                )
                hint = "put the narrower surface first, or narrow the match of the other"
                related = ((f"`{earlier.name}` is here", ("surfaces", earlier.name)),)
                yield Remark(("surfaces", later.name), message, hint, related=related)
                break


@rule("empty-namespace", severity="warning")
def empty_namespace(subject: Subject) -> Iterator[Remark]:
    """A namespace that a surface closes has a declared code.

    Bad::

        surfaces:
          api: {transport: http, envelope: error, codes: {closed: [shop.*]}}
        codes:
          failed: {summary: It failed., http: 500}

    Good::

        surfaces:
          api: {transport: http, envelope: error, codes: {closed: [shop.*]}}
        codes:
          failed: {summary: It failed., wire: shop.failed, http: 500}
    """
    wires = [str(code.wire) for code in subject.taxonomy.every_code()]
    for surface in subject.taxonomy.surfaces.values():
        for pattern in surface.namespaces:
            if not any(map(compile_name(pattern).fullmatch, wires)):
                message = f"`{surface.name}` closes `{pattern}`, and no code is called so"
                path = ("surfaces", surface.name, "codes", "closed")
                yield Remark(path, message, "correct the pattern, or declare a code", on_key=False)


@rule("surface-without-errors", severity="error")
def surface_without_errors(subject: Subject) -> Iterator[Remark]:
    """A surface says how to recognise an error: by its body, or by a status of one of its codes.

    Bad::

        surfaces:
          api: {transport: http, error_when: {status: 2xx}, envelope: error, codes: closed}
        codes:
          failed: {summary: It failed., http: 500}

    Good::

        surfaces:
          api: {transport: http, error_when: {status: 5xx}, envelope: error, codes: closed}
        codes:
          failed: {summary: It failed., http: 500}
    """
    taxonomy = subject.taxonomy
    for surface in taxonomy.surfaces.values():
        codes = [code for path, code in subject.live_codes() if occurs_on(surface, path, code)]
        if surface.transport != "http":
            yield from _unrecognised_errors(surface, codes)
            continue
        if not (surface.envelopes and surface.error_when and codes) or surface.codes is None:
            continue
        if surface.marks_bodies:  # each of the keys alone makes an answer an error
            continue
        spans = [span for code in codes for span in code.http.carried_statuses]
        spans += [fallback.on for fallback in taxonomy.fallbacks if fallback.code in surface.codes]
        if not any(one.meets(other) for one in surface.error_when for other in spans):
            statuses = ", ".join(map(str, surface.error_when))
            message = f"`{surface.name}` has no errors: none of its codes travels as {statuses}"
            hint = "write the statuses of its codes, or change those of the codes"
            path: Path = ("surfaces", surface.name, "error_when", "status")
            yield Remark(path, message, hint, on_key=False)


def _unrecognised_errors(surface: Surface, codes: list[Code]) -> Iterator[Remark]:
    """A remark if neither the transport nor the surface says what an error is.

    MCP marks an error result (2025-06-18, server/tools, "Error Handling"). The other transports
    other than HTTP neither mark errors nor have a status.
    """
    if not surface.envelopes or surface.marks_bodies or surface.batch is not None:
        return
    unmarked = [code.name for code in codes if code.mcp is not None and not code.mcp.is_error]
    if surface.transport != "mcp":
        message = (
            f"errors on `{surface.name}` look like any other {surface.transport} answer, so none is"
            " recognised"
        )
    elif unmarked:
        message = f"`{unmarked[0]}` is not recognised on `{surface.name}`: `isError` is false"
    else:
        return
    path: Path = ("surfaces", surface.name)
    if surface.error_when:
        path = (*path, "error_when")
        message = f"a {surface.transport} answer has no status; {message}"
    hint = "add `error_when:` with `present:` or `equals:`, which look into the body"
    yield Remark(path, message, hint)


@rule("success-is-error", severity="error")
def success_is_error(subject: Subject) -> Iterator[Remark]:
    """The member that marks an error is not also a required member of every success.

    Bad::

        surfaces:
          tool:
            transport: mcp
            error_when: {present: /structuredContent/code}
            at: /structuredContent
            success: {require: {/structuredContent/code: {type: string}}}
            envelope: error
        codes:
          failed: {summary: It failed.}

    Good::

        surfaces:
          tool:
            transport: mcp
            error_when: {present: /structuredContent/code}
            at: /structuredContent
            success: {require: {/structuredContent/result: {type: string}}}
            envelope: error
        codes:
          failed: {summary: It failed.}
    """
    for surface in subject.taxonomy.surfaces.values():
        mark = surface.error_pointer
        for pointer in surface.success if mark is not None else ():
            if f"{pointer}/".startswith(f"{mark}/"):
                marker = f"`{mark}`" if mark else "any body"
                message = f"every success has `{pointer}`, but {marker} makes an answer an error"
                path: Path = ("surfaces", surface.name, "success", "require", pointer)
                hint = "require another member, or recognise errors by another"
                yield Remark(path, message, hint)


@rule("jsonrpc-without-protocol", severity="warning")
def jsonrpc_without_protocol(subject: Subject) -> Iterator[Remark]:
    """A JSON-RPC surface declares the errors of the protocol, such as an unreadable request or an
    unknown method.

    Bad::

        envelopes:
          ours: {shape: {error: {code: -32000, data: {reason: $code}}}}
        surfaces:
          rpc: {transport: jsonrpc, error_when: {present: /error}, envelope: ours}
        codes:
          failed: {summary: It failed.}

    Good::

        envelopes:
          ours: {shape: {error: {code: -32000, data: {reason: $code}}}}
          theirs: {shape: {error: {code: $code, message: $message}}}
        surfaces:
          rpc:
            transport: jsonrpc
            error_when: {present: /error}
            envelope: ours
            protocol: {envelope: theirs, codes: {-32700: The line is not JSON.,
                -32601: There is no such method.}}
        codes:
          failed: {summary: It failed.}
    """
    for surface in subject.taxonomy.surfaces.values():
        declares = surface.protocol is not None or surface.repeats
        if surface.transport == "jsonrpc" and surface.envelopes and not declares:
            message = (
                f"`{surface.name}` does not declare the answer to an unreadable request or an"
                " unknown method"
            )
            hint = "add `protocol:` with its envelope and its numbers"
            yield Remark(("surfaces", surface.name), message, hint)


@rule("protocol-number", severity="error")
def protocol_number(subject: Subject) -> Iterator[Remark]:
    """No number of the protocol is also a number of the taxonomy's own errors.

    Bad::

        envelopes:
          ours: {shape: {error: {code: -32000, data: {reason: $code}}}}
          theirs: {shape: {error: {code: $code, message: $message}}}
        surfaces:
          rpc:
            transport: jsonrpc
            error_when: {present: /error}
            envelope: ours
            protocol:
              envelope: theirs
              codes: {-32099..-32000: The server failed.}
        codes:
          failed: {summary: It failed.}

    Good::

        envelopes:
          ours: {shape: {error: {code: -32000, data: {reason: $code}}}}
          theirs: {shape: {error: {code: $code, message: $message}}}
        surfaces:
          rpc:
            transport: jsonrpc
            error_when: {present: /error}
            envelope: ours
            protocol:
              envelope: theirs
              codes: {-32700: The line is not JSON., -32601: There is no such method.}
        codes:
          failed: {summary: It failed.}
    """
    taxonomy = subject.taxonomy
    for surface in taxonomy.surfaces.values():
        if surface.protocol is None:
            continue
        protocol = taxonomy.envelopes[surface.protocol.envelope]
        own = set(_own_numbers(subject, surface, protocol))
        written = subject.mapping_at("surfaces", surface.name, "protocol", "codes")
        for text, numbers in zip(written, surface.protocol.codes, strict=True):
            for number in sorted(number for number in own if number in numbers):
                message = f"{number} is a number of the protocol and of an error of the taxonomy"
                hint = "remove it from the protocol's numbers, or give the error another"
                yield Remark(("surfaces", surface.name, "protocol", "codes", text), message, hint)


def _own_numbers(subject: Subject, surface: Surface, protocol: Envelope) -> Iterator[int]:
    """The integers that own errors have where protocol errors have their code."""
    shared = {place.path for place in slot_places(protocol.shape).get("code", ())}
    for envelope in (subject.taxonomy.envelopes[name] for name in surface.envelopes):
        for place in walk(envelope.shape):
            if place.path not in shared:
                continue
            if isinstance(place.node, Literal) and isinstance(place.node.value, int):
                yield place.node.value
            elif "code" in place.slots:
                for path, code in subject.live_codes():
                    number = code.wire_in(envelope)
                    if (
                        isinstance(number, int)
                        and occurs_on(surface, path, code)
                        and uses_envelope(code, envelope)
                    ):
                        yield number


#: The slots that clients act on. Others, such as the message and ids, may differ in a mirror.
_ACTED_ON = frozenset({"retriable", "actions", "boundary", "domain", "details"})


@rule("repeat-loses", severity="error")
def repeat_loses(subject: Subject) -> Iterator[Remark]:
    """A surface that repeats another has room for all its codes and, unless it is a log, for all
    slots that clients act on.

    Bad::

        envelopes:
          error: {shape: {code: $code, retry: $retriable}}
          notice: {shape: {code: $code}}
        surfaces:
          api: {transport: http, envelope: error}
          events: {transport: event, error_when: {present: /code}, envelope: notice, repeats: api}
        codes:
          failed: {summary: It failed., http: 500, retriable: false}

    Good::

        envelopes:
          error: {shape: {code: $code, retry: $retriable}}
          record: {shape: {time: $time, error: {use: error}}, fields: {time: {type: string}}}
        surfaces:
          api: {transport: http, envelope: error}
          log: {transport: log, error_when: {present: /error}, envelope: record, repeats: api}
        codes:
          failed: {summary: It failed., http: 500, retriable: false}
    """
    taxonomy = subject.taxonomy
    for surface in taxonomy.surfaces.values():
        origin = taxonomy.surfaces.get(surface.repeats or "")
        if origin is None or origin is surface:
            continue
        path: Path = ("surfaces", surface.name)
        lost = [
            f"`{code.name}`"
            for place, code in subject.live_codes()
            if _carries(taxonomy, origin, place, code)
            and not _carries(taxonomy, surface, place, code)
        ]
        if lost:
            more = f" and {len(lost) - 3} more" if len(lost) > 3 else ""
            message = (
                f"`{surface.name}` repeats `{origin.name}` but cannot carry"
                f" {', '.join(lost[:3])}{more}"
            )
            hint = "allow the codes here too, in one of their envelopes"
            yield Remark(subject.first_written(path, "codes", "repeats"), message, hint)
        if surface.transport == "log":  # no client acts on it
            continue
        for slot in _slots_acted_on(taxonomy, origin) - _slots_acted_on(taxonomy, surface):
            message = f"`{surface.name}` repeats `{origin.name}` but has no `${slot}`"
            where = subject.first_written(path, "envelope")
            yield Remark(where, message, "add the slot to its envelope", on_key=False)


def _carries(taxonomy: Taxonomy, surface: Surface, path: Path, code: Code) -> bool:
    return occurs_on(surface, path, code) and any(
        uses_envelope(code, taxonomy.envelopes[name]) for name in surface.envelopes
    )


def _slots_acted_on(taxonomy: Taxonomy, surface: Surface) -> set[str]:
    """The slots in every envelope of a surface that clients act on or that have a vocabulary."""
    found = []
    for envelope in (taxonomy.envelopes[name] for name in surface.envelopes):
        fields = envelope.fields.items()
        closed = {slot for slot, field in fields if field.schema.vocabulary is not None}
        found.append(slot_places(envelope.shape).keys() & (_ACTED_ON | closed))
    return set.intersection(*found) if found else set()


@rule("repeat-circle", severity="error")
def repeat_circle(subject: Subject) -> Iterator[Remark]:
    """No chain of `repeats` is circular.

    Bad::

        surfaces:
          log: {transport: log, error_when: {present: /code}, envelope: error, repeats: events}
          events: {transport: event, error_when: {present: /code}, envelope: error, repeats: log}
        codes:
          failed: {summary: It failed.}

    Good::

        surfaces:
          log: {transport: log, error_when: {present: /code}, envelope: error, repeats: events}
          events: {transport: event, error_when: {present: /code}, envelope: error}
        codes:
          failed: {summary: It failed.}
    """
    origins = {surface.name: surface.repeats for surface in subject.taxonomy.surfaces.values()}
    for name, origin in origins.items():
        if circle(name, origin, origins):
            message = f"the surfaces that `{name}` repeats lead back to it"
            hint = "end the chain at another surface"
            yield Remark(("surfaces", name, "repeats"), message, hint, on_key=False)


@rule("mcp-unsaid", severity="warning")
def mcp_unsaid(subject: Subject) -> Iterator[Remark]:
    """If some codes of an MCP surface declare `isError`, all do.

    Bad::

        surfaces:
          tool: {transport: mcp, error_when: {present: /code}, envelope: error}
        codes:
          refused: {summary: It was refused., on: {mcp: {is_error: false}}}
          failed: {summary: It failed.}

    Good::

        surfaces:
          tool: {transport: mcp, error_when: {present: /code}, envelope: error}
        codes:
          refused: {summary: It was refused., on: {mcp: {is_error: false}}}
          failed: {summary: It failed., on: {mcp: {is_error: true}}}
    """
    surfaces = [
        surface
        for surface in subject.taxonomy.surfaces.values()
        if surface.transport == "mcp" and surface.envelopes
    ]
    codes = [
        (path, code)
        for path, code in subject.live_codes()
        if any(occurs_on(surface, path, code) for surface in surfaces)
    ]
    if any(code.mcp for _, code in codes):
        for path, code in codes:
            if code.mcp is None:
                message = f"`{code.name}` does not declare `isError`, but other codes do"
                hint = "add `on: {mcp: {is_error: true}}`, or false"
                yield Remark(subject.first_written(path, "on"), message, hint)
