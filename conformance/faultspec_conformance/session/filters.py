"""Parameters of a list that filter it, by their names and those of the members of its items."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from faultspec.openapi.nodes import Json
from faultspec.openapi.service import Description, ServiceOperation
from faultspec_conformance.session import sampling
from faultspec_conformance.session.next_pages import Paging

#: How an item fits: its member is the value, at least the value, or at most the value.
Relation = Literal["equal", "least", "most"]

#: Words before or after the name of a member in the name of a parameter.
_LEAST = r"minimum|min|from|since|after|gte?|ge|start|over|above"
_MOST = r"maximum|max|to|until|before|lte?|le|end|under|below|up_?to"

_RANGE = re.compile(
    rf"(?:(?P<least>{_LEAST})|(?P<most>{_MOST}))[_.-]?(?P<member>.+)"
    rf"|(?P<named>.+?)(?:[_.\[-]+)(?:(?P<from>{_LEAST})|(?P<to>{_MOST}))\]?",
    re.IGNORECASE,
)

#: Names of parameters whose bound itself fits. `after` may leave out what is exactly then.
_CLOSED = re.compile(
    r"(?:min|max)(?:imum)?[_.-]?.+|.+[_.\[-](?:(?:min|max)(?:imum)?|[gl]te|[gl]e)\]?", re.IGNORECASE
)

#: What a member may be called beyond the name in a parameter, such as `created_after` and
#: `created_at`.
_OF_TIME = ("", "at", "on", "date", "time")


@dataclass(frozen=True, slots=True)
class ListFilter:
    """A parameter that filters a list by a ``member`` of its items.

    ``schema``: that of one value. ``exact``: its values are those of the member, not texts to
    search for. ``closed``: the bound of a range fits.
    """

    name: str
    schema: Json
    member: str
    relation: Relation
    exact: bool
    closed: bool = False

    def fits(self, item: Mapping[str, object], wanted: object) -> bool | None:
        """Whether an item fits a value; None if that is not known."""
        held = item.get(self.member)
        if held is None or isinstance(held, dict):
            return None
        if self.relation == "equal":
            values = held if isinstance(held, list) else [held]
            if any(isinstance(value, dict | list) for value in values):
                return None
            same = [_is_same(value, wanted, exact=self.exact) for value in values]
            return any(same)
        mine, bound = comparable(held), comparable(wanted)
        if mine is None or bound is None or isinstance(mine, float) != isinstance(bound, float):
            return None
        if mine == bound:
            # An answer may show a time or a decimal shorter than the service compares it.
            return True if self.closed and isinstance(held, int) else None
        return (mine > bound) == (self.relation == "least")  # type: ignore[operator]  # of one type


def _is_same(held: object, wanted: object, *, exact: bool) -> bool:
    mine, other = _text(held), _text(wanted)
    return mine == other if exact or not isinstance(held, str) else other in mine


def _text(value: object) -> str:
    return str(value).casefold()


def comparable(value: object) -> float | datetime | None:
    """A number, or the time that a text says, in UTC without an offset; None for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def find_filters(
    description: Description,
    listing: ServiceOperation,
    paging: Paging,
    items: Iterable[Mapping[str, object]],
) -> Iterator[ListFilter]:
    """Yield the filters of a list whose members its items have."""
    members = {_plain(name): name for item in items for name in item}
    positions = {
        one.name for one in (paging.size, paging.cursor, paging.page, paging.offset) if one
    }
    for parameter in listing.parameters:
        if parameter.where != "query" or parameter.name in positions:
            continue
        schema = sampling.only_branch(description.document, parameter.schema)
        if sampling.kind(schema) == "array":
            schema = sampling.only_branch(description.document, schema.get("items") or {})
        member = members.get(_plain(parameter.name))
        if member is not None:
            exact = _is_exact(parameter.name, schema)
            yield ListFilter(parameter.name, schema, member, relation="equal", exact=exact)
            continue
        relation, name = range_of(parameter.name)
        own = (members.get(_plain(name) + end) for end in _OF_TIME)
        member = next((one for one in own if one is not None), None) if name else None
        if relation is not None and member is not None:
            closed = _CLOSED.fullmatch(parameter.name) is not None
            yield ListFilter(
                parameter.name, schema, member, relation=relation, exact=True, closed=closed
            )


def range_of(name: str) -> tuple[Relation | None, str]:
    """The relation that the name of a parameter says, and the name of the member; None and an empty
    text without one.
    """
    found = _RANGE.fullmatch(name)
    if found is None:
        return None, ""
    is_least = found["least"] is not None or found["from"] is not None
    return "least" if is_least else "most", found["member"] or found["named"]


def _is_exact(name: str, schema: Json) -> bool:
    """Whether values are taken as they are: a choice, a boolean, or an id."""
    return (
        "enum" in schema
        or "const" in schema
        or sampling.kind(schema) == "boolean"
        or schema.get("format") == "uuid"
        or re.search(r"(?:^|[_-])id$|Id$", name) is not None
    )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
