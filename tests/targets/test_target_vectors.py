"""Laws of the vectors of a taxonomy: the generated Python and TypeScript answer as they say."""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from faultspec.language import load
from faultspec.language.model import Taxonomy
from faultspec.render import render
from faultspec.targets import SHIPPED, default_targets
from faultspec.targets.model import model_of
from faultspec.targets.typescript import view as typescript_view
from paths import ROOT
from support.command_line import faultspec
from targets.test_typescript import Compiled, compiled

__all__ = ["compiled"]

NODE = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")

#: Taxonomies of which Python is not compiled there: their packages have the same name.
NO_PYTHON = ("odd", "nasty")

TAXONOMY = """
faultspec: 1
taxonomy: {name: small, version: 1.0.0}
envelopes: {error: {shape: {code: $code, "text?": $message}}}
surfaces: {api: {transport: http, envelope: error}}
codes: {gone: {summary: Gone., http: 410}}
"""


def vectors(taxonomy: Taxonomy) -> dict[str, Any]:
    """The document of a taxonomy, with its schema under ``schema``."""
    files = render(taxonomy, [SHIPPED["vectors"]], "t.yaml")
    found: dict[str, Any] = json.loads(files["vectors/vectors.json"])
    return {**found, "schema": json.loads(files["vectors/vectors.schema.json"])}


def answers(compiled: Compiled) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Every answer of every taxonomy, with the name of the taxonomy and its document."""
    for name, taxonomy in compiled.taxonomies.items():
        document = vectors(taxonomy)
        yield from ((name, document, answer) for answer in document["answers"])


def read_in_python(module: Any, answer: Mapping[str, Any]) -> dict[str, Any]:
    """The error that the generated Python reads in an answer, as the vectors have it."""
    wire = answer["wire"]
    error = module.wire.parse(
        wire["body"],
        status=wire["status"],
        headers=wire["headers"],
        operation=answer["operation"],
    )
    parsed = parsed_in_python(module, error)
    if hasattr(error, "others"):
        parsed["others"] = [parsed_in_python(module, other) for other in error.others]
    return parsed


def parsed_in_python(module: Any, error: Any) -> dict[str, Any]:
    """One error of generated Python, as the vectors have it."""
    known = not isinstance(error, module.errors.UnknownError)
    parsed = {
        "known": known,
        "code": None if error.code is None else str(error.code.value),
        "status": error.status,
        "message": error.message,
        "details": dict(error.details),
        "boundary": error.boundary,
        "retry_after": error.retry_after,
        "slots": {place.slot: getattr(error, place.attribute) for place in module.wire.PLACES},
        "retriable": error.retriable,
    }
    if not known:
        successor = error.replaced_by
        parsed["original_code"] = error.original_code
        parsed["replaced_by"] = None if successor is None else str(successor)
    return parsed


def plans_in_python(module: Any, answer: Mapping[str, Any], document: Mapping[str, Any]) -> Any:
    """The steps of the generated Python for each plan of an answer."""
    wire = answer["wire"]
    error = module.wire.parse(
        wire["body"],
        status=wire["status"],
        headers=wire["headers"],
        operation=answer["operation"],
    )
    found = []
    for plan in answer["plans"]:
        state, steps = module.retry.start_retry(error), []
        for _ in plan["steps"]:
            step = module.retry.plan_retry(
                error,
                state,
                idempotent=plan["idempotent"],
                now=document["now"],
                random=lambda: document["random"],
            )
            band = None if step.jitter_band is None else list(step.jitter_band)
            steps.append(
                {
                    "attempt": state.attempt,
                    "retry": step.retry,
                    "reason": step.reason,
                    "delay": step.delay,
                    "band": band,
                }
            )
            state = step.state
        found.append(steps)
    return found


def test_python_reads_what_the_vectors_say(compiled: Compiled) -> None:
    """Of every answer of every taxonomy: the code, the slots, the wait, the flag, the successor."""
    count = 0
    for name, _, answer in answers(compiled):
        if name in NO_PYTHON:
            continue
        module = compiled.python(name)
        found = read_in_python(module, answer)
        assert asked(found, answer["parsed"]) == answer["parsed"], (name, answer["name"])
        count += 1
    assert count > 1000


def asked(found: Mapping[str, Any], expected: Mapping[str, Any]) -> dict[str, Any]:
    """The members of an error that the vectors have, and those of its further errors."""
    own = {key: found[key] for key in expected}
    if "others" in expected and len(own["others"]) == len(expected["others"]):
        pairs = zip(own["others"], expected["others"], strict=True)
        own["others"] = [asked(*pair) for pair in pairs]
    return own


def test_python_plans_what_the_vectors_say(compiled: Compiled) -> None:
    """Each step of each plan has the same decision, reason, delay and band."""
    for name, document, answer in answers(compiled):
        if name not in NO_PYTHON:
            steps = plans_in_python(compiled.python(name), answer, document)
            expected = [plan["steps"] for plan in answer["plans"]]
            assert steps == expected, (name, answer["name"])


def test_python_renders_what_it_read(compiled: Compiled) -> None:
    """An error that was read from an envelope is rendered to it: status, body, headers."""
    for name, _, answer in answers(compiled):
        if name in NO_PYTHON or answer["envelope"] is None:
            continue
        module, wire = compiled.python(name), answer["wire"]
        error = module.wire.parse(
            wire["body"],
            status=wire["status"],
            headers=wire["headers"],
            operation=answer["operation"],
        )
        made = module.wire.render(error, envelope=answer["envelope"])
        headers = {key.lower(): value for key, value in made.headers.items()}
        assert json.loads(made.body) == json.loads(wire["body"]), (name, answer["name"])
        assert wire["status"] in (None, made.status)
        for key, value in wire["headers"].items():
            assert headers.get(key.lower()) == value, (name, answer["name"], key)


@NODE
def test_typescript_answers_what_the_vectors_say(compiled: Compiled) -> None:
    """It reads and plans the same."""
    rows = list(answers(compiled))
    found = compiled.ask(
        [
            {
                "module": compiled.module(name),
                "ask": "vector",
                "body": answer["wire"]["body"],
                "answer": {
                    "status": answer["wire"]["status"],
                    "headers": answer["wire"]["headers"],
                    "operation": answer["operation"],
                },
                "plans": answer["plans"],
                "now": document["now"],
                "chance": document["random"],
            }
            for name, document, answer in rows
        ]
    )
    members = {name: members_of(taxonomy) for name, taxonomy in compiled.taxonomies.items()}
    for (name, _, answer), each in zip(rows, found, strict=True):
        parsed = parsed_in_typescript(each["error"], members[name])
        assert asked(parsed, answer["parsed"]) == answer["parsed"], (name, answer["name"])
        steps = [plan["steps"] for plan in answer["plans"]]
        assert each["steps"] == steps, (name, answer["name"])


def parsed_in_typescript(error: Mapping[str, Any], members: Mapping[str, str]) -> dict[str, Any]:
    """An error of generated TypeScript, as the vectors have it."""
    return {
        **error,
        "retry_after": error["retryAfter"],
        "slots": {slot: error[member] for slot, member in members.items()},
        "original_code": error.get("originalCode"),
        "replaced_by": error.get("replacedBy"),
        "others": [parsed_in_typescript(other, members) for other in error.get("others", [])],
    }


def members_of(taxonomy: Taxonomy) -> Mapping[str, str]:
    """The member of TypeScript errors for each slot."""
    rows = typescript_view(taxonomy, model_of(taxonomy, "t.yaml")).slots
    return {row.slot: row.member for row in rows}


def test_the_schema_accepts_every_document(compiled: Compiled) -> None:
    """Each document has the form that its schema describes; without plans it has not."""
    for taxonomy in compiled.taxonomies.values():
        document = vectors(taxonomy)
        validator = Draft202012Validator(document.pop("schema"))
        assert [each.message for each in validator.iter_errors(document)] == []
        if document["answers"]:
            del document["answers"][0]["plans"]
            assert not validator.is_valid(document)


def test_every_declared_code_has_an_answer_or_a_reason(compiled: Compiled) -> None:
    """A taxonomy whose envelopes are JSON has an answer for each code; another says why not."""
    for name, taxonomy in compiled.taxonomies.items():
        document = vectors(taxonomy)
        assert bool(document["answers"]) != bool(document["left_out"]), name
    loaded = load(str(ROOT / "taxonomy.yaml")).taxonomy
    assert loaded is not None
    codes = {answer["parsed"]["code"] for answer in vectors(loaded)["answers"]}
    assert codes >= {code.name for code in loaded.shared_live_codes()}


def test_vectors_are_compiled_where_they_are_named(tmp_path: Path) -> None:
    """A compile of all targets makes none; after they were named, checks and compiles keep them."""
    assert "vectors" not in default_targets()
    (tmp_path / "taxonomy.yaml").write_text(TAXONOMY)
    generated = tmp_path / "generated"

    def run(*arguments: str) -> int:
        return faultspec("compile", "taxonomy.yaml", *arguments, cwd=tmp_path).returncode

    assert run() == 0
    assert not (generated / "vectors").exists()
    assert run("--target", "vectors") == 0
    assert (generated / "vectors/vectors.json").exists()
    assert run("--check") == 0
    (generated / "vectors/vectors.json").write_text("{}")
    assert run("--check") == 1
