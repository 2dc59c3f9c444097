"""The lint rules, one module per construct.

To add a rule, write its function into the module of its construct. `docs/lint.md` lists the rules
in the order of `_MODULES`, then of their functions.
"""

from collections.abc import Mapping

from faultspec.lint.rule import LintRule
from faultspec.lint.rules import (
    codes,
    conditions,
    declarations,
    details,
    envelopes,
    examples,
    formats,
    headers,
    idempotency,
    lifecycle,
    operations,
    privacy,
    retriable,
    retry_policies,
    statuses,
    surfaces,
    telemetry,
    upstream_codes,
)

_MODULES = (
    codes,
    lifecycle,
    declarations,
    statuses,
    headers,
    surfaces,
    envelopes,
    formats,
    details,
    examples,
    privacy,
    retriable,
    conditions,
    retry_policies,
    idempotency,
    operations,
    telemetry,
    upstream_codes,
)

RULES: tuple[LintRule, ...] = tuple(
    member
    for module in _MODULES
    for member in vars(module).values()
    if isinstance(member, LintRule)
)

BY_ID: Mapping[str, LintRule] = {rule.id: rule for rule in RULES}
