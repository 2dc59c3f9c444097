"""The place of the idempotency key in requests: of all, of a surface, of an operation."""

from typing import get_args

from faultspec.language.grammar import Path
from faultspec.language.scope import Data, Scope
from faultspec.runtime.keys import KeyPlace, KeyPlaceKind

#: The parts of a request that may carry the key.
_KINDS: tuple[KeyPlaceKind, ...] = get_args(KeyPlaceKind)


def read_key_place(scope: Scope, key: str | Data, path: Path) -> KeyPlace:
    """The place of the key; a record that does not name exactly one is reported."""
    if isinstance(key, str):
        return KeyPlace("header", key)
    named = [kind for kind in _KINDS if kind in key]
    if len(named) != 1 and not scope.is_touched(path):
        message = f"the key has {len(named) or 'no'} places, and exactly one is expected"
        hint = "write one of `header`, `path`, `query` and `body`"
        scope.report(path, "bad-key-place", message, hint, on_key=True)
    kind: KeyPlaceKind = next(iter(named), "header")
    return KeyPlace(kind, key.get(kind, "Idempotency-Key"))


def read_own_key_place(scope: Scope, data: Data, path: Path) -> KeyPlace | None:
    """The place that a surface or an operation at a path declares; None if it declares none."""
    if "idempotency_key" not in data:
        return None
    return read_key_place(scope, data["idempotency_key"], (*path, "idempotency_key"))
