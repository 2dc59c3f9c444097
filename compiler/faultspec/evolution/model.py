"""A change between two taxonomies as a value: its rule, its severity, and for whom it breaks what.

The severities: ``breaking``: a consumer that follows the old contract stops working or acts
wrongly. ``risky``: such consumers survive, but a common one may act differently, or a guarantee
outside the contract (load, privacy) weakens. ``safe``: no such consumer can notice harm.
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args

from faultspec.diagnostics.model import Path

Category = Literal["SOURCE", "WIRE", "BEHAVIOUR", "OPS", "DOC"]
"""SOURCE: code that imports the bindings. WIRE: what an answer contains. BEHAVIOUR: retries,
idempotency, boundaries, privacy. OPS: alerts, owners, metrics, logs. DOC: texts."""

Audience = Literal["clients", "services", "operators"]

ChangeSeverity = Literal["breaking", "risky", "safe"]

Bump = Literal["major", "minor", "patch", "none"]
"""The part of a version that a change raises."""

BOTH: tuple[Audience, ...] = ("clients", "services")

CATEGORIES: tuple[Category, ...] = get_args(Category)
AUDIENCES: tuple[Audience, ...] = get_args(Audience)
SEVERITIES: tuple[ChangeSeverity, ...] = get_args(ChangeSeverity)
BUMPS: tuple[Bump, ...] = get_args(Bump)


class Effect(NamedTuple):
    """The effect of a difference on consumers.

    ``message`` completes a sentence whose subject is the construct. ``categories`` empty: those of
    the rule. ``adds``: something new can be used, so that a safe change is due a minor version.
    ``removes``: a sanctioned removal, which is due a major version although it is not breaking.
    """

    severity: ChangeSeverity
    message: str
    breaks: tuple[Audience, ...] = ()
    categories: tuple[Category, ...] = ()
    adds: bool = False
    removes: bool = False
    remedy: str | None = None


class Change(NamedTuple):
    """One change, at one place or at several that changed alike.

    ``path``: the first place, in the new taxonomy, or in the old one if it is gone. ``places``: all
    of them, as dotted names. ``before``, ``after``: the values as text; None if absent.
    ``identity``: both values exactly, for fingerprints.
    """

    rule: str
    severity: ChangeSeverity
    categories: tuple[Category, ...]
    breaks: tuple[Audience, ...]
    message: str
    path: Path
    places: tuple[str, ...]
    before: str | None = None
    after: str | None = None
    remedy: str | None = None
    adds: bool = False
    removes: bool = False
    identity: str = ""

    @property
    def bump(self) -> Bump:
        """The version that the change is due."""
        if self.severity == "breaking" or self.removes:
            return "major"
        return "minor" if self.severity == "risky" or self.adds else "patch"


def due_bump(changes: Iterable[Change]) -> Bump:
    """The greatest bump that any of the changes is due; ``none`` without changes."""
    return min((change.bump for change in changes), key=BUMPS.index, default="none")
