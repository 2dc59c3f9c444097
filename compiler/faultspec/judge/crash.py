"""The clause about crashes."""

from faultspec.contract.crashes import CLAUSE, INTERNAL_ERROR, crash_level
from faultspec.exchange.body import DecodedBody
from faultspec.judge.collector import FindingCollector
from faultspec.language.model import NOWHERE, Code
from faultspec.language.values import are_equal
from faultspec.runtime.pointers import resolve

_JUDGED = frozenset({"http", "jsonrpc", "mcp", "stream"})
"""Transports on which an error answers a request. Events and logs repeat errors."""


def judge_crash(findings: FindingCollector, code: Code | None, body: DecodedBody) -> None:
    """Check that the answer does not report a failure that nobody foresaw."""
    exchange = findings.exchange
    if exchange.transport not in _JUDGED:
        return
    findings.exercise(CLAUSE)
    contract, status = findings.contract, exchange.response.status
    internal = (
        exchange.transport == "jsonrpc"
        and code is None
        and are_equal(resolve(body.value, "/error/code")[1], INTERNAL_ERROR)
    )
    level = "error" if internal else crash_level(contract.taxonomy, code, status)
    if level is None:
        return
    parts = (str(status or ""), code.name if code else "", str(INTERNAL_ERROR) if internal else "")
    undeclared = contract.taxonomy.undeclared
    findings.add(
        CLAUSE,
        f"the service {'crashed' if level == 'error' else 'failed'}: it answered "
        f"{' '.join(filter(None, parts))}, and no recipe asked for a failure",
        level=level,
        source=undeclared.source if undeclared is not None else NOWHERE,
    )
