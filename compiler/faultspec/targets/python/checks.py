"""The demands on an exception's details, as the runtime's ``Check``."""

from collections.abc import Iterable, Mapping

from faultspec.exchange.expressions import python_syntax
from faultspec.language.model import Code, DetailMember, Schema, Taxonomy
from faultspec.runtime import ids
from faultspec.runtime.checking import Check
from faultspec.targets import schema as schemas
from faultspec.targets.memo import memoize
from faultspec.targets.python.constructors import allowed_details
from faultspec.targets.python.wire import PythonSlotRow

_NOTHING = Check()
"""The check of a value of which nothing is declared."""


def details_check(code: Code, taxonomy: Taxonomy, flag: str | None) -> Check | None:
    """The check of a code's details; None if there is nothing to check, or an imported schema.

    ``flag``: the key that is the retry flag, which the code decides.
    """
    members = {} if code.details_schema is not None else allowed_details(code)
    free = {key: member for key, member in members.items() if key != flag}
    check = Check(members=_members(free, taxonomy, closed=False), required=_required_names(free))
    return None if check == _NOTHING else check


def _members(
    members: Mapping[str, DetailMember], taxonomy: Taxonomy, *, closed: bool
) -> Mapping[str, Check]:
    """The checks of the members; of a ``closed`` object also those with nothing to check."""
    checks = {
        name: value_check(member.schema, taxonomy)
        for name, member in members.items()
        if member.presence != "forbidden"
    }
    return {name: check for name, check in checks.items() if closed or check != _NOTHING}


def _required_names(members: Mapping[str, DetailMember]) -> tuple[str, ...]:
    return tuple([name for name, member in members.items() if member.presence == "required"])


def slot_checks(slots: Iterable[PythonSlotRow], taxonomy: Taxonomy) -> dict[str, Check]:
    """The checks of slots, by attribute; only of those that every envelope describes alike."""
    found = {}
    for row in slots:
        checks = [
            value_check(field.schema, taxonomy)
            for field in taxonomy.fields()
            if field.slot == row.slot
        ]
        implied = taxonomy.implied_schema(row.slot)
        if implied is not None and not checks:
            checks = [value_check(implied, taxonomy)]
        if checks and checks[0] != _NOTHING and all(check == checks[0] for check in checks):
            found[row.attribute] = checks[0]
    return found


@memoize
def value_check(schema: Schema, taxonomy: Taxonomy) -> Check:
    """The runtime check of a value; nothing is checked of an imported schema."""
    if schema.opaque is not None:
        return _NOTHING
    terms = schemas.vocabulary(schema.vocabulary, taxonomy) if schema.vocabulary is not None else []
    known = all(format_ in ids.PATTERNS for format_ in schema.format)
    closed = schema.additional == "forbid"
    check = Check(
        types=schema.types,
        enum=schema.enum or tuple(terms),
        minimum=schema.minimum,
        maximum=schema.maximum,
        min_length=schema.min_length,
        max_length=schema.max_length,
        pattern=None if schema.pattern is None else python_syntax(schema.pattern),
        format=schema.format if known else (),
        items=None if schema.items is None else value_check(schema.items, taxonomy),
        members=_members(schema.properties, taxonomy, closed=closed),
        required=_required_names(schema.properties),
        closed=closed,
    )
    return check if check == _NOTHING else check._replace(sensitive=schema.sensitive)
