"""Codes, their examples, and operations with codes of their own."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Literal

from faultspec.language.conditions import ConditionalRule, Retriable, StatusRange
from faultspec.language.grammar import Path, closest
from faultspec.language.model import (
    Code,
    Deadline,
    DetailKey,
    Example,
    Mcp,
    Operation,
    Schema,
    Term,
)
from faultspec.language.schemas import details
from faultspec.language.scope import Data, Known, Scope
from faultspec.language.values import foreign_schema_problem
from faultspec.language.wire import WELL_KNOWN_SLOTS, condition, header_rules, http, match

#: How late an answer may come after its deadline, unless said otherwise: a busy machine's scheduling and one way of a network.
_LATE = "1s"


def _mcp(data: Data | None) -> Mcp | None:
    return None if data is None else Mcp(data["is_error"], data.get("strict"))


def _refused(status: StatusRange) -> bool:
    """Whether these statuses say that a request was refused before anything was done (RFC 9110 section 15.5); 408 says only
    that the server stopped waiting.
    """
    return status.low >= 400 and status.high < 500 and 408 not in status


class Failures:
    """Resolves codes against the registry and the vocabularies of their document."""

    def __init__(
        self,
        scope: Scope,
        registry: Mapping[str, DetailKey],
        vocabularies: Mapping[str, Mapping[str, Term]],
        slots: Known,
    ) -> None:
        self.scope = scope
        self.registry = registry
        self.vocabularies = vocabularies
        self.slots = slots

    def codes(self) -> dict[str, Code]:
        """The shared codes, each with its own name on the wire."""
        found = {
            name: self._code(name, each, ("codes", name), "protocol")
            for name, each in self.scope.section("codes").items()
        }
        self._wire_names(found, ("codes",))
        return found

    def _wire_names(self, codes: Mapping[str, Code], path: Path) -> None:
        seen: dict[object, str] = {}
        for name, code in codes.items():
            first = seen.setdefault(code.wire, name)
            if first != name:
                at: Path = (*path, name, "wire") if code.wire != name else (*path, name)
                message = f"`{name}` and `{first}` are both `{code.wire}` on the wire"
                self.scope.wrong(
                    at, "ambiguous-wire", message, "give one another `wire:`", on_key=True
                )

    def _code(
        self, name: str, data: Data, path: Path, level: Literal["protocol", "operation"]
    ) -> Code:
        scope = self.scope
        members = details(scope, data.get("details", {}), (*path, "details"), self.registry)
        known_details = self._known_details(path)
        retriable = self._retriable(data.get("retriable"), (*path, "retriable"), known_details)
        lifecycle = data.get("lifecycle", "stable")
        carried = http(scope, *self._http_of(data, path, lifecycle), path, known_details)
        self._parameters(data.get("message"), known_details, (*path, "message"))
        default_action = "retry" if retriable.kind == "always" else "none"
        default_effect = (
            "none" if carried.statuses and all(map(_refused, carried.statuses)) else "unknown"
        )
        self._day(data.get("sunset"), (*path, "sunset"))
        examples = data.get("example", [])
        listed = isinstance(examples, list)
        return Code(
            name=name,
            wire=data.get("wire", name),
            summary=data["summary"],
            description=data.get("description"),
            message=data.get("message"),
            domain=self._refer(data, "domain", scope.names("domains"), "domain", path),
            boundaries=scope.refer_all(
                data.get("boundary"), scope.names("boundaries"), "boundary", (*path, "boundary")
            ),
            http=carried,
            grpc=data.get("on", {}).get("grpc"),
            mcp=_mcp(data.get("on", {}).get("mcp")),
            envelopes=scope.refer_all(
                data.get("envelope"), scope.names("envelopes"), "envelope", (*path, "envelope")
            ),
            retriable=retriable,
            client_action=data.get("client_action", default_action),
            retry=self._refer(data, "retry", scope.names("retry_policies"), "retry policy", path),
            effect=data.get("effect", default_effect),
            headers=header_rules(
                scope, data.get("headers", {}), (*path, "headers"), self.slots, default_on=()
            ),
            details=members,
            details_schema=self._foreign(data, (*path, "schema")),
            examples=tuple(
                self._example(each, (*path, "example", index) if listed else (*path, "example"))
                for index, each in enumerate(examples if listed else [examples])
            ),
            actions=scope.refer_all(
                data.get("actions"), scope.names("actions"), "action", (*path, "actions")
            ),
            lifecycle=lifecycle,
            since=data.get("since"),
            sunset=data.get("sunset"),
            replaced_by=self._refer(data, "replaced_by", scope.code_names, "code", path),
            level=data.get("level", level),
            passthrough=self._passthrough(
                data.get("passthrough"), (*path, "passthrough"), known_details
            ),
            facts={
                slot: self._fact(slot, each, (*path, "facts", slot))
                for slot, each in data.get("facts", {}).items()
            },
            deadline=self._deadline(data["deadline"], (*path, "deadline"), known_details)
            if "deadline" in data
            else None,
            source=scope.source(data.get("source"), path),
        )

    def _day(self, value: str | None, path: Path) -> None:
        if not value:
            return
        try:
            date.fromisoformat(value)
        except ValueError:
            hint = "write year, month and day, such as 2027-01-31"
            self.scope.wrong(path, "bad-value", f"`{value}` is no day of the calendar", hint)

    def _refer(self, data: Data, key: str, known: Known, what: str, path: Path) -> str | None:
        """The name under `key`, if there is one; checked, and kept even when it dangles."""
        name: str | None = data.get(key)
        if name is not None:
            self.scope.refer(name, known, what, (*path, key))
        return name

    def _known_details(self, path: Path) -> Known:
        """The details keys a code may carry: its own and those of the registry."""
        *above, name = path
        own = self.scope.names(*map(str, above), str(name), "details")
        registered = self.scope.names("detail_keys")
        if own is None or registered is None:
            return None
        return tuple(dict.fromkeys((*(key.removesuffix("?") for key in own), *registered)))

    def _deadline(self, data: Data, path: Path, known_details: Known) -> Deadline:
        detail = data["equals"].removeprefix("details.")
        self.scope.refer(detail, known_details, "detail key", (*path, "equals"))
        late_by = self.scope.duration(data.get("late_by", _LATE), (*path, "late_by")) or 0.0
        return Deadline(detail, late_by, self.scope.source(data.get("source"), path))

    def _http_of(self, data: Data, path: Path, lifecycle: str) -> tuple[object, str | None]:
        """The `http:` and `http_reason:` of a code, with what stands for their absence.

        No `http:` at all is a silence, and a silence is reported where some surface is HTTP.
        """
        if "http" in data:
            return data["http"], data.get("http_reason")
        if lifecycle == "removed":
            return None, "not produced"
        surfaces = self.scope.section("surfaces")
        if surfaces and not any(surface["transport"] == "http" for surface in surfaces.values()):
            return None, data.get("http_reason", "no surface is HTTP")
        if "http_reason" not in data:
            message = f"`{path[-1]}` says nothing of `http`"
            hint = "give it a status, or `http: null` with `http_reason:`"
            needs = ((*path, "http"), (*path, "http_reason"), (*path, "lifecycle"), ("surfaces",))
            self.scope.wrong(path, "unmapped-code", message, hint, on_key=True, needs=needs)
        return None, data.get("http_reason", "not declared")

    def _retriable(self, value: object, path: Path, known_details: Known) -> Retriable:
        if value is None:
            return Retriable("none")
        if isinstance(value, bool):
            return Retriable("always" if value else "never")
        if isinstance(value, str):
            return Retriable("caller" if value == "caller" else "none")
        assert isinstance(value, dict)
        until = self._refer(value, "until", self.scope.names("actions"), "action", path)
        rules = tuple(
            ConditionalRule(
                condition(self.scope, each["if"], (*path, "when", index, "if"), known_details),
                each["then"],
            )
            for index, each in enumerate(value.get("when", ()))
        )
        otherwise = value.get("else", False)
        if not rules:
            return Retriable("always" if otherwise else "never", (), until)
        return Retriable("conditional", (*rules, ConditionalRule((), otherwise)), until)

    def _parameters(self, message: str | None, known_details: Known, path: Path) -> None:
        """A message is built from details that the code may carry, so that nothing else can leak into it."""
        for key in re.findall(r"\$\{([^}]*)\}?", message or ""):
            if known_details is not None and key not in known_details:
                hint = (
                    closest(key, known_details)
                    or "messages are built from declared details only; a dollar is `$$`"
                )
                self.scope.wrong(
                    path,
                    "unknown-parameter",
                    f"`${{{key}}}` is not one of this code's details",
                    hint,
                )

    def _foreign(self, data: Data, path: Path) -> Schema | None:
        if "schema" not in data:
            return None
        problem = foreign_schema_problem(data["schema"])
        if problem is not None:
            where, message = problem
            self.scope.wrong(
                (*path, *where),
                "bad-schema",
                f"this is no JSON Schema: {message}",
                "see json-schema.org",
            )
        return Schema(opaque=data["schema"])

    def _passthrough(self, value: Any, path: Path, known_details: Known) -> tuple[str, ...]:
        known = (
            None if known_details is None or self.slots is None else (*known_details, *self.slots)
        )
        for index, each in enumerate(value or ()):
            self.scope.refer(
                each.removeprefix("details."), known, "detail key or slot", (*path, index)
            )
        return tuple(value or ())

    def _fact(self, slot: str, value: object, path: Path) -> tuple[str, ...]:
        """The terms under `facts:`; the slot's field says which vocabulary they are of."""
        scope = self.scope
        vocabulary = next(
            (
                str(field["vocabulary"])
                for each in scope.section("envelopes").values()
                for name, field in each.get("fields", {}).items()
                if name == slot and "vocabulary" in field
            ),
            None,
        )
        if vocabulary is None:
            message = f"no envelope has a field `{slot}` with a vocabulary"
            hint = f"say under `fields:` which vocabulary `${slot}` is of"
            scope.wrong(
                path, "dangling-reference", message, hint, on_key=True, needs=(("envelopes",),)
            )
            return ()
        named = (
            (vocabulary,)
            if vocabulary in ("actions", "boundaries", "domains")
            else ("vocabularies", vocabulary)
        )
        if named[0] == "vocabularies" and vocabulary not in (scope.names("vocabularies") or ()):
            return ()  # reported where the field names it
        return scope.refer_all(value, scope.names(*named), f"term of `{vocabulary}`", path)

    def _example(self, data: Data, path: Path) -> Example:
        for slot in data.get("slots", {}):
            known = (
                None
                if self.slots is None
                else tuple(dict.fromkeys((*self.slots, *WELL_KNOWN_SLOTS)))
            )
            self.scope.refer(slot, known, "slot", (*path, "slots", slot), on_key=True)
        return Example(
            data.get("message"),
            data.get("details"),
            data.get("slots", {}),
            data.get("status"),
            data.get("headers", {}),
            data.get("summary"),
            self.scope.source(data.get("source"), path),
        )

    def operation(self, name: str, data: Data) -> Operation:
        """An operation and the codes that only it has."""
        path: Path = ("operations", name)
        scope = self.scope
        shared = data.get("codes")
        known = scope.names("codes")
        for code in data.get("errors", {}):
            if code in (known or ()):
                message = f"`{code}` is a shared code; an operation cannot redefine it"
                hint = (
                    "choose a name of the operation's own, or name the shared code under `codes:`"
                )
                scope.wrong((*path, "errors", code), "reserved-code", message, hint, on_key=True)
        errors = {
            c: self._code(c, each, (*path, "errors", c), "operation")
            for c, each in data.get("errors", {}).items()
        }
        self._wire_names(errors, (*path, "errors"))
        return Operation(
            name,
            data.get("wire", name),
            match(scope, data.get("match"), (*path, "match")),
            data.get("idempotent"),
            errors,
            None if shared is None else scope.refer_all(shared, known, "code", (*path, "codes")),
            data.get("summary"),
            scope.source(data.get("source"), path),
        )
