"""Retries, idempotency, privacy, telemetry, and the rules for unknown codes."""

from faultspec.language.constructs.parts import (
    CONDITION,
    DURATION,
    HEADER,
    KEY_PLACE,
    MEANING,
    MEMBER,
    NAME,
    POINTER,
    SCALAR,
    SOURCE_KEY,
    STATUSES,
    TERM,
    WORDS,
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
from faultspec.language.line_formats import LINE_FORMATS

PHASE = Record(
    "a backoff",
    {
        "kind": Key(Choice(("exponential", "linear", "constant")), "How the delay grows.", True),
        "base": Key(DURATION, "The first delay.", True),
        "factor": Key(Number(1), "The factor of an exponential delay; default 2."),
        "step": Key(DURATION, "The increment of a linear delay; default the base."),
        "max": Key(DURATION, "The longest delay."),
        "for": Key(
            DURATION,
            "The end of this phase, counted from the first failure; the last phase has none.",
        ),
    },
)

RETRY_POLICY = Record(
    "a retry policy",
    {
        "summary": Key(Text(), "The purpose, in one sentence."),
        "max_attempts": Key(
            Integer(1),
            "The number of requests, including the first: three retries are four attempts.",
            True,
        ),
        "backoff": Key(
            Either((PHASE, Many(PHASE, 1))), "How delays grow; a list has several phases."
        ),
        "jitter": Key(
            Record(
                "a jitter",
                {
                    "kind": Key(
                        Choice(("none", "full", "equal", "additive", "ratio")),
                        "For a delay d: full is 0 to d, equal is d/2 to d, additive is d to "
                        "d×(1+ratio), ratio is d×(1-ratio) to d×(1+ratio).",
                        True,
                    ),
                    "ratio": Key(Number(0), "The share of the delay, for `additive` and `ratio`."),
                },
            ),
            "The random spread of delays.",
        ),
        "retry_after": Key(
            Record(
                "a Retry-After rule",
                {
                    "honor": Key(Flag(), "Whether the header has an effect.", True),
                    "max": Key(DURATION, "The longest wait that is honored."),
                    "beyond": Key(
                        Choice(("cap", "ignore")),
                        "Whether a longer wait is cut to the maximum or ignored; default cap.",
                    ),
                    "over": Key(
                        DURATION, "The most that the header may add to the computed delay."
                    ),
                    "at_least_computed": Key(
                        Flag(), "The header never shortens the computed delay."
                    ),
                },
            ),
            "The effect of a `Retry-After` header on the delay; without it, none.",
        ),
        "budget": Key(
            Record(
                "a retry budget",
                {
                    "tokens": Key(Integer(0), "The size of the token bucket.", True),
                    "cost": Key(Integer(0), "The tokens that a retry takes.", True),
                    "idle_refund": Key(
                        Integer(0), "The tokens that a success without a retry returns; default 1."
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
                        "cost": Key(
                            Integer(0), "The tokens that a retry after such a failure takes."
                        ),
                        "base": Key(DURATION, "The first delay after such a failure."),
                        "codes": Key(
                            Many(Text(), 1),
                            "The codes of such failures; callers may override them.",
                        ),
                    },
                ),
                NAME,
            ),
            "Other values for kinds of failures, such as `throttled`.",
        ),
        "max_elapsed": Key(DURATION, "The longest total time of all attempts."),
        "isolation": Key(Text(), "The transaction isolation level of the attempts."),
        "annotate": Key(Text(), "The details key with the number of retries."),
        "eligible": Key(
            Many(Text(), 1),
            "The codes that the policy retries even if their retry flag is false; default the "
            "codes with `retry:` and the name of this policy.",
        ),
        "eligible_when": Key(
            Many(
                Record(
                    "a rule",
                    {
                        "if": Key(CONDITION, "The facts that must hold.", True),
                        "then": Key(Flag(), "Whether to retry if they hold.", True),
                    },
                ),
                1,
            ),
            "Rules that narrow `eligible`. The first rule whose `if` holds decides; if none holds, "
            "the code is retried.",
        ),
        "source": SOURCE_KEY,
    },
)

IDEMPOTENCY = Record(
    "the idempotency rule",
    {
        "key": Key(
            KEY_PLACE,
            "The place of the idempotency key in a request: the name of a header, or one of "
            "`{path: key}`, `{query: request_id}` and `{body: /client_token}`. Surfaces and "
            "operations may have another (`idempotency_key`).",
            True,
        ),
        "methods": Key(
            Many(Text(r"[A-Z]+", "an HTTP method"), 1),
            "The methods that accept the key; default POST.",
        ),
        "window": Key(DURATION, "How long a repeated request gets the same answer."),
        "replay": Key(
            Record(
                "a replay",
                {
                    "equal": Key(
                        Many(Choice(("status", "body")), 1),
                        "The parts of the answer that are equal.",
                    ),
                    "headers": Key(
                        Many(HEADER), "Headers that are equal if the first answer had them."
                    ),
                },
            ),
            "What a repeated answer has in common with the first.",
        ),
        "mismatch": Key(Text(), "The code for one key with two bodies, or `unspecified`."),
        "missing": Key(
            Text(),
            "The code for a write without its key, `accepted` if the key is optional, or "
            "`unspecified`. Default `unspecified`.",
        ),
        "refusals": Key(
            Choice(("stored", "retried", "unspecified")),
            "What a replay of a refused request gets: the refusal that is `stored` under its key, "
            "or a new try. Default `unspecified`.",
        ),
        "default": Key(
            Choice(("idempotent", "not_idempotent")), "What an operation is that says nothing."
        ),
        "source": SOURCE_KEY,
    },
)

#: A code of another service.
_THEIRS = Either((Text(), Integer(None)))

UPSTREAM_CODE = Record(
    "a row of the table",
    {
        "from": Key(WORDS, "The upstreams that say it, by name; default all."),
        "status": Key(STATUSES, "The statuses of their answers; default all, and no answer."),
        "code": Key(
            Either((_THEIRS, Many(_THEIRS, 1))), "Their own codes in those answers; default all."
        ),
        "becomes": Key(Text(), "The code that the service answers.", True),
        "source": SOURCE_KEY,
    },
)

UPSTREAM = Record(
    "the rule for upstream calls",
    {
        "retry": Key(Text(), "The retry policy of these calls."),
        "default": Key(
            Choice(("idempotent", "not_idempotent")), "What an operation is that says nothing."
        ),
        "keys": Key(
            Many(Text(), 1),
            "Request headers or body members that are the same in each retry of a call.",
        ),
        "status": Key(Text(), "The details key with the status of the upstream answer."),
        "codes": Key(
            Many(UPSTREAM_CODE, 1),
            "The codes of the service for failures upstream. The first row that fits decides; the "
            "last row has only `becomes`, and so fits all.",
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
    "personal-data",
    "internal-name",
    "canary",
)

PRIVACY = Record(
    "the privacy rules",
    {
        "detectors": Key(
            Many(Choice(DETECTORS), 1), "The detectors for texts that errors must not contain."
        ),
        "never_echoed": Key(
            Many(Choice(("tenant",))),
            "Attributes of the caller's identity that errors must not contain.",
        ),
        "conceal": Key(
            Many(
                Record(
                    "a concealment",
                    {
                        "across": Key(
                            Choice(("tenant", "owner")),
                            "The boundary across which the existence of resources is concealed.",
                            True,
                        ),
                        "answer": Key(
                            Text(), "The code of a missing resource, which is the answer.", True
                        ),
                        "never": Key(Many(Text()), "Codes that would reveal the resource."),
                        "source": SOURCE_KEY,
                    },
                )
            ),
            "Resources whose existence is concealed.",
        ),
        "internal_names": Key(Many(Text()), "Regular expressions of internal names."),
        "source": SOURCE_KEY,
    },
)

_SIDE = {
    "headers": Key(
        POINTER,
        "The place of its headers: a mapping of names to values, or a list of pairs or of `{name, "
        "value}`.",
    ),
    "body": Key(POINTER, "The place of its body, as text or as JSON."),
}

RECORDING = Record(
    "a kind of recorded line",
    {
        "when": Key(
            Named(SCALAR, POINTER, least=1),
            "Values by pointer that identify lines of this kind; default all lines.",
        ),
        "unwrap": Key(
            Either((Text(), Many(Text(), 1, repeats=True))),
            "The way from a line to its record. A step is a pointer, whose `*` is each item of a "
            "list; text that it finds is read as JSON. For text of another form, a step is a "
            "format (" + ", ".join(LINE_FORMATS) + ") or an expression of all of it, with named "
            "groups. The other pointers begin at the record, and `/..` leads one step back out.",
        ),
        "status": Key(POINTER, "The place of the response status.", True),
        "url": Key(
            POINTER,
            "The place of the requested URL, or of a path with its query; a method may precede it.",
            True,
        ),
        "method": Key(POINTER, "The place of the method."),
        "route": Key(POINTER, "The place of the path template, such as `/orders/{id}`."),
        "seconds": Key(POINTER, "The place of the response time in seconds."),
        "milliseconds": Key(POINTER, "The place of the response time in milliseconds."),
        "time": Key(
            POINTER,
            "The place of the moment of the answer: a date and time by ISO 8601, that of access "
            "logs, or seconds, milliseconds or nanoseconds since 1970.",
        ),
        "service": Key(POINTER, "The place of the name of the service."),
        "request": Key(
            Record("the request of a line", _SIDE), "The recorded parts of the request."
        ),
        "response": Key(
            Record("the answer of a line", _SIDE),
            "The recorded parts of the response; a body replaces `slots`.",
        ),
        "slots": Key(
            Named(POINTER, NAME, least=1),
            "The places of single slots of the envelope, if the body is not recorded.",
        ),
        "source": SOURCE_KEY,
    },
)

#: The beginning of a link: a URL, or a path. Other schemes, such as `javascript:`, are not pages.
_BASE = Text(
    r"https?://[^\s<>\"`{}|\\^]+|[^\s<>\"`{}|\\^:]+",
    "a URL such as https://runbooks.example.com/, or a path",
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
                            "The kind of instrument.",
                            True,
                        ),
                        "labels": Key(Many(Text()), "Its labels."),
                        "counts": Key(
                            Choice(("errors", "requests")),
                            "Whether failed requests or all requests are counted; alerts are "
                            "computed from it.",
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
            "The format of access and audit logs with one JSON object per line, which `faultspec "
            "audit` reads. A line is of the first kind that matches.",
        ),
        "span": Key(Named(Text(), TERM), "Span attributes and their contents."),
        "alerts": Key(
            Named(
                Record(
                    "an alert",
                    {
                        "severity": Key(Text(), "P1, P2, …", True),
                        "when": Key(Text(), "The condition, in one sentence.", True),
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
                                        Number(1), "The factor over the earlier rate.", True
                                    ),
                                    "over": Key(
                                        DURATION,
                                        "The period before the window for the earlier rate.",
                                        True,
                                    ),
                                    "at_least": Key(
                                        Integer(1),
                                        "The least number of events in the window; default 1.",
                                    ),
                                },
                            ),
                            "The growth above which it fires; an alternative to `threshold`.",
                        ),
                        "window": Key(DURATION, "The period for the share or the rate."),
                        "for": Key(
                            DURATION,
                            "How long the condition holds before the alert fires; default 0.",
                        ),
                        "runbook": Key(Many(Text(), 1), "The response, step by step.", True),
                        "source": SOURCE_KEY,
                    },
                ),
                TERM,
            ),
            "Alerts with their runbooks.",
        ),
        "means": Key(
            Named(MEANING, TERM),
            "The slot or detail that labels, log members and span attributes of this name repeat. "
            "`$retryable`: whether the client action is `retry`.",
        ),
        "runbooks": Key(_BASE, "The base URL of published runbooks, for links in alerts."),
        "source": SOURCE_KEY,
    },
)

UNKNOWN = Record(
    "the rule",
    {
        "becomes": Key(Text(), "The code that replaces it.", True),
        "retriable": Key(Flag(), "Whether the request may be repeated; default false."),
        "original_code": Key(POINTER, "The place of the original code."),
        "source": SOURCE_KEY,
    },
)
