"""The rules on what two constructs say together, in the order in which they are documented."""

from faultspec.lint import around, carrying, declarations, promises, statuses
from faultspec.lint.across_retrying import RETRYING
from faultspec.lint.across_vain import VAIN
from faultspec.lint.rule import LintRule

ACROSS: tuple[LintRule, ...] = (
    LintRule(
        "envelope-on-no-surface",
        "error",
        "An envelope that a code names is one of a surface that allows the code.",
        carrying.envelope_on_no_surface,
        bad="""\
envelopes:
  error: {shape: {code: $code, message: $message}}
  refusal: {shape: {refused: $code}}
surfaces:
  api: {transport: http, envelope: error}
codes:
  refused: {summary: It was refused., http: 403, envelope: refusal}
""",
        good="""\
envelopes:
  error: {shape: {code: $code, message: $message}}
  refusal: {shape: {refused: $code}}
surfaces:
  api: {transport: http, envelope: [error, refusal]}
codes:
  refused: {summary: It was refused., http: 403, envelope: refusal}
""",
    ),
    LintRule(
        "listed-on-no-surface",
        "error",
        "A shared code that an operation lists is one that a surface of the operation carries.",
        carrying.listed_on_no_surface,
        bad="""\
surfaces:
  orders: {transport: http, match: {routes: [/orders, /orders/**]}, envelope: error, codes: [missing]}
  rest: {transport: http, envelope: error, codes: [missing, failed]}
codes:
  missing: {summary: It is not there., http: 404}
  failed: {summary: It failed., http: 500}
operations:
  read: {match: {routes: ["GET /orders/{id}"]}, codes: [missing, failed]}
""",
        good="""\
surfaces:
  orders: {transport: http, match: {routes: [/orders, /orders/**]}, envelope: error, codes: [missing, failed]}
codes:
  missing: {summary: It is not there., http: 404}
  failed: {summary: It failed., http: 500}
operations:
  read: {match: {routes: ["GET /orders/{id}"]}, codes: [missing, failed]}
""",
    ),
    LintRule(
        "protocol-number",
        "error",
        "A number of the carrying protocol is not one by which the taxonomy's own errors are told.",
        carrying.protocol_number,
        bad="""\
envelopes:
  ours: {shape: {error: {code: -32000, data: {reason: $code}}}}
  theirs: {shape: {error: {code: $code, message: $message}}}
surfaces:
  rpc:
    transport: jsonrpc
    error_when: {present: /error}
    envelope: ours
    protocol:
      envelope: theirs
      codes: {-32099..-32000: The server failed.}
codes:
  failed: {summary: It failed.}
""",
        good="""\
envelopes:
  ours: {shape: {error: {code: -32000, data: {reason: $code}}}}
  theirs: {shape: {error: {code: $code, message: $message}}}
surfaces:
  rpc:
    transport: jsonrpc
    error_when: {present: /error}
    envelope: ours
    protocol:
      envelope: theirs
      codes: {-32700: The line is not JSON., -32601: There is no such method.}
codes:
  failed: {summary: It failed.}
""",
    ),
    LintRule(
        "repeat-loses",
        "error",
        "A surface that repeats another one has a place for every code and for all that callers act on.",
        carrying.repeat_loses,
        bad="""\
envelopes:
  error: {shape: {code: $code, retry: $retriable}}
  record: {shape: {code: $code}}
surfaces:
  api: {transport: http, envelope: error}
  log: {transport: log, error_when: {present: /code}, envelope: record, repeats: api}
codes:
  failed: {summary: It failed., http: 500, retriable: false}
""",
        good="""\
envelopes:
  error: {shape: {code: $code, retry: $retriable}}
  record: {shape: {time: $time, error: {use: error}}, fields: {time: {type: string}}}
surfaces:
  api: {transport: http, envelope: error}
  log: {transport: log, error_when: {present: /error}, envelope: record, repeats: api}
codes:
  failed: {summary: It failed., http: 500, retriable: false}
""",
    ),
    LintRule(
        "repeat-circle",
        "error",
        "Following `repeats` comes to a surface of its own.",
        carrying.repeat_circle,
        bad="""\
surfaces:
  log: {transport: log, error_when: {present: /code}, envelope: error, repeats: events}
  events: {transport: event, error_when: {present: /code}, envelope: error, repeats: log}
codes:
  failed: {summary: It failed.}
""",
        good="""\
surfaces:
  log: {transport: log, error_when: {present: /code}, envelope: error, repeats: events}
  events: {transport: event, error_when: {present: /code}, envelope: error}
codes:
  failed: {summary: It failed.}
""",
    ),
    LintRule(
        "slot-without-fact",
        "warning",
        "What every envelope of a code has a place for, the code says (flag, boundary, domain), and its flag wherever there is a place.",
        carrying.slot_without_fact,
        bad="""\
envelopes:
  error: {shape: {code: $code, retry: $retriable}}
codes:
  failed: {summary: It failed., http: 500}
""",
        good="""\
envelopes:
  error: {shape: {code: $code, retry: $retriable}}
codes:
  failed: {summary: It failed., http: 500, retriable: false}
""",
    ),
    LintRule(
        "details-optional-and-required",
        "warning",
        "Where every surface of an envelope requires a details key, the envelope's `details` are not optional.",
        carrying.details_optional_and_required,
        bad="""\
detail_keys:
  retryable: {type: boolean, role: retriable, everywhere: true}
envelopes:
  error: {shape: {code: $code, details?: $details}}
surfaces:
  api: {transport: http, envelope: error, requires_details: [retryable]}
codes:
  failed: {summary: It failed., http: 500, retriable: false}
""",
        good="""\
detail_keys:
  retryable: {type: boolean, role: retriable, everywhere: true}
envelopes:
  error: {shape: {code: $code, details: $details}}
surfaces:
  api: {transport: http, envelope: error, requires_details: [retryable]}
codes:
  failed: {summary: It failed., http: 500, retriable: false}
""",
    ),
    LintRule(
        "wire-reused",
        "error",
        "What stands on the wire means one thing: an operation takes no shared code's, nor that of a removed one.",
        carrying.wire_reused,
        bad="""\
codes:
  declined: {summary: It was declined., lifecycle: removed}
operations:
  pay:
    errors:
      card_declined: {summary: The bank said no., wire: declined, http: 402}
""",
        good="""\
codes:
  declined: {summary: It was declined., lifecycle: removed}
operations:
  pay:
    errors:
      card_declined: {summary: The bank said no., http: 402}
""",
    ),
    LintRule(
        "reserved-term",
        "error",
        "What is reserved is not in use: no live code has a reserved domain, boundary, action or term of a vocabulary.",
        carrying.reserved_term,
        bad="""\
boundaries:
  person: {summary: Waiting on a person., lifecycle: reserved}
codes:
  denied: {summary: A person said no., http: 403, boundary: person}
""",
        good="""\
boundaries:
  person: {summary: Waiting on a person., lifecycle: reserved}
codes:
  denied: {summary: A person said no., http: 403, boundary: person, lifecycle: reserved}
""",
    ),
    LintRule(
        "jsonrpc-without-protocol",
        "warning",
        "JSON-RPC has errors of its own (a line that cannot be read, an unknown method): the surface says what they are.",
        carrying.jsonrpc_without_protocol,
        bad="""\
envelopes:
  ours: {shape: {error: {code: -32000, data: {reason: $code}}}}
surfaces:
  rpc: {transport: jsonrpc, error_when: {present: /error}, envelope: ours}
codes:
  failed: {summary: It failed.}
""",
        good="""\
envelopes:
  ours: {shape: {error: {code: -32000, data: {reason: $code}}}}
  theirs: {shape: {error: {code: $code, message: $message}}}
surfaces:
  rpc:
    transport: jsonrpc
    error_when: {present: /error}
    envelope: ours
    protocol: {envelope: theirs, codes: {-32700: The line is not JSON., -32601: There is no such method.}}
codes:
  failed: {summary: It failed.}
""",
    ),
    LintRule(
        "success-is-error",
        "error",
        "A member that makes an answer an error is none that every success has.",
        carrying.success_is_error,
        bad="""\
surfaces:
  tool:
    transport: mcp
    error_when: {present: /structuredContent/code}
    at: /structuredContent
    success: {require: {/structuredContent/code: {type: string}}}
    envelope: error
codes:
  failed: {summary: It failed.}
""",
        good="""\
surfaces:
  tool:
    transport: mcp
    error_when: {present: /structuredContent/code}
    at: /structuredContent
    success: {require: {/structuredContent/result: {type: string}}}
    envelope: error
codes:
  failed: {summary: It failed.}
""",
    ),
    LintRule(
        "mcp-unsaid",
        "warning",
        "Where some codes of an MCP surface say how their results are marked, all do.",
        carrying.mcp_unsaid,
        bad="""\
surfaces:
  tool: {transport: mcp, error_when: {present: /code}, envelope: error}
codes:
  refused: {summary: It was refused., on: {mcp: {is_error: false}}}
  failed: {summary: It failed.}
""",
        good="""\
surfaces:
  tool: {transport: mcp, error_when: {present: /code}, envelope: error}
codes:
  refused: {summary: It was refused., on: {mcp: {is_error: false}}}
  failed: {summary: It failed., on: {mcp: {is_error: true}}}
""",
    ),
    LintRule(
        "undecided-status",
        "warning",
        "Codes that share several statuses prefer different ones, or nobody can tell them apart by any of them.",
        carrying.undecided_status,
        bad="""\
codes:
  timeout: {summary: It took too long., http: 502-504}
  unavailable: {summary: Something behind is away., http: 502-504}
""",
        good="""\
codes:
  timeout: {summary: It took too long., http: [504, 502, 503]}
  unavailable: {summary: Something behind is away., http: [503, 502, 504]}
""",
    ),
    LintRule(
        "header-rule-undone",
        "warning",
        "No header rule is undone by a later one for the same statuses: the last decides whether the header is there.",
        statuses.header_rule_undone,
        bad="""\
headers:
  Cache-Control:
    - {on: 429, presence: optional}
    - {on: [4xx, 5xx], token: no-store}
codes:
  failed: {summary: It failed., http: 500}
""",
        good="""\
headers:
  Cache-Control:
    - {on: [4xx, 5xx], token: no-store}
    - {on: 429, presence: optional}
codes:
  failed: {summary: It failed., http: 500}
""",
    ),
    LintRule(
        "request-header",
        "warning",
        "A rule for responses is about a header that responses have.",
        statuses.request_header,
        bad="""\
headers:
  If-None-Match: {on: 412}
codes:
  stale: {summary: The resource changed., http: 412}
""",
        good="""\
headers:
  ETag: {on: 412}
codes:
  stale: {summary: The resource changed., http: 412}
""",
    ),
    LintRule(
        "header-spelling",
        "note",
        "A header is spelled one way: as the rules for all errors have it, or as it is first written.",
        statuses.header_spelling,
        bad="""\
headers:
  Retry-After: {on: 429}
codes:
  limited: {summary: Too many requests., http: 429, example: {headers: {retry-after: "8"}}}
""",
        good="""\
headers:
  Retry-After: {on: 429}
codes:
  limited: {summary: Too many requests., http: 429, example: {headers: {Retry-After: "8"}}}
""",
    ),
    LintRule(
        "idempotency-left-open",
        "note",
        "Who promises safe repetition says of which methods, and what one key with two bodies is, be it `unspecified`.",
        promises.idempotency_left_open,
        bad="""\
idempotency: {key: Idempotency-Key, methods: [POST]}
codes:
  failed: {summary: It failed., http: 500}
""",
        good="""\
idempotency: {key: Idempotency-Key, methods: [POST], mismatch: unspecified}
codes:
  failed: {summary: It failed., http: 500}
""",
    ),
    LintRule(
        "echo-unguarded",
        "warning",
        "What is echoed comes from outside, so it is said what happens to a value that is malformed.",
        promises.echo_unguarded,
        bad="""\
envelopes:
  error:
    shape: {code: $code, request_id: $request_id}
    fields: {request_id: {type: string, format: uuid7, echo: X-Request-Id}}
codes:
  failed: {summary: It failed., http: 500}
""",
        good="""\
envelopes:
  error:
    shape: {code: $code, request_id: $request_id}
    fields: {request_id: {type: string, format: uuid7, echo: X-Request-Id, invalid_inbound: replace}}
codes:
  failed: {summary: It failed., http: 500}
""",
    ),
    LintRule(
        "echo-contradiction",
        "error",
        "A header that repeats a slot is not forbidden, repeats no other slot, and has the format of the slot.",
        promises.echo_contradiction,
        bad="""\
envelopes:
  error:
    shape: {code: $code, message: $message, request_id: $request_id}
    fields: {request_id: {type: string, format: uuid7, echo: X-Request-Id, invalid_inbound: replace}}
headers:
  X-Request-Id: {on: [4xx, 5xx], format: ulid}
codes:
  failed: {summary: It failed., http: 500}
""",
        good="""\
envelopes:
  error:
    shape: {code: $code, message: $message, request_id: $request_id}
    fields: {request_id: {type: string, format: uuid7, echo: X-Request-Id, invalid_inbound: replace}}
headers:
  X-Request-Id: {on: [4xx, 5xx], format: uuid7, equals: $request_id}
codes:
  failed: {summary: It failed., http: 500}
""",
    ),
    LintRule(
        "replay-echo",
        "note",
        "A replay whose body must be equal does not also echo the id of each request in that body.",
        promises.replay_echo,
        bad="""\
envelopes:
  error:
    shape: {code: $code, request_id: $request_id}
    fields: {request_id: {type: string, format: uuid7, echo: X-Request-Id, invalid_inbound: replace}}
idempotency: {key: Idempotency-Key, methods: [POST], mismatch: unspecified, replay: {equal: [status, body]}}
codes:
  failed: {summary: It failed., http: 500}
""",
        good="""\
envelopes:
  error:
    shape: {code: $code, request_id: $request_id}
    fields: {request_id: {type: string, format: uuid7, echo: X-Request-Id, invalid_inbound: replace}}
idempotency: {key: Idempotency-Key, methods: [POST], mismatch: unspecified, replay: {equal: [status]}}
codes:
  failed: {summary: It failed., http: 500}
""",
    ),
    LintRule(
        "never-echoed",
        "note",
        "No example speaks of what may never be echoed, or it is unclear whether its name or its value is meant.",
        promises.never_echoed,
        bad="""\
privacy: {never_echoed: [tenant]}
codes:
  refused: {summary: It was refused., http: 400, example: {message: The field tenant_id is missing}}
""",
        good="""\
privacy: {never_echoed: [tenant]}
codes:
  refused: {summary: It was refused., http: 400, example: {message: The field name is missing}}
""",
    ),
    LintRule(
        "original-code-place",
        "warning",
        "Where the code is kept that was not declared, there is a place for a text.",
        promises.original_code_place,
        bad="""\
codes:
  failed: {summary: It failed., http: 500}
undeclared: {becomes: failed, original_code: /details}
""",
        good="""\
detail_keys:
  code: {type: string}
codes:
  failed: {summary: It failed., http: 500, details: {code?: {}}}
undeclared: {becomes: failed, original_code: /details/code}
""",
    ),
    LintRule(
        "example-incomplete",
        "warning",
        "An example has all that an envelope of its code must carry and nobody but the author can fill in.",
        promises.example_incomplete,
        bad="""\
envelopes:
  error: {shape: {code: $code, next: $next}, fields: {next: {type: array}}}
codes:
  refused: {summary: It was refused., http: 409, example: {summary: There was another first.}}
""",
        good="""\
envelopes:
  error: {shape: {code: $code, next: $next}, fields: {next: {type: array}}}
codes:
  refused: {summary: It was refused., http: 409, example: {slots: {next: [wait]}}}
""",
    ),
    LintRule(
        "audit-type",
        "error",
        "A member of the audit record has the type of what it repeats.",
        around.audit_type,
        bad="""\
codes:
  failed: {summary: It failed., http: 500}
audit: {record: {class: {type: integer}}, means: {class: $code}}
""",
        good="""\
codes:
  failed: {summary: It failed., http: 500}
audit: {record: {class: {type: string}}, means: {class: $code}}
""",
    ),
    LintRule(
        "navigation-offers",
        "error",
        "The codes of the navigation travel in an envelope that lists what may come next.",
        around.navigation_offers,
        bad="""\
codes:
  refused: {summary: That is not offered., http: 409}
navigation: {offers: /next, takes: /step, refused: refused}
""",
        good="""\
envelopes:
  error: {shape: {code: $code, next: $next}, fields: {next: {type: array}}}
codes:
  refused: {summary: That is not offered., http: 409}
navigation: {offers: /next, takes: /step, refused: refused}
""",
    ),
    LintRule(
        "rendering-shows-nothing",
        "warning",
        "A detail that a rendering shows is one that some code has.",
        around.rendering_shows_nothing,
        bad="""\
detail_keys:
  field: {type: string}
codes:
  refused: {summary: It was refused., http: 400}
renderings:
  chat: {shape: "${code}: ${details.field}"}
""",
        good="""\
detail_keys:
  field: {type: string}
codes:
  refused: {summary: It was refused., http: 400, details: {field?: {}}}
renderings:
  chat: {shape: "${code}: ${details.field}"}
""",
    ),
    LintRule(
        "discovery-without-operations",
        "warning",
        "What is published for each operation is published by a taxonomy that has operations.",
        around.discovery_without_operations,
        bad="""\
codes:
  failed: {summary: It failed., http: 500}
discovery:
  errors: {request: "GET /schema?name=${operation}", kind: errors, at: /errors, item: {code: /code}}
""",
        good="""\
codes:
  failed: {summary: It failed., http: 500}
operations:
  pay: {errors: {declined: {summary: The bank said no., http: 402}}}
discovery:
  errors: {request: "GET /schema?name=${operation}", kind: errors, at: /errors, item: {code: /code}}
""",
    ),
    LintRule(
        "imported-form",
        "error",
        "An operation's code with the form of an imported one travels under the status that its name says.",
        around.imported_form,
        bad="""\
codes:
  failed: {summary: It failed., http: 500}
operations:
  pay: {errors: {HTTP_402: {summary: The bank said no., http: 403}}}
imported: {pattern: "HTTP_${status}"}
""",
        good="""\
codes:
  failed: {summary: It failed., http: 500}
operations:
  pay: {errors: {HTTP_402: {summary: The bank said no., http: 402}}}
imported: {pattern: "HTTP_${status}"}
""",
    ),
    LintRule(
        "extensible-nowhere",
        "warning",
        "What overlays may touch is there to be touched.",
        around.extensible_nowhere,
        bad="""\
extensible: [codes.broken.message]
codes:
  failed: {summary: It failed., http: 500}
""",
        good="""\
extensible: [codes, codes.*.summary]
codes:
  failed: {summary: It failed., http: 500}
""",
    ),
    LintRule(
        "list-inside-text",
        "error",
        "What stands inside a text is a text, a number or a truth value, never a list or an object.",
        carrying.list_inside_text,
        bad="""\
actions: {wait: Wait.}
envelopes:
  error: {shape: {code: $code, message: $message, next: "try ${actions}"}}
codes:
  busy: {summary: Too much to do., http: 503, actions: [wait]}
""",
        good="""\
actions: {wait: Wait.}
envelopes:
  error: {shape: {code: $code, message: $message, next: $actions}}
codes:
  busy: {summary: Too much to do., http: 503, actions: [wait]}
""",
    ),
    LintRule(
        "spread-collision",
        "error",
        "A detail that is spread into an envelope is not called like a member that stands there.",
        carrying.spread_collision,
        bad="""\
envelopes:
  error: {shape: {code: $code, message: $message, "...": $details}}
codes:
  held: {summary: It is held., http: 409, details: {message?: {type: string}}}
""",
        good="""\
envelopes:
  error: {shape: {code: $code, message: $message, "...": $details}}
codes:
  held: {summary: It is held., http: 409, details: {holder?: {type: string}}}
""",
    ),
    LintRule(
        "sunset-of-stable",
        "warning",
        "A code that stops being produced on a day is deprecated until then.",
        declarations.sunset_of_stable,
        bad="""\
codes:
  failed: {summary: It failed., http: 500, sunset: 2027-01-31}
""",
        good="""\
codes:
  failed: {summary: It failed., http: 500, sunset: 2027-01-31, lifecycle: deprecated}
""",
    ),
    LintRule(
        "since-later-version",
        "warning",
        "No live code came with a version that is still to come.",
        declarations.since_later_version,
        bad="""\
taxonomy: {name: shop, version: 1.2.0}
codes:
  failed: {summary: It failed., http: 500, since: 2.0.0}
""",
        good="""\
taxonomy: {name: shop, version: 1.2.0}
codes:
  failed: {summary: It failed., http: 500, since: 1.2.0}
""",
    ),
    *RETRYING,
    *VAIN,
)
