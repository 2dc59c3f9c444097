"""The closed list of clauses: every assertion about a service or its clients.

A clause is declared once, in the module of its family. It names the taxonomies and transports to
which it applies, and the constructs that it comes from. To add one, declare it there and name it in
the ``Probe`` or the part of the judge that checks it.

A clause that no exchange allows the suite to check is *not exercised*, which is not passed.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from faultspec.contract.clauses import (
    batches,
    calls,
    client,
    codes,
    details,
    document,
    envelopes,
    http,
    leaks,
    requests,
    surfaces,
    upstream,
)
from faultspec.contract.clauses.clause import GROUPABLE, VALUES, Clause
from faultspec.contract.clauses.http import header_address, header_clause
from faultspec.contract.clauses.upstream import upstream_codes, upstream_policy
from faultspec.language.model import HeaderRule, Taxonomy

__all__ = [
    "CLAUSES",
    "GROUPABLE",
    "VALUES",
    "Clause",
    "client_clauses",
    "header_address",
    "header_clause",
    "service_clauses",
    "upstream_codes",
    "upstream_policy",
]

_SERVICE: tuple[Clause, ...] = (
    *surfaces.CLAUSES,
    *envelopes.CLAUSES,
    *codes.CLAUSES,
    *details.CLAUSES,
    *http.CLAUSES,
    *document.CLAUSES,
    *requests.CLAUSES,
    *batches.CLAUSES,
    *calls.CLAUSES,
    *leaks.CLAUSES,
    *upstream.CLAUSES,
)

CLAUSES: Mapping[str, Clause] = {clause.address: clause for clause in (*_SERVICE, *client.CLAUSES)}
"""Every clause by address, except those of headers, which ``header_clause`` makes of a taxonomy."""


def join_patterns(patterns: Iterable[str]) -> str | None:
    """The patterns of addresses as one text, or None if there are none: all clauses are chosen."""
    return ",".join(dict.fromkeys(patterns)) or None


def is_chosen(address: str, only: str | None) -> bool:
    """Whether one of the joined patterns matches the address of a clause; None matches all."""
    return only is None or any(fnmatchcase(address, pattern) for pattern in only.split(","))


def service_clauses(taxonomy: Taxonomy) -> dict[str, Clause]:
    """The clauses for the services of a taxonomy, with its statements, and one clause a header.

    Clauses that do not apply are among them: see ``Clause.reason_not_applicable``.
    """
    rules: dict[str, list[HeaderRule]] = {}
    for rule in taxonomy.every_header_rule():
        rules.setdefault(rule.name.lower(), []).append(rule)
    headers = (header_clause(header[0].name, header) for header in rules.values())
    return {clause.address: clause.cite(taxonomy) for clause in (*_SERVICE, *headers)}


def client_clauses(taxonomy: Taxonomy) -> dict[str, Clause]:
    """The clauses for the clients of a taxonomy's services, with its statements."""
    return {clause.address: clause.cite(taxonomy) for clause in client.CLAUSES}
