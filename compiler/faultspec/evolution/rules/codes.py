"""Evolution rules about codes: which there are, how they look in answers, and their life."""

import re
from collections.abc import Iterator

from faultspec.diagnostics.model import Path
from faultspec.evolution.model import BOTH, Audience, Effect
from faultspec.evolution.pairing import successor
from faultspec.evolution.promises import (
    compare_allowed,
    compare_promise,
    compress,
    expand,
    listed,
    shown,
)
from faultspec.evolution.rule import Evolution, Occurrence, allows_code, rule
from faultspec.language.model import Code, Operation, Taxonomy


def code_name(path: Path) -> str:
    """A code in a message: its name, with that of its operation."""
    return f"`{path[1]}/{path[3]}`" if path[0] == "operations" else f"`{path[1]}`"


def _operation(taxonomy: Taxonomy, path: Path) -> Operation | None:
    return taxonomy.operations.get(str(path[1])) if path[0] == "operations" else None


@rule("code/added", "SOURCE", reads=("Taxonomy.codes", "Operation.errors", "Code.lifecycle"))
def code_added(evolution: Evolution) -> Iterator[Occurrence]:
    """A new code reaches clients that were compiled before it. In a closed taxonomy they match all
    codes, and need a fallback for others (`unknown`). A reserved code that is taken into use is
    such a code."""
    old = dict(evolution.old.located_codes())
    replaced = {code.name for code in _successors(evolution)}
    for path, code in evolution.new.located_codes():
        before = old.get(path)
        if before is not None and before.lifecycle == "removed" and code.live:
            continue
        if (before is not None and before.live) or (path[0] == "codes" and code.name in replaced):
            continue
        if not code.live:
            if before is None:
                message = f"{code_name(path)} is {code.lifecycle} from the start"
                yield Occurrence(path, Effect("safe", message, adds=True))
            continue
        yield Occurrence(path, _effect_of_addition(evolution, path, code), None, code.wire)


def _successors(evolution: Evolution) -> Iterator[Code]:
    """The new codes that replace codes which are gone."""
    for name, code in evolution.old.codes.items():
        after = evolution.new.codes.get(name)
        if code.live and (after is None or not after.live):
            found = successor(evolution.old, evolution.new, name)
            if found is not None and found.name not in evolution.old.codes:
                yield found


def _effect_of_addition(evolution: Evolution, path: Path, code: Code) -> Effect:
    operation = _operation(evolution.new, path)
    if operation is not None and operation.name not in evolution.old.operations:
        return Effect("safe", f"{code_name(path)} is new, like its operation", adds=True)
    closed = [
        surface.name
        for surface in evolution.old.surfaces.values()
        if allows_code(
            surface._replace(codes=() if surface.codes is None else evolution.new.codes)
            if surface.name not in evolution.new.surfaces
            else evolution.new.surfaces[surface.name],
            code,
            operation,
        )
    ]
    if not closed:
        return Effect("safe", f"{code_name(path)} is new", adds=True)
    where = f"on {listed(closed)}, where the codes are closed"
    if evolution.old.unknown is not None:
        fallback = shown(evolution.old.unknown.becomes)
        message = f"{code_name(path)} is new {where}; older clients treat it as {fallback}"
        return Effect("risky", message, ("clients",), adds=True)
    return Effect(
        "breaking",
        f"{code_name(path)} is new {where}, and older clients have no fallback",
        ("clients",),
        adds=True,
        remedy="declare `unknown:` one version earlier, so that clients have a fallback",
    )


@rule(
    "code/removed",
    "SOURCE",
    "WIRE",
    reads=("Taxonomy.codes", "Operation.errors", "Code.lifecycle", "Code.replaced_by"),
)
def code_removed(evolution: Evolution) -> Iterator[Occurrence]:
    """A code that is gone breaks whatever names it: clients that match it, services that raise it.
    The removal is sanctioned if the code was deprecated, its sunset is over, and a tombstone
    (`lifecycle: removed`) remains."""
    new = dict(evolution.new.located_codes())
    for path, code in evolution.old.located_codes():
        after = new.get(path)
        gone = after is None or not after.live
        if (
            not code.live
            or not gone
            or (path[0] == "operations" and path[1] not in evolution.new.operations)
        ):
            continue
        follower = (
            successor(evolution.old, evolution.new, code.name) if path[0] == "codes" else None
        )
        message = f"{code_name(path)} is gone"
        covers: tuple[Path, ...] = (path,)
        if follower is not None:
            message = f"{code_name(path)} is replaced by `{follower.name}`"
            covers = (path, ("codes", follower.name))
        if after is not None and after.lifecycle == "reserved":
            message = f"{code_name(path)} is reserved: no longer produced"
        wire = follower.wire if follower is not None else None
        if _is_sanctioned(evolution, code, after):
            effect = Effect(
                "risky", f"{message}, after its sunset {code.sunset}", BOTH, removes=True
            )
            yield Occurrence(path, effect, code.wire, wire, covers)
            continue
        effect = Effect(
            "breaking", f"{message}{_objection(evolution, code, after)}", BOTH, remedy=_SANCTION
        )
        yield Occurrence(path, effect, code.wire, wire, covers)


_SANCTION = (
    "deprecate it with `lifecycle: deprecated`, `since`, `sunset` and `replaced_by` or a reason; after"
    " the sunset replace it by a tombstone (`lifecycle: removed`)"
)


def _is_sanctioned(evolution: Evolution, code: Code, after: Code | None) -> bool:
    over = code.sunset is not None and code.sunset < evolution.today.isoformat()
    return code.lifecycle == "deprecated" and over and after is not None and not after.live


def _objection(evolution: Evolution, code: Code, after: Code | None) -> str:
    if code.lifecycle != "deprecated":
        return ", and it was never deprecated"
    if code.sunset is None:
        return ", and its deprecation named no sunset"
    if code.sunset >= evolution.today.isoformat():
        return f", before its sunset {code.sunset}"
    return ", and no tombstone remains" if after is None else ""


@rule("code/returned", "SOURCE", "WIRE", reads=("Code.lifecycle",))
def code_returned(evolution: Evolution) -> Iterator[Occurrence]:
    """The name of a removed code is never used again: an older client still takes it for what it
    meant. Its tombstone stays."""
    new = dict(evolution.new.located_codes())
    for path, code in evolution.old.located_codes():
        after = new.get(path)
        if code.lifecycle != "removed":
            continue
        if after is None:
            message = f"the tombstone of {code_name(path)} is gone, so its name can be reused"
            yield Occurrence(
                path,
                Effect("risky", message, ("clients",), ("SOURCE",), remedy="keep it"),
                "removed",
                None,
            )
        elif after.lifecycle == "reserved":
            message = f"{code_name(path)} was removed and is now reserved for a new use"
            yield Occurrence(
                path,
                Effect("risky", message, ("clients",), ("SOURCE",), remedy="keep the tombstone"),
            )
        elif after.live:
            message = f"{code_name(path)} was removed and is back"
            effect = Effect("breaking", message, ("clients",), remedy="choose another name")
            yield Occurrence(path, effect, "removed", after.lifecycle)


@rule("code/renamed", "SOURCE", reads=("Code.name",))
def code_renamed(evolution: Evolution) -> Iterator[Occurrence]:
    """A code with another name and the same wire value looks the same in answers. The names of its
    class and its enum member change."""
    for rename in evolution.renames:
        if rename.section == "codes":
            message = f"`{rename.old}` is named `{rename.new}`; its wire value is unchanged"
            path: Path = ("codes", rename.new)
            yield Occurrence(
                (*path, "name"), Effect("breaking", message, BOTH), rename.old, rename.new
            )


@rule("code/wire", "WIRE", reads=("Code.wire",))
def code_wire(evolution: Evolution) -> Iterator[Occurrence]:
    """The wire value is what clients compare. A service that sends another one sends another
    code."""
    for path, old, new in evolution.changed_codes:
        if old.wire != new.wire or type(old.wire) is not type(new.wire):
            message = (
                f"the wire value of {code_name(path)} is {new.wire!r} in place of {old.wire!r}"
            )
            yield Occurrence((*path, "wire"), Effect("breaking", message, BOTH), old.wire, new.wire)


@rule(
    "code/lifecycle",
    "SOURCE",
    reads=("Code.lifecycle", "Code.since", "Code.sunset", "Code.replaced_by"),
)
def code_lifecycle(evolution: Evolution) -> Iterator[Occurrence]:
    """A deprecation prepares clients for a removal. It names what replaces the code, and since
    which version it is deprecated."""
    for path, old, new in evolution.changed_codes:
        name = code_name(path)
        if (old.lifecycle, new.lifecycle) == ("stable", "deprecated"):
            instead = f"; `{new.replaced_by}` replaces it" if new.replaced_by else ""
            yield Occurrence(
                (*path, "lifecycle"),
                Effect("safe", f"{name} is deprecated{instead}", adds=True),
                covers=tuple(
                    (*path, key) for key in ("lifecycle", "since", "sunset", "replaced_by")
                ),
            )
        elif old.lifecycle != new.lifecycle:
            yield Occurrence(
                (*path, "lifecycle"), Effect("safe", f"{name} is {new.lifecycle} again")
            )
        elif old.sunset != new.sunset:
            earlier = old.sunset is not None and (
                new.sunset is not None and new.sunset < old.sunset
            )
            message = f"the sunset of {name} is {new.sunset or 'open'}"
            effect = (
                Effect("risky", f"{message}, earlier than {old.sunset}", BOTH)
                if earlier
                else Effect("safe", message)
            )
            yield Occurrence((*path, "sunset"), effect, old.sunset, new.sunset)
    for path, old, new in evolution.record_pairs(Code):
        for field in ("since", "replaced_by"):
            before, after = getattr(old, field), getattr(new, field)
            if before != after and (old.lifecycle == new.lifecycle):
                message = f"`{field}` of {code_name(path)} is {shown(after)}"
                yield Occurrence(
                    (*path, field), Effect("safe", message, (), ("DOC",)), before, after
                )


@rule(
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
        effect = _status_effect(old, new, code_name(path))
        if effect is not None:
            before, after = (listed(code.http.carried_statuses) or None for code in (old, new))
            yield Occurrence((*path, "http"), effect, before, after)


def _status_effect(old: Code, new: Code, name: str) -> Effect | None:
    before, after = expand(old.http.carried_statuses), expand(new.http.carried_statuses)
    if before != after:
        if not before:
            return Effect("breaking", f"{name} now occurs over HTTP", ("clients",))
        if not after:
            return Effect("breaking", f"{name} no longer occurs over HTTP", ("services",))
        return compare_allowed(
            compress(before - after) + _shared(before, after),
            compress(after - before) + _shared(before, after),
            f"the status of {name}",
        )
    if old.http.rules != new.http.rules:
        message = f"other conditions decide the status of {name}"
        return Effect("breaking", message, BOTH)
    if old.http.default != new.http.default:
        message = (
            f"the default status of {name} is {new.http.default} in place of {old.http.default}"
        )
        return Effect("risky", message, ("clients",))
    return None


def _shared(before: frozenset[int], after: frozenset[int]) -> tuple[object, ...]:
    return compress(before & after)


@rule(
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
            effect = compare_allowed(before, after, f"`isError` of {name}") or Effect(
                "risky", f"other servers mark {name}", ("clients",)
            )
            yield Occurrence((*path, "mcp"), effect, before, after)
        if old.level != new.level:
            message = f"{name} is classified as {new.level}"
            yield Occurrence(
                (*path, "level"), Effect("safe", message, (), ("DOC",)), old.level, new.level
            )


def _marks(code: Code) -> tuple[bool, ...]:
    if code.mcp is None:
        return (True,)
    return tuple({mark: None for mark in code.mcp if mark is not None})


@rule("code/envelope", "WIRE", reads=("Code.envelopes",))
def code_envelope(evolution: Evolution) -> Iterator[Occurrence]:
    """The envelopes of a code are the bodies that a client has to read."""
    for path, old, new in evolution.changed_codes:
        what = f"the envelope of {code_name(path)}"
        effect = compare_allowed(old.envelopes, new.envelopes, what, any_if_empty=True)
        if effect is not None:
            yield Occurrence((*path, "envelopes"), effect, old.envelopes, new.envelopes)


@rule("code/boundary", "BEHAVIOUR", reads=("Code.boundaries", "Code.domain", "Code.facts"))
def code_boundary(evolution: Evolution) -> Iterator[Occurrence]:
    """Clients blame, and operators route alerts, by the boundary and the domain of a code. The
    first boundary is the default."""
    for path, old, new in evolution.changed_codes:
        name = code_name(path)
        if old.boundaries != new.boundaries:
            message = f"the boundary of {name} is {listed(new.boundaries) or 'open'} in place of {listed(old.boundaries) or 'nothing'}"
            if set(old.boundaries) == set(new.boundaries):
                message = f"the default boundary of {name} is {shown(new.boundaries[0])}"
            hurt: tuple[Audience, ...] = ("clients", "operators")
            yield Occurrence(
                (*path, "boundaries"),
                Effect("risky", message, hurt),
                old.boundaries,
                new.boundaries,
            )
        if old.domain != new.domain:
            message = f"the domain of {name} is {shown(new.domain)} in place of {shown(old.domain)}"
            visible = _has_slot(evolution.old, "domain")
            effect = (
                Effect("breaking", message, BOTH, ("WIRE",))
                if visible
                else Effect("risky", message, ("clients", "operators"))
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


def _has_slot(taxonomy: Taxonomy, slot: str) -> bool:
    from faultspec.runtime.nodes import slot_places

    return any(slot in slot_places(envelope.shape) for envelope in taxonomy.envelopes.values())


@rule("code/actions", "BEHAVIOUR", reads=("Code.actions",))
def code_actions(evolution: Evolution) -> Iterator[Occurrence]:
    """The recovery actions are what a client offers its user. One that is gone leaves the user
    without a way out."""
    for path, old, new in evolution.changed_codes:
        gone = [action for action in old.actions if action not in new.actions]
        more = [action for action in new.actions if action not in old.actions]
        name = code_name(path)
        if gone:
            message = f"{name} no longer suggests {listed(gone)}"
            if more:
                message += f" but {listed(more)}"
            yield Occurrence(
                (*path, "actions"),
                Effect("breaking", message, ("clients",)),
                old.actions,
                new.actions,
            )
        elif more:
            message = f"{name} may also suggest {listed(more)}"
            yield Occurrence(
                (*path, "actions"), Effect("safe", message, adds=True), old.actions, new.actions
            )


@rule("code/message", "DOC", reads=("Code.message",))
def code_message(evolution: Evolution) -> Iterator[Occurrence]:
    """Nobody may depend on the words of a message. A value that vanishes from it may be missed by
    people who read it."""
    for path, old, new in evolution.changed_codes:
        if old.message != new.message:
            lost = _parameters(old.message) - _parameters(new.message)
            name = code_name(path)
            effect = (
                Effect(
                    "risky",
                    f"the message of {name} no longer contains {listed(sorted(lost))}",
                    ("clients",),
                )
                if lost
                else Effect("safe", f"the message of {name} is worded differently")
            )
            yield Occurrence((*path, "message"), effect, old.message, new.message)


def _parameters(message: str | None) -> set[str]:
    return set(re.findall(r"(?<!\$)\$\{([^}]*)\}", message or ""))


@rule("code/passthrough", "BEHAVIOUR", reads=("Code.passthrough",))
def code_passthrough(evolution: Evolution) -> Iterator[Occurrence]:
    """Detectors of leaks skip members with foreign text, so each such member weakens privacy."""
    for path, old, new in evolution.changed_codes:
        more = [member for member in new.passthrough if member not in old.passthrough]
        gone = [member for member in old.passthrough if member not in new.passthrough]
        name = code_name(path)
        if more:
            message = f"{listed(more)} of {name} may contain foreign text, which detectors skip"
            yield Occurrence(
                (*path, "passthrough"), Effect("risky", message, ("clients", "operators"))
            )
        elif gone:
            message = f"{listed(gone)} of {name} may no longer contain foreign text"
            yield Occurrence((*path, "passthrough"), Effect("breaking", message, ("services",)))


@rule("code/deadline", "BEHAVIOUR", reads=("Code.deadline", "Deadline.detail", "Deadline.late_by"))
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
            message = f"{name} may come {after.late_by:g} s after its deadline ({before.late_by:g} s before)"
            effect = (
                Effect("risky", message, ("clients",))
                if longer
                else Effect("breaking", message, ("services",))
            )
        else:
            continue
        if effect is not None:
            yield Occurrence((*path, "deadline"), effect)
