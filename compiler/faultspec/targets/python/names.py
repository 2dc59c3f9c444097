"""Names in Python: packages, members, classes, parameters; never a keyword, never the same
twice.
"""

import builtins
import keyword
import re
from collections.abc import Mapping

from faultspec.language.model import Code, Taxonomy
from faultspec.language.spelling import pascal, snake
from faultspec.targets import schema as schemas
from faultspec.targets.decided import decides_codes
from faultspec.targets.filters import constant, take_unique

#: Names that a parameter cannot have: those that every constructor has, and those that its body
#: uses.
PARAMETERS = frozenset(
    (
        *("self", "super", "frozenset", "entity_tag", "Unset"),
        *("message", "details", "boundary", "status", "retriable", "headers", "retry_after"),
        *("actions", "others"),
    )
)

#: Names that an attribute for a slot cannot have: those of the base class and of BaseException, and
#: those that the constructors with such a parameter use.
ATTRIBUTES = PARAMETERS | frozenset(
    (
        *("code", "checks", "defaults", "facts", "default_message", "summary", "flag_key"),
        *("operation", "envelope", "nullable", "args", "add_note", "with_traceback"),
        *(
            "raw",
            "original_code",
            "replaced_by",
            "name",
            "way",
            "under",
            "other_facts",
            "retriable_when",
        ),
        *("slot", "check", "getattr", "hasattr", "object", "str", "type", "lacking", "refuse"),
    )
)

#: Names that the module of exceptions uses itself.
MODULE = frozenset(
    (
        *("AnyError", "Check", "EnvelopeName", "ErrorCode", "Enum", "FACTS", "Facts", "Mapping"),
        *("RetriableRule", "StatusRule", "SECONDS", "SLOT_CHECKS", "Sequence", "UnknownError"),
        "Unset",
    )
)


def package(taxonomy: str) -> str:
    """``platform_errors`` for the taxonomy ``platform``, ``s3_errors`` for ``s3``."""
    plain = re.fullmatch(r"[a-z][a-z0-9_]*", taxonomy) is not None
    stem = (taxonomy if plain else snake(taxonomy)) or "taxonomy"
    name = stem if stem.endswith(("error", "errors")) else f"{stem}_errors"
    return python_identifier(name, "taxonomy")


def base_class(taxonomy: str) -> str:
    """``PlatformError`` for the taxonomy ``platform``."""
    name = python_identifier(pascal(taxonomy), "Taxonomy")
    stem = name.removesuffix("Errors").removesuffix("Error")
    base = f"{stem}Error" if stem else "BaseError"
    return f"Base{base}" if base in MODULE else base


def python_identifier(name: str, otherwise: str) -> str:
    """``name`` if it is a Python identifier; else one near it, or ``otherwise`` if nothing is
    left.
    """
    if not name:
        return otherwise
    if name[0].isdigit():
        name = f"{otherwise}_{name}" if otherwise.islower() else f"{otherwise}{name}"
    return f"{name}_" if keyword.iskeyword(name) else name


def wire_names(taxonomy: Taxonomy) -> tuple[tuple[str, str], ...]:
    """(tool, method or route, operation) of each that calls one operation only, and that has codes
    of its own or in a form of its own, or may decide the code.
    """
    decided = decides_codes(taxonomy)
    found: dict[str, list[str]] = {}
    for operation in taxonomy.operations.values():
        for wire in (
            *({operation.wire} - {operation.name}),
            *operation.match.tools,
            *operation.match.routes,
        ):
            found.setdefault(wire, []).append(operation.name)
    return tuple(
        (wire, owners[0])
        for wire, owners in found.items()
        if len(owners) == 1
        and wire not in taxonomy.operations
        and (taxonomy.operations[owners[0]].has_own_codes or decided)
    )


def enum_members(taxonomy: Taxonomy) -> dict[str, str]:
    """The member of ``ErrorCode`` for each live code, by name."""
    taken: set[str] = set()
    return {
        code.name: take_unique(python_identifier(constant(code.name), "CODE").upper(), taken)
        for code in schemas.distinct_codes(taxonomy)
    }


def exception(operation: str | None, code: str, taken: set[str]) -> str:
    """The exception of a code; ``Failure`` is appended if it would hide a builtin or a name of the
    module.
    """
    name = python_identifier((pascal(operation) if operation else "") + pascal(code), "Code")
    if name in MODULE or hasattr(builtins, name) or name.endswith("Details"):
        name += "Failure"
    return take_unique(name, taken)


def exceptions(taxonomy: Taxonomy) -> Mapping[str, tuple[str | None, Code]]:
    """The exception of each live code by its name, with the operation that alone has the code."""
    taken = {base_class(taxonomy.name), *MODULE}
    return {
        exception(operation, code.name, taken): (operation, code)
        for operation, code in schemas.live(taxonomy)
    }


def domain_class(domain: str, taken: set[str]) -> str:
    """The base class of the errors of a domain."""
    name = python_identifier(f"{pascal(domain)}Error", "Domain")
    if name in MODULE or name in taken or hasattr(builtins, name):
        name = python_identifier(f"{pascal(domain)}DomainError", "Domain")
    return take_unique(name, taken)


def parameter(key: str, reserved: frozenset[str] = PARAMETERS) -> str:
    """The parameter or attribute for a key or a slot. A key need not be a name in Python."""
    name = re.sub(r"[^A-Za-z0-9_]+", "_", key).lstrip("_") or "value"
    return f"{name}_" if keyword.iskeyword(name) or name in reserved or name[0].isdigit() else name
