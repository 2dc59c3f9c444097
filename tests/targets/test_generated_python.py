"""The generated Python at work: what can be constructed, what goes over the wire and comes back,
when to try again.
"""

import ast
import copy
import importlib
import json
import math
import os
import pickle
import re
import string
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.contract.model import build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import load, read
from faultspec.render import render, write
from faultspec.targets import SHIPPED
from faultspec.targets.python.wire import DECIDED
from paths import ROOT
from support.examples import examples

ULID = "01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python packages of every taxonomy, side by side on the path."""
    folder = tmp_path_factory.mktemp("python")
    packages: dict[str, str] = {}
    for path in (ROOT / "taxonomy.yaml", *sorted((ROOT / "tests/taxonomies").glob("*.yaml"))):
        loaded = load(str(path))
        assert loaded.taxonomy is not None, loaded.diagnostics
        packages |= render(loaded.taxonomy, [SHIPPED["python"]], path.name)
    write(packages, folder, ["python"])
    return folder / "python"


def imported(folder: Path, name: str) -> ModuleType:
    """A generated package or module; each is imported once."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    return importlib.import_module(name)


@pytest.fixture
def platform(folder: Path) -> Any:
    """The bindings of the flagship."""
    return imported(folder, "platform_errors")


# What can be constructed


def test_a_code_takes_its_own_details_only(platform: Any) -> None:
    """A constructor takes the details that its code declares, and no other."""
    error = platform.RateLimited(retry_after=8, limit=2000, window_sec=60)
    assert error.details == {"limit": 2000, "window_sec": 60, "retryable": True}
    with pytest.raises(TypeError, match="existing_id"):
        platform.RateLimited(retry_after=8, existing_id="x")


@pytest.mark.parametrize(
    ("wait", "refused"),
    [(-1, ValueError), (math.nan, ValueError), (math.inf, ValueError), ("8", TypeError)],
)
def test_a_wait_is_a_number_of_seconds(platform: Any, wait: Any, refused: type[Exception]) -> None:
    """A wait that no `Retry-After` can express is refused where the error is raised, and is not
    changed on its way.
    """
    with pytest.raises(refused, match="retry_after"):
        platform.RateLimited(retry_after=wait)


def test_what_is_required_is_a_mandatory_argument(platform: Any) -> None:
    """Required details and required headers that nothing else decides cannot be forgotten."""
    for kind in (
        platform.Conflict,
        platform.StaleRead,
        platform.RateLimited,
        platform.Unauthenticated,
    ):
        with pytest.raises(TypeError, match="missing 1 required keyword-only argument"):
            kind()


def test_only_declared_codes_can_be_raised(platform: Any) -> None:
    """The base class stands for all codes and is none: it cannot be made."""
    with pytest.raises(TypeError, match="raise one of its subclasses"):
        platform.PlatformError("anything", details={})


def test_boundary_and_status_are_the_declared_ones(platform: Any) -> None:
    """A boundary or a status that the taxonomy does not give the code is refused, also where no
    type checker looks.
    """
    assert platform.Timeout().status == 504
    assert platform.Timeout(status=503, boundary="dependency").boundary == "dependency"
    with pytest.raises(
        ValueError, match="comes from service or dependency or gateway, not from 'moon'"
    ):
        platform.Timeout(boundary="moon")
    with pytest.raises(ValueError, match="does not travel under 500"):
        platform.Timeout(status=500)


def test_a_fallback_code_takes_the_statuses_nobody_claims(platform: Any) -> None:
    """The code of unclaimed statuses may be raised with each of them, and with none that another
    code claims.
    """
    assert platform.InvalidRequest(status=413).status == 413
    with pytest.raises(ValueError, match="does not travel under 404"):
        platform.InvalidRequest(status=404)


def test_type_checkers_refuse_what_the_taxonomy_does_not_allow(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """mypy --strict names each wrong use, and takes each right one."""
    user = tmp_path / "user.py"
    user.write_text(
        textwrap.dedent(
            """
            from typing import assert_type
            import platform_errors as p

            p.Timeout(status=500)  # wrong: status
            p.Timeout(boundary="moon")  # wrong: boundary
            p.RateLimited()  # wrong: retry_after
            p.Conflict(existing_id=None)  # wrong: type
            p.NotFound(tenant="x")  # wrong: no such detail
            error = p.RateLimited(retry_after=1, limit=3)
            assert_type(error.details.get("limit"), float | None)
            error.details["nope"]  # wrong: no such key
            error.correlation_id = "x"
            try:
                raise p.Conflict(existing_id=4) from KeyError()
            except p.PlatformError as caught:
                assert_type(caught.status, int | None)
            """
        )
    )
    from mypy import api

    monkeypatch.setenv("MYPYPATH", str(folder))

    out, _, _ = api.run(
        ["--strict", "--no-incremental", str(user), "--config-file", "", "--cache-dir", "/dev/null"]
    )
    wrong = {
        number for number, line in enumerate(user.read_text().splitlines(), 1) if "# wrong" in line
    }
    found = {
        int(line.split(":")[1])
        for line in out.splitlines()
        if line.startswith(str(user)) and ": error:" in line
    }
    assert found == wrong, out


# Wire


def test_each_code_goes_over_the_wire_and_comes_back(platform: Any) -> None:
    """An error that is rendered and parsed is of the same class, with the same details, status and
    id.
    """
    made: list[Any] = [
        platform.RateLimited("slow down", retry_after=8, limit=2000, window_sec=60),
        platform.StaleRead(expected_etag="abc"),
        platform.Conflict(existing_id=7, correlation_id=ULID),
        platform.Timeout(status=502),
        platform.InvalidRequest(status=405, allow="GET, HEAD"),
    ]
    for error in made:
        status, headers, body = platform.render(error)
        back = platform.parse(body, status=status, headers=headers)
        assert type(back) is type(error)
        assert (back.code, back.message, back.details) == (error.code, error.message, error.details)
        assert (back.status, back.correlation_id, back.retry_after) == (
            status,
            error.correlation_id,
            error.retry_after,
        )
        assert platform.render(back) == (status, headers, body)


def test_an_answer_has_the_headers_of_its_status(platform: Any) -> None:
    """no-store and the correlation id on every error; Retry-After, ETag and Allow where they
    belong.
    """
    _, headers, body = platform.render(platform.RateLimited(retry_after=1.2))
    assert headers["Cache-Control"] == "no-store"
    assert headers["Retry-After"] == "2"
    assert headers["X-Correlation-Id"] == json.loads(body)["correlation_id"]
    assert platform.render(platform.StaleRead(expected_etag="abc")).headers["ETag"] == '"abc"'
    assert platform.render(platform.StaleRead(expected_etag='W/"abc"')).headers["ETag"] == 'W/"abc"'
    assert (
        platform.render(platform.InvalidRequest(status=405, allow="GET")).headers["Allow"] == "GET"
    )


def test_the_flag_among_the_details_agrees_with_the_code(platform: Any) -> None:
    """`details.retryable` says whether the client action is retry; where the caller decides, what
    the caller said.
    """
    assert platform.Timeout().details["retryable"] is True
    assert platform.NotFound().details["retryable"] is False
    assert platform.StaleRead(expected_etag="x").details["retryable"] is False
    assert platform.StaleRead(expected_etag="x", retriable=True).details["retryable"] is True


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"code": 1}',
        b'{"code": true}',
        b'{"code": "teapot", "message": "x"}',
        b"[" * 9999,
    ],
)
def test_what_is_not_declared_is_unknown_and_kept(platform: Any, body: bytes) -> None:
    """A body that is not a declared error comes back as UnknownError with the body, decoded if it
    can be; it is not retried.
    """
    error = platform.parse(body, status=503, headers={"Retry-After": "1"})
    assert type(error) is platform.UnknownError
    try:
        raw = json.loads(body)
    except (ValueError, RecursionError):
        raw = body
    assert (error.raw, error.status, error.code) == (raw, 503, platform.ErrorCode.INTERNAL_ERROR)
    assert not error.retriable
    assert not platform.plan_retry(error, platform.start_retry(error)).retry
    assert body == b"" or body not in platform.render(error).body


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["code", "message", "details", "correlation_id", "error"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=9,
)


@given(
    st.binary(max_size=60) | json_values.map(lambda each: json.dumps(each).encode()),
    st.none() | st.integers(100, 599),
)
@examples(150)
def test_parse_never_raises(folder: Path, body: bytes, status: int | None) -> None:
    """Whatever a service answers, parse returns an error that can be completed, rendered, pickled
    and planned for.
    """
    for name in (
        "platform_errors",
        "aileron_errors",
        "registry_errors",
        "theodosia_errors",
        "keen_bench_errors",
    ):
        package = imported(folder, name)
        error = package.parse(body, status=status, headers={"retry-after": "x", "ETag": "y"})
        lacking = {"audit_id": "audit-1", "valid_next_actions": [], "phase": "workshop"}
        assert package.render(error, slots=lacking).status == (error.status or 500)
        assert type(pickle.loads(pickle.dumps(error))) is type(error)
        package.plan_retry(error, package.start_retry(error))


def test_headers_of_one_answer_stay_with_it(platform: Any) -> None:
    """Of a parsed answer only headers that say what to do about the error go on to the next."""
    received = {
        "Set-Cookie": "a=b",
        "Transfer-Encoding": "chunked",
        "www-authenticate": "Bearer",
        "Server": "x",
    }
    body = platform.render(platform.Unauthenticated(www_authenticate="Bearer")).body
    again = platform.render(platform.parse(body, status=401, headers=received)).headers
    assert again["www-authenticate"] == "Bearer"
    assert not {"Set-Cookie", "Transfer-Encoding", "Server"} & set(again)


@given(text=st.text(max_size=30))
def test_no_value_ends_a_header(folder: Path, text: str) -> None:
    """Whatever values an error gets, no header of its answer has a line end or a NUL in it (RFC
    9110 section 5.5).
    """
    platform = imported(folder, "platform_errors")
    error = platform.NotFound(correlation_id=ULID, headers={"X-Note": text})
    body = json.dumps({"code": "not_found", "message": "x", "correlation_id": text})
    for answer in (
        error,
        platform.parse(body, headers={"Retry-After": text, "X-Correlation-Id": text}),
    ):
        for value in platform.render(answer).headers.values():
            assert not set(value) & {"\r", "\n", "\0"}


def test_slots_are_checked_where_every_envelope_agrees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A constructor takes the same values for a slot as the envelope's schema, so no error that it
    makes is refused. Values that were read from the wire are kept.
    """
    text = """
faultspec: 1
taxonomy: {name: slotted, version: 1.0.0}
actions: {retry: Again., stop: No more.}
vocabularies: {phases: {plan: Planning., act: Acting.}}
envelopes:
  error:
    shape: {code: $code, phase: $phase, at?: $at, size?: $size, ref?: $ref, actions?: $actions}
    fields: {phase: {vocabulary: phases}, at: {type: integer, minimum: 1}, size: {type: string}, ref: {type: string, format: ulid}}
  other: {shape: {code: $code, size: $size}, fields: {size: {type: integer}}}
codes:
  bad: {summary: Bad., http: 400}
  worse: {summary: Worse., http: 409, actions: [stop]}
  worst: {summary: Worst., http: 410, actions: {exactly: [stop, retry]}}
  over: {summary: Over., http: 418, actions: {exactly: []}}
"""
    loaded = read(text, "a.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    write(render(loaded.taxonomy, [SHIPPED["python"]], "a.yaml"), tmp_path, ["python"])
    monkeypatch.syspath_prepend(str(tmp_path / "python"))
    package = importlib.import_module("slotted_errors")
    whole = {"phase": "plan", "at": 1, "ref": ULID, "actions": ["stop"]}
    package.Bad(**whole, size=1)
    package.Bad(**whole, size="large")
    for slot, value in {"phase": "rest", "at": 0, "ref": "x", "actions": ["go"]}.items():
        with pytest.raises(ValueError, match=f"bad: {slot}"):
            package.Bad(**{**whole, "size": 1, slot: value})
    package.Worse(**{**whole, "actions": ["stop"]})
    with pytest.raises(ValueError, match="worse: actions"):
        package.Worse(**{**whole, "actions": ["retry"]})
    assert package.Worst(**{**whole, "actions": ["retry", "stop"]}).actions == ["retry", "stop"]
    del whole["actions"]
    body = package.to_envelope(package.Worst(**whole))
    assert body["actions"] == ["stop", "retry"]
    for error, dropped in ((package.Worst, ["stop"]), (package.Over, ["stop"])):
        with pytest.raises(ValueError, match="actions must be exactly"):
            error(**whole, actions=dropped)
    assert package.parse({"code": "bad", "phase": "rest", "at": 0}).phase == "rest"
    assert package.parse({"code": "worse", "phase": "plan", "actions": ["retry"]}).actions == [
        "retry"
    ]


@pytest.mark.parametrize(
    ("value", "rendered"),
    [("x", "x"), (["a", "b"], '["a","b"]'), (True, "true"), (None, None), ({"a": 1}, '{"a":1}')],
)
def test_a_detail_that_is_not_text_is_rendered_as_json(
    value: object, rendered: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A default message shows a detail that is not a text as JSON, as TypeScript does, and is the
    summary where one is missing.
    """
    text = """
faultspec: 1
taxonomy: {name: telling, version: 1.0.0}
envelopes: {error: {shape: {code: $code, message: $message, details?: $details}}}
codes: {bad: {summary: Bad., message: "Bad: ${value}", http: 400, details: {value?: {}}}}
"""
    loaded = read(text, "a.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    write(render(loaded.taxonomy, [SHIPPED["python"]], "a.yaml"), tmp_path, ["python"])
    monkeypatch.syspath_prepend(str(tmp_path / "python"))
    package = importlib.import_module("telling_errors")
    assert package.Bad(value=value).message == ("Bad." if rendered is None else f"Bad: {rendered}")


@pytest.mark.parametrize(
    ("summary", "message", "shown"),
    [
        ("Bad.", "$$5, $${value}, $$${value}", "$5, ${value}, $7"),
        ("It costs $$5, not ${value}.", None, "It costs $$5, not ${value}."),
    ],
)
def test_two_dollars_of_a_message_are_one(
    summary: str,
    message: str | None,
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a message `$$` is a dollar. A summary in place of a message is shown as it is."""
    data = {
        "faultspec": 1,
        "taxonomy": {"name": "dollars" if message else "costs", "version": "1.0.0"},
        "envelopes": {"error": {"shape": {"code": "$code", "details?": "$details"}}},
        "codes": {
            "bad": {
                "summary": summary,
                **({} if message is None else {"message": message}),
                "http": 400,
                "details": {"value": {"type": "integer"}},
            }
        },
    }
    loaded = read(json.dumps(data), "a.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    write(render(loaded.taxonomy, [SHIPPED["python"]], "a.yaml"), tmp_path, ["python"])
    monkeypatch.syspath_prepend(str(tmp_path / "python"))
    package = importlib.import_module("dollars_errors" if message else "costs_errors")
    assert package.Bad(value=7).message == shown


def test_errors_copy_and_pickle(platform: Any) -> None:
    """An error survives a process pool: class, message, details and headers."""
    for error in (
        platform.StaleRead("gone", expected_etag="x", correlation_id=ULID),
        platform.parse(b"<html>", status=502),
    ):
        for same in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
            assert type(same) is type(error)
            assert platform.render(same).status == error.status
            assert (same.message, same.details, same.headers) == (
                error.message,
                error.details,
                error.headers,
            )
            assert str(same) == str(error)


# Facts


def test_facts_answer_questions_about_codes(platform: Any) -> None:
    """is_retryable, client_action, http_status and codes_for say what the taxonomy says, of text as
    of members.
    """
    assert platform.is_retryable("rate_limited")
    assert not platform.is_retryable("stale_read")
    assert not platform.is_retryable("teapot")
    assert platform.client_action("stale_read") == "refetch"
    assert platform.client_action("teapot") == "none"
    assert not platform.is_retryable(None)
    assert platform.http_status(platform.ErrorCode.TIMEOUT) == 504
    assert platform.codes_for(400) == ("invalid_request", "validation_failed")
    assert platform.codes_for(405) == ("invalid_request",)
    assert platform.codes_for(501) == ("internal_error",)
    assert platform.codes_for(200) == ()
    assert {
        "rate_limited",
        "timeout",
        "dependency_unavailable",
        "serialization_failure",
    } == platform.RETRYABLE


DEMANDING = """
faultspec: 1
taxonomy: {name: shelves, version: 1.0.0, title: What constructors ask for}
detail_keys:
  isbn: {type: string, minLength: 10, maxLength: 13}
  reason: {type: string, enum: [too_long, too_short]}
  copies: {type: integer, minimum: 0}
envelopes: {error: {shape: {code: $code, message: $message, details?: $details}}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
headers:
  Retry-After: {on: [429, 503]}
fallback:
  4xx: {code: bad_input, reason: Whatever else is refused.}
codes:
  bad_input: {summary: Bad., http: 400, retriable: false, details: {reason?: {}, copies?: {}}}
  no_book: {summary: None., http: 404, retriable: false, details: {isbn: {}}}
  store_down: {summary: Down., http: 502-503, retriable: true}
"""


@pytest.fixture
def shelves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The bindings of a taxonomy whose constructors ask for much."""
    loaded = read(DEMANDING, "d.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    write(render(loaded.taxonomy, [SHIPPED["python"]], "d.yaml"), tmp_path, ["python"])
    monkeypatch.syspath_prepend(str(tmp_path / "python"))
    return importlib.import_module("shelves_errors")


def test_an_error_cannot_be_made_without_the_header_of_its_status(shelves: Any) -> None:
    """A header that only some statuses of a code require is demanded under those, whether the
    caller or the taxonomy gives it.
    """
    assert shelves.StoreDown().status == 502
    assert (
        shelves.render(shelves.StoreDown(status=503, retry_after=2)).headers["Retry-After"] == "2"
    )
    assert shelves.StoreDown(status=503, headers={"retry-after": "2"}).status == 503
    message = "store_down under 503 needs the header Retry-After: pass `retry_after`"
    with pytest.raises(ValueError, match=message):
        shelves.StoreDown(status=503)
    with pytest.raises(ValueError, match="bad_input under 429 needs the header Retry-After"):
        shelves.BadInput(status=429)
    assert shelves.parse(b'{"code": "store_down", "message": "x"}', status=503).status == 503


@st.composite
def _rules(draw: st.DrawFn, *, codes: bool) -> dict[str, list[dict[str, object]]]:
    rule = {
        "token": st.sampled_from(["no-store", "private", "Private", "x"]),
        "presence": st.sampled_from(["required", "required", "expected", "optional", "forbidden"]),
    }
    maybe = {"on": st.sampled_from(["4xx", "5xx", "404", "404-503"])}
    if codes:
        maybe["codes"] = st.lists(st.sampled_from(["a", "b", "rest"]), min_size=1, unique=True)
    each = st.fixed_dictionaries(rule, optional=maybe)
    names = st.sampled_from(["Cache-Control", "X-Kept"])
    return draw(st.dictionaries(names, st.lists(each, min_size=1, max_size=3), max_size=2))


@examples(150, steady=15)
@given(general=_rules(codes=True), own=_rules(codes=False))
def test_a_header_whose_value_is_known_is_sent(
    tmp_path_factory: pytest.TempPathFactory, general: dict[str, Any], own: dict[str, Any]
) -> None:
    """Whatever rules give directives, by status, by code or of a code's own: no constructor asks
    for them, and the judge misses nothing in what `render` sends.
    """
    common = {"summary": "S.", "message": "m", "retriable": False}
    text = {
        "faultspec": 1,
        "taxonomy": {"name": "known", "version": "1.0.0"},
        "envelopes": {"error": {"shape": {"error": "$code"}}},
        "surfaces": {"api": {"transport": "http", "envelope": "error", "codes": "closed"}},
        "fallback": {"4xx": {"code": "rest", "reason": "Whatever else."}},
        "headers": general,
        "codes": {
            "a": {**common, "http": [400, 404, 503], "headers": own},
            "b": {**common, "http": 404},
            "rest": {**common, "http": 400},
            "nowhere": {
                **common,
                "http": None,
                "http_reason": "It never travels over HTTP by itself.",
            },
        },
    }
    loaded = read(json.dumps(text), "k.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    folder = tmp_path_factory.mktemp("known")
    write(render(loaded.taxonomy, [SHIPPED["python"]], "k.yaml"), folder, ["python"])
    before = {
        name: sys.modules.pop(name)
        for name in list(sys.modules)
        if name.split(".")[0] == "known_errors"
    }
    sys.path.insert(0, str(folder / "python"))
    try:
        package: Any = importlib.import_module("known_errors")
    finally:
        sys.path.remove(str(folder / "python"))
        for name in [name for name in sys.modules if name.split(".")[0] == "known_errors"]:
            del sys.modules[name]
        sys.modules.update(before)
    errors = [package.B(), package.Rest(), package.Rest(status=418), package.Nowhere()]
    errors += [package.A(status=status) for status in (400, 404, 503)]
    for error in errors:
        sent = package.render(error)
        answer = Response(sent.status, tuple(sent.headers.items()), sent.body)
        found = judge(
            build_contract(loaded.taxonomy), Exchange(Request("GET", "/x"), answer)
        ).findings
        assert [each.message for each in found if each.clause.startswith("headers/")] == [], (
            error,
            sent.headers,
        )


def test_the_header_that_a_caller_gives_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A header given where the error is raised takes the place of the known one, however its name
    is written; where the rules leave the value open, it is asked for.
    """
    text = """
faultspec: 1
taxonomy: {name: given, version: 1.0.0}
envelopes: {error: {shape: {error: $code}}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
headers: {Cache-Control: {codes: [a], token: no-store}, Allow: {codes: [b], token: no verb at all}}
codes: {a: {summary: A., http: 400}, b: {summary: B., http: 405}}
"""
    loaded = read(text, "g.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    write(render(loaded.taxonomy, [SHIPPED["python"]], "g.yaml"), tmp_path, ["python"])
    monkeypatch.syspath_prepend(str(tmp_path / "python"))
    package = importlib.import_module("given_errors")
    assert package.render(package.A()).headers["Cache-Control"] == "no-store"
    sent = package.render(
        package.A(headers={"cache-control": "no-store, private", "content-type": "a/b"})
    ).headers
    assert sent == {"cache-control": "no-store, private", "content-type": "a/b"}
    with pytest.raises(TypeError, match="allow"):
        package.B()
    assert (
        package.render(package.B(allow="GET", headers={"allow": "PUT"})).headers["allow"] == "PUT"
    )


@given(name=st.text(max_size=8) | st.sampled_from(["X-A\r\nX-B", "X A", "", "é", "X:", "X-A\n"]))
def test_only_what_is_a_token_names_a_header(folder: Path, name: str) -> None:
    """A header is refused by the constructor, and not met in an answer, if its name is not a token
    (RFC 9110 section 5.6.2).
    """
    platform = imported(folder, "platform_errors")
    sound = name != "" and set(name) <= {*"!#$%&'*+-.^_`|~", *string.ascii_letters, *string.digits}
    if sound:
        assert platform.NotFound(correlation_id=ULID, headers={name: "x"}).headers[name] == "x"
    else:
        with pytest.raises(ValueError, match="is not the name of a header"):
            platform.NotFound(correlation_id=ULID, headers={name: "x"})


@pytest.mark.parametrize("headers", [{"X-A": 1}, {"X-A": b"x"}, {"X-A": ["x"]}, {1: "x"}])
def test_headers_are_strings(platform: Any, headers: Any) -> None:
    """A value that is not a string is refused where the error is made, and not where it is sent."""
    with pytest.raises(TypeError, match="header"):
        platform.NotFound(correlation_id=ULID, headers=headers)


def test_an_error_takes_no_detail_that_its_code_does_not_declare_so(shelves: Any) -> None:
    """Types, enumerations, lengths and bounds hold where no type checker looks, and the detail is
    named.
    """
    assert shelves.BadInput(reason="too_long", copies=0).details == {
        "reason": "too_long",
        "copies": 0,
    }
    with pytest.raises(
        ValueError, match=r"bad_input: details\['reason'\] is 'nope'; expected one of 'too_long'"
    ):
        shelves.BadInput(reason="nope")
    with pytest.raises(ValueError, match=r"details\['copies'\] is -1; expected at least 0"):
        shelves.BadInput(copies=-1)
    with pytest.raises(TypeError, match=r"no_book: details\['isbn'\] is 5; expected a string"):
        shelves.NoBook(isbn=5)
    with pytest.raises(
        ValueError, match=r"details\['isbn'\] has 3; expected at least 10 characters"
    ):
        shelves.NoBook(isbn="123")
    with pytest.raises(ValueError, match="no_book: details lacks 'isbn'"):
        shelves.NoBook(isbn=None)
    # What another service sent is read as it is.
    assert shelves.parse(
        b'{"code": "no_book", "message": "x", "details": {"isbn": 5}}'
    ).details == {"isbn": 5}


CONDITIONAL = """
faultspec: 1
taxonomy: {name: conditional, version: 1.0.0, title: Statuses by condition}
detail_keys: {reason: {type: string}}
envelopes: {error: {shape: {code: $code, message: $message, details?: $details}}}
codes:
  upstream:
    summary: Upstream.
    http: [{if: {details.reason: slow}, status: 504}, {if: {cause: dns}, status: 503}, {else: 502}]
    retriable: false
    details: {reason?: {}}
"""


@pytest.mark.parametrize(
    ("retriable", "expected"),
    [
        ("retriable: {when: [{if: {status: 409}, then: true}], else: false}", True),
        ("retriable: caller", True),
        ("retriable: none", False),
        ("retriable: false", False),
        ("retriable: true", True),
    ],
)
def test_the_documentation_says_what_the_planner_does(
    retriable: str, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A docstring says that clients do not retry only of codes that the planner never sends
    again.
    """
    name = "planned_" + "".join(filter(str.isalpha, retriable))
    text = f"""
faultspec: 1
taxonomy: {{name: {name}, version: 1.0.0}}
envelopes: {{error: {{shape: {{code: $code, message: $message, again?: $retriable}}}}}}
retry_policies: {{gentle: {{max_attempts: 3, backoff: {{kind: constant, base: 1s}}}}}}
codes: {{busy: {{summary: Busy., http: 409, retry: gentle, {retriable}}}}}
"""
    loaded = read(text, "p.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    write(render(loaded.taxonomy, [SHIPPED["python"]], "p.yaml"), tmp_path, ["python"])
    monkeypatch.syspath_prepend(str(tmp_path / "python"))
    package = importlib.import_module(f"{name.lower()}_errors")
    error = package.Busy(retriable=True) if "caller" in retriable else package.Busy()
    plan = package.plan_retry(error, package.start_retry(error), now=0.0, idempotent=True)
    assert plan.retry is expected
    assert ("clients do not retry" in package.Busy.__doc__) is not expected


def test_a_status_by_condition_is_the_one_the_details_ask_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The constructor takes the status from the details; one that the rules exclude is refused, one
    that they leave open by what an error does not know is not.
    """
    loaded = read(CONDITIONAL, "c.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    write(render(loaded.taxonomy, [SHIPPED["python"]], "c.yaml"), tmp_path, ["python"])
    monkeypatch.syspath_prepend(str(tmp_path / "python"))
    package = importlib.import_module("conditional_errors")
    assert package.Upstream(reason="slow").status == 504
    assert package.Upstream(reason="broken").status == 502
    assert package.Upstream(reason="broken", status=503).status == 503
    assert package.Upstream(status=504).status == 504
    assert package.Upstream(reason="broken", cause="dns").status == 503
    assert package.Upstream(reason="slow", cause="dns").status == 504
    with pytest.raises(ValueError, match="upstream travels under 504 here"):
        package.Upstream(reason="slow", status=502)
    with pytest.raises(ValueError, match="upstream travels under 503 or 502 here"):
        package.Upstream(reason="broken", status=504)
    with pytest.raises(ValueError, match="upstream travels under 503 here"):
        package.Upstream(reason="broken", cause="dns", status=502)
    assert (
        package.parse(package.render(package.Upstream(reason="slow")).body, status=504).status
        == 504
    )


def test_a_flag_by_condition_asks_the_raiser_of_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fact that an error cannot know of itself is an argument of its constructor, stays with a
    copy, and decides the flag unless the flag is given too.
    """
    text = """
faultspec: 1
taxonomy: {name: asking, version: 1.0.0}
envelopes: {error: {shape: {code: $code, message: $message, again: $retriable}}}
codes:
  away:
    summary: Nobody is there.
    http: 503
    retriable: {when: [{if: {operation.idempotent: false}, then: false}, {if: {cause: dns}, then: false}], else: true}
"""
    loaded = read(text, "a.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    write(render(loaded.taxonomy, [SHIPPED["python"]], "a.yaml"), tmp_path, ["python"])
    monkeypatch.syspath_prepend(str(tmp_path / "python"))
    package = importlib.import_module("asking_errors")
    assert package.Away().retriable
    assert package.Away(idempotent=True, cause="reset").retriable
    assert not package.Away(cause="dns").retriable
    refused = package.Away(idempotent=False)
    assert (
        package.to_envelope(refused)["again"]
        is pickle.loads(pickle.dumps(refused)).retriable
        is False
    )
    assert package.Away(idempotent=False, retriable=True).retriable


@pytest.mark.parametrize("retriable", [False, True])
def test_an_unknown_code_follows_the_taxonomy(
    retriable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The action of a client for an undeclared code is the one that `unknown` declares."""
    text = (
        (ROOT / "taxonomy.yaml")
        .read_text()
        .replace("name: platform\n", f"name: unknown_{retriable}\n", 1)
    )
    before = "unknown: {becomes: internal_error, retriable: false"
    assert before in text
    (tmp_path / "t.yaml").write_text(
        text.replace(before, before.replace("false", str(retriable).lower()))
    )
    loaded = load(str(tmp_path / "t.yaml"))
    assert loaded.taxonomy is not None, loaded.diagnostics
    write(render(loaded.taxonomy, [SHIPPED["python"]], "t.yaml"), tmp_path, ["python"])
    monkeypatch.syspath_prepend(str(tmp_path / "python"))
    package = importlib.import_module(f"unknown_{str(retriable).lower()}_errors")
    assert package.is_retryable("zzz") is retriable
    assert package.client_action("zzz") == ("retry" if retriable else "none")
    assert package.parse('{"code": "zzz", "message": "x"}', status=500).retriable is retriable


def test_each_live_code_has_its_exception(folder: Path) -> None:
    """Every live code has one exception and one row of facts, and a reserved code has neither."""
    for name in (
        "platform_errors",
        "aileron_errors",
        "alknet_errors",
        "theodosia_errors",
        "registry_errors",
    ):
        errors = imported(folder, f"{name}.errors")
        facts = imported(folder, f"{name}.codes").FACTS
        shared = {each.code for each in errors.ERRORS.values()}
        own = {kind.code for (operation, _), kind in errors._ALL.items() if operation}
        assert shared | own == set(facts)
    assert "approval_denied" not in list(imported(folder, "aileron_errors").ErrorCode)


# Retries


def test_a_plan_follows_the_policy_of_the_code(platform: Any) -> None:
    """Retry-After first, then backoff; attempts are counted; a refetch is not a retry."""
    error = platform.RateLimited(retry_after=8)
    plan = platform.plan_retry(error, platform.start_retry(error), random=lambda: 0.5)
    assert (plan.retry, plan.delay) == (True, 8.0)
    state, delays = platform.start_retry(platform.SerializationFailure()), []
    while (
        plan := platform.plan_retry(platform.SerializationFailure(), state, random=lambda: 1.0)
    ).retry:
        delays.append(plan.delay)
        state = plan.state
    assert delays == [0.05, 0.1]
    assert plan.reason == "attempts_exhausted"
    stale = platform.StaleRead(expected_etag="x", retriable=True)
    assert platform.plan_retry(stale, platform.start_retry(stale)).reason == "not_retriable"


def test_a_write_that_may_have_happened_is_not_repeated(platform: Any) -> None:
    """Without an idempotency key, an error whose effect is unknown is not retried; one without
    effect is.
    """
    state = platform.start_retry(platform.Timeout())
    assert (
        platform.plan_retry(platform.Timeout(), state, idempotent=False).reason == "not_idempotent"
    )
    failure = platform.SerializationFailure()
    assert platform.plan_retry(failure, platform.start_retry(failure), idempotent=False).retry


def test_the_seconds_of_a_date_are_read(platform: Any) -> None:
    """A Retry-After that is a date is waited for like one in seconds."""
    body = platform.render(platform.RateLimited(retry_after=1)).body
    error = platform.parse(
        body, status=429, headers={"retry-after": "Thu, 01 Jan 1970 00:01:00 GMT"}
    )
    plan = platform.plan_retry(error, platform.start_retry(error), now=50.0, random=lambda: 0.0)
    assert plan.delay == 10.0


# Other shapes


def test_nested_envelopes_and_several_boundaries(folder: Path) -> None:
    """A nested envelope is rendered and read; keywords of Python and reserved names are details
    like any other.
    """
    package = imported(folder, "aileron_errors")
    denied = package.CapabilityDenied(host="evil.example", boundary="action", audit_id="audit-1")
    body = package.to_envelope(denied)
    assert body["error"] == {
        "class": "capability_denied",
        "message": "The host evil.example is not allowed",
        "retriable": False,
        "boundary": "action",
        "audit_id": "audit-1",
        "details": {"host": "evil.example"},
    }
    failed = package.BindingFailed(from_=None, class_="x", retriable=True, audit_id="audit-1")
    assert failed.details == {"from": None, "class": "x"}
    with pytest.raises(TypeError, match="retriable"):
        package.BindingFailed(from_="x", audit_id="audit-1")
    assert package.parse(body).boundary == "action"
    listed = package.to_envelope(failed, envelope="crud")
    assert listed == {
        "error": {
            "code": "binding_failed",
            "message": "An existing binding refused.",
            "details": [failed.details],
        }
    }
    assert package.parse(listed).details == failed.details


def test_a_message_nobody_sent_is_the_codes(folder: Path) -> None:
    """Without a message on the wire it is filled from the details, or is the summary where one of
    them is missing.
    """
    package = imported(folder, "aileron_errors")
    body: dict[str, Any] = {
        "error": {"class": "capability_denied", "retriable": False, "boundary": "action"}
    }
    assert package.parse(body).message == "A capability check refused the operation."
    body["error"]["details"] = {"host": "evil.example"}
    assert package.parse(body).message == "The host evil.example is not allowed"
    assert (
        package.CapabilityDenied(audit_id="audit-1").message
        == "A capability check refused the operation."
    )


def test_the_summary_is_not_a_template(folder: Path) -> None:
    """The slot for the summary has the code's summary, whatever its message."""
    package = imported(folder, "aileron_errors")
    assert package.CapabilityDenied.summary == "A capability check refused the operation."
    problem = imported(folder, "registry_errors")
    assert (
        problem.to_envelope(problem.BlobUnknown("gone"), envelope="problem")["title"]
        == "The blob is unknown."
    )


def test_conditional_retriability_is_decided_by_the_error(folder: Path) -> None:
    """The first rule that holds decides the flag, as the taxonomy orders them."""
    package = imported(folder, "aileron_errors")
    made = [
        package.ExternalApiError(status_=status, audit_id="audit-1")
        for status in (404, 429, 500, 599, 600)
    ]
    flags = {each.details["status"]: each.retriable for each in made}
    assert flags == {404: False, 429: True, 500: True, 599: True, 600: False}


def test_operations_have_codes_of_their_own(folder: Path) -> None:
    """One code name in two operations is two errors; which one is read depends on the operation."""
    package = imported(folder, "alknet_errors")
    body = package.to_envelope(package.ReadFileFileNotFound(path="/x"))
    assert type(package.parse(body, operation="readFile")) is package.ReadFileFileNotFound
    assert type(package.parse(body, operation="writeFile")) is package.WriteFileFileNotFound
    assert type(package.parse(body, operation="PUT /fs/{path}")) is package.WriteFileFileNotFound
    assert type(package.parse(body)) is package.UnknownError
    undeclared = imported(folder, "alknet_errors.errors").undeclared("BOOM")
    assert (undeclared.code, undeclared.details) == ("INTERNAL", {"code": "BOOM"})
    assert imported(folder, "alknet_errors.errors").undeclared("a secret: hunter2").details == {}


def test_spread_details_and_colliding_names(folder: Path) -> None:
    """Details spread into the envelope come back as details; names that Python or the module keep
    are got round.
    """
    package = imported(folder, "theodosia_errors")
    error = package.InvalidTransition(requested="pay", valid_next_actions=["take_order"])
    body = package.to_envelope(error)
    assert body == {
        "error": "invalid_transition",
        "requested": "pay",
        "valid_next_actions": ["take_order"],
        "message": 'Blocked by "the graph"',
    }
    assert package.parse(body).details == {"requested": "pay"}
    slow = package.TimeoutErrorFailure(
        requested="x", timeout_seconds=1, self_=3, status_="m", list=[1], valid_next_actions=[]
    )
    assert slow.details == {
        "requested": "x",
        "timeout_seconds": 1,
        "self": 3,
        "status": "m",
        "list": [1],
    }
    assert issubclass(package.None_, package.TheodosiaError)


def test_a_slot_may_be_called_whatever_the_package_uses(
    platform: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slots called like every name in the module of exceptions, builtins and parameters too: it
    imports, an error of it is made and comes back, pickles, and mypy --strict has nothing to say.
    """
    module = Path(importlib.import_module("platform_errors.errors").__file__ or "")
    nodes = list(ast.walk(ast.parse(module.read_text(encoding="utf-8"))))
    used = {each.id for each in nodes if isinstance(each, ast.Name)}
    used |= {each.arg for each in nodes if isinstance(each, ast.arg)}
    slots = sorted(
        each
        for each in used - DECIDED - {"actions", "retry_after"}
        if re.fullmatch("[a-z][a-z0-9_]*", each)
    )
    assert {"type", "hasattr", "object", "raw", "name"} <= set(slots)
    data = {
        "faultspec": 1,
        "taxonomy": {"name": "odd", "version": "1.0.0"},
        "envelopes": {
            "error": {
                "shape": {"code": "$code", "message": "$message"}
                | {each: f"${each}" for each in slots}
            }
        },
        "codes": {"failed": {"summary": "Failed.", "http": 500, "retriable": False}},
    }
    fields = {each: {"type": "integer"} for each in slots}
    data["envelopes"]["error"]["fields"] = fields  # type: ignore[index]
    loaded = read(json.dumps(data), "odd.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    write(render(loaded.taxonomy, [SHIPPED["python"]], "odd.yaml"), tmp_path, ["python"])
    monkeypatch.syspath_prepend(str(tmp_path / "python"))
    odd = imported(tmp_path, "odd_errors")
    places = {
        each.slot: each.attribute for each in importlib.import_module("odd_errors.wire").PLACES
    }
    error = odd.Failed(**{places[each]: 7 for each in slots})
    assert {name: odd.to_envelope(error)[name] for name in slots} == dict.fromkeys(slots, 7)
    again = pickle.loads(pickle.dumps(odd.parse(odd.to_envelope(error))))
    assert {name: getattr(again, name) for name in places.values()} == dict.fromkeys(
        places.values(), 7
    )
    strict = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--no-site-packages",  # no framework is installed; tests/frameworks has those
        "--no-incremental",
        "--cache-dir",
        os.devnull,
        "odd_errors",
    ]
    done = subprocess.run(
        strict, cwd=tmp_path / "python", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_json_rpc_and_vocabularies(folder: Path) -> None:
    """One payload in two carriers: alone in a log, and as the data of a JSON-RPC error with the
    request's id.
    """
    package = imported(folder, "keen_bench_errors")
    error = package.ProviderRateLimited(phase="workshop")
    alone = package.to_envelope(error, envelope="error_info")
    carried = package.to_envelope(error, slots={"request_id": 7})
    assert alone == {
        "error_code": "PROVIDER_RATE_LIMITED",
        "phase": "workshop",
        "retryable": True,
        "actions": ["retry", "resume"],
    }
    assert carried == {
        "jsonrpc": "2.0",
        "id": 7,
        "error": {"code": -32000, "message": "The provider limits the rate.", "data": alone},
    }
    assert package.parse(carried).request_id == 7
    assert package.DiskFull().phase == "workbench"


def test_numbers_lists_and_strings_with_slots(folder: Path) -> None:
    """Numeric codes, a list of errors, and a code inside a URL are read back."""
    package = imported(folder, "registry_errors")
    error = package.BlobUnknown(digest="sha256:1")
    assert package.to_envelope(error) == {
        "errors": [
            {"code": 104, "message": "The blob is unknown.", "detail": {"digest": "sha256:1"}}
        ]
    }
    problem = package.to_envelope(error, envelope="problem")
    assert (problem["type"], problem["errno"], problem["cost"]) == (
        "https://errors.example.com/104?d=blob",
        104,
        "$5",
    )
    for body in (package.to_envelope(error), problem):
        assert type(package.parse(body)) is package.BlobUnknown
    with pytest.warns(DeprecationWarning, match="TOO_MANY"):
        deprecated = package.TooMany(trace="0123456789abcdef0123456789abcdef")
    rendered = package.render(deprecated, envelope="problem")
    assert rendered.headers["X-Trace"] == "0123456789abcdef0123456789abcdef"
    assert rendered.headers["Content-Type"] == "application/problem+json"


# The ASGI boundary


async def _answer(
    app: Any, path: str = "/", method: str = "GET", headers: list[tuple[bytes, bytes]] | None = None
) -> Any:
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "headers": headers or [],
        "query_string": b"",
    }
    await app(scope, receive, send)
    fields = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], fields, b"".join(each.get("body", b"") for each in sent[1:])


def _served(folder: Path, app: Any, **request: Any) -> Any:
    import asyncio

    boundary = imported(folder, "platform_errors.asgi").ErrorBoundary(app)
    return asyncio.run(_answer(boundary, **request))


def _raising(error: Exception) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise error

    return app


def _answering(status: int, **headers: str) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        fields = [
            (name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()
        ]
        await send({"type": "http.response.start", "status": status, "headers": fields})
        await send({"type": "http.response.body", "body": b"Not Found"})

    return app


def test_the_boundary_answers_for_what_is_raised(folder: Path, platform: Any) -> None:
    """A declared error is answered as itself, under the request's correlation id; anything else as
    an internal error.
    """
    app = _raising(platform.Conflict("Taken", existing_id="7"))
    status, headers, body = _served(folder, app, headers=[(b"x-correlation-id", ULID.encode())])
    body = json.loads(body)
    assert (status, body["code"], body["details"]["existing_id"]) == (409, "conflict", "7")
    assert ULID == body["correlation_id"] == headers["x-correlation-id"]
    status, headers, body = _served(folder, _raising(RuntimeError("password=hunter2")))
    assert (status, json.loads(body)["code"]) == (500, "internal_error")
    assert b"hunter2" not in body
    assert headers["cache-control"] == "no-store"


def test_the_boundary_answers_for_a_service_behind(folder: Path, platform: Any) -> None:
    """An answer nobody could read is an internal error here, and nothing of it gets out."""
    status, _, body = _served(folder, _raising(platform.parse(b"stack trace", status=404)))
    assert (status, json.loads(body)["code"]) == (500, "internal_error")
    assert b"stack" not in body


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (404, "not_found"),
        (405, "invalid_request"),
        (413, "invalid_request"),
        (415, "unsupported_media_type"),
        (501, "internal_error"),
        (503, "dependency_unavailable"),
    ],
)
def test_the_boundary_answers_for_the_framework(folder: Path, status: int, code: str) -> None:
    """An answer of the framework itself leaves in the envelope, under its own status and with its
    Allow.
    """
    answered, headers, body = _served(
        folder, _answering(status, allow="GET", content_type="text/plain")
    )
    assert (answered, json.loads(body)["code"], headers["allow"]) == (status, code, "GET")
    assert headers["content-type"] == "application/json"
