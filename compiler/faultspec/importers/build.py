"""The failures of an OpenAPI document, put together as the data of a taxonomy."""

from collections.abc import Sequence
from typing import Any

from faultspec.importers import Data, ImportedTaxonomy, Report, registry
from faultspec.importers.assembly import assemble
from faultspec.importers.bodies import ImportedContract
from faultspec.importers.by_status import PlainFailures, read_plain_failures
from faultspec.importers.codes import CodeContext, ImportedCode, build_code, details_of
from faultspec.importers.envelopes import ImportedEnvelope, build_envelopes, one_or_all
from faultspec.importers.examples import CodeUse
from faultspec.importers.headers import header_rules
from faultspec.importers.names import CodeKey, NamedFamilies, assign_names
from faultspec.importers.naming import identifier, version_of
from faultspec.importers.operations import import_operations
from faultspec.importers.statuses import assign_statuses
from faultspec.language.scope import status_range
from faultspec.openapi.nodes import visible_text
from faultspec.openapi.reader import DocumentReader
from faultspec.runtime.nodes import slot_places

#: The shared code for answers that no response of the document declares: a taxonomy has at least
#: one shared code.
UNDECLARED = "UNDECLARED"

_UNDECLARED_CODE: Data = {
    "summary": "An answer that the document does not declare.",
    "http": None,
    "http_reason": "No response of the document stands for it.",
    "retriable": False,
    "example": {"message": "The answer is not declared"},
}

_NOT_DESCRIBED = "The document does not describe the bodies of these answers."
_NOT_DECLARED = "No response of the document has another status of the class; the team decides."

#: Detectors of texts that no error of any service may contain. No document declares them.
_DETECTORS = ("stack-trace", "sql", "connection-string", "secret", "canary")


def build_taxonomy(contract: ImportedContract, reader: DocumentReader) -> ImportedTaxonomy:
    """The taxonomy of what the reader read, with the losses of reading and building."""
    lose = reader.lose
    named = assign_names(contract, lose)
    envelopes, terms = build_envelopes(named, lose)
    built, detail_keys, fallback = _build_codes(
        named, envelopes, lose, makes_examples=contract.has_paths
    )
    codes = {key.name: code.data for key, code in built.items() if key.operation is None}
    plain = read_plain_failures(
        contract, list(codes), [envelope.name for envelope in envelopes], lose
    )
    if plain.envelopes and len(envelopes) + len(plain.envelopes) > len(envelopes) == 1:
        for code in codes.values():
            code.setdefault("envelope", envelopes[0].name)
    codes |= {name: code.data for name, code in plain.codes.items()}
    operations = _operation_errors(built)
    operations |= import_operations(contract, named, plain.listed, operations)
    codes = codes or {UNDECLARED: _UNDECLARED_CODE}
    headers = header_rules(named.families, contract.header_components, lose)
    _lose_descriptions(contract, named, built, lose)
    sections: Data = {
        "domains": terms.domains,
        "boundaries": terms.boundaries,
        "actions": terms.actions,
        "vocabularies": terms.vocabularies,
        "detail_keys": detail_keys,
        "envelopes": {
            **{envelope.name: envelope.data for envelope in envelopes},
            **{envelope.name: envelope.data for envelope in plain.envelopes},
        },
        "surfaces": {},
        "headers": headers,
        "fallback": fallback | (_unused_classes(codes, fallback) if contract.has_paths else {}),
        "codes": codes,
        "operations": operations,
        "privacy": {"detectors": list(_DETECTORS)},
    }
    header = _header(contract, lose)
    every = [*codes.values()]
    every += [code for item in operations.values() for code in item.get("errors", {}).values()]
    unanswered = any(code["http"] is None for code in every)
    if contract.has_paths:
        _lose_open_decisions(named, codes, headers, lose)
    sections["surfaces"] = _surfaces(envelopes, plain, lose, unanswered=unanswered)
    written = {name: section for name, section in sections.items() if section}
    return ImportedTaxonomy(
        assemble(header, written),
        tuple(reader.losses),
        _example_pointers(built, plain),
    )


def _build_codes(
    named: NamedFamilies,
    envelopes: Sequence[ImportedEnvelope],
    lose: Report,
    *,
    makes_examples: bool,
) -> tuple[dict[CodeKey, ImportedCode], Data, Data]:
    """The codes that bodies name, the registry of details keys, and the fallbacks."""
    uses: dict[CodeKey, list[CodeUse]] = {}
    for envelope in envelopes:
        for body in envelope.family.bodies:
            uses.setdefault(named.codes[body], []).append(CodeUse(envelope, body))
    details = {key: found for key in uses if (found := details_of(uses[key])) is not None}
    detail_keys, members = registry.register(details)
    statuses, fallback = assign_statuses(named, lose)
    context = CodeContext(len(envelopes), _flag_keys(envelopes), makes_examples, lose)
    built = {
        key: build_code(
            uses[key],
            members=members.get(key, {}),
            statuses=statuses.get(key, []),
            name=key.name,
            context=context,
        )
        for key in uses
    }
    return built, detail_keys, fallback


def _lose_descriptions(
    contract: ImportedContract,
    named: NamedFamilies,
    built: dict[CodeKey, ImportedCode],
    lose: Report,
) -> None:
    """Report the descriptions of responses that are the summary of none of their codes."""
    for description in contract.descriptions:
        summaries = {built[named.codes[body]].data["summary"] for body in description.bodies}
        if description.text is not None and description.text not in summaries:
            reason = "the codes of the response have summaries of their own"
            lose(description.pointer, "description", reason)


def _flag_keys(envelopes: Sequence[ImportedEnvelope]) -> frozenset[str]:
    """The details keys that are retry flags."""
    found = [details for envelope in envelopes for details in envelope.details.values()]
    return frozenset(details.flag[0] for details in found if details.flag)


def _operation_errors(built: dict[CodeKey, ImportedCode]) -> Data:
    """The operations that have codes of their own, with those."""
    found: Data = {}
    for key, code in built.items():
        if key.operation is not None:
            found.setdefault(key.operation, {"errors": {}})["errors"][key.name] = code.data
    return found


def _example_pointers(
    built: dict[CodeKey, ImportedCode], plain: PlainFailures
) -> dict[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The places of the examples by the paths of their codes in the data."""
    codes: dict[tuple[str, ...], ImportedCode] = {}
    for key, code in built.items():
        parts = ("codes",) if key.operation is None else ("operations", key.operation, "errors")
        codes[*parts, key.name] = code
    for name, code in plain.codes.items():
        codes["codes", name] = code
    return {path: code.example_pointers for path, code in codes.items() if code.example_pointers}


def _lose_open_decisions(named: NamedFamilies, codes: Data, headers: Data, lose: Report) -> None:
    """Report what a taxonomy says and the document leaves to the team."""
    for family in named.families:
        listed = [status for status, bodies in family.responses.items() if len(bodies) > 1]
        if len(listed) > 1:
            reason = "each of its codes has all its statuses; the team decides which code has which"
            lose(family.pointer, "status", reason)
    limited = [
        name
        for name, code in codes.items()
        if any(429 in status_range(str(span)) for span in _list_statuses(code["http"]))
        and code.get("headers", {}).get("Retry-After") != "required"
    ]
    if limited and "Retry-After" not in headers:
        reason = f"no answer with 429 has to have Retry-After (RFC 6585): {', '.join(limited)}"
        lose("/paths", "header", reason)


def _list_statuses(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _unused_classes(codes: Data, fallback: Data) -> Data:
    """A fallback for the statuses of each class that no response of the document has."""
    spans = [
        status_range(str(span)) for code in codes.values() for span in _list_statuses(code["http"])
    ]
    return {
        name: {"code": None, "reason": _NOT_DECLARED}
        for name, digit in (("4xx", 4), ("5xx", 5))
        if name not in fallback
        and any(
            all(status not in span for span in spans)
            for status in range(100 * digit, 100 * digit + 100)
        )
    }


def _header(contract: ImportedContract, lose: Report) -> Data:
    info = contract.info
    title = visible_text(info.get("title")) or "Imported errors"
    version = version_of(info.get("version"))
    if info.get("version") not in (None, version):
        reason = f"it is not a version such as 1.0.0; {version} stands in its place"
        lose("/info/version", "version", reason)
    found = {"name": identifier(title, "imported"), "version": version, "title": title}
    if contract.has_paths:
        description = visible_text(info.get("description"))
        return {**found, **({"description": description} if description else {})}
    if info.get("description") is not None:
        lose("/info/description", "description", "in a library of schemas it describes the file")
    return found


def _surfaces(
    envelopes: Sequence[ImportedEnvelope],
    plain: PlainFailures,
    lose: Report,
    *,
    unanswered: bool,
) -> Data:
    """The surfaces. ``unanswered``: some codes have no status."""
    responding = [envelope.name for envelope in envelopes if envelope.family.responses]
    responding += [envelope.name for envelope in plain.envelopes if envelope.described]
    found = _undescribed_surfaces(plain, alone=not responding)
    if responding:
        shown = any(envelope.family.shown for envelope in envelopes)
        codes = "open" if shown else "closed"
        found["api"] = {"transport": "http", "envelope": one_or_all(responding), "codes": codes}
    elsewhere = [envelope for envelope in envelopes if unanswered or not envelope.family.responses]
    if elsewhere or not found:
        found["elsewhere"] = {
            "transport": "event",
            "error_when": {"present": _mark(elsewhere)},
            "envelope": one_or_all([envelope.name for envelope in elsewhere]),
            "codes": "closed",
        }
    for envelope in envelopes:
        if not envelope.family.responses:
            reason = "the document does not say what carries it; `event` stands in its place"
            lose(envelope.family.pointer, "transport", reason)
    return found


def _undescribed_surfaces(plain: PlainFailures, *, alone: bool) -> Data:
    """The surfaces of answers whose bodies the document does not describe.

    ``alone``: there are no others.
    """
    names = [envelope.name for envelope in plain.envelopes if not envelope.described]
    rest = {"envelope": one_or_all(names), "codes": "closed", "reason": _NOT_DESCRIBED}
    if alone and names:
        return {"api": {"transport": "http", **rest}}
    found: Data = {}
    for index, (routes, statuses) in enumerate(plain.undescribed, 1):
        match = {**({"routes": routes} if routes else {}), "statuses": statuses}
        name = "undescribed" if index == 1 else f"undescribed_{index}"
        found[name] = {"transport": "http", "match": match, **rest}
    return found


def _mark(envelopes: Sequence[ImportedEnvelope]) -> str:
    """The member that marks an error without a status: the code, or "" if its place differs."""
    places: set[Any] = {slot_places(envelope.shape)["code"][0].path for envelope in envelopes}
    return str(places.pop()) if len(places) == 1 else ""
