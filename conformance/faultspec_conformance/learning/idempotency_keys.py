"""The rule about idempotency keys that an OpenAPI document lets one guess."""

import re

from faultspec.importers import Data
from faultspec.openapi.service import Description, OperationParameter

#: The names of the header in common use.
_KEY = re.compile(r"(?:x-)?(?:idempotency|idempotent)-?key", re.IGNORECASE)


def guess_idempotency(description: Description) -> Data:
    """The rule of a service whose document has one header for the key on each POST; empty if it has
    none, or if an operation has none: the rule would hold for that one too.
    """
    keys = [
        _key_of(operation.parameters)
        for operation in description.operations
        if operation.method == "POST"
    ]
    found = [key for key in keys if key is not None]
    if not found or len(found) < len(keys) or len({key.name.lower() for key in found}) > 1:
        return {}
    is_optional = not any(key.required for key in found)
    return {
        "key": found[0].name,
        "methods": ["POST"],
        "missing": "accepted" if is_optional else "unspecified",
        "mismatch": "unspecified",
    }


def _key_of(parameters: tuple[OperationParameter, ...]) -> OperationParameter | None:
    """The header of an operation that is called as those for keys are."""
    return next(
        (one for one in parameters if one.where == "header" and _KEY.fullmatch(one.name)), None
    )
