"""Codes and operations."""

from faultspec.language.constructs.parts import (
    CONDITION,
    DURATION,
    HEADER,
    HEADER_VALUE,
    MEMBER,
    NAME,
    SOURCE_KEY,
    STATUS,
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
    Record,
    Text,
)

_STATUS_RULE = Record(
    "a status rule",
    {
        "if": Key(CONDITION, "The facts that must hold."),
        "status": Key(STATUS, "The status then."),
        "else": Key(STATUS, "The status where no rule before held."),
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
        "source": SOURCE_KEY,
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
    "http": Key(
        HTTP,
        "The HTTP status, a list or range of them, rules by condition, or null with `http_reason`.",
    ),
    "http_reason": Key(Text(), "Why the code never travels over HTTP."),
    "envelope": Key(
        WORDS, "The envelopes it travels in, where its surfaces have several; default each of them."
    ),
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
                                Flag(),
                                "`isError` where a server marks every refusal; either value may be seen.",
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
                    Text(
                        r"details\.[A-Za-z_][A-Za-z0-9_]*",
                        "a detail such as details.timeout_seconds",
                    ),
                    "The detail that holds the budget, in seconds.",
                    True,
                ),
                "late_by": Key(DURATION, "How much later the answer may come; default 1s."),
                "source": SOURCE_KEY,
            },
        ),
        "The code says that a budget ran out, so its answer comes no sooner, and not much later.",
    ),
    "retriable": Key(
        RETRIABLE,
        "May the same request be sent again? true, false, `caller`, `none`, or rules. Default `none`: nothing is said.",
    ),
    "client_action": Key(
        Choice(("retry", "refetch", "user", "none")),
        "What a client does; `is_retryable` means exactly `retry`. Default `retry` where `retriable` is true, else `none`.",
    ),
    "retry": Key(Text(), "The retry policy."),
    "effect": Key(
        Choice(("none", "possible", "unknown")),
        "May the operation have taken effect although it failed? Default `none` where every status is a 4xx and none is "
        "408: the request was refused; else `unknown`.",
    ),
    "headers": Key(Named(HEADER_RULES, HEADER), "Response headers this code travels with."),
    "details": Key(
        Named(MEMBER, NAME, optional=True),
        "The members of `details`; `{}` takes the type from `detail_keys`, a key ending in `?` is optional.",
    ),
    "schema": Key(Named(Anything()), "An imported JSON Schema of the details, kept as it is."),
    "example": Key(Either((EXAMPLE, Many(EXAMPLE, 1))), "An instance of the code, or several."),
    "actions": Key(
        Many(Text(), 1), "The recovery actions it may suggest; its errors suggest no others."
    ),
    "facts": Key(Named(WORDS, NAME), "The members of a vocabulary this code goes with, by slot."),
    "lifecycle": Key(
        Choice(("stable", "deprecated", "reserved", "removed")),
        "`reserved`: not produced yet. `removed`: a tombstone, never reused.",
    ),
    "since": Key(Text(), "The taxonomy version that introduced it."),
    "sunset": Key(
        Text(r"\d{4}-\d{2}-\d{2}", "a date such as 2027-01-31"), "The date it stops being produced."
    ),
    "replaced_by": Key(Text(), "The code that takes its place."),
    "level": Key(
        Choice(("protocol", "operation")), "`protocol`: means the same for every operation."
    ),
    "passthrough": Key(
        Many(Text(), 1),
        "Members that carry foreign text by contract, exempt from the ban on its shape, never on secrets.",
    ),
    "source": SOURCE_KEY,
}
CODE = Record("a code", CODE_KEYS)

OPERATION = Record(
    "an operation",
    {
        "summary": Key(Text(), "What it does."),
        "wire": Key(Text(), "What callers call it, such as `fs/readFile`; default the name."),
        "match": Key(SURFACE.keys["match"].type, "Which exchanges are this operation."),
        "idempotent": Key(Flag(), "Whether sending it twice does what sending it once does."),
        "codes": Key(
            Many(Text(), 1),
            "The shared codes it may answer with; default all that its surface allows.",
        ),
        "errors": Key(Named(CODE, NAME), "The codes only this operation has."),
        "source": SOURCE_KEY,
    },
)
