"""SARIF 2.1.0: one run of one tool, with columns in code points."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple
from urllib.parse import quote

from faultspec.diagnostics.formats.escaping import as_json
from faultspec.diagnostics.model import Span

Data = dict[str, object]


class SarifResult(NamedTuple):
    """One result. `members` are further members of the result object (SARIF section 3.27)."""

    rule: str
    level: Literal["error", "warning", "note", "none"]
    message: str
    locations: Sequence[Data]
    members: Mapping[str, object] = {}


def write_sarif(
    rules: Sequence[Mapping[str, object]],
    results: Sequence[SarifResult],
    run: Mapping[str, object] | None = None,
    *,
    version: str = "",
) -> str:
    """The log. `rules` are reporting descriptors with their `id`; `run` has further members.

    `version`: that of faultspec, if it is known.
    """
    indexes = {rule["id"]: index for index, rule in enumerate(rules)}
    driver = {"name": "faultspec", **({"version": version} if version else {}), "rules": rules}
    found = [
        {
            "ruleId": result.rule,
            **({"ruleIndex": indexes[result.rule]} if result.rule in indexes else {}),
            "level": result.level,
            "message": {"text": result.message},
            "locations": result.locations,
            **result.members,
        }
        for result in results
    ]
    return as_json(
        {
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [
                {
                    "tool": {"driver": driver},
                    **(run or {}),
                    "columnKind": "unicodeCodePoints",
                    "results": found,
                }
            ],
        }
    )


def sarif_artifact(path: str) -> Data:
    """The location of a file, percent-encoded; a plain colon would end a scheme."""
    return {"uri": quote(path.encode("utf-8", "surrogatepass"), safe="/")}


def sarif_region(span: Span) -> Data:
    """A span of a file."""
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def sarif_location(path: str, region: Data | None = None) -> Data:
    """A file, or a region of it."""
    physical: Data = {"artifactLocation": sarif_artifact(path)}
    if region is not None:
        physical["region"] = region
    return {"physicalLocation": physical}
