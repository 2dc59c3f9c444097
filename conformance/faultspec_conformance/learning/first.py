"""The taxonomy of a first look: the most common shape of errors, and what every service owes."""

import yaml

from faultspec.importers import NotImportable
from faultspec.importers.openapi import read as read_openapi
from faultspec.importers.validate import drop_invalid
from faultspec.importers.yaml_writer import write_yaml
from faultspec.language import read
from faultspec.language.model import Taxonomy
from faultspec_conformance.learning.answers import BodyShape
from faultspec_conformance.learning.document import document_shape
from faultspec_conformance.learning.in_band import Marks, error_condition

WITHOUT_TAXONOMY = "what every service owes"

NO_TAXONOMY = (
    "no taxonomy was given, so crashes, leaks and RFC 9110 were judged, and no codes or shapes; "
    "`faultspec init --from URL` drafts one"
)
"""The note of a report without a taxonomy."""
"""The name of the taxonomy in the report of a run that had none."""

#: The clauses of a first look: what a service owes whatever its taxonomy. All others compare
#: answers with what a team declares.
OWED = ",".join(("service/*", "leaks/*", "envelope/*", "http/*", "framework/*", "auth/*"))

#: The clauses of them that traffic can show without a learned shape, and without probes.
OWED_BY_ANY_SHAPE = ",".join(("service/*", "leaks/*", "http/*"))

#: The clauses of a first look at a service that publishes a document.
OWED_WITH_DOCUMENT = ",".join(
    (
        OWED,
        *("document/status", "document/media-type", "document/headers", "document/schema"),
        *("document/challenge", "document/bounds"),
    )
)

_SERVICE = """\
faultspec: 1
taxonomy: {name: service, version: 1.0.0, title: Service, owner: unknown}
envelopes:
  any:
    media_type: [application/json, application/problem+json]
    shape: $body
    fields: {code: {places: [status]}, body: {}}
    additional: allow
surfaces:
  api: {transport: http, error_when: {status: [4xx, 5xx]}, ENVELOPE}
profile: rfc9110
codes:
  refused: {summary: Refused, http: 4xx, retriable: none, client_action: user, effect: none}
  failed: {summary: Failed, http: 5xx, retriable: none, client_action: user, effect: unknown}
privacy: {detectors: [stack-trace, sql, connection-string, path, private-address, secret, canary]}
"""

#: Any JSON body is an error. The run by which the shapes are learned is judged by it.
_ANY_BODY = _SERVICE.replace("ENVELOPE", "envelope: any, codes: open")

#: No body is judged.
_NO_BODY = _SERVICE.replace("ENVELOPE", "envelope: none, reason: No error is a JSON object.")


def any_body() -> Taxonomy:
    """The taxonomy of a service of which nothing is known."""
    return _read(_ANY_BODY)


def no_shape() -> Taxonomy:
    """The taxonomy of a service whose errors are no JSON objects."""
    return _read(_NO_BODY)


def _read(text: str) -> Taxonomy:
    loaded = read(text, "")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


def one_shape(shape: BodyShape, marks: Marks) -> Taxonomy | None:
    """The taxonomy whose errors have this shape; None if the language has no envelope for it. It
    leaves open which codes there are. ``marks``: those of an error under a status of success.
    """
    try:
        imported = drop_invalid(read_openapi(document_shape(shape, "Service")))
    except NotImportable:
        return None
    data = {key: value for key, value in imported.data.items() if key != "operations"}
    owed = yaml.safe_load(_ANY_BODY)
    # Findings name the envelope: nobody declared it.
    names = {name: f"learned{name.removeprefix('error')}" for name in data["envelopes"]}
    envelopes = {names[name]: envelope for name, envelope in data["envelopes"].items()}
    own = data["surfaces"]["api"]["envelope"]
    renamed = [names[name] for name in own] if isinstance(own, list) else names.get(own, own)
    surfaces = {"api": {**data["surfaces"]["api"], "envelope": renamed, "codes": "open"}}
    if marks:
        surfaces["api"]["error_when"] = error_condition(marks)
    codes = {
        code: {**facts, "envelope": names[facts["envelope"]]} if "envelope" in facts else facts
        for code, facts in data["codes"].items()
    }
    kept = {key: owed[key] for key in ("profile", "privacy")}
    learned = {"envelopes": envelopes, "surfaces": surfaces, "codes": codes, **kept}
    return read(write_yaml({**data, **learned}), "").taxonomy
