"""The constructor of an exception: what a code asks for, what it allows, and what it decides by itself."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from faultspec.language.conditions import ConditionalRule
from faultspec.language.model import Code, DetailMember, Envelope, HeaderRule, Taxonomy
from faultspec.runtime.shape import slot_places
from faultspec.targets import schema as schemas
from faultspec.targets.doc_text import NAMED_STATUSES
from faultspec.targets.filters import literal, pascal, snake, unique
from faultspec.targets.layout import source, typed
from faultspec.targets.python.annotations import Annotations, nullable, parts, union
from faultspec.targets.python.facts import by_header, constant
from faultspec.targets.python.names import PARAMETERS, parameter
from faultspec.targets.python.wire import PythonSlotRow

#: Facts that rules may ask for and that an error does not know of itself: the parameter by which whoever raises it tells
#: one, its type, and what it is.
BEYOND = {
    "operation.idempotent": (
        "idempotent",
        "bool",
        "whether the operation that failed is idempotent",
    ),
    "cause": ("cause", "str", "what the error comes from, as the rules of the code name it"),
    "caller.authenticated": ("authenticated", "bool", "whether the caller was let in"),
}


class ConstructorParameter(NamedTuple):
    """A parameter: its type, its default (None: it is mandatory), and what it is."""

    name: str
    annotation: str
    default: str | None
    doc: str = ""

    @property
    def line(self) -> str:
        """The parameter as it stands in a signature, the comma behind it."""
        return typed(
            f"{self.name}: ",
            self.annotation,
            "," if self.default is None else f" = {self.default},",
            8,
        )


class Package(NamedTuple):
    """What is the same for every exception. ``flag``: the details key that is the retry flag. ``given``: the slots of each
    envelope that nothing fills if not whoever raises the error.
    """

    taxonomy: Taxonomy
    types: Annotations
    base: str
    slots: tuple[PythonSlotRow, ...]
    flag: str | None
    given: Mapping[str, frozenset[str]]


def package_of(
    taxonomy: Taxonomy, types: Annotations, base: str, slots: tuple[PythonSlotRow, ...]
) -> Package:
    """The package of a taxonomy; ``base``: its base class."""
    given = {envelope.name: frozenset(_given(envelope)) for envelope in taxonomy.envelopes.values()}
    return Package(taxonomy, types, base, slots, flag_key(taxonomy), given)


def _given(envelope: Envelope) -> Iterator[str]:
    for slot in schemas.given_slots(envelope):
        if slot not in envelope.fields or not nullable(envelope.fields[slot].schema):
            yield slot


class Constructor:
    """The parameters of one exception, and the arguments that its constructor hands to the base class."""

    def __init__(self, code: Code, name: str, envelope: Envelope, package: Package) -> None:
        self.code = code
        self.name = name
        self.taxonomy = package.taxonomy
        self.flag = package.flag
        self.given = package.given[envelope.name]
        self.types = package.types
        self.taken = {*PARAMETERS, *(each.attribute for each in package.slots)}
        self.parameters: list[ConstructorParameter] = []
        self.arguments: list[str] = []
        #: The parameter of each key of the details.
        self.keys: dict[str, str] = {}
        if code.details_schema is not None:
            self.add_details_whole()
        else:
            self.add_details()
        self.add_boundary()
        self.add_status()
        self.add_retriable()
        self.add_told()
        self.add_headers()
        for slot in package.slots:
            self.add_slot(slot)
        self.parameters.append(ConstructorParameter("headers", "Mapping[str, str] | None", "None"))
        # Python wants those without a default first only for positional ones; a reader wants it anyway.
        self.parameters.sort(key=lambda each: each.default is not None)

    def add_details_whole(self) -> None:
        """Details with a schema of their own are handed over as they are."""
        schema = self.code.details_schema
        opaque = schema.opaque if schema is not None else None
        if isinstance(opaque, Mapping) and opaque.get("required"):
            self.parameters.append(ConstructorParameter("details", "Mapping[str, object]", None))
            self.arguments.append("details=details,")
        else:
            self.parameters.append(
                ConstructorParameter("details", "Mapping[str, object] | None", "None")
            )
            self.arguments.append("details=details or {},")

    def add_details(self) -> None:
        """A parameter for each key that the code declares; the retry flag is not the caller's to give."""
        free = []
        for key, member in allowed(self.code).items():
            if key != self.flag:
                # Beside `retry_after`, which is the header's wait, an underscore would not tell the two apart.
                name = f"details_{key}" if key == "retry_after" else parameter(key)
                self.keys[key] = unique(name, self.taken)
                self.parameters.append(self.detail(key, member))
                if nullable(member.schema):
                    free.append(key)
        self.arguments.append(
            _mapping("details", [f"{literal(key)}: {name}" for key, name in self.keys.items()])
        )
        if free:
            self.arguments.append(
                f"nullable={source(tuple(free), 12, len('            nullable='))},"
            )

    def detail(self, key: str, member: DetailMember) -> ConstructorParameter:
        """The parameter of one key."""
        name, kind = (
            self.keys[key],
            self.types.of(member.schema, self.name + pascal(key), self.keys[key]),
        )
        registered = self.taxonomy.detail_keys.get(key)
        doc = member.schema.description or (registered.summary if registered else None) or ""
        if key == "retry_after":
            doc = f"{doc.rstrip('.')} (``{key}`` among the details)".lstrip()
        if member.presence == "required":
            return ConstructorParameter(name, kind, None, doc)
        if nullable(member.schema):
            return ConstructorParameter(name, union((*parts(kind), "Unset")), "Unset.UNSET", doc)
        return ConstructorParameter(name, f"{kind} | None", "None", doc)

    def add_boundary(self) -> None:
        """Which of several boundaries it was."""
        names = self.code.boundaries
        if len(names) > 1:
            kind = self.types.choice(names, f"{self.name}Boundary", "boundary")
            self.parameters.append(ConstructorParameter("boundary", kind, literal(names[0])))
            self.arguments.append("boundary=boundary,")

    def add_status(self) -> None:
        """Which of several statuses; an int where the code also stands for whatever no other code claims."""
        default = self.code.http.default
        own = tuple(self.code.http.all())
        if default is None or (len(own) <= 1 and not self.borrows):
            return
        named = not self.borrows and len(own) <= NAMED_STATUSES
        kind = f"t.Literal[{', '.join(map(str, own))}]" if named else "int"
        if self.code.http.rules:
            doc = "the rules of the code decide it where it is left out"
            self.parameters.append(ConstructorParameter("status", f"{kind} | None", "None", doc))
        else:
            self.parameters.append(ConstructorParameter("status", kind, str(default)))
        self.arguments.append("status=status,")

    def add_retriable(self) -> None:
        """The flag, where whoever raises the error decides it; mandatory where an envelope cannot do without.

        Where rules decide it by what an error does not know of itself, whoever raises it may; None leaves it to the rules.
        """
        retriable = self.code.retriable
        if retriable.kind == "conditional":
            if any(beyond(retriable.rules)):
                doc = "whether this one may be sent again; by the rules of the code where it is left out"
                self.parameters.append(
                    ConstructorParameter("retriable", "bool | None", "None", doc)
                )
                self.arguments.append("retriable=retriable,")
            return
        if retriable.kind != "caller":
            return
        places = [
            slot_places(envelope.shape).get("retriable", ())
            for envelope in self.taxonomy.envelopes.values()
        ]
        must = any(place.required for each in places for place in each)
        kind, default = ("bool", None) if must else ("bool | None", "None")
        self.parameters.append(
            ConstructorParameter("retriable", kind, default, "whether this one may be sent again")
        )
        self.arguments.append("retriable=retriable,")

    def add_told(self) -> None:
        """A parameter for each fact that the code's rules ask for and that only whoever raises the error knows."""
        facts = dict.fromkeys(beyond((*self.code.retriable.rules, *self.code.http.rules)))
        told = []
        for fact in facts:
            wanted, kind, doc = BEYOND[fact]
            name = unique(wanted, self.taken)
            self.parameters.append(ConstructorParameter(name, f"{kind} | None", "None", doc))
            told.append(f"{literal(fact)}: {name}")
        if told:
            self.arguments.append(_mapping("told", told))

    def add_headers(self) -> None:
        """A parameter for each header that the code's answers carry and that nothing else decides."""
        derived = self.derived_headers()
        decided = {name.lower() for name in derived}
        decided |= {(field.echo or field.mirror or "").lower() for field in self.taxonomy.fields()}
        items = {}
        for rule in (*self.taxonomy.headers, *self.code.headers):
            lower = rule.name.lower()
            if (
                lower in decided
                or rule.presence == "forbidden"
                or rule.equals
                or self.says(rule)
                or not self.concerns(rule)
            ):
                continue
            decided.add(lower)
            if "retry-after" not in rule.format:
                name = unique(parameter(snake(rule.name)), self.taken)
                items[rule.name] = name
                self.parameters.append(self.header(rule, name, "str", f"the value of {rule.name}"))
            elif self.statuses_of(
                rule
            ):  # not for a status that is only borrowed: no wait is known there
                told = self.wait_among_details()
                if told is None:
                    doc = "seconds to wait" + " (the header Retry-After)" * (
                        "retry_after" in self.keys
                    )
                    self.parameters.append(self.header(rule, "retry_after", "float", doc))
                self.arguments.append(f"retry_after={told or 'retry_after'},")
        items |= derived
        lines = [f"{literal(name)}: {value}" for name, value in items.items()]
        self.arguments.append(
            _mapping("headers", [*lines, "**(headers or {})"]) if items else "headers=headers,"
        )

    def says(self, rule: HeaderRule) -> bool:
        """Whether the rules themselves say the value of the header wherever the code asks for it."""
        header, statuses = rule.name.lower(), self.statuses_of(rule)
        groups = [
            by_header(self.taxonomy.header_rules(self.code, status))[header] for status in statuses
        ]
        return all(map(constant, groups or [[rule]]))

    def header(self, rule: HeaderRule, name: str, kind: str, doc: str) -> ConstructorParameter:
        """The parameter of a header; mandatory where every status of the code asks for it."""
        own = tuple(self.code.http.all())
        must = rule.presence == "required" and bool(own) and self.statuses_of(rule) == own
        return ConstructorParameter(
            name, kind if must else f"{kind} | None", None if must else "None", doc
        )

    def wait_among_details(self) -> str | None:
        """The parameter of the detail that repeats the seconds of Retry-After."""
        for key in self.taxonomy.detail_keys.values():
            member = self.code.details.get(key.name)
            if (
                (key.equals_header or "").lower() == "retry-after"
                and key.name in self.keys
                and member is not None
            ):
                return (
                    self.keys[key.name] if {*member.schema.types} <= {"number", "integer"} else None
                )
        return None

    def derived_headers(self) -> dict[str, str]:
        """Source of the value of each header that repeats a detail."""
        found = {}
        for key in self.taxonomy.detail_keys.values():
            member = self.code.details.get(key.name)
            if key.equals_header is None or key.name not in self.keys or member is None:
                continue
            if member.schema.types != ("string",):
                continue
            name = self.keys[key.name]
            quoted = "entity_tag" if member.presence == "required" else "_entity_tag"
            found[key.equals_header] = (
                f"{quoted}({name})" if key.equals_header.lower() == "etag" else name
            )
        return found

    @property
    def borrows(self) -> bool:
        """Whether the code stands for statuses that no code claims."""
        return any(fallback.code == self.code.name for fallback in self.taxonomy.fallbacks)

    def statuses_of(self, rule: HeaderRule) -> tuple[int, ...]:
        """The statuses of the code that the rule is for."""
        return tuple(
            status for status in self.code.http.all() if rule.applies(self.code.name, status)
        )

    def concerns(self, rule: HeaderRule) -> bool:
        """Whether the rule is for a status of the code, or singles out one that the code is borrowed for."""
        if self.statuses_of(rule):
            return True
        singled = [each.low for each in rule.on if each.width < 100]
        return rule.names(self.code.name) and self.borrows and any(map(self.lent, singled))

    def lent(self, status: int) -> bool:
        """Whether the code stands for the status because no code names it; one that claims a whole class names none."""
        named = any(
            status in each
            for code in self.taxonomy.live_codes()
            for each in code.http.statuses
            if each.width < 100
        )
        lending = [fallback for fallback in self.taxonomy.fallbacks if status in fallback.on]
        return (
            not named
            and bool(lending)
            and min(lending, key=lambda each: each.on.width).code == self.code.name
        )

    def add_slot(self, slot: PythonSlotRow) -> None:
        """What the envelopes hold beside the well-known slots; mandatory where the code's own cannot do without."""
        values = self.code.facts.get(slot.slot)
        if values:
            kind, default = (
                self.types.choice(values, self.name + pascal(slot.slot), slot.attribute),
                literal(values[0]),
            )
            self.parameters.append(ConstructorParameter(slot.attribute, kind, default))
        elif slot.slot in self.given:
            self.parameters.append(ConstructorParameter(slot.attribute, slot.annotation, None))
        else:
            self.parameters.append(
                ConstructorParameter(
                    slot.attribute, union((*parts(slot.annotation), "None")), "None"
                )
            )
        self.arguments.append(f"{slot.attribute}={slot.attribute},")


def allowed(code: Code) -> dict[str, DetailMember]:
    """The keys that the details of a code may have."""
    return {key: each for key, each in code.details.items() if each.presence != "forbidden"}


def beyond(rules: Iterable[ConditionalRule]) -> Iterator[str]:
    """The facts that rules ask for and that an error does not know of itself."""
    return (test.fact for rule in rules for test in rule.when if test.fact in BEYOND)


def flag_key(taxonomy: Taxonomy) -> str | None:
    """The details key that is the retry flag."""
    return next(iter(taxonomy.flag_keys), None)


def _mapping(name: str, lines: list[str]) -> str:
    """``name={…},`` as an argument of the constructor's call, one item a line."""
    if not lines:
        return f"{name}={{}},"
    return (
        f"{name}={{\n" + "".join(f"                {line},\n" for line in lines) + "            },"
    )
