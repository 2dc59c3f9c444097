"""Evolution rules about surfaces: which exchanges they claim, and what their errors look like."""

from collections.abc import Iterator

from faultspec.diagnostics.model import Path
from faultspec.evolution.model import BOTH, Audience, Effect
from faultspec.evolution.promises import (
    compare_allowed,
    compare_promise,
    expand,
    format_value,
    join_values,
    replacement_message,
    split_values,
)
from faultspec.evolution.rule import Evolution, Occurrence, evolution_rule
from faultspec.evolution.rules.details import as_operators_effect, compare_member
from faultspec.evolution.samples import (
    compile_surfaces,
    describe_sample,
    find_claiming,
    sample_exchanges,
)
from faultspec.language.carriers import reaches
from faultspec.language.model import Surface


@evolution_rule(
    "surface/declared", "WIRE", reads=("Taxonomy.surfaces", "Surface.name", "Surface.transport")
)
def surface_declared(evolution: Evolution) -> Iterator[Occurrence]:
    """A surface is a place where errors occur. Without it, errors there have no promised form."""
    for path, surface in evolution.find_added("surfaces"):
        yield Occurrence(path, Effect("safe", f"the surface `{surface.name}` is new", adds=True))
    for path, surface in evolution.find_removed("surfaces"):
        taken = _heirs(evolution, surface)
        if taken and all(_same_errors(surface, heir) for heir in taken):
            effect = Effect(
                "safe",
                f"the surface `{surface.name}` is part of {join_values(h.name for h in taken)}",
            )
        else:
            effect = Effect("breaking", f"the surface `{surface.name}` is gone", BOTH)
        yield Occurrence(path, effect)
    for path, old, new in evolution.pairs("surfaces"):
        moved = compare_promise(old.transport, new.transport, f"the transport of `{new.name}`")
        if moved is not None:
            yield Occurrence((*path, "transport"), moved, old.transport, new.transport)


def _same_errors(one: Surface, other: Surface) -> bool:
    """Whether errors have the same form on both surfaces."""
    return other == one._replace(name=other.name, match=other.match, source=other.source)


@evolution_rule(
    "surface/match",
    "WIRE",
    reads=(
        "Surface.match",
        "Match.routes",
        "Match.statuses",
        "Match.tools",
        "Match.headers",
        "Match.methods",
        "Match.query",
        "Match.request",
    ),
)
def surface_match(evolution: Evolution) -> Iterator[Occurrence]:
    """An exchange belongs to the first surface that matches. One that now belongs to another
    surface, or to none, may have another error."""
    old, new = evolution.old, evolution.new
    if [(s.name, s.match) for s in old.surfaces.values()] == [
        (s.name, s.match) for s in new.surfaces.values()
    ]:
        return
    moved: dict[tuple[str | None, str | None], str] = {}
    matchers = compile_surfaces(old), compile_surfaces(new)
    for sample in sample_exchanges(old, new):
        before, after = (find_claiming(compiled, sample) for compiled in matchers)
        if sample.transport == "log":
            continue  # its place is the sink
        if before is not after and (before and before.name) != (after and after.name):
            moved.setdefault(
                (before and before.name, after and after.name), describe_sample(sample)
            )
    for (one, other), where in moved.items():
        appears = one is None and other not in old.surfaces
        vanishes = other is None and one not in new.surfaces
        if not appears and not vanishes:  # surface/declared reports these
            yield _move_occurrence(evolution, one, other, where)


def _move_occurrence(
    evolution: Evolution, one: str | None, other: str | None, where: str
) -> Occurrence:
    path: Path = ("surfaces", other or one or "")
    covers = (("surfaces",),)
    if one is None and other is not None:
        message = f"errors of {where} belong to `{other}`; before they had no promised form"
        return Occurrence(
            path, Effect("breaking", message, ("services",)), one, other, covers=covers
        )
    if other is None:
        message = f"errors of {where} have no promised form; before they belonged to `{one}`"
        return Occurrence(
            path, Effect("breaking", message, ("clients",)), one, other, covers=covers
        )
    before, after = evolution.old.surfaces[one or ""], evolution.new.surfaces[other]
    message = f"errors of {where} belong to `{other}` in place of `{one}`"
    if _same_errors(before, after):
        return Occurrence(
            path, Effect("safe", f"{message}; they look the same"), one, other, covers=covers
        )
    return Occurrence(path, Effect("breaking", message, ("clients",)), one, other, covers=covers)


def _heirs(evolution: Evolution, surface: Surface) -> list[Surface]:
    """The surfaces that claim what a removed one claimed; none if something is unclaimed."""
    found: dict[str, Surface] = {}
    old, new = compile_surfaces(evolution.old), compile_surfaces(evolution.new)
    for sample in sample_exchanges(evolution.old, evolution.new):
        if find_claiming(old, sample) is surface:
            heir = find_claiming(new, sample)
            if heir is None:
                return []
            found[heir.name] = heir
    return list(found.values())


@evolution_rule(
    "surface/errors",
    "WIRE",
    reads=(
        "Surface.error_when",
        "Surface.error_pointer",
        "Surface.error_equals",
        "Surface.at",
        "Surface.envelopes",
        "Surface.requires_details",
        "Surface.level",
        "Surface.reason",
    ),
)
def surface_errors(evolution: Evolution) -> Iterator[Occurrence]:
    """How an error is recognised, where its envelope is, and which envelopes it may have."""
    for path, old, new in evolution.pairs("surfaces"):
        name = f"`{new.name}`"
        effects = {
            "error_when": _error_statuses(old, new),
            "error_pointer": compare_promise(
                old.error_pointer, new.error_pointer, f"the mark of errors on {name}"
            ),
            "error_equals": _recognition(old, new),
            "at": _moved_envelope(old, new),
            "envelopes": _envelopes(evolution, old, new),
            "reason": _reason(old, new),
            "requires_details": _required_details(evolution, old, new),
            "level": _level(old, new),
        }
        for field, effect in effects.items():
            if effect is not None:
                judged = as_operators_effect(effect) if new.transport == "log" else effect
                yield Occurrence((*path, field), judged, getattr(old, field), getattr(new, field))


def _error_statuses(old: Surface, new: Surface) -> Effect | None:
    before, after = expand(old.error_when), expand(new.error_when)
    if before == after:
        return None
    message = f"errors of `{new.name}` are answers under {join_values(new.error_when)}"
    hurt: tuple[Audience, ...] = ("clients",) if before - after else ("services",)
    return Effect("breaking", message, hurt)


def _recognition(old: Surface, new: Surface) -> Effect | None:
    if old.error_equals == new.error_equals:
        return None
    return Effect("breaking", f"other members mark errors on `{new.name}`", ("clients",))


def _moved_envelope(old: Surface, new: Surface) -> Effect | None:
    if old.at == new.at:
        return None
    message = f"the envelope of `{new.name}` is at `{new.at or '/'}` in place of `{old.at or '/'}`"
    return Effect("breaking", message, ("clients",))


def _reason(old: Surface, new: Surface) -> Effect | None:
    """The effect of a reason beside an envelope: bodies of another shape pass too."""
    if (old.reason is None) == (new.reason is None) or not (old.envelopes and new.envelopes):
        return None
    if new.reason is not None:
        message = f"errors of `{new.name}` may have bodies of another shape"
        return Effect("breaking", message, ("clients",))
    message = f"errors of `{new.name}` may no longer have bodies of another shape"
    return Effect("breaking", message, ("services",))


def _envelopes(evolution: Evolution, old: Surface, new: Surface) -> Effect | None:
    if old.envelopes == new.envelopes:
        return None
    what = f"the envelope of `{new.name}`"
    if not old.envelopes:
        message = f"{what} is {join_values(new.envelopes)}; before there was none"
        return Effect("breaking", message, ("services",))
    if not new.envelopes:
        message = f"errors of `{new.name}` have no envelope any more"
        return Effect("breaking", message, ("clients",))
    used = {e for code in evolution.new.every_code() for e in code.envelopes or new.envelopes}
    after = [
        envelope for envelope in new.envelopes if envelope in used or envelope in old.envelopes
    ]
    if set(after) == set(old.envelopes) and set(after) != set(new.envelopes):
        return None
    return compare_allowed(old.envelopes, after, what) or Effect(
        "risky", f"{what} is {format_value(new.envelopes[0])} by default", ("clients",)
    )


def _always_required(evolution: Evolution, surface: Surface, key: str) -> bool:
    """Whether all codes that the surface may carry require the detail themselves."""
    codes = [
        code
        for path, code in evolution.new.located_codes()
        if code.live and reaches(surface, code, of_operation=path[0] == "operations")
    ]
    return bool(codes) and all(
        key in code.details and code.details[key].presence == "required" for code in codes
    )


def _required_details(evolution: Evolution, old: Surface, new: Surface) -> Effect | None:
    before, after = (
        [key for key in s.requires_details if not _always_required(evolution, s, key)]
        for s in (old, new)
    )
    gone, more = split_values(before, after)
    if gone:
        message = f"errors of `{new.name}` need not have the details {join_values(gone)}"
        return Effect("breaking", message, BOTH if more else ("clients",))
    if more:
        return Effect(
            "breaking",
            f"errors of `{new.name}` must have the details {join_values(more)}",
            ("services",),
        )
    return None


def _level(old: Surface, new: Surface) -> Effect | None:
    if old.level == new.level:
        return None
    message = f"errors {new.level.upper()} be carried on `{new.name}`"
    if new.level == "must":
        return Effect("breaking", message, ("services",))
    return Effect("breaking", message, ("clients",))


@evolution_rule(
    "surface/codes",
    "WIRE",
    reads=(
        "Surface.codes",
        "Surface.foreign",
        "Surface.namespaces",
        "Surface.protocol",
        "Protocol.envelope",
        "Protocol.codes",
        "NumberRange.low",
        "NumberRange.high",
    ),
)
def surface_codes(evolution: Evolution) -> Iterator[Occurrence]:
    """A closed surface promises clients all codes that they can meet. A code that is new there
    reaches them without a case of its own."""
    for path, old, new in evolution.pairs("surfaces"):
        if old.foreign != new.foreign:
            message = (
                f"the codes of `{new.name}` are "
                f"{'foreign' if new.foreign else 'those of the taxonomy'}"
            )
            hurt: tuple[Audience, ...] = ("clients",) if new.foreign else ("services",)
            yield Occurrence(
                (*path, "foreign"),
                Effect("breaking", message, hurt),
                covers=((*path, "foreign"), (*path, "codes")),
            )
        elif (old.codes is None) != (new.codes is None):
            yield Occurrence((*path, "codes"), _closing(evolution, new))
        elif old.codes is not None and new.codes is not None:
            yield from _listed_codes(evolution, path, old, new)
        elif old.namespaces != new.namespaces:
            yield Occurrence((*path, "namespaces"), _namespaces(old, new))
        if old.protocol != new.protocol:
            effect = _protocol(old, new)
            if effect is not None:
                yield Occurrence((*path, "protocol"), effect)


def _namespaces(old: Surface, new: Surface) -> Effect:
    """Another choice of closed namespaces."""
    gone, more = split_values(old.namespaces, new.namespaces)
    if gone:
        message = f"codes like {join_values(gone)} are open now on `{new.name}`"
        return Effect("breaking", message, ("clients",))
    message = f"codes like {join_values(more)} are closed now on `{new.name}`"
    return Effect("breaking", message, ("services",))


def _closing(evolution: Evolution, new: Surface) -> Effect:
    if new.codes is not None:
        return Effect("breaking", f"the codes of `{new.name}` are closed now", ("services",))
    message = f"the codes of `{new.name}` are open now"
    if evolution.old.unknown is not None:
        return Effect(
            "risky",
            f"{message}; clients treat unknown ones as `{evolution.old.unknown.becomes}`",
            ("clients",),
        )
    return Effect("breaking", f"{message}, and clients have no fallback", ("clients",))


def _listed_codes(
    evolution: Evolution, path: Path, old: Surface, new: Surface
) -> Iterator[Occurrence]:
    kept = {
        name
        for name in evolution.old.codes
        if name in evolution.new.codes
        and evolution.old.codes[name].live
        and evolution.new.codes[name].live
    }
    before, after = ([n for n in s.codes or () if n in kept] for s in (old, new))
    gone, more = split_values(before, after)
    if more:
        message = f"{join_values(more)} may now occur on `{new.name}`"
        effect = Effect("breaking", message, ("clients",), adds=True)
        yield Occurrence((*path, "codes"), effect)
    if gone:
        message = f"{join_values(gone)} may no longer occur on `{new.name}`"
        yield Occurrence((*path, "codes"), Effect("breaking", message, ("services",)))


def _protocol(old: Surface, new: Surface) -> Effect | None:
    if old.protocol is None or new.protocol is None:
        verb = "has" if old.protocol is None else "no longer has"
        message = f"`{new.name}` {verb} errors of the protocol"
        return Effect("breaking", message, ("clients",) if new.protocol else ("services",))
    before, after = _numbers(old), _numbers(new)
    moved = old.protocol.envelope != new.protocol.envelope
    if before == after and not moved:
        return None
    message = f"`{new.name}` has other errors of the protocol"
    wider = moved or bool(after - before)
    return Effect("breaking", message, ("clients",) if wider else ("services",))


def _numbers(surface: Surface) -> frozenset[int]:
    """The numbers of a surface's protocol that are bounds of a range or beside one.

    Equal sets of numbers have equal bounds, whichever way they are split into ranges.
    """
    ranges = (
        sorted((span.low, span.high) for span in surface.protocol.codes) if surface.protocol else []
    )
    merged: list[tuple[int, int]] = []
    for low, high in ranges:
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return frozenset(number for span in merged for number in span)


@evolution_rule(
    "surface/batch",
    "WIRE",
    reads=(
        "Surface.batch",
        "Batch.items",
        "Batch.status",
        "Batch.body",
        "Batch.mixed_only",
    ),
)
def surface_batch(evolution: Evolution) -> Iterator[Occurrence]:
    """A multi-status body has its outcomes, their statuses and their envelopes at fixed places."""
    for path, old, new in evolution.pairs("surfaces"):
        if old.batch == new.batch:
            continue
        if old.batch is None or new.batch is None:
            effect = Effect(
                "breaking",
                f"`{new.name}` is {'a' if new.batch else 'no longer a'} multi-status answer",
                BOTH,
            )
            yield Occurrence((*path, "batch"), effect)
            continue
        places = [
            name
            for name, attribute in (
                ("items", "items"),
                ("status", "status_places"),
                ("body", "body"),
            )
            if getattr(old.batch, attribute) != getattr(new.batch, attribute)
        ]
        for field in places:
            message = f"`{field}` of the outcomes of `{new.name}` is elsewhere"
            yield Occurrence((*path, "batch", field), Effect("breaking", message, ("clients",)))
        if old.batch.mixed_only != new.batch.mixed_only:
            message = (
                f"`{new.name}` is used for "
                f"{'mixed outcomes only' if new.batch.mixed_only else 'all outcomes'}"
            )
            hurt: tuple[Audience, ...] = ("services",) if new.batch.mixed_only else ("clients",)
            yield Occurrence((*path, "batch", "mixed_only"), Effect("breaking", message, hurt))


@evolution_rule("surface/bad-items", "WIRE", reads=("Surface.bad_items",))
def surface_bad_items(evolution: Evolution) -> Iterator[Occurrence]:
    """A batch that fails as a whole lists its bad items in a detail."""
    for path, old, new in evolution.pairs("surfaces"):
        subject = f"the detail with the bad items of `{new.name}`"
        effect = compare_promise(old.bad_items, new.bad_items, subject)
        if effect is not None:
            yield Occurrence((*path, "bad_items"), effect)


@evolution_rule("surface/batches", "WIRE", reads=("Protocol.batches",))
def surface_batches(evolution: Evolution) -> Iterator[Occurrence]:
    """Callers put several calls into one message where the service promises to take them."""
    for path, old, new in evolution.pairs("surfaces"):
        before, after = (
            None if surface.protocol is None else surface.protocol.batches for surface in (old, new)
        )
        if before != after and None not in (old.protocol, new.protocol):
            words = {True: "takes batches", False: "takes no batches", None: "may take batches"}
            hurt: tuple[Audience, ...] = ("clients",) if before else ("services",)
            effect = Effect("breaking", f"`{new.name}` {words[after]}", hurt)
            yield Occurrence((*path, "protocol", "batches"), effect)


@evolution_rule(
    "surface/states",
    "WIRE",
    reads=(
        "Surface.states",
        "CallState.when",
        "CallState.method",
        "CallState.allows",
        "CallState.refuses",
        "CallState.otherwise",
    ),
)
def surface_states(evolution: Evolution) -> Iterator[Occurrence]:
    """A call that a state of the session did not refuse before fails for callers who make it."""
    for path, old, new in evolution.pairs("surfaces"):
        before, after = set(old.states), set(new.states)
        if before == after:
            continue
        if after < before:
            message = f"fewer calls of `{new.name}` are refused in a state of the session"
            effect = Effect("safe", message)
        else:
            message = f"the calls that `{new.name}` refuses in a state of the session differ"
            effect = Effect("breaking", message, ("clients", "services"))
        yield Occurrence((*path, "states"), effect)


@evolution_rule("surface/success", "WIRE", reads=("Surface.success", "DetailMember.presence"))
def surface_success(evolution: Evolution) -> Iterator[Occurrence]:
    """Members of every success are as much a promise as those of errors."""
    for path, old, new in evolution.pairs("surfaces"):
        for name in dict.fromkeys((*old.success, *new.success)):
            effect = compare_member(
                old.success.get(name),
                new.success.get(name),
                f"the member `{name}` of successes",
                closed=False,
            )
            if effect is not None:
                yield Occurrence((*path, "success", name), effect)


@evolution_rule("surface/repeats", "OPS", reads=("Surface.repeats", "Surface.sink"))
def surface_repeats(evolution: Evolution) -> Iterator[Occurrence]:
    """Operators read the errors of one surface again on another, such as a log, at its sink."""
    for path, old, new in evolution.pairs("surfaces"):
        for field, label in (
            ("repeats", "the surface that `%s` repeats"),
            ("sink", "the sink of `%s`"),
        ):
            before, after = getattr(old, field), getattr(new, field)
            if before != after:
                message = replacement_message(label % new.name, after, before)
                effect = Effect("breaking", message, ("operators",) if before else ("services",))
                covers = ((*path, field), (*path, "match", "tools"))  # the sink is matched as one
                yield Occurrence((*path, field), effect, before, after, covers=covers)
