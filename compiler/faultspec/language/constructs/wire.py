"""Details keys, envelopes, surfaces and header rules."""

from faultspec.language.constructs.parts import (
    HEADER,
    MEDIA_TYPE,
    NAME,
    OWN_KEY,
    POINTER,
    SCALAR,
    SCHEMA,
    SCHEMA_KEYS,
    SOURCE_KEY,
    STATUSES,
    WORDS,
    member_type,
)
from faultspec.language.grammar import (
    Anything,
    Choice,
    DeferredKind,
    Either,
    Flag,
    Integer,
    Key,
    Many,
    Named,
    Record,
    Text,
)

REFERS_TO = Key(
    Choice(("resource", "file", "url")),
    "What the value leads to. `resource`: a resource that the caller can read, by its id or by a "
    "path such as `/orders/7`. `file`: a file or folder, by its path. `url`: a page, by its "
    "address.",
)

DETAIL_KEY = Record(
    "a detail key",
    {
        **SCHEMA_KEYS,
        "summary": Key(Text(), "The meaning of the key."),
        "everywhere": Key(Flag(), "Every code may carry the key."),
        "role": Key(
            Choice(("retriable", "retry_after")),
            "`retriable`: the key is the retry flag. `retry_after`: the key is the time to wait "
            "before the next try: a number, a date-time, or a text such as `1.5s`. A negative one "
            "asks not to try again.",
        ),
        "unit": Key(
            Choice(("s", "ms")), "The unit of a number with the role `retry_after`; default s."
        ),
        "equals_header": Key(
            HEADER,
            "The response header whose value this detail repeats: of `ETag` the part between the "
            "quotes, without `W/`; of `Retry-After` a whole number of seconds.",
        ),
        "refers_to": REFERS_TO,
        "source": SOURCE_KEY,
    },
)

FIELD = Record(
    "a field",
    {
        **SCHEMA_KEYS,
        "echo": Key(
            HEADER,
            "The request header whose value is returned here, and in the response header of that "
            "name if there is one, which `mirror` requires; the server generates it if it is "
            "absent.",
        ),
        "invalid_inbound": Key(
            Choice(("replace", "reject", "unspecified")),
            "How the server treats a malformed value of that request header.",
        ),
        "mirror": Key(
            HEADER, "The response header that repeats the slot, in every answer with the slot."
        ),
        "refers_to": REFERS_TO,
        "places": Key(
            Many(
                Either(
                    (
                        Text(
                            r"status|envelope|(/([^~/]|~[01])*)+",
                            "`status`, `envelope`, or a JSON Pointer such as /code",
                        ),
                        Record(
                            "a place in a header",
                            {
                                "header": Key(HEADER, "The response header.", True),
                                "pattern": Key(
                                    Text(),
                                    "A regular expression with one group, the value in the header; "
                                    "default the whole header.",
                                ),
                            },
                        ),
                    )
                ),
                1,
            ),
            "The places of the slot, in order; the first that is there counts. A JSON Pointer is "
            "an optional member of the shape, `{header: X-Error-Code}` a response header. Of "
            "`code` also `status`: the HTTP status decides the code, among those of the operation "
            "and the surface; or `envelope`: the shape of the body decides it, as the one code "
            "with this `envelope`.",
        ),
        "source": SOURCE_KEY,
    },
)

ENVELOPE = Record(
    "an envelope",
    {
        "summary": Key(Text(), "The use of the envelope, in one sentence."),
        "media_type": Key(
            Either((MEDIA_TYPE, Many(MEDIA_TYPE, 1))),
            "The Content-Type, or a list; default application/json. It decides the format of "
            "bodies (docs/formats.md).",
        ),
        "shape": Key(
            Anything(),
            "A picture of the body: `$slot` is a value, `${slot}` is part of a string, `key?` is "
            "an optional member, `...` spreads an object. In a list, each item with a code or a "
            "message is an error of its own.",
            True,
        ),
        "fields": Key(Named(FIELD, NAME), "The types and rules of slots."),
        "additional": Key(
            Choice(("forbid", "warn", "allow")),
            "How members outside the picture are treated: as errors, as warnings, or not at all.",
        ),
        "source": SOURCE_KEY,
    },
)

HEADER_RULE_KEYS = {
    "on": Key(STATUSES, "The statuses of the rule; default 4xx and 5xx."),
    "codes": Key(Many(Text(), 1), "The codes of the rule; default all."),
    "presence": Key(
        Choice(("required", "expected", "optional", "forbidden")),
        "Whether the header is present; `expected` is a SHOULD. Default required.",
    ),
    "format": Key(
        WORDS,
        "retry-after, etag, http-date, methods, challenge, ratelimit, deprecation, or an "
        "identifier format.",
    ),
    "token": Key(Text(), "A directive in the header, such as no-store."),
    "value": Key(
        SCHEMA,
        "The schema of the value, such as `{type: integer, maximum: 60}`, `{enum: [nosniff]}` or a "
        "`pattern`. With a type of numbers or `boolean`, the text is read as that type.",
    ),
    "equals": Key(
        Text(r"\$[A-Za-z_][A-Za-z0-9_]*", "a slot such as $correlation_id"),
        "The slot that the header repeats.",
    ),
    "summary": Key(Text(), "The purpose of the header."),
    "source": SOURCE_KEY,
}
HEADER_RULE = Record("a header rule", HEADER_RULE_KEYS)
HEADER_RULES = Either(
    (Choice(("required", "expected", "optional", "forbidden")), HEADER_RULE, Many(HEADER_RULE, 1))
)

_ALTERNATIVES = Either((POINTER, Many(POINTER, 1)))
SURFACE = Record(
    "a surface",
    {
        "transport": Key(
            Choice(("http", "jsonrpc", "mcp", "event", "stream", "tool_message", "log")),
            "The transport. `stream`: server-sent events; JSON lines are over `http`.",
            True,
        ),
        "match": Key(
            Record(
                "a match",
                {
                    "routes": Key(
                        Many(
                            Text(
                                r"([A-Z]+ )?/\S*",
                                "a route such as `/orders/**` or `GET /orders/{id}`",
                            ),
                            1,
                        ),
                        "The routes that match; default all.",
                    ),
                    "methods": Key(
                        Many(Text(r"[A-Z]+", "an HTTP method"), 1),
                        "The HTTP methods that match; default all.",
                    ),
                    "statuses": Key(STATUSES, "The statuses that match; default all."),
                    "tools": Key(Many(Text(), 1), "The tools or JSON-RPC methods that match."),
                    "request": Key(
                        Named(Either((*SCALAR.branches, Many(SCALAR, 1))), POINTER),
                        "Members of the request body, by JSON Pointer, with the values that match, "
                        "such as `{/Action: PutItem}` of a form. The body is in the format of its "
                        "media type.",
                    ),
                    "headers": Key(
                        Named(WORDS, HEADER, least=1),
                        "Headers of the request, with the values that match, such as "
                        "`{X-Amz-Target: Tables.Put}`; `*` stands for any text.",
                    ),
                    "query": Key(
                        Named(WORDS, least=1),
                        "Parameters of the query, with the values that match, such as `{Action: "
                        "PutItem}`; `*` stands for any text.",
                    ),
                },
            ),
            "The exchanges of the surface; an exchange belongs to the first surface that matches.",
        ),
        "error_when": Key(
            Record(
                "an error condition",
                {
                    "status": Key(STATUSES, "The statuses of errors."),
                    "present": Key(POINTER, "The member whose presence marks an error."),
                    "equals": Key(
                        Named(SCALAR, POINTER, least=1),
                        "Members whose values together mark an error.",
                    ),
                },
            ),
            "How errors are recognised: each key alone makes an answer an error. Default status "
            "4xx and 5xx on HTTP. On MCP the body is the tool result, so structured members are "
            "below `/structuredContent`.",
        ),
        "envelope": Key(
            Either((Text(), Many(Text(), 1))),
            "The envelope of errors, a list of allowed envelopes, or `none` with a reason.",
        ),
        "codes": Key(
            Either(
                (
                    Text(),
                    Many(Text(), 1),
                    Record(
                        "the closed namespaces",
                        {
                            "closed": Key(
                                WORDS,
                                "The codes that are only the declared ones, such as `shop.*`; `*` "
                                "stands for any text.",
                                True,
                            )
                        },
                    ),
                )
            ),
            "`closed`: the declared codes only. `open`: any code, including the declared ones. "
            "`{closed: shop.*}`: any code, but of this namespace only the declared ones. "
            "`foreign`: codes of another namespace, whose shape alone is judged. Or a list of "
            "codes.",
        ),
        "idempotency_key": OWN_KEY,
        "default_status": Key(
            Integer(100, 599),
            "On HTTP: the status of codes that have none (`http: null`); by default such codes do "
            "not occur here.",
        ),
        "at": Key(
            POINTER,
            "The place of the envelope in the body; default the whole body. On MCP the body is "
            "the tool result, and the envelope is usually at `/structuredContent`.",
        ),
        "headers": Key(
            Named(HEADER_RULES, HEADER),
            "Rules for response headers on this surface, beside the general ones; for the same "
            "header and status they count in their place.",
        ),
        "success": Key(
            Record(
                "a success",
                {
                    "require": Key(
                        Named(DeferredKind("member", member_type), POINTER, least=1),
                        "Members of every success, such as `/id`.",
                        True,
                    ),
                    "source": SOURCE_KEY,
                },
            ),
            "The rule for answers that are not errors.",
        ),
        "protocol": Key(
            Record(
                "the protocol's errors",
                {
                    "envelope": Key(
                        Text(),
                        "The envelope of these errors, with the protocol's number as `$code`.",
                        True,
                    ),
                    "codes": Key(
                        Named(
                            Text(),
                            Text(
                                r"-?\d+(\.\.-?\d+)?",
                                "a number such as -32601, or a range such as -32099..-32000",
                            ),
                            least=1,
                        ),
                        "The protocol's numbers, and when each is sent; they are not codes of "
                        "this taxonomy.",
                        True,
                    ),
                    "batches": Key(
                        Flag(),
                        "Whether several calls may come in one message; default: either is right.",
                    ),
                    "source": SOURCE_KEY,
                },
            ),
            "Errors of the underlying protocol, such as JSON-RPC's parse error.",
        ),
        "states": Key(
            Many(
                Record(
                    "a state of a session",
                    {
                        "when": Key(
                            Text(
                                r"(before|during|after) \S+",
                                "`before`, `during` or `after`, and a method",
                            ),
                            "`before initialize`: until this call is answered. `during build`: as "
                            "long as it is under way. `after shutdown`: once it is answered.",
                            True,
                        ),
                        "allows": Key(
                            Many(Text(), 1), "Methods that are not refused; all others are."
                        ),
                        "refuses": Key(Many(Text(), 1), "The only methods that are refused."),
                        "otherwise": Key(
                            Either((Text(), Integer())),
                            "The code of the refusal, or a number of the protocol such as -32600.",
                            True,
                        ),
                    },
                ),
                1,
            ),
            "JSON-RPC over standard streams: the calls that are refused in a state of the session.",
        ),
        "repeats": Key(Text(), "Another surface, whose errors are all repeated here."),
        "sink": Key(Text(), "The file or topic of the records."),
        "level": Key(
            Choice(("must", "should")),
            "Whether errors MUST or SHOULD be carried here; default must.",
        ),
        "reason": Key(
            Text(),
            "With `envelope: none`: why errors have no envelope. With an envelope: why bodies of "
            "another shape pass too. A body does not pass if the place of the code holds a "
            "declared code, or if a parent of that place is a string.",
        ),
        "items": Key(
            _ALTERNATIVES,
            "The place of the outcomes in a multi-status body; a list has alternatives.",
        ),
        "status": Key(
            _ALTERNATIVES,
            "The place of the status in an outcome, or of a flag such as `ok`, false if it "
            "failed. Default `/status`; if no outcome has it, those with an envelope failed.",
        ),
        "body": Key(_ALTERNATIVES, "The place of the envelope in an outcome."),
        "mixed_only": Key(
            Flag(),
            "Multi-status (207, or the statuses of `match`) is used for mixed outcomes only.",
        ),
        "bad_items": Key(
            Text(),
            "The details key that lists the bad items if the whole batch fails, also without "
            "multi-status.",
        ),
        "requires_details": Key(Many(Text(), 1), "Details keys that every error carries."),
        "source": SOURCE_KEY,
    },
)
