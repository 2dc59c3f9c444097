"""The map of a run: for each operation, which codes were observed, declared or wrong."""

from collections import Counter
from collections.abc import Iterable

from faultspec.contract.model import Contract
from faultspec_conformance.results.model import MapCell, ReportedFinding
from faultspec_conformance.session.base import Session
from faultspec_conformance.session.http import HttpSession


def operation_map(session: Session, findings: Iterable[ReportedFinding]) -> tuple[MapCell, ...]:
    """The cells of the map that are not empty, by operation and code in the order of declaration.

    ``findings``: one for each occurrence. An error without a readable code has the code "".
    """
    counts: Counter[tuple[str, str]] = Counter()
    names: dict[str, None] = {}
    if isinstance(session, HttpSession):
        names |= dict.fromkeys(operation.name for operation in session.description.operations)
    for observation in session.observations.exchanges:
        operation = observation.exchange.operation
        if operation is not None and observation.judgement.is_error:
            counts[operation, observation.code or ""] += 1
            names[operation] = None
    wrong: Counter[tuple[str, str]] = Counter()
    for reported in findings:
        finding = reported.finding
        if reported.standing == "error" and finding.operation is not None:
            wrong[finding.operation, finding.code or ""] += reported.count
            names[finding.operation] = None
    declared = {(name, code) for name in names for code in _declared_codes(session.contract, name)}
    codes = dict.fromkeys(code.name for code in session.taxonomy.shared_live_codes())
    codes |= dict.fromkeys(code for _, code in (*counts, *wrong, *sorted(declared)))
    return tuple(
        MapCell(
            operation,
            code,
            count=counts[operation, code],
            wrong=wrong[operation, code],
            declared=(operation, code) in declared,
        )
        for operation in names
        for code in codes
        if counts[operation, code] or wrong[operation, code] or (operation, code) in declared
    )


def _declared_codes(contract: Contract, name: str) -> tuple[str, ...]:
    """The codes that the taxonomy lists for an operation; none if it lists none."""
    operation = contract.find_operation(name)
    return operation.named_codes if operation is not None else ()
