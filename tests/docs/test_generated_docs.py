"""Laws of the generated pages: they are current, whole, and the published schema says what the
grammar says.
"""

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faultspec.cli import schemas
from faultspec.cli.files import user_files
from faultspec.docs.pages import main, pages
from faultspec.evolution.ledger import LEDGER
from faultspec.evolution.rules import BY_ID as EVOLUTION_RULES
from faultspec.language import grammar, read, reference, schema
from faultspec.language.constructs import DOCUMENT
from faultspec.language.examples import EXAMPLES
from faultspec.language.formats import FORMATS
from faultspec.language.scope import WELL_KNOWN_SLOTS
from faultspec.lint import RULES, lint
from faultspec.project import PROJECT
from faultspec.source import load_document, parse
from faultspec_conformance.config import CONFIGURATION
from faultspec_conformance.results.waivers import FILE
from language.test_language import DATA, KEYS_OF_THE_LANGUAGE, PLACES, VALUES, at, paths
from paths import ROOT

DOCS = ROOT / "docs"


@pytest.mark.parametrize("path", pages())
def test_the_pages_are_current(path: str) -> None:
    """The committed pages agree with the language and the lint rules of today (`make docs`)."""
    assert (DOCS / path).read_text(encoding="utf-8") == pages()[path]


def test_the_pages_are_written_where_asked(tmp_path: Path) -> None:
    """The generator writes every page, and the same bytes each time."""
    folder = tmp_path / "docs"
    main(str(folder))
    assert {
        each.relative_to(folder).as_posix(): each.read_text(encoding="utf-8")
        for each in folder.rglob("*")
        if each.is_file()
    } == dict(pages())


@pytest.mark.parametrize("page", ["diff.md", "language.md", "lint.md"])
def test_links_lead_somewhere(page: str) -> None:
    """Every anchor a page refers to is a heading of it."""
    text = pages()[page]
    headings = {name.replace("/", "") for name in re.findall(r"^#+ (\S+)$", text, re.M)}
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) - headings == set()


def test_every_rule_and_construct_is_on_its_page() -> None:
    """No rule and no key is left out of its page."""
    written = pages()
    assert [each for each in RULES if f"\n## {each.id}\n" not in written["lint.md"]] == []
    assert [rule for rule in EVOLUTION_RULES if f"\n### {rule}\n" not in written["diff.md"]] == []
    language = written["language.md"]
    assert [
        each.address for each in reference.constructs().values() if f"`{each.name}`" not in language
    ] == []
    assert [
        each.address for each in reference.constructs().values() if each.key.doc not in language
    ] == []


def enumerated(type: grammar.Type) -> Iterator[str]:
    """The closed lists of texts in a grammar, item by item. Recursive types are entered once."""
    match type:
        case grammar.Choice(values):
            yield from values
        case grammar.Either(branches):
            for branch in branches:
                yield from enumerated(branch)
        case grammar.Many(inner):
            yield from enumerated(inner)
        case grammar.Named(inner, name):
            yield from enumerated(name)
            yield from enumerated(inner)
        case grammar.Text(str(pattern)):
            words = pattern.replace("\\.", ".").split("|")
            yield from (word for word in words if re.fullmatch(r"[a-z][a-z_.]+", word))


@pytest.mark.parametrize("page", ["language.md", "reference/files.md"])
def test_every_enumerated_value_is_on_its_page(page: str) -> None:
    """A reader finds every value of every closed list: of keys, facts, formats and slots."""
    text = (DOCS / page).read_text(encoding="utf-8")
    grammars = [DOCUMENT] if page == "language.md" else [file.grammar for file in user_files()]
    keys = [key for one in grammars for key in reference.constructs(one).values()]
    wanted = {value for key in keys for value in enumerated(key.key.type)}
    if page == "language.md":
        wanted |= {*FORMATS, *(f"${slot}" for slot in WELL_KNOWN_SLOTS)}
    assert len(wanted) > 10
    assert [value for value in sorted(wanted) if f"`{value}`" not in text] == []


@pytest.mark.parametrize(
    "fact", ["cause", "status", "operation.idempotent", "caller.authenticated"]
)
def test_each_fact_has_its_values(fact: str) -> None:
    """The section of conditions has a row for each fact, with the values that it may have."""
    assert f"| `{fact}` | " in pages()["language.md"]


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


_STRICT: Any = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    {"pattern": _ecma_pattern},
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", _strict_integer),
)

VALIDATOR: Any = _STRICT(schema.json_schema())


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


# The schemas of other files

GRAMMARS = {
    "project.schema.json": PROJECT,
    "conformance.schema.json": CONFIGURATION,
    "waivers.schema.json": FILE,
    "ledger.schema.json": LEDGER,
    "faultspec.schema.json": DOCUMENT,
}

KINDS = {
    "faultspec.yaml": "project.schema.json",
    "starter-project.yaml": "project.schema.json",
    "waivers.yaml": "waivers.schema.json",
    "ledger.yaml": "ledger.schema.json",
    "taxonomy.yaml": "faultspec.schema.json",
    "starter.yaml": "faultspec.schema.json",
    "examples.yaml": "faultspec.schema.json",
}
"""The schema of a file by its name; any other is a conformance file, or named as a taxonomy."""

EXAMPLE_FILES = sorted(
    path
    for folder, pattern in (
        (ROOT, "*.yaml"),
        (ROOT / "compiler", "**/*.yaml"),
        (ROOT / "conformance", "**/*.yaml"),
        (ROOT / "examples", "*/*.yaml"),
        (ROOT / "examples", "theodosia/real/*.yaml"),
        (ROOT / "tests" / "miniatures", "*.yaml"),
        (ROOT / "tests" / "taxonomies", "*.yaml"),
    )
    for path in folder.glob(pattern)
    if path.name != ".pre-commit-hooks.yaml"  # pre-commit has its schema
    and path.parent.name != "evolution"  # pieces of taxonomies
    and path.name != "record_examples.yaml"  # pieces too, each with its line
)


def schema_of_file(path: Path) -> str:
    """The name of the schema of an example."""
    is_taxonomy = path.name.endswith("-taxonomy.yaml") or path.parent.name == "taxonomies"
    usual = "faultspec.schema.json" if is_taxonomy else "conformance.schema.json"
    return KINDS.get(path.name, usual)


def test_the_schemas_are_current(tmp_path: Path) -> None:
    """Each published schema is what its grammar gives today (`make docs`), and is a schema."""
    schemas.main(str(tmp_path))
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {*GRAMMARS, "reference"} - {"faultspec.schema.json"}
    page = Path("reference", "files.md")
    assert (DOCS / page).read_text(encoding="utf-8") == (tmp_path / page).read_text("utf-8")
    for path in tmp_path.glob("*.json"):
        text = path.read_text(encoding="utf-8")
        assert (DOCS / path.name).read_text(encoding="utf-8") == text
        jsonschema.Draft202012Validator.check_schema(json.loads(text))


@pytest.mark.parametrize("path", EXAMPLE_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_examples_obey_their_schemas(path: Path) -> None:
    """The published schema accepts what the commands accept. A taxonomy with a base obeys it only
    together with the base.
    """
    data = load_document(str(path)).data
    name = schema_of_file(path)
    published = json.loads((DOCS / name).read_text(encoding="utf-8"))
    if not isinstance(data, dict) or "extends" not in data:
        assert list(grammar.check_data(GRAMMARS[name], data)) == []
        assert [error.message for error in _STRICT(published).iter_errors(data)] == []


@pytest.mark.parametrize("path", EXAMPLE_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_schema_refuses_what_the_grammar_refuses(path: Path) -> None:
    """A value of a wrong kind anywhere is refused by the schema if the grammar refuses it."""
    name, data = schema_of_file(path), load_document(str(path)).data
    if name == "faultspec.schema.json":
        return  # the laws above change taxonomies everywhere
    validator = _STRICT(json.loads((DOCS / name).read_text(encoding="utf-8")))
    for place in paths(data):
        changed = copy.deepcopy(data)
        parent = at(changed, place[:-1])
        parent[place[-1]] = {"surprise": None}
        problems = list(grammar.check_data(GRAMMARS[name], changed))
        assert bool(problems) != validator.is_valid(changed), place


def project_examples() -> list[str]:
    """The YAML blocks of the page on the project file."""
    page = (DOCS / "project.md").read_text(encoding="utf-8")
    return re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def test_the_page_on_the_project_shows_a_valid_file() -> None:
    """The examples obey grammar and schema, and the page names every key."""
    page = (DOCS / "project.md").read_text(encoding="utf-8")
    published = json.loads((DOCS / "project.schema.json").read_text(encoding="utf-8"))
    assert project_examples()
    for example in project_examples():
        document, problems = parse(example, "faultspec.yaml")
        assert document is not None
        assert list(problems) == []
        assert list(grammar.check_data(PROJECT, document.data)) == []
        assert list(_STRICT(published).iter_errors(document.data)) == []
    taxonomy = published["properties"]["taxonomies"]["anyOf"][1]["additionalProperties"]["anyOf"][1]
    for key in (*published["properties"], *taxonomy["properties"]):
        assert f"| `{key}` |" in page
