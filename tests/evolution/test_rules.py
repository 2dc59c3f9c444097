"""Laws of the evolution rules."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from itertools import islice
from random import Random
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st
from model_fields import model_fields
from mutation import Mutation, mutations

from faultspec.evolution.compare import Comparison, compare
from faultspec.evolution.differences import find_differences
from faultspec.evolution.ledger import fingerprint
from faultspec.evolution.model import BUMPS, Change, due_bump
from faultspec.evolution.rules import RULES
from faultspec.language import load, read
from faultspec.language.model import Taxonomy
from faultspec.runtime.nodes import Node
from faultspec.targets.python.signatures import constructor_signatures
from paths import ROOT
from support.full_taxonomy import FULL

TODAY = date(2026, 11, 23)

WITHOUT_EFFECT: Mapping[str, str] = {
    "Field.slot": "the key of its mapping",
    "Envelope.picture": "the shape is compiled from it",
    "HttpMapping.reason": "a reason beside a status says nothing",
    "Idempotency.default": "an operation that says nothing counts as idempotent anyway",
    "Match.tools": "no surface here matches by tools",
    "Mcp.strict": "the only mark here is `isError: true` already",
    "Surface.default_status": "every code here has a status of its own",
    "Taxonomy.version": "it is judged by what the changes are due",
}
"""Fields whose change alone has no effect, with the reason."""


@cache
def _full() -> Taxonomy:
    taxonomy = read(FULL, "full.yaml").taxonomy
    assert taxonomy is not None
    return taxonomy


#: A policy in which every setting counts: in a constant backoff without jitter and without
#: `Retry-After`, most change nothing.
_POLICY = """{max_attempts: 4, backoff: [
    {kind: exponential, base: 1s, factor: 2, max: 2500ms, for: 5s}, {kind: linear, base: 1s, step: 1s}],
    jitter: {kind: ratio, ratio: 0.1}, retry_after: {honor: true, max: 1m, at_least_computed: true},
"""


@cache
def _with_policy() -> Taxonomy:
    """The same taxonomy with a policy in which every setting counts."""
    shown = "{max_attempts: 3, backoff: {kind: constant, base: 1s}, jitter: {kind: full},"
    assert shown in FULL
    taxonomy = read(FULL.replace(shown, _POLICY), "full.yaml").taxonomy
    assert taxonomy is not None
    return taxonomy


@cache
def _mutations() -> tuple[Mutation, ...]:
    return tuple(m for m in mutations(_full()) if not _is_name(m) and _is_sound(m.taxonomy))


def _is_name(mutation: Mutation) -> bool:
    """Whether the field repeats or follows from the key of its mapping, or is a constant of its
    type.
    """
    return mutation.field.endswith(".name") or mutation.path[-1] in ("kind", "step")


def _is_sound(taxonomy: Taxonomy) -> bool:
    """Whether bindings can be generated: a change of the model may leave names that no construct
    has, which no document resolves to."""
    try:
        constructor_signatures(taxonomy, [path for path, _ in taxonomy.located_codes()])
    except (KeyError, IndexError):
        return False
    return True


def test_some_rule_reads_every_field_of_the_model() -> None:
    """No field of the language can change without a rule that judges it. The kinds of nodes are
    constants of their types, and the step to a member follows from its name."""
    constants = {f"{node.__name__}.kind" for node in get_args(Node)} | {"ObjectMember.step"}
    assert {field for rule in RULES for field in rule.reads} == {*model_fields()} - constants


def test_equal_taxonomies_have_no_changes() -> None:
    """A taxonomy that is compared with itself has no change, no notation, and no version is due."""
    comparison = compare(_full(), _full(), TODAY)
    assert (comparison.changes, comparison.notation, comparison.due) == ((), (), "none")


def test_no_change_of_one_field_is_silent() -> None:
    """Every change of one field of the model is a change of the comparison, or listed as
    notation."""
    for mutation in _mutations():
        comparison = compare(_full(), mutation.taxonomy, TODAY)
        differs = any(find_differences(_full(), mutation.taxonomy))
        assert bool(comparison.changes or comparison.notation) == differs, mutation[:2]


def test_a_field_has_an_effect_somewhere() -> None:
    """Each field has a change that is more than notation, unless its reason says why not."""
    judged = {
        mutation.field
        for mutation in _mutations()
        if compare(_full(), mutation.taxonomy, TODAY).changes
    }
    judged |= {
        mutation.field
        for mutation in mutations(_with_policy())
        if mutation.path[0] == "retry_policies"
        and compare(_with_policy(), mutation.taxonomy, TODAY).changes
    }
    tried = {mutation.field for mutation in _mutations()}
    assert tried - judged <= set(WITHOUT_EFFECT)


@given(st.integers(0), st.integers(0))
def test_changes_are_there_exactly_if_the_taxonomies_differ(one: int, other: int) -> None:
    """diff(a, b) is empty exactly if a and b resolve to the same, for any two variants."""
    variants = (_full(), *(mutation.taxonomy for mutation in _mutations()))
    a, b = variants[one % len(variants)], variants[other % len(variants)]
    comparison = compare(a, b, TODAY)
    assert bool(comparison.changes or comparison.notation) == any(find_differences(a, b))


@given(st.integers(0), st.integers(0))
def test_more_changes_are_never_due_less(one: int, other: int) -> None:
    """The version that all changes are due is the greatest that one of them is due."""
    a, b = (_mutations()[index % len(_mutations())].taxonomy for index in (one, other))
    comparison: Comparison = compare(a, b, TODAY)
    assert comparison.due == due_bump(comparison.changes)
    assert all(BUMPS.index(comparison.due) <= BUMPS.index(c.bump) for c in comparison.changes)


#: One-line mutations of each taxonomy, drawn with this seed.
_SEED, _DRAWN = 11, 10


def test_random_changes_of_the_shipped_taxonomies_are_reported() -> None:
    """Ten changes of one field of each shipped taxonomy, drawn at random, are reported with a
    category of a rule that reads the field, or the field has no effect there."""
    for path in (ROOT / "taxonomy.yaml", *sorted((ROOT / "examples").glob("*/taxonomy.yaml"))):
        taxonomy = load(str(path)).taxonomy
        assert taxonomy is not None
        candidates = [mutation for mutation in mutations(taxonomy) if not _is_name(mutation)]
        Random(_SEED).shuffle(candidates)
        sound = (mutation for mutation in candidates if _is_sound(mutation.taxonomy))
        for mutation in islice(sound, _DRAWN):
            comparison = compare(taxonomy, mutation.taxonomy, TODAY)
            assert comparison.changes or comparison.notation, (path.parent.name, mutation[:2])


def test_an_accepted_change_covers_no_further_place() -> None:
    """The fingerprint of a change at two places differs from that at one of them, so a ledger that
    accepts one accepts no more."""
    change = Change(
        rule="code/status",
        severity="breaking",
        categories=("WIRE",),
        breaks=("clients",),
        message="the status is another one",
        path=("codes", "a", "http"),
        places=("codes.a.http",),
    )
    wider = change._replace(places=("codes.a.http", "codes.b.http"))
    turned = wider._replace(places=("codes.b.http", "codes.a.http"))
    assert fingerprint(change) != fingerprint(wider) == fingerprint(turned)
