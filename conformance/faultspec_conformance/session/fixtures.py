"""Creating resources, and the ordinary request of an operation: by whom, below what, with which
body and key.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from faultspec.openapi.service import ServiceOperation, shape_of
from faultspec_conformance.config import ABSENT, ConfiguredCall, Identity
from faultspec_conformance.session import sampling
from faultspec_conformance.session.credentials import authority
from faultspec_conformance.session.fault_switches import STANDARD
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation, failed, summary_line
from faultspec_conformance.session.observations import Note, NotRun
from faultspec_conformance.session.parameters import fill_in, fill_in_texts, values_for
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import (
    CreatedResource,
    ResourceKind,
    content_type,
    identifier_of,
    is_json_write,
)


def fixture(session: HttpSession, kind: ResourceKind) -> CreatedResource | str:
    """Return the shared resource of a kind, created at the first call, or the reason why there is
    none.
    """
    knowledge = session.knowledge
    if not knowledge.attempted(kind):
        resource = make(session, kind)
        knowledge.share(kind, resource)
        if isinstance(resource, str) and session.writable and kind.operation("create") is not None:
            text = f"no {kind.name} could be made: {resource}"
            configured = kind.config.create is not None
            session.observations.add([NotRun(text) if configured else Note(text)])
    return knowledge.created.get(kind.name) or knowledge.uncreated[kind.name]


def make(
    session: HttpSession, kind: ResourceKind, *, owner: Identity | None = None
) -> CreatedResource | str:
    """Create a resource and return it, or the reason why it could not be created."""
    if not session.writable:
        return "nothing may be written (`limits: {writes: true}` allows it)"
    operation, call = kind.operation("create"), kind.call("create")
    if operation is None:
        return f"no operation is known that creates `{kind.name}`"
    parents = parent_values(session, operation)
    if isinstance(parents, str):
        return parents
    refusals: list[tuple[bool, str]] = []
    for identity in [owner] if owner is not None else _likely_owners(session, kind, operation):
        for body in _likely_bodies(session, operation, call):
            new = (name for name in operation.placeholders if name not in parents)
            values = parents | {name: f"made-{session.tokens.hex(5)}" for name in new}
            spec = RequestSpec(
                operation.method,
                operation.template,
                identity=identity,
                values=values,
                query=call.query if call else {},
                headers={**fresh_key(session, operation), **(call.headers if call else {})},
                body=body,
                content_type=content_type(operation),
            )
            creation = _create(session, operation, spec, call)
            if creation.ok:
                return _identified(kind, operation, creation, spec)
            refused = creation.status in (401, 403)
            line = summary_line(session.taxonomy, creation)
            refusals.append((refused, f"the service answered {operation.name} with {line}"))
            if refused:
                break
    # An error of the request explains more than an identity without authority.
    return min(refusals, key=lambda pair: pair[0], default=(False, "no identity may create one"))[1]


def _create(
    session: HttpSession,
    operation: ServiceOperation,
    spec: RequestSpec,
    call: ConfiguredCall | None,
) -> Observation:
    """Send a creation; if it is refused, once more without its idempotency key, which may be the
    reason.
    """
    refused = session.call(spec)
    rule = session.taxonomy.idempotency
    if rule is None or not _keyed(session, operation) or refused.status not in (400, 422):
        return refused
    keyless = session.call(replace(spec, headers=call.headers if call else {}))
    if not keyless.ok:
        return refused
    session.knowledge.refuse_keys()
    message = f"the service answered {refused} to a write with {rule.key}, but {keyless} without it"
    session.observations.add([failed("idempotency/replay", message, keyless, refused)])
    return keyless


def take_untouched(session: HttpSession, kind: ResourceKind) -> CreatedResource | str:
    """Return a resource that nothing has changed, spare or new, or why there is none."""
    return session.knowledge.take_spare(kind) or make(session, kind)


def restore(session: HttpSession) -> None:
    """Replace the shared resources that a probe has changed or deleted, so that the next probe
    finds new ones.
    """
    for kind in session.kinds:
        if kind.name in session.knowledge.touched:
            resource = make(session, kind)
            if isinstance(resource, CreatedResource):
                session.knowledge.share(kind, resource)
    session.knowledge.touched.clear()


def _identified(
    kind: ResourceKind, operation: ServiceOperation, creation: Observation, spec: RequestSpec
) -> CreatedResource | str:
    names = re.findall(r"{([^{}]+)}", kind.item or "")
    sent = list(spec.values.values())
    if operation.method == "PUT":
        identifier: object = sent[-1] if sent else None
    else:
        identifier = identifier_of(creation, names[-1] if names else "id", kind)
        if identifier is None and kind.config.id is not None:
            line = f"the answer ({creation}) to {operation.name} has no value at `{kind.config.id}`"
            return f"{line}, where the id of the new resource is expected"
        if identifier is None:
            return f"the answer to {operation.name} has no id of the new resource"
    values = dict(zip(names, [*sent[: max(0, len(names) - 1)], identifier], strict=False))
    assert spec.identity is not None
    return CreatedResource(
        kind=kind,
        id=identifier,
        values=values,
        owner=spec.identity,
        body=spec.body,
        creation=creation,
    )


def _likely_owners(
    session: HttpSession, kind: ResourceKind, operation: ServiceOperation
) -> Sequence[Identity]:
    if kind.config.identity is not None:
        return [session.config.identity(kind.config.identity)]
    return identities_for(session, operation) or [session.caller]


def identities_for(session: HttpSession, operation: ServiceOperation) -> list[Identity]:
    """Return the identities that may use the operation, as far as scopes say."""
    return [identity for identity in session.identities if authority(identity, operation)]


def _likely_bodies(
    session: HttpSession, operation: ServiceOperation, call: ConfiguredCall | None
) -> Iterator[object]:
    """Yield bodies that the service should accept, the likeliest first."""
    if call is not None and (call.body is not ABSENT or call.raw is not None):
        yield fill_in(session.tokens, call.body)
        return
    if operation.body is None:
        yield ABSENT
        return
    schema = operation.body.schema
    example = operation.body.example
    if example is None:
        example = sampling.example_of(session.description.schema(schema))
    if example is not None:
        yield sampling.vary(session.source, schema, example)
    yield sampling.sample_value(session.source, schema)
    if example is not None:
        yield example


def likely_body(
    session: HttpSession, operation: ServiceOperation, call: ConfiguredCall | None = None
) -> object:
    """Return the body that the service most likely accepts.

    ``call``: the configured request of the operation.
    """
    return next(_likely_bodies(session, operation, call))


def body_for(session: HttpSession, operation: ServiceOperation) -> object:
    """Return a body that the operation should accept: the configured one, else a body that the
    schema allows.
    """
    for kind in session.kinds:
        for role in ("create", "update"):
            found, call = kind.operation(role), kind.call(role)
            if found is not None and call is not None and found.name == operation.name:
                return likely_body(session, operation, call)
    named = session.inventory.calls.get(operation.name)
    return likely_body(session, operation, named.call if named is not None else None)


def request_to(
    session: HttpSession, operation: ServiceOperation, values: Mapping[str, object] | None = None
) -> RequestSpec:
    """Return the request of an operation without a body, with a fresh key.

    ``values``: None for those of created resources.
    """
    named = session.inventory.calls.get(operation.name)
    call = named.call if named is not None else None
    return RequestSpec(
        operation.method,
        operation.template,
        identity=session.identity(named.identity) if named is not None else None,
        values=values_for(session, operation) if values is None else values,
        query=fill_in_texts(session.tokens, call.query) if call is not None else {},
        headers={**_own_headers(session, call), **fresh_key(session, operation)},
        content_type=content_type(operation),
    )


def _own_headers(session: HttpSession, call: ConfiguredCall | None) -> dict[str, str]:
    """Return the headers of a configured call that have no meaning in the standards of HTTP."""
    if call is None:
        return {}
    own = {name: value for name, value in call.headers.items() if name.lower() not in STANDARD}
    return fill_in_texts(session.tokens, own)


def ordinary_request(
    session: HttpSession, operation: ServiceOperation, values: Mapping[str, object] | None = None
) -> RequestSpec:
    """Return the request of an operation, with a fresh key and a body that it should accept."""
    spec = request_to(session, operation, values)
    return replace(spec, body=body_for(session, operation)) if is_json_write(operation) else spec


def parent_values(session: HttpSession, operation: ServiceOperation) -> dict[str, object] | str:
    """Return values for the placeholders of a collection below another item, which is created; else
    why there are none.
    """
    values: dict[str, object] = {}
    own = operation.template.rstrip("/").endswith("}")
    for name in operation.placeholders[: -1 if own else None]:
        prefix = operation.template.partition("{" + name + "}")[0] + "{" + name + "}"
        kind = next(
            (
                kind
                for kind in session.kinds
                if kind.item is not None and shape_of(kind.item) == shape_of(prefix)
            ),
            None,
        )
        if kind is None:
            parameter = operation.parameter(name, "path")
            if parameter is None or parameter.example is None:
                return f"nothing is known to fill {{{name}}} of {operation.name}"
            values[name] = parameter.example
            continue
        parent = fixture(session, kind)
        if isinstance(parent, str):
            return f"{operation.name} needs an existing `{kind.name}`: {parent}"
        values[name] = list(parent.values.values())[-1]
    return values


def fresh_key(session: HttpSession, operation: ServiceOperation) -> dict[str, str | None]:
    """Return the header with a new idempotency key, a UUID, if the operation accepts one; else
    nothing.
    """
    rule = session.taxonomy.idempotency
    if rule is None or not _keyed(session, operation):
        return {}
    return {rule.key: session.tokens.id("uuid4")}


def _keyed(session: HttpSession, operation: ServiceOperation) -> bool:
    rule = session.taxonomy.idempotency
    return rule is not None and operation.method in rule.methods and not session.knowledge.keyless
