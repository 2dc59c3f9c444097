"""Requests that provoke an error or test a relation, compiled from the taxonomy, the document and the configuration.

A probe is a function from what was seen so far, and what asks, to outcomes. Reads come first, what exhausts a limit comes last.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from faultspec_conformance.probes import (
    audit,
    auth,
    batch,
    calls,
    concurrency,
    discovery,
    framework,
    idempotency,
    jsonrpc,
    mcp,
    provoke,
    repeats,
    resources,
    streams,
    tenancy,
    upstreams,
)
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.base import Session
from faultspec_conformance.session.calls import CallSession, RpcSession, ToolSession
from faultspec_conformance.session.http import HttpSession

Asking = TypeVar("Asking", bound=Session, contravariant=True)


@dataclass(frozen=True, slots=True)
class Probe(Generic[Asking]):
    """A probe by name, and the relation clauses that only it can exercise. ``everywhere``: others need it in every shard.

    ``within``: the unit of probes that build on each other, and on no other; a shard has all of them or none.
    """

    name: str
    run: Callable[[Asking], Iterator[Outcome]]
    clauses: tuple[str, ...] = ()
    everywhere: bool = False
    within: str | None = None

    @property
    def unit(self) -> str:
        """What a shard has all of: the probe by itself, or those it builds on with it."""
        return self.within or self.name


PROBES: tuple[Probe[HttpSession], ...] = (
    Probe(
        "unknown-routes",
        framework.unknown_routes,
        ("framework/unknown-route", "framework/not-acceptable", "correlation/invalid-inbound"),
    ),
    Probe(
        "not-acceptable", framework.not_acceptable, ("framework/not-acceptable",), within="reads"
    ),
    Probe(
        "invalid-queries", framework.invalid_queries, ("framework/invalid-input",), within="reads"
    ),
    Probe("searches", framework.searches, within="reads"),
    Probe(
        "long-requests", framework.long_requests, ("framework/oversized", "framework/large-head")
    ),
    Probe("fixtures", resources.fixtures, everywhere=True),
    Probe("duplicates", resources.duplicates, ("duplicates/refused", "duplicates/existing-id")),
    Probe("wrong-methods", framework.wrong_methods, ("framework/method",)),
    Probe("missing-credentials", auth.missing, ("auth/missing",)),
    Probe("garbage-credentials", auth.garbage, ("auth/garbage",)),
    Probe("scopes", auth.scopes, ("auth/scope",)),
    Probe("malformed-bodies", framework.malformed_bodies, ("framework/malformed-json",)),
    Probe("invalid-bodies", framework.invalid_bodies, ("framework/invalid-input",)),
    Probe("media-types", framework.media_types, ("framework/media-type",)),
    Probe("oversized-bodies", framework.oversized_bodies, ("framework/oversized",)),
    Probe(
        "replays",
        idempotency.replays,
        (
            "idempotency/replay",
            "idempotency/concurrent",
            "idempotency/distinct-keys",
            "idempotency/mismatch",
            "idempotency/isolation",
        ),
        within="resources",
    ),
    Probe(
        "stale-writes",
        concurrency.stale_writes,
        ("preconditions/stale", "preconditions/recovers"),
        within="resources",
    ),
    Probe(
        "other-tenants",
        tenancy.concealed,
        ("tenancy/concealed", "framework/unknown-id"),
        within="resources",
    ),
    Probe("unknown-ids", resources.unknown_ids, ("framework/unknown-id",), within="resources"),
    Probe("batches", batch.batches, ("batch/mixed-only", "batch/items", "batch/bad-items")),
    Probe("streams", streams.broken_streams, ("stream/announced", "stream/offset")),
    Probe("replays-below", idempotency.replays_below, ("idempotency/replay",)),
    Probe("published-errors", discovery.errors, ("discovery/agrees",)),
    Probe("recipes", provoke.recipes, ("provoke/code",), within="failures"),
    Probe("audit", audit.failures, ("audit/recorded",), within="failures"),
    Probe("upstreams", upstreams.retries, upstreams.CLAUSES),
    Probe("limits", provoke.limits, ("provoke/code", "retry/recovers")),
)

UNITS = tuple(dict.fromkeys(each.unit for each in PROBES if not each.everywhere))
"""What is dealt out to shards, in order; the sweep comes after."""

OF_A_KIND: tuple[Probe[HttpSession], ...] = tuple(
    next(each for each in PROBES if each.name == name)
    for name in (
        "fixtures",
        "unknown-ids",
        "duplicates",
        "replays",
        "other-tenants",
        "stale-writes",
        "replays-below",
    )
)
"""The probes of one kind of resource, the cheapest first, for the kinds that come after the first few."""

OF_CALLS: tuple[Probe[CallSession], ...] = (
    Probe("calls", calls.samples),
    Probe("recipes", calls.recipes, ("provoke/code", "surface/repeated")),
    Probe("repeated-errors", repeats.notifications, ("surface/repeated",), everywhere=True),
)
"""The probes of whatever is called by name."""

OF_JSONRPC: tuple[Probe[RpcSession], ...] = (
    Probe("unknown-methods", jsonrpc.unknown_methods, ("rpc/unknown-method",)),
    Probe("parse-errors", jsonrpc.parse_errors, ("rpc/parse-error",)),
    Probe("invalid-requests", jsonrpc.invalid_requests, ("rpc/invalid-request",)),
    Probe("ids", jsonrpc.ids, ("rpc/id",)),
    Probe("notifications", jsonrpc.notifications, ("rpc/notification",)),
    Probe("batches", jsonrpc.batches, ("rpc/batch",)),
    Probe("invalid-params", jsonrpc.invalid_params, ("rpc/invalid-params",)),
)
"""The probes of a JSON-RPC service, but for its recipes."""

OF_FAILURES: tuple[Probe[RpcSession], ...] = (
    Probe("ids-of-failures", jsonrpc.ids_of_failures, ("rpc/id",)),
)
"""The probes of a JSON-RPC service that ask again what recipes brought about."""

OF_MCP: tuple[Probe[ToolSession], ...] = (
    Probe("unknown-tools", mcp.unknown_tools, ("mcp/unknown-tool",)),
    Probe("invalid-arguments", mcp.invalid_arguments, ("mcp/invalid-arguments",)),
    Probe(
        "walks",
        mcp.walks,
        ("navigation/offered", "navigation/not-offered", "audit/recorded", "discovery/agrees"),
    ),
)
"""The probes of an MCP server, but for its recipes."""
