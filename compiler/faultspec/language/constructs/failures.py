"""Codes and operations."""

from faultspec.language.constructs.parts import (
    CONDITION,
    DETAIL,
    DURATION,
    HEADER,
    HEADER_VALUE,
    LOCALE,
    MEMBER,
    NAME,
    OF_DETAILS,
    OWN_KEY,
    SOURCE_KEY,
    STATUS,
    SUPPORT_KEYS,
    WORDS,
)
from faultspec.language.constructs.wire import HEADER_RULES, SURFACE
from faultspec.language.grammar import (
    Anything,
    Choice,
    Either,
    Flag,
    Integer,
    Key,
    Many,
    Named,
    Nothing,
    Number,
    Record,
    Text,
)

_STATUS_RULE = Record(
    "a status rule",
    {
        "if": Key(CONDITION, "The facts that must hold."),
        "status": Key(STATUS, "The status if they hold."),
        "else": Key(STATUS, "The status if no earlier rule holds."),
    },
)
HTTP = Either(
    (
        STATUS.branches[0],
        STATUS.branches[1],
        Nothing(),
        Many(Either((*STATUS.branches, _STATUS_RULE)), 1),
    )
)

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
                                "then": Key(Flag(), "The flag if they hold.", True),
                            },
                        ),
                        1,
                    ),
                    "Rules; the first one whose facts hold decides.",
                ),
                "else": Key(Flag(), "The flag if no rule holds."),
                "until": Key(Text(), "The action after which the request may be repeated."),
            },
        ),
    )
)

EXAMPLE = Record(
    "an example",
    {
        "summary": Key(Text(), "The situation."),
        "message": Key(Text(), "The message; default that of the code."),
        "details": Key(Named(Anything()), "The details."),
        "slots": Key(Named(Anything(), NAME), "Values of other slots."),
        "status": Key(Integer(100, 599), "The HTTP status; default the code's first."),
        "headers": Key(Named(HEADER_VALUE, HEADER), "Response headers."),
        "source": SOURCE_KEY,
    },
)

#: The status codes of gRPC and their numbers (google/rpc/code.proto), except OK.
GRPC = {
    "CANCELLED": 1,
    "UNKNOWN": 2,
    "INVALID_ARGUMENT": 3,
    "DEADLINE_EXCEEDED": 4,
    "NOT_FOUND": 5,
    "ALREADY_EXISTS": 6,
    "PERMISSION_DENIED": 7,
    "RESOURCE_EXHAUSTED": 8,
    "FAILED_PRECONDITION": 9,
    "ABORTED": 10,
    "OUT_OF_RANGE": 11,
    "UNIMPLEMENTED": 12,
    "INTERNAL": 13,
    "UNAVAILABLE": 14,
    "DATA_LOSS": 15,
    "UNAUTHENTICATED": 16,
}

_CONSTANT = (Text(), Number(), Flag())
_IDENTITY = Either((Text(), Integer(), Named(Either((Text(), Integer())), NAME, least=1)))


def _identity(of: str) -> Key:
    return Key(
        _IDENTITY,
        f"The value of the code slot on surfaces of {of}, a number or a text, or such values by "
        "surface; default `wire`.",
    )


CODE_KEYS = {
    "summary": Key(Text(), "The failure, in one sentence.", True),
    "description": Key(Text(), "A longer description."),
    "message": Key(Text(), "The message to clients, in which `${key}` is the value of a detail."),
    "messages": Key(
        Named(Text(), LOCALE, least=1),
        "The message in other languages, by BCP 47 tag, with the placeholders of `message`.",
    ),
    "wire": Key(Either((Text(), Integer())), "The value of the code slot; default the name."),
    "domain": Key(Text(), "The domain of the code."),
    "boundary": Key(
        WORDS, "The layer that produces it, or a list whose first item is the default."
    ),
    "http": Key(
        HTTP,
        "The HTTP status, a range, a list, rules by condition, or null with `http_reason`.",
    ),
    "http_reason": Key(Text(), "Why the code never occurs over HTTP."),
    "envelope": Key(
        WORDS, "The envelopes that carry it, if its surfaces have several; default all of them."
    ),
    "on": Key(
        Record(
            "the carriers",
            {
                "http": _identity("HTTP"),
                "jsonrpc": _identity("JSON-RPC"),
                "mcp": Key(
                    Either(
                        (
                            Text(),
                            Integer(),
                            Record(
                                "an MCP result",
                                {
                                    "code": _identity("MCP"),
                                    "is_error": Key(Flag(), "The result's `isError`."),
                                    "strict": Key(
                                        Flag(),
                                        "The value of `isError` on servers that set it on every "
                                        "refusal. It is allowed beside that of `is_error`.",
                                    ),
                                },
                            ),
                        )
                    ),
                    "The value of the code slot in tool results, or the marks of tool results.",
                ),
                "event": _identity("events"),
                "stream": _identity("streams"),
                "tool_message": _identity("tool messages"),
                "log": _identity("logs"),
                "grpc": Key(Choice(tuple(GRPC)), "The gRPC status."),
            },
        ),
        "The code on each transport.",
    ),
    "deadline": Key(
        Record(
            "a deadline",
            {
                "equals": Key(
                    Text(
                        r"details\." + OF_DETAILS,
                        "a detail such as details.timeout_seconds",
                    ),
                    "The detail with the time budget, in seconds.",
                    True,
                ),
                "late_by": Key(DURATION, "The longest delay of the answer after that; default 1s."),
                "source": SOURCE_KEY,
            },
        ),
        "The code reports an exhausted time budget, so its answer comes when the budget ends.",
    ),
    "retriable": Key(
        RETRIABLE,
        "Whether the same request may be repeated: true, false, `caller` (either), `none` (the "
        "system has no such flag), or rules. Default `none`.",
    ),
    "client_action": Key(
        Choice(("retry", "refetch", "user", "none")),
        "The action of a client; `is_retryable` is true for `retry` only. Default `retry` if "
        "`retriable` is true, else `none`.",
    ),
    "retry": Key(Text(), "The retry policy."),
    "effect": Key(
        Choice(("none", "possible", "unknown")),
        "Whether the operation may have taken effect although it failed. Default `none` if every "
        "status is a 4xx other than 408, because the request was refused; else `unknown`.",
    ),
    "headers": Key(Named(HEADER_RULES, HEADER), "Rules for response headers with this code."),
    "details": Key(
        Named(MEMBER, DETAIL, optional=True),
        "The members of `details`. `{}` takes the type from `detail_keys`; a key ending in `?` is "
        "optional.",
    ),
    "schema": Key(Named(Anything()), "An imported JSON Schema of the details, used verbatim."),
    "example": Key(
        Either((EXAMPLE, Many(EXAMPLE, 1))), "An example of the code, or a list of examples."
    ),
    "actions": Key(
        Either(
            (
                Many(Text(), 1),
                Record(
                    "an exact list",
                    {
                        "exactly": Key(
                            Many(Text()),
                            "The actions that each of its errors suggests, in any order; `[]`: "
                            "none.",
                            True,
                        ),
                    },
                ),
            )
        ),
        "The recovery actions that its errors may suggest, or exactly those that they do.",
    ),
    "facts": Key(
        Named(
            Either((*_CONSTANT, Many(Either(_CONSTANT), 1))),
            NAME,
        ),
        "The values that slots have with the code: one, such as a title or a help URL, or the "
        "allowed ones, of which the first is the default. A slot with a vocabulary has its terms.",
    ),
    **SUPPORT_KEYS,
    "lifecycle": Key(
        Choice(("experimental", "beta", "stable", "deprecated", "reserved", "removed")),
        "`experimental`: produced, and free to change. `beta`: changes are announced. `reserved`: "
        "not produced yet. `removed`: no longer produced, and the name is never reused.",
    ),
    "since": Key(Text(), "The taxonomy version that introduced the code."),
    "sunset": Key(
        Text(r"\d{4}-\d{2}-\d{2}", "a date such as 2027-01-31"),
        "The date after which the code is not produced.",
    ),
    "replaced_by": Key(Text(), "The code that replaces it."),
    "level": Key(
        Choice(("protocol", "operation")),
        "`protocol`: the code has the same meaning for every operation.",
    ),
    "passthrough": Key(
        Many(Text(), 1),
        "Members that contain foreign text by contract. The detectors `stack-trace`, `sql`, "
        "`path`, `email` and `personal-data` skip them; the others do not.",
    ),
    "source": SOURCE_KEY,
}
CODE = Record("a code", CODE_KEYS)

#: The keys of codes that a domain may give.
DOMAIN_DEFAULTS = {
    **{key: CODE_KEYS[key] for key in ("boundary", "client_action", "retry", "effect")},
    "retriable": Key(
        Either((Flag(), Choice(("caller", "none")))), "Whether the same request may be repeated."
    ),
    **SUPPORT_KEYS,
}
_VARIANT = Record(
    "a code of an operation",
    {
        "http": Key(HTTP, "The HTTP status in place of that of the code."),
        "details": Key(
            CODE_KEYS["details"].type,
            "Members of `details` in place of those of the same name, or beside them.",
        ),
        "facts": Key(CODE_KEYS["facts"].type, "Values of slots in place of those of the code."),
        "actions": Key(CODE_KEYS["actions"].type, "Actions in place of those of the code."),
        "example": Key(CODE_KEYS["example"].type, "Examples in place of those of the code."),
        "source": SOURCE_KEY,
    },
)

OPERATION = Record(
    "an operation",
    {
        "summary": Key(Text(), "What the operation does."),
        "wire": Key(Text(), "The name in messages, such as `fs/readFile`; default the name here."),
        "match": Key(SURFACE.keys["match"].type, "The exchanges of this operation."),
        "idempotent": Key(Flag(), "Whether repeating the request has no further effect."),
        "idempotency_key": OWN_KEY,
        "codes": Key(
            Either((Many(Text(), 1), Named(Either((Nothing(), _VARIANT)), NAME, least=1))),
            "The shared codes that it may return, default all that its surface allows. In a "
            "mapping, each with what differs here, or null.",
        ),
        "errors": Key(Named(CODE, NAME), "The codes of this operation alone."),
        "source": SOURCE_KEY,
    },
)
