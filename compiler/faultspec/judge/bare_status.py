"""Errors whose code a recording leaves out, such as the lines of an access log."""

from faultspec.contract.crashes import CLAUSE, crash_level
from faultspec.contract.model import Claim
from faultspec.judge.collector import FindingCollector
from faultspec.language.model import NOWHERE


def judge_bare_status(findings: FindingCollector, claim: Claim | None) -> None:
    """Judge an error of an unknown code by its status: whether a code has it, and whether each of
    those is that of a crash.
    """
    exchange, status = findings.exchange, findings.status
    if exchange.transport != "http" or status is None:
        return
    if claim is None or not claim.envelopes or claim.surface.reason is not None:
        return
    taxonomy = findings.contract.taxonomy
    fallback = taxonomy.fallback_for(status)
    names = {fallback.code} if fallback is not None else set()
    possible = [
        code
        for code in taxonomy.every_code()
        if code.live and (code.http.allows(status) or code.name in names)
    ]
    levels = [crash_level(taxonomy, code, status) for code in possible]
    if not possible and fallback is None and claim.surface.default_status != status:
        levels = [crash_level(taxonomy, None, status)]
        if claim.surface.codes is not None:
            findings.decide("code/status")
            findings.add("code/status", f"no code has {status}")
    findings.decide(CLAUSE)
    if levels and all(level == "error" for level in levels):
        undeclared = taxonomy.undeclared
        findings.add(
            CLAUSE,
            f"the service crashed: it answered {status}, which no foreseen error has",
            source=undeclared.source if undeclared is not None else NOWHERE,
        )
