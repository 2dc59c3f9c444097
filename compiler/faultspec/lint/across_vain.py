"""Of the rules on what two constructs say together, those on what is declared in vain."""

from faultspec.lint import conditions, vain
from faultspec.lint.rule import LintRule

VAIN: tuple[LintRule, ...] = (
    LintRule(
        "details-without-place",
        "error",
        "What a code requires among its details has a place in an envelope of it, or it is lost on the wire.",
        vain.details_without_place,
        bad="""\
envelopes:
  error: {shape: {code: $code, message: $message}}
codes:
  limited: {summary: Too many requests., http: 429, details: {limit: {type: integer}}}
""",
        good="""\
envelopes:
  error: {shape: {code: $code, message: $message, "...": $details}}
codes:
  limited: {summary: Too many requests., http: 429, details: {limit: {type: integer}}}
""",
    ),
    LintRule(
        "flag-without-place",
        "warning",
        "A retry flag that each answer decides (`retriable: caller`) stands in an envelope of its code.",
        vain.flag_without_place,
        bad="""\
codes:
  busy: {summary: Too much to do., http: 503, retriable: caller}
""",
        good="""\
envelopes:
  error: {shape: {code: $code, retry: $retriable}}
codes:
  busy: {summary: Too much to do., http: 503, retriable: caller}
""",
    ),
    LintRule(
        "alert-without-rule",
        "warning",
        "An alert that says which errors it counts says enough for a rule of Prometheus.",
        vain.alert_without_rule,
        bad="""\
codes:
  failed: {summary: It failed., http: 500}
telemetry:
  metrics:
    errors: {kind: counter, labels: [code], counts: errors, summary: Failed requests.}
    requests: {kind: counter, counts: requests, summary: Requests.}
  alerts:
    failing: {severity: P1, when: Much fails., codes: [failed], window: 5m, runbook: [Look at the log.]}
  means: {code: $code}
""",
        good="""\
codes:
  failed: {summary: It failed., http: 500}
telemetry:
  metrics:
    errors: {kind: counter, labels: [code], counts: errors, summary: Failed requests.}
    requests: {kind: counter, counts: requests, summary: Requests.}
  alerts:
    failing: {severity: P1, when: Much fails., codes: [failed], threshold: 0.01, window: 5m, runbook: [Look at the log.]}
  means: {code: $code}
""",
    ),
    LintRule(
        "condition-twice",
        "error",
        "The first rule whose condition holds decides, so a later one asks for something that none above it covers.",
        conditions.condition_twice,
        bad="""\
codes:
  upstream:
    summary: Another service failed.
    http: [502, 503]
    retriable: {when: [{if: {status: 5xx}, then: false}, {if: {status: 503}, then: true}], else: false}
""",
        good="""\
codes:
  upstream:
    summary: Another service failed.
    http: [502, 503]
    retriable: {when: [{if: {status: 503}, then: true}, {if: {status: 5xx}, then: false}], else: false}
""",
    ),
    LintRule(
        "condition-impossible",
        "error",
        "A condition asks for what may be: a detail of its code, a value that the detail may have, a status of the code.",
        conditions.condition_impossible,
        bad="""\
codes:
  away:
    summary: Nobody is there.
    http: 503
    retriable: {when: [{if: {status: 404}, then: false}], else: true}
""",
        good="""\
codes:
  away:
    summary: Nobody is there.
    http: [503, 404]
    retriable: {when: [{if: {status: 404}, then: false}], else: true}
""",
    ),
    LintRule(
        "fact-breaks-field",
        "error",
        "What a code itself puts into a slot (itself, its sentence, its domain) fits that field in an envelope of it.",
        vain.fact_breaks_field,
        bad="""\
envelopes:
  error: {shape: {code: $code, message: $message}, fields: {message: {type: string, maxLength: 10}}}
codes:
  failed: {summary: It failed., message: Something went wrong on our side, http: 500}
""",
        good="""\
envelopes:
  error: {shape: {code: $code, message: $message}, fields: {message: {type: string, maxLength: 40}}}
codes:
  failed: {summary: It failed., message: Something went wrong on our side, http: 500}
""",
    ),
    LintRule(
        "example-without-header",
        "warning",
        "An example shows the headers that its code requires, and one that shows headers all that must be there.",
        vain.example_without_header,
        bad="""\
codes:
  stale: {summary: It changed., http: 412, headers: {ETag: required}, example: {message: It changed.}}
""",
        good="""\
codes:
  stale: {summary: It changed., http: 412, headers: {ETag: required}, example: {headers: {ETag: '"7"'}}}
""",
    ),
    LintRule(
        "surface-without-errors",
        "error",
        "Something tells an error on a surface: what its answer holds, or a status under which a code of the surface travels.",
        vain.surface_without_errors,
        bad="""\
surfaces:
  api: {transport: http, error_when: {status: 2xx}, envelope: error, codes: closed}
codes:
  failed: {summary: It failed., http: 500}
""",
        good="""\
surfaces:
  api: {transport: http, error_when: {status: 5xx}, envelope: error, codes: closed}
codes:
  failed: {summary: It failed., http: 500}
""",
    ),
    LintRule(
        "operation-twice",
        "warning",
        "A request is of one operation: no two claim the same route and method.",
        vain.operation_twice,
        bad="""\
codes:
  missing: {summary: It is not there., http: 404}
operations:
  read: {match: {routes: ["GET /orders/{id}"]}, codes: [missing]}
  show: {match: {routes: ["GET /orders/{order}"]}, codes: [missing]}
""",
        good="""\
codes:
  missing: {summary: It is not there., http: 404}
operations:
  read: {match: {routes: ["GET /orders/{id}"]}, codes: [missing]}
  cancel: {match: {routes: ["DELETE /orders/{id}"]}, codes: [missing]}
""",
    ),
)
