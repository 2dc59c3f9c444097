"""The constructs of the language, each key with its explanation.

That one text is the hint of a message, the description in the editor and the sentence of the reference page.
"""

from faultspec.language.grammar import (
    Anything,
    Choice,
    Either,
    Flag,
    Integer,
    Key,
    Later,
    Many,
    Named,
    Nothing,
    Number,
    Record,
    Text,
    Type,
)

NAME = Text(r"[A-Za-z_][A-Za-z0-9_]*", "a name (letters, digits and underscores, not starting with a digit)")
TERM = Text(r"[A-Za-z_][A-Za-z0-9_.\-]*", "a name (letters, digits, `_`, `.` and `-`)")
HEADER_VALUE = Text(r"[^\x00-\x08\x0a-\x1f\x7f]*", "the value of a header, which has no line ends")
HEADER = Text(r"[A-Za-z0-9!#$%&'*+.^_`|~\-]+", "a header name (RFC 9110 token)")
POINTER = Text(r"(/([^~/]|~[01])*)*", "a JSON Pointer such as /error/details (RFC 6901)")
DURATION = Either((Text(r"(\d+(\.\d+)?(ms|s|m|h|d)|P.+)", "a duration such as 250ms, 2s, 5m, 24h or PT24H"), Number(0)))
STATUS = Either((Integer(100, 599), Text(r"[1-5]xx|[1-5]\d\d(-[1-5]\d\d)?", "a status such as 429, 5xx or 502-504")))
STATUSES = Either((Integer(100, 599), STATUS.branches[1], Many(STATUS, 1)))
STATUS_KEY = Text(r"[1-5]xx|[1-5]\d\d(-[1-5]\d\d)?", "a status such as 405, 4xx or 502-504")
WORDS = Either((Text(), Many(Text(), 1)))
MEDIA_TYPE = Text(
    r"[A-Za-z0-9!#$%&'*+.^_`|~\-]+/[A-Za-z0-9!#$%&'*+.^_`|~\-]+( *;.*)?", "a media type such as application/json"
)
SCALAR = Either((Text(blank=True), Number(), Flag(), Nothing()))

SOURCE = Either(
    (
        Text(),
        Many(Text(), 1),
        Record(
            "a source",
            {
                "statement": Key(WORDS, "The ids of the document's statements this rule comes from."),
                "section": Key(Text(), "The section of the document, or of a standard such as `RFC 9110 §15.5.6`."),
                "ruling": Key(WORDS, "The entry of `rulings` that decided this, or several."),
                "note": Key(Text(), "Anything a reader of the rule should know."),
            },
        ),
    )
)
_SOURCE = Key(SOURCE, "Where this comes from: statement ids, a section, or a ruling.")

TERM_VALUE = Either(
    (
        Text(),
        Record(
            "a term",
            {
                "summary": Key(Text(), "What it means, in one sentence.", True),
                "lifecycle": Key(
                    Choice(("stable", "deprecated", "reserved")),
                    "`reserved` terms exist in the vocabulary and on no wire.",
                ),
                "source": _SOURCE,
            },
        ),
    )
)

CONDITION = Named(
    Either((Text(blank=True), Number(), Flag(), Many(Either((Text(blank=True), Number(), Flag())), 1))),
    Text(
        r"status|cause|operation\.idempotent|caller\.authenticated|details\.[A-Za-z_][A-Za-z0-9_]*",
        "a fact: status, cause, operation.idempotent, caller.authenticated or details.<key>",
    ),
    least=1,
)

_TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")


def _schema() -> Type:
    return SCHEMA


def _member() -> Type:
    return MEMBER


SCHEMA_KEYS = {
    "type": Key(Either((Choice(_TYPES), Many(Choice(_TYPES), 1))), "The JSON type, or a list of them."),
    "description": Key(Text(), "What the value means."),
    "format": Key(WORDS, "An identifier format such as uuid7, ulid, date-time, uri; a list means any of them."),
    "pattern": Key(Text(), "A regular expression (ECMA-262, unanchored) the string must match."),
    "enum": Key(Many(SCALAR, 1), "The closed list of values."),
    "vocabulary": Key(
        Text(), "The vocabulary (`actions`, `boundaries` or one of `vocabularies`) the string comes from."
    ),
    "minimum": Key(Number(), "The smallest number allowed."),
    "maximum": Key(Number(), "The largest number allowed."),
    "minLength": Key(Integer(0), "The fewest characters allowed."),
    "maxLength": Key(Integer(0), "The most characters allowed."),
    "items": Key(Later("schema", _schema), "The schema of every item of an array."),
    "properties": Key(
        Named(Later("member", _member), optional=True), "The members of an object; a key ending in `?` is optional."
    ),
    "additional": Key(
        Choice(("forbid", "warn", "allow")), "What an undeclared member is: an error, a warning, or nothing."
    ),
}
SCHEMA = Record("a schema", SCHEMA_KEYS)
MEMBER = Record(
    "a member",
    {
        **SCHEMA_KEYS,
        "expected": Key(Flag(), "The member SHOULD be there: its absence is a warning."),
        "source": _SOURCE,
    },
)

DETAIL_KEY = Record(
    "a detail key",
    {
        **SCHEMA_KEYS,
        "summary": Key(Text(), "What the key means, wherever it stands."),
        "everywhere": Key(Flag(), "Every code may carry the key."),
        "role": Key(Choice(("retriable",)), "`retriable`: the key is the wire form of the retry flag."),
        "equals_header": Key(
            HEADER, "The response header whose validator (without quotes and `W/`) this value repeats."
        ),
        "refers_to": Key(
            Choice(("resource",)), "`resource`: the value identifies a resource that the caller can read."
        ),
        "source": _SOURCE,
    },
)

FIELD = Record(
    "a field",
    {
        **SCHEMA_KEYS,
        "echo": Key(
            HEADER,
            "The request header whose value comes back here and in that response header; one is made if it is absent.",
        ),
        "invalid_inbound": Key(
            Choice(("replace", "reject", "unspecified")), "What happens to a malformed value in that request header."
        ),
        "mirror": Key(HEADER, "A response header that repeats the slot."),
        "source": _SOURCE,
    },
)

ENVELOPE = Record(
    "an envelope",
    {
        "summary": Key(Text(), "Where the envelope is used, in one sentence."),
        "media_type": Key(
            Either((MEDIA_TYPE, Many(MEDIA_TYPE, 1))), "The Content-Type it travels with; default application/json."
        ),
        "shape": Key(
            Anything(),
            "A picture of the wire: `$slot`, `${slot}` in text, `key?` is an optional member, `...` spreads an object.",
            True,
        ),
        "fields": Key(Named(FIELD, NAME), "What is known of each slot beyond its place."),
        "additional": Key(
            Choice(("forbid", "warn", "allow")),
            "What a member outside the picture is: an error, a warning, or nothing.",
        ),
        "source": _SOURCE,
    },
)

_ALTERNATIVES = Either((POINTER, Many(POINTER, 1)))
SURFACE = Record(
    "a surface",
    {
        "transport": Key(
            Choice(("http", "jsonrpc", "mcp", "event", "stream", "tool_message", "log")), "What carries it.", True
        ),
        "match": Key(
            Record(
                "a match",
                {
                    "routes": Key(
                        Many(Text(r"([A-Z]+ )?/\S*", "a route such as `/orders/**` or `GET /orders/{id}`"), 1),
                        "Routes claimed; default all.",
                    ),
                    "methods": Key(Many(Text(r"[A-Z]+", "an HTTP method"), 1), "HTTP methods claimed; default all."),
                    "statuses": Key(STATUSES, "Statuses claimed; default all."),
                    "tools": Key(Many(Text(), 1), "Tools or JSON-RPC methods claimed."),
                    "request": Key(
                        Named(Either((*SCALAR.branches, Many(SCALAR, 1))), POINTER),
                        "Members of the request's body, by JSON Pointer, with the value or values that are meant.",
                    ),
                },
            ),
            "Which exchanges the surface claims; the first surface that matches wins.",
        ),
        "error_when": Key(
            Record(
                "an error condition",
                {
                    "status": Key(STATUSES, "The statuses that make the exchange an error."),
                    "present": Key(POINTER, "The member whose presence makes the exchange an error."),
                    "equals": Key(
                        Named(SCALAR, POINTER, least=1), "Members and their values that together make it an error."
                    ),
                },
            ),
            "What makes an exchange here an error; default status 4xx and 5xx on HTTP.",
        ),
        "envelope": Key(
            Either((Text(), Many(Text(), 1))),
            "The envelope of errors here, a list of several allowed ones, or `none` with a reason.",
        ),
        "codes": Key(
            Either((Text(), Many(Text(), 1))),
            "`closed`: every declared code and no other. `open`: any code, the declared ones included. `foreign`: codes of "
            "another namespace, of which only the shape is judged. Or a list of codes.",
        ),
        "at": Key(POINTER, "Where in the body the envelope stands; default the whole body."),
        "success": Key(
            Record(
                "a success",
                {
                    "require": Key(
                        Named(Later("member", _member), POINTER, least=1), "Members that every success here has.", True
                    ),
                    "source": _SOURCE,
                },
            ),
            "What an answer here owes that is no error.",
        ),
        "protocol": Key(
            Record(
                "the protocol's errors",
                {
                    "envelope": Key(Text(), "Their picture, with the protocol's own number as `$code`.", True),
                    "codes": Key(
                        Named(
                            Text(),
                            Text(r"-?\d+(\.\.-?\d+)?", "a number such as -32601, or a range such as -32099..-32000"),
                            least=1,
                        ),
                        "Its numbers and when each is sent; they are no codes of this taxonomy.",
                        True,
                    ),
                    "source": _SOURCE,
                },
            ),
            "Errors of the protocol that carries ours, such as JSON-RPC's parse error.",
        ),
        "repeats": Key(Text(), "The surface whose every error is carried here too."),
        "sink": Key(Text(), "The file or topic that the record is written to."),
        "level": Key(Choice(("must", "should")), "Whether errors must be carried here; default must."),
        "reason": Key(
            Text(),
            "Why errors here carry no envelope; beside one, why bodies of another shape pass. What has a declared code in "
            "the place of the code, or a bare string above it, is no such body.",
        ),
        "items": Key(_ALTERNATIVES, "Where a multi-status body keeps its outcomes; a list names alternatives."),
        "status": Key(_ALTERNATIVES, "Where an outcome keeps its status."),
        "body": Key(_ALTERNATIVES, "Where an outcome keeps its envelope."),
        "mixed_only": Key(Flag(), "Multi-status is for heterogeneous outcomes only."),
        "bad_items": Key(Text(), "The details key that lists the bad items when the whole batch fails."),
        "requires_details": Key(Many(Text(), 1), "Details keys every error here must carry."),
        "source": _SOURCE,
    },
)

HEADER_RULE_KEYS = {
    "on": Key(STATUSES, "The statuses the rule is for; default 4xx and 5xx."),
    "codes": Key(Many(Text(), 1), "The codes the rule is for; default all."),
    "presence": Key(
        Choice(("required", "expected", "optional", "forbidden")),
        "Whether it must be there; `expected` is a SHOULD. Default required.",
    ),
    "format": Key(WORDS, "retry-after, etag, http-date, methods, challenge, or an identifier format."),
    "token": Key(Text(), "A directive the header must contain, e.g. no-store."),
    "equals": Key(
        Text(r"\$[A-Za-z_][A-Za-z0-9_]*", "a slot such as $correlation_id"), "The slot of the envelope it repeats."
    ),
    "summary": Key(Text(), "What the header is for."),
    "source": _SOURCE,
}
HEADER_RULE = Record("a header rule", HEADER_RULE_KEYS)
HEADER_RULES = Either((Choice(("required", "expected", "optional", "forbidden")), HEADER_RULE, Many(HEADER_RULE, 1)))

_STATUS_RULE = Record(
    "a status rule",
    {
        "if": Key(CONDITION, "The facts that must hold."),
        "status": Key(STATUS, "The status then."),
        "else": Key(STATUS, "The status where no rule before held."),
    },
)
HTTP = Either((STATUS.branches[0], STATUS.branches[1], Nothing(), Many(Either((*STATUS.branches, _STATUS_RULE)), 1)))

RETRIABLE = Either(
    (
        Flag(),
        Choice(("caller", "none")),
        Record(
            "a retriability",
            {
                "when": Key(
                    Many(
                        Record(
                            "a rule",
                            {
                                "if": Key(CONDITION, "The facts that must hold.", True),
                                "then": Key(Flag(), "The flag then.", True),
                            },
                        ),
                        1,
                    ),
                    "Rules; the first whose facts hold decides.",
                ),
                "else": Key(Flag(), "The flag where no rule holds."),
                "until": Key(Text(), "The action after which the request may be sent again."),
            },
        ),
    )
)

EXAMPLE = Record(
    "an example",
    {
        "summary": Key(Text(), "What happened."),
        "message": Key(Text(), "The message; default the code's own."),
        "details": Key(Named(Anything()), "The details."),
        "slots": Key(Named(Anything(), NAME), "Values of other slots."),
        "status": Key(Integer(100, 599), "The HTTP status; default the code's first."),
        "headers": Key(Named(HEADER_VALUE, HEADER), "Response headers worth showing."),
        "source": _SOURCE,
    },
)

#: The names of gRPC's status codes (grpc/status.proto), but for OK.
GRPC = (
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)

CODE_KEYS = {
    "summary": Key(Text(), "What went wrong, in one sentence.", True),
    "description": Key(Text(), "More than a sentence, where it is needed."),
    "message": Key(Text(), "The message clients see; `${key}` stands for a registered detail."),
    "wire": Key(Either((Text(), Integer())), "What stands in the code slot; default the name."),
    "domain": Key(Text(), "The domain it belongs to."),
    "boundary": Key(WORDS, "The layer that produces it; the first of a list is the default."),
    "http": Key(HTTP, "The HTTP status, a list or range of them, rules by condition, or null with `http_reason`."),
    "http_reason": Key(Text(), "Why the code never travels over HTTP."),
    "envelope": Key(WORDS, "The envelopes it travels in, where its surfaces have several; default each of them."),
    "on": Key(
        Record(
            "the carriers",
            {
                "grpc": Key(Choice(GRPC), "The gRPC status."),
                "mcp": Key(
                    Record(
                        "an MCP result",
                        {
                            "is_error": Key(Flag(), "The result's `isError`.", True),
                            "strict": Key(
                                Flag(), "`isError` where a server marks every refusal; either value may be seen."
                            ),
                        },
                    ),
                    "How a tool result with this code is marked.",
                ),
            },
        ),
        "What the code is on other carriers.",
    ),
    "deadline": Key(
        Record(
            "a deadline",
            {
                "equals": Key(
                    Text(r"details\.[A-Za-z_][A-Za-z0-9_]*", "a detail such as details.timeout_seconds"),
                    "The detail that holds the budget, in seconds.",
                    True,
                ),
                "late_by": Key(DURATION, "How much later the answer may come; default 1s."),
                "source": _SOURCE,
            },
        ),
        "The code says that a budget ran out, so its answer comes no sooner, and not much later.",
    ),
    "retriable": Key(RETRIABLE, "May the same request be sent again? true, false, `caller`, `none`, or rules."),
    "client_action": Key(
        Choice(("retry", "refetch", "user", "none")), "What a client does; `is_retryable` means exactly `retry`."
    ),
    "retry": Key(Text(), "The retry policy."),
    "effect": Key(Choice(("none", "possible", "unknown")), "May the operation have taken effect although it failed?"),
    "headers": Key(Named(HEADER_RULES, HEADER), "Response headers this code travels with."),
    "details": Key(
        Named(MEMBER, NAME, optional=True),
        "The members of `details`; `{}` takes the type from `detail_keys`, a key ending in `?` is optional.",
    ),
    "schema": Key(Named(Anything()), "An imported JSON Schema of the details, kept as it is."),
    "example": Key(Either((EXAMPLE, Many(EXAMPLE, 1))), "An instance of the code, or several."),
    "actions": Key(Many(Text(), 1), "The recovery actions it suggests."),
    "facts": Key(Named(WORDS, NAME), "The members of a vocabulary this code goes with, by slot."),
    "lifecycle": Key(
        Choice(("stable", "deprecated", "reserved", "removed")),
        "`reserved`: not produced yet. `removed`: a tombstone, never reused.",
    ),
    "since": Key(Text(), "The taxonomy version that introduced it."),
    "sunset": Key(Text(r"\d{4}-\d{2}-\d{2}", "a date such as 2027-01-31"), "The date it stops being produced."),
    "replaced_by": Key(Text(), "The code that takes its place."),
    "level": Key(Choice(("protocol", "operation")), "`protocol`: means the same for every operation."),
    "passthrough": Key(
        Many(Text(), 1),
        "Members that carry foreign text by contract, exempt from the ban on its shape, never on secrets.",
    ),
    "source": _SOURCE,
}
CODE = Record("a code", CODE_KEYS)

OPERATION = Record(
    "an operation",
    {
        "summary": Key(Text(), "What it does."),
        "wire": Key(Text(), "What callers call it, such as `fs/readFile`; default the name."),
        "match": Key(SURFACE.keys["match"].type, "Which exchanges are this operation."),
        "idempotent": Key(Flag(), "Whether sending it twice does what sending it once does."),
        "codes": Key(Many(Text(), 1), "The shared codes it may answer with; default all that its surface allows."),
        "errors": Key(Named(CODE, NAME), "The codes only this operation has."),
        "source": _SOURCE,
    },
)

PHASE = Record(
    "a backoff",
    {
        "kind": Key(Choice(("exponential", "linear", "constant")), "How the delay grows.", True),
        "base": Key(DURATION, "The first delay.", True),
        "factor": Key(Number(1), "What an exponential delay is multiplied by; default 2."),
        "step": Key(DURATION, "What a linear delay grows by; default the base."),
        "max": Key(DURATION, "The longest delay."),
        "for": Key(DURATION, "How long this phase lasts, counted from the first failure; the last phase has no end."),
    },
)

RETRY_POLICY = Record(
    "a retry policy",
    {
        "summary": Key(Text(), "For what it is, in one sentence."),
        "max_attempts": Key(
            Integer(1), "Requests in all, the first one included: three retries are four attempts.", True
        ),
        "backoff": Key(Either((PHASE, Many(PHASE, 1))), "How delays grow; a list is phase after phase."),
        "jitter": Key(
            Record(
                "a jitter",
                {
                    "kind": Key(
                        Choice(("none", "full", "equal", "additive", "ratio")),
                        "full: 0 to d. equal: d/2 to d. additive: d to d×(1+ratio). ratio: d×(1-ratio) to d×(1+ratio).",
                        True,
                    ),
                    "ratio": Key(Number(0), "The share of the delay, for additive and ratio."),
                },
            ),
            "How delays are spread.",
        ),
        "retry_after": Key(
            Record(
                "a Retry-After rule",
                {
                    "honor": Key(Flag(), "Whether the server's hint counts.", True),
                    "max": Key(DURATION, "The longest hint that is obeyed."),
                    "beyond": Key(
                        Choice(("cap", "ignore")), "A longer hint is cut to the maximum, or ignored; default cap."
                    ),
                    "over": Key(DURATION, "The hint may lengthen the computed delay by at most this."),
                    "at_least_computed": Key(Flag(), "The hint never shortens the computed delay."),
                },
            ),
            "What a server's Retry-After does to the delay.",
        ),
        "budget": Key(
            Record(
                "a retry budget",
                {
                    "tokens": Key(Integer(0), "The size of the token bucket.", True),
                    "cost": Key(Integer(0), "What a retry costs.", True),
                    "idle_refund": Key(Integer(0), "What a success without a retry puts back; default 1."),
                },
            ),
            "A token bucket shared by the calls of one client.",
        ),
        "kinds": Key(
            Named(
                Record(
                    "a kind of failure",
                    {
                        "cost": Key(Integer(0), "What a retry of this kind costs."),
                        "base": Key(DURATION, "The first delay for this kind."),
                    },
                ),
                NAME,
            ),
            "What is different for one kind of failure, e.g. `throttled`.",
        ),
        "max_elapsed": Key(DURATION, "The longest time all attempts may take together."),
        "isolation": Key(Text(), "The isolation level the attempts run at."),
        "annotate": Key(Text(), "The details key that tells how often was retried."),
        "eligible": Key(
            Many(Text(), 1),
            "The codes the policy's owner retries, whatever their flag says; default those that name the policy.",
        ),
        "eligible_when": Key(
            Many(
                Record(
                    "a rule",
                    {
                        "if": Key(CONDITION, "The facts that must hold.", True),
                        "then": Key(Flag(), "Whether it is retried then.", True),
                    },
                ),
                1,
            ),
            "When one of those codes is retried; the first rule whose facts hold decides, and without one it is.",
        ),
        "source": _SOURCE,
    },
)

IDEMPOTENCY = Record(
    "the idempotency rule",
    {
        "key": Key(HEADER, "The request header that names an intent.", True),
        "methods": Key(Many(Text(r"[A-Z]+", "an HTTP method"), 1), "The methods that accept it; default POST."),
        "window": Key(DURATION, "How long a replay returns the same result."),
        "replay": Key(
            Record(
                "a replay",
                {
                    "equal": Key(Many(Choice(("status", "body")), 1), "What must be equal."),
                    "headers": Key(Many(HEADER), "Headers that must be equal where the first answer had them."),
                },
            ),
            "What a replay repeats.",
        ),
        "mismatch": Key(Text(), "The code for one key with two different bodies, or `unspecified`."),
        "default": Key(Choice(("idempotent", "not_idempotent")), "What an operation is that says nothing."),
        "source": _SOURCE,
    },
)

UPSTREAM = Record(
    "the way upstream",
    {
        "retry": Key(Text(), "The retry policy of the service's own calls."),
        "default": Key(Choice(("idempotent", "not_idempotent")), "What an operation is that says nothing."),
        "keys": Key(
            Many(Text(), 1),
            "What names one intent, the same in each retry of a call: request headers, or members of the body.",
        ),
        "source": _SOURCE,
    },
)

DETECTORS = (
    "stack-trace",
    "sql",
    "connection-string",
    "path",
    "private-address",
    "secret",
    "email",
    "internal-name",
    "canary",
)

PRIVACY = Record(
    "the privacy rules",
    {
        "detectors": Key(Many(Choice(DETECTORS), 1), "What must never be seen in an error."),
        "never_echoed": Key(Many(Choice(("tenant",))), "Attributes of an identity whose value never comes back."),
        "conceal": Key(
            Many(
                Record(
                    "a concealment",
                    {
                        "across": Key(
                            Choice(("tenant", "owner")), "The border across which existence is not revealed.", True
                        ),
                        "answer": Key(Text(), "The code of a resource that is not there.", True),
                        "never": Key(Many(Text()), "Codes that would reveal it."),
                        "source": _SOURCE,
                    },
                )
            ),
            "Resources whose existence is not revealed.",
        ),
        "internal_names": Key(Many(Text()), "Regular expressions of names that stay inside."),
        "source": _SOURCE,
    },
)

TELEMETRY = Record(
    "the telemetry contract",
    {
        "metrics": Key(
            Named(
                Record(
                    "a metric",
                    {
                        "kind": Key(
                            Choice(("counter", "gauge", "histogram", "ratio")), "What kind of instrument.", True
                        ),
                        "labels": Key(Many(Text()), "Its labels."),
                        "summary": Key(Text(), "What it measures.", True),
                        "source": _SOURCE,
                    },
                ),
                TERM,
            ),
            "The metrics.",
        ),
        "log": Key(Named(MEMBER, TERM, optional=True), "The members of an error's log record."),
        "span": Key(Named(Text(), TERM), "Span attributes and what they hold."),
        "alerts": Key(
            Named(
                Record(
                    "an alert",
                    {
                        "severity": Key(Text(), "P1, P2, …", True),
                        "when": Key(Text(), "When it fires, in a sentence.", True),
                        "codes": Key(Many(Text(), 1), "The codes it counts."),
                        "statuses": Key(STATUSES, "The statuses it counts."),
                        "threshold": Key(Number(0, 1), "The share of requests above which it fires."),
                        "window": Key(DURATION, "The time the share is taken over."),
                        "runbook": Key(Many(Text(), 1), "What to do, step by step.", True),
                        "source": _SOURCE,
                    },
                ),
                TERM,
            ),
            "Alerts with their runbooks.",
        ),
        "source": _SOURCE,
    },
)

UNKNOWN = Record(
    "the rule",
    {
        "becomes": Key(Text(), "The code it is treated as.", True),
        "retriable": Key(Flag(), "Whether it may be sent again; default false."),
        "original_code": Key(POINTER, "Where the code that was not known is kept."),
        "source": _SOURCE,
    },
)

RENDERING = Record(
    "a rendering",
    {
        "summary": Key(Text(), "For whom it is."),
        "given": Key(Named(Text(), NAME), "Values that the error does not know, each with what it is."),
        "shape": Key(
            Anything(),
            "A picture as under `envelopes`; `${details.key}` and `${given}` stand in text too, and a line whose parameter "
            "is missing is left out.",
            True,
        ),
        "codes": Key(Many(Text(), 1), "The codes it is for; default all."),
        "source": _SOURCE,
    },
)

AUDIT = Record(
    "the audit contract",
    {
        "id": Key(Text(r"\$[A-Za-z_][A-Za-z0-9_]*", "a slot such as $audit_id"), "The slot that leads to the record."),
        "lookup": Key(
            Record(
                "a look-up",
                {
                    "request": Key(Text(), "`GET /path`, or the URI of a resource.", True),
                    "items": Key(POINTER, "Where the list of records stands; default the whole answer."),
                    "id": Key(POINTER, "Where a record keeps the id."),
                    "order": Key(Choice(("newest-first", "oldest-first")), "How the list is ordered."),
                },
            ),
            "How records are read back; left out where they can't be.",
        ),
        "record": Key(Named(MEMBER, TERM, optional=True, least=1), "The members of a record.", True),
        "means": Key(
            Named(
                Text(
                    r"\$[A-Za-z_][A-Za-z0-9_]*|details\.[A-Za-z_][A-Za-z0-9_]*",
                    "a slot such as $code, or details.<key>",
                ),
                TERM,
            ),
            "Which slot or detail of the error a member repeats.",
        ),
        "per": Key(Choice(("failure", "exchange")), "Whether successes are recorded too; default failure."),
        "source": _SOURCE,
    },
)

PUBLICATION = Record(
    "a publication",
    {
        "request": Key(Text(), "How it is asked for; `${operation}` is an operation's name.", True),
        "kind": Key(Choice(("errors", "openapi", "mcp-tools", "actions")), "What is published there.", True),
        "at": Key(POINTER, "Where the list stands; default the whole answer."),
        "item": Key(
            Named(POINTER, Text(r"code|summary|http|details", "code, summary, http or details"), least=1),
            "Where an item of the list keeps what.",
        ),
        "empty": Key(Choice(("list", "absent", "null")), "What stands there when there is nothing; default list."),
        "source": _SOURCE,
    },
)

NAVIGATION = Record(
    "the navigation",
    {
        "offers": Key(POINTER, "Where an answer, success or refusal, lists what may come next.", True),
        "takes": Key(POINTER, "Where a request says what it wants.", True),
        "refused": Key(Text(), "The code of what exists and is not offered.", True),
        "unknown": Key(Text(), "The code of what does not exist."),
        "all": Key(
            Text(r"\$[A-Za-z_][A-Za-z0-9_]*", "a slot such as $known_actions"), "The slot that lists all there is."
        ),
        "source": _SOURCE,
    },
)

IMPORTED = Record(
    "imported codes",
    {
        "pattern": Key(
            Text(r"[A-Za-z0-9_.\-]*\$\{status\}[A-Za-z0-9_.\-]*", "text with ${status} in it, such as HTTP_${status}"),
            "What such a code looks like; `${status}` is the status that it travels under.",
            True,
        ),
        "retriable": Key(Flag(), "Whether they may be sent again; default false."),
        "source": _SOURCE,
    },
)

DOCUMENT = Record(
    "a taxonomy",
    {
        "faultspec": Key(Integer(1, 1), "The version of this language: 1.", True),
        "taxonomy": Key(
            Record(
                "the header",
                {
                    "name": Key(NAME, "The taxonomy's name; generated packages are called after it.", True),
                    "version": Key(
                        Text(r"\d+\.\d+\.\d+(-[0-9A-Za-z.\-]+)?(\+[0-9A-Za-z.\-]+)?", "a version such as 1.0.0"),
                        "The taxonomy's own semantic version.",
                        True,
                    ),
                    "title": Key(Text(), "What people call it."),
                    "owner": Key(Text(), "The team that decides."),
                    "description": Key(Text(), "What it covers."),
                },
            ),
            "Name, version and owner.",
            True,
        ),
        "extends": Key(
            Text(),
            "The taxonomy that this one is laid over: a path from here, or `package:name/path` in an installed package.",
        ),
        "extensible": Key(
            Many(Text(r"[a-z_]+(\.[^.]+)*", "a path such as codes or codes.*.message"), 1),
            "What a taxonomy that extends this one may touch: to a mapping it may add, anything else it may replace.",
        ),
        "rulings": Key(
            Named(
                Record(
                    "a ruling",
                    {
                        "statements": Key(Many(Text()), "The statements it is about."),
                        "conflict": Key(Text(), "What contradicts, or what is left open.", True),
                        "decision": Key(Text(), "What holds here.", True),
                        "reason": Key(Text(), "Why.", True),
                    },
                ),
                TERM,
            ),
            "Decisions on what the document contradicts or leaves open.",
        ),
        "domains": Key(Named(TERM_VALUE, NAME), "Groups of codes by responsibility."),
        "boundaries": Key(Named(TERM_VALUE, NAME), "The layers that produce errors."),
        "actions": Key(Named(TERM_VALUE, NAME), "The closed vocabulary of recovery actions."),
        "vocabularies": Key(Named(Named(TERM_VALUE, TERM), NAME), "Other closed vocabularies, e.g. phases."),
        "detail_keys": Key(Named(DETAIL_KEY, NAME), "The registry of details keys: one name, one meaning, everywhere."),
        "envelopes": Key(Named(ENVELOPE, NAME, least=1), "Pictures of the wire.", True),
        "surfaces": Key(Named(SURFACE, NAME), "Where each envelope applies."),
        "headers": Key(Named(HEADER_RULES, HEADER), "Response headers by status."),
        "fallback": Key(
            Named(
                Record(
                    "a fallback",
                    {
                        "code": Key(
                            Either((Text(), Nothing())),
                            "The code such a status travels with; null: the status is not used.",
                            True,
                        ),
                        "reason": Key(Text(), "Why.", True),
                        "source": _SOURCE,
                    },
                ),
                STATUS_KEY,
            ),
            "The code of each error status that no code claims.",
        ),
        "retry_policies": Key(Named(RETRY_POLICY, NAME), "How clients retry."),
        "idempotency": Key(IDEMPOTENCY, "How a write is made safe to send again."),
        "upstream": Key(UPSTREAM, "How services behind this one are called."),
        "codes": Key(Named(CODE, NAME, least=1), "The failures.", True),
        "operations": Key(Named(OPERATION, NAME), "Operations with failures of their own."),
        "unknown": Key(UNKNOWN, "What a client does with a code it does not know."),
        "undeclared": Key(UNKNOWN, "What a service does with an error it did not declare."),
        "imported": Key(IMPORTED, "The form of codes that importers make of statuses; none is declared by hand."),
        "renderings": Key(Named(RENDERING, NAME), "Errors as text, for readers without an envelope."),
        "navigation": Key(NAVIGATION, "How callers walk: what is offered may be taken."),
        "audit": Key(AUDIT, "The record of every failure, and where it is looked up."),
        "discovery": Key(Named(PUBLICATION, NAME), "Where services publish what they declare."),
        "privacy": Key(PRIVACY, "What must not leave."),
        "telemetry": Key(TELEMETRY, "Metrics, log record, span attributes and alerts."),
        "obligations": Key(
            Named(
                Record(
                    "an obligation",
                    {
                        "text": Key(Text(), "What is owed.", True),
                        "reason": Key(Text(), "Why nobody can check it from outside.", True),
                        "source": _SOURCE,
                    },
                ),
                TERM,
            ),
            "Statements nobody can check from outside.",
        ),
    },
)
