"""Laws of single rules, on small taxonomies that differ in what the rule judges."""

from datetime import date

import pytest

from faultspec.evolution.compare import compare
from faultspec.evolution.model import Change
from faultspec.language import read
from faultspec.language.model import Taxonomy
from paths import ROOT

BASE = """\
faultspec: 1
taxonomy: {name: shop, version: 1.0.0}
envelopes: {error: {shape: {code: $code, details?: $details}}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
codes:
  busy: {summary: It is busy., http: 503, retriable: true}
"""
GONE = "  gone: {summary: It is gone., lifecycle: removed}\n"
RESERVED = (
    "  later: {summary: It is for later., lifecycle: reserved, http: 409, retriable: false}\n"
)


def taxonomy(text: str) -> Taxonomy:
    """The taxonomy of a text."""
    loaded = read(text, "taxonomy.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


def changes(old: str, new: str) -> tuple[Change, ...]:
    """The changes from one text to another."""
    return compare(taxonomy(old), taxonomy(new), date(2026, 11, 23)).changes


def with_conditions(conditions: list[str]) -> str:
    """A taxonomy with a code that is retriable under any of some conditions."""
    names = sorted(set(" ".join(conditions).replace(":", " ").replace(",", " ").split()))
    names = [name.removeprefix("details.") for name in names if name.startswith("details.")]
    rules = ", ".join(f"{{if: {{{text}}}, then: true}}" for text in conditions)
    details = ", ".join(f"{name}?: {{type: integer}}" for name in names)
    return (
        f"{BASE}  many:\n    summary: There are many.\n    http: 409\n    details: {{{details}}}\n"
        f"    retriable: {{when: [{rules}], else: false}}\n"
    )


@pytest.mark.parametrize("count", [3, 14, 40])
def test_many_conditions_are_compared_whole(count: int) -> None:
    """A difference in the last of many conditions is found: facts on which no outcome depends any
    more are not combined."""
    conditions = [f"details.k{index}: 1" for index in range(count)]
    other = [*conditions[:-1], conditions[-1].replace(": 1", ": 2")]
    found = changes(with_conditions(conditions), with_conditions(other))
    assert [(change.rule, change.severity) for change in found] == [("retry/flag", "breaking")]
    assert not changes(with_conditions(conditions), with_conditions(conditions[::-1]))


def test_conditions_beyond_comparison_are_risky() -> None:
    """If the outcome depends on more combinations of facts than are tried, the change is risky and
    says so. It is not silent."""
    pairs = [f"details.a{index}: 1, details.b{index}: 1" for index in range(14)]
    found = changes(with_conditions(pairs), with_conditions(pairs[::-1]))
    assert [(change.rule, change.severity) for change in found] == [("retry/flag", "risky")]
    assert "too many to compare" in found[0].message


def test_a_name_that_can_be_reused_is_a_change() -> None:
    """A tombstone that vanishes is as bad as a removal without one, or two changes would do in
    silence what one may not. A reservation that ends is risky."""
    dropped = changes(BASE + GONE, BASE)
    assert [(change.rule, change.severity) for change in dropped] == [("code/returned", "breaking")]
    ended = changes(BASE + RESERVED, BASE)
    assert [(change.rule, change.severity) for change in ended] == [("code/returned", "risky")]
    assert "`later` is no longer reserved" in ended[0].message


@pytest.mark.parametrize("default", ["idempotent", "not_idempotent"])
def test_the_message_names_who_declares_idempotency(default: str) -> None:
    """An operation that stops or starts to say what the default says is not confused with the
    other, and keeps its verdict."""
    base = BASE + f"idempotency: {{key: Key, window: 24h, mismatch: busy, default: {default}}}\n"
    silent = base + "operations: {read: {match: {routes: [POST /read]}}}\n"
    value = "true" if default == "idempotent" else "false"
    explicit = silent.replace("[POST /read]}", f"[POST /read]}}, idempotent: {value}")
    negation = "" if default == "idempotent" else " not"
    verdict = f"itself that it is{negation} idempotent, as before"
    (starts,), (stops,) = changes(silent, explicit), changes(explicit, silent)
    assert starts.message == f"`read` says {verdict}"
    assert stops.message == f"`read` no longer says {verdict}"


@pytest.mark.parametrize(
    ("field", "before", "after", "words"),
    [
        ("threshold", 0.05, 0.2, "fires later: its `threshold` is 0.2 in place of 0.05"),
        ("threshold", 0.05, 0.01, "fires earlier: its `threshold` is 0.01 in place of 0.05"),
        ("lasting", None, 60.0, "fires later: its `for` is 1m in place of 0s"),
        ("window", 300.0, 60.0, "counts over 1m in place of 5m"),
        ("codes", ("a", "b"), ("b", "c"), "also counts `c` and no longer counts `a`"),
        ("severity", "page", "ticket", "has the severity `ticket` in place of `page`"),
    ],
)
def test_an_alert_changes_in_a_direction(
    field: str, before: object, after: object, words: str
) -> None:
    """The message of a changed alert says whether it fires earlier or later, or what it counts."""
    full = taxonomy((ROOT / "taxonomy.yaml").read_text())
    assert full.telemetry is not None
    name, alert = next(iter(full.telemetry.alerts.items()))
    old, new = (
        full._replace(
            telemetry=full.telemetry._replace(
                alerts={name: alert._replace(**{field: value})}  # type: ignore[arg-type]
            )
        )
        for value in (before, after)
    )
    (change,) = compare(old, new, date(2026, 11, 23)).changes
    assert change.message == f"the alert `{name}` {words}"


def test_a_value_stays_in_its_quotes() -> None:
    """A backquote or a line end in a value ends neither the quotes nor the line of a message."""
    first, second = (
        BASE.replace("true}", f'true, details: {{kind?: {{type: string, enum: ["{value}"]}}}}}}')
        for value in ("`@team", "a\\nb`<br>")
    )
    (change,) = changes(first, second)
    assert "`'@team`" in change.message
    assert "`a\\nb'<br>`" in change.message
    assert "\n" not in change.message
