"""What an exception asks of its details before it exists, as the runtime's ``Check``."""

from collections.abc import Mapping

from faultspec.language.model import Code, Member, Schema, Taxonomy
from faultspec.language.values import expression
from faultspec.runtime import ids
from faultspec.runtime.checking import Check
from faultspec.targets import schema as schemas
from faultspec.targets.layout import source
from faultspec.targets.python.constructors import allowed


def source_of(code: Code, taxonomy: Taxonomy, flag: str | None) -> str | None:
    """The call that makes the check of a code's details; None where there is nothing to check, or an imported schema.

    ``flag``: the key that is the retry flag, which the code decides.
    """
    members = {} if code.details_schema is not None else allowed(code)
    check = _of_members({key: each for key, each in members.items() if key != flag}, taxonomy)
    return None if check == Check() else source(check, 4, len("    checks = "), 0)


def _of_members(members: Mapping[str, Member], taxonomy: Taxonomy, closed: bool = False) -> Check:
    checks = {name: check_of(each.schema, taxonomy) for name, each in members.items() if each.presence != "forbidden"}
    return Check(
        members={name: each for name, each in checks.items() if closed or each != Check()},
        required=tuple(name for name, each in members.items() if each.presence == "required"),
        closed=closed,
    )


def check_of(schema: Schema, taxonomy: Taxonomy) -> Check:
    """The runtime check of a value; what an imported schema says is left to whoever reads it."""
    if schema.opaque is not None:
        return Check()
    terms = schemas.vocabulary(schema.vocabulary, taxonomy) if schema.vocabulary is not None else []
    known = all(each in ids.PATTERNS for each in schema.format)
    return _of_members(schema.properties, taxonomy, schema.additional == "forbid")._replace(
        types=schema.types,
        enum=schema.enum or tuple(terms),
        minimum=schema.minimum,
        maximum=schema.maximum,
        min_length=schema.min_length,
        max_length=schema.max_length,
        pattern=None if schema.pattern is None else expression(schema.pattern).pattern,
        format=schema.format if known else (),
        items=None if schema.items is None else check_of(schema.items, taxonomy),
    )
