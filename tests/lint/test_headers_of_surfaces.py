"""Header rules of surfaces count in lint rules, in the check of examples and in `explain`."""

from datetime import date
from pathlib import Path

from click.testing import CliRunner

from faultspec.cli.explain import command as explain
from faultspec.language import read
from faultspec.lint import BY_ID, lint

TAXONOMY = """
faultspec: 1
taxonomy: {name: versions, version: 1.0.0}
envelopes: {error: {shape: {code: $code, message: $message}}}
surfaces:
  old: {transport: http, match: {routes: [/v1/**]}, envelope: error, headers: {OLD}}
  api: {transport: http, envelope: error, headers: {API}}
retry_policies: {deaf: {max_attempts: 2, backoff: {kind: constant, base: 1s}}}
codes:
  busy: {summary: Too many requests., http: 429, retriable: true, CODE}
"""

WAIT = "Retry-After: required"


def text_of(old: str = "", api: str = "", code: str = "retry: deaf") -> str:
    """Two surfaces with these header rules, and one code on both."""
    return TAXONOMY.replace("OLD", old).replace("API", api).replace("CODE", code)


def remarks(rule: str, text: str) -> list[tuple[str, str]]:
    """The places and the messages of a rule."""
    loaded = read(text, "t.yaml")
    assert loaded.document is not None
    assert loaded.taxonomy is not None, loaded.diagnostics
    found = lint(loaded.document, loaded.taxonomy, [BY_ID[rule]], date(2026, 1, 1))
    return [(diagnostic.message, str(diagnostic.pointer)) for diagnostic in found]


def test_a_wait_is_missing_where_no_rule_of_the_surface_asks_for_it() -> None:
    """429 needs Retry-After on each surface; the message names those that lack it."""
    assert remarks("retry-after-missing", text_of(WAIT, WAIT)) == []
    ((message, _),) = remarks("retry-after-missing", text_of(api=WAIT))
    assert message.endswith("without Retry-After on `old`")
    ((message, _),) = remarks("retry-after-missing", text_of())
    assert message.endswith("without Retry-After")


def test_a_challenge_is_declared_somewhere() -> None:
    """Under RFC 9110, the header of a 401 is declared by the code, the surface or the taxonomy; a
    rule for another status or another code is none.
    """
    head, rule = "required-header", "WWW-Authenticate: required"
    login = text_of().replace("http: 429", "http: 401") + "profile: rfc9110\n"
    ((message, place),) = remarks(head, login)
    assert (message, place) == (
        "`busy` has the status 401, and no rule has its `WWW-Authenticate`",
        "('codes', 'busy', 'http')",
    )
    for more in (
        f"headers: {{{rule}}}\n",
        "headers: {WWW-Authenticate: {on: 4xx}}\n",
    ):
        assert remarks(head, login + more) == []
    assert len(remarks(head, login + "headers: {WWW-Authenticate: {on: 407}}\n")) == 1
    assert remarks(head, login.replace("retry: deaf", f"headers: {{{rule}}}")) == []
    assert remarks(head, login.replace("headers: {}", f"headers: {{{rule}}}")) == []
    assert len(remarks(head, login.replace("headers: {}", f"headers: {{{rule}}}", 1))) == 1
    assert remarks(head, login.replace("profile: rfc9110\n", "")) == []


def test_a_policy_must_not_ignore_the_wait_of_a_surface() -> None:
    """A wait that one surface requires is one that clients get."""
    assert remarks("retry-after-ignored", text_of()) == []
    assert len(remarks("retry-after-ignored", text_of(api=WAIT))) == 1


def test_a_code_does_not_contradict_a_surface_that_carries_it() -> None:
    """Lint reports a code that forbids what its surface requires, and values that differ."""
    forbids = "headers: {Retry-After: forbidden}"
    assert remarks("header-contradiction", text_of(code=forbids)) == []
    ((message, _),) = remarks("header-contradiction", text_of(api=WAIT, code=forbids))
    assert "forbidden" in message
    tag, other = "X-Tag: {presence: required, format: uuid}", "headers: {X-Tag: {format: etag}}"
    assert len(remarks("header-contradiction", text_of(api=tag, code=other))) == 1


def test_an_example_shows_what_every_surface_requires() -> None:
    """An example is an answer of one surface: it is complete if it is so for one of them."""
    shown = "example: {headers: {X-Other: a}}"
    assert len(remarks("example-without-header", text_of(WAIT, WAIT, shown))) == 1
    assert remarks("example-without-header", text_of(WAIT, "", shown)) == []


def test_the_values_of_examples_are_checked_by_the_rules_of_surfaces() -> None:
    """A value that is wrong on every surface is an error of the taxonomy."""
    shown = 'example: {headers: {X-Version: "3"}}'
    two, three = "X-Version: {value: {enum: ['2']}}", "X-Version: {value: {enum: ['3']}}"
    assert read(text_of(two, three, shown), "t.yaml").taxonomy is not None
    loaded = read(text_of(two, two, shown), "t.yaml")
    assert [each.code for each in loaded.diagnostics if each.severity == "error"] == ["bad-example"]


def test_the_header_that_repeats_a_slot_agrees_with_the_rules_of_surfaces() -> None:
    """A field and a rule of a surface about its header allow a common format."""
    text = """
envelopes:
  error:
    shape: {code: $code, message: $message, request_id: $request_id}
    fields: {request_id: {type: string, format: uuid7, echo: X-Request-Id,
        invalid_inbound: replace}}
surfaces:
  api: {transport: http, envelope: error, headers: {X-Request-Id: {format: etag}}}
codes: {failed: {summary: It failed., http: 500}}
"""
    head = "faultspec: 1\ntaxonomy: {name: versions, version: 1.0.0}\n"
    assert len(remarks("echo-contradiction", head + text)) == 1
    assert remarks("echo-contradiction", head + text.replace("etag", "uuid7")) == []


def test_explain_shows_the_headers_of_each_surface(tmp_path: Path) -> None:
    """Beside the general rules, each surface has its own list."""
    file = tmp_path / "taxonomy.yaml"
    file.write_text(text_of(api=WAIT))
    done = CliRunner().invoke(explain, ["busy", "--taxonomy", str(file)])
    assert "headers on `api`:\n    Retry-After: required" in done.output
    assert "headers on `old`" not in done.output
