"""Laws of the TypeScript modules for servers: what they send is what Python sends, and their
classes narrow by `code`.
"""

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from faultspec.language.model import Code, Schema, Taxonomy
from faultspec.runtime import ids
from faultspec.targets import schema as schemas
from faultspec.targets.python.constructors import allowed_details
from faultspec.targets.python.wire import has_formats
from faultspec.targets.typescript import names
from targets.test_typescript import Compiled, compiled, tsc

__all__ = ["compiled"]

HARNESS = Path(__file__).parent / "typescript_servers_harness.mjs"
GIVEN = "01900000-0000-7000-8000-000000000001"

pytestmark = [
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"),
]


def ask(compiled: Compiled, questions: list[dict[str, Any]]) -> list[Any]:
    """The answers of the compiled modules, from one process."""
    done = subprocess.run(
        ["node", str(HARNESS), str(compiled.folder / "javascript")],
        input=json.dumps(questions),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found


def systems(compiled: Compiled) -> Iterator[tuple[str, Taxonomy, str]]:
    """The taxonomies whose bodies are JSON and that have a Python package; and their folder."""
    for name, taxonomy in compiled.taxonomies.items():
        if name not in ("odd", "nasty") and not has_formats(taxonomy):
            yield name, taxonomy, f"{name}/{names.folder(taxonomy.name)}"


def module(compiled: Compiled, name: str, part: str) -> ModuleType:
    """A module of the Python package of a taxonomy."""
    from importlib import import_module

    return import_module(f"{compiled.taxonomies[name].name}_errors.{part}")


def sample(schema: Schema) -> object:
    """A value of the type of a schema; the modules compared do not check more."""
    if schema.enum:
        return schema.enum[0]
    values: Mapping[str, object] = {
        "string": 'a "ü" \u2028 $',
        "integer": 3,
        "number": 2.5,
        "boolean": True,
        "object": {"b": 1, "a": None},
        "array": [1, "x"],
        "null": None,
    }
    return values[schema.types[0]] if schema.types else "any"


def samples(code: Code) -> dict[str, object]:
    """Details of a code, each with a value of its type."""
    return {key: sample(member.schema) for key, member in allowed_details(code).items()}


def same_headers(ours: object, theirs: object) -> bool:
    """Whether two lists of headers have the same names, in any case, and values."""
    plain = [sorted([name.lower(), value] for name, value in each) for each in (ours, theirs)]  # type: ignore[attr-defined]  # pairs
    return plain[0] == plain[1]


def test_an_error_is_sent_as_python_sends_it(compiled: Compiled) -> None:
    """Status, headers and body of every shared code are those of Python, without details and with
    a value for each.
    """
    questions, wanted = [], []
    for name, taxonomy, package in systems(compiled):
        errors, wire = module(compiled, name, "errors"), module(compiled, name, "wire")
        slots = {
            slot: GIVEN
            for envelope in taxonomy.envelopes.values()
            for slot in envelope.slots
            if slot in {place.slot for place in wire.PLACES} and slot != "actions"
        }
        cases = []
        for operation, code in schemas.live(taxonomy):
            if operation is not None:
                continue
            opaque = code.details_schema is not None
            for details in ({}, {} if opaque else samples(code)):
                cases.append({"code": code.name, "details": details})
                made = errors.bare(errors.ERRORS[code.name], details=details)
                for place in wire.PLACES:
                    if place.slot in slots:
                        setattr(made, place.attribute, GIVEN)
                try:
                    sent = wire.render(made, slots=slots)
                except (ValueError, KeyError):
                    wanted.append((name, code.name, details, None))
                else:
                    body = json.loads(sent.body)
                    row = [sent.status, list(sent.headers.items()), body]
                    wanted.append((name, code.name, details, row))
        questions.append({"ask": "bare", "package": package, "cases": cases, "slots": slots})
    found = [each for answers in ask(compiled, questions) for each in answers]
    assert len(found) == len(wanted) > 200
    for got, (name, code, details, row) in zip(found, wanted, strict=True):
        if row is None:
            assert "thrown" in got, (name, code, details, got)
            continue
        assert isinstance(got, list), (name, code, details, got, row)
        assert got[0] == row[0], (name, code, details)
        assert same_headers(got[1], row[1]), (name, code, got[1], row[1])
        assert got[2] == row[2], (name, code, details)


def test_a_boundary_answers_a_status_as_pythons_does(compiled: Compiled) -> None:
    """Every status from 400 to 599 without a code has the answer of the Python boundary, with the
    headers of the framework that are kept; and the log has the same warnings.
    """
    statuses = range(400, 600)
    headers = {
        "Allow": "GET",
        "Set-Cookie": "a=1",
        "Access-Control-Allow-Origin": "*",
        "Content-Type": "text/html",
        "Retry-After": "soon",
        "X-Powered-By": "x",
    }
    questions, wanted = [], []
    for name, _, package in systems(compiled):
        boundary = module(compiled, name, "boundary")
        needed = getattr(module(compiled, name, "wire"), "NEEDED", {})
        slots = dict.fromkeys(needed, "given")

        def complete(error: Any, needed: Mapping[str, str] = needed) -> None:
            for attribute in needed.values():
                setattr(error, attribute, "given")

        options = {"complete": complete} if needed else {}
        policy = boundary.make_policy(choose=lambda problem: None, **options)
        correlation = policy.correlation
        given = ids.new(boundary.CORRELATION_FORMATS[0])
        request = {"method": "GET", "path": "/x", "headers": {correlation.header: given}}
        exchange = boundary.BoundaryExchange(
            policy, "GET", "/x", boundary.encoded([(correlation.header, given)])
        )
        from_framework = boundary.encoded(headers.items())
        rows = []
        for status in statuses:
            held = boundary.Answer(status, from_framework, b"")
            answer = exchange.settle(held)
            rows.append([answer.status, answer.fields, json.loads(answer.body)])
        wanted.append((name, rows))
        cases = [{"status": status, "headers": headers} for status in statuses]
        questions.append(
            {
                "ask": "statuses",
                "package": package,
                "cases": cases,
                "request": request,
                "completed": slots,
            }
        )
    for answers, (name, rows) in zip(ask(compiled, questions), wanted, strict=True):
        for got, row in zip(answers["found"], rows, strict=True):
            assert got[0] == row[0], (name, got, row)
            theirs = [each for each in row[1] if each[0] != "content-length"]
            assert same_headers(got[1], theirs), (name, got[1], theirs)
            assert got[2] == row[2], name
        warnings = [text for level, text in answers["lines"] if level == "warn"]
        assert len(warnings) == len(set(warnings))


THROWN: list[tuple[str, str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ("RateLimited", "RateLimited", {}, {"retryAfter": 2.2}, {"retry_after": 2.2}),
    (
        "Timeout",
        "Timeout",
        {"hint": "Later"},
        {"status": 503, "boundary": "gateway", "retryAfter": 5},
        {"hint": "Later", "status": 503, "boundary": "gateway", "retry_after": 5},
    ),
    (
        "Unauthenticated",
        "Unauthenticated",
        {},
        {"headers": {"WWW-Authenticate": 'Bearer realm="a\r\nX: y"'}, "message": "Log in"},
        {"www_authenticate": 'Bearer realm="a\r\nX: y"', "message": "Log in"},
    ),
    (
        "StaleRead",
        "StaleRead",
        {"expected_etag": "v1"},
        {"retriable": True},
        {"expected_etag": "v1", "retriable": True},
    ),
]


def test_what_a_service_throws_is_sent_as_python_sends_it(compiled: Compiled) -> None:
    """The arguments of a class do what those of the Python class do: statuses, boundaries, waits,
    flags, headers that repeat a detail.
    """
    errors, wire = module(compiled, "platform", "errors"), module(compiled, "platform", "wire")
    cases, wanted = [], []
    for type_, python, details, options, arguments in THROWN:
        cases.append(
            {"type": type_, "details": details, "options": {**options, "correlationId": GIVEN}}
        )
        sent = wire.render(getattr(errors, python)(**arguments, correlation_id=GIVEN))
        wanted.append([sent.status, list(sent.headers.items()), json.loads(sent.body)])
    package = "platform/platform-errors"
    (found,) = ask(compiled, [{"ask": "thrown", "package": package, "cases": cases}])
    for got, row in zip(found, wanted, strict=True):
        assert isinstance(got, list), (got, row)
        assert (got[0], got[2]) == (row[0], row[2])
        assert same_headers(got[1], row[1]), (got, row)


def test_a_class_refuses_what_its_code_does_not_have(compiled: Compiled) -> None:
    """Another status, another boundary, a header that is needed and lacking, a header without a
    name: the constructor throws.
    """
    cases = [
        {"type": "NotFound", "details": {}, "options": {"status": 409}},
        {"type": "NotFound", "details": {}, "options": {"boundary": "moon"}},
        {"type": "Unauthenticated", "details": {}, "options": {}},
        {"type": "NotFound", "details": {}, "options": {"headers": {"a b": "c"}}},
    ]
    package = "platform/platform-errors"
    (found,) = ask(compiled, [{"ask": "thrown", "package": package, "cases": cases}])
    assert [each["thrown"] for each in found] == ["RangeError"] * 3 + ["TypeError"]


def test_only_a_sound_envelope_of_the_service_leaves_as_it_is(compiled: Compiled) -> None:
    """One with a declared code, under a status of the code, in its media type, with the id of the
    exchange.
    """
    body = json.dumps(
        {
            "code": "not_found",
            "message": "No",
            "correlation_id": GIVEN,
            "boundary": "service",
            "details": {"retryable": False},
        }
    )
    json_type = {"Content-Type": "application/json; charset=utf-8"}
    cases = [
        {"status": 404, "headers": json_type, "body": body},
        {"status": 409, "headers": json_type, "body": body},
        {"status": 404, "headers": {"Content-Type": "text/html"}, "body": body},
        {"status": 404, "headers": json_type, "body": body.replace("not_found", "nothing")},
        {"status": 404, "headers": json_type, "body": body.replace(GIVEN, GIVEN[:-1] + "2")},
        {"status": 404, "headers": json_type, "body": "{}"},
    ]
    request = {"method": "GET", "path": "/", "headers": {"X-Correlation-Id": GIVEN}}
    package = "platform/platform-errors"
    question = {"ask": "own", "package": package, "cases": cases, "request": request}
    assert ask(compiled, [question])[0] == [True, False, False, False, False, False]


def test_identifiers_are_those_of_python(compiled: Compiled) -> None:
    """Of the same moment and the same bytes the same identifier, of its own format."""
    formats = list(ids.PATTERNS)
    now, byte = 1_700_000_000.123, 0xA5
    wanted = [
        ids.new(format_, clock=lambda: now, entropy=lambda count: bytes([byte]) * count)
        for format_ in formats
    ]
    question = {
        "ask": "ids",
        "package": "platform/platform-errors",
        "formats": formats,
        "now": now,
        "byte": byte,
    }
    (found,) = ask(compiled, [question])
    assert found == [[each, True, True] for each in wanted]


#: Uses of the code of an envelope; the gap is for what does not compile.
ENVELOPE = """\
import type {{ CodeValue, ErrorEnvelope }} from "{package}/index.js";
export function told(body: ErrorEnvelope): CodeValue {{
  return body.code;
}}
export const sent: Pick<ErrorEnvelope, "code"> = {{ code: "{code}" }};
"""


def test_the_code_of_an_envelope_is_a_closed_union(compiled: Compiled, tmp_path: Path) -> None:
    """A value that no code has does not compile."""
    package = (compiled.folder / "typescript/platform/platform-errors").as_posix()
    for name, code in (("known", "not_found"), ("unknown", "nowhere")):
        (tmp_path / f"{name}.ts").write_text(ENVELOPE.format(package=package, code=code))
    modules = ("--noEmit", "--module", "es2020", "--moduleResolution", "bundler")
    done = tsc(tmp_path, *modules, "known.ts", "unknown.ts")
    lines = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert [line.partition("(")[0] for line in lines] == ["unknown.ts"], done.stdout


#: A service and a client that use the classes; the gap is for what does not compile.
NARROWING = """\
import {{ NotFound, RateLimited, isPlatformError, PlatformError }} from "{package}/exceptions.js";
import type {{ AnyException }} from "{package}/exceptions.js";
import {{ planRetry, startRetry }} from "{package}/index.js";
export function told(error: unknown): string {{
  if (!isPlatformError(error)) throw error;
  planRetry(error, startRetry(error));
  switch (error.code) {{
{cases}
      return error.message;
    default: {{
      const rest: never = error;
      return rest;
    }}
  }}
}}
export function limit(error: AnyException): number | undefined {{
  if (!(error instanceof PlatformError)) {{
    const rest: never = error;
    return rest;
  }}
  return error instanceof RateLimited ? error.details.limit : undefined;
}}
throw new NotFound({{ hint: "No" }}, {{ cause: new Error("why") }});
{gap}
"""


def test_classes_narrow_by_their_code(compiled: Compiled, tmp_path: Path) -> None:
    """A switch over `code` is whole, or does not compile; a class asks for the details and the
    headers that its code requires.
    """
    taxonomy = compiled.taxonomies["platform"]
    codes = [code.name for code in taxonomy.shared_live_codes()]
    package = (compiled.folder / "typescript/platform/platform-errors").as_posix()
    every = "\n".join(f'    case "{name}":' for name in codes)
    texts = {
        "whole": NARROWING.format(package=package, cases=every, gap=""),
        "lacking": NARROWING.format(
            package=package, cases=every.replace('    case "conflict":\n', ""), gap=""
        ),
        "foreign": NARROWING.format(
            package=package, cases=every, gap="export const x = new NotFound({ limit: 3 });"
        ),
        "waitless": NARROWING.format(
            package=package, cases=every, gap="export const x = new RateLimited({});"
        ),
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.ts").write_text(text)
    done = tsc(
        tmp_path,
        *("--noEmit", "--module", "es2020", "--moduleResolution", "bundler"),
        *(f"{name}.ts" for name in texts),
    )
    errors = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert sorted(line.partition("(")[0] for line in errors) == [
        "foreign.ts",
        "lacking.ts",
        "waitless.ts",
    ], done.stdout
    assert "type 'never'" in next(line for line in errors if line.startswith("lacking"))


def test_an_error_without_an_end_is_answered_on_node_without_its_rest(compiled: Compiled) -> None:
    """A service that passes on the error of another would keep it in memory, and the event loop
    with it. What is written after the answer is dropped.
    """
    package = f"platform/{names.folder(compiled.taxonomies['platform'].name)}"
    (long,) = ask(compiled, [{"package": package, "ask": "long", "parts": 400}])
    for framework in ("express", "hono"):
        status, code, parts = long[framework]
        assert (status, code) == (502, "dependency_unavailable"), framework
        assert parts < 30, framework


def test_a_header_that_node_refuses_throws_where_it_was_given(compiled: Compiled) -> None:
    """A held `writeHead` throws as that of Node does, in any form of its headers, and the handler's
    error is answered; thrown by an event or a timer it would end the process. Sound headers stay.
    """
    package = f"platform/{names.folder(compiled.taxonomies['platform'].name)}"
    refused = [
        [401, {"www-authenticate": "\u20ac\n"}],
        [404, "Gone", {"access-control-a b": "c"}],
        [404, ["x-a", "a\nb"]],
        [404, ["x-a"]],
        [1000],
    ]
    sound = [401, ["WWW-Authenticate", "Basic", "www-authenticate", "Bearer"]]
    question = {"package": package, "ask": "refused", "heads": [*refused, sound]}
    (answers,) = ask(compiled, [question])
    *failed, whole = [tuple(each) for each in answers]
    assert set(failed) == {(500, "internal_error", None)}
    assert whole == (401, "unauthenticated", "Basic, Bearer")


def test_an_answer_has_only_headers_that_servers_take(compiled: Compiled) -> None:
    """The error of a framework may carry any characters; a server would throw at some."""
    package = f"platform/{names.folder(compiled.taxonomies['platform'].name)}"
    headers = {"WWW-Authenticate": "Basic \u20ac\n", "access-control-a b": "c", "Allow": "GET"}
    question = {
        "ask": "statuses",
        "package": package,
        "cases": [{"status": 401, "headers": headers}],
        "request": {"method": "GET", "path": "/"},
    }
    (found,) = ask(compiled, [question])
    sent = dict(found["found"][0][1])
    assert (sent["www-authenticate"].strip(), sent["allow"]) == ("Basic", "GET")
    assert "access-control-a b" not in sent


def test_a_thrown_value_leaves_hono_in_the_envelope(compiled: Compiled) -> None:
    """Hono gives its error handler errors alone."""
    package = f"platform/{names.folder(compiled.taxonomies['platform'].name)}"
    (answer,) = ask(compiled, [{"package": package, "ask": "value"}])
    assert answer == [500, "internal_error"]
