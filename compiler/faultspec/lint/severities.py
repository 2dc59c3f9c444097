"""The severities that a project gives to rules."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Literal

from faultspec.diagnostics.model import Diagnostic, Severity


def with_severities(
    diagnostics: Iterable[Diagnostic], severities: Mapping[str, Severity | Literal["off"]]
) -> Iterator[Diagnostic]:
    """The diagnostics, each with the severity of its rule, without those of rules that are off."""
    for diagnostic in diagnostics:
        severity = severities.get(diagnostic.code, diagnostic.severity)
        if severity != "off":
            yield replace(diagnostic, severity=severity)
