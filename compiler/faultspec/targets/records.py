"""The records target: JSON Schema of the log record of an error and of its record in the audit
log.
"""

from collections.abc import Mapping

from faultspec.language.model import DetailMember, Taxonomy
from faultspec.targets import schema as schemas
from faultspec.targets.jsonschema import DIALECT
from faultspec.targets.model import Model
from faultspec.targets.surfaces import SurfaceFile, SurfacesView


def view(taxonomy: Taxonomy, model: Model) -> SurfacesView | None:
    """The documents, or None without declared records."""
    records: dict[str, Mapping[str, DetailMember]] = {}
    if taxonomy.telemetry is not None and taxonomy.telemetry.log:
        records["log"] = taxonomy.telemetry.log
    if taxonomy.audit is not None:
        records["audit"] = taxonomy.audit.record
    means = {
        "log": taxonomy.telemetry.means if taxonomy.telemetry is not None else {},
        "audit": taxonomy.audit.means if taxonomy.audit is not None else {},
    }
    files = tuple(
        SurfaceFile(
            kind,
            _document(
                kind=kind, members=members, means=means[kind], taxonomy=taxonomy, model=model
            ),
        )
        for kind, members in records.items()
    )
    return SurfacesView(files) if files else None


def _document(
    kind: str,
    members: Mapping[str, DetailMember],
    means: Mapping[str, str],
    taxonomy: Taxonomy,
    model: Model,
) -> schemas.Json:
    found = schemas.members_schema(members, taxonomy)
    for name, fact in means.items():
        if fact == "$code" and name in members:
            codes = list(dict.fromkeys(code.wire for _, code in schemas.live(taxonomy)))
            found["properties"][name] = {**found["properties"][name], "enum": codes}
    return {
        "$schema": DIALECT,
        "$comment": model.header,
        "title": f"{taxonomy.title}: the {kind} record of an error",
        "type": "object",
        **found,
    }
