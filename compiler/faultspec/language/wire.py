"""Envelopes, surfaces, header rules and statuses of a document."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from faultspec.language.conditions import ConditionalRule, StatusRange, Test
from faultspec.language.constructs.parts import STATUS_KEY
from faultspec.language.constructs.wire import ENVELOPE
from faultspec.language.grammar import Path, closest
from faultspec.language.key_places import read_own_key_place
from faultspec.language.model import (
    IMPLIED,
    Batch,
    CallState,
    DetailMember,
    Envelope,
    Fallback,
    Field,
    HeaderRule,
    HttpMapping,
    Match,
    NumberRange,
    Protocol,
    Surface,
)
from faultspec.language.pictures import find_slot, used_envelopes, value_at
from faultspec.language.places import check_places, read_places
from faultspec.language.schemas import check_reference, read_formats, read_schema
from faultspec.language.scope import (
    WELL_KNOWN_SLOTS,
    Data,
    Known,
    Scope,
    placed_items,
    status_range,
    word_tuple,
)
from faultspec.runtime import shape
from faultspec.runtime.nodes import Node, Template, slot_places

ERROR_STATUSES = (StatusRange(400, 599),)

#: Formats that a header's own specification fixes, so that a rule need not repeat them.
HEADER_FORMATS: Mapping[str, tuple[str, ...]] = {
    "retry-after": ("retry-after",),  # RFC 9110 section 10.2.3
    "etag": ("etag",),  # RFC 9110 section 8.8.3
    "allow": ("methods",),  # RFC 9110 section 10.2.1
    "www-authenticate": ("challenge",),  # RFC 9110 section 11.6.1
    "date": ("http-date",),  # RFC 9110 section 6.6.1
    "sunset": ("http-date",),  # RFC 8594 section 3
    "deprecation": ("deprecation",),  # RFC 9745 section 2.1
    "ratelimit": ("ratelimit",),  # draft-ietf-httpapi-ratelimit-headers
    "ratelimit-policy": ("ratelimit",),
}


# Envelopes


def read_envelopes(scope: Scope) -> dict[str, Envelope]:
    """The envelopes; each may use those above it."""
    found: dict[str, Envelope] = {}
    shapes: dict[str, Node] = {}
    for name, data in scope.section("envelopes").items():
        node = _compiled_shape(scope, name, data["shape"], shapes)
        if node is None:
            continue
        path: Path = ("envelopes", name)
        inherited = {
            slot: field
            for used in used_envelopes(data["shape"])
            if used in found
            for slot, field in found[used].fields.items()
        }
        own = {
            slot: _with_implied_type(_read_field(scope, field, slot, (*path, "fields", slot)), node)
            for slot, field in data.get("fields", {}).items()
        }
        fields = inherited | own
        placed = {slot: field.places for slot, field in fields.items() if field.places}
        used = tuple(dict.fromkeys((*slot_places(node), *placed)))
        _check_slots(scope, name, data["shape"], used=used, inherited=inherited)
        for slot in own:
            check_places(scope, own[slot], node, (*path, "fields", slot, "places"))
        shapes[name] = node
        found[name] = Envelope(
            name=name,
            media_types=word_tuple(data.get("media_type")) or ("application/json",),
            shape=node,
            picture=data["shape"],
            fields=fields,
            additional=data.get("additional", "warn"),
            summary=data.get("summary"),
            source=scope.source(data.get("source"), path),
        )
    return found


def _compiled_shape(
    scope: Scope, name: str, picture: object, above: Mapping[str, Node]
) -> Node | None:
    """The compiled picture, or None, with a problem unless an envelope that it uses has one."""
    try:
        return shape.compile_shape(picture, above)
    except shape.ShapeError as error:
        known = scope.names("envelopes")
        uses_broken = error.path[-1:] == ("use",) and (
            known is None or value_at(picture, error.path) in known[: known.index(name)]
        )
        if not uses_broken:
            hint = f"`shape`: {ENVELOPE.keys['shape'].doc}"
            path = ("envelopes", name, "shape", *error.path)
            scope.report(path, "bad-shape", error.problem, hint)
        return None


def _check_slots(
    scope: Scope, name: str, picture: object, *, used: tuple[str, ...], inherited: Iterable[str]
) -> None:
    """Report fields without a slot, slots that are not declared, and a missing code slot."""
    path: Path = ("envelopes", name)
    declared = scope.names("envelopes", name, "fields")
    known = {*(declared or ()), *inherited, *WELL_KNOWN_SLOTS}
    used_slots = frozenset(used)
    for slot in declared or ():
        if slot not in used_slots:
            message = f"the shape has no slot `${slot}`"
            hint = closest(slot, used) or f"its slots are {', '.join(used)}"
            scope.report((*path, "fields", slot), "unused-field", message, hint, on_key=True)
    for slot in used:
        if declared is not None and slot not in known:
            scope.report(
                find_slot(slot, picture, (*path, "shape")),
                "unknown-slot",
                f"the slot `${slot}` is neither declared nor built in",
                closest(slot, (*declared, *WELL_KNOWN_SLOTS))
                or f"declare it: fields: {{{slot}: {{type: string}}}}",
            )
    if "code" not in used:
        message = "the shape has no `$code` slot"
        hint = (
            "put `$code` where the code is; if no member has it, add `fields: {code: {places: "
            "[status]}}`, or the header that has it"
        )
        scope.report((*path, "shape"), "no-code-slot", message, hint, on_key=True)


def _read_field(scope: Scope, data: Data, slot: str, path: Path) -> Field:
    check_reference(scope, data, path)
    return Field(
        slot=slot,
        schema=read_schema(scope, data, path),
        echo=data.get("echo"),
        invalid_inbound=data.get("invalid_inbound", "unspecified"),
        mirror=data.get("mirror"),
        additional=data.get("additional", "allow"),
        source=scope.source(data.get("source"), path),
        places=read_places(scope, data.get("places", ()), (*path, "places")),
        refers_to=data.get("refers_to"),
    )


def _with_implied_type(field: Field, shape: Node) -> Field:
    """A field that says nothing about its values, with the type that its slot has without a field.

    Inside a string every slot is a string, so the type does not hold there.
    """
    implied, schema = IMPLIED.get(field.slot), field.schema
    if implied is None or schema.types or schema.enum or schema.vocabulary:
        return field
    if any(isinstance(place.node, Template) for place in slot_places(shape).get(field.slot, ())):
        return field
    return field._replace(
        schema=schema._replace(types=implied.types, items=schema.items or implied.items)
    )


# Surfaces


#: The methods of RFC 9110 section 9, and PATCH (RFC 5789): what a misspelled method is taken for.
_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH")

#: The other methods registered with IANA, which are not misspellings of those.
_OTHERS = """
    ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT COPY LABEL LINK LOCK MERGE MKACTIVITY MKCALENDAR
    MKCOL MKREDIRECTREF MKWORKSPACE MOVE ORDERPATCH PRI PROPFIND PROPPATCH QUERY REBIND REPORT
    SEARCH UNBIND UNCHECKOUT UNLINK UNLOCK UPDATE UPDATEREDIRECTREF
"""
_REGISTERED = frozenset((*_METHODS, *_OTHERS.split()))


def check_method(scope: Scope, method: str, path: Path) -> None:
    """Report a method that is nearly an HTTP method; any other may be a server's own."""
    hint = None if method in _REGISTERED else closest(method, _METHODS, cutoff=0.75)
    if hint:
        scope.report(path, "unknown-method", f"`{method}` is not an HTTP method", hint)


def read_match(scope: Scope, data: Data | None, path: Path) -> Match:
    """The exchanges that a surface or an operation claims."""
    data = data or {}
    for index, route in enumerate(data.get("routes", ())):
        method, space, _ = route.partition(" ")
        if space:
            check_method(scope, method, (*path, "routes", index))
    for index, method in enumerate(data.get("methods", ())):
        check_method(scope, method, (*path, "methods", index))
    return Match(
        routes=tuple(data.get("routes", ())),
        statuses=scope.statuses(data.get("statuses", []), (*path, "statuses")),
        tools=tuple(data.get("tools", ())),
        methods=tuple(data.get("methods", ())),
        request={
            pointer: tuple(value) if isinstance(value, list) else (value,)
            for pointer, value in data.get("request", {}).items()
        },
        headers={name: word_tuple(value) for name, value in data.get("headers", {}).items()},
        query={name: word_tuple(value) for name, value in data.get("query", {}).items()},
    )


def read_surfaces(scope: Scope) -> dict[str, Surface]:
    """The declared surfaces; if there are none, all of HTTP with the first envelope."""
    if "surfaces" not in scope.data:
        surface = Surface(
            name="api",
            transport="http",
            match=Match(),
            error_when=ERROR_STATUSES,
            error_pointer=None,
            envelopes=tuple(scope.section("envelopes"))[:1],
            codes=scope.section("codes").keys(),
        )
        return {"api": surface}
    return {
        name: _read_surface(scope, name, data) for name, data in scope.section("surfaces").items()
    }


#: Keys that describe a multi-status body, and so mean nothing without `items`.
_BATCH_KEYS = ("status", "body", "mixed_only")


def _read_surface(scope: Scope, name: str, data: Data) -> Surface:
    path: Path = ("surfaces", name)
    _check_surface_keys(scope, name, data)
    when = data.get("error_when", {})
    batch = _read_batch(data) if "items" in data else None
    statuses = scope.statuses(when.get("status", []), (*path, "error_when", "status"))
    match = read_match(scope, data.get("match"), (*path, "match"))
    # A batch that is declared by its multi-status has no other status.
    may_fail = batch is None or any(span.high >= 400 for span in match.statuses or ERROR_STATUSES)
    every_error = data["transport"] == "http" and not when and may_fail
    if "sink" in data and not match.tools:
        match = match._replace(tools=(data["sink"],))
    return Surface(
        name=name,
        transport=data["transport"],
        match=match,
        error_when=ERROR_STATUSES if every_error else statuses,
        error_pointer=when.get("present"),
        envelopes=_carried_envelopes(scope, name, data),
        codes=_allowed_codes(scope, data.get("codes", "closed"), (*path, "codes")),
        reason=data.get("reason"),
        batch=batch,
        bad_items=scope.refer_key(data, "bad_items", "detail key", path),
        requires_details=scope.refer_keys(data, "requires_details", "detail key", path),
        error_equals=when.get("equals", {}),
        at=data.get("at", ""),
        foreign=data.get("codes") == "foreign",
        namespaces=_closed_namespaces(data.get("codes")),
        success=_success_members(scope, data.get("success", {}), path),
        protocol=_read_protocol(scope, data["protocol"], (*path, "protocol"))
        if "protocol" in data
        else None,
        repeats=scope.refer(data["repeats"], scope.names("surfaces"), "surface", (*path, "repeats"))
        if "repeats" in data
        else None,
        sink=data.get("sink"),
        level=data.get("level", "must"),
        source=scope.source(data.get("source"), path),
        default_status=data.get("default_status"),
        headers=read_header_rules(
            scope, data.get("headers", {}), (*path, "headers"), default_on=ERROR_STATUSES
        ),
        key=read_own_key_place(scope, data, path),
        states=tuple(_read_states(scope, data.get("states", ()), (*path, "states"))),
    )


def _check_surface_keys(scope: Scope, name: str, data: Data) -> None:
    path: Path = ("surfaces", name)
    for key, lacks in (
        ("default_status", "statuses"),
        ("headers", "response headers"),
        ("idempotency_key", "idempotency keys"),
    ):
        if key in data and data["transport"] != "http":
            message = f"surface `{name}` is not on HTTP, and has no {lacks}"
            scope.report((*path, key), "misplaced-key", message, "remove it", on_key=True)
    if "states" in data and data["transport"] != "jsonrpc":
        message = f"surface `{name}` is not on JSON-RPC, and has no sessions"
        at, needs = (*path, "states"), ((*path, "transport"),)
        scope.report(at, "misplaced-key", message, "remove it", on_key=True, needs=needs)
    for key in _BATCH_KEYS:
        if key in data and "items" not in data:
            scope.report(
                (*path, key),
                "misplaced-key",
                f"`{key}` describes a multi-status body, and `items` is missing",
                "add `items:`, the place of the outcomes",
                on_key=True,
                needs=((*path, "items"),),
            )


def _carried_envelopes(scope: Scope, name: str, data: Data) -> tuple[str, ...]:
    path: Path = ("surfaces", name)
    if data.get("envelope", "none") != "none":
        return scope.refer_keys(data, "envelope", "envelope", path)
    if not data.get("reason"):
        scope.report(
            path,
            "no-reason",
            f"surface `{name}` carries no envelope, and gives no reason",
            "add `envelope:`, or `envelope: none` with `reason:`",
            on_key=True,
            needs=((*path, "reason"), (*path, "envelope")),
        )
    return ()


def _success_members(scope: Scope, data: Data, path: Path) -> dict[str, DetailMember]:
    source = scope.source(data.get("source"), (*path, "success"))
    at: Path = (*path, "success", "require")
    return {
        pointer: DetailMember(
            name=pointer,
            schema=read_schema(scope, member, (*at, pointer)),
            presence="expected" if member.get("expected") else "required",
            source=source,
        )
        for pointer, member in data.get("require", {}).items()
    }


def _read_protocol(scope: Scope, data: Data, path: Path) -> Protocol:
    scope.refer_key(data, "envelope", "envelope", path)
    ranges = []
    for text, summary in data["codes"].items():
        low, _, high = text.partition("..")
        ranges.append(NumberRange(int(low), int(high or low), summary))
        if ranges[-1].low > ranges[-1].high:
            message, hint = f"the range {text} is empty", f"write {high}..{low}"
            scope.report((*path, "codes", text), "bad-range", message, hint, on_key=True)
    source = scope.source(data.get("source"), path)
    return Protocol(data["envelope"], tuple(ranges), source, data.get("batches"))


def _read_states(scope: Scope, written: Sequence[Data], path: Path) -> Iterator[CallState]:
    """The states of a session."""
    for index, data in enumerate(written):
        at = (*path, index)
        when, _, method = data["when"].partition(" ")
        if "allows" in data and "refuses" in data:
            message = "a state has either `allows` or `refuses`"
            scope.report((*at, "refuses"), "bad-value", message, "keep one of them")
        otherwise = str(data["otherwise"])
        known = scope.names("codes")
        if not re.fullmatch(r"-?\d+", otherwise) and known is not None and otherwise not in known:
            hint = closest(otherwise, tuple(known)) or "write a code or a number of the protocol"
            message = f"there is no code `{otherwise}`"
            scope.report((*at, "otherwise"), "dangling-reference", message, hint)
        yield CallState(
            when=when,
            method=method,
            allows=tuple(data.get("allows", ())),
            refuses=tuple(data.get("refuses", ())),
            otherwise=otherwise,
        )


def _allowed_codes(scope: Scope, value: object, path: Path) -> Collection[str] | None:
    """The codes that a surface allows, as an ordered set; None for all codes."""
    if value in ("open", "foreign") or _closed_namespaces(value):
        return None
    known = scope.names("codes")
    if value == "closed":
        return dict.fromkeys(known or ()).keys()
    if isinstance(value, str) and known is not None and value not in known:
        hint = (
            closest(value, ("open", "closed", "foreign", *known))
            or "write `closed`, `open`, `foreign` or a list of codes"
        )
        scope.report(path, "dangling-reference", f"there is no code `{value}`", hint)
        return ()
    return dict.fromkeys(scope.refer_all(value, known, "code", path)).keys()


def _closed_namespaces(value: object) -> tuple[str, ...]:
    return word_tuple(value["closed"]) if isinstance(value, Mapping) else ()


def _read_batch(data: Data) -> Batch:
    return Batch(
        items=word_tuple(data["items"]),
        status=word_tuple(data.get("status")),
        body=word_tuple(data.get("body")) or ("/body",),
        mixed_only=data.get("mixed_only", False),
    )


# Headers and statuses


def read_header_rules(
    scope: Scope, data: Data, path: Path, *, default_on: tuple[StatusRange, ...]
) -> tuple[HeaderRule, ...]:
    """The rules of a `headers:` mapping, in order; `default_on` is for rules without `on`."""
    rules: list[HeaderRule] = []
    spellings: dict[str, str] = {}
    for name, value in data.items():
        first = spellings.setdefault(name.lower(), name)
        if first != name:
            message = f"the header `{name}` is here already, as `{first}`"
            hint = "join the two: header names are case-insensitive"
            scope.report((*path, name), "duplicate-key", message, hint, on_key=True)
        for at, item in placed_items(value, (*path, name)):
            rule = {"presence": item} if isinstance(item, str) else item
            rules.append(_read_header_rule(scope, name, rule, at, default_on=default_on))
    return tuple(rules)


def _read_header_rule(
    scope: Scope, name: str, rule: Data, path: Path, *, default_on: tuple[StatusRange, ...]
) -> HeaderRule:
    equals = rule["equals"].removeprefix("$") if "equals" in rule else None
    if equals is not None:
        scope.refer(equals, scope.slots, "slot", (*path, "equals"))
    formats = read_formats(scope, rule.get("format"), (*path, "format"))
    return HeaderRule(
        name=name,
        presence=rule.get("presence", "required"),
        on=scope.statuses(rule["on"], (*path, "on")) if "on" in rule else default_on,
        codes=scope.refer_keys(rule, "codes", "code", path),
        format=formats or HEADER_FORMATS.get(name.lower(), ()),
        token=rule.get("token"),
        equals=equals,
        summary=rule.get("summary"),
        source=scope.source(rule.get("source"), path),
        value=read_schema(scope, rule["value"], (*path, "value")) if "value" in rule else None,
    )


def read_http(
    scope: Scope, value: object, reason: str | None, path: Path, known_details: Known
) -> HttpMapping:
    """The `http:` of the code at `path`."""
    if value is None:
        if reason is None:
            scope.report(
                (*path, "http"),
                "unmapped-code",
                f"`{path[-1]}` has no HTTP status, and gives no reason",
                "give `http:` a status, or add `http_reason:`",
                needs=((*path, "http_reason"),),
            )
        return HttpMapping(reason=reason)
    ranges: list[StatusRange] = []
    rules: list[ConditionalRule] = []
    items = list(placed_items(value, (*path, "http")))
    for at, item in items:
        if not isinstance(item, dict):
            ranges.extend(scope.statuses(item, at))
        elif (rule := _read_status_rule(scope, item, at, known_details)) is not None:
            tests, then = rule
            if "status" not in item and at != items[-1][0]:
                message, hint = "a rule after `else:` is never reached", "put `else:` last"
                scope.report(at, "bad-rule", message, hint, on_key=True)
            rules.append(ConditionalRule(tests, then.low))
            ranges.append(then)
    default = ranges[0].low if ranges else None
    return HttpMapping(tuple(ranges), tuple(rules), reason, default)


def _read_status_rule(
    scope: Scope, rule: Data, path: Path, known_details: Known
) -> tuple[tuple[Test, ...], StatusRange] | None:
    """The tests and the status of a rule; None, with a problem, if it is incomplete."""
    tests = read_condition(scope, rule.get("if", {}), (*path, "if"), known_details)
    key = "status" if "status" in rule else "else"
    if ("if" in rule) != (key == "status") or key not in rule:
        message = "a rule is `if:` with `status:`, or `else:` alone"
        needs = tuple((*path, key) for key in ("if", "status", "else"))
        hint = "complete it, or write the status alone"
        scope.report(path, "bad-rule", message, hint, needs=needs)
        return None
    return tests, scope.statuses(rule[key], (*path, key))[0]


def read_condition(scope: Scope, data: Data, path: Path, known_details: Known) -> tuple[Test, ...]:
    """The facts of an `if:`, all of which must hold."""
    for fact, value in data.items():
        at: Path = (*path, fact)
        if fact.startswith("details."):
            key = fact.removeprefix("details.")
            scope.refer(key, known_details, "detail key", at, on_key=True)
        if fact == "status":
            for _, status in placed_items(value, at):
                if not re.fullmatch(STATUS_KEY.pattern or "", str(status)):
                    message = f"`{status}` is not {STATUS_KEY.shape}"
                    scope.report(at, "bad-status", message, "the classes are 1xx to 5xx")
    return tuple(_read_test(fact, value) for fact, value in data.items())


def read_condition_rules(
    scope: Scope, data: Data, key: str, path: Path, *, known_details: Known
) -> tuple[ConditionalRule, ...]:
    """The `if:` and `then:` rules under `key`; `path` is that of `data`."""
    return tuple(
        ConditionalRule(
            read_condition(scope, rule["if"], (*path, key, index, "if"), known_details),
            rule["then"],
        )
        for index, rule in enumerate(data.get(key, ()))
    )


_RANGE = r"[1-5]xx|\d{3}-\d{3}"


def _read_test(fact: str, value: object) -> Test:
    items = [item for _, item in placed_items(value, ())]
    ranges = [item for item in items if isinstance(item, str) and re.fullmatch(_RANGE, item)]
    return Test(
        fact=fact,
        values=tuple(item for item in items if item not in ranges),
        ranges=tuple(map(status_range, ranges)),
    )


def read_fallbacks(scope: Scope) -> tuple[Fallback, ...]:
    """The codes of statuses that no code claims."""
    found = []
    for status, data in scope.section("fallback").items():
        path: Path = ("fallback", status)
        scope.refer_key(data, "code", "shared code", path)
        span = scope.statuses(status, path)[0]
        source = scope.source(data.get("source"), path)
        found.append(Fallback(span, data["code"], data["reason"], source))
    return tuple(found)
