"""Conditional rules as JSON Schema of the retry flag and of the status in a body.

A condition reads facts. A body shows the members of ``details``, and the status if the envelope has
a place for it. A fact that is not shown is unknown, as for the judge (``faultspec.judge.facts``):
its rule leaves both outcomes open.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from faultspec.language.conditions import ConditionalRule, StatusRange, Test
from faultspec.language.model import EMPTY, Code, Taxonomy
from faultspec.runtime.pointers import steps
from faultspec.runtime.shape import Node, Template, slot_places
from faultspec.targets.constants import choice_schema, constant_schema, span_schema

Json = dict[str, Any]

ALWAYS: Json = {}
NEVER: Json = {"not": {}}


SlotTypes = Mapping[str, tuple[str, ...]]
"""The JSON types of slots that have a field. Others have those of the language."""


def code_schemas(
    code: Code,
    shape: Node,
    taxonomy: Taxonomy,
    *,
    spelled: bool = False,
    types: SlotTypes = EMPTY,
) -> list[Json]:
    """The schemas of a body with this code beside those of its members; ``shape`` is the part with
    the code. ``spelled``: its status is a text, which conditions do not read.
    """
    facts = places(shape)
    if spelled:
        facts = {slot: path for slot, path in facts.items() if slot != "status"}
    flags = [facts["retriable"]] if "retriable" in facts else []
    if "details" in facts:
        flags += [(*facts["details"], key) for key in taxonomy.flag_keys]
    return [
        *rule_schemas(code.retriable.rules, facts, flags, types),
        *_actions(code=code, facts=facts, flags=flags, taxonomy=taxonomy, types=types),
        *_status(code, facts),
        *_exact_actions(code, facts),
    ]


@lru_cache(maxsize=64)  # asked for each code of an envelope, and of those there are few
def places(shape: Node) -> Mapping[str, tuple[str, ...]]:
    """Where the slots stand that conditions and their outcomes are about; none that is inside a
    list, or inside a text.
    """
    found: dict[str, tuple[str, ...]] = {}
    for slot in ("details", "status", "retriable", "actions"):
        for place in slot_places(shape).get(slot, ()):
            if not isinstance(place.node, Template):
                found.setdefault(slot, tuple(steps(place.path)))
    return found


def rule_schemas(
    rules: Sequence[ConditionalRule],
    facts: Mapping[str, tuple[str, ...]],
    flags: Sequence[tuple[str, ...]],
    types: SlotTypes = EMPTY,
) -> Iterator[Json]:
    """The values of the flags at these paths as the rules decide; ``facts``: the paths of the slots
    that a body shows.
    """
    details = facts.get("details"), types.get("details", _OBJECT)
    for value in (True, False) if flags else ():
        decided = _certain_schema(rules, value, facts)
        if decided != NEVER:
            yield {
                "if": decided,
                "then": _all_of(
                    [_if_there(path, constant_schema(value), details) for path in flags]
                ),
            }


def _actions(
    code: Code,
    facts: Mapping[str, tuple[str, ...]],
    flags: Sequence[tuple[str, ...]],
    taxonomy: Taxonomy,
    types: SlotTypes,
) -> Iterator[Json]:
    """That an action which retries is among those suggested, if the flag is true."""
    if "actions" not in facts or code.retriable.fixed is False or not taxonomy.retry_actions:
        return
    suggested: Json = {
        **_container(types.get("actions", ("array",)), "array"),
        "contains": choice_schema(taxonomy.retry_actions),
    }
    for flag in flags:
        yield {
            "if": _schema_at(flag, constant_schema(True)),
            "then": _if_there(facts["actions"], suggested),
        }


def _exact_actions(code: Code, facts: Mapping[str, tuple[str, ...]]) -> Iterator[Json]:
    """That the actions are there, if the code suggests all of an exact list."""
    if "actions" in facts and code.exact_actions and code.actions:
        yield _schema_at(facts["actions"], ALWAYS)


def status_schema(code: Code, taxonomy: Taxonomy) -> Json:
    """The statuses that a body with the code may repeat."""
    if not code.http.statuses:
        return ALWAYS
    ranges = [span_schema(status.low, status.high) for status in code.http.statuses]
    ranges += [
        _fallback_schema(fallback.on, taxonomy)
        for fallback in taxonomy.fallbacks
        if fallback.code == code.name
    ]
    return _any_of(ranges)


def _status(code: Code, facts: Mapping[str, tuple[str, ...]]) -> Iterator[Json]:
    """The conditions of the statuses of the code, if the body repeats the status."""
    if "status" not in facts or not code.http.statuses:
        return
    rules = code.http.rules
    silent = _all_of([_fails(rule, facts) for rule in rules])
    for outcome in dict.fromkeys(rule.then for rule in rules):
        reached = _any_of(
            [
                _possible_schema(rules, each, facts)
                for each, rule in enumerate(rules)
                if rule.then == outcome
            ]
        )
        allowed = _any_of([reached, silent])
        if allowed != ALWAYS:
            yield {"if": _schema_at(facts["status"], constant_schema(outcome)), "then": allowed}


def _fallback_schema(on: StatusRange, taxonomy: Taxonomy) -> Json:
    """The statuses of a fallback: its range without those of codes and of narrower fallbacks."""
    claimed = [span for code in taxonomy.shared_live_codes() for span in code.http.statuses]
    claimed += [fallback.on for fallback in taxonomy.fallbacks if fallback.on.width < on.width]
    if any(each.covers(on) for each in claimed):
        return NEVER
    inside = [each for each in dict.fromkeys(claimed) if each.meets(on)]
    return {
        **span_schema(on.low, on.high),
        **(
            {"not": {"anyOf": [span_schema(each.low, each.high) for each in inside]}}
            if inside
            else {}
        ),
    }


# Outcomes of rules, of which the first that holds decides


def _certain_schema(
    rules: Sequence[ConditionalRule], value: object, facts: Mapping[str, tuple[str, ...]]
) -> Json:
    """When the rules decide for this value, whatever the unknown facts are."""
    wanted = [each for each, rule in enumerate(rules) if rule.then == value]
    others = []
    for each, rule in enumerate(rules):
        if rule.then != value:
            before = [_holds(rules[earlier], facts) for earlier in wanted if earlier < each]
            others.append(_any_of([_fails(rule, facts), *before]))
    some = _any_of([_negate(_fails(rules[each], facts)) for each in wanted])
    return _all_of([*others, some])


def _possible_schema(
    rules: Sequence[ConditionalRule], index: int, facts: Mapping[str, tuple[str, ...]]
) -> Json:
    """When a rule may decide: it may hold, and none before it certainly does."""
    return _all_of(
        [
            _negate(_fails(rules[index], facts)),
            *(_negate(_holds(rule, facts)) for rule in rules[:index]),
        ]
    )


def _holds(rule: ConditionalRule, facts: Mapping[str, tuple[str, ...]]) -> Json:
    return _all_of([_test(test, facts, holds=True) for test in rule.when])


def _fails(rule: ConditionalRule, facts: Mapping[str, tuple[str, ...]]) -> Json:
    return _any_of([_test(test, facts, holds=False) for test in rule.when])


def _test(test: Test, facts: Mapping[str, tuple[str, ...]], *, holds: bool) -> Json:
    """That a fact is shown, and has, or has not, one of the values."""
    slot, _, key = test.fact.partition(".")
    if slot not in facts:
        return NEVER
    ranges = [
        {"type": "integer", "minimum": range_.low, "maximum": range_.high} for range_ in test.ranges
    ]
    values = _any_of([*([choice_schema(test.values)] if test.values else []), *ranges])
    return _schema_at(
        (*facts[slot], key) if key else facts[slot], values if holds else _negate(values)
    )


# Combined schemas, without parts that accept everything


_OBJECT = ("object",)


def _schema_at(path: Sequence[str], schema: Json) -> Json:
    """The schema with ``schema`` at a path, where a value is required."""
    for name in reversed(path):
        schema = {"type": "object", "required": [name], "properties": {name: schema}}
    return schema


def _if_there(
    path: Sequence[str],
    schema: Json,
    details: tuple[Sequence[str] | None, Sequence[str]] = (None, _OBJECT),
) -> Json:
    """The schema with ``schema`` at a path, if a value is there. ``details``: the path of the
    details and their types; whatever else is on the way is an object of the picture.
    """
    for index in reversed(range(len(path))):
        schema = {"properties": {path[index]: schema}}
        if index:
            types = details[1] if tuple(path[:index]) == details[0] else _OBJECT
            schema = {**_container(types, "object"), **schema}
    return schema


def _container(types: Sequence[str], needed: str) -> Json:
    """``type`` of a value whose keywords are about ``needed``, or about null; else nothing."""
    if tuple(types) == (needed,):
        return {"type": needed}
    return {"type": list(types)} if set(types) == {needed, "null"} else {}


def _negate(schema: Json) -> Json:
    if schema == ALWAYS:
        return NEVER
    return ALWAYS if schema == NEVER else {"not": schema}


def _all_of(schemas: Sequence[Json]) -> Json:
    kept = [schema for schema in schemas if schema != ALWAYS]
    if NEVER in kept:
        return NEVER
    return {"allOf": kept} if len(kept) > 1 else kept[0] if kept else ALWAYS


def _any_of(schemas: Sequence[Json]) -> Json:
    kept = [schema for schema in schemas if schema != NEVER]
    if ALWAYS in kept:
        return ALWAYS
    return {"anyOf": kept} if len(kept) > 1 else kept[0] if kept else NEVER
