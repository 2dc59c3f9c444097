"""Facts about requests that the configuration declares: conditions of the taxonomy read them."""

from faultspec.exchange.model import Request
from faultspec.language.model import Taxonomy
from faultspec_conformance.config import Identity, ServiceConfig, UpstreamCall, query_of
from faultspec_conformance.session.meanings import means_status


def may_be_repeated(call: UpstreamCall, taxonomy: Taxonomy) -> bool:
    """Return whether the service may send its call upstream again.

    Without a declaration it may, unless `upstream.default` of the taxonomy says otherwise.
    """
    if call.idempotent is not None:
        return call.idempotent
    return taxonomy.upstream is None or taxonomy.upstream.default != "not_idempotent"


def declared_idempotency(config: ServiceConfig, taxonomy: Taxonomy) -> dict[str, bool]:
    """Return whether the operations of `upstreams.calls` may be repeated, by method and path.

    An operation with two answers is left out.
    """
    found: dict[str, set[bool]] = {}
    for upstream in config.upstreams:
        for call in upstream.calls:
            path = call.call.path.partition("?")[0]
            found.setdefault(f"{call.call.method} {path}", set()).add(
                may_be_repeated(call, taxonomy)
            )
    return {name: values.pop() for name, values in found.items() if len(values) == 1}


def refused_identities(config: ServiceConfig, taxonomy: Taxonomy) -> frozenset[str]:
    """Return the identities that the service has to refuse: those that a recipe for a 401 code
    sends its request as.
    """
    codes = {name for name, code in taxonomy.codes.items() if means_status(code, 401)}
    return frozenset(
        recipe.steps[-1].identity
        for recipe in config.recipes
        if recipe.steps and recipe.steps[-1].identity is not None and recipe.code in codes
    )


def is_authenticated(
    config: ServiceConfig, refused: frozenset[str], caller: Identity, request: Request
) -> bool | None:
    """Return whether a request has valid credentials; None if that is unknown.

    They are valid if they are those of its caller, unless the service may have to refuse it. They
    are invalid if no identity has any of them.
    """
    if not caller.anonymous and caller.is_sender_of(request):
        return None if caller.name in refused else True
    headers, query = frozenset(request.headers), query_of(request)
    none_is_known = all(
        headers.isdisjoint(identity.headers) and query.isdisjoint(identity.query)
        for identity in config.identities.values()
    )
    return False if none_is_known else None
