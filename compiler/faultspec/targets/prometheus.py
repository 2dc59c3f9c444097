"""The Prometheus target: alert rules over the metrics that the telemetry declares, and a runbook
stub for each alert.

Names are what OpenTelemetry makes of them for Prometheus (OpenTelemetry specification, "Prometheus
and OpenMetrics Compatibility"): what may not stand in a name becomes ``_``, a counter ends in
``_total``, and requests in a histogram are its ``_count``. An alert has a rule where the taxonomy
says enough for one; the stub of any other says what is missing.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from faultspec.language.conditions import StatusRange
from faultspec.language.model import Alert, Code, Metric, Taxonomy, Telemetry
from faultspec.targets.filters import visible
from faultspec.targets.model import Model


class Label(NamedTuple):
    """A label or an annotation of an alert; the text of an annotation is a template of
    Prometheus.
    """

    name: str
    value: str


class AlertRule(NamedTuple):
    """An alert. ``expression``: lines of PromQL; ``lasting``: how long it holds before it fires, as
    ``2m``, or None.
    """

    name: str
    expression: tuple[str, ...]
    lasting: tuple[str, ...]
    labels: tuple[Label, ...]
    annotations: tuple[Label, ...]


class Runbook(NamedTuple):
    """A page. ``rule``: the rule of its alert, or the declaration that it lacks. ``pages``: the
    runbooks of its codes, by name.
    """

    name: str
    alert: Alert
    rule: AlertRule | str
    pages: Mapping[str, str]


class RunbookFile(NamedTuple):
    """A file of rules."""

    name: str


class PrometheusView(NamedTuple):
    """``group``: the group of the rules. ``files``: one, or none where no alert says enough for a
    rule.
    """

    group: str
    rules: tuple[AlertRule, ...]
    runbooks: tuple[Runbook, ...]
    files: tuple[RunbookFile, ...]


def view(taxonomy: Taxonomy, model: Model) -> PrometheusView | None:
    """The rules and the stubs, or None without alerts."""
    telemetry = taxonomy.telemetry
    if telemetry is None or not telemetry.alerts:
        return None
    rules = tuple(_rule(alert, telemetry, taxonomy) for alert in telemetry.alerts.values())
    kept = tuple(each for each in rules if isinstance(each, AlertRule))
    pages = tuple(
        Runbook(
            alert.name,
            alert,
            rule,
            {
                code.name: code.support.runbook
                for code in _counted_codes(alert, taxonomy)
                if code.support.runbook
            },
        )
        for alert, rule in zip(telemetry.alerts.values(), rules, strict=True)
    )
    return PrometheusView(
        group=taxonomy.name,
        rules=kept,
        runbooks=pages,
        files=(RunbookFile("alerts"),) if kept else (),
    )


def missing_declaration(alert: Alert, telemetry: Telemetry, taxonomy: Taxonomy) -> str | None:
    """The declaration that an alert lacks for a rule, or None if it is complete."""
    expression = _expression(alert, telemetry, taxonomy)
    return expression if isinstance(expression, str) else None


def _rule(alert: Alert, telemetry: Telemetry, taxonomy: Taxonomy) -> AlertRule | str:
    """The rule of an alert, or the declaration that it lacks."""
    expression = _expression(alert, telemetry, taxonomy)
    if isinstance(expression, str):
        return expression
    codes = tuple(_counted_codes(alert, taxonomy))
    owners = {code.support.owner or taxonomy.owner for code in codes}
    steps = "\n".join(f"{number}. {visible(step)}" for number, step in enumerate(alert.runbook, 1))
    return AlertRule(
        name=alert.name,
        expression=expression,
        lasting=() if alert.lasting is None else (_duration(alert.lasting),),
        labels=(
            Label("severity", _escape_template(alert.severity)),
            Label("taxonomy", taxonomy.name),
            *(
                Label("owner", _escape_template(owner))
                for owner in _only_value(owners or {taxonomy.owner})
            ),
        ),
        annotations=(
            Label("summary", _escape_template(visible(alert.when))),
            Label("description", _escape_template(steps)),
            Label(
                "runbook_url",
                _escape_template(
                    next(
                        _only_value({code.support.runbook for code in codes}),
                        f"{telemetry.runbooks or 'runbooks/'}{alert.name}.md",
                    )
                ),
            ),
        ),
    )


def _escape_template(text: str) -> str:
    """The text as a template of Prometheus that comes to it: labels and annotations are templates
    of Go.
    """
    return text.replace("{{", '{{ "{{" }}')


def _expression(alert: Alert, telemetry: Telemetry, taxonomy: Taxonomy) -> tuple[str, ...] | str:
    if alert.window is None:
        return "over which `window:` it looks"
    if not (alert.codes or alert.statuses):
        return "which `codes:` or `statuses:` it counts"
    counter = _counting_metric(alert, telemetry)
    if counter is None:
        asked = [
            name for name, given in (("$code", alert.codes), ("$status", alert.statuses)) if given
        ]
        labels = " and one that means ".join(asked)
        return f"which metric counts them: one with `counts:` and a label that `means:` {labels}"
    window = _duration(alert.window)
    counted = f"{_series(counter)}{{{', '.join(_matchers(alert, counter, telemetry, taxonomy))}}}"
    if alert.threshold is not None:
        whole = next(
            (metric for metric in telemetry.metrics.values() if metric.counts == "requests"), None
        )
        if whole is None:
            return "which metric `counts: requests`, of which it is a share"
        share = (f"sum(rate({counted}[{window}]))", "/", f"sum(rate({_series(whole)}[{window}]))")
        return (*share, f"> {_number(alert.threshold)}")
    if alert.rise is not None:
        before = f"sum(rate({counted}[{_duration(alert.rise.over)}] offset {window}))"
        limit = f"{_number(alert.rise.times)} * ({before} or vector(0))"
        return (
            f"sum(rate({counted}[{window}])) > {limit}",
            "and",
            f"sum(increase({counted}[{window}])) >= {alert.rise.at_least}",
        )
    return "above which `threshold:`, or on which `rise:`, it fires"


def _counting_metric(alert: Alert, telemetry: Telemetry) -> Metric | None:
    """The first metric that counts and has a label for everything that the alert selects by."""
    wanted = {*(("$code",) if alert.codes else ()), *(("$status",) if alert.statuses else ())}
    return next(
        (
            metric
            for metric in telemetry.metrics.values()
            if metric.counts is not None
            and metric.kind in ("counter", "histogram")
            and wanted <= {telemetry.means.get(label) for label in metric.labels}
        ),
        None,
    )


def _matchers(
    alert: Alert, counter: Metric, telemetry: Telemetry, taxonomy: Taxonomy
) -> Iterator[str]:
    """The labels that an alert selects by, and the values it wants."""
    values = {
        "$code": [
            re.sub(r"[\\^$.*+?()\[\]{}|]", r"\\\g<0>", wire) for wire in _wires(alert, taxonomy)
        ],
        "$status": [pattern for status in alert.statuses for pattern in _statuses(status)],
    }
    for meaning, wanted in values.items():
        label = next(
            (each for each in counter.labels if telemetry.means.get(each) == meaning), None
        )
        if wanted and label is not None:
            yield f"{_name(label)}=~{_quote('|'.join(dict.fromkeys(wanted)))}"


def _wires(alert: Alert, taxonomy: Taxonomy) -> Iterator[str]:
    """The values of the code slot for the codes of an alert, with operations' own."""
    return (str(code.wire) for code in _counted_codes(alert, taxonomy))


def _counted_codes(alert: Alert, taxonomy: Taxonomy) -> Iterator[Code]:
    """The codes of an alert, with operations' own."""
    for name in alert.codes:
        if name in taxonomy.codes:
            yield taxonomy.codes[name]
        for operation in taxonomy.operations.values():
            if name in operation.errors:
                yield operation.errors[name]


def _only_value(values: set[str | None]) -> Iterator[str]:
    """The one value that all codes of an alert have, if there is one."""
    if len(values) == 1:
        yield from (value for value in values if value is not None)


def _statuses(span: StatusRange) -> Iterator[str]:
    if str(span).endswith("xx"):
        yield f"{span.low // 100}.."
    else:
        yield from map(str, range(span.low, span.high + 1))


def _series(metric: Metric) -> str:
    name = _name(metric.name)
    suffix = "_count" if metric.kind == "histogram" else "_total"
    return name if name.endswith(suffix) else name + suffix


def _name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]+", "_", name)


def _quote(text: str) -> str:
    """A string of PromQL, with the escapes of Go."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _number(value: float) -> str:
    return f"{value:.10f}".rstrip("0").rstrip(".")


def _duration(seconds: float) -> str:
    """A duration of Prometheus in whole units; at least a millisecond, because a range is never
    empty.
    """
    for unit, length in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)):
        if round(seconds * 1000) % length == 0 and seconds:
            return f"{round(seconds * 1000) // length}{unit}"
    return f"{round(seconds * 1000)}ms" if seconds >= 0.001 else "0s" if not seconds else "1ms"
