"""From data that obeys the grammar to the frozen model: defaults filled in, every reference followed.

``resolve`` reports what only the whole document can tell (dangling references, slots nobody declared, ambiguous names);
each problem carries the path of the offending key. It never raises on data that ``grammar.problems`` found nothing in.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from faultspec.language.constructs import DETECTORS
from faultspec.language.grammar import Path, Problem, closest
from faultspec.language.model import (
    NOWHERE,
    Alert,
    Batch,
    Code,
    Concealment,
    DetailKey,
    Envelope,
    Example,
    Fallback,
    Field,
    HeaderRule,
    HttpMapping,
    Idempotency,
    Match,
    Member,
    Metric,
    Obligation,
    Operation,
    Privacy,
    Retriable,
    RetryPolicy,
    Rule,
    Ruling,
    Schema,
    Source,
    StatusRange,
    Surface,
    Taxonomy,
    Telemetry,
    Term,
    Test,
    Unknown,
)
from faultspec.runtime import durations, retry, shape
from faultspec.runtime.nodes import slot_places

#: Slots every envelope may use without declaring them in ``fields``.
WELL_KNOWN_SLOTS = (
    "code",
    "message",
    "summary",
    "status",
    "retriable",
    "boundary",
    "domain",
    "details",
    "actions",
    "request_id",
)

ERROR_STATUSES = (StatusRange(400, 599),)

Data = Mapping[str, Any]
T = TypeVar("T")


def statuses(value: object) -> tuple[StatusRange, ...]:
    """Read ``429``, ``"4xx"``, ``"502-504"`` or a list of them."""
    if isinstance(value, list):
        return tuple(each for item in value for each in statuses(item))
    text = str(value)
    if text.endswith("xx"):
        return (StatusRange(int(text[0]) * 100, int(text[0]) * 100 + 99),)
    low, _, high = text.partition("-")
    return (StatusRange(int(low), int(high or low)),)


class _Resolver:
    """Follows one document's references; ``problems`` grows as it goes."""

    def __init__(self, data: Data) -> None:
        self.data = data
        self.problems: list[Problem] = []
        self.domains = self.terms("domains")
        self.boundaries = self.terms("boundaries")
        self.actions = self.terms("actions")
        self.vocabularies = {
            name: self.terms_of(each, ("vocabularies", name)) for name, each in data.get("vocabularies", {}).items()
        }
        self.rulings = {
            name: Ruling(name, tuple(r.get("statements", ())), r["conflict"], r["decision"], r["reason"])
            for name, r in data.get("rulings", {}).items()
        }
        self.detail_keys = {name: self.detail_key(name, each) for name, each in data.get("detail_keys", {}).items()}

    # references

    def wrong(self, path: Path, code: str, message: str, hint: str | None = None, *, on_key: bool = False) -> None:
        self.problems.append(Problem(code, path, message, hint, on_key))

    def refer(self, name: str, known: Iterable[str], what: str, path: Path) -> str | None:
        """``name`` if it is among ``known``; otherwise a diagnostic and None."""
        known = tuple(known)
        if name in known:
            return name
        listed = f"declared: {', '.join(known)}" if known else f"no {what} is declared"
        self.wrong(path, "dangling-reference", f"there is no {what} `{name}`", closest(name, known) or listed)
        return None

    def refer_all(self, value: object, known: Iterable[str], what: str, path: Path) -> tuple[str, ...]:
        known = tuple(known)
        if isinstance(value, list):
            found = [self.refer(each, known, what, (*path, index)) for index, each in enumerate(value)]
            return tuple(each for each in found if each is not None)
        found = [self.refer(str(value), known, what, path)] if value is not None else []
        return tuple(each for each in found if each is not None)

    def code_names(self) -> tuple[str, ...]:
        own = tuple(self.data["codes"])
        return own + tuple(c for op in self.data.get("operations", {}).values() for c in op.get("errors", {}) if c not in own)

    def source(self, value: object, path: Path) -> Source:
        if value is None:
            return NOWHERE
        if isinstance(value, str | list):
            return Source(words(value))
        assert isinstance(value, dict)
        ruling = value.get("ruling")
        if ruling is not None:
            self.refer(ruling, self.rulings, "ruling", (*path, "source", "ruling"))
        return Source(words(value.get("statement")), value.get("section"), ruling, value.get("note"))

    # vocabularies and schemas

    def terms(self, section: str) -> dict[str, Term]:
        return self.terms_of(self.data.get(section, {}), (section,))

    def terms_of(self, data: Data, path: Path) -> dict[str, Term]:
        return {
            name: Term(name, each)
            if isinstance(each, str)
            else Term(name, each["summary"], each.get("lifecycle", "stable"), NOWHERE)
            for name, each in data.items()
        }

    def schema(self, data: Data, path: Path) -> Schema:
        vocabulary = data.get("vocabulary")
        if vocabulary is not None:
            known = (*self.vocabularies, "actions", "boundaries", "domains")
            self.refer(vocabulary, known, "vocabulary", (*path, "vocabulary"))
        pattern = data.get("pattern")
        if pattern is not None:
            try:
                re.compile(pattern)
            except re.error as error:
                self.wrong((*path, "pattern"), "bad-pattern", f"this regular expression cannot be read: {error}")
                pattern = None
        types = words(data.get("type"))
        for key, wants in _FITS.items():
            if key in data and types and not set(types) & wants:
                self.wrong(
                    (*path, key), "misplaced-key", f"`{key}` says nothing about a value of type {', '.join(types)}", "remove it, or change `type`", on_key=True
                )
        return Schema(
            types=types,
            description=data.get("description"),
            format=words(data.get("format")),
            pattern=pattern,
            enum=tuple(data.get("enum", ())),
            vocabulary=vocabulary,
            minimum=data.get("minimum"),
            maximum=data.get("maximum"),
            min_length=data.get("minLength"),
            max_length=data.get("maxLength"),
            items=self.schema(data["items"], (*path, "items")) if "items" in data else None,
            properties=self.members(data.get("properties", {}), (*path, "properties")),
            additional=data.get("additional", "allow"),
        )

    def members(self, data: Data, path: Path) -> dict[str, Member]:
        return {key.removesuffix("?"): self.member(key, each, (*path, key)) for key, each in data.items()}

    def member(self, key: str, data: Data, path: Path) -> Member:
        name = key.removesuffix("?")
        optional = key.endswith("?")
        expected = data.get("expected", False)
        if expected and not optional:
            self.wrong((*path, "expected"), "contradiction", f"`{name}` is required already", f"write `{name}?` or drop `expected`")
        return Member(
            name,
            self.schema(data, path),
            "expected" if expected else "optional" if optional else "required",
            self.source(data.get("source"), path),
        )

    def detail_key(self, name: str, data: Data) -> DetailKey:
        path: Path = ("detail_keys", name)
        return DetailKey(
            name,
            self.schema(data, path),
            data.get("summary"),
            data.get("everywhere", False),
            data.get("role"),
            data.get("equals_header"),
            data.get("refers_to"),
            self.source(data.get("source"), path),
        )

    def details(self, data: Data, path: Path) -> dict[str, Member]:
        """The declared members, each typed by itself or by the registry, then the keys every code may carry."""
        found: dict[str, Member] = {}
        for key, each in data.items():
            member = self.member(key, each, (*path, key))
            registered = self.detail_keys.get(member.name)
            if registered is not None and member.schema == Schema():
                member = Member(member.name, registered.schema, member.presence, member.source)
            found[member.name] = member
        for name, key in self.detail_keys.items():
            if key.everywhere and name not in found:
                found[name] = Member(name, key.schema, "optional", key.source)
        return found

    # envelopes and surfaces

    def envelopes(self) -> dict[str, Envelope]:
        found: dict[str, Envelope] = {}
        for name, data in self.data["envelopes"].items():
            path: Path = ("envelopes", name)
            try:
                node = shape.compile_shape(data["shape"], {above: each.shape for above, each in found.items()})
            except shape.ShapeError as error:
                self.wrong((*path, "shape", *error.path), "bad-shape", error.problem)
                continue
            fields = {slot: self.field(slot, each, (*path, "fields", slot)) for slot, each in data.get("fields", {}).items()}
            used = slot_places(node)
            for slot in fields:
                if slot not in used:
                    self.wrong(
                        (*path, "fields", slot), "unused-field", f"the shape has no slot `${slot}`", closest(slot, tuple(used)), on_key=True
                    )
            for slot in used:
                if slot not in fields and slot not in WELL_KNOWN_SLOTS:
                    self.wrong(
                        (*path, "shape"),
                        "unknown-slot",
                        f"`${slot}` is not a slot every envelope has",
                        closest(slot, WELL_KNOWN_SLOTS) or f"declare it: fields: {{{slot}: {{type: string}}}}",
                    )
            if "code" not in used:
                self.wrong((*path, "shape"), "no-code-slot", "the shape has no `$code` slot", "say where the code stands", on_key=True)
            found[name] = Envelope(
                name,
                words(data.get("media_type")) or ("application/json",),
                node,
                data["shape"],
                fields,
                data.get("additional", "warn"),
                data.get("summary"),
                self.source(data.get("source"), path),
            )
        return found

    def field(self, slot: str, data: Data, path: Path) -> Field:
        return Field(
            slot,
            self.schema(data, path),
            data.get("echo"),
            data.get("invalid_inbound", "unspecified"),
            data.get("mirror"),
            data.get("additional", "allow"),
            self.source(data.get("source"), path),
        )

    def match(self, data: Data | None) -> Match:
        data = data or {}
        return Match(
            tuple(data.get("routes", ())),
            statuses(data["statuses"]) if "statuses" in data else (),
            tuple(data.get("tools", ())),
            tuple(data.get("methods", ())),
        )

    def surfaces(self) -> dict[str, Surface]:
        declared = self.data.get("surfaces")
        if declared is None:
            first = next(iter(self.data["envelopes"]))
            return {"api": Surface("api", "http", Match(), ERROR_STATUSES, None, (first,), tuple(self.data["codes"]))}
        return {name: self.surface(name, each) for name, each in declared.items()}

    def surface(self, name: str, data: Data) -> Surface:
        path: Path = ("surfaces", name)
        when = data.get("error_when", {})
        envelope = data.get("envelope")
        if envelope in (None, "none"):
            envelopes: tuple[str, ...] = ()
            if not data.get("reason"):
                self.wrong(path, "no-reason", f"surface `{name}` carries no envelope and says not why", "add `reason:`", on_key=True)
        else:
            envelopes = self.refer_all(envelope, self.data["envelopes"], "envelope", (*path, "envelope"))
        codes = data.get("codes", "closed")
        allowed: tuple[str, ...] | None
        if codes == "open":
            allowed = None
        elif codes == "closed":
            allowed = tuple(self.data["codes"])
        else:
            allowed = self.refer_all(codes, self.data["codes"], "code", (*path, "codes"))
        batch = None
        if "items" in data:
            bad_items = data.get("bad_items")
            if bad_items is not None:
                self.refer(bad_items, self.detail_keys, "detail key", (*path, "bad_items"))
            batch = Batch(
                words(data["items"]),
                words(data.get("status")) or ("/status",),
                words(data.get("body")) or ("/body",),
                data.get("mixed_only", False),
                bad_items,
            )
        if "status" in when:
            error_when = statuses(when["status"])
        else:
            error_when = ERROR_STATUSES if data["transport"] == "http" and "present" not in when and batch is None else ()
        return Surface(
            name,
            data["transport"],
            self.match(data.get("match")),
            error_when,
            when.get("present"),
            envelopes,
            allowed,
            data.get("reason"),
            batch,
            self.refer_all(data.get("requires_details"), self.detail_keys, "detail key", (*path, "requires_details")),
            self.source(data.get("source"), path),
        )

    # headers and statuses

    def header_rules(self, data: Data, path: Path, *, default_on: tuple[StatusRange, ...]) -> tuple[HeaderRule, ...]:
        rules: list[HeaderRule] = []
        slots = {slot for each in self.data["envelopes"].values() for slot in _slots_in(each["shape"])}
        for name, value in data.items():
            for index, each in enumerate(value if isinstance(value, list) else [value]):
                at: Path = (*path, name, index) if isinstance(value, list) else (*path, name)
                rule = {"presence": each} if isinstance(each, str) else each
                equals = rule.get("equals")
                if equals is not None:
                    self.refer(equals.removeprefix("$"), slots, "slot", (*at, "equals"))
                rules.append(
                    HeaderRule(
                        name,
                        rule.get("presence", "required"),
                        statuses(rule["on"]) if "on" in rule else default_on,
                        self.refer_all(rule.get("codes"), self.code_names(), "code", (*at, "codes")),
                        words(rule.get("format")) or _HEADER_FORMATS.get(name.lower(), ()),
                        rule.get("token"),
                        equals.removeprefix("$") if equals else None,
                        rule.get("summary"),
                        self.source(rule.get("source"), at),
                    )
                )
        return tuple(rules)

    def http(self, value: object, reason: str | None, path: Path) -> HttpMapping:
        if value is None:
            if reason is None:
                self.wrong(
                    (*path, "http"),
                    "unmapped-code",
                    f"`{path[-1]}` travels under no HTTP status and says not why",
                    "give `http:` a status, or add `http_reason:`",
                )
            return HttpMapping(reason=reason)
        items = value if isinstance(value, list) else [value]
        ranges: list[StatusRange] = []
        rules: list[Rule] = []
        for each in items:
            if isinstance(each, dict):
                then = statuses(each.get("status", each.get("else", 500)))[0]
                rules.append(Rule(self.condition(each.get("if", {})), then.low))
                ranges.append(then)
            else:
                ranges.extend(statuses(each))
        for span in ranges:
            if span.low > span.high:
                self.wrong((*path, "http"), "bad-value", f"the range {span.low}-{span.high} is empty", f"write {span.high}-{span.low}")
        return HttpMapping(tuple(ranges), tuple(rules), reason, ranges[0].low)

    def condition(self, data: Data) -> tuple[Test, ...]:
        return tuple(self.test(fact, value) for fact, value in data.items())

    def test(self, fact: str, value: object) -> Test:
        items = value if isinstance(value, list) else [value]
        ranges = [v for v in items if isinstance(v, str) and re.fullmatch(r"[1-5]xx|\d{3}-\d{3}", v)]
        return Test(
            fact, tuple(v for v in items if v not in ranges), tuple(r for each in ranges for r in statuses(each))
        )

    # codes

    def code(self, name: str, data: Data, path: Path, *, level: str) -> Code:
        retriable = self.retriable(data.get("retriable"), path)
        lifecycle = data.get("lifecycle", "stable")
        http_value = data.get("http") if "http" in data or lifecycle == "removed" else self.inherited_http(path)
        http = self.http(http_value, data.get("http_reason", "not produced" if lifecycle == "removed" else None), path)
        details = self.details(data.get("details", {}), (*path, "details"))
        message = data.get("message")
        if message is not None:
            self.parameters(message, details, (*path, "message"))
        policy = data.get("retry")
        if policy is not None:
            self.refer(policy, self.data.get("retry_policies", {}), "retry policy", (*path, "retry"))
        domain = data.get("domain")
        if domain is not None:
            self.refer(domain, self.domains, "domain", (*path, "domain"))
        replaced_by = data.get("replaced_by")
        if replaced_by is not None:
            self.refer(replaced_by, self.code_names(), "code", (*path, "replaced_by"))
        examples = data.get("example", [])
        at_list = isinstance(examples, list)
        default_action = "retry" if retriable.kind == "always" else "none"
        default_effect = "unknown" if any(s.high >= 500 for s in http.statuses) else "none"
        facts = {}
        for slot, value in data.get("facts", {}).items():
            terms = self.vocabularies.get(self.vocabulary_of(slot) or "", {})
            facts[slot] = self.refer_all(value, terms, f"term of `{slot}`", (*path, "facts", slot))
        return Code(
            name=name,
            wire=data.get("wire", name),
            summary=data["summary"],
            description=data.get("description"),
            message=message,
            domain=domain,
            boundaries=self.refer_all(data.get("boundary"), self.boundaries, "boundary", (*path, "boundary")),
            http=http,
            carriers=data.get("on", {}),
            retriable=retriable,
            client_action=data.get("client_action", default_action),
            retry=policy,
            effect=data.get("effect", default_effect),
            headers=self.header_rules(data.get("headers", {}), (*path, "headers"), default_on=()),
            details=details,
            details_schema=Schema(opaque=data["schema"]) if "schema" in data else None,
            examples=tuple(
                self.example(each, (*path, "example", index) if at_list else (*path, "example"))
                for index, each in enumerate(examples if at_list else [examples])
            ),
            actions=self.refer_all(data.get("actions"), self.actions, "action", (*path, "actions")),
            lifecycle=lifecycle,
            since=data.get("since"),
            sunset=data.get("sunset"),
            replaced_by=replaced_by,
            level=data.get("level", level),
            passthrough=tuple(data.get("passthrough", ())),
            facts=facts,
            source=self.source(data.get("source"), path),
        )

    def inherited_http(self, path: Path) -> object:
        """No `http:` at all is a silence, and a silence is reported where some surface is HTTP; elsewhere it means never."""
        surfaces = self.data.get("surfaces")
        if surfaces is None or any(each.get("transport") == "http" for each in surfaces.values()):
            self.wrong(
                path, "unmapped-code", f"`{path[-1]}` says nothing of `http`", "give it a status, or `http: null` with `http_reason:`", on_key=True
            )
        return 500

    def vocabulary_of(self, slot: str) -> str | None:
        for each in self.data["envelopes"].values():
            found = each.get("fields", {}).get(slot, {}).get("vocabulary")
            if found is not None:
                return str(found)
        return None

    def parameters(self, message: str, details: Mapping[str, Member], path: Path) -> None:
        for key in re.findall(r"\$\{([^}]*)\}", message):
            if key not in details:
                self.wrong(
                    path,
                    "unknown-parameter",
                    f"`${{{key}}}` is not one of this code's details",
                    closest(key, tuple(details)) or "messages are built from declared details only",
                )

    def retriable(self, value: object, path: Path) -> Retriable:
        if value is None:
            return Retriable("none")
        if isinstance(value, bool):
            return Retriable("always" if value else "never")
        if isinstance(value, str):
            return Retriable("caller" if value == "caller" else "none")
        assert isinstance(value, dict)
        until = value.get("until")
        if until is not None and self.actions:
            self.refer(until, self.actions, "action", (*path, "retriable", "until"))
        rules = tuple(Rule(self.condition(each["if"]), each["then"]) for each in value.get("when", ()))
        otherwise = value.get("else", False)
        if not rules:
            return Retriable("always" if otherwise else "never", (), until)
        return Retriable("conditional", (*rules, Rule((), otherwise)), until)

    def example(self, data: Data, path: Path) -> Example:
        return Example(
            data.get("message"),
            data.get("details"),
            data.get("slots", {}),
            data.get("status"),
            data.get("headers", {}),
            data.get("summary"),
            self.source(data.get("source"), path),
        )

    def operation(self, name: str, data: Data) -> Operation:
        path: Path = ("operations", name)
        shared = data.get("codes")
        for code in data.get("errors", {}):
            if code in self.data["codes"]:
                self.wrong(
                    (*path, "errors", code),
                    "reserved-code",
                    f"`{code}` is a shared code; an operation cannot redefine it",
                    "choose a name of the operation's own domain",
                    on_key=True,
                )
        return Operation(
            name,
            self.match(data.get("match")),
            data.get("idempotent"),
            {c: self.code(c, each, (*path, "errors", c), level="operation") for c, each in data.get("errors", {}).items()},
            None if shared is None else self.refer_all(shared, self.data["codes"], "code", (*path, "codes")),
            data.get("summary"),
            self.source(data.get("source"), path),
        )

    # retry, privacy, telemetry

    def duration(self, value: Any, path: Path) -> float | None:
        if value is None:
            return None
        try:
            return durations.seconds(value)
        except ValueError as error:
            self.wrong(path, "bad-value", str(error))
            return None

    def retry_policy(self, name: str, data: Data) -> RetryPolicy:
        path: Path = ("retry_policies", name)
        backoff = data.get("backoff", [])
        phases = []
        listed = isinstance(backoff, list)
        for index, each in enumerate(backoff if listed else [backoff]):
            at: Path = (*path, "backoff", index) if listed else (*path, "backoff")
            base = self.duration(each["base"], (*at, "base")) or 0.0
            step = self.duration(each.get("step"), (*at, "step"))
            lasts = self.duration(each.get("for"), (*at, "for"))
            last = index == len(backoff) - 1 if listed else True
            if not last and lasts is None:
                self.wrong(at, "endless-phase", "only the last phase may go on without end", "add `for:`", on_key=True)
            phases.append(
                retry.Phase(
                    each["kind"],
                    base,
                    float(each.get("factor", 2)),
                    step if step is not None else base,
                    self.duration(each.get("max"), (*at, "max")),
                    lasts,
                )
            )
        jitter = data.get("jitter", {"kind": "none"})
        hint = data.get("retry_after", {"honor": False})
        budget = data.get("budget")
        costs = (budget or {}).get("costs", {})
        bases = data.get("bases", {})
        policy = retry.Policy(
            name=name,
            max_attempts=data["max_attempts"],
            phases=tuple(phases),
            jitter=retry.Jitter(jitter["kind"], float(jitter.get("ratio", 0))),
            retry_after=retry.RetryAfterRule(
                honor=hint["honor"],
                max=self.duration(hint.get("max"), (*path, "retry_after", "max")),
                clamp=hint.get("beyond", "cap"),
                min_is_computed=hint.get("at_least_computed", False),
                over=self.duration(hint.get("over"), (*path, "retry_after", "over")),
            ),
            budget=retry.Budget(budget["tokens"], budget["cost"], idle_refund=budget.get("idle_refund", 1)) if budget else None,
            max_elapsed=self.duration(data.get("max_elapsed"), (*path, "max_elapsed")),
            kinds={
                kind: retry.Kind(each.get("cost"), self.duration(each.get("base"), (*path, "kinds", kind, "base")))
                for kind, each in data.get("kinds", {}).items()
            },
        )
        annotate = data.get("annotate")
        if annotate is not None:
            self.refer(annotate, self.detail_keys, "detail key", (*path, "annotate"))
        return RetryPolicy(
            name,
            policy,
            data.get("summary"),
            data.get("isolation"),
            annotate,
            self.refer_all(data.get("eligible"), self.code_names(), "code", (*path, "eligible")),
            (),
            self.source(data.get("source"), path),
        )

    def idempotency(self, data: Data) -> Idempotency:
        path: Path = ("idempotency",)
        replay = data.get("replay", {})
        mismatch = data.get("mismatch", "unspecified")
        return Idempotency(
            data["key"],
            tuple(data.get("methods", ("POST",))),
            self.duration(data.get("window"), (*path, "window")),
            tuple(replay.get("equal", ("status", "body"))),
            tuple(replay.get("headers", ())),
            None if mismatch == "unspecified" else self.refer(mismatch, self.data["codes"], "code", (*path, "mismatch")),
            data.get("default", "idempotent"),
            self.source(data.get("source"), path),
        )

    def privacy(self, data: Data) -> Privacy:
        path: Path = ("privacy",)
        for index, each in enumerate(data.get("internal_names", ())):
            try:
                re.compile(each)
            except re.error as error:
                self.wrong((*path, "internal_names", index), "bad-pattern", f"this regular expression cannot be read: {error}")
        return Privacy(
            tuple(data.get("detectors", DETECTORS)),
            tuple(data.get("never_echoed", ())),
            tuple(
                Concealment(
                    each["across"],
                    self.refer(each["answer"], self.data["codes"], "code", (*path, "conceal", index, "answer")) or each["answer"],
                    self.refer_all(each.get("never"), self.data["codes"], "code", (*path, "conceal", index, "never")),
                    self.source(each.get("source"), (*path, "conceal", index)),
                )
                for index, each in enumerate(data.get("conceal", ()))
            ),
            tuple(data.get("internal_names", ())),
            self.source(data.get("source"), path),
        )

    def telemetry(self, data: Data) -> Telemetry:
        path: Path = ("telemetry",)
        metrics = {
            name: Metric(
                name, m["kind"], tuple(m.get("labels", ())), m["summary"], self.source(m.get("source"), (*path, "metrics", name))
            )
            for name, m in data.get("metrics", {}).items()
        }
        alerts = {}
        for name, each in data.get("alerts", {}).items():
            at: Path = (*path, "alerts", name)
            alerts[name] = Alert(
                name,
                each["severity"],
                each["when"],
                self.refer_all(each.get("codes"), self.code_names(), "code", (*at, "codes")),
                statuses(each["statuses"]) if "statuses" in each else (),
                each.get("threshold"),
                self.duration(each.get("window"), (*at, "window")),
                tuple(each["runbook"]),
                self.source(each.get("source"), at),
            )
        return Telemetry(
            metrics,
            self.members(data.get("log", {}), (*path, "log")),
            dict(data.get("span", {})),
            alerts,
            self.source(data.get("source"), path),
        )

    def unknown(self, section: str) -> Unknown | None:
        data = self.data.get(section)
        if data is None:
            return None
        self.refer(data["becomes"], self.data["codes"], "code", (section, "becomes"))
        return Unknown(
            data["becomes"], data.get("retriable", False), data.get("original_code"), self.source(data.get("source"), (section,))
        )

    def fallbacks(self) -> tuple[Fallback, ...]:
        found = []
        for status, each in self.data.get("fallback", {}).items():
            path: Path = ("fallback", status)
            code = each["code"]
            if code is not None:
                self.refer(code, self.data["codes"], "code", (*path, "code"))
            found.append(Fallback(statuses(status)[0], code, each["reason"], self.source(each.get("source"), path)))
        return tuple(found)

    def wire_names(self, codes: Mapping[str, Code]) -> None:
        seen: dict[object, str] = {}
        for name, code in codes.items():
            first = seen.setdefault(code.wire, name)
            if first != name:
                self.wrong(
                    ("codes", name), "ambiguous-wire", f"`{name}` and `{first}` are both `{code.wire}` on the wire", "give one another `wire:`", on_key=True
                )

    def taxonomy(self) -> Taxonomy:
        data = self.data
        header = data["taxonomy"]
        codes = {name: self.code(name, each, ("codes", name), level="protocol") for name, each in data["codes"].items()}
        self.wire_names(codes)
        return Taxonomy(
            name=header["name"],
            version=header["version"],
            title=header.get("title", header["name"]),
            owner=header.get("owner"),
            description=header.get("description"),
            domains=self.domains,
            boundaries=self.boundaries,
            detail_keys=self.detail_keys,
            envelopes=self.envelopes(),
            surfaces=self.surfaces(),
            codes=codes,
            operations={name: self.operation(name, each) for name, each in data.get("operations", {}).items()},
            headers=self.header_rules(data.get("headers", {}), ("headers",), default_on=ERROR_STATUSES),
            fallbacks=self.fallbacks(),
            retry_policies={name: self.retry_policy(name, each) for name, each in data.get("retry_policies", {}).items()},
            idempotency=_given(data.get("idempotency"), self.idempotency),
            actions=self.actions,
            vocabularies=self.vocabularies,
            privacy=_given(data.get("privacy"), self.privacy),
            telemetry=_given(data.get("telemetry"), self.telemetry),
            obligations={
                name: Obligation(name, each["text"], each["reason"], self.source(each.get("source"), ("obligations", name)))
                for name, each in data.get("obligations", {}).items()
            },
            rulings=self.rulings,
            unknown=self.unknown("unknown"),
            undeclared=self.unknown("undeclared"),
        )


#: Formats that a header's own specification fixes, so that a rule need not repeat them.
_HEADER_FORMATS: Mapping[str, tuple[str, ...]] = {
    "retry-after": ("retry-after",),  # RFC 9110 §10.2.3
    "etag": ("etag",),  # RFC 9110 §8.8.3
    "allow": ("methods",),  # RFC 9110 §10.2.1
    "www-authenticate": ("challenge",),  # RFC 9110 §11.6.1
    "date": ("http-date",),  # RFC 9110 §6.6.1
}

#: Schema keys and the types they say something about (JSON Schema 2020-12 §6).
_FITS: Mapping[str, frozenset[str]] = {
    "pattern": frozenset({"string"}),
    "minLength": frozenset({"string"}),
    "maxLength": frozenset({"string"}),
    "minimum": frozenset({"number", "integer"}),
    "maximum": frozenset({"number", "integer"}),
    "items": frozenset({"array"}),
    "properties": frozenset({"object"}),
}


def words(value: object) -> tuple[str, ...]:
    """One word or a list of words, as a tuple."""
    if value is None:
        return ()
    return tuple(str(each) for each in value) if isinstance(value, list) else (str(value),)


def _slots_in(picture: object) -> set[str]:
    """The slots named anywhere in a picture, without judging it."""
    if isinstance(picture, Mapping):
        return {slot for each in picture.values() for slot in _slots_in(each)}
    if isinstance(picture, list):
        return {slot for each in picture for slot in _slots_in(each)}
    return set(re.findall(r"\$\{?([a-z_][a-z0-9_]*)", picture)) if isinstance(picture, str) else set()


def _given(value: Data | None, build: Callable[[Data], T]) -> T | None:
    return None if value is None else build(value)


def resolve(data: Data) -> tuple[Taxonomy, list[Problem]]:
    """The model of grammatical ``data``, and every problem found on the way; with problems, the model may have holes."""
    resolver = _Resolver(data)
    taxonomy = resolver.taxonomy()
    return taxonomy, resolver.problems
