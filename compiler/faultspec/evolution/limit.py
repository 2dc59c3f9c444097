"""The limit of ``--fail-on``: which changes fail the command, and which versions must be raised."""

from collections.abc import Iterable, Mapping

from faultspec.evolution.model import BUMPS, CATEGORIES, SEVERITIES, Bump, Change, due_bump

#: What `--fail-on` takes: a severity and all worse ones, any change, or a category.
LIMITS = ("breaking", "risky", "any", *CATEGORIES)

#: The limit without `--fail-on`.
DEFAULT_LIMIT = LIMITS[0]


def exceeds_limit(change: Change, limit: str) -> bool:
    """Whether a change is as bad as the limit, or of its category."""
    if limit in CATEGORIES:
        return limit in change.categories
    return limit == "any" or SEVERITIES.index(change.severity) <= SEVERITIES.index(limit)


#: The bumps that must be declared, by the severity that fails.
_DEMANDED: Mapping[str, tuple[Bump, ...]] = {
    "breaking": BUMPS[:1],
    "risky": BUMPS[:2],
    "any": BUMPS[:3],
}


def demanded_bump(changes: Iterable[Change], limit: str) -> Bump:
    """The part of the version that must be raised for changes under a limit: for those of its
    category, or for those that are due as much as its severity."""
    bumps = _DEMANDED.get(limit, ())
    return due_bump(c for c in changes if c.bump in bumps or limit in c.categories)
