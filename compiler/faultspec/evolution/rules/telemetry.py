"""Evolution rules about telemetry: metrics, log records, spans, alerts and recorded lines."""

from collections.abc import Iterator, Sequence
from typing import Any

from faultspec.diagnostics.model import Path
from faultspec.evolution.model import Audience, Effect
from faultspec.evolution.promises import (
    compare_presence,
    compress,
    expand,
    format_value,
    join_values,
    replacement_message,
    split_values,
)
from faultspec.evolution.rule import Evolution, Occurrence, evolution_rule
from faultspec.language.conditions import StatusRange
from faultspec.language.model import Alert, Metric, Schema, Telemetry

OPERATORS: tuple[Audience, ...] = ("operators",)
_EMPTY = Telemetry({}, {}, {}, {})


def _telemetry(evolution: Evolution) -> tuple[Telemetry, Telemetry]:
    return evolution.old.telemetry or _EMPTY, evolution.new.telemetry or _EMPTY


@evolution_rule(
    "telemetry/metric",
    "OPS",
    reads=(
        "Taxonomy.telemetry",
        "Telemetry.metrics",
        "Metric.name",
        "Metric.kind",
        "Metric.labels",
        "Metric.counts",
    ),
)
def telemetry_metric(evolution: Evolution) -> Iterator[Occurrence]:
    """Dashboards and alerts read metrics by name, and group them by labels."""
    old, new = _telemetry(evolution)
    for name in dict.fromkeys((*old.metrics, *new.metrics)):
        path: Path = ("telemetry", "metrics", name)
        before, after = old.metrics.get(name), new.metrics.get(name)
        if before is None:
            yield Occurrence(
                path,
                Effect("safe", f"the metric `{name}` is new", adds=True),
                covers=(("telemetry",),) if evolution.old.telemetry is None else (),
            )
        elif after is None:
            yield Occurrence(
                path,
                Effect("breaking", f"the metric `{name}` is gone", OPERATORS),
                covers=(("telemetry",),) if evolution.new.telemetry is None else (),
            )
        else:
            for field, effect in _metric_effects(before, after):
                yield Occurrence(
                    (*path, field), effect, getattr(before, field), getattr(after, field)
                )


def _metric_effects(old: Metric, new: Metric) -> Iterator[tuple[str, Effect]]:
    if old.kind != new.kind:
        yield (
            "kind",
            Effect(
                "breaking",
                f"the metric `{new.name}` is a {new.kind} in place of a {old.kind}",
                OPERATORS,
            ),
        )
    gone, more = split_values(old.labels, new.labels)
    if gone:
        yield (
            "labels",
            Effect(
                "breaking",
                f"the metric `{new.name}` lost the labels {join_values(gone)}",
                OPERATORS,
            ),
        )
    elif more:
        message = (
            f"the metric `{new.name}` has the new labels {join_values(more)}: more series, and"
            " other groups"
        )
        yield "labels", Effect("risky", message, OPERATORS, adds=True)
    if old.counts != new.counts:
        message = replacement_message(
            f"what the metric `{new.name}` counts", new.counts, old.counts
        )
        yield "counts", Effect("breaking", message, OPERATORS)


@evolution_rule(
    "telemetry/log", "OPS", reads=("Telemetry.log", "DetailMember.presence", "DetailMember.schema")
)
def telemetry_log(evolution: Evolution) -> Iterator[Occurrence]:
    """Queries and alerts read the members of log records."""
    old, new = _telemetry(evolution)
    for name in dict.fromkeys((*old.log, *new.log)):
        before, after = old.log.get(name), new.log.get(name)
        path: Path = ("telemetry", "log", name)
        effect = compare_presence(
            before and before.presence,
            after and after.presence,
            f"the member `{name}` of log records",
        )
        if before is not None and after is None:
            effect = Effect("breaking", f"the member `{name}` of log records is gone", OPERATORS)
        elif before is None and effect is not None:
            effect = Effect("safe", effect.message, adds=True)
        if effect is not None:
            yield Occurrence(
                path,
                effect._replace(breaks=OPERATORS if "clients" in effect.breaks else effect.breaks),
            )
    for path, before, after in evolution.record_pairs(Schema):
        if path[:2] == ("telemetry", "log"):
            message = f"the member `{path[2]}` of log records has another form"
            if before._replace(description=None) != after._replace(description=None):
                yield Occurrence(path, Effect("breaking", message, OPERATORS))


@evolution_rule("telemetry/span", "OPS", reads=("Telemetry.span", "Telemetry.means"))
def telemetry_span(evolution: Evolution) -> Iterator[Occurrence]:
    """Traces are searched by attributes, and labels, members and attributes repeat parts of an
    error."""
    old, new = _telemetry(evolution)
    for field in ("span", "means"):
        before, after = getattr(old, field), getattr(new, field)
        for name in dict.fromkeys((*before, *after)):
            if before.get(name) == after.get(name):
                continue
            path: Path = ("telemetry", field, name)
            what = f"the span attribute `{name}`" if field == "span" else f"the meaning of `{name}`"
            if name not in before:
                yield Occurrence(path, Effect("safe", f"{what} is new", adds=True))
            elif name not in after:
                yield Occurrence(path, Effect("breaking", f"{what} is gone", OPERATORS))
            elif field == "span":
                message = f"{what} is described differently"
                yield Occurrence(
                    path, Effect("safe", message, (), ("DOC",)), before[name], after[name]
                )
            else:
                message = replacement_message(what, after[name], before[name])
                yield Occurrence(
                    path, Effect("breaking", message, OPERATORS), before[name], after[name]
                )


@evolution_rule(
    "telemetry/alert",
    "OPS",
    reads=(
        "Telemetry.alerts",
        "Alert.name",
        "Alert.severity",
        "Alert.codes",
        "Alert.statuses",
        "Alert.threshold",
        "Alert.window",
        "Alert.rise",
        "Alert.lasting",
        "AlertRise.times",
        "AlertRise.over",
        "AlertRise.at_least",
        "Alert.when",
        "Alert.runbook",
        "Telemetry.runbooks",
    ),
)
def telemetry_alert(evolution: Evolution) -> Iterator[Occurrence]:
    """An alert wakes people. One that is gone, or that fires later, lets failures pass."""
    old, new = _telemetry(evolution)
    for name in dict.fromkeys((*old.alerts, *new.alerts)):
        path: Path = ("telemetry", "alerts", name)
        before, after = old.alerts.get(name), new.alerts.get(name)
        if before is None:
            yield Occurrence(path, Effect("safe", f"the alert `{name}` is new", adds=True))
        elif after is None:
            yield Occurrence(path, Effect("breaking", f"the alert `{name}` is gone", OPERATORS))
        else:
            yield from _alert_occurrences(path, before, after)
    if old.runbooks != new.runbooks:
        message = f"the runbooks are at {format_value(new.runbooks)}"
        yield Occurrence(
            ("telemetry", "runbooks"), Effect("safe", message), old.runbooks, new.runbooks
        )


def _alert_occurrences(path: Path, old: Alert, new: Alert) -> Iterator[Occurrence]:
    for field in ("severity", "codes", "statuses", "threshold", "window", "rise", "lasting"):
        before, after = getattr(old, field), getattr(new, field)
        lists = field in ("codes", "statuses")
        same = set(before) == set(after) if lists else (before or 0) == (after or 0)
        if not same:
            message = f"the alert `{new.name}` {_alert_change(field, before, after)}"
            yield Occurrence((*path, field), Effect("risky", message, OPERATORS), before, after)
    for field in ("when", "runbook"):
        before, after = getattr(old, field), getattr(new, field)
        if before != after:
            message = f"`{field}` of the alert `{new.name}` is worded differently"
            yield Occurrence((*path, field), Effect("safe", message, (), ("DOC",)), before, after)


def _alert_change(field: str, before: Any, after: Any) -> str:
    """The predicate of a changed alert. A larger `threshold`, `lasting` or `rise` fires later."""
    if field == "severity":
        return f"has the severity {format_value(after)} in place of {format_value(before)}"
    if field in ("codes", "statuses"):
        gone, more = split_values(before, after)
        if field == "statuses":
            gone, more = _split_statuses(before, after)
        counts = f"also counts {join_values(more)}" if more else ""
        stops = f"no longer counts {join_values(gone)}" if gone else ""
        return " and ".join(filter(None, (counts, stops)))
    if field == "window":
        window = "nothing" if after is None else format_value(after, field)
        return f"counts over {window} in place of {format_value(before, field)}"
    if field == "rise" and before is not None and after is not None:
        bounds = [(rise.times, rise.at_least) for rise in (before, after)]
        later = all(b >= a for a, b in zip(*bounds, strict=True))
        earlier = all(b <= a for a, b in zip(*bounds, strict=True))
        when = "at other times" if later == earlier else "later" if later else "earlier"
        return (
            f"fires {when}: its `rise` is {format_value(after)} in place of {format_value(before)}"
        )
    if field == "lasting" or (before is not None and after is not None):
        when = "later" if (after or 0) > (before or 0) else "earlier"
        values = (format_value(value or 0, field) for value in (after, before))
        return (
            f"fires {when}: its `{_ALERT_KEYS.get(field, field)}` is {' in place of '.join(values)}"
        )
    return f"fires at other times: its `{field}` is {'gone' if after is None else 'new'}"


#: The keys of the language for fields with another name.
_ALERT_KEYS = {"lasting": "for"}


def _split_statuses(
    before: Sequence[StatusRange], after: Sequence[StatusRange]
) -> tuple[list[StatusRange], list[StatusRange]]:
    """The statuses that are gone and those that are new, as ranges."""
    old, new = expand(before), expand(after)
    return list(compress(old - new)), list(compress(new - old))


@evolution_rule(
    "telemetry/lines",
    "OPS",
    reads=(
        "Telemetry.records",
        "RecordingRule.name",
        "RecordingRule.when",
        "RecordingRule.unwrap",
        "RecordingRule.status",
        "RecordingRule.url",
        "RecordingRule.method",
        "RecordingRule.route",
        "RecordingRule.elapsed",
        "RecordingRule.time",
        "RecordingRule.service",
        "RecordingRule.request",
        "RecordingRule.response",
        "RecordingRule.slots",
        "RecordedParts.headers",
        "RecordedParts.body",
    ),
)
def telemetry_lines(evolution: Evolution) -> Iterator[Occurrence]:
    """Readers of access logs find the parts of an exchange at these places of a line."""
    old, new = _telemetry(evolution)
    kept = [[n for n in t.records if n in o.records] for t, o in ((old, new), (new, old))]
    if kept[0] != kept[1]:
        message = "kinds of lines are tried in another order, and the first that matches counts"
        yield Occurrence(("telemetry", "records"), Effect("breaking", message, OPERATORS))
    for name in dict.fromkeys((*old.records, *new.records)):
        before, after = old.records.get(name), new.records.get(name)
        path: Path = ("telemetry", "records", name)
        if before is None:
            yield Occurrence(path, Effect("safe", f"lines of the kind `{name}` are new", adds=True))
        elif after is None:
            yield Occurrence(
                path, Effect("breaking", f"lines of the kind `{name}` are gone", OPERATORS)
            )
        elif before != after:
            fields = [
                f
                for f in before._fields
                if f != "source" and getattr(before, f) != getattr(after, f)
            ]
            if fields:
                message = f"lines of the kind `{name}` have {join_values(fields)} elsewhere"
                yield Occurrence(path, Effect("breaking", message, OPERATORS))
