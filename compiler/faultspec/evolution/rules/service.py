"""Evolution rules about what a service promises beside its codes: keys, fallbacks, privacy, audit
records, published lists and texts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from faultspec.diagnostics.model import Path
from faultspec.evolution.model import BOTH, Audience, ChangeSeverity, Effect
from faultspec.evolution.promises import (
    compare_presence,
    compare_promise,
    compress,
    format_value,
    join_values,
    replacement_message,
    split_values,
)
from faultspec.evolution.rule import Evolution, Occurrence, evolution_rule
from faultspec.evolution.rules.details import as_operators_effect
from faultspec.evolution.rules.operations import is_idempotent
from faultspec.language.model import Idempotency, Taxonomy, Unknown, UpstreamCode
from faultspec.language.upstream_failures import UpstreamSays, deciding_row, distinct_failures
from faultspec.runtime import durations
from faultspec.runtime.keys import KeyPlace


def _section(evolution: Evolution, name: str) -> tuple[Any, Any]:
    return getattr(evolution.old, name), getattr(evolution.new, name)


@evolution_rule(
    "idempotency/key",
    "BEHAVIOUR",
    reads=(
        "Taxonomy.idempotency",
        "Idempotency.key",
        "KeyPlace.kind",
        "KeyPlace.at",
        "Idempotency.methods",
        "Idempotency.window",
        "Idempotency.equal",
        "Idempotency.headers",
        "Idempotency.mismatch",
        "Idempotency.missing",
        "Idempotency.refusals",
        "Surface.key",
        "Operation.key",
    ),
)
def idempotency_key(evolution: Evolution) -> Iterator[Occurrence]:
    """Clients repeat writes under a key, for as long as the service remembers it. A service that
    forgets earlier, or returns less, doubles their writes."""
    old, new = _section(evolution, "idempotency")
    if old is not None and new is not None:
        yield from _moved_keys(evolution, old, new)
    if old == new:
        return
    if old is None or new is None:
        effect = (
            Effect("safe", "writes can be repeated under a key", adds=True)
            if old is None
            else Effect("breaking", "writes can no longer be repeated under a key", ("clients",))
        )
        yield Occurrence(("idempotency",), effect)
        return
    for field, effect in _key_effects(old, new):
        yield Occurrence(("idempotency", field), effect, getattr(old, field), getattr(new, field))


def _moved_keys(evolution: Evolution, old: Idempotency, new: Idempotency) -> Iterator[Occurrence]:
    """Keys of surfaces and operations that are elsewhere, and not because all keys are."""
    for section in ("surfaces", "operations"):
        for path, before, after in evolution.pairs(section):
            own = before.key or after.key
            earlier, later = before.key or old.key, after.key or new.key
            if own is not None and not _is_same_place(earlier, later):
                message = _describe_move(f"`{after.name}`", earlier, later)
                effect = Effect("breaking", message, ("clients",))
                yield Occurrence((*path, "key"), effect, before.key, after.key)


def _is_same_place(old: KeyPlace, new: KeyPlace) -> bool:
    """Whether a client puts the key where it did; names of headers have no case."""
    if old.kind == new.kind == "header":
        return old.at.lower() == new.at.lower()
    return old == new


def _describe_place(place: KeyPlace) -> str:
    return f"the header `{place.at}`" if place.kind == "header" else str(place)


def _describe_move(whose: str, old: KeyPlace, new: KeyPlace) -> str:
    return f"the key of {whose} is {_describe_place(new)} in place of {_describe_place(old)}"


def _key_effects(old: Idempotency, new: Idempotency) -> Iterator[tuple[str, Effect]]:
    if not _is_same_place(old.key, new.key):
        message = f"the key is {_describe_place(new.key)} in place of {_describe_place(old.key)}"
        yield "key", Effect("breaking", message, ("clients",))
    for field, label in (
        ("methods", "methods that accept a key"),
        ("equal", "equal parts of a repeated answer"),
        ("headers", "equal headers of a repeated answer"),
    ):
        before, after = getattr(old, field), getattr(new, field)
        gone, more = split_values(before, after)
        if gone:
            yield (
                field,
                Effect(
                    "breaking", f"{join_values(gone)}: no longer among the {label}", ("clients",)
                ),
            )
        elif more:
            yield field, Effect("safe", f"{join_values(more)}: now among the {label}", adds=True)
    if old.window != new.window:
        shorter = new.window is not None and (old.window is None or new.window < old.window)
        message = (
            f"a key is remembered for {_duration(new.window)} in place of {_duration(old.window)}"
        )
        yield (
            "window",
            Effect("breaking", message, ("clients",))
            if shorter
            else Effect("safe", message, adds=True),
        )
    if old.refusals != new.refusals:
        message = replacement_message("the fate of a refused key", new.refusals, old.refusals)
        promised = old.refusals != "unspecified"
        effect = Effect("breaking", message, ("clients",))
        yield "refusals", effect if promised else Effect("safe", message, adds=True)
    if old.mismatch != new.mismatch:
        message = (
            "a key that is used with another body is refused with"
            f" {format_value(new.mismatch)} in place of {format_value(old.mismatch)}"
        )
        severity: ChangeSeverity = "risky" if old.mismatch is None else "breaking"
        yield "mismatch", Effect(severity, message, ("clients",), ("WIRE",))
    if old.missing != new.missing:
        message = replacement_message("the answer to a missing key", new.missing, old.missing)
        required = new.missing not in (None, "accepted")
        effect = Effect("breaking", message, ("clients",), ("WIRE",))
        yield "missing", effect if required else Effect("safe", message, adds=True)


def _duration(seconds: float | None) -> str:
    return "an unstated time" if seconds is None else durations.render(seconds)


@evolution_rule(
    "upstream/calls",
    "BEHAVIOUR",
    reads=("Taxonomy.upstream", "Upstream.default", "Upstream.keys", "Upstream.status"),
)
def upstream_calls(evolution: Evolution) -> Iterator[Occurrence]:
    """A service repeats its own calls by this rule. Repeated calls that are not idempotent take
    effect twice behind it."""
    old, new = _section(evolution, "upstream")
    if old == new:
        return
    if old is None or new is None:
        verb = "are" if new else "are no longer"
        yield Occurrence(
            ("upstream",),
            Effect(
                "risky",
                f"calls of services behind this one {verb} repeated by a rule",
                ("services",),
            ),
        )
        return
    if old.default != new.default:
        message = f"upstream calls that say nothing are {format_value(new.default)}"
        doubles = new.default == "idempotent"
        yield Occurrence(
            ("upstream", "default"),
            Effect("breaking" if doubles else "risky", message, ("services",)),
        )
    for field, label in (
        ("keys", "what identifies an upstream call"),
        ("status", "the detail with the upstream status"),
    ):
        before, after = (
            sorted(getattr(r, field) or ()) if field == "keys" else getattr(r, field)
            for r in (old, new)
        )
        effect = compare_promise(before, after, label)
        if effect is not None:
            if field == "status":
                yield Occurrence(("upstream", field), effect._replace(categories=("WIRE",)))
            else:
                yield Occurrence(("upstream", field), effect._replace(breaks=("services",)))


@evolution_rule(
    "upstream/code",
    "WIRE",
    reads=(
        "Upstream.codes",
        "UpstreamCode.becomes",
        "UpstreamCode.upstreams",
        "UpstreamCode.statuses",
        "UpstreamCode.codes",
    ),
)
def upstream_table(evolution: Evolution) -> Iterator[Occurrence]:
    """The table gives a code to failures behind a service. Clients act on that code."""
    old, new = (each.codes if each else () for each in _section(evolution, "upstream"))
    if old == new:
        return
    changed: dict[tuple[str, str], list[UpstreamSays]] = {}
    for failure in distinct_failures((*old, *new)):
        before, after = _answer(old, failure), _answer(new, failure)
        if before != after:
            changed.setdefault((before, after), []).append(failure)
    for (before, after), failures in changed.items():
        described = [
            *map(_describe_failure, failures[:_SHOWN]),
            *(["…"] * (len(failures) > _SHOWN)),
        ]
        message = f"failures upstream ({', '.join(described)}) are {after} in place of {before}"
        effect = (
            Effect("safe", message, adds=True)
            if before == _UNDECLARED
            else Effect("breaking", message, ("clients",))
        )
        yield Occurrence(("upstream", "codes"), effect, before, after)


#: The failures that a message describes.
_SHOWN = 3


def _answer(rows: Sequence[UpstreamCode], failure: UpstreamSays) -> str:
    row = deciding_row(rows, failure)
    return _UNDECLARED if row is None else f"`{row.becomes}`"


def _describe_failure(failure: UpstreamSays) -> str:
    answer = "no answer" if failure.status is None else str(failure.status)
    code = "" if failure.code is None else f" with `{failure.code}`"
    return f"{answer}{code}" + (f" of `{failure.upstream}`" if failure.upstream else "")


@evolution_rule(
    "fallback/status", "WIRE", reads=("Taxonomy.fallbacks", "Fallback.on", "Fallback.code")
)
def fallback_status(evolution: Evolution) -> Iterator[Occurrence]:
    """The fallback gives a code to statuses that no code claims, such as those of a framework."""
    old, new = evolution.old, evolution.new
    if old.fallbacks == new.fallbacks:
        return
    changed: dict[tuple[str, str], list[int]] = {}
    claimed = {
        status
        for taxonomy in (old, new)
        for code in taxonomy.shared_live_codes()
        for status in code.http.allowed_statuses()
    }
    for status in range(400, 600):
        before, after = _fallback(old, status), _fallback(new, status)
        if status not in claimed and before != after:
            changed.setdefault((before, after), []).append(status)
    for (before, after), statuses in changed.items():
        message = f"errors under {join_values(compress(statuses))} are {after} in place of {before}"
        narrower = before == _UNDECLARED or after == _UNUSED
        hurt: tuple[Audience, ...] = ("services",) if narrower else ("clients",)
        effect = Effect("breaking", message, hurt)
        yield Occurrence(("fallback",), effect, before, after, covers=(("fallbacks",),))


_UNDECLARED, _UNUSED = "not declared", "not used"


def _fallback(taxonomy: Taxonomy, status: int) -> str:
    fallback = taxonomy.fallback_for(status)
    if fallback is None:
        return _UNDECLARED
    return _UNUSED if fallback.code is None else f"`{fallback.code}`"


@evolution_rule(
    "unknown/code",
    "BEHAVIOUR",
    reads=(
        "Taxonomy.unknown",
        "Taxonomy.undeclared",
        "Unknown.becomes",
        "Unknown.retriable",
        "Unknown.original_code",
    ),
)
def unknown_code(evolution: Evolution) -> Iterator[Occurrence]:
    """Clients replace a code that they do not know, and services an error that they did not
    declare. Without the first, a closed taxonomy cannot grow."""
    for section in ("unknown", "undeclared"):
        old, new = _section(evolution, section)
        if old == new:
            continue
        who: tuple[Audience, ...] = ("clients",) if section == "unknown" else ("services",)
        if old is None or new is None:
            subject = (
                "codes that clients do not know"
                if section == "unknown"
                else "errors that services did not declare"
            )
            effect = (
                Effect("safe", f"{subject} become `{new.becomes}`", adds=True)
                if old is None
                else Effect(
                    "breaking",
                    f"{subject} have no replacement any more",
                    who,
                    ("SOURCE", "BEHAVIOUR"),
                )
            )
            yield Occurrence((section,), effect)
            continue
        yield from _unknown_occurrences(section, old, new, who)


def _unknown_occurrences(
    section: str, old: Unknown, new: Unknown, who: tuple[Audience, ...]
) -> Iterator[Occurrence]:
    if old.becomes != new.becomes:
        message = f"`{section}` becomes `{new.becomes}` in place of `{old.becomes}`"
        effect = (
            Effect("risky", message, who)
            if section == "unknown"
            else Effect("breaking", message, ("clients",), ("WIRE",))
        )
        yield Occurrence((section, "becomes"), effect, old.becomes, new.becomes)
    if old.retriable != new.retriable:
        verb = "is now" if new.retriable else "is no longer"
        effect = Effect(
            "risky" if new.retriable else "breaking",
            f"`{section}` {verb} retriable",
            ("services",) if new.retriable else ("clients",),
        )
        yield Occurrence((section, "retriable"), effect, old.retriable, new.retriable)
    effect_of_place = compare_promise(
        old.original_code, new.original_code, f"the place of the original code of `{section}`"
    )
    if effect_of_place is not None and section == "unknown":
        yield Occurrence((section, "original_code"), Effect("risky", effect_of_place.message, who))
    elif effect_of_place is not None:
        yield Occurrence((section, "original_code"), effect_of_place._replace(categories=("WIRE",)))


@evolution_rule(
    "imported/codes",
    "WIRE",
    reads=("Taxonomy.imported", "ImportedCodes.pattern", "ImportedCodes.retriable"),
)
def imported_codes(evolution: Evolution) -> Iterator[Occurrence]:
    """Imported codes are made from statuses by a pattern."""
    old, new = _section(evolution, "imported")
    if old == new:
        return
    if old is None or new is None or old.pattern != new.pattern:
        effect = compare_promise(
            old and old.pattern, new and new.pattern, "the pattern of imported codes"
        )
        if effect is not None:
            yield Occurrence(
                ("imported",), Effect("safe", effect.message, adds=True) if old is None else effect
            )
        return
    if old.retriable != new.retriable:
        verb = "are now" if new.retriable else "are no longer"
        unsafe = not all(is_idempotent(evolution.new, o) for o in evolution.new.operations.values())
        effect = Effect(
            "risky" if new.retriable and not unsafe else "breaking",
            f"imported codes {verb} retriable",
            ("services",) if new.retriable and not unsafe else ("clients",),
            ("BEHAVIOUR",),
        )
        yield Occurrence(("imported", "retriable"), effect)


@evolution_rule(
    "privacy/guarantee",
    "BEHAVIOUR",
    reads=(
        "Taxonomy.privacy",
        "Privacy.detectors",
        "Privacy.never_echoed",
        "Privacy.internal_names",
    ),
)
def privacy_guarantee(evolution: Evolution) -> Iterator[Occurrence]:
    """The guarantee protects people whose data is behind the service. Fewer detectors protect
    less."""
    old, new = _section(evolution, "privacy")
    for field, label in (
        ("detectors", "detectors of leaks"),
        ("never_echoed", "attributes that are never echoed"),
        ("internal_names", "internal names"),
    ):
        before = getattr(old, field) if old else ()
        after = getattr(new, field) if new else ()
        gone, more = split_values(before, after)
        if gone:
            message = f"{join_values(gone)}: no longer among the {label}"
            yield Occurrence(
                ("privacy", field),
                Effect("risky", message, ("clients",)),
                before,
                after,
                covers=(("privacy",),),
            )
        if more:
            message = f"{join_values(more)}: now among the {label}"
            yield Occurrence(
                ("privacy", field),
                Effect("risky", message, ("services",)),
                before,
                after,
                covers=(("privacy",),),
            )


@evolution_rule(
    "privacy/concealment",
    "BEHAVIOUR",
    reads=("Privacy.conceal", "Concealment.across", "Concealment.answer", "Concealment.never"),
)
def privacy_concealment(evolution: Evolution) -> Iterator[Occurrence]:
    """Across a boundary the answer is as for a missing resource. Clients meet another code where
    that changes, and strangers learn what exists where it is gone."""
    old, new = _section(evolution, "privacy")
    before = {rule.across: rule for rule in old.conceal} if old else {}
    after = {rule.across: rule for rule in new.conceal} if new else {}
    for across in dict.fromkeys((*before, *after)):
        one, other = before.get(across), after.get(across)
        path: Path = ("privacy", "conceal", across)
        covers = (("privacy",),)
        if one is None and other is not None:
            message = f"resources of another {across} are answered with `{other.answer}`"
            yield Occurrence(path, Effect("breaking", message, BOTH), covers=covers)
        elif one is not None and other is None:
            message = f"resources of another {across} are no longer concealed"
            yield Occurrence(path, Effect("risky", message, ("clients",)), covers=covers)
        elif one is not None and other is not None and one != other:
            if one.answer != other.answer:
                message = (
                    f"resources of another {across} are answered with `{other.answer}` in place "
                    f"of `{one.answer}`"
                )
                yield Occurrence(
                    path,
                    Effect("breaking", message, ("clients",)),
                    one.answer,
                    other.answer,
                    covers=covers,
                )
            gone, more = split_values(one.never, other.never)
            if gone:
                message = f"{join_values(gone)} may reveal a resource of another {across}"
                yield Occurrence(path, Effect("risky", message, ("clients",)), covers=covers)
            if more:
                message = f"{join_values(more)} must not reveal a resource of another {across}"
                yield Occurrence(path, Effect("breaking", message, ("services",)), covers=covers)


@evolution_rule(
    "audit/record",
    "OPS",
    reads=(
        "Taxonomy.audit",
        "Audit.id",
        "Audit.lookup",
        "Audit.record",
        "Audit.means",
        "Audit.per",
        "Lookup.request",
        "Lookup.items",
        "Lookup.id",
        "Lookup.order",
    ),
)
def audit_record(evolution: Evolution) -> Iterator[Occurrence]:
    """Operators and auditors look failures up by an id, and read the members of their records."""
    old, new = _section(evolution, "audit")
    if old == new:
        return
    if old is None or new is None:
        effect = (
            Effect("breaking", "failures are recorded now", ("services",))
            if old is None
            else Effect("breaking", "failures are no longer recorded", ("clients",))
        )
        yield Occurrence(("audit",), effect)
        return
    for path, effect in _promises(("audit",), old, new, ("id", "lookup"), what="of audit records"):
        yield Occurrence(path, as_operators_effect(effect))
    for name in dict.fromkeys((*old.record, *new.record)):
        before, after = old.record.get(name), new.record.get(name)
        effect_of_member = compare_presence(
            before and before.presence,
            after and after.presence,
            f"the member `{name}` of audit records",
        )
        if effect_of_member is not None:
            yield Occurrence(("audit", "record", name), as_operators_effect(effect_of_member))
    for name in dict.fromkeys((*old.means, *new.means)):
        effect_of_meaning = compare_promise(
            old.means.get(name), new.means.get(name), f"what `{name}` of audit records repeats"
        )
        if effect_of_meaning is not None:
            yield Occurrence(("audit", "means", name), as_operators_effect(effect_of_meaning))
    if old.per != new.per:
        message = f"every {new.per} is recorded, not every {old.per}"
        less = new.per == "failure"
        yield Occurrence(
            ("audit", "per"), Effect("breaking", message, ("operators",) if less else ("services",))
        )


def _promises(
    path: Path, old: Any, new: Any, fields: tuple[str, ...], what: str
) -> Iterator[tuple[Path, Effect]]:
    """The effects of fields whose value is a place or a code, or a record of them."""
    for field in fields:
        before, after = getattr(old, field), getattr(new, field)
        if before == after:
            continue
        if before is not None and after is not None and not isinstance(before, str):
            effect = Effect("breaking", f"`{field}` {what} is another one", ("clients",))
        else:
            one, other = ("declared" if isinstance(v, tuple) else v for v in (before, after))
            effect = compare_promise(one, other, f"`{field}` {what}") or Effect("safe", what)
        yield (*path, field), effect


@evolution_rule(
    "discovery/publication",
    "WIRE",
    reads=(
        "Taxonomy.discovery",
        "Publication.name",
        "Publication.request",
        "Publication.kind",
        "Publication.at",
        "Publication.item",
        "Publication.empty",
    ),
)
def discovery_publication(evolution: Evolution) -> Iterator[Occurrence]:
    """Clients that read a published list find it at a request, and its members at their places."""
    for path, publication in evolution.find_added("discovery"):
        yield Occurrence(
            path, Effect("safe", f"the list `{publication.name}` is published", adds=True)
        )
    for path, publication in evolution.find_removed("discovery"):
        yield Occurrence(
            path,
            Effect(
                "breaking", f"the list `{publication.name}` is no longer published", ("clients",)
            ),
        )
    for path, old, new in evolution.pairs("discovery"):
        for field in ("request", "kind", "at", "empty"):
            before, after = getattr(old, field), getattr(new, field)
            if before != after:
                message = replacement_message(f"`{field}` of the list `{new.name}`", after, before)
                effect_of_place = Effect("breaking", message, ("clients",))
                yield Occurrence((*path, field), effect_of_place, before, after)
        for name in dict.fromkeys((*old.item, *new.item)):
            effect = compare_promise(
                old.item.get(name),
                new.item.get(name),
                f"the place of `{name}` in the list `{old.name}`",
            )
            if effect is not None:
                yield Occurrence((*path, "item", name), effect)


@evolution_rule(
    "navigation/steps",
    "WIRE",
    reads=(
        "Taxonomy.navigation",
        "Navigation.offers",
        "Navigation.takes",
        "Navigation.refused",
        "Navigation.unknown",
        "Navigation.all",
    ),
)
def navigation_steps(evolution: Evolution) -> Iterator[Occurrence]:
    """Callers take the steps that an answer offers; others are refused."""
    old, new = _section(evolution, "navigation")
    if old == new:
        return
    if old is None or new is None:
        effect = (
            Effect("breaking", "answers offer steps, and others are refused", BOTH)
            if old is None
            else Effect("breaking", "answers no longer offer steps", ("clients",))
        )
        yield Occurrence(("navigation",), effect)
        return
    fields = ("offers", "takes", "refused", "unknown", "all")
    for path, effect in _promises(("navigation",), old, new, fields, what="of the offered steps"):
        yield Occurrence(path, effect)


@evolution_rule(
    "rendering/text",
    "SOURCE",
    reads=("Taxonomy.renderings", "Rendering.name", "Rendering.picture", "Rendering.given"),
)
def rendering_text(evolution: Evolution) -> Iterator[Occurrence]:
    """Generated code renders errors as text, from values that its caller gives."""
    for path, rendering in evolution.find_added("renderings"):
        yield Occurrence(
            path, Effect("safe", f"the rendering `{rendering.name}` is new", adds=True)
        )
    for path, rendering in evolution.find_removed("renderings"):
        yield Occurrence(
            path, Effect("breaking", f"the rendering `{rendering.name}` is gone", ("clients",))
        )
    for path, old, new in evolution.pairs("renderings"):
        if list(old.given) != list(new.given) and set(old.given) != set(new.given):
            message = (
                f"the rendering `{new.name}` takes {join_values(new.given) or 'nothing'} in place "
                f"of {join_values(old.given) or 'nothing'}"
            )
            yield Occurrence((*path, "given"), Effect("breaking", message, ("clients",)))
        if old.picture != new.picture:
            message = f"the rendering `{new.name}` looks different"
            shapes = [_keys(picture) for picture in (old.picture, new.picture)]
            severity: ChangeSeverity = "breaking" if shapes[0] - shapes[1] else "risky"
            yield Occurrence((*path, "picture"), Effect(severity, message, ("clients",)))


def _keys(picture: object, pointer: str = "") -> frozenset[str]:
    """The pointers of the members of a picture."""
    if isinstance(picture, Mapping):
        inner = (_keys(value, f"{pointer}/{key}") for key, value in picture.items())
        return frozenset({pointer}).union(*inner)
    return frozenset({pointer})


@evolution_rule("profile/rfc9110", "WIRE", reads=("Taxonomy.profile",))
def profile_rfc9110(evolution: Evolution) -> Iterator[Occurrence]:
    """The profile holds services to what RFC 9110 demands of answers."""
    old, new = evolution.old.profile, evolution.new.profile
    effect = compare_promise(old, new, "the profile of answers")
    if effect is not None:
        yield Occurrence(("profile",), effect, old, new)
