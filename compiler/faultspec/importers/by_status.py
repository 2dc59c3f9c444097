"""Responses whose bodies name no code: envelopes known by their shape, codes by the status."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from faultspec.importers import Data, Json, Report
from faultspec.importers.bodies import (
    BodyFamily,
    CodedBody,
    ImportedContract,
    ImportedHeader,
    ImportedOperation,
    ImportedResponse,
    SampledError,
)
from faultspec.importers.code_member import Listed, listed_values, rank_of_name
from faultspec.importers.codes import ImportedCode, with_examples
from faultspec.importers.envelopes import ImportedEnvelope, one_or_all
from faultspec.importers.examples import (
    MADE_MESSAGE,
    CodeUse,
    PlacedExample,
    make_example,
    read_examples,
)
from faultspec.importers.headers import header_rule
from faultspec.importers.naming import UniqueNames, identifier
from faultspec.importers.pictures import Picture, draw_picture
from faultspec.importers.status_codes import (
    CLASSES,
    StatusCode,
    Use,
    assign_code_names,
    list_codes,
    statuses_of,
    undescribed_statuses,
    write_statuses,
)
from faultspec.language.scope import word_tuple
from faultspec.language.spelling import snake
from faultspec.language.values import foreign_schema_problem
from faultspec.language.wire import HEADER_FORMATS
from faultspec.openapi.nodes import sequence
from faultspec.openapi.pointers import child
from faultspec.runtime import shape
from faultspec.runtime.nodes import Node
from faultspec.targets.model import phrase
from faultspec.targets.openapi import SAMPLES

CODE_HEADER = re.compile(r"(^|-)(err(or)?-?(code|type|name|reason)|errcode|errortype)$", re.I)
"""The names of headers that hold a code."""

#: Names of members that hold a code if anything does; the others often hold something else.
_LIKELY = 8

#: Examples of one code; more of them only repeat it.
_EXAMPLES = 3


class PlainEnvelope(NamedTuple):
    """An envelope without a code in it.

    ``details``: the schema of its spread details. ``described``: the document has its body.
    """

    name: str
    data: Data
    shape: Node
    details: Json | None
    described: bool


class Undescribed(NamedTuple):
    """Routes whose answers with these statuses the document does not describe; none for all."""

    routes: list[str]
    statuses: list[Any]


class PlainFailures(NamedTuple):
    """``codes`` by name, and the names of those that each operation lists."""

    envelopes: list[PlainEnvelope]
    codes: dict[str, ImportedCode]
    listed: Mapping[ImportedOperation, list[str]]
    undescribed: list[Undescribed]


def read_plain_failures(
    contract: ImportedContract, used: Sequence[str], envelopes: Sequence[str], lose: Report
) -> PlainFailures:
    """``used`` and ``envelopes``: the names of codes and envelopes in use."""
    gallery = _Gallery(envelopes, lose)
    groups: dict[StatusCode, list[Use]] = {}
    for operation in contract.operations:
        for response in operation.uncoded:
            header, wires = _code_header(response)
            hung = gallery.hang(response, header)
            for wire in wires or (None,):
                code = StatusCode(response.status, hung, wire)
                groups.setdefault(code, []).append((operation, response))
    names = assign_code_names(groups, UniqueNames(used))
    statuses = {code: statuses_of(code, groups) for code in groups}
    only = len(gallery.envelopes) + len(envelopes) == 1
    codes = {
        names[code]: _build_code(
            names[code], code, uses, statuses[code], gallery=gallery, only=only, lose=lose
        )
        for code, uses in groups.items()
    }
    return PlainFailures(
        list(gallery.envelopes.values()),
        codes,
        list_codes(groups, names),
        _find_undescribed(contract, groups, gallery),
    )


class _Gallery:
    """The envelopes of all responses, one for each schema with its media types."""

    def __init__(self, used: Sequence[str], lose: Report) -> None:
        self.lose = lose
        self.names = UniqueNames(used)
        self.envelopes: dict[str, PlainEnvelope] = {}
        self.known: dict[str, str] = {}

    def hang(self, response: ImportedResponse, header: str | None) -> tuple[str, ...]:
        """The names of the envelopes of a response, one for each alternative of its body."""
        branches = _alternatives(response.schema)
        found = [self._envelope(response, branch, header, len(branches)) for branch in branches]
        return tuple(dict.fromkeys(found))

    def _envelope(
        self, response: ImportedResponse, schema: object, header: str | None, alternatives: int
    ) -> str:
        asked = json.dumps([schema, response.media_types, header], sort_keys=True)
        if asked in self.known:
            return self.known[asked]

        def lose(pointer: str, reason: str) -> None:
            self.lose(f"{response.place}{pointer}", "schema", reason)

        picture = draw_picture(schema, lose)
        data = _envelope_data(picture, response.media_types, header)
        made = json.dumps([data, picture.details], sort_keys=True)
        name = self.known.get(made)
        if name is None:
            wanted = response.name if alternatives == 1 else None
            name = self.names.reserve(_envelope_name(wanted, picture, response))
            self.envelopes[name] = PlainEnvelope(
                name=name,
                data=data,
                shape=shape.compile_shape(data["shape"]),
                details=picture.details,
                described=bool(response.media_types),
            )
        self.known[asked] = self.known[made] = name
        if header is None:
            _lose_unlisted_code(picture, response, lose)
        return name


def _alternatives(schema: object) -> list[object]:
    """The alternatives of a body, or the one schema that it has."""
    if isinstance(schema, Mapping) and not schema.get("properties"):
        for keyword in ("oneOf", "anyOf"):
            if branches := sequence(schema.get(keyword)):
                return [found for branch in branches for found in _alternatives(branch)]
    return [schema]


def _envelope_data(picture: Picture, media_types: Sequence[str], header: str | None) -> Data:
    place: Any = "status" if header is None else {"header": header}
    listed = list(media_types) or ["application/json", "application/problem+json"]
    return {
        **({} if listed == ["application/json"] else {"media_type": one_or_all(listed)}),
        "shape": picture.shape,
        "fields": {"code": {"places": [place]}, **picture.fields},
        **({} if picture.additional == "warn" else {"additional": picture.additional}),
    }


def _envelope_name(wanted: str | None, picture: Picture, response: ImportedResponse) -> str:
    if not response.media_types:
        return "undescribed"
    if wanted is None and isinstance(picture.shape, Mapping):
        wanted = next(iter(picture.shape), "body").removesuffix("?")
    return identifier(snake(wanted or "body"), "body")


def _lose_unlisted_code(picture: Picture, response: ImportedResponse, lose: Any) -> None:
    """Tell the team that a member is called like a code, and that nothing lists its values."""
    names = picture.shape if isinstance(picture.shape, Mapping) else {}
    for key, drawn in names.items():
        name = key.removesuffix("?")
        if rank_of_name(name) < _LIKELY and isinstance(drawn, str) and drawn != "$message":
            reason = (
                f"nothing lists the values of `{name}`, so the status decides the code; "
                "the team may list them"
            )
            lose(child("/properties", name), reason)


def _code_header(response: ImportedResponse) -> tuple[str | None, Listed]:
    """The header that names codes, and the codes that its schema lists or shows."""
    for name, header in response.headers.items():
        if CODE_HEADER.search(name):
            shown = [text for text in sequence(header.schema.get("examples")) if text]
            wires = listed_values(header.schema) or listed_values({"enum": shown})
            if wires:
                return name, list(dict.fromkeys(wires))
    return None, []


def _find_undescribed(
    contract: ImportedContract, groups: Mapping[StatusCode, list[Use]], gallery: _Gallery
) -> list[Undescribed]:
    described = {status for each in contract.operations for status in each.described}
    found: dict[tuple[int, ...], list[str]] = {}
    everywhere: set[int] = set()
    for code, uses in groups.items():
        if gallery.envelopes[code.envelopes[0]].described:
            continue
        if code.status not in CLASSES and not described & {code.status, *CLASSES}:
            everywhere.add(int(code.status))
            continue
        for operation, _ in uses:
            statuses = undescribed_statuses(operation, code.status)
            found.setdefault(tuple(sorted(statuses)), []).append(operation.route)
    listed = [
        Undescribed(list(dict.fromkeys(routes)), write_statuses(set(statuses)))
        for statuses, routes in found.items()
        if statuses
    ]
    return [*listed, *([Undescribed([], write_statuses(everywhere))] if everywhere else [])]


# Codes


def _build_code(
    name: str,
    code: StatusCode,
    uses: Sequence[Use],
    statuses: list[Any],
    *,
    gallery: _Gallery,
    only: bool,
    lose: Report,
) -> ImportedCode:
    responses = [response for _, response in uses]
    if code.status == "default":
        reason = "`default` is any status that is not listed; it became those of 4xx and 5xx"
        lose(responses[0].pointer, "default", reason)
    spoken = phrase(int(code.status)) if code.status.isdecimal() else ""
    texts = [" ".join(each.description.split()) for each in responses if each.description]
    for response in responses:
        text = " ".join((response.description or texts[0] if texts else "").split())
        if texts and text != texts[0]:
            lose(response.pointer, "description", "the first text of a shared code is its summary")
    data: Data = {"summary": texts[0] if texts else spoken or f"The status {code.status}."}
    if code.wire is not None and code.wire != name:
        data["wire"] = code.wire
    data["http"] = one_or_all(statuses)
    if not only:
        data["envelope"] = one_or_all(list(code.envelopes))
    if headers := _headers(responses, lose):
        data["headers"] = headers
    own = [gallery.envelopes[each] for each in code.envelopes]
    for envelope in own:
        if envelope.details is not None:
            problem = foreign_schema_problem(envelope.details)
            if problem is None:
                data["schema"] = dict(envelope.details)
    examples = _examples(name, data, own[0], responses=responses, lose=lose)
    if not examples:
        made = make_example(own[0].shape, own[0].data["fields"], spoken or MADE_MESSAGE)
        examples = [PlacedExample(made, ())]
    shown = _shown_headers(data.get("headers", {}), responses)
    if shown:
        examples = [each._replace(data={**each.data, "headers": shown}) for each in examples]
    return with_examples(data, examples)


def _shown_headers(rules: Data, responses: Sequence[ImportedResponse]) -> Data:
    """A value for each header that an answer has to have: that of the document, or a made one."""
    found: Data = {}
    for name, rule in rules.items():
        own = rule if isinstance(rule, dict) else {"presence": rule}
        if own["presence"] != "required":
            continue
        header = next(each.headers[name] for each in responses if name in each.headers)
        formats = [*word_tuple(own.get("format")), *HEADER_FORMATS.get(name.lower(), ())]
        values: list[str | int] = [SAMPLES[each] for each in formats if each in SAMPLES]
        values += [*sequence(header.schema.get("examples")), *listed_values(header.schema)]
        values += [] if formats else [own.get("token", "text")]
        if values and str(values[0]).isprintable():
            found[name] = str(values[0])
    return found


def _headers(responses: Sequence[ImportedResponse], lose: Report) -> Data:
    """The headers of a code: required if all its responses require them."""
    found: Data = {}
    every: dict[str, list[ImportedHeader]] = {}
    for response in responses:
        for name, header in response.headers.items():
            every.setdefault(name, []).append(header)
    for name, headers in every.items():
        if CODE_HEADER.search(name):
            continue
        always = len(headers) == len(responses) and all(header.required for header in headers)
        rule = header_rule(name, headers[0], lose)
        presence = "required" if always else "optional"
        found[name] = {"presence": presence, **rule} if rule else presence
    return found


def _samples_of(wire: str | int, response: ImportedResponse) -> list[SampledError]:
    """The examples of a code: those that are named like it, and those that are named like no other
    code of its header.
    """
    _, listed = _code_header(response)
    others = {str(each) for each in listed if each != wire}
    return [each for each in response.samples if each.name.partition(" ")[0] not in others]


def _examples(
    name: str,
    code: Data,
    envelope: PlainEnvelope,
    *,
    responses: Sequence[ImportedResponse],
    lose: Report,
) -> list[PlacedExample]:
    """The first examples of the document that differ."""
    body = CodedBody(code.get("wire", name), {}, responses[0].place)
    distinct: dict[str, SampledError] = {}
    for response in responses:
        for sample in _samples_of(body.wire, response):
            distinct.setdefault(json.dumps(sample.value, sort_keys=True), sample)
    body.samples.extend(distinct.values())
    for sample in body.samples[_EXAMPLES:]:
        lose(sample.pointer, "example", f"only {_EXAMPLES} examples of a shared code are kept")
    del body.samples[_EXAMPLES:]
    family = BodyFamily(
        name=envelope.name,
        pointer=responses[0].place,
        wrapper_path=[],
        code_pointer="",
        bodies=[body],
    )
    drawn = ImportedEnvelope(
        name=envelope.name,
        family=family,
        data=envelope.data,
        shape=envelope.shape,
        facts={},
        details={},
        conditions={},
    )
    return read_examples([CodeUse(drawn, body)], code, lose)
