"""Laws of the examples of the evolution rules, and of the JSON report."""

import json
from collections.abc import Mapping
from importlib.resources import files

import jsonschema
import pytest

from faultspec.evolution.examples import EXAMPLES
from faultspec.evolution.report import as_data
from faultspec.evolution.rules import BY_ID

INSEPARABLE: Mapping[str, set[str]] = {
    "code/constructor": {"header/answer"},  # an argument is demanded with what it fills
}
"""Rules that report something else in their example too, with the reason."""


def test_every_rule_has_an_example() -> None:
    """The file has one example of each rule, and no other."""
    assert set(EXAMPLES) == set(BY_ID)


@pytest.mark.parametrize("rule", EXAMPLES)
def test_an_example_shows_its_rule(rule: str) -> None:
    """A rule reports the change of its example, and no other rule reports anything. Nothing is
    left that is only notation."""
    comparison = EXAMPLES[rule].report().comparison
    assert {change.rule for change in comparison.changes} == {rule, *INSEPARABLE.get(rule, ())}
    assert comparison.notation == ()


@pytest.mark.parametrize("rule", EXAMPLES)
def test_an_example_is_short(rule: str) -> None:
    """Readers see a change at once: few lines, of which some are equal."""
    example = EXAMPLES[rule]
    for text in (example.before, example.after):
        assert len(text.splitlines()) <= 7


def test_reports_obey_the_schema() -> None:
    """The report of every example is valid under the published schema, which is a schema."""
    schema = json.loads((files("faultspec.evolution") / "report.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for example in EXAMPLES.values():
        validator.validate(as_data(example.report()))
