"""Operations, with the codes that their responses have."""

from collections.abc import Iterable, Mapping, Sequence

from faultspec.importers import Data
from faultspec.importers.bodies import ImportedContract, ImportedOperation
from faultspec.importers.names import NamedFamilies
from faultspec.importers.naming import UniqueNames, identifier
from faultspec.language.spelling import snake

#: Methods of HTTP that are idempotent (RFC 9110, section 9.2.2).
_IDEMPOTENT = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})


def import_operations(
    contract: ImportedContract,
    named: NamedFamilies,
    by_status: Mapping[ImportedOperation, list[str]],
    used: Iterable[str],
) -> Data:
    """The operations that have a failure, by name. ``used``: the names in use.

    ``by_status``: the codes of each operation that its bodies do not name.
    """
    names = UniqueNames(used)
    return dict(
        _operation(
            operation,
            names.reserve(identifier(snake(operation.identity), "operation")),
            named,
            by_status.get(operation, ()),
        )
        for operation in contract.operations
        if operation.uncoded or operation.coded
    )


def _operation(
    operation: ImportedOperation, name: str, named: NamedFamilies, by_status: Sequence[str]
) -> tuple[str, Data]:
    data: Data = {}
    if operation.description and operation.description.strip():
        data["summary"] = operation.description
    if operation.wire and operation.wire != name and operation.wire.strip():
        data["wire"] = operation.wire
    data["match"] = {"routes": [operation.route]}
    if operation.method in _IDEMPOTENT:
        data["idempotent"] = True
    keys = [named.codes[body] for body in operation.coded]
    shared = dict.fromkeys([*(key.name for key in keys if key.operation is None), *by_status])
    if shared:
        data["codes"] = list(shared)
    return name, data
