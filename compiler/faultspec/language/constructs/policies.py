"""Retries, idempotency, privacy, telemetry, and what becomes of codes nobody knows."""

from faultspec.language.constructs.parts import (
    CONDITION,
    DURATION,
    HEADER,
    MEANING,
    MEMBER,
    NAME,
    POINTER,
    SCALAR,
    SOURCE_KEY,
    STATUSES,
    TERM,
)
from faultspec.language.grammar import (
    Choice,
    Either,
    Flag,
    Integer,
    Key,
    Many,
    Named,
    Number,
    Record,
    Text,
)

PHASE = Record(
    "a backoff",
    {
        "kind": Key(Choice(("exponential", "linear", "constant")), "How the delay grows.", True),
        "base": Key(DURATION, "The first delay.", True),
        "factor": Key(Number(1), "What an exponential delay is multiplied by; default 2."),
        "step": Key(DURATION, "What a linear delay grows by; default the base."),
        "max": Key(DURATION, "The longest delay."),
        "for": Key(
            DURATION,
            "How long this phase lasts, counted from the first failure; the last phase has no end.",
        ),
    },
)

RETRY_POLICY = Record(
    "a retry policy",
    {
        "summary": Key(Text(), "For what it is, in one sentence."),
        "max_attempts": Key(
            Integer(1),
            "Requests in all, the first one included: three retries are four attempts.",
            True,
        ),
        "backoff": Key(
            Either((PHASE, Many(PHASE, 1))), "How delays grow; a list is phase after phase."
        ),
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
                        Choice(("cap", "ignore")),
                        "A longer hint is cut to the maximum, or ignored; default cap.",
                    ),
                    "over": Key(
                        DURATION, "The hint may lengthen the computed delay by at most this."
                    ),
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
                    "idle_refund": Key(
                        Integer(0), "What a success without a retry puts back; default 1."
                    ),
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
                        "codes": Key(
                            Many(Text(), 1),
                            "The codes whose failures are of this kind, unless a caller says otherwise.",
                        ),
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
        "source": SOURCE_KEY,
    },
)

IDEMPOTENCY = Record(
    "the idempotency rule",
    {
        "key": Key(HEADER, "The request header that names an intent.", True),
        "methods": Key(
            Many(Text(r"[A-Z]+", "an HTTP method"), 1), "The methods that accept it; default POST."
        ),
        "window": Key(DURATION, "How long a replay returns the same result."),
        "replay": Key(
            Record(
                "a replay",
                {
                    "equal": Key(Many(Choice(("status", "body")), 1), "What must be equal."),
                    "headers": Key(
                        Many(HEADER), "Headers that must be equal where the first answer had them."
                    ),
                },
            ),
            "What a replay repeats.",
        ),
        "mismatch": Key(
            Text(), "The code for one key with two different bodies, or `unspecified`."
        ),
        "default": Key(
            Choice(("idempotent", "not_idempotent")), "What an operation is that says nothing."
        ),
        "source": SOURCE_KEY,
    },
)

UPSTREAM = Record(
    "the way upstream",
    {
        "retry": Key(Text(), "The retry policy of the service's own calls."),
        "default": Key(
            Choice(("idempotent", "not_idempotent")), "What an operation is that says nothing."
        ),
        "keys": Key(
            Many(Text(), 1),
            "What names one intent, the same in each retry of a call: request headers, or members of the body.",
        ),
        "status": Key(
            Text(), "The details key that tells the status which the service behind answered with."
        ),
        "source": SOURCE_KEY,
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
        "never_echoed": Key(
            Many(Choice(("tenant",))), "Attributes of an identity whose value never comes back."
        ),
        "conceal": Key(
            Many(
                Record(
                    "a concealment",
                    {
                        "across": Key(
                            Choice(("tenant", "owner")),
                            "The border across which existence is not revealed.",
                            True,
                        ),
                        "answer": Key(Text(), "The code of a resource that is not there.", True),
                        "never": Key(Many(Text()), "Codes that would reveal it."),
                        "source": SOURCE_KEY,
                    },
                )
            ),
            "Resources whose existence is not revealed.",
        ),
        "internal_names": Key(Many(Text()), "Regular expressions of names that stay inside."),
        "source": SOURCE_KEY,
    },
)

_SIDE = {
    "headers": Key(
        POINTER,
        "Where its headers stand: a mapping of names to values, or a list of pairs or of `{name, value}`.",
    ),
    "body": Key(POINTER, "Where its body stands: as text, or as the JSON it is."),
}

RECORDING = Record(
    "a kind of recorded line",
    {
        "when": Key(
            Named(SCALAR, POINTER, least=1),
            "What stands in lines of this kind, by pointer; default: any line.",
        ),
        "status": Key(POINTER, "Where the status of the answer stands.", True),
        "url": Key(
            POINTER,
            "Where the address asked for stands: a URL, or a path with its query; a method may stand before it.",
            True,
        ),
        "method": Key(POINTER, "Where the method stands."),
        "route": Key(POINTER, "Where the template of the path stands, such as `/orders/{id}`."),
        "seconds": Key(POINTER, "Where the seconds until the answer stand."),
        "milliseconds": Key(POINTER, "The same in milliseconds."),
        "request": Key(Record("the request of a line", _SIDE), "What is recorded of the request."),
        "response": Key(
            Record("the answer of a line", _SIDE),
            "What is recorded of the answer; a body makes `slots` superfluous.",
        ),
        "slots": Key(
            Named(POINTER, NAME, least=1),
            "Where single slots of the error's envelope stand, where its body does not.",
        ),
        "source": SOURCE_KEY,
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
                            Choice(("counter", "gauge", "histogram", "ratio")),
                            "What kind of instrument.",
                            True,
                        ),
                        "labels": Key(Many(Text()), "Its labels."),
                        "counts": Key(
                            Choice(("errors", "requests")),
                            "What is counted, each failed request or every request; alerts are computed from it.",
                        ),
                        "summary": Key(Text(), "What it measures.", True),
                        "source": SOURCE_KEY,
                    },
                ),
                TERM,
            ),
            "The metrics.",
        ),
        "log": Key(Named(MEMBER, TERM, optional=True), "The members of an error's log record."),
        "records": Key(
            Named(RECORDING, TERM),
            "How exchanges are recorded in access and audit logs, one JSON object a line: where `faultspec audit` finds "
            "what it judges. The first kind that a line is of counts.",
        ),
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
                        "threshold": Key(
                            Number(0, 1), "The share of requests above which it fires."
                        ),
                        "rise": Key(
                            Record(
                                "a rise",
                                {
                                    "times": Key(
                                        Number(1), "How many times the rate of before.", True
                                    ),
                                    "over": Key(
                                        DURATION,
                                        "How long before the window that rate is taken over.",
                                        True,
                                    ),
                                    "at_least": Key(
                                        Integer(1),
                                        "How many there must be in the window at least; default 1.",
                                    ),
                                },
                            ),
                            "The growth above which it fires, instead of a threshold.",
                        ),
                        "window": Key(DURATION, "The time the share, or the rate, is taken over."),
                        "for": Key(
                            DURATION,
                            "How long that must last before it fires; default: not at all.",
                        ),
                        "runbook": Key(Many(Text(), 1), "What to do, step by step.", True),
                        "source": SOURCE_KEY,
                    },
                ),
                TERM,
            ),
            "Alerts with their runbooks.",
        ),
        "means": Key(
            Named(MEANING, TERM),
            "Which slot or detail of the error is repeated by the labels, log members and span attributes of this name; "
            "`$retryable`: whether the client action is retry.",
        ),
        "runbooks": Key(
            Text(), "Where the runbooks are published: what the links in alerts begin with."
        ),
        "source": SOURCE_KEY,
    },
)

UNKNOWN = Record(
    "the rule",
    {
        "becomes": Key(Text(), "The code it is treated as.", True),
        "retriable": Key(Flag(), "Whether it may be sent again; default false."),
        "original_code": Key(POINTER, "Where the code that was not known is kept."),
        "source": SOURCE_KEY,
    },
)
