"""Retry, idempotency, privacy, telemetry and the rules for undeclared codes."""

import re
from collections.abc import Mapping

from faultspec.language.constructs.parts import POINTER
from faultspec.language.constructs.policies import DETECTORS
from faultspec.language.grammar import Path
from faultspec.language.key_places import read_key_place
from faultspec.language.line_formats import LINE_FORMATS
from faultspec.language.model import (
    Alert,
    AlertRise,
    Concealment,
    Idempotency,
    Metric,
    Privacy,
    RecordedParts,
    RecordingRule,
    RetryPolicy,
    Telemetry,
    Unknown,
    Upstream,
    UpstreamCode,
)
from faultspec.language.schemas import read_members
from faultspec.language.scope import Data, Known, Scope, placed_items, word_tuple
from faultspec.language.wire import check_method, read_condition_rules
from faultspec.runtime import retry


def read_retry_policy(scope: Scope, name: str, data: Data) -> RetryPolicy:
    """A retry policy, with the codes and failures that it is for."""
    path: Path = ("retry_policies", name)
    return RetryPolicy(
        name=name,
        policy=_planner_policy(scope, name, data, path),
        summary=data.get("summary"),
        isolation=data.get("isolation"),
        annotate=scope.refer_key(data, "annotate", "detail key", path),
        eligible=scope.refer_keys(data, "eligible", "code", path),
        eligible_when=read_condition_rules(
            scope, data, "eligible_when", path, known_details=scope.names("detail_keys")
        ),
        kind_of=_kind_of_codes(scope, data.get("kinds", {}), (*path, "kinds")),
        source=scope.source(data.get("source"), path),
    )


def _planner_policy(scope: Scope, name: str, data: Data, path: Path) -> retry.Policy:
    phases = list(placed_items(data.get("backoff", []), (*path, "backoff")))
    jitter = data.get("jitter", {"kind": "none"})
    hint = data.get("retry_after", {"honor": False})
    hint_path: Path = (*path, "retry_after")
    budget = data.get("budget")
    return retry.Policy(
        name=name,
        max_attempts=data["max_attempts"],
        phases=tuple(
            _read_phase(scope, phase, at, last=at == phases[-1][0]) for at, phase in phases
        ),
        jitter=retry.Jitter(jitter["kind"], float(jitter.get("ratio", 0))),
        retry_after=retry.RetryAfterRule(
            honor=hint["honor"],
            max=scope.duration(hint, "max", hint_path),
            clamp=hint.get("beyond", "cap"),
            min_is_computed=hint.get("at_least_computed", False),
            over=scope.duration(hint, "over", hint_path),
        ),
        budget=retry.Budget(
            budget["tokens"], budget["cost"], idle_refund=budget.get("idle_refund", 1)
        )
        if budget
        else None,
        max_elapsed=scope.duration(data, "max_elapsed", path, positive=True),
        kinds={
            kind: retry.Kind(rule.get("cost"), scope.duration(rule, "base", (*path, "kinds", kind)))
            for kind, rule in data.get("kinds", {}).items()
        },
    )


def _kind_of_codes(scope: Scope, kinds: Data, path: Path) -> dict[str, str]:
    """The kind of failure of each code that has one; a code in two kinds is reported."""
    found: dict[str, str] = {}
    for kind, data in kinds.items():
        for index, code in enumerate(data.get("codes", ())):
            at: Path = (*path, kind, "codes", index)
            scope.refer(code, scope.code_names, "code", at)
            first = found.setdefault(code, kind)
            if first != kind:
                message = f"`{code}` is of the kind `{first}` already"
                scope.report(at, "duplicate-item", message, "name it in one of the two")
    return found


def _read_phase(scope: Scope, data: Data, path: Path, *, last: bool) -> retry.Phase:
    base = scope.duration(data, "base", path) or 0.0
    step = scope.duration(data, "step", path)
    if not last and "for" not in data:
        message = "a phase before the last one needs an end"
        needs = ((*path, "for"),)
        scope.report(path, "endless-phase", message, "add `for:`", on_key=True, needs=needs)
    return retry.Phase(
        kind=data["kind"],
        base=base,
        factor=float(data.get("factor", 2)),
        step=step if step is not None else base,
        max=scope.duration(data, "max", path),
        for_seconds=scope.duration(data, "for", path, positive=True),
    )


def read_idempotency(scope: Scope, data: Data) -> Idempotency:
    """The rule that makes repeated writes safe."""
    path: Path = ("idempotency",)
    replay = data.get("replay", {})
    methods = tuple(data.get("methods", ("POST",)))
    for index, method in enumerate(methods):
        check_method(scope, method, (*path, "methods", index))
    mismatch: str | None = data.get("mismatch", "unspecified")
    if mismatch != "unspecified":
        mismatch = scope.refer(str(mismatch), scope.names("codes"), "code", (*path, "mismatch"))
    missing: str | None = data.get("missing", "unspecified")
    if missing not in ("unspecified", "accepted"):
        missing = scope.refer(str(missing), scope.names("codes"), "code", (*path, "missing"))
    if missing != "unspecified" and _is_only_in_paths(scope, data["key"]):
        message = "the key is in the path, so no request lacks it"
        hint = "remove `missing`: without the key a request has another route"
        scope.report((*path, "missing"), "contradiction", message, hint, on_key=True)
        missing = "unspecified"
    return Idempotency(
        key=read_key_place(scope, data["key"], (*path, "key")),
        methods=methods,
        window=scope.duration(data, "window", path, positive=True),
        equal=tuple(replay.get("equal", ("status", "body"))),
        headers=tuple(replay.get("headers", ())),
        mismatch=None if mismatch == "unspecified" else mismatch,
        default=data.get("default"),
        refusals=data.get("refusals", "unspecified"),
        missing=None if missing == "unspecified" else missing,
        source=scope.source(data.get("source"), path),
    )


def _is_only_in_paths(scope: Scope, key: object) -> bool:
    """Whether the key is in the path, on every surface and in every operation."""
    holders = (*scope.section("surfaces").values(), *scope.section("operations").values())
    own = (each["idempotency_key"] for each in holders if "idempotency_key" in each)
    return all(isinstance(place, Mapping) and "path" in place for place in (key, *own))


def _read_upstream_codes(scope: Scope, data: Data, path: Path) -> tuple[UpstreamCode, ...]:
    """The rows of the table; a table whose last row does not fit all is reported."""
    rows = []
    for at, row in placed_items(data.get("codes", []), path):
        scope.refer_key(row, "becomes", "shared code", at)
        theirs = row.get("code", ())
        rows.append(
            UpstreamCode(
                becomes=row["becomes"],
                upstreams=word_tuple(row.get("from")),
                statuses=scope.statuses(row.get("status", []), (*at, "status")),
                codes=tuple(theirs) if isinstance(theirs, list | tuple) else (theirs,),
                source=scope.source(row.get("source"), at),
            )
        )
    if rows and not rows[-1].fits_all and not scope.is_touched(path):
        message = "no row fits a failure that the others do not name"
        hint = "add a last row that has only `becomes`, such as `- {becomes: CODE}`"
        scope.report(path, "no-fallback", message, hint, on_key=True)
    return tuple(rows)


def read_upstream(scope: Scope, data: Data) -> Upstream:
    """The rule for calls of services behind this one."""
    path: Path = ("upstream",)
    return Upstream(
        retry=scope.refer_key(data, "retry", "retry policy", path),
        default=data.get("default"),
        keys=tuple(data.get("keys", ())),
        source=scope.source(data.get("source"), path),
        status=scope.refer_key(data, "status", "detail key", path),
        codes=_read_upstream_codes(scope, data, (*path, "codes")),
    )


def read_privacy(scope: Scope, data: Data) -> Privacy:
    """The rules on what errors must not contain."""
    path: Path = ("privacy",)
    for index, pattern in enumerate(data.get("internal_names", ())):
        at: Path = (*path, "internal_names", index)
        if scope.expression(pattern, at, re.IGNORECASE) is not None and re.search(pattern, ""):
            message = "this regular expression matches the empty string, and so every text"
            scope.report(at, "bad-pattern", message, "require at least one character")
    conceal = []
    for at, rule in placed_items(data.get("conceal", []), (*path, "conceal")):
        scope.refer_key(rule, "answer", "shared code", at)
        never = scope.refer_keys(rule, "never", "shared code", at)
        source = scope.source(rule.get("source"), at)
        conceal.append(Concealment(rule["across"], rule["answer"], never, source))
    return Privacy(
        detectors=tuple(data.get("detectors", DETECTORS)),
        never_echoed=tuple(data.get("never_echoed", ())),
        conceal=tuple(conceal),
        internal_names=tuple(data.get("internal_names", ())),
        source=scope.source(data.get("source"), path),
    )


def read_telemetry(scope: Scope, data: Data) -> Telemetry:
    """The observability contract."""
    path: Path = ("telemetry",)
    metrics = {
        name: Metric(
            name=name,
            kind=metric["kind"],
            labels=tuple(metric.get("labels", ())),
            summary=metric["summary"],
            counts=metric.get("counts"),
            source=scope.source(metric.get("source"), (*path, "metrics", name)),
        )
        for name, metric in data.get("metrics", {}).items()
    }
    log = read_members(scope, data.get("log", {}), (*path, "log"))
    span = dict(data.get("span", {}))
    labels = [label for metric in metrics.values() for label in metric.labels]
    named: Known = tuple(dict.fromkeys((*labels, *log, *span)))
    if any(scope.is_touched((*path, section)) for section in ("metrics", "log", "span")):
        named = None
    return Telemetry(
        metrics=metrics,
        log=log,
        span=span,
        alerts={
            name: _read_alert(scope, name, alert) for name, alert in data.get("alerts", {}).items()
        },
        means=scope.refer_means(
            data, named, "label, log member or span attribute", path, extra=("retryable",)
        ),
        runbooks=data.get("runbooks"),
        records={
            name: _read_recording(scope, name, record)
            for name, record in data.get("records", {}).items()
        },
        source=scope.source(data.get("source"), path),
    )


def _read_alert(scope: Scope, name: str, data: Data) -> Alert:
    path: Path = ("telemetry", "alerts", name)
    rise = data.get("rise")
    if rise and "threshold" in data:
        message = f"`{name}` has both `threshold` and `rise`, and an alert has one of them"
        hint = "make two alerts of it"
        scope.report((*path, "rise"), "contradiction", message, hint, on_key=True)
    return Alert(
        name=name,
        severity=data["severity"],
        when=data["when"],
        codes=scope.refer_keys(data, "codes", "code", path),
        statuses=scope.statuses(data.get("statuses", []), (*path, "statuses")),
        threshold=data.get("threshold"),
        window=scope.duration(data, "window", path, positive=True),
        runbook=tuple(data["runbook"]),
        rise=None if rise is None else _read_rise(scope, rise, (*path, "rise")),
        lasting=scope.duration(data, "for", path),
        source=scope.source(data.get("source"), path),
    )


def _read_rise(scope: Scope, data: Data, path: Path) -> AlertRise:
    over = scope.duration(data, "over", path, positive=True)
    return AlertRise(float(data["times"]), over or 1.0, data.get("at_least", 1))


#: The keys for the duration of an exchange, with their units in seconds.
_UNITS = {"seconds": 1.0, "milliseconds": 0.001}


def _read_recording(scope: Scope, name: str, data: Data) -> RecordingRule:
    path: Path = ("telemetry", "records", name)
    for slot in data.get("slots", {}):
        scope.refer(slot, scope.known_slots, "slot", (*path, "slots", slot), on_key=True)
    contradictions = []
    if "seconds" in data and "milliseconds" in data:
        contradictions.append(("milliseconds", "its duration both in seconds and in milliseconds"))
    if "body" in data.get("response", {}) and "slots" in data:
        contradictions.append(("slots", "both the whole body of the response and its slots"))
    for key, what in contradictions:
        message = f"`{name}` has {what}"
        hint = "keep one of the two"
        scope.report((*path, key), "contradiction", message, hint, on_key=True)
    steps = placed_items(data.get("unwrap", []), (*path, "unwrap"))
    return RecordingRule(
        name=name,
        unwrap=tuple(_read_step(scope, at, step) for at, step in steps),
        when=data.get("when", {}),
        status=data["status"],
        url=data["url"],
        method=data.get("method"),
        route=data.get("route"),
        elapsed=next(((data[key], unit) for key, unit in _UNITS.items() if key in data), None),
        time=data.get("time"),
        service=data.get("service"),
        request=RecordedParts(**data.get("request", {})),
        response=RecordedParts(**data.get("response", {})),
        slots=data.get("slots", {}),
        source=scope.source(data.get("source"), path),
    )


def _read_step(scope: Scope, path: Path, step: str) -> str:
    """A step from a line to its record."""
    if step.startswith("/"):
        if not re.fullmatch(str(POINTER.pattern), step):
            hint = "write `~0` for `~` and `~1` for `/` in a key"
            scope.report(path, "bad-pattern", f"`{step}` is not a JSON Pointer", hint)
    elif (
        step not in LINE_FORMATS
        and scope.expression(step, path) is not None
        and not re.compile(step).groupindex
    ):
        names = ", ".join(LINE_FORMATS)
        message = f"`{step}` is not a format of lines, and an expression without named groups"
        hint = f"name one of {names}, or write groups such as `(?P<status>[0-9]+)`"
        scope.report(path, "bad-pattern", message, hint)
    return step


def read_unknown(scope: Scope, section: str) -> Unknown | None:
    """The `unknown:` or `undeclared:` rule; None if the taxonomy does not have it."""
    if section not in scope.data:
        return None
    data = scope.section(section)
    scope.refer_key(data, "becomes", "shared code", (section,))
    return Unknown(
        becomes=data["becomes"],
        retriable=data.get("retriable", False),
        original_code=data.get("original_code"),
        source=scope.source(data.get("source"), (section,)),
    )
