"""What travels: details keys, envelopes, surfaces, header rules."""

from faultspec.language.constructs.parts import (
    HEADER,
    MEDIA_TYPE,
    NAME,
    POINTER,
    SCALAR,
    SCHEMA_KEYS,
    SOURCE_KEY,
    STATUSES,
    WORDS,
    member,
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

DETAIL_KEY = Record(
    "a detail key",
    {
        **SCHEMA_KEYS,
        "summary": Key(Text(), "What the key means, wherever it stands."),
        "everywhere": Key(Flag(), "Every code may carry the key."),
        "role": Key(
            Choice(("retriable",)), "`retriable`: the key is the wire form of the retry flag."
        ),
        "equals_header": Key(
            HEADER,
            "The response header that this value repeats: a validator without quotes and `W/`, or the seconds of Retry-After, "
            "which are whole.",
        ),
        "refers_to": Key(
            Choice(("resource",)),
            "`resource`: the value identifies a resource that the caller can read.",
        ),
        "source": SOURCE_KEY,
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
            Choice(("replace", "reject", "unspecified")),
            "What happens to a malformed value in that request header.",
        ),
        "mirror": Key(HEADER, "A response header that repeats the slot."),
        "source": SOURCE_KEY,
    },
)

ENVELOPE = Record(
    "an envelope",
    {
        "summary": Key(Text(), "Where the envelope is used, in one sentence."),
        "media_type": Key(
            Either((MEDIA_TYPE, Many(MEDIA_TYPE, 1))),
            "The Content-Type it travels with; default application/json.",
        ),
        "shape": Key(
            Anything(),
            "A picture of the wire: `$slot`, `${slot}` in text, `key?` is an optional member, `...` spreads an object. Each "
            "item of a list with the code in it is an error of its own.",
            True,
        ),
        "fields": Key(Named(FIELD, NAME), "What is known of each slot beyond its place."),
        "additional": Key(
            Choice(("forbid", "warn", "allow")),
            "What a member outside the picture is: an error, a warning, or nothing.",
        ),
        "source": SOURCE_KEY,
    },
)

_ALTERNATIVES = Either((POINTER, Many(POINTER, 1)))
SURFACE = Record(
    "a surface",
    {
        "transport": Key(
            Choice(("http", "jsonrpc", "mcp", "event", "stream", "tool_message", "log")),
            "What carries it.",
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
                        "Routes claimed; default all.",
                    ),
                    "methods": Key(
                        Many(Text(r"[A-Z]+", "an HTTP method"), 1),
                        "HTTP methods claimed; default all.",
                    ),
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
                    "present": Key(
                        POINTER, "The member whose presence makes the exchange an error."
                    ),
                    "equals": Key(
                        Named(SCALAR, POINTER, least=1),
                        "Members and their values that together make it an error.",
                    ),
                },
            ),
            "What makes an exchange here an error; default status 4xx and 5xx on HTTP. Of MCP the body is the tool's result, so a "
            "member of what the tool says is below `/structuredContent`.",
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
        "default_status": Key(
            Integer(100, 599),
            "On HTTP: the status here of codes that have none (`http: null`); default: they do not come here.",
        ),
        "at": Key(
            POINTER,
            "Where in the body the envelope stands; default the whole body. Of MCP the body is the tool's result, with the envelope at "
            "`/structuredContent` as a rule.",
        ),
        "success": Key(
            Record(
                "a success",
                {
                    "require": Key(
                        Named(DeferredKind("member", member), POINTER, least=1),
                        "Members that every success here has.",
                        True,
                    ),
                    "source": SOURCE_KEY,
                },
            ),
            "What an answer here owes that is no error.",
        ),
        "protocol": Key(
            Record(
                "the protocol's errors",
                {
                    "envelope": Key(
                        Text(), "Their picture, with the protocol's own number as `$code`.", True
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
                        "Its numbers and when each is sent; they are no codes of this taxonomy.",
                        True,
                    ),
                    "source": SOURCE_KEY,
                },
            ),
            "Errors of the protocol that carries ours, such as JSON-RPC's parse error.",
        ),
        "repeats": Key(Text(), "The surface whose every error is carried here too."),
        "sink": Key(Text(), "The file or topic that the record is written to."),
        "level": Key(
            Choice(("must", "should")), "Whether errors must be carried here; default must."
        ),
        "reason": Key(
            Text(),
            "Why errors here carry no envelope; beside one, why bodies of another shape pass. What has a declared code in "
            "the place of the code, or a bare string above it, is no such body.",
        ),
        "items": Key(
            _ALTERNATIVES,
            "Where a multi-status body keeps its outcomes; a list names alternatives.",
        ),
        "status": Key(_ALTERNATIVES, "Where an outcome keeps its status."),
        "body": Key(_ALTERNATIVES, "Where an outcome keeps its envelope."),
        "mixed_only": Key(Flag(), "Multi-status is for heterogeneous outcomes only."),
        "bad_items": Key(
            Text(), "The details key that lists the bad items when the whole batch fails."
        ),
        "requires_details": Key(Many(Text(), 1), "Details keys every error here must carry."),
        "source": SOURCE_KEY,
    },
)

HEADER_RULE_KEYS = {
    "on": Key(STATUSES, "The statuses the rule is for; default 4xx and 5xx."),
    "codes": Key(Many(Text(), 1), "The codes the rule is for; default all."),
    "presence": Key(
        Choice(("required", "expected", "optional", "forbidden")),
        "Whether it must be there; `expected` is a SHOULD. Default required.",
    ),
    "format": Key(
        WORDS, "retry-after, etag, http-date, methods, challenge, or an identifier format."
    ),
    "token": Key(Text(), "A directive the header must contain, e.g. no-store."),
    "equals": Key(
        Text(r"\$[A-Za-z_][A-Za-z0-9_]*", "a slot such as $correlation_id"),
        "The slot of the envelope it repeats.",
    ),
    "summary": Key(Text(), "What the header is for."),
    "source": SOURCE_KEY,
}
HEADER_RULE = Record("a header rule", HEADER_RULE_KEYS)
HEADER_RULES = Either(
    (Choice(("required", "expected", "optional", "forbidden")), HEADER_RULE, Many(HEADER_RULE, 1))
)
