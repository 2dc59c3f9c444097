"""Creating resources, and the ordinary request of an operation: by whom, below what, with which
body and key.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from faultspec.openapi.service import RequestBody, ServiceOperation, path_values, shape_of
from faultspec_conformance.config import ABSENT, ConfiguredCall, Identity
from faultspec_conformance.session import sampling
from faultspec_conformance.session.configured import fill_in_call, named_kinds
from faultspec_conformance.session.credentials import authority
from faultspec_conformance.session.fault_switches import STANDARD
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.keys import (
    accepts_key,
    key_of,
    new_key,
    renew_key,
    set_key_in_body,
    without_key,
)
from faultspec_conformance.session.observation import (
    INVALID_INPUT,
    Observation,
    failed,
    summary_line,
)
from faultspec_conformance.session.observations import Note, NotRun
from faultspec_conformance.session.parameters import (
    likely_values,
    referred_id,
    referred_kind,
    required_query,
    required_request_headers,
)
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import (
    CreatedResource,
    ResourceKind,
    content_type,
    identifier_of,
    place_path,
    takes_body,
)

#: Resources of which each needs the next one. Those of services are rarely more than five; far more
#: exhaust the stack.
_DEEPEST = 20

#: The status of a request that the state of a resource does not allow (RFC 9110, 15.5.10).
CONFLICT = 409


def fixture(session: HttpSession, kind: ResourceKind) -> CreatedResource | str:
    """Return the shared resource of a kind, created at the first call, or the reason why there is
    none.
    """
    knowledge = session.knowledge
    if kind.name in knowledge.under_way:
        return f"the creation of `{kind.name}` needs another `{kind.name}`"
    if len(knowledge.under_way) >= _DEEPEST:
        return f"more than {_DEEPEST} resources need each other"
    if not knowledge.has_attempted(kind):
        knowledge.under_way.add(kind.name)
        try:
            resource = make(session, kind)
        finally:
            knowledge.under_way.discard(kind.name)
        knowledge.share(kind, resource)
        if isinstance(resource, str) and session.writable and kind.operation("create") is not None:
            text = f"no {kind.name} could be made: {resource}"
            configured = kind.config.create is not None
            session.observations.add([NotRun(text) if configured else Note(text)])
    return knowledge.created.get(kind.name) or knowledge.uncreated[kind.name]


def make(
    session: HttpSession,
    kind: ResourceKind,
    *,
    owner: Identity | None = None,
    change: Callable[[object], object] | None = None,
) -> CreatedResource | str:
    """Create a resource and return it, or the reason why it could not be created.

    ``change``: returns the body that is sent in place of an ordinary one. After a conflict, what
    the creation refers to is made anew: a tool may be lent only once. What it lies below is made
    anew only if that does not help: several of one parent show what a write does to its siblings.
    """
    operation, before = kind.operation("create"), len(session.knowledge.exchanges)
    with session.driver.log_as("setup"):
        made = _make(session, kind, owner, change)
        if isinstance(made, CreatedResource) or operation is None:
            return made
        call, refused = kind.call("create"), session.knowledge.exchanges[before:]
        for keeps_parents in (True, False):
            taken = any(seen.status == CONFLICT for seen in refused)
            if taken and renew_references(session, operation, call, keeps_parents=keeps_parents):
                before = len(session.knowledge.exchanges)
                made = _make(session, kind, owner, change)
                refused = session.knowledge.exchanges[before:]
            if isinstance(made, CreatedResource):
                break
        return made


def _make(
    session: HttpSession,
    kind: ResourceKind,
    owner: Identity | None,
    change: Callable[[object], object] | None = None,
) -> CreatedResource | str:
    if not session.writable:
        return "nothing may be written (`limits: {writes: true}` allows it)"
    operation, call = kind.operation("create"), kind.call("create")
    if operation is None:
        return f"no operation is known that creates `{kind.name}`"
    problem = create_named(session, call)
    parents = problem or parent_values(session, operation, call)
    if isinstance(parents, str):
        return parents
    if call is None:
        _create_referred(session, kind, operation)
    refusals: list[tuple[bool, str]] = []
    for identity in [owner] if owner is not None else _likely_owners(session, kind, operation):
        for likely, literal in _likely_bodies(session, operation, call):
            body = change(likely) if change is not None else likely
            sent = fill_in_call(session, replace(call, body=ABSENT)) if call is not None else None
            new = (name for name in operation.placeholders if name not in parents)
            values = parents | {name: f"made-{session.tokens.hex(5)}" for name in new}
            spec = RequestSpec(
                operation.method,
                operation.template,
                identity=identity,
                values=values,
                query=sent.query if sent else required_query(session, operation),
                headers=_with_required(
                    session, operation, identity, own=sent.headers if sent else {}
                ),
                body=body,
                raw=sent.raw.encode() if sent is not None and sent.raw is not None else None,
                content_type=content_type(operation),
                files=operation.files,
            )
            if not _has_configured_key(session, operation, spec, call):
                spec = renew_key(session, operation, spec)
            creation = _create(session, operation, spec)
            if creation.ok:
                if literal and refusals:
                    session.knowledge.own.literal.add(operation.name)
                return _identify(kind, operation, creation, spec)
            refused = creation.status in (401, 403)
            line = summary_line(session.contract, creation)
            refusals.append((refused, f"the service answered {operation.name} with {line}"))
            if refused:
                break
    # An error of the request explains more than an identity without authority.
    return min(refusals, key=lambda pair: pair[0], default=(False, "no identity may create one"))[1]


def create_named(session: HttpSession, call: ConfiguredCall | None) -> str | None:
    """Create the resources whose members a call contains, such as `${room.id}`. Return why one is
    missing, or None.
    """
    for kind in named_kinds(session, call) if call is not None else ():
        if isinstance(kind, str):
            return f"no resource is called `{kind}`"
        resource = fixture(session, kind)
        if isinstance(resource, str):
            return f"a request needs an existing `{kind.name}`: {resource}"
    return None


def _create_referred(session: HttpSession, kind: ResourceKind, operation: ServiceOperation) -> None:
    """Create the resources that members and parameters of a creation refer to by their names, such
    as `room_id`.
    """
    for referred in _referred_kinds(session, operation):
        if referred is not kind and referred.operation("create"):
            fixture(session, referred)


def _referred_kinds(session: HttpSession, operation: ServiceOperation) -> list[ResourceKind]:
    """Return the kinds that members and parameters of an operation refer to by their names."""
    schema = operation.body.schema if operation.body is not None else {}
    node = sampling.merge_all_of(session.description.document, schema)
    names = [*sampling.properties_of(node)]
    names += [parameter.name for parameter in operation.parameters if parameter.where != "path"]
    found = (referred_kind(session, name) for name in names)
    return [kind for kind in found if kind is not None]


def needed_kinds(
    session: HttpSession, operation: ServiceOperation, call: ConfiguredCall | None = None
) -> list[ResourceKind]:
    """Return the kinds that a request lies below, then those that it refers to."""
    named = (
        [kind for kind in named_kinds(session, call) if isinstance(kind, ResourceKind)]
        if (call is not None)
        else _referred_kinds(session, operation)
    )
    parents = [kind for kind in session.kinds if _is_parent(kind, operation)]
    return list({kind.name: kind for kind in (*parents, *named)}.values())


def _is_parent(kind: ResourceKind, operation: ServiceOperation) -> bool:
    """Whether an operation lies below an item of a kind."""
    shape = shape_of(operation.template)
    return kind.item is not None and shape.startswith(shape_of(kind.item) + "/")


def renew_references(
    session: HttpSession,
    operation: ServiceOperation,
    call: ConfiguredCall | None = None,
    *,
    keeps_parents: bool = False,
) -> bool:
    """Replace the shared resources that a request refers to, and those that it lies below, by new
    ones. Return whether there are any.

    A service may accept one such request for each of them. ``keeps_parents``: those that it lies
    below stay.
    """
    knowledge, renewed = session.knowledge, False
    for kind in needed_kinds(session, operation, call):
        if keeps_parents and _is_parent(kind, operation):
            continue
        if kind.name in knowledge.under_way or kind.name not in knowledge.created:
            continue
        knowledge.under_way.add(kind.name)
        try:
            resource = make(session, kind)
        finally:
            knowledge.under_way.discard(kind.name)
        if isinstance(resource, CreatedResource):
            knowledge.share(kind, resource)
            renewed = True
    return renewed


def _create(session: HttpSession, operation: ServiceOperation, spec: RequestSpec) -> Observation:
    """Send a creation; if it is refused, once more without its idempotency key, which may be the
    reason.
    """
    refused = session.call(spec)
    rule = session.key_rule(operation)
    if rule is None or not accepts_key(session, operation) or refused.status not in INVALID_INPUT:
        return refused
    bare = without_key(rule, spec)
    if bare is None:
        return refused
    keyless = session.call(bare)
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


def _identify(
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
    """Return the identities that may use the operation, as far as the configuration says."""
    return [identity for identity in session.identities if authority(identity, operation)]


def _likely_bodies(
    session: HttpSession, operation: ServiceOperation, call: ConfiguredCall | None
) -> Iterator[tuple[object, bool]]:
    """Yield bodies that the service should accept, the likeliest first, each with whether it is an
    example of the document as it is.

    An example comes first as it is. After a creation with it, a changed one comes first.
    """
    if call is not None and (call.body is not ABSENT or call.raw is not None):
        yield fill_in_call(session, call).body, False
        return
    if operation.body is None:
        yield ABSENT, False
        return
    literal, changed = _literal_bodies(session, operation), _changed_bodies(session, operation)
    if operation.name not in session.knowledge.literal and _has_created(session, operation):
        yield from islice(changed, 1)
    yield from literal
    yield from changed


def _example_of_body(session: HttpSession, body: RequestBody) -> object:
    """Return the example that the document has for a body, or None."""
    if body.example is not None:
        return body.example
    return sampling.example_of(session.description.schema(body.schema))


def _literal_bodies(
    session: HttpSession, operation: ServiceOperation
) -> Iterator[tuple[object, bool]]:
    """Yield the example of the document as it is, if there is one."""
    assert operation.body is not None
    source, schema = session.source, operation.body.schema
    example = _example_of_body(session, operation.body)
    if example is not None:
        yield sampling.without_read_only(source, schema, example), True
    elif sampling.has_examples(source.document, schema):
        yield sampling.sample_value(source, schema, as_documented=True), True


def _changed_bodies(
    session: HttpSession, operation: ServiceOperation
) -> Iterator[tuple[object, bool]]:
    """Yield bodies with new values, that of the example first."""
    assert operation.body is not None
    source, schema = session.source, operation.body.schema
    example = _example_of_body(session, operation.body)
    if example is not None:
        yield _new_body(session, operation, sampling.vary(source, schema, example)), False
    yield _new_body(session, operation, sampling.sample_value(source, schema)), False


def _has_created(session: HttpSession, operation: ServiceOperation) -> bool:
    """Whether a request to the operation created something, or met what exists."""
    return any(
        observation.exchange.operation == operation.name and observation.status in (201, 409)
        for observation in session.knowledge.exchanges
    )


def _new_body(session: HttpSession, operation: ServiceOperation, body: object) -> object:
    """Return a body with the ids of created resources in members such as `room_id`, and with new
    values in its confidential members.
    """
    return _with_new_secrets(session, operation, _with_references(session, body))


def _with_new_secrets(session: HttpSession, operation: ServiceOperation, body: object) -> object:
    places = session.confidential.places(operation, body)
    body, canaries = session.confidential.renew(session.source, places, body)
    session.observations.plant(canaries)
    return body


def confidential_body(session: HttpSession, operation: ServiceOperation) -> object:
    """Return a body that the operation should accept, with its optional confidential members too.
    Each of them has a new value.
    """
    schema = operation.body.schema if operation.body is not None else {}
    body = body_for(session, operation)
    body = session.confidential.complete(session.source, schema, body)
    return _with_new_secrets(session, operation, body)


def _with_references(session: HttpSession, value: object) -> object:
    if isinstance(value, list):
        return [_with_references(session, item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for name, member in value.items():
        referred = referred_id(session, name) if isinstance(member, str | int) else None
        found[name] = _with_references(session, member) if referred is None else referred
    return found


def likely_body(
    session: HttpSession, operation: ServiceOperation, call: ConfiguredCall | None = None
) -> object:
    """Return the body that the service most likely accepts.

    ``call``: the configured request of the operation.
    """
    return _keyed_body(session, operation, next(_likely_bodies(session, operation, call))[0])


def _keyed_body(session: HttpSession, operation: ServiceOperation, body: object) -> object:
    """Return a body under a new key if the operation takes the key there."""
    rule = session.key_rule(operation)
    if rule is None or not accepts_key(session, operation):
        return body
    return set_key_in_body(rule, body, new_key(session, operation))


def _with_required(
    session: HttpSession,
    operation: ServiceOperation,
    caller: Identity,
    *,
    own: Mapping[str, str | None],
) -> dict[str, str | None]:
    """Return the headers that a request has of its own, and the required ones that it lacks."""
    names = {name.lower() for name in own}
    required = required_request_headers(session, operation, caller)
    return {**{name: text for name, text in required.items() if name.lower() not in names}, **own}


def _has_configured_key(
    session: HttpSession,
    operation: ServiceOperation,
    spec: RequestSpec,
    call: ConfiguredCall | None,
) -> bool:
    """Whether the configured request of a creation has a key of its own."""
    rule = session.key_rule(operation)
    if rule is None or call is None:
        return False
    if rule.key.kind == "body":
        return call.body is not ABSENT and key_of(rule, spec) is not None
    return rule.key.kind != "path" and key_of(rule, spec) is not None


def unlike_example(session: HttpSession, operation: ServiceOperation) -> object:
    """Return a body that the service likely accepts, with new values in place of those of an
    example, which other requests may have sent already.
    """
    if operation.body is None:
        return ABSENT
    return _keyed_body(session, operation, next(_changed_bodies(session, operation))[0])


def body_for(session: HttpSession, operation: ServiceOperation) -> object:
    """Return a body that the operation should accept: the configured one, else a body that the
    schema allows.
    """
    return likely_body(session, operation, configured_call(session, operation))


def configured_call(session: HttpSession, operation: ServiceOperation) -> ConfiguredCall | None:
    """Return the configured request of an operation: of a resource first; None without one."""
    for kind in session.kinds:
        for role in ("create", "update"):
            found, call = kind.operation(role), kind.call(role)
            if found is not None and call is not None and found.name == operation.name:
                return call
    named = session.inventory.calls.get(operation.name)
    return named.call if named is not None else None


def request_to(
    session: HttpSession, operation: ServiceOperation, values: Mapping[str, object] | None = None
) -> RequestSpec:
    """Return the request of an operation without a body, with a fresh key.

    ``values``: None for those of created resources.
    """
    named = session.inventory.calls.get(operation.name)
    configured = named.call if named is not None else None
    call = _filled_head(session, configured)
    caller = session.identity(named.identity if named is not None else None)
    own = {} if call is None else call.headers
    spec = RequestSpec(
        operation.method,
        operation.template,
        identity=caller if named is not None else None,
        values=likely_values(session, operation) | written_values(session, operation, configured)
        if values is None
        else values,
        query={**required_query(session, operation), **(call.query if call is not None else {})},
        headers=_with_required(
            session,
            operation,
            caller,
            own={name: value for name, value in own.items() if name.lower() not in STANDARD},
        ),
        content_type=content_type(operation),
        files=operation.files,
    )
    rule = session.key_rule(operation)
    in_values = rule is not None and rule.key.kind == "path" and values is not None
    # Values that the caller of this function gives name what exists.
    return spec if in_values else renew_key(session, operation, spec)


def _filled_head(session: HttpSession, call: ConfiguredCall | None) -> ConfiguredCall | None:
    """Return a configured call without its body."""
    return fill_in_call(session, replace(call, body=ABSENT, raw=None)) if call is not None else None


def ordinary_request(
    session: HttpSession, operation: ServiceOperation, values: Mapping[str, object] | None = None
) -> RequestSpec:
    """Return the request of an operation, with a fresh key and a body that it should accept."""
    spec = request_to(session, operation, values)
    return replace(spec, body=body_for(session, operation)) if takes_body(operation) else spec


def written_values(
    session: HttpSession, operation: ServiceOperation, call: ConfiguredCall | None
) -> dict[str, object]:
    """Return the values that the path of a configured call has for an operation's placeholders.

    A placeholder of the call itself, such as `{id}`, has no value.
    """
    if call is None:
        return {}
    head = replace(call, query={}, headers={}, body=ABSENT, raw=None)
    filled = fill_in_call(session, head).path
    path = place_path(session.description, call.method, filled).partition("?")[0]
    found = path_values(operation.template, path) or {}
    return {name: value for name, value in found.items() if not re.search(r"{.*}", value)}


def parent_values(
    session: HttpSession, operation: ServiceOperation, call: ConfiguredCall | None = None
) -> dict[str, object] | str:
    """Return values for the placeholders of a collection below another item, which is created; else
    why there are none.

    ``call``: the configured request of the operation, whose path is obeyed.
    """
    values = written_values(session, operation, call)
    own = operation.template.rstrip("/").endswith("}")
    for name in operation.placeholders[: -1 if own else None]:
        if name in values:
            continue
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
            if name in session.constants:
                values[name] = session.constants[name]
                continue
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
