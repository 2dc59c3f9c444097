"""Conditional values: what the facts decide, and what they leave open."""

from itertools import product

import pytest

from faultspec.language.conditions import (
    ConditionalRule,
    ConditionFacts,
    Retriable,
    StatusRange,
)
from faultspec.language.conditions import (
    Test as FactTest,
)
from faultspec.language.model import HttpMapping, RetryPolicy
from faultspec.runtime.retry import Policy

GATEWAY = ConditionalRule((FactTest("status", (502,)),), True)
SAFE = ConditionalRule((FactTest("operation.idempotent", (True,)),), True)
SMALL = ConditionalRule((FactTest("details.size", (1, 2)), FactTest("cause", ("lock",))), False)

FLAGS = {
    **{kind: Retriable(kind) for kind in ("always", "never", "caller", "none")},
    **{
        f"{len(rules)} rules, else {otherwise}": Retriable(
            "conditional", (*rules, ConditionalRule((), otherwise))
        )
        for rules in ((GATEWAY,), (SMALL, SAFE), (GATEWAY, SMALL, SAFE))
        for otherwise in (True, False)
    },
}

FACTS = [
    ConditionFacts(status, idempotent, None, details)
    for status, idempotent, details in product(
        (None, 502, 503), (None, True, False), ({}, {"size": 1}, {"size": [1]})
    )
]


@pytest.mark.parametrize("facts", FACTS, ids=str)
@pytest.mark.parametrize("flag", FLAGS.values(), ids=list(FLAGS))
def test_more_facts_leave_fewer_flags(flag: Retriable, facts: ConditionFacts) -> None:
    """Facts leave some of the possible flags, and an example has one of those."""
    left = flag.decide(facts)
    assert set(left) <= set(flag.outcomes)
    assert len(left) == len(set(left))
    assert flag.fixed is None or left == (flag.fixed,)
    presumed = flag.presume(facts)
    assert presumed in left if presumed is not None else flag.answer_decides or not left


@pytest.mark.parametrize("flag", FLAGS.values(), ids=list(FLAGS))
def test_the_questions_agree(flag: Retriable) -> None:
    """The possible flags decide whether there is a flag, whether it is fixed, and on a retry."""
    assert flag.has_flag is bool(flag.outcomes)
    assert flag.may_be_retried is (True in flag.outcomes)
    assert flag.fixed is None or flag.outcomes == (flag.fixed,)
    assert len(flag.outcomes) < 2 or bool(flag.reads) is not flag.answer_decides


def test_a_value_reads_each_fact_once() -> None:
    """The facts of all rules, in the order in which they are tested."""
    rules = (SMALL, GATEWAY, SMALL, ConditionalRule((), True))
    expected = ("details.size", "cause", "status")
    assert Retriable("conditional", rules).reads == HttpMapping(rules=rules).reads == expected


@pytest.mark.parametrize(
    ("idempotent", "statuses"), [(True, (409,)), (False, (503,)), (None, (409, 503))]
)
def test_rules_choose_the_status(idempotent: bool | None, statuses: tuple[int, ...]) -> None:
    """A status stays possible until a known fact excludes it."""
    rules = (SAFE._replace(then=409), ConditionalRule((), 503))
    mapping = HttpMapping((StatusRange(409, 409), StatusRange(503, 503)), rules, default=409)
    assert mapping.decide(ConditionFacts(idempotent=idempotent)) == statuses


@pytest.mark.parametrize(
    ("code", "idempotent", "covered"),
    [
        ("busy", True, True),
        ("busy", False, True),
        ("busy", None, True),
        ("slow", True, True),
        ("slow", False, False),
        ("slow", None, None),
        ("other", True, False),
    ],
)
def test_a_policy_covers_the_codes_that_it_lists(
    code: str, idempotent: bool | None, covered: bool | None
) -> None:
    """Of the listed codes the conditions decide; if none holds, the code is retried."""
    conditions = () if code == "busy" else (SAFE, ConditionalRule((), False))
    policy = RetryPolicy("p", Policy("p", 3), eligible=("busy", "slow"), eligible_when=conditions)
    assert policy.covers(code, ConditionFacts(idempotent=idempotent)) is covered
