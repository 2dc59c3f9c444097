"""The paths at which a team lays its decisions over an import, and imports again."""

from faultspec.importers import Data

#: What no document decides.
_OWN = frozenset({"faultspec", "taxonomy"})

#: Statements about codes and operations that a team replaces.
_OF_CODES = ("summary", "description", "example", "retriable", "effect", "domain", "boundary")
_OF_OPERATIONS = ("summary", "codes", "idempotent")


def extensible_paths(data: Data) -> list[str]:
    """Every section, new statements about codes, and those statements that are a team's."""
    sections = [name for name in data if name not in _OWN]
    paths = [*sections, *(f"{name}.*" for name in ("codes", "operations") if name in data)]
    for section, keys in (("codes", _OF_CODES), ("operations", _OF_OPERATIONS)):
        written = {key for entry in data.get(section, {}).values() for key in entry}
        paths += [f"{section}.*.{key}" for key in keys if key in written]
    if "fallback" in data:
        paths += ["fallback.*.code", "fallback.*.reason"]
    return [*paths, *(["surfaces.*.codes"] if "surfaces" in data else [])]
