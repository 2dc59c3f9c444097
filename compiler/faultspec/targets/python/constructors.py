"""The constructor of an exception: what a code requires, what it allows, and what it decides
itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from faultspec.language.model import (
    Code,
    DetailKey,
    DetailMember,
    Envelope,
    HeaderRule,
    Presence,
    Taxonomy,
)
from faultspec.language.spelling import pascal, snake
from faultspec.runtime.shape import slot_places
from faultspec.targets import schema as schemas
from faultspec.targets.doc_text import NAMED_STATUSES
from faultspec.targets.filters import take_unique
from faultspec.targets.literals import Verbatim
from faultspec.targets.python.annotations import Annotations, is_nullable, join_types, parts
from faultspec.targets.python.facts import constant_value, group_by_header
from faultspec.targets.python.names import PARAMETERS, parameter
from faultspec.targets.python.wire import PythonSlotRow

#: Facts that rules may test and that an error does not know: the parameter that gives one, its
#: type, and what it is.
BEYOND = {
    "operation.idempotent": (
        "idempotent",
        "bool",
        "whether the operation that failed is idempotent",
    ),
    "cause": ("cause", "str", "what the error comes from, as the rules of the code name it"),
    "caller.authenticated": ("authenticated", "bool", "whether the caller was authenticated"),
}


UNSET = Verbatim("Unset.UNSET")
"""The default of a detail that may be None."""


class ConstructorParameter(NamedTuple):
    """A parameter: its type, its default unless it is ``mandatory``, and what it is."""

    name: str
    annotation: str
    mandatory: bool
    default: object = None
    doc: str = ""


class HeaderArgument(NamedTuple):
    """A header, the parameter that is its value, and the function that quotes it, if any."""

    name: str
    parameter: str
    quoting: str | None = None


class ConstructorArguments(NamedTuple):
    """The arguments that a constructor passes to the base class.

    ``details``: by key, the parameter, or the source of the whole. ``nullable``: keys that may be
    None. ``passed``: parameters that are passed under their own name. ``other_facts``: by fact, its
    parameter. ``retry_after``: the parameter that is the wait, or the call that finds it.
    ``joins_waits``: the header and a detail are one wait.
    """

    details: Mapping[str, Verbatim] | Verbatim
    nullable: Sequence[str]
    passed: Sequence[str]
    other_facts: Mapping[str, Verbatim]
    retry_after: str | None
    headers: Sequence[HeaderArgument]
    joins_waits: bool = False


class Package(NamedTuple):
    """The parts that all exceptions share.

    ``flag``: the details key that is the retry flag. ``given``: the slots of each envelope that
    only a raiser of the error can fill.
    """

    taxonomy: Taxonomy
    types: Annotations
    slots: tuple[PythonSlotRow, ...]
    flag: str | None
    given: Mapping[str, frozenset[str]]


def package_of(taxonomy: Taxonomy, types: Annotations, slots: tuple[PythonSlotRow, ...]) -> Package:
    """The package of a taxonomy."""
    given = {
        envelope.name: frozenset(parameter_slots(envelope))
        for envelope in taxonomy.envelopes.values()
    }
    return Package(
        taxonomy=taxonomy, types=types, slots=slots, flag=flag_key(taxonomy), given=given
    )


def parameter_slots(envelope: Envelope) -> Iterator[str]:
    """The slots that only a raiser of an error in the envelope can fill."""
    for slot in schemas.given_slots(envelope):
        if slot not in envelope.fields or not is_nullable(envelope.fields[slot].schema):
            yield slot


class Constructor:
    """The parameters of one exception, and the arguments that its constructor passes to the base
    class.
    """

    def __init__(self, code: Code, name: str, envelope: Envelope, package: Package) -> None:
        self.code = code
        self.name = name
        self.taxonomy = package.taxonomy
        self.flag = package.flag
        self.given = package.given[envelope.name]
        self.types = package.types
        self.taken = {*PARAMETERS, *(slot.attribute for slot in package.slots)}
        self.parameters: list[ConstructorParameter] = []
        self.details: Mapping[str, Verbatim] | Verbatim = {}
        self.nullable: list[str] = []
        self.passed: list[str] = []
        self.other_facts: dict[str, Verbatim] = {}
        self.retry_after: str | None = None
        self.joins_waits = False
        self.headers: list[HeaderArgument] = []
        #: The parameter of each key of the details.
        self.keys: dict[str, str] = {}
        #: The type of the value of each.
        self.kinds: dict[str, str] = {}
        if code.details_schema is not None:
            self._add_details_whole()
        else:
            self._add_details()
        self._add_boundary()
        self._add_status()
        self._add_retriable()
        self._add_other_facts()
        self._add_headers()
        self._join_waits()
        for slot in package.slots:
            self._add_slot(slot)
        self._add("headers", "Mapping[str, str] | None")
        # Python demands mandatory parameters first only of positional ones; for readers they stand
        # first here too.
        self.parameters.sort(key=lambda parameter: not parameter.mandatory)

    @property
    def arguments(self) -> ConstructorArguments:
        """The arguments for the base class, beside the message and the slots."""
        return ConstructorArguments(
            details=self.details,
            nullable=self.nullable,
            passed=self.passed,
            other_facts=self.other_facts,
            retry_after=self.retry_after,
            headers=self.headers,
            joins_waits=self.joins_waits,
        )

    def _require(self, name: str, annotation: str, doc: str = "") -> None:
        """Add a mandatory parameter."""
        self.parameters.append(ConstructorParameter(name, annotation, True, doc=doc))

    def _add(self, name: str, annotation: str, doc: str = "", default: object = None) -> None:
        """Add a parameter with a default."""
        self.parameters.append(
            ConstructorParameter(name, annotation, False, default=default, doc=doc)
        )

    def _add_details_whole(self) -> None:
        """Details with a schema of their own are passed as they are."""
        schema = self.code.details_schema
        opaque = schema.opaque if schema is not None else None
        if isinstance(opaque, Mapping) and opaque.get("required"):
            self._require("details", "Mapping[str, object]")
            self.details = Verbatim("details")
        else:
            self._add("details", "Mapping[str, object] | None")
            self.details = Verbatim("details or {}")

    def _add_details(self) -> None:
        """A parameter for each key that the code declares, but not for the retry flag, which the
        code decides.
        """
        for key, member in allowed_details(self.code).items():
            if key != self.flag:
                # An underscore alone would not tell it from `retry_after`, the wait of the header.
                name = f"details_{key}" if key == "retry_after" else parameter(key)
                self.keys[key] = take_unique(name, self.taken)
                self._add_detail(key, member)
                if is_nullable(member.schema):
                    self.nullable.append(key)
        self.details = {key: Verbatim(name) for key, name in self.keys.items()}

    def _add_detail(self, key: str, member: DetailMember) -> None:
        name = self.keys[key]
        kind = self.kinds[key] = self.types.annotation(member.schema, self.name + pascal(key))
        registered = self.taxonomy.detail_keys.get(key)
        doc = member.schema.description or (registered.summary if registered else None) or ""
        if key == "retry_after":
            doc = f"{doc.rstrip('.')} (``{key}`` among the details)".lstrip()
        if member.presence == "required":
            self._require(name, kind, doc)
        elif is_nullable(member.schema):
            self._add(name, join_types((*parts(kind), "Unset")), doc, UNSET)
        else:
            self._add(name, f"{kind} | None", doc)

    def _add_boundary(self) -> None:
        """The boundary, if the code has several."""
        names = self.code.boundaries
        if len(names) > 1:
            kind = self.types.choice(names, f"{self.name}Boundary")
            self._add("boundary", kind, default=names[0])
            self.passed.append("boundary")

    def _add_status(self) -> None:
        """The status, if the code has several; an int if the code also stands for statuses that no
        code claims.
        """
        default = self.code.http.default
        own = tuple(self.code.http.allowed_statuses())
        if default is None or (len(own) <= 1 and not self.borrows):
            return
        named = not self.borrows and len(own) <= NAMED_STATUSES
        kind = f"t.Literal[{', '.join(map(str, own))}]" if named else "int"
        if self.code.http.rules:
            doc = "by default the rules of the code decide"
            self._add("status", f"{kind} | None", doc)
        else:
            self._add("status", kind, default=default)
        self.passed.append("status")

    def _add_retriable(self) -> None:
        """The flag, if each error decides it; mandatory if an envelope requires it.

        If rules test facts that an error does not know, the flag may be given, and None leaves it
        to the rules.
        """
        retriable = self.code.retriable
        doc = "whether this request may be sent again"
        if any(fact in BEYOND for fact in retriable.reads):
            self._add("retriable", "bool | None", f"{doc}; by default the rules decide")
        elif retriable.answer_decides:
            places = [
                slot_places(envelope.shape).get("retriable", ())
                for envelope in self.taxonomy.envelopes.values()
            ]
            if any(place.required for group in places for place in group):
                self._require("retriable", "bool", doc)
            else:
                self._add("retriable", "bool | None", doc)
        else:
            return
        self.passed.append("retriable")

    def _add_other_facts(self) -> None:
        """A parameter for each fact that the rules of the code test and that an error does not
        know.
        """
        for fact in missing_facts(self.code):
            wanted, kind, doc = BEYOND[fact]
            name = take_unique(wanted, self.taken)
            self._add(name, f"{kind} | None", doc)
            self.other_facts[fact] = Verbatim(name)

    def _add_headers(self) -> None:
        """A parameter for each header of the code's answers whose value nothing else decides."""
        derived = self._derived_headers()
        decided = {header.name.lower() for header in derived}
        decided |= {(field.echo or field.mirror or "").lower() for field in self.taxonomy.fields()}
        for rule in (*self.taxonomy.headers, *self.code.headers):
            lower = rule.name.lower()
            free = rule.presence != "forbidden" and not rule.equals and lower not in decided
            if not free or self._is_constant(rule) or not self._concerns(rule):
                continue
            decided.add(lower)
            if "retry-after" not in rule.format:
                name = take_unique(parameter(snake(rule.name)), self.taken)
                self.headers.append(HeaderArgument(rule.name, name))
                self._add_header(rule, name, "str", f"the value of {rule.name}")
            elif self._statuses_of(rule):  # a status that is only borrowed has no known wait
                self.retry_after = self._wait_among_details()
                if self.retry_after is None:
                    self.retry_after = "retry_after"
                    header = " (the header Retry-After)" * ("retry_after" in self.keys)
                    self._add_header(rule, "retry_after", "float", f"seconds to wait{header}")
        self.headers += derived

    def _add_header(self, rule: HeaderRule, name: str, kind: str, doc: str) -> None:
        """The parameter of a header; mandatory if every status of the code requires the header."""
        own = tuple(self.code.http.allowed_statuses())
        must = bool(own) and all(self._presence(rule.name, status) == "required" for status in own)
        if must:
            self._require(name, kind, doc)
        else:
            self._add(name, f"{kind} | None", doc)

    def _presence(self, header: str, status: int) -> Presence | None:
        """The presence of a header under a status: that of the last rule, the most specific."""
        rules = self.taxonomy.header_rules(self.code, status)
        found = (rule.presence for rule in reversed(rules) if rule.name.lower() == header.lower())
        return next(found, None)

    def _is_constant(self, rule: HeaderRule) -> bool:
        """Whether the rules fix the value of the header under every status of the code that has
        it.
        """
        header, statuses = rule.name.lower(), self._statuses_of(rule)
        groups = [
            group_by_header(self.taxonomy.header_rules(self.code, status))[header]
            for status in statuses
        ]
        return all(map(constant_value, groups or [[rule]]))

    def _wait_among_details(self) -> str | None:
        """The parameter of the detail that repeats the seconds of Retry-After."""
        for key in self.taxonomy.detail_keys.values():
            member = self.code.details.get(key.name)
            repeats = (key.equals_header or "").lower() == "retry-after"
            if repeats and key.name in self.keys and member is not None:
                numeric = {*member.schema.types} <= {"number", "integer"}
                return self.keys[key.name] if numeric else None
        return None

    def _join_waits(self) -> None:
        """Make one wait of the header and of a detail that is a wait: what is not given is that of
        the other.
        """
        hints = (key for key in self.taxonomy.retry_hints if key.name in self.keys)
        key = next((key for key in hints if key.name not in self.nullable), None)
        if key is None or self.retry_after != "retry_after" or not isinstance(self.details, dict):
            return
        self.joins_waits = True
        form, name = hint_form(key), self.keys[key.name]
        header = next(each for each in self.parameters if each.name == "retry_after")
        index = next(i for i, each in enumerate(self.parameters) if each.name == name)
        detail = self.parameters[index]
        if header.mandatory or not detail.mandatory:
            doc = f"{detail.doc or 'the wait of the body'}; default ``retry_after``"
            kind = detail.annotation if not detail.mandatory else f"{detail.annotation} | None"
            self.parameters[index] = ConstructorParameter(name, kind, False, doc=doc)
            hint = Verbatim(f'_hint({name}, retry_after, "{form}")')
            self.details = {**self.details, key.name: hint}
        if not header.mandatory:
            self.retry_after = f'_wait(retry_after, {name}, "{key.unit}")'

    def _derived_headers(self) -> list[HeaderArgument]:
        """The headers that repeat a detail."""
        found = []
        for key in self.taxonomy.detail_keys.values():
            member = self.code.details.get(key.name)
            if key.equals_header is None or key.name not in self.keys or member is None:
                continue
            if member.schema.types != ("string",):
                continue
            name = self.keys[key.name]
            quoted = "entity_tag" if member.presence == "required" else "_entity_tag"
            is_tag = key.equals_header.lower() == "etag"
            found.append(HeaderArgument(key.equals_header, name, quoted if is_tag else None))
        return found

    @property
    def borrows(self) -> bool:
        """Whether the code stands for statuses that no code claims."""
        return any(fallback.code == self.code.name for fallback in self.taxonomy.fallbacks)

    def _statuses_of(self, rule: HeaderRule) -> tuple[int, ...]:
        """The statuses of the code to which the rule applies."""
        return tuple(
            status
            for status in self.code.http.allowed_statuses()
            if rule.applies(self.code.name, status)
        )

    def _concerns(self, rule: HeaderRule) -> bool:
        """Whether the rule is for a status of the code, or names one that the code is borrowed
        for.
        """
        if self._statuses_of(rule):
            return True
        singled = [span.low for span in rule.on if span.width < 100]
        return rule.names(self.code.name) and self.borrows and any(map(self._is_lent, singled))

    def _is_lent(self, status: int) -> bool:
        """Whether the code stands for the status because no code names it; a claim of a whole class
        names none.
        """
        named = any(
            status in span
            for code in self.taxonomy.shared_live_codes()
            for span in code.http.statuses
            if span.width < 100
        )
        lending = self.taxonomy.fallback_for(status)
        return not named and lending is not None and lending.code == self.code.name

    def _add_slot(self, slot: PythonSlotRow) -> None:
        """A slot beside the well-known ones; mandatory if the code's own envelope requires it."""
        values = self.code.facts.get(slot.slot)
        if values:
            is_literal = not any(isinstance(value, float) for value in values)  # PEP 586
            name = self.name + pascal(slot.slot)
            kind = self.types.choice(values, name) if is_literal else slot.annotation
            self._add(slot.attribute, kind, default=values[0])
        elif slot.slot in self.given:
            self._require(slot.attribute, slot.annotation)
        else:
            self._add(slot.attribute, slot.optional)


def hint_form(key: DetailKey) -> str:
    """The form of a detail that is a wait, as the runtime names it."""
    if "string" in key.schema.types:
        return "date-time" if "date-time" in key.schema.format else "duration"
    return key.unit


def allowed_details(code: Code) -> dict[str, DetailMember]:
    """The keys that the details of a code may have."""
    return {key: member for key, member in code.details.items() if member.presence != "forbidden"}


def missing_facts(code: Code) -> list[str]:
    """The facts that the rules of a code test and that an error does not know."""
    reads = dict.fromkeys((*code.retriable.reads, *code.http.reads))
    return [fact for fact in reads if fact in BEYOND]


def flag_key(taxonomy: Taxonomy) -> str | None:
    """The details key that is the retry flag."""
    return next(iter(taxonomy.flag_keys), None)
