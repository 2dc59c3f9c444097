"""Envelopes, surfaces, header rules and statuses: the parts of a document that describe what travels."""

import re
from collections.abc import Collection, Iterator, Mapping

from faultspec.language.conditions import ConditionalRule, StatusRange, Test
from faultspec.language.constructs.parts import STATUS_KEY
from faultspec.language.constructs.wire import ENVELOPE
from faultspec.language.grammar import Path, closest
from faultspec.language.model import (
    Batch,
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
from faultspec.language.schemas import formats, schema
from faultspec.language.scope import Data, Known, Scope, status_range, words
from faultspec.runtime import shape
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

#: Formats that a header's own specification fixes, so that a rule need not repeat them.
HEADER_FORMATS: Mapping[str, tuple[str, ...]] = {
    "retry-after": ("retry-after",),  # RFC 9110 §10.2.3
    "etag": ("etag",),  # RFC 9110 §8.8.3
    "allow": ("methods",),  # RFC 9110 §10.2.1
    "www-authenticate": ("challenge",),  # RFC 9110 §11.6.1
    "date": ("http-date",),  # RFC 9110 §6.6.1
}


# Envelopes


def envelopes(scope: Scope) -> dict[str, Envelope]:
    """The pictures of the wire, each of which may use those above it."""
    found: dict[str, Envelope] = {}
    for name, data in scope.section("envelopes").items():
        path: Path = ("envelopes", name)
        try:
            node = shape.compile_shape(
                data["shape"], {above: each.shape for above, each in found.items()}
            )
        except shape.ShapeError as error:
            # A shape above that could not be read is reported there, not wherever it is used.
            known = scope.names("envelopes")
            if not (
                error.path[-1:] == ("use",)
                and (known is None or _used(data["shape"], error.path) in _above(known, name))
            ):
                hint = f"`shape`: {ENVELOPE.keys['shape'].doc}"
                scope.wrong((*path, "shape", *error.path), "bad-shape", error.problem, hint)
            continue
        used = slot_places(node)
        brought = {
            slot: field
            for each in _uses(data["shape"])
            if each in found
            for slot, field in found[each].fields.items()
        }
        fields = brought | {
            slot: _field(scope, each, slot, (*path, "fields", slot))
            for slot, each in data.get("fields", {}).items()
        }
        declared = scope.names("envelopes", name, "fields")
        for slot in declared or ():
            if slot not in used:
                hint = closest(slot, tuple(used)) or f"its slots are {', '.join(used)}"
                scope.wrong(
                    (*path, "fields", slot),
                    "unused-field",
                    f"the shape has no slot `${slot}`",
                    hint,
                    on_key=True,
                )
        for slot in used:
            if declared is not None and slot not in (*declared, *brought, *WELL_KNOWN_SLOTS):
                scope.wrong(
                    _place_of(slot, data["shape"], (*path, "shape")),
                    "unknown-slot",
                    f"`${slot}` is not a slot every envelope has",
                    closest(slot, (*declared, *WELL_KNOWN_SLOTS))
                    or f"declare it: fields: {{{slot}: {{type: string}}}}",
                )
        if "code" not in used:
            message = "the shape has no `$code` slot"
            scope.wrong(
                (*path, "shape"), "no-code-slot", message, "say where the code stands", on_key=True
            )
        found[name] = Envelope(
            name,
            words(data.get("media_type")) or ("application/json",),
            node,
            data["shape"],
            fields,
            data.get("additional", "warn"),
            data.get("summary"),
            scope.source(data.get("source"), path),
        )
    return found


def _field(scope: Scope, data: Data, slot: str, path: Path) -> Field:
    return Field(
        slot,
        schema(scope, data, path),
        data.get("echo"),
        data.get("invalid_inbound", "unspecified"),
        data.get("mirror"),
        data.get("additional", "allow"),
        scope.source(data.get("source"), path),
    )


def _uses(picture: object) -> Iterator[str]:
    """The envelopes that a picture uses, which bring what is known of their slots."""
    if isinstance(picture, dict):
        if isinstance(picture.get("use"), str):
            yield picture["use"]
        for each in picture.values():
            yield from _uses(each)
    elif isinstance(picture, list):
        for each in picture:
            yield from _uses(each)


def _used(picture: object, path: shape.Path) -> object:
    """What stands at `path` of a picture."""
    for step in path:
        picture = picture[step]  # type: ignore[index]  # the shape compiler gave the path
    return picture


def _above(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return names[: names.index(name)]


_SLOT = re.compile(r"\$\{?([a-z_][a-z0-9_]*)")


def _place_of(slot: str, picture: object, path: Path) -> Path:
    """Where a picture first names a slot."""
    if isinstance(picture, str):
        return path
    items = (
        picture.items()
        if isinstance(picture, dict)
        else enumerate(picture)
        if isinstance(picture, list)
        else ()
    )
    for step, each in items:
        if slot in slots_in(each):
            return _place_of(slot, each, (*path, step))
    return path


def slots_in(picture: object) -> set[str]:
    """The slots named anywhere in a picture, without judging it."""
    if isinstance(picture, dict):
        return {slot for each in picture.values() for slot in slots_in(each)}
    if isinstance(picture, list):
        return {slot for each in picture for slot in slots_in(each)}
    return set(_SLOT.findall(picture)) if isinstance(picture, str) else set()


def slots(scope: Scope) -> Known:
    """The slots of all envelopes."""
    names = scope.names("envelopes")
    pictures = [each["shape"] for each in scope.section("envelopes").values()]
    if names is None or len(names) > len(pictures):
        return None
    return tuple(dict.fromkeys(slot for each in pictures for slot in sorted(slots_in(each))))


# Surfaces


#: Those of RFC 9110 §9, and PATCH (RFC 5789): what a misspelled method is taken for.
_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH")

#: The others that IANA has registered, none of them a misspelling of one above.
_OTHERS = """
    ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT COPY LABEL LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL MKREDIRECTREF
    MKWORKSPACE MOVE ORDERPATCH PRI PROPFIND PROPPATCH QUERY REBIND REPORT SEARCH UNBIND UNCHECKOUT UNLINK UNLOCK UPDATE
    UPDATEREDIRECTREF
"""
_REGISTERED = frozenset(_OTHERS.split())


def check_method(scope: Scope, method: str, path: Path) -> None:
    """Report a method that is almost one of HTTP's; any other may be a server's own."""
    if (
        method not in _METHODS
        and method not in _REGISTERED
        and (hint := closest(method, _METHODS, cutoff=0.75))
    ):
        scope.wrong(path, "unknown-method", f"`{method}` is no method of HTTP", hint)


def match(scope: Scope, data: Data | None, path: Path) -> Match:
    """Which exchanges are claimed."""
    data = data or {}
    for index, route in enumerate(data.get("routes", ())):
        method, spaced, _ = route.partition(" ")
        if spaced:
            check_method(scope, method, (*path, "routes", index))
    for index, method in enumerate(data.get("methods", ())):
        check_method(scope, method, (*path, "methods", index))
    return Match(
        tuple(data.get("routes", ())),
        scope.statuses(data["statuses"], (*path, "statuses")) if "statuses" in data else (),
        tuple(data.get("tools", ())),
        tuple(data.get("methods", ())),
        {
            pointer: tuple(values) if isinstance(values, list) else (values,)
            for pointer, values in data.get("request", {}).items()
        },
    )


def surfaces(scope: Scope) -> dict[str, Surface]:
    """The declared surfaces; without any, all of HTTP with the first envelope."""
    if "surfaces" not in scope.data:
        first = tuple(scope.section("envelopes"))[:1]
        return {
            "api": Surface(
                "api", "http", Match(), ERROR_STATUSES, None, first, scope.section("codes").keys()
            )
        }
    return {name: _surface(scope, name, each) for name, each in scope.section("surfaces").items()}


#: Keys that describe a multi-status body, and so say nothing without `items`.
_BATCH_KEYS = ("status", "body", "mixed_only", "bad_items")


def _surface(scope: Scope, name: str, data: Data) -> Surface:
    path: Path = ("surfaces", name)
    when = data.get("error_when", {})
    envelope = data.get("envelope")
    known = scope.names("envelopes")
    if envelope in (None, "none"):
        named: tuple[str, ...] = ()
        if not data.get("reason"):
            message = f"surface `{name}` carries no envelope and does not say why"
            hint = "add `envelope:`, or `envelope: none` with `reason:`"
            needs = ((*path, "reason"), (*path, "envelope"))
            scope.wrong(path, "no-reason", message, hint, on_key=True, needs=needs)
    else:
        named = scope.refer_all(envelope, known, "envelope", (*path, "envelope"))
    if "default_status" in data and data["transport"] != "http":
        message = f"surface `{name}` is not on HTTP, and has no statuses"
        scope.wrong((*path, "default_status"), "misplaced-key", message, "remove it", on_key=True)
    for key in _BATCH_KEYS:
        if key in data and "items" not in data:
            message = f"`{key}` describes a multi-status body, and there are no `items`"
            hint = "add `items:`, the place of the outcomes"
            scope.wrong(
                (*path, key), "misplaced-key", message, hint, on_key=True, needs=((*path, "items"),)
            )
    batch = _batch(scope, data, path) if "items" in data else None
    if "status" in when:
        error_when = scope.statuses(when["status"], (*path, "error_when", "status"))
    else:
        plain = data["transport"] == "http" and not when and batch is None
        error_when = ERROR_STATUSES if plain else ()
    claimed = match(scope, data.get("match"), (*path, "match"))
    return Surface(
        name,
        data["transport"],
        claimed if "sink" not in data else claimed._replace(tools=claimed.tools or (data["sink"],)),
        error_when,
        when.get("present"),
        named,
        _codes(scope, data.get("codes", "closed"), (*path, "codes")),
        data.get("reason"),
        batch,
        scope.refer_all(
            data.get("requires_details"),
            scope.names("detail_keys"),
            "detail key",
            (*path, "requires_details"),
        ),
        when.get("equals", {}),
        data.get("at", ""),
        data.get("codes") == "foreign",
        _required_of_successes(scope, data.get("success", {}), path),
        _protocol(scope, data["protocol"], (*path, "protocol")) if "protocol" in data else None,
        scope.refer(data["repeats"], scope.names("surfaces"), "surface", (*path, "repeats"))
        if "repeats" in data
        else None,
        data.get("sink"),
        data.get("level", "must"),
        scope.source(data.get("source"), path),
        data.get("default_status"),
    )


def _required_of_successes(scope: Scope, data: Data, path: Path) -> dict[str, DetailMember]:
    source = scope.source(data.get("source"), (*path, "success"))
    at: Path = (*path, "success", "require")
    return {
        pointer: DetailMember(
            pointer,
            schema(scope, each, (*at, pointer)),
            "expected" if each.get("expected") else "required",
            source,
        )
        for pointer, each in data.get("require", {}).items()
    }


def _protocol(scope: Scope, data: Data, path: Path) -> Protocol:
    scope.refer(data["envelope"], scope.names("envelopes"), "envelope", (*path, "envelope"))
    ranges = []
    for text, summary in data["codes"].items():
        low, _, high = text.partition("..")
        ranges.append(NumberRange(int(low), int(high or low), summary))
        if ranges[-1].low > ranges[-1].high:
            message = f"the range {text} is empty"
            scope.wrong(
                (*path, "codes", text), "bad-range", message, f"write {high}..{low}", on_key=True
            )
    return Protocol(data["envelope"], tuple(ranges), scope.source(data.get("source"), path))


def _codes(scope: Scope, value: object, path: Path) -> Collection[str] | None:
    """The codes a surface allows, in order and quick to be asked; None: any."""
    if value in ("open", "foreign"):
        return None
    known = scope.names("codes")
    if value == "closed":
        return dict.fromkeys(known or ()).keys()
    if isinstance(value, str) and known is not None and value not in known:
        hint = (
            closest(value, ("open", "closed", "foreign", *known))
            or "write `closed`, `open`, `foreign` or a list of codes"
        )
        scope.wrong(path, "dangling-reference", f"there is no code `{value}`", hint)
        return ()
    return dict.fromkeys(scope.refer_all(value, known, "code", path)).keys()


def _batch(scope: Scope, data: Data, path: Path) -> Batch:
    bad_items = data.get("bad_items")
    if bad_items is not None:
        scope.refer(bad_items, scope.names("detail_keys"), "detail key", (*path, "bad_items"))
    return Batch(
        words(data["items"]),
        words(data.get("status")) or ("/status",),
        words(data.get("body")) or ("/body",),
        data.get("mixed_only", False),
        bad_items,
    )


# Headers and statuses


def header_rules(
    scope: Scope, data: Data, path: Path, known_slots: Known, *, default_on: tuple[StatusRange, ...]
) -> tuple[HeaderRule, ...]:
    """The rules of a `headers:` mapping, in order; `default_on` is for those that name no status."""
    rules: list[HeaderRule] = []
    spelled: dict[str, str] = {}
    for name, value in data.items():
        first = spelled.setdefault(name.lower(), name)
        if first != name:
            message = f"`{name}` is the header `{first}`, which stands here already"
            scope.wrong(
                (*path, name),
                "duplicate-key",
                message,
                "header names have no case: join the two",
                on_key=True,
            )
        for index, each in enumerate(value if isinstance(value, list) else [value]):
            at: Path = (*path, name, index) if isinstance(value, list) else (*path, name)
            rules.append(
                _header_rule(
                    scope,
                    name,
                    {"presence": each} if isinstance(each, str) else each,
                    at,
                    known_slots,
                    default_on,
                )
            )
    return tuple(rules)


def _header_rule(
    scope: Scope,
    name: str,
    rule: Data,
    path: Path,
    known_slots: Known,
    default_on: tuple[StatusRange, ...],
) -> HeaderRule:
    equals = rule.get("equals")
    if equals is not None:
        scope.refer(equals.removeprefix("$"), known_slots, "slot", (*path, "equals"))
    return HeaderRule(
        name,
        rule.get("presence", "required"),
        scope.statuses(rule["on"], (*path, "on")) if "on" in rule else default_on,
        scope.refer_all(rule.get("codes"), scope.code_names, "code", (*path, "codes")),
        formats(scope, rule.get("format"), (*path, "format"))
        or HEADER_FORMATS.get(name.lower(), ()),
        rule.get("token"),
        equals.removeprefix("$") if equals else None,
        rule.get("summary"),
        scope.source(rule.get("source"), path),
    )


def http(
    scope: Scope, value: object, reason: str | None, path: Path, known_details: Known
) -> HttpMapping:
    """The `http:` of the code at `path`."""
    if value is None:
        if reason is None:
            scope.wrong(
                (*path, "http"),
                "unmapped-code",
                f"`{path[-1]}` travels under no HTTP status and does not say why",
                "give `http:` a status, or add `http_reason:`",
                needs=((*path, "http_reason"),),
            )
        return HttpMapping(reason=reason)
    ranges: list[StatusRange] = []
    rules: list[ConditionalRule] = []
    listed = isinstance(value, list)
    for index, each in enumerate(value if isinstance(value, list) else [value]):
        at: Path = (*path, "http", index) if listed else (*path, "http")
        if isinstance(each, dict):
            key = "status" if "status" in each else "else"
            tests = condition(scope, each.get("if", {}), (*at, "if"), known_details)
            if ("if" in each) != (key == "status") or key not in each:
                message = "a rule is `if:` with `status:`, or `else:` alone"
                needs = tuple((*at, name) for name in ("if", "status", "else"))
                scope.wrong(
                    at, "bad-rule", message, "complete it, or write the status alone", needs=needs
                )
                continue
            if key == "else" and isinstance(value, list) and index < len(value) - 1:
                scope.wrong(
                    at,
                    "bad-rule",
                    "what follows `else:` is never reached",
                    "put `else:` last",
                    on_key=True,
                )
            then = scope.statuses(each[key], (*at, key))[0]
            rules.append(ConditionalRule(tests, then.low))
            ranges.append(then)
        else:
            ranges.extend(scope.statuses(each, at))
    return HttpMapping(tuple(ranges), tuple(rules), reason, ranges[0].low if ranges else None)


def condition(scope: Scope, data: Data, path: Path, known_details: Known) -> tuple[Test, ...]:
    """The facts of an `if:`, all of which must hold."""
    for fact, value in data.items():
        if fact.startswith("details."):
            scope.refer(
                fact.removeprefix("details."),
                known_details,
                "detail key",
                (*path, fact),
                on_key=True,
            )
        if fact == "status":
            for each in value if isinstance(value, list) else [value]:
                if not re.fullmatch(STATUS_KEY.pattern or "", str(each)):
                    message = f"`{each}` is not {STATUS_KEY.shape}"
                    scope.wrong((*path, fact), "bad-status", message, "the classes are 1xx to 5xx")
    return tuple(_test(fact, value) for fact, value in data.items())


def _test(fact: str, value: object) -> Test:
    items = value if isinstance(value, list) else [value]
    ranges = [
        item
        for item in items
        if isinstance(item, str) and re.fullmatch(r"[1-5]xx|\d{3}-\d{3}", item)
    ]
    return Test(
        fact, tuple(item for item in items if item not in ranges), tuple(map(status_range, ranges))
    )


def fallbacks(scope: Scope) -> tuple[Fallback, ...]:
    """The codes of statuses that no code claims."""
    found = []
    for status, each in scope.section("fallback").items():
        path: Path = ("fallback", status)
        code = each["code"]
        if code is not None:
            scope.refer(code, scope.names("codes"), "code", (*path, "code"))
        span = scope.statuses(status, path)[0]
        found.append(Fallback(span, code, each["reason"], scope.source(each.get("source"), path)))
    return tuple(found)
