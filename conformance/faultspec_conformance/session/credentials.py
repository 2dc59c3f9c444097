"""Who calls: what his scopes allow, and whether the service takes his credentials at all."""

import re
from collections.abc import Iterable

from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import Identity
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation
from faultspec_conformance.session.parameters import readable, required_query

#: Answers to one who was recognised: he may not, or his request met what was there.
_PAST_CREDENTIALS = frozenset({403, 409, 412})


def authority(identity: Identity, operation: ServiceOperation | None) -> bool:
    """Whether the identity's declared scopes are enough for the operation, as far as anyone says."""
    if identity.scopes is None or operation is None:
        return True
    if operation.scopes:
        return set(operation.scopes) <= set(identity.scopes)
    reads = all(re.search(r"read|view|get|list", scope, re.IGNORECASE) for scope in identity.scopes)
    return not (operation.writes and reads)


def unwelcome(world: HttpSession) -> frozenset[str]:
    """The identities that shall be refused: a recipe for a code of 401 has them send its request."""
    return frozenset(
        recipe.steps[-1].identity
        for recipe in world.target.recipes
        if recipe.steps and recipe.steps[-1].identity is not None and means_401(world, recipe.code)
    )


def means_401(world: HttpSession, code: str) -> bool:
    """Whether the code may travel under 401."""
    declared = world.taxonomy.codes.get(code)
    return declared is not None and declared.http.allows(401)


def refused(world: HttpSession, who: Identity, exchanges: Iterable[Observation]) -> str | None:
    """Why the caller's credentials count as refused: some request of his was answered 401, and none got past that."""
    first: Observation | None = None
    for sent in exchanges:
        asked = sent.exchange
        if asked.identity != who.name or not set(who.headers) <= set(asked.request.headers):
            continue
        known = world.description.at(
            asked.request.method, (asked.route or asked.request.target).partition("?")[0]
        )
        if known is not None and known.secured is False:
            continue
        if sent.ok or sent.status in _PAST_CREDENTIALS:
            return None
        if sent.status == 401 and first is None:
            first = sent
    if first is None:
        return None
    operation = (
        first.exchange.operation
        or f"{first.exchange.request.method} {first.exchange.request.target}"
    )
    return f"{who.name}'s credentials are refused (401 on {operation})"


def tried(world: HttpSession, who: Identity, why: str | None) -> str | None:
    """Why the caller's credentials count as refused, after an ordinary read; raises Unanswered. ``why``: what is known so far."""
    read = readable(world)
    if why is None or read is None or read.secured is False:
        return why
    sent = world.call("GET", read.template, identity=who, query=required_query(world, read))
    told = sent.ok or sent.status == 401 or sent.status in _PAST_CREDENTIALS
    return refused(world, who, (sent,)) if told else why
