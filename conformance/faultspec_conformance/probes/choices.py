"""Choices of a creation, such as `tier: gold`: a service may treat each value in its own way."""

from collections.abc import Iterator

from faultspec.openapi.nodes import sequence
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.probes.operations import body_members
from faultspec_conformance.session import sampling
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.resources import ResourceKind

#: Choices of one kind of resource that are created.
_CHOICES = 4


def other_choices(
    session: HttpSession, kind: ResourceKind, body: object
) -> Iterator[tuple[str, object]]:
    """Yield the members of a creation that are choices, each with a value that the body lacks; the
    members take turns.
    """
    create = kind.operation("create")
    if create is None or create.body is None or not isinstance(body, dict):
        return
    document = session.description.document
    node = sampling.merge_all_of(document, create.body.schema)
    values = []
    for name, schema in sampling.properties_of(node).items():
        member = sampling.only_branch(document, schema)
        if not sampling.is_read_only(member) and name not in kind.config.unique:
            listed = sequence(member.get("enum"))
            texts = (one for one in listed if isinstance(one, str) and one != body.get(name))
            values.append([(name, value) for value in texts])
    found = (pair[turn] for turn in range(_CHOICES) for pair in values if turn < len(pair))
    for number, one in enumerate(found):
        if number < _CHOICES:
            yield one


def choice_members(session: HttpSession, operation: ServiceOperation) -> set[str]:
    """Return the members of a body whose values are choices, such as a state that goes on by
    itself.
    """
    return {name for name, node in body_members(session, operation).items() if "enum" in node}
