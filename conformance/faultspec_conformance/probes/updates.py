"""Updates of a resource: the operations that the run knows, and bodies for them."""

from faultspec.openapi.nodes import Json
from faultspec.openapi.service import ServiceOperation, shape_of
from faultspec_conformance.config import ABSENT
from faultspec_conformance.config.requests import NAMES
from faultspec_conformance.session import sampling
from faultspec_conformance.session.configured import fill_in_call
from faultspec_conformance.session.fixtures import body_for, likely_body
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.inventory import is_whole
from faultspec_conformance.session.keys import has_key_in_path
from faultspec_conformance.session.observation import leaves
from faultspec_conformance.session.resources import ResourceKind


def changes(session: HttpSession, kind: ResourceKind) -> list[ServiceOperation]:
    """Return the operations that change an item: the configured one, and those of the document and
    of recipes on the same path.
    """
    operations = [kind.operation("update")]
    if kind.item is not None:
        shape = shape_of(kind.item)
        operations += [session.description.find(method, kind.item) for method in ("PUT", "PATCH")]
        operations += [
            operation
            for operation in session.inventory.operations
            if operation.method in ("PUT", "PATCH") and shape_of(operation.template) == shape
        ]
    found: dict[tuple[str, str], ServiceOperation] = {}
    for operation in operations:
        # A write whose path has the key is a creation: with another body it is refused.
        if operation is not None and not has_key_in_path(session, operation):
            found.setdefault((operation.method, shape_of(operation.template)), operation)
    return list(found.values())


def change_body(session: HttpSession, kind: ResourceKind, operation: ServiceOperation) -> object:
    """Return a body for a change: the configured one of the operation, else a body that the schema
    allows.
    """
    update, call = kind.operation("update"), kind.call("update")
    is_configured = update is not None and update.name == operation.name
    if is_configured and call is not None and call.body is not ABSENT:
        return fill_in_call(session, call).body
    create = kind.call("create")
    is_of_item = shape_of(operation.template) == shape_of(kind.item or "")
    if operation.method == "PUT" and is_of_item and create and create.body is not ABSENT:
        return fill_in_call(session, create).body
    if session.description.find(operation.method, operation.template) is None:
        return _body_of_recipe(session, operation)
    return likely_body(session, operation)


def is_writable(session: HttpSession, operation: ServiceOperation, name: str) -> bool:
    """Whether the document has a member for updates. A schema that the body shares with answers
    also has members that the service only shows.
    """
    if session.description.learned or operation.body is None:
        return False
    schema, document = operation.body.schema, session.description.document
    read = session.description.find("GET", operation.template)
    answers = [
        one.success.schema
        for one in (operation, read)
        if one is not None and one.success is not None and one.success.schema is not None
    ]
    if not answers or any(_shares(session, schema, one) for one in answers):
        return False
    node = sampling.properties_of(sampling.merge_all_of(document, schema)).get(name)
    return node is not None and not sampling.is_read_only(sampling.only_branch(document, node))


def _shares(session: HttpSession, schema: Json, answer: Json) -> bool:
    """Whether an answer has the schema of a body: as a whole, by a reference, or by its members."""
    document = session.description.document
    if schema == answer or (isinstance(ref := schema.get("$ref"), str) and ref in _refs(answer)):
        return True
    own = sampling.properties_of(sampling.merge_all_of(document, schema)).keys()
    shown = sampling.properties_of(sampling.merge_all_of(document, answer))
    inner = (sampling.merge_all_of(document, member) for member in shown.values())
    return own in (shown.keys(), *(sampling.properties_of(one).keys() for one in inner))


def _refs(node: object) -> set[str]:
    """The references that a schema has at any depth."""
    return {str(value) for pointer, value in leaves(node) if pointer.endswith("/$ref")}


def _body_of_recipe(session: HttpSession, operation: ServiceOperation) -> object:
    """Return the body of the first call in recipes to an operation that the document lacks, if it
    needs no value of an earlier step; else a body that the schema allows.
    """
    for recipe in session.config.recipes:
        for step in recipe.steps:
            call = step.call
            is_same = call.method == operation.method and shape_of(
                NAMES.sub(r"{\1}", call.path)
            ) == shape_of(operation.template)
            if is_same and isinstance(call.body, dict) and is_whole(call):
                return fill_in_call(session, call).body
    return body_for(session, operation)
