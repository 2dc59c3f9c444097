"""A taxonomy with every construct that a clause requires."""

FULL = """
faultspec: 1
taxonomy: {name: full, version: 1.0.0}
boundaries: {service: The service.}
actions: {again: {summary: Run it again., sends_again: true}}
detail_keys:
  flag: {type: boolean, role: retriable, everywhere: true}
  wait: {type: integer, equals_header: Retry-After}
  order: {type: string, refers_to: resource, sensitive: true}
  offset: {type: integer}
  tries: {type: integer}
envelopes:
  error:
    shape:
      code: $code
      message?: $message
      status?: $status
      retry?: $retriable
      layer?: $boundary
      actions?: $actions
      id?: $id
      details?: $details
    fields:
      id: {type: string, format: [uuid4], echo: X-Id, mirror: X-Id, invalid_inbound: replace}
      details: {additional: warn}
surfaces:
  log: {transport: log, envelope: error, sink: errors.log, repeats: api}
  rpc: {transport: jsonrpc, error_when: {present: /error}, at: /error, envelope: error,
      states: [{when: before hello, otherwise: busy}]}
  tools: {transport: mcp, error_when: {present: /structuredContent/code},
      at: /structuredContent, envelope: error}
  feed: {transport: stream, envelope: error, requires_details: [offset]}
  batch: {transport: http, match: {statuses: [207]}, envelope: error, items: /items,
      status: /status, body: /error, mixed_only: true, bad_items: offset}
  api: {transport: http, envelope: error, codes: [busy], headers: {Vary: optional}, success: {require: {/id: {type: string}}}}
headers: {Retry-After: {on: 429, presence: optional}}
retry_policies: {patient: {max_attempts: 3, backoff: {kind: constant, base: 1s}, jitter: {kind: full},
    annotate: tries, eligible: [busy]}}
idempotency: {key: Idempotency-Key, window: 1h, mismatch: reused, missing: reused}
upstream: {retry: patient, keys: [Idempotency-Key], status: tries,
    codes: [{from: bank, status: 402, code: declined, becomes: shut}, {becomes: busy}]}
profile: rfc9110
privacy:
  detectors: [stack-trace, sql, connection-string, path, private-address, secret, email,
      personal-data, internal-name, canary]
  never_echoed: [tenant]
  conceal: [{across: tenant, answer: missing}]
renderings: {text: {shape: {role: tool, content: "${code}: ${message}"}}}
navigation: {offers: /steps, takes: /step, refused: missing}
audit: {lookup: {request: GET /audit, items: /items}, record: {code: {type: string}}}
undeclared: {becomes: busy, original_code: /details/code}
discovery: {errors: {request: GET /errors, kind: errors, item: {code: /code}}}
operations: {write: {codes: [busy], errors: {late: {summary: It is late., http: 400,
    retriable: false, client_action: none}}}}
codes:
  busy: {summary: It is busy., http: 503, retriable: true, client_action: retry, retry: patient,
      effect: unknown, boundary: service, actions: [again], details: {wait: {}, tries: {}},
      deadline: {equals: details.wait}, on: {mcp: {is_error: true}}}
  missing: {summary: It is missing., http: 404, retriable: false,
      message: It is missing, messages: {de: Es fehlt}, owner: orders, fault: caller,
      docs: "https://example.com/missing", runbook: "https://example.com/runbooks/missing"}
  reused: {summary: The key is taken., http: 422, retriable: false}
  stale: {summary: It is stale., http: 412, retriable: false, client_action: refetch}
  shut: {summary: It is shut., http: 403, retriable: {until: again, else: false},
      client_action: user, actions: [again]}
  crowded: {summary: It is crowded., http: 429, retriable: false}
  taken: {summary: It exists., http: 409, retriable: false, client_action: user}
  fading: {summary: It ends soon., http: 400, retriable: false, lifecycle: deprecated,
      sunset: 2027-01-31}
  gone: {summary: It was used once., http: 410, lifecycle: removed}
"""
