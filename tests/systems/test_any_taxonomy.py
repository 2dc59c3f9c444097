"""Whatever valid taxonomy there is: it compiles, its Python round-trips, and its schemas and the
judge say the same.
"""

import ast
import copy
import importlib
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from faultspec.contract.model import build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read
from faultspec.language.model import Code, Schema, Taxonomy
from faultspec.render import render
from faultspec.targets import SHIPPED
from support.bodies import places
from support.examples import examples
from support.fitting_targets import fitting_targets

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,9}", fullmatch=True)
WORDS = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")), min_size=1, max_size=20
).filter(str.strip)

#: Pictures of the wire. `$extra` is a slot that only who raises the error can fill.
SHAPES: tuple[dict[str, Any], ...] = (
    {"code": "$code", "message": "$message", "details?": "$details"},
    {
        "error": {
            "class": "$code",
            "message": "$message",
            "retriable": "$retriable",
            "details?": "$details",
        }
    },
    {"code": "$code", "text": "$message", "extra": "$extra", "...": "$details"},
    {"errors": [{"id": "$code", "detail": "$message", "meta?": "$details"}]},
    {
        "type": "https://errors.example/${code}",
        "title": "$summary",
        "status": "$status",
        "code": "$code",
        "data?": "$details",
    },
    {
        "v": 1,
        "fault": {"code": "$code", "where?": "$boundary", "message": "$message"},
        "details?": "$details",
        "extra?": "$extra",
    },
)

VALUES = st.one_of(
    st.fixed_dictionaries({"type": st.just("string")}, optional={"maxLength": st.integers(1, 9)}),
    st.fixed_dictionaries(
        {"type": st.just("string"), "enum": st.lists(WORDS, min_size=1, max_size=3, unique=True)}
    ),
    st.fixed_dictionaries(
        {"type": st.just("integer")},
        optional={"minimum": st.integers(-3, 3), "maximum": st.integers(4, 9)},
    ),
    st.sampled_from(
        [
            {"type": "boolean"},
            {"type": "number"},
            {"type": ["string", "null"]},
            {"type": "array", "items": {"type": "integer"}},
            {"type": "object", "properties": {"a": {"type": "string"}, "b?": {"type": "integer"}}},
            {"type": "object", "additional": "forbid", "properties": {"a?": {"type": "boolean"}}},
        ]
    ),
)

#: Names that shapes give to members of their own, so that details spread beside them would collide.
OWN = frozenset({"code", "text", "extra"})


@st.composite
def codes(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """A code with details of its own."""
    members = draw(st.dictionaries(NAMES.filter(lambda each: each not in OWN), VALUES, max_size=3))
    details = {f"{key}{draw(st.sampled_from(['', '?']))}": value for key, value in members.items()}
    flags: list[object] = [True, False, "caller", "none"]
    flags += [
        {"when": [{"if": {f"details.{key}": value["enum"][0]}, "then": True}], "else": False}
        for key, value in members.items()
        if "enum" in value
    ]
    return {
        "summary": draw(WORDS),
        "message": draw(st.sampled_from([f"{name} failed", 'It is "so": {}', "naïve ☃"])),
        "http": draw(st.sampled_from([400, 404, [409, 422], 503, "502-504"])),
        "retriable": draw(st.sampled_from(flags)),
        "details": details,
    }


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A taxonomy as data."""
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    shape = copy.deepcopy(draw(st.sampled_from(SHAPES)))
    fields = {"extra": {"type": "string", "minLength": 1}} if "extra" in json.dumps(shape) else {}
    return {
        "faultspec": 1,
        "taxonomy": {"name": "any", "version": "1.0.0", "title": draw(WORDS)},
        "boundaries": {"service": "The service."},
        "envelopes": {
            "error": {
                "shape": shape,
                "fields": fields,
                "additional": draw(st.sampled_from(["forbid", "warn", "allow"])),
            }
        },
        "codes": {name: {**draw(codes(name)), "boundary": "service"} for name in names},
    }


class Plain(yaml.SafeDumper):
    """Writes what is shared twice: the language has no aliases."""

    def ignore_aliases(self, data: object) -> bool:
        """Always."""
        return True


def taxonomy_of(data: dict[str, Any]) -> Taxonomy | None:
    """The taxonomy, if the document is sound."""
    text = yaml.dump(data, Dumper=Plain, sort_keys=False, allow_unicode=True)
    return read(text, "any.yaml").taxonomy


def sample(schema: Schema) -> Any:
    """A value that a detail may have."""
    if schema.enum:
        return schema.enum[0]
    match schema.types[0]:
        case "string":
            return "x"
        case "integer":
            return int(schema.minimum or 0)
        case "number":
            return 0.5
        case "boolean":
            return True
        case "array":
            return [1, 2]
        case _:
            return {
                name: sample(each.schema)
                for name, each in schema.properties.items()
                if each.presence == "required"
            }


def given_details(code: Code) -> dict[str, Any]:
    """Each detail of a code with a value."""
    return {name: sample(member.schema) for name, member in code.details.items()}


settle = examples(200, suppress_health_check=list(HealthCheck))


@settle
@given(documents())
def test_it_compiles_and_every_file_can_be_read(data: dict[str, Any]) -> None:
    """Every target renders; JSON is JSON, schemas obey their metaschema, and Python is Python."""
    taxonomy = taxonomy_of(data)
    assume(taxonomy is not None)
    assert taxonomy is not None
    for path, text in render(taxonomy, fitting_targets(taxonomy), "any.yaml").items():
        if path.endswith(".json"):
            document = json.loads(text)
            if path.endswith(".schema.json"):
                Draft202012Validator.check_schema(document)
        if path.endswith(".py"):
            ast.parse(text)


@settle
@given(documents())
def test_what_its_python_sends_is_what_it_reads(data: dict[str, Any]) -> None:
    """Raised, rendered and parsed again, an error is what it was, and its envelope is what the
    schema accepts.
    """
    taxonomy = taxonomy_of(data)
    assume(taxonomy is not None)
    assert taxonomy is not None
    tree = render(taxonomy, (SHIPPED["python"], SHIPPED["jsonschema"]), "any.yaml")
    schema = Draft202012Validator(json.loads(tree["jsonschema/error.schema.json"]))
    with tempfile.TemporaryDirectory() as folder, imported(tree, Path(folder)) as package:
        for code in taxonomy.shared_live_codes():
            cls = next(
                each for each in vars(package).values() if getattr(each, "code", None) == code.wire
            )
            error = cls(**arguments(cls, code))
            body = json.loads(package.render(error).body)
            assert list(schema.iter_errors(body)) == []
            again = package.parse(json.dumps(body), status=error.status)
            assert (type(again), dict(again.details)) == (cls, dict(error.details))
            assert package.to_envelope(again) == body


def arguments(cls: Any, code: Code) -> dict[str, Any]:
    """The arguments that the constructor takes: each detail under its parameter, and the free
    slots.
    """
    parameters = cls.__init__.__annotations__
    found: dict[str, Any] = {}
    for name, value in given_details(code).items():
        for parameter in (name, f"{name}_", f"details_{name}"):
            if parameter in parameters and parameter not in (
                "status",
                "message",
                "retriable",
                "headers",
                "boundary",
            ):
                found[parameter] = value
                break
    if "extra" in parameters and "extra" not in found:
        found["extra"] = "e"
    if "retriable" in parameters and code.retriable.flag_kind == "caller":
        found["retriable"] = True
    return found


class imported:
    """The package of a tree, imported from a folder and forgotten afterwards."""

    def __init__(self, tree: dict[str, str] | Any, folder: Path) -> None:
        self.tree, self.folder = tree, folder

    def __enter__(self) -> Any:
        for path, text in self.tree.items():
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        sys.path.insert(0, str(self.folder / "python"))
        importlib.invalidate_caches()
        return importlib.import_module("any_errors")

    def __exit__(self, *_: object) -> None:
        sys.path.remove(str(self.folder / "python"))
        for name in [each for each in sys.modules if each.partition(".")[0] == "any_errors"]:
            del sys.modules[name]


#: In the place of a value; the first takes the member away.
GONE: Any = object()
SUBSTITUTES: tuple[Any, ...] = (GONE, True, 7, "else", None, [], {})


def changed(value: Any) -> Iterator[Any]:
    """Every body that comes of taking away one member or putting something else in the place of one
    value.
    """
    for path in places(value):
        for what in SUBSTITUTES:
            body = copy.deepcopy(value)
            inner = body
            for step in path[:-1]:
                inner = inner[step]
            if what is GONE:
                del inner[path[-1]]
            else:
                inner[path[-1]] = what
            if body != value or json.dumps(body) != json.dumps(value):
                yield body


@settle
@given(documents())
def test_judge_and_schema_agree_on_every_mutation(data: dict[str, Any]) -> None:
    """A change that breaks no rule is accepted by the schema and passed by the judge; one that
    does, by neither.
    """
    taxonomy = taxonomy_of(data)
    assume(taxonomy is not None)
    assert taxonomy is not None
    rules = build_contract(taxonomy)
    tree = render(taxonomy, (SHIPPED["python"], SHIPPED["jsonschema"]), "any.yaml")
    schema = Draft202012Validator(json.loads(tree["jsonschema/error.schema.json"]))
    with tempfile.TemporaryDirectory() as folder, imported(tree, Path(folder)) as package:
        code = next(iter(taxonomy.shared_live_codes()))
        cls = next(
            each for each in vars(package).values() if getattr(each, "code", None) == code.wire
        )
        error = cls(**arguments(cls, code))
        body = json.loads(package.render(error).body)
    for each in (body, *changed(body)):
        answer = Response(
            error.status, (("Content-Type", "application/json"),), json.dumps(each).encode()
        )
        found = judge(rules, Exchange(Request("GET", "/"), answer))
        # The status of the answer is not in the body, so a schema cannot hold the code to it.
        wrong = {
            f"{finding.clause}: {finding.message}"
            for finding in found.findings
            if finding.level == "error"
            and not finding.clause.startswith(("headers/", "code/status"))
        }
        assert (not wrong) == schema.is_valid(each), (each, wrong)
