"""Reading `audit` of `conformance.yaml`: how the record of a failure is read by its id."""

from collections.abc import Iterator
from dataclasses import replace
from typing import cast
from urllib.parse import parse_qsl

from faultspec.diagnostics.model import Diagnostic
from faultspec.language import grammar
from faultspec.language.model import Taxonomy
from faultspec.runtime.shape import slot_places
from faultspec.source import Document
from faultspec_conformance.config.context import Node, ReadingContext
from faultspec_conformance.config.model import AuditLookup, ServiceConfig
from faultspec_conformance.config.requests import PLACEHOLDER, read_call

_PLACE = ("audit", "lookup")


def read_audit_lookup(context: ReadingContext, data: object) -> AuditLookup | None:
    """The look-up. It is reported if it writes, or if its path and query do not name exactly one
    slot.
    """
    node = cast(Node, data)
    if "lookup" not in node:
        return None
    call = read_call(context, node["lookup"], _PLACE)
    path, _, text = call.path.replace("${", "{").partition("?")
    written = {**call.query, **dict(parse_qsl(text, keep_blank_values=True))}
    query = {name: str(value).replace("${", "{") for name, value in written.items()}
    parts = (path, *query.values())
    found_names = (name for part in parts for name in PLACEHOLDER.findall(part))
    named = [name for name in found_names if name not in context.constants]
    identity = context.known_identity(node, ("audit",))
    if call.method != "GET":
        message = f"a look-up with {call.method} may change something"
        context.report("bad-value", _PLACE, message, key=False, hint="write a request with GET")
    elif len(dict.fromkeys(named)) != 1:
        found = " and ".join(f"`{name}`" for name in named) or "none"
        context.report(
            "bad-value",
            _PLACE,
            f"a look-up names one slot with the id; this one names {found}",
            key=False,
            hint="write it as in `GET /audit/${audit_id}`",
        )
    else:
        return AuditLookup(replace(call, path=path, query=query), named[0], identity)
    return None


def check_audit_lookup(
    target: ServiceConfig, taxonomy: Taxonomy, document: Document
) -> Iterator[Diagnostic]:
    """The faults of the look-up by the taxonomy: a slot that no envelope has."""
    if target.audit is None:
        return
    envelopes = taxonomy.envelopes.values()
    slots = tuple(dict.fromkeys(slot for one in envelopes for slot in slot_places(one.shape)))
    if target.audit.slot not in slots:
        message = f"no envelope of the taxonomy {taxonomy.name} has `${target.audit.slot}`"
        hint = grammar.closest(target.audit.slot, slots) or f"its slots are {', '.join(slots)}"
        yield document.diagnostic("unknown-slot", message, _PLACE, key=False, hint=hint)
