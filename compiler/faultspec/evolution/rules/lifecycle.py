"""Evolution rules about the life of codes: deprecation, removal, and names that stay taken."""

from collections.abc import Iterator

from faultspec.diagnostics.model import Path
from faultspec.evolution.model import BOTH, Category, Effect
from faultspec.evolution.pairing import successor
from faultspec.evolution.promises import format_value
from faultspec.evolution.rule import Evolution, Occurrence, evolution_rule
from faultspec.evolution.rules.codes import code_name
from faultspec.language.model import Code


@evolution_rule(
    "code/removed",
    "SOURCE",
    "WIRE",
    reads=("Taxonomy.codes", "Operation.errors", "Code.lifecycle", "Code.replaced_by"),
)
def code_removed(evolution: Evolution) -> Iterator[Occurrence]:
    """A code that is gone breaks whatever names it: clients that match it, services that raise it.
    The removal is sanctioned if the code was deprecated, its sunset is over, and a tombstone
    (`lifecycle: removed`) remains."""
    kept = {code.wire for _, code in evolution.added_codes}
    for path, code in evolution.removed_codes:
        after = evolution.new_codes.get(path)
        follower = successor(evolution.old, evolution.new, code.name)
        if code.wire in kept and follower is None:
            continue  # it moved, which is another rule
        message = f"{code_name(path)} is gone"
        covers: tuple[Path, ...] = (path,)
        wire = None
        if follower is not None:
            message = f"{code_name(path)} is replaced by `{follower.name}`"
            covers, wire = (path, ("codes", follower.name)), follower.wire
        elif after is not None and after.lifecycle == "reserved":
            message = f"{code_name(path)} is reserved: no longer produced"
        covers = (*covers, *evolution.closed_lists)
        yield Occurrence(
            path, _removal(evolution, code, after, message), code.wire, wire, covers=covers
        )


_SANCTION = (
    "deprecate it with `lifecycle: deprecated`, `sunset` and `replaced_by`; after the"
    " sunset replace it by a tombstone (`lifecycle: removed`)"
)


def _removal(evolution: Evolution, code: Code, after: Code | None, message: str) -> Effect:
    over = code.sunset is not None and code.sunset < evolution.today.isoformat()
    if code.lifecycle != "deprecated":
        objection = ", and it was never deprecated"
    elif code.sunset is None:
        objection = ", and its deprecation named no sunset"
    elif not over:
        objection = f", before its sunset {code.sunset}"
    elif after is None:
        objection = ", and no tombstone remains"
    else:
        message = f"{message}, after its sunset {code.sunset}"
        return Effect("risky", message, BOTH, ("SOURCE",), removes=True)
    categories: tuple[Category, ...] = (
        ("SOURCE",) if over and code.lifecycle == "deprecated" else ()
    )
    return Effect("breaking", message + objection, BOTH, categories, remedy=_SANCTION)


@evolution_rule("code/returned", "WIRE", reads=("Code.lifecycle",))
def code_returned(evolution: Evolution) -> Iterator[Occurrence]:
    """The name and the wire value of a removed or a reserved code are never used for another
    meaning: an older client still takes them for what they meant. The tombstone stays."""
    for path, code in evolution.old_codes.items():
        after = evolution.new_codes.get(path)
        if code.lifecycle == "removed" and after is not None and after.live:
            message = f"{code_name(path)} was removed and is back"
            effect = Effect("breaking", message, ("clients",), remedy="choose another name")
            yield Occurrence(path, effect, "removed", after.lifecycle)
        elif not code.live:
            yield from _reuse(evolution, path, code, after)


def _reuse(
    evolution: Evolution, path: Path, code: Code, after: Code | None
) -> Iterator[Occurrence]:
    """The wire value of a code that is not live, used by another one."""
    for place, other in evolution.added_codes:
        if other.wire == code.wire and place != path:
            was = f"which was {code.lifecycle}"
            message = f"{code_name(place)} takes the wire value of {code_name(path)}, {was}"
            effect = Effect("breaking", message, ("clients",), remedy="choose another value")
            yield Occurrence(place, effect, code.name, other.name, covers=(path, place))
            return
    if after is None:
        yield from _freed_name(evolution, path, code)
    elif code.lifecycle != "removed":
        return
    elif after.wire != code.wire:
        message = f"the tombstone of {code_name(path)} no longer holds its wire value"
        effect = Effect("risky", message, ("clients",), remedy="keep it")
        yield Occurrence((*path, "wire"), effect, code.wire, after.wire)
    elif after.lifecycle == "reserved":
        message = f"{code_name(path)} was removed and is now reserved for a new use"
        effect = Effect("risky", message, ("clients",), remedy="keep the tombstone")
        yield Occurrence((*path, "lifecycle"), effect, "removed", "reserved")


def _freed_name(evolution: Evolution, path: Path, code: Code) -> Iterator[Occurrence]:
    """A name that nothing keeps from being used again. A later change can do so unseen."""
    if path[0] == "operations" and path[1] not in evolution.new.operations:
        return  # the operation is gone, which is another rule
    if code.lifecycle == "removed":
        message = f"the tombstone of {code_name(path)} is gone, so its name can be reused"
        effect = Effect("breaking", message, ("clients",), ("SOURCE",), remedy="keep it")
    else:
        message = f"{code_name(path)} is no longer reserved, so its name can be reused"
        effect = Effect("risky", message, ("clients",), ("SOURCE",), remedy="keep it")
    yield Occurrence(path, effect, code.lifecycle, None)


@evolution_rule(
    "code/lifecycle",
    "SOURCE",
    reads=("Code.lifecycle", "Code.since", "Code.sunset", "Code.replaced_by"),
)
def code_lifecycle(evolution: Evolution) -> Iterator[Occurrence]:
    """A deprecation prepares clients for a removal. It names the successor of the code, its sunset
    or a reason."""
    for path, old in evolution.old_codes.items():
        new = evolution.new_codes.get(path)
        if old.lifecycle == "removed" and new is not None and new.lifecycle == "removed":
            yield from _successor_of_tombstone(path, old, new)
    for path, old, new in evolution.changed_codes:
        name = code_name(path)
        covers = tuple((*path, key) for key in ("lifecycle", "since", "sunset", "replaced_by"))
        if old.lifecycle != "deprecated" and new.lifecycle == "deprecated":
            effect = _deprecation(new, name)
            yield Occurrence((*path, "lifecycle"), effect, covers=covers)
        elif old.lifecycle != new.lifecycle:
            effect = _stage(old.lifecycle, new.lifecycle, name)
            yield Occurrence((*path, "lifecycle"), effect, covers=covers)
        else:
            yield from _dates(path, old, new)


#: The stages of produced codes, from the weakest promise to the strongest.
_STAGES = ("experimental", "beta", "deprecated", "stable")


def _stage(before: str, after: str, name: str) -> Effect:
    """The effect of another stage. A weaker one takes back what clients rely on."""
    if _STAGES.index(after) < _STAGES.index(before):
        remedy = "keep the stage, or deprecate the code"
        return Effect("breaking", f"{name} was {before} and is {after}", BOTH, remedy=remedy)
    again = " again" if before == "deprecated" else ""
    return Effect("safe", f"{name} is {after}{again}", adds=not again)


def _successor_of_tombstone(path: Path, old: Code, new: Code) -> Iterator[Occurrence]:
    """Bindings name the successor of a removed code to the clients that still receive it."""
    if old.replaced_by == new.replaced_by:
        return
    before, after = format_value(old.replaced_by), format_value(new.replaced_by)
    message = f"the replacement of {code_name(path)}, which is removed, is {after}"
    effect = Effect("safe", message, adds=True)
    if old.replaced_by is not None:
        effect = Effect("risky", f"{message} in place of {before}", ("clients",))
    yield Occurrence((*path, "replaced_by"), effect, old.replaced_by, new.replaced_by)


def _deprecation(code: Code, name: str) -> Effect:
    """The effect of a deprecation. It names a successor, a sunset or a reason."""
    instead = f"; `{code.replaced_by}` replaces it" if code.replaced_by else ""
    message = f"{name} is deprecated{instead}"
    if code.replaced_by or code.sunset or code.description:
        return Effect("safe", message, adds=True)
    message = f"{message}, without a replacement, a sunset or a reason"
    remedy = "write `replaced_by`, `sunset` or a `description` with the reason"
    return Effect("risky", message, ("clients",), adds=True, remedy=remedy)


def _dates(path: Path, old: Code, new: Code) -> Iterator[Occurrence]:
    name = code_name(path)
    if old.sunset != new.sunset:
        earlier = new.sunset is not None and old.sunset is not None and new.sunset < old.sunset
        message = f"the sunset of {name} is {new.sunset or 'open'}"
        if earlier:
            effect = Effect("risky", f"{message}, earlier than {old.sunset}", BOTH)
        else:
            effect = Effect("safe", message)
        yield Occurrence((*path, "sunset"), effect, old.sunset, new.sunset)
    if old.since != new.since:
        effect = Effect("safe", f"{name} was introduced in {format_value(new.since)}", (), ("DOC",))
        yield Occurrence((*path, "since"), effect, old.since, new.since)
    if old.replaced_by != new.replaced_by:
        effect = Effect("safe", f"the replacement of {name} is {format_value(new.replaced_by)}")
        yield Occurrence((*path, "replaced_by"), effect, old.replaced_by, new.replaced_by)
