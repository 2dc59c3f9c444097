"""Credentials: none, worthless ones, and ones that are not enough."""

import base64
from collections.abc import Iterator, Mapping

from faultspec.exchange.model import Canary
from faultspec.openapi.service import Scheme, ServiceOperation
from faultspec_conformance.config import ABSENT, ANONYMOUS, CREDENTIALS, NOBODY, Identity
from faultspec_conformance.probes.framework import body_for, one_of_each_method
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.credentials import authority
from faultspec_conformance.session.fixtures import fresh_key
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation, failed, not_exercised, passed
from faultspec_conformance.session.parameters import values_for
from faultspec_conformance.session.resources import content_type, is_json_write

#: So many operations are asked one by one.
_OPERATIONS = 20

#: So many operations are shown worthless credentials: what reads them is the same for all, what asks for them may not be.
_GARBAGE = 3

_EMPTY, _OTHER = "with an empty token", "with another scheme"


def protected(world: HttpSession) -> list[ServiceOperation]:
    """The operations that need credentials, by the document; where it says nothing at all, whatever can be called."""
    found = [operation for operation in world.description.operations if operation.secured is True]
    if not found and not world.caller.anonymous:
        found = [
            operation for operation in world.description.operations if operation.secured is None
        ]
    if not found and not world.caller.anonymous:
        roles = ("list", "read", "create", "update", "delete")
        found = [
            op for kind in world.kinds for role in roles if (op := kind.operation(role)) is not None
        ]  # type: ignore[arg-type]
    usable = [each for each in found if world.writable or not each.writes]
    return usable[:_OPERATIONS]


def nobody(world: HttpSession) -> Identity:
    """The ordinary caller without his credentials; other headers of his, such as his organisation, stay."""
    schemes = {
        scheme.name.lower() for scheme in world.description.schemes if scheme.where == "header"
    }
    credentials = CREDENTIALS | schemes
    if not any(name.lower() in credentials for name, _ in world.caller.headers):
        return NOBODY
    return Identity(
        ANONYMOUS,
        tuple(pair for pair in world.caller.headers if pair[0].lower() not in credentials),
    )


def missing(world: HttpSession) -> Iterator[Outcome]:
    """Every protected operation called by nobody, and one of them with HEAD."""
    clause = "auth/missing"
    operations = protected(world)
    if not operations:
        yield not_exercised(clause, "the OpenAPI document protects no operation that may be called")
    for operation in operations:
        with world.guarded(clause):
            yield _refused(
                world,
                clause,
                _ask(world, operation, nobody(world)),
                operation,
                "without credentials",
            )
    read = next((each for each in operations if each.method == "GET"), None)
    if read is not None:
        # Without a body only the header tells the id that was made up, and without an id one has to be.
        sent = world.call(
            "HEAD",
            read.template,
            identity=nobody(world),
            values=values_for(world, read),
            correlation="none",
        )
        yield _refused(world, clause, sent, read, "with HEAD and without credentials")


def garbage(world: HttpSession) -> Iterator[Outcome]:
    """A protected operation of each method called with credentials that are worthless, in turn of three kinds."""
    clause = "auth/garbage"
    operations = protected(world)
    if not operations:
        yield not_exercised(clause, "the OpenAPI document protects no operation that may be called")
    for index, operation in enumerate(one_of_each_method(operations)[:_GARBAGE]):
        what, headers, canary = _worthless(world, index)
        if not headers:
            yield not_exercised(clause, "nothing says how credentials are shown")
            return
        with world.guarded(clause):
            sent = _ask(world, operation, nobody(world), headers, (canary,))
            yield _refused(world, clause, sent, operation, what)


def _worthless(world: HttpSession, index: int) -> tuple[str, Mapping[str, str | None], Canary]:
    """Credentials that look like the real ones: a made-up token, an empty one, another scheme."""
    canary = Canary("secret", f"tok_{world.tokens.hex(16)}")
    header, scheme = _shown(world)
    if header is None:
        return "", {}, canary
    kinds: list[tuple[str, str]] = [("with a made-up token", _credential(scheme, canary.value))]
    if scheme is not None:
        other = "Basic" if scheme.lower() == "bearer" else "Bearer"
        kinds += [(_EMPTY, scheme), (_OTHER, _credential(other, canary.value))]
    what, value = kinds[index % len(kinds)]
    return what, {header: value}, canary


def _shown(world: HttpSession) -> tuple[str | None, str | None]:
    """The header in which credentials travel, and their scheme, from the caller's own or from the document."""
    for name, value in world.caller.headers:
        if name.lower() in CREDENTIALS:
            scheme, space, _ = value.partition(" ")
            return name, scheme if space and name.lower() == "authorization" else None
    for each in world.description.schemes:
        if each.where == "header":
            return each.name, _SCHEMES.get(each.kind)
    if world.caller.headers:
        return world.caller.headers[0][0], None
    return None, None


_SCHEMES: Mapping[str, str] = {Scheme("bearer").kind: "Bearer", Scheme("basic").kind: "Basic"}


def _credential(scheme: str | None, token: str) -> str:
    if scheme is None:
        return token
    if scheme.lower() == "basic":
        return f"{scheme} {base64.b64encode(f'nobody:{token}'.encode()).decode()}"
    return f"{scheme} {token}"


def _ask(
    world: HttpSession,
    operation: ServiceOperation,
    identity: Identity,
    headers: Mapping[str, str | None] | None = None,
    plant: tuple[Canary, ...] = (),
) -> Observation:
    return world.call(
        operation.method,
        operation.template,
        identity=identity,
        values=values_for(world, operation),
        headers={**fresh_key(world, operation), **(headers or {})},
        body=body_for(world, operation) if is_json_write(operation) else ABSENT,
        content_type=content_type(operation),
        plant=plant,
    )


def _refused(
    world: HttpSession, clause: str, sent: Observation, operation: ServiceOperation, what: str
) -> Outcome:
    """401 is the answer; what was looked at before the credentials is no occasion; a success or a crash is wrong."""
    known = bool(world.contract.codes_for(401))
    if sent.status == 401:
        return passed(clause)
    said = f"{operation.name} {what} is answered {sent}"
    if sent.ok:
        if operation.secured is True:
            return failed(clause, f"{said}, though the document protects it", sent)
        return not_exercised(clause, f"{said}: it is open to everyone")
    if 300 <= sent.status < 400:
        return failed(clause, f"{said}: a redirect tells a client nothing", sent)
    if sent.status >= 500:
        return failed(clause, f"{said}: the caller's mistake is told as the server's", sent)
    if sent.status == 403 and known:
        return failed(clause, f"{said}; who is not known is told 401", sent)
    # 400 is for a header that cannot be read (RFC 6750, 3.1), which a made-up token or none at all is not.
    readable = what not in (_EMPTY, _OTHER)
    if (
        sent.status == 400
        and known
        and readable
        and operation.method == "GET"
        and not operation.placeholders
    ):
        return failed(clause, f"{said}; who is not known is told 401", sent)
    return not_exercised(clause, f"{said}: something else was looked at first")


def scopes(world: HttpSession) -> Iterator[Outcome]:
    """Identities with declared scopes at operations that are beyond them, one of each method."""
    clause = "auth/scope"
    limited = [each for each in world.identities() if each.scopes is not None]
    if not limited:
        yield not_exercised(clause, "no identity declares `scopes`")
        return
    asked = 0
    recipes = {
        (step.identity, world.operation(step.call.method, step.call.path).name)
        for recipe in world.target.recipes
        for step in recipe.steps[-1:]
    }
    for identity in limited:
        methods: set[str] = set()
        for operation in protected(world):
            if authority(identity, operation) or operation.method in methods:
                continue
            asked += 1
            methods.add(operation.method)
            if (identity.name, operation.name) in recipes:
                continue  # the recipe asks just that
            sent = _ask(world, operation, identity)
            said = f"{operation.name} by {identity.name}, whose scopes are {', '.join(identity.scopes or ()) or 'none'}"
            if sent.status == 403:
                yield passed(clause)
            elif sent.ok:
                yield failed(clause, f"{said}, is answered {sent}", sent)
            elif sent.status >= 500:
                yield failed(
                    clause,
                    f"{said}, is answered {sent}: the caller's mistake is told as the server's",
                    sent,
                )
            else:
                yield not_exercised(
                    clause, f"{said}, is answered {sent}: something else was looked at first"
                )
    if not asked:
        told = any(each.scopes for each in world.description.operations)
        why = "" if told else ": the OpenAPI document names none under `security`"
        yield not_exercised(
            clause, f"no operation that may be called is beyond the declared scopes{why}"
        )
