"""A worked example of every top-level construct, for the reference page. Together they are one taxonomy."""

from collections.abc import Mapping

EXAMPLES: Mapping[str, str] = {
    "faultspec": "faultspec: 1\n",
    "taxonomy": """\
taxonomy: {name: shop, version: 1.2.0, title: Shop errors, owner: shop-platform}
""",
    "extends": """\
# extends: ../platform/taxonomy.yaml     (or package:platform_errors/taxonomy.yaml)
""",
    "extensible": """\
extensible: [codes, operations, detail_keys, codes.*.message, retry_policies.patient.max_attempts]
""",
    "rulings": """\
rulings:
  validation-status:
    statements: [S4]
    conflict: The guide says 400 and the framework answers 422.
    decision: A failed validation is 400.
    reason: The guide is what clients were given.
""",
    "domains": """\
domains:
  request: The client can fix the request.
  capacity: There is not enough of something.
  runtime: {summary: The service failed., source: {section: Failures}}
""",
    "boundaries": """\
boundaries:
  gateway: Refused before the service saw it.
  service: The service itself refused or failed.
  person: {summary: Waiting on a person., lifecycle: reserved}
""",
    "actions": """\
actions:
  correct_input: Change the request and send it again.
  wait: {summary: "Wait, and send the same request again.", sends_again: true}
""",
    "vocabularies": """\
vocabularies:
  phases:
    checkout: The cart is being paid for.
    delivery: {summary: The parcel is on its way.}
""",
    "detail_keys": """\
detail_keys:
  field: {type: string, summary: The input that failed., everywhere: true}
  retryable: {type: boolean, role: retriable, everywhere: true}
  limit: {type: integer, minimum: 0, summary: Requests allowed in the window.}
  existing_id: {type: string, refers_to: resource, summary: The id of what is there already.}
""",
    "envelopes": """\
envelopes:
  error:
    media_type: application/json
    shape:
      code: $code
      message: $message
      request_id: $request_id
      phase?: $phase
      next?: $next
      details?: $details
    fields:
      next: {type: array, items: {type: string}, description: What may be asked for from here.}
      request_id: {type: string, format: [uuid7, ulid], echo: X-Request-Id, invalid_inbound: replace}
      phase: {type: string, vocabulary: phases}
      details: {type: object, additional: warn}
    additional: forbid
""",
    "surfaces": """\
surfaces:
  health:
    transport: http
    match: {routes: [GET /healthz], statuses: 503}
    envelope: none
    reason: The load balancer reads text.
  api:
    transport: http
    error_when: {status: [4xx, 5xx]}
    envelope: error
    codes: closed
    default_status: 500
""",
    "headers": """\
headers:
  Retry-After:
    - {on: 429, summary: When to come back.}
    - {on: 503, presence: optional}
  Cache-Control: {on: [4xx, 5xx], token: no-store}
  X-Request-Id: {equals: $request_id}
""",
    "fallback": """\
fallback:
  405: {code: invalid_request, reason: The route exists and the method does not.}
  4xx: {code: invalid_request, reason: Whatever else a framework refuses.}
  5xx: {code: internal, reason: Whatever else a proxy answers.}
""",
    "retry_policies": """\
retry_policies:
  patient:
    max_attempts: 6
    backoff:
      - {kind: linear, base: 2s, step: 2s, for: 30s}
      - {kind: exponential, base: 5s, factor: 2, max: 60s}
    jitter: {kind: full}
    retry_after: {honor: true, max: 5m, at_least_computed: true}
    budget: {tokens: 500, cost: 5}
    max_elapsed: 10m
""",
    "idempotency": """\
idempotency:
  key: Idempotency-Key
  methods: [POST]
  window: 24h
  replay: {equal: [status, body], headers: [Location]}
  mismatch: key_reused
""",
    "upstream": """\
upstream: {retry: patient, default: idempotent, keys: [Idempotency-Key]}
""",
    "codes": """\
codes:
  invalid_request:
    summary: The request cannot be understood.
    message: The request is not valid
    domain: request
    boundary: [service, gateway]
    http: 400
    retriable: false
    actions: [correct_input]
    example: {details: {field: quantity, retryable: false}}
    source: {statement: S4, ruling: validation-status}
  rate_limited:
    summary: Too many requests.
    message: "The limit is ${limit} requests"
    domain: capacity
    boundary: gateway
    http: 429
    retriable: {else: true, until: wait}
    client_action: retry
    retry: patient
    effect: none
    details: {limit: {}}
    example: {message: The limit is 100 requests, details: {limit: 100}, headers: {Retry-After: "8"}}
  key_reused:
    summary: An idempotency key came back with another body.
    domain: request
    boundary: service
    http: 409
    retriable: false
    details: {existing_id?: {}}
    example: {details: {existing_id: order-1}}
  internal:
    summary: The service failed in a way it did not expect.
    domain: runtime
    boundary: service
    http: [500, 502-504]
    retriable: caller
    facts: {phase: [checkout, delivery]}
    example: {status: 502, slots: {phase: checkout}}
""",
    "operations": """\
operations:
  pay:
    match: {routes: ["POST /carts/{id}/payment"]}
    idempotent: false
    codes: [invalid_request, internal]
    errors:
      card_declined:
        summary: The bank said no.
        http: 402
        retriable: false
        client_action: user
        details: {reason?: {type: string, enum: [expired, limit, other]}}
        example: {details: {reason: expired}}
""",
    "unknown": """\
unknown: {becomes: internal, retriable: false}
""",
    "undeclared": """\
undeclared: {becomes: internal, original_code: /details/code}
""",
    "imported": """\
imported: {pattern: "HTTP_${status}", retriable: false}
""",
    "renderings": """\
renderings:
  chat_message:
    summary: What the shop's assistant reads.
    given: {call: The tool call that failed.}
    shape: {role: tool, tool_call_id: $call, content: "${code}: ${message}\\nfield: ${details.field}"}
""",
    "navigation": """\
navigation: {offers: /next, takes: /step, refused: key_reused, unknown: invalid_request}
""",
    "audit": """\
audit:
  id: $request_id
  lookup: {request: GET /audit, items: /events, id: /request, order: newest-first}
  record: {code: {type: string}, request: {type: string}, field?: {type: string}}
  means: {code: $code, request: $request_id, field: details.field}
""",
    "discovery": """\
discovery:
  errors:
    request: "GET /errors?operation=${operation}"
    kind: errors
    at: /errors
    item: {code: /code, http: /status}
""",
    "privacy": """\
privacy:
  detectors: [stack-trace, sql, connection-string, path, secret, email]
  never_echoed: [tenant]
  conceal: [{across: tenant, answer: invalid_request, never: [key_reused]}]
  internal_names: ["orders-db-\\\\d+"]
""",
    "telemetry": """\
telemetry:
  metrics:
    errors: {kind: counter, labels: [code, http_status], counts: errors, summary: Errors by code.}
    requests: {kind: counter, counts: requests, summary: Requests.}
  log:
    code: {type: string}
    tenant?: {type: string, description: Logs only.}
  span: {error.code: the code}
  alerts:
    failures:
      severity: P1
      when: More than 1 % of requests fail for 5 minutes.
      statuses: 5xx
      threshold: 0.01
      window: 5m
      runbook: [Page on-call., Roll back the last release.]
    throttling:
      severity: P3
      when: Three times as many are refused for their rate as in the hour before.
      codes: [rate_limited]
      rise: {times: 3, over: 1h, at_least: 10}
      window: 5m
      for: 2m
      runbook: [Ask who sends so much.]
  means: {code: $code, http_status: $status, error.code: $code}
  records:
    access:
      when: {/kind: access}
      method: /method
      url: /url
      status: /http_status
      slots: {code: /code, message: /message}
  runbooks: "https://runbooks.example.com/shop/"
""",
    "obligations": """\
obligations:
  audit: {text: Every failure is written to the audit log., reason: The log is not visible from outside.}
""",
}
