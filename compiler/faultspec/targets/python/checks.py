"""What an exception asks of its details before it exists, as the runtime's ``Check``."""

from collections.abc import Iterable, Mapping
from typing import Any

from faultspec.language.model import Code, DetailMember, Schema, Taxonomy
from faultspec.language.values import expression
from faultspec.runtime import ids
from faultspec.runtime.checking import Check
from faultspec.targets import schema as schemas
from faultspec.targets.layout import Laid, laid, source
from faultspec.targets.memo import memoized
from faultspec.targets.python.constructors import allowed
from faultspec.targets.python.wire import PythonSlotRow

_NOTHING = Check()
"""What is asked of a value of which nothing is said."""


def source_of(code: Code, taxonomy: Taxonomy, flag: str | None) -> str | None:
    """The call that makes the check of a code's details; None where there is nothing to check, or an imported schema.

    ``flag``: the key that is the retry flag, which the code decides.
    """
    members = {} if code.details_schema is not None else allowed(code)
    known = {key: each for key, each in members.items() if key != flag}
    checks = {name: _laid(each.schema, taxonomy) for name, each in known.items()}
    said: Any = {name: each for name, each in checks.items() if each is not None}
    check = Check(members=said, required=_required(known))
    return None if check == _NOTHING else source(check, 4, len("    checks = "), 0)


@memoized
def _laid(schema: Schema, taxonomy: Taxonomy) -> str | Laid | None:
    """The call that makes the check of a value, or None where there is nothing to check."""
    check = check_of(schema, taxonomy)
    return None if check == _NOTHING else laid(check)


def _members(
    members: Mapping[str, DetailMember], taxonomy: Taxonomy, *, closed: bool
) -> Mapping[str, Check]:
    """The checks of the members; where the object is ``closed``, those of which nothing is said too."""
    checks = {
        name: check_of(each.schema, taxonomy)
        for name, each in members.items()
        if each.presence != "forbidden"
    }
    return {name: each for name, each in checks.items() if closed or each != _NOTHING}


def _required(members: Mapping[str, DetailMember]) -> tuple[str, ...]:
    return tuple([name for name, each in members.items() if each.presence == "required"])


def of_slots(slots: Iterable[PythonSlotRow], taxonomy: Taxonomy) -> str | None:
    """Source of the checks of slots by attribute: of those that every envelope describes alike; None where there is none."""
    found = {}
    for row in slots:
        said = [
            check_of(field.schema, taxonomy)
            for field in taxonomy.fields()
            if field.slot == row.slot
        ]
        implied = taxonomy.implied(row.slot)
        if implied is not None and not said:
            said = [check_of(implied, taxonomy)]
        if said and said[0] != _NOTHING and all(each == said[0] for each in said):
            found[row.attribute] = said[0]
    return source(found, 0, len("SLOT_CHECKS: Mapping[str, Check] = "), 0) if found else None


def check_of(schema: Schema, taxonomy: Taxonomy) -> Check:
    """The runtime check of a value; what an imported schema says is left to whoever reads it."""
    if schema.opaque is not None:
        return _NOTHING
    terms = schemas.vocabulary(schema.vocabulary, taxonomy) if schema.vocabulary is not None else []
    known = all(each in ids.PATTERNS for each in schema.format)
    closed = schema.additional == "forbid"
    return Check(
        types=schema.types,
        enum=schema.enum or tuple(terms),
        minimum=schema.minimum,
        maximum=schema.maximum,
        min_length=schema.min_length,
        max_length=schema.max_length,
        pattern=None if schema.pattern is None else expression(schema.pattern).pattern,
        format=schema.format if known else (),
        items=None if schema.items is None else check_of(schema.items, taxonomy),
        members=_members(schema.properties, taxonomy, closed=closed),
        required=_required(schema.properties),
        closed=closed,
    )
