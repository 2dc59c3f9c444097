"""Laws of the import of problem types: our own registry comes back, and so do those of others."""

import contextlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.cli.documents import Unreadable, parse_table
from faultspec.contract.model import build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.importers import ImportedTaxonomy, NotImportable
from faultspec.importers.problem_types import read
from faultspec.importers.validate import drop_invalid
from faultspec.importers.yaml_writer import write_yaml
from faultspec.judge import judge
from faultspec.language import read as read_taxonomy
from faultspec.language.model import Taxonomy
from faultspec.lint import check
from faultspec.targets import problems as target
from faultspec.targets.model import model_of
from importers.test_importers import OTHERS, OURS, taken_in, taxonomy
from paths import ROOT
from support.command_line import faultspec
from support.examples import examples

CREDIT = ROOT / "tests/fixtures/wire_shapes/credit.yaml"


def exported(of: Taxonomy) -> Any:
    """The registry of the target `problems`, as JSON data; None if no code travels over HTTP."""
    view = target.view(of, model_of(of, "taxonomy.yaml"))
    return None if view is None else json.loads(json.dumps(view.registry))


@pytest.mark.parametrize(
    "path", [*OURS, *OTHERS], ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_our_own_registry_comes_back(path: Path) -> None:
    """export(import(export(t))) = export(t), for every problem type of every taxonomy."""
    registry = exported(taxonomy(path))
    if registry is None:
        pytest.skip("no code travels over HTTP")
    assert exported(taken_in(read(registry, "again")))["problems"] == registry["problems"]


def test_extensions_with_names_of_their_own_come_back() -> None:
    """The same for members that extend the body, but that those of one type are those of all: a
    registry does not say which of them has the details.
    """
    registry = exported(taxonomy(CREDIT))
    again = exported(taken_in(read(registry, "again")))
    for entry in (*registry["problems"], *again["problems"]):
        entry["extensions"] = sorted({"account", *entry["extensions"]})
    assert again["problems"] == registry["problems"]


# Registries of others

#: The first rows of the registry of IANA, with the columns of RFC 9457 §4.2.
IANA = """\
Type URI,Title,Recommended HTTP Status Code,Reference
about:blank,See HTTP Status Code,N/A,[RFC9457]
https://iana.org/assignments/http-problem-types#date,Date Not Acceptable,400,"[RFC9458, Section 6.5.2]"
https://iana.org/assignments/http-problem-types#ohttp-key,"Oblivious HTTP key
configuration not acceptable",400,https://www.rfc-editor.org/rfc/rfc9458#section-5.3
"""

IANA_XML = """\
<?xml version='1.0' encoding='UTF-8'?>
<registry xmlns="http://www.iana.org/assignments" id="http-problem-types">
  <title>HTTP Problem Types</title>
  <registry id="types">
    <title>HTTP Problem Types</title>
    <record><value>about:blank</value><title>See HTTP Status Code</title><status>N/A</status>
      <xref type="rfc" data="rfc9457"/></record>
    <record date="2024-01-01"><value>https://iana.org/assignments/http-problem-types#date</value>
      <title>Date Not Acceptable</title><status>400</status>
      <xref type="rfc" data="rfc9458">RFC9458, Section 6.5.2</xref></record>
    <record><value>https://iana.org/assignments/http-problem-types#ohttp-key</value>
      <title>Oblivious HTTP key configuration not acceptable</title><status>400</status>
      <xref type="uri" data="https://www.rfc-editor.org/rfc/rfc9458#section-5.3"/></record>
  </registry>
</registry>
"""

ROWS = [
    {
        "type": "about:blank",
        "title": "See HTTP Status Code",
        "status": None,
        "reference": "RFC9457",
    },
    {
        "Type URI": "https://iana.org/assignments/http-problem-types#date",
        "Title": "Date Not Acceptable",
        "Recommended HTTP status code": 400,
        "Reference": "RFC9458, Section 6.5.2",
    },
    {
        "uri": "https://iana.org/assignments/http-problem-types#ohttp-key",
        "title": "Oblivious HTTP key configuration not acceptable",
        "httpStatus": "400",
        "docs": "https://www.rfc-editor.org/rfc/rfc9458#section-5.3",
    },
]


#: A member `code` without a constant is the provider's own.
PROBLEM = {"properties": {"code": {"type": "string"}, "errors": {"type": "array"}}}


def schema_of(row: dict[str, Any]) -> dict[str, Any]:
    """A problem type as registries in JSON Schema have it."""
    type_, title, status, _ = row.values()
    constants = {"type": type_, "title": title, "status": status}
    return {
        "allOf": [
            {"$ref": "#/$defs/Problem"},
            {"properties": {name: {"const": value} for name, value in constants.items() if value}},
        ]
    }


def imported(text: str, path: str) -> ImportedTaxonomy:
    """The import of a registry, checked by the language."""
    return drop_invalid(read(parse_table(text, path).data, "iana"))


FORMS = {
    "csv": (IANA, "iana.csv"),
    "xml": (IANA_XML, "iana.xml"),
    "list": (json.dumps(ROWS), "iana.json"),
    "table": (json.dumps({"problemTypes": ROWS}), "iana.json"),
    "yaml": ("types:\n" + "".join(f"- {json.dumps(row)}\n" for row in ROWS), "iana.yaml"),
    "schemas": (
        json.dumps(
            {
                "$defs": {
                    "Problem": PROBLEM,
                    **{f"T{n}": schema_of(row) for n, row in enumerate(ROWS)},
                }
            }
        ),
        "iana.json",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_registry_says_the_same_in_every_form(form: str) -> None:
    """Type, title, status and reference, from a table in CSV, XML, JSON or YAML, or from schemas,
    which have no reference.
    """
    found = imported(*FORMS[form])
    codes = dict(found.data["codes"])
    assert list(codes) == ["about_blank", "date", "ohttp_key"]
    assert codes["about_blank"]["http"] == ["4xx", "5xx"]
    assert "facts" not in codes["about_blank"], "its title is the phrase of the status"
    expected = {
        "summary": "Date Not Acceptable",
        "wire": "https://iana.org/assignments/http-problem-types#date",
        "http": 400,
        "facts": {"title": "Date Not Acceptable"},
        "source": {"section": "RFC 9458, Section 6.5.2"},
        "example": {"message": "The request failed"},
    }
    if form == "schemas":
        del expected["source"]
    else:
        assert codes["ohttp_key"]["docs"] == "https://www.rfc-editor.org/rfc/rfc9458#section-5.3"
        assert found.data["envelopes"]["problem"]["shape"]["type"] == "$code"
    assert codes["date"] == expected
    assert {loss.kind for loss in found.losses} == {"status", "code"}


@pytest.mark.parametrize("form", FORMS)
def test_imports_name_every_warning_of_lint(form: str) -> None:
    """An import lints with the warnings that its report names as decisions of the team."""
    found = imported(*FORMS[form])
    warnings = [
        each.code
        for each in check(read_taxonomy(write_yaml(found.data), ""))
        if each.severity != "note"
    ]
    assert warnings == [decision.rule for decision in found.decisions] == ["retry-after-missing"]


def test_answers_are_judged_by_the_registry() -> None:
    """A problem object of the registry passes; a title or a status of its own is a finding, and a
    type that the registry does not have is none.
    """
    contract = build_contract(taken_in(imported(*FORMS["csv"])))

    def findings(answered: int, **members: object) -> set[str]:
        body = {"type": "https://iana.org/assignments/http-problem-types#date", **members}
        headers = (("content-type", "application/problem+json"),)
        answer = Response(answered, headers, json.dumps(body).encode())
        exchange = Exchange(Request("GET", "/"), answer)
        return {found.clause for found in judge(contract, exchange).findings}

    assert findings(400, title="Date Not Acceptable", status=400, skew=5) == set()
    assert findings(400) == set()
    assert findings(400, title="Wrong") == {"boundary/allowed"}
    assert findings(403, title="Date Not Acceptable") == {"code/status"}
    assert findings(400, type="https://example.com/other") == set()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("bad.csv", 'Type,Title\na,"b" c\n', "bad.csv:2:1: error: the text is not CSV"),
        ("bad.xml", "<a>\n<b></a>", "bad.xml:2:6: error: the text is not XML"),
        ("bad.xml", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "bad.xml:1:1: error"),
        ("bad.json", '{"problems": [}', "bad.json:1:15: error"),
        ("bad.yaml", "a: [", "bad.yaml:1:4: error"),
        ("none.csv", "A,B\n1,2\n", "[no-failures]"),
        ("none.json", '{"problems": []}', "[no-failures]"),
        ("word.json", '"word"', "[not-problem-types]"),
    ],
)
def test_a_bad_registry_has_a_diagnostic(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    """File, line and column; exit code 2, nothing written."""
    (tmp_path / name).write_text(text)
    done = faultspec("import", "problems", name, "--out", "out.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out.yaml").exists()


def test_losses_have_the_line_of_their_row(tmp_path: Path) -> None:
    """The report has file and line of a row without a status, in CSV and in XML, and of a type that
    is listed twice.
    """
    again = "https://iana.org/assignments/http-problem-types#date,Again,400,x\n"
    for name, text, line in (("a.csv", IANA + again, 2), ("a.xml", IANA_XML, 6)):
        (tmp_path / name).write_text(text)
        done = faultspec("import", "problems", name, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert re.search(rf"a\.(csv|xml):{line}:\d+: not carried \[status\]", done.stderr)
    done = faultspec("import", "problems", "a.csv", cwd=tmp_path)
    assert "a.csv:6:1: not carried [wire]" in done.stderr


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just("urn:a:b"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "problems",
                    "types",
                    "record",
                    "registry",
                    "$defs",
                    "properties",
                    "allOf",
                    "const",
                    "type",
                    "title",
                    "status",
                    "statuses",
                    "reference",
                    "description",
                    "code",
                    "operation",
                    "extensions",
                    "schema",
                    "replacedBy",
                    "$ref",
                    "docs",
                    "since",
                ]
            )
            | st.text(max_size=3),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@examples(300)
@given(anything)
def test_no_registry_ends_in_a_traceback(data: Any) -> None:
    """Data of any form is a taxonomy without errors, or is refused."""
    with contextlib.suppress(NotImportable):
        drop_invalid(read({"problems": [data, {"type": "urn:x:y", "title": "T", "x": data}]}, "n"))
    with contextlib.suppress(NotImportable):
        read(data, "n")


@examples(200)
@given(st.text(max_size=60), st.sampled_from(["a.csv", "a.xml", "a.yaml"]))
def test_no_text_ends_in_a_traceback(text: str, path: str) -> None:
    """Any text is a table, or is refused."""
    with contextlib.suppress(Unreadable):
        parse_table(text, path)
    with contextlib.suppress(Unreadable):
        parse_table("<" + text, path)
