"""Operations after which the caller is refused: they end its session, remove it or change its
credentials.
"""

import re
from collections.abc import Container
from dataclasses import replace

from faultspec.openapi.service import Description, ServiceOperation, shape_of

#: Names of operations that end a session, and of operations that remove the caller or change
#: credentials if they write: a segment of the path or the operation id, without separators and
#: case.
_SESSION_ENDS = re.compile(r"log(out|off)|sign(out|off)|(end|close)session")
_ENDINGS = re.compile(
    r"revoke\w*|(change|reset|set|update|forgot)?(my)?password\w*"
    r"|passwd|(rotate|regenerate|reset)\w*(token|key|secret|credential)s?"
    r"|(delete|close|deactivate|disable)(my|own)?(account|profile|user|self|me)"
)

#: The last segments of paths that stand for the caller, or the session of the caller.
_SELF = frozenset({"me", "self", "account", "profile", "session", "sessions", "token", "tokens"})


def ends_session(operation: ServiceOperation) -> bool:
    """Whether an operation may end the session of the caller, remove the caller or change
    credentials, by its name.
    """
    if operation.method in ("HEAD", "OPTIONS"):
        return False
    *_, last = operation.template.rstrip("/").rpartition("/")
    if operation.method in ("PUT", "PATCH", "DELETE") and _fold_name(last) in _SELF:
        return operation.method == "DELETE" or _fold_name(last) in ("token", "tokens")
    patterns = (_SESSION_ENDS, _ENDINGS) if operation.writes else (_SESSION_ENDS,)
    names = (last, operation.id or "")
    return any(pattern.fullmatch(_fold_name(name)) for pattern in patterns for name in names)


def _is_about_item(operation: ServiceOperation, items: Container[str]) -> bool:
    """Whether only the operation id looks like an ending, and the path is that of an item of a
    resource, or one below it, such as an account among others.
    """
    shape = shape_of(operation.template)
    return (shape in items or shape.rpartition("/")[0] in items) and not ends_session(
        replace(operation, id=None)
    )


def _fold_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def without_endings(
    description: Description, items: Container[str] = ()
) -> tuple[Description, tuple[str, ...]]:
    """Return the description without these operations, and their names. ``items``: the shapes of
    the paths of items that probes make themselves; operations that are about one stay.
    """
    left_out = [
        operation
        for operation in description.operations
        if ends_session(operation) and not _is_about_item(operation, items)
    ]
    names = tuple(operation.name for operation in left_out)
    kept = tuple(one for one in description.operations if one.name not in names)
    return replace(description, operations=kept), names
