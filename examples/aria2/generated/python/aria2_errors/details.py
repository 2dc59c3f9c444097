"""The types of the details of each code of Errors of aria2's RPC interface."""

# Generated from examples/aria2/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/aria2/taxonomy.yaml

import typing as t
from collections.abc import Mapping, Sequence

__all__ = [
    "FailedDetails",
    "InvalidParamsDetails",
    "InvalidRequestDetails",
    "MethodNotFoundDetails",
    "ParseErrorDetails",
]

Json = Mapping[str, object] | Sequence[object] | str | float | bool | None
"""Any value of JSON."""

# fmt: off


class ParseErrorDetails(t.TypedDict):
    """Details of ``ParseError``."""


class InvalidRequestDetails(t.TypedDict):
    """Details of ``InvalidRequest``."""


class MethodNotFoundDetails(t.TypedDict):
    """Details of ``MethodNotFound``."""


class InvalidParamsDetails(t.TypedDict):
    """Details of ``InvalidParams``."""


class FailedDetails(t.TypedDict):
    """Details of ``Failed``."""
