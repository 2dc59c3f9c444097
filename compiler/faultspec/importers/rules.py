"""Rules by condition, read back from the schemas that `faultspec.targets.conditions` writes.

A rule is read back only if the target writes the same schema for it again.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from faultspec.importers import Data, Json
from faultspec.importers.code_member import only_value
from faultspec.importers.naming import DETAILS
from faultspec.language.conditions import ConditionalRule, StatusRange, Test
from faultspec.openapi.nodes import mapping, sequence
from faultspec.openapi.pointers import child
from faultspec.targets import conditions
from faultspec.targets.constants import constant_schema

REPEATS_STATUS = "x-repeats-status"
"""A keyword of members that repeat the status of their response."""


class ImportedRules(NamedTuple):
    """The rules in the ``allOf`` of a body.

    ``status``: the pointer of the member that repeats the status. ``spans``: its values, as the
    language writes them. ``conditional``: the schemas with ``if`` and ``then``.
    """

    status: str | None
    spans: tuple[int | str, ...]
    conditional: tuple[Json, ...]


NONE = ImportedRules(None, (), ())


class RetryRule(NamedTuple):
    """``retriable:`` as the language writes it.

    ``hidden_fact``: it depends on a fact that bodies do not show.
    """

    data: Data
    hidden_fact: bool


def split_rules(schema: Json) -> tuple[Json, ImportedRules]:
    """A body without the rules in its ``allOf``, and the rules."""
    if not isinstance(schema.get("properties"), Mapping):
        return schema, NONE
    schema = without_implied_types(schema)
    parts = schema.get("allOf")
    if not isinstance(parts, list):
        return schema, NONE
    status: str | None = None
    spans: tuple[int | str, ...] = ()
    conditional: list[Json] = []
    rest: list[Any] = []
    for part in parts:
        found = _status(part)
        if found is not None and found[0] and status is None:
            status, spans = found
        elif isinstance(part, Mapping) and set(part) == {"if", "then"}:
            conditional.append(part)
        elif part != {}:
            rest.append(part)
    plain = {key: each for key, each in schema.items() if key != "allOf"}
    return {**plain, **({"allOf": rest} if rest else {})}, ImportedRules(
        status, spans, tuple(conditional)
    )


def without_implied_types(schema: Any) -> Any:
    """The schema without the ``type`` of constants, which they imply.

    The readers of members decide by the keywords, and compare schemas with each other.
    """
    if isinstance(schema, list):
        return [*map(without_implied_types, schema)]
    if not isinstance(schema, Mapping):
        return schema
    found: Data = {}
    for key, value in schema.items():
        if key in _NAMED_SCHEMAS and isinstance(value, Mapping):
            found[key] = {name: without_implied_types(each) for name, each in value.items()}
        else:
            found[key] = value if key in _VALUES else without_implied_types(value)
    if "const" in found and found.get("type") == constant_schema(found["const"]).get("type"):
        found.pop("type", None)
    return found


#: Keywords with a schema for each name, and keywords with values.
_NAMED_SCHEMAS = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs"})
_VALUES = frozenset({"const", "enum", "default", "example", "examples", "required", "type"})


#: Names of members that repeat the status.
_STATUS_NAME = re.compile(r"status|^(http_?)?code$", re.IGNORECASE)


def split_status(
    schema: Json, rules: ImportedRules, code: Sequence[str]
) -> tuple[Json, ImportedRules]:
    """A body whose member that repeats the status is a plain number, and the rules with its
    statuses. ``code``: the path of the code, which is another member.
    """
    for path, leaf in _leaves(schema):
        rest = {key: value for key, value in leaf.items() if key not in ("type", "description")}
        found = _status(rest)
        is_detail = any(name in DETAILS for name in path[:-1])
        if found is None or path == tuple(code) or is_detail or not _STATUS_NAME.search(path[-1]):
            continue
        plain: Data = {"type": "integer"}
        if "description" in leaf:
            plain["description"] = leaf["description"]
        pointer = "".join(child("", name) for name in path)
        return _replace_member(schema, path, plain), rules._replace(status=pointer, spans=found[1])
    return schema, rules


def mark_status(schema: Json, status: str) -> Json:
    """A body whose members that only repeat the status have ``REPEATS_STATUS``."""
    for path, leaf in _leaves(schema):
        if status.isdecimal() and str(only_value(leaf)) == status:
            kind = "string" if isinstance(only_value(leaf), str) else "integer"
            schema = _replace_member(schema, path, {"type": kind, REPEATS_STATUS: True})
    return schema


def _leaves(schema: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Json]]:
    """The members that contain no members, with their paths."""
    for name, member in mapping(mapping(schema).get("properties")).items():
        if isinstance(member, Mapping):
            if isinstance(member.get("properties"), Mapping):
                yield from _leaves(member, (*path, name))
            else:
                yield (*path, name), dict(member)


def _replace_member(schema: Any, path: Sequence[str], leaf: Json) -> Json:
    if not path:
        return leaf
    members = schema["properties"]
    inner = _replace_member(members[path[0]], path[1:], leaf)
    return {**schema, "properties": {**members, path[0]: inner}}


def _status(schema: Any) -> tuple[str, tuple[int | str, ...]] | None:
    """The place and the statuses of a schema that only lists the numbers at one place."""
    pointer, schema = _only_member(schema)
    if not isinstance(schema, Mapping):
        return None
    ranges = sequence(schema["anyOf"]) if set(schema) == {"anyOf"} else [schema]
    spans: list[int | str] = []
    for range_ in ranges:
        match range_:
            case {"const": int(number), **rest} if (
                not rest.keys() - {"not"} and 100 <= number <= 599
            ):
                spans += [] if "not" in range_ else [number]
            case {"minimum": int(low), "maximum": int(high), **rest} if (
                not rest.keys() - {"not", "type"} and 100 <= low < high <= 599
            ):
                # A fallback's range excludes other codes; it is not the code's own.
                spans += [] if "not" in range_ else [str(StatusRange(low, high))]
            case _:
                return None
    return (pointer, tuple(spans)) if spans else None


def retry_rule(
    schemas: Sequence[Json],
    facts: Mapping[str, tuple[str, ...]],
    flags: Sequence[tuple[str, ...]],
    types: conditions.SlotTypes,
) -> RetryRule | None:
    """The simple rule of the retry flag for which the target writes these schemas, or None.

    ``facts`` and ``flags``: the places of facts and retry flags in the body. ``types``: those of
    its slots.
    """
    found = (test for schema in schemas for test in _tests(schema["if"], (), facts))
    tests = list({repr(test): test for test in found}.values())
    hidden = ConditionalRule((Test("operation.idempotent", (False,)),), False)
    for then in (True, False):
        own = [ConditionalRule((test,), then) for test in tests]
        joined = [ConditionalRule(tuple(tests), then)] if len(tests) > 1 else []
        for rules in (own, joined) if joined else (own,):
            for before in ([], [hidden], [hidden._replace(then=True)]):
                tried = (*before, *rules, ConditionalRule((), not then))
                written = conditions.rule_schemas(tried, facts, flags, types)
                if rules and [*map(without_implied_types, written)] == list(schemas):
                    return RetryRule(_write_rules(tried), bool(before))
    return None


def suggested_actions(condition: Json) -> tuple[str, list[str]] | None:
    """The pointer of the actions, and the actions of which a retriable error must suggest one.

    None for a condition of another kind.
    """
    flag = _only_member(condition["if"], "required")[1]
    if flag != {"const": True} or flag["const"] is not True:  # 1 equals True
        return None
    at, schema = _only_member(condition["then"])
    match schema:
        case {"contains": {"enum": [*names], **more}, **rest} if (
            at and not rest.keys() - {"type"} and not more.keys() - {"type"}
        ):
            return at, [name for name in names if isinstance(name, str)]
    return None


def _only_member(schema: Any, *beside: str) -> tuple[str, Any]:
    """The pointer and the schema of the one member that objects in objects have.

    ``beside``: the keywords of the objects beside ``properties`` and perhaps ``type``.
    """
    pointer = ""
    while isinstance(schema, Mapping) and schema.keys() - {"type"} == {"properties", *beside}:
        if len(members := mapping(schema["properties"])) != 1:
            break
        [(name, schema)] = members.items()
        pointer = child(pointer, name)
    return pointer, schema


def _write_rules(rules: Sequence[ConditionalRule]) -> Data:
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
    """The facts that a condition reads, each with its values."""
    schema = mapping(schema)
    for name, member in mapping(schema.get("properties")).items():
        here = (*path, name)
        yield from _tests(member, here, facts)
        fact = _fact(here, facts)
        if fact is not None and (test := _test(member, fact)) is not None:
            yield test
    if isinstance(schema.get("not"), Mapping):
        yield from _tests(schema["not"], path, facts)
    for word in ("anyOf", "allOf"):
        for part in sequence(schema.get(word)):
            yield from _tests(part, path, facts)


def _fact(path: tuple[str, ...], facts: Mapping[str, tuple[str, ...]]) -> str | None:
    if path == facts.get("status"):
        return "status"
    return f"details.{path[-1]}" if "details" in facts and path[:-1] == facts["details"] else None


def _test(schema: Any, fact: str) -> Test | None:
    """The test of a fact that a schema makes."""
    if isinstance(schema, Mapping) and set(schema) == {"not"}:
        schema = schema["not"]
    if not isinstance(schema, Mapping):
        return None
    values: tuple[object, ...] = ()
    ranges: list[StatusRange] = []
    for choice in schema["anyOf"] if set(schema) == {"anyOf"} else [schema]:
        match choice:
            case {"enum": [*terms], **rest} if not rest.keys() - {"type"}:
                values = (*values, *terms)
            case {"type": "integer", "minimum": int(low), "maximum": int(high), **rest} if not rest:
                ranges.append(StatusRange(low, high))
            case _:
                return None
    return Test(fact, values, tuple(ranges))
