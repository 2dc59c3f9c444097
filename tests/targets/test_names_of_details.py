"""Details have the names that services send, such as `resource.id` of Elasticsearch, `.tag` of
Dropbox and `@type` of JSON-LD; in Python their parameters have names of Python.
"""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from faultspec.contract.model import build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import load, read
from faultspec.lint import check
from faultspec.render import render, write
from faultspec.targets import SHIPPED

TEXT = """
faultspec: 1
taxonomy: {name: dotted, version: 1.0.0}
domains: {request: The request.}
detail_keys:
  resource.id: {type: string, summary: The resource.}
  x-limit: {type: integer, summary: The limit.}
  x_limit: {type: integer, summary: The limit by its other name.}
  .tag: {type: string, summary: A tag.}
  "@type": {type: string, summary: A type.}
envelopes: {error: {shape: {code: $code, message: $message, "...": $details}, additional: forbid}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
codes:
  missing:
    summary: It is missing.
    domain: request
    message: "There is no ${resource.id} ${x-limit}"
    http: [{if: {details.resource.id: a}, status: 404}, {else: 410}]
    retriable: none
    client_action: none
    details: {resource.id: {}, x-limit: {}, x_limit?: {}, .tag?: {}, "@type?": {}}
    example: {message: There is no a 3, status: 404, details: {resource.id: a, x-limit: 3}}
fallback: {4xx: {code: null, reason: This is a test.}, 5xx: {code: null, reason: This is a test.}}
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The generated Python."""
    taxonomy = read(TEXT, "dotted.yaml").taxonomy
    assert taxonomy is not None
    folder: Path = tmp_path_factory.mktemp("dotted")
    write(render(taxonomy, [SHIPPED["python"]], "dotted.yaml"), folder, ["python"])
    sys.path.insert(0, str(folder / "python"))
    yield importlib.import_module("dotted_errors")
    sys.path.remove(str(folder / "python"))


def test_a_detail_may_have_any_name(package: Any, tmp_path: Path) -> None:
    """Lint takes such names, every target renders them, and an error with them is sent, judged and
    parsed.
    """
    path = tmp_path / "dotted.yaml"
    path.write_text(TEXT, encoding="utf-8")
    loaded = load(str(path))
    assert [each.message for each in check(loaded) if each.severity != "note"] == []
    taxonomy = loaded.taxonomy
    assert taxonomy is not None
    for target in SHIPPED.values():
        assert render(taxonomy, [target], "dotted.yaml") is not None
    error = package.Missing(resource_id="a", x_limit=3, x_limit_2=4, tag="t", type="u")
    sent = importlib.import_module("dotted_errors.wire").render(error)
    wanted = {"resource.id": "a", "x-limit": 3, "x_limit": 4, ".tag": "t", "@type": "u"}
    assert error.details == wanted
    assert error.message == "There is no a 3"
    found = judge(
        build_contract(taxonomy),
        Exchange(Request("GET", "/a"), Response(404, tuple(sent.headers.items()), sent.body)),
    )
    assert (found.code, found.findings) == ("missing", ())
    assert package.parse(sent.body, status=404).details == wanted


@pytest.mark.parametrize("name", ["a b", "1a", "a?b", "", "ä", "$a", "a{"])
def test_a_detail_has_no_blank_or_mark_of_the_language(name: str) -> None:
    """A name that a picture, a message or a path would read otherwise is refused."""
    text = TEXT.replace("  .tag: {", f'  "{name}": {{', 1)
    assert "bad-name" in {each.code for each in read(text, "dotted.yaml").diagnostics}
