"""The probes: requests that provoke an error or test a relation, by the taxonomy, the document and
the configuration.

A probe is a function from a session to results. It sends requests through the session and yields
what it found out, for the report and for other probes; it changes nothing else. Reads come first,
probes that exhaust a limit come last.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from faultspec_conformance.probes import (
    accepted_writes,
    audit,
    audit_lookup,
    auth,
    batch,
    batch_items,
    bodies,
    bystanders,
    calls,
    concurrency,
    conditional,
    confidential,
    confidential_params,
    constraints,
    correlation,
    discovery,
    faults,
    filters,
    forms,
    head,
    idempotency,
    jsonrpc,
    learned_routes,
    limits,
    listed,
    malformed_targets,
    mcp,
    media,
    missing_keys,
    named_effects,
    odd_texts,
    pages,
    provoke,
    references,
    refused_writes,
    repeats,
    replayed_actions,
    resources,
    routes,
    rpc_sessions,
    singletons,
    streams,
    tenancy,
    tool_outputs,
    unusual_writes,
    upstream_codes,
    upstreams,
    whole_batches,
)
from faultspec_conformance.session.base import Session
from faultspec_conformance.session.calls import CallSession, RpcSession, ToolSession
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observations import ProbeResult

SessionT = TypeVar("SessionT", bound=Session, contravariant=True)


@dataclass(frozen=True, slots=True)
class Probe(Generic[SessionT]):
    """A probe. ``clauses``: the relations that only this probe can exercise.

    ``everywhere``: every shard plays it, because other probes need it. ``within``: the unit of
    probes that build on each other and on no others; a shard plays all of a unit or none.
    """

    name: str
    run: Callable[[SessionT], Iterator[ProbeResult]]
    clauses: tuple[str, ...] = ()
    everywhere: bool = False
    within: str | None = None

    @property
    def unit(self) -> str:
        """The name of its unit; that of the probe itself if it builds on no other."""
        return self.within or self.name


PROBES: tuple[Probe[HttpSession], ...] = (
    Probe("learned-reads", learned_routes.learned_reads, everywhere=True),
    Probe(
        "unknown-routes",
        routes.unknown_routes,
        ("framework/unknown-route", "framework/not-acceptable", "correlation/invalid-inbound"),
    ),
    Probe(
        "malformed-ids",
        correlation.malformed_ids_of_reads,
        ("correlation/invalid-inbound",),
        within="unknown-routes",
    ),
    Probe("not-acceptable", media.not_acceptable, ("framework/not-acceptable",), within="reads"),
    Probe("head", head.heads, ("http/head",), within="reads"),
    Probe(
        "invalid-queries",
        limits.invalid_queries,
        ("framework/invalid-input", "details/field"),
        within="reads",
    ),
    Probe("searches", limits.searches, within="reads"),
    Probe("odd-queries", odd_texts.odd_queries, within="reads"),
    Probe("long-requests", limits.long_requests, ("framework/oversized", "framework/large-head")),
    Probe("fixtures", resources.fixtures, everywhere=True),
    Probe("duplicates", resources.duplicates, resources.DUPLICATES),
    Probe("wrong-methods", routes.wrong_methods, ("framework/method",)),
    Probe("missing-credentials", auth.missing_credentials, ("auth/missing",)),
    Probe("garbage-credentials", auth.garbage_credentials, ("auth/garbage",)),
    Probe("scopes", auth.scopes, ("auth/scope",)),
    Probe("malformed-bodies", bodies.malformed_bodies, ("framework/malformed-json",)),
    Probe("invalid-bodies", bodies.invalid_bodies, ("framework/invalid-input", "details/field")),
    Probe("media-types", media.media_types, ("framework/media-type",)),
    Probe("wrong-forms", forms.wrong_forms, forms.CLAUSES),
    Probe("oversized-bodies", limits.oversized_bodies, ("framework/oversized",)),
    Probe(
        "replays",
        idempotency.replays,
        idempotency.CREATIONS,
        within="resources",
    ),
    Probe("missing-keys", missing_keys.missing_keys, (missing_keys.CLAUSE,), within="resources"),
    Probe(
        "stale-writes",
        concurrency.stale_writes,
        concurrency.CLAUSES,
        within="resources",
    ),
    Probe(
        "conditional-reads",
        conditional.conditional_reads,
        ("http/not-modified",),
        within="resources",
    ),
    Probe(
        "other-tenants",
        tenancy.other_tenants,
        ("tenancy/concealed", "framework/unknown-id"),
        within="resources",
    ),
    Probe("unknown-ids", resources.unknown_ids, ("framework/unknown-id",), within="resources"),
    Probe("absent-heads", head.heads_of_absent, ("http/head",), within="resources"),
    Probe(
        "malformed-targets",
        malformed_targets.malformed_targets,
        ("framework/unknown-id", "framework/invalid-input"),
        within="resources",
    ),
    Probe(
        "accepted-writes",
        accepted_writes.accepted_writes,
        accepted_writes.CLAUSES,
        within="resources",
    ),
    Probe("singletons", singletons.singletons, singletons.CLAUSES),
    Probe(
        "unusual-writes",
        unusual_writes.unusual_writes,
        unusual_writes.CLAUSES,
        within="resources",
    ),
    Probe("deleted-items", tenancy.deleted_items, ("tenancy/concealed",), within="resources"),
    Probe(
        "batches",
        batch.batches,
        (
            "batch/mixed-only",
            "batch/items",
            "batch/bad-items",
            "batch/named-items",
            batch_items.COMPLETE,
        ),
    ),
    Probe("whole-batches", whole_batches.whole_batches, whole_batches.CLAUSES, within="batches"),
    Probe("pages", pages.paged_lists, pages.CLAUSES),
    Probe("filters", filters.filtered_lists, filters.CLAUSES),
    Probe("streams", streams.broken_streams, ("stream/announced", "stream/offset")),
    Probe(
        "replays-below",
        replayed_actions.replays_below,
        ("idempotency/replay", "idempotency/concurrent"),
    ),
    Probe("published-errors", discovery.published_errors, ("discovery/agrees",)),
    Probe("recipes", provoke.recipes, provoke.CLAUSES, within="failures"),
    Probe("faults", faults.switched_faults, faults.CLAUSES, within="failures"),
    Probe("audit", audit.failures, ("audit/recorded",), within="failures"),
    Probe("confidential-members", confidential.confidential_members, ("leaks/confidential",)),
    Probe("upstreams", upstreams.retries, upstreams.CLAUSES),
    Probe("upstream-codes", upstream_codes.translated_failures, (upstream_codes.CLAUSE,)),
    Probe("audit-of-upstreams", audit.upstream_failures, ("audit/recorded",), within="upstreams"),
    Probe("listed-actions", listed.listed_actions),
    Probe("plain-reads", learned_routes.plain_reads),
    Probe("late-replays", idempotency.late_replays, ("idempotency/replay",), within="resources"),
    Probe(refused_writes.NAME, refused_writes.refused_writes, ("writes/refused",), everywhere=True),
    Probe("named-effects", named_effects.named_effects, ("writes/refused",), everywhere=True),
    Probe("audit-lookups", audit_lookup.lookups, audit_lookup.CLAUSES, everywhere=True),
    Probe("references", references.http_references, (references.CLAUSE,), everywhere=True),
    Probe(
        "limits",
        provoke.limits,
        ("provoke/code", "retry/recovers", "retry/limit", "retry/scope"),
    ),
)

#: The probes that a run without generated traffic leaves out: they ask every operation.
OF_ALL_OPERATIONS: tuple[Probe[HttpSession], ...] = (
    Probe("media-types-of-others", media.media_types_of_others, ("framework/media-type",)),
    Probe("foreign-bodies", media.foreign_bodies, ("framework/media-type",)),
    Probe(
        "wrong-input-without-credentials",
        auth.wrong_input_without_credentials,
        ("auth/missing",),
    ),
    Probe("oversized-of-others", limits.oversized_bodies_of_others, ("framework/oversized",)),
    Probe("odd-bodies", odd_texts.odd_bodies),
    Probe("scopes-of-others", auth.scopes_of_others, ("auth/scope",)),
    Probe("bystanders", bystanders.bystanders, bystanders.BYSTANDERS),
    Probe(
        "constraints",
        constraints.constraints,
        ("framework/invalid-input", "details/field", "document/bounds"),
    ),
)

#: Probes that look back at the probes of all operations and at the generated traffic.
AFTER_ALL_OPERATIONS: tuple[Probe[HttpSession], ...] = (
    Probe(f"{refused_writes.NAME}-of-all-operations", refused_writes.refused_writes_since),
)

#: The units that are dealt out to shards, in order; the sweep comes after them.
UNITS = tuple(dict.fromkeys(probe.unit for probe in PROBES if not probe.everywhere))

#: The probes for the kinds of resource after the first few, the cheapest first.
OF_A_KIND: tuple[Probe[HttpSession], ...] = tuple(
    next(probe for probe in PROBES if probe.name == name)
    for name in (
        "fixtures",
        "unknown-ids",
        "duplicates",
        "replays",
        "other-tenants",
        "stale-writes",
        "replays-below",
        "accepted-writes",
    )
)

#: The probe of what a service repeats of its errors, which runs over HTTP if it has sinks.
REPEATED_ERRORS: Probe[Session] = Probe(
    "repeated-errors", repeats.repeated_errors, ("surface/repeated",), everywhere=True
)

#: The probe of what stands in the sinks of a service, which comes after all that writes there.
SINKS: Probe[Session] = Probe(
    "sinks", confidential.search_sinks, ("leaks/confidential",), everywhere=True
)

#: The probe of what a service that is called by name writes beside its messages, which comes last.
WRITTEN: Probe[CallSession] = Probe(
    "written", confidential.search_output, ("leaks/confidential",), everywhere=True
)

#: The probes of every service that is called by name.
OF_CALLS: tuple[Probe[CallSession], ...] = (
    Probe("calls", calls.samples),
    Probe("recipes", calls.recipes, ("provoke/code", "provoke/expected", "surface/repeated")),
    Probe("confidential-params", confidential_params.confidential_params, ("leaks/confidential",)),
    Probe("references", references.call_references, (references.CLAUSE,), everywhere=True),
    REPEATED_ERRORS,
)

#: The probes of a JSON-RPC service that come before its recipes.
OF_JSONRPC: tuple[Probe[RpcSession], ...] = (
    Probe("unknown-methods", jsonrpc.unknown_methods, ("rpc/unknown-method",)),
    Probe("parse-errors", jsonrpc.parse_errors, ("rpc/parse-error",)),
    Probe("invalid-requests", jsonrpc.invalid_requests, ("rpc/invalid-request",)),
    Probe("ids", jsonrpc.ids, ("rpc/id",)),
    Probe("notifications", jsonrpc.notifications, ("rpc/notification",)),
    Probe("batches", jsonrpc.call_batches, ("rpc/batch",)),
    Probe("invalid-params", jsonrpc.invalid_params, ("rpc/invalid-params",)),
    Probe("states", rpc_sessions.states, ("rpc/state",)),
)

#: The probe of a JSON-RPC service that comes before all others.
BEGIN_SESSION: Probe[RpcSession] = Probe("session", rpc_sessions.begin, everywhere=True)

#: The probes of a JSON-RPC service that come after all others.
END_SESSION: tuple[Probe[RpcSession], ...] = (Probe("ends", rpc_sessions.ends, ("rpc/end",)),)

#: The last probes of an MCP server, and of every service that is called by name.
OUTPUT_SCHEMAS: Probe[ToolSession] = Probe(
    "output-schemas", tool_outputs.output_schemas, (tool_outputs.CLAUSE,), everywhere=True
)
OUTPUTS: Probe[CallSession] = Probe(
    "outputs", rpc_sessions.outputs, ("rpc/output",), everywhere=True
)

#: The probes of a JSON-RPC service that repeat what its recipes provoked.
OF_FAILURES: tuple[Probe[RpcSession], ...] = (
    Probe("ids-of-failures", jsonrpc.ids_of_failures, ("rpc/id",)),
)

#: The probes of an MCP server that come before its recipes.
OF_MCP: tuple[Probe[ToolSession], ...] = (
    Probe("unknown-tools", mcp.unknown_tools, ("mcp/unknown-tool",)),
    Probe("invalid-arguments", mcp.invalid_arguments, ("mcp/invalid-arguments",)),
    Probe(
        "walks",
        mcp.walks,
        ("navigation/offered", "navigation/not-offered", "audit/recorded", "discovery/agrees"),
    ),
)
