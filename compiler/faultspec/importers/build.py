"""What was seen in an OpenAPI document, put together as the data of a taxonomy."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from faultspec.importers import (
    ImportedTaxonomy,
    Json,
    Loss,
    infer_envelope,
    registry,
    rules,
    subset,
)
from faultspec.importers.naming import UniqueNames, identifier, version_of
from faultspec.importers.places import child
from faultspec.language.formats import FORMATS
from faultspec.language.scope import status_range
from faultspec.language.values import foreign_schema_problem
from faultspec.language.wire import HEADER_FORMATS
from faultspec.runtime import ids, shape
from faultspec.runtime.nodes import slot_places
from faultspec.targets import conditions
from faultspec.targets import schema as schemas
from faultspec.targets.filters import pascal, snake
from faultspec.targets.model import phrase
from faultspec.targets.openapi import HEADER_PATTERNS

Data = dict[str, Any]
Header = tuple[bool, Json, str | None, str]
"""Whether it is required, its schema, its description, and its place."""


class SampledError(NamedTuple):
    """An example of a body. ``number``: which of its code's, from 1; 0 where the document does not number them."""

    number: int
    summary: str | None
    value: Any
    pointer: str


@dataclass(eq=False, slots=True)
class Branch:
    """The body of one code. ``ref``: the schema's name; ``said``: what a response with it alone is described as."""

    ref: str | None
    pointer: str
    body: infer_envelope.BodySchema
    samples: list[SampledError] = field(default_factory=list)
    said: str | None = None
    key: tuple[str | None, str] = (None, "")
    details: registry.Details | None = None


@dataclass(eq=False, slots=True)
class Group:
    """Bodies that share a picture. ``around``: the way from the whole body to where they differ; ``place``: from there to the
    code. ``answers``: by status, in lower case, the codes that a response may have; ``headers``: of each such response.
    """

    name: str | None
    pointer: str
    around: list[str]
    place: str
    branches: list[Branch]
    wrapper: Json | None = None
    summary: str | None = None
    answers: dict[str, list[Branch]] = field(default_factory=dict)
    headers: dict[str, list[dict[str, Header]]] = field(default_factory=dict)
    media: list[str] = field(default_factory=list)
    envelope: str = ""
    losses: list[Loss] = field(default_factory=list)

    def members(self) -> set[str]:
        """The names at the top of the bodies."""
        return {
            name for branch in self.branches for name in branch.body.schema.get("properties", {})
        }


class ImportedResponse(NamedTuple):
    """A response whose body names no code. ``schema``: None without a JSON body."""

    status: str
    said: str | None
    schema: Any
    headers: Mapping[str, Header]
    pointer: str
    samples: tuple[SampledError, ...] = ()


@dataclass(eq=False, slots=True)
class ImportedOperation:
    """An operation of the document. ``wire``: its operationId, where no operation before it has that; ``shared``: codes
    that its bodies name; ``answers``: the responses that name none.
    """

    identity: str
    route: str
    said: str | None
    method: str
    wire: str | None = None
    shared: list[Branch] = field(default_factory=list)
    answers: list[ImportedResponse] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class ImportedContract:
    """All that was read. ``headers``: the places of the header components, in order; ``described``: the description of
    each response whose body names codes, its place, and those codes.
    """

    groups: list[Group]
    headers: list[str] = field(default_factory=list)
    operations: list[ImportedOperation] = field(default_factory=list)
    described: list[tuple[str | None, str, list[Branch]]] = field(default_factory=list)


#: What the language makes of a status, unless a taxonomy says otherwise (the pattern of alknet's ``from_openapi``).
PATTERN = "HTTP_${status}"

#: The shared code of answers that no response of the document declares: a taxonomy has at least one.
UNDECLARED = "UNDECLARED"

#: The slots that an example need not give, since the code decides them.
_DECIDED = ("code", "message", "details", "summary")


def build_taxonomy(
    seen: ImportedContract, info: Json, has_paths: bool, losses: list[Loss]
) -> ImportedTaxonomy:
    """The taxonomy, and everything that was lost on the way to it."""
    return _Assembly(seen, losses).data(info, has_paths)


class _Assembly:
    def __init__(self, seen: ImportedContract, losses: list[Loss]) -> None:
        self.seen = seen
        self.groups = seen.groups
        self.losses = losses
        self.boundaries: dict[str, str] = {}
        self.domains: dict[str, str] = {}
        self.vocabularies: dict[str, Data] = {}
        self.actions: Data = {}
        self.asked: dict[str, str | None] = {}
        self.envelopes: dict[str, Data] = {}
        self.shapes: dict[str, Any] = {}
        self.codes: dict[tuple[str | None, str], list[tuple[Group, Branch]]] = {}
        self.examples: dict[tuple[str, ...], tuple[tuple[str, ...], ...]] = {}

    def lose(self, pointer: str, kind: str, reason: str) -> None:
        """Tell of a loss; one that is told twice is reported once."""
        self.losses.append(Loss(pointer, kind, reason))

    def data(self, info: Json, has_paths: bool) -> ImportedTaxonomy:
        """Everything, in the order in which it is written."""
        self._names()
        for group in self.groups:
            self._envelope(group)
        for group in self.groups:
            for branch in group.branches:
                self.codes.setdefault(branch.key, []).append((group, branch))
        self.flags = {
            each.details.flag[0]
            for group in self.groups
            for each in group.branches
            if each.details and each.details.flag
        }
        keys, members = registry.register(
            {
                key: next(b.details for _, b in found if b.details is not None)
                for key, found in self.codes.items()
                if any(b.details is not None for _, b in found)
            }
        )
        statuses, fallback = self._statuses()
        for key, found in self.codes.items():
            if told := next(
                (each.body.rules.spans for _, each in found if each.body.rules.spans), ()
            ):
                statuses[key] = list(told)
        codes: Data = {}
        operations: Data = {}
        summaries: dict[tuple[str | None, str], str] = {}
        for key, found in self.codes.items():
            code = self._code(key, found, members.get(key, {}), statuses.get(key, []))
            summaries[key] = code["summary"]
            if key[0] is None:
                codes[key[1]] = code
            else:
                operations.setdefault(key[0], {"errors": {}})["errors"][key[1]] = code
        imported = self._operations(operations, codes)
        if not codes:
            codes[UNDECLARED] = self._undeclared()
        if not self.envelopes:
            self.envelopes["error"] = _PLAIN_ENVELOPE
        headers = self._headers()
        for said, pointer, branches in self.seen.described:
            if said is not None and said not in {summaries[branch.key] for branch in branches}:
                self.lose(
                    pointer, "description", "the codes of the response have summaries of their own"
                )
        return ImportedTaxonomy(
            {
                "faultspec": 1,
                "taxonomy": self._header(info, has_paths),
                **_given("domains", self.domains),
                **_given("boundaries", self.boundaries),
                **_given("actions", self.actions),
                **_given("vocabularies", self.vocabularies),
                **_given("detail_keys", keys),
                "envelopes": self.envelopes,
                "surfaces": self._surfaces(codes, operations, imported),
                **_given("headers", headers),
                **_given("fallback", fallback),
                "codes": codes,
                **_given("operations", operations),
                **({"imported": {"pattern": PATTERN, "retriable": False}} if imported else {}),
            },
            tuple(dict.fromkeys(self.losses)),
            self.examples,
        )

    def _header(self, info: Json, has_paths: bool) -> Data:
        title = info.get("title")
        title = title if isinstance(title, str) and title.strip() else "Imported errors"
        version = info.get("version")
        kept = version_of(version)
        if version is not None and kept != version:
            self.lose(
                "/info/version",
                "version",
                f"it is no version such as 1.0.0; {kept} stands in its place",
            )
        said = info.get("description")
        if said is not None and not has_paths:
            self.lose(
                "/info/description", "description", "in a library of schemas it describes the file"
            )
        found = {"name": identifier(title, "imported"), "version": kept, "title": title}
        return {
            **found,
            **(
                {"description": said}
                if isinstance(said, str) and said.strip() and has_paths
                else {}
            ),
        }

    # Names

    def _names(self) -> None:
        """Envelopes and codes by names that the OpenAPI target turns into the document's again."""
        taken = UniqueNames()
        for group in self.groups:
            name = group.name or "error"
            group.envelope = taken.unused(identifier(snake(name), "error"))
        scopes: dict[str | None, UniqueNames] = {}
        known: dict[str | int, tuple[str | None, str]] = {}
        for number, group in enumerate(self.groups):
            prefix = pascal(group.name or "") if number else ""
            if not all(
                (branch.ref or "").startswith(prefix) and branch.ref != prefix
                for branch in group.branches
            ):
                prefix = ""
            own = [(branch.ref or "").removeprefix(prefix) for branch in group.branches]
            for each, name, operation in zip(
                group.branches, own, _operations_of(group, own), strict=True
            ):
                identity = name or each.body.wire
                each.key = known.get(identity, (None, ""))
                if not each.key[1]:
                    scope = None if operation is None else identifier(snake(operation), "operation")
                    short = name.removeprefix(operation or "")
                    each.key = (
                        scope,
                        scopes.setdefault(scope, UniqueNames()).unused(
                            _code_name(each.body.wire, short)
                        ),
                    )
                    known[identity] = each.key
        self._one_wire_each()
        if any(each.answers for each in self.seen.operations):
            self._no_status_codes(scopes.setdefault(None, UniqueNames()))
        named = {pascal(each.key[1]) for group in self.groups for each in group.branches}
        for group in self.groups:
            plain = (group.name or "").removesuffix("Envelope")
            if plain and plain != group.name and plain in named:
                group.envelope = UniqueNames(
                    {g.envelope for g in self.groups if g is not group}
                ).unused(snake(plain))

    def _no_status_codes(self, taken: UniqueNames) -> None:
        """Shared codes that look like those of statuses are called otherwise; on the wire they stay what they are."""
        form = re.compile(re.escape(PATTERN).replace(re.escape("${status}"), r"\d{3}"))
        for group in self.groups:
            for branch in group.branches:
                scope, name = branch.key
                if scope is None and form.fullmatch(name):
                    branch.key = (None, taken.unused(f"own_{name}"))
                    self.lose(
                        branch.pointer,
                        "collision",
                        f"`{name}` is what a status becomes; this code is called {branch.key[1]}",
                    )

    def _one_wire_each(self) -> None:
        """Codes that stand for one another on the wire are one code: the first by that name."""
        owners: dict[tuple[str | None, str], tuple[str | None, str]] = {}
        for group in self.groups:
            kept: list[Branch] = []
            for branch in group.branches:
                owner = owners.setdefault((branch.key[0], str(branch.body.wire)), branch.key)
                if owner != branch.key:
                    self.lose(
                        branch.pointer,
                        "wire",
                        f"`{branch.body.wire}` is `{owner[1]}` already; the wire does not tell them apart",
                    )
                    branch.key = owner
                if all(other.key != branch.key for other in kept):
                    kept.append(branch)
            group.branches = kept
            for status, listed in group.answers.items():
                group.answers[status] = [
                    next(b for b in kept if b.key == each.key) for each in listed
                ]

    # Envelopes

    def _envelope(self, group: Group) -> None:
        bodies = [each.body for each in group.branches]
        picture = infer_envelope.draw(bodies, group.place)
        for place, reason in picture.lost:
            for each in group.branches:
                self.lose(f"{each.pointer}{place}", "schema", reason)
        fields = dict(picture.fields)
        drawn = self._actions(group, picture, fields)
        if all(each.details is not None for each in bodies):
            about, details = registry.read([each.details or {} for each in bodies])
            for branch, found in zip(group.branches, details, strict=True):
                branch.details = found
            if about is not None:
                fields["details"] = about
        for slot, terms in picture.vocabularies.items():
            name = slot
            while name in self.vocabularies and list(self.vocabularies[name]) != terms:
                name += "_"
            fields[slot] = {**fields[slot], "vocabulary": name}
            self.vocabularies[name] = {term: f"The {slot} {term}." for term in terms}
        for body in bodies:
            self.domains |= {body.domain: f"The domain {body.domain}."} if body.domain else {}
            self.boundaries |= {name: f"The boundary {name}." for name in body.boundaries}
        whole = self._around(group.wrapper, group.around, drawn, fields)
        said = (
            group.summary
            if group.summary != f"Any error in the envelope {group.envelope}."
            else None
        )
        media = group.media or ["application/json"]
        self.envelopes[group.envelope] = {
            **({"summary": said} if said and said.strip() else {}),
            **(
                {}
                if media == ["application/json"]
                else {"media_type": media[0] if len(media) == 1 else media}
            ),
            "shape": whole,
            **_given("fields", fields),
            **({"additional": picture.additional} if picture.additional != "warn" else {}),
        }
        self.shapes[group.envelope] = shape.compile_shape(whole)

    def _actions(self, group: Group, picture: infer_envelope.Picture, fields: Data) -> Any:
        """The picture with `$actions` where codes suggest some of a list's terms, or conditions say which of them send again
        what failed.
        """
        told = [said for each in group.branches for said in each.body.rules.conditional]
        found = {repr(said): read for said in told if (read := rules.suggested(said)) is not None}
        pointer, again = next(iter(found.values()), ("", []))
        places = slot_places(shape.compile_shape(picture.shape))
        slot = next(
            (name for name, there in places.items() if [each.path for each in there] == [pointer]),
            "",
        )
        terms = picture.actions
        if not terms:
            match fields.get(slot):
                case {"type": "array", "items": {"type": "string", "enum": [*names], **more}} if (
                    not more
                ):
                    terms = names
                case _:
                    return picture.shape
        elif slot != "actions":
            again = []
        understood = all(each == (pointer, again) for each in found.values())
        declared = {
            each: {"summary": f"The action {each}.", "sends_again": True}
            if understood and each in again
            else f"The action {each}."
            for each in terms
        }
        if self.actions and self.actions != declared:
            understood = understood and all(
                self.actions.get(each, term) == term for each, term in declared.items()
            )
            declared = {**declared, **self.actions}
        if not understood and not picture.actions:
            return picture.shape
        self.actions = declared
        if understood:
            for branch in group.branches:
                kept = tuple(
                    each for each in branch.body.rules.conditional if repr(each) not in found
                )
                branch.body.rules = branch.body.rules._replace(conditional=kept)
        if picture.actions:
            return picture.shape
        fields["actions"] = {
            **fields.pop(slot),
            "items": {"type": "string", "vocabulary": "actions"},
        }
        return _renamed(picture.shape, f"${slot}", "$actions")

    def _around(self, schema: Any, way: Sequence[str], inner: Any, fields: Data) -> Any:
        """The picture of the whole body: what stands around the place where the codes differ; its slots go into ``fields``."""
        if not way:
            return inner
        if way[0] == "*":
            return [self._around(schema.get("items", {}), way[1:], inner, fields)]
        found: Data = {}
        for name, each in schema.get("properties", {}).items():
            key = name if name in schema.get("required", []) else f"{name}?"
            if name == way[0]:
                found[key] = self._around(each, way[1:], inner, fields)
            elif (
                isinstance(each, Mapping)
                and set(each) == {"const"}
                and not isinstance(each["const"], dict | list)
            ):
                found[key] = (
                    each["const"].replace("$", "$$")
                    if isinstance(each["const"], str)
                    else each["const"]
                )
            else:
                slot = UniqueNames(fields).unused(identifier(f"around_{snake(name)}", "around"))
                fields[slot] = subset.value(each) or {}
                found[key] = f"${slot}"
        return found

    # Statuses

    def _statuses(self) -> tuple[dict[tuple[str | None, str], list[Any]], Data]:
        """The statuses of each code, and the fallbacks."""
        found: dict[tuple[str | None, str], list[Any]] = {}
        fallback: Data = {}
        listed = {status: None for group in self.groups for status in group.answers}
        for status in sorted(listed):
            if status == "default":
                continue
            answering = [group for group in self.groups if group.answers]
            here = [group.answers[status] for group in answering if status in group.answers]
            keys = list(dict.fromkeys(each.key for branches in here for each in branches))
            if status.isdecimal():
                for key in keys:
                    found.setdefault(key, []).append(int(status))
                continue
            whole = [key for key in keys if self._claims(key, status)]
            rest = [key for key in keys if key not in whole]
            if (
                len(keys) == 1
                and keys[0] in found
                and keys[0][0] is None
                and len(here) == len(answering)
            ):
                whole, rest = [], keys
            if len(rest) == 1 and rest[0][0] is None and len(here) == len(answering):
                fallback[status] = {
                    "code": rest[0][1],
                    "reason": "The document answers so with any other status of the class.",
                }
            elif rest:
                whole = keys
                self._lose_class(status)
            for key in whole:
                found.setdefault(key, []).append(status)
        for group in self.groups:
            for each in group.answers.get("default", ()):
                if each.key not in found:
                    found[each.key] = ["4xx", "5xx"]
            if "default" in group.answers:
                self.lose(
                    group.pointer,
                    "default",
                    "`default` is any error status that is not listed; it became 4xx and 5xx where a code has no other",
                )
        return found, fallback

    def _claims(self, key: tuple[str | None, str], status: str) -> bool:
        """Whether a code that is listed under a class stands under every single status of it too."""
        if told := next(
            (each.body.rules.spans for _, each in self.codes[key] if each.body.rules.spans), ()
        ):
            return status in told
        return all(
            any(branch.key == key for branch in branches)
            for group in self.groups
            if any(branch.key == key for branch in group.branches)
            for single, branches in group.answers.items()
            if single.isdecimal() and single[0] == status[0]
        )

    def _lose_class(self, status: str) -> None:
        for group in self.groups:
            if status in group.answers:
                self.lose(
                    group.pointer,
                    "status",
                    f"codes stand under {status} that single statuses of it do not have; here they do",
                )

    # Codes

    def _code(
        self,
        key: tuple[str | None, str],
        found: list[tuple[Group, Branch]],
        members: Data,
        statuses: list[Any],
    ) -> Data:
        first = found[0][1]
        bodies = [branch.body for _, branch in found]
        said = [b.body.schema.get("description") for _, b in found] + [b.said for _, b in found]
        summary = next(
            (each for each in said if isinstance(each, str) and each.strip()),
            f"The code {first.body.wire}.",
        )
        code: Data = {"summary": summary}
        if key[1] != first.body.wire:
            code["wire"] = first.body.wire
        if domain := next((body.domain for body in bodies if body.domain), None):
            code["domain"] = domain
        if boundaries := next((body.boundaries for body in bodies if body.boundaries), []):
            code["boundary"] = boundaries[0] if len(boundaries) == 1 else boundaries
        shown = next(
            (
                status
                for _, b in found
                for each in b.samples
                if (status := self._shown(b, found, each)) in statuses
            ),
            None,
        )
        if shown is not None and not any(body.rules.spans for body in bodies):
            statuses = [shown, *(each for each in statuses if each != shown)]
        if statuses:
            code["http"] = statuses[0] if len(statuses) == 1 else statuses
        else:
            code |= {"http": None, "http_reason": "The document has no response with it."}
        wearing = [group.envelope for group, _ in found]
        if len(wearing) < len(self.groups):
            code["envelope"] = wearing[0] if len(wearing) == 1 else wearing
        flags = [body.retriable for body in bodies if body.flagged]
        flags += [
            branch.details.flag[1]
            for _, branch in found
            if branch.details is not None and branch.details.flag
        ]
        if flags:
            known = next((flag for flag in flags if flag is not None), None)
            code["retriable"] = self._conditional(found) or "caller" if known is None else known
        if code.get("retriable") in (None, True, False):  # else the rules were looked at
            for branch in (each for _, each in found if each.body.rules.conditional):
                self.lose(
                    f"{branch.pointer}/allOf",
                    "condition",
                    "these conditions are no rule of the retry flag",
                )
        if facts := {slot: terms for body in bodies for slot, terms in body.facts.items()}:
            code["facts"] = facts
        if actions := next((body.actions for body in bodies if body.actions), None):
            code["actions"] = actions
        details = next((branch.details for _, branch in found if branch.details is not None), None)
        if members:
            code["details"] = members
        elif details is not None and details.members is None:
            code["schema"] = dict(details.schema)
            if any(body.needed for body in bodies):
                self.lose(
                    first.pointer,
                    "details",
                    "the details must be there; with an imported schema they need not",
                )
        if any(each.body.schema.get("deprecated") is True for _, each in found):
            code["lifecycle"] = "deprecated"
        shown = self._examples(found, code)
        self._show(
            code,
            ("codes", key[1]) if key[0] is None else ("operations", key[0], "errors", key[1]),
            shown,
        )
        return code

    def _show(
        self, code: Data, path: tuple[str, ...], examples: Sequence[tuple[Data, tuple[str, ...]]]
    ) -> None:
        """Give the code its examples, and note where each comes from."""
        if examples:
            listed = [example for example, _ in examples]
            code["example"] = listed[0] if len(listed) == 1 else listed
            self.examples[path] = tuple(places for _, places in examples)

    def _conditional(self, found: list[tuple[Group, Branch]]) -> Data | None:
        """The rules of the flag, where the bodies have conditions for it."""
        for group, branch in found:
            said = branch.body.rules.conditional
            if not said:
                continue
            point = schemas.branch_point(self.shapes[group.envelope])
            facts = conditions.places(point)
            flags = [facts["retriable"]] if "retriable" in facts else []
            if "details" in facts and branch.details is not None and branch.details.flag is None:
                names = [key.removesuffix("?") for key in branch.details.members or ()]
                flags += [(*facts["details"], name) for name in names if name in self.flags]
            read = rules.flag(said, facts, flags)
            if read is not None:
                if read[1]:
                    self.lose(
                        f"{branch.pointer}/allOf",
                        "condition",
                        "a fact that no body shows decides too; `operation.idempotent` stands in its place",
                    )
                return read[0]
            self.lose(
                f"{branch.pointer}/allOf",
                "condition",
                "these conditions are no simple rule of the retry flag",
            )
        return None

    def _shown(
        self, branch: Branch, found: list[tuple[Group, Branch]], sample: SampledError
    ) -> object:
        """The status that a sample's body shows."""
        group = next(group for group, each in found if each is branch)
        return shape.extract(self.shapes[group.envelope], sample.value).slots.get("status")

    def _examples(
        self, found: list[tuple[Group, Branch]], code: Data
    ) -> list[tuple[Data, tuple[str, ...]]]:
        """The examples of a code, each with its places; what each of its envelopes shows of one of them, together."""
        merged: dict[int, tuple[Data, tuple[str, ...]]] = {}
        for group, branch in found:
            numbers = {each.number for each in branch.samples}
            free = iter(
                [each for each in range(1, 2 * len(branch.samples) + 1) if each not in numbers]
            )
            for sample in branch.samples:
                number = sample.number or next(free)
                example = self._example(group, branch, sample, code)
                if example is None:
                    continue
                into, places = merged.get(number, ({}, ()))
                slots = {**into.get("slots", {}), **example.get("slots", {})}
                merged[number] = (
                    {**into, **example, **_given("slots", slots)},
                    (*places, sample.pointer),
                )
        plain = {"message": code["summary"]}
        return [(each or plain, places) for _, (each, places) in sorted(merged.items())]

    def _example(
        self, group: Group, branch: Branch, sample: SampledError, code: Data
    ) -> Data | None:
        read = shape.extract(self.shapes[group.envelope], sample.value)
        if not read.fits:
            self.lose(sample.pointer, "example", "it does not fit the schema of its own response")
            return None
        for place in read.unexpected:
            self.lose(f"{sample.pointer}{place}", "example", "no schema of the response has it")
        if read.more:
            self.lose(sample.pointer, "example", "only the first error of a list is kept")
        slots = dict(read.slots)
        example: Data = {}
        if sample.summary is not None and sample.summary != code["summary"]:
            example["summary"] = sample.summary
        message = slots.pop("message", None)
        if isinstance(message, str) and message and message != code["summary"]:
            example["message"] = message
        elif message is not None and message != code["summary"]:
            slots["message"] = message
        details = slots.pop("details", None)
        if isinstance(details, list) and len(details) == 1 and self._lists(group):
            details = details[0]
        if isinstance(details, dict):
            example["details"] = details
        elif details is not None:
            slots["details"] = details
        statuses = code["http"] if isinstance(code["http"], list) else [code["http"]]
        status = slots.get("status")
        default = status_range(str(statuses[0])).low if statuses[0] is not None else None
        if status == default or (
            isinstance(status, int) and any(status in status_range(str(e)) for e in statuses)
        ):
            slots.pop("status", None)
            if status != default:
                example["status"] = status
        boundary = code.get("boundary")
        decided = {
            "code": branch.body.wire,
            "summary": code["summary"],
            "boundary": boundary[0] if isinstance(boundary, list) else boundary,
            "domain": code.get("domain"),
            "retriable": code.get("retriable")
            if isinstance(code.get("retriable"), bool)
            else False,
        }
        rest = {
            slot: each
            for slot, each in slots.items()
            if slot not in decided or decided[slot] != each
        }
        first = {slot: terms[0] for slot, terms in code.get("facts", {}).items()}
        rest = {
            slot: each for slot, each in rest.items() if slot not in first or first[slot] != each
        }
        return {**example, **_given("slots", rest)}

    def _lists(self, group: Group) -> bool:
        """Whether the envelope keeps the details in a list."""
        field: Data = self.envelopes[group.envelope].get("fields", {}).get("details", {})
        return field.get("type") == "array"

    # Operations and the codes of statuses

    def _operations(self, operations: Data, codes: Data) -> bool:
        """The operations of the document's paths; whether any has a code that its status names."""
        taken = UniqueNames(set(operations))
        imported = False
        for operation in self.seen.operations:
            if not operation.answers and not operation.shared:
                continue
            name = taken.unused(identifier(snake(operation.identity), "operation"))
            shared = [branch.key[1] for branch in operation.shared if branch.key[0] is None]
            errors: Data = {}
            for answer in operation.answers:
                code = self._status_code(answer, {*codes, *errors})
                errors[code] = self._answer(answer, ("operations", name, "errors", code))
            imported = imported or bool(errors)
            operations[name] = {
                **(
                    {"summary": operation.said} if operation.said and operation.said.strip() else {}
                ),
                **(
                    {"wire": operation.wire}
                    if operation.wire and operation.wire != name and operation.wire.strip()
                    else {}
                ),
                "match": {"routes": [operation.route]},
                **(
                    {"idempotent": True}
                    if operation.method in ("get", "head", "options", "trace", "put", "delete")
                    else {}
                ),
                **({"codes": list(dict.fromkeys(shared))} if shared else {}),
                **_given("errors", errors),
            }
        return imported

    def _status_code(self, answer: ImportedResponse, taken: Iterable[str]) -> str:
        name = PATTERN.replace("${status}", answer.status.upper())
        used = UniqueNames(set(taken))
        free = used.unused(name)
        if free != name:
            self.lose(
                answer.pointer,
                "collision",
                f"the document has a code {name} of its own; this one is called {free}",
            )
        return free

    def _answer(self, answer: ImportedResponse, path: tuple[str, ...]) -> Data:
        statuses: Any = int(answer.status) if answer.status.isdecimal() else answer.status
        if answer.status == "default":
            statuses = ["4xx", "5xx"]
            self.lose(
                answer.pointer,
                "default",
                "`default` is any status that is not listed; it became 4xx and 5xx",
            )
        summary = (
            answer.said
            or (phrase(statuses) if isinstance(statuses, int) else "")
            or f"An answer with the status {answer.status}"
        )
        code: Data = {
            "summary": " ".join(summary.split()) or f"An answer with the status {answer.status}",
            "http": statuses,
        }
        headers: Data = {}
        for name, each in answer.headers.items():
            presence = "required" if each[0] else "optional"
            rule = self._rule(name, each)
            headers[name] = {"presence": presence, **rule} if rule else presence
        if headers:
            code["headers"] = headers
        problem = self._problem(answer.schema)
        if problem is not None:
            self.lose(
                answer.pointer, "schema", f"the schema of its body is no JSON Schema: {problem}"
            )
        elif isinstance(answer.schema, Mapping) and answer.schema:
            code["schema"] = dict(answer.schema)
        examples = []
        for sample in answer.samples:
            if isinstance(sample.value, dict):
                said = {"summary": sample.summary} if sample.summary else {}
                examples.append(({**said, "details": sample.value}, (sample.pointer,)))
            else:
                self.lose(sample.pointer, "example", "details are an object, and this body is none")
        self._show(code, path, examples)
        return code

    def _problem(self, schema: Any) -> str | None:
        """Why a schema is none; asked once for each, since operations answer alike."""
        text = repr(schema)
        if text not in self.asked:
            problem = foreign_schema_problem(schema) if schema else None
            self.asked[text] = None if problem is None else problem[1]
        return self.asked[text]

    def _undeclared(self) -> Data:
        return {
            "summary": "An answer that the document does not declare.",
            "http": None,
            "http_reason": "No response of the document stands for it.",
            "retriable": False,
            "example": {"message": "The answer is not declared"},
        }

    def _surfaces(self, codes: Data, operations: Data, imported: bool) -> Data:
        answering = [group.envelope for group in self.groups if group.answers]
        silent = [group.envelope for group in self.groups if not group.answers]
        found: Data = {}
        if answering:
            found["api"] = {
                "transport": "http",
                "envelope": answering[0] if len(answering) == 1 else answering,
                "codes": "closed",
                **(
                    {
                        "reason": "Some responses of the document name no code; the status stands for it."
                    }
                    if imported
                    else {}
                ),
            }
        elif imported:
            found["api"] = {
                "transport": "http",
                "envelope": "none",
                "reason": "The document's bodies name no code; the status stands for it.",
            }
        every = [
            *codes.values(),
            *(e for op in operations.values() for e in op.get("errors", {}).values()),
        ]
        unanswered = any(each["http"] is None for each in every)
        elsewhere = [group.envelope for group in self.groups if unanswered or not group.answers]
        if not self.groups:
            elsewhere = list(self.envelopes)
        if elsewhere:
            found["elsewhere"] = {
                "transport": "event",
                "error_when": {"present": self._mark(elsewhere)},
                "envelope": elsewhere[0] if len(elsewhere) == 1 else elsewhere,
                "codes": "closed",
            }
        for group in self.groups:
            if group.envelope in silent:
                self.lose(
                    group.pointer,
                    "transport",
                    "nothing says what carries it; `event` stands in its place",
                )
        return found

    def _mark(self, envelopes: Sequence[str]) -> str:
        """The member that tells an error where no status does: the one that holds the code; any body where those differ."""
        places = {
            slot_places(shape.compile_shape(self.envelopes[envelope]["shape"]))["code"][0].path
            for envelope in envelopes
        }
        return places.pop() if len(places) == 1 else ""

    # Headers

    def _headers(self) -> Data:
        """The rules for headers, by status; a header under every status of a class is a rule for the class."""
        responses: list[tuple[str, Group, dict[str, Header]]] = [
            (status, group, headers)
            for group in self.groups
            for status, listed in group.headers.items()
            for headers in listed
            if status != "default"
        ]
        for group in self.groups:
            for headers in group.headers.get("default", ()):
                for *_, pointer in headers.values():
                    self.lose(
                        pointer,
                        "header",
                        "it is of `default`, which is no status that a rule could be for",
                    )
        found: Data = {}
        for name in self._header_names([headers for *_, headers in responses]):
            rules: list[Data] = []
            for presence, chosen in (("required", True), ("optional", False)):
                on = self._spans(name, responses, chosen)
                if on:
                    every = [h[name] for *_, h in responses if name in h]
                    first = every[0]
                    for each in every:
                        if each[1:3] != first[1:3]:
                            self.lose(
                                each[3],
                                "header",
                                "other responses have it otherwise; the first of them counts",
                            )
                    rule = self._rule(name, first)
                    rules.append(
                        {
                            "on": on[0] if len(on) == 1 else on,
                            **({"presence": presence} if not chosen else {}),
                            **rule,
                        }
                    )
            if len(rules) == 2:
                rules[1].pop("summary", None)
            if rules:
                found[name] = rules[0] if len(rules) == 1 else rules
        return found

    def _header_names(self, responses: Sequence[Mapping[str, Header]]) -> list[str]:
        """The headers, in the order of the document's components, which single responses need not show."""
        places = {name: each[3] for headers in responses for name, each in headers.items()}
        listed = [name for place in self.seen.headers for name in places if places[name] == place]
        return registry.merged([listed, *(list(headers) for headers in responses)])

    def _spans(
        self, name: str, responses: Sequence[tuple[str, Group, dict[str, Header]]], required: bool
    ) -> list[Any]:
        """The statuses under which a header must (or may) be there, whole classes where all of their statuses agree."""
        mine: dict[str, bool] = {}
        for status, group, headers in responses:
            has = name in headers and headers[name][0] == required
            if mine.setdefault(status, has) != has:
                self.lose(
                    group.pointer,
                    "header",
                    f"not every {status} has {name} alike; here every one may have it",
                )
                mine[status] = has or mine[status]
        on: list[Any] = []
        for kind in dict.fromkeys(status[0] for status in sorted(mine)):
            here = [status for status in sorted(mine) if status[0] == kind]
            with_it = [status for status in here if mine[status]]
            if with_it == here and (f"{kind}xx" in here or (kind in "45" and len(here) > 1)):
                on.append(f"{kind}xx")
            else:
                on += [int(each) if each.isdecimal() else each for each in with_it]
        return on

    def _rule(self, name: str, header: Header) -> Data:
        """What a header holds: its format or its directive, and what it is for."""
        _, schema, said, pointer = header
        rule: Data = {}
        patterns: dict[object, str] = {
            pattern: each
            for each, pattern in reversed([*ids.PATTERNS.items(), *HEADER_PATTERNS.items()])
        }
        texts = (
            [schema["pattern"]]
            if "pattern" in schema
            else [e.get("pattern") for e in schema.get("anyOf", ()) if isinstance(e, Mapping)]
        )
        if (
            schema.get("type", "string") == "string"
            and texts
            and all(text in patterns for text in texts)
        ):
            formats = [patterns[text] for text in texts]
            if tuple(formats) != HEADER_FORMATS.get(name.lower()):
                rule["format"] = formats[0] if len(formats) == 1 else formats
        elif (
            set(schema) == {"type", "examples"}
            and schema["type"] == "string"
            and _token(schema["examples"])
        ):
            rule["token"] = schema["examples"][0]
        elif (
            isinstance(schema.get("format"), str)
            and set(schema) == {"type", "format"}
            and schema["format"] in FORMATS
        ):
            rule["format"] = schema["format"]
        elif schema not in ({"type": "string"}, {}):
            self.lose(
                child(pointer, "schema"),
                "header",
                "a header's schema is not carried beyond a known format",
            )
        return {**rule, **({"summary": said} if said else {})}


_PLAIN_ENVELOPE: Data = {
    "summary": "How the errors are told where they are passed on; their own bodies name no code.",
    "shape": {"code": "$code", "message": "$message", "details?": "$details"},
}


def _token(examples: object) -> bool:
    return (
        isinstance(examples, list)
        and len(examples) == 1
        and isinstance(examples[0], str)
        and bool(examples[0].strip())
    )


def _given(key: str, value: Any) -> Data:
    return {key: value} if value else {}


def _code_name(wire: str | int, name: str) -> str:
    """A name for a code that the OpenAPI target spells as the document does."""
    text = str(wire)
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text) and (not name or pascal(text) == name):
        return text
    return identifier(snake(name) if name else text, "code")


def _operations_of(group: Group, names: Sequence[str]) -> Iterator[str | None]:
    """Which operation each code is of: the name in front of the code's own, in the codes at the end that all have one."""
    own = [pascal(str(branch.body.wire)) for branch in group.branches]
    longer = [
        bool(code) and name.endswith(code) and name != code
        for name, code in zip(names, own, strict=True)
    ]
    first = len(names)
    while first and longer[first - 1]:
        first -= 1
    wires = [branch.body.wire for branch in group.branches]
    repeated = len(set(wires)) < len(wires)
    if not repeated and not all(re.fullmatch(r"[A-Za-z_]\w*", str(wire)) for wire in wires[first:]):
        first = len(names)
    for index, (name, code) in enumerate(zip(names, own, strict=True)):
        yield name.removesuffix(code) if index >= first else None


def _renamed(picture: Any, slot: str, name: str) -> Any:
    """The picture with another name for a slot that stands alone wherever it stands."""
    if isinstance(picture, Mapping):
        return {key: _renamed(each, slot, name) for key, each in picture.items()}
    if isinstance(picture, list):
        return [_renamed(each, slot, name) for each in picture]
    return name if picture == slot else picture
