"""Laws of the generated pages: they are current, whole, and the published schema says what the
grammar says.
"""

import copy
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faultspec.docs.pages import main, pages
from faultspec.language import grammar, read, reference, schema
from faultspec.language.constructs import DOCUMENT
from faultspec.language.examples import EXAMPLES
from faultspec.lint import RULES, lint
from language.test_language import DATA, KEYS_OF_THE_LANGUAGE, PLACES, VALUES, at, paths
from paths import ROOT

DOCS = ROOT / "docs"


@pytest.mark.parametrize("path", pages())
def test_the_pages_are_current(path: str) -> None:
    """The committed pages agree with the language and the lint rules of today (`make docs`)."""
    assert (DOCS / path).read_text(encoding="utf-8") == pages()[path]


def test_the_pages_are_written_where_asked(tmp_path: Path) -> None:
    """The generator writes every page, and the same bytes each time."""
    main(str(tmp_path / "docs"))
    assert {
        each.name: each.read_text(encoding="utf-8") for each in (tmp_path / "docs").iterdir()
    } == dict(pages())


@pytest.mark.parametrize("page", ["language.md", "lint.md"])
def test_links_lead_somewhere(page: str) -> None:
    """Every anchor a page refers to is a heading of it."""
    text = pages()[page]
    headings = set(re.findall(r"^#+ (\S+)$", text, re.M))
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) - headings == set()


def test_every_rule_and_construct_is_on_its_page() -> None:
    """No rule and no key is left out of its page."""
    assert [each for each in RULES if f"\n## {each.id}\n" not in pages()["lint.md"]] == []
    language = pages()["language.md"]
    assert [
        each.address for each in reference.constructs().values() if f"`{each.name}`" not in language
    ] == []
    assert [
        each.address for each in reference.constructs().values() if each.key.doc not in language
    ] == []


def test_the_worked_examples_are_one_sound_taxonomy() -> None:
    """Every top-level construct has an example, and together they can be used as they stand."""
    assert tuple(EXAMPLES) == tuple(DOCUMENT.keys)
    loaded = read("".join(EXAMPLES.values()), "worked.yaml")
    assert loaded.diagnostics == ()
    assert loaded.document is not None
    assert loaded.taxonomy is not None
    assert [
        each for each in lint(loaded.document, loaded.taxonomy) if each.severity == "error"
    ] == []


# The JSON Schema


def _ecma_pattern(validator: Any, pattern: str, instance: Any, _: Any) -> Any:
    """`pattern` as ECMA-262 has it, where `$` is the very end; in Python a line end may follow."""
    if isinstance(instance, str) and not re.search(
        re.sub(r"\$$", r"\\Z", pattern), instance, re.ASCII
    ):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _strict_integer(_: Any, instance: Any) -> bool:
    """The language tells 1 from 1.0, as YAML does."""
    return isinstance(instance, int) and not isinstance(instance, bool)


VALIDATOR: Any = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    {"pattern": _ecma_pattern},
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", _strict_integer),
)(schema.json_schema())


def test_the_schema_is_a_schema() -> None:
    """It obeys the metaschema, refers to nothing outside, and every key carries its explanation."""
    document = schema.json_schema()
    jsonschema.Draft202012Validator.check_schema(document)
    assert json.loads(schema.json_schema_text()) == document
    text = schema.json_schema_text()
    names = set(re.findall(r'"\$ref": "#/\$defs/(\w+)"', text))
    assert names == set(document["$defs"])
    assert re.findall(r'"\$ref": "(?!#/\$defs/)', text) == []
    for name, key in DOCUMENT.keys.items():
        assert document["properties"][name]["description"] == key.doc


def agree(data: Any) -> None:
    """Grammar and schema give the same verdict, but for a key that stands there with `?` and
    without.
    """
    problems = [each for each in grammar.check_data(DOCUMENT, data) if each.code != "duplicate-key"]
    errors = list(VALIDATOR.iter_errors(data))
    assert bool(problems) == bool(errors), (problems, errors)


def test_both_accept_the_flagship_and_the_samples() -> None:
    """A document that is sound for one of the two is sound for the other."""
    for data in (DATA, *(value for _, value, _ in PLACES)):
        assert list(grammar.check_data(DOCUMENT, data)) == []
        agree(data)


@pytest.mark.parametrize("index", range(0, len(PLACES), 30))
def test_both_refuse_what_has_a_wrong_key(index: int) -> None:
    """An unknown key or a missing one anywhere is refused by both."""
    for record, value, path in PLACES[index : index + 30]:
        for name, key in record.keys.items():
            data = copy.deepcopy(value)
            if key.required:
                del at(data, path)[name]
                agree(data)
            at(data, path)[name + "x"] = 1
            assert list(grammar.check_data(DOCUMENT, data))
            agree(data)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_both_agree_on_any_change(data: st.DataObject) -> None:
    """Whatever value stands wherever, both accept or both refuse."""
    changed = copy.deepcopy(data.draw(st.sampled_from([DATA, *(value for _, value, _ in PLACES)])))
    for _ in range(data.draw(st.integers(1, 2))):
        places = list(paths(changed))
        *above, last = data.draw(st.sampled_from(places))
        parent = at(changed, tuple(above))
        if data.draw(st.booleans()):
            parent[last] = data.draw(VALUES)
        elif isinstance(parent, dict):
            parent[data.draw(st.sampled_from(KEYS_OF_THE_LANGUAGE) | st.text(max_size=5))] = (
                data.draw(VALUES)
            )
    agree(changed)
