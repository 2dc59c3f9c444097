"""Laws of the lint: a rule reports its bad example and not its good one, at exactly the right
places.
"""

import json
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import click.testing
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.cli.explain import command as explain
from faultspec.cli.files import UserFile, user_files
from faultspec.cli.init import command as init
from faultspec.cli.lint import command as lint_command
from faultspec.diagnostics.model import Diagnostic
from faultspec.language import load, read, reference
from faultspec.lint import BY_ID, LOCAL, RULES, LintRule, check, lint, rules
from faultspec.lint.rule import EXAMPLE_DAY, Remark, Subject, rule
from faultspec.lint.rule import complete_example as whole
from paths import ROOT
from support.examples import examples


def found(text: str, *rules: LintRule) -> tuple[Diagnostic, ...]:
    """The diagnostics of the rules (default: all) for a sound text."""
    loaded = read(text, "t.yaml")
    assert loaded.document is not None
    assert loaded.taxonomy is not None, loaded.diagnostics
    return lint(loaded.document, loaded.taxonomy, rules or RULES, EXAMPLE_DAY)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_each_rule_reports_its_bad_example_and_not_its_good_one(rule: LintRule) -> None:
    """The examples prove the rule; each diagnostic has a place in the example and a hint."""
    reported = found(whole(rule.bad), rule)
    assert reported
    for diagnostic in reported:
        assert diagnostic.code == rule.id
        assert diagnostic.severity == rule.severity
        assert diagnostic.hint
        assert diagnostic.span is not None
        assert diagnostic.span.line <= rule.bad.count("\n"), (
            "the place is in a section that the example does not show"
        )
    assert found(whole(rule.good), rule) == ()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_each_good_example_has_no_error_of_any_rule(rule: LintRule) -> None:
    """A good example causes no error of any rule."""
    assert [
        diagnostic for diagnostic in found(whole(rule.good)) if diagnostic.severity == "error"
    ] == []


@pytest.mark.parametrize("rule", LOCAL, ids=lambda rule: rule.id)
def test_errors_elsewhere_hide_no_finding_of_a_local_rule(rule: LintRule) -> None:
    """A local rule reports the same beside a dangling reference and a value of a wrong type."""
    alone = [(diagnostic.code, diagnostic.span) for diagnostic in found(whole(rule.bad), rule)]
    loaded = read(whole(rule.bad) + "unknown: {becomes: nobody}\nimported: 7\n", "t.yaml")
    reported = [(diagnostic.code, diagnostic.span) for diagnostic in check(loaded)]
    assert {"dangling-reference", "wrong-type"} <= {code for code, _ in reported}
    assert alone
    assert set(alone) <= set(reported)


def test_nothing_is_concluded_from_what_is_broken() -> None:
    """A policy without its first delay is not compared with its longest one, with or without
    another error in the document; the policy beside it is.
    """
    policies = """
retry_policies:
  broken: {max_attempts: 4, backoff: {kind: exponential, max: 1ms}}
  odd: {max_attempts: 4, backoff: {kind: exponential, base: 10s, max: 5s}}
codes: {busy: {summary: Too much to do., http: 503, retriable: true, retry: odd}}
"""
    for more in ("", "unknown: {becomes: nobody}\n"):
        reported = [
            diagnostic
            for diagnostic in check(read(whole(policies + more), "t.yaml"))
            if diagnostic.severity == "error"
        ]
        assert [
            diagnostic.pointer[:2]
            for diagnostic in reported
            if diagnostic.code == "policy-arithmetic"
        ] == [("retry_policies", "odd")]
        assert [
            diagnostic.pointer[:2] for diagnostic in reported if diagnostic.code == "missing-key"
        ] == [("retry_policies", "broken")]


def test_ids_are_unique_and_spelled_alike() -> None:
    """An id is unique and is the name of its function; a purpose is one line and ends with a full
    stop.
    """
    assert len(BY_ID) == len(RULES)
    for lint_rule in RULES:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)+|concealment", lint_rule.id)
        assert lint_rule.check.__name__ == lint_rule.id.replace("-", "_")
        assert lint_rule.purpose.endswith(".")
        assert "\n" not in lint_rule.purpose


def test_every_module_of_rules_is_listed() -> None:
    """A module below `lint/rules` without a listed rule would never run."""
    modules = {
        module.name for module in pkgutil.iter_modules(rules.__path__, "faultspec.lint.rules.")
    }
    assert {lint_rule.check.__module__ for lint_rule in RULES} == modules


@pytest.mark.parametrize(
    "docstring",
    [
        None,
        "",
        "Codes are short.",
        "Codes are short.\n\nBad::\n\n    codes: {}\n",
        "Codes are short.\n\nGood::\n\n    codes: {}\n\nBad::\n\n    codes: {}\n",
        "Codes are short\n\nBad::\n\n    codes: {}\n\nGood::\n\n    codes: {}\n",
        "Codes are short.\n\nSo.\n\nBad::\n\n    codes: {}\n\nGood::\n\n    codes: {}\n",
        "Codes are short.\n\nBad::\n\n  codes: {}\n\nGood::\n\n    codes: {}\n",
        "Codes are short.\n\nBad::\n\n    codes: {}\n\nGood::\n\n    codes: {}\n\nMore.\n",
    ],
)
def test_a_malformed_docstring_is_refused(docstring: str | None) -> None:
    """A rule without a purpose and both examples in its docstring cannot be made; its id is
    named.
    """

    def check(_: Subject) -> Iterator[Remark]:
        return iter(())

    check.__doc__ = docstring
    with pytest.raises(ValueError, match="`short-codes`"):
        rule("short-codes", severity="note")(check)


def test_a_docstring_documents_a_rule() -> None:
    """The purpose is one line, and the examples are the dedented blocks."""

    def check(_: Subject) -> Iterator[Remark]:
        """Codes are
        short.

        Bad::

            codes:
              very_long: {}

        Good::

            codes: {}
        """
        return iter(())

    made = rule("short-codes", severity="note", local=True)(check)
    assert (made.purpose, made.bad, made.good) == (
        "Codes are short.",
        "codes:\n  very_long: {}\n",
        "codes: {}\n",
    )
    assert (made.id, made.severity, made.local, made.check) == ("short-codes", "note", True, check)


def test_the_flagship_lints_clean() -> None:
    """The taxonomy of this repository causes no diagnostic, not even a note."""
    path = ROOT / "taxonomy.yaml"
    assert check(read(path.read_text(encoding="utf-8"), path.name)) == ()


# Single rules, beyond their examples

CODE = "codes:\n  failed: {summary: It failed., http: 500}\n"

ECHOED = (
    "envelopes: {error: {shape: {code: $code, id: $id, other: $other}, fields: "
    "{id: {type: string, format: uuid7, echo: X-Id, invalid_inbound: replace}, other: {type: string%s}}}}\n"
)

CASES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    # a rule, a snippet, and the pointers of its diagnostics, in order
    ("annotated-count", "detail_keys: {n: {type: string}}\nretry_policies: {p: {max_attempts: 3, annotate: n}}\n" + CODE, ("detail_keys/n/type",)),
    ("annotated-count", "detail_keys: {n: {type: [integer, string]}, m: {}}\nretry_policies: {p: {max_attempts: 3, annotate: n}, q: {max_attempts: 3, annotate: m}}\n" + CODE, ()),
    ("echo-contradiction", ECHOED % "" + "headers: {x-id: {on: 4xx, presence: forbidden}}\n" + CODE, ("headers/x-id",)),
    ("echo-contradiction", ECHOED % "" + "headers: {X-Id: {on: 4xx, equals: $other}}\n" + CODE, ("headers/X-Id",)),
    ("echo-contradiction", ECHOED % "" + "codes: {a: {summary: a, http: 500, headers: {X-Id: {format: ulid}}}}\n", ("codes/a/headers/X-Id",)),
    ("echo-contradiction", ECHOED % ", mirror: X-ID" + CODE, ("envelopes/error/fields/other",)),
    ("echo-contradiction", ECHOED % ", mirror: X-Other" + "headers: {X-Id: {on: 4xx, equals: $id, format: uuid}}\n" + CODE, ()),
    ("list-inside-text", "envelopes: {error: {shape: {code: $code, a: 'a ${many}', b: 'b ${both}', c: ['c ${code}'], d: {e: 'f ${details}'}}, fields: {many: {type: [array, object]}, both: {type: [array, string]}}}}\n" + CODE, ("envelopes/error/shape", "envelopes/error/shape")),
    ("spread-collision", "detail_keys: {message: {type: string, everywhere: true}, code: {type: string}}\nenvelopes: {error: {shape: {code: $code, message: $message, '...': $details}}}\ncodes:\n  a: {summary: a, http: 500}\n  b: {summary: b, http: 500}\n", ("detail_keys/message",)),
    ("spread-collision", "envelopes: {error: {shape: {code: $code, message: $message, '...': $details}}, own: {shape: {code: $code, d: $details}}}\ncodes: {a: {summary: a, http: 500, envelope: own, details: {message: {type: string}}}}\n", ()),
    ("unmapped-status", "surfaces: {api: {transport: stream, envelope: error}}\n" + CODE, ()),
    ("unmapped-status", "surfaces: {api: {transport: http, envelope: error, codes: open}}\n" + CODE, ()),
    ("code-without-transport", "surfaces: {api: {transport: stream, envelope: error}}\n" + CODE, ()),
    (
        "unreachable-fallback",
        "fallback:\n  200: {code: failed, reason: a}\n  503: {code: failed, reason: a}\n  503-503: {code: failed, reason: a}\n" + CODE,
        ("fallback/200", "fallback/503", "fallback/503-503"),
    ),
    (
        "unreachable-surface",
        "surfaces:\n  a: {transport: http, match: {statuses: 4xx}, envelope: error}\n"
        "  b: {transport: http, match: {statuses: 404, routes: [/x]}, envelope: error}\n"
        "  c: {transport: http, match: {statuses: 500}, envelope: error}\n"
        "  d: {transport: event, match: {statuses: 404}, envelope: error}\n" + CODE,
        ("surfaces/b",),
    ),
    (
        "unreachable-surface",
        "surfaces:\n  a: {transport: http, match: {routes: [/x], request: {/kind: [one]}}, envelope: error}\n"
        "  b: {transport: http, match: {routes: [/x], request: {/kind: [two]}}, envelope: error}\n"
        "  c: {transport: http, match: {routes: [/x]}, envelope: error}\n"
        "  d: {transport: http, match: {routes: [/x], request: {/kind: [one]}}, envelope: error}\n" + CODE,
        ("surfaces/d",),
    ),
    (
        "unreachable-surface",
        "surfaces:\n  a: {transport: http, match: {methods: [GET], routes: [/x, /y]}, envelope: error}\n"
        "  b: {transport: http, match: {methods: [GET, POST], routes: [/x]}, envelope: error}\n"
        "  c: {transport: http, match: {methods: [GET], routes: [/x]}, envelope: error}\n" + CODE,
        ("surfaces/c",),
    ),
    (
        "header-contradiction",
        "headers: {X-A: [{on: 5xx}, {on: 500, presence: forbidden, codes: [failed]}]}\n" + CODE,
        ("headers/X-A",),
    ),
    ("header-contradiction", "headers: {X-A: [{on: 5xx}, {on: 404, presence: forbidden}]}\n" + CODE, ()),
    (
        "concealment",
        "codes: {a: {summary: a, http: null, http_reason: Never.}}\nprivacy: {conceal: [{across: tenant, answer: a}]}\n",
        ("privacy/conceal/0/answer",),
    ),
    (
        "action-contradicts-flag",
        "codes:\n  a: {summary: a, http: 503, retriable: true, client_action: user}\n"
        "  b: {summary: b, http: 503, retriable: caller, client_action: retry}\n"
        "  c: {summary: c, http: 503, client_action: retry}\n",
        ("codes/a/client_action",),
    ),
    (
        "retry-without-policy",
        "retry_policies: {p: {max_attempts: 3, eligible: [a]}}\n"
        "codes:\n  a: {summary: a, http: 503, retriable: true}\n  b: {summary: b, http: 503, client_action: retry}\n",
        ("codes/b/client_action",),
    ),
    ("retry-without-policy", "codes: {a: {summary: a, http: 503, retriable: true}}\n", ()),
    (
        "policy-without-retry",
        "retry_policies: {p: {max_attempts: 3}}\n"
        "codes:\n  a: {summary: a, http: 503, retry: p}\n  b: {summary: b, http: 503, retriable: caller, retry: p}\n",
        ("codes/a/retry",),
    ),
    (
        "retry-unsafe",
        "idempotency: {key: K, default: not_idempotent}\n"
        "codes:\n  a: {summary: a, http: 503, retriable: true, effect: possible}\n"
        "  b: {summary: b, http: 503, retriable: true, effect: none}\n",
        ("codes/a/effect",),
    ),
    (
        "retry-unsafe",
        "idempotency: {key: K}\n" + CODE + "operations:\n"
        "  pay: {idempotent: false, errors: {a: {summary: a, http: 503, retriable: true}}}\n"
        "  read: {idempotent: true, errors: {b: {summary: b, http: 503, retriable: true}}}\n",
        ("operations/pay/errors/a/retriable",),
    ),
    (
        "retry-unsafe",
        "codes:\n"
        "  a: {summary: x, http: 503, client_action: retry, retriable: {when: [{if: {operation.idempotent: false}, then: false}], else: true}}\n"
        "  b: {summary: x, http: 503, client_action: retry, retriable: {when: [{if: {operation.idempotent: true}, then: true}], else: false}}\n"
        "  c: {summary: x, http: 503, client_action: retry, retriable: {when: [{if: {status: 503}, then: true}], else: false}}\n"
        "  d: {summary: x, http: 503, client_action: retry, retriable: {when: [{if: {operation.idempotent: false, status: 503}, then: false}], else: true}}\n"
        "  e: {summary: x, http: 503, client_action: retry, retriable: {when: [{if: {status: 502}, then: false}], else: false}}\n",
        ("codes/c/retriable", "codes/d/retriable"),
    ),
    (
        "retriable-status",
        "codes:\n  a: {summary: a, http: 409, retriable: true}\n  b: {summary: b, http: [503, 408, 425, 429], retriable: true}\n"
        "  c: {summary: c, http: 4xx, retriable: true}\n  d: {summary: d, http: 409, retriable: caller}\n",
        ("codes/a/retriable", "codes/c/retriable"),
    ),
    (
        "retry-after-missing",
        "headers: {Retry-After: [{on: 503}, {on: 429, presence: optional}]}\n"
        "codes:\n  a: {summary: a, http: 429}\n  b: {summary: b, http: 429, headers: {retry-after: expected}}\n"
        "  c: {summary: c, http: 4xx, lifecycle: reserved}\n",
        ("codes/a/http",),
    ),
    (
        "policy-arithmetic",
        "retry_policies:\n"
        "  a: {max_attempts: 1, backoff: {kind: constant, base: 1s, factor: 2, step: 1s, for: 5s}}\n"
        "  b: {max_attempts: 3, backoff: [{kind: linear, base: 1s, factor: 2, for: 5s}, {kind: exponential, base: 1s, factor: 1}]}\n"
        "  c: {max_attempts: 3, backoff: {kind: constant, base: 1s}, jitter: {kind: full, ratio: 1}}\n"
        "  d: {max_attempts: 3, backoff: {kind: constant, base: 1s}, jitter: {kind: ratio}}\n"
        "  e: {max_attempts: 3, backoff: {kind: constant, base: 1s}, jitter: {kind: ratio, ratio: 1.5}, budget: {tokens: 5, cost: 10}}\n" + CODE,
        (
            "retry_policies/a/max_attempts",
            "retry_policies/a/backoff/factor",
            "retry_policies/a/backoff/step",
            "retry_policies/a/backoff/for",
            "retry_policies/b/backoff/0/factor",
            "retry_policies/b/backoff/1/factor",
            "retry_policies/c/jitter/ratio",
            "retry_policies/d/jitter",
            "retry_policies/e/jitter/ratio",
            "retry_policies/e/budget/cost",
        ),
    ),
    (
        "example-contradicts-flag",
        "envelopes: {e: {shape: {code: $code, retry: $retriable}}}\n"
        "codes:\n  a: {summary: a, http: 500, retriable: false, example: [{slots: {retriable: false}}, {slots: {retriable: true}}]}\n"
        "  b: {summary: b, http: 500, retriable: caller, example: {slots: {retriable: true}}}\n",
        ("codes/a/example/1/slots/retriable",),
    ),
    ("unregistered-detail", "codes: {a: {summary: a, http: 500, details: {x: {type: string}}}}\n", ()),
    (
        "unregistered-detail",
        "detail_keys: {y: {type: string}}\n" + CODE
        + "operations: {o: {errors: {a: {summary: a, http: 500, details: {x: {type: string}}}}}}\n",
        (),
    ),
    (
        "detail-type",
        "detail_keys: {n: {type: number}, m: {type: [integer, string]}}\n"
        "codes: {a: {summary: a, http: 500, details: {n?: {type: integer}, m: {type: boolean}}}}\n",
        ("codes/a/details/m",),
    ),
    (
        "message-has-holes",
        "detail_keys: {x: {type: string}}\n"
        "codes:\n  a: {summary: a, http: 500, message: \"${x}\"}\n"
        "  b: {summary: b, http: 500, message: \"${x}\", details: {x: {}}}\n",
        ("codes/a/message",),
    ),
    (
        "message-leaks",
        "envelopes: {e: {shape: {code: $code, id: $request_id, details?: $details}}}\n"
        "privacy: {internal_names: [\"orders-db-[0-9]+\"]}\n"
        "codes:\n"
        "  a: {summary: a, http: 500, details: {to: {type: string}, sql: {type: string}}, passthrough: [sql], example:"
        " [{message: The host orders-db-7 is away., details: {to: you@example.com, sql: \"SELECT a FROM b WHERE c\"}},"
        " {details: {to: ann.smith@gmail.com, sql: a}, slots: {request_id: /home/ann/.ssh/id_rsa}}]}\n"
        "  b: {summary: b, http: 500, message: Ask support@example.com}\n",
        ("codes/a/example/0/message", "codes/a/example/1/details/to", "codes/a/example/1/slots/request_id"),
    ),
    (
        "unused-declaration",
        "boundaries: {a: a, b: b}\nactions: {a: a, b: b, c: c}\nvocabularies: {v: {x: x}, w: {x: x}}\n"
        "retry_policies: {p: {max_attempts: 2}, q: {max_attempts: 2, eligible: [failed]}}\n"
        "detail_keys: {k: {type: string, vocabulary: v}, l: {type: string}, m: {type: string, everywhere: true}}\n"
        "envelopes: {e: {shape: {code: $code}}, f: {shape: {error: {use: e}}}, g: {shape: {code: $code}}}\n"
        "surfaces: {s: {transport: http, envelope: f}}\n"
        "rulings: {r: {conflict: c, decision: d, reason: e}, s: {conflict: c, decision: d, reason: e}}\n"
        "codes: {failed: {summary: It failed., http: 500, boundary: a, actions: [a], retriable: {else: true, until: b},"
        " details: {k: {}}, source: {ruling: r}}}\n",
        ("boundaries/b", "actions/c", "vocabularies/w", "retry_policies/p", "detail_keys/l", "envelopes/g", "rulings/s"),
    ),
    (
        "dead-reference",
        "fallback: {4xx: {code: gone, reason: a}}\nidempotency: {key: K, mismatch: gone}\nunknown: {becomes: gone}\n"
        "undeclared: {becomes: later}\nprivacy: {conceal: [{across: tenant, answer: gone}]}\n"
        "codes:\n  gone: {summary: a, lifecycle: removed}\n  later: {summary: b, http: 500, lifecycle: reserved}\n"
        "  old: {summary: c, http: 500, lifecycle: deprecated, replaced_by: gone}\n",
        (
            "fallback/4xx/code",
            "idempotency/mismatch",
            "unknown/becomes",
            "undeclared/becomes",
            "privacy/conceal/0/answer",
            "codes/old/replaced_by",
        ),
    ),
    ("replacement-circle", "codes: {a: {summary: a, http: 500, lifecycle: deprecated, replaced_by: a}}\n", ("codes/a/replaced_by",)),
    (
        "reserved-name",
        "taxonomy: {name: import, version: 1.0.0}\ndetail_keys: {from: {type: string}}\n"
        "codes:\n  None: {summary: a, http: 500}\n  default: {summary: b, http: 500}\n",
        ("taxonomy/name", "detail_keys/from", "codes/None", "codes/default"),
    ),
    ("mixed-spelling", "codes:\n  a_b: {summary: a, http: 500}\n  AB: {summary: b, http: 500}\n", ()),
    (
        "statement-spelling",
        "rulings: {r: {statements: [s1], conflict: a, decision: b, reason: c}}\n"
        "codes:\n  a: {summary: a, http: 500, source: S1}\n  b: {summary: b, http: 500, source: {statement: S1, ruling: r}}\n",
        ("rulings/r/statements",),
    ),
    (
        "envelope-on-no-surface",
        "envelopes: {e: {shape: {code: $code}}, f: {shape: {kind: $code}}}\n"
        "surfaces: {s: {transport: http, envelope: e}, t: {transport: event, envelope: f, codes: [b]}}\n"
        "codes:\n  a: {summary: a, http: 500, envelope: f}\n  b: {summary: b, http: 500, envelope: [e, f]}\n"
        "  c: {summary: c, http: 500, envelope: f, lifecycle: reserved}\n",
        ("codes/a/envelope",),
    ),
    (
        "protocol-number",
        "envelopes: {e: {shape: {error: {code: $code}}}, p: {shape: {error: {code: $code, note?: $message}}}}\n"
        "surfaces: {s: {transport: jsonrpc, error_when: {present: /error}, envelope: e, protocol: {envelope: p,"
        " codes: {-32700: a, 100..200: b}}}}\n"
        "codes:\n  a: {summary: a, wire: 7}\n  b: {summary: b, wire: 150}\n",
        ("surfaces/s/protocol/codes/100..200",),
    ),
    (
        "protocol-number",
        "envelopes: {e: {shape: {error: {code: $code}}}, p: {shape: {error: {code: $code, note?: $message}}}}\n"
        "surfaces: {s: {transport: jsonrpc, error_when: {present: /error}, envelope: e, protocol: {envelope: p,"
        " codes: {-32700: a, -32602: b}}}}\n"
        "codes:\n  a: {summary: a, on: {jsonrpc: -32602}}\n  b: {summary: b, on: {jsonrpc: -32010}}\n",
        ("surfaces/s/protocol/codes/-32602",),
    ),
    (
        "repeat-loses",
        "envelopes: {e: {shape: {code: $code, message: $message}}, f: {shape: {code: $code}}}\n"
        "surfaces: {s: {transport: http, envelope: e}, t: {transport: log, envelope: f, repeats: s, codes: [a]},"
        " u: {transport: log, envelope: f, repeats: s}}\n"
        "codes:\n  a: {summary: a, http: 500}\n  b: {summary: b, http: 500}\n",
        ("surfaces/t/codes",),
    ),
    (
        "slot-without-fact",
        "envelopes: {e: {shape: {code: $code, r?: $retriable, b: $boundary}}, f: {shape: {code: $code}}}\n"
        "surfaces: {s: {transport: http, envelope: e, codes: [a, b]}, t: {transport: event, envelope: f, codes: [b]}}\n"
        "codes: {a: {summary: a, http: 500}, b: {summary: b, http: 500}}\n",
        ("codes/a", "codes/a", "codes/b"),
    ),
    (
        "details-optional-and-required",
        "detail_keys: {k: {type: string, everywhere: true}}\n"
        "surfaces: {s: {transport: http, envelope: error, requires_details: [k]}, t: {transport: event, envelope: error}}\n" + CODE,
        (),
    ),
    (
        "undecided-status",
        "codes:\n  a: {summary: a, http: 503}\n  b: {summary: b, http: 503}\n  c: {summary: c, http: [502, 503]}\n"
        "  d: {summary: d, http: [503, 502]}\n  e: {summary: e, http: 502-503}\n",
        ("codes/e/http",),
    ),
    (
        "header-rule-undone",
        "headers:\n  A: [{on: 404}, {on: 4xx}]\n  B: [{on: 404, presence: optional}, {on: 4xx, codes: [failed]}]\n"
        "  C: {on: 404}\n  D: [{on: [404, 500], presence: optional}, {on: 4xx}]\n"
        "  E: [{on: 4xx, presence: expected, codes: [failed]}, {on: 4xx}]\n" + CODE,
        ("headers/E/0",),
    ),
    (
        "header-contradiction",
        "envelopes: {e: {shape: {code: $code, a: $summary, b: $message}}}\n"
        "headers:\n  X-A: [{on: 4xx, equals: $summary}, {on: 404, equals: $message}]\n"
        "  X-B: [{on: 4xx, format: [uuid7, ulid]}, {on: 5xx, format: etag}]\n  X-C: [{on: 5xx, format: uuid}, {on: 500, format: uuid7}]\n"
        "codes: {a: {summary: a, http: 500, headers: {X-B: {format: ulid}}}}\n",
        ("headers/X-A", "codes/a/headers/X-B"),
    ),
    (
        "header-spelling",
        "codes:\n  a: {summary: a, http: 429, headers: {retry-after: required}}\n"
        "  b: {summary: b, http: 429, example: {headers: {Retry-After: \"8\"}}}\n",
        ("codes/b/example/headers/Retry-After",),
    ),
    (
        "example-contradicts-flag",
        "envelopes: {e: {shape: {code: $code, retry: $retriable, details?: $details}}}\n"
        "codes:\n  a:\n    summary: a\n    http: 502\n    details: {s: {type: integer}}\n"
        "    retriable: {when: [{if: {operation.idempotent: false}, then: false}, {if: {details.s: 5xx}, then: true}], else: false}\n"
        "    example:\n      - {slots: {retriable: true}, details: {s: 404}}\n      - {slots: {retriable: true}, details: {s: 500}}\n"
        "      - {slots: {retriable: false}, details: {s: 500}}\n",
        ("codes/a/example/0/slots/retriable",),
    ),
    (
        "retriable-not-eligible",
        "retry_policies: {p: {max_attempts: 4, eligible: [a]}}\n"
        "codes:\n  a: {summary: a, http: 503, retriable: true}\n  b: {summary: b, http: 503, retriable: true, retry: p}\n"
        "  c: {summary: c, http: 503, retriable: true}\n",
        ("retry_policies/p/eligible",),
    ),
    (
        "annotated-count",
        "detail_keys: {n: {type: integer, maximum: 3, everywhere: true}, m: {type: integer, maximum: 3, everywhere: true}}\n"
        "retry_policies: {p: {max_attempts: 3, annotate: n}, q: {max_attempts: 4, annotate: m}}\n" + CODE,
        ("detail_keys/n/maximum",),
    ),
    (
        "deadline-detail",
        "codes: {a: {summary: a, http: 504, details: {t: {type: string}}, deadline: {equals: details.t}}}\n",
        ("codes/a/deadline/equals",),
    ),
    (
        "retry-after-ignored",
        "headers: {Retry-After: {on: 429}}\nretry_policies: {p: {max_attempts: 3}}\n"
        "codes: {a: {summary: a, http: null, http_reason: It is internal., on: {grpc: ABORTED}, retriable: true, retry: p}}\n",
        (),
    ),
    (
        "original-code-place",
        "detail_keys: {n: {type: integer, everywhere: true}}\n" + CODE
        + "undeclared: {becomes: failed, original_code: /details/n}\nunknown: {becomes: failed, original_code: /original}\n",
        ("undeclared/original_code", "unknown/original_code"),
    ),
    (
        "audit-type",
        "detail_keys: {n: {type: integer}}\ncodes: {a: {summary: a, wire: 7, http: 500}}\n"
        "audit: {record: {a: {type: string}, b?: {type: string}, c: {type: number}, d: {}},"
        " means: {a: $code, b: details.n, c: details.n, d: $message}}\n",
        ("audit/record/a", "audit/record/b?"),
    ),
    (
        "navigation-offers",
        "envelopes: {e: {shape: {code: $code, \"...\": $details}}}\n"
        "codes:\n  a: {summary: a, http: 409, details: {next: {type: array}}}\n  b: {summary: b, http: 404}\n"
        "navigation: {offers: /next, takes: /step, refused: a, unknown: b}\n",
        ("navigation/unknown",),
    ),
    (
        "extensible-nowhere",
        "extensible: [operations, codes.*.message, codes.*.summary, codes.failed.http]\n" + CODE,
        ("extensible/1",),
    ),
    (
        "wire-reused",
        CODE + "operations: {o: {errors: {a: {summary: a, http: 402, wire: failed}}}, p: {errors: {b: {summary: b, http: 402}}}}\n",
        ("operations/o/errors/a/wire",),
    ),
    (
        "mcp-unsaid",
        "surfaces: {s: {transport: mcp, error_when: {present: /code}, envelope: error}}\ncodes: {a: {summary: a}, b: {summary: b}}\n",
        (),
    ),
    (
        "details-without-place",
        "envelopes: {e: {shape: {code: $code}}, f: {shape: {code: $code, \"...\": $details}}}\n"
        "surfaces: {s: {transport: http, envelope: e, codes: [a, b]}, t: {transport: event, envelope: f, codes: [b]}}\n"
        "codes:\n  a: {summary: a, http: 500, details: {x: {type: string}}}\n"
        "  b: {summary: b, http: 500, details: {x: {type: string}}}\n  c: {summary: c, http: 500, details: {x?: {type: string}}}\n",
        ("codes/a/details",),
    ),
    (
        "flag-without-place",
        "detail_keys: {r: {type: boolean, role: retriable}}\n"
        "codes:\n  a: {summary: a, http: 500, retriable: caller}\n  b: {summary: b, http: 500, retriable: caller, details: {r: {}}}\n"
        "  c: {summary: c, http: 500, retriable: true}\n",
        ("codes/a/retriable",),
    ),
    (
        "alert-without-rule",
        "codes: {a: {summary: a, http: 500}}\ntelemetry:\n  metrics:\n"
        "    errors: {kind: counter, labels: [code], counts: errors, summary: e}\n  means: {code: $code}\n  alerts:\n"
        "    share: {severity: p, when: x, codes: [a], threshold: 0.1, window: 5m, runbook: [a]}\n"
        "    rise: {severity: p, when: x, codes: [a], rise: {times: 2, over: 1h}, window: 5m, runbook: [a]}\n"
        "    status: {severity: p, when: x, statuses: 5xx, rise: {times: 2, over: 1h}, window: 5m, runbook: [a]}\n"
        "    word: {severity: p, when: x, runbook: [a]}\n",
        ("telemetry/alerts/share", "telemetry/alerts/status"),
    ),
    (
        "condition-twice",
        "detail_keys: {s: {type: integer}}\nretry_policies:\n  p:\n    max_attempts: 3\n    eligible_when:\n"
        "      - {if: {operation.idempotent: false}, then: false}\n      - {if: {operation.idempotent: true, details.s: 5}, then: true}\n"
        "      - {if: {operation.idempotent: false, details.s: 5}, then: true}\n"
        "codes:\n  a: {summary: a, http: [500, {if: {details.s: 4xx}, status: 501}, {if: {details.s: 404}, status: 502}, {else: 503}]}\n"
        "  b: {summary: b, http: [{if: {details.s: 404}, status: 501}, {if: {details.s: 4xx}, status: 502}, {else: 503}]}\n",
        ("retry_policies/p/eligible_when/2", "codes/a/http/2"),
    ),
    (
        "fact-breaks-field",
        "envelopes: {e: {shape: {code: $code, m: $message}, fields: {code: {type: string, pattern: \"^[a-z]+$\"},"
        " message: {type: string, maxLength: 3}}}}\n"
        "codes:\n  a: {summary: a, http: 500, wire: A, message: abc}\n  B: {summary: b, http: 500, message: abcd}\n"
        "  c: {summary: c, http: 500, message: \"long ${x}\", details: {x: {type: string}}}\n",
        ("codes/a/wire", "codes/B", "codes/B/message"),
    ),
    (
        "example-without-header",
        "headers: {Retry-After: {on: 429}, X-Id: {on: 4xx, equals: $code}, Cache-Control: {on: 4xx, token: no-store}}\n"
        "codes:\n  a: {summary: a, http: 429, example: [{message: a}, {headers: {X-Id: a}}, {headers: {retry-after: \"3\"}}]}\n"
        "  b: {summary: b, http: [400, 429], example: [{status: 400, headers: {X-Id: b}}, {status: 429, headers: {X-Id: b}}]}\n",
        ("codes/a/example/1", "codes/b/example/1"),
    ),
    (
        "surface-without-errors",
        "surfaces:\n  s: {transport: http, match: {routes: [/s]}, error_when: {status: 4xx}, envelope: error, codes: [a]}\n"
        "  t: {transport: http, match: {routes: [/t]}, error_when: {status: 4xx}, envelope: error, codes: open}\n"
        "  u: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: [a]}\n"
        "  v: {transport: http, match: {routes: [/v]}, error_when: {status: 4xx, equals: {/ok: false}}, envelope: error, codes: [a]}\ncodes: {a: {summary: a, http: 500}}\n",
        ("surfaces/s/error_when/status",),
    ),
    (
        "operation-twice",
        CODE + "operations:\n  a: {match: {routes: [POST /x], request: {/kind: a}}}\n  b: {match: {routes: [POST /x], request: {/kind: b}}}\n"
        "  c: {match: {routes: [/y], methods: [GET]}}\n  d: {match: {routes: [/y], methods: [PUT]}}\n"
        "  e: {match: {routes: [/z, /y], methods: [PUT, GET]}}\n",
        ("operations/e/match",),
    ),
    (
        "retriable-grpc-status",
        "codes:\n  a: {summary: a, http: 503, on: {grpc: UNAVAILABLE}, retriable: caller}\n"
        "  b: {summary: b, http: 503, on: {grpc: NOT_FOUND}, retriable: true}\n  c: {summary: c, http: 503, on: {grpc: ABORTED}, retriable: true}\n",
        ("codes/b/retriable",),
    ),
    (
        "since-later-version",
        "taxonomy: {name: shop, version: 1.10.0}\n"
        "codes:\n  a: {summary: a, http: 500, since: 1.9.0}\n  b: {summary: b, http: 500, since: 1.11.0}\n"
        "  c: {summary: c, http: 500, since: 2.0.0, lifecycle: reserved}\n  d: {summary: d, http: 500, since: next}\n",
        ("codes/b/since",),
    ),
    (
        "policy-arithmetic",
        "retry_policies:\n  a: {max_attempts: 9, max_elapsed: 1s, backoff: {kind: constant, base: 2s}}\n"
        "  b: {max_attempts: 3, kinds: {slow: {cost: 5}, fast: {base: 1s}}}\n"
        "  d: {max_attempts: 9, max_elapsed: 1m, backoff: [{kind: constant, base: 1s, for: 1m}, {kind: constant, base: 2s}]}\n"
        "  e: {max_attempts: 9, max_elapsed: 1m, backoff: [{kind: constant, base: 1s, for: 30s}, {kind: constant, base: 2s}]}\n" + CODE,
        (
            "retry_policies/a/max_elapsed",
            "retry_policies/b/kinds/slow/cost",
            "retry_policies/d/backoff/1",
        ),
    ),
    (
        "dead-reference",
        "surfaces: {s: {transport: http, envelope: error, codes: [failed, gone, later]}}\n"
        "headers: {X-A: {on: 5xx, codes: [gone]}, X-B: [{on: 500}, {on: 4xx, codes: [gone]}]}\n"
        "retry_policies: {p: {max_attempts: 3, eligible: [gone]}}\n"
        "privacy: {conceal: [{across: tenant, answer: failed, never: [gone]}]}\n"
        "telemetry: {alerts: {x: {severity: p, when: x, codes: [gone], runbook: [a]}}}\noperations: {o: {codes: [gone]}}\n" + CODE
        + "  gone: {summary: a, lifecycle: removed}\n  later: {summary: b, http: 500, lifecycle: reserved}\n",
        (
            "surfaces/s/codes/1",
            "headers/X-A/codes/0",
            "headers/X-B/1/codes/0",
            "retry_policies/p/eligible/0",
            "privacy/conceal/0/never/0",
            "telemetry/alerts/x/codes/0",
            "operations/o/codes/0",
        ),
    ),
    (
        "example-incomplete",
        "vocabularies: {v: {x: x, y: y}}\nenvelopes: {e: {shape: {code: $code, kind: $kind}, fields: {kind: {type: string, vocabulary: v}}}}\n"
        "codes:\n  a: {summary: a, http: 500, facts: {kind: x}, example: {summary: e}}\n"
        "  b: {summary: b, http: 500, facts: {kind: [x, y]}, example: {summary: e}}\n",
        ("codes/b/example",),
    ),
    (
        "failure-without-error-status",
        "surfaces:\n  s: {transport: http, match: {routes: [/s]}, error_when: {present: /code}, envelope: error, codes: [a]}\n"
        "  t: {transport: http, envelope: error, codes: [b]}\n"
        "codes: {a: {summary: a, http: 200}, b: {summary: b, http: 200}}\n",
        ("codes/b/http",),
    ),
    (
        "status-without-bare-code",
        "codes: {a: {summary: a, http: [404, 405], details: {x: {type: string}}}, b: {summary: b, http: 500, details: {x: {type: string}}}}\n",
        ("codes/a", "codes/b"),
    ),
    # conditions that cannot hold
    (
        "condition-impossible",
        "detail_keys: {k: {type: string}, every: {type: string, everywhere: true}, own: {type: integer}}\n"
        "codes:\n"
        "  a: {summary: a, http: 500, details: {own: {}}, retriable: {when: [{if: {details.k: x}, then: true}, {if: {details.every: x}, then: true}], else: false}}\n"
        "  b: {summary: b, http: [{if: {details.k: x}, status: 409}, {else: 404}], schema: {type: object}}\n"
        "  c: {summary: c, http: [{if: {details.own: 1}, status: 409}, {else: 404}]}\n",
        ("codes/a/retriable/when/0/if/details.k", "codes/c/http/0/if/details.own"),
    ),
    (
        "condition-impossible",
        "vocabularies: {v: {x: x}}\n"
        "codes:\n"
        "  a:\n"
        "    summary: a\n"
        "    http: 500\n"
        "    details: {n: {type: integer, minimum: 2, maximum: 9}, s: {type: string}, e: {enum: [p, q, 503]}, t: {type: string, vocabulary: v}, f: {type: boolean}, any: {}}\n"
        "    retriable:\n"
        "      when:\n"
        "        - {if: {details.n: [1, 2, 9, 10]}, then: true}\n"
        "        - {if: {details.n: x, details.s: [3, y, 5xx]}, then: true}\n"
        "        - {if: {details.e: [p, r, 4xx, 500-599]}, then: true}\n"
        "        - {if: {details.t: [x, y], details.f: [yes, true], details.any: [1, x, 4xx]}, then: true}\n"
        "        - {if: {details.n: 2xx}, then: true}\n",
        (
            "codes/a/retriable/when/0/if/details.n/0",
            "codes/a/retriable/when/0/if/details.n/3",
            "codes/a/retriable/when/1/if/details.n",
            "codes/a/retriable/when/1/if/details.s/0",
            "codes/a/retriable/when/1/if/details.s/2",
            "codes/a/retriable/when/2/if/details.e/1",
            "codes/a/retriable/when/2/if/details.e/2",
            "codes/a/retriable/when/3/if/details.t/1",
            "codes/a/retriable/when/3/if/details.f/0",
            "codes/a/retriable/when/4/if/details.n",
        ),
    ),
    (
        "condition-impossible",
        "fallback: {5xx: {code: a, reason: r}}\n"
        "codes:\n"
        "  a: {summary: a, http: 404, retriable: {when: [{if: {status: [404, 4xx, 503, '404', 422]}, then: true}], else: false}}\n"
        "  b: {summary: b, http: [{if: {status: 500, operation.idempotent: 1, caller.authenticated: false, cause: x}, status: 409}, {else: 404}]}\n",
        (
            "codes/a/retriable/when/0/if/status/3",
            "codes/a/retriable/when/0/if/status/4",
            "codes/b/http/0/if/status",
            "codes/b/http/0/if/operation.idempotent",
        ),
    ),
    (
        "condition-impossible",
        "detail_keys: {n: {type: integer}, m: {type: integer}}\n"
        "retry_policies:\n"
        "  listed: {max_attempts: 3, eligible: [a, b], eligible_when: [{if: {status: [500, 503, 429]}, then: true}, {if: {details.n: [1, x], details.m: 1}, then: true}]}\n"
        "  named: {max_attempts: 3, eligible_when: [{if: {status: 503}, then: true}, {if: {status: 500}, then: true}]}\n"
        "  nobodys: {max_attempts: 3, eligible_when: [{if: {status: 418, details.n: x}, then: true}]}\n"
        "codes:\n  a: {summary: a, http: 500, details: {n: {}}}\n  b: {summary: b, http: 503, retry: named, details: {n: {type: number}}}\n",
        (
            "retry_policies/listed/eligible_when/0/if/status/2",
            "retry_policies/listed/eligible_when/1/if/details.n/1",
            "retry_policies/listed/eligible_when/1/if/details.m",
            "retry_policies/named/eligible_when/1/if/status",
        ),
    ),
    # counts of retries: registered, declared by a code, and missing
    (
        "annotated-count",
        "detail_keys: {n: {type: integer, maximum: 3}}\nretry_policies: {p: {max_attempts: 5, annotate: n, eligible: [failed]}}\n"
        "codes: {failed: {summary: It failed., http: 500, details: {n?: {}}}}\n",
        ("detail_keys/n/maximum",),
    ),
    (
        "annotated-count",
        "detail_keys: {n: {type: integer}, o: {type: integer}, e: {type: integer, everywhere: true}}\n"
        "retry_policies: {p: {max_attempts: 5, annotate: n, eligible: [a, b]}, q: {max_attempts: 5, annotate: o, eligible: [a]}, r: {max_attempts: 5, annotate: e, eligible: [a]}}\n"
        "codes:\n  a: {summary: a, http: 500, details: {n?: {type: integer, maximum: 2}}}\n  b: {summary: b, http: 500, details: {n: {type: integer, maximum: 4}}}\n",
        ("retry_policies/q/annotate", "codes/a/details/n?/maximum"),
    ),
    (
        "annotated-count",
        "detail_keys: {n: {type: integer, maximum: 4}}\nretry_policies: {p: {max_attempts: 3, annotate: n}, q: {max_attempts: 5, annotate: n}}\n" + CODE,
        (),
    ),
    # how an error is recognised, by transport
    (
        "surface-without-errors",
        "surfaces:\n"
        + "".join(f"  {transport}: {{transport: {transport}, envelope: error}}\n" for transport in ("http", "jsonrpc", "mcp", "event", "stream", "log"))
        + CODE,
        ("surfaces/jsonrpc", "surfaces/event", "surfaces/stream", "surfaces/log"),
    ),
    (
        "surface-without-errors",
        "surfaces:\n"
        "  a: {transport: stream, error_when: {status: 5xx}, envelope: error}\n"
        "  b: {transport: event, error_when: {present: ''}, envelope: error}\n"
        "  c: {transport: log, error_when: {equals: {/level: error}}, envelope: error}\n"
        "  d: {transport: event, envelope: none, reason: They carry none.}\n"
        "  e: {transport: stream, items: /outcomes, envelope: error}\n" + CODE,
        ("surfaces/a/error_when",),
    ),
    (
        "surface-without-errors",
        "surfaces:\n  a: {transport: mcp, envelope: error, codes: [b]}\n  b: {transport: mcp, envelope: error, codes: [c]}\n"
        "codes:\n  b: {summary: b, on: {mcp: {is_error: true}}}\n  c: {summary: c, on: {mcp: {is_error: false}}}\n",
        ("surfaces/b",),
    ),
    # an undeclared flag, in every place that can hold it
    (
        "slot-without-fact",
        "detail_keys: {again: {type: boolean, role: retriable}}\n"
        "surfaces: {s: {transport: http, envelope: error, requires_details: [again], codes: [c]}, t: {transport: http, envelope: error, codes: [a, b, d, e]}}\n"
        "codes:\n  a: {summary: a, http: 500, details: {again?: {}}}\n  b: {summary: b, http: 500}\n  c: {summary: c, http: 500}\n"
        "  d: {summary: d, http: 500, details: {again?: {}}, retriable: none}\n  e: {summary: e, http: 500, details: {again?: {}}, retriable: caller}\n",
        ("codes/a", "codes/c"),
    ),
    (
        "slot-without-fact",
        "detail_keys: {again: {type: boolean, role: retriable, everywhere: true}}\n"
        "envelopes: {error: {shape: {code: $code, details: $details}}, bare: {shape: {code: $code}}}\n"
        "codes:\n  a: {summary: a, http: 500}\n  b: {summary: b, http: 500, lifecycle: reserved}\n  c: {summary: c, http: 500, envelope: bare}\n",
        ("codes/a", "codes/c"),
    ),
    (
        "slot-without-fact",
        "detail_keys: {again: {type: boolean, role: retriable, everywhere: true}}\n"
        "envelopes: {bare: {shape: {code: $code}}}\n" + CODE,
        (),
    ),
    # reserved terms of a vocabulary
    (
        "reserved-term",
        "vocabularies: {v: {x: x, later: {summary: z, lifecycle: reserved}}}\n"
        "envelopes: {e: {shape: {code: $code, kind: $kind}, fields: {kind: {type: string, vocabulary: v}}}}\n"
        "codes:\n  a: {summary: a, http: 500, facts: {kind: [x, later]}}\n  b: {summary: b, http: 500, facts: {kind: x}}\n"
        "  c: {summary: c, http: 500, facts: {kind: later}, lifecycle: reserved}\n",
        ("codes/a/facts/kind",),
    ),
    # an operation's shared codes, and the surfaces that its routes are on
    (
        "listed-on-no-surface",
        "surfaces:\n"
        "  posts: {transport: http, match: {routes: ['POST /a/*']}, envelope: error, codes: [x1]}\n"
        "  late: {transport: http, match: {routes: [/a/**], statuses: 5xx}, envelope: error, codes: [x2]}\n"
        "  a: {transport: http, match: {routes: [/a/**]}, envelope: error, codes: [x1]}\n"
        "  rest: {transport: http, envelope: error, codes: [x1, x2, x3]}\n"
        "codes: {x1: {summary: a, http: 404}, x2: {summary: a, http: 500}, x3: {summary: a, http: 404}, x4: {summary: a, http: 404, lifecycle: removed}}\n"
        "operations:\n"
        "  read: {match: {routes: ['GET /a/{id}']}, codes: [x1, x2, x3, x4]}\n"
        "  make: {match: {routes: ['POST /a/{id}']}, codes: [x1, x2]}\n"
        "  other: {match: {routes: [/b]}, codes: [x3]}\n"
        "  any: {codes: [x3]}\n",
        ("operations/read/codes/2", "operations/make/codes/1"),
    ),
    (
        "listed-on-no-surface",
        "surfaces: {s: {transport: http, envelope: error, codes: [x1]}, e: {transport: event, error_when: {present: ''}, envelope: error, codes: [x2]}}\n"
        "codes: {x1: {summary: a, http: 404}, x2: {summary: b, http: 404}, x3: {summary: c, http: 404}}\n"
        "operations: {o: {match: {routes: [/a]}, codes: [x1, x2, x3]}, p: {match: {tools: [t]}, codes: [x1]}}\n",
        ("operations/o/codes/2", "operations/p/codes/0"),
    ),
    # methods: those of a surface against the route's, or the operation's
    (
        "listed-on-no-surface",
        "surfaces:\n"
        "  p: {transport: http, match: {methods: [POST]}, envelope: error, codes: [x1, x2]}\n"
        "  g: {transport: http, envelope: error, codes: [x2]}\n"
        "codes: {x1: {summary: a, http: 404}, x2: {summary: a, http: 500}}\n"
        "operations:\n"
        "  read: {match: {routes: ['GET /a']}, codes: [x1]}\n"
        "  look: {match: {routes: [/a], methods: [GET]}, codes: [x1]}\n"
        "  make: {match: {routes: ['POST /a']}, codes: [x1]}\n"
        "  do: {match: {routes: [/a], methods: [GET, POST]}, codes: [x1]}\n"
        "  any: {match: {routes: [/a]}, codes: [x1]}\n",
        ("operations/read/codes/0", "operations/look/codes/0"),
    ),
    # settings of a policy without effect
    (
        "policy-arithmetic",
        "retry_policies:\n"
        "  a: {max_attempts: 3, jitter: {kind: full}}\n"
        "  b: {max_attempts: 3, jitter: {kind: none}, retry_after: {honor: false, max: 5s, over: 5s, beyond: ignore, at_least_computed: true}}\n"
        "  c: {max_attempts: 3, retry_after: {honor: true, max: 5s}}\n  d: {max_attempts: 3, retry_after: {honor: false}}\n" + CODE,
        (
            "retry_policies/a/jitter",
            "retry_policies/b/retry_after/max",
            "retry_policies/b/retry_after/over",
            "retry_policies/b/retry_after/beyond",
            "retry_policies/b/retry_after/at_least_computed",
        ),
    ),
    (
        "mismatch-retriable",
        "idempotency: {key: K, mismatch: a}\ncodes: {a: {summary: a, http: 409, retriable: caller, client_action: retry}}\n",
        ("idempotency/mismatch",),
    ),
    (
        "mismatch-retriable",
        "idempotency: {key: K, mismatch: a}\ncodes: {a: {summary: a, http: 409, retriable: caller, client_action: refetch}}\n",
        (),
    ),
    (
        "unknown-contradicts-flag",
        "codes: {a: {summary: a, http: 500, retriable: false}, b: {summary: b, http: 500, retriable: caller}}\n"
        "unknown: {becomes: b, retriable: true}\nundeclared: {becomes: a, retriable: true}\n",
        ("undeclared/retriable",),
    ),
    (
        "untyped-detail",
        "detail_keys: {a: {summary: A limit.}, b: {description: A limit.}, c: {type: integer}, d: {enum: [1]}, e: {vocabulary: v}}\nvocabularies: {v: {x: x}}\n"
        "codes: {failed: {summary: It failed., http: 500, details: {a: {}, own: {description: Of its own.}}}}\n",
        ("detail_keys/a", "detail_keys/b", "codes/failed/details/own"),
    ),
)  # fmt: skip


@pytest.mark.parametrize(
    ("id", "snippet", "pointers"), CASES, ids=[f"{case[0]}-{i}" for i, case in enumerate(CASES)]
)
def test_rules_report_exactly_these_places(
    id: str, snippet: str, pointers: tuple[str, ...]
) -> None:
    """A rule reports exactly these places, in document order."""
    assert (
        tuple(
            "/".join(map(str, diagnostic.pointer))
            for diagnostic in found(whole(snippet), BY_ID[id])
        )
        == pointers
    )


@pytest.mark.parametrize(
    ("slots", "wrong"),
    [
        ("{kind: x, boundary: a}", []),
        ("{kind: y}", ["kind"]),
        ("{boundary: b}", ["boundary"]),
        ("{}", []),
    ],
)
def test_an_example_holds_what_its_code_says_of_a_slot(slots: str, wrong: list[str]) -> None:
    """An example has no other value in a slot than the code declares for it."""
    text = f"""
boundaries: {{a: a, b: b}}
vocabularies: {{v: {{x: x, y: y}}}}
envelopes:
  e: {{shape: {{code: $code, kind: $kind, at: $boundary}}, fields: {{kind: {{type: string, vocabulary: v}}}}}}
codes: {{c: {{summary: c, http: 500, boundary: a, facts: {{kind: x}}, example: {{slots: {slots}}}}}}}
"""
    errors = [
        error for error in read(whole(text), "t.yaml").diagnostics if error.severity == "error"
    ]
    assert [(error.code, error.pointer) for error in errors] == [
        ("bad-example", ("codes", "c", "example", "slots", slot)) for slot in wrong
    ]


# Suppressions

MAPPED = "fallback: {4xx: {code: failed, reason: a}, 5xx: {code: failed, reason: a}}\n"


def codes_of(text: str) -> list[tuple[str, int]]:
    """The codes and lines of the diagnostics."""
    return [
        (diagnostic.code, diagnostic.span.line)
        for diagnostic in found(text)
        if diagnostic.span is not None
    ]


def test_a_suppression_silences_its_rule_on_its_line() -> None:
    """A suppression with a reason works on the line of the key and on comment lines above it."""
    line = "  failed: {summary: It failed., http: 500}"
    for codes in (
        f"{line}  # faultspec: ignore[example-missing] it is shown elsewhere\n",
        f"  # faultspec: ignore[example-missing] it is shown elsewhere\n{line}\n",
        f"  # faultspec: ignore[example-missing] it is shown elsewhere\n\n  # and more\n{line}\n",
        f"  #faultspec:ignore [ example-missing , unmapped-status ] both\n{line}\n",
    ):
        reported = codes_of(whole(MAPPED + "codes:\n" + codes))
        assert reported in ([], [("unused-suppression", 3)]), codes
    assert codes_of(whole(f"{MAPPED}codes:\n{line}\n")) == [("example-missing", 3)]


@pytest.mark.parametrize("reason", ["", ".", "…", "--", "123", "x", "1 a 2", "?!"])
def test_a_suppression_without_reason_silences_nothing(reason: str) -> None:
    """A suppression needs a reason in words."""
    text = f"codes:\n  failed: {{summary: It failed., http: 500}} # faultspec: ignore[example-missing] {reason}\n"
    text = whole(MAPPED + text)
    assert codes_of(text) == [("example-missing", 3), ("suppression-without-reason", 3)]


def test_a_suppression_that_silences_nothing_is_reported() -> None:
    """A suppression without effect, or of a rule that does not exist, is reported."""
    codes = "codes:\n  failed: {summary: It failed., http: 500, example: {message: No.}} # faultspec: ignore[%s] why\n"
    assert codes_of(whole(MAPPED + codes % "example-missing")) == [("unused-suppression", 3)]
    reported = found(whole(MAPPED + codes % "example-mising"))
    assert [(diagnostic.code, diagnostic.hint) for diagnostic in reported] == [
        ("unknown-rule", "did you mean `example-missing`?")
    ]
    assert [diagnostic.code for diagnostic in found(whole(MAPPED + codes % ""))] == ["unknown-rule"]


def test_text_that_looks_like_a_suppression_is_text() -> None:
    """A `#` inside a value does not begin a comment."""
    for value in (
        '"# faultspec: ignore[example-missing] no"',
        "|\n      # faultspec: ignore[example-missing] no",
    ):
        text = whole(f"{MAPPED}codes:\n  failed:\n    http: 500\n    summary: {value}\n")
        assert codes_of(text) == [("example-missing", 3)]


SILENCED = whole(
    MAPPED
    + """codes:
  # faultspec: ignore[example-missing] it is shown elsewhere
  failed: {summary: It failed, http: 500}
  broken:
    http: 500  # nothing to say
    summary: 'It is
      broken'
    description: |
      Much text # faultspec: ignore[example-missing] that is none
    retriable: false  # faultspec: ignore[unused-suppression, example-missing] for a reason
"""
)

#: White space that editors insert, and characters with a meaning in YAML.
SIGNS = (
    "\t",
    " \t ",
    " ",
    "#",
    " # x",
    "\n",
    "'",
    '"',
    "|",
    ">",
    "{",
    "}",
    "[",
    "]",
    ": ",
    ",",
    "- ",
    "? ",
    "&a ",
    "!!x ",
    "é",
)


@examples(150)
@given(
    st.lists(
        st.tuples(st.integers(0, len(SILENCED)), st.sampled_from(SIGNS)), min_size=1, max_size=3
    )
)
def test_what_the_reader_takes_the_lint_takes(edits: list[tuple[int, str]]) -> None:
    """The lint never raises on a changed document with suppressions."""
    text = SILENCED
    for at, sign in sorted(edits, reverse=True):
        text = text[:at] + sign + text[at:]
    assert isinstance(check(read(text, "t.yaml")), tuple)


def test_a_tab_is_blank_space_to_the_lint_as_it_is_to_the_reader() -> None:
    """A tab in place of any space that may be one changes no diagnostic."""
    reported = {
        (diagnostic.code, diagnostic.span.line)
        for diagnostic in found(SILENCED)
        if diagnostic.span is not None
    }
    assert ("example-missing", 5) in reported
    taken = 0
    for at in (diagnostic.start() for diagnostic in re.finditer(r"(?<=[^ \n]) (?! )", SILENCED)):
        loaded = read(f"{SILENCED[:at]}\t{SILENCED[at + 1 :]}", "t.yaml")
        if loaded.taxonomy is not None and loaded.document is not None:
            taken += 1
            now = {
                (diagnostic.code, diagnostic.span.line)
                for diagnostic in lint(loaded.document, loaded.taxonomy)
                if diagnostic.span is not None
            }
            assert now == reported, at
    assert taken > 30


# What is whole of a taxonomy with errors


def test_an_error_that_leaves_the_model_whole_hides_nothing() -> None:
    """Beside a code without a status, which is reported once, all other rules report as usual."""
    text = whole(
        MAPPED
        + "codes:\n  failed: {summary: It failed., http: 500, retriable: true}\n  lost: {summary: It is lost.}\n"
    )
    loaded = read(text, "t.yaml")
    assert loaded.taxonomy is None
    assert [
        (diagnostic.code, "/".join(map(str, diagnostic.pointer))) for diagnostic in check(loaded)
    ] == [
        ("example-missing", "codes/failed"),
        ("retry-unsafe", "codes/failed/retriable"),
        ("unmapped-code", "codes/lost"),
    ]


def test_an_error_that_leaves_holes_is_the_only_report() -> None:
    """If an error leaves holes in the model, only the error is reported."""
    text = whole(MAPPED + "codes:\n  failed: {summary: It failed., htpp: 500}\n")
    assert {diagnostic.code for diagnostic in check(read(text, "t.yaml"))} == {"unknown-key"}


# The commands


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command: click.Command, *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command, as the composition root calls it."""
    result = click.testing.CliRunner().invoke(command, arguments, standalone_mode=False)
    assert result.exception is None, result.exception
    return result.return_value, result.stdout, result.stderr


def test_init_makes_a_taxonomy_that_is_clean(folder: Path) -> None:
    """The taxonomy of `init` is clean with `--strict`, names the schema beside it, and is never
    overwritten.
    """
    code, out, _ = run(init)
    assert (code, out.split()) == (0, ["taxonomy.yaml", "faultspec.schema.json"])
    assert run(lint_command, "--strict") == (0, "", "1 taxonomy: no findings\n")
    text = Path("taxonomy.yaml").read_text(encoding="utf-8")
    schema = re.match(r"# yaml-language-server: \$schema=(\S+)\n", text)
    assert schema is not None
    assert json.loads(Path(schema[1]).read_text(encoding="utf-8"))["title"] == "faultspec taxonomy"
    Path("taxonomy.yaml").write_text("mine", encoding="utf-8")
    code, out, err = run(init, "taxonomy.yaml")
    assert (code, out) == (2, "")
    assert "[file-exists]" in err
    assert Path("taxonomy.yaml").read_text(encoding="utf-8") == "mine"


def test_init_reports_an_unwritable_place(folder: Path) -> None:
    """An unwritable place is an error, not a traceback."""
    Path("file").write_text("", encoding="utf-8")
    code, _, err = run(init, "taxonomy", "file/taxonomy.yaml")
    assert code == 2
    assert "[file-unwritable]" in err


@pytest.mark.parametrize(
    ("text", "options", "code"),
    [
        (whole(MAPPED + CODE), (), 0),
        (whole(MAPPED + CODE), ("--strict",), 1),
        (whole("codes: {failed: {summary: It failed., htpp: 500}}\n"), (), 1),
        ("codes: [", (), 2),
        ("", (), 2),
        (None, (), 2),
    ],
    ids=["warnings", "strict", "errors", "syntax", "empty", "absent"],
)
def test_lint_exits_by_what_it_found(
    folder: Path, text: str | None, options: tuple[str, ...], code: int
) -> None:
    """0 without errors, 1 with findings, 2 for invalid YAML; diagnostics on stdout, the summary on
    stderr.
    """
    if text is not None:
        Path("a.yaml").write_text(text, encoding="utf-8")
    found_code, out, err = run(lint_command, "a.yaml", *options)
    assert found_code == code
    assert out.startswith("a.yaml")
    assert re.fullmatch(r"1 taxonomy: .*\d (error|warning).*\n", err)


def test_lint_prints_every_format(folder: Path) -> None:
    """A report of several files exists in every format."""
    Path("a.yaml").write_text(whole(CODE), encoding="utf-8")
    Path("b.yaml").write_text("codes: [", encoding="utf-8")
    for style in ("text", "json", "github", "sarif", "junit", "markdown"):
        code, out, err = run(lint_command, "a.yaml", "b.yaml", "a.yaml", "--format", style)
        assert code == 2
        assert "a.yaml" in out
        assert "b.yaml" in out
        assert err.startswith("2 taxonomies: ")
        if style in ("json", "sarif"):
            assert json.loads(out)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rate_limited", "429"),
        ("correlation-format", "Both formats are valid"),
        ("retriable-status", "# faultspec: ignore[retriable-status]"),
        ("headers/retry-after", "a clause"),
        ("codes.retriable.when", "the first one whose facts hold decides"),
        ("dangling-reference", "A name that is not declared."),
        ("yaml-alias", "An anchor such as"),
        ("unused-suppression", "reports nothing there"),
    ],
)
def test_explain_knows_every_kind_of_name(name: str, text: str) -> None:
    """`explain` knows codes, rulings, rules, clauses, constructs and diagnostics."""
    code, out, _ = run(explain, name, "--taxonomy", str(ROOT / "taxonomy.yaml"))
    assert code == 0
    assert out.startswith(f"{name}: ")
    assert text in " ".join(out.split())


@pytest.mark.parametrize("file", user_files(), ids=lambda file: file.name)
def test_explain_knows_every_key_of_every_file(file: UserFile) -> None:
    """Each key is explained with its meaning and an example that has the key."""
    code, out, _ = run(explain, file.name, "--taxonomy", str(ROOT / "taxonomy.yaml"))
    assert code == 0
    assert file.summary in " ".join(out.split())
    for address, construct in reference.constructs(file.grammar).items():
        section = file.section(address)
        assert re.search(rf"\b{construct.name}:", section), address
    for address, construct in list(reference.constructs(file.grammar).items())[::7]:
        code, out, _ = run(explain, address, "--taxonomy", str(ROOT / "taxonomy.yaml"))
        assert code == 0, address
        assert construct.key.doc in " ".join(out.split())
        assert f"{address}: a key of {file.name}" in out


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("resources.*", "resources"),
        ("resources.order.create.unique", "resources.create.unique"),
        ("provoke.*.steps.0.save", "provoke.steps.save"),
        ("codes.not_found.retriable.when", "codes.retriable.when"),
        ("waivers.0.expires", "waivers.expires"),
    ],
)
def test_explain_knows_keys_as_they_are_written(written: str, address: str) -> None:
    """A key may have the names that an author chose, `*` in their place, and positions in lists."""
    code, out, _ = run(explain, written, "--taxonomy", str(ROOT / "taxonomy.yaml"))
    assert code == 0
    assert f"{address}: a " in out


def test_explain_suggests(folder: Path) -> None:
    """An unknown name gets a suggestion; without a taxonomy it may be a code, so the exit code is
    2.
    """
    code, out, err = run(explain, "retriable-statuses")
    assert (code, out) == (2, "")
    assert "did you mean `retriable-status`?" in err
    assert "taxonomy.yaml" in err
    code, out, err = run(explain, "retriable-statuses", "--taxonomy", str(ROOT / "taxonomy.yaml"))
    assert (code, out) == (1, "")
    assert "did you mean `retriable-status`?" in err


def test_explain_explains_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every name that the tool prints has an explanation."""
    whole = load(str(ROOT / "taxonomy.yaml"))
    monkeypatch.setattr("faultspec.cli.explanations.load", lambda path: whole)
    for name in (*BY_ID, *list(reference.constructs())[::9]):
        assert run(explain, name, "--taxonomy", str(ROOT / "taxonomy.yaml"))[0] == 0, name


def test_lint_says_when_a_target_was_not_tried_with_so_many_codes() -> None:
    """At the size that the tests compile there is no warning, and beyond it there is one."""
    for size, expected in ((10_000, []), (10_001, ["large-taxonomy"])):
        codes = "".join(f"  c{n}: {{summary: Failure., http: 409}}\n" for n in range(size))
        text = (
            "faultspec: 1\ntaxonomy: {name: many, version: 1.0.0}\n"
            "envelopes: {error: {shape: {code: $code}}}\n"
            f"codes:\n{codes}"
        )
        loaded = read(text, "many.yaml")
        assert loaded.document is not None
        assert loaded.taxonomy is not None
        found = lint(loaded.document, loaded.taxonomy, rules=())
        assert [each.code for each in found] == expected


def test_findings_of_a_base_are_not_compared_with_one_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lint of a taxonomy takes no more than a comparison for each finding of its base."""
    size, compared = 100, 0
    codes = "".join(f"  c{number}: {{summary: A., http: 503}}\n" for number in range(size))
    (tmp_path / ".git").mkdir()
    (tmp_path / "base.yaml").write_text(
        "faultspec: 1\ntaxonomy: {name: base, version: 1.0.0}\n"
        f"envelopes: {{error: {{shape: {{code: $code}}}}}}\ncodes:\n{codes}"
    )
    own = tmp_path / "own.yaml"
    own.write_text("faultspec: 1\nextends: base.yaml\ntaxonomy: {name: own, version: 1.0.0}\n")
    loaded = load(str(own))
    assert loaded.document is not None
    assert loaded.taxonomy is not None, loaded.diagnostics
    equal = Diagnostic.__eq__

    def compare(one: Diagnostic, other: object) -> bool:
        nonlocal compared
        compared += 1
        return equal(one, other)

    monkeypatch.setattr(Diagnostic, "__eq__", compare)
    reported = lint(loaded.document, loaded.taxonomy)
    assert len(reported) >= size
    assert compared <= len(reported)
