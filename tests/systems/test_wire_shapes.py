"""Errors as well-known frameworks and protocols send them: each shape is a small taxonomy with
answers, and judge, bindings and fault server read them alike.

The answers are transcribed from the public documentation that each taxonomy names.
"""

import importlib
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jsonschema
import pytest
import yaml
from botocore.parsers import create_parser

from faultspec.contract.model import Contract, build_contract
from faultspec.evolution.compare import compare
from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.judge.read_slots import read_slots
from faultspec.language import load, read
from faultspec.language.model import Code, Operation
from faultspec.language.values import check_value
from faultspec.lint import check
from faultspec.render import render, write
from faultspec.source import load_document
from faultspec.targets import SHIPPED
from faultspec.targets.openapi import sample_details
from faultspec.targets.python.wire import DECIDED
from faultspec_conformance.faults.replies import render_failure
from faultspec_conformance.faults.script import Fault
from paths import ROOT
from support.wire_shapes import FOLDER, SHAPES, Answer, answers, taxonomy

ANSWERS = [pytest.param(answer, id=name) for name, answer in answers()]


@cache
def contract(shape: str) -> Contract:
    """The contract of a shape."""
    return build_contract(taxonomy(shape))


def broken(found: Judgement) -> tuple[str, ...]:
    """The clauses that are broken, each once."""
    return tuple(dict.fromkeys(finding.clause for finding in found.findings))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_is_sound(shape: str) -> None:
    """The linter finds no error in the taxonomy of a shape."""
    findings = check(load(str(FOLDER / f"{shape}.yaml")))
    assert [each for each in findings if each.severity == "error"] == []


@pytest.mark.parametrize("answer", ANSWERS)
def test_the_judge_reads_the_code(answer: Answer) -> None:
    """The judge finds the code of an answer, and the clauses that it breaks and no other."""
    found = judge(contract(answer.shape), answer.exchange)
    assert broken(found) == answer.breaks
    assert found.code == answer.code


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The Python bindings of every shape, on the path."""
    folder = tmp_path_factory.mktemp("shapes")
    files: dict[str, str] = {}
    for shape in SHAPES:
        files |= render(taxonomy(shape), [SHIPPED["python"]], f"{shape}.yaml")
    write(files, folder, ["python"])
    sys.path.insert(0, str(folder / "python"))
    yield
    sys.path.remove(str(folder / "python"))


def binding(shape: str) -> Any:
    """The module that parses and renders errors of a shape."""
    return importlib.import_module(f"{shape}_errors.wire")


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize("answer", ANSWERS)
def test_python_reads_the_code_that_the_judge_reads(answer: Answer) -> None:
    """The Python binding parses the code that the judge found; of an answer whose code the judge
    does not know it makes an unknown error.
    """
    response = answer.exchange.response
    error = binding(answer.shape).parse(
        answer.error,
        status=response.status,
        headers=dict(response.headers),
        operation=answer.operation,
    )
    known = None if hasattr(error, "original_code") else error.facts.wire
    assert known == answer.code


@cache
def validators(shape: str) -> tuple[jsonschema.Draft202012Validator, ...]:
    """The generated schemas of the envelopes of a shape."""
    files = render(taxonomy(shape), [SHIPPED["jsonschema"]], f"{shape}.yaml")
    return tuple(
        jsonschema.Draft202012Validator(json.loads(files[f"jsonschema/{name}.schema.json"]))
        for name in taxonomy(shape).envelopes
    )


def comparable() -> Iterator[Any]:
    """The answers in JSON whose headers and status decide nothing that a schema of the body would
    need. A body of texts, such as XML, does not have the types of the schema.
    """
    for name, answer in answers():
        envelopes = taxonomy(answer.shape).envelopes.values()
        places = [place for each in envelopes for place in each.places.get("code", ())]
        in_header = any(place.kind == "header" for place in places)
        if (
            answer.is_json
            and not in_header
            and not {"envelope/status", "code/status"} & {*answer.breaks}
        ):
            yield pytest.param(answer, id=name)


@pytest.mark.parametrize("answer", [*comparable()])
def test_the_schema_accepts_what_the_judge_accepts(answer: Answer) -> None:
    """A generated schema accepts a body exactly when the judge finds its shape, its types and its
    code sound.
    """
    body = json.loads(answer.error)
    refused = {
        *("envelope/shape", "envelope/types", "code/declared", "boundary/allowed"),
        *("details/schema", "details/required"),
    }
    accepted = any(validator.is_valid(body) for validator in validators(answer.shape))
    assert accepted == refused.isdisjoint(answer.breaks)


def cases() -> Iterator[Any]:
    """Every code of every shape under each of its statuses, with an operation that has it."""
    for shape in SHAPES:
        for path, code in taxonomy(shape).located_codes():
            operation = taxonomy(shape).operations[path[1]] if path[0] == "operations" else None
            for status in code.http.allowed_statuses():
                name = f"{shape}-{code.name}-{status}"
                yield pytest.param(shape, operation, code, status, id=name)


def request_of(shape: str, operation: Operation | None) -> Request:
    """A request of an operation, or one that belongs to none."""
    surface = next(iter(taxonomy(shape).surfaces.values()))
    match = operation.match if operation else surface.match
    method, _, path = (match.routes or ("GET /things",))[0].rpartition(" ")
    query = urlencode({name: values[0] for name, values in match.query.items()})
    target = path.replace("**", "things").replace("{id}", "7") + (f"?{query}" if query else "")
    headers = tuple((name, values[0]) for name, values in match.headers.items())
    return Request(method or "GET", target, headers)


@pytest.mark.parametrize(("shape", "operation", "code", "status"), [*cases()])
def test_the_fault_server_sends_what_the_judge_accepts(
    shape: str, operation: Operation | None, code: Code, status: int
) -> None:
    """Each code that the fault server sends is read as that code, and breaks nothing."""
    request = request_of(shape, operation)
    answer = render_failure(contract(shape), request, Fault(code.name, status), "1")
    found = judge(contract(shape), Exchange(request, answer))
    assert (found.code, set(broken(found)) - {"service/no-crash"}) == (code.name, set())


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize(("shape", "operation", "code", "status"), [*cases()])
def test_python_sends_what_the_judge_and_python_accept(
    shape: str, operation: Operation | None, code: Code, status: int
) -> None:
    """An error that the binding renders is parsed as itself, and the judge reads its code."""
    package: Any = importlib.import_module(f"{shape}_errors")
    name = operation.name if operation else None
    kind = package.errors.error_class(code.wire, name)
    known: dict[str, object] = {}
    with suppress(ValueError):
        known = sample_details(code, taxonomy(shape))
    error = package.errors.bare(kind, status=status, details=known)
    example = code.examples[0]
    for slot, value in example.slots.items():
        if slot not in DECIDED:
            setattr(error, slot, value)
    error.headers = dict(example.headers)
    sent = package.wire.render(error)
    parsed = package.wire.parse(sent.body, status=status, headers=sent.headers, operation=name)
    assert type(parsed) is type(error)
    request = request_of(shape, operation)
    response = Response(status, tuple(sent.headers.items()), sent.body)
    found = judge(contract(shape), Exchange(request, response))
    assert (found.code, set(broken(found)) - {"service/no-crash"}) == (code.name, set())


def test_the_taxonomy_of_the_page_is_sound(tmp_path: Path) -> None:
    """The example of docs/how-to/errors-without-codes.md lints without a finding."""
    page = (ROOT / "docs" / "how-to" / "errors-without-codes.md").read_text(encoding="utf-8")
    text = page.partition("```yaml\n")[2].partition("```")[0]
    (tmp_path / "taxonomy.yaml").write_text(text, encoding="utf-8")
    assert [each.message for each in check(load(str(tmp_path / "taxonomy.yaml")))] == []


#: The name of each AWS protocol in botocore.
PROTOCOLS = {
    "aws_json": "json",
    "aws_query": "query",
    "aws_rest_json": "rest-json",
    "aws_rest_xml": "rest-xml",
}


def sound() -> Iterator[Any]:
    """The answers that break nothing."""
    for name, answer in answers():
        if not answer.breaks:
            yield pytest.param(answer, id=name)


@pytest.mark.parametrize("answer", [each for each in sound() if each.values[0].shape in PROTOCOLS])
def test_botocore_reads_the_code_that_the_judge_reads(answer: Answer) -> None:
    """The client of AWS reads the same code from an answer that the judge finds sound."""
    response = answer.exchange.response
    parsed = create_parser(PROTOCOLS[answer.shape]).parse(
        {
            "status_code": response.status,
            "headers": {name.lower(): value for name, value in response.headers},
            "body": response.body,
        },
        None,
    )
    assert parsed["Error"]["Code"] == answer.code


@pytest.mark.parametrize("answer", [*sound()])
def test_slots_are_read_without_a_judgement(answer: Answer) -> None:
    """Probes read the code in every place, and details with the types of their schemas, as the
    judge does.
    """
    slots = read_slots(contract(answer.shape), answer.exchange)
    assert slots is not None
    codes = [code for _, code in taxonomy(answer.shape).located_codes() if code.name == answer.code]
    envelopes = taxonomy(answer.shape).envelopes.values()
    assert slots["code"] in {code.wire_in(each) for code in codes for each in envelopes}
    for name, value in (slots.get("details") or {}).items():  # type: ignore[attr-defined]
        known = [code.details[name].schema for code in codes if name in code.details]
        # One form of a code, in an operation, has details that the code itself has not.
        assert not known or any(not [*check_value(schema, value)] for schema in known)


CHANGES = ("a code is renamed", "the place of a code moves", "a status changes")
"""The changes that each shape must report as breaking."""


def changed(shape: str, what: str) -> str:
    """The taxonomy of a shape with one change for which clients are not prepared."""
    data: Any = load_document(str(FOLDER / f"{shape}.yaml")).data
    name, code = next(iter(data["codes"].items()))
    if what == "a status changes":
        code["http"] = 418
    elif what == "a code is renamed":
        return _renamed(data, name)
    else:
        for envelope in data["envelopes"].values():
            _move_code(envelope)
    return yaml.safe_dump(data, sort_keys=False)


def _renamed(data: dict[str, Any], name: str) -> str:
    new = f"{name}Anew"
    data["codes"] = {new if each == name else each: code for each, code in data["codes"].items()}
    for rule in data.get("fallback", {}).values():
        rule["code"] = new if rule["code"] == name else rule["code"]
    for operation in data.get("operations", {}).values():
        if "codes" in operation:
            codes = operation["codes"]
            operation["codes"] = {new if each == name else each: codes[each] for each in codes}
    return yaml.safe_dump(data, sort_keys=False)


def _move_code(envelope: dict[str, Any]) -> None:
    """Put the code of an envelope into another member; into one, if it was in none."""
    places = envelope.get("fields", {}).get("code", {}).get("places")
    if places is not None:
        del envelope["fields"]["code"]["places"]
        envelope["fields"]["code"]["type"] = "string"
    shape = envelope["shape"]
    if isinstance(shape, str):
        envelope["shape"] = f"${{code}}: {shape}"
        return
    if not _rename_member(shape):
        shape["newCode"] = "$code"


def _rename_member(node: Any) -> bool:
    """Rename the first member that has the code and drop the others; whether there was one."""
    if isinstance(node, list):
        return True in [_rename_member(each) for each in node]
    if not isinstance(node, dict):
        return False
    found = False
    for key, value in [*node.items()]:
        if isinstance(value, str) and ("${code}" in value or value == "$code"):
            del node[key]
            if not found:
                node["newCode"] = value
            found = True
        else:
            found = _rename_member(value) or found
    return found


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_change_of_a_shape_is_breaking(shape: str, what: str) -> None:
    """A renamed code, a moved place and a changed status are reported as breaking."""
    new = read(changed(shape, what), f"{shape}.yaml")
    assert new.taxonomy is not None, new.diagnostics
    found = compare(taxonomy(shape), new.taxonomy, date(2026, 11, 23))
    assert "breaking" in {each.severity for each in found.changes}
    assert found.due == "major"
