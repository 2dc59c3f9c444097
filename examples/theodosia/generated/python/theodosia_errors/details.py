"""The types of the details of each code of Theodosia refusals."""

# Generated from examples/theodosia/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/theodosia/taxonomy.yaml

import typing as t
from collections.abc import Mapping, Sequence

__all__ = [
    "ActionErrorDetails",
    "ActionTimeoutDetails",
    "InvalidTransitionDetails",
    "UnknownActionDetails",
    "ValidationFailedDetails",
]

Json = Mapping[str, object] | Sequence[object] | str | float | bool | None
"""Any value of JSON."""

# fmt: off


class InvalidTransitionDetails(t.TypedDict):
    """Details of ``InvalidTransition``."""


class UnknownActionDetails(t.TypedDict):
    """Details of ``UnknownAction``."""


class ValidationFailedDetails(t.TypedDict):
    """Details of ``ValidationFailed``."""

    field: t.NotRequired[str]
    got: t.NotRequired[str | float | bool | Mapping[str, object] | Sequence[object] | None]


class ActionTimeoutDetails(t.TypedDict):
    """Details of ``ActionTimeout``."""

    timeout_seconds: float


class ActionErrorDetails(t.TypedDict):
    """Details of ``ActionError``."""
