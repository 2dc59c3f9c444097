"""Conditions over what is known of an exchange: a fact that isn't known decides nothing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from faultspec.exchange.model import Exchange
from faultspec.language.model import Operation, Rule, Test


@dataclass(frozen=True, slots=True)
class Facts:
    """The closed list of facts conditions may read; None is not known."""

    status: int | None
    idempotent: bool | None
    authenticated: bool | None
    details: Mapping[str, object]

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


def facts_of(exchange: Exchange, operation: Operation | None, status: int | None, details: object) -> Facts:
    """What is known of an exchange.

    Who sent credentials without being a configured identity may or may not have been let in, so that stays unknown, as it
    does where a recording may have left the credentials out.
    """
    credentials = exchange.sent("authorization") or exchange.sent("cookie")
    known = exchange.identity is not None
    hidden = "identity" in exchange.lacks
    return Facts(
        status=status,
        idempotent=operation.idempotent if operation else None,
        authenticated=None if (credentials or hidden) and not known else known,
        details=details if isinstance(details, dict) else {},
    )


def outcomes(rules: Iterable[Rule], facts: Facts) -> tuple[object, ...]:
    """What the rules may come to: one value where the facts decide, several where they don't, none if no rule holds."""
    possible: list[object] = []
    for rule in rules:
        held = [_holds(test, facts) for test in rule.when]
        if False in held:
            continue
        if rule.then not in possible:
            possible.append(rule.then)
        if None not in held:
            break
    return tuple(possible)


def _holds(test: Test, facts: Facts) -> bool | None:
    known, value = facts.value(test.fact)
    if not known:
        return None
    # A list or a mapping equals none of a condition's scalars.
    return test.holds(value) if isinstance(value, str | int | float | bool) else False
