"""The keys that switch on a clause that was not checked, and the next steps after a clean run."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from faultspec.contract.clauses.enabling import enabling_line
from faultspec_conformance.results.findings import severity
from faultspec_conformance.results.model import ClauseResult, Result

#: Next steps that a clean run names.
_STEPS = 3

#: Clauses or codes that one step names.
_NAMED = 4


class Enabling(NamedTuple):
    """A line to paste into a file, which switches on what was not checked."""

    file: str
    line: str

    def __str__(self) -> str:
        return f"{self.file}: {self.line}"


class NextStep(NamedTuple):
    """A step that makes the next run check more. ``purpose``: what it adds."""

    purpose: str
    enabling: Enabling


_WRITES = "limits: {writes: true}"
_TENANTS = (
    "identities: {first: {tenant: a, headers: {Authorization: 'Bearer ${FIRST_TOKEN}'}},"
    " second: {tenant: b, headers: {Authorization: 'Bearer ${SECOND_TOKEN}'}}}"
)
_RESOURCE = (
    "resources: {order: {create: {request: POST /orders, body: {}}, read: 'GET /orders/{id}',"
    " update: 'PUT /orders/{id}', delete: 'DELETE /orders/{id}', list: GET /orders}}"
)
_LOGIN = (
    "identities: {caller: {headers: {Authorization: 'Bearer ${token}'}, login: {request: POST"
    " /login, body: {user: caller, password: '${PASSWORD}'}, save: {token: /access_token}}}}"
)
_CONFIDENTIAL = "confidential: [/password]"

_RECIPE = "provoke: {CODE: {request: GET /path}}"
_CALLS = "calls: {sample: {request: METHOD, params: {}, safe: true}}"
_DOCUMENT = "target: {openapi: openapi.json}"

#: The line of the conformance file by the reason that a probe gives; the first that matches.
_BY_REASON: tuple[tuple[str, str], ...] = (
    (r"writes: true|may not write|nothing may be written|may write", _WRITES),
    (r"different tenants|another tenant is declared|two tenants|whose tenant is known", _TENANTS),
    (
        r"no identity declares `scopes`|beyond the declared scopes",
        (
            "identities: {reader: {scopes: ['orders:read'],"
            " headers: {Authorization: 'Bearer ${READER_TOKEN}'}}}"
        ),
    ),
    (r"needed: An identity with a `login`", _LOGIN),
    (
        r"identity|credentials",
        ("identities: {caller: {headers: {Authorization: 'Bearer ${TOKEN}'}}}"),
    ),
    (
        r"no `unique` members",
        ("resources: {order: {create: {request: POST /orders, body: {}, unique: [name]}}}"),
    ),
    (r"no member of a request is confidential", _CONFIDENTIAL),
    (
        r"no resource has a `batch`",
        ("resources: {order: {batch: {request: POST /orders/batch, body: {items: []}}}}"),
    ),
    (r"`calls`", _CALLS),
    (r"no resource could be made|no operation is known that|no path has an id", _RESOURCE),
    (r"[Oo]penAPI document", _DOCUMENT),
    (
        r"upstream",
        (
            "upstreams: {payments: {env: PAYMENTS_URL, calls: [{request: POST /orders}],"
            " fails: {bad_gateway: [500, closed]}}}"
        ),
    ),
    (r"limit of requests|budget of .* requests", "limits: {requests: 2000}"),
    (r"budget of .* seconds|too long", "limits: {seconds: 600}"),
    (
        r"needed: A recipe with `parallel`",
        "provoke: {CODE: {request: POST /orders, parallel: {requests: 4, succeed: 1}}}",
    ),
    (
        r"needed: A recipe with `action`",
        "provoke: {CODE: {request: POST /orders, action: {request: PUT /binding}}}",
    ),
    (
        r"no recipe|no request is known that makes|needed: |no observed",
        (_RECIPE),
    ),
)

#: Families of clauses whose probes write.
_OF_WRITES = ("idempotency/", "preconditions/", "duplicates/", "batch/", "tenancy/")

#: A clause of another transport.
_ELSEWHERE = re.compile(r"it applies to (.+) only; this service speaks .+")

#: Constructs that most services have; next steps suggest no others.
_GENERAL = (
    "privacy",
    "idempotency",
    "headers",
    "envelopes: {error: {fields: {request_id",
    "surfaces: {api: {transport: http",
)


def other_transport(clause: ClauseResult) -> str | None:
    """The transport to which a clause applies, if that is why it was not checked."""
    found = _ELSEWHERE.fullmatch(clause.reason) if clause.verdict == "not_checkable" else None
    return None if found is None else found[1]


def enablings(result: Result) -> dict[str, Enabling]:
    """The keys that switch on each clause that was not checked, by address. Clauses without a known
    key are left out.
    """
    read_only = any(
        re.search(_BY_REASON[0][0], reason)
        for clause in result.clauses.values()
        for reason in clause.not_exercised
    )
    found = {
        address: find_enabling(clause, read_only=read_only)
        for address, clause in result.clauses.items()
    }
    return {address: line for address, line in found.items() if line is not None}


def find_enabling(clause: ClauseResult, *, read_only: bool = False) -> Enabling | None:
    """The key that switches on a clause that was not checked, or None.

    ``read_only``: the run may not write.
    """
    if clause.verdict not in ("not_exercised", "not_checkable"):
        return None
    if other_transport(clause) is not None or clause.address.startswith("obligations/"):
        return None
    reasons = (clause.not_exercised or (clause.idle,)) + clause.not_checkable
    for reason in filter(None, reasons):
        line = enabling_line(reason)
        if line is not None:
            return Enabling("taxonomy.yaml", line)
    if read_only and clause.address.startswith(_OF_WRITES):
        return Enabling("conformance.yaml", _WRITES)
    for pattern, line in _BY_REASON:
        if any(re.search(pattern, reason) for reason in reasons):
            return Enabling("conformance.yaml", line)
    return None


def next_steps(result: Result) -> tuple[NextStep, ...]:
    """The most useful steps after a run, the worst of what they would find first. A run that
    checked all has none.
    """
    groups: dict[Enabling, list[str]] = {}
    for address, found in enablings(result).items():
        general = found.file != "taxonomy.yaml" or found.line.startswith(_GENERAL)
        # Codes without a recipe are a step of their own, and few services have secret members.
        if general and found.line not in (_RECIPE, _CONFIDENTIAL):
            groups.setdefault(found, []).append(address)
    ranked = [
        (min(map(severity, addresses)), -len(addresses), _step(found, addresses, "clause"))
        for found, addresses in groups.items()
    ]
    codes = [coverage.code for coverage in result.unobserved]
    if codes:
        line = f"provoke: {{{_quote(codes[0])}: {{request: GET /path}}}}"
        step = _step(Enabling("conformance.yaml", line), codes, "code")
        ranked.append((severity("code/declared"), -len(codes), step))
    return tuple(step for *_, step in sorted(ranked, key=lambda entry: entry[:2])[:_STEPS])


def _quote(code: str) -> str:
    return code if re.fullmatch(r"[A-Za-z_][\w.-]*", code) else f'"{code}"'


def _step(found: Enabling, names: Sequence[str], kind: str) -> NextStep:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    plural = f"{len(names)} {kind}s" if len(names) > 1 else f"1 {kind}"
    verb = "observe" if kind == "code" else "check"
    return NextStep(f"{verb} {plural}: {', '.join(names[:_NAMED])}{more}", found)


def transport_lines(clauses: Mapping[str, ClauseResult]) -> Iterator[str]:
    """A line for each other transport: how many clauses apply to it only."""
    counts: dict[str, int] = {}
    for clause in clauses.values():
        name = other_transport(clause)
        if name is not None:
            counts[name] = counts.get(name, 0) + 1
    for name, count in counts.items():
        yield (
            f"{count} clauses apply to {name} only"
            if count > 1
            else (f"1 clause applies to {name} only")
        )
