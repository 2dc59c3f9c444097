"""A document without values that YAML cannot represent."""

from faultspec.importers import Json, Loss, NotImportable
from faultspec.openapi.pointers import child
from faultspec.openapi.text import DEEPEST, replace_surrogates

#: Whole numbers beyond this are read differently by different YAML readers.
_LARGEST = 2**63

_REMOVED = object()


def clean_document(document: object, format: str) -> tuple[Json, list[Loss]]:
    """A copy of the document with nothing that YAML cannot represent, and what was removed.

    ``format``: what the document should be, such as ``OpenAPI``. Raises NotImportable if it is not
    an object.
    """
    if not isinstance(document, dict):
        message = f"this is not a document of {format}: it is not an object"
        raise NotImportable(
            f"not-{format.lower().replace(' ', '-')}", message, hint="name another file"
        )
    losses: list[Loss] = []
    found = _clean(document, "", losses, 0)
    assert isinstance(found, dict)
    return found, losses


def _clean(value: object, pointer: str, losses: list[Loss], depth: int) -> object:
    if depth > DEEPEST:
        message = f"there are more than {DEEPEST} levels of nesting"
        raise NotImportable("nested-too-deeply", message, pointer)
    match value:
        case dict():
            members = {
                replace_surrogates(str(key)): _clean(
                    inner, child(pointer, str(key)), losses, depth + 1
                )
                for key, inner in value.items()
            }
            return {key: inner for key, inner in members.items() if inner is not _REMOVED}
        case list():
            items = [
                _clean(item, child(pointer, index), losses, depth + 1)
                for index, item in enumerate(value)
            ]
            return [item for item in items if item is not _REMOVED]
        case str():
            return replace_surrogates(value)
        case int() if not -_LARGEST <= value < _LARGEST:
            reason = "the number does not fit 64 bits"
        case float() if value in (float("inf"), float("-inf")):
            reason = "the number is too large for a float"
        case _:
            return value
    losses.append(Loss(pointer, "number", reason))
    return _REMOVED
