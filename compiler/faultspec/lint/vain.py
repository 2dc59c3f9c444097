"""Rules on what is declared in vain: what no wire has a place for, what never fires and what is never reached."""

import re
from collections.abc import Iterator, Sequence

from faultspec.diagnostics.model import Path
from faultspec.language import values
from faultspec.language.model import Code, Envelope, HeaderRule, Match, Operation, Surface, Taxonomy
from faultspec.lint.places import at, carried, example_path, live, meets, present
from faultspec.lint.rule import Remark, Subject
from faultspec.lint.statuses import REQUEST_ONLY
from faultspec.runtime.nodes import slot_places


def details_without_place(subject: Subject) -> Iterator[Remark]:
    """What a code requires among its details has a place in an envelope of it."""
    for path, code in live(subject.taxonomy):
        slots = _slots(carried(subject.taxonomy, path, code))
        lost = [
            key
            for key, each in code.details.items()
            if each.presence == "required" and key not in slots
        ]
        if lost and "details" not in slots:
            listed = ", ".join(f"`{key}`" for key in lost)
            message = (
                f"`{code.name}` requires {listed}, and no envelope of it has a place for details"
            )
            yield Remark(
                (*path, "details"),
                message,
                "give an envelope `details: $details`, or require none of them",
            )


def flag_without_place(subject: Subject) -> Iterator[Remark]:
    """A flag that each answer decides stands in an envelope of its code: as `$retriable`, or as a detail with that role."""
    taxonomy = subject.taxonomy
    for path, code in live(taxonomy):
        if code.retriable.kind != "caller":
            continue
        slots = _slots(carried(taxonomy, path, code))
        if "retriable" not in slots and not ("details" in slots and _has_flag(taxonomy, code)):
            message = f"whether `{code.name}` is retriable is for each answer to say, and no envelope of it has a place for that"
            hint = "give an envelope `$retriable`, or the code the detail with `role: retriable`; or decide it here"
            yield Remark((*path, "retriable"), message, hint, on_key=False)


def _has_flag(taxonomy: Taxonomy, code: Code) -> bool:
    own = (
        code.details_schema is not None
    )  # an imported schema may name the key where nobody here can tell
    return any(
        own or key in code.details or taxonomy.detail_keys[key].everywhere
        for key in taxonomy.flag_keys
    )


def _slots(worn: Sequence[Envelope]) -> set[str]:
    return {slot for each in worn for slot in slot_places(each.shape)}


def alert_without_rule(subject: Subject) -> Iterator[Remark]:
    """An alert that says what it counts says enough for a rule of Prometheus."""
    taxonomy, telemetry = subject.taxonomy, subject.taxonomy.telemetry
    if telemetry is None:
        return
    counting = [each for each in telemetry.alerts.values() if each.codes or each.statuses]
    if not counting:
        return
    # Here, so that a taxonomy without alerts does not wait for a target to be imported.
    from faultspec.targets.prometheus import unsaid

    for alert in counting:
        missing = unsaid(alert, telemetry, taxonomy)
        if missing is not None:
            message = f"`{alert.name}` never fires: nothing says {missing}"
            yield Remark(
                ("telemetry", "alerts", alert.name),
                message,
                "say it, or the alert is a runbook only",
            )


def fact_breaks_field(subject: Subject) -> Iterator[Remark]:
    """What a code itself puts into a slot fits the field of that slot in an envelope of it."""
    taxonomy = subject.taxonomy
    for path, code in live(taxonomy):
        worn = carried(taxonomy, path, code)
        # What stands in a message for a detail has a length of its own, which the examples show.
        sentence = None if "${" in (code.message or "") else code.message
        facts = (
            ("code", "wire", code.wire),
            ("message", "message", sentence),
            ("domain", "domain", code.domain),
        )
        for slot, key, value in facts:
            fields = [each.fields[slot].schema for each in worn if slot in each.fields]
            found = (
                [tuple(values.check_value(field, value)) for field in fields]
                if value is not None
                else []
            )
            if found and len(found) == len(worn) and all(found):
                message = (
                    f"`${slot}` of `{code.name}` fits no envelope of it: {found[0][0].problem}"
                )
                where = present(subject, path, key)
                yield Remark(
                    where,
                    message,
                    f"change it, or the field `{slot}` of the envelope",
                    on_key=where == path,
                )


def example_without_header(subject: Subject) -> Iterator[Remark]:
    """An example that shows headers shows those that answers with its code must carry and only its author can fill in."""
    taxonomy = subject.taxonomy
    for path, code in live(taxonomy):
        for index, example in enumerate(code.examples):
            place = example_path(subject, path, index)
            written = at(subject, place)
            status = example.status or code.http.default
            rules: Sequence[HeaderRule] = taxonomy.header_rules(code, status)
            shown = {name.lower() for name in example.headers}
            if not isinstance(written, dict) or "headers" not in written:
                rules = [rule for rule in rules if rule in code.headers]
            last = {rule.name.lower(): rule for rule in rules}
            lacks = [
                f"`{each.name}`"
                for name, each in last.items()
                if each.presence == "required" and not each.equals and not each.token
                if name not in shown
                and name not in REQUEST_ONLY  # of such a rule enough is said elsewhere
            ]
            if lacks:
                message = f"the example lacks {', '.join(lacks)}, which every answer with `{code.name}` carries"
                yield Remark(
                    place, message, "add it under `headers:` of the example, or do not require it"
                )


def surface_without_errors(subject: Subject) -> Iterator[Remark]:
    """Something makes an answer of a surface an error: what its body holds, or a status under which a code travels."""
    taxonomy = subject.taxonomy
    for surface in taxonomy.surfaces.values():
        yield from _untold_errors(taxonomy, surface)
        if (
            surface.transport != "http"
            or not surface.envelopes
            or not surface.error_when
            or surface.codes is None
        ):
            continue
        met = [code for path, code in live(taxonomy) if meets(surface, path, code)]
        spans = [span for code in met for span in code.http.carried]
        spans += [fallback.on for fallback in taxonomy.fallbacks if fallback.code in surface.codes]
        if met and not any(one.meets(other) for one in surface.error_when for other in spans):
            statuses = ", ".join(map(str, surface.error_when))
            message = f"no answer of `{surface.name}` is an error: none of its codes travels as {statuses}"
            where: Path = ("surfaces", surface.name, "error_when", "status")
            yield Remark(
                where,
                message,
                "name the statuses of its codes, or give the codes these",
                on_key=False,
            )


def _untold_errors(taxonomy: Taxonomy, surface: Surface) -> Iterator[Remark]:
    """Where no transport says what an error is, and the surface does not either.

    HTTP has statuses, and MCP marks a result that is an error (2025-06-18, server/tools, "Error Handling"); the others
    have no word of their own, and no status.
    """
    told = surface.error_pointer is not None or surface.error_equals or surface.batch is not None
    if surface.transport == "http" or not surface.envelopes or told:
        return
    unmarked = [
        code.name
        for path, code in live(taxonomy)
        if meets(surface, path, code) and code.mcp is not None and not code.mcp.is_error
    ]
    if surface.transport != "mcp":
        message = f"nothing tells an error on `{surface.name}` from any other {surface.transport} answer, so none is seen"
    elif unmarked:
        message = f"`{unmarked[0]}` is not marked by `isError`, and nothing else tells it on `{surface.name}`"
    else:
        return
    where: Path = ("surfaces", surface.name)
    if surface.error_when:
        where = (*where, "error_when")
        message = f"a {surface.transport} answer has no status; {message}"
    yield Remark(
        where,
        message,
        "add `error_when:` with what the body of an error holds: `present:` or `equals:`",
    )


def operation_twice(subject: Subject) -> Iterator[Remark]:
    """A request is of one operation: no two claim the same route and method."""
    claimed: dict[str, list[Operation]] = {}
    for operation in subject.taxonomy.operations.values():
        clashes = [
            (route, other)
            for route in operation.match.routes
            for other in claimed.get(_bare(route), ())
            if _alike(operation.match, other.match)
        ]
        for route, other in clashes[:1]:
            message = f"`{operation.name}` and `{other.name}` both claim `{route}`, so nothing tells them apart"
            related = ((f"`{other.name}` is here", ("operations", other.name)),)
            hint = "join them, or tell them apart by `methods:` or `request:`"
            yield Remark(("operations", operation.name, "match"), message, hint, related=related)
        for bare in dict.fromkeys(map(_bare, operation.match.routes)):
            claimed.setdefault(bare, []).append(operation)


def _alike(one: Match, other: Match) -> bool:
    """Whether nothing but their routes tells the two apart."""
    methods = not one.methods or not other.methods or bool(set(one.methods) & set(other.methods))
    return methods and (one.request, one.tools, one.statuses) == (
        other.request,
        other.tools,
        other.statuses,
    )


def _bare(route: str) -> str:
    """A route without the names of its parameters, which say nothing of what it claims."""
    return re.sub(r"\{[^}/]*\}", "{}", route)
