"""Lint rules about alerts and the audit record."""

from collections.abc import Iterator

from faultspec.language.model import IMPLIED, Taxonomy
from faultspec.lint.places import with_integers
from faultspec.lint.rule import Remark, Subject, rule


@rule("alert-without-rule", severity="warning")
def alert_without_rule(subject: Subject) -> Iterator[Remark]:
    """An alert with codes or statuses declares everything that a Prometheus rule needs.

    Bad::

        codes:
          failed: {summary: It failed., http: 500}
        telemetry:
          metrics:
            errors: {kind: counter, labels: [code], counts: errors, summary: Failed requests.}
            requests: {kind: counter, counts: requests, summary: Requests.}
          alerts:
            failing: {severity: P1, when: Much fails., codes: [failed], window: 5m,
                runbook: [Look at the log.]}
          means: {code: $code}

    Good::

        codes:
          failed: {summary: It failed., http: 500}
        telemetry:
          metrics:
            errors: {kind: counter, labels: [code], counts: errors, summary: Failed requests.}
            requests: {kind: counter, counts: requests, summary: Requests.}
          alerts:
            failing: {severity: P1, when: Much fails., codes: [failed], threshold: 0.01,
                window: 5m, runbook: [Look at the log.]}
          means: {code: $code}
    """
    taxonomy, telemetry = subject.taxonomy, subject.taxonomy.telemetry
    alerts = telemetry.alerts.values() if telemetry is not None else ()
    counting = [alert for alert in alerts if alert.codes or alert.statuses]
    if telemetry is None or not counting:
        return
    # Imported here, so that a taxonomy without alerts does not load a target.
    from faultspec.targets.prometheus import missing_declaration

    for alert in counting:
        missing = missing_declaration(alert, telemetry, taxonomy)
        if missing is not None:
            message = f"`{alert.name}` never fires: the taxonomy does not declare {missing}"
            hint = "add it; without it the alert is only a runbook"
            yield Remark(("telemetry", "alerts", alert.name), message, hint)


@rule("audit-type", severity="error")
def audit_type(subject: Subject) -> Iterator[Remark]:
    """A member of the audit record has the type of the slot or detail that it repeats.

    Bad::

        codes:
          failed: {summary: It failed., http: 500}
        audit: {record: {class: {type: integer}}, means: {class: $code}}

    Good::

        codes:
          failed: {summary: It failed., http: 500}
        audit: {record: {class: {type: string}}, means: {class: $code}}
    """
    audit = subject.taxonomy.audit
    if audit is None:
        return
    for member, origin in audit.means.items():
        recorded = audit.record[member].schema.types
        repeated = _repeated_types(subject.taxonomy, origin)
        if recorded and repeated and not with_integers(recorded) & with_integers(repeated):
            message = (
                f"`{member}` is {' or '.join(recorded)}, but repeats `{origin}`, which is"
                f" {' or '.join(repeated)}"
            )
            where = subject.member_path(("audit", "record"), member)
            yield Remark(where, message, "give both the same type, or repeat something else")


def _repeated_types(taxonomy: Taxonomy, origin: str) -> tuple[str, ...]:
    """The types that a slot or a detail may have; empty if nothing declares them."""
    if not origin.startswith("$"):
        key = taxonomy.detail_keys.get(origin.removeprefix("details."))
        return key.schema.types if key else ()
    slot = origin[1:]
    if slot == "code":
        wires = [code.wire for code in taxonomy.every_code() if code.live]
        return tuple({"integer" if isinstance(wire, int) else "string" for wire in wires})
    types = [field.schema.types for field in taxonomy.fields() if field.slot == slot]
    if types and all(types):
        return tuple(dict.fromkeys(name for names in types for name in names))
    return IMPLIED[slot].types if slot in IMPLIED else ()
