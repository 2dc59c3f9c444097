"""Updates of one member alone: it changes, the others stay, and so does no strong ETag. Then null
for members that may have it.
"""

import re
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from faultspec.language.values import is_text_or_number
from faultspec.openapi.nodes import Json
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.probes.effects import (
    confirmed_members,
    find_representation,
    is_equal_value,
    is_lost,
    is_masked,
    is_set_by_service,
    may_be_pending,
)
from faultspec_conformance.probes.preconditions import OF_CONDITION, call_at_state
from faultspec_conformance.probes.updates import change_body, is_writable
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.fixtures import request_to
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.meanings import codes_meaning
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    not_exercised,
    parse_body,
    passed,
)
from faultspec_conformance.session.parameters import referred_kind
from faultspec_conformance.session.resources import CreatedResource, content_type

_UPDATED, _STALE = "writes/updated", "preconditions/stale"

#: Names of members that show how far an item is.
_STATES = re.compile(r"stat(e|us)|phase|stage|step|progress", re.IGNORECASE)

#: Members that are updated alone, and members that are set to null.
_MEMBERS, _NULLS = 10, 2


@dataclass(frozen=True, slots=True)
class MemberUpdates:
    """The updates of single members of one resource. ``get`` reads it; ``settle`` waits until reads
    show what was written. ``sent``: the values that it was sent, by member. ``recorded``: updates
    that the run has sent between two reads.
    """

    session: HttpSession
    resource: CreatedResource
    operation: ServiceOperation
    get: Callable[[], Observation]
    settle: Callable[[], None]
    sent: Mapping[str, object]
    recorded: tuple[tuple[Observation, Observation, Observation], ...]

    def outcomes(self, state: Observation) -> Generator[Outcome, None, Observation]:
        """Send the updates; return the last read. ``state``: the read before."""
        bodies: Iterator[Mapping[str, object]] = iter(())
        if self.operation.method == "PATCH":
            state = yield from self._fill_null_members(state)
            if not state.ok:
                return state
            values = self._new_values(state, self._sent_alone(null=False))
            bodies = ({name: value} for name, value in islice(values, _MEMBERS))
        for body in bodies:
            state = yield from self._send(body, state)
            if not state.ok:
                return state
        if self.operation.method == "PATCH":
            state = yield from self._update_beside_optional(state)
            if not state.ok:
                return state
        alone = self._sent_alone(null=True)
        nullable = (name for name in self._nullable(state) if name not in alone)
        for name in islice(nullable, _NULLS):
            whole = change_body(self.session, self.resource.kind, self.operation)
            kept = whole if self.operation.method == "PUT" and isinstance(whole, dict) else {}
            state = yield from self._send({**kept, name: None}, state)
            if not state.ok:
                return state
        return state

    def _fill_null_members(self, state: Observation) -> Generator[Outcome, None, Observation]:
        """Give members a value that the creation sent and that are null now: an update that empties
        them would change nothing.
        """
        emptied = self._null_members(state)
        values = self._new_values(state, find_representation(state, self.sent).keys() - emptied)
        body = {name: value for name, value in values if name in emptied}
        if not body:
            return state
        return (yield from self._send(dict(islice(body.items(), _MEMBERS)), state))

    def _null_members(self, state: Observation) -> set[str]:
        """Return the members that the creation sent with a value and a read shows as null."""
        shown = find_representation(state, self.sent)
        return {
            name
            for name, value in self.sent.items()
            if value is not None and shown.get(name, value) is None
        }

    def _update_beside_optional(self, state: Observation) -> Generator[Outcome, None, Observation]:
        """Give members that the creation leaves out a value, then update another one alone: it must
        not empty them.
        """
        optional = {
            name: value
            for name, value in self._new_values(state, self.sent.keys())
            if not self._is_choice(name)
        }
        if not optional:
            return state
        state = yield from self._send(dict(islice(optional.items(), _MEMBERS)), state)
        if not state.ok:
            return state
        others = self._new_values(state, optional.keys())
        other = next((pair for pair in others if not self._is_choice(pair[0])), None)
        if other is None:
            return state
        informed = replace(self, sent={**self.sent, **optional})
        return (yield from informed._send(dict([other]), state))

    # ---- what is sent

    def _properties(self) -> Mapping[str, object]:
        """The documented members of the body."""
        schema = self.operation.body.schema if self.operation.body is not None else {}
        document = self.session.description.document
        return sampling.properties_of(sampling.merge_all_of(document, schema))

    def _new_values(
        self, state: Observation, spared: Collection[str]
    ) -> Iterator[tuple[str, object]]:
        """Yield members that a read shows, each with a new value; configured ones come first.

        ``spared``: members that are left out.
        """
        kind = self.resource.kind
        configured = change_body(self.session, kind, self.operation)
        own = configured if isinstance(configured, dict) else {}
        documented = self._properties()
        shown = find_representation(state, {**documented, **own})
        for name in dict.fromkeys((*own, *documented)):
            usable = name in shown and name not in kind.config.unique and name not in spared
            fixed = is_set_by_service(name) or self._refers(name)
            if not usable or fixed or sampling.is_hidden(self._node(name)):
                continue
            if self._is_choice(name) and _STATES.search(name):  # it may go on by itself
                continue
            body = change_body(self.session, kind, self.operation)
            fresh = body.get(name) if isinstance(body, dict) else None
            old = shown[name]
            # A default is the value to which a wrong update resets a member.
            if not is_text_or_number(fresh) or fresh in (old, self._default(name)):
                another = self._another_value(name, documented.get(name), old)
                fresh = fresh if another is None else another
            if (
                (is_text_or_number(fresh) or isinstance(fresh, list | dict))
                and not is_masked(old)
                and not is_equal_value(fresh, old)
            ):
                yield name, fresh

    def _default(self, name: str) -> object:
        """Return the documented default of a member of an update or creation; None without one."""
        document = self.session.description.document
        for operation in (self.operation, self.resource.kind.operation("create")):
            body = operation.body if operation is not None else None
            schema = sampling.merge_all_of(document, body.schema) if body is not None else {}
            node = sampling.merge_all_of(document, sampling.properties_of(schema).get(name) or {})
            if node.get("default") is not None:
                found: object = node["default"]
                return found
        return None

    def _another_value(self, name: str, schema: object, old: object) -> object:
        """Return a value that the document allows and that differs from the old one, or None."""
        source = self.session.source
        node = sampling.only_branch(source.document, schema or {})
        choices = node.get("enum")
        if sampling.is_read_only(node) or schema is None:
            return None
        if isinstance(choices, list):
            others = [one for one in choices if one not in (old, None)]
            unusual = (one for one in others if one != self._default(name))
            return next(unusual, next(iter(others), None))
        if isinstance(old, list):
            unlike = sampling.only_branch(source.document, node.get("items") or {}).get("enum")
            several = isinstance(node.get("minItems"), int) and node["minItems"] > 1
            # A service that adds to a list shows the new item too.
            one = next((it for it in unlike or () if it not in old), None)
            return None if several or one is None else [one]
        if sampling.kind(node) in ("integer", "number") and isinstance(old, int):
            low, high = node.get("minimum"), node.get("maximum")
            up = not isinstance(high, int | float) or old + 1 <= high
            down = not isinstance(low, int | float) or old - 1 >= low
            return old + 1 if up else old - 1 if down else None
        schema_of_operation = self.operation.body.schema if self.operation.body is not None else {}
        if name in sampling.free_texts(source.document, schema_of_operation):
            return sampling.new_value(source, {**node, "type": "string"})
        if node.get("format") == "date" and isinstance(old, str):
            return self.session.tokens.day()
        if isinstance(old, dict):
            return self._another_object(node, old)
        return None

    def _another_object(self, node: Json, old: Mapping[str, object]) -> object:
        """Return the object with another value of one member, or None."""
        for name, schema in sampling.properties_of(node).items():
            another = self._another_value(name, schema, old.get(name))
            if is_text_or_number(another):
                return {**old, name: another}
        return None

    def _nullable(self, state: Observation) -> Iterator[str]:
        """Yield members that the document has as nullable and a read shows with a value."""
        document = self.session.description.document
        documented = self._properties()
        shown = find_representation(state, documented)
        for name, schema in documented.items():
            read_only = sampling.is_read_only(sampling.merge_all_of(document, schema))
            may_be_null = sampling.allows_null(document, schema) and not read_only
            if may_be_null and shown.get(name) is not None and not self._refers(name):
                yield name

    def _is_choice(self, name: str) -> bool:
        """Whether a member has one of the values that the document lists."""
        return "enum" in self._node(name)

    def _node(self, name: str) -> Json:
        """Return the schema of a member; empty if the document has none."""
        document = self.session.description.document
        return sampling.only_branch(document, self._properties().get(name) or {})

    def _refers(self, name: str) -> bool:
        """Whether a member refers to another resource, which an update may not change."""
        return referred_kind(self.session, name) is not None

    def _sent_alone(self, *, null: bool) -> set[str]:
        """Return the members that good updates of the run have sent alone, as null or not."""
        found: set[str] = set()
        for before, write, after in self.recorded:
            body = parse_body(write.exchange.request.body)
            if not isinstance(body, dict) or may_be_pending(write):
                continue
            if self._null_members(before) - body.keys():
                continue  # had it emptied them, nobody could see that
            if [value is None for value in body.values()] == [null]:
                outcomes = self._judge(body, before, write, after)
                if not any(one.kind == "failed" for one in outcomes):
                    found |= body.keys()
        return found

    # ---- what comes of it

    def _send(
        self, body: Mapping[str, object], state: Observation
    ) -> Generator[Outcome, None, Observation]:
        spec = request_to(self.session, self.operation, self.resource.item_values(self.operation))
        spec = replace(spec, identity=self.resource.owner, body=dict(body))
        state, write = call_at_state(self.session, self.operation, spec, state, get=self.get)
        if write.status in OF_CONDITION:
            yield not_exercised(_UPDATED, f"the service answered {write} to {self.operation.name}")
        if not write.ok:  # `writes/refused` judges what a refused update changed
            return state
        after = self.get()
        if not after.ok or may_be_pending(write):
            return after
        found = self._judge(body, state, write, after)
        if any(one.kind == "failed" for one in found):
            self.settle()
            after = self.get()
            found = self._judge(body, state, write, after) if after.ok else []
        yield from found
        return after

    def _judge(
        self,
        body: Mapping[str, object],
        state: Observation,
        write: Observation,
        after: Observation,
    ) -> list[Outcome]:
        """Judge an accepted update by the reads before and after it."""
        operation, kind = self.operation.name, self.resource.kind.name
        shown, now = find_representation(state, body), find_representation(after, body)
        answer = find_representation(write, body)
        evidence = (state, write, after)
        found = []
        for name, value in body.items():
            old, new = shown.get(name), now.get(name, ...)
            confirms = (
                answer.get(name, ...) is None
                if value is None
                else name in confirmed_members(write, body)
            )
            differs = old is not None if value is None else not is_equal_value(old, value)
            if new is not ... and confirms and differs and new == old:
                message = f"{operation} confirms a new `{name}` of the {kind} ({write}), but a "
                message += "read shows the old one"
                pointer = f"/{name}"
                return [failed(_UPDATED, message, *evidence, pointer=pointer, variant="partly")]
            if new is not ... and old != value and new == value:
                found.append(passed(_UPDATED))
            is_due = name in self.sent or is_writable(self.session, self.operation, name)
            if len(body) == 1 and is_due and value is not None and old == new != value:
                message = f"{operation} succeeded ({write}), but `{name}` of the {kind} stays as "
                message += "it was"
                pointer = f"/{name}"
                return [failed(_UPDATED, message, *evidence, pointer=pointer, variant="kept")]
            if value is None and old is not None and new == old and "PATCH" in operation:
                found.append(self._judge_ignored_null(name, evidence))
        lost = self._lost_member(body, shown, now)
        if lost is not None and self.operation.method == "PATCH":
            message = f"{operation} changed `{lost}` of the {kind}, which it did not send"
            return [failed(_UPDATED, message, *evidence, pointer=f"/{lost}")]
        before, current = state.header("ETag"), after.header("ETag")
        moved = found and before is not None and not before.startswith("W/")
        if moved and before == current and self._refuses_stale_writes():
            names = ", ".join(f"`{name}`" for name in body)
            message = f"the ETag of `{kind}` did not change after {operation} of {names}: the "
            message += "service cannot recognise a stale write"
            found.append(failed(_STALE, message, *evidence, variant="unchanged"))
        return found

    def _judge_ignored_null(
        self, name: str, evidence: tuple[Observation, Observation, Observation]
    ) -> Outcome:
        """Judge a PATCH with null that leaves a nullable member as it was. In a merge patch, null
        removes the member (RFC 7396); elsewhere some services read it as a member that is not sent.
        """
        write = evidence[1]
        message = f"{self.operation.name} with null succeeded ({write}), but `{name}` of the "
        message += f"{self.resource.kind.name} stays as it was"
        is_merge_patch = "merge-patch" in content_type(self.operation)
        return failed(
            _UPDATED,
            message,
            *evidence,
            level="error" if is_merge_patch else "warning",
            pointer=f"/{name}",
            variant="null",
        )

    def _refuses_stale_writes(self) -> bool:
        """Whether a code of the taxonomy refuses a stale write."""
        return bool(codes_meaning(self.session.contract, 412))

    def _lost_member(
        self, body: Mapping[str, object], shown: Mapping[str, object], now: Mapping[str, object]
    ) -> str | None:
        """Return a member that the update did not send, and that has lost its value; None without
        one. The service may set others itself.
        """
        if any(map(self._is_choice, body)):
            return None  # another kind may have other members
        names = (
            name for name in sorted(self.sent.keys() - body.keys()) if not is_set_by_service(name)
        )
        return next((name for name in names if self._is_lost(name, shown, now)), None)

    def _is_lost(self, name: str, shown: Mapping[str, object], now: Mapping[str, object]) -> bool:
        """Whether a member had a value, and is empty, has its default, or lacks an item."""
        old, new = shown.get(name), now.get(name)
        if is_lost(old, new):
            return True
        default = self._default(name)
        has_value = isinstance(old, bool) or is_text_or_number(old)
        return has_value and default is not None and new == default != old
