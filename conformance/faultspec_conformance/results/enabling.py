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
_DOCUMENT = "target: {openapi: /path}"
_NAMED_RECIPE = "provoke: {CODE: {request: METHOD, params: {}}}"
_WAITING = (
    "provoke: {CODE: {steps: [{request: POST /jobs, save: {job: /id}},"
    " {request: 'GET /jobs/{job}', repeat: {until: {/state: [failed, done]}}}]}}"
)
_EXPECTED = "provoke: {CODE: {request: GET /path, expect: {headers: {X-Reason: quota}}}}"

#: Lines of services over HTTP, each with that of a service which is called by name.
_BY_NAME: Mapping[str | None, str] = {
    _RECIPE: _NAMED_RECIPE,
    _WAITING: (
        "provoke: {CODE: {steps: [{request: START, save: {job: /result/id}},"
        " {request: METHOD, params: {job: '${job}'},"
        " repeat: {until: {/result/state: [failed, done]}}}]}}"
    ),
    _EXPECTED: "provoke: {CODE: {request: METHOD, params: {}, expect: {details: {reason: quota}}}}",
}

_LIMITED = "provoke: {CODE: {request: GET /path, repeat: {until: 429, at_most: 60}}}"
_UPSTREAM = (
    "upstreams: {payments: {listen: '127.0.0.1:9900', calls: [{request: POST /orders}],"
    " fails: {CODE: [500, closed]}}}"
)

#: The line of the conformance file by the address of the clause; None: no line makes a service
#: give the occasion. The beginning of an address ends with a slash.
_BY_ADDRESS: Mapping[str, str | None] = {
    "upstream/": _UPSTREAM,
    "retry/recovers": _LIMITED,
    "retry/limit": _LIMITED,
    "headers/retry-after": _LIMITED,
    "preconditions/": _RESOURCE,
    "writes/refused": _RESOURCE,
    "writes/server-owned": "resources: {order: {server_owned: [/owner]}}",
    "writes/readable": _RESOURCE,
    "retry/scope": (
        "provoke: {CODE: {request: GET /path, repeat: {until: 429, at_most: 60, scope: tenant}}}"
    ),
    "lists/": (
        "resources: {order: {list: GET /orders, pages: {size: limit, cursor: from, next: /next}}}"
    ),
    "audit/resolves": "audit: {lookup: 'GET /audit/${request_id}'}",
    "audit/concealed": "audit: {lookup: 'GET /audit/${request_id}'}",
    "rendering/": "provoke: {CODE: {request: POST /chat, body: {}, rendering: tool_text}}",
    "service/no-crash": None,
    "fault/recovers": "faults: {header: X-Fault, values: [CODE]}",
    "provoke/expected": _EXPECTED,
    "code/language": (
        "provoke: {CODE: {request: GET /path, headers: {Accept-Language: 'de, en;q=0.5'}}}"
    ),
    "document/sequences": "sweep: {requests: 300}",
    "document/": None,
    "framework/large-head": None,
}

#: Reasons that only another document of the service would change.
_NO_LINE = re.compile(r"names none under `security`")

#: Clauses that a call shows without HTTP, right or wrong.
_OF_CALLS = ("service/no-crash", "success/requires", "discovery/agrees", "mcp/text")

#: The line of the conformance file by the reason that a probe gives; the first that matches.
_BY_REASON: tuple[tuple[str, str], ...] = (
    (r"writes: true|may not write|nothing may be written|may write", _WRITES),
    (r"different tenants|another tenant is declared|two tenants|whose tenant is known", _TENANTS),
    (
        r"no identity declares `scopes`",
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
        (
            "resources: {order: {create: {request: POST /orders, body: {name: '${unique}'},"
            " unique: [name]}}}"
        ),
    ),
    (r"no member of a request is confidential", _CONFIDENTIAL),
    (
        r"no resource has a `batch`",
        ("resources: {order: {batch: {request: POST /orders/batch, body: {items: []}}}}"),
    ),
    (r"`calls`", _CALLS),
    (r"no resource could be made|no operation is known that|no path has an id", _RESOURCE),
    (r"[Oo]penAPI document", _DOCUMENT),
    (r"upstream", _UPSTREAM),
    (r"limit of requests|budget of .* requests", "limits: {requests: 2000}"),
    (r"budget of .* seconds|too long", "limits: {seconds: 600}"),
    (
        r"needed: A recipe with `parallel`",
        "provoke: {CODE: {request: POST /orders, parallel: {requests: 4, succeed: 1}}}",
    ),
    (
        r"needed: A recipe with a step that waits",
        _WAITING,
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
    code = next((found.code for found in result.unobserved), next(iter(result.coverage), None))
    is_named = speaks_by_name(result)
    found = {
        address: find_enabling(
            clause,
            read_only=read_only,
            code=_limiting_code(result, address, code),
            is_named=is_named,
        )
        for address, clause in result.clauses.items()
    }
    declared = _has_upstreams(result)
    return {
        address: line
        for address, line in found.items()
        if line is not None and not (declared and line.line.startswith("upstreams: "))
    }


def _has_upstreams(result: Result) -> bool:
    """Whether the configuration declares upstreams already: a clause about them was checked."""
    return any(
        address.startswith("upstream/") and clause.verdict in ("passed", "failed")
        for address, clause in result.clauses.items()
    )


def _limiting_code(result: Result, address: str, other: str | None) -> str | None:
    """The code for the line of a clause: of a clause about limits one that was seen with 429."""
    if _BY_ADDRESS.get(address) not in (_LIMITED, _BY_ADDRESS["retry/scope"]):
        return other
    limits = (name for name, seen in result.coverage.items() if 429 in seen.statuses)
    return next(limits, other)


def speaks_by_name(result: Result) -> bool:
    """Whether the service of a result is called by names of methods or tools, not over HTTP."""
    return any(other_transport(clause) == "HTTP" for clause in result.clauses.values())


def find_enabling(
    clause: ClauseResult,
    *,
    read_only: bool = False,
    code: str | None = None,
    is_named: bool = False,
) -> Enabling | None:
    """The key that switches on a clause that was not checked, or None.

    ``read_only``: the run may not write. ``code``: one of the taxonomy, for recipes.
    ``is_named``: requests are calls by name, not over HTTP.
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
    line = _configuration_line(clause.address, tuple(filter(None, reasons)))
    if is_named and clause.address in _OF_CALLS:
        line = _CALLS
    elif is_named:
        line = _BY_NAME.get(line, line)
    if line is None:
        return None
    # The action of a recipe belongs to the codes with `until`, which a result does not know.
    known = code if "action:" not in line else None
    return Enabling("conformance.yaml", line if known is None else _fill_in(line, known))


def _configuration_line(address: str, reasons: Sequence[str]) -> str | None:
    """The line of the conformance file for a clause that nothing exercised."""
    if any(map(_NO_LINE.search, reasons)):
        return None
    specific = [
        (pattern, line)
        for pattern, line in _BY_REASON
        if line != _RECIPE and any(re.search(pattern, reason) for reason in reasons)
    ]
    for name in (address, f"{address.partition('/')[0]}/"):
        if name in _BY_ADDRESS and not any(line == _WRITES for _, line in specific):
            return _BY_ADDRESS[name] or (specific[0][1] if specific else None)
    if specific:
        return specific[0][1]
    pattern = next(pattern for pattern, line in _BY_REASON if line == _RECIPE)
    return _RECIPE if any(re.search(pattern, reason) for reason in reasons) else None


def _fill_in(line: str, code: str) -> str:
    """A line with a code of the taxonomy: the name alone, if an operation declares it."""
    return line.replace("CODE", _quote(code.rpartition("/")[2]))


def next_steps(result: Result) -> tuple[NextStep, ...]:
    """The most useful steps after a run, the worst of what they would find first. A run that
    checked all has none.
    """
    groups: dict[Enabling, list[str]] = {}
    for address, found in enablings(result).items():
        general = found.file != "taxonomy.yaml" or found.line.startswith(_GENERAL)
        # Codes without a recipe are a step of their own, and few services have secret members.
        if general and not _is_about_one_code(found) and found.line != _CONFIDENTIAL:
            groups.setdefault(found, []).append(address)
    ranked = [
        (min(map(severity, addresses)), -len(addresses), _step(found, addresses, "clause"))
        for found, addresses in groups.items()
    ]
    codes = [coverage.code for coverage in result.unobserved]
    if codes:
        is_named = speaks_by_name(result)
        enabling = Enabling(
            "conformance.yaml", _fill_in(_NAMED_RECIPE if is_named else _RECIPE, codes[0])
        )
        step = _step(enabling, codes, "code")
        ranked.append((severity("code/declared"), -len(codes), step))
    return tuple(step for *_, step in sorted(ranked, key=lambda entry: entry[:2])[:_STEPS])


def _is_about_one_code(found: Enabling) -> bool:
    """Whether a line is the plain recipe of one code."""
    parts = (recipe.partition("CODE") for recipe in (_RECIPE, _NAMED_RECIPE))
    return any(found.line.startswith(begin) and found.line.endswith(end) for begin, _, end in parts)


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
