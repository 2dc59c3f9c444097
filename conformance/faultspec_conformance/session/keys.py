"""Idempotency keys in requests that are to be sent: which operations take one, under which key a
request is, and the same request under another key.
"""

from collections.abc import Mapping
from dataclasses import replace

from faultspec.exchange.body import replace_value
from faultspec.language.model import Idempotency
from faultspec.openapi.nodes import Json
from faultspec.openapi.service import ServiceOperation
from faultspec.runtime.keys import KeyPlace, put_key
from faultspec.runtime.pointers import resolve, steps
from faultspec_conformance.session import sampling
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.requests import RequestSpec


def takes_key(session: HttpSession, operation: ServiceOperation) -> bool:
    """Whether an operation takes a key: by its route if the key is in the path, else by the
    document or, if it names the key nowhere, by the methods of the taxonomy. A body whose schema
    allows no member of that name takes none.
    """
    rule = session.key_rule(operation)
    if rule is None or operation.method not in rule.methods:
        return False
    if documents_key(session, operation):
        return True
    documented = any(documents_key(session, other) for other in session.description.operations)
    return rule.key.kind != "path" and not documented and not _forbids_key(session, operation)


def documents_key(session: HttpSession, operation: ServiceOperation) -> bool:
    """Whether the document says that the operation takes a key."""
    rule = session.key_rule(operation)
    return rule is not None and schema_of_key(session, rule.key, operation) is not None


def accepts_key(session: HttpSession, operation: ServiceOperation) -> bool:
    """Whether an ordinary request of the operation has a key. A header that the document does not
    name does no harm; anything else may be refused.
    """
    rule = session.key_rule(operation)
    if rule is None or session.knowledge.keyless or operation.method not in rule.methods:
        return False
    return rule.key.kind == "header" or takes_key(session, operation)


def has_key_in_path(session: HttpSession, operation: ServiceOperation) -> bool:
    """Whether an operation takes its key in its path."""
    rule = session.key_rule(operation)
    return rule is not None and rule.key.kind == "path" and takes_key(session, operation)


def schema_of_key(
    session: HttpSession, place: KeyPlace, operation: ServiceOperation
) -> Json | None:
    """Return the schema of the key of an operation, empty if the document does not restrict it;
    None if the operation has no place for it.
    """
    if place.kind == "body":
        return _schema_in_body(session, place, operation)
    parameter = operation.parameter(place.at, place.kind)
    if parameter is not None and (place.kind == "header" or parameter.name == place.at):
        return parameter.schema
    return {} if place.kind == "path" and place.at in operation.placeholders else None


def _forbids_key(session: HttpSession, operation: ServiceOperation) -> bool:
    """Whether the key is in the body, and the operation has none or one that is closed without
    it.
    """
    rule = session.key_rule(operation)
    if rule is None or rule.key.kind != "body":
        return False
    if operation.body is None:
        return True
    node: object = operation.body.schema
    for name in steps(rule.key.at):
        merged = sampling.merge_all_of(session.description.document, node)
        members = sampling.properties_of(merged)
        if name not in members:
            return sampling.closing_keyword(merged) is not None
        node = members[name]
    return False


def _schema_in_body(
    session: HttpSession, place: KeyPlace, operation: ServiceOperation
) -> Json | None:
    document = session.description.document
    node: object = operation.body.schema if operation.body is not None else {}
    for name in steps(place.at):
        members = sampling.properties_of(sampling.merge_all_of(document, node))
        if name not in members:
            return None
        node = members[name]
    return sampling.merge_all_of(document, node)


def new_key(session: HttpSession, operation: ServiceOperation) -> str:
    """Return a new idempotency key: a UUID, or a text that the schema of the key allows if it does
    not allow a UUID.
    """
    key, rule = session.tokens.id("uuid4"), session.key_rule(operation)
    if rule is None or rule.key.kind == "header":
        return key
    schema = schema_of_key(session, rule.key, operation) or {}
    node = sampling.merge_all_of(session.description.document, schema)
    if sampling.fits_text(node, key):
        return key
    return str(sampling.new_value(session.source, schema))


def key_of(rule: Idempotency, spec: RequestSpec) -> str | None:
    """Return the key that a request is sent under, or None."""
    place = rule.key
    if place.kind == "header":
        lowered = {name.lower(): value for name, value in spec.headers.items()}
        return lowered.get(place.at.lower())
    if place.kind == "body":
        found: object = resolve(spec.body, place.at)[1]
    else:
        found = (spec.values if place.kind == "path" else spec.query).get(place.at)
    return None if found is None else str(found)


def set_key(rule: Idempotency, spec: RequestSpec, key: str) -> RequestSpec:
    """Return the request under a key. A body that is not an object carries none, and stays."""
    place = rule.key
    match place.kind:
        case "header":
            kept = {k: v for k, v in spec.headers.items() if k.lower() != place.at.lower()}
            return replace(spec, headers={**kept, place.at: key})
        case "path":
            return replace(spec, values=put_key(place, spec.values, key))
        case "query":
            return replace(spec, query=put_key(place, spec.query, key))
        case "body":
            return replace(spec, body=set_key_in_body(rule, spec.body, key))


def set_key_in_body(rule: Idempotency, body: object, key: str) -> object:
    """Return a body under a key if bodies carry the key; else as it is."""
    if rule.key.kind != "body" or not isinstance(body, Mapping):
        return body
    return put_key(rule.key, body, key)


def without_key(rule: Idempotency, spec: RequestSpec) -> RequestSpec | None:
    """Return the request without its key; None if the key is in the path, where no request lacks
    it.
    """
    place = rule.key
    match place.kind:
        case "path":
            return None
        case "header":
            return replace(spec, headers={**spec.headers, place.at: None})
        case "query":
            return replace(spec, query={k: v for k, v in spec.query.items() if k != place.at})
        case "body":
            return replace(spec, body=_without_member(spec.body, place.at))


def without_key_value(rule: Idempotency, body: object) -> object:
    """Return a body without its key, for comparing the intents of two bodies."""
    return _without_member(body, rule.key.at) if rule.key.kind == "body" else body


def _without_member(body: object, pointer: str) -> object:
    outer, name = pointer.rpartition("/")[0], steps(pointer)[-1]
    found, holder = resolve(body, outer)
    if not found or not isinstance(holder, dict):
        return body
    return replace_value(body, outer, {k: v for k, v in holder.items() if k != name})


def renew_key(session: HttpSession, operation: ServiceOperation, spec: RequestSpec) -> RequestSpec:
    """Return the request under a new key if the operation accepts one; else as it is."""
    rule = session.key_rule(operation)
    if rule is None or not accepts_key(session, operation):
        return spec
    return set_key(rule, spec, new_key(session, operation))
