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

    def includes(self, value: object) -> bool:
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


def unknown_facts(rules: Iterable[ConditionalRule], facts: ConditionFacts) -> tuple[str, ...]:
    """The unknown facts on which the outcome of the rules depends, each once."""
    unknown: dict[str, None] = {}
    for rule in rules:
        results = {test.fact: _result(test, facts) for test in rule.when}
        if False in results.values():
            continue
        unknown |= dict.fromkeys(fact for fact, result in results.items() if result is None)
        if None not in results.values():
            break
    return tuple(unknown)


def certain_outcome(rules: Iterable[ConditionalRule], facts: ConditionFacts) -> object:
    """The outcome of the first rule whose tests are all known to hold; None if there is none."""
    certain = (rule for rule in rules if all(_result(test, facts) for test in rule.when))
    return next((rule.then for rule in certain), None)


def tested_facts(rules: Iterable[ConditionalRule]) -> tuple[str, ...]:
    """The facts that rules test, in order, each once."""
    return tuple(dict.fromkeys(test.fact for rule in rules for test in rule.when))


def narrow_rules(
    rules: Iterable[ConditionalRule], status: int | None
) -> tuple[ConditionalRule, ...]:
    """The rules that may hold under a status, without their tests of it; all if it is unknown."""
    return tuple(
        rule._replace(when=tuple(test for test in rule.when if test.fact != "status"))
        for rule in rules
        if status is None or all(t.includes(status) for t in rule.when if t.fact == "status")
    )


def _result(test: Test, facts: ConditionFacts) -> bool | None:
    """Whether the test holds; None if its fact is unknown."""
    known, value = facts.value(test.fact)
    if not known:
        return None
    # A list or a mapping equals none of a condition's scalars.
    return test.includes(value) if isinstance(value, str | int | float | bool) else False


class Retriable(NamedTuple):
    """Whether the same request may be sent again.

    ``flag_kind``: ``caller``: both flags are legal; the code that raises the error chooses.
    ``none``: the system has no flag. ``conditional``: the first of the ``rules`` whose tests hold
    decides, and the last has no tests; other kinds have no rules. ``until``: the action after which
    the error becomes retriable.

    Only renderers read ``flag_kind``, where they print it. Other modules ask the questions below.
    """

    flag_kind: Literal["always", "never", "caller", "none", "conditional"]
    rules: tuple[ConditionalRule, ...] = ()
    until: str | None = None

    @property
    def fixed(self) -> bool | None:
        """The flag of every such error; None if it varies or there is none."""
        return {"always": True, "never": False}.get(self.flag_kind)

    @property
    def outcomes(self) -> tuple[bool, ...]:
        """The flags that such an error may carry; none if there is no flag."""
        return self.decide(ConditionFacts())

    @property
    def has_flag(self) -> bool:
        """Whether such an error may carry a flag."""
        return self.flag_kind != "none"

    @property
    def may_be_retried(self) -> bool:
        """Whether such an error may carry the flag true."""
        return True in self.outcomes

    @property
    def answer_decides(self) -> bool:
        """Whether each answer decides the flag, whatever the facts are."""
        return self.flag_kind == "caller"

    @property
    def reads(self) -> tuple[str, ...]:
        """The facts that the rules test."""
        return tested_facts(self.rules)

    def decide(self, facts: ConditionFacts) -> tuple[bool, ...]:
        """The flags that an error may carry under these facts.

        One if the facts decide, both if either is legal, none if there is no flag.
        """
        match self.flag_kind:
            case "always" | "never":
                return (self.flag_kind == "always",)
            case "caller":
                return (True, False)
            case "conditional":
                outcomes = possible_outcomes(self.rules, facts)
                return tuple(dict.fromkeys(outcome is True for outcome in outcomes))
            case "none":
                return ()

    def presume(self, facts: ConditionFacts) -> bool | None:
        """The flag if no test of an unknown fact holds; None if each answer decides or none has it.

        For examples, which need one of the possible flags.
        """
        return certain_outcome(self.rules, facts) is True if self.rules else self.fixed
