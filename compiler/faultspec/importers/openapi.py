"""From an OpenAPI document, 3.0 or 3.1, to a taxonomy.

A failure whose schema names its code (a constant, or a list of values, in the member that stands for the code) is that
code. Any other response outside 2xx and 3xx is the code ``HTTP_<status>`` of its operation, with its schema: the rule of
alknet's ``from_openapi``, whose form the language calls ``imported``.

A document without paths is a library: each union of its schemas is an envelope, and a response there says its status at
the end of its name, as those of the OpenAPI target do.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from faultspec.importers import (
    ImportedTaxonomy,
    Json,
    Loss,
    NotImportable,
    infer_envelope,
    reading,
    rules,
)
from faultspec.importers.build import (
    Branch,
    Group,
    Header,
    ImportedContract,
    ImportedOperation,
    ImportedResponse,
    SampledError,
    build_taxonomy,
)
from faultspec.importers.dialect import Dialect
from faultspec.importers.places import at as standing
from faultspec.importers.places import child, nearest, steps, walk
from faultspec.importers.reading import mapping
from faultspec.language.values import foreign_schema_problem

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_STATUS = re.compile(r"[1-5]\d\d|[1-5]XX|[1-5]xx|default")

#: What is read of each kind of object, or is no matter of failures.
_OF_PATH_ITEMS = frozenset({*_METHODS, "$ref", "summary", "description", "servers", "parameters"})
_OF_RESPONSES = frozenset({"description", "headers", "content", "links"})
_OF_MEDIA = frozenset({"schema", "example", "examples"})
_OF_HEADERS = frozenset({"description", "required", "schema"})
_OF_EXAMPLES = frozenset({"summary", "value"})

#: Of a body that stands for no code.
_NAMELESS = "its body names no code; what stands here became the details of its status's code"

#: The most values that a member may list and still stand for a code, each of which becomes one.
_CODES = 500


def read(document: object) -> ImportedTaxonomy:
    """The taxonomy of a document, and what of the document it does not carry. Raises NotImportable."""
    cleaned, losses = reading.cleaned(document, "OpenAPI")
    if "swagger" in cleaned:
        message = f"this is Swagger {cleaned['swagger']}; OpenAPI 3.0 and 3.1 are read"
        raise NotImportable("swagger", message, "/swagger", "convert it to OpenAPI 3 first")
    version = cleaned.get("openapi")
    if not isinstance(version, str) or not re.match(r"3\.[01](\.|$)", version):
        message = "this is no OpenAPI document: it has no `openapi: 3.0.x` or `3.1.x`"
        raise NotImportable(
            "not-openapi", message, "/openapi" if "openapi" in cleaned else "", "name another file"
        )
    found = _Reader(cleaned, []).imported()
    standing = (loss._replace(pointer=nearest(cleaned, loss.pointer)) for loss in found.losses)
    return found._replace(losses=tuple(dict.fromkeys([*losses, *standing])))


class _Reader:
    def __init__(self, document: Json, losses: list[Loss]) -> None:
        self.document = document
        self.losses = losses
        self.dialect = Dialect(document, losses)
        self.groups: list[Group] = []
        self.seen = ImportedContract(self.groups)

    def imported(self) -> ImportedTaxonomy:
        paths = self._mapping(self.document, "paths", "")
        components = self._mapping(self.document, "components", "")
        self._unions(components, library=not paths)
        self.seen.headers = [
            child("/components/headers", each)
            for each in self._mapping(components, "headers", "/components")
        ]
        if paths:
            for path, item in paths.items():
                self._path(str(path), item, child("/paths", path))
        else:
            self._library(components)
        self._elsewhere(components)
        for group in list(self.groups):
            if paths and not group.answers:
                self.groups.remove(group)
            else:
                self.losses += group.losses
        info = self._mapping(self.document, "info", "")
        if not self.groups and not any(operation.answers for operation in self.seen.operations):
            hint = "errors are responses such as 404 or default, or, without paths, unions under components.schemas"
            raise NotImportable("no-failures", "the document declares no failure", "/paths", hint)
        return build_taxonomy(self.seen, info, bool(paths), self.losses)

    def _mapping(self, parent: Json, key: str, pointer: str) -> Json:
        found = parent.get(key)
        if key in parent and not isinstance(found, Mapping):
            self.dialect.lose(child(pointer, key), "form", f"`{key}` is no object")
        return found if isinstance(found, Mapping) else {}

    def _object(self, value: Any, pointer: str, what: str) -> tuple[Json | None, str]:
        """The object that a value is once its references are followed, and its place; None, which is told, for another."""
        found, at = self.dialect.followed(value, pointer)
        if isinstance(found, Mapping):
            return found, at
        if found is not None or value is None:
            self.dialect.lose(pointer, "form", f"{what} is no object")
        return None, at

    def _unread(self, holder: Json, pointer: str, known: frozenset[str]) -> None:
        """Tell of the members of an object that are none of those that are read."""
        for key in holder:
            if key not in known and not str(key).startswith("x-"):
                self.dialect.lose(child(pointer, key), "member", "a taxonomy has no word for it")

    # Unions of schemas, each an envelope

    def _unions(self, components: Json, *, library: bool) -> None:
        """``library``: every union counts; else those that responses use."""
        used = set() if library else self._named_by_failures()
        for name, schema in self._mapping(components, "schemas", "/components").items():
            pointer = child("/components/schemas", name)
            before = len(self.losses)
            found = self._union(schema, pointer) if isinstance(schema, Mapping) else None
            if found is None or not _refers(found[1]):
                del self.losses[before:]
                continue
            if not library and used.isdisjoint(
                {name, *(_last(each.get("$ref")) for each, _ in found[1])}
            ):
                del self.losses[before:]
                continue
            around, branches, discriminator = found
            if (group := self._group(name, pointer, around, branches, discriminator)) is not None:
                group.summary = (
                    schema.get("description")
                    if isinstance(schema.get("description"), str)
                    else None
                )
                # Most unions of a document are no errors: what is lost of those is of no interest.
                group.losses = self.losses[before:]
                self.groups.append(group)
            elif library:
                self.dialect.lose(
                    pointer, "schema", "no member of its alternatives stands for a code"
                )
                continue
            del self.losses[before:]

    def _named_by_failures(self) -> set[str | None]:
        """The names at the end of every reference in a response that may be a failure."""
        found: set[str | None] = set()
        for item in mapping(self.document.get("paths")).values():
            for method in _METHODS:
                answers = mapping(mapping(mapping(item).get(method)).get("responses"))
                for status, response in answers.items():
                    if str(status)[:1] not in "123":
                        target = mapping(response).get("$ref")
                        whole = [
                            response,
                            standing(self.document, target[1:])
                            if isinstance(target, str) and target[1:]
                            else None,
                        ]
                        found |= {
                            _last(each) for place, each in walk(whole) if place.endswith("/$ref")
                        }
        return found

    def _union(
        self, schema: Any, pointer: str
    ) -> tuple[list[str], list[tuple[Any, str]], str | None] | None:
        """Where a schema has its alternatives (steps, a `*` for the items of a list), what they are, and the discriminator."""
        schema, pointer = self.dialect.followed(schema, pointer)
        if not isinstance(schema, Mapping):
            return None
        for word in ("oneOf", "anyOf"):
            listed = schema.get(word)
            if isinstance(listed, list) and listed:
                mapping = schema.get("discriminator")
                told = mapping.get("propertyName") if isinstance(mapping, Mapping) else None
                branches = [
                    (each, child(child(pointer, word), index)) for index, each in enumerate(listed)
                ]
                return [], branches, told if isinstance(told, str) else None
        properties = schema.get("properties")
        inner: list[tuple[str, Any, str]] = (
            [("*", schema["items"], child(pointer, "items"))] if "items" in schema else []
        )
        if isinstance(properties, Mapping):
            inner += [
                (name, each, child(child(pointer, "properties"), name))
                for name, each in properties.items()
            ]
        for step, each, place in inner:
            if (
                isinstance(each, Mapping)
                and "$ref" not in each
                and (found := self._union(each, place)) is not None
            ):
                return [step, *found[0]], found[1], found[2]
        return None

    def _group(
        self,
        name: str | None,
        pointer: str,
        around: list[str],
        branches: list[tuple[Any, str]],
        told: str | None,
    ) -> Group | None:
        """The envelope of these bodies, where a member of theirs stands for the code."""
        found: list[tuple[str | None, str, Json]] = []
        ruled: list[rules.ImportedRules] = []
        for each, place in branches:
            ref = each.get("$ref") if isinstance(each, Mapping) else None
            target, at = self.dialect.followed(each, place)
            whole = self.dialect.schema(each, place) if isinstance(target, Mapping) else None
            plain, rule = rules.taken(whole) if isinstance(whole, Mapping) else (None, rules.NONE)
            if not isinstance(plain, Mapping) or foreign_schema_problem(plain) is not None:
                self.dialect.lose(at, "schema", "this is no JSON Schema")
                return None
            schema = _joined(plain)
            if not isinstance(schema.get("properties"), Mapping):
                return None
            found.append((_last(ref), at, schema))
            ruled.append(rule)
        code = infer_envelope.code_place(
            [each for *_, each in found], [each for each, *_ in found], told
        )
        if code is None:
            return None
        for _, place, schema in found:
            self._code_member(place, schema, steps(code))
        bodies = []
        for (ref, at, schema), rule in zip(found, ruled, strict=True):
            wires = infer_envelope.listing(schema)[code]
            if len(wires) > _CODES:
                self.dialect.lose(
                    at,
                    "size",
                    f"there are {len(wires)} codes in one list; the first {_CODES} are kept",
                )
            for wire in dict.fromkeys(wires[:_CODES]):
                bodies.append(
                    Branch(
                        ref if len(wires) == 1 else None,
                        at,
                        infer_envelope.BodySchema(wire, _narrowed(schema, steps(code), wire), rule),
                    )
                )
        return Group(name, pointer, around, code, bodies, wrapper=self._wrapper(pointer, around))

    def _code_member(self, pointer: str, schema: Json, way: Sequence[str]) -> None:
        """Tell of what the member that stands for the code says beside its values, and of `null` on the way to it."""
        for step in ("", *way):
            if step:
                schema, pointer = (
                    schema["properties"][step],
                    child(child(pointer, "properties"), step),
                )
            if "null" in (schema["type"] if isinstance(schema.get("type"), list) else ()):
                place = child(pointer, "nullable" if self.dialect.old else "type")
                self.dialect.lose(
                    place, "schema", "without it there is no code, so it is never null here"
                )
        for key in schema:
            if key in ("type", "enum", "const", "title"):
                continue
            self.dialect.lose(child(pointer, key), "schema", "a code has no more than its values")

    def _wrapper(self, pointer: str, around: list[str]) -> Json | None:
        return self.dialect.schema(standing(self.document, pointer), pointer) if around else None

    # Documents without paths

    def _library(self, components: Json) -> None:
        for name, response in self._mapping(components, "responses", "/components").items():
            pointer = child("/components/responses", name)
            ending = re.search(r"([1-5]\d\d|[1-5]XX|[Dd]efault)$", str(name))
            if ending is None:
                self.dialect.lose(pointer, "response", "nothing says which status the response has")
                continue
            self._response(ending[0].lower(), response, pointer, None)

    # Paths

    def _path(self, path: str, item: Any, pointer: str) -> None:
        route = _route(path)
        if route != path or "*" in path:
            self.dialect.lose(
                pointer,
                "route",
                f"as a route it is `{route}`, which more paths than this one are on",
            )
        item, pointer = self._object(item, pointer, "the path item")
        if item is None:
            return
        self._unread(item, pointer, _OF_PATH_ITEMS)
        for method in _METHODS:
            if method not in item:
                continue
            operation, place = item[method], child(pointer, method)
            if not isinstance(operation, Mapping):
                self.dialect.lose(place, "form", "the operation is no object")
                continue
            said = next(
                (
                    operation[each]
                    for each in ("summary", "operationId")
                    if isinstance(operation.get(each), str)
                ),
                None,
            )
            identity = operation.get("operationId")
            found = ImportedOperation(
                identity if isinstance(identity, str) else f"{method}_{path}",
                f"{method.upper()} {route}",
                said,
                method,
                self._own(identity, child(place, "operationId")),
            )
            self.seen.operations.append(found)
            for status, response in self._mapping(operation, "responses", place).items():
                here = child(child(place, "responses"), status)
                if not _STATUS.fullmatch(str(status)):
                    self.dialect.lose(here, "status", f"`{status}` is no status")
                elif str(status)[0] == "3":
                    self.dialect.lose(here, "redirect", "a redirect is no failure")
                elif str(status)[0] not in "12":
                    self._response(str(status).lower(), response, here, found)
            if isinstance(operation.get("callbacks"), Mapping):
                self.dialect.lose(
                    child(place, "callbacks"),
                    "callback",
                    "what others answer is not this service's failure",
                )

    def _own(self, identity: object, pointer: str) -> str | None:
        """The operationId, None where there is none or another operation has it."""
        if not isinstance(identity, str):
            return None
        if any(operation.wire == identity for operation in self.seen.operations):
            self.dialect.lose(
                pointer,
                "collision",
                f"another operation is called `{identity}`; this one has no name",
            )
            return None
        return identity

    def _elsewhere(self, components: Json) -> None:
        """What is beside the paths."""
        if self._mapping(self.document, "webhooks", ""):
            self.dialect.lose(
                "/webhooks", "webhook", "what others answer is not this service's failure"
            )
        items = [
            each.get("$ref")
            for each in mapping(self.document.get("paths")).values()
            if isinstance(each, Mapping)
        ]
        for name in self._mapping(components, "pathItems", "/components"):
            if f"#{(pointer := child('/components/pathItems', name))}" not in items:
                self.dialect.lose(pointer, "route", "no path refers to it")

    # Responses

    def _response(
        self, status: str, response: Any, before: str, operation: ImportedOperation | None
    ) -> None:
        response, pointer = self._object(response, before, "the response")
        if response is None:
            return
        self._unread(response, pointer, _OF_RESPONSES)
        headers = self._headers(response, pointer)
        content = self._mapping(response, "content", pointer)
        media = next((each for each in content if reading.is_json(str(each))), None)
        if media is None:
            media = next((each for each in content if reading.includes_json(str(each))), None)
            if media is not None:
                reason = "of a range of media types JSON is read; of the others nothing is known"
                self.dialect.lose(child(child(pointer, "content"), media), "media-type", reason)
        where = child(child(pointer, "content"), media) if media is not None else ""
        if isinstance(response.get("links"), Mapping) and response["links"]:
            self.dialect.lose(child(pointer, "links"), "link", "a taxonomy has no links")
        body = self._mapping(content, media, child(pointer, "content")) if media is not None else {}
        self._unread(body, where, _OF_MEDIA)
        schema = body.get("schema")
        if "schema" in body and not isinstance(schema, Mapping | bool):
            self.dialect.lose(child(where, "schema"), "form", "the schema is no object")
        said = response.get("description")
        text = said if isinstance(said, str) and said.strip() else None
        found = self._coded(schema, child(where, "schema"))
        for other in content:
            if other == media or (
                found is not None and content[other] == body and reading.is_json(str(other))
            ):
                continue
            reason = (
                "another form of the same body"
                if media is not None
                else "the body is no JSON, so nothing is known of it"
            )
            self.dialect.lose(child(child(pointer, "content"), other), "media-type", reason)
        if found is not None:
            group, branches, left = found
            same = [
                str(each)
                for each in content
                if content[each] == body and reading.is_json(str(each))
            ]
            group.media += [each for each in same if each not in group.media]
            listed = group.answers.setdefault(status, [])
            listed += [branch for branch in branches if branch not in listed]
            group.headers.setdefault(status, []).append(headers)
            if operation is not None:
                operation.shared += [
                    branch for branch in branches if branch not in operation.shared
                ]
                for branch in branches:
                    branch.said = branch.said or text
                self.seen.described.append((text, child(pointer, "description"), branches))
            self._samples(body, where, group, branches)
            if left:
                self._rest(ImportedResponse(status, text, None, headers, before), left, operation)
            return
        if operation is None:
            self.dialect.lose(before, "response", "no member of its body stands for a code")
            return
        if media is not None:
            self.dialect.lose(where, "body", _NAMELESS)
        carried = None if schema is None else self.dialect.schema(schema, child(where, "schema"))
        if carried is False:
            self.dialect.lose(
                child(where, "schema"), "schema", "no body fits it; details may be anything"
            )
        samples = self._examples(body, where)
        shown = tuple(
            SampledError(0, summary, value, place) for _, place, summary, value in samples
        )
        operation.answers.append(ImportedResponse(status, text, carried, headers, before, shown))

    def _rest(
        self,
        answer: ImportedResponse,
        left: Sequence[tuple[Any, str]],
        operation: ImportedOperation | None,
    ) -> None:
        """The alternatives of a body that name no code, where others do: they are the code of the status."""
        for _, place in left:
            self.dialect.lose(
                place, "body", _NAMELESS if operation is not None else "it names no code"
            )
        if operation is not None:
            schemas = [self.dialect.schema(each, place) for each, place in left]
            operation.answers.append(
                answer._replace(schema=schemas[0] if len(left) == 1 else {"anyOf": schemas})
            )

    def _coded(
        self, schema: Any, pointer: str
    ) -> tuple[Group, list[Branch], list[tuple[Any, str]]] | None:
        """The envelope of a response's body, those of its codes that the response may have, and the alternatives that name
        none.
        """
        if not isinstance(schema, Mapping):
            return None
        found = self._union(schema, pointer)
        around, branches, told = found if found is not None else ([], [(schema, pointer)], None)
        before = len(self.losses)
        for chosen in self._choices(pointer, around, branches, told):
            met = self._met(pointer, around, chosen, told)
            if met is not None:
                return *met, [branch for branch in branches if branch not in chosen]
            if chosen is branches:
                lost = self.losses[before:]
            del self.losses[
                before:
            ]  # of an attempt that comes to nothing; if all do, the first is told
        self.losses += lost
        return None

    def _choices(
        self, pointer: str, around: list[str], branches: list[tuple[Any, str]], told: str | None
    ) -> Iterator[list[tuple[Any, str]]]:
        """The alternatives that may make up an envelope: all; else those that name a code; else the first of these."""
        yield branches
        if not around and len(branches) > 1:
            naming = [
                branch
                for branch in branches
                if self._group(None, pointer, around, [branch], told) is not None
            ]
            yield from (each for each in (naming, naming[:1]) if each)

    def _met(
        self, pointer: str, around: list[str], branches: list[tuple[Any, str]], told: str | None
    ) -> tuple[Group, list[Branch]] | None:
        """The envelope of these alternatives, new or met before, and their codes in it."""
        references = [
            each.get("$ref") if isinstance(each, Mapping) else None for each, _ in branches
        ]
        named = [_last(reference) for reference in references]
        for group in self.groups:
            known = {branch.ref for branch in group.branches if branch.ref is not None}
            if known.issuperset(named) and len(group.around) == len(around):
                return group, [next(b for b in group.branches if b.ref == each) for each in named]
        made = self._group(None, pointer, around, branches, told)
        if made is None:
            return None
        for group in self.groups:
            if (
                group.place == made.place
                and group.around == made.around
                and group.members() == made.members()
            ):
                return group, [self._same(group, branch) for branch in made.branches]
        made.name = next((each for each in named if each and len(branches) == 1), None)
        self.groups.append(made)
        return made, list(made.branches)

    def _same(self, group: Group, branch: Branch) -> Branch:
        """The branch of the group with the same code, or this one as a further one."""
        for each in group.branches:
            if each.body.wire == branch.body.wire:
                if each.body.schema != branch.body.schema:
                    self.dialect.lose(
                        branch.pointer,
                        "schema",
                        f"`{each.body.wire}` has another schema elsewhere; that one is kept",
                    )
                return each
        group.branches.append(branch)
        return branch

    def _headers(self, response: Json, pointer: str) -> dict[str, Header]:
        found: dict[str, Header] = {}
        for name, header in self._mapping(response, "headers", pointer).items():
            place = child(child(pointer, "headers"), name)
            header, at = self._object(header, place, "the header")
            if header is None:
                continue
            if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~\-]+", str(name)):
                self.dialect.lose(place, "header", "this is no header")
                continue
            if str(name).lower() == "content-type":
                self.dialect.lose(
                    place, "header", "the media type says it, and OpenAPI has it left out"
                )
                continue
            self._unread(header, at, _OF_HEADERS)
            said = header.get("description")
            schema = self.dialect.schema(header.get("schema", {}), child(at, "schema"))
            if not isinstance(schema, Mapping) or foreign_schema_problem(schema) is not None:
                self.dialect.lose(child(at, "schema"), "schema", "this is no JSON Schema")
                schema = {}
            text = said if isinstance(said, str) and said.strip() else None
            found[str(name)] = (header.get("required") is True, schema, text, at)
        return found

    def _samples(self, media: Json, pointer: str, group: Group, branches: Sequence[Branch]) -> None:
        """The examples of a body, each with the code it shows."""
        for name, place, summary, value in self._examples(media, pointer):
            fitting = [
                branch
                for branch in branches
                if branch.body.wire == _value(value, [*group.around, *steps(group.place)])
            ]
            if not fitting:
                self.dialect.lose(
                    place, "example", "it shows none of the codes that the response may have"
                )
                continue
            chosen = max(
                fitting,
                key=lambda each: len(each.ref or "") if name.startswith(each.ref or "\0") else -1,
            )
            number = name.removeprefix(chosen.ref or "\0")
            index = int(number) if re.fullmatch(r"[1-9]\d?", number) else 1 if not number else 0
            sample = SampledError(index, summary, value, place)
            if all(
                sample.value != each.value or sample.number != each.number
                for each in chosen.samples
            ):
                chosen.samples.append(sample)

    def _examples(self, media: Json, pointer: str) -> Iterator[tuple[str, str, str | None, Any]]:
        if "example" in media:
            yield "", child(pointer, "example"), None, media["example"]
        for name, each in self._mapping(media, "examples", pointer).items():
            each, at = self._object(each, child(child(pointer, "examples"), name), "the example")
            if each is not None and "value" in each:
                said = each.get("summary")
                self._unread(each, at, _OF_EXAMPLES)
                yield (
                    str(name),
                    at,
                    said if isinstance(said, str) and said.strip() else None,
                    each["value"],
                )
            elif each is not None:
                self.dialect.lose(at, "example", "its value is not in the document")


def _last(reference: object) -> str | None:
    """The name at the end of a reference into the document."""
    return [reference, *steps(reference)][-1] if isinstance(reference, str) else None


def _refers(branches: Sequence[tuple[Any, str]]) -> bool:
    return all(isinstance(each, Mapping) and "$ref" in each for each, _ in branches)


def _route(path: str) -> str:
    """The path as the language writes routes, which have no spaces: anything within the segment stands for them."""
    return re.sub(r"\s+", "*", path if path.startswith("/") else f"/{path}")


def _value(body: Any, way: Sequence[str]) -> Any:
    for step in way:
        if step == "*":
            body = body[0] if isinstance(body, list) and body else None
        else:
            body = body.get(step) if isinstance(body, Mapping) else None
    return body


def _joined(schema: Any) -> Any:
    """An object that is written as ``allOf`` of objects, as one; others as they are."""
    if not isinstance(schema, Mapping) or not isinstance(schema.get("allOf"), list):
        return schema
    parts = [_joined(each) for each in schema["allOf"]] + [
        {k: v for k, v in schema.items() if k != "allOf"}
    ]
    if not all(
        isinstance(part, Mapping) and not part.keys() & {"oneOf", "anyOf", "not", "if"}
        for part in parts
    ):
        return schema
    if not all(isinstance(part.get("properties", {}), Mapping) for part in parts):
        return schema
    found: dict[str, Any] = {}
    properties: dict[str, Any] = {}
    required: list[Any] = []
    for part in parts:
        for name, inside in part.get("properties", {}).items():
            both = isinstance(inside, Mapping) and isinstance(properties.get(name), Mapping)
            properties[name] = {**properties[name], **inside} if both else inside
        required += [name for name in part.get("required", ()) if name not in required]
        found |= {
            key: value for key, value in part.items() if key not in ("properties", "required")
        }
    return {**found, "properties": properties, **({"required": required} if required else {})}


def _narrowed(schema: Json, way: list[str], wire: str | int) -> Json:
    """The body with one code in the place of the code."""
    if not way:
        return {"const": wire}
    properties = dict(schema["properties"])
    properties[way[0]] = _narrowed(properties[way[0]], way[1:], wire)
    return {**schema, "properties": properties}
