"""Conditional rules: tests of facts, the possible outcomes of rules, and the retry flag."""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple


class StatusRange(NamedTuple):
    """Inclusive range of HTTP statuses; a single status has ``low == high``."""

    low: int
    high: int

    def __contains__(self, status: object) -> bool:
        return isinstance(status, int) and self.low <= status <= self.high

    def covers(self, other: "StatusRange") -> bool:
        """Whether every status of the other range is one of this."""
        return self.low <= other.low and other.high <= self.high

    def meets(self, other: "StatusRange") -> bool:
        """Whether the two ranges have a status in common."""
        return self.low <= other.high and other.low <= self.high

    @property
    def width(self) -> int:
        """How many statuses the range holds; the narrower range is the more specific rule."""
        return self.high - self.low + 1

    def __str__(self) -> str:
        if self.low == self.high:
            return str(self.low)
        if self.low % 100 == 0 and self.high == self.low + 99:
            return f"{self.low // 100}xx"
        return f"{self.low}-{self.high}"


class Test(NamedTuple):
    """One fact of an exchange compared with the values it may have.

    ``fact``: ``status``, ``cause``, ``operation.idempotent``, ``caller.authenticated`` or
    ``details.<key>``.
    """

    fact: str
    values: tuple[object, ...] = ()
    ranges: tuple[StatusRange, ...] = ()

    def holds(self, value: object) -> bool:
        """Whether ``value`` is one of the values or lies in one of the ranges."""
        if isinstance(value, bool):
            return any(value is each for each in self.values)
        return value in [v for v in self.values if not isinstance(v, bool)] or any(
            value in range_ for range_ in self.ranges
        )


class ConditionalRule(NamedTuple):
    """``then`` applies if every test holds; a rule without tests is the ``else``."""

    when: tuple[Test, ...]
    then: object


class ConditionFacts(NamedTuple):
    """The facts that conditions may read. ``None`` and a missing detail mean: unknown."""

    status: int | None = None
    idempotent: bool | None = None
    authenticated: bool | None = None
    details: Mapping[str, object] = {}

    def value(self, fact: str) -> tuple[bool, object]:
        """Whether the fact is known, and its value."""
        match fact.partition("."):
            case ("status", _, _):
                return self.status is not None, self.status
            case ("operation", _, "idempotent"):
                return self.idempotent is not None, self.idempotent
            case ("caller", _, "authenticated"):
                return self.authenticated is not None, self.authenticated
            case ("details", _, key):
                return key in self.details, self.details.get(key)
        return False, None  # `cause` is never visible from outside


def possible_outcomes(
    rules: Iterable[ConditionalRule], facts: ConditionFacts
) -> tuple[object, ...]:
    """The possible outcomes of rules, in order.

    One if the facts decide, several if a needed fact is unknown, none if no rule holds.
    """
    possible: list[object] = []
    for rule in rules:
        results = [_result(test, facts) for test in rule.when]
        if False in results:
            continue
        if rule.then not in possible:
            possible.append(rule.then)
        if None not in results:
            break
    return tuple(possible)


def _result(test: Test, facts: ConditionFacts) -> bool | None:
    """Whether the test holds; None if its fact is unknown."""
    known, value = facts.value(test.fact)
    if not known:
        return None
    # A list or a mapping equals none of a condition's scalars.
    return test.holds(value) if isinstance(value, str | int | float | bool) else False


class Retriable(NamedTuple):
    """Whether the same request may be sent again.

    ``caller``: both flags are legal; the code that raises the error chooses. ``none``: the system
    has no flag. ``conditional``: the first rule whose tests hold decides. ``until``: the action
    after which the error becomes retriable.
    """

    kind: Literal["always", "never", "caller", "none", "conditional"]
    rules: tuple[ConditionalRule, ...] = ()
    until: str | None = None

    @property
    def fixed(self) -> bool | None:
        """The flag of every such error; None if it varies or there is none."""
        return {"always": True, "never": False}.get(self.kind)

    def decide(self, facts: ConditionFacts) -> tuple[bool, ...]:
        """The flags that an error may carry under these facts.

        One if the facts decide, both if either is legal, none if there is no flag or no rule holds.
        """
        match self.kind:
            case "always" | "never":
                return (self.kind == "always",)
            case "caller":
                return (True, False)
            case "conditional":
                return tuple(outcome is True for outcome in possible_outcomes(self.rules, facts))
            case "none":
                return ()
