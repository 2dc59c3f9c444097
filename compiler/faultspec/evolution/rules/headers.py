"""The evolution rule about response headers: what the rules together demand of each answer."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from faultspec.diagnostics.model import Path
from faultspec.evolution.model import Effect
from faultspec.evolution.promises import compare_allowed, compare_presence, compare_promise
from faultspec.evolution.rule import Evolution, Occurrence, evolution_rule
from faultspec.evolution.rules.codes import code_name
from faultspec.evolution.rules.details import schema_effects
from faultspec.language.model import Code, HeaderRule, Presence, Schema, Surface


class Demand(NamedTuple):
    """The demand of all rules for a header on an answer."""

    presence: Presence | None = None
    format: tuple[str, ...] = ()
    token: str | None = None
    equals: str | None = None
    value: Schema | None = None
    name: str | None = None


@evolution_rule(
    "header/answer",
    "WIRE",
    reads=(
        "Taxonomy.headers",
        "Surface.headers",
        "Code.headers",
        "HeaderRule.name",
        "HeaderRule.presence",
        "HeaderRule.on",
        "HeaderRule.codes",
        "HeaderRule.format",
        "HeaderRule.token",
        "HeaderRule.equals",
        "HeaderRule.value",
    ),
)
def header_answer(evolution: Evolution) -> Iterator[Occurrence]:
    """Each code under each of its statuses has the headers that all rules together demand,
    wherever they are written. Proxies, caches and clients act on them."""
    global_same = evolution.old.headers == evolution.new.headers
    for path, old, new in evolution.code_pairs:
        if not global_same or old.headers != new.headers:
            yield from _code_occurrences(evolution, path, old, new)
    if not global_same:
        yield from _other_occurrences(evolution)
    for name, after in evolution.new.surfaces.items():
        before = evolution.old.surfaces.get(name)
        if before is not None and before.headers != after.headers:
            yield from _surface_occurrences(evolution, before, after)


def _surface_occurrences(evolution: Evolution, old: Surface, new: Surface) -> Iterator[Occurrence]:
    """The demands on one surface, on errors of each code and on answers without a code."""
    place: Path = ("surfaces", new.name, "headers")
    codes: list[tuple[Code | None, Code | None]] = [(None, None)]
    codes += [(before, after) for _, before, after in evolution.code_pairs]
    found: dict[tuple[Path, str], Occurrence] = {}
    for before, after in codes:
        rules = (*old.headers, *new.headers)
        statuses = (
            sorted({bound for rule in rules for span in rule.on for bound in (span.low, span.high)})
            if before is None or after is None
            else sorted(set(before.http.allowed_statuses()) & set(after.http.allowed_statuses()))
        )
        for status in statuses:
            first = _demands(evolution.old.header_rules(before, status, old))
            then = _demands(evolution.new.header_rules(after, status, new))
            answers = f"answers on `{new.name}`"
            for inner, effect, *values in _compare_demands(first, then, answers):
                at: Path = (*place, *inner)
                occurrence = Occurrence(at, effect, values[0], values[1], covers=(place,))
                found.setdefault(((*place, *inner), effect.message), occurrence)
    yield from found.values()


def _code_occurrences(
    evolution: Evolution, path: Path, old: Code, new: Code
) -> Iterator[Occurrence]:
    statuses = set(old.http.allowed_statuses()) & set(new.http.allowed_statuses())
    found: dict[tuple[Path, str], Occurrence] = {}
    known: list[int | None] = [*sorted(statuses)] or [None]
    for status in known:
        before = _demands(evolution.old.header_rules(old, status))
        after = _demands(evolution.new.header_rules(new, status))
        for inner, effect, *values in _compare_demands(before, after, code_name(path)):
            covers = ((*path, "headers"), ("headers",))
            place = (*path, "headers", *inner)
            occurrence = Occurrence(place, effect, values[0], values[1], covers=covers)
            found.setdefault((place, effect.message), occurrence)
    yield from found.values()


def _other_occurrences(evolution: Evolution) -> Iterator[Occurrence]:
    """Answers without a code of the taxonomy: successes, and statuses that no code claims."""
    claimed = {s for code in evolution.new.every_code() for s in code.http.allowed_statuses()}
    spans = [
        span
        for t in (evolution.old, evolution.new)
        for r in t.headers
        if not r.codes
        for span in r.on
    ]
    bounds = {bound for span in spans for bound in (span.low, span.high)} - claimed
    for status in sorted(bounds):
        before, after = (
            _demands(r for r in t.headers if r.applies(None, status))
            for t in (evolution.old, evolution.new)
        )
        for inner, effect, *values in _compare_demands(before, after, "other answers"):
            yield Occurrence(("headers", *inner), effect, values[0], values[1])


def _demands(rules: Iterable[HeaderRule]) -> Mapping[str, Demand]:
    """The demand by header, by its name in lower case. The last rule, the most specific, wins."""
    demands: dict[str, Demand] = {}
    for r in rules:
        known = demands.get(r.name.lower(), Demand())
        demands[r.name.lower()] = Demand(
            presence=r.presence,
            format=r.format or known.format,
            token=r.token or known.token,
            equals=r.equals or known.equals,
            value=r.value or known.value,
            name=r.name,
        )
    return demands


def _compare_demands(
    before: Mapping[str, Demand], after: Mapping[str, Demand], answers: str
) -> Iterator[tuple[Path, Effect, object, object]]:
    """The effect of each demand that differs, with its place below the headers and its values.

    A header that only one side demands differs in its presence alone.
    """
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name, Demand()), after.get(name, Demand())
        what = f"the header `{new.name or old.name}` of {answers}"
        presence = compare_presence(old.presence, new.presence, what)
        if presence is not None:
            yield (name,), presence, old.presence, new.presence
        if old.presence is None or new.presence is None:
            continue
        effects = {
            "format": compare_allowed(
                old.format, new.format, f"the format of {what}", any_if_empty=True
            ),
            "token": compare_promise(old.token, new.token, f"the directive of {what}"),
            "equals": compare_promise(old.equals, new.equals, f"the slot that {what} repeats"),
        }
        for field, effect in effects.items():
            if effect is not None:
                yield (name, field), effect, getattr(old, field), getattr(new, field)
        blank = Schema()
        for field, effect in schema_effects(old.value or blank, new.value or blank, what):
            yield (name, "value", field), effect, old.value, new.value
