"""An example of every evolution rule: two taxonomies that differ in what the rule judges."""

from collections.abc import Mapping
from datetime import date
from importlib.resources import files
from typing import NamedTuple

from faultspec.evolution.compare import compare
from faultspec.evolution.report import EvolutionReport
from faultspec.language import read
from faultspec.lint.rule import complete_example
from faultspec.source import parse

#: The day on which the examples are compared. No sunset in them is over.
_TODAY = date(2026, 1, 1)


class EvolutionExample(NamedTuple):
    """The sections of two taxonomies that matter, as YAML without the sections of the base."""

    before: str
    after: str

    def complete(self) -> tuple[str, str]:
        """The texts of both taxonomies, with the sections of the base below the example."""
        return complete_example(self.before, _BASE), complete_example(self.after, _BASE)

    def report(self) -> EvolutionReport:
        """The comparison of both taxonomies, as the command reports it."""
        old, new = (read(text, "taxonomy.yaml") for text in self.complete())
        assert old.taxonomy is not None
        assert new.taxonomy is not None
        comparison = compare(old.taxonomy, new.taxonomy, _TODAY)
        return EvolutionReport("old.yaml", "taxonomy.yaml", comparison, new.document)


def _load() -> tuple[Mapping[str, str], Mapping[str, EvolutionExample]]:
    """The sections of the base by their key, and the examples by rule."""
    text = (files("faultspec.evolution") / "examples.yaml").read_text(encoding="utf-8")
    document, _ = parse(text, "examples.yaml")
    assert document is not None
    data = dict(document.data)
    base: dict[str, str] = {}
    section = ""
    for line in data.pop("base").splitlines(keepends=True):
        section = section if line[0].isspace() else line.partition(":")[0]
        base[section] = base.get(section, "") + line
    return base, {rule: EvolutionExample(**example) for rule, example in data.items()}


_BASE, EXAMPLES = _load()
