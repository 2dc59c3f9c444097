"""The structural differences of two taxonomies: every field that is not equal, with its place."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from faultspec.diagnostics.model import Path
from faultspec.language.model import Taxonomy

SETS = frozenset(
    {
        "Alert.codes",
        "Alert.statuses",
        "Code.actions",
        "Code.headers",
        "Code.passthrough",
        "Concealment.never",
        "HeaderRule.codes",
        "HeaderRule.format",
        "HeaderRule.on",
        "Idempotency.equal",
        "Idempotency.headers",
        "Idempotency.methods",
        "Match.headers",
        "Match.methods",
        "Match.query",
        "Match.request",
        "Match.routes",
        "Match.statuses",
        "Match.tools",
        "Metric.labels",
        "Operation.codes",
        "Privacy.conceal",
        "Privacy.detectors",
        "Privacy.internal_names",
        "Privacy.never_echoed",
        "Protocol.codes",
        "RetryPolicy.eligible",
        "Ruling.allows",
        "Ruling.statements",
        "Schema.enum",
        "Schema.format",
        "Schema.types",
        "Source.rulings",
        "Source.statements",
        "Surface.codes",
        "Surface.error_when",
        "Surface.headers",
        "Surface.requires_details",
        "Taxonomy.extensible",
        "Taxonomy.fallbacks",
        "Taxonomy.headers",
        "Test.ranges",
        "Test.values",
        "Upstream.keys",
        "UpstreamCode.codes",
        "UpstreamCode.statuses",
        "UpstreamCode.upstreams",
    }
)
"""Fields with sequences whose order means nothing. In others it does: the first boundary, status,
envelope or media type is the default, and the first condition that holds decides."""


class Difference(NamedTuple):
    """A field of a record that differs. ``path``: fields and mapping keys from the root."""

    path: Path
    field: str
    old: Any
    new: Any


def find_differences(old: Taxonomy, new: Taxonomy) -> Iterator[Difference]:
    """Every field of every record that differs. The order of mappings means nothing, but for
    surfaces: an exchange belongs to the first one that matches."""
    yield from _compare(old, new, (), "")
    common = [name for name in old.surfaces if name in new.surfaces]
    if common != [name for name in new.surfaces if name in old.surfaces]:
        names = tuple(old.surfaces), tuple(new.surfaces)
        yield Difference(("surfaces",), "Taxonomy.surfaces", *names)


def _compare(old: Any, new: Any, path: Path, field: str) -> Iterator[Difference]:
    if old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*old, *new)):
            place = (*path, key)
            yield from _compare(old.get(key), new.get(key), place, field)
    elif type(old) is type(new) and hasattr(old, "_fields"):
        record = type(old).__name__
        for name, before, after in zip(old._fields, old, new, strict=True):
            yield from _compare(before, after, (*path, name), f"{record}.{name}")
    elif field not in SETS or not _has_equal_items(old, new):
        yield Difference(path, field, old, new)


def _has_equal_items(old: Any, new: Any) -> bool:
    """Whether two sequences have the same items, in whatever order."""
    if old is None or new is None or len(old) != len(new):
        return False
    try:
        return set(old) == set(new)
    except TypeError:  # an item has a mapping
        return all(list(old).count(item) == list(new).count(item) for item in old)
