"""Values that a schema forbids."""

from collections.abc import Iterator
from dataclasses import dataclass

from faultspec.openapi.nodes import Json
from faultspec_conformance.session.sampling.patterns import compiles, fits
from faultspec_conformance.session.sampling.schemas import (
    is_read_only,
    kind,
    merge_all_of,
    only_branch,
    properties_of,
    required_names,
    types_of,
)
from faultspec_conformance.session.sampling.source import ValueSource

Body = dict[str, object]

#: Formats of which no mark is an instance.
_FORMATS = frozenset({"uuid", "date", "date-time", "time", "email", "ipv4", "ipv6", "uri"})


#: Texts with the form of a date (RFC 3339, section 5.6), of a day that does not exist.
_DAYS = {"date": "2023-02-30", "date-time": "2023-02-30T12:00:00Z"}


@dataclass(frozen=True, slots=True)
class Violation:
    """A body that a schema forbids.

    ``what``: the violation in words. ``member``: the one member that is wrong. ``sure``: every
    validator finds it.

    A validator may ignore ``format`` (JSON Schema 2020-12, validation, section 7.2).
    """

    what: str
    body: object
    member: str
    sure: bool = True


def violations(source: ValueSource, schema: object, body: object, mark: str) -> Iterator[Violation]:
    """Bodies that the schema forbids, the plainest first.

    ``mark`` is part of every wrong text.
    """
    node = merge_all_of(source.document, schema)
    if not isinstance(body, dict):
        return
    members = {
        name: only_branch(source.document, each) for name, each in properties_of(node).items()
    }
    # Services calculate with numbers, so a wrong number is the likelier mistake.
    names = sorted(members, key=lambda name: kind(members[name]) not in ("integer", "number"))
    for found in (
        _without_required(node, body),
        _wrong_type(members, body, names, mark),
        _exceed_range(members, body, names, mark),
        _wrong_format(members, body, mark),
    ):
        if found is not None:
            yield found


def _without_required(node: Json, body: Body) -> Violation | None:
    for name in required_names(node):
        if name in body:
            rest = {key: value for key, value in body.items() if key != name}
            return Violation(f"the required member `{name}` left out", rest, name)
    return None


def _wrong_type(
    members: dict[str, Json], body: Body, names: list[str], mark: str
) -> Violation | None:
    numbers = [name for name in names if kind(members[name]) in ("integer", "number")]
    for name in sorted(body, key=lambda name: name not in numbers):
        types = types_of(members.get(name, {}))
        if types and "object" not in types:
            wrong = {**body, name: {"unexpected": mark}}
            return Violation(f"an object where `{name}` is {types[0]}", wrong, name)
    return None


def _exceed_range(
    members: dict[str, Json], body: Body, names: list[str], mark: str
) -> Violation | None:
    for name in names:
        outside = value_out_of_bounds(members[name], mark)
        if outside is not None and not is_read_only(members[name]):
            what = f"a value of `{name}` out of its range"
            return Violation(what, {**body, name: outside}, name)
    return None


def _wrong_format(members: dict[str, Json], body: Body, mark: str) -> Violation | None:
    for name, member in members.items():
        named = member.get("format")
        if not isinstance(named, str) or named not in _FORMATS or is_read_only(member):
            continue
        if "enum" not in member:
            wrong = {**body, name: mark}
            what = f"a value of `{name}` that is not a {named}"
            return Violation(what, wrong, name, sure=False)
    return None


def impossible_date(source: ValueSource, schema: object, body: object) -> Violation | None:
    """The body with the 30th of February, at which parsers of dates raise; None without a date."""
    if not isinstance(body, dict):
        return None
    node = merge_all_of(source.document, schema)
    for name, each in properties_of(node).items():
        member = only_branch(source.document, each)
        day = impossible_day(member)
        if day is not None and not is_read_only(member):
            what = f"a {member['format']} as `{name}` that does not exist"
            return Violation(what, {**body, name: day}, name, sure=False)
    return None


def impossible_day(node: Json) -> str | None:
    """The 30th of February in the form of a schema of dates; None for other schemas."""
    return None if "enum" in node else _DAYS.get(str(node.get("format")))


def value_out_of_bounds(node: Json, mark: str) -> object:
    """A value just outside the bounds of a schema, or None if it has no bounds.

    A text begins with the mark.
    """
    most, least = node.get("maximum"), node.get("minimum")
    if isinstance(most, int) and not isinstance(most, bool):
        return most + 1
    if isinstance(least, int) and not isinstance(least, bool):
        return least - 1
    if isinstance(node.get("enum"), list) and kind(node) in ("string", None):
        return mark
    longest, pattern = node.get("maxLength"), node.get("pattern")
    if isinstance(longest, int) and longest < 10_000:
        return mark.ljust(longest + 1, "x")
    if isinstance(pattern, str) and compiles(pattern) and not fits(pattern, mark):
        return mark
    return None
