"""The clause: an assertion about a running system, and the conditions for checking it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from faultspec.exchange.finding import Finding
from faultspec.language.model import Source, Taxonomy

GROUPABLE = frozenset(
    {
        *("transport", "surface", "operation", "method", "status", "code", "flag", "boundary"),
        *("actions", "headers", "shape", "details", "identity"),
    }
)
"""Facts with few distinct values. ``headers``: which headers are present. ``shape``: the members of
the body and their types. ``details``: the same of details. ``identity``: whether there is one."""

VALUES = frozenset(
    {"body", "ids", "message", "header-values", "detail-values", "request", "elapsed", "sequence"}
)
"""Facts with as many values as there are records. ``sequence``: more than one exchange."""

HTTP = frozenset({"http"})
JSON_RPC = frozenset({"jsonrpc", "stdio"})
MCP = frozenset({"mcp"})
ANY_TRANSPORT = HTTP | JSON_RPC | MCP

_TRANSPORT_NAMES = {"http": "HTTP", "jsonrpc": "JSON-RPC", "stdio": "JSON-RPC", "mcp": "MCP"}


class Requirement(NamedTuple):
    """Something a taxonomy must declare so that a clause applies.

    ``unmet``: what is missing, with the YAML key that declares it; shown in reports.
    """

    unmet: str
    is_met: Callable[[Taxonomy], bool]


def no_sources(_: Taxonomy) -> tuple[Source, ...]:
    """The sources of a clause that no construct of a taxonomy declares."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One assertion.

    ``address``: its name in findings, waivers, reports and on the command line, e.g.
    ``headers/retry-after``. ``why``: what goes wrong when it is broken. ``occasion``: the exchanges
    that exercise it. ``presupposes``: clauses that must hold first; where one is broken, this one
    reports nothing.

    ``reads``: the facts of an exchange that it depends on. ``needs``: the facts without which it is
    not judged; empty means all of ``reads``.

    ``requires``: what the taxonomy must declare. ``sources``: the constructs that declare it.
    ``transports``: those over which a service can break it. ``statements``, ``sections`` and
    ``rulings``: those of the taxonomy that it checks; filled in by ``cite``.
    """

    address: str
    title: str
    why: str
    occasion: str
    presupposes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    requires: tuple[Requirement, ...] = ()
    sources: Callable[[Taxonomy], Iterable[Source]] = no_sources
    transports: frozenset[str] = ANY_TRANSPORT
    statements: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    rulings: tuple[str, ...] = ()

    @property
    def relation(self) -> bool:
        """Whether it compares exchanges, so that a probe checks it, not the judge."""
        return "sequence" in self.reads

    def judgeable(self, lacks: frozenset[str]) -> bool:
        """Whether an exchange can be judged that ``lacks`` these facts, or clauses by address."""
        return self.address not in lacks and lacks.isdisjoint(self.needs or self.reads)

    def reason_not_applicable(self, taxonomy: Taxonomy, transport: str | None = None) -> str | None:
        """Why the clause cannot be checked for a taxonomy, or over a transport if one is given.

        None: it can be checked.
        """
        if transport is not None and transport not in self.transports:
            own = " and ".join(sorted({_TRANSPORT_NAMES[name] for name in self.transports}))
            return f"it applies to {own} only; this service speaks {_TRANSPORT_NAMES[transport]}"
        unmet = (each.unmet for each in self.requires if not each.is_met(taxonomy))
        return next(unmet, None)

    def cite(self, taxonomy: Taxonomy) -> "Clause":
        """The clause with the statements, sections and rulings that it checks, each once."""
        sources = tuple(self.sources(taxonomy))
        statements = (text for source in sources for text in source.statements)
        rulings = (text for source in sources for text in source.rulings)
        return replace(
            self,
            statements=tuple(dict.fromkeys(statements)),
            sections=tuple(dict.fromkeys(source.section for source in sources if source.section)),
            rulings=tuple(dict.fromkeys(rulings)),
        )

    def attach_source(self, finding: Finding) -> Finding:
        """The finding with the origin of the clause, unless it has one of its own."""
        if finding.statements or finding.sections or finding.rulings:
            return finding
        return replace(
            finding, statements=self.statements, sections=self.sections, rulings=self.rulings
        )
