"""Responses that are failures: those whose bodies name codes, and the others."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from faultspec.importers import Json
from faultspec.importers.bodies import (
    BodyFamily,
    CodedBody,
    FamilyIndex,
    ImportedContract,
    ImportedHeader,
    ImportedOperation,
    ImportedResponse,
    ResponseDescription,
    SampledError,
)
from faultspec.importers.families import (
    Branch,
    Union,
    find_error_list,
    find_union,
    join_all_of,
    read_family,
    reference_name,
)
from faultspec.importers.rules import mark_status
from faultspec.importers.xml_schemas import decoded_schema
from faultspec.language.values import foreign_schema_problem
from faultspec.openapi.nodes import first_json, includes_json, is_json, mapping, visible_text
from faultspec.openapi.pointers import child, value_at
from faultspec.openapi.reader import DocumentReader
from faultspec.openapi.schemas import self_contained
from faultspec.runtime.codecs import find_codec

#: The members of each kind of object that are read.
_OF_RESPONSES = frozenset({"description", "headers", "content", "links"})
_OF_MEDIA = frozenset({"schema", "example", "examples"})
#: Exports make up the example of a header.
_OF_HEADERS = frozenset({"description", "required", "schema", "example"})
_OF_EXAMPLES = frozenset({"summary", "value"})

#: A field name (RFC 9110, section 5.6.2).
_FIELD_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~\-]+")


class _Body(NamedTuple):
    """The body of a response that is read: its media type object, and the pointer of that.

    ``content``: all media types. ``media_type``: None if no codec reads any of them.
    ``schema``: that of the value that is read. ``place``: its pointer, which no other schema has.
    """

    media_type: str | None
    media: Json
    pointer: str
    content: Json
    schema: Any = None
    place: str = ""

    @property
    def is_json(self) -> bool:
        """Whether the body is JSON, and not in another format."""
        return self.media_type is not None and _format(self.media_type) in (None, "JSON")

    @property
    def is_text(self) -> bool:
        """Whether the body is plain text."""
        return self.media_type is not None and _format(self.media_type) == "text"

    def equal_media_types(self) -> list[str]:
        """The media types of the same format with this same body."""
        if self.media_type is None:
            return []
        wanted = _format(self.media_type)
        named = ((str(key), media) for key, media in self.content.items() if "*" not in str(key))
        return [key for key, media in named if media == self.media and _format(key) == wanted]

    def read_media_types(self) -> tuple[str, ...]:
        """The media types of the body; a range of types counts as `application/json`."""
        none = () if self.media_type is None else ("application/json",)
        return tuple(self.equal_media_types()) or none


class _CodedSchema(NamedTuple):
    """The family of a body, the codes of the response in it, and alternatives without a code."""

    family: BodyFamily
    bodies: list[CodedBody]
    uncoded: list[Branch]


def lose_unknown(reader: DocumentReader, holder: Json, pointer: str, known: frozenset[str]) -> None:
    """Report the members of an object that are not read."""
    for key in holder:
        if key not in known and not str(key).startswith("x-"):
            reader.lose(child(pointer, key), "member", "a taxonomy cannot express it")


def read_response(
    reader: DocumentReader,
    contract: ImportedContract,
    status: str,
    value: Any,
    *,
    before: str,
    operation: ImportedOperation | None = None,
) -> None:
    """Add a response to the contract and its operation. ``before``: its pointer."""
    response, pointer = reader.object(value, before, "the response")
    if response is None:
        return
    lose_unknown(reader, response, pointer, _OF_RESPONSES)
    headers = _headers(reader, response, pointer)
    body = _read_body(reader, response, pointer)
    description = visible_text(response.get("description"))
    schema, schema_pointer = body.schema, body.place
    component = reference_name(value)
    plain = ImportedResponse(
        status=status,
        description=description,
        schema=None,
        headers=headers,
        pointer=before,
        media_types=body.read_media_types(),
        name=reference_name(body.media.get("schema")),
        component=None if component is None else str(component),
        place=schema_pointer,
    )
    if operation is not None and plain.media_types:
        operation.described.add(status)
    coded = _coded_schema(reader, contract.index, schema, schema_pointer, status=status)
    _lose_other_media(reader, body, child(pointer, "content"))
    if coded is not None:
        _add_coded_body(coded, plain, body, operation)
        if operation is not None:
            coded.family.uses.append((operation, _carry_schema(reader, plain, body)))
            place_of_text = child(pointer, "description")
            found = ResponseDescription(description, place_of_text, coded.bodies)
            contract.descriptions.append(found)
        _read_samples(reader, body, coded)
        if coded.uncoded:
            _add_uncoded_rest(reader, plain, coded.uncoded, operation)
    elif operation is None:
        reader.lose(before, "response", "no member of its body holds a code")
    else:
        operation.uncoded.append(_carry_schema(reader, plain, body))


def _format(media_type: object) -> str | None:
    codec = find_codec(str(media_type))
    return "JSON" if is_json(media_type) else None if codec is None else codec.name


def _first_read(content: Json) -> str | None:
    """The first media type of JSON, else of another format that a codec reads."""
    others = (str(key) for key in content if "*" not in str(key) and _format(key) is not None)
    return first_json(content) or next(others, None)


def _read_body(reader: DocumentReader, response: Json, pointer: str) -> _Body:
    content = reader.mapping(response, "content", pointer)
    place = child(pointer, "content")
    media_type = _first_read(content)
    if media_type is None:
        media_type = next((key for key in content if includes_json(key)), None)
        if media_type is not None:
            reason = "of a range of media types only JSON is read"
            reader.lose(child(place, media_type), "media-type", reason)
    if isinstance(response.get("links"), Mapping) and response["links"]:
        reader.lose(child(pointer, "links"), "link", "a taxonomy has no links")
    if media_type is None:
        return _Body(None, {}, "", content)
    where = child(place, media_type)
    media = reader.mapping(content, media_type, place)
    lose_unknown(reader, media, where, _OF_MEDIA)
    if "schema" in media and not isinstance(media["schema"], Mapping | bool):
        reader.lose(child(where, "schema"), "form", "the schema is not an object")
    place = child(where, "schema")
    body = _Body(
        media_type=media_type,
        media=media,
        pointer=where,
        content=content,
        schema=media.get("schema"),
        place=place,
    )
    if _format(media_type) != "XML":
        return body
    schema = self_contained(reader, media.get("schema", {}), place, keeps_xml=True)
    decoded = decoded_schema(mapping(schema), reference_name(media.get("schema")))
    if decoded is None:
        return _Body(None, {}, "", content)
    return body._replace(schema=decoded, place=child(place, "xml"))


def _lose_other_media(reader: DocumentReader, body: _Body, pointer: str) -> None:
    """Report the media types that are not read."""
    same = body.equal_media_types()
    for other in body.content:
        reason = "another form of the same body"
        if body.media_type is None:
            is_xml = _format(other) == "XML"
            reason = "no format that is read has the media type"
            reason = "nothing names the root element of the body" if is_xml else reason
        if other != body.media_type and other not in same:
            reader.lose(child(pointer, other), "media-type", reason)


def _add_coded_body(
    coded: _CodedSchema,
    response: ImportedResponse,
    body: _Body,
    operation: ImportedOperation | None,
) -> None:
    family = coded.family
    family.media_types += [key for key in body.equal_media_types() if key not in family.media_types]
    family.responses.setdefault(response.status, {}).update(dict.fromkeys(coded.bodies))
    family.headers.setdefault(response.status, []).append(dict(response.headers))
    if operation is not None:
        operation.coded = [*dict.fromkeys((*operation.coded, *coded.bodies))]
        for coded_body in coded.bodies:
            coded_body.description = coded_body.description or response.description


def _add_uncoded_rest(
    reader: DocumentReader,
    response: ImportedResponse,
    branches: Sequence[Branch],
    operation: ImportedOperation | None,
) -> None:
    """Add the alternatives without a code, of a body that has others, as those of the status."""
    if operation is None:
        for _, place in branches:
            reader.lose(place, "body", "it names no code")
        return
    schemas = [self_contained(reader, schema, place) for schema, place in branches]
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    name = reference_name(branches[0][0]) if len(branches) == 1 else None
    operation.uncoded.append(response._replace(schema=schema, name=name))


def _carry_schema(
    reader: DocumentReader, response: ImportedResponse, body: _Body
) -> ImportedResponse:
    """The response with its schema, without references, and its examples."""
    schema = body.schema
    carried = None if schema is None else self_contained(reader, schema, response.place)
    if carried is False:
        reader.lose(response.place, "schema", "no body fits it; the body may be anything")
    if isinstance(carried, Mapping):
        carried = mark_status(join_all_of(carried), response.status)
    samples = tuple(sample._replace(number=0) for _, sample in _examples(reader, body))
    return response._replace(schema=carried or None, samples=samples)


def _coded_schema(
    reader: DocumentReader, index: FamilyIndex, schema: Any, pointer: str, *, status: str
) -> _CodedSchema | None:
    """The codes of a body, new ones or known ones; None if its alternatives name no code."""
    if not isinstance(schema, Mapping):
        return None
    whole = Union([], [(schema, pointer)])
    union = find_union(reader, schema, pointer) or whole
    union = union._replace(whole=schema, status=status)
    # If an attempt succeeds, only its losses count; if all fail, those of the whole union and of
    # each alternative count.
    attempt, losses = reader.attempt(), None
    listed = find_error_list(attempt, schema, pointer) if not union.path else None
    lists = [] if listed is None else [listed._replace(whole=schema, status=status)]
    for chosen in (*_choices(attempt, pointer, union), *lists):
        found = _known_or_new(attempt, index, pointer, chosen)
        if found is not None:
            reader.add_losses(attempt.losses)
            rest = [] if chosen in lists else union.branches
            uncoded = [branch for branch in rest if branch not in chosen.branches]
            return _CodedSchema(*found, uncoded=uncoded)
        losses = list(attempt.losses) if losses is None else losses
        attempt.losses.clear()
    reader.add_losses([*attempt.losses, *(losses or ())])
    return None


def _choices(reader: DocumentReader, pointer: str, union: Union) -> Iterator[Union]:
    """Alternatives that may form an envelope: all, those that name a code, the first of these."""
    yield union
    if union.path or len(union.branches) < 2:
        return
    coded = [
        branch
        for branch in union.branches
        if read_family(reader, None, pointer, union._replace(branches=[branch])) is not None
    ]
    for branches in (coded, coded[:1]):
        if branches:
            yield union._replace(branches=branches)


def _known_or_new(
    reader: DocumentReader, index: FamilyIndex, pointer: str, union: Union
) -> tuple[BodyFamily, list[CodedBody]] | None:
    """The family of these alternatives, and their codes in it.

    A new family is added to the index.
    """
    names = union.names()
    family = index.find(names, len(union.path))
    if family is not None:
        known = map(family.body_of_schema, names)
        return family, [body for body in known if body is not None]
    made = read_family(reader, None, pointer, union)
    if made is None:
        return None
    family = index.find_alike(made)
    if family is not None:
        return family, [_find_or_add_body(reader, index, family, body) for body in made.bodies]
    made.name = names[0] if len(names) == 1 else None
    index.families.append(made)
    return made, list(made.bodies)


def _find_or_add_body(
    reader: DocumentReader, index: FamilyIndex, family: BodyFamily, body: CodedBody
) -> CodedBody:
    """The body of the family with the same code, or this one, added to the family."""
    known = family.body_of_code(body.wire)
    if known is None:
        index.add_body(family, body)
        return body
    if known.schema != body.schema:
        reason = f"`{body.wire}` has another schema elsewhere; that one is kept"
        reader.lose(body.pointer, "schema", reason)
    return known


def _headers(reader: DocumentReader, response: Json, pointer: str) -> dict[str, ImportedHeader]:
    found: dict[str, ImportedHeader] = {}
    for name, value in reader.mapping(response, "headers", pointer).items():
        before = child(child(pointer, "headers"), name)
        header, place = reader.object(value, before, "the header")
        if header is None:
            continue
        if not _FIELD_NAME.fullmatch(str(name)):
            reader.lose(before, "header", "this is not the name of a header")
            continue
        if str(name).lower() == "content-type":
            reader.lose(before, "header", "OpenAPI ignores it here; the media type has its value")
            continue
        lose_unknown(reader, header, place, _OF_HEADERS)
        schema_pointer = child(place, "schema")
        schema = self_contained(reader, header.get("schema", {}), schema_pointer)
        if not isinstance(schema, Mapping) or foreign_schema_problem(schema) is not None:
            reader.lose(schema_pointer, "schema", "this is not JSON Schema")
            schema = {}
        found[str(name)] = ImportedHeader(
            header.get("required") is True, schema, visible_text(header.get("description")), place
        )
    return found


def _read_samples(reader: DocumentReader, body: _Body, coded: _CodedSchema) -> None:
    """Add the examples of a body, each to the code that it shows."""
    # A body in a list is the first item of it.
    around = ["0" if step == "*" else step for step in coded.family.wrapper_path]
    pointer = "".join(child("", step) for step in around) + coded.family.code_pointer
    for name, sample in _examples(reader, body):
        wire = value_at(sample.value, pointer)
        fitting = [found for found in coded.bodies if found.wire == wire]
        if not fitting:
            reason = "it shows none of the codes that the response may have"
            reader.lose(sample.pointer, "example", reason)
            continue
        refs = {found: found.ref for found in fitting if found.ref and name.startswith(found.ref)}
        chosen = max(refs, key=lambda found: len(refs[found] or ""), default=fitting[0])
        number = name.removeprefix(refs.get(chosen) or "")
        index = int(number) if re.fullmatch(r"[1-9]\d?", number) else 0 if number else 1
        if all((known.number, known.value) != (index, sample.value) for known in chosen.samples):
            chosen.samples.append(sample._replace(number=index))


def _examples(reader: DocumentReader, body: _Body) -> Iterator[tuple[str, SampledError]]:
    """The examples of a body in JSON or plain text with their names, all with the number 0."""
    media, pointer = body.media, body.pointer
    if not (body.is_json or body.is_text):
        for key in ("example", "examples"):
            if key in media:
                reason = "examples are read in JSON and plain text alone"
                reader.lose(child(pointer, key), "example", reason)
        return
    if "example" in media:
        yield "", SampledError(0, None, media["example"], child(pointer, "example"))
    for name, value in reader.mapping(media, "examples", pointer).items():
        before = child(child(pointer, "examples"), name)
        example, place = reader.object(value, before, "the example")
        if example is not None and "value" in example:
            lose_unknown(reader, example, place, _OF_EXAMPLES)
            summary = visible_text(example.get("summary"))
            yield (
                str(name),
                SampledError(
                    number=0, summary=summary, value=example["value"], pointer=place, name=str(name)
                ),
            )
        elif example is not None:
            reader.lose(place, "example", "its value is not in the document")
