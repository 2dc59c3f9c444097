"""Codes, their examples, and operations with codes of their own."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Literal

from faultspec.language.carriers import reaches
from faultspec.language.conditions import ConditionalRule, Retriable, StatusRange
from faultspec.language.constructs.failures import GRPC
from faultspec.language.grammar import Path, closest
from faultspec.language.key_places import read_own_key_place
from faultspec.language.model import (
    Code,
    Constant,
    Deadline,
    DetailKey,
    Envelope,
    Example,
    Mcp,
    Operation,
    Schema,
    Support,
    Surface,
)
from faultspec.language.pictures import has_unclosed_parameter, message_parameters
from faultspec.language.schemas import read_details
from faultspec.language.scope import Data, Known, Scope, placed_items
from faultspec.language.values import are_equal, check_value, foreign_schema_problem
from faultspec.language.wire import (
    read_condition_rules,
    read_header_rules,
    read_http,
    read_match,
)

#: The default of `late_by`: for scheduling on a busy machine and one way over a network.
_LATE_BY = "1s"


def _is_refusal(status: StatusRange) -> bool:
    """Whether the statuses mean that nothing was done (RFC 9110 section 15.5).

    408 only means that the server stopped waiting.
    """
    return status.low >= 400 and status.high < 500 and 408 not in status


def _without(data: Data, key: str) -> Data:
    return {name: value for name, value in data.items() if name != key}


def _shows(code: Code, example: Example) -> bool:
    """Whether an example of a shared code is one of its variant too."""
    needed = {each.name for each in code.details.values() if each.presence == "required"}
    given = {slot: example.slots[slot] for slot in code.facts if slot in example.slots}
    return (
        (example.status is None or code.http.allows(example.status))
        and needed <= set(example.details or {})
        and all(
            any(are_equal(value, each) for each in code.facts[slot])
            for slot, value in given.items()
        )
    )


#: The slots that keys of a code decide, or the answer.
_OWN_KEYS = {
    "code": "wire",
    "message": "message",
    "summary": "summary",
    "status": "http",
    "retriable": "retriable",
    "boundary": "boundary",
    "domain": "domain",
    "details": "details",
    "actions": "actions",
    "grpc_status": "on",
    "grpc_code": "on",
}


class CodeReader:
    """Reads the codes of a document, given the parts that they refer to."""

    def __init__(
        self,
        scope: Scope,
        registry: Mapping[str, DetailKey],
        envelopes: Mapping[str, Envelope],
        surfaces: Mapping[str, Surface],
    ) -> None:
        self.scope = scope
        self.registry = registry
        self.envelopes = envelopes
        self.surfaces = surfaces
        self.defaults = {
            name: self._defaults(domain["defaults"], ("domains", name, "defaults"))
            for name, domain in scope.section("domains").items()
            if isinstance(domain, dict) and "defaults" in domain
        }

    def _defaults(self, data: Data, path: Path) -> Data:
        """The defaults of a domain, without references to what is not declared."""
        boundaries = self.scope.refer_keys(data, "boundary", "boundary", path)
        known = {**data, "boundary": list(boundaries)} if boundaries else _without(data, "boundary")
        if "retry" in data:
            policies = self.scope.refer_keys(data, "retry", "retry policy", path)
            known = known if policies else _without(known, "retry")
        return known

    def shared_codes(self) -> dict[str, Code]:
        """The codes of the taxonomy; their names on the wire differ."""
        return self._codes(self.scope.section("codes"), ("codes",), "protocol")

    def _codes(
        self, section: Data, path: Path, level: Literal["protocol", "operation"]
    ) -> dict[str, Code]:
        codes = {
            name: self._code(name, data, (*path, name), level) for name, data in section.items()
        }
        names: dict[object, str] = {}
        for name, code in codes.items():
            first = names.setdefault(code.wire, name)
            if first != name:
                at: Path = (*path, name, "wire") if code.wire != name else (*path, name)
                message = f"`{name}` and `{first}` are both `{code.wire}` on the wire"
                hint = "give one another `wire:`"
                self.scope.report(at, "ambiguous-wire", message, hint, on_key=True)
        self._check_identities(codes, path)
        return codes

    def _check_identities(self, codes: Mapping[str, Code], path: Path) -> None:
        """Report two codes with one identity in an envelope."""
        for envelope in dict.fromkeys(each for code in codes.values() for each in code.identities):
            names: dict[object, str] = {}
            for name, code in codes.items():
                if not any(self._carrying(code, envelope, path)):
                    continue
                identity = code.identities.get(envelope, code.wire)
                first = names.setdefault(identity, name)
                if first != name and codes[first].wire != code.wire:
                    at: Path = (*path, name, "on") if code.identities else (*path, name)
                    message = (
                        f"`{name}` and `{first}` are both `{identity}` in the envelope `{envelope}`"
                    )
                    hint = "give one another value under `on:`"
                    self.scope.report(at, "ambiguous-wire", message, hint, on_key=True)

    def _carrying(self, code: Code, envelope: str, path: Path) -> Iterator[Surface]:
        """The surfaces that carry a code of the section at ``path`` in an envelope."""
        for surface in self.surfaces.values():
            if (
                envelope in surface.envelopes
                and (not code.envelopes or envelope in code.envelopes)
                and reaches(surface, code, of_operation=path[-1] == "errors")
            ):
                yield surface

    def _variant(self, name: str, data: Data, path: Path) -> Code:
        """A shared code with what an operation has otherwise."""
        scope, shared = self.scope, self.scope.section("codes")[name]
        merged = {**shared, **data}
        for key in ("details", "facts"):
            own = data.get(key, {})
            replaced = {each.removesuffix("?") for each in own}
            kept = {
                each: value
                for each, value in shared.get(key, {}).items()
                if each.removesuffix("?") not in replaced
            }
            merged[key] = {**kept, **own}
        before = len(scope.problems)
        code = self._code(name, merged, path, "protocol", shared=("codes", name))
        # What it has of the shared code is reported there.
        scope.problems[before:] = [
            problem
            for problem in scope.problems[before:]
            if problem.path[: len(path)] == path and set(problem.path[len(path) :][:1]) & set(data)
        ]
        if "example" in data:
            return code
        examples = tuple(each for each in code.examples if _shows(code, each))
        return code._replace(examples=examples)

    def _code(
        self,
        name: str,
        data: Data,
        path: Path,
        level: Literal["protocol", "operation"],
        *,
        shared: tuple[str, ...] | None = None,
    ) -> Code:
        """``shared``: the path of the shared code that this one is a variant of."""
        scope = self.scope
        if data.get("lifecycle") != "removed":
            data = {**self.defaults.get(data.get("domain", ""), {}), **data}
        known_details = self._known_details(path, shared)
        retriable = self._retriable(data.get("retriable"), (*path, "retriable"), known_details)
        http = read_http(scope, *self._http_of(data, path), path, known_details)
        refused = bool(http.statuses) and all(map(_is_refusal, http.statuses))
        self._check_parameters(data.get("message"), known_details, (*path, "message"))
        for locale, text in data.get("messages", {}).items():
            self._check_parameters(text, known_details, (*path, "messages", locale))
        self._check_date(data.get("sunset"), (*path, "sunset"))
        carriers = data.get("on", {})
        code = Code(
            name=name,
            wire=data.get("wire", name),
            summary=data["summary"],
            description=data.get("description"),
            message=data.get("message"),
            domain=scope.refer_key(data, "domain", "domain", path),
            boundaries=scope.refer_keys(data, "boundary", "boundary", path),
            http=http,
            grpc=carriers.get("grpc"),
            mcp=self._mark(carriers.get("mcp"), (*path, "on", "mcp")),
            envelopes=scope.refer_keys(data, "envelope", "envelope", path),
            retriable=retriable,
            client_action=data.get("client_action", "retry" if retriable.fixed else "none"),
            retry=scope.refer_key(data, "retry", "retry policy", path),
            effect=data.get("effect", "none" if refused else "unknown"),
            headers=read_header_rules(
                scope, data.get("headers", {}), (*path, "headers"), default_on=()
            ),
            details=read_details(scope, data.get("details", {}), (*path, "details"), self.registry),
            details_schema=self._foreign_schema(data, (*path, "schema")),
            examples=tuple(
                self._example(example, at)
                for at, example in placed_items(data.get("example", []), (*path, "example"))
            ),
            actions=self._actions(data, path),
            exact_actions=isinstance(data.get("actions"), dict),
            lifecycle=data.get("lifecycle", "stable"),
            since=data.get("since"),
            sunset=data.get("sunset"),
            replaced_by=scope.refer_key(data, "replaced_by", "code", path),
            level=data.get("level", level),
            passthrough=self._passthrough(data, path, known_details),
            facts={
                **self._grpc_facts(carriers.get("grpc")),
                **{
                    slot: self._fact(slot, values, (*path, "facts", slot))
                    for slot, values in data.get("facts", {}).items()
                },
            },
            deadline=self._deadline(data["deadline"], (*path, "deadline"), known_details)
            if "deadline" in data
            else None,
            source=scope.source(data.get("source"), path),
            messages=data.get("messages", {}),
            support=Support(*(data.get(key) for key in Support._fields)),
        )
        return (
            code._replace(identities=self._identities(code, carriers, path)) if carriers else code
        )

    def _actions(self, data: Data, path: Path) -> tuple[str, ...]:
        """The actions that a code suggests, from a list or from `exactly`."""
        given = data.get("actions")
        if isinstance(given, dict):
            return self.scope.refer_keys(given, "exactly", "action", (*path, "actions"))
        return self.scope.refer_keys(data, "actions", "action", path)

    def _mark(self, data: object, path: Path) -> Mcp | None:
        """The marks of tool results with a code; None if it declares none."""
        if not isinstance(data, dict):
            return None
        if "is_error" in data:
            return Mcp(data["is_error"], data.get("strict"))
        if "strict" in data:
            message, hint = "`strict` is allowed beside `is_error`", "add `is_error:`"
            needs = ((*path, "is_error"),)
            self.scope.report((*path, "strict"), "misplaced-key", message, hint, needs=needs)
        return None

    def _identities(self, code: Code, carriers: Data, path: Path) -> dict[str, str | int]:
        """By envelope, the value of the code slot where it is not ``wire``."""
        given = {
            surface: value
            for transport in carriers
            if transport != "grpc"
            for surface, value in self._surface_values(
                carriers, transport, (*path, "on", transport)
            )
        }
        found: dict[str, str | int] = {}
        for envelope in dict.fromkeys(
            envelope for name in given for envelope in self.surfaces[name].envelopes
        ):
            carrying = [surface.name for surface in self._carrying(code, envelope, path[:-1])]
            values = {name: given.get(name, code.wire) for name in carrying}
            if len(set(values.values())) > 1:
                listed = ", ".join(f"`{value}` on `{name}`" for name, value in values.items())
                message = f"`{code.name}` has several values in the envelope `{envelope}`: {listed}"
                hint = "draw an envelope of its own for each"
                self.scope.report((*path, "on"), "contradiction", message, hint, on_key=True)
            if values and (value := values[carrying[0]]) != code.wire:
                found[envelope] = value
        return found

    def _surface_values(
        self, carriers: Data, transport: str, path: Path
    ) -> Iterator[tuple[str, str | int]]:
        """The surfaces of a transport, each with the value of the code slot there."""
        value = carriers[transport]
        if transport == "mcp" and isinstance(value, dict):
            value, path = value.get("code"), (*path, "code")
        own = [each.name for each in self.surfaces.values() if each.transport == transport]
        if isinstance(value, dict):
            known = None if self.scope.names("surfaces") is None else tuple(own)
            for name, each in value.items():
                if (
                    self.scope.refer(
                        name, known, f"{transport} surface", (*path, name), on_key=True
                    )
                    and name in own
                ):
                    yield name, each
        elif value is not None:
            yield from ((name, value) for name in own)

    def _check_date(self, value: str | None, path: Path) -> None:
        if value is None:
            return
        try:
            date.fromisoformat(value)
        except ValueError:
            hint = "write year, month and day, such as 2027-01-31"
            self.scope.report(path, "bad-value", f"`{value}` is not a date", hint)

    def _known_details(self, path: Path, shared: tuple[str, ...] | None) -> Known:
        """The details keys that a code may carry: its own and the registered ones."""
        own = self.scope.names(*map(str, path), "details")
        if shared is not None and own is not None:
            kept = self.scope.names(*shared, "details")
            own = None if kept is None else (*kept, *own)
        registered = self.scope.names("detail_keys")
        if own is None or registered is None:
            return None
        return tuple(dict.fromkeys((*(key.removesuffix("?") for key in own), *registered)))

    def _deadline(self, data: Data, path: Path, known_details: Known) -> Deadline:
        detail = data["equals"].removeprefix("details.")
        self.scope.refer(detail, known_details, "detail key", (*path, "equals"))
        late_by = self.scope.duration({"late_by": _LATE_BY, **data}, "late_by", path) or 0.0
        return Deadline(detail, late_by, self.scope.source(data.get("source"), path))

    def _http_of(self, data: Data, path: Path) -> tuple[object, str | None]:
        """The `http:` and `http_reason:` of a code, or their defaults.

        A code without `http:` is reported if a surface is on HTTP.
        """
        if "http" in data:
            return data["http"], data.get("http_reason")
        if data.get("lifecycle") == "removed":
            return None, "not produced"
        surfaces = self.scope.section("surfaces")
        if surfaces and not any(surface["transport"] == "http" for surface in surfaces.values()):
            return None, data.get("http_reason", "no surface is HTTP")
        if "http_reason" not in data:
            self.scope.report(
                path,
                "unmapped-code",
                f"`{path[-1]}` lacks `http`",
                "give it a status, or `http: null` with `http_reason:`",
                on_key=True,
                needs=(
                    (*path, "http"),
                    (*path, "http_reason"),
                    (*path, "lifecycle"),
                    ("surfaces",),
                ),
            )
        return None, data.get("http_reason", "not declared")

    def _retriable(self, value: object, path: Path, known_details: Known) -> Retriable:
        if isinstance(value, bool):
            return Retriable("always" if value else "never")
        if not isinstance(value, dict):
            return Retriable("caller" if value == "caller" else "none")
        until = self.scope.refer_key(value, "until", "action", path)
        rules = read_condition_rules(self.scope, value, "when", path, known_details=known_details)
        otherwise = value.get("else", False)
        if not rules:
            return Retriable("always" if otherwise else "never", (), until)
        return Retriable("conditional", (*rules, ConditionalRule((), otherwise)), until)

    def _check_parameters(self, message: str | None, known_details: Known, path: Path) -> None:
        """Report parameters that are not details of the code, so that nothing else can leak."""
        for key in message_parameters(message):
            if known_details is not None and key not in known_details:
                problem = f"`${{{key}}}` is not one of this code's details"
                hint = (
                    closest(key, known_details)
                    or "messages are built from declared details only; a dollar is `$$`"
                )
                self.scope.report(path, "unknown-parameter", problem, hint)
        if has_unclosed_parameter(message):
            problem, hint = "`${` has no `}`", "close the parameter; a dollar is `$$`"
            self.scope.report(path, "unknown-parameter", problem, hint)

    def _foreign_schema(self, data: Data, path: Path) -> Schema | None:
        if "schema" not in data:
            return None
        problem = foreign_schema_problem(data["schema"])
        if problem is not None:
            place, reason = problem
            message = f"this is not a JSON Schema: {reason}"
            self.scope.report((*path, *place), "bad-schema", message, "see json-schema.org")
        return Schema(opaque=data["schema"])

    def _passthrough(self, data: Data, path: Path, known_details: Known) -> tuple[str, ...]:
        slots = self.scope.slots
        known = None if known_details is None or slots is None else (*known_details, *slots)
        members = tuple(data.get("passthrough", ()))
        for index, member in enumerate(members):
            name = member.removeprefix("details.")
            self.scope.refer(name, known, "detail key or slot", (*path, "passthrough", index))
        return members

    def _grpc_facts(self, status: str | None) -> dict[str, tuple[Constant, ...]]:
        """The slots of an envelope that the gRPC status of a code fills."""
        if status is None:
            return {}
        values: dict[str, Constant] = {"grpc_status": status, "grpc_code": GRPC[status]}
        slots = {slot for envelope in self.envelopes.values() for slot in envelope.slots}
        return {slot: (value,) for slot, value in values.items() if slot in slots}

    def _fact(self, slot: str, value: object, path: Path) -> tuple[Constant, ...]:
        """The values under `facts:`; terms, if the slot's field names a vocabulary."""
        scope = self.scope
        own = _OWN_KEYS.get(slot)
        if own is not None:
            message = f"`{slot}` is not a fact: `{own}` decides it"
            hint = f"remove it, and write `{own}:`"
            scope.report(path, "misplaced-key", message, hint, on_key=True)
            return ()
        fields = (
            envelope.get("fields", {}).get(slot, {})
            for envelope in scope.section("envelopes").values()
        )
        vocabulary = next((field["vocabulary"] for field in fields if "vocabulary" in field), None)
        if vocabulary is None:
            return self._constants(slot, value, path)
        what = f"term of `{vocabulary}`"
        if vocabulary in ("actions", "boundaries", "domains"):
            return scope.refer_all(value, scope.names(vocabulary), what, path)
        if vocabulary not in (scope.names("vocabularies") or ()):
            return ()  # reported at the field
        return scope.refer_all(value, scope.names("vocabularies", vocabulary), what, path)

    def _constants(self, slot: str, value: object, path: Path) -> tuple[Constant, ...]:
        """Values that the fields of a slot allow."""
        scope = self.scope
        names = scope.names("envelopes")
        is_whole = names is not None and len(names) == len(self.envelopes)
        slots = {slot for envelope in self.envelopes.values() for slot in envelope.slots}
        if is_whole:
            scope.refer(slot, tuple(sorted(slots)), "slot", path, on_key=True)
        schemas = [
            envelope.fields[slot].schema
            for envelope in self.envelopes.values()
            if slot in envelope.fields
        ]
        found = list(placed_items(value, path))
        for at, each in found:
            problems = (problem for schema in schemas for problem in check_value(schema, each))
            problem = next(problems, None)
            if problem is not None:
                message = f"`{slot}` {problem.problem}"
                hint = f"change it, or the field `{slot}` of the envelope"
                scope.report(at, "bad-value", message, hint)
        return tuple(each for _, each in found)

    def _example(self, data: Data, path: Path) -> Example:
        for slot in data.get("slots", {}):
            at: Path = (*path, "slots", slot)
            self.scope.refer(slot, self.scope.known_slots, "slot", at, on_key=True)
        return Example(
            message=data.get("message"),
            details=data.get("details"),
            slots=data.get("slots", {}),
            status=data.get("status"),
            headers=data.get("headers", {}),
            summary=data.get("summary"),
            source=self.scope.source(data.get("source"), path),
        )

    def operation(self, name: str, data: Data) -> Operation:
        """An operation, with the codes that only it has."""
        path: Path = ("operations", name)
        scope = self.scope
        known = scope.names("codes")
        errors = data.get("errors", {})
        for code in errors:
            if code in (known or ()):
                message = f"`{code}` is a shared code, which an operation cannot redefine"
                hint = "choose another name, or list the shared code under `codes:`"
                at: Path = (*path, "errors", code)
                scope.report(at, "reserved-code", message, hint, on_key=True)
        listed = data.get("codes")
        variants = listed if isinstance(listed, dict) else {}
        for code in variants:
            scope.refer(code, known, "code", (*path, "codes", code), on_key=True)
        codes = tuple(code for code in variants if code in scope.section("codes"))
        return Operation(
            name=name,
            wire=data.get("wire", name),
            match=read_match(scope, data.get("match"), (*path, "match")),
            idempotent=data.get("idempotent"),
            errors=self._codes(errors, (*path, "errors"), "operation"),
            codes=None
            if listed is None
            else codes or scope.refer_keys(data, "codes", "shared code", path),
            variants={
                code: self._variant(code, variants[code], (*path, "codes", code))
                for code in codes
                if variants[code]
            },
            summary=data.get("summary"),
            source=scope.source(data.get("source"), path),
            key=read_own_key_place(scope, data, path),
        )
