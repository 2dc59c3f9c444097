"""Rules over facts as TypeScript."""

from collections.abc import Sequence

from faultspec.language.conditions import ConditionalRule, StatusRange, Test
from faultspec.targets.literals import Verbatim
from faultspec.targets.python.facts import merge_ranges

Json = dict[str, object]


def rule_rows(rules: Sequence[ConditionalRule]) -> list[Json]:
    """Rules as TypeScript has them: the result, and the facts with the values they may have."""
    return [
        {"then": bool(rule.then), "when": [_test(test) for test in rule.when]} for rule in rules
    ]


def _test(test: Test) -> Json:
    ranges = [Verbatim(f"...{span_literal(span)}") for span in merge_ranges(test.ranges)]
    return {"fact": test.fact, "values": [*test.values, *ranges]}


def span_literal(span: StatusRange) -> str:
    """The statuses of a range, as a call of the runtime."""
    return f"range({span.low}, {span.high})"
