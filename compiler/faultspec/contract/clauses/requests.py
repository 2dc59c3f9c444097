"""Relations between HTTP requests: correlation ids, idempotency keys, tenants, preconditions."""

from functools import partial

from faultspec.contract.clauses.clause import HTTP, Clause, Requirement
from faultspec.contract.clauses.constructs import (
    ECHO,
    HTTP_ENVELOPE,
    HTTP_SURFACE,
    IDEMPOTENCY,
    any_detail_key,
    any_field,
    echo_sources,
    idempotency_sources,
    status_in_use,
    validator_sources,
)
from faultspec.language.model import Source, Taxonomy


def _resource_keys(taxonomy: Taxonomy) -> tuple[Source, ...]:
    return tuple(key.source for key in taxonomy.detail_keys.values() if key.refers_to == "resource")


_correlation = partial(Clause, requires=(ECHO,), sources=echo_sources, transports=HTTP)
_idempotency = partial(
    Clause,
    requires=(IDEMPOTENCY,),
    sources=idempotency_sources,
    transports=HTTP,
)
_precondition = partial(
    Clause,
    requires=(status_in_use(412),),
    sources=validator_sources,
    transports=HTTP,
)
_write = partial(
    Clause,
    requires=(HTTP_SURFACE,),
    reads=("sequence", "request", "status", "body"),
    transports=HTTP,
)
_list = partial(
    Clause,
    requires=(HTTP_SURFACE,),
    reads=("sequence", "request", "body"),
    transports=HTTP,
)
_CONFLICT = status_in_use(409)

CLAUSES = (
    _correlation(
        address="correlation/echo",
        title="An inbound correlation id comes back",
        why="It links the caller's logs to the service's.",
        occasion="A request with a well-formed id.",
        presupposes=("ids/format",),
        reads=("sequence", "request", "body", "header-values"),
    ),
    _correlation(
        address="correlation/generated",
        title="The service generates a correlation id where none was sent",
        why="An error without an id cannot be found again.",
        occasion="A request without an id.",
        reads=("sequence", "body", "header-values"),
    ),
    _correlation(
        address="correlation/unique",
        title="Generated correlation ids differ",
        why="A search for one id mixes two incidents.",
        occasion="Two requests without an id.",
        presupposes=("ids/format",),
        reads=("sequence", "body", "header-values"),
    ),
    _correlation(
        address="correlation/invalid-inbound",
        title="A malformed correlation id is handled as declared",
        why="Input reflected in a header allows header injection.",
        occasion="A request with a malformed id.",
        reads=("sequence", "request", "body", "header-values"),
        requires=(
            ECHO,
            any_field(
                "no field of an envelope has `invalid_inbound`",
                lambda field: field.echo and field.invalid_inbound != "unspecified",
            ),
        ),
    ),
    _correlation(
        address="correlation/header-equals-body",
        title="The header and the body have the same identifier",
        why="A user reports one of them to support; the logs have the other.",
        occasion="An error with both, or with the slot of a `mirror` alone.",
        presupposes=("ids/format",),
        reads=("body", "header-values"),
        requires=(
            any_field(
                "no field of an envelope has `echo` or `mirror`",
                lambda field: field.echo or field.mirror,
            ),
        ),
    ),
    _idempotency(
        address="idempotency/replay",
        title="A replay returns the same result",
        why="The network loses answers; without this, retrying a write writes twice.",
        occasion="The same write with the same key, twice.",
        reads=("sequence", "request", "body", "header-values"),
    ),
    _idempotency(
        address="idempotency/concurrent",
        title="A write sent several times at once under one key takes effect once",
        why="A service that checks the key before the first write is stored writes again.",
        occasion="The same creation with the same key several times at once, and a replay of it.",
        presupposes=("idempotency/replay",),
        reads=("sequence", "request", "body"),
    ),
    _idempotency(
        address="idempotency/after-failure",
        title="A write that failed and is retried under its key takes effect once",
        why="A failure after the write is stored becomes a second write.",
        occasion="A creation that failed by a fault switch, sent again under its key; the list.",
        reads=("sequence", "request", "body"),
    ),
    _idempotency(
        address="idempotency/distinct-keys",
        title="Different keys are different intents",
        why="A second order must not be taken for a replay of the first.",
        occasion="The same write with two keys.",
        reads=("sequence", "request", "body"),
    ),
    _idempotency(
        address="idempotency/mismatch",
        title="The second body under one key gets the declared error",
        why="Otherwise the caller believes that the second write took effect.",
        occasion="Two different writes under one key.",
        reads=("sequence", "request", "status", "code"),
        requires=(
            IDEMPOTENCY,
            Requirement(
                "the taxonomy has no `idempotency.mismatch`",
                lambda taxonomy: bool(taxonomy.idempotency and taxonomy.idempotency.mismatch),
            ),
        ),
    ),
    _idempotency(
        address="idempotency/required",
        title="A write without its key gets the declared answer",
        why="A client without a key writes twice, or is refused for what it need not send.",
        occasion="A write that takes a key, sent without one.",
        reads=("sequence", "request", "status", "code"),
        requires=(
            IDEMPOTENCY,
            Requirement(
                "`idempotency.key` is in the path, so no request lacks its key",
                lambda taxonomy: (
                    not taxonomy.idempotency
                    or any(place.kind != "path" for place in taxonomy.key_places)
                ),
            ),
            Requirement(
                "the taxonomy has no `idempotency.missing`",
                lambda taxonomy: bool(taxonomy.idempotency and taxonomy.idempotency.missing),
            ),
        ),
    ),
    _idempotency(
        address="idempotency/isolation",
        title="One caller's key has no effect for another caller",
        why="Otherwise a guessed key reads another tenant's result.",
        occasion="The same key from two tenants.",
        reads=("sequence", "request", "body"),
    ),
    Clause(
        address="ids/unique",
        title="Two failures have two ids",
        why="A search for one id finds the failures of other callers.",
        occasion="Failures of different requests, each with an id that names it.",
        presupposes=("ids/format",),
        reads=("sequence", "request", "body"),
        requires=(HTTP_ENVELOPE,),
        transports=HTTP,
    ),
    Clause(
        address="tenancy/concealed",
        title="Another tenant's resource looks like a missing resource",
        why="Any difference reveals whether the resource exists.",
        occasion="A resource of another tenant and an unknown one.",
        reads=("sequence", "status", "code", "body", "header-values"),
        requires=(
            Requirement(
                "the taxonomy has no `privacy.conceal`",
                lambda taxonomy: bool(taxonomy.privacy and taxonomy.privacy.conceal),
            ),
        ),
        sources=lambda taxonomy: (
            rule.source for rule in (taxonomy.privacy.conceal if taxonomy.privacy else ())
        ),
        transports=HTTP,
    ),
    _precondition(
        address="preconditions/stale",
        title="A stale precondition is refused",
        why="Otherwise the later writer erases the earlier one's work.",
        occasion="A write with an outdated validator, or without the one that it requires.",
        reads=("sequence", "request", "status", "code"),
    ),
    _precondition(
        address="preconditions/recovers",
        title="After a refetch the write succeeds",
        why="A conflict that cannot be resolved is an outage.",
        occasion="A refused write, a read, and the write again.",
        presupposes=("preconditions/stale",),
        reads=("sequence", "request", "status"),
    ),
    _precondition(
        address="preconditions/concurrent",
        title="Of two different writes at once with one validator, one is refused",
        why="A service that compares the validator before the first write is stored loses it.",
        occasion="Two updates of one resource at the same time with its current validator.",
        presupposes=("preconditions/stale",),
        reads=("sequence", "request", "status", "header-values"),
    ),
    _write(
        address="writes/refused",
        title="A refused write, or one that failed with `effect: none`, changes nothing",
        why="A client sends a refused write again, corrected, and both take effect.",
        occasion="A write that got 4xx, or a failure upstream or by a fault switch whose code has "
        "`effect: none`; and reads of the resource or the list before and after.",
    ),
    _write(
        address="writes/created",
        title="An accepted creation stores one resource",
        why="The caller goes on with a resource that is not there, or pays for two.",
        occasion="A creation that succeeded, and reads of the new resource and the list.",
    ),
    _write(
        address="writes/updated",
        title="An accepted update stores the members that it sends, and changes nothing else",
        why="The caller believes in a change that is lost, or loses what another caller wrote.",
        occasion="An update by PUT or PATCH, or an action, that succeeded, and reads of the "
        "resource and of others before and after.",
    ),
    _write(
        address="writes/deleted",
        title="An accepted deletion removes its resource and no other",
        why="What the caller has deleted is still shown, or what they need is gone.",
        occasion="A deletion that succeeded, and reads of the resource, the list and another one.",
    ),
    _write(
        address="writes/server-owned",
        title="A write does not set the members that the service itself sets",
        why="A caller makes a resource another tenant's, or gives themselves a role.",
        occasion="A creation and an update with such members, and reads afterwards.",
    ),
    _write(
        address="writes/readable",
        title="After a write with null the resource and its list can be read",
        why="One write that should have been refused makes the item, or the list, useless to all.",
        occasion="Updates with null for a member that is not nullable, and reads afterwards.",
    ),
    _list(
        address="lists/pages",
        title="The pages of a list show each of its items once, and end",
        why="A client that reads all pages misses items, counts them twice, or reads for ever.",
        occasion="A list of three items or more, read in one piece and page by page.",
    ),
    _list(
        address="lists/cursor",
        title="A made-up cursor does not give the first page",
        why="A client whose cursor is damaged or expired begins again, and repeats its work.",
        occasion="A list whose answers have a cursor, asked with made-up ones.",
    ),
    _list(
        address="lists/filter",
        title="A filtered list shows the items that fit, and no other",
        why="A client acts on items that it has left out, or never sees one that it asked for.",
        occasion="A list with a parameter that is called like a member of its items, or like the "
        "least or most of one; a list below an item, and below another one.",
    ),
    Clause(
        address="duplicates/refused",
        title="A duplicate is refused",
        why="Otherwise the unique value is not unique.",
        occasion="The same unique value, created twice.",
        reads=("sequence", "request", "status", "code"),
        requires=(_CONFLICT,),
        sources=_resource_keys,
        transports=HTTP,
    ),
    Clause(
        address="duplicates/concurrent",
        title="Of several creations at once with the same unique values, one succeeds",
        why="A service that looks the value up before it writes stores it twice.",
        occasion="Creations at the same time with the same unique values and different keys.",
        presupposes=("duplicates/refused",),
        reads=("sequence", "request", "status"),
        requires=(_CONFLICT,),
        sources=_resource_keys,
        transports=HTTP,
    ),
    Clause(
        address="duplicates/existing-id",
        title="A refused duplicate names the existing resource",
        why="The client needs to find the resource that is in its way.",
        occasion="A refused duplicate.",
        presupposes=("duplicates/refused",),
        reads=("sequence", "detail-values"),
        requires=(
            _CONFLICT,
            any_detail_key(
                "no detail key has `refers_to: resource`",
                lambda key: key.refers_to == "resource",
            ),
        ),
        sources=_resource_keys,
        transports=HTTP,
    ),
)
