"""A drafted taxonomy as text, with comments where it guesses."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from faultspec.diagnostics.formats.escaping import escape_line
from faultspec.importers import Data, Decision, ImportedTaxonomy, NotImportable
from faultspec.importers.envelopes import all_of, one_or_all
from faultspec.importers.openapi import read as read_openapi
from faultspec.importers.validate import drop_invalid
from faultspec.importers.yaml_writer import write_yaml
from faultspec.openapi.nodes import mapping
from faultspec.openapi.service import Description
from faultspec.runtime.nodes import slot_places
from faultspec.runtime.shape import compile_shape
from faultspec_conformance.learning.answers import (
    BodyShape,
    ErrorAnswer,
    with_constants,
    with_fixed_values,
)
from faultspec_conformance.learning.code_counts import count_codes
from faultspec_conformance.learning.document import ELSEWHERE_ID, document_errors, document_shape
from faultspec_conformance.learning.fallbacks import (
    with_fallback_codes,
    with_usual_envelope_first,
)
from faultspec_conformance.learning.idempotency_keys import guess_idempotency
from faultspec_conformance.learning.in_band import Marks, error_condition

#: Decisions that a comment lists; lint has them all.
_LISTED = 12

#: The reason of a code that no answer and no document has.
_ADDED = "no answer had it: frameworks refuse and break by themselves, so it needs a name"

#: The reason of a fallback whose code answers had.
_GUESSED = "`{}` is a guess: the code for any refusal of the framework is one of no operation alone"

#: The reason of a surface whose errors may have a status of success.
_IN_BAND = "errors under 2xx are recognized by `error_when`; their codes are missing, so it is open"

#: The reason of a rule about idempotency keys.
_KEYED = "each POST documents `{key}`; that the same key makes nothing twice is a guess"

_CONSTRUCT = re.compile(r"  ([A-Za-z_][\w.-]*):")


def draft_taxonomy(
    description: Description, shapes: Sequence[BodyShape], marks: Marks
) -> ImportedTaxonomy:
    """The taxonomy of a document and of the errors that its service answered. ``marks``: those of
    an error under a status of success. Raises NotImportable.
    """
    if description.learned and not shapes:
        raise NotImportable(
            "no-failures",
            "no error of the service has a JSON object or plain text as its body, so none can be "
            "drafted",
            hint="`--path /orders/17` names paths to ask for; if the errors are HTML, let the "
            "service answer JSON, or write the taxonomy: `faultspec init`",
        )
    shapes = [with_fixed_values(with_constants(shape)) for shape in shapes]
    place = _code_place(shapes[0]) if shapes else None
    document = document_errors(_without_refused(description), shapes, place=place)
    imported = read_openapi(document, observed=True)
    operations = {
        name: operation
        for name, operation in imported.data.get("operations", {}).items()
        if operation.get("wire", name) != ELSEWHERE_ID
    }
    # A draft is of one service: no other taxonomy extends it yet.
    left_out = ("operations", "extensible")
    data: Data = {key: value for key, value in imported.data.items() if key not in left_out}
    data |= {"operations": operations} if operations else {}
    data |= {"profile": "rfc9110"}
    keys = guess_idempotency(description)
    data |= {"idempotency": keys} if keys else {}
    if marks:
        api = {**data["surfaces"]["api"], "error_when": error_condition(marks), "codes": "open"}
        data |= {"surfaces": {**data["surfaces"], "api": api}}
    data |= {"privacy": {**data["privacy"], **_concealment(data, shapes)}}
    data |= {"codes": {name: _with_messages(code) for name, code in data["codes"].items()}}
    data = with_usual_envelope_first(data)
    whole, new = with_fallback_codes(data)
    try:
        drafted = drop_invalid(imported._replace(data=whole))
    except NotImportable:  # its envelope asks for more than another code shows
        return drop_invalid(imported._replace(data=data))
    added = tuple(Decision("fallback", f"codes.{name}", _ADDED) for name in new)
    guessed = tuple(
        Decision("fallback", f"fallback.{name}", _GUESSED.format(each["code"]))
        for name, each in whole["fallback"].items()
        if each != mapping(data.get("fallback")).get(name) and each["code"] not in new
    )
    in_band = (Decision("surface", "surfaces.api", _IN_BAND),) if marks else ()
    keyed = (Decision("idempotency", "idempotency", _KEYED.format(**keys)),) if keys else ()
    return drafted._replace(decisions=(*in_band, *keyed, *guessed, *added, *drafted.decisions))


def _with_messages(code: Data) -> Data:
    """The code with a message in each example that the importer gave none: it was the summary."""
    if "example" not in code:
        return code
    examples = [{"message": code["summary"], **each} for each in all_of(code["example"])]
    return {**code, "example": one_or_all(examples)}


def _code_place(shape: BodyShape) -> str | None:
    """Where the bodies name their codes; None if they do not, and the status decides."""
    try:
        imported = read_openapi(document_shape(shape, "Service"), observed=True)
    except NotImportable:
        return None
    for envelope in imported.data["envelopes"].values():
        drawn = slot_places(compile_shape(envelope["shape"]))
        if "code" in drawn:
            return drawn["code"][0].path
    return None


def _without_refused(description: Description) -> Description:
    """A learned description without methods that the service does not have."""
    if not description.learned:
        return description
    paths = {
        path: {
            method: node
            for method, node in mapping(item).items()
            if mapping(mapping(node).get("responses")).keys() != {"405"}
        }
        for path, item in mapping(description.document.get("paths")).items()
    }
    return replace(description, document={**description.document, "paths": paths})


def _concealment(data: Data, shapes: Sequence[BodyShape]) -> Data:
    """The key of `privacy` by which another tenant's resource answers as a missing one: with a code
    of operations before one of unknown routes.
    """
    seen = count_codes(data, (answer for shape in shapes for answer in shape.answers))
    missing = [name for name, code in data["codes"].items() if code.get("http") == 404]
    missing.sort(key=lambda name: None in seen[name])
    return {"conceal": [{"across": "tenant", "answer": missing[0]}]} if missing else {}


def write_draft(
    imported: ImportedTaxonomy, answers: Sequence[ErrorAnswer], source: str, schema: str
) -> str:
    """The text of a drafted taxonomy. ``source``: what it was drafted from."""
    head = [
        f"# A draft from {source}. Comments say what is a guess; check them, then remove them.",
        *_decisions(imported.decisions),
    ]
    text = _comment(write_yaml(imported.data), _evidence(imported, answers))
    lines = (f"# yaml-language-server: $schema={schema}", *map(escape_line, head))
    return "".join(f"{line}\n" for line in lines) + text


def _decisions(decisions: Sequence[Decision]) -> Iterator[str]:
    found = list(
        dict.fromkeys(f"# - {each.path}: {' '.join(each.reason.split())}" for each in decisions)
    )
    if found:
        yield "# The team decides:"
        yield from found[:_LISTED]
    if len(found) > _LISTED:
        yield f"# - and {len(found) - _LISTED} more, which `faultspec lint` lists"


def _evidence(
    imported: ImportedTaxonomy, answers: Iterable[ErrorAnswer]
) -> Mapping[tuple[str, str], str]:
    """For each code and envelope, where it comes from."""
    seen = count_codes(imported.data, answers)
    added = {each.path for each in imported.decisions if each.reason == _ADDED}
    found: dict[tuple[str, str], str] = {}
    for name, code in imported.data.get("codes", {}).items():
        statuses = ", ".join(map(str, all_of(code.get("http"))))
        number = seen[name].total()
        found["codes", name] = (
            "not observed: for the fallback; the name is a guess"
            if f"codes.{name}" in added
            else f"observed: {statuses}, in {_count(number)}; whether to retry is a guess"
            if number
            else "from the document alone, not observed; whether to retry is a guess"
        )
    return found


def _count(number: int) -> str:
    return "1 answer" if number == 1 else f"{number} answers"


def _comment(text: str, comments: Mapping[tuple[str, str], str]) -> str:
    """The text with a comment above each named construct."""
    out: list[str] = []
    section = ""
    for line in text.splitlines():
        if line and not line.startswith(" "):
            section = line.partition(":")[0]
        found = _CONSTRUCT.match(line)
        comment = comments.get((section, found[1])) if found else None
        if comment is not None:
            out.append(f"  # {comment}")
        out.append(line)
    return "\n".join(out) + "\n"
