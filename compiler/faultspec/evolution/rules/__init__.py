"""The evolution rules, one module per construct.

To add a rule, write its function into the module of its construct, and a change that it reports
into `examples.yaml`.
"""

from collections.abc import Mapping

from faultspec.evolution.rule import EvolutionRule
from faultspec.evolution.rules import (
    bindings,
    codes,
    details,
    envelopes,
    headers,
    lifecycle,
    operations,
    retries,
    service,
    surfaces,
    telemetry,
    terms,
    texts,
)

_MODULES = (
    codes,
    bindings,
    lifecycle,
    details,
    headers,
    retries,
    envelopes,
    surfaces,
    operations,
    service,
    terms,
    telemetry,
    texts,
)

RULES: tuple[EvolutionRule, ...] = tuple(
    member
    for module in _MODULES
    for member in vars(module).values()
    if isinstance(member, EvolutionRule)
)

BY_ID: Mapping[str, EvolutionRule] = {rule.id: rule for rule in RULES}
