"""Values that break one constraint of a schema each."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from faultspec.openapi.nodes import Json, sequence
from faultspec_conformance.session.sampling.patterns import compiles, fits
from faultspec_conformance.session.sampling.schemas import (
    allows_null,
    closing_keyword,
    is_read_only,
    last_within,
    only_branch,
    properties_of,
    required_names,
    types_of,
)
from faultspec_conformance.session.sampling.source import ValueSource
from faultspec_conformance.session.sampling.values import sample_value

#: Longest text, and most items, that a request may have to exceed a limit.
LONGEST, MOST_ITEMS = 20_000, 500

#: Digits of numbers far outside: beyond 32 bits, beyond 64 bits, beyond the exact part of a double.
_DIGITS = (10, 20, 25)

#: The largest value of the formats of integers.
LARGEST = {"int32": 2**31 - 1, "int64": 2**63 - 1}

#: Below it a number has room for a fraction, whatever reads it.
_EXACT = 2**31

#: The name of a member that no schema has.
_UNKNOWN = "faultspec_unknown"

#: Levels of a body whose members are broken.
_DEEPEST = 3


@dataclass(frozen=True, slots=True)
class BrokenConstraint:
    """A value that breaks a constraint. ``what``: the constraint and the value in words.

    ``keyword``: the constraint. ``path``: the members that lead to the broken value, from the
    outermost. ``sure``: the schema forbids the value; else it only may. ``in_item``: the value is
    in an item of a list.
    """

    keyword: str
    what: str
    value: object
    path: tuple[str, ...] = ()
    sure: bool = True
    in_item: bool = False


def broken_constraints(
    source: ValueSource, schema: object, valid: object, mark: str, depth: int = 0
) -> Iterator[BrokenConstraint]:
    """Yield a value for each constraint of a schema, and of the schemas in it.

    ``valid``: a value that the schema allows. ``mark`` is part of every wrong text.
    """
    node = only_branch(source.document, schema)
    if is_read_only(node):
        return
    if isinstance(valid, list):
        yield from _broken_list(source, node, valid)
    elif isinstance(valid, str):
        yield from _broken_text(node, valid, mark)
    elif isinstance(valid, int | float) and not isinstance(valid, bool):
        yield from _broken_number(node)
    if depth < _DEEPEST:
        yield from _break_inside(source, node, valid, mark, depth=depth)


def _break_inside(
    source: ValueSource, node: Json, valid: object, mark: str, *, depth: int
) -> Iterator[BrokenConstraint]:
    if isinstance(valid, list) and valid:
        for broken in broken_constraints(
            source, node.get("items"), valid[0], mark=mark, depth=depth + 1
        ):
            # A batch may succeed although an item is refused.
            items = [broken.value, *valid[1:]]
            yield replace(broken, value=items, sure=False, in_item=True)
    if not isinstance(valid, dict):
        return
    yield from _add_member(node, valid, mark)
    yield from _leave_out(source, node, valid)
    for name, schema in properties_of(node).items():
        value = valid[name] if name in valid else sample_value(source, schema)
        for broken in broken_constraints(source, schema, value, mark=mark, depth=depth + 1):
            yield replace(broken, value={**valid, name: broken.value}, path=(name, *broken.path))
    yield from _put_null(source, node, valid)


def _leave_out(
    source: ValueSource, node: Json, valid: dict[str, object]
) -> Iterator[BrokenConstraint]:
    """Yield the object without each of its required members."""
    for name in _required_members(source, node, valid):
        rest = {key: value for key, value in valid.items() if key != name}
        yield BrokenConstraint("required", "nothing (`required`)", rest, (name,))


def _put_null(
    source: ValueSource, node: Json, valid: dict[str, object]
) -> Iterator[BrokenConstraint]:
    """Yield the object with null as each of its required members that may not be null."""
    members = properties_of(node)
    for name in _required_members(source, node, valid):
        types = types_of(only_branch(source.document, members.get(name)))
        if types and not allows_null(source.document, members.get(name)):
            what = f"null (`type: {types[0]}`)"
            yield BrokenConstraint("type", what, {**valid, name: None}, (name,))


def _required_members(source: ValueSource, node: Json, valid: dict[str, object]) -> list[str]:
    members = properties_of(node)
    return [
        name
        for name in required_names(node)
        if name in valid and not is_read_only(only_branch(source.document, members.get(name)))
    ]


def _add_member(node: Json, valid: dict[str, object], mark: str) -> Iterator[BrokenConstraint]:
    keyword = closing_keyword(node)
    if keyword is not None and _UNKNOWN not in {*properties_of(node), *valid}:
        what = f"a text, a member that the schema does not have (`{keyword}: false`)"
        yield BrokenConstraint(keyword, what, {**valid, _UNKNOWN: mark}, (_UNKNOWN,))


def _broken_list(
    source: ValueSource, node: Json, valid: list[object]
) -> Iterator[BrokenConstraint]:
    most, least = node.get("maxItems"), node.get("minItems")
    if isinstance(most, int) and most < MOST_ITEMS:
        more = (sample_value(source, node.get("items")) for _ in range(most + 1 - len(valid)))
        yield BrokenConstraint(
            "maxItems", f"{most + 1} items (`maxItems: {most}`)", [*valid, *more]
        )
    if isinstance(least, int) and least > 0:
        yield BrokenConstraint(
            "minItems", f"{least - 1} items (`minItems: {least}`)", valid[: least - 1]
        )


def _broken_text(node: Json, valid: str, mark: str) -> Iterator[BrokenConstraint]:
    longest, least, pattern = node.get("maxLength"), node.get("minLength"), node.get("pattern")
    if isinstance(longest, int) and longest < LONGEST:
        length = max(longest + 1, len(mark))
        what = f"{length} characters (`maxLength: {longest}`)"
        yield BrokenConstraint("maxLength", what, mark.ljust(length, "x"))
    if isinstance(pattern, str) and compiles(pattern) and not fits(pattern, mark):
        yield BrokenConstraint("pattern", f"a text that `{pattern}` does not match", mark)
    if sequence(node.get("enum")) and mark not in sequence(node.get("enum")):
        yield BrokenConstraint("enum", "a value outside `enum`", mark)
    if isinstance(least, int) and least > 0:
        what = f"{least - 1} characters (`minLength: {least}`)"
        yield BrokenConstraint("minLength", what, valid[: least - 1])


def _broken_number(node: Json) -> Iterator[BrokenConstraint]:
    most, least = last_within(node, "maximum"), last_within(node, "minimum")
    ceiling = most if most is not None else LARGEST.get(str(node.get("format")))
    for digits in reversed(_DIGITS):
        far = 10**digits - 1
        what = f"a number of {digits} digits"
        yield BrokenConstraint("maximum", what, far, sure=ceiling is not None and far > ceiling)
    if most is not None:
        yield BrokenConstraint("maximum", f"{most + 1} (`maximum`)", most + 1)
    if least is not None:
        yield BrokenConstraint("minimum", f"{least - 1} (`minimum`)", least - 1)
    if types_of(node) == ("integer",):
        near = (bound for bound in (least, most, 0) if bound is not None and abs(bound) < _EXACT)
        within = next(near)
        fraction = within - 0.5 if within == most else within + 0.5
        yield BrokenConstraint("type", f"{fraction} (`type: integer`)", fraction)
