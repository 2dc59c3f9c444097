"""The rules of the lint, in the order in which they are documented.

Each example is complete but for the sections of `BASE` that it does not write itself.
"""

from collections.abc import Mapping

from faultspec.lint import contents, declarations, retries, statuses
from faultspec.lint.across import ACROSS
from faultspec.lint.rule import LintRule

#: What the examples have in common, section by section.
BASE: Mapping[str, str] = {
    "faultspec": "faultspec: 1\n",
    "taxonomy": "taxonomy: {name: shop, version: 1.0.0}\n",
    "envelopes": "envelopes:\n  error: {shape: {code: $code, message: $message, details?: $details}}\n",
}


def whole(snippet: str) -> str:
    """An example as a document that can be read by itself; it comes first, so that its lines keep their numbers."""
    written = {line.partition(":")[0] for line in snippet.splitlines()}
    return snippet + "".join(text for section, text in BASE.items() if section not in written)


RULES: tuple[LintRule, ...] = (
    LintRule(
        "unmapped-status",
        "warning",
        "An error status that frameworks and proxies answer by themselves has a code, or a fallback says which.",
        statuses.unmapped_status,
        bad="""\
codes:
  failed: {summary: It failed., http: 500}
""",
        good="""\
fallback:
  4xx: {code: refused, reason: Whatever else a framework refuses.}
  5xx: {code: failed, reason: Whatever else a proxy answers.}
codes:
  refused: {summary: It was refused., http: 400}
  failed: {summary: It failed., http: 500}
""",
    ),
    LintRule(
        "status-without-bare-code",
        "note",
        "A status that frameworks answer by themselves has a code that needs no details, since nobody is there to give them.",
        statuses.status_without_bare_code,
        bad="""\
codes:
  missing: {summary: It is not there., http: 404, details: {id: {type: string}}}
""",
        good="""\
codes:
  missing: {summary: It is not there., http: 404, details: {id?: {type: string}}}
""",
    ),
    LintRule(
        "code-without-transport",
        "error",
        "Every live code can reach somebody: by an HTTP status, another carrier, or a surface that is not HTTP.",
        statuses.code_without_transport,
        bad="""\
codes:
  lost: {summary: Nobody hears of it., http: null, http_reason: It is internal.}
""",
        good="""\
codes:
  lost: {summary: Workers hear of it., http: null, http_reason: It is internal., on: {grpc: ABORTED}}
""",
    ),
    LintRule(
        "code-on-no-surface",
        "warning",
        "Every live code is allowed on a surface that can carry it.",
        statuses.code_on_no_surface,
        bad="""\
surfaces:
  api: {transport: http, envelope: error, codes: [refused]}
codes:
  refused: {summary: It was refused., http: 400}
  failed: {summary: It failed., http: 500}
""",
        good="""\
surfaces:
  api: {transport: http, envelope: error, codes: closed}
codes:
  refused: {summary: It was refused., http: 400}
  failed: {summary: It failed., http: 500}
""",
    ),
    LintRule(
        "failure-without-error-status",
        "warning",
        "A failure travels as 4xx or 5xx: caches, proxies and monitoring go by the status alone.",
        statuses.failure_without_error_status,
        bad="""\
codes:
  failed: {summary: It failed., http: 200}
""",
        good="""\
codes:
  failed: {summary: It failed., http: 500}
""",
    ),
    LintRule(
        "ambiguous-status",
        "note",
        "Codes that share a status differ in something besides their names, or nothing is gained by having both.",
        statuses.ambiguous_status,
        bad="""\
codes:
  missing: {summary: It is not there., http: 404}
  gone: {summary: It is not there any more., http: 404}
""",
        good="""\
codes:
  missing: {summary: It is not there., http: 404}
  gone: {summary: It is not there any more., http: 410}
""",
    ),
    LintRule(
        "unreachable-fallback",
        "warning",
        "A fallback is for error statuses that no code and no narrower fallback claims.",
        statuses.unreachable_fallback,
        bad="""\
fallback:
  404: {code: missing, reason: Unknown routes.}
codes:
  missing: {summary: It is not there., http: 404}
""",
        good="""\
fallback:
  405: {code: missing, reason: Unknown methods.}
codes:
  missing: {summary: It is not there., http: 404}
""",
    ),
    LintRule(
        "unreachable-surface",
        "warning",
        "A surface claims something that none above it claims, for the first match wins.",
        statuses.unreachable_surface,
        bad="""\
surfaces:
  api: {transport: http, envelope: error}
  health: {transport: http, match: {routes: [/health]}, envelope: none, reason: Text for the load balancer.}
codes:
  failed: {summary: It failed., http: 500}
""",
        good="""\
surfaces:
  health: {transport: http, match: {routes: [/health]}, envelope: none, reason: Text for the load balancer.}
  api: {transport: http, envelope: error}
codes:
  failed: {summary: It failed., http: 500}
""",
    ),
    LintRule(
        "header-contradiction",
        "error",
        "No header is both required and forbidden on one answer.",
        statuses.header_contradiction,
        bad="""\
headers:
  Retry-After: {on: 5xx}
codes:
  failed: {summary: It failed., http: 500, headers: {Retry-After: forbidden}}
""",
        good="""\
headers:
  Retry-After: {on: 503}
codes:
  failed: {summary: It failed., http: 500, headers: {Retry-After: forbidden}}
""",
    ),
    LintRule(
        "unreachable-header-rule",
        "warning",
        "A code's header rule is for a status the code travels under.",
        statuses.unreachable_header_rule,
        bad="""\
codes:
  busy: {summary: Too much to do., http: 503, headers: {Retry-After: {on: 429}}}
""",
        good="""\
codes:
  busy: {summary: Too much to do., http: 503, headers: {Retry-After: {on: 503}}}
""",
    ),
    LintRule(
        "concealment",
        "error",
        "What is answered to conceal a resource can be answered, and is not what may never be answered.",
        statuses.concealment,
        bad="""\
codes:
  missing: {summary: It is not there., http: 404}
privacy:
  conceal: [{across: tenant, answer: missing, never: [missing]}]
""",
        good="""\
codes:
  missing: {summary: It is not there., http: 404}
  forbidden: {summary: It is not yours., http: 403}
privacy:
  conceal: [{across: tenant, answer: missing, never: [forbidden]}]
""",
    ),
    LintRule(
        "action-contradicts-flag",
        "error",
        "The retry flag and the client action agree: what is retriable is retried, what is not is not.",
        retries.action_contradicts_flag,
        bad="""\
codes:
  busy: {summary: Too much to do., http: 503, retriable: false, client_action: retry}
""",
        good="""\
codes:
  busy: {summary: Too much to do., http: 503, retriable: true, client_action: retry}
""",
    ),
    LintRule(
        "retry-without-policy",
        "warning",
        "Where retry policies are declared, every code that clients retry names one.",
        retries.retry_without_policy,
        bad="""\
retry_policies:
  patient: {max_attempts: 4, backoff: {kind: exponential, base: 1s}}
codes:
  busy: {summary: Too much to do., http: 503, retriable: true}
""",
        good="""\
retry_policies:
  patient: {max_attempts: 4, backoff: {kind: exponential, base: 1s}}
codes:
  busy: {summary: Too much to do., http: 503, retriable: true, retry: patient}
""",
    ),
    LintRule(
        "policy-without-retry",
        "warning",
        "A code that names a retry policy is one that clients retry.",
        retries.policy_without_retry,
        bad="""\
retry_policies:
  patient: {max_attempts: 4, backoff: {kind: exponential, base: 1s}}
codes:
  refused: {summary: It was refused., http: 400, retriable: false, retry: patient}
""",
        good="""\
codes:
  refused: {summary: It was refused., http: 400, retriable: false}
""",
    ),
    LintRule(
        "retry-unsafe",
        "warning",
        "What may have taken effect is sent again only if an idempotency key or an idempotent operation makes it safe.",
        retries.retry_unsafe,
        bad="""\
codes:
  timeout: {summary: It took too long., http: 504, retriable: true, effect: unknown}
""",
        good="""\
idempotency: {key: Idempotency-Key, window: 24h}
codes:
  timeout: {summary: It took too long., http: 504, retriable: true, effect: unknown}
""",
    ),
    LintRule(
        "retriable-status",
        "warning",
        "The flag agrees with the status: 429 asks for another try, other 4xx but 408 and 425 say it would fail again.",
        retries.retriable_status,
        bad="""\
codes:
  limited: {summary: Too many requests., http: 429, retriable: false}
""",
        good="""\
codes:
  limited: {summary: Too many requests., http: 429, retriable: true}
""",
    ),
    LintRule(
        "retry-after-missing",
        "warning",
        "Who is told 429 is told when to come back (RFC 6585 §4).",
        retries.retry_after_missing,
        bad="""\
codes:
  limited: {summary: Too many requests., http: 429}
""",
        good="""\
headers:
  Retry-After: {on: 429}
codes:
  limited: {summary: Too many requests., http: 429}
""",
    ),
    LintRule(
        "retry-after-ignored",
        "warning",
        "A retry policy honours the Retry-After that its codes must carry.",
        retries.retry_after_ignored,
        bad="""\
headers:
  Retry-After: {on: 429}
retry_policies:
  hasty: {max_attempts: 4, backoff: {kind: constant, base: 1s}}
codes:
  limited: {summary: Too many requests., http: 429, retriable: true, retry: hasty}
""",
        good="""\
headers:
  Retry-After: {on: 429}
retry_policies:
  polite: {max_attempts: 4, backoff: {kind: constant, base: 1s}, retry_after: {honor: true}}
codes:
  limited: {summary: Too many requests., http: 429, retriable: true, retry: polite}
""",
    ),
    LintRule(
        "policy-arithmetic",
        "error",
        "The numbers of a retry policy make sense together.",
        retries.policy_arithmetic,
        bad="""\
retry_policies:
  odd: {max_attempts: 4, backoff: {kind: exponential, base: 10s, max: 5s}}
codes:
  busy: {summary: Too much to do., http: 503, retriable: true, retry: odd}
""",
        good="""\
retry_policies:
  even: {max_attempts: 4, backoff: {kind: exponential, base: 5s, max: 10s}}
codes:
  busy: {summary: Too much to do., http: 503, retriable: true, retry: even}
""",
    ),
    LintRule(
        "example-contradicts-flag",
        "error",
        "The retry flag of an example is the one its code always has.",
        retries.example_contradicts_flag,
        bad="""\
detail_keys:
  retryable: {type: boolean, role: retriable, everywhere: true}
codes:
  refused:
    summary: It was refused.
    http: 400
    retriable: false
    example: {details: {retryable: true}}
""",
        good="""\
detail_keys:
  retryable: {type: boolean, role: retriable, everywhere: true}
codes:
  refused:
    summary: It was refused.
    http: 400
    retriable: false
    example: {details: {retryable: false}}
""",
    ),
    LintRule(
        "unregistered-detail",
        "warning",
        "Where details keys are registered, shared codes use registered ones: one name, one meaning.",
        contents.unregistered_detail,
        bad="""\
detail_keys:
  limit: {type: integer}
codes:
  limited: {summary: Too many requests., http: 429, details: {limit: {}, window: {type: integer}}}
""",
        good="""\
detail_keys:
  limit: {type: integer}
  window: {type: integer}
codes:
  limited: {summary: Too many requests., http: 429, details: {limit: {}, window: {}}}
""",
    ),
    LintRule(
        "detail-type",
        "error",
        "A details key has one type everywhere: the one it is registered with.",
        contents.detail_type,
        bad="""\
detail_keys:
  limit: {type: integer}
codes:
  limited: {summary: Too many requests., http: 429, details: {limit: {type: string}}}
""",
        good="""\
detail_keys:
  limit: {type: integer}
codes:
  limited: {summary: Too many requests., http: 429, details: {limit: {}}}
""",
    ),
    LintRule(
        "untyped-detail",
        "warning",
        "Every declared detail has a type, or generated code can promise nothing about it.",
        contents.untyped_detail,
        bad="""\
codes:
  limited: {summary: Too many requests., http: 429, details: {limit: {}}}
""",
        good="""\
codes:
  limited: {summary: Too many requests., http: 429, details: {limit: {type: integer}}}
""",
    ),
    LintRule(
        "message-has-holes",
        "error",
        "A message is built from details that are always there, so that it never has a hole.",
        contents.message_has_holes,
        bad="""\
codes:
  limited:
    summary: Too many requests.
    message: "The limit is ${limit}"
    http: 429
    details: {limit?: {type: integer}}
""",
        good="""\
codes:
  limited:
    summary: Too many requests.
    message: "The limit is ${limit}"
    http: 429
    details: {limit: {type: integer}}
""",
    ),
    LintRule(
        "message-leaks",
        "error",
        "No message and no example shows what must not leave: addresses, paths, secrets, SQL, names from inside.",
        contents.message_leaks,
        bad="""\
codes:
  failed: {summary: It failed., message: Cannot open /var/lib/shop/orders.db, http: 500}
""",
        good="""\
codes:
  failed: {summary: It failed., message: Something went wrong on our side, http: 500}
""",
    ),
    LintRule(
        "idle-internal-names",
        "warning",
        "Names that stay inside are looked for: the detector of such names is among those asked for.",
        contents.idle_internal_names,
        bad="""\
privacy: {detectors: [secret], internal_names: ["orders-db-[0-9]+"]}
codes:
  failed: {summary: It failed., http: 500}
""",
        good="""\
privacy: {detectors: [secret, internal-name], internal_names: ["orders-db-[0-9]+"]}
codes:
  failed: {summary: It failed., http: 500}
""",
    ),
    LintRule(
        "example-missing",
        "warning",
        "Every live code has an example: readers copy it, and the compiler holds the schema to it.",
        contents.example_missing,
        bad="""\
codes:
  failed: {summary: It failed., http: 500}
""",
        good="""\
codes:
  failed: {summary: It failed., http: 500, example: {message: Something went wrong on our side}}
""",
    ),
    LintRule(
        "unused-declaration",
        "warning",
        "What is declared is used: terms, vocabularies, envelopes, retry policies, details keys and rulings.",
        declarations.unused_declaration,
        bad="""\
domains: {request: The client can fix it., runtime: The service can fix it.}
codes:
  failed: {summary: It failed., http: 500, domain: runtime}
""",
        good="""\
domains:
  request: {summary: The client can fix it., lifecycle: reserved}
  runtime: The service can fix it.
codes:
  failed: {summary: It failed., http: 500, domain: runtime}
""",
    ),
    LintRule(
        "statement-spelling",
        "warning",
        "A statement is cited by one spelling of its id, or nobody finds all that came of it.",
        declarations.statement_spelling,
        bad="""\
codes:
  refused: {summary: It was refused., http: 400, source: [C7, C9]}
  failed: {summary: It failed., http: 500, source: [C7, c-9]}
  busy: {summary: Too much to do., http: 503, source: [C7, C9]}
""",
        good="""\
codes:
  refused: {summary: It was refused., http: 400, source: [C7, C9]}
  failed: {summary: It failed., http: 500, source: [C7, C9]}
""",
    ),
    LintRule(
        "reserved-name",
        "warning",
        "Names become identifiers of generated code, so none is a word of Python or TypeScript.",
        declarations.reserved_name,
        bad="""\
codes:
  failed: {summary: It failed., http: 500, details: {class: {type: string}}}
""",
        good="""\
codes:
  failed: {summary: It failed., http: 500, details: {kind: {type: string}}}
""",
    ),
    LintRule(
        "name-collision",
        "error",
        "Names that differ only by case or underscores become the same identifier in generated code.",
        declarations.name_collision,
        bad="""\
codes:
  not_found: {summary: It is not there., http: 404}
  NotFound: {summary: It is not there either., http: 410}
""",
        good="""\
codes:
  not_found: {summary: It is not there., http: 404}
  gone: {summary: It is not there any more., http: 410}
""",
    ),
    LintRule(
        "mixed-spelling",
        "warning",
        "All codes are spelled one way.",
        declarations.mixed_spelling,
        bad="""\
codes:
  not_found: {summary: It is not there., http: 404}
  too_large: {summary: It is too much., http: 413}
  Failed: {summary: It failed., http: 500}
""",
        good="""\
codes:
  not_found: {summary: It is not there., http: 404}
  too_large: {summary: It is too much., http: 413}
  failed: {summary: It failed., http: 500}
""",
    ),
    LintRule(
        "dead-reference",
        "error",
        "What is fallen back on, or named in a list of codes, is a code that a service may produce.",
        declarations.dead_reference,
        bad="""\
codes:
  failed: {summary: It failed., http: 500, lifecycle: removed}
  broken: {summary: It is broken., http: 500}
unknown: {becomes: failed}
""",
        good="""\
codes:
  failed: {summary: It failed., http: 500, lifecycle: removed}
  broken: {summary: It is broken., http: 500}
unknown: {becomes: broken}
""",
    ),
    LintRule(
        "deprecated-without-successor",
        "warning",
        "Who is told that a code goes away is told when, or what takes its place.",
        declarations.deprecated_without_successor,
        bad="""\
codes:
  failed: {summary: It failed., http: 500, lifecycle: deprecated}
""",
        good="""\
codes:
  failed: {summary: It failed., http: 500, lifecycle: deprecated, replaced_by: broken}
  broken: {summary: It is broken., http: 500}
""",
    ),
    LintRule(
        "replacement-circle",
        "error",
        "Following `replaced_by` comes to an end.",
        declarations.replacement_circle,
        bad="""\
codes:
  failed: {summary: It failed., http: 500, lifecycle: deprecated, replaced_by: broken}
  broken: {summary: It is broken., http: 500, lifecycle: deprecated, replaced_by: failed}
""",
        good="""\
codes:
  failed: {summary: It failed., http: 500, lifecycle: deprecated, replaced_by: broken}
  broken: {summary: It is broken., http: 500}
""",
    ),
    LintRule(
        "removed-with-facts",
        "warning",
        "A removed code is a tombstone: it keeps its name and its summary, and says nothing to a running service.",
        declarations.removed_with_facts,
        bad="""\
codes:
  failed: {summary: It failed., lifecycle: removed, example: {message: It failed.}}
""",
        good="""\
codes:
  failed: {summary: It failed., lifecycle: removed}
""",
    ),
    *ACROSS,
)

BY_ID: Mapping[str, LintRule] = {rule.id: rule for rule in RULES}
