"""Laws of the evolution rules."""

from datetime import date

from tests.evolution.model_fields import model_fields

from faultspec.evolution.rules import RULES
from faultspec.language import read
from faultspec.language.model import Taxonomy
from support.full_taxonomy import FULL

TODAY = date(2026, 11, 23)


def _full() -> Taxonomy:
    taxonomy = read(FULL, "full.yaml").taxonomy
    assert taxonomy is not None
    return taxonomy


def test_some_rule_reads_every_field_of_the_model() -> None:
    """No field of the language can change without a rule that judges it. The kinds of nodes are
    constants of their types."""
    read_fields = {field for rule in RULES for field in rule.reads}
    fields = {field for field in model_fields() if not field.endswith(".kind")}
    assert read_fields == fields
