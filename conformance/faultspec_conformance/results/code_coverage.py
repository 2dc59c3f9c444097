"""The codes that a run may observe: shared ones, and those of each operation."""

from faultspec.contract.model import Contract
from faultspec.exchange.model import Exchange
from faultspec.language.model import Code, Taxonomy


def coverable_codes(taxonomy: Taxonomy) -> dict[str, Code]:
    """The live codes by their names in reports; `OPERATION/CODE` is a code of one operation."""
    found = {code.name: code for code in taxonomy.shared_live_codes()}
    for operation in taxonomy.operations.values():
        for code in operation.errors.values():
            if code.live:
                found[f"{operation.name}/{code.name}"] = code
    return found


def covered_code(contract: Contract, exchange: Exchange, code: str) -> str:
    """The name in reports of the code of an answer."""
    if not any(code in operation.errors for operation, _ in contract.operations):
        return code
    operation = contract.operation(exchange)
    is_own = operation is not None and code in operation.errors
    return f"{operation.name}/{code}" if operation is not None and is_own else code
