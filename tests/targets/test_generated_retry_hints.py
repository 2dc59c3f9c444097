"""Waits in the body: the generated Python obeys them, and the judge and the fault server agree."""

import importlib
import json
import sys
import time
from collections.abc import Iterator
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read
from faultspec.render import render, write
from faultspec.runtime import retry_after
from faultspec.targets import SHIPPED
from faultspec_conformance.faults.replies import render_failure
from faultspec_conformance.faults.script import parse_fault
from support.examples import examples

TAXONOMY = """
faultspec: 1
taxonomy: {name: hinted, version: 1.0.0}
detail_keys:
  wait_ms: {type: integer, role: retry_after, unit: ms}
  delay: {type: string, role: retry_after}
  again_at: {type: string, format: date-time, role: retry_after}
  again_in: {type: integer, role: retry_after}
envelopes: {error: {shape: {code: $code, "details?": $details}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error}}
headers: {Retry-After: [{on: [429, 503], presence: optional}, {on: 503, codes: [full, closed]}]}
retry_policies: {patient: {max_attempts: 3, backoff: {kind: constant, base: 1s},
    retry_after: {honor: true}}}
codes:
  slow: {summary: Slow., http: 429, retriable: true, retry: patient, effect: none,
      details: {wait_ms: {}}, example: {details: {wait_ms: 1500}}}
  later: {summary: Later., http: 503, retriable: true, retry: patient, effect: none,
      details: {delay: {}}, example: {details: {delay: 2.5s}}}
  full: {summary: Full., http: 503, retriable: true, retry: patient, effect: none,
      details: {again_in: {}}}
  closed: {summary: Closed., http: 503, retriable: true, retry: patient, effect: none,
      details: {"again_at?": {}}}
"""


@pytest.fixture(scope="module")
def contract() -> Contract:
    """The taxonomy, prepared for judging."""
    loaded = read(TAXONOMY, "hinted.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return build_contract(loaded.taxonomy)


@pytest.fixture(scope="module")
def package(contract: Contract, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Its bindings."""
    folder = tmp_path_factory.mktemp("hinted")
    write(render(contract.taxonomy, [SHIPPED["python"]], "hinted.yaml"), folder, ["python"])
    sys.path.insert(0, str(folder / "python"))
    yield importlib.import_module("hinted_errors")
    sys.path.remove(str(folder / "python"))


@pytest.mark.parametrize(
    ("code", "details", "header", "delay"),
    [
        ("slow", {"wait_ms": 2500}, None, 2.5),
        ("slow", {"wait_ms": 2500}, "3", 2.5),
        ("slow", {"wait_ms": -1}, "3", None),
        ("slow", {"wait_ms": "much"}, "3", 3.0),
        ("later", {"delay": "4.5s"}, None, 4.5),
        ("later", {"delay": "-1s"}, None, None),
        ("later", {}, None, 1.0),
    ],
)
def test_a_client_waits_as_the_body_asks(
    package: Any, code: str, details: dict[str, object], header: str | None, delay: float | None
) -> None:
    """A wait in the body comes before the header, and a negative one ends the tries."""
    body = json.dumps({"code": code, "details": details})
    headers = {} if header is None else {"Retry-After": header}
    error = package.parse(body, status=429, headers=headers)
    plan = package.plan_retry(error, package.start_retry(error), now=0)
    assert (plan.retry, plan.delay) == (delay is not None, delay)


@pytest.mark.parametrize(
    ("wait", "header", "agrees"),
    [
        (1500, "2", True),
        (1500, "1", False),
        (1500, "1500", False),
        (0, "0", True),
        (-1, "2", False),
    ],
)
def test_the_judge_compares_body_and_header(
    contract: Contract, wait: int, header: str, agrees: bool
) -> None:
    """The header is the wait of the body, rounded up; after a negative wait there is none."""
    body = json.dumps({"code": "slow", "details": {"wait_ms": wait}}).encode()
    headers = (("Content-Type", "application/json"), ("Retry-After", header))
    found = judge(contract, Exchange(Request("GET", "/x"), Response(429, headers, body)))
    assert [each.clause for each in found.findings] == ["details/validator"] * (not agrees)


@pytest.mark.parametrize("fault", ["slow", "slow,retry-after=4", "later,retry-after=3"])
def test_the_fault_server_says_one_wait(contract: Contract, fault: str) -> None:
    """Body and header of its answers agree."""
    asked = Request("GET", "/x")
    response = render_failure(contract, asked, parse_fault(fault), "v")
    found = judge(contract, Exchange(asked, response))
    assert (found.findings, "details/validator" in found.exercised) == ((), True)


@pytest.mark.parametrize(
    ("value", "unit", "seconds"),
    [
        (5, "s", 5.0),
        (5, "ms", 0.005),
        (-1, "ms", -0.001),
        (True, "s", None),
        (10**400, "s", None),
        ("1.5s", "s", 1.5),
        ("250ms", "s", 0.25),
        ("1970-01-01T00:01:00Z", "s", 50.0),
        ("1970-01-01T00:00:00+00:00", "s", 0.0),
        ("1970-13-01T00:00:00Z", "s", None),
        ("soon", "s", None),
        (None, "s", None),
        ([1], "s", None),
    ],
)
def test_a_hint_is_read_by_its_unit(value: object, unit: str, seconds: float | None) -> None:
    """Numbers by their unit, texts as a duration or a moment, nothing else."""
    assert retry_after.hint_seconds(value, unit, now=10) == seconds


WAITING = {"Slow": "wait_ms", "Later": "delay", "Full": "again_in", "Closed": "again_at"}
"""The exceptions, each with its detail that is a wait."""


@pytest.mark.parametrize("name", ["Full", "Closed"])
def test_an_error_raised_with_a_wait_says_it_in_header_and_body(
    contract: Contract, package: Any, name: str
) -> None:
    """The body has the wait of `retry_after` in its own unit, rounded up as in the header, so that
    the judge finds them equal.
    """

    @examples(60)
    @given(st.floats(0, 1e6) | st.integers(0, 10**6))
    def law(seconds: float) -> None:
        rendered = package.render(getattr(package, name)(retry_after=seconds))
        body = json.loads(rendered.body)["details"][WAITING[name]]
        assert rendered.headers["Retry-After"] == str(ceil(seconds))
        assert retry_after.hint_seconds(body, "s", now=time.time()) == pytest.approx(
            ceil(seconds), abs=2 if name == "Closed" else 0
        )
        answer = Response(rendered.status, tuple(rendered.headers.items()), rendered.body)
        assert judge(contract, Exchange(Request("GET", "/x"), answer)).findings == ()

    law()


@pytest.mark.parametrize(
    ("name", "value", "header"),
    [
        ("Slow", 1500, "2"),
        ("Slow", 0, "0"),
        ("Slow", -1, None),
        ("Later", "2.5s", "3"),
        ("Later", "-1s", None),
    ],
)
def test_a_wait_of_the_body_is_that_of_the_header(
    contract: Contract, package: Any, name: str, value: object, header: str | None
) -> None:
    """An error that is raised with the wait of its body has the header, too, and none after a wait
    that asks not to try again.
    """
    rendered = package.render(getattr(package, name)(**{WAITING[name]: value}))
    assert rendered.headers.get("Retry-After") == header
    answer = Response(rendered.status, tuple(rendered.headers.items()), rendered.body)
    assert judge(contract, Exchange(Request("GET", "/x"), answer)).findings == ()


def test_waits_that_are_given_stay(package: Any) -> None:
    """Neither is made from the other where both are given, and a wait that is none is refused."""
    rendered = package.render(package.Slow(wait_ms=1500, retry_after=7))
    assert rendered.headers["Retry-After"] == "7"
    assert json.loads(rendered.body)["details"] == {"wait_ms": 1500}
    for wrong in (-1.0, float("inf"), float("nan")):
        with pytest.raises(ValueError, match=r"retry_after|again_in"):
            package.Full(retry_after=wrong)


@pytest.mark.parametrize(
    ("seconds", "form", "value"),
    [
        (1.1, "ms", 1100),
        (1.0001, "ms", 1001),
        (1.1, "s", 2),
        (1.1, "duration", "1.1s"),
        (120, "duration", "120s"),
        (0, "duration", "0s"),
        (1.5, "date-time", "1970-01-01T00:00:12Z"),
        (None, "s", None),
    ],
)
def test_a_wait_has_the_form_of_its_detail(seconds: float | None, form: str, value: object) -> None:
    """Seconds and milliseconds are whole, texts have as many places as they need, and moments are
    whole seconds; all of them are rounded up.
    """
    assert retry_after.fill_hint(None, seconds, form, now=10) == value
    assert retry_after.fill_hint("kept", seconds, form, now=10) == "kept"
