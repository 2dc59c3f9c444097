"""Rules on conditions: what decides by rules is decided by one that can hold and is reached."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from faultspec.diagnostics.model import Path
from faultspec.language import values
from faultspec.language.conditions import ConditionalRule, StatusRange, Test
from faultspec.language.model import Code, Schema, Taxonomy
from faultspec.lint.places import at, codes, codes_of_policy
from faultspec.lint.rule import Remark, Subject


class _Ruled(NamedTuple):
    """A list of rules at a path, each with its own; ``met``: the codes that they are asked of."""

    path: Path
    rules: Sequence[tuple[Path, ConditionalRule]]
    met: Sequence[Code]


def condition_impossible(subject: Subject) -> Iterator[Remark]:
    """A condition asks for a detail that its code may have, for values that this may have, and for statuses of the code."""
    terms = values.vocabularies(subject.taxonomy)
    for ruled in _ruled(subject):
        for where, rule in ruled.rules if ruled.met else ():
            for test in rule.when:
                yield from _never(subject, (*where, "if", test.fact), test, ruled.met, terms)


def _never(
    subject: Subject, path: Path, test: Test, met: Sequence[Code], terms: values.Vocabularies
) -> Iterator[Remark]:
    """What of one test can't hold for any of the codes."""
    taxonomy, key = subject.taxonomy, test.fact.removeprefix("details.")
    hint = "ask for what there may be, or leave the rule out"
    if test.fact == "status":
        spans = [span for code in met for span in _statuses(taxonomy, code)]
        who = f"`{met[0].name}`" if len(met) == 1 else "none of its codes ever"
        for place, value in _asked(subject, path, test):
            if not any(_within(value, span) for span in spans):
                what = value if isinstance(value, StatusRange) else values.shown(value)
                message = f"{who} {'never ' if len(met) == 1 else ''}travels as {what}, so this never holds"
                listed = ", ".join(map(str, dict.fromkeys(spans))) or "none"
                yield Remark(place, message, f"the statuses there are: {listed}", on_key=False)
    elif key != test.fact:
        schemas = [schema for code in met if (schema := _detail(taxonomy, code, key)) is not None]
        if not schemas:
            who = f"`{met[0].name}` has" if len(met) == 1 else "none of its codes has"
            yield Remark(
                path,
                f"{who} no detail `{key}`, so this never holds",
                f"declare `{key}` among its details",
            )
        for place, value in _asked(subject, path, test) if schemas else ():
            refused = [_refusal(schema, value, terms) for schema in schemas]
            if all(refused):
                yield Remark(place, f"`{test.fact}` never {refused[0]}", hint, on_key=False)
    elif test.fact != "cause":
        for place, value in _asked(subject, path, test):
            if not isinstance(value, bool):
                what = value if isinstance(value, StatusRange) else values.shown(value)
                yield Remark(
                    place, f"`{test.fact}` is true or false, never {what}", hint, on_key=False
                )


def _asked(subject: Subject, path: Path, test: Test) -> Iterator[tuple[Path, object]]:
    """Each value that a test asks for, with its place; a range of numbers as one."""
    written = at(subject, path)
    ranges = iter(test.ranges)
    for index, value in enumerate(written if isinstance(written, list) else [written]):
        place = (*path, index) if isinstance(written, list) else path
        yield place, next(ranges) if isinstance(value, str) and value not in test.values else value


def _statuses(taxonomy: Taxonomy, code: Code) -> tuple[StatusRange, ...]:
    """Those under which a code may travel: its own, and those for which it is what is fallen back on."""
    return (
        *code.http.carried,
        *(fallback.on for fallback in taxonomy.fallbacks if fallback.code == code.name),
    )


def _within(value: object, span: StatusRange) -> bool:
    if isinstance(value, StatusRange):
        return value.meets(span)
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and span.low <= value <= span.high
    )


_ANYTHING = Schema()


def _detail(taxonomy: Taxonomy, code: Code, key: str) -> Schema | None:
    """The schema of a detail that a code may have; None where it has none of that name."""
    member, registered = code.details.get(key), taxonomy.detail_keys.get(key)
    if member is not None:
        return member.schema if member.presence != "forbidden" else None
    if code.details_schema is not None:
        return _ANYTHING  # an imported schema may name the key where nobody here can tell
    required = any(key in surface.requires_details for surface in taxonomy.surfaces.values())
    return (
        registered.schema
        if registered is not None and (registered.everywhere or required)
        else None
    )


def _refusal(schema: Schema, value: object, terms: values.Vocabularies) -> str | None:
    """Why a value of the schema is never this one, or none of a range; None where it may be."""
    if not isinstance(value, StatusRange):
        return next(
            (
                each.problem
                for each in values.check_value(schema, value, terms)
                if each.severity == "error"
            ),
            None,
        )
    if (
        schema.types and not {"integer", "number"} & {*schema.types}
    ) or schema.vocabulary is not None:
        return f"lies in {value}; it is no number"
    numbers = [each for each in schema.enum if isinstance(each, int | float)]
    below = schema.minimum is not None and schema.minimum > value.high
    above = schema.maximum is not None and schema.maximum < value.low
    if below or above or (schema.enum and not any(_within(each, value) for each in numbers)):
        return f"lies in {value}; its bounds, or the values that it may have, leave that out"
    return None


def condition_twice(subject: Subject) -> Iterator[Remark]:
    """The first rule whose condition holds decides, so a later one asks for something that none above it covers."""
    for path, rules, _ in _ruled(subject):
        for number, (where, later) in enumerate(rules):
            earlier = next((rule for rule in rules[:number] if _covers(rule[1], later)), None)
            if earlier is not None and later.when:
                related = (("the rule above is here", earlier[0]),)
                message = (
                    "this rule is never reached: where it holds, one above it holds and decides"
                )
                hint = "remove it, narrow the one above, or put this one first"
                yield Remark(
                    (*path, *where[len(path) :]), message, hint, on_key=False, related=related
                )


def _ruled(subject: Subject) -> Iterator[_Ruled]:
    """Every list of rules."""
    taxonomy = subject.taxonomy
    for path, code in codes(taxonomy):
        yield _located(subject, (*path, "http"), code.http.rules, (code,))
        yield _located(subject, (*path, "retriable", "when"), code.retriable.rules, (code,))
    for policy in taxonomy.retry_policies.values():
        path = ("retry_policies", policy.name, "eligible_when")
        yield _located(subject, path, policy.eligible_when, codes_of_policy(taxonomy, policy))


def _located(
    subject: Subject, path: Path, rules: Sequence[ConditionalRule], met: Sequence[Code]
) -> _Ruled:
    written = at(subject, path)
    if isinstance(written, dict):
        return _Ruled(path, [(path, rule) for rule in rules], met)
    places = (
        [index for index, each in enumerate(written) if isinstance(each, dict)]
        if isinstance(written, list)
        else []
    )
    return _Ruled(
        path, [((*path, index), rule) for index, rule in zip(places, rules, strict=False)], met
    )


def _covers(earlier: ConditionalRule, later: ConditionalRule) -> bool:
    """Whether the earlier rule holds wherever the later one does."""
    return all(any(_wider(test, other) for other in later.when) for test in earlier.when)


def _wider(one: Test, other: Test) -> bool:
    return (
        one.fact == other.fact
        and all(map(one.holds, other.values))
        and all(any(mine.covers(range_) for mine in one.ranges) for range_ in other.ranges)
    )
