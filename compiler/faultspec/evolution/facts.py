"""Facts that decide conditions, to compare conditions by what they decide."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from faultspec.evolution.model import Effect
from faultspec.language.conditions import (
    ConditionalRule,
    ConditionFacts,
    tested_facts,
    unknown_facts,
)

#: Combinations of facts that are tried for conditions; more would not fit a command.
_MOST_FACTS = 4096

_OTHER = "\0 a value that no condition names"


class TooManyFactsError(Exception):
    """Conditions depend on more combinations of facts than are tried."""

    def as_effect(self, what: str) -> Effect:
        """The effect of conditions that could not be compared."""
        message = f"the conditions of {what} changed, and are too many to compare"
        return Effect("risky", message, ("clients",))


def sample_facts(*rules: Iterable[ConditionalRule]) -> Iterator[ConditionFacts]:
    """Facts at both sides of everything that the rules test, and one value that none of them
    names.

    A fact stays unknown where no outcome depends on it any more. `cause` is never visible, so it is
    left out. Raises TooManyFactsError.
    """
    groups = [tuple(group) for group in rules]
    values = _sample_values([rule for group in groups for rule in group])
    open_facts = [ConditionFacts()]
    count = 0
    while open_facts:
        facts = open_facts.pop()
        fact = next(
            (name for group in groups for name in unknown_facts(group, facts) if name in values),
            None,
        )
        if fact is not None:
            open_facts += [_with_fact(facts, fact, value) for value in values[fact]]
            continue
        count += 1
        if count > _MOST_FACTS:
            raise TooManyFactsError
        yield facts


def _sample_values(rules: Sequence[ConditionalRule]) -> Mapping[str, Sequence[Any]]:
    """The values to try for each visible fact."""
    values: dict[str, Sequence[Any]] = {}
    for fact in tested_facts(rules):
        tests = [test for rule in rules for test in rule.when if test.fact == fact]
        found = dict.fromkeys(value for test in tests for value in test.values)
        for test in tests:
            for span in test.ranges:
                found |= dict.fromkeys((span.low - 1, span.low, span.high, span.high + 1))
        other = {
            "status": 999,
            "operation.idempotent": not any(found),
            "caller.authenticated": not any(found),
        }
        values[fact] = [*found, other.get(fact, _OTHER)]
    values.pop("cause", None)
    return values


def _with_fact(facts: ConditionFacts, fact: str, value: Any) -> ConditionFacts:
    """The facts with the value of one more."""
    if fact.startswith("details."):
        details = {**facts.details, fact.removeprefix("details."): value}
        return facts._replace(details=details)
    if fact == "operation.idempotent":
        return facts._replace(idempotent=value)
    if fact == "caller.authenticated":
        return facts._replace(authenticated=value)
    return facts._replace(status=value)
