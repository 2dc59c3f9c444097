"""Retry, idempotency, privacy, telemetry and the rules for codes nobody declared."""

import re

from faultspec.language.conditions import ConditionalRule
from faultspec.language.constructs.policies import DETECTORS
from faultspec.language.grammar import Path
from faultspec.language.model import (
    Alert,
    AlertMetric,
    AlertThreshold,
    Concealment,
    Idempotency,
    Metric,
    Privacy,
    RecordingRule,
    RetryPolicy,
    Telemetry,
    Unknown,
    Upstream,
)
from faultspec.language.schemas import members
from faultspec.language.scope import Data, Known, Scope
from faultspec.language.wire import WELL_KNOWN_SLOTS, check_method, condition
from faultspec.runtime import retry


def retry_policy(scope: Scope, name: str, data: Data) -> RetryPolicy:
    """A policy of the planner, and for whom it is."""
    path: Path = ("retry_policies", name)
    backoff = data.get("backoff", [])
    listed = isinstance(backoff, list)
    phases = tuple(
        _phase(scope, each, (*path, "backoff", index), last=index == len(backoff) - 1)
        if listed
        else _phase(scope, each, (*path, "backoff"), last=True)
        for index, each in enumerate(backoff if listed else [backoff])
    )
    jitter = data.get("jitter", {"kind": "none"})
    hint = data.get("retry_after", {"honor": False})
    budget = data.get("budget")
    annotate = data.get("annotate")
    if annotate is not None:
        scope.refer(annotate, scope.names("detail_keys"), "detail key", (*path, "annotate"))
    policy = retry.Policy(
        name=name,
        max_attempts=data["max_attempts"],
        phases=phases,
        jitter=retry.Jitter(jitter["kind"], float(jitter.get("ratio", 0))),
        retry_after=retry.RetryAfterRule(
            honor=hint["honor"],
            max=scope.duration(hint.get("max"), (*path, "retry_after", "max")),
            clamp=hint.get("beyond", "cap"),
            min_is_computed=hint.get("at_least_computed", False),
            over=scope.duration(hint.get("over"), (*path, "retry_after", "over")),
        ),
        budget=retry.Budget(
            budget["tokens"], budget["cost"], idle_refund=budget.get("idle_refund", 1)
        )
        if budget
        else None,
        max_elapsed=scope.duration(data.get("max_elapsed"), (*path, "max_elapsed"), positive=True),
        kinds={
            kind: retry.Kind(
                each.get("cost"), scope.duration(each.get("base"), (*path, "kinds", kind, "base"))
            )
            for kind, each in data.get("kinds", {}).items()
        },
    )
    return RetryPolicy(
        name,
        policy,
        data.get("summary"),
        data.get("isolation"),
        annotate,
        scope.refer_all(data.get("eligible"), scope.code_names, "code", (*path, "eligible")),
        tuple(
            ConditionalRule(
                condition(
                    scope,
                    each["if"],
                    (*path, "eligible_when", index, "if"),
                    scope.names("detail_keys"),
                ),
                each["then"],
            )
            for index, each in enumerate(data.get("eligible_when", ()))
        ),
        _kinds(scope, data.get("kinds", {}), (*path, "kinds")),
        scope.source(data.get("source"), path),
    )


def _kinds(scope: Scope, data: Data, path: Path) -> dict[str, str]:
    """The kind of each code that has one; a code has no more than one."""
    found: dict[str, str] = {}
    for kind, each in data.items():
        for index, code in enumerate(each.get("codes", ())):
            at: Path = (*path, kind, "codes", index)
            scope.refer(code, scope.code_names, "code", at)
            first = found.setdefault(code, kind)
            if first != kind:
                scope.wrong(
                    at,
                    "duplicate-item",
                    f"`{code}` is of the kind `{first}` already",
                    "name it in one of the two",
                )
    return found


def _phase(scope: Scope, data: Data, path: Path, *, last: bool) -> retry.Phase:
    base = scope.duration(data["base"], (*path, "base")) or 0.0
    step = scope.duration(data.get("step"), (*path, "step"))
    lasts = scope.duration(data.get("for"), (*path, "for"), positive=True)
    if not last and "for" not in data:
        message = "only the last phase may go on without end"
        scope.wrong(
            path, "endless-phase", message, "add `for:`", on_key=True, needs=((*path, "for"),)
        )
    return retry.Phase(
        data["kind"],
        base,
        float(data.get("factor", 2)),
        step if step is not None else base,
        scope.duration(data.get("max"), (*path, "max")),
        lasts,
    )


def idempotency(scope: Scope, data: Data) -> Idempotency:
    """How a write is made safe to send again."""
    path: Path = ("idempotency",)
    replay = data.get("replay", {})
    mismatch = data.get("mismatch", "unspecified")
    methods = tuple(data.get("methods", ("POST",)))
    for index, method in enumerate(methods):
        check_method(scope, method, (*path, "methods", index))
    return Idempotency(
        data["key"],
        methods,
        scope.duration(data.get("window"), (*path, "window"), positive=True),
        tuple(replay.get("equal", ("status", "body"))),
        tuple(replay.get("headers", ())),
        None
        if mismatch == "unspecified"
        else scope.refer(mismatch, scope.names("codes"), "code", (*path, "mismatch")),
        data.get("default", "idempotent"),
        scope.source(data.get("source"), path),
    )


def upstream(scope: Scope, data: Data) -> Upstream:
    """How services behind are called."""
    path: Path = ("upstream",)
    if "retry" in data:
        scope.refer(data["retry"], scope.names("retry_policies"), "retry policy", (*path, "retry"))
    if "status" in data:
        scope.refer(data["status"], scope.names("detail_keys"), "detail key", (*path, "status"))
    return Upstream(
        data.get("retry"),
        data.get("default"),
        tuple(data.get("keys", ())),
        scope.source(data.get("source"), path),
        data.get("status"),
    )


def privacy(scope: Scope, data: Data) -> Privacy:
    """What must not leave."""
    path: Path = ("privacy",)
    codes = scope.names("codes")
    for index, each in enumerate(data.get("internal_names", ())):
        if scope.expression(each, (*path, "internal_names", index)) is not None and re.search(
            each, ""
        ):
            message = "this regular expression matches nothing at all, so it is found in every text"
            scope.wrong(
                (*path, "internal_names", index),
                "bad-pattern",
                message,
                "let it ask for at least one sign",
            )
    conceal = []
    for index, each in enumerate(data.get("conceal", ())):
        at: Path = (*path, "conceal", index)
        scope.refer(each["answer"], codes, "code", (*at, "answer"))
        never = scope.refer_all(each.get("never"), codes, "code", (*at, "never"))
        conceal.append(
            Concealment(each["across"], each["answer"], never, scope.source(each.get("source"), at))
        )
    return Privacy(
        tuple(data.get("detectors", DETECTORS)),
        tuple(data.get("never_echoed", ())),
        tuple(conceal),
        tuple(data.get("internal_names", ())),
        scope.source(data.get("source"), path),
    )


def telemetry(scope: Scope, data: Data, slots: Known) -> Telemetry:
    """The observability contract."""
    path: Path = ("telemetry",)
    metrics = {}
    for name, each in data.get("metrics", {}).items():
        source = scope.source(each.get("source"), (*path, "metrics", name))
        labels = tuple(each.get("labels", ()))
        metrics[name] = Metric(
            name, each["kind"], labels, each["summary"], each.get("counts"), source
        )
    alerts = {}
    for name, each in data.get("alerts", {}).items():
        at: Path = (*path, "alerts", name)
        if "rise" in each and "threshold" in each:
            message = (
                f"`{name}` fires above a share and on a rise, and which of them counts is not said"
            )
            scope.wrong(
                (*at, "rise"), "contradiction", message, "make two alerts of it", on_key=True
            )
        alerts[name] = Alert(
            name,
            each["severity"],
            each["when"],
            scope.refer_all(each.get("codes"), scope.code_names, "code", (*at, "codes")),
            scope.statuses(each["statuses"], (*at, "statuses")) if "statuses" in each else (),
            each.get("threshold"),
            scope.duration(each.get("window"), (*at, "window"), positive=True),
            tuple(each["runbook"]),
            _rise(scope, each["rise"], (*at, "rise")) if "rise" in each else None,
            scope.duration(each.get("for"), (*at, "for")),
            scope.source(each.get("source"), at),
        )
    log = members(scope, data.get("log", {}), (*path, "log"))
    span = dict(data.get("span", {}))
    named: Known = tuple(
        dict.fromkeys(
            (*(label for metric in metrics.values() for label in metric.labels), *log, *span)
        )
    )
    if any(scope.touched((*path, section)) for section in ("metrics", "log", "span")):
        named = None
    known = (
        None if slots is None else tuple(dict.fromkeys((*slots, *WELL_KNOWN_SLOTS, "retryable")))
    )
    for name, meant in data.get("means", {}).items():
        place = (*path, "means", name)
        scope.refer(name, named, "label, log member or span attribute", place, on_key=True)
        if meant.startswith("$"):
            scope.refer(meant[1:], known, "slot", place)
        else:
            scope.refer(
                meant.removeprefix("details."), scope.names("detail_keys"), "detail key", place
            )
    return Telemetry(
        metrics,
        log,
        span,
        alerts,
        data.get("means", {}),
        data.get("runbooks"),
        {
            name: _recording(scope, name, each, slots)
            for name, each in data.get("records", {}).items()
        },
        scope.source(data.get("source"), path),
    )


def _recording(scope: Scope, name: str, data: Data, slots: Known) -> RecordingRule:
    path: Path = ("telemetry", "records", name)
    known = None if slots is None else tuple(dict.fromkeys((*slots, *WELL_KNOWN_SLOTS)))
    for slot in data.get("slots", {}):
        scope.refer(slot, known, "slot", (*path, "slots", slot), on_key=True)
    if "seconds" in data and "milliseconds" in data:
        message = f"`{name}` has the time until the answer twice, in seconds and in milliseconds"
        scope.wrong(
            (*path, "milliseconds"), "contradiction", message, "keep one of the two", on_key=True
        )
    if "body" in data.get("response", {}) and "slots" in data:
        message = f"`{name}` has the whole body of the answer, and its slots beside it"
        scope.wrong((*path, "slots"), "contradiction", message, "keep one of the two", on_key=True)
    elapsed = next(((data[key], unit) for key, unit in _UNITS.items() if key in data), None)
    return RecordingRule(
        name,
        data.get("when", {}),
        data["status"],
        data["url"],
        data.get("method"),
        data.get("route"),
        elapsed,
        AlertMetric(**data.get("request", {})),
        AlertMetric(**data.get("response", {})),
        data.get("slots", {}),
        scope.source(data.get("source"), path),
    )


#: The keys that tell how long an answer took, in seconds each.
_UNITS = {"seconds": 1.0, "milliseconds": 0.001}


def _rise(scope: Scope, data: Data, path: Path) -> AlertThreshold:
    over = scope.duration(data["over"], (*path, "over"), positive=True)
    return AlertThreshold(float(data["times"]), over or 1.0, data.get("at_least", 1))


def unknown(scope: Scope, section: str) -> Unknown | None:
    """The `unknown:` or `undeclared:` rule, if there is one."""
    if section not in scope.data:
        return None
    data = scope.section(section)
    scope.refer(data["becomes"], scope.names("codes"), "code", (section, "becomes"))
    source = scope.source(data.get("source"), (section,))
    return Unknown(data["becomes"], data.get("retriable", False), data.get("original_code"), source)
