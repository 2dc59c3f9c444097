"""One code on the page: its meaning, the client's action, its transport, and an example."""

from collections.abc import Iterator
from typing import NamedTuple

from faultspec.language.carriers import carriers, reaches
from faultspec.language.model import Code, Envelope, HeaderRule, Schema, Taxonomy
from faultspec.runtime import shape
from faultspec.targets import openapi
from faultspec.targets import schema as schemas
from faultspec.targets.filters import visible
from faultspec.targets.json_text import json as json_text
from faultspec.targets.jsonschema import definition
from faultspec.targets.markdown import words
from faultspec.targets.markdown.text import bullets, data, fence, heading, inline, link, table
from faultspec.targets.markdown.text import code as typed
from faultspec.targets.memo import memoized
from faultspec.targets.model import detail_row


class Anchors(NamedTuple):
    """The anchors of the codes."""

    codes: frozenset[str]

    def code(self, name: str, operation: str | None = None) -> str:
        """A link to a code, as an operation names it; only its name if it is not declared."""
        own = name if operation is None else f"{operation}.{name}"
        for each in (own, name):
            if each in self.codes:
                return link(typed(name), each)
        return typed(name)


def page(operation: str | None, code: Code, taxonomy: Taxonomy, anchors: Anchors) -> list[str]:
    """The lines of a code."""
    label = definition(operation, code)
    lines = [*heading(3, typed(label), label), inline(code.summary), ""]
    lines += [inline(code.description), ""] if code.description else []
    lines += bullets(_facts(operation, code, taxonomy, anchors))
    lines += _headers(code, taxonomy)
    lines += _details(code, taxonomy)
    lines += _examples(operation, code, taxonomy)
    return lines


def _facts(
    operation: str | None, code: Code, taxonomy: Taxonomy, anchors: Anchors
) -> Iterator[str]:
    yield from lifecycle(operation, code, anchors)
    if code.wire != code.name:
        yield f"On the wire: {data(code.wire)}"
    if operation is not None:
        yield f"Only of the operation {link(typed(operation), f'operation:{operation}')}"
    if code.message:
        yield f"Message: {inline(code.message)}"
    yield f"Client action: {words.TURNS[code.client_action]}"
    first, *rules = words.retriability(code)
    yield f"May the same request be sent again? {first}"
    yield from rules
    if code.retry:
        yield f"Retried by {link(typed(code.retry), f'policy:{code.retry}')}"
    yield words.EFFECTS[code.effect]
    yield from _transports(code)
    yield from _origins(code, taxonomy)
    for surface in taxonomy.surfaces.values():
        if reaches(surface, code, of_operation=operation is not None):
            yield f"Met on {link(typed(surface.name), f'surface:{surface.name}')}"
    found = words.source(code.source)
    if found:
        yield f"Source: {found}"


def _transports(code: Code) -> Iterator[str]:
    """The statuses of a code on each transport."""
    for status in words.statuses(code):
        yield f"Status: {status}"
    if code.grpc:
        yield f"gRPC status: {inline(code.grpc)}"
    if code.mcp is not None:
        yield f"MCP `isError`: {data(code.mcp.is_error)}"


def _origins(code: Code, taxonomy: Taxonomy) -> Iterator[str]:
    """The origin of a code, the ways out, and the values that it fixes."""
    for name in code.boundaries:
        yield f"Produced by: {link(typed(name), f'boundary:{name}')}"
    if code.domain:
        yield f"Domain: {link(typed(code.domain), f'domain:{code.domain}')}"
    for name in code.actions:
        declared = name in taxonomy.actions
        yield f"Way out: {link(typed(name), f'action:{name}') if declared else typed(name)}"
    for slot, values in code.facts.items():
        yield f"{typed(slot)}: {', '.join(map(data, values))}"
    if code.deadline is not None:
        limit = words.seconds(code.deadline.late_by)
        wait = typed(f"details.{code.deadline.detail}")
        yield f"Answered when the seconds in {wait} are over, at most {limit} later"
    for name in code.passthrough:
        yield f"Passed through from {inline(name)}"


def lifecycle(operation: str | None, code: Code, anchors: Anchors) -> Iterator[str]:
    """The remarks on a code that is not stable."""
    if code.lifecycle != "stable":
        since = f" since {inline(code.since)}" if code.since else ""
        yield f"**{code.lifecycle.capitalize()}**{since}"
    elif code.since:
        yield f"Since {inline(code.since)}"
    if code.sunset:
        yield f"Not sent after {inline(code.sunset)}"
    if code.replaced_by:
        yield f"Replaced by {anchors.code(code.replaced_by, operation)}"


def _headers(code: Code, taxonomy: Taxonomy) -> list[str]:
    """The headers it travels with: its own rules, and those by status that its statuses fall
    under.
    """
    shared = (
        [rule for rule in taxonomy.headers if _concerns(rule, code)] if code.http.statuses else []
    )
    rows = (words.header_rule(rule) for rule in (*code.headers, *shared))
    return table(("header", "presence", "on", "meaning"), rows)


def _concerns(rule: HeaderRule, code: Code) -> bool:
    return rule.names(code.name) and any(
        each.meets(status) for each in rule.on for status in code.http.statuses
    )


def _details(code: Code, taxonomy: Taxonomy) -> list[str]:
    if code.details_schema is not None:
        return [
            "Its details have an imported schema:",
            "",
            *fence(json_text(schemas.of_details(code, taxonomy)), "json"),
        ]
    rows = []
    for member in code.details.values():
        row = detail_row(member, taxonomy)
        rows.append(
            (
                typed(row.name),
                row.presence,
                _schema(member.schema, taxonomy),
                inline(row.description),
            )
        )
    return table(("detail", "presence", "schema", "meaning"), rows)


@memoized
def _schema(schema: Schema, taxonomy: Taxonomy) -> str:
    """The constraints on a value; its meaning stands beside them."""
    return data(
        {
            key: each
            for key, each in schemas.known_value(schema, taxonomy).items()
            if key != "description"
        }
    )


def _examples(operation: str | None, code: Code, taxonomy: Taxonomy) -> list[str]:
    """Each example in its envelope, with status and headers if it travels over HTTP."""
    if not carriers(taxonomy, code, of_operation=operation is not None):
        return []
    envelope = schemas.own_envelope(taxonomy, operation, code)
    http = any(
        surface.transport == "http" and envelope.name in surface.envelopes
        for surface in taxonomy.surfaces.values()
    )
    lines: list[str] = []
    for _, example, body in openapi.bodies(envelope, code, taxonomy):
        summary = f": {inline(example.summary)}" if example.summary else ":"
        lines.append(
            f"For example, in {link(typed(envelope.name), f'envelope:{envelope.name}')}{summary}"
        )
        status = example.status or code.http.default
        if http and status is not None:
            given = {
                "Content-Type": envelope.media_types[0],
                **_owed(code=code, status=status, envelope=envelope, body=body, taxonomy=taxonomy),
            }
            fields = [
                f"{name}: {visible(value)}"
                for name, value in (given | dict(example.headers)).items()
            ]
            lines += ["", *fence("\n".join([f"HTTP/1.1 {status}", *fields]), "http")[:-1]]
        lines += ["", *fence(json_text(body), "json")]
    return lines


def _owed(
    code: Code, status: int, envelope: Envelope, body: object, taxonomy: Taxonomy
) -> dict[str, str]:
    """The headers that an answer has whatever the occasion, as far as their value is known: slots
    and directives.
    """
    slots = shape.extract(envelope.shape, body).slots
    repeated = {
        field.echo or field.mirror: slots.get(field.slot) for field in envelope.fields.values()
    }
    found = {
        name: str(value)
        for name, value in repeated.items()
        if name is not None and value is not None
    }
    for rule in taxonomy.header_rules(code, status):
        if rule.presence != "required":
            continue
        value = rule.token or (slots.get(rule.equals) if rule.equals else None)
        if value is not None:
            found.setdefault(rule.name, str(value))
    return found
