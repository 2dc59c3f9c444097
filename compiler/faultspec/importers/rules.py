"""Rules by condition, read back from the schemas that the targets make of them (``faultspec.targets.conditions``).

A rule is read back where the target makes the same of it again, and of nothing else: what its schema says is compared.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from faultspec.importers import Json
from faultspec.importers.places import child
from faultspec.language.conditions import ConditionalRule, StatusRange, Test
from faultspec.targets import conditions

Data = dict[str, Any]


class ImportedRules(NamedTuple):
    """``status``: where the body repeats the status, as a pointer, and ``spans``: the statuses it may be, as the language
    writes them; ``conditional``: what else is said by condition.
    """

    status: str | None
    spans: tuple[int | str, ...]
    conditional: tuple[Json, ...]


NONE = ImportedRules(None, (), ())


def taken(schema: Json) -> tuple[Json, ImportedRules]:
    """A body without the rules in its ``allOf``, and those."""
    parts = schema.get("allOf")
    if not isinstance(parts, list) or "properties" not in schema:
        return schema, NONE
    status: str | None = None
    spans: tuple[int | str, ...] = ()
    conditional, rest = [], []
    for part in parts:
        told = _status(part, "") if isinstance(part, Mapping) else None
        if told is not None and status is None:
            status, spans = told
        elif isinstance(part, Mapping) and set(part) == {"if", "then"}:
            conditional.append(part)
        elif part != {}:
            rest.append(part)
    plain = {key: each for key, each in schema.items() if key != "allOf"}
    return {**plain, **({"allOf": rest} if rest else {})}, ImportedRules(
        status, spans, tuple(conditional)
    )


def _status(schema: Json, pointer: str) -> tuple[str, tuple[int | str, ...]] | None:
    """The place and the statuses of a schema that says nothing but which number stands at one place."""
    if (
        set(schema) == {"properties"}
        and isinstance(schema["properties"], Mapping)
        and len(schema["properties"]) == 1
    ):
        name, inner = next(iter(schema["properties"].items()))
        return _status(inner, child(pointer, name)) if isinstance(inner, Mapping) else None
    ranges = (
        schema["anyOf"]
        if set(schema) == {"anyOf"} and isinstance(schema["anyOf"], list)
        else [schema]
    )
    spans: list[int | str] = []
    for range_ in ranges:
        match range_:
            case {"const": int(number), **rest} if (
                not rest.keys() - {"not"} and 100 <= number <= 599
            ):
                spans += [] if "not" in range_ else [number]
            case {"minimum": int(low), "maximum": int(high), **rest} if (
                not rest.keys() - {"not"} and 100 <= low < high <= 599
            ):
                # What a fallback borrows excludes what codes claim; it is no status of the code's own.
                spans += [] if "not" in range_ else [str(StatusRange(low, high))]
            case _:
                return None
    return (pointer, tuple(spans)) if pointer and spans else None


def flag(
    said: Sequence[Json], facts: Mapping[str, tuple[str, ...]], flags: Sequence[tuple[str, ...]]
) -> tuple[Data, bool] | None:
    """``retriable:`` of the rules that say this, and whether a fact that no body shows has a part in it; None where no
    simple one does.
    """
    tests = list(
        {repr(test): test for each in said for test in _tests(each["if"], (), facts)}.values()
    )
    hidden = ConditionalRule((Test("operation.idempotent", (False,)),), False)
    for then in (True, False):
        own = [ConditionalRule((each,), then) for each in tests]
        joined = [ConditionalRule(tuple(tests), then)] if len(tests) > 1 else []
        for rules in (own, joined) if joined else (own,):
            for before in ([], [hidden], [hidden._replace(then=True)]):
                tried = (*before, *rules, ConditionalRule((), not then))
                if rules and list(conditions.of_rules(tried, facts, flags)) == list(said):
                    return _written(tried), bool(before)
    return None


def suggested(said: Json) -> tuple[str, list[str]] | None:
    """Where actions stand, as a pointer, and those of them of which one must be there where the flag is true; None for a
    condition of another kind.
    """
    at, schema = "", said["then"]
    if not _is_flag(said["if"]):
        return None
    while (
        isinstance(schema, Mapping)
        and set(schema) == {"properties"}
        and len(schema["properties"]) == 1
    ):
        name, schema = next(iter(schema["properties"].items()))
        at = child(at, name)
    match schema:
        case {"contains": {"enum": [*names], **more}, **rest} if at and not rest and not more:
            return at, [each for each in names if isinstance(each, str)]
    return None


def _is_flag(schema: Any) -> bool:
    """Whether all that is asked for is that one member is there and true."""
    while isinstance(schema, Mapping) and set(schema) == {"type", "required", "properties"}:
        if len(schema["properties"]) != 1:
            return False
        schema = next(iter(schema["properties"].values()))
    return isinstance(schema, Mapping) and set(schema) == {"const"} and schema["const"] is True


def _written(rules: Sequence[ConditionalRule]) -> Data:
    when = [
        {
            "if": {
                test.fact: values[0]
                if len(values := [*test.values, *map(str, test.ranges)]) == 1
                else values
                for test in rule.when
            },
            "then": rule.then,
        }
        for rule in rules[:-1]
    ]
    return {"when": when, "else": rules[-1].then}


def _tests(
    schema: Any, path: tuple[str, ...], facts: Mapping[str, tuple[str, ...]]
) -> Iterator[Test]:
    """The facts that a condition reads, each with the values it is compared with."""
    if not isinstance(schema, Mapping):
        return
    for name, each in (
        schema.get("properties", {}).items()
        if isinstance(schema.get("properties"), Mapping)
        else ()
    ):
        here = (*path, name)
        yield from _tests(each, here, facts)
        if (fact := _fact(here, facts)) is not None and (test := _values(each, fact)) is not None:
            yield test
    if isinstance(schema.get("not"), Mapping):
        yield from _tests(schema["not"], path, facts)
    for word in ("anyOf", "allOf"):
        for each in schema.get(word, ()) if isinstance(schema.get(word), list) else ():
            yield from _tests(each, path, facts)


def _fact(path: tuple[str, ...], facts: Mapping[str, tuple[str, ...]]) -> str | None:
    if path == facts.get("status"):
        return "status"
    return f"details.{path[-1]}" if "details" in facts and path[:-1] == facts["details"] else None


def _values(schema: Any, fact: str) -> Test | None:
    if isinstance(schema, Mapping) and set(schema) == {"not"}:
        schema = schema["not"]
    if not isinstance(schema, Mapping):
        return None
    values: tuple[object, ...] = ()
    ranges: list[StatusRange] = []
    for each in schema["anyOf"] if set(schema) == {"anyOf"} else [schema]:
        match each:
            case {"enum": [*listed], **rest} if not rest:
                values = (*values, *listed)
            case {"type": "integer", "minimum": int(low), "maximum": int(high), **rest} if not rest:
                ranges.append(StatusRange(low, high))
            case _:
                return None
    return Test(fact, values, tuple(ranges))
