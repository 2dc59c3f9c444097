"""Which operations probes ask, and bodies that they send."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from faultspec.openapi.nodes import Json
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.probes.refusals import is_checked_first
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.resources import Role, is_json_write

#: Operations that are asked one by one. The rest of a large API uses the same framework.
MOST_OPERATIONS = 12

#: The roles of writes with a body.
_WRITTEN: tuple[Role, ...] = ("create", "update")

#: Operations that are tried with one fault, until one of them looks at the fault.
_CANDIDATES = 3


def json_writes(session: HttpSession) -> list[ServiceOperation]:
    """Return the operations that accept a JSON body: those of declared resources first, then those
    without placeholders.
    """
    operations = list(session.inventory.operations)
    for kind in session.kinds:
        operations += filter(None, map(kind.operation, _WRITTEN))
    by_name = {operation.name: operation for operation in reversed(operations)}
    found = [by_name[name] for name in dict.fromkeys(operation.name for operation in operations)]
    writes = [operation for operation in found if is_json_write(operation)]
    declared = {
        operation.name
        for kind in session.kinds
        for role in _WRITTEN
        if kind.name in session.config.resources and (operation := kind.operation(role)) is not None
    }
    return sorted(
        writes,
        key=lambda operation: (
            not session.inventory.has(operation),
            operation.name not in declared,
            len(operation.placeholders),
        ),
    )


def body_members(session: HttpSession, operation: ServiceOperation) -> dict[str, Json]:
    """Return the schemas of the members that the document has in the body of an operation: what
    they refer to, and the one branch of a member that may be null.
    """
    document = session.description.document
    schema = operation.body.schema if operation.body is not None else {}
    properties = sampling.properties_of(sampling.merge_all_of(document, schema))
    return {name: sampling.only_branch(document, node) for name, node in properties.items()}


def creates(operation: ServiceOperation) -> bool:
    """Whether an operation adds to a collection. Its requests change nothing that is there, so one
    more may show whether it is accepted.
    """
    return operation.method == "POST" and not operation.placeholders


def one_of_each_method(operations: Sequence[ServiceOperation]) -> list[ServiceOperation]:
    """Return, for each HTTP method, the first operation that has it.

    One framework reads all bodies; PATCH is often forgotten.
    """
    first = {operation.method: operation for operation in reversed(operations)}
    return [operation for operation in operations if first[operation.method] is operation]


def first_conclusive(
    candidates: Iterable[ServiceOperation], ask: Callable[[ServiceOperation], Outcome]
) -> Iterator[Outcome]:
    """Ask one operation after the other, until one did not check something else first."""
    for operation in islice(candidates, _CANDIDATES):
        outcome = ask(operation)
        yield outcome
        if not is_checked_first(outcome):
            return


def needs_body(session: HttpSession, operation: ServiceOperation) -> bool:
    """Whether the operation is impossible without a body; a service may ignore an optional one."""
    if operation.body is None:
        return False
    schema = sampling.merge_all_of(session.description.document, operation.body.schema)
    return operation.body.required or bool(schema.get("required"))


def needs_members(session: HttpSession, operation: ServiceOperation) -> bool:
    """Whether an empty body is wrong: an object without required members may be left out, as `{}`
    would change nothing.
    """
    if operation.body is None:
        return False
    schema = sampling.merge_all_of(session.description.document, operation.body.schema)
    is_object = sampling.kind(schema) == "object"
    return bool(schema.get("required")) or (operation.body.required and not is_object)
