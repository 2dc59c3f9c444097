"""The decorator that makes a lint rule of a function, and what a rule reads and reports."""

import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from faultspec.diagnostics.model import Path, Remedy, Severity
from faultspec.language.model import Code, Example, Taxonomy


@dataclass(frozen=True, slots=True)
class Subject:
    """The taxonomy under check, and the data of its document: only what the author wrote.

    ``today``: decides which sunsets are over; None: that is not checked.
    """

    taxonomy: Taxonomy
    data: dict[str, Any]
    today: date | None = None

    def codes(self) -> Iterator[tuple[Path, Code]]:
        """Every code with its path: the shared codes, then those of each operation."""
        return self.taxonomy.located_codes()

    def live_codes(self) -> Iterator[tuple[Path, Code]]:
        """Every code that a service may produce, with its path."""
        return ((path, code) for path, code in self.codes() if code.live)

    def value_at(self, path: Path) -> object:
        """The value at `path` in the document, or None."""
        value: object = self.data
        for step in path:
            if isinstance(value, dict):
                value = value.get(str(step))
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                return None
        return value

    def mapping_at(self, *path: str | int) -> Mapping[str, Any]:
        """The mapping at `path` in the document; empty if there is none."""
        value = self.value_at(path)
        return value if isinstance(value, dict) else {}

    def first_written(self, path: Path, *keys: str) -> Path:
        """The path of the first of `keys` that the author wrote at `path`, or `path` itself."""
        written = self.mapping_at(*path)
        return next(((*path, key) for key in keys if key in written), path)

    def member_path(self, path: Path, name: str) -> Path:
        """The path of a member of the mapping at `path`, whose key may end in `?`."""
        return (*path, name if name in self.mapping_at(*path) else f"{name}?")

    def examples(self, path: Path, code: Code) -> Iterator[tuple[Path, Example]]:
        """The examples of the code at `path`, each with its path; `example:` is one or a list."""
        place: Path = (*path, "example")
        listed = isinstance(self.value_at(place), list)
        for index, example in enumerate(code.examples):
            yield (*place, index) if listed else place, example


@dataclass(frozen=True, slots=True)
class Remark:
    """A finding of a rule about the key (with `on_key=False`: the value) at `path`.

    `related` are other places that explain the finding, each with its own message.
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
    """A lint rule. `bad` and `good` are YAML documents without the sections of `BASE`.

    A `local` rule reads one code or one policy at a time. It also runs on documents with errors,
    on the codes and policies that have none.
    """

    id: str
    severity: Severity
    check: Check
    purpose: str
    bad: str
    good: str
    local: bool


def rule(id: str, *, severity: Severity, local: bool = False) -> Callable[[Check], LintRule]:
    """Make a lint rule of the decorated function. Its docstring is the documentation of the rule::

        The purpose: one paragraph, which ends with a full stop.

        Bad::

            codes: …

        Good::

            codes: …

    Raises ValueError if the docstring has another form.
    """

    def build_rule(check: Check) -> LintRule:
        purpose, bad, good = _documentation(id, check.__doc__)
        return LintRule(
            id=id,
            severity=severity,
            check=check,
            purpose=purpose,
            bad=bad,
            good=good,
            local=local,
        )

    return build_rule


def _documentation(id: str, docstring: str | None) -> tuple[str, str, str]:
    """The purpose, the bad and the good example; empty with `python -OO` (no docstrings)."""
    if sys.flags.optimize > 1:
        return "", "", ""
    match re.split(r"\n\n(Bad|Good)::\n\n", inspect.cleandoc(docstring or "")):
        case [purpose, "Bad", bad, "Good", good] if "\n\n" not in purpose and purpose[-1:] == ".":
            return " ".join(purpose.split()), _example(id, bad), _example(id, good)
    raise ValueError(
        f"the docstring of the lint rule `{id}` is not a purpose of one paragraph that ends with a"
        " full stop, then `Bad::` and `Good::`, each followed by an indented YAML document"
    )


def _example(id: str, block: str) -> str:
    if not all(line.startswith("    ") for line in block.splitlines() if line):
        raise ValueError(f"the lint rule `{id}`: each line of an example is indented by 4 spaces")
    return textwrap.dedent(block) + "\n"


EXAMPLE_DAY = date(2026, 1, 1)
"""The day on which the examples are checked."""

#: The sections that the examples have in common.
BASE: Mapping[str, str] = {
    "faultspec": "faultspec: 1\n",
    "taxonomy": "taxonomy: {name: shop, version: 1.0.0}\n",
    "envelopes": (
        "envelopes:\n  error: {shape: {code: $code, message: $message, details?: $details}}\n"
    ),
}


def complete_example(snippet: str, base: Mapping[str, str] = BASE) -> str:
    """An example and, below it, the sections of `base` that it lacks; its line numbers stay."""
    written = {line.partition(":")[0] for line in snippet.splitlines()}
    return snippet + "".join(text for section, text in base.items() if section not in written)
