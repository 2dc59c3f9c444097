"""Facts that decide conditions, to compare conditions by what they decide."""

from collections.abc import Iterable, Iterator
from itertools import islice, product
from typing import Any

from faultspec.language.conditions import ConditionalRule, ConditionFacts, tested_facts

#: Combinations of facts that are tried for conditions; more would not fit a command.
_MOST_FACTS = 4096

_OTHER = "\0 a value that no condition names"


def sample_facts(*rules: Iterable[ConditionalRule]) -> Iterator[ConditionFacts]:
    """Facts at both sides of everything that the rules test, and one value that none of them
    names. `cause` is never visible, so it is left out."""
    all_rules = [r for group in rules for r in group]
    facts = [fact for fact in tested_facts(all_rules) if fact != "cause"]
    values: list[list[Any]] = []
    for fact in facts:
        tests = [test for r in all_rules for test in r.when if test.fact == fact]
        found = dict.fromkeys(value for test in tests for value in test.values)
        for test in tests:
            for span in test.ranges:
                found |= dict.fromkeys((span.low - 1, span.low, span.high, span.high + 1))
        other = {
            "status": 999,
            "operation.idempotent": not any(found),
            "caller.authenticated": not any(found),
        }
        values.append([*found, other.get(fact, _OTHER)])
    for combination in islice(product(*values), _MOST_FACTS):
        given = dict(zip(facts, combination, strict=True))
        yield ConditionFacts(
            status=given.get("status"),
            idempotent=given.get("operation.idempotent"),
            authenticated=given.get("caller.authenticated"),
            details={
                k.removeprefix("details."): v for k, v in given.items() if k.startswith("details.")
            },
        )
