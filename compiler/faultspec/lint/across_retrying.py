"""Of the rules on what two constructs say together, those on retrying."""

from faultspec.lint import around, retries
from faultspec.lint.rule import LintRule

RETRYING: tuple[LintRule, ...] = (
    LintRule(
        "retriable-without-else",
        "warning",
        "A flag that goes by rules says what it is where none of them holds.",
        retries.retriable_without_else,
        bad="""\
codes:
  upstream: {summary: Another service failed., http: 502, retriable: {when: [{if: {status: 502}, then: true}]}}
""",
        good="""\
codes:
  upstream: {summary: Another service failed., http: 502, retriable: {when: [{if: {status: 502}, then: true}], else: false}}
""",
    ),
    LintRule(
        "retriable-without-action",
        "error",
        "What may be sent again suggests an action that does so, where actions say that they do.",
        retries.retriable_without_action,
        bad="""\
actions:
  retry: {summary: Run it again., sends_again: true}
  settings: Open the settings.
codes:
  away: {summary: Nobody is there., http: 503, retriable: true, actions: [settings]}
  refused: {summary: It was refused., http: 400, retriable: false, actions: [retry]}
""",
        good="""\
actions:
  retry: {summary: Run it again., sends_again: true}
  settings: Open the settings.
codes:
  away: {summary: Nobody is there., http: 503, retriable: true, actions: [retry, settings]}
""",
    ),
    LintRule(
        "eligible-never-retriable",
        "warning",
        "A policy retries no code of which its own flag says that it is never to be retried.",
        retries.eligible_never_retriable,
        bad="""\
retry_policies:
  own: {max_attempts: 4, eligible: [refused]}
codes:
  refused: {summary: It was refused., http: 400, retriable: false}
""",
        good="""\
retry_policies:
  own: {max_attempts: 4, eligible: [busy]}
codes:
  busy: {summary: Too much to do., http: 503, retriable: true}
""",
    ),
    LintRule(
        "retriable-not-eligible",
        "warning",
        "What may be retriable and is not retried by the policy it belongs to is left out on purpose, and that is said.",
        retries.retriable_not_eligible,
        bad="""\
retry_policies:
  own: {max_attempts: 4, eligible: [busy]}
upstream: {retry: own, keys: [Idempotency-Key]}
codes:
  busy: {summary: Too much to do., http: 503, retriable: true}
  away: {summary: Nobody is there., http: 503, retriable: true}
""",
        good="""\
retry_policies:
  own: {max_attempts: 4, eligible: [busy, away]}
upstream: {retry: own, keys: [Idempotency-Key]}
codes:
  busy: {summary: Too much to do., http: 503, retriable: true}
  away: {summary: Nobody is there., http: 503, retriable: true}
""",
    ),
    LintRule(
        "annotated-count",
        "error",
        "Retries are one fewer than attempts; what counts them is a whole number, goes exactly so far, and is a detail of a code.",
        retries.annotated_count,
        bad="""\
detail_keys:
  retried: {type: integer}
retry_policies:
  own: {max_attempts: 3, annotate: retried}
codes:
  busy:
    summary: Too much to do.
    http: 503
    retriable: true
    retry: own
    details: {retried?: {}}
    example: {details: {retried: 3}}
""",
        good="""\
detail_keys:
  retried: {type: integer}
retry_policies:
  own: {max_attempts: 4, annotate: retried}
codes:
  busy:
    summary: Too much to do.
    http: 503
    retriable: true
    retry: own
    details: {retried?: {}}
    example: {details: {retried: 3}}
""",
    ),
    LintRule(
        "deadline-detail",
        "error",
        "The detail that holds a budget is always there, and is a number of seconds.",
        retries.deadline_detail,
        bad="""\
codes:
  late:
    summary: It took too long.
    http: 504
    details: {budget?: {type: number}}
    deadline: {equals: details.budget}
""",
        good="""\
codes:
  late:
    summary: It took too long.
    http: 504
    details: {budget: {type: number}}
    deadline: {equals: details.budget}
""",
    ),
    LintRule(
        "mismatch-retriable",
        "error",
        "Who is told that one key came with two bodies is not told to send the same again: it never succeeds.",
        retries.mismatch_retriable,
        bad="""\
idempotency: {key: Idempotency-Key, methods: [POST], mismatch: reused}
codes:
  reused: {summary: The key came with another body., http: 409, retriable: true}
""",
        good="""\
idempotency: {key: Idempotency-Key, methods: [POST], mismatch: reused}
codes:
  reused: {summary: The key came with another body., http: 409, retriable: false}
""",
    ),
    LintRule(
        "unknown-contradicts-flag",
        "error",
        "What an unknown or undeclared error becomes is not called retriable where its code never is.",
        retries.unknown_contradicts_flag,
        bad="""\
codes:
  failed: {summary: It failed., http: 500, retriable: false}
unknown: {becomes: failed, retriable: true}
""",
        good="""\
codes:
  failed: {summary: It failed., http: 500, retriable: false}
unknown: {becomes: failed, retriable: false}
""",
    ),
    LintRule(
        "upstream-without-key",
        "warning",
        "Who retries calls to services behind it says what names one intent there, or retries no write.",
        around.upstream_without_key,
        bad="""\
retry_policies:
  own: {max_attempts: 4}
upstream: {retry: own}
codes:
  busy: {summary: Too much to do., http: 503, retriable: true, retry: own}
""",
        good="""\
retry_policies:
  own: {max_attempts: 4}
upstream: {retry: own, keys: [Idempotency-Key]}
codes:
  busy: {summary: Too much to do., http: 503, retriable: true, retry: own}
""",
    ),
    LintRule(
        "retriable-grpc-status",
        "warning",
        "The flag agrees with the gRPC status: UNAVAILABLE asks for another try, INVALID_ARGUMENT and its like do not.",
        retries.retriable_grpc_status,
        bad="""\
codes:
  away: {summary: Nobody is there., http: 503, on: {grpc: UNAVAILABLE}, retriable: false}
""",
        good="""\
codes:
  away: {summary: Nobody is there., http: 503, on: {grpc: UNAVAILABLE}, retriable: true}
""",
    ),
)
