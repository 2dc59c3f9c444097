"""Lists of errors: the judge judges each, and the generated Python parses and sends all of them."""

import importlib
import json
import pickle
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import load
from faultspec.render import render, write
from faultspec.targets import SHIPPED
from faultspec_conformance.faults.replies import render_failure
from faultspec_conformance.faults.script import parse_fault
from paths import ROOT
from support.examples import examples

TAXONOMY = ROOT / "tests/taxonomies/lists.yaml"

INVALID = {"code": "invalid", "status": "422", "detail": "a", "meta": {"attempts": 2}}
HIDDEN = {"code": "hidden", "status": "404", "detail": "b", "meta": {"locked": True}}
JSON = (("Content-Type", "application/json"), ("X-Author", "7"))


@pytest.fixture(scope="module")
def contract() -> Contract:
    """The taxonomy, prepared for judging."""
    loaded = load(str(TAXONOMY))
    assert loaded.taxonomy is not None, loaded.diagnostics
    return build_contract(loaded.taxonomy)


@pytest.fixture(scope="module")
def package(contract: Contract, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Its bindings."""
    folder: Path = tmp_path_factory.mktemp("lists")
    write(render(contract.taxonomy, [SHIPPED["python"]], "lists.yaml"), folder, ["python"])
    sys.path.insert(0, str(folder / "python"))
    yield importlib.import_module("lists_errors")
    sys.path.remove(str(folder / "python"))


def judged(
    contract: Contract, status: int, body: object, headers: Sequence[tuple[str, str]] = JSON
) -> Judgement:
    """The judgement of an answer."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    is_xml = ("Content-Type", "text/xml") in headers
    request = Request("GET", "/xml/1" if is_xml else "/1")
    return judge(contract, Exchange(request, Response(status, tuple(headers), content)))


def broken(found: Judgement) -> list[tuple[str, str | None]]:
    """The broken clauses, each with the place."""
    return [(finding.clause, finding.pointer) for finding in found.findings]


@pytest.mark.parametrize("status", [400, 404, 422])
def test_errors_of_a_list_share_a_status(contract: Contract, status: int) -> None:
    """The status of one of them, or the general one of their class, is the answer's."""
    found = judged(contract, status, {"errors": [INVALID, HIDDEN]})
    assert (broken(found), found.code, found.others) == ([], "invalid", ("hidden",))


@pytest.mark.parametrize(
    ("status", "errors", "headers", "wanted"),
    [
        (
            409,
            [INVALID, HIDDEN],
            JSON,
            [("envelope/status", "/errors/0/status"), ("envelope/status", "/errors/1/status")],
        ),
        (400, [INVALID, {**HIDDEN, "status": "403"}], JSON, [("code/status", None)]),
        (400, [INVALID, HIDDEN], JSON[:1], [("headers/x-author", None)]),
        (
            400,
            [INVALID, {**HIDDEN, "meta": {"locked": "yes"}}],
            JSON,
            [("details/schema", "/errors/1/meta/locked")],
        ),
        (
            422,
            [INVALID, {**INVALID, "meta": {}}],
            JSON,
            [("details/required", "/errors/1/meta/attempts")],
        ),
        (
            400,
            [INVALID, {"code": "new", "detail": ""}],
            JSON,
            [("code/declared", "/errors/1/code")],
        ),
        (409, [INVALID], JSON, [("code/status", None), ("envelope/status", "/errors/0/status")]),
    ],
)
def test_each_error_of_a_list_is_judged(
    contract: Contract,
    status: int,
    errors: Sequence[Mapping[str, object]],
    headers: Sequence[tuple[str, str]],
    wanted: list[tuple[str, str | None]],
) -> None:
    """Its code, status, details and headers, whatever its place in the list."""
    assert broken(judged(contract, status, {"errors": errors}, headers)) == wanted


def test_a_list_beside_the_code_is_judged(contract: Contract) -> None:
    """The slots beside a list belong to each of its errors."""
    problems = [{"text": "a", "at": "/x"}, {"text": "b", "at": 7}]
    found = judged(contract, 409, {"type": "taken", "problems": problems})
    assert broken(found) == [("envelope/types", "/problems/1/at")]
    assert (found.code, found.others) == ("taken", ("taken",))


@examples(60)
@given(
    attempts=st.integers(-(10**6), 10**6),
    share=st.none() | st.floats(0, 1),
    locked=st.booleans(),
    envelope=st.sampled_from(["document", "element"]),
    order=st.permutations(["invalid", "hidden", "broken"]),
)
def test_a_list_comes_back(
    package: Any,
    contract: Contract,
    attempts: int,
    share: float | None,
    locked: bool,
    envelope: str,
    order: Sequence[str],
) -> None:
    """Several errors that are sent together come back in their order, each with its class and the
    types of its details, also after pickling; and the judge passes them.
    """
    made = {
        "invalid": package.Invalid("a", attempts=attempts, share=share),
        "hidden": package.Hidden("b", locked=locked, x_author="7"),
        "broken": package.Broken("c"),
    }
    first, *others = (made[name] for name in order)
    first.others = others
    sent = package.render(first, envelope=envelope)
    assert sent.status == 500
    found = judged(contract, sent.status, sent.body, tuple(sent.headers.items()))
    assert broken(found) == [("service/no-crash", None)]  # the status is 500
    assert (found.code, *found.others) == tuple(order)
    read = package.parse(sent.body, status=sent.status, headers=sent.headers)
    for known in (read, pickle.loads(pickle.dumps(read))):
        several = (known, *known.others)
        assert [type(each) for each in several] == [type(made[name]) for name in order]
        for each, name in zip(several, order, strict=True):
            assert json.dumps(each.details) == json.dumps(made[name].details)
            assert each.raw == read.raw


def test_an_undeclared_error_of_a_list_is_unknown(package: Any) -> None:
    """The others keep their classes, and a service that sends it is answered anew."""
    wire = importlib.import_module("lists_errors.wire")
    body = {"errors": [INVALID, {"code": "new", "detail": "d", "status": "418"}], "request": "r"}
    read = package.parse(json.dumps(body), status=400)
    assert (type(read), read.request) == (package.Invalid, "r")
    (other,) = read.others
    assert (type(other), other.original_code, other.status) == (package.UnknownError, "new", 418)
    assert (other.request, other.raw) == ("r", body)
    assert wire.parse_own(json.dumps(body).encode(), 422) is None


def test_the_boundary_sends_all_errors(package: Any) -> None:
    """An exception with others is answered with all of them."""
    from faultspec.runtime.boundary import Problem

    asgi = importlib.import_module("lists_errors.asgi")
    raised = package.Invalid(
        "a", attempts=1, others=[package.Hidden("b", locked=True, x_author="7")]
    )
    answer = asgi.answer(Problem(500, "id", raised, ()), "document")
    assert (answer.status, (b"X-Author", b"7") in answer.headers) == (400, True)
    assert [each["code"] for each in json.loads(answer.body)["errors"]] == ["invalid", "hidden"]


@pytest.mark.parametrize("route", ["/1", "/xml/1"])
@pytest.mark.parametrize("fault", ["invalid,with=hidden", "hidden,with=broken,with=invalid"])
def test_the_fault_server_sends_lists(contract: Contract, route: str, fault: str) -> None:
    """All codes of a fault are in one answer, without a finding."""
    asked = Request("GET", route)
    response = render_failure(contract, asked, parse_fault(fault), "v")
    found = judge(contract, Exchange(asked, response))
    assert [place for place in broken(found) if place[0] != "service/no-crash"] == []
    assert ",with=".join((found.code or "", *found.others)) == fault
