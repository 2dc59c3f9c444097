"""The code of an error and what it decides: status, layer, retry flag, actions, deadline."""

from functools import partial

from faultspec.contract.clauses.clause import HTTP, Clause, Requirement
from faultspec.contract.clauses.constructs import (
    ENVELOPE,
    HTTP_ENVELOPE,
    any_code,
    any_surface,
    code_sources,
    shows,
    shows_flag,
    slot_exists,
    surface_sources,
)
from faultspec.contract.clauses.envelopes import JSON_BODY
from faultspec.language.model import Taxonomy

_surfaces = surface_sources(lambda surface: surface.batch is None)

_by_code = partial(Clause, presupposes=("code/declared",))


def _restricts_codes(taxonomy: Taxonomy) -> bool:
    """Whether a live code is wrong on some surface or of some operation."""
    live = {code.name for code in taxonomy.shared_live_codes()}
    return any(
        surface.codes is not None and not live.issubset(surface.codes)
        for surface in taxonomy.surfaces.values()
    ) or any(
        operation.errors or operation.codes is not None
        for operation in taxonomy.operations.values()
    )


def _has_fixed_slots(taxonomy: Taxonomy) -> bool:
    """Whether a code fixes the value of a slot that an envelope has."""
    return any(
        (code.boundaries and shows(taxonomy, "boundary"))
        or (code.domain is not None and shows(taxonomy, "domain"))
        or shows(taxonomy, "summary")
        or any(shows(taxonomy, slot) for slot in code.facts)
        for code in taxonomy.every_code()
    )


CLAUSES = (
    Clause(
        address="code/declared",
        title="The code is declared",
        why="Clients branch on a closed list; an unknown code matches no branch.",
        occasion="An error with a code in its body, unless the surface is open.",
        presupposes=JSON_BODY,
        reads=("surface", "code"),
        requires=(
            ENVELOPE,
            any_surface(
                "every surface has `codes: open` or `codes: foreign`",
                lambda surface: (
                    surface.envelopes
                    and (surface.codes is not None or surface.namespaces or surface.protocol)
                ),
            ),
        ),
        sources=_surfaces,
    ),
    Clause(
        address="code/reserved",
        title="The code is neither reserved nor removed",
        why="Clients of different generations read different meanings into a code that came back.",
        occasion="An error with a code in its body.",
        presupposes=JSON_BODY,
        reads=("surface", "code"),
        requires=(
            ENVELOPE,
            any_code(
                "no code has `lifecycle: reserved` or `lifecycle: removed`",
                lambda code: not code.live,
            ),
        ),
        sources=_surfaces,
    ),
    _by_code(
        address="code/sunset",
        title="The code is not produced after its sunset date",
        why="Clients drop a code after the announced date; after that it matches no branch.",
        occasion="An HTTP error with a `Date`, whose code has a `sunset`.",
        reads=("surface", "code", "header-values"),
        requires=(
            HTTP_ENVELOPE,
            any_code("no code has a `sunset`", lambda code: code.live and code.sunset is not None),
        ),
        sources=code_sources,
        transports=HTTP,
    ),
    _by_code(
        address="code/language",
        title="A declared message is in the language that Content-Language names",
        why="People read a language that they did not ask for, and caches serve it to others.",
        occasion="An error with one `Content-Language`, in which its code has a message.",
        reads=("code", "message", "header-values", "detail-values"),
        needs=("code", "message", "header-values"),
        requires=(
            slot_exists("message"),
            any_code("no code has `messages`", lambda code: bool(code.live and code.messages)),
        ),
        sources=code_sources,
        transports=HTTP,
    ),
    _by_code(
        address="code/operation",
        title="The surface and the operation declare the code",
        why="An operation's errors are part of its signature.",
        occasion="An error with a declared code, if the surface or the operation lists codes.",
        reads=("surface", "operation", "code"),
        requires=(
            ENVELOPE,
            Requirement(
                "no surface restricts its `codes`, and no operation has `codes` or `errors`",
                _restricts_codes,
            ),
        ),
        sources=lambda taxonomy: (
            *code_sources(taxonomy),
            *(operation.source for operation in taxonomy.operations.values()),
        ),
    ),
    _by_code(
        address="code/original",
        title="The code of undeclared errors replaces only codes that are undeclared here",
        why="A client that would handle the original code gets one that it cannot act on.",
        occasion="An error with the code of undeclared errors and an original code in it.",
        reads=("surface", "operation", "code", "detail-values"),
        needs=("surface", "code", "detail-values"),
        requires=(
            ENVELOPE,
            Requirement(
                "the taxonomy has no `undeclared.original_code`",
                lambda taxonomy: bool(
                    taxonomy.undeclared and taxonomy.undeclared.original_code is not None
                ),
            ),
        ),
        sources=lambda taxonomy: (taxonomy.undeclared.source,) if taxonomy.undeclared else (),
    ),
    Clause(
        address="code/status",
        title="The code travels under its HTTP status",
        why="Proxies, caches and retries act on the status, clients on the code; they must agree.",
        occasion="An HTTP error with a declared code.",
        presupposes=("code/declared", "code/reserved"),
        reads=("status", "code", "identity", "detail-values"),
        needs=("status", "code"),
        requires=(HTTP_ENVELOPE,),
        sources=code_sources,
        transports=HTTP,
    ),
    _by_code(
        address="boundary/allowed",
        title="The error has a layer, a domain, a summary and facts that its code allows",
        why="Alerts go to the named layer; the wrong one wakes the wrong people.",
        occasion="An error whose envelope names the layer, or a fact that the code fixes.",
        reads=("code", "boundary"),
        requires=(
            Requirement(
                "no code has `boundary`, `domain` or `facts` with a slot in an envelope, and no "
                "envelope has `$summary` in its shape",
                _has_fixed_slots,
            ),
        ),
        sources=lambda taxonomy: (boundary.source for boundary in taxonomy.boundaries.values()),
    ),
    _by_code(
        address="retriable/agrees",
        title="The retry flag agrees with the code",
        why="A client that trusts a wrong flag overloads the service or gives up too early.",
        occasion="An error with the flag, where the code and the known facts decide its value.",
        reads=("code", "status", "flag", "operation", "identity", "detail-values"),
        needs=("code", "flag"),
        requires=(
            Requirement(
                "no envelope has `$retriable` in its shape, and no detail key in `$details` has"
                " `role: retriable`",
                shows_flag,
            ),
            any_code(
                "no code has a `retriable` other than `caller` and `none`",
                lambda code: code.retriable.has_flag and not code.retriable.answer_decides,
            ),
        ),
        sources=lambda taxonomy: (
            tuple(taxonomy.detail_keys[name].source for name in taxonomy.flag_keys)
            or code_sources(taxonomy)
        ),
    ),
    _by_code(
        address="retriable/until",
        title="After the action that a code waits for, the request no longer gets it",
        why="A caller who does what the error asks for and is refused again has no way on.",
        occasion="A recipe with `action`: the refused request again, after the action.",
        reads=("sequence", "request", "code"),
        requires=(
            any_code(
                "no code has `retriable.until`", lambda code: code.retriable.until is not None
            ),
        ),
        sources=lambda taxonomy: (
            code.source for code in taxonomy.every_code() if code.retriable.until is not None
        ),
        transports=HTTP,
    ),
    _by_code(
        address="actions/agree",
        title="An error suggests actions of its code, all of an exact list; a retriable one "
        "suggests sending it again",
        why="A person offered useless actions, or no way to try again, gives up.",
        occasion="An error with actions, if its code has some or exactly none, or is retriable.",
        reads=("code", "flag", "actions"),
        needs=("code", "actions"),
        requires=(
            slot_exists("actions"),
            Requirement(
                "no code has `actions`, and no action has `sends_again`",
                lambda taxonomy: (
                    any(code.limits_actions for _, code in taxonomy.forms())
                    or bool(taxonomy.retry_actions and shows_flag(taxonomy))
                ),
            ),
        ),
        sources=lambda taxonomy: (
            *(taxonomy.actions[name].source for name in taxonomy.retry_actions),
            *(code.source for _, code in taxonomy.forms() if code.limits_actions),
        ),
    ),
    _by_code(
        address="deadline/kept",
        title="An error that reports an exhausted time budget comes when the budget ends",
        why="Nobody can plan with a budget that is not kept.",
        occasion="An error whose code has a `deadline` and whose details give the budget.",
        reads=("code", "detail-values", "elapsed"),
        requires=(
            slot_exists("details"),
            any_code("no code has a `deadline`", lambda code: code.deadline),
        ),
        sources=lambda taxonomy: (
            code.deadline.source for code in taxonomy.every_code() if code.deadline
        ),
    ),
)
