"""Evolution rules about codes: which there are, how they look in answers, and their life."""

from collections.abc import Iterator

from faultspec.diagnostics.model import Path
from faultspec.evolution.facts import TooManyFactsError, sample_facts
from faultspec.evolution.model import BOTH, Effect
from faultspec.evolution.pairing import Rename, has_same_class, successor
from faultspec.evolution.promises import (
    as_argument,
    compare_allowed,
    compare_promise,
    compress,
    expand,
    format_value,
    join_values,
    replacement_message,
    split_values,
)
from faultspec.evolution.rule import Evolution, Occurrence, allows_code, evolution_rule
from faultspec.language.carriers import carriers
from faultspec.language.model import Code, Operation, Taxonomy
from faultspec.language.pictures import message_parameters
from faultspec.runtime import durations
from faultspec.runtime.nodes import slot_places


def code_name(path: Path) -> str:
    """A code in a message: its name, with that of its operation."""
    return f"`{path[1]}/{path[3]}`" if path[0] == "operations" else f"`{path[1]}`"


def _operation(taxonomy: Taxonomy, path: Path) -> Operation | None:
    return taxonomy.operations.get(str(path[1])) if path[0] == "operations" else None


@evolution_rule(
    "code/added", "SOURCE", reads=("Taxonomy.codes", "Operation.errors", "Code.lifecycle")
)
def code_added(evolution: Evolution) -> Iterator[Occurrence]:
    """A new code reaches clients that were compiled before it. In a closed taxonomy they match all
    codes, and need a fallback for others (`unknown`). A reserved code that is taken into use is
    such a code."""
    moved = {code.wire for path, code in evolution.removed_codes}
    for path, code in evolution.added_codes:
        before = evolution.old_codes.get(path)
        if code.wire in moved or (before is not None and before.lifecycle == "removed"):
            continue
        if path[0] == "codes" and code.name in evolution.successors:
            continue
        covers = (path, *evolution.closed_lists)
        effect = _effect_of_addition(evolution, path, code)
        yield Occurrence(path, effect, None, code.wire, covers=covers)
    for path, code in evolution.new_codes.items():
        if path not in evolution.old_codes and not code.live:
            message = f"{code_name(path)} is {code.lifecycle} from the start"
            yield Occurrence(path, Effect("safe", message, adds=True))


def _effect_of_addition(evolution: Evolution, path: Path, code: Code) -> Effect:
    operation = _operation(evolution.new, path)
    if operation is not None and operation.name not in evolution.old.operations:
        return Effect("safe", f"{code_name(path)} is new, like its operation", adds=True)
    closed = [
        surface.name
        for surface in evolution.new.surfaces.values()
        if surface.name in evolution.old.surfaces
        and evolution.old.surfaces[surface.name].codes is not None
        and allows_code(surface, code, operation)
    ]
    if not closed:
        return Effect("safe", f"{code_name(path)} is new", adds=True)
    where = f"on {join_values(closed)}, where the codes are closed"
    if evolution.old.unknown is not None:
        fallback = format_value(evolution.old.unknown.becomes)
        message = f"{code_name(path)} is new {where}; older clients treat it as {fallback}"
        return Effect("risky", message, ("clients",), adds=True)
    return Effect(
        "breaking",
        f"{code_name(path)} is new {where}, and older clients have no fallback",
        ("clients",),
        adds=True,
        remedy="declare `unknown:` one version earlier, so that clients have a fallback",
    )


@evolution_rule("code/renamed", "SOURCE", reads=("Code.name", "Operation.errors"))
def code_renamed(evolution: Evolution) -> Iterator[Occurrence]:
    """A code with another name and the same wire value looks the same in answers. The names of its
    class and its enum member change. A code with another name and another wire value looks renamed
    if all its other fields are alike."""
    for rename in evolution.renames:
        if rename.section == "codes" and not rename.certain:
            yield _guessed_rename(evolution, rename)
        elif rename.section == "codes" and not has_same_class(rename.old, rename.new):
            was, now = _both_names(rename)
            message = f"{was} is named {now}; its wire value is unchanged"
            effect = Effect("breaking", message, BOTH)
            yield Occurrence((*rename.path, "name"), effect, rename.old, rename.new)
    moved = {code.wire: path for path, code in evolution.added_codes}
    for path, code in evolution.removed_codes:
        place = moved.get(code.wire)
        if place is not None and successor(evolution.old, evolution.new, code.name) is None:
            message = f"{code_name(path)} is {code_name(place)}; its wire value is unchanged"
            covers = (path, place, *evolution.closed_lists)
            yield Occurrence(path, Effect("breaking", message, BOTH), covers=covers)


def _both_names(rename: Rename) -> tuple[str, str]:
    """The old and the new name of a code in a message."""
    return code_name((*rename.path[:-1], rename.old)), code_name(rename.path)


def _guessed_rename(evolution: Evolution, rename: Rename) -> Occurrence:
    """A code that is gone, and one that is new and declares the same failure otherwise."""
    before, after = (
        codes[rename.path].wire for codes in (evolution.old_codes, evolution.new_codes)
    )
    was, now = _both_names(rename)
    message = f"{was} looks renamed to {now}, with the wire value {after!r} in place of {before!r}"
    remedy = (
        f"keep the wire value, or keep {was} with `lifecycle: deprecated` and "
        f"`replaced_by: {rename.new}`"
    )
    effect = Effect("breaking", message, BOTH, ("SOURCE", "WIRE"), remedy=remedy)
    covers = ((*rename.path, "name"), (*rename.path, "wire"))
    return Occurrence((*rename.path, "name"), effect, rename.old, rename.new, covers=covers)


@evolution_rule("code/wire", "WIRE", reads=("Code.wire", "Code.identities"))
def code_wire(evolution: Evolution) -> Iterator[Occurrence]:
    """The wire value is what clients compare. A service that sends another one sends another
    code."""
    guessed = {rename.path for rename in evolution.renames if not rename.certain}
    for path, old, new in evolution.changed_codes:
        if path in guessed:
            continue  # code/renamed reports it
        if old.wire != new.wire or type(old.wire) is not type(new.wire):
            message = (
                f"the wire value of {code_name(path)} is {new.wire!r} in place of {old.wire!r}"
            )
            yield Occurrence(
                (*path, "wire"), Effect("breaking", message, ("clients",)), old.wire, new.wire
            )
            continue
        for name, envelope in evolution.new.envelopes.items():
            if name not in evolution.old.envelopes:
                continue
            before, after = old.wire_in(envelope), new.wire_in(envelope)
            if before != after:
                message = (
                    f"the value of {code_name(path)} in the envelope `{name}` is {after!r} in "
                    f"place of {before!r}"
                )
                effect = Effect("breaking", message, ("clients",))
                yield Occurrence((*path, "identities", name), effect, before, after)


@evolution_rule(
    "code/status",
    "WIRE",
    reads=(
        "Code.http",
        "HttpMapping.statuses",
        "HttpMapping.rules",
        "HttpMapping.default",
        "ConditionalRule.when",
        "ConditionalRule.then",
        "Test.fact",
        "Test.values",
        "Test.ranges",
        "StatusRange.low",
        "StatusRange.high",
        "Surface.default_status",
    ),
)
def code_status(evolution: Evolution) -> Iterator[Occurrence]:
    """Clients, proxies, caches and alerts act on the HTTP status of a code, also where they match
    a single status of what is now a range."""
    for path, old, new in evolution.changed_codes:
        name = code_name(path)
        try:
            effect = _status_effect(old, new, name)
        except TooManyFactsError as error:
            effect = error.as_effect(f"the status of {name}")
        if effect is not None:
            before, after = (code.http.carried_statuses for code in (old, new))
            yield Occurrence((*path, "http"), effect, before, after)


def _status_effect(old: Code, new: Code, name: str) -> Effect | None:
    before, after = expand(old.http.carried_statuses), expand(new.http.carried_statuses)
    if before != after:
        if not before:
            return Effect("breaking", f"{name} now occurs over HTTP", ("clients",))
        if not after:
            return Effect("breaking", f"{name} no longer occurs over HTTP", ("services",))
        return as_argument(
            compare_allowed(
                compress(before - after) + _common_ranges(before, after),
                compress(after - before) + _common_ranges(before, after),
                f"the status of {name}",
            )
        )
    if _decides_otherwise(old, new):
        message = f"other conditions decide the status of {name}"
        return Effect("breaking", message, ("clients",))
    if old.http.default != new.http.default:
        message = replacement_message(
            f"the default status of {name}", new.http.default, old.http.default
        )
        return Effect("risky", message, ("clients",))
    return None


def _decides_otherwise(old: Code, new: Code) -> bool:
    """Whether some facts lead to other statuses."""
    return old.http.rules != new.http.rules and any(
        old.http.decide(facts) != new.http.decide(facts)
        for facts in sample_facts(old.http.rules, new.http.rules)
    )


def _common_ranges(before: frozenset[int], after: frozenset[int]) -> tuple[object, ...]:
    return compress(before & after)


@evolution_rule(
    "code/carriers",
    "WIRE",
    reads=("Code.grpc", "Code.mcp", "Mcp.is_error", "Mcp.strict", "Code.level"),
)
def code_carriers(evolution: Evolution) -> Iterator[Occurrence]:
    """On gRPC a code has a status, and in an MCP result a mark. Clients of these transports act on
    them."""
    for path, old, new in evolution.changed_codes:
        name = code_name(path)
        if old.grpc != new.grpc:
            effect = compare_promise(old.grpc, new.grpc, f"the gRPC status of {name}")
            if effect is not None:
                if old.grpc is None:
                    effect = Effect("safe", effect.message, adds=True)
                yield Occurrence((*path, "grpc"), effect, old.grpc, new.grpc)
        if old.mcp != new.mcp:
            before, after = _marks(old), _marks(new)
            effect = compare_allowed(before, after, f"`isError` of {name}", any_if_empty=True)
            if effect is not None:
                yield Occurrence((*path, "mcp"), effect, before, after)
        if old.level != new.level:
            message = f"{name} is classified as {new.level}"
            yield Occurrence(
                (*path, "level"), Effect("safe", message, (), ("DOC",)), old.level, new.level
            )


def _marks(code: Code) -> tuple[bool, ...]:
    """The allowed values of `isError`; empty if the code declares none."""
    if code.mcp is None:
        return ()
    return tuple({mark: None for mark in code.mcp if mark is not None})


@evolution_rule("code/envelope", "WIRE", reads=("Code.envelopes",))
def code_envelope(evolution: Evolution) -> Iterator[Occurrence]:
    """The envelopes of a code are the bodies that a client has to read."""
    for path, old, new in evolution.changed_codes:
        what = f"the envelope of {code_name(path)}"
        own = path[0] == "operations"
        before = [e.name for e in carriers(evolution.old, old, of_operation=own)]
        after = [e.name for e in carriers(evolution.new, new, of_operation=own)]
        effect = None if old.envelopes == new.envelopes else compare_allowed(before, after, what)
        if effect is not None:
            yield Occurrence((*path, "envelopes"), effect, old.envelopes, new.envelopes)


@evolution_rule(
    "code/boundary", "BEHAVIOUR", reads=("Code.boundaries", "Code.domain", "Code.facts")
)
def code_boundary(evolution: Evolution) -> Iterator[Occurrence]:
    """Clients blame, and operators route alerts, by the boundary and the domain of a code. The
    first boundary is the default."""
    for path, old, new in evolution.changed_codes:
        name = code_name(path)
        if old.boundaries != new.boundaries:
            effect = _boundary_effect(evolution, old, new, name)
            yield Occurrence((*path, "boundaries"), effect, old.boundaries, new.boundaries)
        if old.domain != new.domain:
            message = replacement_message(f"the domain of {name}", new.domain, old.domain)
            visible = has_slot(evolution.old, "domain")
            effect = (
                Effect("breaking", message, ("clients",), ("WIRE",))
                if visible
                else Effect("risky", message, ("operators",))
            )
            yield Occurrence((*path, "domain"), effect, old.domain, new.domain)
        for slot in dict.fromkeys((*old.facts, *new.facts)):
            terms = compare_allowed(
                old.facts.get(slot, ()),
                new.facts.get(slot, ()),
                f"`{slot}` of {name}",
                any_if_empty=True,
            )
            if terms is not None:
                effect = terms._replace(categories=("WIRE",))
                yield Occurrence(
                    (*path, "facts", slot), effect, old.facts.get(slot), new.facts.get(slot)
                )


def _boundary_effect(evolution: Evolution, old: Code, new: Code, name: str) -> Effect:
    if set(old.boundaries) == set(new.boundaries):
        message = f"the default boundary of {name} is {format_value(new.boundaries[0])}"
        return Effect("risky", message, ("operators",))
    what = f"the boundary of {name}"
    if has_slot(evolution.old, "boundary"):
        effect = compare_allowed(old.boundaries, new.boundaries, what)
        if effect is not None:
            return effect._replace(categories=("WIRE",))
    return Effect(
        "risky", replacement_message(what, new.boundaries, old.boundaries), ("operators",)
    )


def has_slot(taxonomy: Taxonomy, slot: str) -> bool:
    """Whether an envelope has the slot."""
    return any(slot in slot_places(envelope.shape) for envelope in taxonomy.envelopes.values())


@evolution_rule("code/actions", "BEHAVIOUR", reads=("Code.actions", "Code.exact_actions"))
def code_actions(evolution: Evolution) -> Iterator[Occurrence]:
    """The recovery actions are what a client offers its user. One that is gone leaves the user
    without a way out. Under an exact list each error has all of them, which clients may count on
    and services have to keep."""
    for path, old, new in evolution.changed_codes:
        gone, more = split_values(old.actions, new.actions)
        name = code_name(path)
        if old.exact_actions != new.exact_actions:
            effect = _exactness_effect(old, new, name)
            yield Occurrence((*path, "exact_actions"), effect, old.actions, new.actions)
        if gone:
            message = f"{name} no longer suggests {join_values(gone)}"
            if more:
                message += f" but {join_values(more)}"
            yield Occurrence(
                (*path, "actions"),
                Effect("breaking", message, ("clients",)),
                old.actions,
                new.actions,
            )
        elif more and new.exact_actions:
            message = f"{name} also suggests {join_values(more)}"
            yield Occurrence(
                (*path, "actions"),
                Effect("breaking", message, ("services",)),
                old.actions,
                new.actions,
            )
        elif more:
            message = f"{name} may also suggest {join_values(more)}"
            yield Occurrence(
                (*path, "actions"), Effect("safe", message, adds=True), old.actions, new.actions
            )


def _exactness_effect(old: Code, new: Code, name: str) -> Effect:
    if new.exact_actions:
        exactly = f"exactly {join_values(new.actions)}" if new.actions else "no action"
        return Effect("breaking", f"each {name} suggests {exactly}", ("services",))
    kept = f"all of {join_values(old.actions)}" if old.actions else "without actions"
    return Effect("breaking", f"{name} is no longer {kept}", ("clients",))


@evolution_rule("code/message", "DOC", reads=("Code.message",))
def code_message(evolution: Evolution) -> Iterator[Occurrence]:
    """Nobody may depend on the words of a message. A value that vanishes from it may be missed by
    people who read it."""
    for path, old, new in evolution.changed_codes:
        if old.message != new.message:
            lost, _ = split_values(*map(message_parameters, (old.message, new.message)))
            name = code_name(path)
            effect = (
                Effect(
                    "risky",
                    f"the message of {name} no longer contains {join_values(lost)}",
                    ("clients",),
                )
                if lost
                else Effect("safe", f"the message of {name} is worded differently")
            )
            yield Occurrence((*path, "message"), effect, old.message, new.message)


@evolution_rule("code/passthrough", "BEHAVIOUR", reads=("Code.passthrough",))
def code_passthrough(evolution: Evolution) -> Iterator[Occurrence]:
    """Detectors of leaks skip members with foreign text, so each such member weakens privacy."""
    for path, old, new in evolution.changed_codes:
        gone, more = split_values(old.passthrough, new.passthrough)
        name = code_name(path)
        if more:
            message = (
                f"{join_values(more)} of {name} may contain foreign text, which detectors skip"
            )
            yield Occurrence((*path, "passthrough"), Effect("risky", message, ("clients",)))
        elif gone:
            message = f"{join_values(gone)} of {name} may no longer contain foreign text"
            yield Occurrence((*path, "passthrough"), Effect("breaking", message, ("services",)))


@evolution_rule(
    "code/deadline", "BEHAVIOUR", reads=("Code.deadline", "Deadline.detail", "Deadline.late_by")
)
def code_deadline(evolution: Evolution) -> Iterator[Occurrence]:
    """A deadline promises when an answer comes at the latest. Clients set their own timeouts by
    it."""
    for path, old, new in evolution.changed_codes:
        if old.deadline == new.deadline:
            continue
        name, before, after = code_name(path), old.deadline, new.deadline
        if before is None or after is None or before.detail != after.detail:
            effect = compare_promise(
                before and before.detail, after and after.detail, f"the deadline of {name}"
            )
        elif before.late_by != after.late_by:
            longer = after.late_by > before.late_by
            message = (
                f"{name} may come {durations.render(after.late_by)} after its deadline, in place "
                f"of {durations.render(before.late_by)}"
            )
            effect = (
                Effect("risky", message, ("clients",))
                if longer
                else Effect("breaking", message, ("services",))
            )
        else:
            continue
        if effect is not None:
            yield Occurrence((*path, "deadline"), effect)
