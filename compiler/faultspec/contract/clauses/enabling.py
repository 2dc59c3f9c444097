"""The lines that make a clause apply to a taxonomy, one for each requirement of the clause."""

from collections.abc import Mapping

from faultspec.contract.clauses.clause import Clause, Requirement

_SURFACE = "surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error}}"

_RETRIED = "http: 503, retriable: true, client_action: retry"


def _code(name: str, summary: str, keys: str) -> str:
    return f"codes: {{{name}: {{summary: {summary}, {keys}}}}}"


_STALE = _code("stale", "It has changed.", "http: 412, retriable: false, client_action: refetch")
_UNBOUND = _code(
    "unbound",
    "A credential is missing.",
    "http: 403, retriable: {until: bind, else: false}, actions: [bind]",
)


_BAD_ITEMS = "surfaces: {api: {transport: http, envelope: error, bad_items: bad_items}}"


def _batch(key: str | None = None) -> str:
    more = "" if key is None else f", {key}"
    return (
        "surfaces: {batch: {transport: http, match: {statuses: [207]}, envelope: error,"
        f" items: /items, status: /status, body: /error{more}}}}}"
    )


#: By `Requirement.unmet`. Names such as `error`, `api` and `not_found` stand for those of the
#: taxonomy.
LINES: Mapping[str, str] = {
    "the taxonomy has no `profile: rfc9110`": "profile: rfc9110",
    "no surface has `repeats`": (
        "surfaces: {window: {transport: event, envelope: error, repeats: api}}"
    ),
    "no surface has `states`": (
        "surfaces: {rpc: {transport: jsonrpc, error_when: {present: /error}, envelope: error,"
        " states: [{when: before initialize, otherwise: not_found}]}}"
    ),
    "no surface has `success`": "surfaces: {api: {success: {require: {/id: {type: string}}}}}",
    "no surface with `transport: http` has an `envelope`": _SURFACE,
    "no surface has an `envelope`": _SURFACE,
    "every envelope has `additional: allow`": "envelopes: {error: {additional: forbid}}",
    "no field of an envelope has a `format` or a `pattern`": (
        "envelopes: {error: {fields: {request_id: {format: uuid7}}}}"
    ),
    "every surface has `codes: open` or `codes: foreign`": "surfaces: {api: {codes: closed}}",
    "no code has `lifecycle: reserved` or `lifecycle: removed`": (
        "codes: {old_code: {summary: It was used once., http: 410, lifecycle: removed}}"
    ),
    "no code has `messages`": "codes: {not_found: {messages: {de: Das gibt es nicht}}}",
    "no code has a `sunset`": "codes: {not_found: {lifecycle: deprecated, sunset: 2027-01-31}}",
    "no surface restricts its `codes`, and no operation has `codes` or `errors`": (
        "operations: {read_order: {match: {routes: ['GET /orders/{id}']}, codes: [not_found]}}"
    ),
    "the taxonomy has no `undeclared.original_code`": (
        "undeclared: {becomes: not_found, original_code: /details/code}"
    ),
    "no code has `boundary`, `domain` or `facts` with a slot in an envelope, and no envelope has "
    "`$summary` in its shape": ("codes: {not_found: {boundary: service}}"),
    "no envelope has `$retriable` in its shape, and no detail key in `$details` has"
    " `role: retriable`": "envelopes: {error: {shape: {retriable: $retriable}}}",
    "no code has a `retriable` other than `caller` and `none`": (
        "codes: {not_found: {retriable: false}}"
    ),
    "no code has `retriable.until`": _UNBOUND,
    "no code has `actions`, and no action has `sends_again`": (
        "codes: {not_found: {actions: [bind]}}"
    ),
    "no code has a `deadline`": ("codes: {timeout: {deadline: {equals: details.timeout_sec}}}"),
    "no code has `details` or `schema`, and no detail key has `everywhere`": (
        "codes: {invalid_request: {details: {field: {type: string}}}}"
    ),
    "the taxonomy has no `detail_keys`, and no code has `details`": (
        "detail_keys: {field: {type: string, summary: The input that failed.}}"
    ),
    "the taxonomy has no `detail_keys`, and every field of details has `additional: allow`": (
        "detail_keys: {field: {type: string, summary: The input that failed.}}"
    ),
    "no code has required `details`, and no surface has `requires_details`": (
        "codes: {invalid_request: {details: {field: {type: string}}}}"
    ),
    "no detail key has `equals_header`": (
        "detail_keys: {retry_after_sec: {type: integer, equals_header: Retry-After}}"
    ),
    "no surface has `transport: http`": _SURFACE,
    "neither `headers` nor a code declares `Retry-After`": (
        "headers: {Retry-After: {on: [429, 503]}}"
    ),
    "no field of an envelope has `echo`": (
        "envelopes: {error: {fields: {request_id: {echo: X-Request-Id}}}}"
    ),
    "no field of an envelope has `invalid_inbound`": (
        "envelopes: {error: {fields: {request_id: {echo: X-Request-Id, invalid_inbound: replace}}}}"
    ),
    "no field of an envelope has `echo` or `mirror`": (
        "envelopes: {error: {fields: {request_id: {echo: X-Request-Id}}}}"
    ),
    "the taxonomy has no `idempotency`": "idempotency: {key: Idempotency-Key, methods: [POST]}",
    "the taxonomy has no `idempotency.mismatch`": (
        "idempotency: {key: Idempotency-Key, methods: [POST], mismatch: key_reused}"
    ),
    "`idempotency.key` is in the path, so no request lacks its key": (
        "operations: {pay: {match: {routes: [POST /payments]}, idempotency_key: Idempotency-Key}}"
    ),
    "the taxonomy has no `idempotency.missing`": (
        "idempotency: {key: Idempotency-Key, methods: [POST], missing: invalid_request}"
    ),
    "the taxonomy has no `privacy.conceal`": (
        "privacy: {conceal: [{across: tenant, answer: not_found}]}"
    ),
    "no code has `http: 429`": _code(
        "rate_limited", "The limit is reached.", "http: 429, retriable: true"
    ),
    "no code has `http: 412`": _STALE,
    "no code has `http: 409`": _code(
        "duplicate", "It is there already.", "http: 409, retriable: false"
    ),
    "no detail key has `refers_to: resource`": (
        "detail_keys: {existing_id: {type: string, refers_to: resource}}"
    ),
    "no detail key has `refers_to`, and no field has `refers_to`": (
        "detail_keys: {report: {type: string, refers_to: file}}"
    ),
    "no surface has `items`": (_batch()),
    "no surface has `mixed_only`": _batch("mixed_only: true"),
    "no surface has `bad_items`": _BAD_ITEMS,
    "no surface has `items` or `bad_items`": _BAD_ITEMS,
    "no surface with `transport: stream` has `requires_details`": (
        "surfaces: {stream: {transport: stream, envelope: error, requires_details: [offset]}}"
    ),
    "no surface has `transport: stream`": (
        "surfaces: {stream: {transport: stream, envelope: error}}"
    ),
    "no surface has `transport: jsonrpc`": "surfaces: {rpc: {transport: jsonrpc, envelope: error}}",
    "no code has `on.mcp`": "codes: {not_found: {on: {mcp: {is_error: true}}}}",
    "no surface has `at: /structuredContent`": (
        "surfaces: {tools: {transport: mcp, at: /structuredContent, envelope: error}}"
    ),
    "no surface has `transport: mcp`": "surfaces: {tools: {transport: mcp, envelope: error}}",
    "the taxonomy has no `navigation`": (
        "navigation: {offers: /next, takes: /step, refused: invalid_request}"
    ),
    "the taxonomy has no `renderings`": (
        "renderings: {tool_text: {shape: {role: tool, content: '${code}: ${message}'}}}"
    ),
    "the taxonomy has no `audit.lookup`": (
        "audit: {id: $request_id, record: {request: {type: string}},"
        " lookup: {request: GET /audit, items: /events, id: /request}}"
    ),
    "no entry of `discovery` has `kind: errors` or `kind: actions`": (
        "discovery: {errors: {request: GET /errors, kind: errors, at: /errors,"
        " item: {code: /code}}}"
    ),
    "the taxonomy has no `privacy`": "privacy: {detectors: [stack-trace, sql, path, secret]}",
    "`privacy.never_echoed` does not list `tenant`": "privacy: {never_echoed: [tenant]}",
    "the taxonomy has no `upstream.retry`": "upstream: {retry: patient}",
    "no retry policy of upstream calls has `jitter`": (
        "retry_policies: {patient: {jitter: {kind: full}}}"
    ),
    "the taxonomy has no `upstream.keys`": "upstream: {retry: patient, keys: [Idempotency-Key]}",
    "no retry policy of upstream calls has `annotate`": (
        "retry_policies: {patient: {annotate: retries}}"
    ),
    "the taxonomy has no `upstream.codes`": "upstream: {codes: [{becomes: not_found}]}",
    "the taxonomy has no `upstream.status`": "upstream: {retry: patient, status: upstream_status}",
    "no code has `client_action: retry`": _code("busy", "It is busy.", _RETRIED),
    "no code has `retry`": _code("busy", "It is busy.", f"{_RETRIED}, retry: patient"),
    "no code has a retry policy with `jitter`": "retry_policies: {patient: {jitter: {kind: full}}}",
    "every code has `client_action: retry` or `client_action: refetch`, no code has a false"
    " `retriable`, and no retry policy has `eligible`": "codes: {not_found: {client_action: none}}",
    "no code has `client_action: refetch`": _STALE,
    "every code has `effect: none`": "codes: {timeout: {effect: unknown}}",
}


def enabling_line(unmet: str) -> str | None:
    """The line of a taxonomy that meets a requirement, by `Requirement.unmet`."""
    if unmet.startswith("`privacy.detectors` does not list `"):
        return f"privacy: {{detectors: [{unmet.split('`')[3]}]}}"
    if unmet.startswith("no envelope has `$") and unmet.endswith("` in its shape"):
        slot = unmet.split("`")[1]
        return f"envelopes: {{error: {{shape: {{{slot[1:]}?: {slot}}}}}}}"
    return LINES.get(unmet)


def enabling_lines(clause: Clause) -> tuple[tuple[Requirement, str], ...]:
    """Each requirement of a clause with the line that meets it."""
    found = ((requirement, enabling_line(requirement.unmet)) for requirement in clause.requires)
    return tuple((requirement, line) for requirement, line in found if line is not None)
