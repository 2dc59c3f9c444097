"""The report of a comparison as SARIF, with the texts of its rules."""

from collections.abc import Mapping

from faultspec.diagnostics import printers
from faultspec.evolution.ledger import fingerprint
from faultspec.evolution.report import EvolutionReport, as_diagnostics
from faultspec.evolution.rules import RULES


def as_sarif(report: EvolutionReport, sources: Mapping[str, str]) -> str:
    """The changes as SARIF 2.1.0. A change keeps its fingerprint, so that a viewer knows it again
    at another line.
    """
    diagnostics = as_diagnostics(report)
    # The diagnostics of changes come first, in their order; stale entries follow.
    changes = zip(diagnostics, report.comparison.changes, strict=False)
    return printers.sarif(
        diagnostics,
        sources,
        rules={
            rule.id: {
                "shortDescription": {"text": rule.purpose},
                "help": {"text": f"{rule.purpose} See `faultspec explain {rule.id}`."},
                "helpUri": f"urn:faultspec:evolution-rule:{rule.id}",
            }
            for rule in RULES
        },
        fingerprints={diagnostic: fingerprint(change) for diagnostic, change in changes},
    )
