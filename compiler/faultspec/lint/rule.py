"""What a lint rule is: one function, its name, why it exists, and an example of each side."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from faultspec.diagnostics.model import Path, Remedy, Severity
from faultspec.language.model import Taxonomy


@dataclass(frozen=True, slots=True)
class Subject:
    """What a rule looks at: the model, and the data it was made of, for what the model has filled in or followed."""

    taxonomy: Taxonomy
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Remark:
    """Something a rule has to say of the key (or with `on_key=False` the value) at `path`.

    `related` are other places that explain it, each with what to say there.
    """

    path: Path
    message: str
    hint: str
    on_key: bool = True
    related: tuple[tuple[str, Path], ...] = ()
    remedy: Remedy | None = None


Check = Callable[[Subject], Iterator[Remark]]


@dataclass(frozen=True, slots=True)
class LintRule:
    """A rule of the lint. `bad` and `good` are YAML: the sections that differ from `faultspec.lint.examples.BASE`."""

    id: str
    severity: Severity
    purpose: str
    check: Check
    bad: str
    good: str
